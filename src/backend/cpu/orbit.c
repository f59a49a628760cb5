/*
 * Scans with a rotational symmetry: one interpolation serves an orbit of voxels (orbit_bp.h). Views
 * are stored packed, [column][row][lane]; volumes as [orbit][slice][lane].  An orbit is the set of
 * voxel columns that turns map onto each other, one per lane.
 */
#include "backend/cpu/cpu.h"
#include "backend/partners.h"
#include "base/system.h"

#include <math.h>
#include <string.h>

/* Orbits of a tile along x and y; groups of views set up at a time. */
enum { TILE = 16, GROUPS = 4 };

static bool has(const struct fbp_job *job, unsigned flags)
{
    flags |= FBP_SYM_COLUMN;
    return (job->facts.symmetry & flags) == flags && !job->in_order && fbp_rows_run_up(job);
}

static bool can_rot90(const struct fbp_job *job)
{
    return has(job, FBP_SYM_ROT90);
}

static bool can_rot180(const struct fbp_job *job)
{
    return has(job, FBP_SYM_ROT180);
}

static size_t rows_of(size_t n_rows)
{
    return FBP_ORBIT_BELOW + n_rows + FBP_ORBIT_ABOVE;
}

static size_t stride_of(const struct fbp_job *job, size_t n_rows)
{
    return rows_of(n_rows) * job->turns;
}

static size_t group_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_ORBIT_LEFT + job->wide.n_columns + FBP_ORBIT_RIGHT) * stride_of(job, n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const float *rows, float *group)
{
    const struct fbp_job *job = dev->job;
    const size_t nc = job->wide.n_columns, stride = stride_of(job, n_rows), lanes = job->turns;
    float *column = group + FBP_ORBIT_LEFT * stride;

    if (first == 0) {
        memset(group, 0, FBP_ORBIT_LEFT * stride * sizeof *group);
        memset(column + nc * stride, 0, FBP_ORBIT_RIGHT * stride * sizeof *group);
    }
    for (size_t c = 0; c < nc; c++, column += stride) {
        float *out = column + (FBP_ORBIT_BELOW + first) * lanes;
        if (first == 0)
            memset(column, 0, FBP_ORBIT_BELOW * lanes * sizeof *column);
        for (size_t i = 0; i < n; i++)
            for (size_t lane = 0; lane < lanes; lane++)
                *out++ = rows[(lane * CPU_ROWS + i) * nc + c];
        if (first + n == n_rows)
            memset(out, 0, FBP_ORBIT_ABOVE * lanes * sizeof *out);
    }
}

/* Orbits are numbered by the columns of one quarter, or half, of the grid.  If n is odd, the middle
 * belongs to two quarters, and both store all of it. */
struct domain {
    size_t x0, y0, nx, ny;
};

static struct domain domain_of(const struct fbp_job *job)
{
    const size_t *n = job->grid.n, x0 = job->turns == 4 ? n[0] / 2 : 0, y0 = n[1] / 2;

    return (struct domain){x0, y0, n[0] - x0, n[1] - y0};
}

/* Floats of an orbit.  Long orbits take an odd number of cache lines, so that the orbits of a tile
 * do not compete for the same few sets of a cache. */
static size_t orbit_size(const struct fbp_job *job, size_t n_slices)
{
    enum { LINE = 16, LONG = 512 };
    const size_t n = n_slices * job->turns;

    return n < LONG ? n : ((n + LINE - 1) / LINE | 1) * LINE;
}

static size_t volume_size(const struct fbp_job *job, const struct fbp_slab *slab)
{
    const struct domain d = domain_of(job);
    return d.nx * d.ny * orbit_size(job, slab->nz);
}

/* Does view k + K/4 follow view k counter-clockwise? */
static bool counter_clockwise(const struct fbp_job *job)
{
    const double *a = job->views[0].s, *b = job->views[fbp_part_views(job)].s;
    return a[0] * b[1] - a[1] * b[0] > 0;
}

/* Where a turn of the views moves (x, y) to. */
static void turn(const struct fbp_job *job, bool forward, size_t *x, size_t *y)
{
    const size_t *n = job->grid.n, from[2] = {*x, *y};

    if (job->turns == 2) {
        *x = n[0] - 1 - from[0];
        *y = n[1] - 1 - from[1];
    } else if (forward) {
        *x = n[1] - 1 - from[1];
        *y = from[0];
    } else {
        *x = from[1];
        *y = n[0] - 1 - from[0];
    }
}

struct place {
    double v0, dv; /* row at slice 0 of the grid, rows a slice */
};

/* What a group of views shares over one place; false if none of its rays meets it. */
static bool place_of(const struct cpu_bp *bp, const double m[12], const float *group, size_t x,
                     size_t y, size_t i, struct fbp_bp_orbit *out, struct place *place)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const size_t stride = stride_of(job, bp->batch->n_rows);
    const double px = fbp_grid_coordinate(g, 0, (double)x),
                 py = fbp_grid_coordinate(g, 1, (double)y), pz = fbp_grid_coordinate(g, 2, 0);
    const double w = m[8] * px + m[9] * py + m[11];
    const double r = w > 1e-6 ? 1 / w : 1, u = (m[0] * px + m[1] * py + m[3]) * r;
    const bool seen = w > 1e-6 && u > -1 && u < (double)job->wide.n_columns;
    const ptrdiff_t c = seen ? cpu_floor(u) : 0;
    const double a = u - (double)c;

    place->dv = m[6] * g->voxel_mm[2] * r;
    place->v0 = (m[4] * px + m[5] * py + m[6] * pz + m[7]) * r;
    out->left[i] = group + (size_t)(c + FBP_ORBIT_LEFT) * stride;
    out->wl[i] = seen ? (float)((1 - a) * r * r) : 0;
    out->wr[i] = seen ? (float)(a * r * r) : 0;
    return seen;
}

/* The slice that coordinates count from. */
static double z_reference(const struct fbp_job *job)
{
    return floor(((double)job->grid.n[2] - 1) / 2);
}

static double clamped(double a, double lo, double hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}

/* Extend [*lo, *hi) by the slices that fall on the detector at a place. */
static void extend(const struct place *place, double n_rows, double *lo, double *hi)
{
    const double slices = 1 / place->dv;
    *lo = fmin(*lo, (-1 - place->v0) * slices - 1);
    *hi = fmax(*hi, (n_rows - place->v0) * slices + 2);
}

/* One group of views over one orbit, and the slices [z0, z1) of the grid that it sees. */
struct passage {
    struct fbp_bp_orbit orbit;
    size_t z0, z1;
};

/* Slices [*first, *end) of the block in which a voxel of the orbit is wanted; false if there is
 * none.
 */
static bool clip_to_region(const struct cpu_bp *bp, size_t x, size_t y, double *first, double *end)
{
    const struct fbp_job *job = bp->dev->job;
    size_t z0 = bp->z0, z1 = bp->z1;

    if (job->region) {
        const struct fbp_interval z = fbp_orbit_slices(job, x, y);
        z0 = z.first > z0 ? z.first : z0;
        z1 = z.end < z1 ? z.end : z1;
    }
    *first = (double)z0;
    *end = (double)z1;
    return z0 < z1;
}

static void set_up(const struct cpu_bp *bp, size_t group, size_t x, size_t y, bool forward,
                   struct passage *out)
{
    const struct fbp_job *job = bp->dev->job;
    const size_t n_rows = bp->batch->n_rows, view = bp->batch->view0 + group;
    const double row = bp->dev->principal[view][1], row0 = (double)bp->batch->row0;
    const double z_ref = z_reference(job);
    const float *base = (const float *)bp->filtered + group * group_size(job, n_rows) +
                        FBP_ORBIT_BELOW * job->turns;
    struct fbp_bp_orbit *o = &out->orbit;
    double lo = INFINITY, hi = -INFINITY, first, end;

    out->z0 = out->z1 = 0;
    if (!clip_to_region(bp, x, y, &first, &end))
        return;
    o->row = (int)(row - row0);
    for (size_t i = 0; i < job->turns; i++, turn(job, forward, &x, &y)) {
        struct place p;
        if (place_of(bp, job->matrices[view], base, x, y, i, o, &p))
            extend(&p, (double)job->wide.n_rows, &lo, &hi);
        o->v0[i] = (float)(p.v0 + z_ref * p.dv - row);
        o->dv[i] = (float)p.dv;
    }
    out->z0 = (size_t)clamped(lo, first, end);
    out->z1 = (size_t)clamped(hi, first, end);
    o->v_lo = (float)(row0 - 1 - row);
    o->v_hi = (float)(row0 + (double)n_rows - row);
}

static size_t tiles_x(const struct domain *d)
{
    return (d->nx + TILE - 1) / TILE;
}

static size_t items(const struct cpu_bp *bp)
{
    const struct domain d = domain_of(bp->dev->job);
    return tiles_x(&d) * ((d.ny + TILE - 1) / TILE);
}

static size_t scratch(const struct fbp_job *job)
{
    (void)job;
    return (size_t)GROUPS * TILE * TILE * sizeof(struct passage) / sizeof(float);
}

/* The orbits of a tile, [x0, x1) x [y0, y1) of the domain. */
struct tile {
    const struct cpu_bp *bp;
    struct domain domain;
    size_t x0, x1, y0, y1;
    struct passage *passages; /* [group][y][x] */
};

static void set_up_tile(const struct tile *t, size_t k0, size_t k1)
{
    const struct fbp_job *job = t->bp->dev->job;
    const bool forward = job->turns == 4 && counter_clockwise(job);
    struct passage *p = t->passages;

    for (size_t k = k0; k < k1; k++)
        for (size_t y = t->y0; y < t->y1; y++)
            for (size_t x = t->x0; x < t->x1; x++)
                set_up(t->bp, k, t->domain.x0 + x, t->domain.y0 + y, forward, p++);
}

/* Slices [z0, z1) of the grid. */
static void add_slices(const struct tile *t, size_t n_groups, size_t z0, size_t z1)
{
    const struct cpu_bp *bp = t->bp;
    const struct fbp_job *job = bp->dev->job;
    const size_t lanes = job->turns, stride = stride_of(job, bp->batch->n_rows);
    const size_t size = orbit_size(job, bp->slab->nz);
    const double z_ref = z_reference(job);
    fbp_bp_orbit_fn *const add =
        job->turns == 4 ? bp->dev->orbit_dsp.rot90 : bp->dev->orbit_dsp.rot180;
    const struct passage *p = t->passages;

    for (size_t k = 0; k < n_groups; k++)
        for (size_t y = t->y0; y < t->y1; y++)
            for (size_t x = t->x0; x < t->x1; x++, p++) {
                float *orbit = (float *)bp->volume + (y * t->domain.nx + x) * size;
                const size_t first = z0 > p->z0 ? z0 : p->z0, end = z1 < p->z1 ? z1 : p->z1;
                if (first < end)
                    add(orbit + (first - bp->slab->z0) * lanes, end - first,
                        (float)((double)first - z_ref), &p->orbit, stride);
            }
}

/* Slices per step of a tile, such that the parts of the views that they need fill half of the
 * second-level cache. */
static size_t slices_at_once(const struct fbp_job *job)
{
    enum { LEAST = 32 };
    const double *m = job->matrices[0], *voxel = job->grid.voxel_mm;
    /* On the axis: a tile's diagonal in columns, a slice in rows. */
    const double columns = sqrt(m[0] * m[0] + m[1] * m[1]) * voxel[0] * TILE * 1.42 + 2;
    const double slice = (double)(job->turns * job->turns) * columns * m[6] * voxel[2] * 4;
    const double fit = (double)fbp_cpu_level2_bytes() / 2 / slice;

    return fit > LEAST ? (size_t)fit : LEAST;
}

/* A tile takes a few groups of views and slices at a time, so that the parts of a group that it
 * sees stay in the second-level cache. */
static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct domain d = domain_of(job);
    const size_t x0 = index % tiles_x(&d) * TILE, y0 = index / tiles_x(&d) * TILE;
    const size_t n_groups = bp->batch->n_views / job->turns;
    const struct tile t = {bp,
                           d,
                           x0,
                           x0 + TILE < d.nx ? x0 + TILE : d.nx,
                           y0,
                           y0 + TILE < d.ny ? y0 + TILE : d.ny,
                           (struct passage *)(void *)bp->dev->scratch[worker].lines};

    const size_t step = slices_at_once(job);

    for (size_t k = 0; k < n_groups; k += GROUPS) {
        const size_t n = n_groups - k < GROUPS ? n_groups - k : GROUPS;
        set_up_tile(&t, k, k + n);
        for (size_t z = bp->z0; z < bp->z1; z += step)
            add_slices(&t, n, z, z + step < bp->z1 ? z + step : bp->z1);
    }
}

/* The orbit that holds (x, y), and which of its turns it is. */
static size_t orbit_of(const struct fbp_job *job, const struct domain *d, bool forward, size_t x,
                       size_t y, size_t *lane)
{
    for (*lane = 0; x < d->x0 || y < d->y0; ++*lane)
        turn(job, !forward, &x, &y);
    return (y - d->y0) * d->nx + (x - d->x0);
}

/* In blocks of x, so that whole lines are written. */
static void fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const float *volume, float *host)
{
    enum { BLOCK = 16 };
    const size_t nx = slab->nx, lanes = job->turns;
    const struct domain d = domain_of(job);
    const bool forward = job->turns == 4 && counter_clockwise(job);
    const float scale = (float)job->scale, shift = (float)job->shift;

    for (size_t x0 = 0; x0 < nx; x0 += BLOCK) {
        const size_t m = nx - x0 < BLOCK ? nx - x0 : BLOCK;
        const float *in[BLOCK];
        for (size_t x = 0; x < m; x++) {
            size_t lane;
            const size_t orbit = orbit_of(job, &d, forward, x0 + x, y, &lane);
            in[x] = volume + orbit * orbit_size(job, slab->nz) + lane;
        }
        for (size_t z = z0; z < z1; z++) {
            float *out = host + ((z - z0) * slab->ny + y) * nx + x0;
            for (size_t x = 0; x < m; x++)
                out[x] = scale * in[x][(z - slab->z0) * lanes] + shift;
        }
    }
}

#define ORBIT                                                                             \
    .group_size = group_size, .store = store, .volume_size = volume_size, .items = items, \
    .item = item, .scratch = scratch, .fetch_row = fetch_row

const struct cpu_kernel cpu_kernel_rot90 = {
    .name = "rot90", .usable = can_rot90, .turns = 4, ORBIT};
const struct cpu_kernel cpu_kernel_rot180 = {
    .name = "rot180", .usable = can_rot180, .turns = 2, ORBIT};
