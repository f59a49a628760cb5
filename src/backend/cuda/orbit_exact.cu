/*
 * Scans with symmetries, interpolation in fp32: a sample is a float2 or float4, one component a
 * lane, and lies in plain memory between borders of zeros.  u, w and the weights of the two columns
 * do not depend on z: a thread computes them once for all its slices of an orbit, and may keep the
 * samples of a slice that the next one needs as well.
 */
#include "backend/cuda/orbit.h"

enum { TILE_X = 16, TILE_Y = 16, LINE = 128 };

/* Zeros around a packed view: columns left and right, rows below and above. */
enum { LEFT = 1, RIGHT = 2, BELOW = 1, ABOVE = 2 };

/* Lanes, slices of a thread, and whether samples are kept from slice to slice. */
template <int T, int H, int S, bool K> struct shape : cuda_orbit<T, H> {
    static constexpr int SLICES = S;
    static constexpr bool KEEP = K;
    using packed = cuda_packed<T * H>;
};

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float FLOOR = 12582912.0f;
static const unsigned FLOOR_BITS = 0x4b400000u;

struct layout {
    unsigned row; /* texels from row to row */
    size_t group; /* from group to group of views */
    float columns, rows;
};

static layout layout_of(const struct fbp_job *job, size_t n_rows, size_t sample)
{
    const size_t across = LEFT + job->wide.n_columns + RIGHT, line = LINE / sample;
    const size_t row = (across + line - 1) / line * line;

    return {(unsigned)row, (BELOW + n_rows + ABOVE) * row, (float)job->wide.n_columns,
            (float)n_rows};
}

template <class S>
static size_t views_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    const size_t sample = sizeof(typename S::packed);
    return n_groups * layout_of(job, n_rows, sample).group * sample;
}

/* One lane of the samples of row `to.row`, a zero left and two right of it included. */
template <int LANES>
static __global__ void store_rows(const cuda_rows r, const layout to, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);
    const float2 *row = r.rows + (size_t)blockIdx.y * r.stride;

    if (at >= LEFT + r.n_columns + RIGHT)
        return;
    const bool inside = at >= LEFT && at - LEFT < r.n_columns;
    const float2 q = inside ? row[at - LEFT] : make_float2(0, 0);
    const size_t sample = p.group * to.group + (size_t)(BELOW + p.row) * to.row + at;
    float *out = views + sample * LANES + p.lane;
    out[0] = q.x;
    if (p.second)
        out[to.group * LANES] = q.y;
}

/* The rows of zeros below and above: blockIdx.y, of group blockIdx.z. */
template <class P>
static __global__ void store_border(const layout to, unsigned across, unsigned n_rows, P *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y < BELOW ? blockIdx.y : blockIdx.y + n_rows;

    if (at < across)
        views[blockIdx.z * to.group + (size_t)row * to.row + at] = P{};
}

template <class S>
static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    enum { THREADS = 256 };
    using packed = typename S::packed;
    const layout to = layout_of(job, rows->n_rows, sizeof(packed));
    const unsigned across = LEFT + rows->n_columns + RIGHT;
    const unsigned blocks = (across + THREADS - 1) / THREADS;

    for (unsigned at = 0; at < rows->n; at += 65535) {
        struct cuda_rows part = *rows;
        part.first += at;
        part.rows += (size_t)at * rows->stride;
        part.n = rows->n - at < 65535 ? rows->n - at : 65535;
        store_rows<S::LANES>
            <<<dim3(blocks, part.n), THREADS, 0, stream>>>(part, to, (float *)views->memory);
    }
    if (rows->first == 0)
        store_border<<<dim3(blocks, BELOW + ABOVE, rows->n_groups), THREADS, 0, stream>>>(
            to, across, rows->n_rows, (packed *)views->memory);
    return cudaGetLastError();
}

/* Leaves what is there if `wanted` is false: no branch. */
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

/* The four samples around a place, in memory order: [next row][next column]. */
template <int LANES> struct taps {
    float t[2][2][LANES];
};

template <class S>
static __device__ inline void load_taps(const typename S::packed *p, unsigned above,
                                        taps<S::LANES> *q)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
        cuda_unpack(__ldg(p + c), q->t[0][c]);
        cuda_unpack(__ldg(p + c + above), q->t[1][c]);
    }
}

/* Row r of two columns and the row above it; what the slice before had read is kept. */
template <class S>
static __device__ inline void load_row(const typename S::packed *p, unsigned above, bool same,
                                       bool next, taps<S::LANES> *q)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
        for (int j = 0; j < S::LANES; j++)
            q->t[0][c][j] = next ? q->t[1][c][j] : q->t[0][c][j];
        load_if(!same && !next, p + c, q->t[0][c]);
        load_if(!same, p + c + above, q->t[1][c]);
    }
}

/* What the samples of a slice add to the orbit's voxels, at place I. */
template <class S, int I>
static __device__ inline void add_taps(const taps<S::LANES> &q, float wl, float wr, float b,
                                       float (&sum)[S::LANES])
{
    const float wlb = wl * b, wrb = wr * b, wl0 = wl - wlb, wr0 = wr - wrb;

#pragma unroll
    for (int j = 0; j < S::LANES; j++) {
        float &out = sum[S::voxel(I, j)];
        out = fmaf(wl0, q.t[0][0][j], out);
        out = fmaf(wr0, q.t[0][1][j], out);
        out = fmaf(wlb, q.t[1][0][j], out);
        out = fmaf(wrb, q.t[1][1][j], out);
    }
}

/* A group of views at place I. */
template <class S, int I>
static __device__ inline void
add_place(const cuda_view &view, const typename S::packed *__restrict__ samples, const layout &in,
          float tx, float ty, float tz, float (&sum)[S::SLICES][S::LANES])
{
    const cuda_spot s = cuda_spot_of(view, tx, ty);
    const float u_lo = (float)(-1 - view.column), u_hi = in.columns - (float)view.column;
    const float v_lo = (float)(-1 - view.row), v_hi = in.rows - (float)view.row;
    const float last = tz + (float)(S::SLICES - 1);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(s.u > u_lo && s.u < u_hi && fmaf(last, s.dv, s.v) > v_lo && fmaf(tz, s.dv, s.v) < v_hi))
        return;
    const float iu = __fadd_rd(s.u, FLOOR), a = s.u - (iu - FLOOR), rr = s.r * s.r;
    const float wr = a * rr, wl = rr - wr;
    /* Modulo 2^32; the sum with the bits of floor(v) is a place in the view. */
    const unsigned origin = __float_as_uint(iu) - FLOOR_BITS + (unsigned)(view.column + LEFT) +
                            ((unsigned)(view.row + BELOW) - FLOOR_BITS) * in.row;
    unsigned before = 0;
    taps<S::LANES> q;
#pragma unroll
    for (int k = 0; k < S::SLICES; k++) {
        const float v = fminf(fmaxf(fmaf(tz + (float)k, s.dv, s.v), v_lo), v_hi);
        const float iv = __fadd_rd(v, FLOOR);
        const unsigned r = __float_as_uint(iv);
        const typename S::packed *p = samples + (r * in.row + origin);
        if (S::KEEP && k > 0)
            load_row<S>(p, in.row, r == before, r == before + 1, &q);
        else
            load_taps<S>(p, in.row, &q);
        before = r;
        add_taps<S, I>(q, wl, wr, v - (iv - FLOOR), sum[k]);
    }
}

/* A group of views at place I and all further ones. */
template <class S, int I = 0>
static __device__ inline void
add_places(const cuda_view &view, const typename S::packed *__restrict__ samples, const layout &in,
           const cuda_domain &d, float tx, float ty, float tz, float (&sum)[S::SLICES][S::LANES])
{
    add_place<S, I>(view, samples, in, tx, ty, tz, sum);
    if constexpr (I + 1 < S::TURNS) {
        cuda_turn<S::TURNS>(d, &tx, &ty);
        add_places<S, I + 1>(view, samples, in, d, tx, ty, tz, sum);
    }
}

template <class S>
static __global__ void __launch_bounds__(TILE_X *TILE_Y)
    backproject(const __grid_constant__ cuda_pass pass, const cuda_grid g,
                const __grid_constant__ cuda_domain d, const __grid_constant__ layout in,
                const typename S::packed *__restrict__ views,
                typename S::packed *__restrict__ volume)
{
    /* A warp covers 8 x 4 orbits, whose samples lie nearer together than those of 32 in a row. */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = blockIdx.x * TILE_X + warp % (TILE_X / 8) * 8 + lane % 8;
    const int y = blockIdx.y * TILE_Y + warp / (TILE_X / 8) * 4 + lane / 8;
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
    for (int i = 0; i < pass.n; i++, views += in.group)
        add_places<S>(pass.view[i], views, in, d, tx, ty, tz, sum);
#pragma unroll
    for (int k = 0; k < S::SLICES; k++)
        if (z + k < g.nz)
            out[k * layer] = cuda_pack(sum[k]);
}

template <class S> static cudaError_t launch(const struct cuda_bp *bp)
{
    using packed = typename S::packed;
    const struct cuda_grid *g = &bp->grid;
    const layout in = layout_of(bp->job, bp->batch->n_rows, sizeof(packed));
    cuda_domain d;

    cuda_find_domain(bp->job, &d);
    const packed *views = (const packed *)bp->views->memory + bp->first * in.group;
    packed *volume = (packed *)bp->volume + bp->layer * d.nx * d.ny;
    const dim3 grid((d.nx + TILE_X - 1) / TILE_X, (d.ny + TILE_Y - 1) / TILE_Y,
                    (g->nz + S::SLICES - 1) / S::SLICES);

    backproject<S><<<grid, TILE_X * TILE_Y, 0, bp->stream>>>(bp->pass, *g, d, in, views, volume);
    return cudaGetLastError();
}

template <unsigned FLAGS> static bool usable(const struct fbp_job *job)
{
    return cuda_has_symmetry(job, FLAGS);
}

template <class S, unsigned FLAGS> static constexpr cuda_kernel kernel_of(const char *name)
{
    return {
        .name = name,
        .precision = FBP_PRECISION_EXACT,
        .turns = S::TURNS,
        .mirrored = S::HALVES == 2,
        .usable = usable<FLAGS>,
        .views_bytes = views_bytes<S>,
        .store = store<S>,
        .volume_size = cuda_orbit_volume_size,
        .backproject = launch<S>,
        .fetch = cuda_orbit_fetch,
    };
}

using quarter = shape<4, 1, 4, true>;
using half_and_mirror = shape<2, 2, 4, true>;
using half_turn = shape<2, 1, 8, true>;
using mirror = shape<1, 2, 8, false>;

extern "C" const struct cuda_kernel cuda_kernel_rot90_exact =
    kernel_of<quarter, FBP_SYM_ROT90>("rot90");
extern "C" const struct cuda_kernel cuda_kernel_rot180_mirror_exact =
    kernel_of<half_and_mirror, FBP_SYM_ROT180 | FBP_SYM_MIRROR>("rot180+mirror");
extern "C" const struct cuda_kernel cuda_kernel_rot180_exact =
    kernel_of<half_turn, FBP_SYM_ROT180>("rot180");
extern "C" const struct cuda_kernel cuda_kernel_mirror_exact =
    kernel_of<mirror, FBP_SYM_MIRROR>("mirror");
