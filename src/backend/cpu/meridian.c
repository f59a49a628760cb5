/*
 * Pictures of meridian planes, by the kernel of plane integrals: 16 columns and 4 rows of a picture
 * are a block of 64, whose places in a view are linear in four, four and four steps, as those of a
 * cube of voxels are.  Blocks begin at multiples of these, so that no bit depends on what is asked
 * for beside them.
 */
#include "backend/meridian.h"
#include "backend/cpu/cpu.h"
#include "filter/spline.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = FBP_PLANES_EDGE * FBP_PLANES_EDGE, /* of a block */
    ROWS = FBP_PLANES_EDGE,
    BLOCKS = 32,   /* side by side, on the stack */
    MOST_FINE = 16 /* columns that are computed for one, where it takes so many */
};

/* A picture, or a part of its views. */
struct part {
    const struct fbp_meridian_pictures *pictures;
    size_t view0, n;
    size_t fine; /* columns are computed so many times as close; 0: one by one */
    struct fbp_bp_planes planes;
};

/* How many samples apart places of a block can be. */
static double span_of(const double at[3], size_t fine)
{
    return (COLUMNS - 1) * fabs(at[1]) / (double)fine + (ROWS - 1) * fabs(at[2]);
}

static double widest(const struct part *p, size_t fine)
{
    double span = 0;

    for (size_t k = 0; k < p->n; k++)
        span = fmax(span, span_of(p->pictures->at[p->view0 + k], fine));
    return span;
}

/* Columns as close as windows need them. */
static size_t choose_fine(const struct part *p)
{
    for (size_t fine = 1; fine <= MOST_FINE; fine *= 2)
        if (widest(p, fine) <= FBP_PLANES_SPAN)
            return fine;
    return 0;
}

/* Views [k0, k0 + n) of the part over rows from r on. */
static void set_views(struct part *p, const struct fbp_job *job, const float *filtered, size_t k0,
                      size_t n, size_t r)
{
    const double rounding = job->interpolation == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0;
    const size_t stride = cpu_planes_stride(job);
    struct fbp_bp_planes *t = &p->planes;

    memset(t, 0, sizeof *t);
    t->samples = filtered + (p->view0 + k0) * stride + FBP_PLANES_MARGIN;
    t->stride = stride;
    t->n = n;
    t->last = (double)job->wide.n_columns + 1; /* a spline has a tap before it */
    t->narrow = true;
    for (size_t k = 0; k < n; k++) {
        const double *at = p->pictures->at[p->view0 + k0 + k], step = at[1] / (double)p->fine;
        t->above[k] = -fmin(step, 0) * (COLUMNS - 1) - fmin(at[2], 0) * (ROWS - 1);
        t->along[k] = step;
        t->start[k] = at[0] + rounding + (double)r * at[2] - t->above[k];
        t->step[0][k] = (float)step;
        t->step[1][k] = (float)(FBP_PLANES_EDGE * step);
        t->step[2][k] = (float)at[2];
        t->narrow = t->narrow && span_of(at, p->fine) <= FBP_PLANES_NARROW;
    }
}

/* A row of a block, from fine column x on, into that of the picture. */
static void give_row(const struct part *p, const float *row, size_t x, float *out)
{
    const size_t nc = p->pictures->n_columns, left = (nc - 1) * p->fine + 1 - x;
    const size_t n = left < COLUMNS ? left : COLUMNS;

    if (p->fine == 1)
        memcpy(out + x, row, n * sizeof *out);
    for (size_t i = 0; p->fine > 1 && i < n; i += p->fine)
        out[(x + i) / p->fine] = row[i];
}

/* Of n blocks from fine column x on, a multiple of COLUMNS, rows [from, end) of those that a row of
 * blocks has. */
static void give(const struct part *p, const float *blocks, size_t x, size_t n, size_t from,
                 size_t end, float *out)
{
    for (size_t r = from; r < end; r++, out += p->pictures->n_columns)
        for (size_t b = 0; b < n; b++)
            give_row(p, blocks + b * FBP_PLANES_BLOCK + r * COLUMNS, x + b * COLUMNS, out);
}

/* Rows [from, end) of those from r on, a multiple of ROWS. */
static void add_rows(const struct cpu_device *dev, struct part *p, const float *filtered, size_t r,
                     size_t from, size_t end, float *out)
{
    float blocks[BLOCKS * FBP_PLANES_BLOCK] __attribute__((aligned(64)));
    const size_t all = ((p->pictures->n_columns - 1) * p->fine) / COLUMNS + 1;

    for (size_t b = 0; b < all; b += BLOCKS) {
        const size_t n = all - b < BLOCKS ? all - b : BLOCKS;
        memset(blocks, 0, n * FBP_PLANES_BLOCK * sizeof *blocks);
        for (size_t k = 0; k < p->n; k += FBP_PLANES_VIEWS) {
            set_views(p, dev->job, filtered, k,
                      p->n - k < FBP_PLANES_VIEWS ? p->n - k : FBP_PLANES_VIEWS, r);
            for (size_t i = 0; i < n; i++)
                dev->planes(blocks + i * FBP_PLANES_BLOCK, (double)((b + i) * COLUMNS), &p->planes);
        }
        give(p, blocks, b * COLUMNS, n, from, end, out);
    }
}

/* A row of n samples at u, zeros beside them. */
static float sample(const struct fbp_job *job, const float *row, double u)
{
    const double n = (double)job->wide.n_columns;
    const bool is_nearest = job->interpolation == FBP_INTERPOLATION_NEAREST;
    const double in = fmin(fmax(is_nearest ? u + FBP_NEAREST : u, -3), n + 2);
    const ptrdiff_t i = cpu_floor(in);
    const double part = in - (double)i;
    double w[4];

    if (is_nearest)
        return row[i];
    if (job->interpolation != FBP_INTERPOLATION_CUBIC)
        return row[i] + (float)part * (row[i + 1] - row[i]);
    fbp_spline_weights(part, w);
    return (float)w[0] * row[i - 1] + (float)w[1] * row[i] + (float)w[2] * row[i + 1] +
           (float)w[3] * row[i + 2];
}

/* Where views have so many samples a pixel that no window holds a block. */
static void add_one_by_one(const struct cpu_device *dev, const struct part *p,
                           const float *filtered, size_t row, float *out)
{
    const struct fbp_meridian_pictures *m = p->pictures;
    const size_t stride = cpu_planes_stride(dev->job);

    for (size_t c = 0; c < m->n_columns; c++) {
        float sum = 0;
        for (size_t k = p->view0; k < p->view0 + p->n; k++) {
            const double *at = m->at[k];
            sum += sample(dev->job, filtered + k * stride + FBP_PLANES_MARGIN,
                          at[0] + (double)c * at[1] + (double)row * at[2]);
        }
        out[c] = sum;
    }
}

fbp_status cpu_meridian(fbp_device *device, const void *filtered, size_t plane, size_t row0,
                        size_t n_rows, float *out)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;
    const struct fbp_meridian_pictures *m = dev->job->pictures;
    struct part p = {m, m->first[plane], m->first[plane + 1] - m->first[plane], 0, {0}};

    p.fine = choose_fine(&p);
    for (size_t r = row0, n; r < row0 + n_rows; r += n, out += n * m->n_columns) {
        const size_t from = p.fine ? r % ROWS : 0, left = row0 + n_rows - r;
        n = !p.fine ? 1 : ROWS - from < left ? ROWS - from : left;
        if (p.fine)
            add_rows(dev, &p, filtered, r - from, from, from + n, out);
        else
            add_one_by_one(dev, &p, filtered, r, out);
    }
    return FBP_OK;
}
