/*
 * Kernels "rot90" and "rot180" for rotationally symmetric scans, run by gl/backproject.c. A set is
 * a column of voxels and its TURNS - 1 images under the scan's rotation. The texel at a position
 * stores one sample of each of TURNS views, so that one position in a view serves all voxels of a
 * set (after Xu and Mueller 2005). Lane j of the texel at position i, the set's first position
 * rotated i times, belongs to voxel i + j.
 */

#if TURNS == 4
#define WIDE(q) (q)
#define NARROW(s) (s)
#else
#define WIDE(q) vec4(q, 0.0, 0.0)
#define NARROW(s) (s).xy
#endif

/* Position of a set of symmetric voxels in a view: column, relative to the principal point; 1/w;
 * row at the reference slice, rows per slice. */
struct Spot {
    float u, r, v, dv;
};

Spot spot_of(int i, vec2 t)
{
    vec4 cu = view[i].u, cv = view[i].v, cw = view[i].w;
    precise float w = fma(t.x, cw.x, fma(t.y, cw.y, cw.w));
    float r = 1.0 / w;
    precise float u = fma(t.x, cu.x, fma(t.y, cu.y, cu.w)) * r;
    precise float v = fma(t.x, cv.x, fma(t.y, cv.y, cv.w)) * r, dv = cv.z * r;

    return Spot(u, r, v, dv);
}

/* The next place of a set. */
vec2 turned(vec2 t)
{
    if (TURNS == 4)
        return vec2(fma(turn_s, t.y, turn_ex), fma(-turn_s, t.x, turn_ey));
    return vec2(turn_ex - t.x, turn_ey - t.y);
}

/* The samples of a texel in the order of the set's voxels. */
vec4 by_voxels(int place, vec4 q)
{
    if (TURNS == 4)
        return place == 0 ? q : place == 1 ? q.wxyz : place == 2 ? q.zwxy : q.yzwx;
    return place == 0 ? q : q.yxwz;
}

#ifdef EXACT
/* Samples in plain memory (struct gpu_plain), interpolated in fp32. With KEEP, samples that the
 * next slice needs as well are kept. */

layout(std430, binding = 0) readonly buffer Views { VOXEL views[]; };

const int BORDER = 2; /* GPU_BORDER */

/* WHOLE + floor(x), as in views.glsl. */
float whole_of(float x)
{
    precise float t = (x - 0.5) + WHOLE;

    return t;
}

/* Returns the samples of a row, and of the next column. */
struct Row {
    vec4 left, right;
};

Row row_at(uint at)
{
    return Row(WIDE(views[at]), WIDE(views[at + 1u]));
}

/* Add four weighted samples to the voxels of a set. */
vec4 sum_of(int place, Row lower, Row upper, vec4 weights, vec4 sum)
{
    precise vec4 s = fma(weights.xxxx, by_voxels(place, lower.left), sum);
    s = fma(weights.yyyy, by_voxels(place, lower.right), s);
    s = fma(weights.zzzz, by_voxels(place, upper.left), s);
    s = fma(weights.wwww, by_voxels(place, upper.right), s);
    return s;
}

void add_place(int i, int place, vec2 t, float tz, inout vec4 sum[SLICES])
{
    Spot s = spot_of(i, t);
    ivec2 principal = view[i].at.xy;
    float low = float(-1 - principal.y), high = float(rows - principal.y);
    float last = tz + float((SLICES - 1) * LAYERS);

    /* Skip the group if no slice of the thread projects onto rows of the batch. */
    if (!(s.u > float(-1 - principal.x) && s.u < float(columns - principal.x) &&
          fma(last, s.dv, s.v) > low && fma(tz, s.dv, s.v) < high))
        return;
    float tu = whole_of(s.u);
    precise float a = s.u + (WHOLE - tu), rr = s.r * s.r, right = a * rr, left = rr - right;
    uint at = views_skip / uint(TURNS) + uint(i) * group + floatBitsToUint(tu) - WHOLE_BITS +
              uint(principal.x + BORDER), before = 0u;
    uint row0 = uint(principal.y + BORDER) - WHOLE_BITS;
    Row lower, upper;

    for (int k = 0; k < SLICES; k++) {
        precise float v = clamp(fma(tz + float(k * LAYERS), s.dv, s.v), low, high);
        float tv = whole_of(v);
        uint row = floatBitsToUint(tv) + row0, q = at + row * uint(stride);
        precise float b = v + (WHOLE - tv), lb = left * b, rb = right * b, l0 = left - lb, r0 = right - rb;
        bool same = KEEP == 1 && k > 0 && row == before, next = KEEP == 1 && k > 0 && row == before + 1u;
        if (next)
            lower = upper;
        else if (!same)
            lower = row_at(q);
        if (!same)
            upper = row_at(q + uint(stride));
        before = row;
        sum[k] = sum_of(place, lower, upper, vec4(l0, r0, lb, rb), sum[k]);
    }
}
#else
/* Samples interpolated by the texture units; u and v are rounded as in views.glsl. */

void add_place(int i, int place, vec2 t, float tz, inout vec4 sum[SLICES])
{
    Spot s = spot_of(i, t);
    precise float offset = texels * float(view[i].at.x) + texels - 0.5 - PARTS;
    precise float column = fma(texels, s.u, PARTS) + offset;
    precise float row = float(view[i].at.y) + 0.5 - PARTS;
    float last = tz + float((SLICES - 1) * LAYERS), most = float(rows) + 0.5;
    float rr = s.r * s.r * unscaled, layer = float(first + i);

    /* Skip the group if no slice of the thread projects onto rows of the batch. */
    if (!(column > -1.0 && column < texels * float(columns) + texels &&
          fma(last, s.dv, s.v) > float(-2 - view[i].at.y) &&
          fma(tz, s.dv, s.v) < float(rows + 1 - view[i].at.y)))
        return;
    for (int k = 0; k < SLICES; k++) {
        precise float v = (fma(tz + float(k * LAYERS), s.dv, s.v) + PARTS) + row;
        vec2 at = vec2(column, min(v, most)) * unit;
        vec4 q = textureLod(VIEWS_TEXTURE, vec3(at, layer), 0.0);
        sum[k] = fma(vec4(rr), by_voxels(place, q), sum[k]);
    }
}
#endif

/* Add a pass of groups of views, each at all rotated positions of the set. */

void add_views(ivec3 p)
{
    vec2 t = vec2(p.xy + ivec2(domain_x0, domain_y0)) - vec2(x_ref, y_ref);
    float tz = float(z0 + p.z) - z_ref;
    uint slice = uint(nx * ny * LAYERS), at = volume_skip / uint(TURNS) +
              uint((p.z * ny + p.y - y0) * nx + p.x);
    vec4 sum[SLICES];

    for (int k = 0; k < SLICES; k++)
        sum[k] = p.z + k * LAYERS < nz ? WIDE(volume[at + uint(k) * slice]) : vec4(0.0);
    for (int i = 0; i < n; i++) {
        vec2 place = t;
        add_place(i, 0, place, tz, sum);
        place = turned(place);
        add_place(i, 1, place, tz, sum);
#if TURNS == 4
        place = turned(place);
        add_place(i, 2, place, tz, sum);
        place = turned(place);
        add_place(i, 3, place, tz, sum);
#endif
    }
    for (int k = 0; k < SLICES; k++)
        if (p.z + k * LAYERS < nz)
            volume[at + uint(k) * slice] = NARROW(sum[k]);
}

void main()
{
    Box b = box_of_group();
    ivec3 p = b.low + place_of_thread();

    if ((region == 0 || is_wanted(b)) && p.x < nx && p.y < y1)
        add_views(p);
}
