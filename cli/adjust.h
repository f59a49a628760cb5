/** @file adjust.h  Options of the numbers of a geometry that are seldom known well (fbp/adjust.h):
 * swept by fbp recon --sweep, then given as options. */
#ifndef FBP_CLI_ADJUST_H
#define FBP_CLI_ADJUST_H

#include "cli.h"

#include "fbp/adjust.h"

#include <math.h>

/** Values by enum fbp_adjust; those that are not given. */
// clang-format off
#define ADJUST_NONE {NAN, NAN, NAN, NAN, NAN}
/** Rows of an option table for a member `f` of S, a double[FBP_ADJUSTS]. */
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

/** Are there values that go together?  OPT_GO_ON, or an exit status, which has been said. */
int adjust_check(const struct command *self, const double values[FBP_ADJUSTS]);

/** Could a scan of this kind and panel have the value?  0, or 1, which has been said of `what`. */
int adjust_check_value(const char *what, const struct fbp_scan *scan, enum fbp_adjust which,
                       double value);

/** What is given is assumed no longer (fbp_scan_confirm()). */
void adjust_confirm(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

/** Check and set all; returns 0, or 1 with the failure reported. */
int adjust_scan(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

/** Read columns, rows or the rotation the other way round.  @return 0, or 1 with the failure
 *  reported. */
int adjust_flip(struct fbp_scan *scan, bool u, bool v, bool reverse);

#endif /* FBP_CLI_ADJUST_H */
