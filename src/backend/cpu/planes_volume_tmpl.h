/*
 * Template of kernel "planes" of the CPU device, which backprojects plane integrals, and of the
 * sinogram images that the first of two stages computes.  Parameters (macros):
 *
 *   VALUE         the type of samples and voxels
 *   PLANES        struct fbp_bp_planes or struct fbp_bp_planes_double
 *   LOOP          member of struct fbp_bp_dsp: loops over a block of 64 values
 *   MOST_FRAMES   channels per call of LOOP
 *   KERNEL        name of the struct cpu_kernel that this file defines
 *   MERIDIAN      name of the function of the first stage
 *
 * Used by: planes_double.c, planes_float.c.
 */
#include "backend/backend.h"
#include "backend/cpu/cpu.h"
#include "backend/slab.h"
#include "backend/views.h"
#include "filter/parabola.h"

#include <math.h>
#include <string.h>

/* A view is one row per channel, and the position u of a voxel in the row is linear in x, y and z.
 * The volume is cut into cubes of 4 voxels per edge, counted from voxel 0 of the whole grid: no bit
 * depends on which voxels beside them are requested. A cube lies within few samples of a view, and
 * stays in registers while many views are added to it. */
enum { EDGE = FBP_PLANES_EDGE, BLOCK = FBP_PLANES_BLOCK, ROWS_PER_TILE = 16 };

static const int cube[3] = {EDGE, EDGE, EDGE};

static bool usable(const struct fbp_job *job)
{
    if (!fbp_planes_only(job))
        return false;
    for (size_t k = 0; !job->epr.images && k < job->n_views; k++)
        if (!(fbp_planes_span(job, k, cube) <= FBP_PLANES_SPAN))
            return false;
    return true;
}

/* Views that are added to a tile of the volume; per view, the position u of voxel (0, 0, 0) in the
 * row of samples, and the steps of u along y and z. */
struct tile {
    PLANES planes;
    double origin[FBP_PLANES_VIEWS], y[FBP_PLANES_VIEWS], z[FBP_PLANES_VIEWS];
};

/* Set the views of a tile to views [k0, k0 + n) of the batch, channel 0. */
static void set_views(const struct cpu_bp *bp, size_t k0, size_t n, struct tile *t)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const size_t size = cpu_rows_size(job, bp->batch->n_rows), view0 = bp->batch->view0 + k0;

    memset(t, 0, sizeof *t);
    t->planes.samples = (const VALUE *)bp->filtered + k0 * size + FBP_PLANES_MARGIN;
    t->planes.stride = size;
    t->planes.frame = cpu_rows_stride(job);
    t->planes.n = n;
    t->planes.last = (double)job->padded.panel.n_columns + 1; /* splines read sample last - 1 */
    t->planes.narrow = true;
    for (size_t k = 0; k < n; k++) {
        const double *m = job->matrices[view0 + k];
        double step[3], above = 0;
        t->origin[k] =
            m[3] + (job->epr.interpolation == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0);
        for (int i = 0; i < 3; i++) {
            step[i] = m[i] * g->voxel_mm[i];
            above -= fmin(step[i], 0) * (EDGE - 1);
            t->origin[k] += m[i] * fbp_grid_coordinate(g, i, 0);
            t->planes.step[i][k] = (VALUE)step[i];
        }
        t->planes.along[k] = step[0];
        t->planes.above[k] = above;
        t->y[k] = step[1];
        t->z[k] = step[2];
        t->planes.narrow =
            t->planes.narrow && fbp_planes_span(job, view0 + k, cube) <= FBP_PLANES_NARROW;
    }
}

/* Part of a cube that lies in the slab: voxels [from, end) of the cube along x, y and z, and the
 * index in the stored volume at which the cube's first voxel is, or would be if it were stored. */
struct part {
    size_t from[3], end[3];
    bool whole;
    ptrdiff_t first, row, slice;
};

/* Copy a cube from the volume to a block (take: true) or from the block to the volume.  Nearly all
 * cubes are whole; the constant length of their rows makes these copies fast. */
static inline void copy_cube(const struct part *p, VALUE *volume, VALUE *block, bool take)
{
    if (p->whole) {
        for (ptrdiff_t z = 0; z < EDGE; z++)
            for (ptrdiff_t y = 0; y < EDGE; y++, block += EDGE) {
                VALUE *voxels = volume + p->first + z * p->slice + y * p->row;
                memcpy(take ? block : voxels, take ? voxels : block, EDGE * sizeof *block);
            }
        return;
    }
    if (take)
        memset(block, 0, BLOCK * sizeof *block);
    const size_t x = p->from[0], bytes = (p->end[0] - x) * sizeof *block;
    for (size_t z = p->from[2]; z < p->end[2]; z++)
        for (size_t y = p->from[1]; y < p->end[1]; y++) {
            VALUE *in_block = block + (z * EDGE + y) * EDGE + x;
            VALUE *voxels =
                volume + p->first + (ptrdiff_t)z * p->slice + (ptrdiff_t)y * p->row + (ptrdiff_t)x;
            memcpy(take ? in_block : voxels, take ? voxels : in_block, bytes);
        }
}

/* Add all channels of the tile's views to the cube whose first voxel is `at`. */
static void add_cube(const struct cpu_bp *bp, const size_t at[3], struct tile *t)
{
    const struct fbp_slab *s = bp->slab;
    const size_t volume = s->nz * fbp_slab_slice(s), n = fbp_channels(bp->dev->job);
    const size_t begin[3] = {s->x0, s->y0, bp->z0}, end[3] = {s->x0 + s->nx, s->y0 + s->ny, bp->z1};
    const VALUE *const samples = t->planes.samples;
    VALUE blocks[MOST_FRAMES][BLOCK] __attribute__((aligned(64)));
    struct part p = {.whole = true, .row = (ptrdiff_t)s->nx, .slice = (ptrdiff_t)fbp_slab_slice(s)};

    for (int i = 0; i < 3; i++) {
        p.from[i] = begin[i] > at[i] ? begin[i] - at[i] : 0;
        p.end[i] = cpu_least(end[i] - at[i], EDGE);
        p.whole = p.whole && p.from[i] == 0 && p.end[i] == EDGE;
    }
    p.first = ((ptrdiff_t)at[2] - (ptrdiff_t)s->z0) * p.slice +
              ((ptrdiff_t)at[1] - (ptrdiff_t)s->y0) * p.row + (ptrdiff_t)at[0] - (ptrdiff_t)s->x0;

    for (size_t f = 0; f < n; f += MOST_FRAMES) {
        VALUE *const to = (VALUE *)bp->volume + f * volume;
        t->planes.frames = cpu_least(n - f, MOST_FRAMES);
        t->planes.samples = samples + f * t->planes.frame;
        for (size_t i = 0; i < t->planes.frames; i++)
            copy_cube(&p, to + i * volume, blocks[i], true);
        bp->dev->dsp.LOOP[bp->dev->job->epr.interpolation](blocks[0], (double)at[0], &t->planes);
        for (size_t i = 0; i < t->planes.frames; i++)
            copy_cube(&p, to + i * volume, blocks[i], false);
    }
    t->planes.samples = samples;
}

/* Add the tile's views to cubes of row (y, z), from the first to the last with requested voxels. */
static void add_row(const struct cpu_bp *bp, size_t y, size_t z, struct tile *t)
{
    const struct fbp_slab *s = bp->slab;
    const struct fbp_region *region = bp->dev->job->requested.region;
    size_t first = region ? SIZE_MAX : s->x0, end = region ? 0 : s->x0 + s->nx;

    for (size_t zr = z; region && zr < z + EDGE && zr < region->n[2]; zr++)
        for (size_t yr = y; yr < y + EDGE && yr < region->n[1]; yr++) {
            size_t n;
            const struct fbp_interval *runs = fbp_region_row(region, yr, zr, &n);
            if (n > 0 && runs[0].first < first)
                first = runs[0].first;
            if (n > 0 && runs[n - 1].end > end)
                end = runs[n - 1].end;
        }
    const size_t x0 = first > s->x0 ? first : s->x0, x1 = cpu_least(end, s->x0 + s->nx);
    if (x0 >= x1)
        return;
    for (size_t k = 0; k < t->planes.n; k++)
        t->planes.start[k] =
            t->origin[k] + (double)y * t->y[k] + (double)z * t->z[k] - t->planes.above[k];
    for (size_t x = x0 / EDGE * EDGE; x < x1; x += EDGE) {
        const size_t at[3] = {x, y, z};
        add_cube(bp, at, t);
    }
}

/* A work item: some rows of cubes. */
static size_t tiles_y(const struct fbp_slab *slab)
{
    return cpu_tiles(slab->y0 + slab->ny, ROWS_PER_TILE) - slab->y0 / ROWS_PER_TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    return (cpu_tiles(bp->z1, EDGE) - bp->z0 / EDGE) * tiles_y(bp->slab);
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_slab *s = bp->slab;
    const size_t z = (bp->z0 / EDGE + index / tiles_y(s)) * EDGE;
    const size_t tile = (s->y0 / ROWS_PER_TILE + index % tiles_y(s)) * ROWS_PER_TILE;
    const size_t y0 = tile > s->y0 ? tile : s->y0 / EDGE * EDGE;
    const size_t y1 = cpu_least(tile + ROWS_PER_TILE, s->y0 + s->ny);
    const size_t n_views = bp->batch->n_views;
    struct tile t;

    (void)worker;
    for (size_t k = 0; k < n_views; k += FBP_PLANES_VIEWS) {
        set_views(bp, k, cpu_least(n_views - k, FBP_PLANES_VIEWS), &t);
        for (size_t y = y0; y < y1; y += EDGE)
            add_row(bp, y, z, &t);
    }
}

const struct cpu_kernel KERNEL = {
    .name = "planes",
    .in_double = sizeof(VALUE) == sizeof(double),
    .interpolates = true,
    .usable = usable,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = cpu_rows_size,
    .store = cpu_rows_store,
    .items = items,
    .item = item,
};

/* The first of two stages: sinogram images of meridian planes (backend/backend.h), by the same
 * loops: a block of 64 pixels is 16 columns and 4 rows of an image, and a cube of 4 x 4 x 4 voxels
 * for the loops, because positions are linear in column and row. Blocks begin at multiples of 16
 * columns and 4 rows: no bit depends on which other pixels are requested. */
enum {
    COLUMNS = EDGE * EDGE, /* columns of a block */
    ROWS = EDGE,
    BLOCKS = 128 / sizeof(VALUE), /* blocks computed at once: 8 KiB of the stack */
    MOST_FINE = 16 /* greatest number of columns that are computed per column of a sinogram image */
};

/* The views of an image. */
struct image {
    const struct fbp_meridian_images *pictures;
    const VALUE *samples; /* sample 0 of the image's first view, in the requested channel */
    size_t stride;        /* samples from view to view */
    size_t view0, n;      /* index of the image's first view; number of its views */
    size_t fine; /* columns computed per image column: the least power of two for which a block's
                    samples fit a window; 0: none fits, and pixels are computed one by one */
    PLANES planes;
};

/* Returns the greatest distance, in samples of a view, between two pixels of a block of a sinogram
 * image, with `fine` computed columns per image column. */
static double span_of(const double at[3], size_t fine)
{
    return (COLUMNS - 1) * fabs(at[1]) / (double)fine + (ROWS - 1) * fabs(at[2]);
}

/* Compute rows [from, end) of a block of ROWS image rows: sums over all views of the sinogram
 * image. r: first row of the block in the image, a multiple of ROWS. */
static void add_image_rows(const struct cpu_device *dev, struct image *p, size_t r, size_t from,
                           size_t end, VALUE *out)
{
    VALUE blocks[BLOCKS * BLOCK] __attribute__((aligned(64)));
    const struct fbp_job *job = dev->job;
    const double rounding = job->epr.interpolation == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0;
    const size_t nc = p->pictures->n_columns, n_fine = (nc - 1) * p->fine + 1;
    const size_t all = (n_fine - 1) / COLUMNS + 1;
    PLANES *t = &p->planes;

    for (size_t b = 0; b < all; b += BLOCKS) {
        const size_t n = cpu_least(all - b, BLOCKS);
        memset(blocks, 0, n * BLOCK * sizeof *blocks);
        for (size_t k0 = 0; k0 < p->n; k0 += FBP_PLANES_VIEWS) {
            memset(t, 0, sizeof *t);
            t->samples = p->samples + k0 * p->stride;
            t->stride = p->stride;
            t->n = cpu_least(p->n - k0, FBP_PLANES_VIEWS);
            t->last = (double)job->padded.panel.n_columns + 1; /* splines read sample last - 1 */
            t->narrow = true;
            for (size_t k = 0; k < t->n; k++) {
                const double *at = p->pictures->at[p->view0 + k0 + k];
                const double step = at[1] / (double)p->fine;
                t->above[k] = -fmin(step, 0) * (COLUMNS - 1) - fmin(at[2], 0) * (ROWS - 1);
                t->along[k] = step;
                t->start[k] = at[0] + rounding + (double)r * at[2] - t->above[k];
                t->step[0][k] = (VALUE)step;
                t->step[1][k] = (VALUE)(EDGE * step);
                t->step[2][k] = (VALUE)at[2];
                t->narrow = t->narrow && span_of(at, p->fine) <= FBP_PLANES_NARROW;
            }
            for (size_t i = 0; i < n; i++)
                dev->dsp.LOOP[job->epr.interpolation](blocks + i * BLOCK,
                                                      (double)((b + i) * COLUMNS), t);
        }
        for (size_t row = from; row < end; row++)
            for (size_t i = 0; i < n; i++) {
                const size_t x = (b + i) * COLUMNS, columns = cpu_least(n_fine - x, COLUMNS);
                for (size_t c = 0; c < columns; c += p->fine)
                    out[(row - from) * nc + (x + c) / p->fine] =
                        blocks[i * BLOCK + row * COLUMNS + c];
            }
    }
}

/* Interpolated value of a row of filtered samples at u; zeros beyond its ends. */
static VALUE sample(const struct fbp_job *job, const VALUE *row, double u)
{
    const double n = (double)job->padded.panel.n_columns;
    const bool is_nearest = job->epr.interpolation == FBP_INTERPOLATION_NEAREST;
    const double in = fmin(fmax(is_nearest ? u + FBP_NEAREST : u, -3), n + 2);
    const ptrdiff_t i = cpu_floor(in);
    const double part = in - (double)i;
    double w[4];

    if (is_nearest)
        return row[i];
    if (job->epr.interpolation != FBP_INTERPOLATION_CUBIC)
        return row[i] + (VALUE)part * (row[i + 1] - row[i]);
    fbp_spline_weights(part, w);
    return (VALUE)w[0] * row[i - 1] + (VALUE)w[1] * row[i] + (VALUE)w[2] * row[i + 1] +
           (VALUE)w[3] * row[i + 2];
}

void MERIDIAN(const struct cpu_device *dev, const VALUE *filtered,
              const struct fbp_image_rows *picture, VALUE *out)
{
    const struct fbp_meridian_images *m = dev->job->epr.images;
    const size_t row = cpu_rows_stride(dev->job), first = m->first[picture->plane];
    const size_t view = dev->job->panel.n_rows * row, end = picture->row0 + picture->n_rows;
    struct image p = {.pictures = m,
                      .samples =
                          filtered + first * view + picture->channel * row + FBP_PLANES_MARGIN,
                      .stride = view,
                      .view0 = first,
                      .n = m->first[picture->plane + 1] - first};

    for (size_t fine = 1; fine <= MOST_FINE && !p.fine; fine *= 2) {
        double widest = 0;
        for (size_t k = 0; k < p.n; k++)
            widest = fmax(widest, span_of(m->at[first + k], fine));
        if (widest <= FBP_PLANES_SPAN)
            p.fine = fine;
    }
    for (size_t r = picture->row0, n; r < end; r += n, out += n * m->n_columns) {
        const size_t from = r % ROWS;
        n = 1;
        if (p.fine) {
            n = cpu_least(ROWS - from, end - r);
            add_image_rows(dev, &p, r - from, from, from + n, out);
            continue;
        }
        /* a block of the image covers more samples than a window: compute single pixels */
        for (size_t c = 0; c < m->n_columns; c++) {
            VALUE sum = 0;
            for (size_t k = 0; k < p.n; k++) {
                const double *at = m->at[first + k];
                sum += sample(dev->job, p.samples + k * p.stride,
                              at[0] + (double)c * at[1] + (double)r * at[2]);
            }
            out[c] = sum;
        }
    }
}
