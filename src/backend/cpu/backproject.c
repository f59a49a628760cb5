#include "backend/cpu/cpu.h"

#include <math.h>

enum { ROWS_A_TILE = 16 };

struct bp_loop {
    const struct cpu_device *dev;
    const struct fbp_batch *batch;
    const float *filtered;
    const struct fbp_slab *slab;
    size_t z0, tiles_y;
    float *volume;
};

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

/*
 * The voxels [x0, x1) of row (y, z) that view k sees: -1 < u < nc, -1 < v < nr, w > 0.  Each is
 * linear in x once multiplied by w.  Global indices and whole-detector bounds only, so that no
 * split of the work can change the answer.
 */
static void line_of(const struct fbp_job *job, const struct fbp_batch *batch, size_t k, size_t y,
                    size_t z, struct fbp_bp_line *l, size_t *x0, size_t *x1)
{
    enum { U = 0, VV = 4, W = 8 };
    const double *m = job->matrices[batch->view0 + k];
    const struct fbp_grid *g = &job->grid;
    const double nc = (double)job->wide.n_columns, nr = (double)job->wide.n_rows;
    const double x_ref = floor(((double)g->n[0] - 1) / 2);
    const double p[3] = {fbp_grid_coordinate(g, 0, x_ref), fbp_grid_coordinate(g, 1, (double)y),
                         fbp_grid_coordinate(g, 2, (double)z)};
    double value[3], slope[3];

    for (size_t i = 0; i < 3; i++) {
        const double *row = m + 4 * i;
        value[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
        slope[i] = row[0] * g->voxel_mm[0];
    }
    double lo = -x_ref, hi = (double)g->n[0] - x_ref;
    clip(value[2] - 1e-6, slope[2], &lo, &hi);
    clip(value[0] + value[2], slope[0] + slope[2], &lo, &hi);
    clip(nc * value[2] - value[0], nc * slope[2] - slope[0], &lo, &hi);
    clip(value[1] + value[2], slope[1] + slope[2], &lo, &hi);
    clip(nr * value[2] - value[1], nr * slope[2] - slope[1], &lo, &hi);
    const double first = ceil(lo + x_ref), last = ceil(hi + x_ref);
    *x0 = first > 0 ? (size_t)first : 0;
    *x1 = last > 0 ? (size_t)last : 0;
    if (*x1 > g->n[0])
        *x1 = g->n[0];

    /* The principal point, rounded, is where u and v are counted from. */
    const double column = fmin(fmax(round(m[U + 3] / m[W + 3]), 0), nc - 1);
    const double row = fmin(fmax(round(m[VV + 3] / m[W + 3]), 0), nr - 1);
    const double r0 = (double)batch->row0, r1 = (double)(batch->row0 + batch->n_rows);
    *l = (struct fbp_bp_line){
        .x_ref = (float)x_ref,
        .u0 = (float)(value[0] - column * value[2]),
        .u1 = (float)(slope[0] - column * slope[2]),
        .v0 = (float)(value[1] - row * value[2]),
        .v1 = (float)(slope[1] - row * slope[2]),
        .w0 = (float)value[2],
        .w1 = (float)slope[2],
        .u_lo = (float)(-1 - column),
        .u_hi = (float)(nc - column),
        .v_lo = (float)(r0 - 1 - row),
        .v_hi = (float)(r1 - row),
        .column = (int)column,
        .row = (int)(row - r0),
    };
}

static void tile(void *user, size_t item, int worker)
{
    const struct bp_loop *loop = user;
    const struct fbp_job *job = loop->dev->job;
    const struct fbp_grid *g = &job->grid;
    const size_t z = loop->z0 + item / loop->tiles_y, y0 = item % loop->tiles_y * ROWS_A_TILE;
    const size_t y1 = y0 + ROWS_A_TILE < g->n[1] ? y0 + ROWS_A_TILE : g->n[1];
    const size_t stride = cpu_stride(job), view_size = cpu_view_size(job, loop->batch->n_rows);

    (void)worker;
    for (size_t k = 0; k < loop->batch->n_views; k++) {
        const float *view =
            loop->filtered + k * view_size + FBP_VIEW_BELOW * stride + FBP_VIEW_LEFT;
        for (size_t y = y0; y < y1; y++) {
            float *dst = loop->volume + ((z - loop->slab->z0) * g->n[1] + y) * g->n[0];
            struct fbp_bp_line line;
            size_t x0, x1;
            line_of(job, loop->batch, k, y, z, &line, &x0, &x1);
            if (x0 < x1)
                loop->dev->dsp.matrix(dst, x0, x1, view, stride, &line);
        }
    }
}

fbp_status cpu_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                           const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;
    const size_t tiles_y = (dev->job->grid.n[1] + ROWS_A_TILE - 1) / ROWS_A_TILE;
    struct bp_loop loop = {dev, batch, filtered, slab, z0, tiles_y, volume};

    if (batch->n_rows > 0)
        fbp_pool_for(dev->pool, (z1 - z0) * tiles_y, tile, &loop);
    return FBP_OK;
}
