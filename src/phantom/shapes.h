/** @file shapes.h Internal functions of src/phantom: shapes of phantoms as balls and convex bodies,
 * their integrals along lines and over planes, random numbers, simulated views, and phantoms by
 * name and from files.
 *
 * The comments below name the file that defines the functions after them.
 * Used by: bench/common/, bench/host/, bench/rabbitct/, cli/, phantom/, pipeline/. */
#ifndef FBP_SRC_PHANTOM_SHAPES_H
#define FBP_SRC_PHANTOM_SHAPES_H

#include "fbp/phantom.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* body.c: ellipsoids, described as unit balls in their own coordinates */

/** An ellipsoid with centre c [mm]: y = M (x - c) maps its points x to the unit ball; M = diag(1 /
 * half axes) R^T, with the ellipsoid's rotation R. */
struct fbp_ball {
    double c[3], M[3][3];
    double reach[3]; /**< half sides of the bounding box along the world axes [mm] */
    double density;
};

void fbp_ball_of(const struct fbp_ellipsoid *e, struct fbp_ball *out);

/** Convert all ellipsoids of a phantom to the array *out of balls, which the caller frees. */
FBP_MUST_CHECK fbp_status fbp_balls_of(const struct fbp_phantom *phantom, struct fbp_ball **out);

/** Map dx, a difference of points or a direction, to the coordinates in which the ellipsoid is a
 * unit ball: y = M dx. */
static inline void fbp_ball_map(const struct fbp_ball *b, const double dx[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = b->M[i][0] * dx[0] + b->M[i][1] * dx[1] + b->M[i][2] * dx[2];
}

/* body.c: convex bodies. */

/**
 * A convex body: a struct fbp_shape, prepared for intersections with lines and planes. With its own
 * coordinates y = M (x - c), it is the set of points x with
 *     q[0] y0^2 + q[1] y1^2 + q[2] y2^2 <= unit,  low <= y <= high,  normal . x <= at_mm (planes).
 */
struct fbp_body {
    double c[3], M[3][3];
    double q[3], unit;
    double low[3], high[3];
    const struct fbp_half_space *planes; /**< cutting planes, in memory of the shape */
    size_t n_planes;
    double density;
    unsigned m; /**< exponent of a soft ellipsoid, whose density is proportional to (1 - |y|^2)^m;
                   0: uniform */
    double ball_c[3], ball_r; /**< centre and radius of a ball that contains the body [mm]; ball_r
                                 may be infinite */
};

/** The part of a line p + t dir, |dir| = 1, that is inside a body. The density at t [mm] is
 * `density` times (top - fall (t - middle)^2)^m; with m = 0 it is constant. */
struct fbp_chord {
    double t[2]; /**< first and last t [mm] */
    double density;
    unsigned m;
    double top, fall, middle; /**< set only if m > 0 */
};

/** Scratch memory for the spans of one line through n bodies. */
struct fbp_spans {
    /** [n] spans, one per body that the line meets, in the order of the bodies. */
    struct fbp_chord *cut;
    /** [2 n] disjoint spans; used if bodies replace each other where they overlap. */
    struct fbp_chord *parts;
    double *ends; /**< [2 n] first and last t of all spans, sorted */
    /** [n] bodies that may intersect the line, selected by the caller. */
    const struct fbp_body **near;
};

void fbp_body_of(const struct fbp_shape *shape, struct fbp_body *out);

/** Convert the shapes of a phantom, without its ellipsoids (fbp_balls_of()), to the array *out of
 * bodies, which the caller frees. */
FBP_MUST_CHECK fbp_status fbp_bodies_of(const struct fbp_phantom *phantom, struct fbp_body **out);
FBP_MUST_CHECK fbp_status fbp_spans_alloc(struct fbp_spans *out, size_t n);
void fbp_spans_free(struct fbp_spans *spans);

/** Compute the integral of the density over a part of a chord, from t = `from` to t = `to`. */
double fbp_chord_integral(const struct fbp_chord *s, double from, double to);

/** Compute the integral of (top - fall t^2)^m from 0 to t. */
double fbp_fall_integral(double top, double fall, unsigned m, double t);

/**
 * Compute the spans of the line p + t dir, |dir| = 1, in n bodies: one span per body that the line
 * meets, whose densities add up where spans overlap; or, if `replace`, disjoint spans, each with
 * the density of the first body that contains the span.
 * @return the number of spans; *out points into `room`.
 */
size_t fbp_line_spans(const struct fbp_body *const *bodies, size_t n, bool replace,
                      const double p[3], const double dir[3], struct fbp_spans *room,
                      const struct fbp_chord **out);

/** Compute the integral of the density of n bodies along the line p + t dir, |dir| = 1; the result
 * is not finite if a body is unbounded along the line. */
double fbp_line_integral(const struct fbp_body *const *bodies, size_t n, bool replace,
                         const double p[3], const double dir[3], struct fbp_spans *room);

/* views.c: line integrals of views. */

/** One ellipsoid in one view. In the ball's coordinates the ray of pixel (column c, row r) has
 * direction g and moment q = g x y (y: any point of the ray), both linear in c and r: g = g[0] + c
 * g[1] + r g[2], and q likewise. The chord of the ray in the ball has the length 2 sqrt(|g|^2 -
 * |q|^2) / |g|^2, in units of the ray's direction vector. */
struct fbp_shadow {
    double g[3][3], q[3][3];
    double density;
};

/** Compute the line integrals of n ellipsoids in rows [row0, row0 + n_rows) of a view:
 * out[n_rows][n_columns]; scratch memory: shadows[n], work[n_columns]. */
void fbp_shadow_rows(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, size_t row0, size_t n_rows,
                     struct fbp_shadow *shadows, double *work, float *out);

/** Add the line integrals of the shapes of a phantom (bodies: from fbp_bodies_of()) in a view to
 * out[n_rows][n_columns].  @return FBP_ERR_INVALID if an integral is not finite. */
FBP_MUST_CHECK fbp_status fbp_bodies_view(const struct fbp_body *bodies,
                                          const struct fbp_phantom *phantom,
                                          const struct fbp_view *view, enum fbp_kind kind,
                                          const struct fbp_panel *panel, struct fbp_spans *room,
                                          float *out);

/* section.c: integrals over planes. */

/** Convert the ellipsoids, then the shapes of a phantom to the array *out of bodies, which the
 * caller frees.
 *
 * @return FBP_ERR_UNSUPPORTED if integrals over planes are not finite or not known: for unbounded
 * shapes, for several shapes that replace each other, and for soft ellipsoids (FBP_SHAPE_SOFT) with
 * cutting planes. */
FBP_MUST_CHECK fbp_status fbp_sections_of(const struct fbp_phantom *phantom, struct fbp_body **out);

/** Compute the integral of the body's density over the plane n . x = t [mm], |n| = 1. */
double fbp_body_plane(const struct fbp_body *body, const double n[3], double t);

/** Compute the mean of fbp_body_plane() from t - width / 2 to t + width / 2: in closed form for
 * ellipsoids without cutting planes; for other bodies, the mean of FBP_SECTION_PLANES planes. */
double fbp_body_plane_mean(const struct fbp_body *body, const double n[3], double t, double width);

enum { FBP_SECTION_PLANES = 8 };

/* simulate.c: random numbers and scans. */

/** State of a sequence of random numbers. */
struct fbp_random {
    uint64_t state;
};

/** Start the sequence of random numbers of a pixel; it depends only on seed, view and pixel. */
struct fbp_random fbp_random_at(uint64_t seed, uint64_t view, uint64_t pixel);

/** Draw a Poisson variate, a whole number, without a Gaussian approximation; mean >= 0. */
double fbp_poisson(struct fbp_random *random, double mean);

/** Draw a Gaussian variate of mean 0 and variance 1. */
double fbp_normal(struct fbp_random *random);

/* file.c: phantom files, and the axes of their shapes. */

/** Load a phantom file in the format of fbp, RTK or LEAP into the empty phantom *out; densities are
 * multiplied by scale. The caller clears *out, also on failure. */
FBP_MUST_CHECK fbp_status fbp_phantom_load(struct fbp_phantom *out, const char *path, double scale);

/** Compute the axes of a shape, one per row, after rotations about z by turns[2], then about x by
 * turns[1], then about z by turns[0] [rad], all about the world's axes: the columns of the matrix
 * Rz(turns[0]) Rx(turns[1]) Rz(turns[2]). */
static inline void fbp_euler_axes(const double turns[3], double axes[3][3])
{
    const double ca = cos(turns[0]), cb = cos(turns[1]), cc = cos(turns[2]);
    const double sa = sin(turns[0]), sb = sin(turns[1]), sc = sin(turns[2]);

    axes[0][0] = ca * cc - sa * cb * sc;
    axes[0][1] = sa * cc + ca * cb * sc;
    axes[0][2] = sb * sc;
    axes[1][0] = -ca * sc - sa * cb * cc;
    axes[1][1] = -sa * sc + ca * cb * cc;
    axes[1][2] = sb * cc;
    axes[2][0] = sa * sb;
    axes[2][1] = -ca * sb;
    axes[2][2] = cb;
}

/** Get name number i, from 0, of the built-in phantoms that fbp_phantom_create() accepts; NULL if
 * there are fewer names. Defined in table.c. */
const char *fbp_phantom_name(size_t i);

/* simulate.c: a C-arm. */

/**
 * Compute the views of a C-arm that resembles that of RabbitCT.  The radius and the height of the
 * source (mean -4.1 mm) vary by 1.5 mm, and the focal length by 0.18 %.  The principal point moves
 * by 33 px in u and 10 px in v on a panel of 1248 columns, and proportionally on other panels.  The
 * panel rotates by up to 0.4 degrees about its three axes.  All variations are sums of three sines
 * of the angle with fixed coefficients: smooth and reproducible.
 *
 * circle  angles, distances, pitch and offset are used; tilt and skew are ignored
 * views   [n_views], output
 * @return FBP_ERR_INVALID unless the circle is a valid cone beam.
 */
fbp_status fbp_c_arm_views(const struct fbp_circle *circle, const struct fbp_panel *panel,
                           struct fbp_view *views);

#endif /* FBP_SRC_PHANTOM_SHAPES_H */
