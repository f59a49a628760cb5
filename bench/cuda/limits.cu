/* Kernels that do one thing alone, for the limits of a GPU: multiply-adds in eight independent
 * chains per thread, and bilinear fetches whose taps stay in the first-level cache. Launched by
 * limits.c.
 * Used by: limits.c. */
#include "bench/cuda/limits.h"

enum { THREADS = 256, BLOCKS = 16, CHAINS = 8, ROUNDS = 4096, FETCHES = 2048 };

static __global__ void multiply_add(float a, float b, float *out)
{
    float x[CHAINS], sum = 0;

#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        x[i] = (float)(threadIdx.x + i);
#pragma unroll 16
    for (int k = 0; k < ROUNDS; k++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            x[i] = fmaf(x[i], a, b);
#pragma unroll
    for (int i = 0; i < CHAINS; i++)
        sum += x[i];
    if (sum < 0) /* never, but not known before */
        out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

cudaError_t cuda_limits_fma(int multiprocessors, float *out, double *n, cudaStream_t stream)
{
    const int blocks = multiprocessors * BLOCKS;

    multiply_add<<<blocks, THREADS, 0, stream>>>(0.999f, 0.001f, out);
    *n = (double)blocks * THREADS * CHAINS * ROUNDS;
    return cudaGetLastError();
}

/* A warp covers 2 x 1 samples, as that of a kernel whose views are about as fine as the volume may
 * where rays run along it, and drifts by 1/64 of a sample from fetch to fetch. */
template <typename T> static __global__ void fetch(cudaTextureObject_t texture, float *out)
{
    float u = (float)(threadIdx.x % 8) / 4 + 0.3f, v = (float)(threadIdx.x / 8) / 4 + 0.7f, sum = 0;

#pragma unroll 16
    for (int i = 0; i < FETCHES; i++) {
        sum += cuda_add_up(tex2DLayered<T>(texture, u, v, 0));
        u += 1.0f / 64;
        v += 1.0f / 64;
    }
    if (sum < 0)
        out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

cudaError_t cuda_limits_fetch(int multiprocessors, cudaTextureObject_t texture, int channels,
                              float *out, double *n, cudaStream_t stream)
{
    const int blocks = multiprocessors * BLOCKS;

    if (channels == 4)
        fetch<float4><<<blocks, THREADS, 0, stream>>>(texture, out);
    else if (channels == 2)
        fetch<float2><<<blocks, THREADS, 0, stream>>>(texture, out);
    else
        fetch<float><<<blocks, THREADS, 0, stream>>>(texture, out);
    *n = (double)blocks * THREADS * FETCHES;
    return cudaGetLastError();
}

static __global__ void fill(unsigned *words, size_t n)
{
    const size_t at = (size_t)blockIdx.x * THREADS + threadIdx.x;
    const unsigned mixed = ((unsigned)at * 2654435761u) ^ ((unsigned)at >> 7) * 40503u;

    if (at < n)
        words[at] = (mixed & 0x3bff3bffu) | 0x20002000u;
}

cudaError_t cuda_limits_fill(unsigned *words, size_t n, cudaStream_t stream)
{
    fill<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(words, n);
    return cudaGetLastError();
}
