/* Correction of a scan's geometry: one quantity of all views (column of the axis, tilt, detector
 * offset, distances of the source), or flips of the detector and of the direction of rotation.
 * fbp_scan_adjust() and fbp_scan_flip() are public; adjust.h declares the other functions.
 * Used by: cli/, analysis/, pipeline/. */
#include "scan/adjust.h"

#include "base/math.h"
#include "geometry/kind.h"
#include "scan/file/scan.h"

#include <math.h>
#include <string.h>

static const double DEGREES = 180 / FBP_PI; /* per radian */

static const struct {
    const char *name, *unit, *key;
} adjusts[FBP_ADJUSTS] = {
    [FBP_ADJUST_CENTRE] = {"centre", "column", "detector.offset_mm"},
    [FBP_ADJUST_TILT] = {"tilt", "deg", "detector.tilt_deg"},
    [FBP_ADJUST_OFFSET] = {"offset", "mm", "detector.offset_mm"},
    [FBP_ADJUST_SOD] = {"sod", "mm", "source_to_axis_mm"},
    [FBP_ADJUST_SDD] = {"sdd", "mm", "source_to_detector_mm"},
};

const char *fbp_adjust_name(size_t i)
{
    return i < FBP_ADJUSTS ? adjusts[i].name : NULL;
}

const char *fbp_adjust_unit(enum fbp_adjust which)
{
    return adjusts[which].unit;
}

const char *fbp_adjust_key(enum fbp_adjust which)
{
    return adjusts[which].key;
}

/* Compute the unit vector perpendicular to the axis and to the ray through the iso-centre, on the
 * side of u.  detector.offset_mm is measured along this vector, not along the rows of a tilted
 * panel. */
static void across_of(const struct fbp_view *v, const double axis[3], double out[3])
{
    fbp_cross(axis, v->s, out);
    const double length = copysign(fbp_norm(out), fbp_dot(out, v->u));
    for (int i = 0; i < 3; i++)
        out[i] /= length;
}

/* Get the axis of rotation from the geometry facts of all views; z if the facts contain no axis.
 * The facts may contain an axis even if fbp_views_facts() fails.  Only FBP_ADJUST_OFFSET needs the
 * axis; otherwise it is 0. */
static void axis_of(const struct fbp_scan *scan, enum fbp_adjust which, double axis[3])
{
    axis[0] = axis[1] = axis[2] = 0;
    if (which != FBP_ADJUST_OFFSET)
        return;
    struct fbp_geometry_facts f = {.struct_size = sizeof f, .axis = {0, 0, 0}};
    const fbp_status st = fbp_views_facts(fbp_scan_views(scan), NULL, &f);
    const bool known = st == FBP_OK || fbp_dot(f.axis, f.axis) > 0;

    for (int i = 0; i < 3; i++)
        axis[i] = known ? f.axis[i] : i == 2;
}

/* Compute the present value: mean of the quantity over all views; 0 for the tilt, which is set
 * relative to the present tilt. */
fbp_status fbp_adjust_get(const struct fbp_scan *scan, enum fbp_adjust which, double *out)
{
    double axis[3], direction[3], P[12];

    *out = 0;
    if (which == FBP_ADJUST_TILT)
        return FBP_OK;
    axis_of(scan, which, axis);
    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        FBP_TRY(fbp_view_to_matrix(v, scan->kind, &scan->panel, P));
        double value = P[3] / P[11];
        if (which == FBP_ADJUST_SOD) {
            value = fbp_norm(v->s);
        } else if (which == FBP_ADJUST_OFFSET) {
            across_of(v, axis, direction);
            value = fbp_dot(v->d, direction);
        } else if (which != FBP_ADJUST_CENTRE) {
            memcpy(direction, v->s, sizeof direction);
            value = fbp_normalise(direction) - fbp_dot(v->d, direction);
        }
        *out += value / (double)scan->n_views;
    }
    return FBP_OK;
}

fbp_status fbp_adjust_check(const struct fbp_scan *scan, enum fbp_adjust which, double value)
{
    const double last = (double)scan->panel.n_columns - 1;
    const char *name = adjusts[which].name;

    if (!isfinite(value))
        return FBP_INVALID("%s: found %g, expected a number", name, value);
    if (!fbp_kind_has_lines(scan->kind))
        return FBP_INVALID("%s: plane integrals have no detector position; correct first_mm or "
                           "directions in the scan file",
                           name);
    if (!fbp_kind_has_source(scan->kind) && (which == FBP_ADJUST_SOD || which == FBP_ADJUST_SDD))
        return FBP_INVALID("%s: a parallel beam has no source; omit this option", name);
    if (which == FBP_ADJUST_CENTRE && !(value >= -0.5 && value <= last + 0.5))
        return FBP_INVALID("centre %.7g: the detector's columns are 0 to %.0f; give the column of "
                           "the axis, not its distance from the central column (%.7g)",
                           value, last, last / 2);
    return FBP_OK;
}

fbp_status fbp_adjust_set(struct fbp_scan *scan, enum fbp_adjust which, double value)
{
    double now, axis[3], direction[3];

    FBP_TRY(fbp_adjust_check(scan, which, value));
    FBP_TRY(fbp_adjust_get(scan, which, &now));
    axis_of(scan, which, axis);
    const double more = value - now; /* columns, mm or degrees */
    for (size_t k = 0; k < scan->n_views; k++) {
        struct fbp_view *view = &scan->views[k];
        memcpy(direction, view->s, sizeof direction); /* towards the source */
        fbp_normalise(direction);
        if (which == FBP_ADJUST_CENTRE)
            fbp_axpy(view->d, -more, view->u, view->d);
        else if (which == FBP_ADJUST_SDD)
            fbp_axpy(view->d, -more, direction, view->d);
        else if (which == FBP_ADJUST_OFFSET) {
            across_of(view, axis, direction);
            fbp_axpy(view->d, more, direction, view->d);
        } else if (which == FBP_ADJUST_SOD) {
            fbp_axpy(view->s, more, direction, view->s);
            fbp_axpy(view->d, more, direction, view->d);
        } else { /* tilt: rotate u and v about their normal; lengths and skew are unchanged */
            const double rad = more / DEGREES;
            double n[3], across[3];
            fbp_cross(view->u, view->v, n);
            fbp_normalise(n);
            for (int side = 0; side < 2; side++) {
                double *step = side ? view->v : view->u;
                fbp_cross(n, step, across);
                for (int i = 0; i < 3; i++)
                    step[i] = cos(rad) * step[i] + sin(rad) * across[i];
            }
        }
    }
    return FBP_OK;
}

fbp_status fbp_scan_adjust(struct fbp_scan *scan, enum fbp_adjust which, double value)
{
    FBP_REQUIRE(scan);
    FBP_TRY(fbp_check_choice("which", (long)which, FBP_ADJUSTS - 1));
    FBP_TRY(fbp_adjust_set(scan, which, value));
    fbp_scan_confirm(scan, adjusts[which].key);
    return FBP_OK;
}

fbp_status fbp_adjust_all(struct fbp_scan *scan, const double values[FBP_ADJUSTS])
{
    static const enum fbp_adjust order[FBP_ADJUSTS] = {
        FBP_ADJUST_SOD, FBP_ADJUST_SDD, FBP_ADJUST_TILT, FBP_ADJUST_OFFSET, FBP_ADJUST_CENTRE};

    for (size_t i = 0; i < FBP_ADJUSTS; i++)
        if (!isnan(values[order[i]]))
            FBP_TRY(fbp_adjust_set(scan, order[i], values[order[i]]));
    return FBP_OK;
}

fbp_status fbp_scan_flip(struct fbp_scan *scan, unsigned flips)
{
    FBP_REQUIRE(scan);
    if ((flips & (FBP_FLIP_V | FBP_FLIP_DIRECTION)) && !fbp_kind_has_lines(scan->kind))
        return FBP_INVALID("%s: plane integrals have neither rows nor a direction of rotation; "
                           "--flip-u reverses their samples",
                           flips & FBP_FLIP_V ? "flip-v" : "reverse");
    fbp_views_flip(scan->views, scan->n_views, flips);
    return FBP_OK;
}
