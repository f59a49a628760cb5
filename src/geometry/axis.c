/* The rotation axis, from where the sources stand. */
#include "geometry/facts.h"

static const double NEAR_Z_RAD = 5 * FBP_PI / 180;

/* Sum of outer products of the sources about their centroid. */
static void scatter(const struct fbp_view *views, size_t n, double C[3][3])
{
    double mean[3] = {0, 0, 0};

    for (size_t k = 0; k < n; k++)
        fbp_axpy(mean, 1 / (double)n, views[k].s, mean);
    for (size_t k = 0; k < n; k++) {
        double q[3];
        fbp_axpy(views[k].s, -1, mean, q);
        for (int i = 0; i < 9; i++)
            C[i / 3][i % 3] += q[i / 3] * q[i % 3];
    }
}

/* Power iteration from z on the adjugate of C, whose greatest eigenvalue belongs to the least of
 * C: the normal of the plane.  Returns that eigenvalue, the product of the two others of C. */
static double normal_of(double C[3][3], double n[3])
{
    double adj[3][3], next[3], size = 0;

    for (int i = 0; i < 3; i++)
        fbp_cross(C[(i + 1) % 3], C[(i + 2) % 3], adj[i]);
    /* a normal within the plane z = 0 would be missed from z alone */
    const double start[3] = {0.1, 0.2, 1};
    fbp_axpy(start, 0, start, n);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 3; i++)
            next[i] = fbp_dot(adj[i], n);
        size = fbp_normalise(next);
        if (!(size > 0))
            return 0;
        fbp_axpy(next, 0, next, n);
    }
    return size;
}

void fbp_axis_of(const struct fbp_view *views, size_t n_views, double axis[3])
{
    double C[3][3] = {{0}}, n[3], Cn[3];

    axis[0] = axis[1] = 0;
    axis[2] = 1;
    if (n_views < 3)
        return;
    scatter(views, n_views, C);
    const double trace = C[0][0] + C[1][1] + C[2][2];
    const double product = normal_of(C, n);
    for (int i = 0; i < 3; i++)
        Cn[i] = fbp_dot(C[i], n);
    const double least = fbp_dot(n, Cn);
    /* second eigenvalue from sum and product of the upper two: how far from a line, how flat */
    const double half = (trace - least) / 2;
    const double second = half - sqrt(fmax(half * half - product, 0));
    if (!(second > 1e-6 * trace && least < 0.01 * second))
        return;
    if (acos(fmin(fabs(n[2]), 1)) <= NEAR_Z_RAD)
        return;
    const double sign = fabs(n[2]) > 1e-6 ? n[2] : fabs(n[1]) > 1e-6 ? n[1] : n[0];
    for (int i = 0; i < 3; i++)
        axis[i] = copysign(1, sign) * n[i];
}
