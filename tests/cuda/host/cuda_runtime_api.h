/** @file cuda_runtime_api.h  The parts of CUDA's runtime that kernels on the host need, in place of
 * CUDA's own header (tests). */
#ifndef FBP_TESTS_CUDA_HOST_RUNTIME_API_H
#define FBP_TESTS_CUDA_HOST_RUNTIME_API_H

typedef enum { cudaSuccess = 0 } cudaError_t;
typedef void *cudaStream_t;
typedef void *cudaArray_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

typedef struct {
    float x, y;
} float2;
typedef struct {
    unsigned x, y;
} uint2;
typedef struct
#ifdef __cplusplus
    alignas(16)
#endif
{
    float x, y, z, w;
} float4;

#endif /* FBP_TESTS_CUDA_HOST_RUNTIME_API_H */
