/* Angular decimation (nodes.h): directions of views, nodes of groups of views and their
 * coefficients, and the scans for which kernels `hierarchical` can use them.
 * Used by: cpu/hierarchical.c, module.c. */
#include "backend/nodes.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/kind.h"
#include "geometry/view.h"

#include <math.h>
#include <stdlib.h>

/* Greatest mean error of the interpolation between nodes, relative to the signal; see
 * place_nodes(). */
static const double TOLERANCE = 0.01, CLUSTER = 0.4;

/* Limits of the scan: greatest change of the angle from view to view [rad]; greatest effect of
 * irregular source positions, or of inclined parallel beams [pixels]; least depth w, and greatest
 * relative change of it in half a group.  Ratio of the bandwidths of neighbouring classes. */
static const double MOST_STEP = 0.05, IRREGULAR = 0.02, LEAST_DEPTH = 0.2, MOST_CHANGE = 0.25,
                    CLASS_STEP = 1.15;

/* Returns false for parallel beams. */
static bool has_source(const struct fbp_job *job)
{
    return fbp_kind_of(job->kind)->has_source;
}

/* Returns the directions of all views; false: they do not turn steadily, or not all in one sense.
 */
static bool directions_of(const struct fbp_job *job, struct fbp_direction *out)
{
    double turn = 0;

    for (size_t k = 0; k < job->n_views; k++) {
        const double *m = job->matrices[k], *s = job->views[k].s;
        struct fbp_direction *d = &out[k];
        const bool cone = has_source(job);
        double x = cone ? -m[9] : m[0], y = cone ? m[8] : m[1];
        const double length = hypot(x, y) * (x * m[0] + y * m[1] < 0 ? -1 : 1);
        if (!(fabs(length) > 0))
            return false;
        d->e[0] = x / length;
        d->e[1] = y / length;
        /* away from the source: w increases; parallel beam: s points towards the source */
        const double away =
            cone ? d->e[1] * m[8] - d->e[0] * m[9] : d->e[0] * s[1] - d->e[1] * s[0];
        d->n[0] = away < 0 ? -d->e[1] : d->e[1];
        d->n[1] = away < 0 ? d->e[0] : -d->e[0];
        d->s[0] = cone ? s[0] * d->e[0] + s[1] * d->e[1] : 0;
        d->s[1] = cone ? s[0] * d->n[0] + s[1] * d->n[1] : 0;
        d->s[2] = cone ? s[2] : 0;
        d->angle = atan2(d->e[1], d->e[0]);
        if (k == 0)
            continue;
        const double step = remainder(d->angle - out[k - 1].angle, 2 * FBP_PI);
        d->angle = out[k - 1].angle + step;
        if (turn == 0)
            turn = step;
        if (!(fabs(step) < MOST_STEP && step * turn >= 0))
            return false;
    }
    return job->n_views > 0;
}

/* Returns the direction at an angle between those of views k and k + 1. */
static struct fbp_direction direction_at(const struct fbp_direction *views, size_t k, double angle)
{
    const struct fbp_direction *a = &views[k], *b = &views[k + 1];
    const double step = b->angle - a->angle, t = fabs(step) > 0 ? (angle - a->angle) / step : 0;
    const bool left = a->e[0] * a->n[1] - a->e[1] * a->n[0] > 0; /* n is e, turned by 90 degrees */
    struct fbp_direction d = {.e = {cos(angle), sin(angle)}, .angle = angle};

    d.n[0] = left ? -d.e[1] : d.e[1];
    d.n[1] = left ? d.e[0] : -d.e[0];
    for (int i = 0; i < 3; i++)
        d.s[i] = a->s[i] + t * (b->s[i] - a->s[i]);
    return d;
}

/* Half the diagonal of a block [mm]. */
static double radius_of(const struct fbp_job *job, size_t edge)
{
    return (double)edge / 2 * hypot(job->grid.voxel_mm[0], job->grid.voxel_mm[1]);
}

/* Greatest height of a voxel above or below the source [mm]. */
static double height_of(const struct fbp_job *job, const struct fbp_direction *view)
{
    const double a = fbp_grid_coordinate(&job->grid, 2, 0) - view->s[2];
    const double b = fbp_grid_coordinate(&job->grid, 2, (double)job->grid.n[2] - 1) - view->s[2];

    return fmax(fabs(a), fabs(b));
}

/* Per radian, the projection of a voxel at the block's edge moves by up to the block's radius along
 * the rows, and also along the columns, because its depth changes.  The greatest frequency of a
 * view is half a period (pi) per measured sample. */
double fbp_block_bandwidth(const struct fbp_job *job, size_t edge,
                           const struct fbp_direction *views, size_t k, const double c[2])
{
    const double *m = job->matrices[k];
    const double w = m[8] * c[0] + m[9] * c[1] + m[11];
    const double to = c[0] * views[k].n[0] + c[1] * views[k].n[1] - views[k].s[1];

    const double along_u = hypot(m[0], m[1]) / w / ((double)job->padded.inserted + 1);
    const double along_v = has_source(job) ? height_of(job, &views[k]) / to * m[6] / w : 0;
    return w > 1e-6 ? FBP_PI * radius_of(job, edge) * hypot(along_u, along_v) : INFINITY;
}

static double sinc(double x)
{
    return fabs(x) < 1e-9 ? 1 : sin(x) / x;
}

/* Set the coefficients of n views with n_nodes nodes.  Coefficient a[m] of a view at
 * angle t minimizes the mean of |exp(i w t) - sum_m a[m] exp(i w t_m)|^2 over |w| <= bandwidth:
 * sum_m S(t_m - t_n) a[m] = S(t - t_n), S(x) = sin(bandwidth x) / (bandwidth x).
 * Returns the greatest mean error of a view, or infinity. */
static double interpolate(const struct fbp_direction *views, size_t n, const double *nodes,
                          size_t n_nodes, double bandwidth, float *coefficients)
{
    static const double stable = 1e-9;        /* limits the coefficients */
    double l[FBP_MOST_NODES][FBP_MOST_NODES]; /* Cholesky factor of S */
    double worst = 0;

    for (size_t i = 0; i < n_nodes; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = sinc(bandwidth * (nodes[i] - nodes[j])) + (i == j ? stable : 0);
            for (size_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
            if (!isfinite(l[i][j]))
                return INFINITY;
        }
    for (size_t k = 0; k < n; k++) {
        double b[FBP_MOST_NODES], explained = 0;
        for (size_t i = 0; i < n_nodes; i++) {
            b[i] = sinc(bandwidth * (views[k].angle - nodes[i]));
            for (size_t j = 0; j < i; j++)
                b[i] -= l[i][j] * b[j];
            b[i] /= l[i][i];
            explained += b[i] * b[i];
        }
        worst = fmax(worst, 1 - explained);
        for (size_t i = n_nodes; i-- > 0;) {
            for (size_t j = i + 1; j < n_nodes; j++)
                b[i] -= l[j][i] * b[j];
            b[i] /= l[i][i];
            coefficients[i * n + k] = (float)b[i];
        }
    }
    return sqrt(fmax(worst, 0));
}

/* Number of nodes from which interpolate() can reach a small error; at most FBP_MOST_NODES + 1. */
static size_t least_nodes(double bandwidth, double span)
{
    return (size_t)fmin(bandwidth * span / FBP_PI, FBP_MOST_NODES - 1) + 2;
}

/* Set the angles of n nodes between a and b: evenly spaced, but denser towards both ends, where
 * they are interpolated from one side only.  CLUSTER 0 would be even, 1 the nodes of Chebyshev. */
static void place_nodes(double a, double b, size_t n, double *angles)
{
    for (size_t i = 0; i < n; i++) {
        const double even = (double)i / (double)(n - 1) - 0.5;
        const double dense =
            -0.5 * cos(FBP_PI * ((double)i + 0.5) / (double)n) / cos(FBP_PI / 2 / (double)n);
        angles[i] = (a + b) / 2 + (b - a) * (even + CLUSTER * (dense - even));
    }
}

/* Choose the nodes of a group (of one view: not the first of the scan) for a bandwidth, and their
 * coefficients: as few nodes as keep the error within TOLERANCE.  Returns false if FBP_MOST_NODES
 * are not enough. */
static bool set_nodes(const struct fbp_direction *in, size_t n_views, double bandwidth,
                      struct fbp_angular_nodes *out)
{
    const double a = in[0].angle, b = in[n_views - 1].angle;
    double angles[FBP_MOST_NODES];

    out->bandwidth = bandwidth;
    for (out->n = least_nodes(bandwidth, fabs(b - a));; out->n++) {
        if (out->n > FBP_MOST_NODES)
            return false;
        place_nodes(a, b, out->n, angles);
        if (interpolate(in, n_views, angles, out->n, bandwidth, out->coefficients) < TOLERANCE)
            break;
    }
    for (size_t i = 0, k = 0; i < out->n; i++) {
        while (k + 2 < n_views && fabs(in[k + 1].angle - a) <= fabs(angles[i] - a))
            k++;
        out->at[i] = direction_at(n_views > 1 ? in : in - 1, k, angles[i]);
    }
    return true;
}

/* Returns whether source positions change so steadily that nodes between the views represent them:
 * the effect of the difference from the neighbours' mean, at the block's edge, is small. */
static bool regular(const struct fbp_job *job, const struct fbp_direction *views, double radius)
{
    for (size_t k = 1; has_source(job) && k + 1 < job->n_views; k++) {
        const double *m = job->matrices[k];
        const double *a = views[k - 1].s, *s = views[k].s, *b = views[k + 1].s;
        const double turn = views[k + 1].angle - views[k - 1].angle;
        const double t = fabs(turn) > 0 ? (views[k].angle - views[k - 1].angle) / turn : 0.5;
        double most = 0;
        for (int i = 0; i < 3; i++)
            most = fmax(most, fabs(s[i] - a[i] - t * (b[i] - a[i])));
        if (!(most * radius / fabs(s[1]) * hypot(m[0], m[1]) < IRREGULAR))
            return false;
    }
    return true;
}

/* Returns the greatest bandwidth of a block: of those at the volume's edges; the least depth there,
 * in *depth. */
static double most_bandwidth(const struct fbp_job *job, size_t edge,
                             const struct fbp_direction *views, double *depth)
{
    double most = 0;

    *depth = INFINITY;
    for (size_t k = 0; k < job->n_views; k++)
        for (int corner = 0; corner < 4; corner++) {
            const double *m = job->matrices[k];
            double at[3];
            fbp_grid_corner(&job->grid, corner, at);
            *depth = fmin(*depth, m[8] * at[0] + m[9] * at[1] + m[11]);
            most = fmax(most, fbp_block_bandwidth(job, edge, views, k, at));
        }
    return most;
}

/* Returns whether rows of images, which hold one height each, can represent the views: detector
 * rows of parallel beams must not rise along the beam. */
static bool level(const struct fbp_job *job, double radius)
{
    for (size_t k = 0; k < job->n_views && !has_source(job); k++)
        if (!(hypot(job->matrices[k][4], job->matrices[k][5]) * radius < IRREGULAR))
            return false;
    return true;
}

/* Sets [z0, z1) of a group.
 * The pipeline skips a batch without detector rows for a slab.  All other slices are skipped in
 * every slab, because voxels must not depend on the division into slabs. */
static void set_slices(const struct fbp_job *job, struct fbp_view_group *g)
{
    size_t r0, r1;

    for (g->z0 = 0; g->z0 < job->grid.n[2]; g->z0++) {
        job->rows(job, g->first, g->first + g->n_views, g->z0, g->z0 + 1, &r0, &r1);
        if (r0 < r1)
            break;
    }
    for (g->z1 = job->grid.n[2]; g->z1 > g->z0; g->z1--) {
        job->rows(job, g->first, g->first + g->n_views, g->z1 - 1, g->z1, &r0, &r1);
        if (r0 < r1)
            break;
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool fbp_decimation_of(const struct fbp_job *job, struct fbp_decimation *d)
{
    const double radius = radius_of(job, d->edge);
    struct fbp_direction *views = NULL;
    double most = 0, span = 0;

    if (d->n_views < d->group || !level(job, radius) ||
        fbp_calloc((void **)&views, job->n_views, sizeof *views, "directions of views") != FBP_OK)
        return false;
    d->radius = radius;
    d->depth = d->columns = d->rows = d->near = d->height = 0;
    if (directions_of(job, views) && regular(job, views, radius))
        most = most_bandwidth(job, d->edge, views, &d->depth);
    if (d->depth > LEAST_DEPTH) {
        for (size_t k = 0; k < d->n_views; k += d->group)
            span =
                fmax(span, fabs(views[least(k + d->group, d->n_views) - 1].angle - views[k].angle));
        d->nodes = (double)least_nodes(
                       fbp_block_bandwidth(job, d->edge, views, 0, job->grid.centre_mm), span) +
                   4;
        d->most_nodes = (double)least_nodes(most, span) + 5;
        for (size_t k = 0; k < job->n_views; k++) {
            const double *m = job->matrices[k];
            d->columns = fmax(d->columns, 2 * hypot(m[0], m[1]) * radius + 5);
            d->rows = fmax(d->rows, m[6]);
            if (!has_source(job))
                continue;
            d->near = fmax(d->near, radius / (fabs(views[k].s[1]) * d->depth));
            d->height = fmax(d->height, height_of(job, &views[k]));
        }
    }
    free(views);
    /* greatest relative change of w of a voxel in half a group, if the source turns about the
     * grid's middle */
    return d->depth > LEAST_DEPTH && (1 - d->depth + 0.01) * span / d->depth / 2 < MOST_CHANGE &&
           d->most_nodes <= FBP_MOST_NODES;
}

static size_t groups_of(const struct fbp_decimation *d)
{
    return (d->n_views + d->group - 1) / d->group;
}

/* Coefficients of a group. */
static size_t coefficients_of(const struct fbp_decimation *d)
{
    return FBP_BANDWIDTHS * d->group * FBP_MOST_NODES;
}

size_t fbp_view_groups_bytes(const struct fbp_job *job, const struct fbp_decimation *d)
{
    return job->n_views * sizeof(struct fbp_direction) +
           groups_of(d) * (sizeof(struct fbp_view_group) + coefficients_of(d) * sizeof(float));
}

void fbp_view_groups_free(struct fbp_view_groups **groups)
{
    struct fbp_view_groups *t = *groups;

    if (!t)
        return;
    free(t->views);
    free(t->groups);
    free(t->coefficients);
    free(t);
    *groups = NULL;
}

fbp_status fbp_view_groups_make(const struct fbp_job *job, const struct fbp_decimation *d,
                                struct fbp_view_groups **out)
{
    struct fbp_view_groups *t = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_calloc((void **)&t, 1, sizeof *t, "groups of views"));
    t->n = groups_of(d);
    t->division = *d;
    FBP_TRY_GOTO(
        fbp_calloc((void **)&t->views, job->n_views, sizeof *t->views, "directions of views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&t->groups, t->n, sizeof *t->groups, "groups of views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&t->coefficients, t->n * coefficients_of(d),
                            sizeof *t->coefficients, "coefficients of views"));
    (void)directions_of(job, t->views);
    double depth;
    const double most = most_bandwidth(job, d->edge, t->views, &depth);
    for (size_t i = 0; i < t->n; i++) {
        struct fbp_view_group *g = &t->groups[i];
        g->first = i * d->group;
        g->n_views = least(d->group, d->n_views - g->first);
        set_slices(job, g);
        for (size_t j = 0; j < FBP_BANDWIDTHS; j++) {
            g->nodes[j].coefficients =
                t->coefficients + (i * FBP_BANDWIDTHS + j) * d->group * FBP_MOST_NODES;
            if (!set_nodes(t->views + g->first, g->n_views,
                           most * pow(CLASS_STEP, (double)j - (FBP_BANDWIDTHS - 1)), &g->nodes[j]))
                FBP_TRY_GOTO(
                    FBP_UNSUPPORTED("kernel: the views turn too unevenly for hierarchical; "
                                    "choose kernel column"));
        }
    }
    *out = t;
    return FBP_OK;
fail:
    fbp_view_groups_free(&t);
    return st;
}
