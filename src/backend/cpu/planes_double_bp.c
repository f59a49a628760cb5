#include "backend/cpu/planes_double_bp.h"

#include "filter/parabola.h"

double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how)
{
    const int at = (int)u;
    const double *s = samples + at;
    double w[4];

    if (how == FBP_INTERPOLATION_NEAREST)
        return s[0];
    if (how == FBP_INTERPOLATION_LINEAR)
        return s[0] + (u - at) * (s[1] - s[0]);
    fbp_spline_weights(u - at, w);
    return w[0] * s[-1] + w[1] * s[0] + w[2] * s[1] + w[3] * s[2];
}

#define VALUE       double
#define PLANES      struct fbp_bp_planes_double
#define NAMED(how)  fbp_bp_planes_double##how
#define KERNEL      fbp_bp_planes_double_fn
#define FIND        fbp_bp_planes_double_find
#define VALUE_AT    fbp_row_value_double
#define N_FRAMES(p) 1
#define FRAME(p)    0

#include "backend/cpu/planes_c_tmpl.h"
