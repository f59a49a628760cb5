/*
 * Kernel "hierarchical" of the CPU device (cpu_kernel_hierarchical), in precision fast: fewer
 * updates by angular decimation (nodes.h).
 *
 * The volume is divided into blocks of EDGE x EDGE voxel columns, the scan into groups of GROUP
 * views.  Neighbouring views of a block differ little.  Therefore each group is replaced by fewer
 * images of the block, at angles called nodes, and kernel "column" backprojects these:
 *
 *  1. Each view is resampled on a plane through the block's centre c, parallel to the z axis and to
 *     the detector's rows: sample (p, i) is where the ray through the point c + p s e + (0, 0, z_i)
 *     meets the detector.  e: unit vector along the rows; s, z_i: about one detector pixel apart.
 *     Samples are multiplied by 1 / w^2, w: depth of c.
 *  2. The image at a node is the sum of the resampled views times the group's coefficients.
 *     These are of band-limited interpolation in the angle, with the least mean error for the
 *     block's edge.
 *  3. For each node, a voxel adds (L / L')^2 times the image, interpolated where the voxel's
 *     ray meets the plane.  L, L': distances of c and of the voxel from the source,
 *     perpendicular to the plane.
 *
 * The outermost columns and rows of a view are repeated beyond the detector's edges.  With zeros
 * there, interpolation between nodes would spread the step at the edge into the field of view.
 * Blocks and groups have fixed positions in grid and scan, so that voxels do not depend on the
 * division of the work.
 *
 * Used by: cpu.c.
 */
#include "backend/cpu/cpu.h"

#include "backend/nodes.h"
#include "base/base.h"
#include "base/math.h"
#include "base/system.h"
#include "geometry/kind.h"
#include "geometry/view.h"

#include <math.h>
#include <string.h>

enum {
    EDGE = 32,       /* of a block [voxel columns] */
    GROUP = 64,      /* views */
    ROW_0 = 1 << 16, /* index of the row of images that is the height of slice z_reference */
    LANES = FBP_RESAMPLED_ROWS,
    CELL = 16,          /* slices: runs of slices have a multiple of this number */
    MOST_COLUMNS = 384, /* of an image */
    MOST_ROWS = FBP_COLUMN_SLICES - LANES, /* of an image */
    /* copies of the outermost columns and rows beyond the detector's edges, and rows of zeros
     * beyond the copies, which a vector of rows may reach */
    EXTRA_COLUMNS = 10,
    EXTRA_ROWS = 4,
    ZEROS = 24 + LANES
};

/* Scratch memory of a thread [floats]: images; resampled views of some image columns; and their
 * rows. */
enum {
    COLUMNS = 12, /* resampled at a time */
    IMAGE_FLOATS = 1 << 21,
    VIEW_FLOATS = COLUMNS * GROUP * (FBP_COLUMN_SLICES + 32),
    ROW_FLOATS = (sizeof(struct fbp_bp_rows) + sizeof(float) - 1) / sizeof(float)
};

/* The kernel is used if its time, as a part of that of "column", is less than PAYS: nodes per view,
 * and COLUMN_COST times the columns of an image per voxel column of the block (measured with
 * AVX-512 and AVX2). */
static const double PAYS = 0.85, COLUMN_COST = 4;

static struct fbp_decimation decimation_of(const struct fbp_job *job)
{
    return (struct fbp_decimation){.edge = EDGE, .group = GROUP, .n_views = job->n_views};
}

/* Returns whether the kernel can compute the scan, and has fewer updates than "column". */
static bool usable(const struct fbp_job *job)
{
    struct fbp_decimation d = decimation_of(job);

    if (!fbp_decimation_of(job, &d))
        return false;
    /* rows of images for a cell of slices, whose heights differ within a block, and vectors */
    const double rows =
        (1.1 * CELL * job->grid.voxel_mm[2] + 3 * d.near * d.height) * d.rows / d.depth + 64;
    return d.nodes / GROUP + COLUMN_COST * d.columns / (EDGE * EDGE) < PAYS &&
           d.columns < MOST_COLUMNS * d.depth && rows < MOST_ROWS &&
           FBP_MOST_NODES * d.columns / d.depth * (rows + 64) < IMAGE_FLOATS;
}

static size_t table_bytes(const struct fbp_job *job)
{
    const struct fbp_decimation d = decimation_of(job);

    return fbp_view_groups_bytes(job, &d);
}

static void close_tables(struct cpu_device *dev)
{
    struct fbp_view_groups *t = dev->tables;

    fbp_view_groups_free(&t);
    dev->tables = NULL;
}

static fbp_status open_tables(struct cpu_device *dev)
{
    const struct fbp_decimation d = decimation_of(dev->job);
    struct fbp_view_groups *t = NULL;

    FBP_TRY(fbp_view_groups_make(dev->job, &d, &t));
    dev->tables = t;
    return FBP_OK;
}

/* Images of a block at the nodes of a group: columns p = -half … half, `s` mm apart; rows i, `h` mm
 * apart, row ROW_0 at height z. */
struct images {
    const struct fbp_view_group *group;
    const struct fbp_angular_nodes *nodes;
    double c[2]; /* centre of the block */
    double s, h, z;
    ptrdiff_t half;
    double near, far;       /* greatest and least L / L' of voxels at nodes */
    double least, greatest; /* source heights of nodes */
};

static double distance(const struct fbp_direction *d, const double at[2])
{
    return at[0] * d->n[0] + at[1] * d->n[1] - d->s[1];
}

/* Returns L / L' of a voxel column at `at`. */
static double nearness(const struct fbp_job *job, const struct fbp_direction *d, const double c[2],
                       const double at[2])
{
    return fbp_kind_of(job->kind)->has_source ? distance(d, c) / distance(d, at) : 1;
}

/* Returns the column p of the image at a node that a voxel column at `at` meets; q: its L / L'. */
static double column_of(const struct images *im, const struct fbp_direction *d, const double at[2],
                        double q)
{
    const double to = at[0] * d->e[0] + at[1] * d->e[1] - d->s[0];
    const double centre = im->c[0] * d->e[0] + im->c[1] * d->e[1] - d->s[0];

    return (to * q - centre) / im->s;
}

/* Returns the row, counted from ROW_0, that height z of a voxel column meets, for a source at the
 * given height. */
static double row_of(const struct images *im, double source, double z, double q)
{
    return (source + (z - source) * q - im->z) / im->h;
}

/* Projection of image samples into one view: sample (p, i) lies at column (u + p u_p) / w and row
 * (v + i v_i) / w.  p and i count from c at height im->z; w is constant. */
struct image_projection {
    double u, u_p, v, v_i, w;
};

static struct image_projection project_images(const struct fbp_job *job,
                                              const struct fbp_direction *views, size_t k,
                                              const struct images *im)
{
    const double *m = job->matrices[k], *e = views[k].e;

    return (struct image_projection){
        .u = m[0] * im->c[0] + m[1] * im->c[1] + m[3],
        .u_p = (m[0] * e[0] + m[1] * e[1]) * im->s,
        .v = m[4] * im->c[0] + m[5] * im->c[1] + m[6] * im->z + m[7],
        .v_i = m[6] * im->h,
        .w = m[8] * im->c[0] + m[9] * im->c[1] + m[11],
    };
}

/* Set up the images of block (bx, by) for a group.  Returns false if no view shows the block. */
static bool set_images(const struct cpu_bp *bp, const struct fbp_view_group *g, size_t bx,
                       size_t by, struct images *im)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_view_groups *t = bp->dev->tables;
    const struct fbp_grid *grid = &job->grid;
    const size_t begin[2] = {bx * EDGE, by * EDGE};
    const size_t middle = g->first + g->n_views / 2, last = g->first + g->n_views - 1;
    double edges[2][2], most = 0, bandwidth = 0;
    bool visible = false;

    *im = (struct images){.group = g, .s = 1, .h = 1, .near = 1, .far = 1};
    for (int i = 0; i < 2; i++) {
        const size_t end = cpu_least(begin[i] + EDGE, grid->n[i]);
        edges[i][0] = fbp_grid_coordinate(grid, i, (double)begin[i]);
        edges[i][1] = fbp_grid_coordinate(grid, i, (double)end - 1);
        im->c[i] = (edges[i][0] + edges[i][1]) / 2;
    }
    im->z = fbp_grid_coordinate(grid, 2, cpu_z_reference(job));
    const struct image_projection mid = project_images(job, t->views, middle, im);
    im->s = mid.w / mid.u_p;
    im->h = mid.w / mid.v_i;
    for (int i = 0; i < 3; i++) {
        const size_t k = i == 0 ? g->first : i == 1 ? middle : last;
        bandwidth = fmax(bandwidth, fbp_block_bandwidth(job, EDGE, t->views, k, im->c));
    }
    im->nodes = &g->nodes[0];
    while (im->nodes->bandwidth < bandwidth && im->nodes < &g->nodes[FBP_BANDWIDTHS - 1])
        im->nodes++;
    im->least = im->greatest = im->nodes->at[0].s[2];
    for (size_t i = 0; i < im->nodes->n; i++) {
        const struct fbp_direction *d = &im->nodes->at[i];
        im->least = fmin(im->least, d->s[2]);
        im->greatest = fmax(im->greatest, d->s[2]);
        for (int corner = 0; corner < 4; corner++) {
            const double at[2] = {edges[0][corner & 1], edges[1][corner >> 1]};
            const double q = nearness(job, d, im->c, at);
            most = fmax(most, fabs(column_of(im, d, at, q)));
            im->far = fmin(im->far, q);
            im->near = fmax(im->near, q);
        }
    }
    im->half = (ptrdiff_t)cpu_within(most, 0, MOST_COLUMNS / 2 - 3) + 2;
    for (size_t k = g->first; k <= last; k++) {
        const struct image_projection p = project_images(job, t->views, k, im);
        const double reach = (double)im->half * p.u_p;
        visible = visible ||
                  (p.u + reach > -p.w && p.u - reach < (double)job->padded.panel.n_columns * p.w);
    }
    return visible;
}

static size_t scratch(const struct fbp_job *job)
{
    (void)job;
    return IMAGE_FLOATS + VIEW_FLOATS + ROW_FLOATS;
}

/* Rows of images that a run of slices needs: [first, end), counted from row 0 of the images, both
 * multiples of LANES; stride: floats from image column to column. */
struct rows {
    size_t first, end, stride;
};

static struct rows rows_for(const struct fbp_job *job, const struct images *im, size_t z0,
                            size_t z1)
{
    const double a = fbp_grid_coordinate(&job->grid, 2, (double)z0);
    const double b = fbp_grid_coordinate(&job->grid, 2, (double)z1 - 1);
    double lo = INFINITY, hi = -INFINITY;

    for (int i = 0; i < 4; i++) {
        const double source = i & 1 ? im->least : im->greatest, q = i & 2 ? im->near : im->far;
        lo = fmin(lo, row_of(im, source, a, q));
        hi = fmax(hi, row_of(im, source, b, q));
    }
    const size_t first = (size_t)(ROW_0 + (ptrdiff_t)floor(lo) - 1) / LANES * LANES;
    const size_t end = cpu_tiles((size_t)(ROW_0 + (ptrdiff_t)floor(hi) + 3), LANES) * LANES;
    return (struct rows){first, end, cpu_column_stride(end - first)};
}

static size_t image_size(const struct images *im, const struct rows *r)
{
    return (2 * (size_t)im->half + 1) * r->stride;
}

/* Returns whether the images of slices [z0, z1) fit the second-level cache. */
static bool fits(const struct fbp_job *job, const struct images *im, size_t z0, size_t z1)
{
    const struct rows r = rows_for(job, im, z0, z1);
    const size_t most = cpu_least(fbp_cpu_level2_bytes() / 2 / sizeof(float), IMAGE_FLOATS);

    return r.end - r.first <= MOST_ROWS && z1 - z0 <= MOST_ROWS &&
           im->nodes->n * image_size(im, &r) <= most;
}

/* Distance between neighbouring columns of a stored view [floats]; rows before its row 0. */
enum { ROWS_BEFORE = EXTRA_ROWS + ZEROS };

static size_t stride_of(size_t n_rows)
{
    const size_t n = ROWS_BEFORE + n_rows + EXTRA_ROWS + ZEROS + FBP_MOST_TAPS + LANES;

    return cpu_tiles(n, FBP_COLUMN_MULTIPLE) * FBP_COLUMN_MULTIPLE;
}

static size_t view_size(const struct fbp_job *job, size_t n_rows)
{
    return (job->padded.panel.n_columns + 2 * (size_t)EXTRA_COLUMNS) * stride_of(n_rows);
}

static void store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *view)
{
    const size_t nc = dev->job->padded.panel.n_columns, stride = stride_of(n_rows);
    const bool last = first + n == n_rows;
    float *const column = (float *)view + EXTRA_COLUMNS * stride + ROWS_BEFORE;

    dev->line.transpose(rows, n, nc, column + first, stride);
    for (size_t c = 0; c < nc + 2 * (size_t)EXTRA_COLUMNS; c++) {
        float *const to = (float *)view + c * stride + ROWS_BEFORE;
        const float *from = c < EXTRA_COLUMNS        ? column
                            : c < EXTRA_COLUMNS + nc ? to
                                                     : column + (nc - 1) * stride;
        if (from != to)
            memcpy(to + first, from + first, n * sizeof *to);
        for (size_t i = 1; first == 0 && i <= EXTRA_ROWS; i++)
            to[-(ptrdiff_t)i] = to[0];
        if (first == 0)
            memset(to - ROWS_BEFORE, 0, ZEROS * sizeof *to);
        for (size_t i = 0; last && i < EXTRA_ROWS; i++)
            to[n_rows + i] = to[n_rows - 1];
        if (last)
            memset(to + n_rows + EXTRA_ROWS, 0,
                   (stride - ROWS_BEFORE - n_rows - EXTRA_ROWS) * sizeof *to);
    }
}

/* Compute the images: resample all views for some image columns, then sum them to the nodes. */
static void compute_images(const struct cpu_bp *bp, const struct images *im, const struct rows *r,
                           struct fbp_bp_rows *rows, float *resampled, float *images)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_view_groups *t = bp->dev->tables;
    const struct fbp_view_group *g = im->group;
    const size_t n_rows = bp->batch->n_rows, stride = stride_of(n_rows);
    const size_t size = view_size(job, n_rows), n = r->end - r->first;
    const ptrdiff_t most = (ptrdiff_t)job->padded.panel.n_columns + EXTRA_COLUMNS - 4;
    const float *views = (const float *)bp->filtered + (g->first - bp->batch->view0) * size +
                         EXTRA_COLUMNS * stride + ROWS_BEFORE;

    for (ptrdiff_t first = -im->half; first <= im->half; first += COLUMNS) {
        const ptrdiff_t columns = im->half - first < COLUMNS ? im->half - first + 1 : COLUMNS;
        for (size_t k = 0; k < g->n_views; k++) {
            const struct image_projection at = project_images(job, t->views, g->first + k, im);
            const double per_w = 1 / at.w;
            bp->dev->dsp.rows(rows, n, at.v * per_w, at.v_i * per_w, (ptrdiff_t)r->first - ROW_0,
                              n_rows + EXTRA_ROWS);
            for (ptrdiff_t p = 0; p < columns; p++) {
                float *out = resampled + ((size_t)p * g->n_views + k) * r->stride;
                const double u = (at.u + (double)(first + p) * at.u_p) * per_w;
                const ptrdiff_t c = cpu_floor(cpu_within(u, -EXTRA_COLUMNS, (double)most + 4)) - 1;
                const float weight = (float)(per_w * per_w), a = (float)(u - (double)(c + 1));
                float w[4];
                if (c < -EXTRA_COLUMNS || c > most) {
                    memset(out, 0, r->stride * sizeof *out);
                    continue;
                }
                for (int i = 0; i < 4; i++)
                    w[i] = weight * fbp_cubic_weight(a - (float)(i - 1));
                memset(out, 0, FBP_COLUMN_BELOW * sizeof *out);
                bp->dev->dsp.resample(out + FBP_COLUMN_BELOW, n, rows,
                                      views + k * size + c * (ptrdiff_t)stride, stride, w, size);
                memset(out + FBP_COLUMN_BELOW + n, 0,
                       (r->stride - FBP_COLUMN_BELOW - n) * sizeof *out);
            }
        }
        for (ptrdiff_t p = 0; p < columns; p++)
            bp->dev->dsp.combine(images + (size_t)(first + p + im->half) * r->stride,
                                 image_size(im, r), im->nodes->n,
                                 resampled + (size_t)p * g->n_views * r->stride, r->stride,
                                 g->n_views, im->nodes->coefficients);
    }
}

/* Add the images to slices [z0, z1) of voxel columns [x0, x1) x [y0, y1). */
static void add_images(const struct cpu_bp *bp, const struct images *im, const struct rows *r,
                       const float *images, size_t x0, size_t x1, size_t y0, size_t y1, size_t z0,
                       size_t z1)
{
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_slab *s = bp->slab;
    const size_t size = image_size(im, r), n = im->nodes->n;
    const double rows_per_slice = job->grid.voxel_mm[2] / im->h;
    struct fbp_bp_column columns[FBP_MOST_NODES] = {{.left = NULL}};

    for (size_t i = 0; i < n; i++) {
        columns[i].v_lo = (float)((double)r->first - ROW_0);
        columns[i].v_hi = (float)((double)r->end - 1 - ROW_0);
        columns[i].row = ROW_0 - (int)r->first;
    }
    for (size_t y = y0; y < y1; y++)
        for (size_t x = x0; x < x1; x++) {
            const struct fbp_interval z = cpu_column_slices(bp, x, y, z0, z1);
            const double at[2] = {fbp_grid_coordinate(&job->grid, 0, (double)x),
                                  fbp_grid_coordinate(&job->grid, 1, (double)y)};
            if (z.end == 0)
                continue;
            for (size_t i = 0; i < n; i++) {
                const struct fbp_direction *d = &im->nodes->at[i];
                const double q = nearness(job, d, im->c, at);
                const double p = column_of(im, d, at, q) + (double)im->half;
                const ptrdiff_t c = cpu_floor(p);
                const double a = p - (double)c;
                struct fbp_bp_column *const out = &columns[i];
                out->left = out->ahead =
                    images + i * size + (size_t)c * r->stride + FBP_COLUMN_BELOW;
                out->wl = (float)((1 - a) * q * q);
                out->wr = (float)(a * q * q);
                out->v0 = (float)row_of(im, d->s[2], im->z, q);
                out->dv = out->step = (float)(rows_per_slice * q);
                out->z0 = z.first;
                out->z1 = z.end;
            }
            float *dst = (float *)bp->volume + ((y - s->y0) * s->nx + x - s->x0) * s->nz;
            bp->dev->dsp.column(dst + (z.first - s->z0), z.first, z.end,
                                (float)cpu_z_reference(job), columns, n, r->stride);
        }
}

/* Blocks [bx0, bx1) x [by0, by1) that contain voxels of the slab. */
struct blocks {
    size_t bx0, bx1, by0, by1;
};

static struct blocks blocks_of(const struct fbp_slab *s)
{
    return (struct blocks){s->x0 / EDGE, cpu_tiles(s->x0 + s->nx, EDGE), s->y0 / EDGE,
                           cpu_tiles(s->y0 + s->ny, EDGE)};
}

/* Returns the number of work items: blocks. */
static size_t items(const struct cpu_bp *bp)
{
    const struct blocks b = blocks_of(bp->slab);

    return (b.bx1 - b.bx0) * (b.by1 - b.by0);
}

static void item(void *user, size_t index, int worker)
{
    const struct cpu_bp *bp = user;
    const struct fbp_job *job = bp->dev->job;
    const struct fbp_view_groups *t = bp->dev->tables;
    const struct fbp_slab *s = bp->slab;
    const struct blocks b = blocks_of(s);
    const size_t bx = b.bx0 + index % (b.bx1 - b.bx0), by = b.by0 + index / (b.bx1 - b.bx0);
    const size_t x0 = bx * EDGE > s->x0 ? bx * EDGE : s->x0;
    const size_t y0 = by * EDGE > s->y0 ? by * EDGE : s->y0;
    const size_t x1 = cpu_least((bx + 1) * EDGE, s->x0 + s->nx);
    const size_t y1 = cpu_least((by + 1) * EDGE, s->y0 + s->ny);
    float *const images = bp->dev->scratch[worker].buffer[CPU_KERNEL];
    float *const resampled = images + IMAGE_FLOATS;
    struct fbp_bp_rows *const rows = (struct fbp_bp_rows *)(void *)(resampled + VIEW_FLOATS);
    const size_t begin = bp->batch->view0, end = begin + bp->batch->n_views;

    for (size_t i = begin / GROUP; i * GROUP < end; i++) {
        struct images im;
        if (!set_images(bp, &t->groups[i], bx, by, &im))
            continue;
        const size_t z0 = im.group->z0 > bp->z0 ? im.group->z0 : bp->z0;
        const size_t z1 = cpu_least(im.group->z1, bp->z1);
        for (size_t za = z0, zb; za < z1; za = zb) {
            zb = (za / CELL + 1) * CELL;
            while (zb < z1 && fits(job, &im, za, zb + CELL))
                zb += CELL;
            zb = cpu_least(zb, z1);
            const struct rows r = rows_for(job, &im, za, zb);
            compute_images(bp, &im, &r, rows, resampled, images);
            add_images(bp, &im, &r, images, x0, x1, y0, y1, za, zb);
        }
    }
}

const struct cpu_kernel cpu_kernel_hierarchical = {
    .name = "hierarchical",
    .precision = FBP_PRECISION_FAST,
    .group_views = GROUP,
    .least_slices = 16,
    .usable = usable,
    .symmetry = FBP_SYM_COLUMN,
    .symmetric_views = 1,
    .boxes = true,
    .group_size = view_size,
    .store = store,
    .items = items,
    .item = item,
    .scratch = scratch,
    .table_bytes = table_bytes,
    .open = open_tables,
    .close = close_tables,
    .fetch_row = cpu_column_fetch_row,
};
