/* Judgements about the facts of a geometry: fbp_geometry_circular() refuses scans whose views are
 * all at one angle or move too far along the axis (a helix). fbp_geometry_remark() is public, and
 * writes one sentence per remark: movement along the axis, expected errors, missing views, angles
 * or pitch whose unit may be wrong.
 * Used by: cli/geometry_check.c, cli/report.c, pipeline/job.c, scan/file/scan.c. */
#include "fbp/geometry.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/kind.h"

#include <stdio.h>

static const double DEGREES = 180 / FBP_PI;

/* Greatest accepted loss of a ball's value by motion along the axis (axial_drift_error). */
static const double AXIAL_DRIFT_LIMIT = 0.01;

/* Least error of the FDK method (method_error) of a small ball's mean that causes a remark. */
static const double METHOD_LIMIT = 0.005;

/* A remark is made if the fan angle exceeds this [degrees]. */
static const double WIDE_FAN = 120;

fbp_status fbp_geometry_circular(const struct fbp_geometry_facts *f)
{
    fbp_message_clear();
    if (f->n_angles < 2)
        return FBP_INVALID(
            "all views have the same angle, %.6g degrees%s, but a volume needs views "
            "over %.4g degrees; check the angles, or matrices, of the scan",
            f->start_rad * 180 / FBP_PI, f->sod_mm[1] > 0 ? "" : " modulo 180",
            f->needed_rad * 180 / FBP_PI);
    if (!(f->axial_drift_error > AXIAL_DRIFT_LIMIT))
        return FBP_OK;
    if (f->pitch_mm != 0)
        return FBP_UNSUPPORTED(
            "geometry: the views move along the axis by %.4g mm per turn, %.4g mm in "
            "total, with a field of view %.4g mm high; helical scans are not "
            "supported; check the source positions or matrices, or use another program",
            fabs(f->pitch_mm), f->axial_drift_mm, f->seen_mm);
    return FBP_UNSUPPORTED(
        "geometry: the views drift along the axis by %.4g mm, with a field of view "
        "%.4g mm high; only circular paths are supported; check the source positions "
        "or matrices, or use another program",
        f->axial_drift_mm, f->seen_mm);
}

/* Rounded to 0.01, without -0. */
static double percent(double part)
{
    return round(1e4 * part) / 100 + 0.0;
}

/* Write remark number `which`, 0 to 4, to buf[n]; false: it does not apply to the scan. */
static bool remark(const struct fbp_geometry_facts *f, int which, char *buf, size_t n)
{
    const bool planes = f->spacing_mm > 0;
    const bool strip = f->complete_radius_mm > 0 && f->coverage == FBP_COVERAGE_PARTIAL;
    const double *e = f->method_error, arc = f->arc_rad * DEGREES;
    const double needed = f->needed_rad * DEGREES, gap = f->direction_gap_rad * DEGREES;
    const double fan = (f->fan_rad[1] - f->fan_rad[0]) * DEGREES;
    char what[200];

    switch (which) {
    case 0:
        if (!(f->axial_drift_error <= AXIAL_DRIFT_LIMIT &&
              f->axial_drift_mm > (f->pitch_mm != 0 ? 0.02 : 0.2) * f->seen_mm))
            return false;
        if (f->pitch_mm != 0)
            snprintf(
                buf, n,
                "the views move along the axis by %.4g mm per turn, %.4g mm in total: a helix so "
                "flat that a circular reconstruction is accurate (error of %.2g %% of a ball)",
                fabs(f->pitch_mm), f->axial_drift_mm, 100 * f->axial_drift_error);
        else
            snprintf(buf, n,
                     "the views drift along the axis by %.4g mm, with a field of view %.4g mm "
                     "high; all views see z from %.4g to %.4g mm",
                     f->axial_drift_mm, f->seen_mm, f->fov_half_height_mm[0],
                     f->fov_half_height_mm[1]);
        return true;
    case 1:
        if (!(fmax(fmax(fabs(e[0]), fabs(e[1])), fmax(fabs(e[2]), fabs(e[3]))) >= METHOD_LIMIT))
            return false;
        snprintf(
            buf, n,
            "FDK is exact in the plane of the source only: the mean value of a small ball deviates "
            "by %+.2f %% in the middle, %+.2f %% at the rim, %+.2f %% at the top, %+.2f %% at the "
            "bottom of the volume; fewer slices (--slice), or a scan with a longer source "
            "distance, "
            "reduce the deviations",
            percent(e[0]), percent(e[1]), percent(e[2]), percent(e[3]));
        return true;
    case 2:
        if (planes && f->gap_rad > 0)
            snprintf(buf, n,
                     "no direction lies in a circle of %.3g degrees on the sphere, so parts of the "
                     "volume are not determined; check whether views are missing",
                     f->gap_rad * DEGREES);
        else if (!planes && f->n_angles == 2)
            snprintf(buf, n,
                     "the views have only 2 different angles, too few for a reconstruction; check "
                     "the angles");
        else if (!planes && f->n_angles > 8 && arc > 3 && arc < 6.6)
            snprintf(buf, n,
                     "the angles cover only %.6g degrees, but a turn is 6.28319 in radians; if the "
                     "angles are in radians, convert them to degrees",
                     arc);
        else
            return false;
        return true;
    case 3: /* remark on a range of directions in which no view has measured rays */
        if (planes || f->n_angles < 3 || !(f->gap_error > 0))
            return false;
        if (strip)
            snprintf(
                what, sizeof what,
                "rays farther than %.4g mm from the axis were not measured over %.3g degrees%s",
                f->complete_radius_mm, gap,
                f->offset ? " (the detector is offset, so these rays need a full turn)" : "");
        else if (f->coverage == FBP_COVERAGE_PARTIAL && arc < needed - 0.05)
            snprintf(what, sizeof what,
                     "limited angle: %.4g degrees were measured, but %.4g are needed", arc, needed);
        else
            snprintf(what, sizeof what, "no view has measured rays over %.3g degrees of directions",
                     gap);
        snprintf(
            buf, n,
            "%s; the neighbouring views replace the missing ones, so expect streaks and errors of "
            "about %.2g %% of the values (rms)%s; measure the missing views, or check the angles",
            what, 100 * f->gap_error, strip ? ", if the object extends that far" : "");
        return true;
    default:
        if (planes || !(fan > WIDE_FAN))
            return false;
        snprintf(buf, n,
                 "the fan angle is %.4g degrees, which is unusually wide; check that the pixel "
                 "pitch is in mm",
                 fan);
        return true;
    }
}

bool fbp_geometry_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf, size_t n)
{
    FBP_REQUIRE_ELSE(false, buf);
    struct fbp_geometry_facts f;

    if (FBP_COPY_IN(geometry_facts, &f, facts) != FBP_OK)
        return false;
    for (int which = 0; which < 5; which++)
        if (remark(&f, which, buf, n) && i-- == 0)
            return true;
    return false;
}
