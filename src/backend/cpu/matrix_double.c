/* Plane integrals in double, voxels of any size, and pictures of their first stage about any axis:
 * rows of voxels along x. */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"
#include "filter/parabola.h"

#include <math.h>

/* Of the zeros beside a row, those that u counts from, so that it is never negative. */
enum { BEFORE = 2, ROWS_A_TILE = 16 };

static bool usable(const struct fbp_job *job)
{
    return job->second || job->wide.n_rows == fbp_frames(job);
}

/* A view along a row of voxels: u = start + x step, from sample -BEFORE on, which is zero, for
 * voxels [x0, x1); of a picture v = row + x row_step, on the whole of it. */
struct line {
    double start, step, row, row_step;
    enum fbp_interpolation how;
    size_t x0, x1;
};

/* u, or v, of the row's first voxel. */
static double first_of(const double m[4], const struct fbp_grid *g, size_t y, size_t z)
{
    return m[0] * fbp_grid_coordinate(g, 0, 0) + m[1] * fbp_grid_coordinate(g, 1, (double)y) +
           m[2] * fbp_grid_coordinate(g, 2, (double)z) + m[3];
}

/* Where a voxel may have a sample that is not 0. */
static void line_of(const struct fbp_job *job, size_t view, size_t y, size_t z, struct line *l)
{
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[view];
    const double last = (double)g->n[0] - 1, n = (double)job->wide.n_columns;
    double lo = 0, hi = last;

    l->how = job->interpolation;
    l->start =
        first_of(m, g, y, z) + BEFORE + (l->how == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0);
    l->step = m[0] * g->voxel_mm[0];
    l->row = first_of(m + 4, g, y, z);
    l->row_step = m[4] * g->voxel_mm[0];
    cpu_clip(l->start, l->step, &lo, &hi);
    cpu_clip(n + BEFORE + 1 - l->start, -l->step, &lo, &hi);
    l->x0 = lo > 0 ? (size_t)ceil(lo) : 0;
    l->x1 = hi >= lo ? (size_t)floor(hi) + 1 : l->x0;
}

/* Voxels [x0, x1) of the grid; out: that of x0. */
static void add_run(const struct line *l, size_t x0, size_t x1, const double *row, double *out)
{
    for (size_t x = x0; x < x1; x++)
        *out++ += fbp_row_value_double(row, l->start + (double)x * l->step, l->how);
}

/* The same between two rows of a picture, which are those of the batch. */
static void add_run_between(const struct cpu_bp *bp, const struct line *l, size_t x0, size_t x1,
                            const double *rows, double *out)
{
    const double row0 = (double)bp->batch->row0, end = row0 + (double)bp->batch->n_rows;
    const size_t stride = cpu_rows_stride(bp->dev->job);

    for (size_t x = x0; x < x1; x++) {
        const double u = l->start + (double)x * l->step, v = l->row + (double)x * l->row_step;
        const double first = floor(v), weight[2] = {1 - (v - first), v - first};
        double sum = 0;
        for (int i = 0; i < 2; i++) {
            const double r = first + i;
            if (weight[i] > 0 && r >= row0 && r < end)
                sum +=
                    weight[i] * fbp_row_value_double(rows + (size_t)(r - row0) * stride, u, l->how);
        }
        *out++ += sum;
    }
}

/* All frames of a view, or a picture. */
static void add_wanted(const struct cpu_bp *bp, const struct line *l, size_t x0, size_t x1,
                       const double *view, double *out)
{
    const struct fbp_job *job = bp->dev->job;
    const size_t stride = cpu_rows_stride(job), volume = bp->slab->nz * fbp_slab_slice(bp->slab);

    if (job->second) {
        add_run_between(bp, l, x0, x1, view, out);
        return;
    }
    for (size_t f = 0; f < fbp_frames(job); f++)
        add_run(l, x0, x1, view + f * stride, out + f * volume);
}

/* A view into what is wanted of row y of slice z. */
static void add_view(const struct cpu_bp *bp, const double *view, const struct line *l, size_t y,
                     size_t z)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_slab *s = bp->slab;
    const struct fbp_interval all = {(uint32_t)s->x0, (uint32_t)(s->x0 + s->nx)}, *runs = &all;
    double *out = (double *)bp->volume + ((z - s->z0) * s->ny + y - s->y0) * s->nx;
    size_t n = 1;

    if (job->region)
        runs = fbp_region_row(job->region, y, z, &n);
    for (size_t i = 0; i < n; i++) {
        const size_t first = runs[i].first > s->x0 ? runs[i].first : s->x0;
        const size_t end = runs[i].end < s->x0 + s->nx ? runs[i].end : s->x0 + s->nx;
        const size_t x0 = first > l->x0 ? first : l->x0, x1 = end < l->x1 ? end : l->x1;
        if (x0 < x1)
            add_wanted(bp, l, x0, x1, view + FBP_PLANES_MARGIN - BEFORE, out + (x0 - s->x0));
    }
}

static size_t tiles_y(const struct fbp_slab *slab)
{
    return (slab->ny + ROWS_A_TILE - 1) / ROWS_A_TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    return (bp->z1 - bp->z0) * tiles_y(bp->slab);
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_slab *s = bp->slab;
    const size_t size = cpu_rows_size(bp->dev->job, bp->batch->n_rows);
    const size_t z = bp->z0 + index / tiles_y(s), end = s->y0 + s->ny;
    const size_t y0 = s->y0 + index % tiles_y(s) * ROWS_A_TILE;
    const size_t y1 = y0 + ROWS_A_TILE < end ? y0 + ROWS_A_TILE : end;

    (void)worker;
    for (size_t k = 0; k < bp->batch->n_views; k++)
        for (size_t y = y0; y < y1; y++) {
            struct line l;
            line_of(bp->dev->job, bp->batch->view0 + k, y, z, &l);
            add_view(bp, (const double *)bp->filtered + k * size, &l, y, z);
        }
}

const struct cpu_kernel cpu_kernel_matrix_double = {
    .name = "matrix",
    .usable = usable,
    .turns = 1,
    .boxes = true,
    .group_size = cpu_rows_size,
    .store_double = cpu_rows_store_double,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    .fetch_row_double = cpu_plain_fetch_row_double,
};
