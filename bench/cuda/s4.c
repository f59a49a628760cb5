/* Runs the kernels of Qiao et al. (2015): memory, launches, times, limits. Called by
 * bench/papers/qiao2015/measure.c through struct fbp_s4_kernels.
 * Used by: entry.c. */
#include "bench/cuda/s4.h"

#include "backend/cuda/cuda.h"

#include "base/system.h"

#include <stdio.h>
#include <string.h>

enum { PROCESSORS = 1024 }; /* that a card may number */

/* fp32 units of a multiprocessor. */
static size_t cores_of(int major, int minor)
{
    static const struct {
        int capability;
        size_t cores;
    } known[] = {{75, 64},  {80, 64},   {86, 128},  {87, 128}, {89, 128},
                 {90, 128}, {100, 128}, {103, 128}, {120, 128}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].capability == 10 * major + minor)
            return known[i].cores;
    return 0;
}

static fbp_status describe(int index, struct fbp_s4_gpu *out)
{
    struct cudaDeviceProp p;

    CUDA_TRY(cudaGetDeviceProperties(&p, cuda_ordinal(index)));
    *out = (struct fbp_s4_gpu){.capability = (unsigned)(10 * p.major + p.minor),
                               .processors = (size_t)p.multiProcessorCount,
                               .cores = cores_of(p.major, p.minor),
                               .threads = (size_t)p.maxThreadsPerMultiProcessor,
                               .blocks = (size_t)p.maxBlocksPerMultiProcessor,
                               .registers = (size_t)p.regsPerMultiprocessor,
                               .shared_bytes = p.sharedMemPerMultiprocessor,
                               .block_threads = (size_t)p.maxThreadsPerBlock,
                               .block_shared_bytes = p.sharedMemPerBlockOptin,
                               .block_registers = (size_t)p.regsPerBlock,
                               .warp = (size_t)p.warpSize,
                               .memory_bytes = (double)p.totalGlobalMem};
    snprintf(out->name, sizeof out->name, "%.100s", p.name);
    for (int i = 0; i < 3; i++) {
        out->block_sides[i] = (size_t)p.maxThreadsDim[i];
        out->grid_sides[i] = (size_t)p.maxGridSize[i];
    }
    return FBP_OK;
}

/* Arrays of a launch on the card, in one piece of memory. */
struct there {
    double *memory, *object, *projection, *gx, *gy, *gz;
    unsigned *count; /* [2][PROCESSORS] */
    size_t voxels;
};

static fbp_status alloc_there(const struct fbp_s4_arguments *a, struct there *t)
{
    const size_t n = (size_t)a->n, q = (size_t)a->q, samples = q * (size_t)a->s;

    t->voxels = n * n * n;
    CUDA_TRY(cudaMalloc((void **)&t->memory, (t->voxels + samples + 3 * q) * sizeof(double) +
                                                 sizeof(unsigned[2][PROCESSORS])));
    t->object = t->memory;
    t->projection = t->object + t->voxels;
    t->gx = t->projection + samples;
    t->gy = t->gx + q;
    t->gz = t->gy + q;
    t->count = (unsigned *)(void *)(t->gz + q);
    return FBP_OK;
}

static fbp_status send(const struct fbp_s4_arguments *a, const struct there *t)
{
    const size_t q = (size_t)a->q * sizeof(double);

    CUDA_TRY(cudaMemcpy(t->projection, a->projection, q * (size_t)a->s, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(t->gx, a->gx, q, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(t->gy, a->gy, q, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(t->gz, a->gz, q, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemset(t->count, 0, sizeof(unsigned[2][PROCESSORS])));
    return FBP_OK;
}

static fbp_status clear(const struct there *t)
{
    CUDA_TRY(cudaMemset(t->object, 0, t->voxels * sizeof *t->object));
    CUDA_TRY(cudaDeviceSynchronize());
    return FBP_OK;
}

/* The paper's launch has N x N blocks of N threads; the other, a thread per voxel. */
static fbp_status launch(const struct fbp_s4_arguments *a, const struct there *t,
                         enum fbp_s4_kernel kernel, unsigned block, bool counted)
{
    struct there own = *t;
    struct fbp_s4_arguments by = *a;
    unsigned *now = t->count, *most = t->count + PROCESSORS;
    void *arguments[] = {&own.object, &own.projection, &own.gx, &own.gy, &own.gz, &by.d_object,
                         &by.n,       &by.d_proj,      &by.q,   &by.s,   &now,    &most};
    const unsigned n = (unsigned)a->n;
    const dim3 grid = kernel != FBP_S4_REGISTERS
                          ? (dim3){n, n, 1}
                          : (dim3){(unsigned)((t->voxels + block - 1) / block), 1, 1};

    CUDA_TRY(cudaLaunchKernel(cuda_s4_kernel(kernel, counted), grid, (dim3){block, 1, 1}, arguments,
                              0, NULL));
    return FBP_OK;
}

/* Measure one call with all arguments in host memory. */
static fbp_status time_copied(const struct fbp_s4_arguments *a, const struct there *t,
                              enum fbp_s4_kernel kernel, unsigned block, double *object,
                              struct fbp_s4_launch *out)
{
    const size_t bytes = t->voxels * sizeof *object;

    memset(object, 0, bytes);
    const double begin = fbp_seconds();
    FBP_TRY(send(a, t));
    CUDA_TRY(cudaMemcpy(t->object, object, bytes, cudaMemcpyHostToDevice));
    FBP_TRY(launch(a, t, kernel, block, false));
    CUDA_TRY(cudaMemcpy(object, t->object, bytes, cudaMemcpyDeviceToHost));
    out->copied = fbp_seconds() - begin;
    return FBP_OK;
}

/* Time a launch and the copy of the object: first waiting for the kernel, then without waiting. */
static fbp_status time_launches(const struct fbp_s4_arguments *a, const struct there *t,
                                enum fbp_s4_kernel kernel, unsigned block, double *object,
                                struct fbp_s4_launch *out)
{
    const size_t bytes = t->voxels * sizeof *object;

    FBP_TRY(clear(t));
    double begin = fbp_seconds();
    FBP_TRY(launch(a, t, kernel, block, false));
    CUDA_TRY(cudaDeviceSynchronize());
    double end = fbp_seconds();
    out->compute = end - begin;
    CUDA_TRY(cudaMemcpy(object, t->object, bytes, cudaMemcpyDeviceToHost));
    out->gather = fbp_seconds() - end;
    FBP_TRY(clear(t));
    begin = fbp_seconds();
    FBP_TRY(launch(a, t, kernel, block, false));
    end = fbp_seconds();
    out->launch = end - begin;
    CUDA_TRY(cudaMemcpy(object, t->object, bytes, cudaMemcpyDeviceToHost));
    out->gather_launched = fbp_seconds() - end;
    return FBP_OK;
}

/* Time all kinds of calls, after a launch that is not timed and loads the kernel. */
static fbp_status run_there(const struct fbp_s4_arguments *a, const struct there *t,
                            enum fbp_s4_kernel kernel, unsigned block, double *object,
                            struct fbp_s4_launch *out)
{
    FBP_TRY(send(a, t));
    FBP_TRY(launch(a, t, kernel, block, false));
    CUDA_TRY(cudaDeviceSynchronize());
    const double begin = fbp_seconds();
    FBP_TRY(send(a, t));
    CUDA_TRY(cudaDeviceSynchronize());
    out->send = fbp_seconds() - begin;
    FBP_TRY(time_copied(a, t, kernel, block, object, out));
    return time_launches(a, t, kernel, block, object, out);
}

static fbp_status run(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                      unsigned block, double *object, struct fbp_s4_launch *out)
{
    struct there t = {0};

    CUDA_TRY(cudaSetDevice(cuda_ordinal(index)));
    FBP_TRY(alloc_there(a, &t));
    const fbp_status st = run_there(a, &t, kernel, block, object, out);
    (void)cudaFree(t.memory);
    return st;
}

/* Count the greatest number of threads that were resident on a multiprocessor at a time. */
static fbp_status count_there(const struct fbp_s4_arguments *a, const struct there *t,
                              enum fbp_s4_kernel kernel, unsigned block, size_t *out)
{
    unsigned most[PROCESSORS];

    FBP_TRY(send(a, t));
    FBP_TRY(launch(a, t, kernel, block, true));
    CUDA_TRY(cudaMemcpy(most, t->count + PROCESSORS, sizeof most, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < PROCESSORS; i++)
        if (most[i] > *out)
            *out = most[i];
    return FBP_OK;
}

static fbp_status count(const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel, unsigned block,
                        size_t *out)
{
    struct there t = {0};

    *out = 0;
    if (!cuda_s4_kernel(kernel, true))
        return FBP_OK;
    FBP_TRY(alloc_there(a, &t));
    const fbp_status st = count_there(a, &t, kernel, block, out);
    (void)cudaFree(t.memory);
    return st;
}

static fbp_status occupancy(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                            unsigned block, struct fbp_s4_occupancy *out)
{
    struct cudaFuncAttributes attributes;
    int blocks;

    CUDA_TRY(cudaSetDevice(cuda_ordinal(index)));
    CUDA_TRY(cudaFuncGetAttributes(&attributes, cuda_s4_kernel(kernel, false)));
    CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, cuda_s4_kernel(kernel, false),
                                                           (int)block, 0));
    out->block = block;
    out->registers = (size_t)attributes.numRegs;
    out->local_bytes = attributes.localSizeBytes;
    out->threads = (size_t)blocks * block;
    return count(a, kernel, block, &out->resident);
}

const struct fbp_s4_kernels cuda_s4 = {describe, occupancy, run};
