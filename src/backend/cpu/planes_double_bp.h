/** @file planes_double_bp.h  The kernel of plane integrals in double and its dispatch (internal).
 */
#ifndef FBP_SRC_PLANES_DOUBLE_BP_H
#define FBP_SRC_PLANES_DOUBLE_BP_H

#include "backend/cpu/planes_bp.h"

/** As struct fbp_bp_planes. */
struct fbp_bp_planes_double {
    const double *samples;
    size_t stride, n;
    double last;
    bool narrow; /**< not asked for */
    double along[FBP_PLANES_VIEWS], start[FBP_PLANES_VIEWS], above[FBP_PLANES_VIEWS];
    double step[3][FBP_PLANES_VIEWS];
};

/** As fbp_bp_planes_fn; its block lies at a multiple of 64 bytes. */
typedef void fbp_bp_planes_double_fn(double *block, double x, const struct fbp_bp_planes_double *p);

/** The fastest that `flags` allow (base/cpu_features.h; 0 = C only). */
fbp_bp_planes_double_fn *fbp_bp_planes_double_find(unsigned flags, enum fbp_interpolation how);

fbp_bp_planes_double_fn fbp_bp_planes_double_c, fbp_bp_planes_double_avx2,
    fbp_bp_planes_double_avx512;
fbp_bp_planes_double_fn fbp_bp_planes_double_nearest_c, fbp_bp_planes_double_nearest_avx2,
    fbp_bp_planes_double_nearest_avx512;
fbp_bp_planes_double_fn fbp_bp_planes_double_cubic_c, fbp_bp_planes_double_cubic_avx2,
    fbp_bp_planes_double_cubic_avx512;

/** The value of a row at u >= 0, as planes_bp.h says. */
double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how);

#endif /* FBP_SRC_PLANES_DOUBLE_BP_H */
