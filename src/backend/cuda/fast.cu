/* Backprojection with interpolation by the texture units (Zinsser and Keck 2013, kernel B), from
 * fp32, or from fp16 scaled by a power of two into its range: kernels `matrix`, for any 3x4
 * projection matrix, and `column`, for views whose u (detector column) and w (depth) do not depend
 * on z: a thread then computes u and 1/w once per view.  cuda/volume.c launches them through struct
 * cuda_kernel (kernel.h).
 *
 * The units round coordinates to 1/256 of a texel; the centre of texel i is at i + 1/2.  Samples
 * outside the texture are zero, so the edge is continuous.  The kernel first rounds u and v to the
 * nearest 1/256 of a texel; it rounds v before it subtracts the first row of the batch, because
 * this row depends on the division into slabs.
 * Used by: bench/cuda/s1.c, entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

struct layout {
    cudaTextureObject_t views;
    int first;
    float texels;  /* per column */
    float inverse; /* 1 / scale of the views */
};

template <bool COLUMN, class Tile, bool REGION>
static __global__ void __launch_bounds__(Tile::THREADS)
    backproject(const __grid_constant__ gpu_pass pass, const gpu_grid g, const gpu_plain extent,
                const layout in, float *__restrict__ volume)
{
    __shared__ cuda_seen list[2 * GPU_PASS];
    if (REGION && !cuda_is_needed<Tile>(g, g.nx, g.ny))
        return;
    const cuda_place_in_volume p = cuda_place_of_thread<Tile>(g.nx, g.ny);
    const float tx = (float)p.x - g.x_ref, ty = (float)p.y - g.y_ref;
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    const int n = cuda_find_seen<Tile, cuda_window<0, 0, 0>>(pass, g, extent, list);
    float sum[Tile::SLICES][1];

    if (!p.inside)
        return;
    cuda_load_sums(volume, p, g.nx, g.ny, g.nz, sum);
    for (int i = 0; i < n; i++) {
        const cuda_seen &view = list[i];
        const float4 U = *(const float4 *)view.u, V = *(const float4 *)view.v,
                     W = *(const float4 *)view.w;
        const float u0 = in.texels * fmaf(tx, U.x, fmaf(ty, U.y, U.w)), du = in.texels * U.z;
        const float v0 = fmaf(tx, V.x, fmaf(ty, V.y, V.w));
        const float w0 = fmaf(tx, W.x, fmaf(ty, W.y, W.w)), r0 = cuda_reciprocal(w0);
        const float column = cuda_texel_of(in.texels, view.column) - CUDA_ROUND;
        const float row = ((float)view.row + 0.5f) - CUDA_ROUND;
        const float all_u = fmaf(u0, r0, CUDA_ROUND) + column, v_iso = v0 * r0, dv = V.z * r0;

#pragma unroll
        for (int k = 0; k < Tile::SLICES; k++) {
            const float t = tz + (float)k;
            const float r = COLUMN ? r0 : cuda_reciprocal(fmaf(t, W.z, w0));
            const float u = COLUMN ? all_u : fmaf(fmaf(t, du, u0), r, CUDA_ROUND) + column;
            const float v =
                (COLUMN ? fmaf(t, dv, v_iso) + CUDA_ROUND : fmaf(fmaf(t, V.z, v0), r, CUDA_ROUND)) +
                row;
            const float sample = tex2DLayered<float>(in.views, u, v, in.first + view.view);
            sum[k][0] = fmaf(r * r * in.inverse, sample, sum[k][0]);
        }
    }
    cuda_store_sums(volume, p, g.nx, g.ny, g.nz, sum);
}

template <bool COLUMN, class Tile> static cudaError_t launch_tile(const struct cuda_bp *bp)
{
    const struct gpu_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, (float)bp->views->texels,
                       1 / bp->views->scale};
    const gpu_plain extent = gpu_plain_of(bp->job, bp->batch->n_rows);

    const auto kernel =
        g->wanted ? backproject<COLUMN, Tile, true> : backproject<COLUMN, Tile, false>;

    kernel<<<Tile::blocks(g->nx, g->ny, g->nz), Tile::THREADS, 0, bp->stream>>>(
        bp->pass, *g, extent, in, bp->volume);
    return cudaGetLastError();
}

/* The last two shapes are for up to 4 slices, and for one. */
enum { SHAPES = 4, LARGE_SHAPES = 2 };

template <bool COLUMN> static cudaError_t launch(const struct cuda_bp *bp)
{
    static cudaError_t (*const launches[SHAPES])(const struct cuda_bp *) = {
        launch_tile<COLUMN, cuda_tile<32, 8, 8, 16>>, launch_tile<COLUMN, cuda_tile<32, 8, 16, 16>>,
        launch_tile<COLUMN, cuda_tile<32, 8, 4, 16>>, launch_tile<COLUMN, cuda_tile<32, 8, 1, 16>>};

    return launches[bp->shape](bp);
}

static int candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    (void)job;
    if (n_slices <= 4) {
        out[0] = n_slices == 1 ? SHAPES - 1 : SHAPES - 2;
        return 1;
    }
    for (int i = 0; i <= LARGE_SHAPES; i++)
        out[i] = i;
    return LARGE_SHAPES + 1;
}

/* Textures have enough layers: a buffer holds at most GPU_MOST_LAYERS groups of views. */
extern "C" const struct cuda_kernel cuda_kernel_MATRIX_HALF =
    cuda_kernel_from(gpu_known[GPU_MATRIX_HALF], launch<false>, SHAPES, candidates);
extern "C" const struct cuda_kernel cuda_kernel_MATRIX_FAST =
    cuda_kernel_from(gpu_known[GPU_MATRIX_FAST], launch<false>, SHAPES, candidates);
extern "C" const struct cuda_kernel cuda_kernel_COLUMN_HALF =
    cuda_kernel_from(gpu_known[GPU_COLUMN_HALF], launch<true>, SHAPES, candidates);
