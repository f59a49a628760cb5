/** @file range.h  The ranges of fbp/ranges.h as a table, for checks with a sentence (internal). */
#ifndef FBP_SRC_RANGE_H
#define FBP_SRC_RANGE_H

#include "base/status.h"
#include "fbp/ranges.h"

/** Numbers from min to max, ends included; infinities and NaN are in none. */
struct fbp_range {
    double min, max;
    bool whole;
    const char *expected; /**< for messages, behind "expected": "a number from 1 to 3 (mm)" */
};

extern const struct fbp_range fbp_range_finite, fbp_range_pitch, fbp_range_distance,
    fbp_range_place, fbp_range_angle, fbp_range_turn, fbp_range_skew, fbp_range_header,
    fbp_range_i0, fbp_range_depth, fbp_range_value, fbp_range_scale, fbp_range_noise,
    fbp_range_noise_sd, fbp_range_decay, fbp_range_gradient, fbp_range_seconds, fbp_range_cutoff,
    fbp_range_wiener, fbp_range_bytes;
extern const struct fbp_range fbp_range_mu, fbp_range_side, fbp_range_threads, fbp_range_views;

bool fbp_in_range(const struct fbp_range *range, double x);

/** "NAME: found 7, expected a number from …" as FBP_ERR_INVALID, if x is not in the range. */
fbp_status fbp_check_range(const struct fbp_range *range, const char *name, double x);
/** The same, but 0 is the default. */
fbp_status fbp_check_optional(const struct fbp_range *range, const char *name, double x);
/** Value `value` of an enum whose values are 0 … most. */
fbp_status fbp_check_choice(const char *name, long value, long most);

#endif /* FBP_SRC_RANGE_H */
