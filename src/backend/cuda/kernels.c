/* CUDA's kernels, and which of them a job gets. */
#include "backend/cuda/kernel.h"

#include "backend/gpu/gpu_known.h"

#include <string.h>

/* Fastest first, as they are known. */
static const struct gpu_kernel *const kernels[] = {
    [GPU_PLANES_EXACT] = &cuda_kernel_planes_exact.gpu,
    [GPU_PLANES_DOUBLE] = &cuda_kernel_planes_double.gpu,
    [GPU_ROT90_HALF] = &cuda_kernel_rot90_half.gpu,
    [GPU_ROT90_EXACT] = &cuda_kernel_rot90_exact.gpu,
    [GPU_ROT180_HALF] = &cuda_kernel_rot180_half.gpu,
    [GPU_ROT180_FAST] = &cuda_kernel_rot180_fast.gpu,
    [GPU_ROT180_EXACT] = &cuda_kernel_rot180_exact.gpu,
    [GPU_COLUMN_HALF] = &cuda_kernel_column_half.gpu,
    [GPU_COLUMN_EXACT] = &cuda_kernel_column_exact.gpu,
    [GPU_MATRIX_HALF] = &cuda_kernel_matrix_half.gpu,
    [GPU_MATRIX_FAST] = &cuda_kernel_matrix_fast.gpu,
    [GPU_MATRIX_EXACT] = &cuda_kernel_matrix_exact.gpu,
    [GPU_N_KNOWN] = NULL,
};

const struct cuda_kernel *cuda_kernels_by_name;

/* NULL: there is none. */
static const struct gpu_kernel *find_by_name(const struct fbp_job *job, const char *name)
{
    for (const struct cuda_kernel *at = cuda_kernels_by_name; at && at->gpu.name; at++)
        if (strcmp(name, at->gpu.name) == 0 && gpu_kernel_suits(&at->gpu, job))
            return &at->gpu;
    return NULL;
}

const struct gpu_kernel *cuda_kernel_find(const struct fbp_job *job, const char *name)
{
    const struct gpu_kernel *found = gpu_kernel_find(kernels, job, name);

    return found || !name ? found : find_by_name(job, name);
}

struct cuda_views cuda_views_at(const struct cuda_kernel *kernel, const struct fbp_job *job,
                                const struct fbp_batch *batch, const struct cuda_views *views,
                                unsigned *group0)
{
    struct cuda_views out = *views;

    *group0 = (unsigned)batch->place;
    if (!kernel->gpu.channels) {
        out.memory =
            (char *)views->memory + kernel->gpu.views_bytes(job, batch->place, batch->n_rows);
        *group0 = 0;
    }
    return out;
}
