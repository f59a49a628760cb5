/*
 * Scans with quarter turns, interpolation in fp32: a sample is a float4, one component a turn, and
 * lies in plain memory between borders of zeros.  u, w and the weights of the two columns do not
 * depend on z: a thread computes them once for all its slices of an orbit, and keeps the samples
 * of a slice that the next one needs as well.
 */
#include "backend/cuda/frame.h"
#include "backend/cuda/orbit.h"
#include "backend/cuda/plain.h"

typedef cuda_tile<16, 16, 4, 8> Tile;
enum { SLICES = Tile::SLICES };

static __device__ inline void load(const float4 *p, float out[4])
{
    const float4 q = __ldg(p);
    out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
}

/* As load(), but leaves what is there if `wanted` is false: no branch. */
static __device__ inline void load_if(bool wanted, const float4 *p, float out[4])
{
    asm("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %5, 0;\n\t"
        "@p ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];\n\t}"
        : "+f"(out[0]), "+f"(out[1]), "+f"(out[2]), "+f"(out[3])
        : "l"(p), "r"((int)wanted));
}

/* The four samples around a place, in memory order: [next row][next column]. */
struct taps {
    float t[2][2][4];
};

/* Row r of two columns and the row above it; what the slice before had read is kept. */
static __device__ inline void load_row(const float4 *p, unsigned above, bool same, bool next,
                                       taps *q)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
        for (int j = 0; j < 4; j++)
            q->t[0][c][j] = next ? q->t[1][c][j] : q->t[0][c][j];
        load_if(!same && !next, p + c, q->t[0][c]);
        load_if(!same, p + c + above, q->t[1][c]);
    }
}

/* What the samples of a slice add to the orbit's voxels, at place I. */
template <int I>
static __device__ inline void add_taps(const taps &q, float wl, float wr, float b, float sum[4])
{
    const float wlb = wl * b, wrb = wr * b, wl0 = wl - wlb, wr0 = wr - wrb;

#pragma unroll
    for (int j = 0; j < 4; j++) {
        float &out = sum[(I + j) % 4];
        out = fmaf(wl0, q.t[0][0][j], out);
        out = fmaf(wr0, q.t[0][1][j], out);
        out = fmaf(wlb, q.t[1][0][j], out);
        out = fmaf(wrb, q.t[1][1][j], out);
    }
}

/* A group of views at place I. */
template <int I>
static __device__ inline void add_place(const cuda_view &view, const float4 *__restrict__ samples,
                                        const cuda_plain &in, float tx, float ty, float tz,
                                        float sum[SLICES][4])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float u_lo = (float)(-1 - view.column), u_hi = (float)(in.columns - view.column);
    const float v_lo = (float)(-1 - view.row), v_hi = (float)(in.rows - view.row);
    const float last = tz + (float)(SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(s.u > u_lo && s.u < u_hi && fmaf(last, s.dv, s.v) > v_lo && fmaf(tz, s.dv, s.v) < v_hi))
        return;
    const float iu = __fadd_rd(s.u, CUDA_FLOOR), a = s.u - (iu - CUDA_FLOOR), rr = s.r * s.r;
    const float wr = a * rr, wl = rr - wr;
    /* Modulo 2^32; the sum with the bits of floor(v) is a place in the view. */
    const unsigned origin = __float_as_uint(iu) - CUDA_FLOOR_BITS +
                            (unsigned)(view.column + CUDA_BORDER) +
                            ((unsigned)(view.row + CUDA_BORDER) - CUDA_FLOOR_BITS) * in.stride;
    unsigned before = 0;
    taps q;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)k, s.dv, s.v), v_lo), v_hi);
        const float iv = __fadd_rd(v, CUDA_FLOOR);
        const unsigned r = __float_as_uint(iv);
        const float4 *p = samples + (r * in.stride + origin);
        if (k > 0) {
            load_row(p, in.stride, r == before, r == before + 1, &q);
        } else {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                load(p + c, q.t[0][c]);
                load(p + c + in.stride, q.t[1][c]);
            }
        }
        before = r;
        add_taps<I>(q, wl, wr, v - (iv - CUDA_FLOOR), sum[k]);
    }
}

static __global__ void __launch_bounds__(Tile::THREADS)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ cuda_plain in,
                const float4 *__restrict__ views, float *__restrict__ volume)
{
    const cuda_place_in_volume p = cuda_place_of_thread<Tile>(d.nx, d.ny);
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    float tx = (float)(d.x0 + p.x) - g.x_ref, ty = (float)(d.y0 + p.y) - g.y_ref;
    float sum[SLICES][ORBIT_TURNS];

    if (!p.inside)
        return;
    cuda_load_sums<SLICES, ORBIT_TURNS>(volume, p, d.nx, d.ny, g.nz, sum);
    for (int i = 0; i < pass.n; i++, views += in.group) {
        const cuda_view &view = pass.view[i];
#define PLACE(I)                                    \
    add_place<I>(view, views, in, tx, ty, tz, sum); \
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
    const cuda_plain in = cuda_plain_of(bp->job, bp->batch->n_rows);
    const float4 *views = (const float4 *)bp->views->memory + bp->first * in.group;
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    backproject<<<Tile::blocks(d.nx, d.ny, g->nz), Tile::THREADS, 0, bp->stream>>>(
        bp->pass, *g, d, in, views, bp->volume + cuda_orbit_volume_size(bp->job, bp->layer));
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_rot90_exact = {
    .name = "rot90",
    .precision = FBP_PRECISION_EXACT,
    .turns = ORBIT_TURNS,
    .usable = cuda_can_rot90,
    .views_bytes = cuda_plain_bytes,
    .store = cuda_plain_store,
    .volume_size = cuda_orbit_volume_size,
    .backproject = launch,
    .fetch = cuda_orbit_fetch,
};
