/*
 * Scans with symmetries, filtered by the texture units: an orbit is a column of voxels, its turns,
 * and their mirror images; a texel has one sample for each, so that one fetch serves all of them
 * (after Xu and Mueller 2005).  TURNS turns and HALVES halves are the channels of a texel.  Lane
 * h TURNS + j of the texel at place i, the orbit's first position turned i times, belongs to voxel
 * i + j of half h.  u and v are rounded as in fast.glsl.
 */

layout(binding = 0) uniform sampler2DArray views;

const int LANES = TURNS * HALVES;

float rounded(float x)
{
    return floor(x * 256.0 + 0.5) / 256.0;
}

/* The next place of an orbit. */
vec2 turned(vec2 t)
{
    if (TURNS == 4)
        return vec2(fma(turn_s, t.y, turn_ex), fma(-turn_s, t.x, turn_ey));
    return vec2(turn_ex - t.x, turn_ey - t.y);
}

/* Samples of the texel at a place, by voxels. */
vec4 by_voxels(int place, vec4 q)
{
    if (TURNS == 4)
        return place == 0 ? q : place == 1 ? q.wxyz : place == 2 ? q.zwxy : q.yzwx;
    return place == 0 ? q : q.yxwz;
}

void add_place(int i, int place, vec2 t, float tz, inout vec4 sum[SLICES])
{
    vec4 cu = view[i].u, cv = view[i].v, cw = view[i].w;
    float r = 1.0 / fma(t.x, cw.x, fma(t.y, cw.y, cw.w)), rr = r * r * unscaled;
    float u = rounded(texels * fma(t.x, cu.x, fma(t.y, cu.y, cu.w)) * r);
    float v0 = fma(t.x, cv.x, fma(t.y, cv.y, cv.w)) * r, dv = cv.z * r;
    float column = u + (texels * float(view[i].at.x) + texels - 0.5);
    float row = float(view[i].at.y) + 0.5, last = tz + float(SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(column > -1.0 && column < texels * float(columns) + texels &&
          fma(last, dv, v0) > float(-2 - view[i].at.y) &&
          fma(tz, dv, v0) < float(rows + 1 - view[i].at.y)))
        return;
    for (int k = 0; k < SLICES; k++) {
        float v = min(rounded(fma(tz + float(k), dv, v0)) + row, float(rows) + 0.5);
        vec4 q = textureLod(views, vec3(vec2(column, v) * unit, float(first + i)), 0.0);
        sum[k] = fma(vec4(rr), by_voxels(place, q), sum[k]);
    }
}

void add_views(int x, int y, int z)
{
    vec2 start = vec2(float(x + domain_x0) - x_ref, float(y + domain_y0) - y_ref);
    float tz = float(z0 + z) - z_ref;
    uint slice = uint(nx * ny * LANES);
    uint at = volume_skip + uint((z * ny + y - y0) * nx + x) * uint(LANES);
    vec4 sum[SLICES];

    for (int k = 0; k < SLICES; k++) {
        sum[k] = vec4(0.0);
        for (int j = 0; j < LANES; j++)
            if (z + k < nz)
                sum[k][j] = volume[at + uint(k) * slice + uint(j)];
    }
    for (int i = 0; i < n; i++) {
        vec2 t = start;
        for (int place = 0; place < TURNS; place++) {
            add_place(i, place, t, tz, sum);
            t = turned(t);
        }
    }
    for (int k = 0; k < SLICES; k++)
        for (int j = 0; j < LANES; j++)
            if (z + k < nz)
                volume[at + uint(k) * slice + uint(j)] = sum[k][j];
}

void main()
{
    Box b = box_of_group();
    int x = b.low.x + int(gl_LocalInvocationID.x), y = b.low.y + int(gl_LocalInvocationID.y);

    if ((region == 0 || is_wanted(b)) && x < nx && y < y1)
        add_views(x, y, b.low.z);
}
