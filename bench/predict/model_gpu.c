/* The backend of a GPU that is only described: chooses kernels and counts bytes, but cannot be
 * opened. Used by predict.c for plans.
 * Used by: predict.c. */
#include "bench/predict/model_gpu.h"

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/gpu_known.h"
#include "backend/gpu/tables.h"
#include "backend/module.h"

#include <pthread.h>
#include <stdio.h>

/* Bytes of shared memory for a row of the filter: those of a block on devices of compute
 * capability 9.0, minus the other data of the filter. */
enum { ROW_BYTES = 227 * 1024 - 72 };

static size_t row_bytes(void)
{
    return ROW_BYTES;
}

static bool has_fft(void)
{
    return true;
}

static const struct gpu_filter_capabilities offer = {row_bytes, has_fft};

/* Set the table of library functions that backend/gpu uses, as a GPU module does. */
static void take_host(void)
{
    gpu_host = fbp_module_library();
}

static bool choose(struct fbp_job *job, const char *name)
{
    static const char *const precisions[] = {"", "exact", "fast", "half", "double"};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct gpu_kernel *kernels[GPU_N_KNOWN + 1] = {0};

    pthread_once(&once, take_host);
    for (size_t i = 0; i < GPU_N_KNOWN; i++)
        kernels[i] = &gpu_known[i];
    const struct gpu_kernel *k = gpu_kernel_find(kernels, job, name);

    if (!k)
        return false;
    gpu_kernel_select(k, precisions[k->precision], job);
    return true;
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    return gpu_fixed_bytes(job, &offer);
}

/* Rates of the first known card; predict.c replaces them by those of its model. */
static void rates(const struct fbp_job *job, struct fbp_rates *out)
{
    gpu_rates(gpu_card_at(0), job, out);
}

static fbp_status open_nothing(fbp_device **out, int index, const struct fbp_job *job)
{
    (void)index;
    (void)job;
    *out = NULL;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "model: a described machine cannot compute: use it only to predict");
}

static void close_nothing(fbp_device **dev)
{
    *dev = NULL;
}

const struct fbp_backend fbp_backend_model = {
    .name = "model",
    .summary = "a machine that is only described",
    .can = {GPU_CAPABILITIES, .doubles = true},
    .remark = gpu_remark_precision,
    .choose = choose,
    .filtered_bytes = gpu_filtered_bytes,
    .volume_bytes = gpu_volume_bytes,
    .fixed_bytes = fixed_bytes,
    .rates = rates,
    .open = open_nothing,
    .close = close_nothing,
};
