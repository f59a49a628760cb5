/*
 * Template: pictures of meridian planes, in float and in double.  Parameters: VALUE, PLANES and ADD
 * as of planes_cubes_tmpl.h, and
 *
 *   MERIDIAN  the name of what is defined here
 *
 * By the kernel of plane integrals: 16 columns and 4 rows of a picture are a block of 64, whose
 * places in a view are linear in four, four and four steps, as those of a cube of voxels are.
 * Blocks begin at multiples of these, so that no bit depends on what is asked for beside them.
 */
#include "backend/cpu/cpu.h"
#include "backend/meridian.h"
#include "filter/parabola.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = FBP_PLANES_EDGE * FBP_PLANES_EDGE, /* of a block */
    ROWS = FBP_PLANES_EDGE,
    BLOCKS = 128 / sizeof(VALUE), /* side by side: 8 KiB on the stack */
    MOST_FINE = 16                /* columns that are computed for one, where it takes so many */
};

/* A picture, or a part of its views. */
struct part {
    const struct fbp_meridian_pictures *pictures;
    const VALUE *samples; /* sample 0 of its first view, in the frame */
    size_t stride;        /* from view to view */
    size_t view0, n;
    size_t fine; /* columns are computed so many times as close; 0: one by one */
    PLANES planes;
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
static void set_views(struct part *p, const struct fbp_job *job, size_t k0, size_t n, size_t r)
{
    const double rounding = job->interpolation == FBP_INTERPOLATION_NEAREST ? FBP_NEAREST : 0;
    PLANES *t = &p->planes;

    memset(t, 0, sizeof *t);
    t->samples = p->samples + k0 * p->stride;
    t->stride = p->stride;
    t->n = n;
    t->last = (double)job->wide.n_columns + 1; /* a spline has a tap before it */
    t->narrow = true;
    for (size_t k = 0; k < n; k++) {
        const double *at = p->pictures->at[p->view0 + k0 + k], step = at[1] / (double)p->fine;
        t->above[k] = -fmin(step, 0) * (COLUMNS - 1) - fmin(at[2], 0) * (ROWS - 1);
        t->along[k] = step;
        t->start[k] = at[0] + rounding + (double)r * at[2] - t->above[k];
        t->step[0][k] = (VALUE)step;
        t->step[1][k] = (VALUE)(FBP_PLANES_EDGE * step);
        t->step[2][k] = (VALUE)at[2];
        t->narrow = t->narrow && span_of(at, p->fine) <= FBP_PLANES_NARROW;
    }
}

/* A row of a block, from fine column x on, into that of the picture. */
static void give_row(const struct part *p, const VALUE *row, size_t x, VALUE *out)
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
static void give(const struct part *p, const VALUE *blocks, size_t x, size_t n, size_t from,
                 size_t end, VALUE *out)
{
    for (size_t r = from; r < end; r++, out += p->pictures->n_columns)
        for (size_t b = 0; b < n; b++)
            give_row(p, blocks + b * FBP_PLANES_BLOCK + r * COLUMNS, x + b * COLUMNS, out);
}

/* Rows [from, end) of those from r on, a multiple of ROWS. */
static void add_rows(const struct cpu_device *dev, struct part *p, size_t r, size_t from,
                     size_t end, VALUE *out)
{
    VALUE blocks[BLOCKS * FBP_PLANES_BLOCK] __attribute__((aligned(64)));
    const size_t all = ((p->pictures->n_columns - 1) * p->fine) / COLUMNS + 1;

    for (size_t b = 0; b < all; b += BLOCKS) {
        const size_t n = all - b < BLOCKS ? all - b : BLOCKS;
        memset(blocks, 0, n * FBP_PLANES_BLOCK * sizeof *blocks);
        for (size_t k = 0; k < p->n; k += FBP_PLANES_VIEWS) {
            set_views(p, dev->job, k, p->n - k < FBP_PLANES_VIEWS ? p->n - k : FBP_PLANES_VIEWS, r);
            for (size_t i = 0; i < n; i++)
                ADD(dev)(blocks + i * FBP_PLANES_BLOCK, (double)((b + i) * COLUMNS), &p->planes);
        }
        give(p, blocks, b * COLUMNS, n, from, end, out);
    }
}

/* A row of n samples at u, zeros beside them. */
static VALUE sample(const struct fbp_job *job, const VALUE *row, double u)
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
        return row[i] + (VALUE)part * (row[i + 1] - row[i]);
    fbp_spline_weights(part, w);
    return (VALUE)w[0] * row[i - 1] + (VALUE)w[1] * row[i] + (VALUE)w[2] * row[i + 1] +
           (VALUE)w[3] * row[i + 2];
}

/* Where views have so many samples a pixel that no window holds a block. */
static void add_one_by_one(const struct cpu_device *dev, const struct part *p, size_t row,
                           VALUE *out)
{
    for (size_t c = 0; c < p->pictures->n_columns; c++) {
        VALUE sum = 0;
        for (size_t k = 0; k < p->n; k++) {
            const double *at = p->pictures->at[p->view0 + k];
            sum += sample(dev->job, p->samples + k * p->stride,
                          at[0] + (double)c * at[1] + (double)row * at[2]);
        }
        out[c] = sum;
    }
}

void MERIDIAN(const struct cpu_device *dev, const VALUE *filtered,
              const struct fbp_picture *picture, VALUE *out)
{
    const struct fbp_meridian_pictures *m = dev->job->pictures;
    const size_t row = cpu_rows_stride(dev->job), first = m->first[picture->plane];
    const size_t view = dev->job->panel.n_rows * row, end = picture->row0 + picture->n_rows;
    struct part p = {.pictures = m,
                     .samples = filtered + first * view + picture->frame * row + FBP_PLANES_MARGIN,
                     .stride = view,
                     .view0 = first,
                     .n = m->first[picture->plane + 1] - first};

    p.fine = choose_fine(&p);
    for (size_t r = picture->row0, n; r < end; r += n, out += n * m->n_columns) {
        const size_t from = p.fine ? r % ROWS : 0;
        n = !p.fine ? 1 : ROWS - from < end - r ? ROWS - from : end - r;
        if (p.fine)
            add_rows(dev, &p, r - from, from, from + n, out);
        else
            add_one_by_one(dev, &p, r, out);
    }
}
