/** @file parabola.h  Filters of plane integrals (EPR): f^2 in place of the ramp, deconvolution of
 * the line shape, cubic splines through filtered samples (internal; double, pure functions).
 *
 * A volume is exactly the integral over a half sphere of p(t, n) * h with h^(f) = f^2 (Natterer,
 * The Mathematics of Computerized Tomography, 1986, II.2; f in cycles per length).  f^2 is smooth
 * at 0; therefore the band-limited filter has a closed form in the distance x from its centre, here
 * in units of the row's samples, and for any real x.
 * Used by: backend/cpu/, backend/ref/, filter/, pipeline/.
 */
#ifndef FBP_SRC_PARABOLA_H
#define FBP_SRC_PARABOLA_H

#include "filter/filter.h"

/**
 * Kernel of a filter of plane integrals at distance x [samples]:
 * h(x) = integral of R(f) cos(2 pi f x) over |f| <= cutoff / 2.
 *
 * R(f) is f^2 W(2 f / cutoff) for a window W. "second-difference", "3-point-derivative" and
 * "5-point-derivative" are differences of samples instead, and R is their response; with cutoff 1,
 * their h is nonzero at a few integers x only.
 *
 * filter  any except "two-ramps" and "two-ramps-unpadded", which have no closed form
 */
double fbp_parabola_kernel(enum fbp_filter filter, double cutoff, double x);

/** Compute the response R(f) of the filter whose kernel is fbp_parabola_kernel(), at a frequency f
 * from 0 to cutoff / 2 [cycles per sample]. */
double fbp_parabola_response(enum fbp_filter filter, double cutoff, double f);

/**
 * Design a filter for rows of n_columns samples.
 *
 * filter        any
 * cutoff        fraction of the Nyquist frequency of the measured samples
 * n_columns     samples per row, inserted zeros included
 * half_width    as in fbp_filter_design()
 * oversampling  1; 2: every second sample of a row is 0, between two measured ones
 * @return as fbp_filter_check(); FBP_ERR_UNSUPPORTED for unpadded ramps with oversampling 2
 */
fbp_status fbp_parabola_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                               size_t n_columns, size_t half_width, size_t oversampling);

/**
 * The spectrum h of a point, for deconvolution of plane integrals that are measured with continuous
 * waves: usually the first derivative of a line of some width, without a gradient.
 *
 * A measured spectrum is the projection p of the object convolved with h: P(B) = integral of p(s)
 * h(B + mu s) ds = ((1/mu) p(-. / mu) * h)(B), with mu the magnitude of the gradient; for s = -B /
 * mu, of the field. In frequencies f of B, the filter of p, (mu f)^2, becomes the filter f^2 /
 * h^(f) of P, which is the same for all gradients. It amplifies frequencies at which h^ is small,
 * and needs a cutoff, a Wiener term, or both.
 *
 * The unit is samples, for h and for rows. With tau = dB / mu, the step of a row in space, p is a
 * sum of samples over tau: a volume is the sum over views of w / tau^3 times filtered rows; for
 * plane integrals themselves the factor is w / tau^2. When B increases, s decreases: the direction
 * of a view is that of the negative gradient, or t = -s.
 */
struct fbp_reference {
    const double *h; /**< [n] spectrum of a point object, measured without a gradient, with the
                        field step of the rows */
    size_t n;        /**< 0: no spectrum, no deconvolution */
    /** index of the line's centre in h [samples]; it may differ from the centre of rows */
    double centre;
    double wiener; /**< Wiener term; > 0: 1 / h^ is replaced by conj h^ / (|h^|^2 + wiener max
                      |h^|^2); 0: not replaced */
};

/** Table of factors by which a filter's response is multiplied, as a function of the frequency:
 * linear between two entries, constant before the first and after the last. */
struct fbp_response {
    size_t n; /**< 0: the response is not changed */
    /** [n][2]: fraction of the Nyquist frequency, in [0, 1] and ascending; factor */
    const double *table;
};

/**
 * Check a table of factors for a filter's response.
 * @return FBP_ERR_INVALID for fractions outside [0, 1] or that do not ascend, or factors that are
 *         not finite
 */
fbp_status fbp_response_check(const struct fbp_response *response);

/** Parameters of a filter of plane integrals that do not depend on the length of rows. */
struct fbp_spectral_filter {
    enum fbp_filter filter;
    double cutoff;
    struct fbp_reference reference;
    struct fbp_response response;
};

/**
 * Design a deconvolution filter: kernel[n] = integral of R(f) exp(2 pi i n f) / h^(f) over |f| <=
 * cutoff / 2, with R of the filter for plane integrals (fbp_parabola_response()), times the factors
 * of `response`. The kernel is real; with a spectrum it is in general neither even nor odd, and the
 * design then has second halves.
 *
 * n_columns, half_width, oversampling  as in fbp_parabola_design()
 * @return as fbp_filter_check() and fbp_response_check(); FBP_ERR_UNSUPPORTED for ramps;
 *         FBP_ERR_INVALID for a spectrum that is not finite, or 0, or 0 at all frequencies below
 *         the cutoff
 */
fbp_status fbp_deconvolution_design(struct fbp_filter_design *out,
                                    const struct fbp_spectral_filter *s, size_t n_columns,
                                    size_t half_width, size_t oversampling);

/**
 * Design the deconvolution filter for periodic rows, in which the first of n_columns samples
 * follows the last: the response is R / h^ at the frequencies k / n_columns, with the response R of
 * the filter without deconvolution and the spectrum h^ of a point. For comparison with
 * programs that filter in this way. Applied by FFT only, to rows of n_columns samples only.
 */
fbp_status fbp_periodic_design(struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
                               size_t n_columns);

/** Convert design f for periodic rows to `straight`, a design for rows followed by zeros; its
 * n_columns outputs are equal to those of f. */
fbp_status fbp_periodic_unroll(struct fbp_filter_design *straight,
                               const struct fbp_filter_design *f);

/**
 * Cubic splines. The spline through samples g is the sum of c[i] B(u - i), with B the cubic
 * B-spline: 4/6 at 0, 1/6 at +-1, 0 from +-2 on. Its coefficients c are g filtered with 6 / (4 + 2
 * cos 2 pi f), whose kernel is sqrt(3) (sqrt(3) - 2)^|n| (Unser, Aldroubi & Eden 1993, IEEE Trans.
 * Signal Process. 41, 821). That filter is merged into the filter of the rows, on the infinite
 * line; therefore no values beyond the ends of a row must be assumed. There is one coefficient per
 * column, and a row with one more column at either end defines the whole spline between its
 * samples.
 */
/** Number of samples after which the kernel of spline coefficients is below 1e-18. */
enum { FBP_SPLINE_REACH = 32 };

/**
 * Change a filter to yield spline coefficients instead of samples.
 *
 * design      filter for rows of n_columns + FBP_SPLINE_REACH, with a half-width that is at least
 *             as large; becomes a filter for rows of n_columns
 * half_width  as in fbp_filter_design()
 * @return FBP_ERR_UNSUPPORTED for a filter of two passes
 */
fbp_status fbp_filter_spline(struct fbp_filter_design *design, size_t n_columns, size_t half_width);

/** Number, slightly above 1/2, that is added to a position before floor() selects the nearest
 * sample: positions exactly between two samples, frequent in symmetric scans, are rounded up on all
 * devices, despite different rounding errors. */
static const double FBP_NEAREST = .5 + 1. / 4096;

/** Get the weights B(u - i) of the cubic B-spline B for samples i = floor(u) - 1 … floor(u) + 2.
 * fraction: u - floor(u). */
static inline void fbp_spline_weights(double fraction, double w[4])
{
    const double t = fraction, s = 1 - t;

    w[0] = s * s * s / 6;
    w[1] = (4 + 3 * t * t * (t - 2)) / 6;
    w[2] = (4 + 3 * s * s * (s - 2)) / 6;
    w[3] = t * t * t / 6;
}

#endif /* FBP_SRC_PARABOLA_H */
