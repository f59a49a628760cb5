/* Backprojection of scans with a rotational symmetry, with interpolation in fp32: kernels `rot90`
 * and `rot180`, which cuda/volume.c launches through struct cuda_kernel (kernel.h).  A sample is a
 * float2 or float4, one component per symmetric view, in plain memory with borders of zeros.
 * Detector column u, depth w and the weights of the two columns do not depend on z: a thread
 * computes them once for all slices of its symmetric voxels, and keeps samples of a slice that the
 * next slice needs as well.
 * Used by: entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

/* T: number of symmetric views per group; S: number of slices per thread. */
template <int T, int S> struct shape {
    using Tile = cuda_tile<16, 16, S, 8>;
    static constexpr int TURNS = T, SLICES = S;
    using packed = cuda_packed<T>;
};

/* Load a value if `wanted` is true, without a branch; else `out` is unchanged. */
static __device__ inline void load_if(bool wanted, const float4 *p, float (&out)[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %5, 0;\n\t"
        "@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
        : "+f"(out[0]), "+f"(out[1]), "+f"(out[2]), "+f"(out[3])
        : "l"(p), "r"((int)wanted));
}

static __device__ inline void load_if(bool wanted, const float2 *p, float (&out)[2])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %3, 0;\n\t"
        "@p ld.global.nc.v2.f32 {%0, %1}, [%2];\n\t}"
        : "+f"(out[0]), "+f"(out[1])
        : "l"(p), "r"((int)wanted));
}

/* Samples for a bilinear interpolation, t[row, row + 1][column, column + 1][symmetric view]. */
template <int LANES> struct taps {
    float t[2][2][LANES];
};

template <class S>
static __device__ inline void load_taps(const typename S::packed *p, unsigned above,
                                        taps<S::TURNS> *q)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
        cuda_unpack(__ldg(p + c), q->t[0][c]);
        cuda_unpack(__ldg(p + c + above), q->t[1][c]);
    }
}

/* Load the taps of a row, in two columns, and of the row above.  same: q has both rows already,
 * from the previous slice; next: the upper row of q is now the lower row. */
template <class S>
static __device__ inline void load_row(const typename S::packed *p, unsigned above, bool same,
                                       bool next, taps<S::TURNS> *q)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
        for (int j = 0; j < S::TURNS; j++)
            q->t[0][c][j] = next ? q->t[1][c][j] : q->t[0][c][j];
        load_if(!same && !next, p + c, q->t[0][c]);
        load_if(!same, p + c + above, q->t[1][c]);
    }
}

/* Project the thread's voxels, rotated I times by the angle between symmetric views, onto a group
 * of symmetric views: the samples of view j there are added to the voxels rotated I + j times
 * (frame.h).  Then do the same for I + 1. */
template <class S, int I = 0>
static __device__ inline void add_places(const gpu_view &view,
                                         const typename S::packed *__restrict__ samples,
                                         const gpu_plain &in, const gpu_domain &d, float tx,
                                         float ty, float tz, float (&sum)[S::SLICES][S::TURNS])
{
    const cuda_projected s = cuda_project(view, tx, ty);
    const float u_lo = (float)(-1 - view.column), u_hi = (float)(in.columns - view.column);
    const float v_lo = (float)(-1 - view.row), v_hi = (float)(in.rows - view.row);
    const float last = tz + (float)(S::SLICES - 1);

    /* Skip the group if none of these voxels projects onto the rows of the batch. */
    if (s.u > u_lo && s.u < u_hi && fmaf(last, s.dv, s.v) > v_lo && fmaf(tz, s.dv, s.v) < v_hi) {
        const float iu = __fadd_rd(s.u, CUDA_FLOOR), a = s.u - (iu - CUDA_FLOOR), rr = s.r * s.r;
        const float wr = a * rr, wl = rr - wr;
        /* index of a tap in the view = origin + bits(v + CUDA_FLOOR) * in.stride, modulo 2^32 */
        const unsigned origin = __float_as_uint(iu) - CUDA_FLOOR_BITS +
                                (unsigned)(view.column + GPU_BORDER) +
                                ((unsigned)(view.row + GPU_BORDER) - CUDA_FLOOR_BITS) * in.stride;
        unsigned before = 0;
        taps<S::TURNS> q;
#pragma unroll
        for (int k = 0; k < S::SLICES; k++) {
            const float v = fminf(fmaxf(fmaf(tz + (float)k, s.dv, s.v), v_lo), v_hi);
            const float iv = __fadd_rd(v, CUDA_FLOOR);
            const unsigned r = __float_as_uint(iv);
            const typename S::packed *p = samples + (r * in.stride + origin);
            if (k > 0)
                load_row<S>(p, in.stride, r == before, r == before + 1, &q);
            else
                load_taps<S>(p, in.stride, &q);
            before = r;
            const float b = v - (iv - CUDA_FLOOR);
            const float wlb = wl * b, wrb = wr * b, wl0 = wl - wlb, wr0 = wr - wrb;
#pragma unroll
            for (int j = 0; j < S::TURNS; j++) {
                float &out = sum[k][(I + j) % S::TURNS];
                out = fmaf(wl0, q.t[0][0][j], out);
                out = fmaf(wr0, q.t[0][1][j], out);
                out = fmaf(wlb, q.t[1][0][j], out);
                out = fmaf(wrb, q.t[1][1][j], out);
            }
        }
    }
    if constexpr (I + 1 < S::TURNS) {
        cuda_turn<S::TURNS>(d, &tx, &ty);
        add_places<S, I + 1>(view, samples, in, d, tx, ty, tz, sum);
    }
}

template <class S, bool REGION>
static __global__ void __launch_bounds__(S::Tile::THREADS)
    backproject(const __grid_constant__ gpu_pass pass, const gpu_grid g,
                const __grid_constant__ gpu_domain d, const __grid_constant__ gpu_plain in,
                const typename S::packed *__restrict__ views, float *__restrict__ volume)
{
    const cuda_place_in_volume p = cuda_place_of_thread<typename S::Tile>(d.nx, d.ny);
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    const float tx = (float)(d.x0 + p.x) - g.x_ref, ty = (float)(d.y0 + p.y) - g.y_ref;
    float sum[S::SLICES][S::TURNS];

    if (REGION && !cuda_is_needed<typename S::Tile>(g, d.nx, d.ny, d.x0, d.y0))
        return;
    if (!p.inside)
        return;
    cuda_load_sums(volume, p, d.nx, d.ny, g.nz, sum);
    for (int i = 0; i < pass.n; i++, views += in.group)
        add_places<S>(pass.view[i], views, in, d, tx, ty, tz, sum);
    cuda_store_sums(volume, p, d.nx, d.ny, g.nz, sum);
}

template <class S> static cudaError_t launch(const struct cuda_bp *bp)
{
    typedef typename S::Tile Tile;
    const struct gpu_grid *g = &bp->grid;
    const gpu_plain in = gpu_plain_of(bp->job, bp->batch->n_rows);
    const auto *views = (const typename S::packed *)bp->views->memory + bp->first * in.group;
    const auto kernel = g->wanted ? backproject<S, true> : backproject<S, false>;
    gpu_domain d;

    gpu_find_domain(bp->job, bp->slab, &d);
    kernel<<<Tile::blocks(d.nx, d.ny, g->nz), Tile::THREADS, 0, bp->stream>>>(bp->pass, *g, d, in,
                                                                              views, bp->volume);
    return cudaGetLastError();
}

static_assert(gpu_known[GPU_ROT90_EXACT].symmetric_views == 4 &&
              gpu_known[GPU_ROT180_EXACT].symmetric_views == 2);
extern "C" const struct cuda_kernel cuda_kernel_ROT90_EXACT =
    cuda_kernel_from(gpu_known[GPU_ROT90_EXACT], launch<shape<4, 4>>);
extern "C" const struct cuda_kernel cuda_kernel_ROT180_EXACT =
    cuda_kernel_from(gpu_known[GPU_ROT180_EXACT], launch<shape<2, 8>>);
