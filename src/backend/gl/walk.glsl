/* Views that see nothing of a group's box would add zeros, and are left out. */

shared uint seen; /* a bit a view */

/* The box's shadow on a view is the hull of its corners', if it lies before the source; by a margin,
 * as threads round otherwise than corners. */
bool is_seen(int i, Box b)
{
    vec2 low = vec2(1e30), high = vec2(-1e30);

    for (int corner = 0; corner < 8; corner++) {
        ivec3 at = ivec3((corner & 1) == 1 ? b.high.x : b.low.x,
                         (corner & 2) == 2 ? b.high.y : b.low.y,
                         (corner & 4) == 4 ? b.high.z : b.low.z);
        vec4 t = vec4(vec3(at) + vec3(0.0, 0.0, float(z0)) - vec3(x_ref, y_ref, z_ref), 1.0);
        float w = dot(view[i].w, t), terms = dot(abs(view[i].w), abs(t));
        if (!(w > 0.0))
            return true;
        vec2 place = vec2(dot(view[i].u, t), dot(view[i].v, t)) / w;
        vec2 margin = terms / w / 1048576.0 * abs(place) + 1.0 / 64.0;
        low = min(low, place - margin);
        high = max(high, place + margin);
    }
    vec2 principal = vec2(view[i].at.xy), size = vec2(float(columns), float(rows));
    return all(greaterThan(high, -1.0 - principal)) && all(lessThan(low, size - principal));
}

void find_seen(Box b)
{
    int me = int(gl_LocalInvocationIndex);

    if (me == 0)
        seen = 0u;
    barrier();
    if (me < n && is_seen(me, b))
        atomicOr(seen, 1u << me);
    memoryBarrierShared();
    barrier();
}

void add_views(int x, int y, int z)
{
    float tx = float(x) - x_ref, ty = float(y) - y_ref, tz = float(z0 + z) - z_ref;
    uint slice = uint(nx * ny), at = volume_skip + uint(z * ny + y - y0) * uint(nx) + uint(x);
    float sum[SLICES];

    for (int k = 0; k < SLICES; k++)
        sum[k] = z + k < nz ? volume[at + uint(k) * slice] : 0.0;
    for (uint left = seen; left != 0u; left &= left - 1u) {
        int i = findLSB(left);
        vec4 cu = view[i].u, cv = view[i].v, cw = view[i].w;
        vec3 c0 = vec3(fma(tx, cu.x, fma(ty, cu.y, cu.w)), fma(tx, cv.x, fma(ty, cv.y, cv.w)),
                       fma(tx, cw.x, fma(ty, cw.y, cw.w)));
        add_view(i, c0, vec3(cu.z, cv.z, cw.z), tz, sum);
    }
    for (int k = 0; k < SLICES; k++)
        if (z + k < nz)
            volume[at + uint(k) * slice] = sum[k];
}

void main()
{
    Box b = box_of_group();
    int x = b.low.x + int(gl_LocalInvocationID.x), y = b.low.y + int(gl_LocalInvocationID.y);

    if (region == 1 && !is_wanted(b))
        return;
    find_seen(b);
    if (seen != 0u && x < nx && y < y1)
        add_views(x, y, b.low.z);
}
