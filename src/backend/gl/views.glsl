/* Kernels "matrix" and "column", run by gl/backproject.c: add views one by one to the voxels of a
 * group: first find the views onto which the group's box of voxels projects, then interpolate their
 * samples, exactly or (FAST) by the texture units. */

/* Views of a pass onto which a group's box of voxels projects, and their windows. Other views would
 * add zeros, and are skipped. The projection of the box is the hull of its projected corners, if
 * the box is in front of the source. */

const int VIEWS = 32, A_VIEW = 33; /* GPU_PASS; floats of corners, and one against bank conflicts */
const int WINDOWS = 2 * WIDTH * HEIGHT, CORNERS = VIEWS * A_VIEW;
const int ROOM = WINDOWS > CORNERS ? WINDOWS : CORNERS;

shared uint seen;           /* one bit per view */
shared float room[ROOM];    /* first the corners, then windows of two views */
shared ivec4 window[VIEWS]; /* first column and row, columns and rows; zeros: no window */

/* Least and greatest position of a corner, with a margin for rounding errors of the threads. */
vec4 shadow_of(int i, int corner, Box b)
{
    ivec3 at = ivec3((corner & 1) == 1 ? b.high.x : b.low.x, (corner & 2) == 2 ? b.high.y : b.low.y,
                     (corner & 4) == 4 ? b.high.z : b.low.z);
    vec4 t = vec4(vec3(at) + vec3(0.0, 0.0, float(z0)) - vec3(x_ref, y_ref, z_ref), 1.0);
    float w = dot(view[i].w, t), terms = dot(abs(view[i].w), abs(t));

    if (!(w > 0.0))
        return vec4(-1e30, -1e30, 1e30, 1e30);
    vec2 place = vec2(dot(view[i].u, t), dot(view[i].v, t)) / w;
    vec2 margin = terms / w / 1048576.0 * abs(place) + 1.0 / 64.0;
    return vec4(place - margin, place + margin);
}

void take_shadow(int i)
{
    vec2 low = vec2(1e30), high = -low, principal = vec2(view[i].at.xy);

    for (int at = A_VIEW * i; at < A_VIEW * i + 32; at += 4) {
        low = min(low, vec2(room[at], room[at + 1]));
        high = max(high, vec2(room[at + 2], room[at + 3]));
    }
    vec2 first = floor(low), n = floor(high) - first + 2.0;
    if (all(greaterThan(high, -1.0 - principal)) &&
        all(lessThan(low, vec2(float(columns), float(rows)) - principal)))
        atomicOr(seen, 1u << i);
    if (n.x <= float(WIDTH) && n.y <= float(HEIGHT))
        window[i] = ivec4(ivec2(first) + view[i].at.xy, ivec2(n));
    else
        window[i] = ivec4(0);
}

void together()
{
    memoryBarrierShared();
    barrier();
}

void find_seen(Box b)
{
    int me = int(gl_LocalInvocationIndex);

    if (me == 0)
        seen = 0u;
    for (int i = me; i < 8 * n; i += THREADS) {
        vec4 s = shadow_of(i / 8, i % 8, b);
        for (int k = 0; k < 4; k++)
            room[A_VIEW * (i / 8) + 4 * (i % 8) + k] = s[k];
    }
    together();
    if (me < n)
        take_shadow(me);
    together();
}

#ifdef FAST
/*
 * Views interpolated by the texture units: fp32, or fp16 scaled by a power of two.  The units round
 * coordinates to 1/256 of a texel, and texel i has its centre at i + 1/2.  Outside the texture samples
 * are zero, so the edge is continuous.  u and v are rounded to 1/256 of a texel here, v before the
 * first row of the batch is subtracted, and a texture has a power of two of rows.  Therefore divisions
 * into slabs do not change any bit.
 */

void add_view(int i, int stage, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    float r0 = 1.0 / c0.z, most = float(rows) + 0.5, layer = float(first + i);
    precise float column = texels * float(view[i].at.x) + texels - 0.5 - PARTS;
    precise float row = float(view[i].at.y) + 0.5 - PARTS;
    precise float u0 = texels * c0.x, du = texels * dz.x, all_u = fma(u0, r0, PARTS) + column;
    precise float v0 = c0.y * r0, dv = dz.y * r0;

    for (int k = 0; k < SLICES; k++) {
        precise float t = tz + float(k * LAYERS), w = fma(t, dz.z, c0.z);
        float r = COLUMN ? r0 : 1.0 / w;
        precise float u = COLUMN ? all_u : fma(fma(t, du, u0), r, PARTS) + column;
        precise float v =
            (COLUMN ? fma(t, dv, v0) + PARTS : fma(fma(t, dz.y, c0.y), r, PARTS)) + row;
        vec2 at = vec2(u, min(v, most)) * unit;
        float q = textureLod(VIEWS_TEXTURE, vec3(at, layer), 0.0).x;
        sum[k] = fma(r * r * unscaled, q, sum[k]);
    }
}
#else
/* Interpolation in fp32.  With COLUMN, u and w do not depend on z.  All shapes, with windows and
 * without, do the same arithmetic; `precise` keeps compilers from changing it. */

#ifdef PLAIN
/* Loads taps from views in plain memory (struct gpu_plain). */

layout(std430, binding = 0) readonly buffer Views { float views[]; };

const int BORDER = 2; /* GPU_BORDER */

vec4 taps(int i, float tu, float tv)
{
    uvec2 at = uvec2(floatBitsToUint(tu), floatBitsToUint(tv)) - WHOLE_BITS + uvec2(view[i].at.xy + BORDER);
    uint q = views_skip + uint(i) * group + at.y * uint(stride) + at.x;

    return vec4(views[q], views[q + 1u], views[q + uint(stride)], views[q + uint(stride) + 1u]);
}
#else
/* Loads taps from views in a layered texture. Coordinates of gathers are the common corner of four
 * texels, so that rounding cannot select other texels. Outside the texture, and above a view with
 * fewer rows than the texture, taps are zero. */

/* Returns four texels from a column and row on: (0, 0), (1, 0), (0, 1), (1, 1). */
vec4 gathered(int i, vec2 at)
{
    vec2 corner = vec2(at.x, min(at.y, float(rows))) + 1.0;

    return textureGather(VIEWS_TEXTURE, vec3(corner * unit, float(first + i))).wzxy;
}

vec4 taps(int i, float tu, float tv)
{
    return gathered(i, vec2(view[i].at.xy) + vec2(tu - WHOLE, tv - WHOLE));
}
#endif

#if WIDTH > 0
/* Copies the window of a view, the part onto which a group's box projects, to shared memory by
 * gathers of 2 x 2 texels. A sample is then four loads from one address. */

const int ACROSS = WIDTH / 2, AT_ONCE = THREADS / ACROSS; /* pairs of rows copied at once */
const int PIECES = (HEIGHT / 2 + AT_ONCE - 1) / AT_ONCE;

/* Column and row of this thread's first 2 x 2 piece of the window; its next pieces are above it. */
ivec2 first_piece()
{
    int me = int(gl_LocalInvocationIndex);

    return me < AT_ONCE * ACROSS ? ivec2(me % ACROSS, me / ACROSS) * 2 : ivec2(WIDTH, 0);
}

void read_window(int i, ivec2 at, out vec4 pieces[PIECES])
{
    ivec4 w = window[i];
    vec2 from = vec2(w.xy + at);

    for (int j = 0; j < PIECES; j++) {
        pieces[j] = vec4(0.0);
        if (at.x < w.z && at.y + 2 * AT_ONCE * j < w.w)
            pieces[j] = gathered(i, vec2(from.x, from.y + float(2 * AT_ONCE * j)));
    }
}

void store_window(int i, ivec2 at, int stage, vec4 pieces[PIECES])
{
    ivec4 w = window[i];
    int to = (stage * HEIGHT + at.y) * WIDTH + at.x;

    for (int j = 0; j < PIECES; j++)
        if (at.x < w.z && at.y + 2 * AT_ONCE * j < w.w) {
            int here = to + 2 * AT_ONCE * j * WIDTH;
            room[here] = pieces[j].x;
            room[here + 1] = pieces[j].y;
            room[here + WIDTH] = pieces[j].z;
            room[here + WIDTH + 1] = pieces[j].w;
        }
}

/* Difference between the bits of a position in floats and the index in `room`, modulo 2^32. */
uint origin_of(int i, int stage)
{
    ivec2 first = window[i].xy - view[i].at.xy;

    return uint((stage * HEIGHT - first.y) * WIDTH - first.x) - WHOLE_BITS;
}

vec4 taps_in_window(uint origin, float tu, float tv)
{
    precise float place = fma(WHOLE - tv, -float(WIDTH), tu);
    uint at = floatBitsToUint(place) + origin;

    return vec4(room[at], room[at + 1u], room[at + uint(WIDTH)], room[at + uint(WIDTH) + 1u]);
}
#endif

/* Returns WHOLE + floor(x) with x = u r. If x is an integer, the result may be one less: then the
 * fraction is 1 instead of 0. */
float whole_of(float u, float r)
{
    precise float x = fma(u, r, -0.5), t = x + WHOLE;

    return t;
}

/* Floors of coordinates are clamped to positions where all four taps are zero. Coordinates are not
 * clamped. */
float clamped(float t, int principal, int n)
{
    return clamp(t, WHOLE + float(-2 - principal), WHOLE + float(n - principal));
}

/* Loads taps from the window of the view, if it has one. */
vec4 taps_at(int i, bool windowed, uint origin, float tu, float tv)
{
#if WIDTH > 0
    if (windowed)
        return taps_in_window(origin, tu, tv);
#endif
    return taps(i, tu, tv);
}

void add_any(int i, bool windowed, uint origin, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    ivec2 at = view[i].at.xy;

    for (int k = 0; k < SLICES; k++) {
        precise float t = tz + float(k * LAYERS), w = fma(t, dz.z, c0.z);
        precise float u = fma(t, dz.x, c0.x), v = fma(t, dz.y, c0.y);
        float r = 1.0 / w, tu = whole_of(u, r), tv = whole_of(v, r);
        if (!windowed)
            tu = clamped(tu, at.x, columns), tv = clamped(tv, at.y, rows);
        precise float a = fma(u, r, WHOLE - tu), b = fma(v, r, WHOLE - tv), rr = r * r;
        vec4 q = taps_at(i, windowed, origin, tu, tv);
        precise float left = fma(b, q.z - q.x, q.x), right = fma(b, q.w - q.y, q.y);
        precise float more = fma(rr, fma(a, right - left, left), sum[k]);
        sum[k] = more;
    }
}

void add_column(int i, bool windowed, uint origin, vec3 c0, vec3 dz, float tz,
                inout float sum[SLICES])
{
    float r = 1.0 / c0.z;
    precise float u = c0.x * r, v0 = c0.y * r, dv = dz.y * r;
    float tu = whole_of(u, 1.0);
    ivec2 at = view[i].at.xy;

    if (!windowed)
        tu = clamped(tu, at.x, columns);
    precise float a = u + (WHOLE - tu), rr = r * r, right = a * rr, left = rr - right;
    for (int k = 0; k < SLICES; k++) {
        precise float v = fma(tz + float(k * LAYERS), dv, v0);
        float tv = whole_of(v, 1.0);
        if (!windowed)
            tv = clamped(tv, at.y, rows);
        precise float b = v + (WHOLE - tv);
        vec4 q = taps_at(i, windowed, origin, tu, tv);
        precise float one = fma(b, q.z - q.x, q.x), other = fma(b, q.w - q.y, q.y);
        precise float more = fma(right, other, fma(left, one, sum[k]));
        sum[k] = more;
    }
}

void add_from(int i, bool windowed, uint origin, vec3 c0, vec3 dz, float tz,
              inout float sum[SLICES])
{
    if (COLUMN)
        add_column(i, windowed, origin, c0, dz, tz, sum);
    else
        add_any(i, windowed, origin, c0, dz, tz, sum);
}

void add_view(int i, int stage, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
#if WIDTH > 0
    if (window[i].z > 0) {
        add_from(i, true, origin_of(i, stage), c0, dz, tz, sum);
        return;
    }
#endif
    add_from(i, false, 0u, c0, dz, tz, sum);
}
#endif

/* Add a pass of single views to the voxels of a group. */

/* Returns u w, v w and w of a view at the reference slice. */
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
