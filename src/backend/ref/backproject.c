#include "backend/ref/ref.h"
#include "backend/slab.h"

#include "base/threads.h"
#include "filter/parabola.h"

#include <math.h>
#include <stddef.h>

/* Sample (c, r) of a filtered view; outside the detector 0.  A row that the detector has but the
 * batch lacks is a mistake of the plan, and must not pass for a zero. */
static double tap(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                  double c, double r)
{
    if (!(c >= 0 && c < (double)job->wide.n_columns && r >= 0 && r < (double)job->wide.n_rows))
        return 0;
    const size_t row = (size_t)r;
    if (row < batch->row0 || row >= batch->row0 + batch->n_rows)
        return NAN;
    return view[(row - batch->row0) * job->wide.n_columns + (size_t)c];
}

/* floor(x) for x > -1 */
static double floor_of(double x)
{
    const double whole = (double)(ptrdiff_t)x;
    return x < whole ? whole - 1 : whole;
}

static double bilinear(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                       double u, double v)
{
    const double c = floor_of(u), r = floor_of(v), fu = u - c, fv = v - r;
    const double first = (double)batch->row0, end = first + (double)batch->n_rows;
    const size_t nc = job->wide.n_columns;
    double q[4];

    if (c >= 0 && c + 1 < (double)nc && r >= first && r + 1 < end) { /* all there, as a rule */
        const double *at = view + (size_t)(r - first) * nc + (size_t)c;
        q[0] = at[0], q[1] = at[1], q[2] = at[nc], q[3] = at[nc + 1];
    } else {
        q[0] = tap(job, batch, view, c, r), q[1] = tap(job, batch, view, c + 1, r);
        q[2] = tap(job, batch, view, c, r + 1), q[3] = tap(job, batch, view, c + 1, r + 1);
    }
    return (1 - fv) * ((1 - fu) * q[0] + fu * q[1]) + fv * ((1 - fu) * q[2] + fu * q[3]);
}

/* The row at u, 0 beyond its ends. */
static double nearest(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                      double u)
{
    return tap(job, batch, view, floor(u + FBP_NEAREST), 0);
}

static double cubic(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                    double u)
{
    const double first = floor(u);
    double w[4], sum = 0;

    fbp_spline_weights(u - first, w);
    for (int i = 0; i < 4; i++)
        sum += w[i] * tap(job, batch, view, first + i - 1, 0);
    return sum;
}

static double value_at(const struct fbp_job *job, const struct fbp_batch *batch, const double *view,
                       double u, double v)
{
    switch (job->interpolation) {
    case FBP_INTERPOLATION_NEAREST: /* of plane integrals, which have one row */
        return nearest(job, batch, view, u);
    case FBP_INTERPOLATION_CUBIC:
        return cubic(job, batch, view, u);
    default:
        break;
    }
    if (u > -1 && u < (double)job->wide.n_columns && v > -1 && v < (double)job->wide.n_rows)
        return bilinear(job, batch, view, u, v);
    return 0;
}

double ref_row_value(const struct fbp_job *job, const double *row, double u)
{
    const struct fbp_batch one = {.n_views = 1, .n_rows = 1};

    return value_at(job, &one, row, u, 0);
}

static double sum_at(const struct fbp_job *job, const struct fbp_batch *batch,
                     const double *filtered, size_t view_size, const double x[3], double sum)
{
    for (size_t k = 0; k < batch->n_views; k++) {
        const double *m = job->matrices[batch->view0 + k];
        const double w = m[8] * x[0] + m[9] * x[1] + m[10] * x[2] + m[11];
        if (w <= 0)
            continue;
        const double u = (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]) / w;
        const double v = (m[4] * x[0] + m[5] * x[1] + m[6] * x[2] + m[7]) / w;
        sum += value_at(job, batch, filtered + k * view_size, u, v) / (w * w);
    }
    return sum;
}

double ref_value(const struct fbp_job *job, const struct fbp_batch *batch, const double *filtered,
                 const double x[3])
{
    return sum_at(job, batch, filtered, batch->n_rows * job->wide.n_columns, x, 0);
}

/* Views into a frame of a slab.  Where there are several, `batch` has one row, as has `job`, and
 * `filtered` begins with the frame's. */
struct step {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const double *filtered;
    size_t view_size;
    const struct fbp_slab *slab;
};

/* Voxels [x0, x1) of a row; out: that of x0. */
static void add_run(const struct step *s, size_t y, size_t z, size_t x0, size_t x1, double *out)
{
    const struct fbp_grid *g = &s->job->grid;

    for (size_t x = x0; x < x1; x++) {
        const double p[3] = {fbp_grid_coordinate(g, 0, (double)x),
                             fbp_grid_coordinate(g, 1, (double)y),
                             fbp_grid_coordinate(g, 2, (double)z)};
        if (fbp_in_double(s->job)) /* view after view, whatever a batch is */
            *out = sum_at(s->job, s->batch, s->filtered, s->view_size, p, *out);
        else
            *out += sum_at(s->job, s->batch, s->filtered, s->view_size, p, 0);
        out++;
    }
}

/* What is wanted of row y of slice z of the slab. */
static void add_row(const struct step *s, size_t y, size_t z, double *out)
{
    const size_t x0 = s->slab->x0, x1 = x0 + s->slab->nx;
    const struct fbp_interval all = {(uint32_t)x0, (uint32_t)x1}, *runs = &all;
    size_t n = 1;

    if (s->job->region)
        runs = fbp_region_row(s->job->region, y, z, &n);
    for (size_t i = 0; i < n; i++) {
        const size_t first = runs[i].first > x0 ? runs[i].first : x0;
        add_run(s, y, z, first, runs[i].end < x1 ? runs[i].end : x1, out + (first - x0));
    }
}

/* Slices [z0, z1) of frame i; out: the first of them. */
static void add_frame(const struct fbp_job *job, size_t i, const struct fbp_batch *batch,
                      const double *filtered, const struct fbp_slab *slab, size_t z0, size_t z1,
                      double *out)
{
    struct step s = {job, batch, filtered, batch->n_rows * job->wide.n_columns, slab};
    struct fbp_job one_row = *job;
    struct fbp_batch row = *batch;

    if (job->frames > 1) {
        one_row.wide.n_rows = row.n_rows = 1;
        s.job = &one_row;
        s.batch = &row;
        s.filtered += i * job->wide.n_columns;
    }
    for (size_t z = z0; z < z1; z++)
        for (size_t y = slab->y0; y < slab->y0 + slab->ny && !fbp_stopped(); y++, out += slab->nx)
            add_row(&s, y, z, out);
}

fbp_status ref_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                           const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    struct ref_device *dev = (struct ref_device *)(void *)device;
    const struct fbp_job *job = dev->job;
    const size_t slice = fbp_slab_slice(slab);
    double *out = (double *)volume + (z0 - slab->z0) * slice;

    pthread_mutex_lock(&dev->lock);
    for (size_t i = 0; i < fbp_frames(job); i++, out += slab->nz * slice)
        add_frame(job, i, batch, filtered, slab, z0, z1, out);
    pthread_mutex_unlock(&dev->lock);
    return fbp_go_on();
}
