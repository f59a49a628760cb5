/*
 * Template: plane integrals in float and in double.  Parameters:
 *
 *   VALUE   the type of samples and voxels
 *   PLANES  struct fbp_bp_planes, or the one of doubles
 *   ADD     the device's kernel for a block
 *   FRAMES  that it takes together, and SERIES(planes, n, stride), which tells it
 *   KERNEL  the name of what is defined here, and SLOTS, those of it that have that type
 *
 * A view is one row, and u is linear in x, y and z.  The volume is cut into cubes
 * of 4 voxels a side, counted from voxel 0 of the whole grid, so that no bit depends on what is
 * asked for beside them.  A cube lies within few samples of a view, and is kept in registers while
 * many views are added to it.
 */
#include "backend/cpu/cpu.h"
#include "backend/planes.h"
#include "backend/slab.h"
#include "filter/parabola.h"

#include <math.h>
#include <string.h>

enum { EDGE = FBP_PLANES_EDGE, ROWS_A_TILE = 16 };

/* How many samples apart voxels of a cube can be, in view k. */
static double span_of(const struct fbp_job *job, size_t k)
{
    static const int cube[3] = {EDGE, EDGE, EDGE};

    return fbp_planes_span(job, k, cube);
}

static bool usable(const struct fbp_job *job)
{
    if (!fbp_planes_only(job))
        return false;
    for (size_t k = 0; !job->pictures && k < job->n_views; k++)
        if (!(span_of(job, k) <= FBP_PLANES_SPAN))
            return false;
    return true;
}

/* Some views over a tile: u of voxel (0, 0, 0), and its steps. */
struct tile {
    PLANES planes;
    double origin[FBP_PLANES_VIEWS], y[FBP_PLANES_VIEWS], z[FBP_PLANES_VIEWS];
};

static void set_view(const struct fbp_job *job, const double *m, size_t k, struct tile *t)
{
    const struct fbp_grid *g = &job->grid;
    double step[3], above = 0;

    t->origin[k] = m[3] + (job->interpolation == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0);
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
}

/* Frame 0 of views [k0, k0 + n) of the batch. */
static void set_views(const struct cpu_bp *bp, size_t k0, size_t n, struct tile *t)
{
    const struct fbp_job *job = bp->dev->job;
    const size_t size = cpu_rows_size(job, bp->batch->n_rows), view0 = bp->batch->view0 + k0;

    memset(t, 0, sizeof *t);
    t->planes.samples = (const VALUE *)bp->filtered + k0 * size + FBP_PLANES_MARGIN;
    t->planes.stride = size;
    t->planes.n = n;
    t->planes.last = (double)job->wide.n_columns + 1; /* a spline has a tap before it */
    t->planes.narrow = true;
    for (size_t k = 0; k < n; k++) {
        set_view(job, job->matrices[view0 + k], k, t);
        t->planes.narrow = t->planes.narrow && span_of(job, view0 + k) <= FBP_PLANES_NARROW;
    }
}

static void set_row(double y, double z, struct tile *t)
{
    for (size_t k = 0; k < t->planes.n; k++)
        t->planes.start[k] = t->origin[k] + y * t->y[k] + z * t->z[k] - t->planes.above[k];
}

/* The part of a cube that is in the slab: voxels [from, end) of it along x, y and z, and where its
 * first voxel, there or not, would be in the volume. */
struct part {
    size_t from[3], end[3];
    bool whole; /* all of it is */
    ptrdiff_t first, row, slice;
};

/* Of the cube from `at` on, along one axis, what lies in [begin, end). */
static void cut(size_t at, size_t begin, size_t end, size_t *from, size_t *to)
{
    *from = begin > at ? begin - at : 0;
    *to = end - at < EDGE ? end - at : EDGE;
}

static void part_of(const struct cpu_bp *bp, const size_t at[3], struct part *p)
{
    const struct fbp_slab *s = bp->slab;

    cut(at[0], s->x0, s->x0 + s->nx, &p->from[0], &p->end[0]);
    cut(at[1], s->y0, s->y0 + s->ny, &p->from[1], &p->end[1]);
    cut(at[2], bp->z0, bp->z1, &p->from[2], &p->end[2]);
    p->whole = true;
    for (int i = 0; i < 3; i++)
        p->whole = p->whole && p->from[i] == 0 && p->end[i] == EDGE;
    p->row = (ptrdiff_t)s->nx;
    p->slice = (ptrdiff_t)fbp_slab_slice(s);
    p->first = ((ptrdiff_t)at[2] - (ptrdiff_t)s->z0) * p->slice +
               ((ptrdiff_t)at[1] - (ptrdiff_t)s->y0) * p->row + (ptrdiff_t)at[0] - (ptrdiff_t)s->x0;
}

static VALUE *voxel(const struct part *p, VALUE *volume, size_t x, size_t y, size_t z)
{
    return volume + p->first + (ptrdiff_t)z * p->slice + (ptrdiff_t)y * p->row + (ptrdiff_t)x;
}

/* Nearly all cubes are whole: copies of constant size. */
static inline void take_whole(const struct part *p, const VALUE *volume, VALUE *block)
{
    for (ptrdiff_t z = 0; z < EDGE; z++)
        for (ptrdiff_t y = 0; y < EDGE; y++, block += EDGE)
            memcpy(block, volume + p->first + z * p->slice + y * p->row, EDGE * sizeof *block);
}

static inline void give_whole(const struct part *p, const VALUE *block, VALUE *volume)
{
    for (ptrdiff_t z = 0; z < EDGE; z++)
        for (ptrdiff_t y = 0; y < EDGE; y++, block += EDGE)
            memcpy(volume + p->first + z * p->slice + y * p->row, block, EDGE * sizeof *block);
}

static void take(const struct part *p, VALUE *volume, VALUE *block)
{
    const size_t x = p->from[0], n = p->end[0] - x;

    if (p->whole) {
        take_whole(p, volume, block);
        return;
    }
    memset(block, 0, FBP_PLANES_BLOCK * sizeof *block);
    for (size_t z = p->from[2]; z < p->end[2]; z++)
        for (size_t y = p->from[1]; y < p->end[1]; y++)
            memcpy(block + (z * EDGE + y) * EDGE + x, voxel(p, volume, x, y, z), n * sizeof *block);
}

static void give(const struct part *p, const VALUE *block, VALUE *volume)
{
    const size_t x = p->from[0], n = p->end[0] - x;

    if (p->whole) {
        give_whole(p, block, volume);
        return;
    }
    for (size_t z = p->from[2]; z < p->end[2]; z++)
        for (size_t y = p->from[1]; y < p->end[1]; y++)
            memcpy(voxel(p, volume, x, y, z), block + (z * EDGE + y) * EDGE + x, n * sizeof *block);
}

/* Voxels [*x0, *x1) along x of a row of cubes that hold all that are wanted. */
static void wanted(const struct cpu_bp *bp, size_t y0, size_t z0, size_t *x0, size_t *x1)
{
    const struct fbp_slab *s = bp->slab;
    const struct fbp_region *region = bp->dev->job->region;
    size_t first = region ? SIZE_MAX : s->x0, end = region ? 0 : s->x0 + s->nx;

    for (size_t z = z0; region && z < z0 + EDGE && z < region->n[2]; z++)
        for (size_t y = y0; y < y0 + EDGE && y < region->n[1]; y++) {
            size_t n;
            const struct fbp_interval *runs = fbp_region_row(region, y, z, &n);
            if (n > 0 && runs[0].first < first)
                first = runs[0].first;
            if (n > 0 && runs[n - 1].end > end)
                end = runs[n - 1].end;
        }
    *x0 = first > s->x0 ? first : s->x0;
    *x1 = end < s->x0 + s->nx ? end : s->x0 + s->nx;
}

/* All frames of some views into a cube whose first voxel is `at`. */
static void add_cube(const struct cpu_bp *bp, const size_t at[3], struct tile *t)
{
    const size_t volume = bp->slab->nz * fbp_slab_slice(bp->slab),
                 stride = cpu_rows_stride(bp->dev->job);
    const size_t n = fbp_frames(bp->dev->job);
    VALUE blocks[FRAMES][FBP_PLANES_BLOCK] __attribute__((aligned(64)));
    const VALUE *const first = t->planes.samples;
    struct part part;

    part_of(bp, at, &part);
    for (size_t f = 0; f < n; f += FRAMES) {
        const size_t some = n - f < FRAMES ? n - f : FRAMES;
        VALUE *const to = (VALUE *)bp->volume + f * volume;
        t->planes.samples = first + f * stride;
        SERIES(&t->planes, some, stride);
        for (size_t i = 0; i < some; i++)
            take(&part, to + i * volume, blocks[i]);
        ADD(bp->dev)(blocks[0], (double)at[0], &t->planes);
        for (size_t i = 0; i < some; i++)
            give(&part, blocks[i], to + i * volume);
    }
    t->planes.samples = first;
}

static void add_row(const struct cpu_bp *bp, size_t y, size_t z, struct tile *t)
{
    size_t x0, x1;

    wanted(bp, y, z, &x0, &x1);
    if (x0 >= x1)
        return;
    set_row((double)y, (double)z, t);
    for (size_t x = x0 / EDGE * EDGE; x < x1; x += EDGE) {
        const size_t at[3] = {x, y, z};
        add_cube(bp, at, t);
    }
}

static size_t first_tile(const struct fbp_slab *slab)
{
    return slab->y0 / ROWS_A_TILE;
}

static size_t tiles_y(const struct fbp_slab *slab)
{
    return (slab->y0 + slab->ny + ROWS_A_TILE - 1) / ROWS_A_TILE - first_tile(slab);
}

static size_t items(const struct cpu_bp *bp)
{
    return ((bp->z1 + EDGE - 1) / EDGE - bp->z0 / EDGE) * tiles_y(bp->slab);
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_slab *s = bp->slab;
    const size_t z = (bp->z0 / EDGE + index / tiles_y(s)) * EDGE;
    const size_t tile = (first_tile(s) + index % tiles_y(s)) * ROWS_A_TILE;
    const size_t y0 = tile > s->y0 ? tile : s->y0 / EDGE * EDGE;
    const size_t y1 = tile + ROWS_A_TILE < s->y0 + s->ny ? tile + ROWS_A_TILE : s->y0 + s->ny;
    const size_t n_views = bp->batch->n_views;
    struct tile t;

    (void)worker;
    for (size_t k = 0; k < n_views; k += FBP_PLANES_VIEWS) {
        set_views(bp, k, n_views - k < FBP_PLANES_VIEWS ? n_views - k : FBP_PLANES_VIEWS, &t);
        for (size_t y = y0; y < y1; y += EDGE)
            add_row(bp, y, z, &t);
    }
}

const struct cpu_kernel KERNEL = {
    .name = "planes",
    .usable = usable,
    .turns = 1,
    .boxes = true,
    .group_size = cpu_rows_size,
    .volume_size = cpu_plain_volume,
    .items = items,
    .item = item,
    SLOTS,
};
