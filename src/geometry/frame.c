#include "geometry/frame.h"

#include <string.h>

bool fbp_frame_of(const struct fbp_view *view, const double axis[3], struct fbp_frame *out)
{
    memcpy(out->a, axis, sizeof out->a);
    fbp_axpy(view->s, -fbp_dot(view->s, axis), axis, out->n);
    out->radius = fbp_normalise(out->n);
    fbp_cross(out->a, out->n, out->t);
    return out->radius > 1e-9 * fbp_norm(view->s);
}

double fbp_view_angle(const struct fbp_view *view, const double axis[3])
{
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    const double *start = fabs(axis[0]) < 0.9 ? x : y;
    double e0[3], e1[3];

    fbp_axpy(start, -fbp_dot(start, axis), axis, e0);
    fbp_normalise(e0);
    fbp_cross(axis, e0, e1);
    return atan2(fbp_dot(view->s, e1), fbp_dot(view->s, e0));
}
