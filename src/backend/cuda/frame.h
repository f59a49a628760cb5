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

/** A thread's voxels of a volume [nz][ny][nx][LANES]; those outside stay zero. */
template <int SLICES, int LANES>
static __device__ inline void cuda_load_sums(const float *__restrict__ volume,
                                             const cuda_place_in_volume &p, int nx, int ny, int nz,
                                             float sum[SLICES][LANES])
{
    const size_t slice = (size_t)nx * ny;
    const float *at = volume + (p.z * slice + (size_t)p.y * nx + p.x) * LANES;

#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        const bool has = p.inside && p.z + k < nz;
        if (LANES == 4) {
            const float4 q = has ? ((const float4 *)at)[k * slice] : make_float4(0, 0, 0, 0);
            sum[k][0] = q.x, sum[k][LANES / 4] = q.y;
            sum[k][LANES / 2] = q.z, sum[k][LANES - 1] = q.w;
        } else {
            sum[k][0] = has ? at[k * slice] : 0;
        }
    }
}

template <int SLICES, int LANES>
static __device__ inline void cuda_store_sums(float *__restrict__ volume,
                                              const cuda_place_in_volume &p, int nx, int ny, int nz,
                                              const float sum[SLICES][LANES])
{
    const size_t slice = (size_t)nx * ny;
    float *at = volume + (p.z * slice + (size_t)p.y * nx + p.x) * LANES;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (p.inside && p.z + k < nz) {
            if (LANES == 4)
                ((float4 *)at)[k * slice] =
                    make_float4(sum[k][0], sum[k][LANES / 4], sum[k][LANES / 2], sum[k][LANES - 1]);
            else
                at[k * slice] = sum[k][0];
        }
}

#endif /* FBP_SRC_CUDA_FRAME_H */
