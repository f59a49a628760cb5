/** @file ellipsoid.h  Ellipsoids as balls in coordinates of their own (internal). */
#ifndef FBP_SRC_ELLIPSOID_H
#define FBP_SRC_ELLIPSOID_H

#include "fbp/phantom.h"

/** y = M (x - c) turns the ellipsoid into the unit ball; M = diag(1/axes) R^T. */
struct fbp_ball {
    double c[3], M[3][3];
    double reach[3]; /**< half sides of the bounding box in x */
    double density;
};

/** The same as a shape. */
void fbp_ellipsoid_shape(const struct fbp_ellipsoid *ellipsoid, struct fbp_shape *out);

void fbp_ball_of(const struct fbp_ellipsoid *e, struct fbp_ball *out);

/** All of a phantom's, in new memory: free(). */
FBP_MUST_CHECK fbp_status fbp_balls_of(const struct fbp_phantom *phantom, struct fbp_ball **out);

/** M dx, for differences of points and for directions. */
static inline void fbp_ball_map(const struct fbp_ball *b, const double dx[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = b->M[i][0] * dx[0] + b->M[i][1] * dx[1] + b->M[i][2] * dx[2];
}

/** Integral along the line through p with unit direction dir. */
double fbp_ball_line(const struct fbp_ball *ball, const double p[3], const double dir[3]);

bool fbp_ball_holds(const struct fbp_ball *ball, const double x[3]);

#endif /* FBP_SRC_ELLIPSOID_H */
