/*
 * Views whose u and w do not depend on z (every untilted circular scan), interpolation in fp32:
 * stored as matrix_exact.cu does, (sample, difference to the next column).  A thread computes u and
 * 1/w once a view.
 */
#include "backend/cuda/matrix_exact.h"

enum { SLICES = 8, TILE_X = 16, TILE_Y = 16 };

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

static __device__ inline void add_view(const cuda_view &view, const float2 *__restrict__ samples,
                                       const cuda_exact_layout &in, float tx, float ty, float tz,
                                       float sum[SLICES])
{
    const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3])));
    const float u = fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3])) * r;
    const float v0 = fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3])) * r;
    const float dv = view.v[2] * r;
    const float v_lo = (float)(-1 - view.row), v_hi = in.rows - (float)view.row;

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(u > (float)(-1 - view.column) && u < in.columns - (float)view.column &&
          fmaf(tz + (float)(SLICES - 1), dv, v0) > v_lo && fmaf(tz, dv, v0) < v_hi))
        return;
    const float iu = __fadd_rd(u, FLOOR), wl = r * r, wr = (u - (iu - FLOOR)) * wl;
    const unsigned origin = ((unsigned)(view.row + CUDA_EXACT_BELOW) - FLOOR_BITS) * in.stride +
                            (unsigned)(view.column + CUDA_EXACT_LEFT) - FLOOR_BITS +
                            __float_as_uint(iu);
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)k, dv, v0), v_lo), v_hi);
        const float iv = __fadd_rd(v, FLOOR), b = v - (iv - FLOOR);
        const float2 *at = samples + (__float_as_uint(iv) * in.stride + origin);
        const float2 p = __ldg(at), q = __ldg(at + in.stride);
        const float lower = fmaf(wr, p.y, wl * p.x), upper = fmaf(wr, q.y, wl * q.x);
        sum[k] += fmaf(b, upper - lower, lower);
    }
}

static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_exact_layout in, const float2 *__restrict__ views,
                float *__restrict__ volume)
{
    /* A warp covers 8 x 4 voxels, whose samples lie nearer together than those of 32 in a row. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = blockIdx.x * TILE_X + warp % (TILE_X / 8) * 8 + lane % 8;
    const int y = blockIdx.y * TILE_Y + warp / (TILE_X / 8) * 4 + lane / 8;
    const int z = blockIdx.z * SLICES;
    const float tx = (float)x - g.x_ref, ty = (float)y - g.y_ref, tz = (float)(g.z0 + z) - g.z_ref;
    const size_t slice = (size_t)g.ny * g.nx;
    float sum[SLICES];

    if (x >= g.nx || y >= g.ny)
        return;
    volume += z * slice + (size_t)y * g.nx + x;
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        sum[k] = z + k < g.nz ? volume[k * slice] : 0;
    for (int i = 0; i < pass.n; i++)
        add_view(pass.view[i], views + i * in.view_size, in, tx, ty, tz, sum);
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            volume[k * slice] = sum[k];
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

extern "C" const struct cuda_kernel cuda_kernel_column_exact = {
    .name = "column",
    .precision = FBP_PRECISION_EXACT,
    .turns = 1,
    .usable = usable,
    .views_bytes = cuda_exact_views_bytes,
    .store = cuda_exact_store,
    .backproject = launch,
};
