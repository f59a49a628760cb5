/*
 * Pictures of a first stage whose rows are the volume's slices, in double: nothing lies between two
 * rows, and of a voxel column every view adds two columns of its picture.  Pictures are stored
 * transposed and volumes as columns along z, as kernel `column` of floats has them.
 */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"

#include <string.h>

enum {
    TILE = 16,    /* voxel columns a side */
    SLICES = 128, /* of a tile, so that it stays in the second cache with its views */
    VIEWS = 8,
    LEFT = 1, /* columns of zeros on either side */
    LINE = 8  /* doubles of a cache line */
};

static bool usable(const struct fbp_job *job)
{
    return job->second && job->rows_are_slices;
}

/* Values from column to column. */
static size_t stride_of(size_t n_rows)
{
    return (n_rows + FBP_COLUMN_DOUBLE_BEYOND + LINE - 1) / LINE * LINE;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (LEFT + job->wide.n_columns + LEFT) * stride_of(n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const double *rows, double *view)
{
    const size_t nc = dev->job->wide.n_columns, stride = stride_of(n_rows);
    double *column = view + LEFT * stride;

    if (first == 0) {
        memset(view, 0, LEFT * stride * sizeof *view);
        memset(column + nc * stride, 0, LEFT * stride * sizeof *view);
    }
    for (size_t c = 0; c < nc; c++, column += stride) {
        for (size_t r = 0; r < n; r++)
            column[first + r] = rows[r * nc + c];
        if (first + n == n_rows)
            memset(column + n_rows, 0, (stride - n_rows) * sizeof *column);
    }
}

/* Views [k0, k0 + n) of a batch over a row of voxel columns, u = u0 + x u1; first: column 0 of the
 * pictures. */
struct row {
    size_t n;
    double u0[VIEWS], u1[VIEWS];
    const double *first[VIEWS];
};

static void set_row(const struct cpu_bp *bp, size_t k0, size_t n, size_t y, struct row *row)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const size_t size = view_size(job, bp->batch->n_rows), stride = stride_of(bp->batch->n_rows);

    row->n = n;
    for (size_t k = 0; k < n; k++) {
        const double *m = job->matrices[bp->batch->view0 + k0 + k];
        row->u0[k] = m[0] * fbp_grid_coordinate(g, 0, 0) +
                     m[1] * fbp_grid_coordinate(g, 1, (double)y) + m[3];
        row->u1[k] = m[0] * g->voxel_mm[0];
        row->first[k] = (const double *)bp->filtered + (k0 + k) * size + LEFT * stride;
    }
}

/* Those views that see voxel column x, from row `from` of the batch on; how many they are. */
static size_t columns_of(const struct row *row, double x, double n_columns, size_t stride,
                         size_t from, struct fbp_bp_column_double out[VIEWS])
{
    size_t n = 0;

    for (size_t k = 0; k < row->n; k++) {
        const double u = row->u0[k] + x * row->u1[k];
        if (!(u > -1 && u < n_columns))
            continue;
        const ptrdiff_t left = cpu_floor(u);
        out[n].left = row->first[k] + left * (ptrdiff_t)stride + from;
        out[n].wr = u - (double)left;
        out[n].wl = 1 - out[n].wr;
        n++;
    }
    return n;
}

/* Slices [*z0, *z1), those of them that are wanted of voxel column (x, y). */
static void clip(const struct fbp_job *job, size_t x, size_t y, size_t *z0, size_t *z1)
{
    const struct fbp_region *r = job->region;

    if (!r)
        return;
    const struct fbp_interval c = r->columns[y * r->n[0] + x];
    *z0 = c.first > *z0 ? c.first : *z0;
    *z1 = c.end < *z1 ? c.end : *z1;
}

/* Into slices [z0, z1) of voxel column (x, y). */
static void add_column(const struct cpu_bp *bp, const struct row *row, size_t x, size_t y,
                       size_t z0, size_t z1)
{
    const struct fbp_slab *s = bp->slab;
    const size_t stride = stride_of(bp->batch->n_rows);
    struct fbp_bp_column_double columns[VIEWS];

    clip(bp->dev->job, x, y, &z0, &z1);
    if (z0 >= z1)
        return;
    const size_t n = columns_of(row, (double)x, (double)bp->dev->job->wide.n_columns, stride,
                                z0 - bp->batch->row0, columns);
    double *dst = (double *)bp->volume + ((y - s->y0) * s->nx + x - s->x0) * s->nz + (z0 - s->z0);
    if (n > 0)
        bp->dev->doubles.column(dst, z1 - z0, columns, n, stride);
}

static size_t tiles_x(const struct fbp_slab *slab)
{
    return (slab->nx + TILE - 1) / TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    return tiles_x(bp->slab) * ((bp->slab->ny + TILE - 1) / TILE);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_slab *s = bp->slab;
    const size_t x0 = s->x0 + index % tiles_x(s) * TILE, y0 = s->y0 + index / tiles_x(s) * TILE;
    const size_t x1 = least(x0 + TILE, s->x0 + s->nx), y1 = least(y0 + TILE, s->y0 + s->ny);
    const size_t n_views = bp->batch->n_views;

    struct row row;

    (void)worker;
    for (size_t z = bp->z0; z < bp->z1; z += SLICES)
        for (size_t k = 0; k < n_views; k += VIEWS)
            for (size_t y = y0; y < y1; y++) {
                set_row(bp, k, least(VIEWS, n_views - k), y, &row);
                for (size_t x = x0; x < x1; x++)
                    add_column(bp, &row, x, y, z, least(z + SLICES, bp->z1));
            }
}

/* A transposition, in squares that fit the first cache. */
static void fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const double *volume, double *host)
{
    const double *row = volume + y * slab->nx * slab->nz;

    for (size_t x0 = 0; x0 < slab->nx; x0 += LINE)
        for (size_t z = z0; z < z1; z++) {
            double *out = host + ((z - z0) * slab->ny + y) * slab->nx;
            for (size_t x = x0; x < least(x0 + LINE, slab->nx); x++)
                out[x] = job->scale * row[x * slab->nz + (z - slab->z0)] + job->shift;
        }
}

const struct cpu_kernel cpu_kernel_column_double = {
    .name = "column",
    .usable = usable,
    .turns = 1,
    .boxes = true,
    .group_size = view_size,
    .store_double = store,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    .fetch_row_double = fetch_row,
};
