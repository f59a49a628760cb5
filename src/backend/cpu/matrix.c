/* Kernel "matrix" of the CPU device (cpu_kernel_matrix, cpu_kernel_matrix_double), for views of
 * any 3x4 projection matrix; computes rows of voxels along x with the loops of matrix_loops.h. The
 * variant in double backprojects plane integrals and, in the second stage of EPR, sinogram images
 * about any axis.
 * Used by: cpu.c. */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"
#include "filter/parabola.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_PER_TILE = 16,
    ROWS_AHEAD = 8, /* of a view, whose samples are loaded into the cache in advance */
    /* in the variant in double, u counts from the sample that lies this many places before a row's
     * first sample (there are zeros), so that u is never negative */
    BEFORE = 2
};

static bool is_cubic(const struct fbp_job *job)
{
    return job->epr.interpolation == FBP_INTERPOLATION_CUBIC;
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
    const size_t n = left_of(job) + job->padded.panel.n_columns + right;

    return cpu_tiles(n, CPU_FLOATS_PER_CACHE_LINE) * CPU_FLOATS_PER_CACHE_LINE;
}

/* Returns the number of samples of a view, or of one channel of a view, of n_rows rows with its
 * border of zeros. */
static size_t image_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_BELOW + n_rows + FBP_VIEW_ABOVE) * stride_of(job);
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return job->channels > 1 ? n_rows * image_size(job, 1) : image_size(job, n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *view)
{
    const struct fbp_job *job = dev->job;
    const bool channels = job->channels > 1; /* each row is an image */
    const size_t nc = job->padded.panel.n_columns, stride = stride_of(job), left = left_of(job);
    const size_t step = channels ? image_size(job, 1) : stride;
    float *at = (float *)view + first * step + FBP_VIEW_BELOW * stride;
    const float *in = rows;

    for (size_t i = 0; i < n; i++, at += step, in += nc) {
        if (channels || first + i == 0)
            memset(at - FBP_VIEW_BELOW * stride, 0, FBP_VIEW_BELOW * stride * sizeof *at);
        memset(at, 0, left * sizeof *at);
        memcpy(at + left, in, nc * sizeof *at);
        memset(at + left + nc, 0, (stride - left - nc) * sizeof *at);
        if (channels || first + i + 1 == n_rows)
            memset(at + stride, 0, FBP_VIEW_ABOVE * stride * sizeof *at);
    }
}

/* Narrow [lo, hi) to where a + b x > 0. */
static void clip(double a, double b, double *lo, double *hi)
{
    if (b > 0)
        *lo = fmax(*lo, -a / b);
    else if (b < 0)
        *hi = fmin(*hi, -a / b);
    else if (!(a > 0))
        *hi = *lo;
}

/* Compute the parameters of view k along voxel row (y, z), and the voxels [x0, x1) of the row that
 * project onto the detector: -1 < u < nc, -1 < v < nr, w > 0; splines reach one sample farther.
 * Each condition is linear in x once multiplied by w.  The result depends on global indices and the
 * bounds of the whole detector only: no division of the work can change it. */
static void line_of(const struct cpu_bp *bp, size_t k, size_t y, size_t z, struct fbp_bp_line *l,
                    size_t *x0, size_t *x1)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_batch *batch = bp->batch;
    const double *m = job->matrices[batch->view0 + k];
    const struct fbp_grid *g = &job->grid;
    const bool channels = job->channels > 1; /* each of one row */
    const double nc = (double)job->padded.panel.n_columns,
                 nr = channels ? 1 : (double)job->padded.panel.n_rows;
    const double beside = is_cubic(job) ? 2 : 1, beyond = nc - 1 + beside;
    const double x_ref = floor(((double)g->n[0] - 1) / 2);
    const double p[3] = {fbp_grid_coordinate(g, 0, x_ref), fbp_grid_coordinate(g, 1, (double)y),
                         fbp_grid_coordinate(g, 2, (double)z)};
    const double column = bp->dev->principal[batch->view0 + k][0];
    const double row = bp->dev->principal[batch->view0 + k][1];
    double value[3], slope[3];

    for (size_t i = 0; i < 3; i++) {
        const double *a = m + 4 * i;
        value[i] = a[0] * p[0] + a[1] * p[1] + a[2] * p[2] + a[3];
        slope[i] = a[0] * g->voxel_mm[0];
    }
    double lo = -x_ref, hi = (double)g->n[0] - x_ref;
    clip(value[2] - 1e-6, slope[2], &lo, &hi);
    clip(value[0] + beside * value[2], slope[0] + beside * slope[2], &lo, &hi);
    clip(beyond * value[2] - value[0], beyond * slope[2] - slope[0], &lo, &hi);
    clip(value[1] + value[2], slope[1] + slope[2], &lo, &hi);
    clip(nr * value[2] - value[1], nr * slope[2] - slope[1], &lo, &hi);
    const double first = ceil(lo + x_ref), last = ceil(hi + x_ref);
    *x0 = first > 0 ? (size_t)first : 0;
    *x1 = last > 0 ? (size_t)last : 0;
    if (*x1 > g->n[0])
        *x1 = g->n[0];

    const double r0 = channels ? 0 : (double)batch->row0;
    const double r1 = channels ? 1 : (double)(batch->row0 + batch->n_rows);
    /* rows of the view from this line to the next */
    const double rise =
        (m[5] * value[2] - m[9] * value[1]) / (value[2] * value[2]) * g->voxel_mm[1];
    const ptrdiff_t ahead = rise > .1 ? ROWS_AHEAD : rise < -.1 ? -ROWS_AHEAD : 0;
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
        .ahead = ahead * (ptrdiff_t)stride_of(job),
    };
}

/* A work item: some rows of one slice. */
static size_t items(const struct cpu_bp *bp)
{
    return (bp->z1 - bp->z0) * cpu_tiles(bp->slab->ny, ROWS_PER_TILE);
}

/* Compute the slice *z and the rows [*y0, *y1) of the grid that work item `index` computes. */
static void tile_of(const struct cpu_bp *bp, size_t index, size_t *y0, size_t *y1, size_t *z)
{
    const struct fbp_slab *s = bp->slab;
    const size_t tiles = cpu_tiles(s->ny, ROWS_PER_TILE);

    *z = bp->z0 + index / tiles;
    *y0 = s->y0 + index % tiles * ROWS_PER_TILE;
    *y1 = cpu_least(*y0 + ROWS_PER_TILE, s->y0 + s->ny);
}

/* Returns the requested voxels of row (y, z) as *n intervals along x; if no region is requested,
 * the slab's whole row as one interval, which is stored in *all. */
static const struct fbp_interval *runs_of(const struct cpu_bp *bp, size_t y, size_t z,
                                          struct fbp_interval *all, size_t *n)
{
    const struct fbp_slab *s = bp->slab;

    *n = 1;
    *all = (struct fbp_interval){(uint32_t)s->x0, (uint32_t)(s->x0 + s->nx)};
    return bp->dev->job->requested.region ? fbp_region_row(bp->dev->job->requested.region, y, z, n)
                                          : all;
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_slab *s = bp->slab;
    const size_t stride = stride_of(job), size = view_size(job, bp->batch->n_rows);
    const size_t image = image_size(job, 1), volume = s->nz * fbp_slab_slice(s);
    fbp_bp_matrix_fn *const add = bp->dev->dsp.matrix[job->epr.interpolation];
    size_t y0, y1, z;

    (void)worker;
    tile_of(bp, index, &y0, &y1, &z);
    for (size_t k = 0; k < bp->batch->n_views; k++) {
        const float *view =
            (const float *)bp->filtered + k * size + FBP_VIEW_BELOW * stride + left_of(job);
        for (size_t y = y0; y < y1; y++) {
            float *dst = (float *)bp->volume + ((z - s->z0) * s->ny + y - s->y0) * s->nx;
            struct fbp_interval all;
            struct fbp_bp_line line;
            size_t n, x0, x1;
            const struct fbp_interval *runs = runs_of(bp, y, z, &all, &n);
            if (n == 0)
                continue;
            line_of(bp, k, y, z, &line, &x0, &x1);
            /* in the inner loop, x counts from the slab's first voxel */
            line.x_ref -= (float)s->x0;
            for (size_t i = 0; i < n; i++) {
                const size_t first = runs[i].first > x0 ? runs[i].first : x0;
                const size_t end = runs[i].end < x1 ? runs[i].end : x1;
                const size_t from = first > s->x0 ? first - s->x0 : 0;
                const size_t to = end > s->x0 ? cpu_least(end - s->x0, s->nx) : 0;
                for (size_t f = 0; from < to && f < fbp_channels(job); f++)
                    add(dst + f * volume, from, to, view + f * image, stride, &line);
            }
        }
    }
}

static bool usable_double(const struct fbp_job *job)
{
    return job->epr.second_stage || job->padded.panel.n_rows == fbp_channels(job);
}

/* u, or v, of the row's first voxel. */
static double first_of(const double m[4], const struct fbp_grid *g, size_t y, size_t z)
{
    return m[0] * fbp_grid_coordinate(g, 0, 0) + m[1] * fbp_grid_coordinate(g, 1, (double)y) +
           m[2] * fbp_grid_coordinate(g, 2, (double)z) + m[3];
}

/* Projection of voxel x of a row of the grid onto a view of doubles: column u = u0 + x u1, counted
 * from the sample BEFORE places before the first one; in a sinogram image, row v = v0 + x v1. */
struct line_double {
    double u0, u1, v0, v1;
};

/* Add all channels of a view of doubles to voxels [x0, x1) of a row of the grid; `out` is voxel x0.
 * Sinogram images are interpolated between two rows of the batch. */
static void add_run_double(const struct cpu_bp *bp, const struct line_double *l, size_t x0,
                           size_t x1, const double *view, double *out)
{
    const struct fbp_job *job = bp->dev->job;
    const size_t stride = cpu_rows_stride(job), volume = bp->slab->nz * fbp_slab_slice(bp->slab);
    const double row0 = (double)bp->batch->row0, end = row0 + (double)bp->batch->n_rows;

    if (!job->epr.second_stage) {
        for (size_t f = 0; f < fbp_channels(job); f++)
            for (size_t x = x0; x < x1; x++)
                out[f * volume + x - x0] += fbp_row_value_double(
                    view + f * stride, l->u0 + (double)x * l->u1, job->epr.interpolation);
        return;
    }
    for (size_t x = x0; x < x1; x++) {
        const double u = l->u0 + (double)x * l->u1, v = l->v0 + (double)x * l->v1;
        const double first = floor(v), weight[2] = {1 - (v - first), v - first};
        double sum = 0;
        for (int i = 0; i < 2; i++) {
            const double r = first + i;
            if (weight[i] > 0 && r >= row0 && r < end)
                sum += weight[i] * fbp_row_value_double(view + (size_t)(r - row0) * stride, u,
                                                        job->epr.interpolation);
        }
        *out++ += sum;
    }
}

static void item_double(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const struct fbp_slab *s = bp->slab;
    const size_t size = cpu_rows_size(job, bp->batch->n_rows);
    const double nc = (double)job->padded.panel.n_columns;
    const double rounding = job->epr.interpolation == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0;
    size_t y0, y1, z;

    (void)worker;
    tile_of(bp, index, &y0, &y1, &z);
    for (size_t k = 0; k < bp->batch->n_views; k++)
        for (size_t y = y0; y < y1; y++) {
            const double *m = job->matrices[bp->batch->view0 + k];
            const struct line_double l = {first_of(m, g, y, z) + BEFORE + rounding,
                                          m[0] * g->voxel_mm[0], first_of(m + 4, g, y, z),
                                          m[4] * g->voxel_mm[0]};
            double *out = (double *)bp->volume + ((z - s->z0) * s->ny + y - s->y0) * s->nx;
            /* Voxels whose sample may not be 0. */
            double lo = 0, hi = (double)g->n[0] - 1;
            clip(l.u0, l.u1, &lo, &hi);
            clip(nc + BEFORE + 1 - l.u0, -l.u1, &lo, &hi);
            const size_t seen0 = lo > 0 ? (size_t)ceil(lo) : 0;
            const size_t seen1 = hi >= lo ? (size_t)floor(hi) + 1 : seen0;
            struct fbp_interval all;
            size_t n;
            const struct fbp_interval *runs = runs_of(bp, y, z, &all, &n);
            for (size_t i = 0; i < n; i++) {
                const size_t first = runs[i].first > s->x0 ? runs[i].first : s->x0;
                const size_t x0 = first > seen0 ? first : seen0;
                const size_t x1 = cpu_least(cpu_least(runs[i].end, s->x0 + s->nx), seen1);
                if (x0 < x1)
                    add_run_double(bp, &l, x0, x1,
                                   (const double *)bp->filtered + k * size + FBP_PLANES_MARGIN -
                                       BEFORE,
                                   out + (x0 - s->x0));
            }
        }
}

const struct cpu_kernel cpu_kernel_matrix = {
    .name = "matrix",
    .interpolates = true,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = view_size,
    .store = store,
    .items = items,
    .item = item,
};

const struct cpu_kernel cpu_kernel_matrix_double = {
    .name = "matrix",
    .in_double = true,
    .interpolates = true,
    .usable = usable_double,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = cpu_rows_size,
    .store = cpu_rows_store,
    .items = items,
    .item = item_double,
};
