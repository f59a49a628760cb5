/** @file parabola.h  Filters of plane integrals: f^2 in place of the ramp, deconvolution of the
 * line shape, cubic splines through filtered samples (internal; double, pure).
 *
 * A volume is the integral over a half sphere of p(t, n) * h with h^(f) = f^2, exactly: Natterer,
 * The Mathematics of Computerized Tomography (1986), II.2, in cycles per length.  f^2 is smooth at
 * 0, therefore the band-limited filter is a closed form in the distance x from its middle, here in
 * units of the row's samples and for any x, not only whole ones.
 */
#ifndef FBP_SRC_PARABOLA_H
#define FBP_SRC_PARABOLA_H

#include "filter/filter.h"

/**
 * h(x) = integral of R(f) cos(2 pi f x) over |f| <= cutoff / 2.
 *
 * R(f) is f^2 W(2 f / cutoff) of a window, or that of a difference.  At whole x and cutoff 1 a
 * difference has a few values.
 *
 * filter  not of ramps, which have no closed form
 */
double fbp_parabola_kernel(enum fbp_filter filter, double cutoff, double x);

/** R(f), without the cut-off; f^2 for ramps. */
double fbp_parabola_response(enum fbp_filter filter, double cutoff, double f);

/**
 * A filter for rows of n_columns samples.
 *
 * filter        any
 * cutoff        fraction of the Nyquist frequency of the samples as they were measured
 * n_columns     samples of a row, with those between
 * half_width    as in fbp_filter_design()
 * oversampling  1; 2: every second sample of a row is 0, between two measured ones
 * @return as fbp_filter_check(); FBP_ERR_UNSUPPORTED for unpadded ramps with samples between.
 */
fbp_status fbp_parabola_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                               size_t n_columns, size_t half_width, size_t oversampling);

/**
 * The spectrum of a point, h, by which plane integrals measured with continuous waves are divided:
 * it is usually the first derivative of a line of some width, without a gradient.
 *
 * A spectrum is the projection p of the object convolved with h: P(B) = integral of p(s) h(B + mu
 * s) ds = ((1/mu) p(-. / mu) * h)(B) (mu: magnitude of the gradient; for s = -B / mu: of the
 * field).  In frequencies f of B the filter of p, (mu f)^2, becomes f^2 / h^(f) of P: one filter
 * for all gradients. It amplifies frequencies at which h^ is small, and needs a cut-off, Wiener's
 * term, or both.
 *
 * Units are samples, of h and of rows alike.  With tau = dB / mu, the step of a row in space, p is
 * samples' sums over tau: a volume is the sum over views of w / tau^3 times filtered rows; plane
 * integrals themselves have w / tau^2.  As B grows, s falls: the direction of a view is that of the
 * negative gradient, or t = -s.
 */
struct fbp_reference {
    const double *h; /**< [n] spectrum without a gradient, at the step of rows */
    size_t n;        /**< 0: none, no division */
    double centre;   /**< sample of the line's middle; rows count from theirs */
    double wiener;   /**< > 0: h^ / (|h^|^2 + wiener max |h^|^2) replaces 1 / h^ */
};

/** Factors of a filter's response at fractions of the Nyquist frequency: linear between two of
 * them, constant before the first and after the last. */
struct fbp_response {
    size_t n;            /**< 0: the response stays unchanged */
    const double *table; /**< [n][2]: fraction, factor; fractions in [0, 1], growing */
};

/** @return FBP_ERR_INVALID for fractions that do not grow, or factors that are not finite. */
fbp_status fbp_response_check(const struct fbp_response *response);

/** A filter's parameters, without its length. */
struct fbp_spectral_filter {
    enum fbp_filter filter;
    double cutoff;
    struct fbp_reference reference;
    struct fbp_response response;
};

/**
 * kernel[n] = integral of R(f) exp(2 pi i n f) / h^(f) over |f| <= cutoff / 2, R of the filter as
 * for plane integrals (fbp_parabola_response()), times the factors of `response`.  It is real, and
 * with a spectrum in general neither even nor odd: then the design has its other halves.
 *
 * n_columns, half_width, oversampling  as in fbp_parabola_design()
 * @return as fbp_filter_check(); FBP_ERR_UNSUPPORTED for ramps; FBP_ERR_INVALID for a spectrum that
 * is not finite, that is 0, or that has nothing left below the cut-off, and as
 * fbp_response_check().
 */
fbp_status fbp_deconvolution_design(struct fbp_filter_design *out,
                                    const struct fbp_spectral_filter *s, size_t n_columns,
                                    size_t half_width, size_t oversampling);

/**
 * The same around a circle of n_columns points, the last sample of a row beside its first: the
 * response is R / h^ at the frequencies of a discrete transform of h.  For comparison with programs
 * that filter in this way; for transforms alone, and for rows of this length.
 */
fbp_status fbp_periodic_design(struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
                               size_t n_columns);

/** The filter of a periodic design f, in `straight` around a circle of twice the rows' length: all
 * its n_columns outputs are those of f. */
fbp_status fbp_periodic_unroll(struct fbp_filter_design *straight,
                               const struct fbp_filter_design *f);

/**
 * Cubic splines.  The spline through samples g is the sum of c[i] B(u - i), B the cubic B-spline:
 * 4/6 at 0, 1/6 at +-1, 0 from +-2 on.  Its coefficients c are g filtered with 6 / (4 + 2 cos 2 pi
 * f), whose kernel is sqrt(3) (sqrt(3) - 2)^|n| (Unser, Aldroubi & Eden 1993, IEEE Trans. Signal
 * Process. 41, 821).  That filter is merged into the one of the rows, on the infinite line, and no
 * values have to be assumed beyond the ends of a row: there is a coefficient per column, and a row
 * with one more column at either end has the whole spline between its samples.
 */
enum { FBP_SPLINE_REACH = 32 }; /**< the kernel of the coefficients is below 1e-18 from there */

/** Change a filter to yield coefficients instead of samples.
 *
 * design      for rows of n_columns + FBP_SPLINE_REACH, of any half-width that is at least as much;
 *             becomes one for rows of n_columns
 * half_width  as in fbp_filter_design()
 * @return FBP_ERR_UNSUPPORTED for a filter of two passes. */
fbp_status fbp_filter_spline(struct fbp_filter_design *design, size_t n_columns, size_t half_width);

/** Added before floor() finds the nearest sample: half way between two samples, where symmetric
 * scans have many voxels, all devices take the upper one, whatever their roundings. */
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

#endif /* FBP_SRC_PARABOLA_H */
