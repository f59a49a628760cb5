/*
 * Views whose u and w do not depend on z, filtered by the texture units: fp32, or fp16 scaled by a
 * power of two into its range.  As matrix_fast.cu, but a thread computes u and 1/w once a view.
 * u and v are rounded to the nearest 1/256, as in orbit_half.cu.
 */
#include "backend/cuda/kernel.h"

#include <cuda_fp16.h>

enum { SLICES = 8, TILE_X = 32, TILE_Y = 8, MOST_COLUMNS = 16384, MOST_ROWS = 16384 };

/* Added and taken away again it leaves multiples of 1/256, for |x| <= 2^14. */
static const float ROUND = 3 * 16384.0f;

static bool usable(const struct fbp_job *job)
{
    return (job->facts.symmetry & FBP_SYM_COLUMN) && job->wide.n_columns <= MOST_COLUMNS &&
           job->wide.n_rows <= MOST_ROWS;
}

static __device__ inline void write(float value, float scale, cudaSurfaceObject_t views, unsigned x,
                                    unsigned row, unsigned group)
{
    const float most = 65504;
    const __half h = __float2half_rn(fminf(fmaxf(value * scale, -most), most));

    surf2DLayeredwrite(__half_as_ushort(h), views, (int)(x * sizeof h), (int)row, (int)group);
}

static __global__ void store_rows(const cuda_rows r, float scale, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place to = cuda_place_of(r, blockIdx.y);

    if (x >= r.n_columns)
        return;
    const float2 q = r.rows[(size_t)blockIdx.y * r.stride + x];
    write(q.x, scale, views, x, to.row, to.group);
    if (to.second)
        write(q.y, scale, views, x, to.row, to.group + 1);
}

/* Rows [row, end) of all groups: what a larger batch left there. */
static __global__ void store_zeros(unsigned n_columns, unsigned row, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < n_columns)
        surf2DLayeredwrite((unsigned short)0, views, (int)(x * sizeof(__half)),
                           (int)(row + blockIdx.y), (int)blockIdx.z);
}

static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    enum { THREADS = 256 };
    const unsigned across = (rows->n_columns + THREADS - 1) / THREADS;
    const unsigned rest = (unsigned)views->n_rows - rows->n_rows;

    (void)job;
    for (unsigned at = 0; at < rows->n; at += 65535) {
        struct cuda_rows part = *rows;
        part.first += at;
        part.rows += (size_t)at * rows->stride;
        part.n = rows->n - at < 65535 ? rows->n - at : 65535;
        store_rows<<<dim3(across, part.n), THREADS, 0, stream>>>(part, views->scale,
                                                                 views->surface);
    }
    if (rows->first == 0 && rest > 0)
        store_zeros<<<dim3(across, rest, rows->n_groups), THREADS, 0, stream>>>(
            rows->n_columns, rows->n_rows, views->surface);
    return cudaGetLastError();
}

struct layout {
    cudaTextureObject_t views;
    int first;
    float inverse; /* of the views' scale */
};

static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g, const layout in,
                float *__restrict__ volume)
{
    const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
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
    for (int i = 0; i < pass.n; i++) {
        const cuda_view &view = pass.view[i];
        const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3])));
        const float u = fmaf(fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3])), r, ROUND) +
                        (((float)view.column + 0.5f) - ROUND);
        const float v0 = fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3])) * r;
        const float dv = view.v[2] * r, rr = r * r * in.inverse;
        const float row = ((float)view.row + 0.5f) - ROUND;
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            const float v = (fmaf(tz + (float)k, dv, v0) + ROUND) + row;
            sum[k] = fmaf(rr, tex2DLayered<float>(in.views, u, v, in.first + i), sum[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            volume[k * slice] = sum[k];
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, 1 / bp->views->scale};
    const dim3 block(TILE_X, TILE_Y);
    const dim3 grid((g->nx + TILE_X - 1) / TILE_X, (g->ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);

    backproject<<<grid, block, 0, bp->stream>>>(bp->pass, *g, in, bp->volume);
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_column_half = {
    .name = "column",
    .precision = FBP_PRECISION_HALF,
    .turns = 1,
    .usable = usable,
    .channels = 1,
    .bits = 16,
    .store = store,
    .backproject = launch,
};

extern "C" const struct cuda_kernel cuda_kernel_column_fast = {
    .name = "column",
    .precision = FBP_PRECISION_FAST,
    .turns = 1,
    .usable = usable,
    .channels = 1,
    .bits = 32,
    .store = cuda_fast_store,
    .backproject = launch,
};
