/*
 * Scans with quarter turns, views in fp16 and filtered by the texture units: a texel is one sample
 * of each of four views, so that one fetch serves four voxels (after Xu and Mueller 2005).  Views
 * are scaled by a power of two into fp16's range (half.h); sums are fp32.
 *
 * v is rounded to 1/256, as the units do, before the first row of the batch is subtracted: no
 * division into slabs changes it (see matrix_fast.cu).
 */
#include "backend/cuda/orbit.h"
#include "backend/partners.h"

#include <cstdlib>
#include <cuda_fp16.h>

enum { MOST_COLUMNS = 32768, MOST_ROWS = 16384 };

/* Added and taken away again it leaves multiples of 1/256, for |v| < 2^14. */
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

template <int I, int SLICES>
static __device__ inline void add_place(const cuda_view &view, const layout &in, int layer,
                                        float tx, float ty, float tz, float sum[SLICES][4])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float column = s.u + ((float)view.column + 0.5f);
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

template <int SLICES, int TILE_X, int TILE_Y, int WARP_X>
static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                const cuda_orbit_volume to, float4 *__restrict__ volume)
{
    const int WARP_Y = 32 / WARP_X, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = blockIdx.x * TILE_X + warp % (TILE_X / WARP_X) * WARP_X + lane % WARP_X;
    const int y = blockIdx.y * TILE_Y + warp / (TILE_X / WARP_X) * WARP_Y + lane / WARP_X;
    const int z = blockIdx.z * SLICES;
    const float tz = (float)(g.z0 + z) - g.z_ref;
    float tx = (float)(d.x0 + x) - g.x_ref, ty = (float)(d.y0 + y) - g.y_ref;
    float sum[SLICES][4];

    if (x >= d.nx || y >= d.ny)
        return;
    float4 *out = volume + ((size_t)y * d.nx + x) * to.orbit + z * to.layer;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float4 q = z + k < g.nz ? out[k * to.layer] : make_float4(0, 0, 0, 0);
        sum[k][0] = q.x, sum[k][1] = q.y, sum[k][2] = q.z, sum[k][3] = q.w;
    }
    for (int i = 0; i < pass.n; i++) {
        const cuda_view &view = pass.view[i];
#define PLACE(I)                                                   \
    add_place<I, SLICES>(view, in, in.first + i, tx, ty, tz, sum); \
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
            out[k * to.layer] = make_float4(sum[k][0], sum[k][1], sum[k][2], sum[k][3]);
}

template <int SLICES, int TILE_X, int TILE_Y, int WARP_X>
static void launch_shape(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, (float)bp->job->wide.n_columns,
                       (float)bp->batch->n_rows, 1 / bp->views->scale};
    cuda_orbit_volume to;
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    cuda_orbit_lay_out(bp->job, bp->slab->nz, false, &to);
    const dim3 grid((d.nx + TILE_X - 1) / TILE_X, (d.ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);
    backproject<SLICES, TILE_X, TILE_Y, WARP_X><<<grid, TILE_X * TILE_Y, 0, bp->stream>>>(
        bp->pass, *g, d, in, to, (float4 *)bp->volume + bp->layer * to.layer);
}

/* slices, tile, columns of a warp */
#define SHAPES(X)       \
    X(0, 4, 16, 16, 16) \
    X(1, 4, 16, 16, 8)  \
    X(2, 8, 16, 16, 16) \
    X(3, 8, 16, 16, 8)  \
    X(4, 4, 16, 32, 16) \
    X(5, 4, 32, 16, 8)  \
    X(6, 4, 32, 8, 32)  \
    X(7, 4, 8, 32, 8)   \
    X(8, 8, 32, 16, 8)  \
    X(9, 4, 16, 8, 8)   \
    X(10, 4, 32, 32, 8) \
    X(11, 2, 32, 32, 8) \
    X(12, 4, 16, 16, 4)

static cudaError_t launch(const struct cuda_bp *bp)
{
    const char *wanted = getenv("FBP_CUDA_VARIANT");
    const int at = wanted ? atoi(wanted) : 0;

#define ONE(AT, K, X, Y, W) \
    if (at == AT)           \
        launch_shape<K, X, Y, W>(bp);
    SHAPES(ONE)
#undef ONE
    return cudaGetLastError();
}

static cudaError_t fetch(const struct cuda_fetch *f)
{
    return cuda_orbit_fetch(f, false);
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
    .fetch = fetch,
};
