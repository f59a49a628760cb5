/** @file ref.h  The backprojected value at one point, as the reference device computes it, for
 * benchmarks that measure errors; no open device is needed (internal).
 * Used by: bench/common/truth.c, ref.c. */
#ifndef FBP_SRC_REF_H
#define FBP_SRC_REF_H

#include "backend/backend.h"

/** Returns the sum over a batch's views k of view_k(u, v) / w^2 at the point x [mm]: (u, v) is the
 * projection of x, between samples interpolated (for line integrals bilinearly), and w the depth of
 * x, 1 at the origin; Zinsser and Keck 2013, section II. filtered:
 * [n_views][n_rows][padded.panel.n_columns]. */
double ref_value(const struct fbp_job *job, const struct fbp_batch *batch, const double *filtered,
                 const double x[3]);

#endif /* FBP_SRC_REF_H */
