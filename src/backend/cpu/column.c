/*
 * Views whose u and w do not depend on z: every untilted circular, short or uneven scan.  Views are
 * stored transposed and volumes as columns along z; one interpolated detector column serves a whole
 * voxel column (iFDK; Chen et al. 2019).
 */
#include "backend/cpu/cpu.h"
#include "backend/partners.h"

#include <math.h>
#include <string.h>

enum { TILE = 16, FLOATS_A_LINE = 16, PIECE = FBP_COLUMN_SLICES - FLOATS_A_LINE };

static bool usable(const struct fbp_job *job)
{
    return (job->facts.symmetry & FBP_SYM_COLUMN) && fbp_rows_run_up(job);
}

/* Samples from detector column to column. */
static size_t stride_of(size_t n_rows)
{
    const size_t n = FBP_COLUMN_BELOW + n_rows + FBP_COLUMN_ABOVE;
    return (n + FBP_COLUMN_MULTIPLE - 1) / FBP_COLUMN_MULTIPLE * FBP_COLUMN_MULTIPLE;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_LEFT + job->wide.n_columns + FBP_VIEW_RIGHT) * stride_of(n_rows);
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

/* One view along one row of voxel columns: with x counted from 0,
 *
 *     w = w0 + x w1,  u = (u0 + x u1) / w,  v(z_ref) = (v0 + x v1) / w,  dv = rows / w.
 */
struct row {
    double u0, u1, v0, v1, w0, w1, rows;
    double z_ref;
    double nc, nr, reference;
    struct fbp_bp_column column; /* what is the same for all */
};

static struct row row_of(const struct cpu_bp *bp, size_t k, size_t y)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[bp->batch->view0 + k];
    const double row = bp->dev->principal[bp->batch->view0 + k][1];
    const double r0 = (double)bp->batch->row0, r1 = r0 + (double)bp->batch->n_rows;
    const double z_ref = floor(((double)g->n[2] - 1) / 2);
    const double p[3] = {fbp_grid_coordinate(g, 0, 0), fbp_grid_coordinate(g, 1, (double)y),
                         fbp_grid_coordinate(g, 2, z_ref)};

    return (struct row){
        .u0 = m[0] * p[0] + m[1] * p[1] + m[3],
        .u1 = m[0] * g->voxel_mm[0],
        .v0 = m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7],
        .v1 = m[4] * g->voxel_mm[0],
        .w0 = m[8] * p[0] + m[9] * p[1] + m[11],
        .w1 = m[8] * g->voxel_mm[0],
        .rows = m[6] * g->voxel_mm[2],
        .z_ref = z_ref,
        .nc = (double)job->wide.n_columns,
        .nr = (double)job->wide.n_rows,
        .reference = row,
        .column = {.left = (const float *)bp->filtered + k * view_size(job, bp->batch->n_rows) +
                           FBP_COLUMN_BELOW,
                   .v_lo = (float)(r0 - 1 - row),
                   .v_hi = (float)(r1 - row),
                   .row = (int)(row - r0),
                   .aligned = job->rows_are_slices},
    };
}

static double within(double a, double lo, double hi)
{
    return a > lo ? a < hi ? a : hi : lo;
}

/* The view over slices z of voxel column x; false if it does not see them. */
static bool column_of(const struct row *l, double x, const struct fbp_interval *z, size_t stride,
                      struct fbp_bp_column *out)
{
    const double w = l->w0 + x * l->w1;

    if (!(w > 1e-6))
        return false;
    const double r = 1 / w, u = (l->u0 + x * l->u1) * r;
    if (!(u > -1 && u < l->nc))
        return false;
    const ptrdiff_t c = cpu_floor(u);
    const double a = u - (double)c, v0 = (l->v0 + x * l->v1) * r, slices = w / l->rows;
    /* -1 < v < nr, more than a slice wider, so that rounding in the kernel cannot reach out */
    const double first = l->z_ref + (-1 - v0) * slices - 2;
    const double end = l->z_ref + (l->nr - v0) * slices + 3;

    *out = l->column;
    out->left += (size_t)(c + FBP_VIEW_LEFT) * stride;
    out->ahead = out->left;
    out->wl = (float)((1 - a) * r * r);
    out->wr = (float)(a * r * r);
    out->v0 = (float)(v0 - l->reference);
    out->dv = (float)(l->rows * r);
    out->z0 = (size_t)within(first, (double)z->first, (double)z->end);
    out->z1 = (size_t)within(end, (double)z->first, (double)z->end);
    return out->z0 < out->z1;
}

static size_t tiles_x(const struct fbp_slab *slab)
{
    return (slab->nx + TILE - 1) / TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    return tiles_x(bp->slab) * ((bp->slab->ny + TILE - 1) / TILE);
}

/* A tile: voxel columns [x0, x1) x [y0, y1) of the slab, slices [z0, z1). */
struct tile {
    size_t x0, x1, y0, y1, z0, z1;
};

static void prefetch(const float *p, size_t n)
{
    for (size_t i = 0; i < n; i += FLOATS_A_LINE)
        __builtin_prefetch(p + i, 1);
}

/* What comes after each view of a voxel column: the next one, or the next voxel column's first. */
static void look_ahead(struct fbp_bp_column columns[TILE][FBP_COLUMN_VIEWS], const size_t n[TILE],
                       size_t n_columns)
{
    struct fbp_bp_column *last = NULL;

    for (size_t i = 0; i < n_columns; i++)
        for (size_t k = 0; k < n[i]; k++) {
            if (last)
                last->ahead = columns[i][k].left;
            last = &columns[i][k];
        }
}

/* Slices of a column of the slab: those of the tile that are wanted. */
static struct fbp_interval slices_of(const struct cpu_bp *bp, const struct tile *t, size_t x,
                                     size_t y)
{
    const struct fbp_slab *s = bp->slab;
    const struct fbp_interval all = {(uint32_t)t->z0, (uint32_t)t->z1};
    const struct fbp_region *r = bp->dev->job->region;

    if (!r)
        return all;
    const struct fbp_interval c = r->columns[(s->y0 + y) * r->n[0] + s->x0 + x];
    const struct fbp_interval both = {c.first > all.first ? c.first : all.first,
                                      c.end < all.end ? c.end : all.end};
    return both.first < both.end ? both : (struct fbp_interval){0, 0};
}

/* Of all columns of a row of the tile; false if none of them is wanted. */
static bool find_slices(const struct cpu_bp *bp, const struct tile *t, size_t y,
                        struct fbp_interval z[TILE])
{
    bool any = false;

    for (size_t i = 0; i < t->x1 - t->x0; i++) {
        z[i] = slices_of(bp, t, t->x0 + i, y);
        any = any || z[i].end > 0;
    }
    return any;
}

/* Views [k0, k1) of the batch into row y of a tile. */
static void one_row(const struct cpu_bp *bp, const struct tile *t, size_t y, size_t k0, size_t k1)
{
    const struct fbp_slab *s = bp->slab;
    const size_t stride = stride_of(bp->batch->n_rows), nz = s->nz;
    struct fbp_bp_column columns[TILE][FBP_COLUMN_VIEWS];
    struct fbp_interval z[TILE];
    size_t n[TILE] = {0};

    if (!find_slices(bp, t, y, z))
        return;
    for (size_t k = k0; k < k1; k++) {
        const struct row row = row_of(bp, k, s->y0 + y);
        for (size_t i = 0; i < t->x1 - t->x0; i++)
            n[i] += z[i].end > 0 &&
                    column_of(&row, (double)(s->x0 + t->x0 + i), &z[i], stride, &columns[i][n[i]]);
    }
    look_ahead(columns, n, t->x1 - t->x0);
    const float z_ref = (float)floor(((double)bp->dev->job->grid.n[2] - 1) / 2);
    float *dst = (float *)bp->volume + (y * s->nx + t->x0) * nz + (t->z0 - s->z0);
    for (size_t i = 0; i < t->x1 - t->x0; i++, dst += nz) {
        if (i + 1 < t->x1 - t->x0)
            prefetch(dst + nz, t->z1 - t->z0);
        if (n[i] > 0)
            bp->dev->dsp.column(dst + (z[i].first - t->z0), z[i].first, z[i].end, z_ref, columns[i],
                                n[i], stride);
    }
}

/* A few views at a time, so that they and the tile stay in the second cache. */
static void one_tile(const struct cpu_bp *bp, const struct tile *t)
{
    const size_t n = bp->batch->n_views;

    for (size_t k = 0; k < n; k += FBP_COLUMN_VIEWS)
        for (size_t y = t->y0; y < t->y1; y++)
            one_row(bp, t, y, k, k + FBP_COLUMN_VIEWS < n ? k + FBP_COLUMN_VIEWS : n);
}

/* Where piece i of n begins: whole vectors. */
static size_t piece(const struct cpu_bp *bp, size_t i, size_t n)
{
    const size_t z = bp->z0 + i * (bp->z1 - bp->z0) / n;
    return i == 0 || i == n ? z : z / FLOATS_A_LINE * FLOATS_A_LINE;
}

/* Columns of a tile in equal pieces. */
static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_slab *s = bp->slab;
    const size_t x0 = index % tiles_x(s) * TILE, y0 = index / tiles_x(s) * TILE;
    const size_t nz = bp->z1 - bp->z0;
    const size_t pieces = (nz + PIECE - 1) / PIECE;
    struct tile t = {.x0 = x0,
                     .x1 = x0 + TILE < s->nx ? x0 + TILE : s->nx,
                     .y0 = y0,
                     .y1 = y0 + TILE < s->ny ? y0 + TILE : s->ny};

    (void)worker;
    for (size_t i = 0; i < pieces; i++) {
        t.z0 = piece(bp, i, pieces);
        t.z1 = piece(bp, i + 1, pieces);
        one_tile(bp, &t);
    }
}

/* A transposition, in squares that fit the first cache. */
static void fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const float *volume, float *host)
{
    const size_t nx = slab->nx, ny = slab->ny;
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
    .boxes = true,
    .group_size = view_size,
    .store = store,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    .fetch_row = fetch_row,
};
