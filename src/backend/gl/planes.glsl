/*
 * Kernel "planes" for plane integrals, run by gl/backproject.c: views are rows, and the position
 * of a voxel in a row is linear in the voxel's coordinates. A group computes a box of voxels
 * inside a cube of EDGE voxels per side of the whole grid. It copies the windows of some views
 * onto which the box projects to shared memory, and then adds these views.
 *
 * The position of the cube's first voxel is computed in double; relative coordinates are small,
 * and so are their rounding errors. `precise` keeps compilers from changing the arithmetic, so
 * that no shape, slab, box or batch changes a bit.
 */

layout(std430, binding = 0) readonly buffer Views { float views[]; };
layout(std430, binding = 3) readonly buffer Planes { double planes[]; }; /* struct gpu_plane */

const int EDGE = 16, BORDER = 2;   /* GPU_PLANES_EDGE, GPU_BORDER */
const int CHUNK = 32, ROOM = 6144; /* GL_PLANES_CHUNK, GL_PLANES_ROOM */
const double ROUNDING = 1.0LF / 64.0LF;    /* margin of floors, for rounding errors of the threads */

/* TAPS taps, the first at floor(u + SHIFT) + FIRST, with weights by weigh(). */
#if INTERPOLATION == 1
const int TAPS = 1, FIRST = 0;
const double SHIFT = 0.5LF + 1.0LF / 4096.0LF;
#elif INTERPOLATION == 2
const int TAPS = 4, FIRST = -1;
const double SHIFT = 0.0LF;
#else
const int TAPS = 2, FIRST = 0;
const double SHIFT = 0.0LF;
#endif

void weigh(float f, out float w[TAPS])
{
    precise float g = 1.0 - f;
#if INTERPOLATION == 1
    w[0] = 1.0;
#elif INTERPOLATION == 2
    precise float a = g * g * (g / 6.0), b = fma(f * f, fma(0.5, f, -1.0), 2.0 / 3.0);
    precise float c = fma(g * g, fma(0.5, g, -1.0), 2.0 / 3.0), d = f * f * (f / 6.0);
    w[0] = a, w[1] = b, w[2] = c, w[3] = d;
#else
    w[0] = g, w[1] = f;
#endif
}

shared float room[ROOM];
shared vec4 line[CHUNK];  /* steps of u; fraction of u of the cube's first voxel */
shared ivec4 place[CHUNK]; /* first column of the window; offset of floors; 1: visible */

bool is_wanted(ivec3 at)
{
    ivec2 low = max(at.xy, ivec2(cell_x0, cell_y0 + y0));
    ivec2 high = min(at.xy + ivec2(X, Y), ivec2(cell_x0 + nx, cell_y0 + y1)) - 1;

    for (int y = low.y / CELL; y <= high.y / CELL; y++)
        for (int x = low.x / CELL; x <= high.x / CELL; x++) {
            ivec2 cell = wanted[y * cells + x];
            if (cell.x < at.z + SLICES && cell.y > at.z)
                return true;
        }
    return false;
}

/* Find the window of bound view k for the box of voxels at `at`. */
void find_window(int i, int k, ivec3 at)
{
    ivec3 off = at % EDGE, cube = at - off, size = ivec3(X, Y, SLICES);
    precise double start = planes[4 * k + 3] + SHIFT;
    double low = 0.0LF, high = 0.0LF;

    for (int a = 0; a < 3; a++) {
        double step = planes[4 * k + a];
        double from = double(off[a]) * step, to = double(off[a] + size[a] - 1) * step;
        start += double(cube[a]) * step;
        low += min(from, to);
        high += max(from, to);
    }
    precise double base = floor(start), rest = start - base;
    low = floor(start + low - ROUNDING) + double(FIRST);
    high = floor(start + high + ROUNDING) + double(FIRST + TAPS - 1);
    bool seen = high >= 0.0LF && low < double(columns);
    int first_ = seen ? int(low) : 0;
    line[i] = vec4(planes[4 * k], planes[4 * k + 1], planes[4 * k + 2], rest);
    place[i] = ivec4(first_, seen ? int(base) + FIRST - first_ : 0, seen ? 1 : 0, 0);
}

void together()
{
    memoryBarrierShared();
    barrier();
}

/* Copy the windows of views [k, k + some). */
void copy_windows(int k, int some)
{
    for (int i = int(gl_LocalInvocationIndex); i < some * samples; i += THREADS) {
        int v = i / samples, c = place[v].x + i - v * samples;
        uint row = views_skip + uint(k + v) * group + uint((BORDER + delay) * stride + BORDER);
        room[i] = place[v].z == 1 && c >= 0 && c < columns ? views[row + uint(c)] : 0.0;
    }
}

void add_view(int i, vec2 t, float tz, inout float sum[SLICES])
{
    vec4 s = line[i];
    int origin = i * samples + place[i].y - int(WHOLE_BITS);
    precise float across = fma(t.x, s.x, fma(t.y, s.y, s.w));

    for (int k = 0; k < SLICES; k++) {
        precise float u = fma(tz + float(k), s.z, across), down = u - 0.5, t = down + WHOLE;
        precise float f = u - (t - WHOLE);
        int at = floatBitsToInt(t) + origin;
        float w[TAPS];
        weigh(f, w);
        for (int j = 0; j < TAPS; j++) {
            precise float more = fma(w[j], room[at + j], sum[k]);
            sum[k] = more;
        }
    }
}

void main()
{
    ivec3 slab = ivec3(cell_x0, cell_y0, z0), size = ivec3(X, Y, SLICES);
    ivec3 at = (ivec3(gl_WorkGroupID) + (slab + ivec3(0, y0, 0)) / size) * size;
    ivec3 voxel = at + place_of_thread(), p = voxel - slab;
    bool inside = p.x >= 0 && p.x < nx && p.y >= y0 && p.y < y1;
    uint slice = uint(nx * ny), to = volume_skip + uint(p.z * ny + p.y - y0) * uint(nx) + uint(p.x);
    vec2 t = vec2(voxel.xy % EDGE);
    float tz = float(at.z % EDGE), sum[SLICES];

    if (region == 1 && !is_wanted(at))
        return;
    for (int k = 0; k < SLICES; k++)
        sum[k] = inside && p.z + k >= 0 && p.z + k < nz ? volume[to + uint(k) * slice] : 0.0;
    for (int k = 0; k < n; k += chunk) {
        int some = min(chunk, n - k), me = int(gl_LocalInvocationIndex);
        together(); /* all threads have added the previous windows */
        if (me < some)
            find_window(me, first + k + me, at);
        together();
        copy_windows(k, some);
        together();
        for (int i = 0; i < some; i++)
            if (place[i].z == 1)
                add_view(i, t, tz, sum);
    }
    for (int k = 0; k < SLICES; k++)
        if (inside && p.z + k >= 0 && p.z + k < nz)
            volume[to + uint(k) * slice] = sum[k];
}
