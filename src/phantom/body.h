/** @file body.h  Convex bodies and ellipsoids: line integrals, sections, voxel means (internal;
 * double). */
#ifndef FBP_SRC_BODY_H
#define FBP_SRC_BODY_H

#include "fbp/phantom.h"

#include <math.h>
#include <stdbool.h>

/* Convex bodies met by a line. */

/**
 * A shape made ready.  With y = M (x - c) it is the set of x where
 *     q[0] y0^2 + q[1] y1^2 + q[2] y2^2 <= unit,  low <= y <= high,  normal . x <= at_mm (planes).
 */
struct fbp_body {
    double c[3], M[3][3];
    double q[3], unit;
    double low[3], high[3];
    const struct fbp_half_space *planes; /* the shape's */
    size_t n_planes;
    double density;
    unsigned m;               /**< the density falls as (1 - |y|^2)^m */
    double ball_c[3], ball_r; /**< a ball around it; ball_r is infinite for endless bodies */
};

/** Part of a line, in mm from its point, and the density there: times (top - fall (t - middle)^2)^m
 *  where m is not 0. */
struct fbp_chord {
    double t[2];
    double density;
    unsigned m;
    double top, fall, middle;
};

/** Room for the spans of one line through n bodies. */
struct fbp_spans {
    struct fbp_chord *cut;        /* [n], one a body, in the order of the bodies */
    struct fbp_chord *parts;      /* [2 n], what is left where bodies hide others */
    double *ends;                 /* [2 n] */
    const struct fbp_body **near; /* [n], for callers that look at some bodies only */
};

void fbp_body_of(const struct fbp_shape *shape, struct fbp_body *out);

/** All shapes of a phantom; free(*out). */
FBP_MUST_CHECK fbp_status fbp_bodies_of(const struct fbp_phantom *phantom, struct fbp_body **out);
FBP_MUST_CHECK fbp_status fbp_spans_alloc(struct fbp_spans *out, size_t n);
void fbp_spans_free(struct fbp_spans *spans);

/** The line p + t dir, |dir| = 1, inside; false if it is nowhere. */
bool fbp_body_cut(const struct fbp_body *body, const double p[3], const double dir[3],
                  struct fbp_chord *out);

/** Integral of the density from t = from to `to`, which lie in the chord s. */
double fbp_chord_integral(const struct fbp_chord *s, double from, double to);

/** Integral of (top - fall t^2)^m from 0 to t. */
double fbp_fall_integral(double top, double fall, unsigned m, double t);

/** The density at a point; false, and 0, where the point is not inside. */
bool fbp_body_at(const struct fbp_body *body, const double x[3], double *density);

/**
 * The line's densities as spans to be added up: those of all bodies, or, where `replace`, disjoint
 * ones, each of the first body in the list that holds it.
 * @return how many; *out points into `room`.
 */
size_t fbp_line_spans(const struct fbp_body *const *bodies, size_t n, bool replace,
                      const double p[3], const double dir[3], struct fbp_spans *room,
                      const struct fbp_chord **out);

/** Integral along the line; not finite where a body has no end on it. */
double fbp_line_integral(const struct fbp_body *const *bodies, size_t n, bool replace,
                         const double p[3], const double dir[3], struct fbp_spans *room);

/** Add the line integrals of a whole view to out[n_rows][n_columns].
 *  @return FBP_ERR_INVALID where one is not finite. */
FBP_MUST_CHECK fbp_status fbp_bodies_view(const struct fbp_body *bodies,
                                          const struct fbp_phantom *phantom,
                                          const struct fbp_view *view, enum fbp_kind kind,
                                          const struct fbp_panel *panel, struct fbp_spans *room,
                                          float *out);

/** Add the voxel means of the slice at height z to out[ny][nx]; row[nx].
 *  The 89 lines a row of voxels are those of fbp_phantom_voxels(). */
void fbp_bodies_slice(const struct fbp_body *bodies, const struct fbp_phantom *phantom,
                      const struct fbp_grid *grid, double z, struct fbp_spans *room, double *row,
                      float *out);

/* Ellipsoids as balls in coordinates of their own. */

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

/* Area of a convex polygon inside a conic section (internal; double, pure). */

/** The points with q[0] x^2 + 2 q[1] x y + q[2] y^2 + 2 (l . p) + k <= 0; in the polygon that it is
 *  used with they are convex. */
struct conic {
    double q[3], l[2], k;
};

enum { CONIC_CORNERS = 24 };

/** Convex, counter-clockwise; n = 0: nothing. */
struct conic_polygon {
    int n;
    double p[CONIC_CORNERS][2];
};

/** Keep what has a . p <= b; no more than 20 times. */
void conic_polygon_cut(struct conic_polygon *polygon, const double a[2], double b);

/** Area of what is in both. */
double conic_polygon_area(const struct conic *conic, const struct conic_polygon *polygon);

/* Convex bodies cut by a plane (internal; double, pure). */

/**
 * Bodies of all ellipsoids and shapes of a phantom; free(*out).
 * @return FBP_ERR_UNSUPPORTED where integrals over planes are not finite or not known: shapes
 * without an end, shapes that hide each other, soft ellipsoids that planes cut.
 */
FBP_MUST_CHECK fbp_status fbp_sections_of(const struct fbp_phantom *phantom, struct fbp_body **out);

/** Integral of the body's density over the plane n . x = t, |n| = 1. */
double fbp_body_plane(const struct fbp_body *body, const double n[3], double t);

/** Mean of that over planes from t - width / 2 to t + width / 2: of ellipsoids that no plane cuts
 * in closed form, of others over FBP_SECTION_PLANES of them. */
double fbp_body_plane_mean(const struct fbp_body *body, const double n[3], double t, double width);

enum { FBP_SECTION_PLANES = 8 };

/* Where lines pierce a voxel. */

/* A row of voxels is pierced by N_LINES lines along x.  They stand on a Fibonacci lattice, which
 * resolves surfaces facing y or z to 1/89 of a voxel where a square grid as large has 1/9. */
enum { N_LINES = 89, LATTICE_STEP = 55, LATTICE_SHIFT = 27 }; /* the shift: point symmetry */

/** Place of line i in a voxel along y, -.5 to .5. */
static inline double fbp_lattice_y(int i)
{
    return (i + .5) / N_LINES - .5;
}

/** Place of line i in a voxel along z, -.5 to .5. */
static inline double fbp_lattice_z(int i)
{
    return fbp_lattice_y((i * LATTICE_STEP + LATTICE_SHIFT) % N_LINES);
}

/* Turns about z, x and z. */

/** The axes of a body, one a row, that was turned about z by turns[2], then about x by turns[1],
 * then about z by turns[0], always about those of the world [rad]: the columns of Rz(turns[0])
 * Rx(turns[1]) Rz(turns[2]). */
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

#endif /* FBP_SRC_BODY_H */
