/** @file parabola.h  Filters of plane integrals, of which the ramp's place takes f^2 (internal;
 * double, pure).
 *
 * A volume is the integral over a half sphere of p(t, n) * h with h^(f) = f^2, exactly: Natterer,
 * The Mathematics of Computerized Tomography, II.2, in cycles a length.  f^2 is smooth at 0, so
 * that what is band-limited is a closed form in the distance x from its middle, here in units of
 * the row's samples and for any x, not only whole ones.
 */
#ifndef FBP_SRC_PARABOLA_H
#define FBP_SRC_PARABOLA_H

#include "filter/filter.h"

/**
 * h(x) = integral of R(f) cos(2 pi f x) over |f| <= cutoff / 2.
 *
 * R(f) is f^2 W(2 f / cutoff) of a window, or that of a difference.  At whole x and cutoff 1 a
 * difference is its own few values.
 *
 * filter  not of ramps, which have no closed form
 */
double fbp_parabola_kernel(enum fbp_filter filter, double cutoff, double x);

/** R(f), without the cut-off; of ramps the f^2 that they are to be. */
double fbp_parabola_response(enum fbp_filter filter, double cutoff, double f);

/**
 * A filter for rows of n_columns samples.
 *
 * filter        any
 * cutoff        fraction of the Nyquist frequency, of the samples as they were measured
 * n_columns     samples of a row, those between included
 * half_width    as in fbp_filter_design()
 * oversampling  1; 2: every second sample of a row is 0 and stands between two measured ones
 * @return as fbp_filter_check(); FBP_ERR_UNSUPPORTED for unpadded ramps with samples between.
 */
fbp_status fbp_parabola_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                               size_t n_columns, size_t half_width, size_t oversampling);

#endif /* FBP_SRC_PARABOLA_H */
