/** @file adjust.h  Options --centre, --offset, --tilt, --sod and --sdd (fbp_scan_adjust()), which
 * correct a scan's geometry.  Commands recon, plan, geometry; implemented in adjust.c. */
#ifndef FBP_CLI_ADJUST_H
#define FBP_CLI_ADJUST_H

#include "cli.h"

#include "fbp/scan.h"

#include <math.h>

/** Initial values of double[FBP_ADJUSTS], indexed by enum fbp_adjust; NaN: option not given. */
// clang-format off
#define ADJUST_NONE {NAN, NAN, NAN, NAN, NAN}
/** Option table rows for the member f of struct S, a double[FBP_ADJUSTS]; `more`: appended to the
 *  help of --centre. */
#define ADJUST_OPTIONS(S, f, centre_arg, more)                                                    \
    OPT(S, f[FBP_ADJUST_CENTRE], .name = "centre", .arg = centre_arg, .min = -FBP_SIDE_MAX, .max = FBP_SIDE_MAX, \
        .fallback = "the scan's",                                                                 \
        .help = "detector column of the rotation axis; the first column is 0" more), \
    OPT(S, f[FBP_ADJUST_OFFSET], .name = "offset", .arg = "MM", .min = -FBP_PLACE_MM_MAX, .max = FBP_PLACE_MM_MAX, \
        .fallback = "the scan's",                                                                 \
        .help = "position of the panel's centre along its rows; another way to give --centre"),   \
    OPT(S, f[FBP_ADJUST_TILT], .name = "tilt", .arg = "DEG", .min = -FBP_TURN_DEG_MAX, .max = FBP_TURN_DEG_MAX, \
        .fallback = "0", .help = "turn the panel further, in its own plane"),                     \
    OPT(S, f[FBP_ADJUST_SOD], .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX, \
        .fallback = "the scan's",                                                                 \
        .help = "distance from source to rotation axis; it does not change --sdd"),               \
    OPT(S, f[FBP_ADJUST_SDD], .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX, \
        .fallback = "the scan's", .help = "distance from source to detector")
// clang-format on

/** Check that --centre and --offset are not both given.  @return OPT_GO_ON, or OPT_USAGE after an
 *  error message. */
int adjust_check(const struct command *self, const double values[FBP_ADJUSTS]);

/** Check that the value is possible for the scan's kind and panel.  @return 0, or 1 after an error
 *  message, which begins with `what`. */
int adjust_check_value(const char *what, const struct fbp_scan *scan, enum fbp_adjust which,
                       double value);

/** Remove the given values from the scan's list of guessed facts (fbp_scan_confirm()). */
void adjust_confirm(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

/** Check and set all values that are not NaN.  @return 0, or 1 after an error message. */
int adjust_scan(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

/** Reverse the order of columns (u) or rows (v), or the direction of rotation.  @return 0, or 1
 *  after an error message. */
int adjust_flip(struct fbp_scan *scan, bool u, bool v, bool reverse);

#endif /* FBP_CLI_ADJUST_H */
