/** @file bp.h  CPU backprojection kernels and their dispatch table (internal). */
#ifndef FBP_SRC_BP_H
#define FBP_SRC_BP_H

#include "fbp/recon.h"

#include <stddef.h>

/** Zeros around a filtered view: columns left and right, rows above and below its rows. */
enum { FBP_VIEW_LEFT = 1, FBP_VIEW_RIGHT = 2, FBP_VIEW_BELOW = 1, FBP_VIEW_ABOVE = 2 };

/**
 * One view along one voxel row: with t = x - x_ref,
 *
 *     w = w0 + t w1,  u = (u0 + t u1) / w,  v = (v0 + t v1) / w,  w(iso-centre) = 1.
 *
 * u and v are relative to the integer pixel (column, row) near the principal point, where fp32 has
 * most digits left; they are clamped to [u_lo, u_hi] and [v_lo, v_hi], the outermost coordinates
 * whose taps are all zeros of the border, so that the edge is continuous.
 */
struct fbp_bp_line {
    float x_ref;
    float u0, u1, v0, v1, w0, w1;
    float u_lo, u_hi, v_lo, v_hi;
    int column, row; /**< row counted from the view's first stored row */
};

/**
 *     dst[x] += bilinear(view, u, v) / w^2,   x = x0 … x1-1
 *
 * dst   the whole voxel row, indexed by global x
 * view  sample (0, 0) of a filtered view inside its border of zeros
 * stride samples from row to row
 */
typedef void fbp_bp_matrix_fn(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                              const struct fbp_bp_line *line);

/** The same of one row of plane integrals, whose w is 1, interpolated otherwise than linearly: to
 *  the nearest sample, and by the spline of which the row has the coefficients (filter/spline.h).
 *  Of the latter u may be from -2 to 1 beyond the last column, and a view has more zeros beside its
 *  row. */
fbp_bp_matrix_fn fbp_bp_nearest_c, fbp_bp_nearest_avx2, fbp_bp_nearest_avx512;
fbp_bp_matrix_fn fbp_bp_cubic_c, fbp_bp_cubic_avx2, fbp_bp_cubic_avx512;
enum { FBP_CUBIC_LEFT = 3, FBP_CUBIC_RIGHT = 4 };

/** The fastest of these that `flags` allow. */
fbp_bp_matrix_fn *fbp_bp_row_find(unsigned flags, enum fbp_interpolation how);

/** Zeros below and, at least, above the rows of a detector column in transposed views; stored
 * columns are multiples of FBP_COLUMN_MULTIPLE samples. */
enum { FBP_COLUMN_BELOW = 16, FBP_COLUMN_ABOVE = 2, FBP_COLUMN_MULTIPLE = 32 };

/** Slices of one call at most. */
enum { FBP_COLUMN_SLICES = 528 };

/** Views whose columns are added to a voxel column in one pass. */
enum { FBP_COLUMN_VIEWS = 8 };

/**
 * One transposed view over one voxel column, where u and w do not depend on z: with t = z - z_ref,
 *
 *     v = v0 + t dv,   0 < dv,
 *
 * relative to the integer row `row`.
 */
struct fbp_bp_column {
    const float *left; /**< row 0 (stored) of detector column floor(u); the next is `stride` on */
    const float
        *ahead;   /**< `left` of what is to be added next, to have it in the caches; never NULL */
    float wl, wr; /**< (1 - a) / w^2 and a / w^2, a the fraction of u */
    float v0, dv, v_lo, v_hi;
    int row;
    bool aligned;  /**< rows are slices, where v0 and dv say so, too: of the second of two stages */
    size_t z0, z1; /**< global slices that see the detector, and a few more a side */
};

/**
 *     dst[z - z0] += sum_k lerp(line_k, v_k(z)),  line_k = wl left_k + wr right_k,  z = z0 … z1-1
 *
 * One interpolated detector column serves a whole voxel column (iFDK, Chen et al. 2019).
 *
 * dst     z1 - z0 <= FBP_COLUMN_SLICES voxels
 * n       views
 * stride  samples from column to column, a multiple of FBP_COLUMN_MULTIPLE
 */
typedef void fbp_bp_column_fn(float *dst, size_t z0, size_t z1, float z_ref,
                              const struct fbp_bp_column *views, size_t n, size_t stride);

struct fbp_bp_dsp {
    fbp_bp_matrix_fn *matrix;
    fbp_bp_column_fn *column;
};

/** Fill the table with the fastest kernels allowed by `flags` (base/cpu_features.h; 0 = C only). */
void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags);

fbp_bp_matrix_fn fbp_bp_matrix_c, fbp_bp_matrix_avx2, fbp_bp_matrix_avx2_gather,
    fbp_bp_matrix_avx512;
fbp_bp_column_fn fbp_bp_column_c, fbp_bp_column_avx2, fbp_bp_column_avx512;

#endif /* FBP_SRC_BP_H */
