/*
 * Scans with symmetries, filtered by the texture units: a texel is one sample of each of two or
 * four lanes, so that one fetch serves as many voxels (after Xu and Mueller 2005).  Texels are
 * fp16, scaled by a power of two into its range (half.c), or pairs of fp32; sums are fp32.
 *
 * u and v are rounded to the nearest 1/256, the units' last digit: v before the first row of the
 * batch is subtracted, so that no division into slabs changes it (see matrix_fast.cu), u because
 * cutting off what is below would move every sample by 1/512.
 */
#include "backend/cuda/orbit.h"

#include <cuda_fp16.h>

enum { TILE_X = 32, TILE_Y = 8, MOST_COLUMNS = 16384, MOST_ROWS = 16384 };

/* Lanes, what a component of a texel is, and slices of a thread. */
template <int T, int H, class C, int S> struct shape : cuda_orbit<T, H> {
    using component = C;
    using packed = cuda_packed<T * H>;
    static constexpr int SLICES = S;
};

/* Added and taken away again it leaves multiples of 1/256, for |x| <= 2^14. */
static const float ROUND = 3 * 16384.0f;

static __device__ inline void write(__half, float value, float scale, cudaSurfaceObject_t views,
                                    unsigned at, unsigned row, unsigned group)
{
    const float most = 65504;
    const __half h = __float2half_rn(fminf(fmaxf(value * scale, -most), most));

    surf2DLayeredwrite(__half_as_ushort(h), views, (int)(at * sizeof(__half)), (int)row,
                       (int)group);
}

static __device__ inline void write(float, float value, float, cudaSurfaceObject_t views,
                                    unsigned at, unsigned row, unsigned group)
{
    surf2DLayeredwrite(value, views, (int)(at * sizeof(float)), (int)row, (int)group);
}

/* One component of the texels of a row. */
template <class S>
static __global__ void store_rows(const cuda_rows r, float scale, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place to = cuda_place_of(r, blockIdx.y);
    const typename S::component kind{};

    if (x >= r.n_columns)
        return;
    const float2 q = r.rows[(size_t)blockIdx.y * r.stride + x];
    write(kind, q.x, scale, views, x * S::LANES + to.lane, to.row, to.group);
    if (to.second)
        write(kind, q.y, scale, views, x * S::LANES + to.lane, to.row, to.group + 1);
}

/* Rows [row, end) of all groups: what a larger batch left there. */
template <class S>
static __global__ void store_zeros(unsigned n_columns, unsigned row, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < n_columns * S::LANES)
        write(typename S::component{}, 0, 0, views, x, row + blockIdx.y, blockIdx.z);
}

template <class S>
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
        store_rows<S>
            <<<dim3(across, part.n), THREADS, 0, stream>>>(part, views->scale, views->surface);
    }
    if (rows->first == 0 && rest > 0)
        store_zeros<S><<<dim3(S::LANES * across, rest, rows->n_groups), THREADS, 0, stream>>>(
            rows->n_columns, rows->n_rows, views->surface);
    return cudaGetLastError();
}

struct layout {
    cudaTextureObject_t views;
    int first;
    float columns, rows, inverse; /* of the views' scale */
};

template <class S, int I>
static __device__ inline void add_place(const cuda_view &view, const layout &in, int layer,
                                        float tx, float ty, float tz,
                                        float (&sum)[S::SLICES][S::LANES])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float column = (s.u + ROUND) + (((float)view.column + 0.5f) - ROUND);
    const float row = ((float)view.row + 0.5f) - ROUND, rr = s.r * s.r * in.inverse;
    const float last = tz + (float)(S::SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(column > -1 && column < in.columns + 1 &&
          fmaf(last, s.dv, s.v) > (float)(-2 - view.row) &&
          fmaf(tz, s.dv, s.v) < in.rows + (float)(1 - view.row)))
        return;
#pragma unroll
    for (int k = 0; k < S::SLICES; k++) {
        const float v = (fmaf(tz + (float)k, s.dv, s.v) + ROUND) + row;
        float q[S::LANES];
        cuda_unpack(tex2DLayered<typename S::packed>(in.views, column, v, layer), q);
#pragma unroll
        for (int j = 0; j < S::LANES; j++) {
            float &out = sum[k][S::voxel(I, j)];
            out = fmaf(rr, q[j], out);
        }
    }
}

/* A group of views at place I and all further ones. */
template <class S, int I = 0>
static __device__ inline void add_places(const cuda_view &view, const layout &in, int layer,
                                         const cuda_domain &d, float tx, float ty, float tz,
                                         float (&sum)[S::SLICES][S::LANES])
{
    add_place<S, I>(view, in, layer, tx, ty, tz, sum);
    if constexpr (I + 1 < S::TURNS) {
        cuda_turn<S::TURNS>(d, &tx, &ty);
        add_places<S, I + 1>(view, in, layer, d, tx, ty, tz, sum);
    }
}

template <class S>
static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                typename S::packed *__restrict__ volume)
{
    const int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    const int z = blockIdx.z * S::SLICES;
    const float tz = (float)(g.z0 + z) - g.z_ref;
    const float tx = (float)(d.x0 + x) - g.x_ref, ty = (float)(d.y0 + y) - g.y_ref;
    float sum[S::SLICES][S::LANES];

    if (x >= d.nx || y >= d.ny)
        return;
    const size_t layer = (size_t)d.nx * d.ny;
    typename S::packed *out = volume + z * layer + (size_t)y * d.nx + x;
#pragma unroll
    for (int k = 0; k < S::SLICES; k++)
        cuda_unpack(z + k < g.nz ? out[k * layer] : typename S::packed{}, sum[k]);
    for (int i = 0; i < pass.n; i++)
        add_places<S>(pass.view[i], in, in.first + i, d, tx, ty, tz, sum);
#pragma unroll
    for (int k = 0; k < S::SLICES; k++)
        if (z + k < g.nz)
            out[k * layer] = cuda_pack(sum[k]);
}

template <class S> static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, (float)bp->job->wide.n_columns,
                       (float)bp->batch->n_rows, 1 / bp->views->scale};
    const dim3 block(TILE_X, TILE_Y);
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    const dim3 grid((d.nx + TILE_X - 1) / TILE_X, (d.ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + S::SLICES - 1) / S::SLICES);
    backproject<S><<<grid, block, 0, bp->stream>>>(
        bp->pass, *g, d, in, (typename S::packed *)bp->volume + bp->layer * d.nx * d.ny);
    return cudaGetLastError();
}

template <unsigned FLAGS> static bool usable(const struct fbp_job *job)
{
    return cuda_has_symmetry(job, FLAGS) && job->wide.n_columns <= MOST_COLUMNS &&
           job->wide.n_rows <= MOST_ROWS;
}

template <class S, unsigned FLAGS> static constexpr cuda_kernel kernel_of(const char *name)
{
    constexpr bool half = sizeof(typename S::component) == 2;
    return {
        .name = name,
        .precision = half ? FBP_PRECISION_HALF : FBP_PRECISION_FAST,
        .turns = S::TURNS,
        .mirrored = S::HALVES == 2,
        .usable = usable<FLAGS>,
        .channels = S::LANES,
        .bits = half ? 16 : 32,
        .store = store<S>,
        .volume_size = cuda_orbit_volume_size,
        .backproject = launch<S>,
        .fetch = cuda_orbit_fetch,
    };
}

extern "C" const struct cuda_kernel cuda_kernel_rot90_half =
    kernel_of<shape<4, 1, __half, 4>, FBP_SYM_ROT90>("rot90");
extern "C" const struct cuda_kernel cuda_kernel_rot180_mirror_half =
    kernel_of<shape<2, 2, __half, 4>, FBP_SYM_ROT180 | FBP_SYM_MIRROR>("rot180+mirror");
extern "C" const struct cuda_kernel cuda_kernel_rot180_half =
    kernel_of<shape<2, 1, __half, 8>, FBP_SYM_ROT180>("rot180");
extern "C" const struct cuda_kernel cuda_kernel_mirror_half =
    kernel_of<shape<1, 2, __half, 8>, FBP_SYM_MIRROR>("mirror");
extern "C" const struct cuda_kernel cuda_kernel_rot180_fast =
    kernel_of<shape<2, 1, float, 8>, FBP_SYM_ROT180>("rot180");
extern "C" const struct cuda_kernel cuda_kernel_mirror_fast =
    kernel_of<shape<1, 2, float, 8>, FBP_SYM_MIRROR>("mirror");
