/* Plane integrals in double, voxels of any size: rows of voxels along x. */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"
#include "filter/spline.h"

#include <math.h>
#include <string.h>

/* Zeros on either side of a row, so that taps beyond its ends need not be asked for. */
enum { MARGIN = 4, ROWS_A_TILE = 16 };

static bool usable(const struct fbp_job *job)
{
    return job->wide.n_rows == fbp_frames(job);
}

static size_t stride_of(const struct fbp_job *job)
{
    return MARGIN + job->wide.n_columns + MARGIN;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return n_rows * stride_of(job);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const double *rows, double *view)
{
    const size_t nc = dev->job->wide.n_columns, stride = stride_of(dev->job);

    (void)n_rows;
    for (size_t i = 0; i < n; i++) {
        double *at = view + (first + i) * stride;
        memset(at, 0, stride * sizeof *at);
        memcpy(at + MARGIN, rows + i * nc, nc * sizeof *at);
    }
}

/* A view along a row of voxels: u = start + x step, from sample -MARGIN / 2 on, which is zero, for
 * [x0, x1). */
struct line {
    double start, step;
    enum fbp_interpolation how;
    size_t x0, x1;
};

/* Where a voxel may have a sample that is not 0. */
static void line_of(const struct fbp_job *job, size_t view, size_t y, size_t z, struct line *l)
{
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[view];
    const double last = (double)g->n[0] - 1, n = (double)job->wide.n_columns;
    double lo = 0, hi = last;

    l->how = job->interpolation;
    l->start = m[0] * fbp_grid_coordinate(g, 0, 0) + m[1] * fbp_grid_coordinate(g, 1, (double)y) +
               m[2] * fbp_grid_coordinate(g, 2, (double)z) + m[3] + MARGIN / 2 +
               (l->how == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0);
    l->step = m[0] * g->voxel_mm[0];
    cpu_clip(l->start, l->step, &lo, &hi);
    cpu_clip(n + MARGIN / 2 + 1 - l->start, -l->step, &lo, &hi);
    l->x0 = lo > 0 ? (size_t)ceil(lo) : 0;
    l->x1 = hi >= lo ? (size_t)floor(hi) + 1 : l->x0;
}

/* Voxels [x0, x1) of the grid; out: that of x0. */
static void add_run(const struct line *l, size_t x0, size_t x1, const double *row, double *out)
{
    for (size_t x = x0; x < x1; x++)
        *out++ += fbp_row_value_double(row, l->start + (double)x * l->step, l->how);
}

/* All frames of a view into what is wanted of row y of slice z. */
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
        for (size_t f = 0; f < fbp_frames(job) && x0 < x1; f++)
            add_run(l, x0, x1, view + f * stride_of(job) + MARGIN / 2,
                    out + f * s->nz * fbp_slab_slice(s) + (x0 - s->x0));
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
    const size_t z = bp->z0 + index / tiles_y(s), size = view_size(bp->dev->job, bp->batch->n_rows);
    const size_t y0 = s->y0 + index % tiles_y(s) * ROWS_A_TILE, end = s->y0 + s->ny;
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
    .group_size = view_size,
    .store_double = store,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    .fetch_row_double = cpu_plain_fetch_row_double,
};
