/* Remarks of fbp_geometry_remark() about angles and units. */
#include "geometry/facts.h"

#include "base/vec.h"

#include <math.h>
#include <stdio.h>

static const double DEGREES = 180 / FBP_PI, WIDE_FAN_DEG = 120;

/* Directions of rays that no view has measured. */
static void gap_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double deg = f->arc_rad * DEGREES, gap = f->direction_gap_rad * DEGREES;
    const bool strip = f->complete_radius_mm > 0 && f->coverage == FBP_COVERAGE_PARTIAL;
    char what[200];

    if (!(f->gap_error > 0))
        return;
    if (strip)
        snprintf(what, sizeof what,
                 "lines farther than %.4g mm from the axis were not measured over %.3g degrees%s",
                 f->complete_radius_mm, gap,
                 f->offset ? " (the detector is off centre: these take a full turn)" : "");
    else if (f->coverage == FBP_COVERAGE_PARTIAL && deg < f->needed_rad * DEGREES - 0.05)
        snprintf(what, sizeof what, "limited angle: %.4g degrees were measured, %.4g are needed",
                 deg, f->needed_rad * DEGREES);
    else
        snprintf(what, sizeof what, "no view has measured rays over %.3g degrees of directions",
                 gap);
    snprintf(
        buf, n,
        "%s: the views beside this gap fill it: expect streaks, and errors of about %.2g %% of "
        "the values (rms)%s: measure the missing views, or check the angles",
        what, 100 * f->gap_error, strip ? ", if the object reaches that far" : "");
}

static void angle_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double arc = f->arc_rad * DEGREES;

    if (f->n_angles == 2)
        snprintf(buf, n, "all views stand at 2 angles: from so few nothing can be reconstructed");
    else if (f->n_angles > 8 && arc > 3 && arc < 6.6)
        snprintf(buf, n,
                 "%.6g degrees in all: are these angles in radians, in which a turn is 6.28319? "
                 "degrees are expected",
                 arc);
}

static void fan_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double fan = (f->fan_rad[1] - f->fan_rad[0]) * DEGREES;

    if (fan > WIDE_FAN_DEG)
        snprintf(buf, n, "the fan is %.4g degrees wide: is the pitch of the pixels in mm?", fan);
}

static void sphere_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    if (f->gap_rad > 0)
        snprintf(buf, n,
                 "no direction lies in a circle of %.3g degrees on the sphere: parts of the volume "
                 "are not determined: are views missing?",
                 f->gap_rad * DEGREES);
}

bool fbp_angle_remark(const struct fbp_geometry_facts *f, size_t i, char *buf, size_t n)
{
    const bool planes = f->spacing_mm > 0;
    void (*const words[])(const struct fbp_geometry_facts *, char *, size_t) = {
        planes ? sphere_words : angle_words, planes || f->n_angles < 3 ? NULL : gap_words,
        planes ? NULL : fan_words};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        buf[0] = '\0';
        if (words[k])
            words[k](f, buf, n);
        if (buf[0] && i-- == 0)
            return true;
    }
    return false;
}
