/* Epipolar consistency: pairs of cone-beam views must agree on the plane integrals that both
 * determine; a change of the geometry is fitted to them (formulas: calibrate.h).
 * Used by: beads.c, calibrate.c, drift.c. */
#include "analysis/calibrate.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"
#include "scan/file/scan.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS = FBP_EPIPOLAR_GROUPS, /* parts of the pairs, each left out once (jackknife) */
    ROUNDS = 7,                   /* greatest number of Gauss-Newton steps */
    FEWEST_VIEWS = 30,
    REACH = 5, /* half width of the derivative filter [rows] */
    MOST_PLANES = 512,
    DENSE = 2,     /* planes that are integrated per compared plane */
    SMOOTHED = 10, /* half width of the smoothing over planes */
    UP = 2,        /* rows of filtered images per row of the panel */
    MARGIN = 5,    /* rows between a line and the panel's edge */
    N = FBP_CALIBRATED_COUNT,
};

/* Standard deviations of the derivative filter along columns [rows], and of the smoothing over
 * planes [planes, of which DENSE are as far apart as two compared ones]: without such low-pass
 * filters, noise and interpolation outweigh the object. */
static const double SMOOTHING = 0.7, PLANES = 3;

/* Angles between the two views of a pair [rad]. */
static const double separations[] = {0.3, 0.6, 0.9, 1.2, 1.5, 1.75, 2.0, 2.25, 2.5};
enum { SEPARATIONS = sizeof separations / sizeof *separations };

/* Steps of the numerical derivatives; COLUMN and ROW: in pixels. */
static const double steps[N] = {
    [FBP_CALIBRATED_COLUMN] = 0.2, [FBP_CALIBRATED_ROW] = 0.2,  [FBP_CALIBRATED_ROLL] = 1e-3,
    [FBP_CALIBRATED_PITCH] = 5e-3, [FBP_CALIBRATED_YAW] = 5e-3, [FBP_CALIBRATED_SDD] = 5e-3,
    [FBP_CALIBRATED_ARC] = 1e-3,
};

/* Weight the view by the cosine of each ray's angle to the panel's normal, and filter columns by
 * the derivative of a Gaussian. */
static void filter_view(const struct fbp_epipolar *e, size_t k, float *work, float *out)
{
    const size_t nc = e->panel.n_columns, nr = e->panel.n_rows;
    const struct fbp_view *v = &e->views[k];
    double n[3], d0[3], w[2 * REACH + 1], scale = 0;

    fbp_cross(v->u, v->v, n);
    fbp_normalise(n);
    fbp_view_pixel(v, &e->panel, 0, 0, d0);
    fbp_axpy(d0, -1, v->s, d0);
    const double distance = fabs(fbp_dot(d0, n));
    for (size_t r = 0; r < nr; r++)
        for (size_t c = 0; c < nc; c++) {
            double ray[3];
            fbp_axpy(d0, (double)c, v->u, ray);
            fbp_axpy(ray, (double)r, v->v, ray);
            work[r * nc + c] *= (float)(distance / fbp_norm(ray));
        }
    /* Sums of `bin` columns: lines are nearly parallel to rows. */
    const size_t joined = e->filtered_columns;
    for (size_t r = 0; r < nr; r++)
        for (size_t j = 0; j < joined; j++) {
            float sum = 0;
            for (size_t c = j * e->bin; c < (j + 1) * e->bin && c < nc; c++)
                sum += work[r * nc + c];
            work[r * joined + j] = sum;
        }
    for (size_t r = 0; r < UP * (nr - 1) + 1; r++) { /* at row r / UP */
        float *to = out + r * joined;
        const size_t nearest = r / UP;
        const double off = (double)(r % UP) / UP;
        scale = 0;
        for (int i = -REACH; i <= REACH; i++) {
            const double x = i - off;
            w[i + REACH] = x * exp(-0.5 * x * x / (SMOOTHING * SMOOTHING));
            scale += x * w[i + REACH];
        }
        memset(to, 0, joined * sizeof *to);
        for (int i = -REACH; i <= REACH; i++) {
            const double at = fmin(fmax((double)nearest + i, 0), (double)nr - 1);
            const float *from = work + (size_t)at * joined, factor = (float)(w[i + REACH] / scale);
            for (size_t c = 0; c < joined; c++)
                to[c] += factor * from[c];
        }
    }
}

/* Select pairs of views at all separations, evenly over the arc; single: an offset per view will
 * be fitted. */
static fbp_status select_pairs(struct fbp_epipolar *e, size_t most_pairs, bool single)
{
    const size_t n = e->n_views;
    const double arc = e->angles[n - 1] - e->angles[0], step = arc / (double)(n - 1);
    const size_t every = n * SEPARATIONS / most_pairs + 1;

    e->closed = 2 * FBP_PI - arc < 1.75 * step;
    if (n < FEWEST_VIEWS)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "calibrate: found %zu views, expected at least %d; give --centre and --tilt "
            "by hand",
            n, FEWEST_VIEWS);
    FBP_TRY(fbp_calloc((void **)&e->pairs, n * SEPARATIONS, sizeof *e->pairs, "pairs of views"));
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < SEPARATIONS; i++) {
            /* single: else even and odd views might not be compared with each other */
            const size_t apart =
                (size_t)fmax(1, round(separations[i] / step)) | (single ? i % 2 : 0);
            const size_t other = k + apart;
            if ((k + i) % every != 0 || (other >= n && !e->closed) || apart >= n / 2)
                continue;
            e->pairs[e->n_pairs][0] = k;
            e->pairs[e->n_pairs][1] = other % n;
            e->pairs[e->n_pairs++][2] = i;
        }
    return FBP_OK;
}

fbp_status fbp_epipolar_create(struct fbp_epipolar *e, const struct fbp_scan *scan,
                               fbp_source *source, size_t most_views, bool single, fbp_pool *pool)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows, size = nc * nr;
    const size_t bin = nc / 96 > 1 ? nc / 96 : 1, joined = (nc + bin - 1) / bin;
    const size_t every = (scan->n_views + most_views - 1) / most_views;
    const size_t n = (scan->n_views + every - 1) / every;
    struct fbp_view_reader reader = {0};
    struct fbp_geometry_facts facts;
    size_t *order = NULL, *place = NULL;
    double *angles = NULL;
    float *work = NULL, *view = NULL;
    fbp_status st;

    const size_t filtered = joined * (UP * (nr - 1) + 1);

    *e = (struct fbp_epipolar){.panel = scan->panel,
                               .bin = bin,
                               .filtered_columns = joined,
                               .n_planes = nr / 2 < MOST_PLANES ? nr / 2 : MOST_PLANES,
                               .pool = pool};
    FBP_TRY_GOTO(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    memcpy(e->axis, facts.axis, sizeof e->axis);
    FBP_TRY_GOTO(fbp_calloc((void **)&order, scan->n_views, sizeof *order, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&place, scan->n_views, sizeof *place, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&angles, scan->n_views, sizeof *angles, "angles"));
    FBP_TRY_GOTO(fbp_views_sort(scan, &facts, order, angles));
    FBP_TRY_GOTO(fbp_calloc((void **)&e->views, n, sizeof *e->views, "views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&e->angles, n, sizeof *e->angles, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&e->order, n, sizeof *e->order, "views"));
    memset(place, 0xff, scan->n_views * sizeof *place);
    for (size_t k = 0; k * every < scan->n_views; k++) {
        place[order[k * every]] = k;
        e->views[k] = scan->views[order[k * every]];
        e->angles[k] = angles[k * every];
        e->order[k] = order[k * every];
        e->n_views = k + 1;
    }
    FBP_TRY_GOTO(select_pairs(e, 4 * most_views, single));
    const struct fbp_view *v = &e->views[0];
    double ray[3];
    fbp_axpy(v->d, -1, v->s, ray);
    e->half_height_mm = 0.5 * (double)nr * fbp_norm(v->v) * fbp_norm(v->s) / fbp_norm(ray);

    FBP_TRY_GOTO(fbp_view_reader_open(&reader, scan, source));
    const size_t margin = 2 * reader.prep.margin_rows;
    FBP_TRY_GOTO(fbp_alloc((void **)&e->images, e->n_views * filtered * sizeof(float), "views"));
    FBP_TRY_GOTO(fbp_alloc((void **)&work, (nr + margin) * nc * sizeof(float), "a view"));
    FBP_TRY_GOTO(fbp_alloc((void **)&view, size * sizeof(float), "a view"));
    for (size_t k = 0; k < scan->n_views; k++) { /* in the order of the file: it may be a stream */
        if (place[k] == SIZE_MAX)
            continue;
        FBP_TRY_GOTO(fbp_view_reader_rows(&reader, k, 0, nr, work, view));
        filter_view(e, place[k], view, e->images + place[k] * filtered);
    }
fail:
    fbp_view_reader_close(&reader);
    fbp_free(work);
    fbp_free(view);
    free(order);
    free(place);
    free(angles);
    if (st != FBP_OK)
        fbp_epipolar_clear(e);
    return st;
}

void fbp_epipolar_clear(struct fbp_epipolar *e)
{
    free(e->views);
    free(e->angles);
    free(e->pairs);
    free(e->order);
    fbp_free(e->images);
    *e = (struct fbp_epipolar){0};
}

/* Line in which a plane through the source cuts the panel: row = first + slope column. */
struct line {
    double first, slope;
    double factor; /* from the sum of the derivative along the line to that of the plane integral */
};

static struct line line_of(const struct fbp_view *v, const struct fbp_panel *panel,
                           const double normal[3])
{
    double n[3], d0[3];

    fbp_cross(v->u, v->v, n);
    fbp_normalise(n);
    fbp_view_pixel(v, panel, 0, 0, d0);
    fbp_axpy(d0, -1, v->s, d0);
    const double A = fbp_dot(normal, v->u), B = fbp_dot(normal, v->v), C = fbp_dot(normal, d0);
    const double pu = fbp_norm(v->u), pv = fbp_norm(v->v), slope = -A / B * pv / pu;
    const double sine = fbp_dot(normal, n);
    return (struct line){-C / B, -A / B,
                         copysign((1 + slope * slope) * pu / pv / (1 - sine * sine), B)};
}

static bool inside(const struct line *l, const struct fbp_panel *panel)
{
    const double last = l->first + l->slope * ((double)panel->n_columns - 1);
    const double most = (double)panel->n_rows - 1 - MARGIN;

    return l->first >= MARGIN && l->first <= most && last >= MARGIN && last <= most;
}

/* Interpolate between the two rows of column c that are next to `row`. */
static inline float sample(const float *image, size_t nc, size_t c, float row)
{
    const int i = (int)row;
    const float *at = image + (size_t)i * nc + c;

    return at[0] + (row - (float)i) * (at[nc] - at[0]);
}

/* Integrate a filtered view along a line; 0 if the line leaves the panel through its first or last
 * row: such planes are not compared (MARGIN is more than the steps of the derivatives move a line).
 */
static double integrate(const struct fbp_epipolar *e, size_t view, const struct line *l)
{
    const size_t nc = e->filtered_columns;
    const float *image = e->images + view * nc * (UP * (e->panel.n_rows - 1) + 1);
    const double most = (double)UP * ((double)e->panel.n_rows - 1) - 1e-6;
    const double step = UP * l->slope * (double)e->bin;
    const double first = UP * (l->first + l->slope * ((double)e->bin - 1) / 2);
    const double last = first + step * (double)(nc - 1);
    const float slope = (float)step, start = (float)first;
    float part[4] = {0, 0, 0, 0}; /* several sums, which the processor can add at the same time */
    size_t c = 0;

    if (!(fmin(first, last) >= 0 && fmax(first, last) < most))
        return 0;
    for (; c + 4 <= nc; c += 4)
        for (size_t k = 0; k < 4; k++)
            part[k] += sample(image, nc, c + k, start + slope * (float)(int)(c + k));
    for (; c < nc; c++)
        part[0] += sample(image, nc, c, start + slope * (float)(int)c);
    return ((double)part[0] + (double)part[1] + (double)part[2] + (double)part[3]) * l->factor;
}

/* Values of all planes of all pairs, for several changes of the geometry. */
struct evaluation {
    const struct fbp_epipolar *e;
    const struct fbp_view *views; /* [change][view] */
    size_t n_changes;
    bool next; /* true: read the images of the next views instead, and use `valid` as it is */
    /* [pair][plane] with change 0 the lines of both views, and of neighbouring planes, lie on the
     * panels */
    bool *valid;
    float (*values)[2]; /* [change][pair][plane][view] */
};

static void evaluate_pair(void *user, size_t pair, int worker)
{
    const struct evaluation *v = user;
    const struct fbp_epipolar *e = v->e;
    const size_t n = e->n_planes * DENSE, n_values = e->n_pairs * e->n_planes;
    size_t image[2] = {e->pairs[pair][0], e->pairs[pair][1]};
    float dense[MOST_PLANES * DENSE][2];
    bool ok[MOST_PLANES * DENSE];
    double weights[2 * SMOOTHED + 1], total = 0;

    (void)worker;
    for (int i = -SMOOTHED; i <= SMOOTHED; i++)
        total += weights[i + SMOOTHED] = exp(-0.5 * i * i / (PLANES * PLANES));
    for (int i = 0; v->next && i < 2; i++)
        image[i] = image[i] + 1 < e->n_views ? image[i] + 1 : image[i] - 1;
    for (size_t change = 0; change < v->n_changes; change++) {
        const struct fbp_view *views = v->views + change * e->n_views;
        const struct fbp_view *a = &views[e->pairs[pair][0]], *b = &views[e->pairs[pair][1]];
        double baseline[3];
        fbp_axpy(b->s, -1, a->s, baseline);
        for (size_t i = 0; i < n; i++) {
            const double h = e->half_height_mm * (2 * ((double)i + 0.5) / (double)n - 1);
            double to[3], normal[3];
            for (int j = 0; j < 3; j++)
                to[j] = h * e->axis[j] - a->s[j];
            fbp_cross(baseline, to, normal);
            fbp_normalise(normal);
            if (fbp_dot(normal, e->axis) < 0)
                for (int j = 0; j < 3; j++)
                    normal[j] = -normal[j];
            const struct line la = line_of(a, &e->panel, normal);
            const struct line lb = line_of(b, &e->panel, normal);
            ok[i] = inside(&la, &e->panel) && inside(&lb, &e->panel);
            dense[i][0] = (float)integrate(e, image[0], &la);
            dense[i][1] = (float)integrate(e, image[1], &lb);
        }
        /* Smooth over planes: a filter of the views' rows would not smooth both views alike. */
        for (size_t i = 0; i < e->n_planes; i++) {
            const size_t at = pair * e->n_planes + i, middle = i * DENSE + DENSE / 2;
            double sum[2] = {0, 0};
            bool whole = middle >= SMOOTHED && middle + SMOOTHED < n;
            for (size_t k = 0; whole && k <= 2 * SMOOTHED; k++) {
                const size_t from = middle - SMOOTHED + k;
                whole = ok[from] || change > 0 || v->next;
                sum[0] += weights[k] / total * (double)dense[from][0];
                sum[1] += weights[k] / total * (double)dense[from][1];
            }
            if (change == 0 && !v->next)
                v->valid[at] = whole;
            v->values[change * n_values + at][0] = (float)sum[0];
            v->values[change * n_values + at][1] = (float)sum[1];
        }
    }
}

/* Subtract from the differences of both values of all pairs with one separation their mean: on a
 * circle, such pairs have the same lines on the panel, and errors of the panel's pixels (rings) add
 * the same to all of them. */
static void remove_means(const struct fbp_epipolar *e, const bool *valid, float (*values)[2])
{
    for (size_t plane = 0; plane < e->n_planes; plane++) {
        double sums[SEPARATIONS] = {0}, counts[SEPARATIONS] = {0};
        for (int pass = 0; pass < 2; pass++)
            for (size_t pair = 0; pair < e->n_pairs; pair++) {
                const size_t at = pair * e->n_planes + plane, i = e->pairs[pair][2];
                if (valid[at] && pass == 0) {
                    sums[i] += (double)(values[at][0] - values[at][1]);
                    counts[i]++;
                } else if (valid[at]) {
                    values[at][0] -= (float)(sums[i] / counts[i]);
                }
            }
    }
}

static fbp_status evaluate(const struct fbp_epipolar *e, const struct fbp_change *changes, size_t n,
                           bool next, bool *valid, float (*values)[2])
{
    struct fbp_view *views;

    FBP_TRY(fbp_calloc((void **)&views, n * e->n_views, sizeof *views, "views"));
    for (size_t i = 0; i < n; i++)
        fbp_views_change(e->views, views + i * e->n_views, e->n_views, FBP_CONE, e->axis, e->angles,
                         &changes[i]);
    struct evaluation v = {e, views, n, next, valid, values};
    fbp_pool_for(e->pool, e->n_pairs, evaluate_pair, &v);
    free(views);
    for (size_t i = 0; i < n; i++)
        remove_means(e, valid, values + i * e->n_pairs * e->n_planes);
    return fbp_check_cancelled();
}

static double misfit_of(const struct fbp_epipolar *e, const bool *valid, float (*values)[2])
{
    double difference = 0, both = 0;

    for (size_t i = 0; i < e->n_pairs * e->n_planes; i++)
        if (valid[i]) {
            const double a = (double)values[i][0], b = (double)values[i][1];
            difference += (a - b) * (a - b);
            both += a * a + b * b;
        }
    return both > 0 ? difference / both : 1;
}

fbp_status fbp_epipolar_misfit(const struct fbp_epipolar *e, const struct fbp_change *c,
                               double *misfit)
{
    const size_t n = e->n_pairs * e->n_planes;
    bool *valid = NULL;
    float(*values)[2] = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&valid, n, sizeof *valid, "planes"));
    FBP_TRY_GOTO(fbp_calloc((void **)&values, n, sizeof *values, "planes"));
    FBP_TRY_GOTO(evaluate(e, c, 1, false, valid, values));
    *misfit = misfit_of(e, valid, values);
fail:
    free(valid);
    free(values);
    return st;
}

bool fbp_solve(double *A, double *b, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        size_t pivot = i;
        for (size_t j = i + 1; j < n; j++)
            pivot = fabs(A[j * n + i]) > fabs(A[pivot * n + i]) ? j : pivot;
        if (!(fabs(A[pivot * n + i]) > DBL_MIN))
            return false;
        for (size_t j = 0; j < n; j++) {
            const double t = A[i * n + j];
            A[i * n + j] = A[pivot * n + j];
            A[pivot * n + j] = t;
        }
        const double t = b[i];
        b[i] = b[pivot];
        b[pivot] = t;
        for (size_t j = i + 1; j < n; j++) {
            const double factor = A[j * n + i] / A[i * n + i];
            for (size_t k = i; k < n; k++)
                A[j * n + k] -= factor * A[i * n + k];
            b[j] -= factor * b[i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        x[i] = b[i];
        for (size_t k = i + 1; k < n; k++)
            x[i] -= A[i * n + k] * x[k];
        x[i] /= A[i * n + i];
    }
    return true;
}

/* Known spread of the values [pixels, radians, relative]: values that the views do not determine
 * stay near those of the scan. */
static const double spreads[N] = {
    [FBP_CALIBRATED_COLUMN] = 50,  [FBP_CALIBRATED_ROW] = 10,   [FBP_CALIBRATED_ROLL] = 0.1,
    [FBP_CALIBRATED_PITCH] = 0.02, [FBP_CALIBRATED_YAW] = 0.02, [FBP_CALIBRATED_SDD] = 0.02,
    [FBP_CALIBRATED_ARC] = 0.005,
};
static const double OFFSET_SPREAD = 5; /* standard deviation of a view's offset [pixels] */

static double scale_of(const struct fbp_epipolar *e, int which)
{
    const double *step = which == FBP_CALIBRATED_ROW ? e->views[0].v : e->views[0].u;

    return which == FBP_CALIBRATED_COLUMN || which == FBP_CALIBRATED_ROW ? fbp_norm(step) : 1;
}

/* Buffers and equations of a fit of n values; arrays are [pair][plane] unless stated. */
struct fitting {
    const size_t *which; /* [n]; the last one is ROW if n_views > 0 */
    size_t n;
    size_t n_views, n_unknowns; /* n_views: number of views whose offsets vary, or 0 */
    bool *valid;
    float (*values)[2]; /* [change][pair][plane][view] change 0: the present one, then a step of
                           each value */
    float (*next)[2];   /* [change]... with the images of the next views: a step of each value back,
                           and forward */
    double *sizes;
    double *groups; /* [group][n_unknowns + 1][n_unknowns] equations A x = b of each group, A and b;
                       [GROUPS]: room for their sum */
    double noise;   /* variance of a value */
};

/* Solve for the unknowns x without one group.  now: their values. */
static bool solve_without(const struct fitting *f, size_t skipped, const double *now, double *x)
{
    const size_t n = f->n_unknowns, size = n * (n + 1), globals = n - f->n_views;
    double *A = f->groups + GROUPS * size, *b = A + n * n;

    memset(A, 0, size * sizeof *A);
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; g != skipped && i < size; i++)
            A[i] += f->groups[g * size + i];
    for (size_t i = 0; i < n; i++) {
        const double spread = i < globals ? spreads[f->which[i]] : OFFSET_SPREAD;
        const double weight = f->noise / (spread * spread);
        A[i * n + i] = A[i * n + i] * (1 + 1e-9) + weight;
        b[i] -= weight * now[i];
    }
    return fbp_solve(A, b, n, x);
}

/* Derivative of values of a view [0] or of the difference of both views' values [2], from two
 * changes that are a step apart. */
static double slope_of(const float from[2], const float to[2], size_t view, double step)
{
    const double a = (double)(to[0] - from[0]) / step, b = (double)(to[1] - from[1]) / step;

    return view == 0 ? a : view == 1 ? -b : a - b;
}

/*
 * Compute the equations for the next step from a change c.
 *
 * The derivatives contain the noise of the views.  In normal equations this noise would meet that
 * of the residuals, and draw the fit towards lines of little noise.  Instruments replace one
 * factor: derivatives from the next views, which show nearly the same object with other noise.
 * They are central differences: one-sided ones contain the second derivative, which correlates with
 * differences of the views' sharpness, and moves the values in one direction.
 */
static fbp_status linearise(const struct fbp_epipolar *e, const struct fbp_change *c,
                            struct fitting *f)
{
    const size_t n_values = e->n_pairs * e->n_planes, n = f->n_unknowns;
    const size_t globals = n - f->n_views, n_slopes = globals + (f->n_views ? 2 : 0);
    struct fbp_change changes[N + 1] = {*c}, around[2 * N];
    size_t used = 0;

    for (size_t j = 0; j < f->n; j++) {
        changes[j + 1] = *c;
        around[2 * j] = around[2 * j + 1] = *c;
        const double step = steps[f->which[j]] * scale_of(e, (int)f->which[j]);
        changes[j + 1].p[f->which[j]] += step;
        around[2 * j].p[f->which[j]] -= step;
        around[2 * j + 1].p[f->which[j]] += step;
    }
    FBP_TRY(evaluate(e, changes, f->n + 1, false, f->valid, f->values));
    FBP_TRY(evaluate(e, around, 2 * f->n, true, f->valid, f->next));
    for (size_t i = 0; i < n_values; i++)
        if (f->valid[i])
            f->sizes[used++] = fabs((double)(f->values[i][0] - f->values[i][1]));
    if (used == 0)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "calibrate: in no pair of views do enough planes through both sources cross both "
            "panels from side to side (too few rows?); give --centre and --tilt by hand");
    fbp_sort(f->sizes, used);
    /* Weights of Cauchy's distribution: planes on which the model fails, such as those through the
     * ends of a long object, count less. */
    const double width = fmax(2.4 * 1.48 * f->sizes[used / 2], DBL_MIN);
    f->noise = width * width * 100; /* neighbouring planes are not independent */
    memset(f->groups, 0, GROUPS * n * (n + 1) * sizeof *f->groups);
    for (size_t i = 0; i < n_values; i++) {
        if (!f->valid[i])
            continue;
        const double r = (double)(f->values[i][0] - f->values[i][1]) / width;
        const double w = 1 / (1 + r * r);
        const size_t *pair = e->pairs[i / e->n_planes];
        /* groups of views; of planes, if views have offsets of their own */
        const size_t g = f->n_views ? i % e->n_planes * 2 * GROUPS / e->n_planes % GROUPS
                                    : pair[0] * GROUPS / e->n_views;
        double *A = f->groups + g * n * (n + 1), slopes[N + 2];
        size_t at[N + 2];
        for (size_t j = 0; j < n_slopes; j++) {
            const size_t k = j < globals ? j : globals; /* value; of one view of the pair */
            at[j] = j < globals ? j : globals + pair[j - globals];
            slopes[j] = slope_of(f->values[i], f->values[(k + 1) * n_values + i],
                                 j < globals ? 2 : j - globals, steps[f->which[k]]);
        }
        for (size_t j = 0; j < n_slopes; j++) {
            const size_t k = j < globals ? j : globals;
            const double z =
                w * slope_of(f->next[2 * k * n_values + i], f->next[(2 * k + 1) * n_values + i],
                             j < globals ? 2 : j - globals, 2 * steps[f->which[k]]);
            A[n * n + at[j]] -= z * r * width;
            for (size_t q = 0; q < n_slopes; q++)
                A[at[j] * n + at[q]] += z * slopes[q];
        }
    }
    return FBP_OK;
}

/* Standard deviations of the values: jackknife, from the scatter of the results if one group is
 * left out. */
static void find_errors(const struct fbp_epipolar *e, const struct fitting *f, const double *now,
                        double *x, double *error, double *offsets)
{
    const size_t globals = f->n_unknowns - f->n_views;
    double mean[N] = {0}, squares[N] = {0};

    for (size_t g = 0; g < GROUPS; g++) {
        const bool solved = solve_without(f, g, now, x);
        for (size_t j = 0; j < globals; j++) {
            mean[j] += solved ? x[j] / GROUPS : INFINITY;
            squares[j] += solved ? x[j] * x[j] / GROUPS : INFINITY;
        }
        for (size_t k = 0; k < f->n_views; k++)
            offsets[g * f->n_views + k] = now[globals + k] + (solved ? x[globals + k] : 0);
    }
    for (size_t j = 0; j < globals; j++) {
        const double variance = fmax(0, squares[j] - mean[j] * mean[j]) * (GROUPS - 1);
        error[f->which[j]] =
            isfinite(mean[j]) ? scale_of(e, (int)f->which[j]) * sqrt(variance) : INFINITY;
    }
}

fbp_status fbp_epipolar_fit(struct fbp_epipolar *e, const bool free_values[N],
                            struct fbp_epipolar_fit *fit, double *offsets)
{
    const size_t n_values = e->n_pairs * e->n_planes, n_views = offsets ? e->n_views : 0;
    size_t which[N], n = 0;
    struct fitting f = {.which = which, .n_views = n_views};
    double *now = NULL, *x, before = INFINITY;
    fbp_status st;

    for (size_t i = 0; i < N; i++) {
        fit->error[i] = INFINITY;
        if (free_values[i])
            which[n++] = i;
    }
    f.n_unknowns = n + n_views;
    if (offsets)
        which[n++] = FBP_CALIBRATED_ROW;
    f.n = n;
    const size_t globals = f.n_unknowns - n_views, size = f.n_unknowns * (f.n_unknowns + 1);
    FBP_TRY_GOTO(fbp_calloc((void **)&f.valid, n_values, sizeof *f.valid, "planes"));
    FBP_TRY_GOTO(fbp_calloc((void **)&f.sizes, n_values, sizeof *f.sizes, "planes"));
    FBP_TRY_GOTO(fbp_alloc((void **)&f.values, n_values * (n + 1) * sizeof *f.values, "planes"));
    FBP_TRY_GOTO(fbp_alloc((void **)&f.next, n_values * 2 * n * sizeof *f.next, "planes"));
    FBP_TRY_GOTO(
        fbp_alloc((void **)&f.groups, (GROUPS + 1) * size * sizeof *f.groups, "equations"));
    FBP_TRY_GOTO(fbp_calloc((void **)&now, 2 * f.n_unknowns, sizeof *now, "equations"));
    x = now + f.n_unknowns;
    bool last = false;
    for (int round = 0; round < ROUNDS && !last; round++) {
        double greatest = 0; /* step, in standard deviations */
        FBP_TRY_GOTO(linearise(e, &fit->change, &f));
        fit->misfit = misfit_of(e, f.valid, f.values);
        for (size_t i = 0; i < globals; i++)
            now[i] = fit->change.p[which[i]] / scale_of(e, (int)which[i]);
        last = offsets && (fit->misfit > 0.95 * before || round == ROUNDS - 1);
        before = fit->misfit;
        if (!offsets || last)
            find_errors(e, &f, now, x, fit->error, offsets);
        if (!solve_without(&f, GROUPS, now, x)) {
            st = fbp_fail(FBP_ERR_UNSUPPORTED,
                          "calibrate: the views do not determine the geometry; is there an object "
                          "in them?");
            goto fail;
        }
        for (size_t j = 0; j < globals; j++) {
            const double step = x[j] * scale_of(e, (int)which[j]);
            fit->change.p[which[j]] += step;
            greatest = fmax(greatest, fabs(step) / fmax(fit->error[which[j]], DBL_MIN));
        }
        for (size_t k = 0; k < n_views; k++) {
            now[globals + k] += x[globals + k];
            fbp_axpy(e->views[k].d, x[globals + k], e->views[k].v, e->views[k].d);
        }
        last |= !offsets && greatest < 0.5;
    }
    for (size_t k = 0; k < n_views; k++)
        offsets[GROUPS * n_views + k] = now[globals + k];
fail:
    for (size_t k = 0; now && k < n_views; k++)
        fbp_axpy(e->views[k].d, -now[globals + k], e->views[k].v, e->views[k].d);
    free(f.valid);
    free(f.sizes);
    fbp_free(f.values);
    fbp_free(f.next);
    fbp_free(f.groups);
    free(now);
    return st;
}
