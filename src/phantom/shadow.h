/** @file shadow.h  Line integrals of a whole view (internal). */
#ifndef FBP_SRC_SHADOW_H
#define FBP_SRC_SHADOW_H

#include "phantom/ellipsoid.h"

/**
 * One ellipsoid seen in one view.  In the ball's coordinates the ray of pixel (c, r) has direction
 * g and moment q = g x y (y: any of its points), both linear in c and r:
 * g = g[0] + c g[1] + r g[2].  Chord = 2 sqrt(|g|^2 - |q|^2) / |g|^2 in units of the ray's step.
 */
struct fbp_shadow {
    double g[3][3], q[3][3];
    double density;
};

/** out[n_rows][n_columns] = line integrals of a view's rows from row0 on; shadows[n],
 *  work[n_columns]. */
void fbp_shadow_rows(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, size_t row0, size_t n_rows,
                     struct fbp_shadow *shadows, double *work, float *out);

/** out[n_rows][n_columns] = line integrals of a whole view; shadows[n], work[n_columns]. */
void fbp_shadow_view(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, struct fbp_shadow *shadows,
                     double *work, float *out);

#endif /* FBP_SRC_SHADOW_H */
