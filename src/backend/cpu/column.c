/*
 * Views whose u and w do not depend on z: every untilted circular, short or uneven scan.  Views are
 * stored transposed and volumes as columns along z; one interpolated detector column serves a whole
 * voxel column (iFDK; Chen et al. 2019).
 */
#include "backend/cpu/cpu.h"

#include <math.h>
#include <string.h>

enum { TILE = 8, FLOATS_A_LINE = 16 };

static bool usable(const struct fbp_job *job)
{
    if (!(job->facts.symmetry & FBP_SYM_COLUMN))
        return false;
    for (size_t k = 0; k < job->n_views; k++)
        if (!(job->matrices[k][6] > 0)) /* rows run up: the kernel counts on it */
            return false;
    return true;
}

/* Samples from detector column to column. */
static size_t stride_of(size_t n_rows)
{
    const size_t n = FBP_COLUMN_BELOW + n_rows + FBP_COLUMN_ABOVE;
    return (n + FLOATS_A_LINE - 1) / FLOATS_A_LINE * FLOATS_A_LINE;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_LEFT + job->wide.n_columns + FBP_VIEW_RIGHT) * stride_of(n_rows);
}

static size_t scratch(const struct fbp_job *job)
{
    return FBP_COLUMN_VIEWS * stride_of(job->wide.n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const float *rows, float *view)
{
    const size_t nc = dev->job->wide.n_columns, stride = stride_of(n_rows);
    const size_t above = stride - FBP_COLUMN_BELOW - n_rows;
    float *column = view + FBP_VIEW_LEFT * stride + FBP_COLUMN_BELOW;

    if (first == 0) {
        memset(view, 0, FBP_VIEW_LEFT * stride * sizeof *view);
        memset(view + (FBP_VIEW_LEFT + nc) * stride, 0, FBP_VIEW_RIGHT * stride * sizeof *view);
    }
    dev->line.transpose(rows, n, nc, column + first, stride);
    for (size_t c = 0; c < nc; c++, column += stride) {
        if (first == 0)
            memset(column - FBP_COLUMN_BELOW, 0, FBP_COLUMN_BELOW * sizeof *column);
        if (first + n == n_rows)
            memset(column + n_rows, 0, above * sizeof *column);
    }
}

/* Toward minus infinity, for small numbers: floor() is a call where SSE 4.1 may not be counted on.
 */
static ptrdiff_t floor_of(double a)
{
    return (ptrdiff_t)(a + 65536) - 65536;
}

static size_t slice_of(double z)
{
    return z > 0 ? z < 1e9 ? (size_t)z : (size_t)1000000000 : 0;
}

/* View k over voxel column (x, y); false if it does not see it. */
static bool column_of(const struct cpu_bp *bp, size_t k, const double p[2], double z_ref,
                      double z_mm, struct fbp_bp_column *out)
{
    const struct fbp_job *job = bp->dev->job;
    const double *m = job->matrices[bp->batch->view0 + k];
    const double *principal = bp->dev->principal[bp->batch->view0 + k];
    const double nc = (double)job->wide.n_columns, nr = (double)job->wide.n_rows;
    const size_t stride = stride_of(bp->batch->n_rows);
    const double w = m[8] * p[0] + m[9] * p[1] + m[11];

    if (!(w > 1e-6))
        return false;
    const double r = 1 / w, u = (m[0] * p[0] + m[1] * p[1] + m[3]) * r;
    if (!(u > -1 && u < nc))
        return false;
    const ptrdiff_t c = floor_of(u);
    const double a = u - (double)c, row = principal[1];
    const double v0 = (m[4] * p[0] + m[5] * p[1] + m[6] * z_mm + m[7]) * r;
    const double dv = m[6] * job->grid.voxel_mm[2] * r, slices = 1 / dv;
    const double r0 = (double)bp->batch->row0, r1 = r0 + (double)bp->batch->n_rows;
    const float *view = bp->filtered + k * view_size(job, bp->batch->n_rows);

    *out = (struct fbp_bp_column){
        .left = view + (size_t)(c + FBP_VIEW_LEFT) * stride + FBP_COLUMN_BELOW,
        .wl = (float)((1 - a) * r * r),
        .wr = (float)(a * r * r),
        .v0 = (float)(v0 - row),
        .dv = (float)dv,
        .v_lo = (float)(r0 - 1 - row),
        .v_hi = (float)(r1 - row),
        .row = (int)(row - r0),
        /* -1 < v < nr, more than a slice wider, so that rounding in the kernel cannot reach out */
        .z0 = slice_of(z_ref + (-1 - v0) * slices - 2),
        .z1 = slice_of(z_ref + (nr - v0) * slices + 3),
    };
    return out->z0 < bp->z1 && out->z1 > bp->z0;
}

static size_t tiles_x(const struct fbp_job *job)
{
    return (job->grid.n[0] + TILE - 1) / TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    return tiles_x(bp->dev->job) * ((bp->dev->job->grid.n[1] + TILE - 1) / TILE);
}

/* Views [k0, k1) of the batch into one voxel column. */
static void one_column(const struct cpu_bp *bp, size_t x, size_t y, size_t k0, size_t k1,
                       float *lines)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const double z_ref = floor(((double)g->n[2] - 1) / 2);
    const double p[2] = {fbp_grid_coordinate(g, 0, (double)x),
                         fbp_grid_coordinate(g, 1, (double)y)};
    const double z_mm = fbp_grid_coordinate(g, 2, z_ref);
    float *dst = bp->volume + (y * g->n[0] + x) * bp->slab->nz + (bp->z0 - bp->slab->z0);
    struct fbp_bp_column columns[FBP_COLUMN_VIEWS];
    size_t n = 0;

    for (size_t k = k0; k < k1; k++)
        n += column_of(bp, k, p, z_ref, z_mm, &columns[n]);
    if (n > 0)
        bp->dev->dsp.column(dst, bp->z0, bp->z1, (float)z_ref, columns, n, bp->batch->n_rows, lines,
                            stride_of(bp->batch->n_rows));
}

/* A tile of columns takes a few views at a time, so that both stay in the second cache. */
static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_grid *g = &bp->dev->job->grid;
    const size_t x0 = index % tiles_x(bp->dev->job) * TILE,
                 y0 = index / tiles_x(bp->dev->job) * TILE;
    const size_t x1 = x0 + TILE < g->n[0] ? x0 + TILE : g->n[0];
    const size_t y1 = y0 + TILE < g->n[1] ? y0 + TILE : g->n[1];
    const size_t n = bp->batch->n_views;

    for (size_t k = 0; k < n; k += FBP_COLUMN_VIEWS)
        for (size_t y = y0; y < y1; y++)
            for (size_t x = x0; x < x1; x++)
                one_column(bp, x, y, k, k + FBP_COLUMN_VIEWS < n ? k + FBP_COLUMN_VIEWS : n,
                           bp->dev->scratch[worker].lines);
}

/* A transposition, in squares that fit the first cache. */
static void fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const float *volume, float *host)
{
    const size_t nx = job->grid.n[0], ny = job->grid.n[1];
    const float scale = (float)job->scale, shift = (float)job->shift;

    for (size_t xa = 0; xa < nx; xa += FLOATS_A_LINE)
        for (size_t z = z0; z < z1; z++) {
            const size_t xb = xa + FLOATS_A_LINE < nx ? xa + FLOATS_A_LINE : nx;
            const float *in = volume + (y * nx + xa) * slab->nz + (z - slab->z0);
            float *out = host + ((z - z0) * ny + y) * nx;
            for (size_t x = xa; x < xb; x++, in += slab->nz)
                out[x] = scale * *in + shift;
        }
}

const struct cpu_kernel cpu_kernel_column = {
    .name = "column",
    .usable = usable,
    .turns = 1,
    .group_size = view_size,
    .store = store,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    .scratch = scratch,
    .fetch_row = fetch_row,
};
