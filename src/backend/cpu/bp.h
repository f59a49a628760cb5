/** @file bp.h  CPU backprojection kernels and their dispatch table (internal). */
#ifndef FBP_SRC_BP_H
#define FBP_SRC_BP_H

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

struct fbp_bp_dsp {
    fbp_bp_matrix_fn *matrix;
};

/** Fill the table with the fastest kernels allowed by `flags` (base/cpu.h; 0 = C only). */
void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags);

fbp_bp_matrix_fn fbp_bp_matrix_c, fbp_bp_matrix_avx2;

#endif /* FBP_SRC_BP_H */
