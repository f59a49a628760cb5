/* Slices on their way out. */
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

enum { LOOKERS = 256, AT_ONCE = 8 }; /* loads of a thread that are on their way together */

template <class T, class Found> static __device__ inline void note(T x, Found *found)
{
    found->min = fmin(found->min, x);
    found->max = fmax(found->max, x);
    found->sum += (double)x;
}

/* A block adds to its own entry, launch after launch, so that no order is left to chance. */
template <class T, class Found>
static __global__ void __launch_bounds__(LOOKERS)
    look_at(const T *__restrict__ in, size_t n, Found *found)
{
    __shared__ Found of[LOOKERS];
    const size_t step = (size_t)gridDim.x * LOOKERS;
    const unsigned me = threadIdx.x;
    Found mine = threadIdx.x == 0 ? found[blockIdx.x] : Found{INFINITY, -INFINITY, 0};

    size_t i = (size_t)blockIdx.x * LOOKERS + me;
    for (; i + (AT_ONCE - 1) * step < n; i += AT_ONCE * step) {
        T x[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            x[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            note(x[k], &mine);
    }
    for (; i < n; i += step)
        note(in[i], &mine);
    of[me] = mine;
    for (unsigned half = LOOKERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) {
            of[me].min = fmin(of[me].min, of[me + half].min);
            of[me].max = fmax(of[me].max, of[me + half].max);
            of[me].sum += of[me + half].sum;
        }
    }
    if (me == 0)
        found[blockIdx.x] = of[0];
}

cudaError_t cuda_look_at(const float *in, size_t n, struct gpu_found *found, cudaStream_t stream)
{
    look_at<<<GPU_FOUND, LOOKERS, 0, stream>>>(in, n, found);
    return cudaGetLastError();
}

cudaError_t cuda_look_at_doubles(const double *in, size_t n, struct gpu_found_double *found,
                                 cudaStream_t stream)
{
    look_at<<<GPU_FOUND, LOOKERS, 0, stream>>>(in, n, found);
    return cudaGetLastError();
}
