/** @file filter.h  Design of filters of rows (internal; double, pure). */
#ifndef FBP_SRC_FILTER_H
#define FBP_SRC_FILTER_H

#include "fbp/recon.h"

/**
 * A filter for rows of n_columns samples of unit pitch.
 *
 *     h(0) = 1/4,  h(n) = -1/(pi n)^2 for odd n, 0 for even n       (Kak & Slaney 1988, eq. 3.61)
 *
 * sampled around a circle of n_fft >= 2 n_columns points, transformed, and multiplied by the window
 * W(f / f_cut): `response`.  `kernel` is its inverse transform, so that both forms are one filter.
 */
struct fbp_filter_design {
    size_t n_columns;
    size_t n_fft;      /**< 2^a 3^b 5^c */
    double *response;  /**< n_fft/2 + 1 factors, the 1/n_fft of the inverse included */
    size_t half_width; /**< S, at most n_columns - 1 */
    double *kernel;    /**< kernel[n], n = 0 … S; symmetric, or see kernel_back */
    /** Of a real kernel that is not symmetric (deconvolve.h) the other half of both: imaginary
     *  parts of the response, and kernel[-n], n = 0 … S.  NULL: it is symmetric. */
    double *imaginary, *kernel_back;
    bool periodic;   /**< n_fft is n_columns: rows go round, and there is no kernel */
    unsigned passes; /**< rows pass it so often, and are n_columns long in between; 1, or 2 */
};

/** half_width 0 = n_columns - 1.  @return FBP_ERR_INVALID for a cutoff outside (0, 1],
 *  FBP_ERR_UNSUPPORTED for a filter of plane integrals. */
fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width);

/** What designs have in common.  @return FBP_ERR_INVALID for an unknown filter, a cutoff outside
 *  (0, 1], and rows that are too long, or have no samples. */
fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns);

/** Arrays of a design for its n_columns and half_width (0 = n_columns - 1), of zeros; passes is 1.
 *  asymmetric: also the other halves. */
fbp_status fbp_filter_design_alloc(struct fbp_filter_design *design, bool asymmetric);

/** Ramp of unit pitch, h(n). */
double fbp_ramp_kernel(size_t n);

/** One of fbp_filter_window(), which kinds of lines have? */
bool fbp_filter_is_window(enum fbp_filter filter);

void fbp_filter_design_clear(struct fbp_filter_design *design);

/**
 * A Hann window along detector columns, as an even kernel of n_rows samples of unit pitch.
 *
 *     g(n) = 1/N sum_j  W(j / j_cut) cos(2 pi j n / N),   W(x) = .5 + .5 cos(pi x)
 *
 * around a circle of N >= 2 n_rows points, j_cut = cutoff N/2.  It falls as 1/n^3 and is cut off
 * where what is left out changes the response by less than FBP_COLUMN_ERROR at any frequency; for
 * cutoff 1 it is exactly 1/4, 1/2, 1/4.  Rows beyond the detector count as 0.
 */
struct fbp_column_filter {
    size_t half_width; /**< S, at most n_rows - 1 */
    double *kernel;    /**< g(n), n = 0 … S; symmetric */
};

static const double FBP_COLUMN_ERROR = 1e-4;

/** @return FBP_ERR_INVALID for a cutoff outside (0, 1], or a single row, which has no frequency
 *  but 0. */
fbp_status fbp_column_filter_design(struct fbp_column_filter *out, double cutoff, size_t n_rows);
void fbp_column_filter_clear(struct fbp_column_filter *filter);

/** W(x), x = f / f_cut in [0, 1]; 0 beyond. */
double fbp_filter_window(enum fbp_filter filter, double x);

#endif /* FBP_SRC_FILTER_H */
