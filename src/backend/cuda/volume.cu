/* Slices of a plain volume on their way out. */
#include "backend/cuda/kernel.h"

static __global__ void scale_and_shift(const float *__restrict__ in, size_t n, float scale,
                                       float shift, float *__restrict__ out)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = scale * in[i] + shift;
}

cudaError_t cuda_scale(const float *in, size_t n, float scale, float shift, float *out,
                       cudaStream_t stream)
{
    static const size_t THREADS = 256, MOST_BLOCKS = 4096;
    const size_t wanted = (n + THREADS - 1) / THREADS;
    const unsigned blocks = (unsigned)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    scale_and_shift<<<blocks, THREADS, 0, stream>>>(in, n, scale, shift, out);
    return cudaGetLastError();
}
