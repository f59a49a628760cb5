#include "backend/cuda/cuda.h"
#include "backend/cuda/s0.h"

#include <math.h>
#include <string.h>

/* Fastest first. */
static const struct cuda_kernel *const kernels[] = {
    &cuda_kernel_rot90_half,          &cuda_kernel_rot180_mirror_half, &cuda_kernel_rot90_exact,
    &cuda_kernel_rot180_mirror_exact, &cuda_kernel_rot180_half,        &cuda_kernel_mirror_half,
    &cuda_kernel_rot180_fast,         &cuda_kernel_rot180_exact,       &cuda_kernel_mirror_exact,
    &cuda_kernel_column_half,         &cuda_kernel_column_exact,       &cuda_kernel_matrix_half,
    &cuda_kernel_matrix_fast,         &cuda_kernel_matrix_exact,       NULL};

static enum fbp_precision precision_of(const struct fbp_job *job)
{
    return job->precision == FBP_PRECISION_DEFAULT ? FBP_PRECISION_FAST : job->precision;
}

/* What filtered views amount to is not known, so that no scale makes them fit fp16. */
static bool suits(const struct cuda_kernel *k, const struct fbp_job *job)
{
    return k->precision <= precision_of(job) && !(job->filtered && k->bits == 16) && k->usable(job);
}

/* The fastest that is as exact as asked (half, fast, exact), of the name if one is. */
static const struct cuda_kernel *find_best(const struct fbp_job *job, const char *name)
{
    for (const struct cuda_kernel *const *at = kernels; *at; at++)
        if ((!name || strcmp(name, (*at)->name) == 0) && suits(*at, job))
            return *at;
    return NULL;
}

/* One that is there to be asked for; NULL. */
static const struct cuda_kernel *find_by_name(const struct fbp_job *job, const char *name)
{
    for (const struct cuda_kernel *at = cuda_s0_kernels; at->name; at++)
        if (strcmp(name, at->name) == 0 && at->precision <= precision_of(job) && at->usable(job))
            return at;
    return NULL;
}

const struct cuda_kernel *cuda_kernel_find(const struct fbp_job *job, const char *name)
{
    const struct cuda_kernel *found = find_best(job, name);

    if (found)
        return found;
    return name ? find_by_name(job, name) : &cuda_kernel_matrix_exact; /* takes any matrix */
}

/* Along u (row 0 of the matrices) or v (row 1). */
static double most_pixels(const struct fbp_job *job, int row)
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

double cuda_columns_a_voxel(const struct fbp_job *job)
{
    return most_pixels(job, 0);
}

double cuda_pixels_a_voxel(const struct fbp_job *job)
{
    return fmax(most_pixels(job, 0), most_pixels(job, 1));
}

unsigned cuda_texels_a_column(const struct cuda_kernel *kernel, const struct fbp_job *job)
{
    const double few = 1.2; /* with more columns a voxel caches would hold too little */
    const bool fit = 2 * job->wide.n_columns + 1 <= CUDA_MOST_TEXELS;

    return kernel->halves_columns && fit && cuda_columns_a_voxel(job) < few ? 2 : 1;
}

size_t cuda_row_texels(const struct cuda_kernel *kernel, const struct fbp_job *job)
{
    const size_t a_column = cuda_texels_a_column(kernel, job);

    return a_column * job->wide.n_columns + (a_column - 1);
}

struct cuda_views cuda_views_at(const struct cuda_kernel *kernel, const struct fbp_job *job,
                                const struct fbp_batch *batch, const struct cuda_views *views,
                                unsigned *group0)
{
    struct cuda_views out = *views;

    *group0 = (unsigned)batch->place;
    if (!kernel->channels) {
        out.memory = (char *)views->memory + kernel->views_bytes(job, batch->place, batch->n_rows);
        *group0 = 0;
    }
    return out;
}

size_t cuda_volume_size(const struct cuda_kernel *kernel, const struct fbp_job *job,
                        size_t n_layers)
{
    return kernel->volume_size ? kernel->volume_size(job, n_layers)
                               : n_layers * job->grid.n[1] * job->grid.n[0];
}

void cuda_find_principal(const struct fbp_job *job, size_t view, struct cuda_principal *out)
{
    const double *m = job->matrices[view];
    const double last[2] = {(double)job->wide.n_columns - 1, (double)job->wide.n_rows - 1};

    out->column = (int)fmin(fmax(round(m[3] / m[11]), 0), last[0]);
    out->row = (int)fmin(fmax(round(m[7] / m[11]), 0), last[1]);
}

/* Coefficients in double, rounded once. */
static void make_view(const struct fbp_job *job, const struct cuda_principal *principal,
                      const double *m, size_t row0, struct cuda_view *out)
{
    const struct fbp_grid *g = &job->grid;
    double p[3], c[3][4];

    for (int i = 0; i < 3; i++)
        p[i] = gpu_host->coordinate(g, i, floor(((double)g->n[i] - 1) / 2));
    for (int r = 0; r < 3; r++) {
        c[r][3] = m[4 * r + 3];
        for (int i = 0; i < 3; i++) {
            c[r][i] = m[4 * r + i] * g->voxel_mm[i];
            c[r][3] += m[4 * r + i] * p[i];
        }
    }
    for (int i = 0; i < 4; i++) {
        out->u[i] = (float)(c[0][i] - principal->column * c[2][i]);
        out->v[i] = (float)(c[1][i] - principal->row * c[2][i]);
        out->w[i] = (float)c[2][i];
    }
    out->column = principal->column;
    out->row = principal->row - (int)row0;
}

void cuda_make_pass(const struct fbp_job *job, const struct cuda_principal *principal, size_t view0,
                    size_t n, size_t row0, struct cuda_pass *out)
{
    out->n = (int)n;
    for (size_t k = 0; k < n; k++)
        make_view(job, &principal[view0 + k], job->matrices[view0 + k], row0, &out->view[k]);
}
