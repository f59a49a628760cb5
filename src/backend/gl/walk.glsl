/* Add a pass of single views to the voxels of a group. */

/* u w, v w and w of a view at the reference slice. */
vec3 line_of(int i, vec2 t)
{
    vec4 u = view[i].u, v = view[i].v, w = view[i].w;

    return vec3(fma(t.x, u.x, fma(t.y, u.y, u.w)), fma(t.x, v.x, fma(t.y, v.y, v.w)),
                fma(t.x, w.x, fma(t.y, w.y, w.w)));
}

#if WIDTH > 0
/* The window of the next view is read before this view is added, and stored after it. */
void add_seen(vec2 t, float tz, inout float sum[SLICES])
{
    uint left = seen;
    int i = findLSB(left), stage = 0;
    ivec2 mine = first_piece();
    vec4 pieces[PIECES];

    read_window(i, mine, pieces);
    store_window(i, mine, 0, pieces);
    while (left != 0u) {
        left &= left - 1u;
        int next = left != 0u ? findLSB(left) : i;
        together();
        if (left != 0u)
            read_window(next, mine, pieces);
        add_view(i, stage, line_of(i, t), vec3(view[i].u.z, view[i].v.z, view[i].w.z), tz, sum);
        stage = 1 - stage;
        if (left != 0u)
            store_window(next, mine, stage, pieces);
        i = next;
    }
}
#else
void add_seen(vec2 t, float tz, inout float sum[SLICES])
{
    for (uint left = seen; left != 0u; left &= left - 1u) {
        int i = findLSB(left);
        add_view(i, 0, line_of(i, t), vec3(view[i].u.z, view[i].v.z, view[i].w.z), tz, sum);
    }
}
#endif

void main()
{
    Box b = box_of_group();
    ivec3 p = b.low + place_of_thread();
    bool inside = p.x <= b.high.x && p.y <= b.high.y;
    vec2 t = vec2(min(p.xy, b.high.xy)) - vec2(x_ref, y_ref);
    uint slice = uint(nx * ny * LAYERS), at = volume_skip + uint(p.z * ny + p.y - y0) * uint(nx) + uint(p.x);
    float sum[SLICES];

    if (region == 1 && !is_wanted(b))
        return;
    find_seen(b);
    if (seen == 0u || (WIDTH == 0 && !inside))
        return;
    for (int k = 0; k < SLICES; k++)
        sum[k] = inside && p.z + k * LAYERS < nz ? volume[at + uint(k) * slice] : 0.0;
    add_seen(t, float(z0 + p.z) - z_ref, sum);
    for (int k = 0; k < SLICES; k++)
        if (inside && p.z + k * LAYERS < nz)
            volume[at + uint(k) * slice] = sum[k];
}
