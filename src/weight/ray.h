/** @file ray.h  The weight of one ray (formula: weight.h), from a few numbers per view. The same
 * source is compiled for the host, in double, and for devices, in float (internal; pure functions).
 *
 * FBP_RAY_FLOAT selects float. Values with cancellation stay in double: the position of a row, the
 * distance of a ray from the end of a Parker ramp (a linear form of the column), and the part of a
 * view's angular step inside the ramp. All other values are accurate to a few units in the last
 * place of float (test_weight_ray.c: 1e-6 of the greatest weight).
 * Used by: backend/cuda/filter_kernels.h, backend/gpu/tables.c, weight.h.
 */
#ifndef FBP_SRC_RAY_H
#define FBP_SRC_RAY_H

#include <math.h>
#include <stdbool.h>

#ifdef FBP_RAY_FLOAT
typedef float fbp_ray_real;
#    define FBP_RAY_FN(name) name##f
#else
typedef double fbp_ray_real;
#    define FBP_RAY_FN(name) name
#endif
#ifndef FBP_RAY_INLINE /* compilers of devices have other keywords */
#    define FBP_RAY_INLINE static inline
#endif

/** Weighting of rays that are measured twice: none, short arc (Parker), offset panel (Wang), or a
 * table by view and column (geometry/coverage.h) of angular step times redundancy weight. */
enum fbp_redundancy { FBP_SINGLE = 0, FBP_PARKER, FBP_WANG, FBP_PER_RAY };

/** Values that all views share. */
struct fbp_rays {
    bool cone;
    /** Parker: true: mean of the weight over the view's angular step; false: value at its centre.
     * */
    bool means;
    enum fbp_redundancy redundancy;
    double delta[2]; /**< Parker: cos and sin of delta = (arc of the scan - pi) / 2 */
    /** Wang: 1 / length by which the panel extends beyond the axis on its shorter side [1/rad;
     * parallel beam: 1/mm]; negative if the longer side is -t (t: direction of the source's
     * motion). */
    double inverse_overlap;
};

/** Position of a view relative to one end of the scan's arc; for Parker's weight. */
struct fbp_ray_end {
    /** angle between the view and this end [rad]; cos and sin of half the angle */
    double angle, cos, sin;
    double share[2]; /**< angles from this end of the arc to the nearer and to the farther limit of
                        the view's step [rad]; nearer limit of the nearest view: 0 */
};

/** A view in the axes of geometry/view.h: n from the axis to the source, t along the source's
 * motion, a along the rotation axis. */
struct fbp_ray_view {
    double q[3];       /**< pixel (0, 0) relative to the source; parallel: relative to the origin */
    double u[3], v[3]; /**< vectors from a pixel to the next column and to the next row */
    double factor; /**< constant factor of W: cone: 1/2 SOD / w(0)^2; parallel: 1/2 SOD / |s x u| */
    double step;   /**< angular step [rad] */
    struct fbp_ray_end end[2];
};

/** A detector row of a view; vectors and ramps are linear functions of the column: value at column
 * 0, step per column. */
struct fbp_ray_row {
    fbp_ray_real q[3], u[3];
    fbp_ray_real factor; /**< cone: 1/2 SOD / (|q x u| w(0)^2) */
    /** Parker: +-q.t cos(delta) - q.n sin(delta); + at the first end of the arc, - at the second */
    double ramp[2][2];
};

FBP_RAY_INLINE void fbp_ray_row_of(const struct fbp_rays *rays, const struct fbp_ray_view *view,
                                   double row, struct fbp_ray_row *out)
{
    const double *u = view->u, c = rays->delta[0], s = rays->delta[1];
    double q[3];

    for (int i = 0; i < 3; i++) {
        q[i] = view->q[i] + row * view->v[i];
        out->q[i] = (fbp_ray_real)q[i];
        out->u[i] = (fbp_ray_real)u[i];
    }
    const double x = q[1] * u[2] - q[2] * u[1], y = q[2] * u[0] - q[0] * u[2];
    const double z = q[0] * u[1] - q[1] * u[0];
    out->factor =
        (fbp_ray_real)(rays->cone ? view->factor / sqrt(x * x + y * y + z * z) : view->factor);
    for (int i = 0; i < 2; i++) {
        out->ramp[i][0] = (i ? -q[1] : q[1]) * c - q[0] * s;
        out->ramp[i][1] = (i ? -u[1] : u[1]) * c - u[0] * s;
    }
}

/** Get the factor of W (weight.h has the symbols) without dbeta and m: 1/2 SOD |t x q| / (|q| |q x
 * u| w(0)^2); parallel beam: 1/2 SOD / |s x u|. */
FBP_RAY_INLINE fbp_ray_real fbp_ray_geometry(const struct fbp_rays *rays,
                                             const struct fbp_ray_row *row, fbp_ray_real column)
{
    const fbp_ray_real n = row->q[0] + column * row->u[0], t = row->q[1] + column * row->u[1];
    const fbp_ray_real a = row->q[2] + column * row->u[2], across = n * n + a * a;

    return rays->cone ? row->factor * FBP_RAY_FN(sqrt)(across / (across + t * t)) : row->factor;
}

/**
 * Weight inside a ramp: Parker 1982 in the form of Silver (2000) for any arc, with delta = (arc -
 * pi) / 2 in place of half the fan angle.
 *
 * angle  distance to the nearer end of the arc [rad], at most 2 half
 * half   half the length of the ramp: delta + gamma at the start of the arc, delta - gamma at its
 *        end
 */
FBP_RAY_INLINE fbp_ray_real fbp_ray_parker(fbp_ray_real angle, fbp_ray_real half)
{
    const fbp_ray_real quarter = (fbp_ray_real)0.78539816339744830962;
    const fbp_ray_real s = FBP_RAY_FN(sin)(quarter * (angle > 0 ? angle : 0) / half);

    return 2 * s * s;
}

/** Compute Wang's redundancy weight (2002): from 0 at x = -1 to 2 at x = 1 across the part of an
 * offset panel that measures rays twice, constant beyond this part. */
FBP_RAY_INLINE fbp_ray_real fbp_ray_wang(fbp_ray_real x)
{
    const fbp_ray_real half_turn = (fbp_ray_real)1.57079632679489661923;
    return 1 + FBP_RAY_FN(sin)(half_turn * (x < -1 ? -1 : x > 1 ? 1 : x));
}

/** True if a ray is inside a ramp of Parker's weight: half the angle between its view and the end
 * of the arc is below atan2(y, x), half the ramp's length.  Computed without atan2(), because most
 * rays are in no ramp. */
FBP_RAY_INLINE bool fbp_ray_in_ramp(const struct fbp_ray_end *end, fbp_ray_real y, fbp_ray_real x)
{
    return y > 0 && (fbp_ray_real)end->cos * y > (fbp_ray_real)end->sin * x;
}

/**
 * 2 minus the mean of Parker's weight over a view's angular step, for one end of the arc with a
 * ramp of length 2 half. If half < 0, rays are missing instead: -2 half between the arc and its
 * conjugate. The views at both sides of that gap cover it, and the result is negative. The sum of
 * step times weight over all views is 2 pi in any column, even if a ramp contains few views; for a
 * parallel beam with equal steps it equals the sum of steps modulo pi.
 */
FBP_RAY_INLINE double fbp_ray_lack(const struct fbp_ray_end *end, double half)
{
    const double width = end->share[1] - end->share[0];
    const double stop = end->share[1] < 2 * half ? end->share[1] : 2 * half;

    if (half <= 0)
        return end->share[0] > 0 ? 0 : 2 * half / width;
    if (stop <= end->share[0])
        return 0;
    /* integral of 1 + cos(pi/2 x/half) from x = share[0] to stop, over the width of the step */
    const double quarter = 0.78539816339744830962 / half;
    const fbp_ray_real middle = (fbp_ray_real)(quarter * (stop + end->share[0]));
    const fbp_ray_real reach = (fbp_ray_real)(quarter * (stop - end->share[0]));
    return (stop - end->share[0]) / width *
           (double)(1 + FBP_RAY_FN(cos)(middle) * FBP_RAY_FN(sin)(reach) / reach);
}

/** Compute the redundancy weight m of a ray, 0 … 2; above 2 in a view next to missing views that it
 * replaces (fbp_ray_lack()). */
FBP_RAY_INLINE fbp_ray_real fbp_ray_redundancy(const struct fbp_rays *rays,
                                               const struct fbp_ray_view *view,
                                               const struct fbp_ray_row *row, fbp_ray_real column)
{
    const fbp_ray_real n = -(row->q[0] + column * row->u[0]), t = row->q[1] + column * row->u[1];
    const fbp_ray_real c = (fbp_ray_real)rays->delta[0], s = (fbp_ray_real)rays->delta[1];
    const double at = (double)column;
    double m = 2;

    if (rays->redundancy == FBP_SINGLE)
        return 1;
    if (rays->redundancy == FBP_WANG)
        return fbp_ray_wang((rays->cone ? FBP_RAY_FN(atan2)(t, n) : t) *
                            (fbp_ray_real)rays->inverse_overlap);
    for (int i = 0; i < 2; i++) { /* gamma = 0 in a parallel beam */
        const fbp_ray_real y =
            rays->cone ? (fbp_ray_real)(row->ramp[i][0] + at * row->ramp[i][1]) : s;
        const fbp_ray_real x = rays->cone ? n * c + (i ? t : -t) * s : c;
        if (rays->means)
            m -= fbp_ray_lack(&view->end[i], (double)FBP_RAY_FN(atan2)(y, x));
        else if (fbp_ray_in_ramp(&view->end[i], y, x))
            return fbp_ray_parker((fbp_ray_real)view->end[i].angle, FBP_RAY_FN(atan2)(y, x));
    }
    return (fbp_ray_real)m;
}

/** Compute the weight W (weight.h) of the ray through a pixel of a row. */
FBP_RAY_INLINE fbp_ray_real fbp_ray_weight(const struct fbp_rays *rays,
                                           const struct fbp_ray_view *view,
                                           const struct fbp_ray_row *row, fbp_ray_real column)
{
    return (fbp_ray_real)view->step * fbp_ray_geometry(rays, row, column) *
           fbp_ray_redundancy(rays, view, row, column);
}

#endif /* FBP_SRC_RAY_H */
