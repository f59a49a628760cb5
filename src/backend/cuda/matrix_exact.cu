/*
 * Any 3x4 matrix, interpolation in fp32: as matrix_fast.cu, but views lie in plain memory as
 * (sample, difference to the next column), so that two loads of 8 bytes give the four taps.  A
 * border of zeros and clamped coordinates make the edge continuous, as on the CPU.
 */
#include "backend/cuda/matrix_exact.h"

enum { SLICES = 4, TILE_X = 32, TILE_Y = 16 };
enum { LEFT = CUDA_EXACT_LEFT, RIGHT = 1, BELOW = CUDA_EXACT_BELOW, ABOVE = 2, LINE = 16 };

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float FLOOR = 12582912.0f;
static const unsigned FLOOR_BITS = 0x4b400000u;

static bool usable(const struct fbp_job *job)
{
    (void)job;
    return true;
}

/* Samples from row to row: whole cache lines. */
static unsigned stride_of(const struct fbp_job *job)
{
    return (unsigned)((LEFT + job->wide.n_columns + RIGHT + LINE - 1) / LINE * LINE);
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (BELOW + n_rows + ABOVE) * stride_of(job);
}

size_t cuda_exact_views_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    return n_groups * view_size(job, n_rows) * sizeof(float2);
}

/* Column c of a row, counted from -LEFT, of both views of a pair. */
static __global__ void store_rows(const cuda_rows r, unsigned stride, size_t view_size,
                                  float2 *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place to = cuda_place_of(r, blockIdx.y);
    const float2 *row = r.rows + (size_t)blockIdx.y * r.stride;
    const float2 none = make_float2(0, 0);

    if (at >= LEFT + r.n_columns + RIGHT)
        return;
    const float2 q = at >= LEFT && at - LEFT < r.n_columns ? row[at - LEFT] : none;
    const float2 next = at + 1 - LEFT < r.n_columns ? row[at + 1 - LEFT] : none;
    float2 *out = views + to.group * view_size + (size_t)(BELOW + to.row) * stride + at;
    out[0] = make_float2(q.x, next.x - q.x);
    if (to.second)
        out[view_size] = make_float2(q.y, next.y - q.y);
}

/* The rows of zeros below and above every view. */
static __global__ void store_border(unsigned stride, size_t view_size, unsigned n_rows,
                                    float2 *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y < BELOW ? blockIdx.y : blockIdx.y + n_rows;

    if (at < stride)
        views[blockIdx.z * view_size + (size_t)row * stride + at] = make_float2(0, 0);
}

cudaError_t cuda_exact_store(const struct fbp_job *job, const struct cuda_rows *rows,
                             const struct cuda_views *views, cudaStream_t stream)
{
    enum { THREADS = 256 };
    const unsigned stride = stride_of(job), across = (stride + THREADS - 1) / THREADS;
    const size_t size = view_size(job, rows->n_rows);
    float2 *memory = (float2 *)views->memory;

    for (unsigned at = 0; at < rows->n; at += 65535) {
        struct cuda_rows part = *rows;
        part.first += at;
        part.rows += (size_t)at * rows->stride;
        part.n = rows->n - at < 65535 ? rows->n - at : 65535;
        store_rows<<<dim3(across, part.n), THREADS, 0, stream>>>(part, stride, size, memory);
    }
    if (rows->first == 0)
        store_border<<<dim3(across, BELOW + ABOVE, rows->n_groups), THREADS, 0, stream>>>(
            stride, size, rows->n_rows, memory);
    return cudaGetLastError();
}

cuda_exact_layout cuda_exact_layout_of(const struct fbp_job *job, size_t n_rows)
{
    return {stride_of(job), view_size(job, n_rows), (float)job->wide.n_columns, (float)n_rows};
}

static __device__ inline void add_view(const cuda_view &view, const float2 *__restrict__ samples,
                                       const cuda_exact_layout &in, float tx, float ty, float tz,
                                       float sum[SLICES])
{
    const float u0 = fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3]));
    const float v0 = fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3]));
    const float w0 = fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3]));
    const float u_lo = (float)(-1 - view.column), u_hi = in.columns - (float)view.column;
    const float v_lo = (float)(-1 - view.row), v_hi = in.rows - (float)view.row;
    /* Modulo 2^32; the sum with floor(u), floor(v) is a place in the view. */
    const unsigned origin = ((unsigned)(view.row + BELOW) - FLOOR_BITS) * in.stride +
                            (unsigned)(view.column + LEFT) - FLOOR_BITS;

#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float t = tz + (float)k, w = fmaf(t, view.w[2], w0);
        const float r = cuda_reciprocal(w);
        const float u = fminf(fmaxf(fmaf(t, view.u[2], u0) * r, u_lo), u_hi);
        const float v = fminf(fmaxf(fmaf(t, view.v[2], v0) * r, v_lo), v_hi);
        const float iu = __fadd_rd(u, FLOOR), iv = __fadd_rd(v, FLOOR);
        const float a = u - (iu - FLOOR), b = v - (iv - FLOOR);
        const unsigned at = __float_as_uint(iv) * in.stride + __float_as_uint(iu) + origin;
        const float2 p = __ldg(samples + at), q = __ldg(samples + (at + in.stride));
        const float lower = fmaf(a, p.y, p.x), upper = fmaf(a, q.y, q.x);
        sum[k] = fmaf(r * r, fmaf(b, upper - lower, lower), sum[k]);
    }
}

static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const cuda_exact_layout in, const float2 *__restrict__ views,
                float *__restrict__ volume)
{
    /* A warp covers 8 x 4 voxels, whose samples lie nearer together than those of 32 in a row. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = TILE_X / 8;
    const int x = blockIdx.x * TILE_X + warp % across * 8 + lane % 8;
    const int y = blockIdx.y * TILE_Y + warp / across * 4 + lane / 8;
    const int z = blockIdx.z * SLICES;
    const float tx = (float)x - g.x_ref, ty = (float)y - g.y_ref, tz = (float)(g.z0 + z) - g.z_ref;
    const size_t slice = (size_t)g.nx * g.ny;
    float *to = volume + z * slice + (size_t)y * g.nx + x;
    float sum[SLICES];

    if (x >= g.nx || y >= g.ny)
        return;
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        sum[k] = z + k < g.nz ? to[k * slice] : 0;
    for (int i = 0; i < pass.n; i++)
        add_view(pass.view[i], views + i * in.view_size, in, tx, ty, tz, sum);
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            to[k * slice] = sum[k];
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const cuda_exact_layout in = cuda_exact_layout_of(bp->job, bp->batch->n_rows);
    const float2 *views = (const float2 *)bp->views->memory + bp->first * in.view_size;
    const dim3 grid((g->nx + TILE_X - 1) / TILE_X, (g->ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);

    backproject<<<grid, TILE_X * TILE_Y, 0, bp->stream>>>(bp->pass, *g, in, views, bp->volume);
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_matrix_exact = {
    .name = "matrix",
    .precision = FBP_PRECISION_EXACT,
    .turns = 1,
    .usable = usable,
    .views_bytes = cuda_exact_views_bytes,
    .store = cuda_exact_store,
    .backproject = launch,
};
