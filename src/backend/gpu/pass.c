/* Views as kernels see them. */
#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/host.h"

#include <math.h>
#include <stdlib.h>

size_t gpu_pass_views(const struct gpu_kernel *kernel)
{
    return kernel->pass ? (size_t)kernel->pass : GPU_PASS;
}

/* Of the whole volume, counted from a slab's first voxel. */
static float reference(size_t n, size_t first)
{
    const size_t middle = (n - 1) / 2;

    return (float)((double)middle - (double)first);
}

struct gpu_grid gpu_grid_of(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                            size_t z1)
{
    const size_t *n = job->grid.n;

    return (struct gpu_grid){.nx = (int)slab->nx,
                             .ny = (int)slab->ny,
                             .nz = (int)(z1 - z0),
                             .z0 = (int)z0,
                             .x_ref = reference(n[0], slab->x0),
                             .y_ref = reference(n[1], slab->y0),
                             .z_ref = reference(n[2], 0),
                             .cells = (int)gpu_cells(n[0]),
                             .x0 = (int)slab->x0,
                             .y0 = (int)slab->y0};
}

static void find_principal(const struct fbp_job *job, size_t view, struct gpu_principal *out)
{
    const double *m = job->matrices[view];
    const double last[2] = {(double)job->wide.n_columns - 1, (double)job->wide.n_rows - 1};

    out->column = (int)fmin(fmax(round(m[3] / m[11]), 0), last[0]);
    out->row = (int)fmin(fmax(round(m[7] / m[11]), 0), last[1]);
}

fbp_status gpu_find_principal(const struct fbp_job *job, const char *who,
                              struct gpu_principal **out)
{
    const size_t n = job->n_views;

    *out = malloc(n * sizeof **out);
    if (!*out)
        return gpu_host->fail(FBP_ERR_NOMEM, "%s: no memory for %zu principal points", who, n);
    for (size_t k = 0; k < n; k++)
        find_principal(job, k, &(*out)[k]);
    return FBP_OK;
}

/* Coefficients in double, rounded once. */
static void make_view(const struct fbp_job *job, const struct gpu_principal *principal,
                      const double *m, size_t row0, struct gpu_view *out)
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

void gpu_make_pass(const struct fbp_job *job, const struct gpu_principal *principal, size_t view0,
                   size_t n, size_t row0, struct gpu_pass *out)
{
    out->n = (int)n;
    for (size_t k = 0; k < n; k++)
        make_view(job, &principal[view0 + k], job->matrices[view0 + k], row0, &out->view[k]);
}
