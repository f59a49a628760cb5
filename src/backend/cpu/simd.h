/** @file simd.h  The inner loops of the CPU device, compiled once per instruction set (internal).
 *
 * simd_c.c contains them in plain C, which is the specification; simd_avx2.c and simd_avx512.c
 * compile the templates *_tmpl.h.  Two tables contain the loops that were selected for this
 * processor: struct fbp_line_dsp (detector rows; called by filter.c and convolve.c) and struct
 * fbp_bp_dsp (backprojection; called by matrix.c, column.c, rot.c and planes_volume_tmpl.h).
 */
#ifndef FBP_SRC_CPU_SIMD_H
#define FBP_SRC_CPU_SIMD_H

#include "fbp/recon.h"

#include <stdbool.h>
#include <stddef.h>

/* Loops over detector rows.  All except `convolve` give the same bits with every instruction set.
 */

enum {
    FBP_CONVOLVE_COLUMNS = 12, /**< output columns that `convolve` computes together */
    FBP_MAX_LANES = 16         /**< greatest number of lanes of a vector of floats */
};

struct fbp_line_dsp {
    /** Returns the greatest |x[i]|, i < n; 0 for n = 0. */
    float (*peak)(const float *x, size_t n);
    /** out[i] = x[i] a[i] b[i], i < n. */
    void (*weigh)(const float *x, const float *a, const float *b, size_t n, float *out);
    /** out[c stride + r] = in[r n_columns + c], r < n_rows, c < n_columns. */
    void (*transpose)(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride);
    /**
     * Convolves `lanes` interleaved lines x[n][lanes] with a kernel of 2 S + 1 taps; lines are zero
     * beyond their ends:
     *
     *     out[c][l] = sum_i  centre[c - i]  x[i][l],    |c - i| <= S,  0 <= i < n
     *
     * (Okitsu et al. 2008, eq. 1).
     *
     * centre  tap 0; the FBP_CONVOLVE_COLUMNS taps beyond -S and +S must be readable and 0
     * S       at most n - 1
     */
    void (*convolve)(const float *x, const float *centre, size_t S, size_t n, float *out);
    size_t lanes; /**< lines that `convolve` processes together */
};

/** Fill the table with the fastest loops allowed by `flags` (base/system.h; 0: C only). */
void fbp_line_dsp_init(struct fbp_line_dsp *dsp, unsigned flags);

/** Tables for plain C, AVX2 and AVX-512; the last two exist on x86-64 only. */
extern const struct fbp_line_dsp fbp_line_c, fbp_line_avx2, fbp_line_avx512;

/* Kernel "matrix": any 3x4 matrix; computes rows of voxels along x. */

/** Zeros around a filtered view: columns left and right, rows below and above; and the columns left
 *  and right for spline interpolation. */
enum { FBP_VIEW_LEFT = 1, FBP_VIEW_RIGHT = 2, FBP_VIEW_BELOW = 1, FBP_VIEW_ABOVE = 2 };
enum { FBP_CUBIC_LEFT = 3, FBP_CUBIC_RIGHT = 4 };

/**
 * Parameters of one view along one voxel row: with t = x - x_ref,
 *
 *     w = w0 + t w1,  u = (u0 + t u1) / w,  v = (v0 + t v1) / w,  w(iso-centre) = 1.
 *
 * u and v are relative to the integer pixel (column, row) near the principal point, where fp32 has
 * most digits left.  They are clamped to [u_lo, u_hi] and [v_lo, v_hi], the outermost coordinates
 * whose taps are all zeros of the border: values are continuous at the detector's edge.
 */
struct fbp_bp_line {
    float x_ref;
    float u0, u1, v0, v1, w0, w1;
    float u_lo, u_hi, v_lo, v_hi;
    int column, row; /**< reference pixel; row counts from the first stored row of the view */
};

/**
 *     dst[x] += value(view, u, v) / w^2,   x = x0 … x1-1
 *
 * value: bilinear interpolation; or, for a row of plane integrals (w = 1), the sample nearest to u,
 * or the spline whose coefficients are the samples (filter/parabola.h).
 *
 * dst     the whole voxel row, indexed by x
 * view    sample (0, 0) of a filtered view inside its border of zeros
 * stride  samples from row to row
 */
typedef void fbp_bp_matrix_fn(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                              const struct fbp_bp_line *line);

/* Kernel "column": computes columns of voxels along z. */

enum {
    FBP_COLUMN_BELOW = 16,    /**< zeros below the rows of a detector column */
    FBP_COLUMN_ABOVE = 2,     /**< least number of zeros above them */
    FBP_COLUMN_MULTIPLE = 32, /**< the length of a stored column is a multiple of it */
    FBP_COLUMN_SLICES = 528,  /**< greatest number of slices per call */
    FBP_COLUMN_VIEWS = 8      /**< greatest number of views per call */
};

/**
 * Parameters of one transposed view along one voxel column, in which u and w do not depend on z:
 * with t = z - z_ref,
 *
 *     v = v0 + t dv,   0 < dv,
 *
 * relative to the integer row `row`.
 */
struct fbp_bp_column {
    const float *left; /**< stored row 0 of detector column floor(u); `stride` to the next column */
    const float *ahead; /**< `left` of the next view or voxel column, for prefetching; never NULL */
    float wl, wr;       /**< (1 - a) / w^2 and a / w^2, a: fraction of u */
    float v0, dv, v_lo, v_hi;
    int row;      /**< reference row, counted from the first stored row */
    bool aligned; /**< second of two stages: rows are slices of the volume, if dv and v0 agree */
    size_t z0,
        z1; /**< slices of the grid that project onto the detector, and a few more per side */
};

/**
 *     dst[z - z0] += sum_k lerp(line_k, v_k(z)),  line_k = wl left_k + wr right_k,  z = z0 … z1-1
 *
 * The interpolated detector column line_k is used for a whole voxel column (iFDK; Chen et al.
 * 2019).
 *
 * dst     z1 - z0 <= FBP_COLUMN_SLICES voxels
 * n       number of views
 * stride  samples from column to column, a multiple of FBP_COLUMN_MULTIPLE
 */
typedef void fbp_bp_column_fn(float *dst, size_t z0, size_t z1, float z_ref,
                              const struct fbp_bp_column *views, size_t n, size_t stride);

/** Readable values beyond the end of a detector column of doubles. */
enum { FBP_COLUMN_DOUBLE_BEYOND = 8 };

/** Two neighbouring columns of a sinogram image in double, and their interpolation weights. */
struct fbp_bp_column_double {
    const double *left; /**< sample of the first slice in the left column; the right column is
                            `stride` samples after it */
    double wl, wr;
};

/**
 *     dst[i] += sum_k wl_k left_k[i] + wr_k right_k[i],   i < n
 *
 * in the order of views.  The bits of a value do not depend on the other values.
 */
typedef void fbp_bp_column_double_fn(double *dst, size_t n,
                                     const struct fbp_bp_column_double *views, size_t n_views,
                                     size_t stride);

/* Kernels "rot90" and "rot180": scans with a rotational symmetry.
 *
 * If view k + K/4 is view k rotated by 90 degrees about z, its value at a voxel is that of view k
 * at the voxel rotated back.  The four voxel columns at p, Rp, RRp, RRRp and the four views share
 * four positions on the detector.  The same holds for two columns and two views 180 degrees apart.
 * Views are stored packed: lane j of a sample is view k + j K/n.  One bilinear interpolation then
 * computes all lanes without a gather (Xu and Mueller 2005).  Lane j of position i belongs to voxel
 * i + j: the lanes are rotated by i before they are added. */

/** Greatest number n of symmetric views: that of "rot90". */
enum { FBP_ROT_VIEWS = 4 };

/** Zeros around a packed view: columns left and right, rows below and above. */
enum { FBP_ROT_LEFT = 1, FBP_ROT_RIGHT = 2, FBP_ROT_BELOW = 1, FBP_ROT_ABOVE = 2 };

/**
 * Parameters of one group of symmetric views along one set of symmetric voxel columns.  At detector
 * position i, with t counted in slices,
 *
 *     v = v0[i] + t dv[i],   v_lo <= v <= v_hi by clamping,
 *
 * relative to the integer row `row`.
 */
struct fbp_bp_rot {
    const float *left[FBP_ROT_VIEWS]; /**< stored row 0 of column floor(u); `stride` to the next */
    float wl[FBP_ROT_VIEWS], wr[FBP_ROT_VIEWS]; /**< (1 - a) / w^2, a / w^2, a: fraction of u */
    float v0[FBP_ROT_VIEWS], dv[FBP_ROT_VIEWS];
    float v_lo, v_hi;
    int row; /**< reference row, counted from the first stored row */
};

/**
 *     dst[slice][lane] += sum over positions i of rotate_i(lerp(wl left + wr right, v_i(t)))
 *
 * n_slices  number of slices, the first of which has t = t0
 * stride    floats from column to column, = rows x lanes; the lanes of a row are adjacent
 */
typedef void fbp_bp_rot_fn(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot *r,
                           size_t stride);

/* Kernel "planes": plane integrals; computes cubes of voxels. */

enum {
    FBP_PLANES_EDGE = 4,   /**< edge of a cube [voxels] */
    FBP_PLANES_BLOCK = 64, /**< voxels of a cube, [z][y][x] */
    FBP_PLANES_VIEWS =
        48, /**< greatest number of views per call; a multiple of every vector length */
    FBP_PLANES_MARGIN = 20 /**< least number of zeros on either side of a row */
};

/** Greatest distance, in samples of one view, of two voxels of a cube: for a window of 16 samples,
 *  which is the limit of the kernel, and for a window of 8 samples.  A cube whose first sample lies
 *  less than one sample after the window's start remains inside the window, with room for rounding.
 */
#define FBP_PLANES_SPAN   14.99
#define FBP_PLANES_NARROW 6.99

/**
 * Parameters of views along a row of cubes in x.  Voxel (i, j, l) of the cube whose first voxel is
 * x projects to sample
 *
 *     u = start + x along + above + i step[0] + j step[1] + l step[2],
 *
 * where start + x along is the least u of the cube.
 */
struct fbp_bp_planes {
    const float *samples; /**< sample 0 of the first view, inside its margins of zeros */
    size_t stride;        /**< samples from view to view */
    size_t n;             /**< number of views */
    size_t frames;        /**< number of channels, with one cube each, adjacent in memory; 0: 1 */
    size_t frame;         /**< samples from channel to channel */
    double last;          /**< windows that begin at this sample or later contain only zeros */
    bool narrow;          /**< no cube spans more than FBP_PLANES_NARROW samples in these views */
    double along[FBP_PLANES_VIEWS], start[FBP_PLANES_VIEWS], above[FBP_PLANES_VIEWS];
    float step[3][FBP_PLANES_VIEWS];
};

/** The same in double: one channel; `narrow` is not used. */
struct fbp_bp_planes_double {
    const double *samples;
    size_t stride, n, frames, frame;
    double last;
    bool narrow;
    double along[FBP_PLANES_VIEWS], start[FBP_PLANES_VIEWS], above[FBP_PLANES_VIEWS];
    double step[3][FBP_PLANES_VIEWS];
};

/**
 *     block[l][j][i] += sum_k value(view_k, u_k(i, j, l))
 *
 * value: linear between two samples; or sample floor(u), which is the nearest sample of
 * u - FBP_NEAREST; or the spline with four samples as coefficients (filter/parabola.h).
 *
 * block  [z][y][x]; in double, its address is a multiple of 64 bytes
 * x      first voxel of the cube, a multiple of FBP_PLANES_EDGE.  The bits of a term depend on it,
 *        but not on other views, cubes or channels.
 */
typedef void fbp_bp_planes_fn(float *block, double x, const struct fbp_bp_planes *p);
typedef void fbp_bp_planes_double_fn(double *block, double x, const struct fbp_bp_planes_double *p);

/** Returns the value of a row of doubles at u >= 0, by the same interpolations. */
double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how);

enum { FBP_N_INTERPOLATIONS = FBP_INTERPOLATION_LAST + 1 };

/** Table of the loops of backprojection. */
struct fbp_bp_dsp {
    fbp_bp_matrix_fn *matrix[FBP_N_INTERPOLATIONS]; /**< by enum fbp_interpolation */
    fbp_bp_column_fn *column;
    fbp_bp_rot_fn *rot90, *rot180;
    fbp_bp_planes_fn *planes[FBP_N_INTERPOLATIONS];
    fbp_bp_planes_double_fn *planes_double[FBP_N_INTERPOLATIONS];
    fbp_bp_column_double_fn *column_double;
};

/** The table of the functions of these names in the file that defines it, per instruction set. */
#define FBP_BP_TABLE                                                                               \
    {                                                                                              \
        .matrix = {matrix_linear, matrix_nearest, matrix_cubic}, .column = column, .rot90 = rot90, \
        .rot180 = rot180, .planes = {planes, planes_nearest, planes_cubic},                        \
        .planes_double = {planes_double, planes_double_nearest, planes_double_cubic},              \
        .column_double = column_double                                                             \
    }

/** Fill the table with the fastest loops allowed by `flags` (base/system.h; 0: C only). */
void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags);

extern const struct fbp_bp_dsp fbp_bp_c, fbp_bp_avx2, fbp_bp_avx512;

/** Replaces fbp_bp_avx2.matrix[0] on processors with fast gathers; the same bits. */
fbp_bp_matrix_fn fbp_bp_matrix_avx2_gather;

#endif /* FBP_SRC_CPU_SIMD_H */
