#include "base/range.h"

#include <math.h>
#include <string.h>

const struct fbp_range fbp_range_finite = {-INFINITY, INFINITY, false, "a number that is finite"};
const struct fbp_range fbp_range_pitch = {FBP_PITCH_MM_MIN, FBP_PITCH_MM_MAX, false,
                                          "a number from 1e-9 to 1e6 (mm)"};
const struct fbp_range fbp_range_distance = {FBP_DISTANCE_MM_MIN, FBP_DISTANCE_MM_MAX, false,
                                             "a number from 1e-6 to 1e12 (mm)"};
const struct fbp_range fbp_range_place = {-FBP_PLACE_MM_MAX, FBP_PLACE_MM_MAX, false,
                                          "a number from -1e12 to 1e12 (mm)"};
const struct fbp_range fbp_range_angle = {-FBP_ANGLE_DEG_MAX, FBP_ANGLE_DEG_MAX, false,
                                          "a number from -1e9 to 1e9 (degrees)"};
const struct fbp_range fbp_range_turn = {-FBP_TURN_DEG_MAX, FBP_TURN_DEG_MAX, false,
                                         "a number from -90 to 90 (degrees)"};
const struct fbp_range fbp_range_skew = {-FBP_SKEW_DEG_MAX, FBP_SKEW_DEG_MAX, false,
                                         "a number from -45 to 45 (degrees)"};
const struct fbp_range fbp_range_side = {1, FBP_SIDE_MAX, true, "a whole number from 1 to 1e9"};
const struct fbp_range fbp_range_views = {1, FBP_VIEWS_MAX, true, "a whole number from 1 to 1e7"};
const struct fbp_range fbp_range_header = {0, FBP_BYTES_MAX, true, "a whole number from 0 to 9e15"};
const struct fbp_range fbp_range_i0 = {FBP_I0_MIN, FBP_I0_MAX, false,
                                       "a number from 1e-30 to 1e30"};
const struct fbp_range fbp_range_depth = {FBP_DEPTH_MIN, FBP_DEPTH_MAX, false,
                                          "a number from 1e-30 to 1e30"};
const struct fbp_range fbp_range_mu = {FBP_MU_MIN, FBP_MU_MAX, false,
                                       "a number from 1e-9 to 1e9 (1/mm)"};
const struct fbp_range fbp_range_value = {-FBP_VALUE_MAX, FBP_VALUE_MAX, false,
                                          "a number from -1e30 to 1e30"};
const struct fbp_range fbp_range_scale = {-FBP_SCALE_MAX, FBP_SCALE_MAX, false,
                                          "a number from -1e12 to 1e12"};
const struct fbp_range fbp_range_noise = {FBP_NOISE_MIN, FBP_NOISE_MAX, false,
                                          "a number from 1 to 1e15"};
const struct fbp_range fbp_range_noise_sd = {0, FBP_NOISE_SD_MAX, false, "a number from 0 to 1e12"};
const struct fbp_range fbp_range_gradient = {FBP_GRADIENT_MIN, FBP_GRADIENT_MAX, false,
                                             "a gradient from 1e-6 to 1e6 G/cm"};
const struct fbp_range fbp_range_decay = {FBP_DECAY_MIN, FBP_DECAY_MAX, false,
                                          "a number of frames from 0.001 to 1e9"};
const struct fbp_range fbp_range_threads = {0, FBP_THREADS_MAX, true,
                                            "a whole number from 0 to 4096"};
const struct fbp_range fbp_range_seconds = {0, FBP_SECONDS_MAX, false,
                                            "a number from 0 to 1e9 (seconds)"};
const struct fbp_range fbp_range_cutoff = {1e-6, 1, false,
                                           "a number from 1e-6 to 1 (of Nyquist's frequency)"};

const struct fbp_range fbp_range_wiener = {1e-12, 1, false, "a number from 1e-12 to 1"};

const struct fbp_range fbp_range_bytes = {1, FBP_BYTES_MAX, true,
                                          "a whole number from 1 to 9e15 (bytes)"};

bool fbp_in_range(const struct fbp_range *r, double x)
{
    return isfinite(x) && x >= r->min && x <= r->max && !(r->whole && x != floor(x));
}

fbp_status fbp_check_range(const struct fbp_range *r, const char *name, double x)
{
    if (fbp_in_range(r, x))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID, "%s: found %.10g, expected %s", name, x, r->expected);
}

fbp_status fbp_check_optional(const struct fbp_range *r, const char *name, double x)
{
    if (x == 0 || fbp_in_range(r, x))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID, "%s: found %.10g, expected %s, or 0 for the default", name, x,
                    r->expected);
}

fbp_status fbp_check_choice(const char *name, long value, long most)
{
    if (value >= 0 && value <= most)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: found %ld, expected one of the values 0 to %ld of its enum", name, value,
                    most);
}
