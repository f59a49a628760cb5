/** @file spline.h  Cubic splines through filtered samples, and the nearest of them (internal;
 * double, pure).
 *
 * The spline through samples g is the sum of c[i] B(u - i), B the cubic B-spline: 4/6 at 0, 1/6 at
 * +-1, 0 from +-2 on.  Its coefficients c are g filtered with 6 / (4 + 2 cos 2 pi f), whose kernel
 * is sqrt(3) (sqrt(3) - 2)^|n| (Unser, Aldroubi & Eden 1993, IEEE Trans. Signal Process. 41, 821).
 * That filter is merged into the one of the rows, on the infinite line, so that what is added at
 * the ends of a row is nobody's guess: there are coefficients where there are columns, and a row
 * that has one more at either end has the whole spline between its samples.
 */
#ifndef FBP_SRC_FILTER_SPLINE_H
#define FBP_SRC_FILTER_SPLINE_H

#include "filter/filter.h"

/** Where the kernel of the coefficients is less than 1e-18. */
enum { FBP_SPLINE_REACH = 32 };

/** Make coefficients come out of a filter instead of samples.
 *
 * design      for rows of n_columns + FBP_SPLINE_REACH, of any half-width that is at least as much;
 *             becomes one for rows of n_columns
 * half_width  as in fbp_filter_design()
 * @return FBP_ERR_UNSUPPORTED for a filter that rows pass twice. */
fbp_status fbp_filter_spline(struct fbp_filter_design *design, size_t n_columns, size_t half_width);

/** What is added before the nearest sample is found by floor(): half way between two samples, where
 * symmetric scans have many voxels, all devices take the upper one, whatever their roundings. */
static const double FBP_NEAREST = .5 + 1. / 4096;

/** B(u - i), i = floor(u) - 1 … floor(u) + 2, for the fraction of u. */
static inline void fbp_spline_weights(double fraction, double w[4])
{
    const double t = fraction, s = 1 - t;

    w[0] = s * s * s / 6;
    w[1] = (4 + 3 * t * t * (t - 2)) / 6;
    w[2] = (4 + 3 * s * s * (s - 2)) / 6;
    w[3] = t * t * t / 6;
}

#endif /* FBP_SRC_FILTER_SPLINE_H */
