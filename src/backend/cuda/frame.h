/** @file frame.h  What the kernels' threads have in common: their place, their sums, coordinates in
 * fp32 (internal; CUDA C++).
 *
 * A block of X x Y threads takes X x Y columns of SLICES voxels each; its warps cover
 * WARP x (32 / WARP) columns, so that samples of a warp lie near each other.  Sums start from the
 * volume's values, so that passes are no part of the result.
 */
#ifndef FBP_SRC_CUDA_FRAME_H
#define FBP_SRC_CUDA_FRAME_H

#include "backend/cuda/kernel.h"

/* Added with rounding downwards it leaves floor(x) in the lowest bits, for |x| < 2^22. */
static const float CUDA_FLOOR = 12582912.0f;
static const unsigned CUDA_FLOOR_BITS = 0x4b400000u;

/* Added and taken away again it leaves multiples of 1/256, for |x| <= 2^14. */
static const float CUDA_ROUND = 3 * 16384.0f;

/** Textures whose coordinates CUDA_ROUND can take. */
static inline bool cuda_fits_texture(const struct fbp_job *job)
{
    enum { MOST = 16384 };
    return job->wide.n_columns <= MOST && job->wide.n_rows <= MOST;
}

/** Columns of a plane, X x Y at a time: nx x ny of them, slices nz. */
template <int X_, int Y_, int SLICES_, int WARP_> struct cuda_tile {
    enum { X = X_, Y = Y_, SLICES = SLICES_, WARP = WARP_, THREADS = X_ * Y_ };

    static dim3 blocks(int nx, int ny, int nz)
    {
        return dim3((nx + X - 1) / X, (ny + Y - 1) / Y, (nz + SLICES - 1) / SLICES);
    }
};

/** A thread's column, the first of its slices; `inside`: it has voxels. */
struct cuda_place_in_volume {
    int x, y, z;
    bool inside;
};

template <class Tile>
static __device__ inline cuda_place_in_volume cuda_place_of_thread(int nx, int ny)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int across = Tile::X / Tile::WARP, lines = 32 / Tile::WARP;
    const int x = blockIdx.x * Tile::X + warp % across * Tile::WARP + lane % Tile::WARP;
    const int y = blockIdx.y * Tile::Y + warp / across * lines + lane / Tile::WARP;

    return {x, y, (int)(blockIdx.z * Tile::SLICES), x < nx && y < ny};
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

/** A thread's voxels of a volume [nz][ny][nx][LANES]; those outside are zero. */
template <int SLICES, int LANES>
static __device__ inline void cuda_load_sums(const float *__restrict__ volume,
                                             const cuda_place_in_volume &p, int nx, int ny, int nz,
                                             float (&sum)[SLICES][LANES])
{
    using packed = cuda_packed<LANES>;
    const size_t slice = (size_t)nx * ny;
    const packed *at = (const packed *)volume + p.z * slice + (size_t)p.y * nx + p.x;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        cuda_unpack(p.inside && p.z + k < nz ? at[k * slice] : packed{}, sum[k]);
}

template <int SLICES, int LANES>
static __device__ inline void cuda_store_sums(float *__restrict__ volume,
                                              const cuda_place_in_volume &p, int nx, int ny, int nz,
                                              const float (&sum)[SLICES][LANES])
{
    using packed = cuda_packed<LANES>;
    const size_t slice = (size_t)nx * ny;
    packed *at = (packed *)volume + p.z * slice + (size_t)p.y * nx + p.x;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (p.inside && p.z + k < nz)
            at[k * slice] = cuda_pack(sum[k]);
}

#endif /* FBP_SRC_CUDA_FRAME_H */
