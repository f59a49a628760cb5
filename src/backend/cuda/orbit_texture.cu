/* Backprojection of scans with a rotational symmetry, with interpolation by the texture units:
 * kernels `rot90` and `rot180`, which cuda/volume.c launches through struct cuda_kernel (kernel.h).
 * A texel is one sample of each of two or four symmetric views: one fetch serves as many voxels
 * (after Xu and Mueller 2005).  Texels are fp16, scaled by a power of two into its range
 * (gpu_half_scale()), or pairs of fp32; sums are fp32.
 *
 * The kernel rounds u and v to the nearest 1/256 of a texel, the resolution of the units: v before
 * it subtracts the first row of the batch, which depends on the division into slabs (see fast.cu);
 * u because truncation by the units would shift samples by 1/512 texel on average.
 * Used by: entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

/* Number of symmetric views, and the tile. */
template <int T, class Tile_> struct shape {
    using Tile = Tile_;
    using packed = cuda_packed<T>;
    static constexpr int TURNS = T, SLICES = Tile::SLICES;
};

struct layout {
    cudaTextureObject_t views;
    int first;
    float texels;      /* per column */
    float width, rows; /* size of a view in texels */
    float inverse;     /* 1 / scale of the views */
};

/* Project the thread's voxels, rotated I times by the angle between symmetric views, onto a group
 * of symmetric views: the samples of view j there are added to the voxels rotated I + j times
 * (frame.h).  Then do the same for I + 1. */
template <class S, int I = 0>
static __device__ inline void add_places(const gpu_view &view, const layout &in, int layer,
                                         const gpu_domain &d, float tx, float ty, float tz,
                                         float (&sum)[S::SLICES][S::TURNS])
{
    const cuda_projected s = cuda_project(view, tx, ty);
    const float column =
        fmaf(in.texels, s.u, CUDA_ROUND) + (cuda_texel_of(in.texels, view.column) - CUDA_ROUND);
    const float row = ((float)view.row + 0.5f) - CUDA_ROUND, rr = s.r * s.r * in.inverse;
    const float last = tz + (float)((S::SLICES - 1) * S::Tile::LAYERS);

    /* Skip the group if none of these voxels projects onto the rows of the batch. */
    if (column > -1 && column < in.width + 1 && fmaf(last, s.dv, s.v) > (float)(-2 - view.row) &&
        fmaf(tz, s.dv, s.v) < in.rows + (float)(1 - view.row)) {
#pragma unroll
        for (int k = 0; k < S::SLICES; k++) {
            const float v = (fmaf(tz + (float)(k * S::Tile::LAYERS), s.dv, s.v) + CUDA_ROUND) + row;
            float q[S::TURNS];
            cuda_unpack(tex2DLayered<typename S::packed>(in.views, column, v, layer), q);
#pragma unroll
            for (int j = 0; j < S::TURNS; j++) {
                float &out = sum[k][(I + j) % S::TURNS];
                out = fmaf(rr, q[j], out);
            }
        }
    }
    if constexpr (I + 1 < S::TURNS) {
        cuda_turn<S::TURNS>(d, &tx, &ty);
        add_places<S, I + 1>(view, in, layer, d, tx, ty, tz, sum);
    }
}

template <class S, bool REGION>
static __global__ void __launch_bounds__(S::Tile::THREADS)
    backproject(const __grid_constant__ gpu_pass pass, const gpu_grid g,
                const __grid_constant__ gpu_domain d, const __grid_constant__ layout in,
                float *__restrict__ volume)
{
    const cuda_place_in_volume p = cuda_place_of_thread<typename S::Tile>(d.nx, d.ny);
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    const float tx = (float)(d.x0 + p.x) - g.x_ref, ty = (float)(d.y0 + p.y) - g.y_ref;
    float sum[S::SLICES][S::TURNS];

    if (REGION && !cuda_is_needed<typename S::Tile>(g, d.nx, d.ny, d.x0, d.y0))
        return;
    if (!p.inside)
        return;
    cuda_load_sums<S::Tile::LAYERS>(volume, p, d.nx, d.ny, g.nz, sum);
    for (int i = 0; i < pass.n; i++)
        add_places<S>(pass.view[i], in, in.first + i, d, tx, ty, tz, sum);
    cuda_store_sums<S::Tile::LAYERS>(volume, p, d.nx, d.ny, g.nz, sum);
}

template <class S> static cudaError_t launch_shape(const struct cuda_bp *bp)
{
    typedef typename S::Tile Tile;
    const struct gpu_grid *g = &bp->grid;
    const struct cuda_views *v = bp->views;
    const float texels = (float)v->texels, columns = (float)bp->job->padded.panel.n_columns;
    const layout in = {.views = v->texture,
                       .first = (int)bp->first,
                       .texels = texels,
                       .width = texels * columns + (texels - 1),
                       .rows = (float)bp->batch->n_rows,
                       .inverse = 1 / v->scale};
    const auto kernel = g->wanted ? backproject<S, true> : backproject<S, false>;
    gpu_domain d;

    gpu_find_domain(bp->job, bp->slab, &d);
    kernel<<<Tile::blocks(d.nx, d.ny, g->nz), Tile::THREADS, 0, bp->stream>>>(bp->pass, *g, d, in,
                                                                              bp->volume);
    return cudaGetLastError();
}

/* Shapes: blocks of one or of two layers of voxels. Two are faster with wide texels: samples of
 * adjacent slices lie nearer to each other than those of adjacent lines of voxels. */
enum { OF_ONE_LAYER, OF_TWO_LAYERS, SHAPES };

template <int T> static cudaError_t launch(const struct cuda_bp *bp)
{
    enum { SLICES = 16 / T };

    if (bp->shape == OF_TWO_LAYERS)
        return launch_shape<shape<T, cuda_tile<16, 8, SLICES, 8, 2>>>(bp);
    return launch_shape<shape<T, cuda_tile<32, 8, SLICES, 16>>>(bp);
}

/* The order of the candidates is that of their speed on an H200. */
template <int T, int B>
static int candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const bool wide = T * B == 64;

    (void)job;
    (void)n_slices;
    out[0] = wide ? OF_TWO_LAYERS : OF_ONE_LAYER;
    out[1] = wide ? OF_ONE_LAYER : OF_TWO_LAYERS;
    return SHAPES;
}

template <gpu_id ID> static constexpr cuda_kernel kernel_of()
{
    constexpr int T = (int)gpu_known[ID].symmetric_views;

    return cuda_kernel_from(gpu_known[ID], launch<T>, SHAPES, candidates<T, gpu_known[ID].bits>);
}

extern "C" const struct cuda_kernel cuda_kernel_ROT90_HALF = kernel_of<GPU_ROT90_HALF>();
extern "C" const struct cuda_kernel cuda_kernel_ROT180_HALF = kernel_of<GPU_ROT180_HALF>();
extern "C" const struct cuda_kernel cuda_kernel_ROT180_FAST = kernel_of<GPU_ROT180_FAST>();
