/* Entry of libfbp_bench_cuda.so besides that of the CUDA backend: the table of functions that
 * common/modules.c loads. */
#include "backend/cuda/cuda.h"
#include "bench/cuda/limits.h"
#include "bench/cuda/s0.h"
#include "bench/cuda/s1.h"
#include "bench/cuda/s4.h"

#include <string.h>

__attribute__((constructor)) static void add_kernels(void)
{
    cuda_kernels_by_name = cuda_s0_kernels;
}

static fbp_status limits(int index, struct fbp_limits *out)
{
    return cuda_limits(cuda_ordinal(index), out);
}

static void peer(int from, int to, struct bench_peer *out)
{
    const int a = cuda_ordinal(from), b = cuda_ordinal(to);
    int direct = 0, atomics = 0, rank = 0;

    if (from == to ||
        !cuda_is_done(cudaDeviceGetP2PAttribute(&direct, cudaDevP2PAttrAccessSupported, a, b)) ||
        !cuda_is_done(
            cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, a, b)) ||
        !cuda_is_done(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, a, b)))
        return;
    *out = (struct bench_peer){.direct = direct != 0, .atomics = atomics != 0, .rank = rank};
}

static fbp_status time_stage(fbp_device *device, enum fbp_stage stage, double *seconds)
{
    static cudaEvent_t begin, end;
    const struct cuda_device *dev = cuda_of(device);
    cudaStream_t stream = dev->streams[stage].stream;
    float ms;

    CUDA_TRY(cudaSetDevice(dev->index));
    if (!seconds) {
        CUDA_TRY(cudaEventCreate(&begin));
        CUDA_TRY(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
        CUDA_TRY(cudaEventRecord(begin, stream));
        return FBP_OK;
    }
    CUDA_TRY(cudaEventRecord(end, stream));
    CUDA_TRY(cudaEventSynchronize(end));
    CUDA_TRY(cudaEventElapsedTime(&ms, begin, end));
    CUDA_TRY(cudaEventDestroy(begin));
    CUDA_TRY(cudaEventDestroy(end));
    *seconds = 1e-3 * (double)ms;
    return FBP_OK;
}

/* The loops of the filter and of the proposed step (s0_ladder.cu: I = 3, J = 2, not merged). */
static fbp_status s0_code(int index, struct s0_code *filter, struct s0_code *backproject)
{
    struct cudaDeviceProp p;

    CUDA_TRY(cudaGetDeviceProperties(&p, cuda_ordinal(index)));
    for (const struct s0_code *c = cuda_s0_code; c->capability; c++)
        if (c->capability != 10 * p.major + p.minor)
            continue;
        else if (strstr(c->function, "convolve_row"))
            *filter = *c;
        else if (strstr(c->function, "backprojectILb1ELi3ELb1ELb1ELi2ELb0EE"))
            *backproject = *c;
    return FBP_OK;
}

FBP_API bench_device_fn fbp_bench_cuda;

const struct bench_device *fbp_bench_cuda(void)
{
    static const struct bench_device functions = {.limits = limits,
                                                  .peer = peer,
                                                  .time = time_stage,
                                                  .s0_code = s0_code,
                                                  .s1 = &cuda_s1,
                                                  .s4 = &cuda_s4};

    return &functions;
}
