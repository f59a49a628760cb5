/** @file body.h  Convex bodies met by a line (internal). */
#ifndef FBP_SRC_BODY_H
#define FBP_SRC_BODY_H

#include "fbp/phantom.h"

#include <stdbool.h>

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

#endif /* FBP_SRC_BODY_H */
