#include "backend/cpu/planes_bp.h"

static float linear(const float *samples, float u)
{
    const int at = (int)u;

    return samples[at] + (u - (float)at) * (samples[at + 1] - samples[at]);
}

static float cubic(const float *samples, float u)
{
    const int at = (int)u;
    const float *c = samples + at - 1, t = u - (float)at, s = 1 - t;

    return (s * s * s * c[0] + (4 + 3 * t * t * (t - 2)) * c[1] + (4 + 3 * s * s * (s - 2)) * c[2] +
            t * t * t * c[3]) /
           6;
}

static inline float value_at(const float *samples, float u, enum fbp_interpolation how)
{
    return how == FBP_INTERPOLATION_LINEAR  ? linear(samples, u)
           : how == FBP_INTERPOLATION_CUBIC ? cubic(samples, u)
                                            : samples[(int)u];
}

#define VALUE       float
#define PLANES      struct fbp_bp_planes
#define NAMED(how)  fbp_bp_planes##how
#define KERNEL      fbp_bp_planes_fn
#define FIND        fbp_bp_planes_find
#define VALUE_AT    value_at
#define N_FRAMES(p) ((p)->frames > 1 ? (p)->frames : 1)
#define FRAME(p)    ((p)->frame)

#include "backend/cpu/planes_c_tmpl.h"
