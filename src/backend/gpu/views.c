/* Views in the form that GPU kernels read: parameters of projections (gpu_make_pass()) and of
 * plane integrals (gpu_planes_of()), the layout of filtered views in plain memory
 * (gpu_plain_of()), and their scale in fp16 (gpu_half_scale()).
 * Used by: bench/gl/, bench/kernels/, bench/predict/, backend/cuda/, backend/gl/, backend/gpu/. */
#include "backend/gpu/gpu_kernel.h"

#include "backend/module.h"
#include "backend/views.h"

#include <math.h>
#include <stdlib.h>

/* Returns the index of the middle voxel of n voxels along an axis, counted from voxel `first`. */
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

fbp_status gpu_find_principal(const struct fbp_job *job, const char *who,
                              struct gpu_principal **out)
{
    const size_t n = job->n_views;
    struct gpu_principal *points = malloc(n * sizeof *points);

    *out = points;
    if (!points)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "%s: out of memory for %zu principal points; close other programs",
                              who, n);
    for (size_t k = 0; k < n; k++) {
        double column, row;
        fbp_principal_pixel(job, k, &column, &row);
        points[k] = (struct gpu_principal){(int)column, (int)row};
    }
    return FBP_OK;
}

void gpu_make_pass(const struct fbp_job *job, const struct gpu_principal *principal, size_t view0,
                   size_t n, size_t row0, struct gpu_pass *pass)
{
    const struct fbp_grid *g = &job->grid;
    double p[3], c[3][4];

    for (int i = 0; i < 3; i++)
        p[i] = gpu_host->coordinate(g, i, floor(((double)g->n[i] - 1) / 2));
    pass->n = (int)n;
    for (size_t k = 0; k < n; k++) {
        const struct gpu_principal *at = &principal[view0 + k];
        const double *m = job->matrices[view0 + k];
        struct gpu_view *out = &pass->view[k];

        /* coefficients in double, rounded once */
        for (int r = 0; r < 3; r++) {
            c[r][3] = m[4 * r + 3];
            for (int i = 0; i < 3; i++) {
                c[r][i] = m[4 * r + i] * g->voxel_mm[i];
                c[r][3] += m[4 * r + i] * p[i];
            }
        }
        for (int i = 0; i < 4; i++) {
            out->u[i] = (float)(c[0][i] - at->column * c[2][i]);
            out->v[i] = (float)(c[1][i] - at->row * c[2][i]);
            out->w[i] = (float)c[2][i];
        }
        out->column = at->column;
        out->row = at->row - (int)row0;
    }
}

struct gpu_plain gpu_plain_of(const struct fbp_job *job, size_t n_rows)
{
    static const size_t CACHE_LINE = 128; /* bytes */
    const size_t line = CACHE_LINE / (job->selection.symmetric_views * sizeof(float));
    const size_t across = GPU_BORDER + job->padded.panel.n_columns + GPU_BORDER;
    const size_t stride = (across + line - 1) / line * line;

    return (struct gpu_plain){.stride = (unsigned)stride,
                              .group = (GPU_BORDER + n_rows + GPU_BORDER) * stride,
                              .columns = (int)job->padded.panel.n_columns,
                              .rows = (int)n_rows};
}

size_t gpu_plain_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    return n_groups * gpu_plain_of(job, n_rows).group * job->selection.symmetric_views *
           sizeof(float);
}

size_t gpu_planes_window(const struct fbp_job *job, const int box[3], size_t taps)
{
    double span = 0;

    for (size_t k = 0; k < job->n_views; k++)
        span = fmax(span, fbp_planes_span(job, k, box));
    /* In addition to the projected box, the window contains less than one sample at either end for
     * rounding, the taps of an interpolation, and up to 3 samples to begin at a multiple of 4. */
    const double samples = ceil(span + .5) + 1 + (double)taps + 3;
    return samples < 1e6 ? ((size_t)samples + 3) / 4 * 4 : 1000000;
}

bool gpu_planes_usable(const struct fbp_job *job)
{
    static const int cube[3] = {GPU_PLANES_EDGE, GPU_PLANES_EDGE, GPU_PLANES_EDGE};
    enum { TAPS = 4 };

    return fbp_planes_only(job) && gpu_planes_window(job, cube, TAPS) <= GPU_PLANES_WINDOW;
}

void gpu_plane_of(const struct fbp_job *job, size_t view, struct gpu_plane *out)
{
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[view];

    out->u[3] = m[3];
    for (int i = 0; i < 3; i++) {
        out->u[i] = m[i] * g->voxel_mm[i];
        out->u[3] += m[i] * gpu_host->coordinate(g, i, 0);
    }
}

/* Layout of plane integrals for CUDA kernels, in which a thread computes all channels of a group.
 * Groups are as large as possible such that at most one channel of the last group is empty. */
struct gpu_planes gpu_planes_of(const struct fbp_job *job, size_t n_rows)
{
    static const size_t sizes[] = {10, 8, 4};
    size_t frames = n_rows > 1 ? 2 : 1;

    for (size_t i = fbp_in_double(job) ? 2 : 0; i < sizeof sizes / sizeof *sizes; i++)
        if ((n_rows + 1) % sizes[i] < 2 && n_rows + 1 >= sizes[i]) {
            frames = sizes[i];
            break;
        }
    return (struct gpu_planes){.columns = (job->padded.panel.n_columns + 3) / 4 * 4,
                               .groups = (n_rows + frames - 1) / frames,
                               .frames = frames};
}

size_t gpu_planes_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_planes p = gpu_planes_of(job, n_rows);

    return n_views * p.groups * p.columns * p.frames * fbp_value_size(job);
}

void gpu_parallel_view_of(const struct fbp_job *job, size_t view, struct gpu_parallel_view *out)
{
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[view];

    *out = (struct gpu_parallel_view){.u = m[0] * gpu_host->coordinate(g, 0, 0) +
                                           m[1] * gpu_host->coordinate(g, 1, 0) + m[3],
                                      .along_x = m[0] * g->voxel_mm[0],
                                      .along_y = m[1] * g->voxel_mm[1]};
}

bool gpu_parallel_usable(const struct fbp_job *job)
{
    /* MOST_COLUMNS: sum of the columns per voxel along x and y that the windows of cuda/parallel.cu
     * hold. LEAST_SLICES: for fewer slices, "column" is faster. MOST_WIDTH: greatest row length
     * [columns] that the filter transforms in one launch. NEAR: tolerance of a projection [rows].
     */
    static const double MOST_COLUMNS = 1.98, NEAR = 0.01;
    enum { LEAST_SLICES = 8, MOST_WIDTH = 4096 };
    const struct fbp_grid *g = &job->grid;
    const double *first = job->matrices[0];
    double half[3];

    for (int i = 0; i < 3; i++)
        half[i] = (double)g->n[i] / 2 * g->voxel_mm[i] + fabs(g->centre_mm[i]);
    for (size_t k = 0; k < job->n_views; k++) {
        const double *m = job->matrices[k];
        const double v = fabs(m[4]) * half[0] + fabs(m[5]) * half[1] +
                         fabs(m[6] - first[6]) * half[2] + fabs(m[7] - first[7]);
        const double w = fabs(m[8]) * half[0] + fabs(m[9]) * half[1] + fabs(m[10]) * half[2];
        const double columns = fabs(m[0]) * g->voxel_mm[0] + fabs(m[1]) * g->voxel_mm[1];
        if (!(v < NEAR && w < 1e-6 && fabs(m[11] - 1) < 1e-6 && columns < MOST_COLUMNS))
            return false;
    }
    return first[6] > 0 && g->n[2] >= LEAST_SLICES && job->padded.panel.n_columns <= MOST_WIDTH &&
           job->padded.inserted == 0;
}

/* Returns the greatest number of pieces whose slices project onto n_rows rows. */
static size_t pieces_of(const struct fbp_job *job, size_t n_rows, double step)
{
    const size_t all = (job->grid.n[2] + GPU_PIECE - 1) / GPU_PIECE;
    const double slices = floor(((double)n_rows + 1) / step) + 1;
    const size_t n = slices < 1e9 ? ((size_t)slices + 2 * (GPU_PIECE - 1)) / GPU_PIECE : all;

    return n < all ? n : all;
}

struct gpu_slices gpu_slices_of(const struct fbp_job *job, size_t row0, size_t n_rows)
{
    const double *m = job->matrices[0], step = m[6] * job->grid.voxel_mm[2];
    const double at = m[6] * gpu_host->coordinate(&job->grid, 2, 0) + m[7] - (double)row0;
    const double first = fmax(floor((-1 - at) / step) + 1, 0);
    const double pieces = (double)((job->grid.n[2] + GPU_PIECE - 1) / GPU_PIECE);

    return (struct gpu_slices){.first = (int)fmin(floor(first / GPU_PIECE), pieces),
                               .n = (unsigned)pieces_of(job, n_rows, step),
                               .columns = (unsigned)job->padded.panel.n_columns,
                               .parts = gpu_kernel_of(job)->precision == FBP_PRECISION_HALF ? 1 : 2,
                               .row0 = at,
                               .step = step};
}

size_t gpu_slices_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_slices s = gpu_slices_of(job, 0, n_rows);

    return n_views * s.parts * s.n * s.columns * GPU_PIECE * sizeof(uint16_t);
}

static double most_of(const double *row, size_t n, double most)
{
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(row[i]));
    return most;
}

fbp_status gpu_half_scale(const struct fbp_job *job, float *out)
{
    /* greatest line integral for fp16: no detector measures a transmission of exp(-4096) */
    static const double MOST_INTEGRAL = 4096, HALF_MOST = 65504;
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows;
    double *row = malloc(nc * sizeof *row), weight = 0, columns = 1;
    int exponent = 0;

    if (!row)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "device: out of memory for a row of weights; close other programs");
    if (gpu_host->weights_separable(job->filtering.weights)) {
        double image = 0, line = 0;
        for (size_t r = 0; r < nr; r++) {
            gpu_host->weights_image(job->filtering.weights, r, row);
            image = most_of(row, nc, image);
        }
        for (size_t k = 0; k < job->n_views; k++) {
            gpu_host->weights_line(job->filtering.weights, k, row);
            line = most_of(row, nc, line);
        }
        weight = image * line;
    } else { /* upper bound: twice the greatest weight of at most three rows, because weights per
                ray change little along a detector column */
        for (size_t k = 0; k < job->n_views; k++)
            for (size_t r = 0; r<nr; r += nr> 1 ? nr / 2 : 1) {
                gpu_host->weights_row(job->filtering.weights, k, r, row);
                weight = most_of(row, nc, weight);
            }
        weight *= 2;
    }
    free(row);
    /* sum of the magnitudes of the taps of the filter along columns */
    if (job->filtering.columns) {
        columns = fabs(job->filtering.columns->kernel[0]);
        for (size_t i = 1; i <= job->filtering.columns->half_width; i++)
            columns += 2 * fabs(job->filtering.columns->kernel[i]);
    }
    /* The magnitudes of the ramp's taps add up to 1/2 at most, with a window to less. */
    const double most = weight * MOST_INTEGRAL / 2 * columns;
    (void)frexp(HALF_MOST / (most > 0 ? most : 1), &exponent);
    *out = (float)ldexp(1, exponent - 1);
    return FBP_OK;
}
