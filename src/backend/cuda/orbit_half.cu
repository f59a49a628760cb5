/*
 * Scans with quarter turns, views in fp16 and filtered by the texture units: a texel is one sample
 * of each of four views, so that one fetch serves four voxels (after Xu and Mueller 2005).  Views
 * are scaled by a power of two into fp16's range (half.h); sums are fp32.
 *
 * u and v are rounded to the nearest 1/256, the units' last digit: v before the first row of the
 * batch is subtracted, so that no division into slabs changes it (see matrix_fast.cu), u because
 * cutting off what is below would move every sample by 1/512.
 */
#include "backend/cuda/orbit.h"

#include <cuda_fp16.h>

enum { SLICES = 4, TILE_X = 32, TILE_Y = 8, MOST_COLUMNS = 16384, MOST_ROWS = 16384 };

/* Added and taken away again it leaves multiples of 1/256, for |x| <= 2^14. */
static const float ROUND = 3 * 16384.0f;

static bool usable(const struct fbp_job *job)
{
    return cuda_can_rot90(job) && job->wide.n_columns <= MOST_COLUMNS &&
           job->wide.n_rows <= MOST_ROWS;
}

static __device__ inline void write(float value, float scale, cudaSurfaceObject_t views, unsigned x,
                                    unsigned lane, unsigned row, unsigned group)
{
    const float most = 65504;
    const __half h = __float2half_rn(fminf(fmaxf(value * scale, -most), most));

    surf2DLayeredwrite(__half_as_ushort(h), views, (int)((x * ORBIT_TURNS + lane) * sizeof(__half)),
                       (int)row, (int)group);
}

/* One component of the texels of a row. */
static __global__ void store_rows(const cuda_rows r, float scale, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place to = cuda_place_of(r, blockIdx.y);

    if (x >= r.n_columns)
        return;
    const float2 q = r.rows[(size_t)blockIdx.y * r.stride + x];
    write(q.x, scale, views, x, to.lane, to.row, to.group);
    if (to.second)
        write(q.y, scale, views, x, to.lane, to.row, to.group + 1);
}

/* Rows [row, end) of all groups: what a larger batch left there. */
static __global__ void store_zeros(unsigned n_columns, unsigned row, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < n_columns)
        surf2DLayeredwrite(make_ushort4(0, 0, 0, 0), views, (int)(x * ORBIT_TURNS * sizeof(__half)),
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
    float columns, rows, inverse; /* of the views' scale */
};

template <int I>
static __device__ inline void add_place(const cuda_view &view, const layout &in, int layer,
                                        float tx, float ty, float tz, float sum[SLICES][4])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float column = (s.u + ROUND) + (((float)view.column + 0.5f) - ROUND);
    const float row = ((float)view.row + 0.5f) - ROUND, rr = s.r * s.r * in.inverse;
    const float last = tz + (float)(SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(column > -1 && column < in.columns + 1 &&
          fmaf(last, s.dv, s.v) > (float)(-2 - view.row) &&
          fmaf(tz, s.dv, s.v) < in.rows + (float)(1 - view.row)))
        return;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = (fmaf(tz + (float)k, s.dv, s.v) + ROUND) + row;
        const float4 q = tex2DLayered<float4>(in.views, column, v, layer);
        sum[k][I] = fmaf(rr, q.x, sum[k][I]);
        sum[k][(I + 1) % 4] = fmaf(rr, q.y, sum[k][(I + 1) % 4]);
        sum[k][(I + 2) % 4] = fmaf(rr, q.z, sum[k][(I + 2) % 4]);
        sum[k][(I + 3) % 4] = fmaf(rr, q.w, sum[k][(I + 3) % 4]);
    }
}

static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                float4 *__restrict__ volume)
{
    const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    const int z = blockIdx.z * SLICES;
    const float tz = (float)(g.z0 + z) - g.z_ref;
    float tx = (float)(d.x0 + x) - g.x_ref, ty = (float)(d.y0 + y) - g.y_ref;
    float sum[SLICES][4];

    if (x >= d.nx || y >= d.ny)
        return;
    const size_t layer = (size_t)d.nx * d.ny;
    float4 *out = volume + z * layer + (size_t)y * d.nx + x;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float4 q = z + k < g.nz ? out[k * layer] : make_float4(0, 0, 0, 0);
        sum[k][0] = q.x, sum[k][1] = q.y, sum[k][2] = q.z, sum[k][3] = q.w;
    }
    for (int i = 0; i < pass.n; i++) {
        const cuda_view &view = pass.view[i];
#define PLACE(I)                                           \
    add_place<I>(view, in, in.first + i, tx, ty, tz, sum); \
    cuda_turn(d, &tx, &ty)
        PLACE(0);
        PLACE(1);
        PLACE(2);
        PLACE(3);
#undef PLACE
    }
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            out[k * layer] = make_float4(sum[k][0], sum[k][1], sum[k][2], sum[k][3]);
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, (float)bp->job->wide.n_columns,
                       (float)bp->batch->n_rows, 1 / bp->views->scale};
    const dim3 block(TILE_X, TILE_Y);
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    const dim3 grid((d.nx + TILE_X - 1) / TILE_X, (d.ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);
    backproject<<<grid, block, 0, bp->stream>>>(bp->pass, *g, d, in,
                                                (float4 *)bp->volume + bp->layer * d.nx * d.ny);
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_rot90_half = {
    .name = "rot90",
    .precision = FBP_PRECISION_HALF,
    .turns = ORBIT_TURNS,
    .usable = usable,
    .channels = ORBIT_TURNS,
    .bits = 16,
    .store = store,
    .volume_size = cuda_orbit_volume_size,
    .backproject = launch,
    .fetch = cuda_orbit_fetch,
};
