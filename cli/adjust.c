/* What a number does to the views. */
#include "adjust.h"
#include "vec.h"

static const struct {
    const char *name, *unit;
} adjusts[] = {
    [ADJUST_CENTRE] = {"centre", "column"}, [ADJUST_TILT] = {"tilt", "deg"},
    [ADJUST_OFFSET] = {"offset", "mm"},     [ADJUST_SOD] = {"sod", "mm"},
    [ADJUST_SDD] = {"sdd", "mm"},
};

const char *adjust_name(size_t i)
{
    return i < ADJUSTS ? adjusts[i].name : NULL;
}

const char *adjust_unit(enum adjust which)
{
    return adjusts[which].unit;
}

static void move(double point[3], double length, const double direction[3])
{
    for (int i = 0; i < 3; i++)
        point[i] += length * direction[i];
}

/* Away from the iso-centre, towards the source; length 1. */
static void away_of(const struct fbp_view *v, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = v->s[i] / sqrt(cli_dot(v->s, v->s));
}

/* Across the axis and the ray through the iso-centre, the way columns run; length 1.  Along it and
 * not along the rows of a tilted panel detector.offset_mm counts. */
static void across_of(const struct fbp_view *v, const double axis[3], double out[3])
{
    cli_cross(axis, v->s, out);
    const double length = copysign(sqrt(cli_dot(out, out)), cli_dot(out, v->u));
    for (int i = 0; i < 3; i++)
        out[i] /= length;
}

/* That of the facts, which is known also of scans that have other faults; it takes a look at all
 * views, and only an offset counts along it. */
static void axis_of(const struct fbp_scan *scan, enum adjust which, double axis[3])
{
    axis[0] = axis[1] = axis[2] = 0;
    if (which != ADJUST_OFFSET)
        return;
    struct fbp_geometry_facts f = {.struct_size = sizeof f, .axis = {0, 0, 0}};
    const fbp_status st = fbp_views_facts(fbp_scan_views(scan), NULL, &f);
    const bool known = st == FBP_OK || cli_dot(f.axis, f.axis) > 0;

    for (int i = 0; i < 3; i++)
        axis[i] = known ? f.axis[i] : i == 2;
}

static double distance_of(const struct fbp_view *v, enum adjust which, const double axis[3])
{
    double direction[3];

    if (which == ADJUST_SOD)
        return sqrt(cli_dot(v->s, v->s));
    if (which == ADJUST_OFFSET) {
        across_of(v, axis, direction);
        return cli_dot(v->d, direction);
    }
    away_of(v, direction);
    return sqrt(cli_dot(v->s, v->s)) - cli_dot(v->d, direction);
}

fbp_status adjust_present(const struct fbp_scan *scan, enum adjust which, double *out)
{
    double axis[3], P[12];

    *out = 0;
    if (which == ADJUST_TILT)
        return FBP_OK;
    axis_of(scan, which, axis);
    for (size_t k = 0; k < scan->n_views; k++) {
        const fbp_status st = fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P);
        if (st != FBP_OK)
            return st;
        *out +=
            (which == ADJUST_CENTRE ? P[3] / P[11] : distance_of(&scan->views[k], which, axis)) /
            (double)scan->n_views;
    }
    return FBP_OK;
}

/* u and v turned about their normal by `rad`; lengths and skew stay. */
static void turn_in_plane(struct fbp_view *view, double rad)
{
    double n[3], across[3];

    cli_cross(view->u, view->v, n);
    const double length = sqrt(cli_dot(n, n));
    for (int i = 0; i < 3; i++)
        n[i] /= length;
    for (int k = 0; k < 2; k++) {
        double *step = k ? view->v : view->u;
        cli_cross(n, step, across);
        for (int i = 0; i < 3; i++)
            step[i] = cos(rad) * step[i] + sin(rad) * across[i];
    }
}

/* By `more` than the view has. */
static void change(struct fbp_view *view, enum adjust which, double more, const double axis[3])
{
    double direction[3];

    away_of(view, direction);
    if (which == ADJUST_CENTRE)
        move(view->d, -more, view->u);
    else if (which == ADJUST_TILT)
        turn_in_plane(view, more / cli_degrees(1));
    else if (which == ADJUST_SDD)
        move(view->d, -more, direction);
    else if (which == ADJUST_OFFSET) {
        across_of(view, axis, direction);
        move(view->d, more, direction);
    } else {
        move(view->s, more, direction);
        move(view->d, more, direction);
    }
}

fbp_status adjust_set(struct fbp_scan *scan, enum adjust which, double value)
{
    double now, axis[3];
    const fbp_status st = adjust_present(scan, which, &now);

    axis_of(scan, which, axis);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++)
        change(&scan->views[k], which, value - now, axis);
    return st;
}

fbp_status adjust_all(struct fbp_scan *scan, const double values[ADJUSTS])
{
    static const enum adjust order[] = {ADJUST_SOD, ADJUST_SDD, ADJUST_TILT, ADJUST_OFFSET,
                                        ADJUST_CENTRE};
    fbp_status st = FBP_OK;

    for (size_t i = 0; st == FBP_OK && i < ADJUSTS; i++)
        if (!isnan(values[order[i]]))
            st = adjust_set(scan, order[i], values[order[i]]);
    return st;
}

int adjust_check(const struct command *self, const double values[ADJUSTS])
{
    if (!isnan(values[ADJUST_CENTRE]) && !isnan(values[ADJUST_OFFSET]))
        return opt_usage(self, "centre and offset say the same: leave one of them out");
    return OPT_GO_ON;
}

int adjust_check_value(const char *what, const struct fbp_scan *scan, enum adjust which,
                       double value)
{
    const double last = (double)scan->panel.n_columns - 1;

    if (!fbp_kind_has_lines(scan->kind))
        return cli_error(
            "%s%s: views of plane integrals have no detector to move: correct first_mm "
            "or directions in the scan file",
            what, adjust_name(which));
    if (!fbp_kind_has_source(scan->kind) && (which == ADJUST_SOD || which == ADJUST_SDD))
        return cli_error("%s%s: a parallel beam has no source", what, adjust_name(which));
    if (which == ADJUST_CENTRE && !(value >= -0.5 && value <= last + 0.5))
        return cli_error("%scentre %.7g: the detector's columns are 0 to %.0f: give the column "
                         "itself that the axis falls on, not a distance from the middle (%.7g)",
                         what, value, last, last / 2);
    return 0;
}

void adjust_confirm(struct fbp_scan *scan, const double values[ADJUSTS])
{
    static const char *const keys[ADJUSTS] = {[ADJUST_CENTRE] = "detector.offset_mm",
                                              [ADJUST_TILT] = "detector.tilt_deg",
                                              [ADJUST_OFFSET] = "detector.offset_mm",
                                              [ADJUST_SOD] = "source_to_axis_mm",
                                              [ADJUST_SDD] = "source_to_detector_mm"};

    for (int i = 0; i < ADJUSTS; i++)
        if (!isnan(values[i]))
            fbp_scan_confirm(scan, keys[i]);
}

int adjust_scan(struct fbp_scan *scan, const double values[ADJUSTS])
{
    for (int i = 0; i < ADJUSTS; i++)
        if (!isnan(values[i]) && adjust_check_value("--", scan, (enum adjust)i, values[i]) != 0)
            return 1;
    return adjust_all(scan, values) == FBP_OK ? 0 : cli_fail();
}

int adjust_flip(struct fbp_scan *scan, bool u, bool v, bool reverse)
{
    if ((v || reverse) && !fbp_kind_has_lines(scan->kind))
        return cli_error(
            "%s: views of plane integrals have no rows and do not turn: --flip-u takes "
            "their samples in reverse order",
            v ? "--flip-v" : "--reverse");
    fbp_views_flip(scan->views, scan->n_views, cli_flips(u, v, reverse));
    return 0;
}
