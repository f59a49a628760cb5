/* Loads that hit the first cache, for a GPU's ceiling of kernels that interpolate by themselves. */
#include "backend/cuda/limits.h"

enum { THREADS = 256, BLOCKS = 16, LOADS = 4096 };

static __device__ inline float add_up(float v)
{
    return v;
}

static __device__ inline float add_up(float2 v)
{
    return v.x + v.y;
}

static __device__ inline float add_up(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

/* A warp reads 32 neighbours, and other ones with every load. */
template <typename T>
static __global__ void load(const T *__restrict__ from, unsigned step, float *out)
{
    const unsigned most = CUDA_LOADED / sizeof(T) - 1;
    unsigned at = threadIdx.x;
    float sum = 0;

#pragma unroll 16
    for (int i = 0; i < LOADS; i++) {
        sum += add_up(__ldg(from + (at & most)));
        at += step;
    }
    if (sum < 0) /* never, but not known before */
        out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

cudaError_t cuda_limits_load(int multiprocessors, int width, const void *from, float *out,
                             double *n, cudaStream_t stream)
{
    const int blocks = multiprocessors * BLOCKS;

    if (width == 4)
        load<float><<<blocks, THREADS, 0, stream>>>((const float *)from, 32, out);
    else if (width == 8)
        load<float2><<<blocks, THREADS, 0, stream>>>((const float2 *)from, 32, out);
    else
        load<float4><<<blocks, THREADS, 0, stream>>>((const float4 *)from, 32, out);
    *n = (double)blocks * THREADS * LOADS * width;
    return cudaGetLastError();
}
