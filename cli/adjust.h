/** @file adjust.h  Numbers of a geometry that are seldom known well: swept by fbp recon --sweep,
 * then given as options, on top of whatever file says where source and panel are. */
#ifndef FBP_CLI_ADJUST_H
#define FBP_CLI_ADJUST_H

#include "cli.h"

#include <math.h>

/** What can be adjusted.  Where views differ (a C-arm), their mean gets the value and the
 *  differences stay. */
enum adjust {
    ADJUST_CENTRE, /**< column that the iso-centre falls on, from 0 */
    ADJUST_TILT,   /**< further turn of the panel in its plane, right-handed about u x v [deg] */
    ADJUST_OFFSET, /**< panel's centre along +u, detector.offset_mm[0] of a circle [mm] */
    ADJUST_SOD,    /**< source to axis [mm]; the panel keeps its distance from the source */
    ADJUST_SDD,    /**< source to the panel's centre, along the ray to the axis [mm] */
    ADJUSTS
};

/** Values by enum adjust; those that are not given. */
// clang-format off
#define ADJUST_NONE {NAN, NAN, NAN, NAN, NAN}
/** Rows of an option table for a member `f` of S, a double[ADJUSTS]. */
#define ADJUST_OPTIONS(S, f, centre_arg, more)                                                    \
    OPT(S, f[ADJUST_CENTRE], .name = "centre", .arg = centre_arg, .min = -FBP_SIDE_MAX, .max = FBP_SIDE_MAX, \
        .fallback = "the scan's",                                                                 \
        .help = "detector column of the rotation axis; the first column is 0" more), \
    OPT(S, f[ADJUST_OFFSET], .name = "offset", .arg = "MM", .min = -FBP_PLACE_MM_MAX, .max = FBP_PLACE_MM_MAX, \
        .fallback = "the scan's",                                                                 \
        .help = "position of the panel's centre along its rows; another way to give --centre"),   \
    OPT(S, f[ADJUST_TILT], .name = "tilt", .arg = "DEG", .min = -FBP_TURN_DEG_MAX, .max = FBP_TURN_DEG_MAX, \
        .fallback = "0", .help = "turn the panel further, in its own plane"),                     \
    OPT(S, f[ADJUST_SOD], .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX, \
        .fallback = "the scan's",                                                                 \
        .help = "distance from source to rotation axis; it does not change --sdd"),               \
    OPT(S, f[ADJUST_SDD], .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX, \
        .fallback = "the scan's", .help = "distance from source to detector")
// clang-format on

/** "centre", "tilt" …; NULL beyond the last. */
const char *adjust_name(size_t i);
/** "column", "deg", "mm" */
const char *adjust_unit(enum adjust which);

/** What the scan has now: mean over views; 0 for the tilt. */
fbp_status adjust_present(const struct fbp_scan *scan, enum adjust which, double *out);

/** Set one of them in the scan's views. */
fbp_status adjust_set(struct fbp_scan *scan, enum adjust which, double value);

/** Set all that are not NAN: distances, then tilt, then offset or centre, so that these are what
 *  they are of the panel as it then stands. */
fbp_status adjust_all(struct fbp_scan *scan, const double values[ADJUSTS]);

/** Are there values that go together?  OPT_GO_ON, or an exit status, which has been said. */
int adjust_check(const struct command *self, const double values[ADJUSTS]);

/** Could a scan of this kind and panel have the value?  0, or 1, which has been said of `what`. */
int adjust_check_value(const char *what, const struct fbp_scan *scan, enum adjust which,
                       double value);

/** What is given is assumed no longer (fbp_scan_confirm()). */
void adjust_confirm(struct fbp_scan *scan, const double values[ADJUSTS]);

/** Check and set all; returns 0, or 1 with the failure reported. */
int adjust_scan(struct fbp_scan *scan, const double values[ADJUSTS]);

/** Read columns, rows or the rotation the other way round.  @return 0, or 1 with the failure
 *  reported. */
int adjust_flip(struct fbp_scan *scan, bool u, bool v, bool reverse);

#endif /* FBP_CLI_ADJUST_H */
