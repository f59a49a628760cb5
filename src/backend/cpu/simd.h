/** @file simd.h The inner loops of the CPU device, and tables of pointers to them, one table per
 * instruction set (internal): struct fbp_line_dsp for detector rows, which filter.c and convolve.c
 * call, and struct fbp_bp_dsp for backprojection, which the kernels (matrix.c, column.c, rot.c,
 * planes_volume_tmpl.h) call.
 *
 * The loops are in *_loops.h.  Each of simd_c.c, simd_avx2.c, simd_avx512.c and simd_neon.c
 * defines SUFFIX(name) and the operations of its vectors, and then includes this header, which
 * defines the loops and tables of that instruction set.
 * Used by: backend/cpu/.
 */
#ifndef FBP_SRC_CPU_SIMD_H
#define FBP_SRC_CPU_SIMD_H

#include "fbp/recon.h"

#if defined(SUFFIX)
#    include "filter/parabola.h"

#    include <math.h>
#    include <stdint.h>
#    include <string.h>

#    define ALWAYS_INLINE inline __attribute__((always_inline))
/* Loops over arrays of vectors must be unrolled: then the arrays are kept in registers. */
#    define UNROLL _Pragma("GCC unroll 16")

#    if !defined(VL) /* for the loops in plain C */
static float clampf(float a, float lo, float hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}

/* Returns the spline with coefficients c[0 … 3] at fraction t between c[1] and c[2]. */
static float spline(const float *c, float t)
{
    const float s = 1 - t;

    return (s * s * s * c[0] + (4 + 3 * t * t * (t - 2)) * c[1] + (4 + 3 * s * s * (s - 2)) * c[2] +
            t * t * t * c[3]) /
           6;
}
#    endif
#endif

#include "backend/cpu/column_loops.h"
#include "backend/cpu/line_loops.h"
#include "backend/cpu/matrix_loops.h"
#include "backend/cpu/planes_loops.h"
#include "backend/cpu/rot_loops.h"

#include "backend/cpu/rot_half_loops.h" /* after rot_loops.h, whose constants it needs */

enum { FBP_N_INTERPOLATIONS = FBP_INTERPOLATION_LAST + 1 };

/** Table of the loops of backprojection. */
struct fbp_bp_dsp {
    fbp_bp_matrix_fn *matrix[FBP_N_INTERPOLATIONS]; /**< by enum fbp_interpolation */
    fbp_bp_column_fn *column, *tilted;
    fbp_bp_rows_fn *rows;
    fbp_bp_resample_fn *resample;
    fbp_bp_combine_fn *combine;
    fbp_bp_rot_fn *rot90, *rot180;
    fbp_bp_rot_half_fn *rot90_half; /**< NULL: not available */
    fbp_bp_planes_fn *planes[FBP_N_INTERPOLATIONS];
    fbp_bp_planes_double_fn *planes_double[FBP_N_INTERPOLATIONS];
    fbp_bp_column_double_fn *column_double;
};

/** Tables of loops for plain C; for AVX2 and AVX-512, on x86-64 only; for NEON, on AArch64 only. */
extern const struct fbp_line_dsp fbp_line_c, fbp_line_avx2, fbp_line_avx512, fbp_line_neon;
extern const struct fbp_bp_dsp fbp_bp_c, fbp_bp_avx2, fbp_bp_avx512, fbp_bp_neon;

#if defined(SUFFIX)
const struct fbp_line_dsp SUFFIX(fbp_line) = {peak, weigh, transpose, convolve, LANES};
const struct fbp_bp_dsp SUFFIX(fbp_bp) = {
    .matrix = {matrix_linear, matrix_nearest, matrix_cubic},
    .column = column,
    .tilted = tilted,
    .rows = set_rows,
    .resample = resample,
    .combine = combine,
    .rot90 = rot90,
    .rot180 = rot180,
#    if !defined(VL) || defined(__x86_64__) /* there is no loop for NEON */
    .rot90_half = rot90_half,
#    endif
    .planes = {planes, planes_nearest, planes_cubic},
    .planes_double = {planes_double, planes_double_nearest, planes_double_cubic},
    .column_double = column_double,
};
#endif

/** Fill a table with the fastest loops for the instruction sets in `flags` (base/system.h); 0:
 * plain C. */
void fbp_line_dsp_init(struct fbp_line_dsp *dsp, unsigned flags);
void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags);

/** Bilinear loops of kernel "matrix" for processors with fast gathers; they give the same bits as
 * fbp_bp_avx2.matrix[0] and fbp_bp_avx512.matrix[0]. */
fbp_bp_matrix_fn fbp_bp_matrix_avx2_gather, fbp_bp_matrix_avx512_gather;

/** Loop of kernel "rot90" in precision half for processors with AVX-512 VNNI; it gives the same
 * bits as fbp_bp_avx512.rot90_half. */
fbp_bp_rot_half_fn fbp_bp_rot90_half_vnni;

#endif /* FBP_SRC_CPU_SIMD_H */
