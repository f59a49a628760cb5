/* The kernels of s4_kernels.cu as the module launches them: s4.c gets them from
 * cuda_s4_kernel().
 * Used by: s4.c. */
#include "bench/cuda/s4.h"

#include "bench/cuda/s4_kernels.cu"

/*
 * The kernel of one voxel a thread, whose blocks sign on and off at the multiprocessor that they
 * are on: now[i] threads are there, and there were never more than most[i].
 */
static __global__ void s4_counted(double *object, const double *projection, const double *GX,
                                  const double *GY, const double *GZ, double d_object, int N,
                                  double d_proj, int Q, int S, unsigned *now, unsigned *most)
{
    unsigned place;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(place));
    if (threadIdx.x == 0)
        atomicMax(&most[place], atomicAdd(&now[place], blockDim.x) + blockDim.x);
    __syncthreads();
    const long long side = N, voxels = side * side * side;
    const long long i = ((long long)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    const double middle = 0.5 * N - 1;
    if (i < voxels)
        object[i] += fbp_epr_sum(projection, GX, GY, GZ, ((double)(i % side) - middle) * d_object,
                                 ((double)(i / side % side) - middle) * d_object,
                                 ((double)(i / side / side) - middle) * d_object, d_proj, Q, S);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicSub(&now[place], blockDim.x);
}

const void *cuda_s4_kernel(enum fbp_s4_kernel kernel, bool counted)
{
    if (counted)
        return kernel == FBP_S4_REGISTERS ? (const void *)s4_counted : nullptr;
    return kernel == FBP_S4_PAPER       ? (const void *)fbp_epr_paper
           : kernel == FBP_S4_NO_BRANCH ? (const void *)fbp_epr_no_branch
                                        : (const void *)fbp_epr_registers;
}
