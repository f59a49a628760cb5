#include "backend/cpu/kernel.h"

#include <string.h>

/* Fastest first. */
static const struct cpu_kernel *const kernels[] = {&cpu_kernel_rot90, &cpu_kernel_rot180,
                                                   &cpu_kernel_column, &cpu_kernel_planes,
                                                   &cpu_kernel_matrix};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* The same names, of jobs in double. */
static const struct cpu_kernel *const doubles[] = {
    &cpu_kernel_planes_double, &cpu_kernel_column_double, &cpu_kernel_matrix_double};

enum { N_DOUBLES = sizeof doubles / sizeof *doubles };

/* Kernels along z compute values per voxel column that pay only for many slices.  "matrix", which
 * runs along x, is 20 times as fast as "column" for one slice, twice for 8 and as fast for about
 * 24; "rot90" is the fastest from about 12 slices on. */
enum { COLUMN_SLICES = 16, ROT90_SLICES = 12 };

/* With its two lanes "rot180" is faster than "column" only if views have more rows per slice (on
 * the axis, where w = 1) than the windows of "column" hold. */
static bool worth_it(const struct fbp_job *job, const struct cpu_kernel *kernel)
{
    if (kernel == &cpu_kernel_matrix || kernel == &cpu_kernel_planes)
        return true;
    if (kernel == &cpu_kernel_column)
        return job->grid.n[2] >= COLUMN_SLICES;
    if (kernel == &cpu_kernel_rot180)
        return job->grid.n[2] >= COLUMN_SLICES && job->matrices[0][6] * job->grid.voxel_mm[2] > 4;
    return job->grid.n[2] >= ROT90_SLICES;
}

/* Is the scan one for it, and does it interpolate so? */
static bool takes(const struct fbp_job *job, const struct cpu_kernel *kernel)
{
    const bool any = kernel == &cpu_kernel_matrix || kernel == &cpu_kernel_planes;

    return (any || job->interpolation == FBP_INTERPOLATION_LINEAR) && kernel->usable(job);
}

static const struct cpu_kernel *find_double(const struct fbp_job *job, const char *name)
{
    for (size_t i = 0; i < N_DOUBLES; i++)
        if (doubles[i]->usable(job) &&
            (name ? strcmp(name, doubles[i]->name) == 0
                  : doubles[i] != &cpu_kernel_column_double || job->grid.n[2] >= COLUMN_SLICES))
            return doubles[i];
    return NULL;
}

const struct cpu_kernel *cpu_kernel_find(const struct fbp_job *job, const char *name)
{
    if (fbp_in_double(job))
        return find_double(job, name);
    for (size_t i = 0; i < N_KERNELS; i++)
        if (takes(job, kernels[i]) &&
            (name ? strcmp(name, kernels[i]->name) == 0 : worth_it(job, kernels[i])))
            return kernels[i];
    return NULL;
}

const char *fbp_kernel_name(size_t i)
{
    return i < N_KERNELS ? kernels[N_KERNELS - 1 - i]->name : NULL;
}
