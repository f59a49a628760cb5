#include "backend/cpu/kernel.h"

#include <string.h>

/* Fastest first. */
static const struct cpu_kernel *const kernels[] = {
    &cpu_kernel_orbit[0], &cpu_kernel_orbit[1], &cpu_kernel_orbit[2], &cpu_kernel_pair[0],
    &cpu_kernel_pair[1],  &cpu_kernel_column,   &cpu_kernel_planes,   &cpu_kernel_matrix};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* The same names, of jobs in double. */
static const struct cpu_kernel *const doubles[] = {
    &cpu_kernel_planes_double, &cpu_kernel_column_double, &cpu_kernel_matrix_double};

enum { N_DOUBLES = sizeof doubles / sizeof *doubles };

/* Columns of a few slices do not repay what is worked out for each: "matrix", along rows of voxels,
 * is 20 times as fast as "column" for one slice, twice for 8, as fast for some 24; orbits share
 * more and lead from some 12 on. */
enum { COLUMN_SLICES = 16, ORBIT_SLICES = 12 };

/* Two lanes are quicker than "column" only where views have so many rows a slice (on the axis,
 * where w = 1) that its windows do not reach. */
static bool worth_it(const struct fbp_job *job, const struct cpu_kernel *kernel)
{
    if (kernel == &cpu_kernel_matrix || kernel == &cpu_kernel_planes)
        return true;
    if (kernel == &cpu_kernel_column)
        return job->grid.n[2] >= COLUMN_SLICES;
    if (kernel == &cpu_kernel_pair[0] || kernel == &cpu_kernel_pair[1])
        return job->grid.n[2] >= COLUMN_SLICES && job->matrices[0][6] * job->grid.voxel_mm[2] > 4;
    return job->grid.n[2] >= ORBIT_SLICES;
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
