/** @file geometry_upright.h  Views whose panel stands upright: its normal is horizontal (internal;
 * double, pure).  What programs with a few parameters for a whole scan can hold.
 *
 * At angle alpha, e = (sin a, -cos a, 0) points towards the source, t = (cos a, sin a, 0) along the
 * rows:  s = sod e - tau t + height z,
 *        d = (sod - sdd) e - tau t + height z + shift[0] u' + shift[1] v',
 *        u' = cos(tilt) t + sin(tilt) z, v' = -sin(tilt) t + cos(tilt) z, u = pitch[0] u', ...
 * Parallel: s = e, and d without sod, sdd, tau, height.
 */
#ifndef FBP_SRC_GEOMETRY_UPRIGHT_H
#define FBP_SRC_GEOMETRY_UPRIGHT_H

#include "fbp/geometry.h"

struct fbp_upright {
    double alpha_rad, sod, sdd, tau, height, tilt_rad, shift[2], pitch[2];
};

void fbp_upright_view(const struct fbp_upright *p, enum fbp_kind kind, struct fbp_view *out);

/** The parameters of a view; false if it is no such view (to 1e-13 of its size).  Of a parallel
 *  beam, the part of d along the rays is left out. */
bool fbp_upright_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_upright *out);

/** The same angle [rad], as near to `before` as turns allow. */
double fbp_near_angle(double angle, double before);

#endif /* FBP_SRC_GEOMETRY_UPRIGHT_H */
