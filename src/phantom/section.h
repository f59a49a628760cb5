/** @file section.h  Convex bodies cut by a plane (internal; double, pure). */
#ifndef FBP_SRC_SECTION_H
#define FBP_SRC_SECTION_H

#include "phantom/body.h"

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

#endif /* FBP_SRC_SECTION_H */
