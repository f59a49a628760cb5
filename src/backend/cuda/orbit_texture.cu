/*
 * Scans with symmetries, filtered by the texture units: a texel is one sample of each of two or
 * four lanes, so that one fetch serves as many voxels (after Xu and Mueller 2005).  Texels are
 * fp16, scaled by a power of two into its range (half.c), or pairs of fp32; sums are fp32.
 *
 * u and v are rounded to the nearest 1/256, the units' last digit: v before the first row of the
 * batch is subtracted, so that no division into slabs changes it (see fast.cu), u because
 * cutting off what is below would move every sample by 1/512.
 */
#include "backend/cuda/orbit.h"

/* Lanes, bits of a component of a texel, and slices of a thread. */
template <int T, int H, int B, int S> struct shape : cuda_orbit<T, H> {
    using Tile = cuda_tile<32, 8, S, 32>;
    using packed = cuda_packed<T * H>;
    static constexpr int SLICES = S, BITS = B;
};

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
    const float column = (s.u + CUDA_ROUND) + (((float)view.column + 0.5f) - CUDA_ROUND);
    const float row = ((float)view.row + 0.5f) - CUDA_ROUND, rr = s.r * s.r * in.inverse;
    const float last = tz + (float)(S::SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(column > -1 && column < in.columns + 1 &&
          fmaf(last, s.dv, s.v) > (float)(-2 - view.row) &&
          fmaf(tz, s.dv, s.v) < in.rows + (float)(1 - view.row)))
        return;
#pragma unroll
    for (int k = 0; k < S::SLICES; k++) {
        const float v = (fmaf(tz + (float)k, s.dv, s.v) + CUDA_ROUND) + row;
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
static __global__ void __launch_bounds__(S::Tile::THREADS)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                float *__restrict__ volume)
{
    const cuda_place_in_volume p = cuda_place_of_thread<typename S::Tile>(d.nx, d.ny);
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    const float tx = (float)(d.x0 + p.x) - g.x_ref, ty = (float)(d.y0 + p.y) - g.y_ref;
    float sum[S::SLICES][S::LANES];

    if (!p.inside)
        return;
    cuda_load_sums(volume, p, d.nx, d.ny, g.nz, sum);
    for (int i = 0; i < pass.n; i++)
        add_places<S>(pass.view[i], in, in.first + i, d, tx, ty, tz, sum);
    cuda_store_sums(volume, p, d.nx, d.ny, g.nz, sum);
}

template <class S> static cudaError_t launch(const struct cuda_bp *bp)
{
    typedef typename S::Tile Tile;
    const struct cuda_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, (float)bp->job->wide.n_columns,
                       (float)bp->batch->n_rows, 1 / bp->views->scale};
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    backproject<S><<<Tile::blocks(d.nx, d.ny, g->nz), Tile::THREADS, 0, bp->stream>>>(
        bp->pass, *g, d, in, bp->volume + cuda_orbit_volume_size(bp->job, bp->layer));
    return cudaGetLastError();
}

template <unsigned FLAGS> static bool usable(const struct fbp_job *job)
{
    return cuda_has_symmetry(job, FLAGS) && cuda_fits_texture(job);
}

template <class S, unsigned FLAGS> static constexpr cuda_kernel kernel_of(const char *name)
{
    constexpr bool half = S::BITS == 16;
    return {
        .name = name,
        .precision = half ? FBP_PRECISION_HALF : FBP_PRECISION_FAST,
        .turns = S::TURNS,
        .mirrored = S::HALVES == 2,
        .usable = usable<FLAGS>,
        .channels = S::LANES,
        .bits = S::BITS,
        .store = half ? cuda_store_fp16 : cuda_store_fp32,
        .volume_size = cuda_orbit_volume_size,
        .backproject = launch<S>,
        .fetch = cuda_orbit_fetch,
    };
}

extern "C" const struct cuda_kernel cuda_kernel_rot90_half =
    kernel_of<shape<4, 1, 16, 4>, FBP_SYM_ROT90>("rot90");
extern "C" const struct cuda_kernel cuda_kernel_rot180_mirror_half =
    kernel_of<shape<2, 2, 16, 4>, FBP_SYM_ROT180 | FBP_SYM_MIRROR>("rot180+mirror");
extern "C" const struct cuda_kernel cuda_kernel_rot180_half =
    kernel_of<shape<2, 1, 16, 8>, FBP_SYM_ROT180>("rot180");
extern "C" const struct cuda_kernel cuda_kernel_mirror_half =
    kernel_of<shape<1, 2, 16, 8>, FBP_SYM_MIRROR>("mirror");
extern "C" const struct cuda_kernel cuda_kernel_rot180_fast =
    kernel_of<shape<2, 1, 32, 8>, FBP_SYM_ROT180>("rot180");
