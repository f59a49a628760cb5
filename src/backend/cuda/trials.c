/* Passes timed by events, for the choice of a kernel's shape (backend/gpu/tuner.h). */
#include "backend/cuda/cuda.h"

#include <stdio.h>

static bool describe(int ordinal, char *out, size_t n)
{
    struct cudaDeviceProp p;
    int driver = 0;

    if (!cuda_is_done(cudaGetDeviceProperties(&p, ordinal)) ||
        !cuda_is_done(cudaDriverGetVersion(&driver)))
        return false;
    snprintf(out, n, "%.100s, %d multiprocessors, driver for CUDA %d.%d", p.name,
             p.multiProcessorCount, driver / 1000, driver % 1000 / 10);
    return true;
}

static bool open_trials(void *user, int n)
{
    struct cuda_device *dev = user;

    for (int i = 0; i < n; i++)
        if (!cuda_is_done(cudaEventCreate(&dev->trials[i].begin)) ||
            !cuda_is_done(cudaEventCreate(&dev->trials[i].end)))
            return false;
    return true;
}

static bool begin(void *user, int trial)
{
    const struct cuda_device *dev = user;

    return cuda_is_done(
        cudaEventRecord(dev->trials[trial].begin, dev->streams[FBP_STAGE_BP].stream));
}

static bool end(void *user, int trial)
{
    const struct cuda_device *dev = user;

    return cuda_is_done(cudaEventRecord(dev->trials[trial].end, dev->streams[FBP_STAGE_BP].stream));
}

static bool is_over(void *user, int trial)
{
    const struct cuda_device *dev = user;

    return cuda_is_done(cudaEventQuery(dev->trials[trial].end));
}

static bool wait_for(void *user, int trial)
{
    const struct cuda_device *dev = user;

    return cuda_is_done(cudaEventSynchronize(dev->trials[trial].end));
}

static bool elapsed(void *user, int trial, float *ms)
{
    const struct cuda_trial *t = &((const struct cuda_device *)user)->trials[trial];

    return cuda_is_done(cudaEventElapsedTime(ms, t->begin, t->end));
}

const struct gpu_timer cuda_timer = {
    .file = {"cuda-shapes", "fbp: fastest shapes of CUDA kernels, version 1\n"},
    .describe = describe,
    .open = open_trials,
    .begin = begin,
    .end = end,
    .is_over = is_over,
    .wait = wait_for,
    .elapsed = elapsed,
};

void cuda_trials_close(struct cuda_device *dev)
{
    for (int i = 0; i < GPU_TUNER_TRIALS; i++) {
        if (dev->trials[i].begin)
            (void)cuda_is_done(cudaEventDestroy(dev->trials[i].begin));
        if (dev->trials[i].end)
            (void)cuda_is_done(cudaEventDestroy(dev->trials[i].end));
    }
}
