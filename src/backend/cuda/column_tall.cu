/*
 * Views whose u and w do not depend on z, interpolation in fp32, a warp along z: its lanes share
 * two columns of a view, which lie in memory one after the other as (sample, the one above it), so
 * that 32 slices read a few whole cache lines whatever the angle.
 */
#include "backend/cuda/kernel.h"

enum { SLICES = 8, LANES = 32, TILE_X = 8, TALL = SLICES * LANES, THREADS = TILE_X * LANES };
enum { LEFT = 1, RIGHT = 1, BELOW = 1, ABOVE = 1, LINE = 16 };

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float FLOOR = 12582912.0f;
static const unsigned FLOOR_BITS = 0x4b400000u;

static bool usable(const struct fbp_job *job)
{
    if (!(job->facts.symmetry & FBP_SYM_COLUMN))
        return false;
    for (size_t k = 0; k < job->n_views; k++)
        if (!(job->matrices[k][6] > 0))
            return false;
    return true;
}

struct layout {
    unsigned column; /* samples from column to column: whole cache lines */
    size_t view;     /* from view to view */
    float columns, rows;
};

static layout layout_of(const struct fbp_job *job, size_t n_rows)
{
    const size_t column = (BELOW + n_rows + ABOVE + LINE - 1) / LINE * LINE;

    return {(unsigned)column, (LEFT + job->wide.n_columns + RIGHT) * column,
            (float)job->wide.n_columns, (float)n_rows};
}

static size_t views_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    return n_groups * layout_of(job, n_rows).view * sizeof(float2);
}

/* Every sample as the lower of its own row and as the upper of the row below. */
static __global__ void store_rows(const cuda_rows r, const layout to, float2 *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);

    if (at >= LEFT + r.n_columns + RIGHT)
        return;
    const bool inside = at >= LEFT && at - LEFT < r.n_columns;
    const float2 q = inside ? r.rows[(size_t)blockIdx.y * r.stride + at - LEFT] : make_float2(0, 0);
    float2 *out = views + p.group * to.view + (size_t)at * to.column + BELOW + p.row;
    out[0].x = q.x;
    out[-1].y = q.x;
    if (p.second) {
        out[to.view].x = q.y;
        out[(ptrdiff_t)to.view - 1].y = q.y;
    }
}

/* The zeros below the first row and above the last, of view blockIdx.y. */
static __global__ void store_border(const layout to, unsigned across, unsigned n_rows,
                                    float2 *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;

    if (at >= across)
        return;
    float2 *out = views + blockIdx.y * to.view + (size_t)at * to.column;
    out[0].x = 0;
    out[n_rows].y = 0;
    out[BELOW + n_rows] = make_float2(0, 0);
}

static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    const layout to = layout_of(job, rows->n_rows);
    const unsigned across = LEFT + rows->n_columns + RIGHT;
    const unsigned blocks = (across + THREADS - 1) / THREADS;
    float2 *memory = (float2 *)views->memory;

    for (unsigned at = 0; at < rows->n; at += 65535) {
        struct cuda_rows part = *rows;
        part.first += at;
        part.rows += (size_t)at * rows->stride;
        part.n = rows->n - at < 65535 ? rows->n - at : 65535;
        store_rows<<<dim3(blocks, part.n), THREADS, 0, stream>>>(part, to, memory);
    }
    if (rows->first == 0)
        store_border<<<dim3(blocks, rows->n_groups), THREADS, 0, stream>>>(to, across, rows->n_rows,
                                                                           memory);
    return cudaGetLastError();
}

/* Slices tz + LANES k; the warp's slices start at `low`. */
static __device__ inline void add_view(const cuda_view &view, const float2 *__restrict__ samples,
                                       const layout &in, float tx, float ty, float low, float tz,
                                       float sum[SLICES])
{
    const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3])));
    const float u = fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3])) * r;
    const float v0 = fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3])) * r;
    const float dv = view.v[2] * r;
    const float v_lo = (float)(-1 - view.row), v_hi = in.rows - (float)view.row;

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(u > (float)(-1 - view.column) && u < in.columns - (float)view.column &&
          fmaf(low + (float)(TALL - 1), dv, v0) > v_lo && fmaf(low, dv, v0) < v_hi))
        return;
    const float iu = __fadd_rd(u, FLOOR), rr = r * r, wr = (u - (iu - FLOOR)) * rr, wl = rr - wr;
    const unsigned origin =
        (__float_as_uint(iu) - FLOOR_BITS + (unsigned)(view.column + LEFT)) * in.column +
        (unsigned)(view.row + BELOW) - FLOOR_BITS;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)(k * LANES), dv, v0), v_lo), v_hi);
        const float iv = __fadd_rd(v, FLOOR), b = v - (iv - FLOOR);
        const float2 *at = samples + (__float_as_uint(iv) + origin);
        const float2 p = __ldg(at), q = __ldg(at + in.column);
        const float lower = fmaf(wr, q.x, wl * p.x), upper = fmaf(wr, q.y, wl * p.y);
        sum[k] += fmaf(b, upper - lower, lower);
    }
}

/* A block is TILE_X warps beside each other. */
static __global__ void __launch_bounds__(THREADS)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ layout in, const float2 *__restrict__ views,
                float *__restrict__ volume)
{
    __shared__ float turned[TALL][TILE_X + 1];
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const int x0 = blockIdx.x * TILE_X, y = blockIdx.y, z0 = blockIdx.z * TALL;
    const float tx = (float)(x0 + warp) - g.x_ref, ty = (float)y - g.y_ref;
    const float low = (float)(g.z0 + z0) - g.z_ref, tz = low + (float)lane;
    float sum[SLICES] = {};

    if (x0 + warp < g.nx)
        for (int i = 0; i < pass.n; i++)
            add_view(pass.view[i], views + i * in.view, in, tx, ty, low, tz, sum);
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        turned[k * LANES + lane][warp] = sum[k];
    __syncthreads();
    const int x = x0 + threadIdx.x % TILE_X;
    for (int z = threadIdx.x / TILE_X; z < TALL && z0 + z < g.nz; z += THREADS / TILE_X)
        if (x < g.nx)
            volume[((size_t)(z0 + z) * g.ny + y) * g.nx + x] += turned[z][threadIdx.x % TILE_X];
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = layout_of(bp->job, bp->batch->n_rows);
    const float2 *views = (const float2 *)bp->views->memory + bp->first * in.view;
    const dim3 grid((g->nx + TILE_X - 1) / TILE_X, g->ny, (g->nz + TALL - 1) / TALL);

    backproject<<<grid, THREADS, 0, bp->stream>>>(bp->pass, *g, in, views, bp->volume);
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_column_tall_exact = {
    .name = "column-tall",
    .precision = FBP_PRECISION_EXACT,
    .turns = 1,
    .usable = usable,
    .views_bytes = views_bytes,
    .store = store,
    .backproject = launch,
};
