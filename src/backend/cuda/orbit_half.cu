/*
 * Scans with quarter turns, views in fp16 and filtered by the texture units: a texel is one sample
 * of each of four views, so that one fetch serves four voxels (after Xu and Mueller 2005).  Views
 * are scaled by a power of two into fp16's range (half.c); sums are fp32.
 *
 * u and v are rounded to the nearest 1/256, the units' last digit: v before the first row of the
 * batch is subtracted, so that no division into slabs changes it (see fast.cu), u because
 * cutting off what is below would move every sample by 1/512.
 */
#include "backend/cuda/frame.h"
#include "backend/cuda/orbit.h"

typedef cuda_tile<32, 8, 4, 32> Tile;
enum { SLICES = Tile::SLICES };

static bool usable(const struct fbp_job *job)
{
    return cuda_can_rot90(job) && cuda_fits_texture(job);
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
    const float column = (s.u + CUDA_ROUND) + (((float)view.column + 0.5f) - CUDA_ROUND);
    const float row = ((float)view.row + 0.5f) - CUDA_ROUND, rr = s.r * s.r * in.inverse;
    const float last = tz + (float)(SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(column > -1 && column < in.columns + 1 &&
          fmaf(last, s.dv, s.v) > (float)(-2 - view.row) &&
          fmaf(tz, s.dv, s.v) < in.rows + (float)(1 - view.row)))
        return;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = (fmaf(tz + (float)k, s.dv, s.v) + CUDA_ROUND) + row;
        const float4 q = tex2DLayered<float4>(in.views, column, v, layer);
        sum[k][I] = fmaf(rr, q.x, sum[k][I]);
        sum[k][(I + 1) % 4] = fmaf(rr, q.y, sum[k][(I + 1) % 4]);
        sum[k][(I + 2) % 4] = fmaf(rr, q.z, sum[k][(I + 2) % 4]);
        sum[k][(I + 3) % 4] = fmaf(rr, q.w, sum[k][(I + 3) % 4]);
    }
}

static __global__ void __launch_bounds__(Tile::THREADS)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                float *__restrict__ volume)
{
    const cuda_place_in_volume p = cuda_place_of_thread<Tile>(d.nx, d.ny);
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    float tx = (float)(d.x0 + p.x) - g.x_ref, ty = (float)(d.y0 + p.y) - g.y_ref;
    float sum[SLICES][ORBIT_TURNS];

    if (!p.inside)
        return;
    cuda_load_sums<SLICES, ORBIT_TURNS>(volume, p, d.nx, d.ny, g.nz, sum);
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
    cuda_store_sums<SLICES, ORBIT_TURNS>(volume, p, d.nx, d.ny, g.nz, sum);
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = {bp->views->texture, (int)bp->first, (float)bp->job->wide.n_columns,
                       (float)bp->batch->n_rows, 1 / bp->views->scale};
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    backproject<<<Tile::blocks(d.nx, d.ny, g->nz), Tile::THREADS, 0, bp->stream>>>(
        bp->pass, *g, d, in, bp->volume + cuda_orbit_volume_size(bp->job, bp->layer));
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_rot90_half = {
    .name = "rot90",
    .precision = FBP_PRECISION_HALF,
    .turns = ORBIT_TURNS,
    .usable = usable,
    .channels = ORBIT_TURNS,
    .bits = 16,
    .store = cuda_store_fp16,
    .volume_size = cuda_orbit_volume_size,
    .backproject = launch,
    .fetch = cuda_orbit_fetch,
};
