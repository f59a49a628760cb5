/*
 * Kernels "column" and "tilted" of the CPU device (cpu_kernel_column, cpu_kernel_column_double,
 * cpu_kernel_tilted), which store views transposed and volumes as columns along z. "column" is for
 * views whose u (detector column) and w (depth) do not depend on z: untilted circular, short or
 * uneven scans have such views. One interpolated detector column serves a whole voxel column (iFDK;
 * Chen et al. 2019).  "tilted" is for detectors that are slightly tilted against the z axis, such
 * as those of C-arms: the projection of a voxel column is a straight line almost parallel to the
 * detector columns, along which each detector row is interpolated once. The inner loops are in
 * column_loops.h.
 *
 * The variant in double backprojects sinogram images of a first stage whose rows are the volume's
 * slices: there is no interpolation between rows, and every image adds two of its columns to a
 * voxel column.
 * Used by: cpu.c, hierarchical.c.
 */
#include "backend/cpu/cpu.h"

#include <math.h>
#include <string.h>

enum {
    TILE = 16, /* edge of a tile [voxel columns] */
    LINE = CPU_FLOATS_PER_CACHE_LINE,
    /* greatest number of slices of a tile that are computed together, in float */
    BLOCK = FBP_COLUMN_SLICES - LINE,
    /* greatest number of slices of a tile at once, in double, for the second-level cache */
    SLICES = 128,
    DOUBLES = 8, /* doubles of a cache line */
    LEFT = 1     /* number of zero columns on either side of a sinogram image in double */
};

/* Limits of kernel "tilted": slope of a projected voxel column [columns per row]; relative change
 * of w along half a voxel column, for a relative error of 1 / w below 1e-7; rows per slice, below
 * LARGE_STEP of every instruction set. */
static const double STEEPEST = 0.25, MOST_DEPTH = 0.026, MOST_STEP = 3.6;

size_t cpu_column_stride(size_t n_rows)
{
    return cpu_tiles(FBP_COLUMN_BELOW + n_rows + FBP_COLUMN_ABOVE, FBP_COLUMN_MULTIPLE) *
           FBP_COLUMN_MULTIPLE;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_LEFT + job->padded.panel.n_columns + FBP_VIEW_RIGHT) *
           cpu_column_stride(n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *view)
{
    const size_t nc = dev->job->padded.panel.n_columns, stride = cpu_column_stride(n_rows);
    const size_t above = stride - FBP_COLUMN_BELOW - n_rows;
    float *left = view, *column = left + FBP_VIEW_LEFT * stride + FBP_COLUMN_BELOW;

    if (first == 0) {
        memset(left, 0, FBP_VIEW_LEFT * stride * sizeof *left);
        memset(left + (FBP_VIEW_LEFT + nc) * stride, 0, FBP_VIEW_RIGHT * stride * sizeof *left);
    }
    dev->line.transpose(rows, n, nc, column + first, stride);
    for (size_t c = 0; c < nc; c++, column += stride) {
        if (first == 0)
            memset(column - FBP_COLUMN_BELOW, 0, FBP_COLUMN_BELOW * sizeof *column);
        if (first + n == n_rows)
            memset(column + n_rows, 0, above * sizeof *column);
    }
}

/* Returns the number of work items: tiles of TILE x TILE voxel columns. */
static size_t items(const struct cpu_bp *bp)
{
    return cpu_tiles(bp->slab->nx, TILE) * cpu_tiles(bp->slab->ny, TILE);
}

struct fbp_interval cpu_column_slices(const struct cpu_bp *bp, size_t x, size_t y, size_t z0,
                                      size_t z1)
{
    const struct fbp_region *r = bp->dev->job->requested.region;
    struct fbp_interval z = {(uint32_t)z0, (uint32_t)z1};

    if (r) {
        const struct fbp_interval c = r->columns[y * r->n[0] + x];
        z.first = c.first > z.first ? c.first : z.first;
        z.end = c.end < z.end ? c.end : z.end;
    }
    return z.first < z.end ? z : (struct fbp_interval){0, 0};
}

/* A view along a row of voxel columns: homogeneous column, row and depth of voxel column 0 in slice
 * z_ref, and their increments per voxel along x and z. */
struct projection {
    double value[3], along_x[3], along_z[3];
    double reference;      /* integer row from which rows count */
    double lo, hi;         /* rows -1 and n_rows, relative to reference; their values are zeros */
    double per_lo, per_hi; /* 1 / (V1 - lo W1), 1 / (V1 - hi W1) of struct projected_column */
};

static struct projection project_row(const struct fbp_job *job, size_t view, double reference,
                                     const double p[3])
{
    struct projection out = {.reference = reference};

    for (size_t i = 0; i < 3; i++) {
        const double *m = job->matrices[view] + 4 * i;
        out.value[i] = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
        out.along_x[i] = m[0] * job->grid.voxel_mm[0];
        out.along_z[i] = m[2] * job->grid.voxel_mm[2];
    }
    out.value[1] -= reference * out.value[2];
    out.along_x[1] -= reference * out.along_x[2];
    out.along_z[1] -= reference * out.along_z[2];
    out.lo = -1 - reference;
    out.hi = (double)job->padded.panel.n_rows - reference;
    out.per_lo = 1 / (out.along_z[1] - out.lo * out.along_z[2]);
    out.per_hi = 1 / (out.along_z[1] - out.hi * out.along_z[2]);
    return out;
}

/* Returns what both kernels set alike for a view along a voxel column: detector column `column`,
 * and slices [z0, z1) of z that project onto any row of the detector (lo < v < hi), and a few more,
 * because the inner loop rounds v.
 *
 * view  row 0 of detector column 0 of the stored view
 * V, W  homogeneous row and depth of the voxel column in slice z_ref
 */
static inline struct fbp_bp_column begin_column(const struct cpu_bp *bp, const float *view,
                                                const struct projection *p, ptrdiff_t column,
                                                double V, double W, struct fbp_interval z)
{
    const double r0 = (double)bp->batch->row0, r1 = r0 + (double)bp->batch->n_rows;
    const double z_ref = cpu_z_reference(bp->dev->job);
    const double first = z_ref + (p->lo * W - V) * p->per_lo - 2;
    const double end = z_ref + (p->hi * W - V) * p->per_hi + 3;
    const float *left = view + column * (ptrdiff_t)cpu_column_stride(bp->batch->n_rows);

    return (struct fbp_bp_column){.left = left,
                                  .ahead = left,
                                  .v_lo = (float)(r0 - 1 - p->reference),
                                  .v_hi = (float)(r1 - p->reference),
                                  .row = (int)(p->reference - r0),
                                  .z0 = (size_t)cpu_within(first, (double)z.first, (double)z.end),
                                  .z1 = (size_t)cpu_within(end, (double)z.first, (double)z.end)};
}

/*
 * Set the parameters of a view along voxel column x of a row, for kernel "column": w, and thus u
 * and the number of rows per slice, do not depend on z.
 *
 * Returns false if the view adds nothing to slices [z.first, z.end).
 */
static bool set_column(const struct cpu_bp *bp, const float *view, const struct projection *p,
                       double x, struct fbp_interval z, struct fbp_bp_column *out)
{
    const struct fbp_job *job = bp->dev->job;
    const double V = p->value[1] + x * p->along_x[1], W = p->value[2] + x * p->along_x[2];

    if (!(W > 1e-6))
        return false;
    const double r = 1 / W, u = (p->value[0] + x * p->along_x[0]) * r;
    if (!(u > -1 && u < (double)job->padded.panel.n_columns))
        return false;
    const ptrdiff_t c = cpu_floor(u);
    const double a = u - (double)c;
    *out = begin_column(bp, view, p, c, V, W, z);
    out->wl = (float)((1 - a) * r * r);
    out->wr = (float)(a * r * r);
    out->v0 = (float)(V * r);
    out->dv = out->step = (float)(p->along_z[1] * r);
    return out->z0 < out->z1;
}

/*
 * Projection of voxel column x of a row, for kernel "tilted".  Homogeneous column, row and depth
 *
 *     U = U0 + t U1,  V = V0 + t V1,  W = W0 + t W1,  t = z - z_ref
 *
 * give u = U / W and v = V / W on the line u = u0 + slope v, slope = (U1 W0 - U0 W1) / rise.  Row v
 * is reached at t = (v W0 - V0) / (V1 - v W1).  U1, V1, W1: projection.along_z.
 */
struct projected_column {
    double U0, V0, W0;
    double r, u0, slope; /* r: 1 / W0 */
    double rise;         /* V1 W0 - V0 W1: rows per slice, times W^2 */
};

static inline struct projected_column project_column(const struct projection *p, double x)
{
    const double *step = p->along_z;
    struct projected_column c = {.U0 = p->value[0] + x * p->along_x[0],
                                 .V0 = p->value[1] + x * p->along_x[1],
                                 .W0 = p->value[2] + x * p->along_x[2]};

    c.rise = step[1] * c.W0 - c.V0 * step[2];
    const double both = 1 / (c.W0 * c.rise);
    c.r = c.rise * both;
    c.slope = (step[0] * c.W0 - c.U0 * step[2]) * c.W0 * both;
    c.u0 = (c.U0 - c.slope * c.V0) * c.r;
    return c;
}

/* Set the parameters of a view along voxel column x of a row, for kernel "tilted".  Arguments and
 * return value: see set_column(). */
static bool set_tilted(const struct cpu_bp *bp, const float *view, const struct projection *p,
                       double x, struct fbp_interval z, struct fbp_bp_column *out)
{
    const struct fbp_job *job = bp->dev->job;
    const double nc = (double)job->padded.panel.n_columns;
    const double most = (double)job->grid.n[2] - cpu_z_reference(job);
    const struct projected_column c = project_column(p, x);
    const double ua = c.u0 + c.slope * p->lo, ub = c.u0 + c.slope * p->hi;

    if ((ua <= -1 && ub <= -1) || (ua >= nc && ub >= nc))
        return false;
    const ptrdiff_t column = cpu_floor(cpu_within(c.u0, -1, nc));
    /* 1 / (1 + x), x = e t, |x| <= X = |e| most: Taylor's series, with the term of fourth order
     * replaced by X^2 x^2 - X^4 / 8, from which it differs by X^4 / 8 at most */
    const double e = p->along_z[2] * c.r, X = (e > 0 ? e : -e) * most, X2 = X * X;
    /* upper bound of 1 / (1 + x)^2 over all slices and FBP_MAX_LANES more, if more <= 0.2 */
    const double more = X * (1 + FBP_MAX_LANES / most), nearer = 1 + more * (2 + 4 * more);
    *out = begin_column(bp, view, p, column, c.V0, c.W0, z);
    out->v0 = (float)c.V0;
    out->dv = (float)p->along_z[1];
    out->step = (float)(c.rise * c.r * c.r * nearer);
    out->u0 = (float)(c.u0 - (double)column);
    out->slope = (float)c.slope;
    out->column = (int)column;
    out->n_columns = (int)job->padded.panel.n_columns;
    out->r[0] = (float)(c.r * (1 - X2 * X2 / 8));
    out->r[1] = (float)(-e * c.r);
    out->r[2] = (float)(e * e * c.r * (1 + X2));
    out->r[3] = (float)(-e * e * e * c.r);
    return out->z0 < out->z1;
}

/* Add views [k0, k1) of the batch to slices [z0, z1) of voxel columns [xa, xb) of row y of the
 * grid. */
static void add_row(const struct cpu_bp *bp, size_t k0, size_t k1, size_t y, size_t xa, size_t xb,
                    size_t z0, size_t z1)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const struct fbp_slab *s = bp->slab;
    const bool tilted = bp->dev->kernel == &cpu_kernel_tilted;
    fbp_bp_column_fn *const add = tilted ? bp->dev->dsp.tilted : bp->dev->dsp.column;
    const size_t stride = cpu_column_stride(bp->batch->n_rows),
                 size = view_size(job, bp->batch->n_rows);
    const double z_ref = cpu_z_reference(job);
    const double at[3] = {fbp_grid_coordinate(g, 0, 0), fbp_grid_coordinate(g, 1, (double)y),
                          fbp_grid_coordinate(g, 2, z_ref)};
    struct fbp_bp_column columns[TILE][FBP_COLUMN_VIEWS], *last = NULL;
    struct fbp_interval z[TILE];
    size_t n[TILE] = {0};
    bool any = false;

    for (size_t i = 0; i < xb - xa; i++) {
        z[i] = cpu_column_slices(bp, xa + i, y, z0, z1);
        any = any || z[i].end > 0;
    }
    if (!any)
        return;
    for (size_t k = k0; k < k1; k++) {
        const size_t index = bp->batch->view0 + k;
        const struct projection p = project_row(job, index, bp->dev->principal[index][1], at);
        const float *view =
            (const float *)bp->filtered + k * size + FBP_VIEW_LEFT * stride + FBP_COLUMN_BELOW;
        for (size_t i = 0; i < xb - xa; i++)
            if (z[i].end > 0) {
                struct fbp_bp_column *out = &columns[i][n[i]];
                const double x = (double)(xa + i);
                n[i] += tilted ? set_tilted(bp, view, &p, x, z[i], out)
                               : set_column(bp, view, &p, x, z[i], out);
            }
    }
    /* Set what the inner loop prefetches: the columns of the next view, or, after the last view,
     * the columns of the first view for the next voxel column. */
    for (size_t i = 0; i < xb - xa; i++)
        for (size_t k = 0; k < n[i]; k++) {
            if (last)
                last->ahead = columns[i][k].left;
            last = &columns[i][k];
        }
    float *dst = (float *)bp->volume + ((y - s->y0) * s->nx + xa - s->x0) * s->nz + (z0 - s->z0);
    for (size_t i = 0; i < xb - xa; i++, dst += s->nz) {
        for (size_t j = 0; i + 1 < xb - xa && j < z1 - z0; j += LINE)
            __builtin_prefetch(dst + s->nz + j, 1);
        if (n[i] > 0)
            add(dst + (z[i].first - z0), z[i].first, z[i].end, (float)z_ref, columns[i], n[i],
                stride);
    }
}

/* Work item: add a batch to a tile of voxel columns, by blocks of slices (of nearly equal size,
 * whole cache lines) and a few views, which fit the second-level cache. */
static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_slab *s = bp->slab;
    const size_t tiles_x = cpu_tiles(s->nx, TILE), n_views = bp->batch->n_views;
    const size_t x0 = s->x0 + index % tiles_x * TILE, y0 = s->y0 + index / tiles_x * TILE;
    const size_t x1 = cpu_least(x0 + TILE, s->x0 + s->nx);
    const size_t y1 = cpu_least(y0 + TILE, s->y0 + s->ny);
    const size_t nz = bp->z1 - bp->z0, n = cpu_tiles(nz, BLOCK);

    (void)worker;
    for (size_t i = 0, z0 = bp->z0, z1; i < n; i++, z0 = z1) {
        z1 = i + 1 == n ? bp->z1 : (bp->z0 + (i + 1) * nz / n) / LINE * LINE;
        for (size_t k = 0; k < n_views; k += FBP_COLUMN_VIEWS)
            for (size_t y = y0; y < y1; y++)
                add_row(bp, k, cpu_least(k + FBP_COLUMN_VIEWS, n_views), y, x0, x1, z0, z1);
    }
}

/* LINE voxel columns at a time, because the next slices use their cache lines again. */
void cpu_column_fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                          size_t z1, size_t y, const void *volume, void *host)
{
    const size_t nx = slab->nx, ny = slab->ny, nz = slab->nz;

    for (size_t xa = 0; xa < nx; xa += LINE)
        for (size_t z = z0; z < z1; z++)
            cpu_fetch(job, volume, (y * nx + xa) * nz + (z - slab->z0), nz,
                      cpu_least(nx - xa, LINE), host, ((z - z0) * ny + y) * nx + xa);
}

/* Returns true if "tilted" can project all voxel columns.  The corners of the grid are checked:
 * slope and the relative change of w are quotients of linear functions of x and y, which have their
 * extremes there.  Rows per slice are such a quotient only approximately. */
static bool usable_tilted(const struct fbp_job *job)
{
    const struct fbp_grid *g = &job->grid;
    const double z_ref = cpu_z_reference(job), most = (double)g->n[2] - z_ref;

    for (size_t k = 0; k < job->n_views; k++)
        for (int corner = 0; corner < 4; corner++) {
            const double y = corner & 2 ? (double)g->n[1] - 1 : 0;
            const double at[3] = {fbp_grid_coordinate(g, 0, 0), fbp_grid_coordinate(g, 1, y),
                                  fbp_grid_coordinate(g, 2, z_ref)};
            const struct projection p = project_row(job, k, 0, at);
            const struct projected_column c =
                project_column(&p, corner & 1 ? (double)g->n[0] - 1 : 0);
            const double change = fabs(p.along_z[2]); /* of w per slice */
            const double nearest = c.W0 - change * (most + FBP_MAX_LANES);
            if (!(nearest > 1e-6 && c.rise > 0 && fabs(c.slope) < STEEPEST &&
                  change * most < MOST_DEPTH * c.W0 && c.rise < MOST_STEP * nearest * nearest &&
                  p.along_z[1] > (double)job->padded.panel.n_rows * change))
                return false;
        }
    return true;
}

static bool usable_double(const struct fbp_job *job)
{
    return job->epr.second_stage && job->epr.rows_are_slices;
}

/* Distance between neighbouring columns of a stored sinogram image [doubles]. */
static size_t stride_double(size_t n_rows)
{
    return cpu_tiles(n_rows + FBP_COLUMN_DOUBLE_BEYOND, DOUBLES) * DOUBLES;
}

static size_t view_size_double(const struct fbp_job *job, size_t n_rows)
{
    return (LEFT + job->padded.panel.n_columns + LEFT) * stride_double(n_rows);
}

static void store_double(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                         const void *rows, void *view)
{
    const size_t nc = dev->job->padded.panel.n_columns, stride = stride_double(n_rows);
    const double *in = rows;
    double *left = view, *column = left + LEFT * stride;

    if (first == 0) {
        memset(left, 0, LEFT * stride * sizeof *left);
        memset(column + nc * stride, 0, LEFT * stride * sizeof *left);
    }
    for (size_t c = 0; c < nc; c++, column += stride) {
        for (size_t r = 0; r < n; r++)
            column[first + r] = in[r * nc + c];
        if (first + n == n_rows)
            memset(column + n_rows, 0, (stride - n_rows) * sizeof *column);
    }
}

static void item_double(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const struct fbp_slab *s = bp->slab;
    const size_t tiles_x = cpu_tiles(s->nx, TILE), n_views = bp->batch->n_views;
    const size_t x0 = s->x0 + index % tiles_x * TILE, y0 = s->y0 + index / tiles_x * TILE;
    const size_t x1 = cpu_least(x0 + TILE, s->x0 + s->nx);
    const size_t y1 = cpu_least(y0 + TILE, s->y0 + s->ny);
    const size_t rows = bp->batch->n_rows, stride = stride_double(rows);
    const size_t size = view_size_double(job, rows);
    const double nc = (double)job->padded.panel.n_columns;
    struct fbp_bp_column_double columns[FBP_COLUMN_VIEWS];
    double u0[FBP_COLUMN_VIEWS], u1[FBP_COLUMN_VIEWS];

    (void)worker;
    for (size_t za = bp->z0; za < bp->z1; za += SLICES)
        for (size_t k0 = 0; k0 < n_views; k0 += FBP_COLUMN_VIEWS)
            for (size_t y = y0; y < y1; y++) {
                const size_t n = cpu_least(FBP_COLUMN_VIEWS, n_views - k0);
                for (size_t k = 0; k < n; k++) { /* u = u0 + x u1 */
                    const double *m = job->matrices[bp->batch->view0 + k0 + k];
                    u0[k] = m[0] * fbp_grid_coordinate(g, 0, 0) +
                            m[1] * fbp_grid_coordinate(g, 1, (double)y) + m[3];
                    u1[k] = m[0] * g->voxel_mm[0];
                }
                for (size_t x = x0; x < x1; x++) {
                    const struct fbp_interval z =
                        cpu_column_slices(bp, x, y, za, cpu_least(za + SLICES, bp->z1));
                    size_t seen = 0;
                    for (size_t k = 0; z.end > 0 && k < n; k++) {
                        const double u = u0[k] + (double)x * u1[k];
                        if (!(u > -1 && u < nc))
                            continue;
                        const ptrdiff_t left = cpu_floor(u);
                        const double a = u - (double)left;
                        columns[seen++] = (struct fbp_bp_column_double){
                            .left = (const double *)bp->filtered + (k0 + k) * size + LEFT * stride +
                                    left * (ptrdiff_t)stride + z.first - bp->batch->row0,
                            .wl = 1 - a,
                            .wr = a};
                    }
                    if (seen > 0)
                        bp->dev->dsp.column_double((double *)bp->volume +
                                                       ((y - s->y0) * s->nx + x - s->x0) * s->nz +
                                                       (z.first - s->z0),
                                                   z.end - z.first, columns, seen, stride);
                }
            }
}

const struct cpu_kernel cpu_kernel_column = {
    .name = "column",
    .least_slices = 16,
    .symmetry = FBP_SYM_COLUMN,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = view_size,
    .store = store,
    .items = items,
    .item = item,
    .fetch_row = cpu_column_fetch_row,
};

const struct cpu_kernel cpu_kernel_tilted = {
    .name = "tilted",
    .least_slices = 16,
    .usable = usable_tilted,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = view_size,
    .store = store,
    .items = items,
    .item = item,
    .fetch_row = cpu_column_fetch_row,
};

const struct cpu_kernel cpu_kernel_column_double = {
    .name = "column",
    .in_double = true,
    .interpolates = true,
    .least_slices = 16,
    .usable = usable_double,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = view_size_double,
    .store = store_double,
    .items = items,
    .item = item_double,
    .fetch_row = cpu_column_fetch_row,
};
