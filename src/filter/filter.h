/** @file filter.h  Design of the ramp filter (internal; double, pure). */
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
    double *response;  /**< n_fft/2 + 1 real factors, the 1/n_fft of the inverse included */
    size_t half_width; /**< S, at most n_columns - 1 */
    double *kernel;    /**< kernel[n], n = 0 … S; symmetric */
};

/** half_width 0 = n_columns - 1.  @return FBP_ERR_INVALID for a cutoff outside (0, 1]. */
fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width);
void fbp_filter_design_clear(struct fbp_filter_design *design);

/** W(x), x = f / f_cut in [0, 1]; 0 beyond. */
double fbp_filter_window(enum fbp_filter filter, double x);

#endif /* FBP_SRC_FILTER_H */
