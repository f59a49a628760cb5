/* OpenGL's kernels, and which of them a job gets. */
#include "backend/gl/kernel.h"

/* Fastest first. */
static const struct gpu_kernel *const kernels[] = {&gl_kernel_matrix_exact.gpu, NULL};

const struct gpu_kernel *gl_kernel_find(const struct fbp_job *job, const char *name)
{
    const struct gpu_kernel *found = gpu_kernel_find(kernels, job, name);

    return found || name ? found : &gl_kernel_matrix_exact.gpu; /* takes any matrix */
}
