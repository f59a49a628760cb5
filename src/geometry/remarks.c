/* Judgements about facts of a geometry: fbp_geometry_circular() refuses scans that are no circle,
 * and fbp_geometry_remark() describes the errors that a reconstruction will have. */
#include "fbp/geometry.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/kind.h"

#include <stdio.h>

static const double DEGREES = 180 / FBP_PI;

/* Greatest part of a ball that views which move along the axis may lose. */
static const double WANDER_LIMIT = 0.01;

/* Least error of the method that causes a warning. */
static const double METHOD_LIMIT = 0.005;

/* Fans that are wider cause a warning [degrees]. */
static const double WIDE_FAN = 120;

fbp_status fbp_geometry_circular(const struct fbp_geometry_facts *facts)
{
    struct fbp_geometry_facts f;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(geometry_facts, &f, facts));
    if (f.n_angles < 2)
        return fbp_fail(FBP_ERR_INVALID,
                        "all views stand at one angle, %.6g degrees%s: that determines no volume, "
                        "views all over %.4g degrees would: check the scan's angles, or matrices",
                        f.start_rad * 180 / FBP_PI, f.sod_mm[1] > 0 ? "" : " modulo 180",
                        f.needed_rad * 180 / FBP_PI);
    if (!(f.wander_error > WANDER_LIMIT))
        return FBP_OK;
    if (f.pitch_mm != 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "geometry: the views move along the axis by %.4g mm per turn, %.4g mm in "
                        "all, of which each sees %.4g mm: helical scans are not in this release",
                        fabs(f.pitch_mm), f.wander_mm, f.seen_mm);
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "geometry: the views wander along the axis by %.4g mm, of which each sees "
                    "%.4g mm: that is no circle, and other paths (helical scans too) are not in "
                    "this release",
                    f.wander_mm, f.seen_mm);
}

/* Rounded to 0.01, without -0. */
static double percent(double part)
{
    return round(1e4 * part) / 100 + 0.0;
}

/* Remark `which` of all there are; false if it does not apply. */
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
        if (!(f->wander_error <= WANDER_LIMIT &&
              f->wander_mm > (f->pitch_mm != 0 ? 0.02 : 0.2) * f->seen_mm))
            return false;
        if (f->pitch_mm != 0)
            snprintf(buf, n,
                     "the views move along the axis by %.4g mm per turn, %.4g mm in all: that is a "
                     "helix; it is so flat that a circular reconstruction serves (%.2g %% of a "
                     "ball)",
                     fabs(f->pitch_mm), f->wander_mm, 100 * f->wander_error);
        else
            snprintf(buf, n,
                     "the views wander along the axis by %.4g mm, of which each sees %.4g mm: all "
                     "of them see z from %.4g to %.4g mm",
                     f->wander_mm, f->seen_mm, f->fov_half_height_mm[0], f->fov_half_height_mm[1]);
        return true;
    case 1:
        if (!(fmax(fmax(fabs(e[0]), fabs(e[1])), fmax(fabs(e[2]), fabs(e[3]))) >= METHOD_LIMIT))
            return false;
        snprintf(buf, n,
                 "FDK is exact in the plane of the source only: the mean of a small ball deviates "
                 "by %+.2f %% in the middle, %+.2f %% at the rim, %+.2f %% at the top, %+.2f %% at "
                 "the bottom of the volume: increase the source distance, or reconstruct fewer "
                 "slices",
                 percent(e[0]), percent(e[1]), percent(e[2]), percent(e[3]));
        return true;
    case 2:
        if (planes && f->gap_rad > 0)
            snprintf(buf, n,
                     "no direction lies in a circle of %.3g degrees on the sphere: parts of the "
                     "volume are not determined: are views missing?",
                     f->gap_rad * DEGREES);
        else if (!planes && f->n_angles == 2)
            snprintf(buf, n,
                     "all views stand at 2 angles: from so few nothing can be reconstructed");
        else if (!planes && f->n_angles > 8 && arc > 3 && arc < 6.6)
            snprintf(buf, n,
                     "%.6g degrees in all: are these angles in radians, in which a turn is "
                     "6.28319? degrees are expected",
                     arc);
        else
            return false;
        return true;
    case 3: /* directions of rays that no view has measured */
        if (planes || f->n_angles < 3 || !(f->gap_error > 0))
            return false;
        if (strip)
            snprintf(
                what, sizeof what,
                "lines farther than %.4g mm from the axis were not measured over %.3g degrees%s",
                f->complete_radius_mm, gap,
                f->offset ? " (the detector is off centre: these take a full turn)" : "");
        else if (f->coverage == FBP_COVERAGE_PARTIAL && arc < needed - 0.05)
            snprintf(what, sizeof what,
                     "limited angle: %.4g degrees were measured, %.4g are needed", arc, needed);
        else
            snprintf(what, sizeof what, "no view has measured rays over %.3g degrees of directions",
                     gap);
        snprintf(
            buf, n,
            "%s: the views beside this gap fill it: expect streaks, and errors of about %.2g %% of "
            "the values (rms)%s: measure the missing views, or check the angles",
            what, 100 * f->gap_error, strip ? ", if the object reaches that far" : "");
        return true;
    default:
        if (planes || !(fan > WIDE_FAN))
            return false;
        snprintf(buf, n, "the fan is %.4g degrees wide: is the pitch of the pixels in mm?", fan);
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
