/* Choice of a GPU kernel for a job (gpu_kernel_select()), remarks on the choice for the user,
 * conditions for kernels of symmetric scans, and the memory that views and volume need in the
 * kernel's layout.
 * Used by: bench/cuda/, bench/gl/, bench/predict/, backend/cuda/, backend/gl/, backend/gpu/. */
#include "backend/gpu/gpu_kernel.h"

#include "backend/gpu/tables.h"
#include "backend/slab.h"
#include "backend/views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct fbp_module_host *gpu_host;
const char *const gpu_precision_names[] = {"", "exact", "fast", "half", "double"};

bool gpu_kernel_suits(const struct gpu_kernel *k, const struct fbp_job *job)
{
    const bool symmetric = k->symmetric_views > 1;
    enum fbp_precision least = job->precision;

    /* If no precision is requested, kernels for symmetric scans must be exact, because they are
     * fast enough; other kernels may interpolate by texture units (precision "fast"). */
    if (least == FBP_PRECISION_DEFAULT)
        least = symmetric ? FBP_PRECISION_EXACT : FBP_PRECISION_FAST;
    if (k->precision > least || (k->precision == FBP_PRECISION_DOUBLE) != fbp_in_double(job))
        return false;
    /* The magnitude of filtered views is not known, so there is no scale for fp16. */
    if (job->input.filtered && k->bits == 16)
        return false;
    if (!k->planes &&
        (fbp_channels(job) != 1 || job->epr.interpolation != FBP_INTERPOLATION_LINEAR))
        return false;
    if (k->channels && (job->padded.panel.n_columns > GPU_MOST_TEXELS ||
                        job->padded.panel.n_rows > GPU_MOST_TEXELS))
        return false;
    if (symmetric ? !gpu_has_symmetry(job, k->symmetry)
                  : (job->facts.symmetry & k->symmetry) != k->symmetry)
        return false;
    return !k->usable || k->usable(job);
}

const struct gpu_kernel *gpu_kernel_find(const struct gpu_kernel *const *kernels,
                                         const struct fbp_job *job, const char *name)
{
    for (const struct gpu_kernel *const *at = kernels; *at; at++)
        if ((name ? strcmp(name, (*at)->name) == 0 : !(*at)->by_name) && gpu_kernel_suits(*at, job))
            return *at;
    return NULL;
}

void gpu_kernel_select(const struct gpu_kernel *kernel, const char *isa, struct fbp_job *job)
{
    const size_t parts = kernel->symmetric_views;

    job->selection.name = kernel->name;
    job->selection.isa = isa;
    job->selection.entry = kernel;
    job->selection.symmetric_views = kernel->symmetric_views;
    job->selection.group_views = kernel->decimates ? parts * GPU_GROUP : 0;
    job->selection.more_rows = kernel->decimates ? GPU_MORE_ROWS : 0;
    job->selection.depth = kernel->slices ? GPU_DEPTH : 0;
    /* kernels with rotational symmetry compute voxels of all quarters (or of both halves) of a
     * slice together, so their slabs cannot be boxes smaller than a slice; kernels for parallel
     * beams add in an order that depends on a voxel's position in its tile */
    job->selection.boxes = kernel->symmetric_views == 1 && !kernel->slices;
}

bool gpu_has_symmetry(const struct fbp_job *job, unsigned flags)
{
    flags |= FBP_SYM_COLUMN;
    return (job->facts.symmetry & flags) == flags && !job->input.in_order && fbp_rows_run_up(job);
}

/* A rotation by 90 degrees counter-clockwise maps voxel (x, y) of a slice of n x n voxels to (n - 1
 * - y, x), a clockwise rotation to (y, n - 1 - x).  Counted from the reference voxel, a reversed
 * coordinate is 1 - x (n even) or -x (n odd): ex and ey are this 1 or 0. */
void gpu_find_domain(const struct fbp_job *job, const struct fbp_slab *slab, struct gpu_domain *out)
{
    const size_t nx = slab->nx, ny = slab->ny,
                 x0 = job->selection.symmetric_views == 4 ? nx / 2 : 0, y0 = ny / 2;

    *out = (struct gpu_domain){.x0 = (int)x0,
                               .y0 = (int)y0,
                               .nx = (int)(nx - x0),
                               .ny = (int)(ny - y0),
                               .ex = nx % 2 == 0 ? 1.0f : 0.0f,
                               .ey = ny % 2 == 0 ? 1.0f : 0.0f};
    if (job->selection.symmetric_views == 4) {
        const bool counter_clockwise = fbp_turns_counter_clockwise(job);
        out->s = counter_clockwise ? -1.0f : 1.0f;
        *(counter_clockwise ? &out->ey : &out->ex) = 0;
    }
}

/* Returns the greatest number of pixels, in all views, that an edge of a voxel at the iso-centre
 * covers along detector axis u (row 0) or v (row 1). */
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

double gpu_columns_per_voxel(const struct fbp_job *job)
{
    return most_pixels(job, 0);
}

double gpu_pixels_per_voxel(const struct fbp_job *job)
{
    return fmax(most_pixels(job, 0), most_pixels(job, 1));
}

bool gpu_column_texture_pays(const struct fbp_job *job)
{
    return gpu_pixels_per_voxel(job) >= 2;
}

unsigned gpu_texels_per_column(const struct gpu_kernel *kernel, const struct fbp_job *job)
{
    /* Texture units round weights: noise of 2.15 HU / sqrt(number of views) for water, from 570
     * views on at most 0.09 HU, so fp16 textures have one texel per column. If a voxel covers 1.2
     * columns or more, two texels per column would exceed the caches. */
    const bool fit = 2 * job->padded.panel.n_columns + 1 <= GPU_MOST_TEXELS;
    const bool many_views = kernel->bits == 16 && job->n_views >= 570;

    return kernel->halves_columns && fit && !many_views && gpu_columns_per_voxel(job) < 1.2 ? 2 : 1;
}

size_t gpu_row_texels(const struct gpu_kernel *kernel, const struct fbp_job *job)
{
    const size_t per_column = gpu_texels_per_column(kernel, job);

    return per_column * job->padded.panel.n_columns + (per_column - 1);
}

size_t gpu_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const size_t n_groups =
        (n_views + job->selection.symmetric_views - 1) / job->selection.symmetric_views;
    size_t block_rows = 8;

    if (!k->channels)
        return k->views_bytes(job, n_groups, n_rows);
    /* CUDA stores a texture in blocks of 64 bytes x 128 rows; a texture of fewer rows has blocks of
     * the next power of two, at least 8 rows. */
    const size_t row = gpu_row_texels(k, job) * ((size_t)k->channels * (size_t)k->bits / 8);
    while (block_rows < 128 && block_rows < n_rows)
        block_rows *= 2;
    return (row + 63) / 64 * 64 * ((n_rows + block_rows - 1) / block_rows * block_rows) * n_groups;
}

size_t gpu_symmetric_volume_size(const struct fbp_job *job, const struct fbp_slab *slab)
{
    struct gpu_domain d;

    gpu_find_domain(job, slab, &d);
    return job->selection.symmetric_views * (size_t)d.nx * (size_t)d.ny * slab->nz;
}

size_t gpu_volume_size(const struct gpu_kernel *kernel, const struct fbp_job *job,
                       const struct fbp_slab *slab)
{
    return kernel->volume_size ? kernel->volume_size(job, slab) : slab->nz * fbp_slab_slice(slab);
}

size_t gpu_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_channels(job) * gpu_volume_size(gpu_kernel_of(job), job, slab) * fbp_value_size(job);
}

/* Allocations, at most eight (tables, images and six buffers), are rounded up to pages of 2 MiB. */
size_t gpu_fixed_bytes(const struct fbp_job *job, const struct gpu_filter_capabilities *offer)
{
    const size_t rounding = 8 * ((size_t)2 << 20);
    struct gpu_tables t;

    gpu_tables_lay_out(job, offer, &t);
    return t.bytes + rounding + (gpu_kernel_of(job)->decimates ? gpu_images_bytes(job) : 0);
}

void gpu_remark_add(char *line, size_t n, const char *part)
{
    const size_t used = strlen(line);

    if (part[0])
        snprintf(line + used, n - used, "%s%s", used ? "; " : "", part);
}

void gpu_remark_precision(const struct fbp_job *job, char *line, size_t n)
{
    const enum fbp_precision is = gpu_kernel_of(job)->precision;

    line[0] = '\0';
    if (job->precision == FBP_PRECISION_DEFAULT && is == FBP_PRECISION_FAST)
        snprintf(line, n,
                 "precision fast interpolates with weights of 1/256 pixel; --precision exact uses "
                 "float32 weights");
    else if (job->precision != FBP_PRECISION_DEFAULT && job->precision != is)
        snprintf(line, n, "precision %s has no faster kernel for this scan; precision %s is used",
                 gpu_precision_names[job->precision], gpu_precision_names[is]);
}
