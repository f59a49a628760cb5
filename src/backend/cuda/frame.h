/** @file frame.h  What the kernels' threads have in common: their place, their sums, coordinates in
 * fp32 (internal; CUDA C++).
 *
 * A block of X x Y x LAYERS threads takes X x Y columns of SLICES LAYERS voxels; a thread has
 * SLICES of them, LAYERS apart.  Its warps cover WARP columns side by side, as many lines of them
 * as make 32 threads, so that samples of a warp lie near each other.  Four neighbouring lanes,
 * which a texture unit serves at once, are 2 x 2 voxels: of two lines, of two layers where there
 * are two. Sums start from the volume's values, so that passes are no part of the result.
 */
#ifndef FBP_SRC_CUDA_FRAME_H
#define FBP_SRC_CUDA_FRAME_H

#include "backend/cuda/kernel.h"

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float CUDA_FLOOR = 12582912.0f;
static const unsigned CUDA_FLOOR_BITS = 0x4b400000u;

/* Added and taken away again it leaves multiples of 1/256, for |x| <= 2^14. */
static const float CUDA_ROUND = 3 * 16384.0f;

/** Where column `column` lies in a texture of `texels` a column, as its units count: the first
 *  texel's middle is 1/2. */
static __device__ inline float cuda_texel_of(float texels, int column)
{
    return fmaf(texels, (float)column, texels - 0.5f);
}

/** Columns of a plane, X x Y at a time: nx x ny of them, slices nz. */
template <int X_, int Y_, int SLICES_, int WARP_, int LAYERS_ = 1> struct cuda_tile {
    enum {
        X = X_,
        Y = Y_,
        SLICES = SLICES_, /**< of a thread */
        WARP = WARP_,
        LAYERS = LAYERS_,
        DEPTH = SLICES_ * LAYERS_, /**< slices of a block */
        THREADS = X_ * Y_ * LAYERS_
    };
    static_assert(LAYERS == 1 || LAYERS == 2, "layers are the second bit of a lane");

    static dim3 blocks(int nx, int ny, int nz)
    {
        return dim3((nx + X - 1) / X, (ny + Y - 1) / Y, (nz + DEPTH - 1) / DEPTH);
    }
};

/** A thread's column, the first of its slices; `inside`: it may have voxels. */
struct cuda_place_in_volume {
    int x, y, z;
    bool inside;
};

template <class Tile>
static __device__ inline cuda_place_in_volume cuda_place_of_thread(int nx, int ny)
{
    enum { LINES = 32 / Tile::WARP / Tile::LAYERS, PAIRS = Tile::WARP / 2 };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4;
    const int across = Tile::X / Tile::WARP, second = lane / 2 % 2;
    const bool rows = Tile::LAYERS == 1 && LINES > 1; /* the second bit is a line */
    const bool flat = Tile::LAYERS == 1 && LINES == 1;
    const int in_x = flat ? lane : lane % 2 + 2 * (quad % PAIRS);
    const int in_y = flat ? 0 : rows ? second + 2 * (quad / PAIRS) : quad / PAIRS;
    const int x = blockIdx.x * Tile::X + warp % across * Tile::WARP + in_x;
    const int y = blockIdx.y * Tile::Y + warp / across * LINES + in_y;
    const int z = blockIdx.z * Tile::DEPTH + (Tile::LAYERS == 2 ? second : 0);

    return {x, y, z, x < nx && y < ny};
}

/** Is anything of the block's tile wanted, of a job with a region?  All of its threads get one
 *  answer; that of a job without one is known when a kernel is compiled, as asking would take other
 *  registers.  nx x ny: the columns that blocks are counted in, from (x, y) of the slab on. */
template <class Tile>
static __device__ inline bool cuda_is_wanted(const gpu_grid &g, int nx, int ny, int x = 0,
                                             int y = 0)
{
    const int x0 = blockIdx.x * Tile::X, x1 = min(x0 + Tile::X, nx) - 1 + x + g.x0;
    const int y0 = blockIdx.y * Tile::Y, y1 = min(y0 + Tile::Y, ny) - 1 + y + g.y0;
    const int z0 = g.z0 + blockIdx.z * Tile::DEPTH;

    for (int cy = (y0 + y + g.y0) / GPU_CELL; cy <= y1 / GPU_CELL; cy++)
        for (int cx = (x0 + x + g.x0) / GPU_CELL; cx <= x1 / GPU_CELL; cx++) {
            const gpu_wanted cell = g.wanted[cy * g.cells + cx];
            if (cell.first < z0 + Tile::DEPTH && cell.end > z0)
                return true;
        }
    return false;
}

template <int LANES> struct cuda_lanes;
template <> struct cuda_lanes<1> {
    using type = float;
};
template <> struct cuda_lanes<2> {
    using type = float2;
};
template <> struct cuda_lanes<4> {
    using type = float4;
};
/** A sample of each lane, or a voxel of each, in memory. */
template <int LANES> using cuda_packed = typename cuda_lanes<LANES>::type;

static __device__ inline void cuda_unpack(float q, float (&out)[1])
{
    out[0] = q;
}

static __device__ inline void cuda_unpack(float2 q, float (&out)[2])
{
    out[0] = q.x, out[1] = q.y;
}

static __device__ inline void cuda_unpack(float4 q, float (&out)[4])
{
    out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
}

static __device__ inline float cuda_pack(const float (&in)[1])
{
    return in[0];
}

static __device__ inline float2 cuda_pack(const float (&in)[2])
{
    return make_float2(in[0], in[1]);
}

static __device__ inline float4 cuda_pack(const float (&in)[4])
{
    return make_float4(in[0], in[1], in[2], in[3]);
}

/** A thread's voxels of a volume [nz][ny][nx][LANES], LAYERS slices apart; those outside are zero.
 */
template <int LAYERS = 1, int SLICES, int LANES>
static __device__ inline void cuda_load_sums(const float *__restrict__ volume,
                                             const cuda_place_in_volume &p, int nx, int ny, int nz,
                                             float (&sum)[SLICES][LANES])
{
    using packed = cuda_packed<LANES>;
    const size_t slice = (size_t)nx * ny;
    const packed *at = (const packed *)volume + p.z * slice + (size_t)p.y * nx + p.x;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        cuda_unpack(p.inside && p.z + k * LAYERS < nz ? at[k * LAYERS * slice] : packed{}, sum[k]);
}

template <int LAYERS = 1, int SLICES, int LANES>
static __device__ inline void cuda_store_sums(float *__restrict__ volume,
                                              const cuda_place_in_volume &p, int nx, int ny, int nz,
                                              const float (&sum)[SLICES][LANES])
{
    using packed = cuda_packed<LANES>;
    const size_t slice = (size_t)nx * ny;
    packed *at = (packed *)volume + p.z * slice + (size_t)p.y * nx + p.x;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (p.inside && p.z + k * LAYERS < nz)
            at[k * LAYERS * slice] = cuda_pack(sum[k]);
}

#endif /* FBP_SRC_CUDA_FRAME_H */
