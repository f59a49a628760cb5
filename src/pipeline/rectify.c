/* Resamples the views of a rolled detector, whose rows are not perpendicular to the rotation axis,
 * onto an upright one: a view step (fbp_rectify_step_create(); a correction that wraps the source
 * of the views, view_step.h).
 *
 * The ramp filter runs along lines that lie, with the source, in planes parallel to the direction
 * in which the source moves.  Rows are such lines if the detector is perpendicular to the ray
 * through the axis and its columns are parallel to the axis.  Each view is resampled onto such a
 * detector at the same distance: a homography of the image, interpolated by cubic B-splines.
 *
 * Columns of the upright detector cover the measured width at mid-height of the volume.  If the
 * panel is offset, the shorter side ends at the last column that was measured in all rows, but at
 * least half as far from the axis as at mid-height; the longer side ends at the farthest corner.
 * Rows cover the part of the axis that the panel sees.  Pixels that were not measured get the value
 * of the nearest measured pixel.
 * Used by: plan.c. */
#include "pipeline/view_step.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/math.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rectify {
    struct fbp_view_step step; /* `scan` describes the upright views */
    double roll_rad; /* mean angle between detector rows and the plane of rotation [rad] */
    struct fbp_measured measured;
    double (*matrix)[9]; /* [view] homography (3x3 matrix) from (column, row, 1) of the upright
                            detector to (column, row, 1) of the measured detector, times a factor */
    bool counts; /* true: the step reads measured samples, and counts those that it repairs */
};

static const double DEGREE = FBP_PI / 180;

/* Views are resampled if the angle between detector rows and the plane of rotation exceeds
 * LEAST_ROLL; or LEAST_WOBBLE, if the panel is centred and the angle varies over the views by more
 * than its mean, because the errors that are proportional to the angle then cancel. */
static const double LEAST_ROLL = 0.05 * FBP_PI / 180, LEAST_WOBBLE = 0.5 * FBP_PI / 180;

/* The prefilter that computes B-spline coefficients uses REACH samples on each side, because its
 * weights, powers of POLE, are below 1e-7 beyond. */
enum { REACH = 12 };
static const double POLE = -0.26794919243112270647; /* sqrt(3) - 2 */

static const struct fbp_panel one_pixel = {1, 1};

/* Outline of the measured panel of a view, projected onto the plane of the upright detector;
 * coordinates [mm] are relative to the image of the origin. */
struct outline {
    /* the view with an upright detector of 1 mm pixels; pixel (0, 0): image of the origin */
    struct fbp_view unit;
    double P[12]; /* projection matrix of `unit` */
    /* corners of the panel, (column, row): (first, first), (last, first), (last, last), (first,
     * last) */
    double corner[4][2];
};

static void apply(const double H[9], double x, double y, double out[2])
{
    const double w = H[6] * x + H[7] * y + H[8];

    out[0] = (H[0] * x + H[1] * y + H[2]) / w;
    out[1] = (H[3] * x + H[4] * y + H[5]) / w;
}

/* Homography from pixels of `view` with `panel` to those of view k; false: k has no matrix. */
static bool homography(const struct fbp_scan *scan, size_t k, const struct fbp_view *view,
                       const struct fbp_panel *panel, double H[9])
{
    double P[12], first[3];

    if (!fbp_kind_of(scan->kind)->matrix(&scan->views[k], &scan->panel, P))
        return false;
    fbp_view_pixel(view, panel, 0, 0, first);
    for (size_t i = 0; i < 3; i++) {
        H[3 * i] = fbp_dot(P + 4 * i, view->u);
        H[3 * i + 1] = fbp_dot(P + 4 * i, view->v);
        H[3 * i + 2] = fbp_dot(P + 4 * i, first) + P[4 * i + 3];
    }
    return true;
}

/* Project the panel of view k onto the upright detector's plane; false: it cannot be projected. */
static bool outline_of(const struct fbp_scan *scan, size_t k, const double axis[3],
                       struct outline *o)
{
    const struct fbp_kind_table *kind = fbp_kind_of(scan->kind);
    const struct fbp_view *view = &scan->views[k];
    const double c = (double)scan->panel.n_columns - 0.5, r = (double)scan->panel.n_rows - 0.5;
    const double edge[4][2] = {{-0.5, -0.5}, {c, -0.5}, {c, r}, {-0.5, r}};
    const double origin[3] = {0, 0, 0};
    struct fbp_frame f;
    double at[2], p[3];

    if (!fbp_frame_of(view, axis, &f))
        return false;
    o->unit = *view;
    for (int i = 0; i < 3; i++) {
        o->unit.u[i] = copysign(1, fbp_dot(view->u, f.t)) * f.t[i];
        o->unit.v[i] = copysign(1, fbp_dot(view->v, f.a)) * f.a[i];
        o->unit.d[i] = fbp_dot(view->d, f.n) * f.n[i];
    }
    if (!kind->matrix(&o->unit, &one_pixel, o->P) || !(o->P[11] > 0))
        return false;
    (void)fbp_project(o->P, origin, at);
    fbp_axpy(o->unit.d, at[0], o->unit.u, o->unit.d);
    fbp_axpy(o->unit.d, at[1], o->unit.v, o->unit.d);
    if (!kind->matrix(&o->unit, &one_pixel, o->P))
        return false;
    for (int i = 0; i < 4; i++) {
        fbp_view_pixel(view, &scan->panel, edge[i][0], edge[i][1], p);
        if (!fbp_project(o->P, p, o->corner[i]))
            return false;
    }
    return true;
}

/* Find the point whose coordinate `axis` (0: x, 1: y) is `at` on the line through two corners of
 * the panel; return the point's other coordinate. */
static double edge_at(const struct outline *o, int from, int to, int axis, double at)
{
    const double *a = o->corner[from], *b = o->corner[to];

    return a[!axis] + (at - a[axis]) / (b[axis] - a[axis]) * (b[!axis] - a[!axis]);
}

/* Extent of the measured panels of all views on the upright plane [mm].  x of their left and right
 * edges: at mid-height of the volume (middle), nearest to the axis within the heights of the volume
 * (inner), at the farthest corners (outer).  y: lower and upper edge on the axis.  per_mm: greatest
 * number of measured pixels per mm along x and y. */
struct extent {
    double middle[2], inner[2], outer[2], y[2], per_mm[2];
};

static void widen(double range[2], double lo, double hi)
{
    range[0] = fmin(range[0], lo);
    range[1] = fmax(range[1], hi);
}

/* Include the panel of view k in the extent *e of all panels. heights: extent of the volume along
 * the axis [mm]. False: the panel cannot be projected onto the plane of the upright detector. */
static bool fold(const struct fbp_scan *scan, size_t k, const double axis[3],
                 const double heights[2], struct extent *e)
{
    struct outline o;
    double H[9], y[3], at[4][2];

    if (!outline_of(scan, k, axis, &o) || !homography(scan, k, &o.unit, &one_pixel, H))
        return false;
    const double bottom = edge_at(&o, 0, 1, 0, 0), top = edge_at(&o, 3, 2, 0, 0);
    widen(e->y, bottom, top);
    for (int i = 0; i < 2; i++) {
        double point[3] = {0, 0, 0};
        fbp_axpy(point, heights[i], axis, point);
        (void)fbp_project(o.P, point, at[0]);
        y[i] = fmin(fmax(at[0][1], bottom), top);
    }
    y[2] = (y[0] + y[1]) / 2;
    for (int i = 0; i < 3; i++) {
        const double left = edge_at(&o, 0, 3, 1, y[i]), right = edge_at(&o, 1, 2, 1, y[i]);
        e->inner[0] = fmax(e->inner[0], left);
        e->inner[1] = fmin(e->inner[1], right);
        if (i == 2)
            widen(e->middle, left, right);
    }
    for (int i = 0; i < 4; i++)
        widen(e->outer, o.corner[i][0], o.corner[i][0]);
    for (int i = 0; i < 2; i++) {
        apply(H, -0.5 * !i, y[2] - 0.5 * i, at[0]);
        apply(H, 0.5 * !i, y[2] + 0.5 * i, at[1]);
        e->per_mm[i] = fmax(e->per_mm[i], hypot(at[1][0] - at[0][0], at[1][1] - at[0][1]));
    }
    return isfinite(e->y[0] + e->y[1] + e->inner[0] + e->inner[1]);
}

/* Number of pixels of the upright panel that cover `length` pixels.  It differs from the number of
 * measured pixels by an even number, so that the centres of the two panels can coincide. */
static size_t count(double length, size_t measured)
{
    const double more = ceil((length - 0.01 - (double)measured) / 2);

    return (size_t)fmax(1, (double)measured + 2 * more);
}

/* Make the views of the upright detector, with one panel size for all views. The origin of
 * coordinates is the centre of the circle of the sources. */
static fbp_status make_upright(struct rectify *r, const struct fbp_geometry_facts *facts,
                               const struct fbp_grid *grid, struct fbp_view_step_request *request)
{
    const struct fbp_scan *from = &r->measured.scan;
    struct extent e = {.middle = {INFINITY, -INFINITY},
                       .inner = {-INFINITY, INFINITY},
                       .outer = {INFINITY, -INFINITY},
                       .y = {INFINITY, -INFINITY}};
    double heights[2] = {INFINITY, -INFINITY}, x[2], at[2];

    for (int i = 0; i < 8; i++) {
        double corner[3];
        fbp_grid_corner(grid, i, corner);
        widen(heights, fbp_dot(corner, facts->axis), fbp_dot(corner, facts->axis));
    }
    for (size_t k = 0; k < from->n_views; k++)
        if (!fold(from, k, facts->axis, heights, &e))
            return FBP_UNSUPPORTED(
                "geometry: view %zu: the panel is rolled by %.3g degrees, too much to "
                "be resampled to an upright panel; check its axes u and v",
                k, r->roll_rad / DEGREE);
    memcpy(x, e.middle, sizeof e.middle);
    if (facts->offset) {
        /* Opposite views measure what an offset panel lacks. Its longer side extends to the
         * outermost corner, its shorter side to where all rows were measured or, if that is too
         * near to the axis, half as far as at mid-height. */
        const int shorter = -e.middle[0] < e.middle[1] ? 0 : 1;
        x[!shorter] = e.outer[!shorter];
        x[shorter] = e.inner[shorter];
        if (!(fabs(x[shorter]) >= fabs(e.middle[shorter]) / 2 && x[0] < 0 && x[1] > 0)) {
            x[shorter] = e.middle[shorter] / 2;
            snprintf(request->warning, sizeof request->warning,
                     "the offset panel is rolled by %.3g degrees, so that in the first or last "
                     "slices its shorter side does not reach beyond the rotation axis, or less "
                     "than half as far as at mid-height; values near the axis are wrong there; "
                     "choose a volume of fewer slices",
                     r->roll_rad / DEGREE);
        }
    }

    const struct fbp_panel panel = {count((x[1] - x[0]) * e.per_mm[0], from->panel.n_columns),
                                    count((e.y[1] - e.y[0]) * e.per_mm[1], from->panel.n_rows)};
    const double middle[2] = {(x[0] + x[1]) / 2, (e.y[0] + e.y[1]) / 2};
    r->step.scan.panel = panel;
    for (size_t k = 0; k < from->n_views; k++) {
        struct fbp_view *v = &r->step.scan.views[k];
        struct outline o;
        if (!outline_of(from, k, facts->axis, &o))
            return FBP_ERR_INVALID; /* not reached: fold() has projected this panel */
        *v = o.unit;
        (void)fbp_project(o.P, from->views[k].d, at);
        for (int i = 0; i < 2; i++) {
            double *step = i ? v->v : v->u;
            /* let pixel centres of the upright panel coincide with those of the measured panel at
             * its centre: if the roll is small, hardly any interpolation is needed */
            const double pixels = (middle[i] - at[i]) * e.per_mm[i];
            fbp_axpy(v->d, at[i] + round(pixels) / e.per_mm[i], step, v->d);
            for (int j = 0; j < 3; j++)
                step[j] /= e.per_mm[i];
        }
        if (!homography(from, k, v, &panel, r->matrix[k]))
            return FBP_ERR_INVALID;
    }
    return FBP_OK;
}

/* Index of the sample whose value sample i has, if n samples are reflected at both ends. */
static size_t reflect(ptrdiff_t i, size_t n)
{
    const ptrdiff_t period = n > 1 ? 2 * ((ptrdiff_t)n - 1) : 1;

    if (i >= 0 && i < (ptrdiff_t)n)
        return (size_t)i;
    i = (i % period + period) % period;
    return (size_t)(i < (ptrdiff_t)n ? i : period - i);
}

/* Set out[0] and out[1] to the first and the last measured row whose B-spline coefficients are
 * needed for upright rows [row0, row0 + n_rows) of a view. */
static void spline_rows(const struct rectify *r, size_t view, size_t row0, size_t n_rows,
                        size_t out[2])
{
    const double last = (double)r->measured.scan.panel.n_rows - 1;
    double lo = INFINITY, hi = -INFINITY, at[2];

    for (int i = 0; i < 4; i++) {
        apply(r->matrix[view], i & 1 ? (double)r->step.scan.panel.n_columns - 1 : 0,
              (double)row0 + (i & 2 ? (double)n_rows - 1 : 0), at);
        lo = fmin(lo, at[1]);
        hi = fmax(hi, at[1]);
    }
    /* a cubic B-spline at y uses rows floor(y) - 1 to + 2; one more at both ends for rounding */
    out[0] = (size_t)fmax(0, fmin(floor(lo), last - 1) - 2);
    out[1] = (size_t)fmin(last, fmax(floor(hi), 0) + 3);
}

/* Measured rows [*first, *first + *n) for upright rows [row0, row0 + n_rows) of a view. */
static void measured_rows(const struct rectify *r, size_t view, size_t row0, size_t n_rows,
                          size_t *first, size_t *n)
{
    const size_t nr = r->measured.scan.panel.n_rows;
    size_t rows[2];

    spline_rows(r, view, row0, n_rows, rows);
    *first = rows[0] > REACH ? rows[0] - REACH : 0;
    *n = (nr - rows[1] > REACH + 1 ? rows[1] + REACH + 1 : nr) - *first;
}

/* B-spline coefficients per row: one per sample, one before the first, two after the last. */
static size_t spline_columns(const struct rectify *r)
{
    return r->measured.scan.panel.n_columns + 3;
}

/* Compute the B-spline coefficients *out of measured rows rows[0] to rows[1] of a view. in: samples
 * of measured rows, from row `first` on; row: memory for one row. */
static void spline_of(const struct rectify *r, const size_t rows[2], size_t first, const float *in,
                      float *row, float *out)
{
    const size_t nc = r->measured.scan.panel.n_columns, nr = r->measured.scan.panel.n_rows;
    const size_t stride = spline_columns(r);
    float h[REACH + 1]; /* prefilter weights at 0 to REACH samples; the sum of both sides is 1 */
    double all = 1;

    for (int i = 1; i <= REACH; i++)
        all += 2 * pow(POLE, i);
    for (int i = 0; i <= REACH; i++)
        h[i] = (float)(pow(POLE, i) / all);

    for (size_t j = rows[0]; j <= rows[1]; j++, out += stride) {
        for (size_t c = 0; c < nc; c++)
            row[c] = h[0] * in[(j - first) * nc + c];
        for (ptrdiff_t i = 1; i <= REACH; i++) {
            const float *a = in + (reflect((ptrdiff_t)j - i, nr) - first) * nc;
            const float *b = in + (reflect((ptrdiff_t)j + i, nr) - first) * nc;
            for (size_t c = 0; c < nc; c++)
                row[c] += h[i] * (a[c] + b[c]);
        }
        for (size_t c = 0; c < nc; c++) {
            const bool inside = c >= REACH && nc - c > REACH;
            float sum = h[0] * row[c];
            for (ptrdiff_t i = 1; i <= REACH; i++)
                sum += h[i] * (inside ? row[c - (size_t)i] + row[c + (size_t)i]
                                      : row[reflect((ptrdiff_t)c - i, nc)] +
                                            row[reflect((ptrdiff_t)c + i, nc)]);
            out[c + 1] = sum;
        }
        out[0] = out[1 + reflect(-1, nc)];
        out[nc + 1] = out[1 + reflect((ptrdiff_t)nc, nc)];
        out[nc + 2] = out[1 + reflect((ptrdiff_t)nc + 1, nc)];
    }
}

/* Clamp the position x to [0, n - 1]; return the index of the sample at or before it, and set w to
 * the cubic B-spline weights of the four coefficients around it. */
static size_t taps(double x, size_t n, float w[4])
{
    x = !(x > 0) ? 0 : x < (double)n - 1 ? x : (double)n - 1;
    const size_t i = (size_t)x;
    const float t = (float)(x - (double)i), s = 1 - t;

    w[0] = s * s * s / 6;
    w[1] = (4 + t * t * (3 * t - 6)) / 6;
    w[2] = (4 + s * s * (3 * s - 6)) / 6;
    w[3] = t * t * t / 6;
    return i;
}

/* Compute upright rows [row0, row0 + n_rows) of a view; in: samples of the measured rows that
 * measured_rows() finds. Values do not depend on how many rows are computed at once. */
static void resample(const struct rectify *r, size_t view, size_t row0, size_t n_rows,
                     const float *in, float *work, float *out)
{
    const size_t nc = r->measured.scan.panel.n_columns, nr = r->measured.scan.panel.n_rows;
    const size_t stride = spline_columns(r);
    const double *H = r->matrix[view];
    float *splines = work + stride;
    size_t rows[2], first, n;

    spline_rows(r, view, row0, n_rows, rows);
    measured_rows(r, view, row0, n_rows, &first, &n);
    spline_of(r, rows, first, in, work, splines);
    for (size_t y = row0; y < row0 + n_rows; y++)
        for (size_t x = 0; x < r->step.scan.panel.n_columns; x++, out++) {
            double at[2];
            float wx[4], wy[4], sum = 0;
            apply(H, (double)x, (double)y, at);
            const size_t c = taps(at[0], nc, wx), j = taps(at[1], nr, wy);
            for (size_t i = 0; i < 4; i++) {
                const size_t row = reflect((ptrdiff_t)(j + i) - 1, nr);
                const float *s = splines + (row - rows[0]) * stride + c;
                sum += wy[i] * (wx[0] * s[0] + wx[1] * s[1] + wx[2] * s[2] + wx[3] * s[3]);
            }
            *out = sum;
        }
}

/* ---- The source ---- */

struct rectified {
    struct rectify *rectify;
    pthread_mutex_t lock;   /* protects the step's counts and `counted` */
    unsigned char *counted; /* [view][measured row] */
};

/* Number of floats per reading thread: all measured rows of a view, and as much working memory. */
static size_t rows_floats(const struct rectify *r)
{
    return 2 * fbp_integrals_floats(&r->measured, r->measured.scan.panel.n_rows);
}

static size_t reader_bytes(const struct rectify *r)
{
    const size_t splines = (r->measured.scan.panel.n_rows + 1) * spline_columns(r);

    return (rows_floats(r) + splines) * sizeof(float);
}

/* Read measured rows [first, first + n) of a view as line integrals, lowest row first. The repaired
 * samples of a row are counted only when the row is read for the first time. */
static fbp_status read_rows(fbp_source *src, size_t view, size_t first, size_t n, float *work,
                            float *out)
{
    struct rectified *s = src->state;
    const struct fbp_measured *m = &s->rectify->measured;
    struct fbp_prep_counts *repaired = &s->rectify->step.repaired;
    unsigned char *counted = s->counted + view * m->scan.panel.n_rows;

    for (size_t r = first, end; r < first + n; r = end) {
        struct fbp_prep_counts counts = {0};
        pthread_mutex_lock(&s->lock);
        const bool before = counted[r] != 0;
        for (end = r; end < first + n && (counted[end] != 0) == before; end++)
            counted[end] = 1;
        pthread_mutex_unlock(&s->lock);
        FBP_TRY(fbp_integrals_read(m, src->below, view, r, end - r, work,
                                   out + (r - first) * m->scan.panel.n_columns, &counts));
        if (before || !s->rectify->counts)
            continue;
        pthread_mutex_lock(&s->lock);
        fbp_prep_counts_add(repaired, &counts);
        pthread_mutex_unlock(&s->lock);
    }
    return FBP_OK;
}

static fbp_status read_rectified(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    const struct rectify *r = ((const struct rectified *)src->state)->rectify;
    const size_t from = r->measured.top_down ? src->info.n[1] - row0 - n_rows : row0;
    float *to = out, *memory = NULL;
    fbp_status st;

    (void)as_float; /* the samples are floats */
    FBP_TRY(fbp_alloc((void **)&memory, reader_bytes(r), "a view to be resampled"));
    for (size_t k = 0; k < n_slices; k++, to += n_rows * src->info.n[0]) {
        size_t first, n;
        FBP_TRY_GOTO(fbp_check_cancelled());
        measured_rows(r, slice0 + k, from, n_rows, &first, &n);
        FBP_TRY_GOTO(read_rows(src, slice0 + k, first, n, memory + rows_floats(r) / 2, memory));
        resample(r, slice0 + k, from, n_rows, memory, memory + rows_floats(r), to);
        if (r->measured.top_down)
            fbp_turn_rows(to, n_rows, src->info.n[0]);
    }
    st = FBP_OK;
fail:
    fbp_free(memory);
    return st;
}

static void close_rectified(fbp_source *src)
{
    struct rectified *s = src->state;

    pthread_mutex_destroy(&s->lock);
    free(s->counted);
    free(s);
}

static fbp_status set_up(fbp_source *src, const void *step, fbp_source *below)
{
    struct rectify *r = *(struct rectify *const *)step;
    const size_t rows = r->step.scan.n_views * r->measured.scan.panel.n_rows;
    struct rectified *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    s->rectify = r;
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_rectified;
    src->read_block = read_rectified;
    FBP_TRY(fbp_calloc((void **)&s->counted, rows, 1, "counters"));
    fbp_source_like(src, below);
    src->info.n[0] = r->step.scan.panel.n_columns;
    src->info.n[1] = r->step.scan.panel.n_rows;
    src->unpacks = true;
    src->in_order = below->in_order;
    src->growing = below->growing; /* usable during a scan: each view needs one measured view */
    src->held_bytes = fbp_source_bytes(below, 0) + rows;
    src->reader_bytes = fbp_source_bytes(below, 1) - fbp_source_bytes(below, 0) + reader_bytes(r);
    return fbp_source_wrap_set_up(src, below);
}

/* ---- The step ---- */

static void destroy(struct fbp_view_step *step)
{
    struct rectify *r = (struct rectify *)step;

    fbp_prep_clear(&r->measured.prep);
    free(step->scan.views);
    free(r->matrix);
    free(r);
}

static void describe(const struct fbp_view_step *step, struct fbp_plan_summary *info)
{
    const size_t used = strlen(info->prepared);

    snprintf(info->prepared + used, sizeof info->prepared - used,
             "%sdetector rolled by %.3g deg: resampled to an upright one of %zu x %zu",
             used ? "; " : "", ((const struct rectify *)step)->roll_rad / DEGREE,
             step->scan.panel.n_columns, step->scan.panel.n_rows);
}

static uint64_t hash(const struct fbp_view_step *step, uint64_t h)
{
    const struct rectify *r = (const struct rectify *)step;
    const struct fbp_prep *prep = &r->measured.prep;
    const double choices[] = {(double)prep->inverse_i0, (double)prep->intensity};

    h = fbp_hash(h, r->matrix, step->scan.n_views * sizeof *r->matrix);
    return fbp_prep_hash(fbp_hash(h, choices, sizeof choices), prep);
}

static fbp_status estimate(const struct fbp_view_step *step, const struct fbp_view_readings *reads,
                           double *seconds)
{
    static const double PIXEL_SECONDS = 40e-9; /* one core, a few years old, 3 GHz */
    const struct fbp_panel *panel = &step->scan.panel;

    *seconds = PIXEL_SECONDS * (double)panel->n_columns * (double)panel->n_rows *
               (double)step->scan.n_views * reads->rows / reads->n_threads;
    return FBP_OK;
}

/* Return whether the views must be resampled, because the angle between detector rows and the plane
 * of rotation exceeds both the least angle (LEAST_ROLL or LEAST_WOBBLE) and the uncertainty of the
 * rotation axis, which is found from the source positions. */
static bool is_rolled(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts)
{
    double axis[3], sum = 0, squares = 0;
    const double unsure = fbp_axis_of(scan->views, scan->n_views, axis);

    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        struct fbp_frame f;
        if (!fbp_frame_of(v, axis, &f))
            continue;
        const double lean = atan2(fbp_dot(v->u, f.a), fabs(fbp_dot(v->u, f.t)));
        sum += lean;
        squares += lean * lean;
    }
    const bool wobbles = !facts->offset && 2 * sum * sum < squares * (double)scan->n_views;
    return facts->row_tilt_rad > fmax(wobbles ? LEAST_WOBBLE : LEAST_ROLL, unsure);
}

fbp_status fbp_rectify_step_create(struct fbp_view_step **out,
                                   struct fbp_view_step_request *request)
{
    const struct fbp_scan *scan = request->scan;
    const struct fbp_kind_table *kind = fbp_kind_of(scan->kind);
    struct fbp_views views = fbp_scan_views(scan);
    struct fbp_geometry_facts facts;
    struct fbp_view *moved = NULL;
    struct rectify *r = NULL;
    struct fbp_grid grid;
    double centre[3];
    fbp_status st = FBP_OK;

    *out = NULL;
    if (kind->integral != FBP_OVER_LINES || scan->filtered)
        return FBP_OK;
    if (fbp_views_facts(fbp_scan_views(scan), NULL, &facts) != FBP_OK) {
        fbp_message_clear(); /* the job returns this error */
        return FBP_OK;
    }
    if (!is_rolled(scan, &facts))
        return FBP_OK;
    if (scan->panel.n_rows == 1) {
        snprintf(request->warning, sizeof request->warning,
                 "the detector's only row is tilted by %.3g degrees against the plane of rotation, "
                 "which cannot be corrected, so values off the axis are wrong; check the "
                 "detector's tilt",
                 facts.row_tilt_rad / DEGREE);
        return FBP_OK;
    }
    FBP_TRY(fbp_calloc((void **)&r, 1, sizeof *r, "an upright detector"));
    r->step = (struct fbp_view_step){.scan = fbp_scan_of_integrals(scan),
                                     .prep = request->measured ? &r->measured.prep : NULL,
                                     .set_up = set_up,
                                     .destroy = destroy,
                                     .describe = describe,
                                     .hash = hash,
                                     .estimate = estimate};
    r->step.scan.corrections = NULL;
    r->step.scan.views = NULL;
    r->roll_rad = facts.row_tilt_rad;
    r->measured = (struct fbp_measured){.scan = *scan, .top_down = request->top_down};
    r->counts = request->measured;
    FBP_TRY_GOTO(fbp_grid_resolve(NULL, scan, &r->step.scan.volume));
    FBP_TRY_GOTO(fbp_grid_resolve(&request->params->volume, scan, &grid));
    FBP_TRY_GOTO(fbp_calloc((void **)&r->step.scan.views, scan->n_views, sizeof *r->step.scan.views,
                            "views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&r->matrix, scan->n_views, sizeof *r->matrix, "views"));
    FBP_TRY_GOTO(fbp_views_centre(kind, &views, centre, &moved));
    r->measured.scan.views = (struct fbp_view *)views.view;
    fbp_axpy(grid.centre_mm, -1, centre, grid.centre_mm);
    FBP_TRY_GOTO(make_upright(r, &facts, &grid, request));
    for (size_t k = 0; moved && k < scan->n_views; k++) {
        struct fbp_view *v = &r->step.scan.views[k];
        fbp_axpy(v->d, 1, centre, v->d);
        if (kind->has_source)
            fbp_axpy(v->s, 1, centre, v->s);
    }
    r->measured.scan.views = scan->views;
    FBP_TRY_GOTO(fbp_prep_create(&r->measured.prep, scan, request->top_down));
    *out = &r->step;
fail:
    free(moved);
    if (st != FBP_OK)
        destroy(&r->step);
    return st;
}
