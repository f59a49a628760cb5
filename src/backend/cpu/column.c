/*
 * Kernel "column" of the CPU device (cpu_kernel_column, cpu_kernel_column_double), for views whose
 * u (detector column) and w (depth) do not depend on z: untilted circular, short or uneven scans
 * have such views. Views are stored transposed and volumes as columns along z; one interpolated
 * detector column serves a whole voxel column (iFDK; Chen et al. 2019). The inner loops are in
 * column_loops.h.
 *
 * The variant in double backprojects sinogram images of a first stage whose rows are the volume's
 * slices: there is no interpolation between rows, and every image adds two of its columns to a
 * voxel column.
 * Used by: cpu.c.
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

/* Distance between neighbouring detector columns of a stored view [floats]. */
static size_t stride_of(size_t n_rows)
{
    return cpu_tiles(FBP_COLUMN_BELOW + n_rows + FBP_COLUMN_ABOVE, FBP_COLUMN_MULTIPLE) *
           FBP_COLUMN_MULTIPLE;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_LEFT + job->padded.panel.n_columns + FBP_VIEW_RIGHT) * stride_of(n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *view)
{
    const size_t nc = dev->job->padded.panel.n_columns, stride = stride_of(n_rows);
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

/* Part of slices [z0, z1) of voxel column (x, y) in the requested region; {0, 0}: none. */
static struct fbp_interval slices_of(const struct cpu_bp *bp, size_t x, size_t y, size_t z0,
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

/*
 * Add views [k0, k1) of the batch to slices [z0, z1) of voxel columns [xa, xb) of row y of the
 * grid.  Voxel x of the row projects to detector column u and, in slice z_ref, to row v, which
 * increases by dv per slice (by `rows` if w = 1):
 *
 *     w = w0 + x w1,  u = (u0 + x u1) / w,  v(z_ref) = (v0 + x v1) / w,  dv = rows / w.
 */
static void add_row(const struct cpu_bp *bp, size_t k0, size_t k1, size_t y, size_t xa, size_t xb,
                    size_t z0, size_t z1)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const struct fbp_slab *s = bp->slab;
    const size_t stride = stride_of(bp->batch->n_rows), size = view_size(job, bp->batch->n_rows);
    const double nc = (double)job->padded.panel.n_columns, nr = (double)job->padded.panel.n_rows;
    const double r0 = (double)bp->batch->row0, r1 = r0 + (double)bp->batch->n_rows;
    const double z_ref = floor(((double)g->n[2] - 1) / 2);
    const double p[3] = {fbp_grid_coordinate(g, 0, 0), fbp_grid_coordinate(g, 1, (double)y),
                         fbp_grid_coordinate(g, 2, z_ref)};
    struct fbp_bp_column columns[TILE][FBP_COLUMN_VIEWS], *last = NULL;
    struct fbp_interval z[TILE];
    size_t n[TILE] = {0};
    bool any = false;

    for (size_t i = 0; i < xb - xa; i++) {
        z[i] = slices_of(bp, xa + i, y, z0, z1);
        any = any || z[i].end > 0;
    }
    if (!any)
        return;
    for (size_t k = k0; k < k1; k++) {
        const double *m = job->matrices[bp->batch->view0 + k];
        const double reference = bp->dev->principal[bp->batch->view0 + k][1];
        const double u0 = m[0] * p[0] + m[1] * p[1] + m[3], u1 = m[0] * g->voxel_mm[0];
        const double v0 = m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7];
        const double v1 = m[4] * g->voxel_mm[0], rows = m[6] * g->voxel_mm[2];
        const double w0 = m[8] * p[0] + m[9] * p[1] + m[11], w1 = m[8] * g->voxel_mm[0];
        const float *view = (const float *)bp->filtered + k * size + FBP_COLUMN_BELOW;
        for (size_t i = 0; i < xb - xa; i++) {
            const double x = (double)(xa + i), w = w0 + x * w1;
            if (z[i].end == 0 || !(w > 1e-6))
                continue;
            const double r = 1 / w, u = (u0 + x * u1) * r;
            if (!(u > -1 && u < nc))
                continue;
            const ptrdiff_t c = cpu_floor(u);
            const double a = u - (double)c, v = (v0 + x * v1) * r, slices = w / rows;
            /* Slices that project onto any row of the detector, -1 < v < nr, and a few more on
             * either side because the inner loop rounds v. */
            const double first = z_ref + (-1 - v) * slices - 2;
            const double end = z_ref + (nr - v) * slices + 3;
            const float *left = view + (size_t)(c + FBP_VIEW_LEFT) * stride;
            struct fbp_bp_column *out = &columns[i][n[i]];
            *out = (struct fbp_bp_column){
                .left = left,
                .ahead = left,
                .wl = (float)((1 - a) * r * r),
                .wr = (float)(a * r * r),
                .v0 = (float)(v - reference),
                .dv = (float)(rows * r),
                .v_lo = (float)(r0 - 1 - reference),
                .v_hi = (float)(r1 - reference),
                .row = (int)(reference - r0),
                .aligned = job->epr.rows_are_slices,
                .z0 = (size_t)cpu_within(first, (double)z[i].first, (double)z[i].end),
                .z1 = (size_t)cpu_within(end, (double)z[i].first, (double)z[i].end)};
            n[i] += out->z0 < out->z1;
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
            bp->dev->dsp.column(dst + (z[i].first - z0), z[i].first, z[i].end, (float)z_ref,
                                columns[i], n[i], stride);
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

/* Copy row y of slices [z0, z1), scaled and shifted, to host[z][y][x], LINE voxel columns at a
 * time, because the next slices use their cache lines again. */
static void fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const void *volume, void *host)
{
    const size_t nx = slab->nx, ny = slab->ny, nz = slab->nz;

    for (size_t xa = 0; xa < nx; xa += LINE)
        for (size_t z = z0; z < z1; z++)
            cpu_fetch(job, volume, (y * nx + xa) * nz + (z - slab->z0), nz,
                      cpu_least(nx - xa, LINE), host, ((z - z0) * ny + y) * nx + xa);
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
                        slices_of(bp, x, y, za, cpu_least(za + SLICES, bp->z1));
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
    .fetch_row = fetch_row,
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
    .fetch_row = fetch_row,
};
