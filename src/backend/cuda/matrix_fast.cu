/*
 * Any 3x4 matrix, views filtered by the texture units (Zinsser and Keck 2013, kernel B): a thread
 * holds SLICES voxels of a column in registers while the views of a pass go by.
 *
 * The units take coordinates to 1/256 of a pixel and mean the middle of a pixel by i + 1/2; what
 * lies beside the texture is zero, so that the edge is continuous.  u and v are rounded to the nearest
 * 1/256, v before the first row of the batch is subtracted, so that no division into slabs changes it.
 */
#include "backend/cuda/kernel.h"

enum { SLICES = 8, TILE_X = 32, TILE_Y = 8, MOST_COLUMNS = 16384, MOST_ROWS = 16384 };

/* Added and taken away again it leaves multiples of 1/256, for |v| < 2^14. */
static const float ROUND = 3 * 16384.0f;

/* A batch has fewer views than a texture may have layers. */
static bool usable(const struct fbp_job *job)
{
    return job->wide.n_columns <= MOST_COLUMNS && job->wide.n_rows <= MOST_ROWS;
}

static __global__ void store_rows(const cuda_rows r, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place to = cuda_place_of(r, blockIdx.y);

    if (x >= r.n_columns)
        return;
    const float2 q = r.rows[(size_t)blockIdx.y * r.stride + x];
    surf2DLayeredwrite(q.x, views, (int)(x * sizeof(float)), (int)to.row, (int)to.group);
    if (to.second)
        surf2DLayeredwrite(q.y, views, (int)(x * sizeof(float)), (int)to.row, (int)to.group + 1);
}

/* Rows [row, end) of all groups: what a larger batch left there. */
static __global__ void store_zeros(unsigned n_columns, unsigned row, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < n_columns)
        surf2DLayeredwrite(0.0f, views, (int)(x * sizeof(float)), (int)(row + blockIdx.y),
                           (int)blockIdx.z);
}

cudaError_t cuda_fast_store(const struct fbp_job *job, const struct cuda_rows *rows,
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
        store_rows<<<dim3(across, part.n), THREADS, 0, stream>>>(part, views->surface);
    }
    if (rows->first == 0 && rest > 0)
        store_zeros<<<dim3(across, rest, rows->n_groups), THREADS, 0, stream>>>(
            rows->n_columns, rows->n_rows, views->surface);
    return cudaGetLastError();
}

/* What one view adds to the voxels of a thread. */
static __device__ inline void add_view(const cuda_view &view, cudaTextureObject_t views, int layer,
                                       float tx, float ty, float tz, float sum[SLICES])
{
    const float u0 = fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3]));
    const float v0 = fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3]));
    const float w0 = fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3]));
    const float column = ((float)view.column + 0.5f) - ROUND;
    const float row = ((float)view.row + 0.5f) - ROUND;

#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float t = tz + (float)k, w = fmaf(t, view.w[2], w0);
        const float r = cuda_reciprocal(w);
        const float u = fmaf(fmaf(t, view.u[2], u0), r, ROUND) + column;
        const float v = fmaf(fmaf(t, view.v[2], v0), r, ROUND) + row;
        sum[k] = fmaf(r * r, tex2DLayered<float>(views, u, v, layer), sum[k]);
    }
}

static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                cudaTextureObject_t views, int first, float *__restrict__ volume)
{
    const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
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
        add_view(pass.view[i], views, first + i, tx, ty, tz, sum);
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            to[k * slice] = sum[k];
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const dim3 block(TILE_X, TILE_Y);
    const dim3 grid((g->nx + TILE_X - 1) / TILE_X, (g->ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);

    backproject<<<grid, block, 0, bp->stream>>>(bp->pass, *g, bp->views->texture, (int)bp->first,
                                                bp->volume);
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_matrix_fast = {
    .name = "matrix",
    .precision = FBP_PRECISION_FAST,
    .turns = 1,
    .usable = usable,
    .channels = 1,
    .bits = 32,
    .store = cuda_fast_store,
    .backproject = launch,
};
