#include "backend/cpu/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fastest first. */
static const struct cpu_kernel *const kernels[] = {&cpu_kernel_column, &cpu_kernel_matrix};

const struct cpu_kernel *cpu_kernel_choose(const struct fbp_job *job)
{
    const char *wanted = job->kernel ? job->kernel : getenv("FBP_KERNEL");
    const size_t n = sizeof kernels / sizeof *kernels;

    for (size_t i = 0; i < n; i++)
        if (kernels[i]->usable(job) && (!wanted || strcmp(wanted, kernels[i]->name) == 0))
            return kernels[i];
    return kernels[n - 1]; /* takes any matrix */
}

bool cpu_has_kernel(const struct fbp_job *job, const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(name, kernels[i]->name) == 0)
            return kernels[i]->usable(job);
    return false;
}

void cpu_clip(double a, double b, double *lo, double *hi)
{
    if (b > 0)
        *lo = fmax(*lo, -a / b);
    else if (b < 0)
        *hi = fmin(*hi, -a / b);
    else if (!(a > 0))
        *hi = *lo;
}
