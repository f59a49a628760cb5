/*
 * Views whose u and w do not depend on z (every untilted circular scan), interpolation in fp32:
 * stored as matrix_exact.cu does, (sample, difference to the next column).  A thread computes u
 * once a view; a row interpolated along u serves the slices above and below it.
 */
#include "backend/cuda/matrix_exact.h"

#include <cstdlib>

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

/* Leaves what is there if `wanted` is false: no branch. */
static __device__ inline void load_if(bool wanted, const float2 *p, float2 *out)
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t"
        "@p ld.global.nc.v2.f32 {%0, %1}, [%2];\n\t}"
        : "+f"(out->x), "+f"(out->y)
        : "l"(p), "r"((int)wanted));
}

template <int SLICES, bool REUSE>
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
    float2 p = make_float2(0, 0), q = p;
    unsigned before = 0;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)k, dv, v0), v_lo), v_hi);
        const float iv = __fadd_rd(v, FLOOR), b = v - (iv - FLOOR);
        const unsigned row = __float_as_uint(iv);
        const float2 *at = samples + (row * in.stride + origin);
        if (REUSE && k > 0) {
            const bool same = row == before, next = row == before + 1;
            p.x = next ? q.x : p.x;
            p.y = next ? q.y : p.y;
            load_if(!same && !next, at, &p);
            load_if(!same, at + in.stride, &q);
        } else {
            p = __ldg(at);
            q = __ldg(at + in.stride);
        }
        before = row;
        const float lower = fmaf(wr, p.y, wl * p.x), upper = fmaf(wr, q.y, wl * q.x);
        sum[k] += fmaf(b, upper - lower, lower);
    }
}

template <int SLICES, int TILE_X, int TILE_Y, bool REUSE>
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
    float sum[SLICES] = {};

    if (x >= g.nx || y >= g.ny)
        return;
    volume += z * slice + (size_t)y * g.nx + x;
    for (int i = 0; i < pass.n; i++)
        add_view<SLICES, REUSE>(pass.view[i], views + i * in.view_size, in, tx, ty, tz, sum);
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            volume[k * slice] += sum[k];
}

template <int SLICES, int TILE_X, int TILE_Y, bool REUSE>
static void launch_shape(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const cuda_exact_layout in = cuda_exact_layout_of(bp->job, bp->batch->n_rows);
    const float2 *views = (const float2 *)bp->views->memory + bp->first * in.view_size;
    const dim3 grid((g->nx + TILE_X - 1) / TILE_X, (g->ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);

    backproject<SLICES, TILE_X, TILE_Y, REUSE>
        <<<grid, TILE_X * TILE_Y, 0, bp->stream>>>(bp->pass, *g, in, views, bp->volume);
}

/* slices, tile, reuse */
#define SHAPES(X)       \
    X(0, 8, 16, 16, 1)  \
    X(1, 8, 16, 16, 0)  \
    X(2, 4, 16, 16, 1)  \
    X(3, 4, 16, 16, 0)  \
    X(4, 16, 16, 16, 1) \
    X(5, 8, 32, 16, 1)  \
    X(6, 8, 32, 32, 1)  \
    X(7, 16, 32, 16, 1) \
    X(8, 16, 16, 16, 0) \
    X(9, 8, 16, 8, 1)

static cudaError_t launch(const struct cuda_bp *bp)
{
    const char *wanted = getenv("FBP_CUDA_VARIANT");
    const int at = wanted ? atoi(wanted) : 0;

#define ONE(AT, K, X, Y, REUSE) \
    if (at == AT)               \
        launch_shape<K, X, Y, REUSE>(bp);
    SHAPES(ONE)
#undef ONE
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
