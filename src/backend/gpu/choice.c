/* Which kernel takes a job, and how its views and volume lie. */
#include "backend/gpu/gpu_kernel.h"
#include "backend/slab.h"

#include <math.h>
#include <string.h>

static enum fbp_precision precision_of(const struct fbp_job *job)
{
    return job->precision == FBP_PRECISION_DEFAULT ? FBP_PRECISION_FAST : job->precision;
}

/* Coordinates are rounded in fp32. */
static bool fits_texture(const struct fbp_job *job)
{
    return job->wide.n_columns <= GPU_MOST_TEXELS && job->wide.n_rows <= GPU_MOST_TEXELS;
}

/* Orbits want views from all over the scan. */
static bool has_symmetry(const struct gpu_kernel *k, const struct fbp_job *job)
{
    if (k->turns > 1)
        return gpu_has_symmetry(job, k->symmetry);
    return (job->facts.symmetry & k->symmetry) == k->symmetry;
}

/* Is the kernel of the precision that was asked for, or more exact?  Without a request, symmetric scans
 * are computed exactly, as they are fast enough, and others by texture units. */
static bool is_exact_enough(const struct gpu_kernel *k, const struct fbp_job *job)
{
    if (job->precision == FBP_PRECISION_DEFAULT && k->turns > 1)
        return k->precision <= FBP_PRECISION_EXACT;
    return k->precision <= precision_of(job);
}

/* The magnitude of views that come filtered is not known, so no scale makes them fit fp16. */
bool gpu_kernel_suits(const struct gpu_kernel *k, const struct fbp_job *job)
{
    return is_exact_enough(k, job) &&
           (k->precision == FBP_PRECISION_DOUBLE) == fbp_in_double(job) &&
           !(job->filtered && k->bits == 16) &&
           (k->planes ||
            (fbp_frames(job) == 1 && job->interpolation == FBP_INTERPOLATION_LINEAR)) &&
           has_symmetry(k, job) && (!k->channels || fits_texture(job)) &&
           (!k->usable || k->usable(job));
}

const struct gpu_kernel *gpu_kernel_find(const struct gpu_kernel *const *kernels,
                                         const struct fbp_job *job, const char *name)
{
    for (const struct gpu_kernel *const *at = kernels; *at; at++)
        if ((!name || strcmp(name, (*at)->name) == 0) && gpu_kernel_suits(*at, job))
            return *at;
    return NULL;
}

void gpu_kernel_take(const struct gpu_kernel *kernel, const char *isa, struct fbp_job *job)
{
    job->chosen = (struct fbp_chosen){kernel->name, isa, kernel};
    job->turns = kernel->turns;
    job->boxes = kernel->turns == 1; /* turns take voxels of all four quarters together */
}

/* Along u (row 0 of the matrices) or v (row 1). */
static double most_pixels(const struct fbp_job *job, size_t row)
{
    double most = 0;

    for (size_t k = 0; k < job->n_views; k++) {
        const double *m = job->matrices[k], *r = m + 4 * row;
        for (int axis = 0; axis < 3; axis++) {
            const double slope = r[axis] - r[3] * m[8 + axis] / m[11];
            most = fmax(most, fabs(slope / m[11]) * job->grid.voxel_mm[axis]);
        }
    }
    return most;
}

double gpu_columns_a_voxel(const struct fbp_job *job)
{
    return most_pixels(job, 0);
}

double gpu_pixels_a_voxel(const struct fbp_job *job)
{
    return fmax(most_pixels(job, 0), most_pixels(job, 1));
}

bool gpu_columns_pay(const struct fbp_job *job)
{
    return gpu_pixels_a_voxel(job) >= 2;
}

/* What units round is 2.15 HU / sqrt(views) of water in the volume: from here on no more than 0.09.
 */
enum { MANY_VIEWS = 570 };

unsigned gpu_texels_a_column(const struct gpu_kernel *kernel, const struct fbp_job *job)
{
    const double few = 1.2; /* with more columns a voxel caches would hold too little */
    const bool fit = 2 * job->wide.n_columns + 1 <= GPU_MOST_TEXELS;
    const bool quicker = kernel->bits == 16 && job->n_views >= MANY_VIEWS;

    return kernel->halves_columns && fit && !quicker && gpu_columns_a_voxel(job) < few ? 2 : 1;
}

size_t gpu_row_texels(const struct gpu_kernel *kernel, const struct fbp_job *job)
{
    const size_t a_column = gpu_texels_a_column(kernel, job);

    return a_column * job->wide.n_columns + (a_column - 1);
}

size_t gpu_volume_size(const struct gpu_kernel *kernel, const struct fbp_job *job,
                       const struct fbp_slab *slab)
{
    return kernel->volume_size ? kernel->volume_size(job, slab) : slab->nz * fbp_slab_slice(slab);
}
