/** @file s1_kernel.h  The kernels of Zinsser and Keck (2013) as templates of their shape
 * (internal; CUDA).  Instantiated by s1_a.cu and s1_b.cu.
 *
 * Both add I views per launch to K voxels along z per thread; views are filtered by the texture
 * units, and what lies beside a view is zero, tap by tap.  Matrices are a kernel parameter, so that
 * they lie in constant memory.
 *
 * - Kernel A goes along z outside and over the views inside: every voxel is read and written once a
 *   launch, as soon as it is done.  With K = N a thread walks through the whole volume; blocks may
 *   wait for each other's warps at every voxel, so that their fetches stay near each other.
 * - Kernel B has the loops swapped: K voxels stay in registers while the views go by.  They are
 * read before the first view, which hides more of the waiting than after the last.
 */
#ifndef FBP_BENCH_CUDA_S1_KERNEL_H
#define FBP_BENCH_CUDA_S1_KERNEL_H

#include "backend/cuda/kernel.h"
#include "bench/cuda/s1.h"

/** How lanes of a warp lie: in rows along x, or with each four that are fetched together as a
 *  square of 2 x 2, in warps of 8 x 4. */
enum s1_lanes { S1_ROWS, S1_SQUARES };

/** The beginning of struct s1_launch. */
template <int I> struct s1_views {
    int layer;
    float m[I][12];
};

struct s1_place {
    int x, y;
};

template <s1_lanes LANES, int BX, int BY> static __device__ inline s1_place s1_place_of()
{
    if (LANES == S1_ROWS)
        return {(int)(blockIdx.x * BX + threadIdx.x), (int)(blockIdx.y * BY + threadIdx.y)};
    constexpr int ACROSS = BX / 8;
    const int id = (int)(threadIdx.y * BX + threadIdx.x), lane = id % 32, warp = id / 32;
    const int x = (lane & 1) | (lane >> 1 & 6), y = (lane >> 1 & 1) | (lane >> 3 & 2);
    return {(int)blockIdx.x * BX + warp % ACROSS * 8 + x,
            (int)blockIdx.y * BY + warp / ACROSS * 4 + y};
}

/** Value of a view at a voxel: the fetch; in parts without fetches, a value that depends on both
 * coordinates. */
template <fbp_s1_part PART>
static __device__ inline float s1_sample(cudaTextureObject_t views, float u, float v, int layer)
{
    return PART >= FBP_S1_IMT ? tex2DLayered<float>(views, u, v, layer) : u + v;
}

/** The sum of earlier launches of a voxel; 0 in parts without the volume. */
template <fbp_s1_part PART> static __device__ inline float s1_load(const float *voxel)
{
    return PART >= FBP_S1_IM ? *voxel : 0;
}

/** Store the sum of a voxel; in parts without the volume, a store behind a condition that is never
 * true, which the compiler cannot know. */
template <fbp_s1_part PART> static __device__ inline void s1_store(float *voxel, float sum)
{
    if (PART >= FBP_S1_IM || __float_as_uint(sum) == 0x7fc5a5a5u)
        *voxel = sum;
}

/** u w, v w and w of a view where t_z = 0. */
struct s1_line {
    float u, v, w;
};

static __device__ inline s1_line s1_line_of(const float m[12], float tx, float ty)
{
    return {fmaf(tx, m[0], fmaf(ty, m[1], m[3])), fmaf(tx, m[4], fmaf(ty, m[5], m[7])),
            fmaf(tx, m[8], fmaf(ty, m[9], m[11]))};
}

/** sum + sample / w^2 at t_z. */
template <fbp_s1_part PART>
static __device__ inline float s1_update(const float m[12], const s1_line &line, float tz,
                                         cudaTextureObject_t views, int layer, float sum)
{
    const float r = cuda_reciprocal(fmaf(tz, m[10], line.w));
    const float u = fmaf(tz, m[2], line.u) * r, v = fmaf(tz, m[6], line.v) * r;

    return fmaf(r * r, s1_sample<PART>(views, u, v, layer), sum);
}

template <fbp_s1_part PART, s1_lanes LANES, int I, int K, int BX, int BY, bool SYNC>
static __global__ void __launch_bounds__(BX *BY)
    s1_a(const __grid_constant__ s1_views<I> in, const s1_grid g, cudaTextureObject_t views,
         float *__restrict__ volume)
{
    const s1_place at = s1_place_of<LANES, BX, BY>();
    const int z = blockIdx.z * K, end = g.nz - z < K ? g.nz - z : K;
    const float tx = (float)at.x - g.x_ref, ty = (float)at.y - g.y_ref, tz = (float)z - g.z_ref;
    const bool inside = at.x < g.nx && at.y < g.ny;
    const size_t slice = (size_t)g.nx * g.ny;
    float *voxel = volume + z * slice + (size_t)at.y * g.nx + at.x;
    s1_line line[I];

    if (!SYNC && !inside)
        return;
#pragma unroll
    for (int i = 0; i < I; i++)
        line[i] = s1_line_of(in.m[i], tx, ty);
    for (int k = 0; k < end; k++, voxel += slice) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < I; i++)
            sum = s1_update<PART>(in.m[i], line[i], tz + (float)k, views, in.layer + i, sum);
        if (SYNC)
            __syncthreads();
        if (!SYNC || inside)
            s1_store<PART>(voxel, s1_load<PART>(voxel) + sum);
    }
}

template <fbp_s1_part PART, s1_lanes LANES, int I, int K, int BX, int BY, int UNROLL>
static __global__ void __launch_bounds__(BX *BY)
    s1_b(const __grid_constant__ s1_views<I> in, const s1_grid g, cudaTextureObject_t views,
         float *__restrict__ volume)
{
    const s1_place at = s1_place_of<LANES, BX, BY>();
    const int z = blockIdx.z * K;
    const float tx = (float)at.x - g.x_ref, ty = (float)at.y - g.y_ref, tz = (float)z - g.z_ref;
    const size_t slice = (size_t)g.nx * g.ny;
    float *voxel = volume + z * slice + (size_t)at.y * g.nx + at.x;
    float sum[K];

    if (at.x >= g.nx || at.y >= g.ny)
        return;
#pragma unroll
    for (int k = 0; k < K; k++)
        sum[k] = z + k < g.nz ? s1_load<PART>(voxel + k * slice) : 0;
#pragma unroll UNROLL
    for (int i = 0; i < I; i++) {
        const s1_line line = s1_line_of(in.m[i], tx, ty);
#pragma unroll
        for (int k = 0; k < K; k++)
            sum[k] = s1_update<PART>(in.m[i], line, tz + (float)k, views, in.layer + i, sum[k]);
    }
#pragma unroll
    for (int k = 0; k < K; k++)
        if (z + k < g.nz)
            s1_store<PART>(voxel + k * slice, sum[k]);
}

template <s1_lanes LANES, int I, int K, int BX, int BY, bool SYNC> static s1_entry s1_entry_a()
{
    const void *const all = (const void *)s1_a<FBP_S1_ALL, LANES, I, K, BX, BY, SYNC>;

    return {I,
            {(const void *)s1_a<FBP_S1_I, LANES, I, K, BX, BY, SYNC>,
             (const void *)s1_a<FBP_S1_IM, LANES, I, K, BX, BY, SYNC>, all, all}};
}

template <s1_lanes LANES, int I, int K, int BX, int BY, int UNROLL> static s1_entry s1_entry_b()
{
    const void *const all = (const void *)s1_b<FBP_S1_ALL, LANES, I, K, BX, BY, UNROLL>;

    return {I,
            {(const void *)s1_b<FBP_S1_I, LANES, I, K, BX, BY, UNROLL>,
             (const void *)s1_b<FBP_S1_IM, LANES, I, K, BX, BY, UNROLL>, all, all}};
}

#endif /* FBP_BENCH_CUDA_S1_KERNEL_H */
