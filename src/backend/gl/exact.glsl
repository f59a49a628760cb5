/* Interpolation in fp32.  With COLUMN, u and w do not depend on z.  All shapes, with windows and
 * without, do the same arithmetic; `precise` keeps compilers from changing it. */

#ifdef PLAIN
/* Taps from views in plain memory (gpu_plain.h). */

layout(std430, binding = 0) readonly buffer Views { float views[]; };

const int BORDER = 2; /* GPU_BORDER */

vec4 taps(int i, float tu, float tv)
{
    uvec2 at = uvec2(floatBitsToUint(tu), floatBitsToUint(tv)) - WHOLE_BITS + uvec2(view[i].at.xy + BORDER);
    uint q = views_skip + uint(i) * group + at.y * uint(stride) + at.x;

    return vec4(views[q], views[q + 1u], views[q + uint(stride)], views[q + uint(stride) + 1u]);
}
#else
/* Taps from views in a layered texture.  Coordinates of gathers are the common corner of four texels,
 * so that rounding cannot select other texels.  Outside the texture, and above a view with fewer rows
 * than the texture, taps are zero. */

layout(binding = 0) uniform sampler2DArray views;

/* Four texels from a column and row on: (0, 0), (1, 0), (0, 1), (1, 1). */
vec4 gathered(int i, vec2 at)
{
    vec2 corner = vec2(at.x, min(at.y, float(rows))) + 1.0;

    return textureGather(views, vec3(corner * unit, float(first + i))).wzxy;
}

vec4 taps(int i, float tu, float tv)
{
    return gathered(i, vec2(view[i].at.xy) + vec2(tu - WHOLE, tv - WHOLE));
}
#endif

#if WIDTH > 0
/* The window of a view, that is the part that a group's box can see, is copied to shared memory by
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

/* The difference between the bits of a float place and the index in `room`, modulo 2^32. */
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

/* WHOLE + floor(x) with x = u r.  If x is an integer, the result may be one less: then the fraction is
 * 1 instead of 0. */
float whole_of(float u, float r)
{
    precise float x = fma(u, r, -0.5), t = x + WHOLE;

    return t;
}

/* Floors are clamped to places where all four taps are zero.  Coordinates are not clamped. */
float clamped(float t, int principal, int n)
{
    return clamp(t, WHOLE + float(-2 - principal), WHOLE + float(n - principal));
}

/* Taps from the window of the view, if it has one. */
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
