/** @file column_double_bp.h  Columns of pictures whose rows are slices, in double (internal). */
#ifndef FBP_SRC_COLUMN_DOUBLE_BP_H
#define FBP_SRC_COLUMN_DOUBLE_BP_H

#include <stddef.h>

/** Values that a column can be read beyond what is wanted of it. */
enum { FBP_COLUMN_DOUBLE_BEYOND = 8 };

/** Two columns of a picture, side by side, and the weights of their values. */
struct fbp_bp_column_double {
    const double *left; /**< the row of the first slice; the other is `stride` on */
    double wl, wr;
};

/**
 *     dst[i] += sum_k wl_k left_k[i] + wr_k right_k[i],   i < n
 *
 * view after view.  Bits of a value do not depend on the others.
 */
typedef void fbp_bp_column_double_fn(double *dst, size_t n,
                                     const struct fbp_bp_column_double *views, size_t n_views,
                                     size_t stride);

/** The fastest that `flags` allow (base/cpu_features.h; 0 = C only). */
fbp_bp_column_double_fn *fbp_bp_column_double_find(unsigned flags);

fbp_bp_column_double_fn fbp_bp_column_double_c, fbp_bp_column_double_avx2,
    fbp_bp_column_double_avx512;

#endif /* FBP_SRC_COLUMN_DOUBLE_BP_H */
