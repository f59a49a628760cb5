/*
 * Kernels "rot90" and "rot180" of the CPU device (cpu_kernel_rot90, cpu_kernel_rot180), for scans
 * with a rotational symmetry. One interpolation serves a set of symmetric voxels, which rotations
 * of the scan map onto each other (rot_loops.h). Views are stored packed, [column][row][lane];
 * volumes as [set][slice][lane], where a set is one voxel column per lane.  "rot90" has a variant
 * in precision half (cpu_kernel_rot90_half): samples of 16 bits, and integer sums
 * (rot_half_loops.h).
 *
 * Used by: cpu.c.
 */
#include "backend/cpu/cpu.h"
#include "backend/views.h"
#include "base/system.h"

#include <math.h>
#include <string.h>

enum {
    TILE = 16,  /* edge of a tile [sets] */
    GROUPS = 4, /* number of groups of views whose geometry is computed together */
    LINE = CPU_FLOATS_PER_CACHE_LINE
};

/* Floats from detector column to column. */
static size_t stride_of(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_ROT_BELOW + n_rows + FBP_ROT_ABOVE) * job->selection.symmetric_views;
}

static size_t group_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_ROT_LEFT + job->padded.panel.n_columns + FBP_ROT_RIGHT) * stride_of(job, n_rows);
}

/* Store rows, and `right` columns of zeros after the last one; see cpu_kernel.store(). */
static void pack(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                 const void *rows, void *group, size_t right)
{
    const struct fbp_job *job = dev->job;
    const size_t nc = job->padded.panel.n_columns, stride = stride_of(job, n_rows),
                 lanes = job->selection.symmetric_views;
    const float *in = rows;
    float *left = group, *column = left + FBP_ROT_LEFT * stride;

    if (first == 0) {
        memset(left, 0, FBP_ROT_LEFT * stride * sizeof *left);
        memset(column + nc * stride, 0, right * stride * sizeof *left);
    }
    for (size_t c = 0; c < nc; c++, column += stride) {
        float *out = column + (FBP_ROT_BELOW + first) * lanes;
        if (first == 0)
            memset(column, 0, FBP_ROT_BELOW * lanes * sizeof *column);
        for (size_t i = 0; i < n; i++)
            for (size_t lane = 0; lane < lanes; lane++)
                *out++ = in[(lane * CPU_ROWS + i) * nc + c];
        if (first + n == n_rows)
            memset(out, 0, FBP_ROT_ABOVE * lanes * sizeof *out);
    }
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *group)
{
    pack(dev, n_rows, first, n, rows, group, FBP_ROT_RIGHT);
}

/* Precision half.  The greatest magnitude of the samples of a group becomes FBP_HALF_LARGEST.  It
 * is known when all rows of whole views are filtered: until then, samples are stored as floats.
 * The last column of the border, which is not read otherwise, contains the magnitudes: one per
 * CPU_ROWS rows, and after them the greatest. */
static size_t magnitudes_at(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_ROT_LEFT + job->padded.panel.n_columns + 1) * stride_of(job, n_rows);
}

static void store_half(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                       const void *rows, void *group)
{
    const size_t nc = dev->job->padded.panel.n_columns;
    const float *in = rows;
    float most = 0;

    pack(dev, n_rows, first, n, rows, group, FBP_ROT_RIGHT - 1);
    for (size_t lane = 0; lane < FBP_ROT_VIEWS; lane++)
        for (size_t c = 0; c < n * nc; c++)
            most = fmaxf(most, fabsf(in[lane * CPU_ROWS * nc + c]));
    ((float *)group)[magnitudes_at(dev->job, n_rows) + first / CPU_ROWS] = most;
}

/* Convert floats of rows [first, first + n) to pairs of int16: of a column and of the next one. */
static void finish_half(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                        void *group)
{
    const struct fbp_job *job = dev->job;
    const size_t stride = stride_of(job, n_rows), lanes = n * FBP_ROT_VIEWS;
    float *const blocks = (float *)group + magnitudes_at(job, n_rows), most = 0;
    float *at = (float *)group + (FBP_ROT_BELOW + first) * FBP_ROT_VIEWS;
    uint16_t value[CPU_ROWS * FBP_ROT_VIEWS] = {0}; /* of this column: the first of the next pair */

    for (size_t i = 0; i < cpu_tiles(n_rows, CPU_ROWS); i++)
        most = fmaxf(most, blocks[i]);
    if (first == 0)
        blocks[cpu_tiles(n_rows, CPU_ROWS)] = most;
    const float scale = most > 0 ? FBP_HALF_LARGEST / most : 0;
    for (size_t c = 0; c <= job->padded.panel.n_columns; c++, at += stride)
        for (size_t i = 0; i < lanes; i++) {
            /* + 32768.5: the value is positive, and the conversion, which truncates, rounds it */
            const int next = (int)(at[stride + i] * scale + 32768.5f) - 32768;
            const uint32_t pair = value[i] | (uint32_t)next << 16;
            memcpy(at + i, &pair, sizeof pair);
            value[i] = (uint16_t)next;
        }
}

/* Range of one quarter (rot90) or half (rot180) of the grid; each set of symmetric voxel columns is
 * numbered by its column in this range.  If the number of voxels along an edge is odd, the middle
 * belongs to two quarters or halves, and is stored twice. */
struct domain {
    size_t x0, y0, nx, ny;
};

static struct domain domain_of(const struct fbp_job *job)
{
    const size_t *n = job->grid.n, x0 = job->selection.symmetric_views == 4 ? n[0] / 2 : 0,
                 y0 = n[1] / 2;

    return (struct domain){x0, y0, n[0] - x0, n[1] - y0};
}

/* Returns the number of floats per set of symmetric voxel columns: if it is large, an odd number of
 * cache lines, so the sets of a tile do not compete for the same lines of the cache. */
static size_t set_size(const struct fbp_job *job, size_t n_slices)
{
    enum { LONG = 512 };
    const size_t n = n_slices * job->selection.symmetric_views;

    return n < LONG ? n : (cpu_tiles(n, LINE) | 1) * LINE;
}

static size_t volume_size(const struct fbp_job *job, const struct fbp_slab *slab)
{
    const struct domain d = domain_of(job);

    return d.nx * d.ny * set_size(job, slab->nz);
}

/* Replace voxel column (x, y) by the column to which a rotation by 90 degrees (rot90; forward:
 * counter-clockwise, else clockwise) or 180 degrees (rot180) moves it. */
static void rotate(const struct fbp_job *job, bool forward, size_t *x, size_t *y)
{
    const size_t *n = job->grid.n, from[2] = {*x, *y};

    if (job->selection.symmetric_views == 2) { /* both senses of rotation are equal */
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

/* Parameters of one group of symmetric views along one set of symmetric voxel columns, and the
 * slices [z0, z1) of the grid that project onto the detector. */
struct passage {
    struct fbp_bp_rot rot;
    size_t z0, z1;
};

/* Returns false if no slice is requested: then only out->z0 and z1 are set. */
static bool set_up(const struct cpu_bp *bp, size_t group, size_t x, size_t y, bool forward,
                   struct passage *out)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_grid *g = &job->grid;
    const size_t n_rows = bp->batch->n_rows, view = bp->batch->view0 + group;
    const size_t stride = stride_of(job, n_rows);
    const double *m = job->matrices[view];
    const double row = bp->dev->principal[view][1], row0 = (double)bp->batch->row0;
    const double z_ref = cpu_z_reference(job);
    const float *base = (const float *)bp->filtered + group * group_size(job, n_rows) +
                        FBP_ROT_BELOW * job->selection.symmetric_views;
    struct fbp_bp_rot *r = &out->rot;
    size_t first = bp->z0, end = bp->z1; /* slices in which any voxel of the set is requested */
    double lo = INFINITY, hi = -INFINITY;

    out->z0 = out->z1 = 0;
    if (job->requested.region) {
        const struct fbp_interval z = fbp_symmetric_slices(job, x, y);
        first = z.first > first ? z.first : first;
        end = z.end < end ? z.end : end;
    }
    if (first >= end)
        return false;
    r->row = (int)(row - row0);
    for (size_t i = 0; i < job->selection.symmetric_views; i++, rotate(job, forward, &x, &y)) {
        const double px = fbp_grid_coordinate(g, 0, (double)x),
                     py = fbp_grid_coordinate(g, 1, (double)y), pz = fbp_grid_coordinate(g, 2, 0);
        const double w = m[8] * px + m[9] * py + m[11];
        const double q = w > 1e-6 ? 1 / w : 1, u = (m[0] * px + m[1] * py + m[3]) * q;
        const bool seen = w > 1e-6 && u > -1 && u < (double)job->padded.panel.n_columns;
        const ptrdiff_t c = seen ? cpu_floor(u) : 0;
        const double a = u - (double)c;
        /* detector row v of slice 0 of the grid, and rows per slice */
        const double v0 = (m[4] * px + m[5] * py + m[6] * pz + m[7]) * q;
        const double dv = m[6] * g->voxel_mm[2] * q;
        r->left[i] = base + (size_t)(c + FBP_ROT_LEFT) * stride;
        r->wl[i] = seen ? (float)((1 - a) * q * q) : 0;
        r->wr[i] = seen ? (float)(a * q * q) : 0;
        r->v0[i] = (float)(v0 + z_ref * dv - row);
        r->dv[i] = (float)dv;
        if (seen) { /* slices that project onto the detector, and one per side for rounding */
            const double slices = 1 / dv;
            lo = fmin(lo, (-1 - v0) * slices - 1);
            hi = fmax(hi, ((double)job->padded.panel.n_rows - v0) * slices + 2);
        }
    }
    out->z0 = (size_t)cpu_within(lo, (double)first, (double)end);
    out->z1 = (size_t)cpu_within(hi, (double)first, (double)end);
    r->v_lo = (float)(row0 - 1 - row);
    r->v_hi = (float)(row0 + (double)n_rows - row);
    return true;
}

/* A work item: a tile of sets. */
static size_t items(const struct cpu_bp *bp)
{
    const struct domain d = domain_of(bp->dev->job);

    return cpu_tiles(d.nx, TILE) * cpu_tiles(d.ny, TILE);
}

static size_t scratch(const struct fbp_job *job)
{
    (void)job;
    return (size_t)GROUPS * TILE * TILE * sizeof(struct passage) / sizeof(float);
}

/* Tile of sets of voxel columns [x0, x1) x [y0, y1) of the domain; step: slices whose samples of a
 * group of views fill half of the second-level cache. */
struct tile {
    size_t x0, x1, y0, y1, step;
};

static struct tile tile_of(const struct fbp_job *job, size_t index)
{
    enum { LEAST_SLICES = 32 };
    const struct domain d = domain_of(job);
    const size_t tiles_x = cpu_tiles(d.nx, TILE), lanes = job->selection.symmetric_views;
    const size_t x0 = index % tiles_x * TILE, y0 = index / tiles_x * TILE;

    /* columns: detector columns of a tile's diagonal at the rotation axis; slice_bytes: bytes of a
     * group of views onto which one slice of the tile projects. */
    const double *m = job->matrices[0], *voxel = job->grid.voxel_mm;
    const double columns = sqrt(m[0] * m[0] + m[1] * m[1]) * voxel[0] * TILE * 1.42 + 2;
    const double slice_bytes = (double)(lanes * lanes) * columns * m[6] * voxel[2] * 4;
    const double fit = (double)fbp_cpu_level2_bytes() / 2 / slice_bytes;

    return (struct tile){x0, cpu_least(x0 + TILE, d.nx), y0, cpu_least(y0 + TILE, d.ny),
                         fit > LEAST_SLICES ? (size_t)fit : LEAST_SLICES};
}

/* Add a batch to a tile of sets of symmetric voxel columns, GROUPS groups of views and `step`
 * slices at a time: the samples of a group for these slices fill half of the second-level cache. */
static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct domain d = domain_of(job);
    const struct tile tile = tile_of(job, index);
    const size_t lanes = job->selection.symmetric_views;
    const size_t n_groups = bp->batch->n_views / lanes, stride = stride_of(job, bp->batch->n_rows);
    const size_t size = set_size(job, bp->slab->nz);
    const bool forward = fbp_turns_counter_clockwise(job);
    const double z_ref = cpu_z_reference(job);
    fbp_bp_rot_fn *const add = lanes == 4 ? bp->dev->dsp.rot90 : bp->dev->dsp.rot180;
    struct passage *const passages =
        (struct passage *)(void *)bp->dev->scratch[worker].buffer[CPU_KERNEL];

    for (size_t k0 = 0; k0 < n_groups; k0 += GROUPS) {
        const size_t k1 = cpu_least(k0 + GROUPS, n_groups);
        struct passage *p = passages; /* [group][y][x] */
        for (size_t k = k0; k < k1; k++)
            for (size_t y = tile.y0; y < tile.y1; y++)
                for (size_t x = tile.x0; x < tile.x1; x++)
                    (void)set_up(bp, k, d.x0 + x, d.y0 + y, forward, p++);
        for (size_t za = bp->z0; za < bp->z1; za += tile.step) {
            const size_t zb = cpu_least(za + tile.step, bp->z1);
            p = passages;
            for (size_t k = k0; k < k1; k++)
                for (size_t y = tile.y0; y < tile.y1; y++)
                    for (size_t x = tile.x0; x < tile.x1; x++, p++) {
                        float *set = (float *)bp->volume + (y * d.nx + x) * size;
                        const size_t first = za > p->z0 ? za : p->z0, end = cpu_least(zb, p->z1);
                        if (first < end)
                            add(set + (first - bp->slab->z0) * lanes, end - first,
                                (float)((double)first - z_ref), &p->rot, stride);
                    }
        }
    }
}

/* Parameters in precision half of groups of views along one set of voxel columns. */
struct passage_half {
    struct fbp_bp_rot_half rot;
    size_t z0, z1;
};

/* Compute the parameters of n groups of views, from `group` on, along the set of voxel column (x,
 * y).  The unit of the weights depends on these groups and columns only, not on the slices. */
static void set_up_half(const struct cpu_bp *bp, size_t group, size_t n, size_t x, size_t y,
                        bool forward, struct passage_half *out)
{
    const struct fbp_job *job = bp->dev->job;
    const size_t n_rows = bp->batch->n_rows;
    const size_t greatest = magnitudes_at(job, n_rows) + cpu_tiles(n_rows, CPU_ROWS);
    struct passage p[FBP_HALF_GROUPS];
    float largest[FBP_HALF_GROUPS] = {0}, most = 0;

    out->z0 = bp->z1;
    out->z1 = bp->z0;
    for (size_t g = 0; g < n; g++) {
        if (!set_up(bp, group + g, x, y, forward, &p[g]))
            return;
        largest[g] =
            ((const float *)bp->filtered)[(group + g) * group_size(job, n_rows) + greatest];
        for (size_t i = 0; i < FBP_ROT_VIEWS; i++)
            most = fmaxf(most, (p[g].rot.wl[i] + p[g].rot.wr[i]) * largest[g]);
        out->z0 = cpu_least(out->z0, p[g].z0);
        out->z1 = p[g].z1 > out->z1 ? p[g].z1 : out->z1;
    }
    out->rot.scale = most / ((float)FBP_HALF_WEIGHT * FBP_HALF_LARGEST);
    for (size_t g = 0; g < FBP_HALF_GROUPS; g++) {
        /* if the batch has an odd number of groups, a group of weight 0 is added */
        const struct fbp_bp_rot *r = &p[g < n ? g : 0].rot;
        const float unit = most > 0 ? largest[g] / most * FBP_HALF_WEIGHT : 0;
        for (size_t i = 0; i < FBP_ROT_VIEWS; i++) {
            out->rot.group[g].left[i] = (const int16_t *)(const void *)r->left[i];
            out->rot.group[g].weights[i] =
                (uint32_t)(r->wl[i] * unit + 0.5f) | (uint32_t)(r->wr[i] * unit + 0.5f) << 16;
            out->rot.group[g].v0[i] = r->v0[i];
            out->rot.group[g].dv[i] = r->dv[i];
        }
        out->rot.group[g].v_lo = r->v_lo;
        out->rot.group[g].v_hi = r->v_hi;
        out->rot.group[g].row = r->row;
    }
}

static size_t scratch_half(const struct fbp_job *job)
{
    (void)job;
    return (size_t)TILE * TILE * sizeof(struct passage_half) / sizeof(float);
}

/* Like item(), FBP_HALF_GROUPS groups of views at a time. */
static void item_half(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct domain d = domain_of(job);
    const struct tile tile = tile_of(job, index);
    const size_t n_groups = bp->batch->n_views / FBP_ROT_VIEWS;
    const size_t size = set_size(job, bp->slab->nz);
    const bool forward = fbp_turns_counter_clockwise(job);
    const double z_ref = cpu_z_reference(job);
    struct passage_half *const passages =
        (struct passage_half *)(void *)bp->dev->scratch[worker].buffer[CPU_KERNEL];

    for (size_t k = 0; k < n_groups; k += FBP_HALF_GROUPS) {
        struct passage_half *p = passages; /* [y][x] */
        for (size_t y = tile.y0; y < tile.y1; y++)
            for (size_t x = tile.x0; x < tile.x1; x++)
                set_up_half(bp, k, cpu_least(FBP_HALF_GROUPS, n_groups - k), d.x0 + x, d.y0 + y,
                            forward, p++);
        for (size_t za = bp->z0; za < bp->z1; za += tile.step) {
            const size_t zb = cpu_least(za + tile.step, bp->z1);
            p = passages;
            for (size_t y = tile.y0; y < tile.y1; y++)
                for (size_t x = tile.x0; x < tile.x1; x++, p++) {
                    float *set = (float *)bp->volume + (y * d.nx + x) * size;
                    const size_t first = za > p->z0 ? za : p->z0, end = cpu_least(zb, p->z1);
                    if (first < end)
                        bp->dev->dsp.rot90_half(set + (first - bp->slab->z0) * FBP_ROT_VIEWS,
                                                end - first, (float)((double)first - z_ref),
                                                &p->rot);
                }
        }
    }
}

/* Copy row y of slices [z0, z1) to the output, by blocks along x of whole cache lines. */
static void fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const void *volume, void *host)
{
    const size_t nx = slab->nx, lanes = job->selection.symmetric_views,
                 size = set_size(job, slab->nz);
    const struct domain d = domain_of(job);
    const bool forward = fbp_turns_counter_clockwise(job);
    const float scale = (float)job->scale, shift = (float)job->shift;

    for (size_t x0 = 0; x0 < nx; x0 += LINE) {
        const size_t m = cpu_least(nx - x0, LINE);
        const float *in[LINE];
        /* the set that contains column (x0 + x, y), and its lane */
        for (size_t x = 0; x < m; x++) {
            size_t xs = x0 + x, ys = y, lane = 0;
            for (; xs < d.x0 || ys < d.y0; lane++)
                rotate(job, !forward, &xs, &ys);
            in[x] = (const float *)volume + ((ys - d.y0) * d.nx + (xs - d.x0)) * size + lane;
        }
        for (size_t z = z0; z < z1; z++) {
            float *out = (float *)host + ((z - z0) * slab->ny + y) * nx + x0;
            for (size_t x = 0; x < m; x++)
                out[x] = scale * in[x][(z - slab->z0) * lanes] + shift;
        }
    }
}

#define ROT \
    .group_size = group_size, .volume_size = volume_size, .items = items, .fetch_row = fetch_row
#define ROT_EXACT .store = store, .item = item, .scratch = scratch

const struct cpu_kernel cpu_kernel_rot90 = {.name = "rot90",
                                            .least_slices = 12,
                                            .symmetry = FBP_SYM_COLUMN | FBP_SYM_ROT90,
                                            .symmetric_views = 4,
                                            ROT,
                                            ROT_EXACT};
const struct cpu_kernel cpu_kernel_rot90_half = {.name = "rot90",
                                                 .precision = FBP_PRECISION_HALF,
                                                 .least_slices = 12,
                                                 .symmetry = FBP_SYM_COLUMN | FBP_SYM_ROT90,
                                                 .symmetric_views = 4,
                                                 ROT,
                                                 .store = store_half,
                                                 .finish = finish_half,
                                                 .item = item_half,
                                                 .scratch = scratch_half};
const struct cpu_kernel cpu_kernel_rot180 = {.name = "rot180",
                                             .least_slices = 16,
                                             .symmetry = FBP_SYM_COLUMN | FBP_SYM_ROT180,
                                             .symmetric_views = 2,
                                             ROT,
                                             ROT_EXACT};
