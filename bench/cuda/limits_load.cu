/* Kernel with loads that hit the first-level cache: the limit of kernels that interpolate
 * without texture units. Launched by limits.c.
 * Used by: limits.c. */
#include "bench/cuda/limits.h"

enum { THREADS = 256, BLOCKS = 16, ROUNDS = 256, LOADS = 16 };

/* A warp reads 32 neighbours, and the next 32 with every load of a round. */
template <typename T> static __global__ void load(const T *__restrict__ from, float *out)
{
    const unsigned piece = 32 * LOADS, pieces = CUDA_LOADED / (piece * sizeof(T));
    unsigned at = threadIdx.x / 32;
    float sum[4] = {0, 0, 0, 0};

    for (int k = 0; k < ROUNDS; k++, at++) {
        const T *p = from + at % pieces * piece + threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            sum[i % 4] += cuda_add_up(__ldg(p + 32 * i));
    }
    if ((sum[0] + sum[1]) + (sum[2] + sum[3]) < 0) /* never, but not known before */
        out[blockIdx.x * THREADS + threadIdx.x] = sum[0];
}

cudaError_t cuda_limits_load(int multiprocessors, int width, const void *from, float *out,
                             double *n, cudaStream_t stream)
{
    const int blocks = multiprocessors * BLOCKS;

    if (width == 4)
        load<float><<<blocks, THREADS, 0, stream>>>((const float *)from, out);
    else if (width == 8)
        load<float2><<<blocks, THREADS, 0, stream>>>((const float2 *)from, out);
    else
        load<float4><<<blocks, THREADS, 0, stream>>>((const float4 *)from, out);
    *n = (double)blocks * THREADS * ROUNDS * LOADS * width;
    return cudaGetLastError();
}
