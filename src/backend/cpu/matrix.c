/* Any 3x4 matrix: rows of voxels along x, clipped to the detector first. */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"

#include <math.h>
#include <string.h>

enum { ROWS_A_TILE = 16, FLOATS_A_LINE = 16 };

static bool usable(const struct fbp_job *job)
{
    (void)job;
    return true;
}

static bool is_cubic(const struct fbp_job *job)
{
    return job->interpolation == FBP_INTERPOLATION_CUBIC;
}

/* Zeros before the first sample of a row. */
static size_t left_of(const struct fbp_job *job)
{
    return is_cubic(job) ? FBP_CUBIC_LEFT : FBP_VIEW_LEFT;
}

/* Samples from row to row. */
static size_t stride_of(const struct fbp_job *job)
{
    const size_t right = is_cubic(job) ? FBP_CUBIC_RIGHT : FBP_VIEW_RIGHT;
    const size_t n = left_of(job) + job->wide.n_columns + right;
    return (n + FLOATS_A_LINE - 1) / FLOATS_A_LINE * FLOATS_A_LINE;
}

/* Rows that belong together, with zeros on either side: those of a view, or of one frame. */
static size_t picture_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_BELOW + n_rows + FBP_VIEW_ABOVE) * stride_of(job);
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return job->frames > 1 ? n_rows * picture_size(job, 1) : picture_size(job, n_rows);
}

static void store_picture(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                          const float *rows, float *view)
{
    const size_t nc = dev->job->wide.n_columns, stride = stride_of(dev->job);
    const size_t left = left_of(dev->job);
    float *at = view + (FBP_VIEW_BELOW + first) * stride;

    if (first == 0)
        memset(view, 0, FBP_VIEW_BELOW * stride * sizeof *view);
    for (size_t i = 0; i < n; i++, at += stride, rows += nc) {
        memset(at, 0, left * sizeof *at);
        memcpy(at + left, rows, nc * sizeof *at);
        memset(at + left + nc, 0, (stride - left - nc) * sizeof *at);
    }
    if (first + n == n_rows)
        memset(at, 0, FBP_VIEW_ABOVE * stride * sizeof *at);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const float *rows, float *view)
{
    const struct fbp_job *job = dev->job;

    if (job->frames <= 1) {
        store_picture(dev, n_rows, first, n, rows, view);
        return;
    }
    for (size_t i = 0; i < n; i++)
        store_picture(dev, 1, 0, 1, rows + i * job->wide.n_columns,
                      view + (first + i) * picture_size(job, 1));
}

/*
 * The voxels [x0, x1) of row (y, z) that a view sees: -1 < u < nc, -1 < v < nr, w > 0; splines
 * reach one sample farther.  Each is linear in x once multiplied by w.  Global indices and
 * whole-detector bounds only, so that no split of the work can change the answer.
 */
static void line_of(const struct cpu_bp *bp, size_t k, size_t y, size_t z, struct fbp_bp_line *l,
                    size_t *x0, size_t *x1)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_batch *batch = bp->batch;
    const double *m = job->matrices[batch->view0 + k];
    const struct fbp_grid *g = &job->grid;
    const bool frames = job->frames > 1; /* each of one row */
    const double nc = (double)job->wide.n_columns, nr = frames ? 1 : (double)job->wide.n_rows;
    const double beside = is_cubic(job) ? 2 : 1, beyond = nc - 1 + beside;
    const double x_ref = floor(((double)g->n[0] - 1) / 2);
    const double p[3] = {fbp_grid_coordinate(g, 0, x_ref), fbp_grid_coordinate(g, 1, (double)y),
                         fbp_grid_coordinate(g, 2, (double)z)};
    const double column = bp->dev->principal[bp->batch->view0 + k][0];
    const double row = bp->dev->principal[bp->batch->view0 + k][1];
    double value[3], slope[3];

    for (size_t i = 0; i < 3; i++) {
        const double *a = m + 4 * i;
        value[i] = a[0] * p[0] + a[1] * p[1] + a[2] * p[2] + a[3];
        slope[i] = a[0] * g->voxel_mm[0];
    }
    double lo = -x_ref, hi = (double)g->n[0] - x_ref;
    cpu_clip(value[2] - 1e-6, slope[2], &lo, &hi);
    cpu_clip(value[0] + beside * value[2], slope[0] + beside * slope[2], &lo, &hi);
    cpu_clip(beyond * value[2] - value[0], beyond * slope[2] - slope[0], &lo, &hi);
    cpu_clip(value[1] + value[2], slope[1] + slope[2], &lo, &hi);
    cpu_clip(nr * value[2] - value[1], nr * slope[2] - slope[1], &lo, &hi);
    const double first = ceil(lo + x_ref), last = ceil(hi + x_ref);
    *x0 = first > 0 ? (size_t)first : 0;
    *x1 = last > 0 ? (size_t)last : 0;
    if (*x1 > g->n[0])
        *x1 = g->n[0];

    const double r0 = frames ? 0 : (double)batch->row0;
    const double r1 = frames ? 1 : (double)(batch->row0 + batch->n_rows);
    *l = (struct fbp_bp_line){
        .x_ref = (float)x_ref,
        .u0 = (float)(value[0] - column * value[2]),
        .u1 = (float)(slope[0] - column * slope[2]),
        .v0 = (float)(value[1] - row * value[2]),
        .v1 = (float)(slope[1] - row * slope[2]),
        .w0 = (float)value[2],
        .w1 = (float)slope[2],
        .u_lo = (float)(-beside - column),
        .u_hi = (float)(beyond - column),
        .v_lo = (float)(r0 - 1 - row),
        .v_hi = (float)(r1 - row),
        .column = (int)column,
        .row = (int)(row - r0),
    };
}

/* Narrowed to those of the slab, and counted from its first: so is the reference voxel, which takes
 * nothing from the difference of the two. */
static void within_slab(const struct fbp_slab *slab, struct fbp_bp_line *l, size_t *x0, size_t *x1)
{
    *x0 = *x0 > slab->x0 ? *x0 - slab->x0 : 0;
    *x1 = *x1 > slab->x0 ? *x1 - slab->x0 : 0;
    if (*x1 > slab->nx)
        *x1 = slab->nx;
    l->x_ref -= (float)slab->x0;
}

static size_t tiles_y(const struct fbp_slab *slab)
{
    return (slab->ny + ROWS_A_TILE - 1) / ROWS_A_TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    return (bp->z1 - bp->z0) * tiles_y(bp->slab);
}

/* All frames of a view into the voxels [x0, x1) of a row; dst: the first frame's. */
static void add_run(const struct cpu_bp *bp, const struct fbp_bp_line *line, size_t x0, size_t x1,
                    const float *view, float *dst)
{
    const struct fbp_job *job = bp->dev->job;
    const size_t picture = picture_size(job, 1);
    const size_t volume = bp->slab->nz * fbp_slab_slice(bp->slab);

    for (size_t f = 0; f < fbp_frames(job); f++)
        bp->dev->dsp.matrix(dst + f * volume, x0, x1, view + f * picture, stride_of(job), line);
}

/* A view into the voxels [x0, x1) of row (y, z) of the slab, counted from its first; only into
 * those that are wanted. */
static void add_line(const struct cpu_bp *bp, size_t y, size_t z, const struct fbp_bp_line *line,
                     size_t x0, size_t x1, const float *view)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_slab *s = bp->slab;
    const struct fbp_interval all = {(uint32_t)s->x0, (uint32_t)(s->x0 + s->nx)}, *runs = &all;
    float *dst = (float *)bp->volume + ((z - s->z0) * s->ny + y) * s->nx;
    size_t n = 1;

    if (job->region)
        runs = fbp_region_row(job->region, s->y0 + y, z, &n);
    for (size_t i = 0; i < n; i++) {
        const size_t begin = runs[i].first > s->x0 ? runs[i].first - s->x0 : 0;
        const size_t end = runs[i].end > s->x0 ? runs[i].end - s->x0 : 0;
        const size_t first = x0 > begin ? x0 : begin, last = x1 < end ? x1 : end;
        if (first < last)
            add_run(bp, line, first, last, view, dst);
    }
}

static bool is_wanted(const struct cpu_bp *bp, size_t y, size_t z)
{
    const struct fbp_region *region = bp->dev->job->region;
    size_t n = 1;

    if (region)
        (void)fbp_region_row(region, bp->slab->y0 + y, z, &n);
    return n > 0;
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_slab *s = bp->slab;
    const size_t z = bp->z0 + index / tiles_y(s), y0 = index % tiles_y(s) * ROWS_A_TILE;
    const size_t y1 = y0 + ROWS_A_TILE < s->ny ? y0 + ROWS_A_TILE : s->ny;
    const size_t stride = stride_of(job), size = view_size(job, bp->batch->n_rows);

    (void)worker;
    for (size_t k = 0; k < bp->batch->n_views; k++) {
        const float *view =
            (const float *)bp->filtered + k * size + FBP_VIEW_BELOW * stride + left_of(job);
        for (size_t y = y0; y < y1; y++) {
            struct fbp_bp_line line;
            size_t x0, x1;
            if (!is_wanted(bp, y, z))
                continue;
            line_of(bp, k, s->y0 + y, z, &line, &x0, &x1);
            within_slab(s, &line, &x0, &x1);
            add_line(bp, y, z, &line, x0, x1, view);
        }
    }
}

const struct cpu_kernel cpu_kernel_matrix = {
    .name = "matrix",
    .usable = usable,
    .turns = 1,
    .boxes = true,
    .group_size = view_size,
    .store = store,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    .fetch_row = cpu_plain_fetch_row,
};
