/*
 * Scans with quarter turns, interpolation in fp32: a sample is a float4, one component a turn, and
 * lies in plain memory between borders of zeros.  u, w and the weights of the two columns do not
 * depend on z: a thread computes them once for all its slices of an orbit, and keeps the samples
 * of a slice that the next one needs as well.
 */
#include "backend/cuda/orbit.h"

enum { SLICES = 4, TILE_X = 16, TILE_Y = 16, LINE = 8 };

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float FLOOR = 12582912.0f;
static const unsigned FLOOR_BITS = 0x4b400000u;

struct layout {
    unsigned row; /* texels from row to row */
    size_t group; /* from group to group of views */
    float columns, rows;
};

static layout layout_of(const struct fbp_job *job, size_t n_rows)
{
    const size_t across = ORBIT_LEFT + job->wide.n_columns + ORBIT_RIGHT;
    const size_t row = (across + LINE - 1) / LINE * LINE;

    return {(unsigned)row, (ORBIT_BELOW + n_rows + ORBIT_ABOVE) * row, (float)job->wide.n_columns,
            (float)n_rows};
}

static size_t views_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    return n_groups * layout_of(job, n_rows).group * sizeof(float4);
}

/* One component of the texels of row `to.row`, a zero left and two right of it included. */
static __global__ void store_rows(const cuda_rows r, const layout to, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);
    const float2 *row = r.rows + (size_t)blockIdx.y * r.stride;

    if (at >= ORBIT_LEFT + r.n_columns + ORBIT_RIGHT)
        return;
    const bool inside = at >= ORBIT_LEFT && at - ORBIT_LEFT < r.n_columns;
    const float2 q = inside ? row[at - ORBIT_LEFT] : make_float2(0, 0);
    const size_t texel = p.group * to.group + (size_t)(ORBIT_BELOW + p.row) * to.row + at;
    float *out = views + texel * ORBIT_TURNS + p.lane;
    out[0] = q.x;
    if (p.second)
        out[to.group * ORBIT_TURNS] = q.y;
}

/* The rows of zeros below and above: blockIdx.y, of group blockIdx.z. */
static __global__ void store_border(const layout to, unsigned across, unsigned n_rows,
                                    float4 *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y < ORBIT_BELOW ? blockIdx.y : blockIdx.y + n_rows;

    if (at < across)
        views[blockIdx.z * to.group + (size_t)row * to.row + at] = make_float4(0, 0, 0, 0);
}

static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    enum { THREADS = 256 };
    const layout to = layout_of(job, rows->n_rows);
    const unsigned across = ORBIT_LEFT + rows->n_columns + ORBIT_RIGHT;
    const unsigned blocks = (across + THREADS - 1) / THREADS;

    for (unsigned at = 0; at < rows->n; at += 65535) {
        struct cuda_rows part = *rows;
        part.first += at;
        part.rows += (size_t)at * rows->stride;
        part.n = rows->n - at < 65535 ? rows->n - at : 65535;
        store_rows<<<dim3(blocks, part.n), THREADS, 0, stream>>>(part, to, (float *)views->memory);
    }
    if (rows->first == 0)
        store_border<<<dim3(blocks, ORBIT_BELOW + ORBIT_ABOVE, rows->n_groups), THREADS, 0,
                       stream>>>(to, across, rows->n_rows, (float4 *)views->memory);
    return cudaGetLastError();
}

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
                                        const layout &in, float tx, float ty, float tz,
                                        float sum[SLICES][4])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float u_lo = (float)(-1 - view.column), u_hi = in.columns - (float)view.column;
    const float v_lo = (float)(-1 - view.row), v_hi = in.rows - (float)view.row;
    const float last = tz + (float)(SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(s.u > u_lo && s.u < u_hi && fmaf(last, s.dv, s.v) > v_lo && fmaf(tz, s.dv, s.v) < v_hi))
        return;
    const float iu = __fadd_rd(s.u, FLOOR), a = s.u - (iu - FLOOR), rr = s.r * s.r;
    const float wr = a * rr, wl = rr - wr;
    /* Modulo 2^32; the sum with the bits of floor(v) is a place in the view. */
    const unsigned origin = __float_as_uint(iu) - FLOOR_BITS +
                            (unsigned)(view.column + ORBIT_LEFT) +
                            ((unsigned)(view.row + ORBIT_BELOW) - FLOOR_BITS) * in.row;
    unsigned before = 0;
    taps q;
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)k, s.dv, s.v), v_lo), v_hi);
        const float iv = __fadd_rd(v, FLOOR);
        const unsigned r = __float_as_uint(iv);
        const float4 *p = samples + (r * in.row + origin);
        if (k > 0) {
            load_row(p, in.row, r == before, r == before + 1, &q);
        } else {
#pragma unroll
            for (int c = 0; c < 2; c++) {
                load(p + c, q.t[0][c]);
                load(p + c + in.row, q.t[1][c]);
            }
        }
        before = r;
        add_taps<I>(q, wl, wr, v - (iv - FLOOR), sum[k]);
    }
}

static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                const float4 *__restrict__ views, float4 *__restrict__ volume)
{
    /* A warp covers 8 x 4 orbits, whose samples lie nearer together than those of 32 in a row. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = blockIdx.x * TILE_X + warp % (TILE_X / 8) * 8 + lane % 8;
    const int y = blockIdx.y * TILE_Y + warp / (TILE_X / 8) * 4 + lane / 8;
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
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (z + k < g.nz)
            out[k * layer] = make_float4(sum[k][0], sum[k][1], sum[k][2], sum[k][3]);
}

static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;
    const layout in = layout_of(bp->job, bp->batch->n_rows);
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    const float4 *views = (const float4 *)bp->views->memory + bp->first * in.group;
    float4 *volume = (float4 *)bp->volume + bp->layer * d.nx * d.ny;
    const dim3 grid((d.nx + TILE_X - 1) / TILE_X, (d.ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + SLICES - 1) / SLICES);

    backproject<<<grid, TILE_X * TILE_Y, 0, bp->stream>>>(bp->pass, *g, d, in, views, volume);
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_rot90_exact = {
    .name = "rot90",
    .precision = FBP_PRECISION_EXACT,
    .turns = ORBIT_TURNS,
    .usable = cuda_can_rot90,
    .views_bytes = views_bytes,
    .store = store,
    .volume_size = cuda_orbit_volume_size,
    .backproject = launch,
    .fetch = cuda_orbit_fetch,
};
