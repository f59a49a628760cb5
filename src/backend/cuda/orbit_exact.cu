/*
 * Scans with quarter turns, with or without a mirror, interpolation in fp32: a sample is a float4,
 * one component a turn, and lies in plain memory between borders of zeros.  u, w and the weights of
 * the two columns do not depend on z: a thread computes them once for all its slices of an orbit.
 */
#include "backend/cuda/orbit.h"

#include "backend/partners.h"

#include <cstdio>
#include <cstdlib>

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float FLOOR = 12582912.0f;
static const unsigned FLOOR_BITS = 0x4b400000u;

/* Shapes to choose from: see the list at the end. */
struct shape {
    int slices, tile_x, tile_y, lanes_z, reuse, transposed;
};

static shape shape_of(void);

/* Texels from row to row and from column to column. */
struct layout {
    unsigned row, column;
    size_t half, group;
    float columns, rows, least_row;
};

static layout layout_of(const struct fbp_job *job, size_t n_rows)
{
    enum { LINE = 8 };
    const size_t across = ORBIT_LEFT + job->wide.n_columns + ORBIT_RIGHT;
    const size_t high = ORBIT_BELOW + n_rows + ORBIT_ABOVE;
    layout out = {};

    if (shape_of().transposed) {
        out.row = 1;
        out.column = (unsigned)((high + LINE - 1) / LINE * LINE);
        out.half = across * out.column;
    } else {
        out.column = 1;
        out.row = (unsigned)((across + LINE - 1) / LINE * LINE);
        out.half = high * out.row;
    }
    out.group = fbp_halves(job) * out.half;
    out.columns = (float)job->wide.n_columns;
    out.rows = (float)n_rows;
    return out;
}

static size_t views_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    return n_groups * layout_of(job, n_rows).group * sizeof(float4);
}

/* One component of the texels of row `to.row`, a zero left and two right of it included. */
static __global__ void store_rows(const cuda_rows r, const layout to, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);
    const float2 *row = r.rows + (size_t)blockIdx.y * r.stride;

    if (at >= ORBIT_LEFT + r.n_columns + ORBIT_RIGHT)
        return;
    const bool inside = at >= ORBIT_LEFT && at - ORBIT_LEFT < r.n_columns;
    const float2 q = inside ? row[at - ORBIT_LEFT] : make_float2(0, 0);
    const size_t texel = p.group * to.group + p.lane / ORBIT_TURNS * to.half +
                         (size_t)(ORBIT_BELOW + p.row) * to.row + (size_t)at * to.column;
    float *out = views + texel * ORBIT_TURNS + p.lane % ORBIT_TURNS;
    out[0] = q.x;
    if (p.second)
        out[to.group * ORBIT_TURNS] = q.y;
}

/* The rows of zeros below and above: blockIdx.y, of half blockIdx.z. */
static __global__ void store_border(const layout to, unsigned across, unsigned n_rows,
                                    float4 *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y < ORBIT_BELOW ? blockIdx.y : blockIdx.y + n_rows;

    if (at < across)
        views[blockIdx.z * to.half + (size_t)row * to.row + (size_t)at * to.column] =
            make_float4(0, 0, 0, 0);
}

static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    enum { THREADS = 256 };
    const layout to = layout_of(job, rows->n_rows);
    const unsigned across = ORBIT_LEFT + rows->n_columns + ORBIT_RIGHT;
    const unsigned blocks = (across + THREADS - 1) / THREADS;
    const unsigned halves = (unsigned)fbp_halves(job);

    for (unsigned at = 0; at < rows->n; at += 65535) {
        struct cuda_rows part = *rows;
        part.first += at;
        part.rows += (size_t)at * rows->stride;
        part.n = rows->n - at < 65535 ? rows->n - at : 65535;
        store_rows<<<dim3(blocks, part.n), THREADS, 0, stream>>>(part, to, (float *)views->memory);
    }
    if (rows->first == 0)
        store_border<<<dim3(blocks, ORBIT_BELOW + ORBIT_ABOVE, halves * rows->n_groups), THREADS, 0,
                       stream>>>(to, across, rows->n_rows, (float4 *)views->memory);
    return cudaGetLastError();
}

static __device__ inline void load(const float4 *p, float out[4])
{
    const float4 q = __ldg(p);
    out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
}

/* As load(), but leaves what is there if `wanted` is false: no branch. */
static __device__ inline void load_if(bool wanted, const float4 *p, float out[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %5, 0;\n\t"
        "@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
        : "+f"(out[0]), "+f"(out[1]), "+f"(out[2]), "+f"(out[3])
        : "l"(p), "r"((int)wanted));
}

/* The four samples around a place, in memory order: [next row][next column]. */
struct taps {
    float t[2][2][4];
};

/* Slices of one half, at place I of the orbit. */
template <int I, int SLICES, int STEP, bool REUSE, bool TRANSPOSED>
static __device__ inline void add_slices(const float4 *__restrict__ samples, const layout &in,
                                         unsigned origin, const cuda_spot &s, float wl, float wr,
                                         float v_lo, float v_hi, float tz, float sum[SLICES][4])
{
    const unsigned row = TRANSPOSED ? 1 : in.row, column = TRANSPOSED ? in.column : 1;
    unsigned before = 0;
    taps q;

#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)(k * STEP), s.dv, s.v), v_lo), v_hi);
        const float iv = __fadd_rd(v, FLOOR), b = v - (iv - FLOOR);
        const unsigned r = __float_as_uint(iv);
        const float4 *p = samples + (r * row + origin);
        if (REUSE && k > 0) {
            const bool same = r == before, next = r == before + 1;
#pragma unroll
            for (int c = 0; c < 2; c++) {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    q.t[0][c][j] = next ? q.t[1][c][j] : q.t[0][c][j];
                load_if(!same && !next, p + c * column, q.t[0][c]);
                load_if(!same, p + c * column + row, q.t[1][c]);
            }
        } else {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                load(p + c * column, q.t[0][c]);
                load(p + c * column + row, q.t[1][c]);
            }
        }
        before = r;
        const float wlb = wl * b, wrb = wr * b, wl0 = wl - wlb, wr0 = wr - wrb;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float &out = sum[k][(I + j) % 4];
            out = fmaf(wl0, q.t[0][0][j], out);
            out = fmaf(wr0, q.t[0][1][j], out);
            out = fmaf(wlb, q.t[1][0][j], out);
            out = fmaf(wrb, q.t[1][1][j], out);
        }
    }
}

/* A group of views at place I. */
template <int I, int SLICES, int STEP, bool REUSE, bool TRANSPOSED, int HALVES>
static __device__ inline void add_place(const cuda_view &view, const float4 *__restrict__ samples,
                                        const layout &in, float tx, float ty, float tz,
                                        float sum[HALVES][SLICES][4])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float u_lo = (float)(-1 - view.column), u_hi = in.columns - (float)view.column;
    const float v_lo = in.least_row - (float)view.row, v_hi = in.rows - (float)view.row;
    const float last = tz + (float)((SLICES - 1) * STEP);
    const float below = (float)(-1 - view.row);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(s.u > u_lo && s.u < u_hi && fmaf(last, s.dv, s.v) > below && fmaf(tz, s.dv, s.v) < v_hi))
        return;
    const float iu = __fadd_rd(s.u, FLOOR), a = s.u - (iu - FLOOR), rr = s.r * s.r;
    const float wr = a * rr, wl = rr - wr;
    /* Modulo 2^32; the sum with the bits of floor(v) is a place in the view. */
    const unsigned row = TRANSPOSED ? 1 : in.row, column = TRANSPOSED ? in.column : 1;
    const unsigned origin =
        (__float_as_uint(iu) - FLOOR_BITS + (unsigned)(view.column + ORBIT_LEFT)) * column +
        ((unsigned)(view.row + ORBIT_BELOW) - FLOOR_BITS) * row;
#pragma unroll
    for (int half = 0; half < HALVES; half++)
        add_slices<I, SLICES, STEP, REUSE, TRANSPOSED>(samples + half * in.half, in, origin, s, wl,
                                                       wr, v_lo, v_hi, tz, sum[half]);
}

template <int SLICES, int TILE_X, int TILE_Y, int LANES_Z, bool REUSE, bool TRANSPOSED, int HALVES>
static __global__ void __launch_bounds__(TILE_X *TILE_Y *LANES_Z)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                const cuda_orbit_volume to, const float4 *__restrict__ views,
                float4 *__restrict__ volume)
{
    /* A warp covers 8 x 4 orbits, or 8 slices of 4 x 1. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int wide = LANES_Z == 1 ? 8 : 4, high = LANES_Z == 1 ? 4 : 1;
    const int at = LANES_Z == 1 ? lane : lane / LANES_Z;
    const int x = blockIdx.x * TILE_X + warp % (TILE_X / wide) * wide + at % wide;
    const int y = blockIdx.y * TILE_Y + warp / (TILE_X / wide) * high + at / wide;
    const int z = blockIdx.z * (SLICES * LANES_Z) + (LANES_Z == 1 ? 0 : lane % LANES_Z);
    const float tz = (float)(g.z0 + z) - g.z_ref;
    float tx = (float)(d.x0 + x) - g.x_ref, ty = (float)(d.y0 + y) - g.y_ref;
    float sum[HALVES][SLICES][4];

    if (x >= d.nx || y >= d.ny)
        return;
    float4 *out = volume + ((size_t)y * d.nx + x) * to.orbit + z * to.layer;
#pragma unroll
    for (int h = 0; h < HALVES; h++)
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            const float4 q = z + k * LANES_Z < g.nz ? out[h * to.half + k * LANES_Z * to.layer]
                                                    : make_float4(0, 0, 0, 0);
            sum[h][k][0] = q.x, sum[h][k][1] = q.y, sum[h][k][2] = q.z, sum[h][k][3] = q.w;
        }
    for (int i = 0; i < pass.n; i++, views += in.group) {
        const cuda_view &view = pass.view[i];
#define PLACE(I)                                                                                \
    add_place<I, SLICES, LANES_Z, REUSE, TRANSPOSED, HALVES>(view, views, in, tx, ty, tz, sum); \
    cuda_turn(d, &tx, &ty)
        PLACE(0);
        PLACE(1);
        PLACE(2);
        PLACE(3);
#undef PLACE
    }
#pragma unroll
    for (int h = 0; h < HALVES; h++)
#pragma unroll
        for (int k = 0; k < SLICES; k++)
            if (z + k * LANES_Z < g.nz)
                out[h * to.half + k * LANES_Z * to.layer] =
                    make_float4(sum[h][k][0], sum[h][k][1], sum[h][k][2], sum[h][k][3]);
}

template <int SLICES, int TILE_X, int TILE_Y, int LANES_Z, bool REUSE, bool TRANSPOSED>
static void launch_shape(const struct cuda_bp *bp, const layout &in)
{
    const struct cuda_grid *g = &bp->grid;
    const int step = SLICES * LANES_Z;
    cuda_orbit_volume to;
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    cuda_orbit_lay_out(bp->job, bp->slab->nz, LANES_Z > 1, &to);
    const float4 *views = (const float4 *)bp->views->memory + bp->first * in.group;
    float4 *volume = (float4 *)bp->volume + bp->layer * to.layer;
    const dim3 grid((d.nx + TILE_X - 1) / TILE_X, (d.ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + step - 1) / step);
    const int threads = TILE_X * TILE_Y * LANES_Z;
    if (bp->job->mirrored)
        backproject<SLICES, TILE_X, TILE_Y, LANES_Z, REUSE, TRANSPOSED, 2>
            <<<grid, threads, 0, bp->stream>>>(bp->pass, *g, d, in, to, views, volume);
    else
        backproject<SLICES, TILE_X, TILE_Y, LANES_Z, REUSE, TRANSPOSED, 1>
            <<<grid, threads, 0, bp->stream>>>(bp->pass, *g, d, in, to, views, volume);
}

/* slices, tile_x, tile_y, lanes_z, reuse, transposed */
#define SHAPES(X)         \
    X(4, 16, 16, 1, 0, 0) \
    X(4, 16, 16, 1, 1, 0) \
    X(8, 16, 16, 1, 0, 0) \
    X(8, 16, 16, 1, 1, 0) \
    X(4, 16, 16, 1, 0, 1) \
    X(8, 16, 16, 1, 1, 1) \
    X(4, 32, 16, 1, 0, 0) \
    X(8, 32, 16, 1, 1, 0) \
    X(4, 16, 8, 1, 0, 0)  \
    X(8, 16, 8, 1, 1, 0)  \
    X(4, 8, 4, 8, 0, 1)   \
    X(2, 8, 8, 8, 0, 1)   \
    X(4, 8, 8, 8, 0, 1)

static shape shape_of(void)
{
    static const shape shapes[] = {
#define ONE(...) {__VA_ARGS__},
        SHAPES(ONE)
#undef ONE
    };
    const char *wanted = getenv("FBP_CUDA_VARIANT");
    const size_t n = sizeof shapes / sizeof *shapes, at = wanted ? (size_t)atoi(wanted) : 0;
    return shapes[at < n ? at : 0];
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    layout in = layout_of(bp->job, bp->batch->n_rows);
    const shape s = shape_of();

    in.least_row = cuda_least_row(bp->job, bp->batch);
#define ONE(K, X, Y, Z, REUSE, TRANSPOSED)                                                       \
    if (s.slices == K && s.tile_x == X && s.tile_y == Y && s.lanes_z == Z && s.reuse == REUSE && \
        s.transposed == TRANSPOSED)                                                              \
        launch_shape<K, X, Y, Z, REUSE, TRANSPOSED>(bp, in);
    SHAPES(ONE)
#undef ONE
    return cudaGetLastError();
}

static cudaError_t fetch(const struct cuda_fetch *f)
{
    return cuda_orbit_fetch(f, shape_of().lanes_z > 1);
}

#define ORBIT                                                                          \
    .views_bytes = views_bytes, .store = store, .volume_size = cuda_orbit_volume_size, \
    .backproject = launch, .fetch = fetch

extern "C" const struct cuda_kernel cuda_kernel_rot90_exact = {
    .name = "rot90",
    .precision = FBP_PRECISION_EXACT,
    .turns = ORBIT_TURNS,
    .mirrored = false,
    .usable = cuda_can_rot90,
    ORBIT,
};

extern "C" const struct cuda_kernel cuda_kernel_rot90_mirror_exact = {
    .name = "rot90+mirror",
    .precision = FBP_PRECISION_EXACT,
    .turns = ORBIT_TURNS,
    .mirrored = true,
    .usable = cuda_can_rot90_mirror,
    ORBIT,
};
