/* fbp_calibrate() (public): determines the geometry of a circular scan from its views. Cone beams:
 * column, row and roll by epipolar consistency (epipolar.c), then column, distance, arc and yaw by
 * opposite rays in the plane of the sources (match.c). Parallel beams: a line through the columns
 * of the axis at several heights, and the roll for which rows at right angles to the axis are most
 * consistent (match.c, wedge.c). Also names and units of the values (public).
 * Used by: cli/, analysis/. */
#include "analysis/calibrate.h"
#include "analysis/centre.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "pipeline/job.h"
#include "scan/adjust.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = FBP_CALIBRATED_COUNT,
    /* greatest numbers of columns and views: coarse search, fit of pairs of views, opposite rays,
     * single rows */
    COARSE_COLUMNS = 96,
    COARSE_VIEWS = 60,
    FINE_COLUMNS = 512,
    FINE_VIEWS = 360,
    DRIFT_VIEWS = 720, /* fit of pairs of views that move */
    DRIFT_ROUNDS = 2,  /* number of these fits, each followed by one of the panel */
    LINE_COLUMNS = 1024,
    LINE_VIEWS = 720,
    ROW_VIEWS = 400,
    FEWEST_ROWS = 24, /* least number of rows for epipolar consistency */
    TRIED = 48,       /* number of columns of the coarse search */
    ROWS_TRIED = 10,  /* half the number of rows of the coarse search */
};

static const double DEGREES = 180 / FBP_PI;

/* Greatest roll of a panel that the search may find [rad]. */
static const double MOST_ROLL = 0.3;

/* Greatest standard deviation of an observable roll of parallel beams [deg]: round objects do not
 * determine it. */
static const double MOST_ROLL_ERROR = 0.1;

/* Greatest misfit with offsets of single views, relative to that without: offsets are as many
 * unknowns as views, and decrease it in any case. */
static const double LESS_MISFIT = 0.9;

/* Standard deviation of the row, relative to the number of rows, if the panel moves: slow movement
 * along rows, which is unknown, moves it (bench/calibration/drift.py: up to .025). */
static const double MOVING_ROW = 0.013;

static const struct {
    const char *name, *unit;
} names[N] = {
    [FBP_CALIBRATED_COLUMN] = {"column", "pixels"}, [FBP_CALIBRATED_ROW] = {"row", "pixels"},
    [FBP_CALIBRATED_ROLL] = {"roll", "deg"},        [FBP_CALIBRATED_PITCH] = {"pitch", "deg"},
    [FBP_CALIBRATED_YAW] = {"yaw", "deg"},          [FBP_CALIBRATED_SDD] = {"sdd", "mm"},
    [FBP_CALIBRATED_ARC] = {"arc", "deg"},
};

const char *fbp_calibrated_name(enum fbp_calibrated which)
{
    return (unsigned)which < N ? names[which].name : NULL;
}

const char *fbp_calibrated_unit(enum fbp_calibrated which)
{
    return (unsigned)which < N ? names[which].unit : NULL;
}

void fbp_views_change(const struct fbp_view *from, struct fbp_view *to, size_t n,
                      enum fbp_kind kind, const double axis[3], const double *angles,
                      const struct fbp_change *c)
{
    const double *p = c->p, middle = (angles[0] + angles[n - 1]) / 2;

    for (size_t k = 0; k < n; k++) {
        const struct fbp_view *v = &from[k];
        double axes[3][3], about[3][9], pitch_roll[9], R[9], turn[9], iso[3], arm[3];
        memcpy(axes[0], v->u, sizeof axes[0]);
        fbp_normalise(axes[0]);
        fbp_cross(v->u, v->v, axes[2]);
        fbp_normalise(axes[2]);
        fbp_cross(axes[2], axes[0], axes[1]);
        /* Rotations about axes that move with the panel: the product in the order of the rotations,
         * each about the axis before all of them. */
        fbp_turn_about(axes[0], p[FBP_CALIBRATED_PITCH], about[0]);
        fbp_turn_about(axes[1], p[FBP_CALIBRATED_YAW], about[1]);
        fbp_turn_about(axes[2], p[FBP_CALIBRATED_ROLL], about[2]);
        fbp_matmul(about[0], about[1], pitch_roll);
        fbp_matmul(pitch_roll, about[2], R);
        fbp_turn_about(axis, p[FBP_CALIBRATED_ARC] * (angles[k] - middle), turn);

        /* iso: point of the panel on which the iso-centre is projected */
        const double t = fbp_dot(v->d, axes[2]) / fbp_dot(v->s, axes[2]);
        for (int i = 0; i < 3; i++) {
            iso[i] = t * v->s[i];
            arm[i] = v->d[i] - iso[i] + p[FBP_CALIBRATED_COLUMN] * axes[0][i] +
                     p[FBP_CALIBRATED_ROW] * axes[1][i];
        }
        if (fbp_kind_has_source(kind))
            for (int i = 0; i < 3; i++)
                iso[i] += p[FBP_CALIBRATED_SDD] * (iso[i] - v->s[i]);
        fbp_turned(R, arm, arm);
        fbp_turned(R, v->u, to[k].u);
        fbp_turned(R, v->v, to[k].v);
        for (int i = 0; i < 3; i++)
            to[k].d[i] = iso[i] + arm[i];
        fbp_turned(turn, v->s, to[k].s);
        fbp_turned(turn, to[k].d, to[k].d);
        fbp_turned(turn, to[k].u, to[k].u);
        fbp_turned(turn, to[k].v, to[k].v);
    }
}

/* Work of one call of fbp_calibrate(). */
struct work {
    const struct fbp_scan *scan;
    const struct fbp_recon_params *params;
    struct fbp_geometry_facts facts;
    double *angles;       /* [n_views] of the scan's views, in the order of the file [rad] */
    double *sorted;       /* the same in ascending order */
    bool drift;           /* find movement between views */
    double (*offsets)[2]; /* [n_views] of the panel along rows and columns [pixels] */
    fbp_pool *pool;
    struct fbp_calibration *out;
    struct fbp_scan *corrected;
};

static void add_reason(struct fbp_calibration *c, const char *fmt, double a)
{
    const size_t used = strlen(c->why);

    if (used > 0 && used + 3 < sizeof c->why)
        memcpy(c->why + used, "; ", 3);
    snprintf(c->why + strlen(c->why), sizeof c->why - strlen(c->why), fmt, a);
}

/* Mean over the views of the column and the row of the projected iso-centre, and mean distance
 * from source to panel [mm]; other values are 0. */
static fbp_status values_of(const struct fbp_scan *scan, double values[N])
{
    memset(values, 0, N * sizeof *values);
    for (size_t k = 0; k < scan->n_views; k++) {
        double P[12];
        FBP_TRY(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        values[FBP_CALIBRATED_COLUMN] += P[3] / P[11] / (double)scan->n_views;
        values[FBP_CALIBRATED_ROW] += P[7] / P[11] / (double)scan->n_views;
    }
    if (fbp_kind_has_source(scan->kind))
        FBP_TRY(fbp_adjust_get(scan, FBP_ADJUST_SDD, &values[FBP_CALIBRATED_SDD]));
    return FBP_OK;
}

fbp_status fbp_calibrate_reduce(const struct fbp_scan *scan, size_t columns, size_t views,
                                struct fbp_scan *out, size_t *bin)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    const size_t every = (scan->n_views + views - 1) / views;
    size_t b = (nc + columns - 1) / columns;

    while (b > 1 && nr / b < (nr < FEWEST_ROWS ? nr : FEWEST_ROWS))
        b--;
    *bin = b;
    FBP_TRY(fbp_scan_copy(out, scan));
    return b > 1 || every > 1 ? fbp_scan_reduce(out, every, b) : FBP_OK;
}

/* Read the views of the scan, with at most `columns` columns, for their comparison in pairs. */
static fbp_status read_views(struct work *w, struct fbp_epipolar *e, size_t columns, size_t views)
{
    struct fbp_scan reduced = {.struct_size = sizeof reduced};
    size_t bin;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calibrate_reduce(w->scan, columns, w->scan->n_views, &reduced, &bin));
    st = fbp_epipolar_create(e, &reduced, w->params->input.source, views, w->drift, w->pool);
fail:
    fbp_scan_clear(&reduced);
    return st;
}

static void reverse(struct fbp_epipolar *e)
{
    fbp_views_flip(e->views, e->n_views, FBP_FLIP_DIRECTION);
    for (size_t k = 0; k < e->n_views; k++)
        e->angles[k] = -e->angles[k];
}

/* Fit the column of the axis and the panel's rotation about its normal, from fit->change on, also
 * for a panel that is shifted vertically by up to a tenth of its height. */
static fbp_status fit_coarsely(struct fbp_epipolar *e, struct fbp_epipolar_fit *fit)
{
    static const bool first[N] = {[FBP_CALIBRATED_COLUMN] = true, [FBP_CALIBRATED_ROLL] = true};
    const double rows = 0.1 * (double)e->panel.n_rows * fbp_norm(e->views[0].v);

    FBP_TRY(fbp_epipolar_fit(e, first, fit, NULL));
    const struct fbp_change level = fit->change;
    double best = fit->misfit * 0.9;
    for (int i = -ROWS_TRIED; i <= ROWS_TRIED; i++) {
        struct fbp_change c = level;
        double misfit;
        c.p[FBP_CALIBRATED_ROW] = rows * i / ROWS_TRIED;
        FBP_TRY(fbp_epipolar_misfit(e, &c, &misfit));
        if (misfit < best) {
            best = misfit;
            fit->change = c;
        }
    }
    return fabs(fit->change.p[FBP_CALIBRATED_ROW]) > 0 ? fbp_epipolar_fit(e, first, fit, NULL)
                                                       : FBP_OK;
}

/* Move the panels of n views along their columns and rows. */
static void move_panels(struct fbp_view *views, size_t n, double (*offsets)[2])
{
    for (size_t k = 0; k < n; k++) {
        fbp_axpy(views[k].d, offsets[k][0], views[k].u, views[k].d);
        fbp_axpy(views[k].d, offsets[k][1], views[k].v, views[k].d);
    }
}

/* Find how far the panel moves between the views of the corrected scan, and add it to w->offsets,
 * to the scan's views and to those of e. */
static fbp_status find_drift(struct work *w, struct fbp_epipolar *e, struct fbp_epipolar_fit *fit)
{
    struct fbp_scan *found = w->corrected;
    const size_t n = found->n_views;
    /* pixels of e's panels per pixel */
    const double scale = e ? fbp_norm(found->views[0].u) / fbp_norm(e->views[0].u) : 1;
    double(*offsets)[2] = NULL;
    fbp_status st;

    if (!w->drift || found->panel.n_rows < FEWEST_ROWS)
        return FBP_OK;
    FBP_TRY_GOTO(fbp_calloc((void **)&offsets, n, sizeof *offsets, "offsets"));
    st = fbp_drift_find(found, w->params->input.source, e, fit, w->facts.axis, w->angles,
                        w->out->drift, offsets);
    if (st == FBP_ERR_UNSUPPORTED) { /* views cannot be compared in this geometry */
        fbp_message_clear();
        st = FBP_OK;
    }
    FBP_TRY_GOTO(st);
    move_panels(found->views, n, offsets);
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 2; i++)
            w->offsets[k][i] += offsets[k][i];
    for (size_t k = 0; e && k < e->n_views; k++) {
        const double *from = offsets[e->order[k]];
        move_panels(&e->views[k], 1, &(double[2]){from[0] * scale, from[1] * scale});
    }
fail:
    free(offsets);
    return st;
}

/* Compute the values of the scan, and make them the result: none is observable yet. */
static fbp_status keep_values(struct work *w, double before[N])
{
    FBP_TRY(values_of(w->scan, before));
    before[FBP_CALIBRATED_ARC] = (w->sorted[w->scan->n_views - 1] - w->sorted[0]) * DEGREES;
    for (int i = 0; i < N; i++)
        w->out->values[i] = (struct fbp_estimate){before[i], before[i], INFINITY, false};
    return FBP_OK;
}

/* Reverse the angles of the views, if the direction of rotation is the opposite one. */
static void reverse_angles(struct work *w)
{
    for (size_t k = 0; w->out->reversed && k < w->scan->n_views; k++)
        w->angles[k] = -w->angles[k];
}

/* Set the views of the corrected scan: those of the scan with all offsets and a change. */
static void correct_views(struct work *w, const struct fbp_change *c)
{
    struct fbp_scan *found = w->corrected;
    const size_t n = found->n_views;

    memcpy(found->views, w->scan->views, n * sizeof *found->views);
    if (w->out->reversed)
        fbp_views_flip(found->views, n, FBP_FLIP_DIRECTION);
    move_panels(found->views, n, w->offsets);
    fbp_views_change(found->views, found->views, n, found->kind, w->facts.axis, w->angles, c);
}

/* Find the column of the axis within a quarter of the panel from its middle, and fit it with the
 * panel's rotation about its normal. */
static fbp_status search_coarsely(struct fbp_epipolar *e, struct fbp_epipolar_fit *fit)
{
    const double pitch = fbp_norm(e->views[0].u), nc = (double)e->panel.n_columns;
    double P[12];
    struct fbp_epipolar_fit start = {.misfit = INFINITY};

    FBP_TRY(fbp_view_to_matrix(&e->views[0], FBP_CONE, &e->panel, P));
    const double middle = ((nc - 1) / 2 - P[3] / P[11]) * pitch; /* moves the axis to the middle */
    for (int i = 0; i <= TRIED; i++) {
        struct fbp_change c = {{0}};
        double misfit;
        c.p[FBP_CALIBRATED_COLUMN] = -middle + pitch * nc / 2 * ((double)i / TRIED - 0.5);
        FBP_TRY(fbp_epipolar_misfit(e, &c, &misfit));
        if (misfit < start.misfit)
            start = (struct fbp_epipolar_fit){.change = c, .misfit = misfit};
    }
    *fit = start;
    const fbp_status st = fit_coarsely(e, fit);
    if (st != FBP_ERR_UNSUPPORTED)
        return st;
    fbp_message_clear(); /* the fit left the geometries in which views can be compared */
    *fit = start;
    return FBP_OK;
}

/* Mean square of the distance of n columns from their middle. */
static double mean_square(size_t n)
{
    return (double)n * (double)n / 12;
}

/* Rows of the panel, a line through them, and the comparison of rays on that line that are measured
 * from both sides. */
struct lines {
    struct fbp_sinogram rows; /* near the row of the iso-centre */
    struct fbp_sinogram line; /* one row: samples along the line in which a plane cuts the panel */
    struct fbp_match match;
};

/* Read up to n_rows rows of a scan, next to the row of the iso-centre. */
static fbp_status lines_read(struct lines *m, const struct fbp_scan *scan, fbp_source *source,
                             size_t n_rows)
{
    FBP_TRY(fbp_sinogram_read(&m->rows, scan, source, n_rows));
    m->line = m->rows;
    m->line.n_rows = 1;
    m->line.angles = NULL;
    m->line.values = NULL;
    FBP_TRY(fbp_calloc((void **)&m->line.angles, m->rows.n_views, sizeof(double), "angles"));
    return fbp_alloc((void **)&m->line.values, m->rows.n_views * m->rows.n_columns * sizeof(float),
                     "a sinogram");
}

static void lines_clear(struct lines *m)
{
    fbp_match_clear(&m->match);
    fbp_sinogram_clear(&m->rows);
    fbp_sinogram_clear(&m->line);
}

/*
 * Sample all views along a line of the panel through (column, row) with a slope, as a panel without
 * yaw would measure them: a panel rotated about its columns by `yaw` measures ray x [columns from
 * the axis] at x + yaw x^2 / D, D: distance from the source in columns.  The mean of that shift
 * over the panel is left out, so that it does not move the axis.  Rows are averaged with Gaussian
 * weights of standard deviation `width` >= 1 [rows]: the noise of such means does not depend on the
 * position between rows, which would otherwise draw the slope.
 */
static void set_line(struct lines *m, double column, double row, double slope, double yaw,
                     double width)
{
    const struct fbp_sinogram *s = &m->rows;
    const size_t nc = s->n_columns, n = s->n_views;
    const double curve = yaw * s->tangent, last = (double)nc - 1.000001;
    const double bottom = (double)s->n_rows - 1, reach = ceil(3 * width);

    memcpy(m->line.angles, s->angles, n * sizeof *s->angles);
    memset(m->line.values, 0, n * nc * sizeof *m->line.values);
    for (size_t c = 0; c < nc; c++) {
        const double x = (double)c - column;
        const double to = fmin(fmax((double)c + curve * (x * x - mean_square(nc)), 0), last);
        const double at = fmin(fmax(row + slope * x - (double)s->first_row, 0), bottom);
        const size_t j = (size_t)to, first = (size_t)fmax(0, ceil(at - reach));
        const size_t end = (size_t)fmin(bottom, floor(at + reach)) + 1;
        double total = 0;
        for (size_t i = first; i < end; i++)
            total += exp(-0.5 * pow(((double)i - at) / width, 2));
        for (size_t i = first; i < end; i++) {
            const float w = (float)(exp(-0.5 * pow(((double)i - at) / width, 2)) / total);
            const float v = (float)(to - (double)j), w0 = w * (1 - v), w1 = w * v;
            const float *a = s->values + i * n * nc + j;
            for (size_t k = 0; k < n; k++)
                m->line.values[k * nc + c] += w0 * a[k * nc] + w1 * a[k * nc + 1];
        }
    }
}

/* Store an estimate.  False: it hardly differs from the value of the scan; then the value of the
 * scan is stored and should be kept, because a panel that is rotated needlessly requires
 * resampling.  Column, row and roll are always changed. */
static bool set_value(struct work *w, int i, double value, double before, double error)
{
    /* Least uncertainties, of interpolation and of values that are not fitted [pixels, deg,
     * relative for SDD]; they and the factor were found on simulated scans (bench/calibration). */
    static const double least[N] = {
        [FBP_CALIBRATED_COLUMN] = 0.04, [FBP_CALIBRATED_ROW] = 0.5,  [FBP_CALIBRATED_ROLL] = 0.02,
        [FBP_CALIBRATED_YAW] = 0.2,     [FBP_CALIBRATED_SDD] = 3e-3, [FBP_CALIBRATED_ARC] = 0.1};
    const double floor = least[i] * (i == FBP_CALIBRATED_SDD ? value : 1);

    /* yaw and distance are correlated with values that are not fitted, such as the pitch */
    const double more = i == FBP_CALIBRATED_YAW || i == FBP_CALIBRATED_SDD ? 1.35 : 1;
    const double least_change = hypot(2.4 * error, floor);
    const bool differs = i <= FBP_CALIBRATED_ROLL || fabs(value - before) > least_change;

    w->out->values[i] =
        (struct fbp_estimate){differs ? value : before, before, more * least_change, true};
    return differs;
}

enum { LINES = 7, PARTS = 4, STEPS = 6 };

/* Values that rays in the plane of the sources determine: index of offsets; BY_SHIFT: further
 * offset of the column if the yaw is corrected, too. */
enum { BY_COLUMN, BY_SDD, BY_ARC, BY_YAW, BY_COUNT, BY_SHIFT = BY_COUNT };

/* Misfit of opposite rays in m->line, which was set for the yaw of the offsets. */
static double midplane_misfit(struct lines *m, double column, const double offsets[BY_COUNT],
                              size_t part, size_t parts)
{
    struct fbp_agreement a;

    m->line.tangent = m->rows.tangent / (1 + offsets[BY_SDD]);
    for (size_t k = 0; k < m->rows.n_views; k++)
        m->line.angles[k] = m->rows.angles[k] * (1 + offsets[BY_ARC]);
    fbp_match_at(&m->match, column + offsets[BY_COLUMN], 1, part, parts, &a);
    return a.misfit;
}

/* Find the offsets of column [pixels], distance to the panel, arc [relative] and yaw [rad] of the
 * corrected scan for which opposite rays agree best: means of the results of LINES lines near the
 * plane of the sources, by parabolas of decreasing steps, one value after another.  errors:
 * standard deviations, from the scatter of lines and of parts of the views; FBP_ERR_UNSUPPORTED: no
 * ray is measured from both sides. */
static fbp_status by_midplane(struct work *w, double offsets[BY_COUNT + 1], double errors[BY_COUNT])
{
    static const double steps[BY_COUNT] = {0.4, 0.01, 0.002, 0.01};
    const struct fbp_view *view = &w->corrected->views[0];
    /* rows per column of the line in which the plane of the sources cuts the panel */
    const double slope = -fbp_dot(w->facts.axis, view->u) / fbp_dot(w->facts.axis, view->v);
    struct fbp_scan reduced = {.struct_size = sizeof reduced};
    struct lines m = {0};
    double found[LINES][1 + PARTS][BY_COUNT] = {{{0}}}; /* [0]: all views, [1 + part] */
    double at[N];
    size_t bin;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calibrate_reduce(w->corrected, LINE_COLUMNS, LINE_VIEWS, &reduced, &bin));
    FBP_TRY_GOTO(values_of(&reduced, at));
    const double column = at[FBP_CALIBRATED_COLUMN], row = at[FBP_CALIBRATED_ROW];
    const double rows = 2 * LINES + fabs(slope) * (double)reduced.panel.n_columns;
    FBP_TRY_GOTO(lines_read(&m, &reduced, w->params->input.source,
                            (size_t)fmin(rows, (double)reduced.panel.n_rows)));
    for (int l = 0; l < LINES; l++)
        for (size_t part = 0; part <= PARTS; part++) {
            double *x = found[l][part];
            FBP_TRY_GOTO(fbp_check_cancelled());
            if (part > 0)
                memcpy(x, found[l][0], sizeof found[l][0]);
            for (int round = 0; round < (part ? 1 : STEPS); round++)
                for (int i = 0; i < BY_COUNT; i++) {
                    const double step = steps[i] / (part ? 2 : 1 << round / 2);
                    double y[3];
                    for (int k = 0; k < 3; k++) {
                        double o[BY_COUNT];
                        memcpy(o, x, sizeof o);
                        o[i] += (k - 1) * step;
                        if (i == BY_YAW || k == 0) {
                            set_line(&m, column, row + l - LINES / 2, slope, o[BY_YAW], 1);
                            fbp_match_clear(&m.match);
                            FBP_TRY_GOTO(fbp_match_create(&m.match, &m.line, 4));
                        }
                        y[k] =
                            midplane_misfit(&m, column, o, part ? part - 1 : 0, part ? PARTS : 1);
                    }
                    x[i] = fbp_vertex(x[i], step, y[0], y[1], y[2]);
                }
        }
    for (int i = 0; i < BY_COUNT; i++) {
        double mean = 0, squares = 0, scatter = 0;
        for (int l = 0; l < LINES; l++)
            mean += found[l][0][i] / LINES;
        for (size_t part = 1; part <= PARTS; part++) {
            double x = 0;
            for (int l = 0; l < LINES; l++)
                x += found[l][part][i] / LINES;
            squares += (x - mean) * (x - mean);
        }
        for (int l = 0; l < LINES; l++)
            scatter += (found[l][0][i] - mean) * (found[l][0][i] - mean);
        offsets[i] = mean;
        errors[i] = sqrt(fmax(squares / (PARTS * (PARTS - 1)), scatter / (LINES * (LINES - 1))));
    }
    /* set_line() leaves out the mean shift by yaw; if yaw is corrected, it moves the column */
    offsets[BY_SHIFT] =
        -offsets[BY_YAW] * m.rows.tangent * mean_square(m.rows.n_columns) * (double)bin;
    offsets[BY_COLUMN] *= (double)bin;
    errors[BY_COLUMN] *= (double)bin;
fail:
    lines_clear(&m);
    fbp_scan_clear(&reduced);
    return st;
}

/* Decide the direction of rotation by opposite rays, if pairs of views fit both about as well:
 * planes that leave the panel through its sides, because the object is wider than the panel, do not
 * agree for any geometry.  Opposite rays, which a full turn measures, also give the column from
 * which the fit begins.  same, opposite: changes for the scan's direction and for the opposite one.
 */
static fbp_status by_opposite_rays(struct work *w, struct fbp_epipolar_fit *same,
                                   struct fbp_epipolar_fit *opposite)
{
    const double pitch = fbp_norm(w->scan->views[0].u);
    struct fbp_scan other = {.struct_size = sizeof other};
    struct fbp_centre found[2] = {{.struct_size = sizeof *found}, {.struct_size = sizeof *found}};
    double before[N];
    fbp_status st;

    FBP_TRY_GOTO(values_of(w->scan, before));
    FBP_TRY_GOTO(fbp_scan_copy(&other, w->scan));
    for (int i = 0; i < 2; i++) {
        FBP_TRY_GOTO(fbp_centre_find(&other, w->params, &found[i]));
        FBP_TRY_GOTO(fbp_scan_flip(&other, FBP_FLIP_DIRECTION));
        struct fbp_epipolar_fit *fit = i == 0 ? same : opposite;
        if (found[i].sure) /* the axis moves by less than the panel, in the opposite direction */
            fit->change.p[FBP_CALIBRATED_COLUMN] =
                (before[FBP_CALIBRATED_COLUMN] - found[i].column) * pitch;
    }
    if (found[0].sure != found[1].sure ||
        (found[0].sure && found[1].misfit < found[0].misfit / 2) ||
        (found[1].sure && found[0].misfit < found[1].misfit / 2)) {
        w->out->reversed = found[1].sure && (!found[0].sure || found[1].misfit < found[0].misfit);
        w->out->sense_known = true;
    }
fail:
    fbp_scan_clear(&other);
    return st;
}

/*
 * Fit column, row and roll to pairs of views from fit->change on, then column, yaw, distance and
 * arc to opposite rays, and set the values and the corrected views.  fit->misfit is INFINITY if the
 * views fit no geometry near that of the scan.
 *
 * moves  the panel moves between views: then opposite rays determine the column only
 */
static fbp_status fit_panel(struct work *w, struct fbp_epipolar *e, struct fbp_epipolar_fit *fit,
                            bool moves)
{
    bool free_values[N] = {
        [FBP_CALIBRATED_COLUMN] = true, [FBP_CALIBRATED_ROLL] = true, [FBP_CALIBRATED_ROW] = true};
    struct fbp_scan *found = w->corrected;
    const struct fbp_view *view = &w->scan->views[0];
    const double pitch[2] = {fbp_norm(view->u), fbp_norm(view->v)};
    const double panel_mm[2] = {(double)found->panel.n_columns * pitch[0],
                                (double)found->panel.n_rows * pitch[1]};
    double before[N], after[N], offsets[BY_COUNT + 1], errors[BY_COUNT];
    const double *moved = fit->change.p;
    fbp_status st;

    FBP_TRY(keep_values(w, before));
    st = fbp_epipolar_fit(e, free_values, fit, NULL);
    if (st == FBP_ERR_UNSUPPORTED || fabs(moved[FBP_CALIBRATED_ROLL]) > MOST_ROLL ||
        fabs(moved[FBP_CALIBRATED_COLUMN]) > panel_mm[0] / 2 ||
        fabs(moved[FBP_CALIBRATED_ROW]) > panel_mm[1] / 2) {
        fbp_message_clear();
        fit->misfit = INFINITY;
        return FBP_OK;
    }
    FBP_TRY(st);
    correct_views(w, &fit->change);
    FBP_TRY(values_of(found, after));
    st = by_midplane(w, offsets, errors);
    if (st == FBP_ERR_UNSUPPORTED) { /* no ray is measured from both sides */
        fbp_message_clear();
        errors[BY_COLUMN] = INFINITY;
        st = FBP_OK;
    }
    FBP_TRY(st);
    set_value(w, FBP_CALIBRATED_COLUMN, after[FBP_CALIBRATED_COLUMN], before[FBP_CALIBRATED_COLUMN],
              fit->error[FBP_CALIBRATED_COLUMN] / pitch[0]);
    if (isfinite(errors[BY_COLUMN])) {
        const double middle = ((double)found->panel.n_columns - 1) / 2;
        const bool centred = fabs(after[FBP_CALIBRATED_COLUMN] - middle) < 0.1 * middle;
        if (!moves && errors[BY_YAW] < 0.0015 && centred &&
            set_value(w, FBP_CALIBRATED_YAW, offsets[BY_YAW] * DEGREES, 0,
                      errors[BY_YAW] * DEGREES)) {
            offsets[BY_COLUMN] += offsets[BY_SHIFT];
            fit->change.p[FBP_CALIBRATED_YAW] = offsets[BY_YAW];
        }
        fit->change.p[FBP_CALIBRATED_COLUMN] -= offsets[BY_COLUMN] * pitch[0];
        set_value(w, FBP_CALIBRATED_COLUMN, after[FBP_CALIBRATED_COLUMN] + offsets[BY_COLUMN],
                  before[FBP_CALIBRATED_COLUMN], errors[BY_COLUMN]);
        /* more than a full turn: the order of the views by angle is not that of the scan */
        const bool wraps = w->facts.step_rad[1] * (double)(found->n_views - 1) >
                           2 * FBP_PI - w->facts.step_rad[1] / 2;
        const double arc = before[FBP_CALIBRATED_ARC], sdd = before[FBP_CALIBRATED_SDD];
        if (!moves && !wraps && errors[BY_ARC] < 5e-4 &&
            fabs(offsets[BY_ARC]) > fmax(6 * errors[BY_ARC], 1.5e-3) &&
            set_value(w, FBP_CALIBRATED_ARC, arc * (1 + offsets[BY_ARC]), arc,
                      arc * errors[BY_ARC]))
            fit->change.p[FBP_CALIBRATED_ARC] = offsets[BY_ARC];
        if (!moves && errors[BY_SDD] < 0.002 &&
            set_value(w, FBP_CALIBRATED_SDD, sdd * (1 + offsets[BY_SDD]), sdd,
                      sdd * errors[BY_SDD]))
            fit->change.p[FBP_CALIBRATED_SDD] = offsets[BY_SDD];
        /* Roll and row depend on the other values, which are better known now. */
        free_values[FBP_CALIBRATED_COLUMN] = false;
        const struct fbp_epipolar_fit first = *fit;
        st = fbp_epipolar_fit(e, free_values, fit, NULL);
        if (st == FBP_ERR_UNSUPPORTED) { /* views that do not fit together */
            fbp_message_clear();
            *fit = first;
            fit->misfit = 1;
            st = FBP_OK;
        }
        FBP_TRY(st);
    }
    correct_views(w, &fit->change);
    set_value(w, FBP_CALIBRATED_ROLL, fit->change.p[FBP_CALIBRATED_ROLL] * DEGREES, 0,
              fit->error[FBP_CALIBRATED_ROLL] * DEGREES);
    FBP_TRY(values_of(found, after));
    const double row_error = moves ? MOVING_ROW * (double)found->panel.n_rows : 0;
    set_value(w, FBP_CALIBRATED_ROW, after[FBP_CALIBRATED_ROW], before[FBP_CALIBRATED_ROW],
              hypot(fit->error[FBP_CALIBRATED_ROW] / pitch[1], row_error));
    return FBP_OK;
}

static fbp_status by_epipolar(struct work *w, struct fbp_epipolar *coarse)
{
    struct fbp_calibration *out = w->out;
    const size_t n = w->scan->n_views;
    struct fbp_epipolar fine = {0};
    struct fbp_epipolar_fit same, opposite;
    fbp_status st;

    out->method = "epipolar consistency and opposite rays";
    FBP_TRY_GOTO(search_coarsely(coarse, &same));
    reverse(coarse);
    FBP_TRY_GOTO(search_coarsely(coarse, &opposite));
    out->reversed = opposite.misfit < same.misfit;
    const double ratio = fmax(opposite.misfit, same.misfit) / fmin(opposite.misfit, same.misfit);
    out->sense_known = ratio > 1.5;
    if (!out->sense_known)
        FBP_TRY_GOTO(by_opposite_rays(w, &same, &opposite));

    const struct fbp_epipolar_fit start = out->reversed ? opposite : same;
    struct fbp_epipolar_fit fit = start;
    struct fbp_change none = {{0}};
    FBP_TRY_GOTO(read_views(w, &fine, FINE_COLUMNS, w->drift ? DRIFT_VIEWS : FINE_VIEWS));
    FBP_TRY_GOTO(fbp_epipolar_misfit(&fine, &none, &out->misfit_before));
    out->misfit_before = sqrt(out->misfit_before);
    if (out->reversed)
        reverse(&fine);
    reverse_angles(w);
    FBP_TRY_GOTO(fit_panel(w, &fine, &fit, false));

    const struct fbp_epipolar_fit still = fit;
    const struct fbp_calibration rests = *out;
    bool moves = false;
    /* The second round begins with the geometry found, even if the first has found no movement. */
    for (int round = 0; w->drift && round < DRIFT_ROUNDS; round++) {
        struct fbp_epipolar_fit moving = round ? fit : start;
        correct_views(w, &moving.change);
        FBP_TRY_GOTO(find_drift(w, &fine, &moving));
        if (!out->drift[0].found && !out->drift[1].found)
            continue;
        moves = true;
        fit = moving;
        FBP_TRY_GOTO(fit_panel(w, &fine, &fit, true));
    }
    if (w->drift && !(moves && fit.misfit < LESS_MISFIT * still.misfit)) {
        memcpy(out->values, rests.values, sizeof out->values);
        memset(w->offsets, 0, n * sizeof *w->offsets);
        fit = still;
        if (moves)
            add_reason(out,
                       "offsets of single views do not make the views agree better, and are "
                       "left out: misfit %.2g %%",
                       100 * sqrt(still.misfit));
    }
    if (!isfinite(fit.misfit)) {
        memcpy(w->corrected->views, w->scan->views, n * sizeof *w->scan->views);
        memset(w->offsets, 0, n * sizeof *w->offsets);
        memset(out->drift, 0, sizeof out->drift);
        out->misfit = out->misfit_before;
        out->sense_known = out->reversed = false;
        add_reason(
            out,
            "views differ by %.0f %% of the compared values, and fit no geometry near that of "
            "the scan file, which is kept",
            100 * out->misfit);
        goto fail;
    }
    correct_views(w, &fit.change);
    out->misfit = sqrt(fit.misfit);
    out->reliable = out->sense_known;
    if (out->misfit > 0.3) {
        out->reliable = false;
        add_reason(out,
                   "views differ by %.0f %% of the compared values, so the geometry may be wrong "
                   "in another way",
                   100 * out->misfit);
    }
    if (out->values[FBP_CALIBRATED_COLUMN].uncertainty > 0.5) {
        out->reliable = false;
        add_reason(out, "the column is uncertain by %.2g pixels",
                   out->values[FBP_CALIBRATED_COLUMN].uncertainty);
    }
    if (!out->sense_known)
        add_reason(
            out,
            "the direction of rotation is not certain: the opposite one fits %.2g times as badly",
            ratio);
fail:
    fbp_epipolar_clear(&fine);
    return st;
}

/* Column of the axis in one row of a sinogram of parallel beams, near c. */
static fbp_status column_of_row(const struct fbp_sinogram *s, double c, double range,
                                double *column, double *error)
{
    struct fbp_match m = {0};
    struct fbp_wedge wedge;
    double best = INFINITY, least = c;
    fbp_status st;

    *error = INFINITY;
    FBP_TRY_GOTO(fbp_match_create(&m, s, 4));
    const size_t stride = m.joins ? 1 : (s->n_views + 199) / 200;
    for (int round = 0; round < 4; round++) {
        const double step = round ? 1.0 / (1 << round) : 0.5, reach = round ? step : range;
        const double middle = least;
        double y[3] = {0, 0, 0};
        for (double x = middle - reach; x <= middle + reach + 1e-9; x += step) {
            struct fbp_agreement a;
            fbp_match_at(&m, x, round ? 1 : stride, 0, 1, &a);
            if (round)
                y[(int)lround((x - middle) / step) + 1] = a.misfit;
            else if (a.misfit < best) {
                best = a.misfit;
                least = x;
            }
        }
        if (round)
            least = fbp_vertex(middle, step, y[0], y[1], y[2]);
    }
    *column = least;
    double squares = 0; /* scatter of the results of parts of the views */
    for (size_t part = 0; part < PARTS; part++) {
        double y[3];
        for (int i = 0; i < 3; i++) {
            struct fbp_agreement a;
            fbp_match_at(&m, least + 0.5 * (i - 1), 1, part, PARTS, &a);
            y[i] = a.misfit;
        }
        const double x = fbp_vertex(least, 0.5, y[0], y[1], y[2]) - least;
        squares += x * x / (PARTS * (PARTS - 1));
    }
    *error = fmax(sqrt(squares), 0.01);
    if (m.joins) { /* all views of half a turn are consistent only for the right column */
        st = fbp_wedge_find(&wedge, s, least);
        if (st == FBP_OK && isfinite(wedge.error)) {
            *column = wedge.column;
            *error = fmax(wedge.error, 0.01);
        }
        if (st == FBP_ERR_UNSUPPORTED) {
            fbp_message_clear();
            st = FBP_OK;
        }
    }
fail:
    fbp_match_clear(&m);
    return st;
}

/* A straight line through columns of the axis at several rows. */
struct axis_line {
    double at, slope; /* column at row 0, and columns per row */
    double error[2];  /* standard deviations of both */
};

/* Fit a line to n columns with standard deviations error[]; columns far from it count less
 * (Cauchy's weights). */
static void fit_axis(const double *row, const double *column, const double *error, size_t n,
                     struct axis_line *line)
{
    double sums[5], determinant = 1, squares = 0, count = 0;

    line->at = line->slope = 0;
    for (int round = 0; round < 30; round++) {
        memset(sums, 0, sizeof sums);
        for (size_t i = 0; i < n; i++) {
            const double x = row[i], width = hypot(0.1, 2 * error[i]);
            const double r = round ? (column[i] - line->at - line->slope * x) / width : 0;
            const double k = 1 / (error[i] * error[i] * (1 + r * r));
            sums[0] += k;
            sums[1] += k * x;
            sums[2] += k * x * x;
            sums[3] += k * column[i];
            sums[4] += k * x * column[i];
        }
        determinant = sums[0] * sums[2] - sums[1] * sums[1];
        line->slope = n > 3 ? (sums[0] * sums[4] - sums[1] * sums[3]) / determinant : 0;
        line->at = (sums[3] - line->slope * sums[1]) / sums[0];
    }
    for (size_t i = 0; i < n; i++) { /* scatter about the line */
        const double r = column[i] - line->at - line->slope * row[i],
                     width = hypot(0.1, 2 * error[i]);
        const double k = 1 / (1 + r * r / (width * width));
        squares += k * r * r / (error[i] * error[i]);
        count += k;
    }
    const double variance = squares / fmax(count - 2, 1);
    line->error[0] = n > 3 ? sqrt(variance * sums[2] / determinant) : error[0];
    line->error[1] = n > 3 ? sqrt(variance * sums[0] / determinant) : INFINITY;
}

/* Consistency of parallel beams for an assumed direction of the axis: rows at right angles to it,
 * which are shifted so that the axis has one column; in GROUPS groups of interleaved rows. */
enum { GROUPS = 4, MOST_ROWS = 64 };

struct upright {
    struct lines lines;       /* all rows of the panel */
    struct fbp_sinogram rows; /* [group][row of the group] */
    double near;              /* approximate column of the axis in row iso_row */
    double iso_row, aspect;   /* aspect: width of a pixel / its height */
    double cost[GROUPS], column[GROUPS];
};

/* Find column[] with the least cost[], for an axis of `slope` columns per row. */
static fbp_status set_upright(struct upright *u, double slope)
{
    struct lines *m = &u->lines;
    struct fbp_sinogram part = u->rows;
    const size_t n = u->rows.n_rows, nc = part.n_columns, nv = part.n_views;
    const double gap = (double)m->rows.n_rows / (double)n;
    struct fbp_match match = {0};
    struct fbp_wedge wedge;
    fbp_status st = FBP_OK;

    part.n_rows = n / GROUPS;
    memset(u->rows.values, 0, n * nv * nc * sizeof *u->rows.values);
    for (size_t i = 0; i < n; i++) {
        const double y = ((double)i + 0.5) * gap - 0.5 - u->iso_row, shift = slope * y;
        float *row = u->rows.values + (i % GROUPS * part.n_rows + i / GROUPS) * nv * nc;
        set_line(m, u->near + shift, y + u->iso_row, -slope * u->aspect * u->aspect, 0,
                 fmax(1, 0.35 * gap));
        const int whole = (int)floor(shift + 0.5);
        for (int tap = whole - 3; tap <= whole + 3; tap++) {
            const float w = (float)exp(-0.5 * pow(tap - shift, 2)) / 2.5066F;
            for (size_t c = 0; c < nc; c++) {
                const size_t from = (size_t)fmin(fmax((double)c + tap, 0), (double)nc - 1);
                for (size_t k = 0; k < nv; k++)
                    row[k * nc + c] += w * m->line.values[k * nc + from];
            }
        }
    }
    for (size_t g = 0; g < GROUPS; g++, part.values += part.n_rows * nv * nc) {
        double c = u->near;
        fbp_match_clear(&match);
        FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(fbp_match_create(&match, &part, 4));
        /* all views of half a turn are consistent only for the right column */
        st = match.joins ? fbp_wedge_find(&wedge, &part, c) : FBP_ERR_UNSUPPORTED;
        if (st == FBP_OK) {
            u->column[g] = wedge.column;
            u->cost[g] = wedge.cost;
            continue;
        }
        if (st != FBP_ERR_UNSUPPORTED)
            goto fail;
        fbp_message_clear(); /* too few views */
        st = FBP_OK;
        struct fbp_agreement a;
        for (double step = 1; step > 0.2; step /= 2) {
            double y[3];
            for (int i = 0; i < 3; i++) {
                fbp_match_at(&match, c + step * (i - 1), 1, 0, 1, &a);
                y[i] = a.misfit;
            }
            c = fbp_vertex(c, step, y[0], y[1], y[2]);
        }
        fbp_match_at(&match, c, 1, 0, 1, &a);
        u->column[g] = c;
        u->cost[g] = log(fmax(a.misfit, 1e-9));
    }
fail:
    fbp_match_clear(&match);
    return st;
}

/* Mean and standard deviation of the mean of GROUPS values. */
static double mean_of(const double *x, double *error)
{
    double mean = 0, squares = 0;

    for (int g = 0; g < GROUPS; g++)
        mean += x[g] / GROUPS;
    for (int g = 0; g < GROUPS; g++)
        squares += (x[g] - mean) * (x[g] - mean);
    *error = sqrt(squares / (GROUPS * (GROUPS - 1)));
    return mean;
}

/* Find the slope of the axis [columns per row] for which the rows are most consistent; in: slope of
 * the scan.  error: standard deviation. */
static fbp_status find_slope(struct upright *u, double *slope, double *error)
{
    static const double range = 0.04, coarse = 0.01, fine = 0.002;
    double y[3][GROUPS], x[GROUPS] = {0}, best = *slope, lowest = INFINITY;

    for (double s = *slope - range; s <= *slope + range + 1e-9; s += coarse) {
        FBP_TRY(set_upright(u, s));
        const double sum = mean_of(u->cost, error);
        best = sum < lowest ? s : best;
        lowest = fmin(sum, lowest);
    }
    for (double step = coarse / 2; step > fine / 4; step /= 2) {
        double sums[3];
        for (int i = 0; i < 3; i++) {
            FBP_TRY(set_upright(u, best + (i - 1) * step));
            memcpy(y[i], u->cost, sizeof y[i]);
            sums[i] = mean_of(y[i], error);
        }
        for (int g = 0; step > 2 * fine && g < GROUPS; g++)
            x[g] = fbp_vertex(best, step, y[0][g], y[1][g], y[2][g]);
        best = fbp_vertex(best, step, sums[0], sums[1], sums[2]);
    }
    mean_of(x, error);
    *slope = best;
    return set_upright(u, best);
}

/* Fit a line to the columns of the axis at up to BANDS rows, which are found along lines at right
 * angles to that line; in: the line of the scan.  This estimate suffers less from noise than
 * find_slope(), and more from the outlines of objects. */
static fbp_status find_line(struct upright *u, struct axis_line *line)
{
    enum { BANDS = 32, ROUNDS = 6 };
    const size_t n_rows = u->lines.rows.n_rows, bands = n_rows < BANDS ? n_rows : BANDS;
    const double width = fmax(1, 0.3 * (double)n_rows / (double)bands), slope = line->slope;
    double column[BANDS], error[BANDS], row[BANDS];

    /* A row that is not at right angles to the axis compares rays of different heights, and the
     * object's outline moves the column found: the slope g of these columns depends on the slope x
     * of the rows. g(x) = x is solved by the secant method. */
    double x = slope, last = 0, difference = 0, response = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const double range = round ? 1.5 : 2 + 0.02 * (double)n_rows, at = line->at;
        for (size_t i = 0; i < bands; i++) {
            row[i] = ((double)i + 0.5) / (double)bands * (double)n_rows - 0.5 - u->iso_row;
            column[i] = at + line->slope * row[i];
            set_line(&u->lines, column[i], row[i] + u->iso_row, -x * u->aspect * u->aspect, 0,
                     width);
            FBP_TRY(column_of_row(&u->lines.line, column[i], range, &column[i], &error[i]));
        }
        fit_axis(row, column, error, bands, line);
        const double now_difference = line->slope - x;
        if (round > 0 && fabs(x - last) > 1e-6)
            response = (now_difference - difference) / (x - last);
        const double step = round == 0 ? (fabs(now_difference) > 2e-3 ? now_difference : 5e-3)
                                       : -now_difference / fmin(response, -0.03);
        last = x;
        difference = now_difference;
        if (round + 1 < ROUNDS)
            x += fmax(-0.03, fmin(0.03, step));
    }
    line->slope = x;
    line->error[1] /= fmax(fmin(fabs(response), 1), 0.03);
    return FBP_OK;
}

/* Mean of two estimates, weighted by 1 / variance.  The second standard deviation, from few groups,
 * may be too small by chance; estimates that differ by more than both errors increase *error. */
static double join_estimates(double a, double error_a, double b, double error_b, double *error)
{
    const double vb = fmax(error_b * error_b, error_a * error_a / 16), va = error_a * error_a;

    if (!isfinite(va)) {
        *error = error_b;
        return b;
    }
    *error = sqrt(va * vb / (va + vb)) * fmax(1, fabs(a - b) / sqrt(va + vb) / 2);
    return (a * vb + b * va) / (va + vb);
}

/* Parallel beams and fans: find the column, and for parallel beams the roll, from the columns of
 * single rows, and from the consistency of all rows. */
static fbp_status by_rows(struct work *w)
{
    struct fbp_calibration *out = w->out;
    struct fbp_scan reduced = {.struct_size = sizeof reduced}, *found = w->corrected;
    const size_t n = found->n_views, nr = found->panel.n_rows;
    size_t bin;
    struct upright u = {.near = 0};
    struct fbp_centre centre = {.struct_size = sizeof centre};
    double before[N], now[N], column, error, slope, slope_error;
    fbp_status st;

    out->method = "axis column of single rows, and consistency of all rows";
    FBP_TRY_GOTO(keep_values(w, before));
    if (!fbp_kind_has_source(found->kind))
        FBP_TRY_GOTO(find_drift(w, NULL, NULL));
    FBP_TRY_GOTO(fbp_centre_find(found, w->params, &centre));
    if (fbp_kind_has_source(found->kind)) { /* parallel beams fit both directions of rotation */
        struct fbp_centre other = {.struct_size = sizeof other};
        fbp_views_flip(found->views, n, FBP_FLIP_DIRECTION);
        FBP_TRY_GOTO(fbp_centre_find(found, w->params, &other));
        out->reversed = other.misfit < centre.misfit;
        out->sense_known =
            fmax(other.misfit, centre.misfit) > 1.5 * fmin(other.misfit, centre.misfit);
        if (out->reversed)
            centre = other;
        else
            fbp_views_flip(found->views, n, FBP_FLIP_DIRECTION);
    }
    column = centre.column;
    error = centre.uncertainty;
    struct fbp_change change = {{0}};
    const double pitch = fbp_norm(found->views[0].u);
    if (nr >= FEWEST_ROWS) {
        FBP_TRY_GOTO(fbp_calibrate_reduce(found, FINE_COLUMNS, ROW_VIEWS, &reduced, &bin));
        FBP_TRY_GOTO(values_of(&reduced, now));
        FBP_TRY_GOTO(lines_read(&u.lines, &reduced, w->params->input.source, reduced.panel.n_rows));
        u.rows = u.lines.rows;
        u.rows.n_rows = (u.rows.n_rows < MOST_ROWS ? u.rows.n_rows : MOST_ROWS) / GROUPS * GROUPS;
        u.rows.values = NULL;
        FBP_TRY_GOTO(fbp_alloc((void **)&u.rows.values,
                               u.rows.n_rows * u.rows.n_views * u.rows.n_columns * sizeof(float),
                               "a sinogram"));
        const struct fbp_view *view = &reduced.views[0];
        u.near =
            now[FBP_CALIBRATED_COLUMN] + (column - before[FBP_CALIBRATED_COLUMN]) / (double)bin;
        u.iso_row = now[FBP_CALIBRATED_ROW];
        u.aspect = fbp_norm(view->u) / fbp_norm(view->v);
        const double start = slope = fbp_dot(w->facts.axis, view->u) /
                                     fbp_dot(w->facts.axis, view->v) / (u.aspect * u.aspect);
        struct axis_line line = {.at = u.near, .slope = slope};
        FBP_TRY_GOTO(find_line(&u, &line));
        slope = line.slope;
        u.near = line.at;
        FBP_TRY_GOTO(find_slope(&u, &slope, &slope_error));
        slope = join_estimates(line.slope, line.error[1], slope, slope_error, &slope_error);
        const double group_column = mean_of(u.column, &error);
        column = join_estimates(line.at, line.error[0], group_column, error, &error);
        column =
            before[FBP_CALIBRATED_COLUMN] + (column - now[FBP_CALIBRATED_COLUMN]) * (double)bin;
        error *= (double)bin;
        slope_error *= u.aspect * DEGREES;
        const double roll = atan(slope * u.aspect) - atan(start * u.aspect);
        if (slope_error < MOST_ROLL_ERROR &&
            set_value(w, FBP_CALIBRATED_ROLL, roll * DEGREES, 0, slope_error))
            change.p[FBP_CALIBRATED_ROLL] = roll;
    }
    set_value(w, FBP_CALIBRATED_COLUMN, column, before[FBP_CALIBRATED_COLUMN], error);
    change.p[FBP_CALIBRATED_COLUMN] = -(column - before[FBP_CALIBRATED_COLUMN]) * pitch;
    fbp_views_change(found->views, found->views, n, found->kind, w->facts.axis, w->angles, &change);
    if (!fbp_kind_has_source(found->kind))
        FBP_TRY_GOTO(find_drift(w, NULL, NULL));
    out->misfit = sqrt(centre.misfit);
    out->misfit_before = NAN;
    out->reliable = out->values[FBP_CALIBRATED_COLUMN].uncertainty < 0.5;
    if (!out->reliable)
        add_reason(out, "the column is uncertain by %.2g pixels",
                   out->values[FBP_CALIBRATED_COLUMN].uncertainty);
    if (nr < FEWEST_ROWS && !centre.sure) {
        out->reliable = false;
        snprintf(out->why, sizeof out->why, "%s", centre.why);
    }
fail:
    lines_clear(&u.lines);
    fbp_free(u.rows.values);
    fbp_scan_clear(&reduced);
    return st;
}

/* Cone beams: fit the geometry to a phantom of beads. */
static fbp_status by_beads(struct work *w)
{
    struct fbp_scan reduced = {.struct_size = sizeof reduced};
    const struct fbp_view *view = &w->scan->views[0];
    struct fbp_change change;
    double before[N], error[N];
    size_t bin;
    fbp_status st;

    w->out->method = "phantom of beads";
    if (!fbp_kind_has_source(w->scan->kind) || w->scan->panel.n_rows < FEWEST_ROWS)
        return FBP_UNSUPPORTED("calibrate: a phantom of beads needs a cone beam and at least %d "
                               "rows; calibrate without one",
                               FEWEST_ROWS);
    FBP_TRY_GOTO(fbp_calibrate_reduce(w->scan, LINE_COLUMNS, FBP_BEADS_VIEWS, &reduced, &bin));
    FBP_TRY_GOTO(fbp_beads_fit(&reduced, w->params->input.source, &change, error, w->out));
    FBP_TRY_GOTO(keep_values(w, before));
    for (int i = 0; i < N; i++) {
        const double unit = i == FBP_CALIBRATED_COLUMN ? -1 / fbp_norm(view->u)
                            : i == FBP_CALIBRATED_ROW  ? -1 / fbp_norm(view->v)
                            : i < FBP_CALIBRATED_SDD   ? DEGREES
                                                       : before[i];
        w->out->values[i] = (struct fbp_estimate){before[i] + change.p[i] * unit, before[i],
                                                  error[i] * fabs(unit), isfinite(error[i])};
    }
    reverse_angles(w);
    correct_views(w, &change);
fail:
    fbp_scan_clear(&reduced);
    return st;
}

static fbp_status calibrate(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                            bool beads, bool drift, struct fbp_calibration *out,
                            struct fbp_scan *corrected)
{
    struct fbp_calibration own = {.method = "", .sense_known = false};
    struct fbp_recon_params p;
    struct fbp_scan whole, copy = {.struct_size = sizeof copy};
    struct fbp_epipolar coarse = {0};
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(calibration, out));
    FBP_TRY(FBP_COPY_IN(scan, &whole, scan));
    FBP_TRY(fbp_take_params(&p, params));
    struct work w = {.scan = &whole, .params = &p, .drift = drift, .out = &own, .corrected = &copy};
    FBP_TRY(fbp_check_lines("calibrate", whole.kind));
    if (whole.filtered || whole.every || whole.bin)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "calibrate: the views are filtered, or were reduced; "
                                             "give the scan as it was measured");
    FBP_TRY_GOTO(fbp_views_facts(fbp_scan_views(&whole), NULL, &w.facts));
    FBP_TRY_GOTO(fbp_pool_create(&w.pool, p.n_threads > 0 ? p.n_threads : fbp_core_count()));
    FBP_TRY_GOTO(fbp_scan_copy(&copy, &whole));
    /* dead and hot pixels move the roll by more than its uncertainty */
    whole.find_bad_pixels |= fbp_scan_is_intensity(&whole);
    FBP_TRY_GOTO(fbp_calloc((void **)&w.angles, whole.n_views, sizeof *w.angles, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.offsets, whole.n_views, sizeof *w.offsets, "offsets"));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.sorted, whole.n_views, sizeof *w.sorted, "angles"));
    FBP_TRY_GOTO(fbp_views_angles(&whole, &w.facts, w.angles, w.sorted));
    if (beads) {
        FBP_TRY_GOTO(by_beads(&w));
    } else if (fbp_kind_has_source(whole.kind) && whole.panel.n_rows >= FEWEST_ROWS) {
        FBP_TRY_GOTO(read_views(&w, &coarse, COARSE_COLUMNS, COARSE_VIEWS));
        FBP_TRY_GOTO(by_epipolar(&w, &coarse));
    } else {
        FBP_TRY_GOTO(by_rows(&w));
    }
    for (int i = 0; i < 2; i++) {
        double range[2] = {INFINITY, -INFINITY};
        for (size_t k = 0; k < whole.n_views; k++) {
            range[0] = fmin(range[0], w.offsets[k][i]);
            range[1] = fmax(range[1], w.offsets[k][i]);
        }
        own.drift[i].range = range[1] - range[0];
        own.drift[i].found = range[1] > range[0];
    }
    FBP_COPY_OUT(calibration, out, &own);
    if (corrected) {
        *corrected = copy;
        copy = (struct fbp_scan){.struct_size = sizeof copy};
    }
fail:
    fbp_epipolar_clear(&coarse);
    fbp_scan_clear(&copy);
    fbp_pool_destroy(&w.pool);
    free(w.angles);
    free(w.sorted);
    free(w.offsets);
    return st;
}

fbp_status fbp_calibrate(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                         struct fbp_calibration *out, struct fbp_scan *corrected)
{
    return calibrate(scan, params, false, false, out, corrected);
}

fbp_status fbp_calibrate_beads(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                               struct fbp_calibration *out, struct fbp_scan *corrected)
{
    return calibrate(scan, params, true, false, out, corrected);
}

fbp_status fbp_calibrate_drift(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                               struct fbp_calibration *out, struct fbp_scan *corrected)
{
    return calibrate(scan, params, false, true, out, corrected);
}
