/** @file limits.h  Functions of limits.cu and limits_load.cu that start the work of one limit of
 * a GPU, and cuda_limits(), which entry.c exports (internal; C and CUDA). */
#ifndef FBP_BENCH_CUDA_LIMITS_H
#define FBP_BENCH_CUDA_LIMITS_H

#include "backend/cuda/runtime.h"
#include "bench/common/modules.h"

FBP_BEGIN
/** Measure the device of this ordinal. */
fbp_status cuda_limits(int ordinal, struct fbp_limits *out);

/** Launch: multiply-adds without memory; *n is their number. */
cudaError_t cuda_limits_fma(int multiprocessors, float *out, double *n, cudaStream_t stream);

/** Launch: bilinear fetches of texels of 1, 2 or 4 channels from a layer; *n is their number. */
cudaError_t cuda_limits_fetch(int multiprocessors, cudaTextureObject_t texture, int channels,
                              float *out, double *n, cudaStream_t stream);

/** Launch: loads of 4, 8 or 16 bytes by neighbouring threads from CUDA_LOADED bytes, which fit into
 * the first-level cache; *n is the number of loaded bytes. */
enum { CUDA_LOADED = 32 << 10 };
cudaError_t cuda_limits_load(int multiprocessors, int width, const void *from, float *out,
                             double *n, cudaStream_t stream);

/** Launch: fill memory with bytes that are neither NaN nor zero as fp16 or fp32. */
cudaError_t cuda_limits_fill(unsigned *words, size_t n, cudaStream_t stream);
FBP_END

#ifdef __CUDACC__

/** Value that a loop keeps of all loads, so that the compiler does not remove them. */
static __device__ inline float cuda_add_up(float v)
{
    return v;
}

static __device__ inline float cuda_add_up(float2 v)
{
    return v.x + v.y;
}

static __device__ inline float cuda_add_up(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

#endif /* __CUDACC__ */
#endif /* FBP_BENCH_CUDA_LIMITS_H */
