/** @file deconvolve.h  The filter of plane integrals that were measured with a line of some width
 * (internal; double, pure).
 *
 * With continuous waves a spectrum is the projection of the object convolved with the spectrum h of
 * a point, usually the first derivative of its line, without a gradient: P(B) = integral of p(s)
 * h(B + mu s) ds = ((1/mu) p(-. / mu) * h)(B) (mu: magnitude of the gradient; for s = -B / mu: of
 * the field).  In frequencies f of B the filter of p, (mu f)^2, becomes f^2 / h^(f) of P: one
 * filter for all gradients.  It amplifies what h^ has little of, so that it needs a cut-off,
 * Wiener's term, or both.
 *
 * Units are samples here, of h and of rows alike.  With tau = dB / mu, the step of a row in space,
 * p is samples' sums over tau: a volume is the sum over views of w / tau^3 times filtered rows,
 * where plane integrals themselves have w / tau^2.  As B grows, s falls: the direction of a view is
 * that of the negative gradient, or t = -s.
 */
#ifndef FBP_SRC_DECONVOLVE_H
#define FBP_SRC_DECONVOLVE_H

#include "filter/filter.h"

struct fbp_reference {
    const double *h; /**< spectrum without a gradient, at the step of rows */
    size_t n;        /**< 0: none, nothing is divided by it */
    double centre;   /**< sample of the line's middle; rows count from theirs */
    double wiener;   /**< > 0: h^ / (|h^|^2 + wiener max |h^|^2) takes the place of 1 / h^ */
};

/** Factors of a filter's response at fractions of the Nyquist frequency: linear between two of
 *  them, as the nearest one before the first and behind the last. */
struct fbp_response {
    size_t n;            /**< 0: the response stays as it is */
    const double *table; /**< [n][2]: fraction, factor; fractions in [0, 1], growing */
};

/** @return FBP_ERR_INVALID for fractions that do not grow, or factors that are not finite. */
fbp_status fbp_response_check(const struct fbp_response *response);

/** What a filter is made of beside its length. */
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
 * response is R / h^ at the frequencies of a discrete transform, where h^ is that of h.  For
 * comparison with programs that filter so; for transforms alone, and for rows of just this length.
 */
fbp_status fbp_periodic_design(struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
                               size_t n_columns);

/** The filter of a periodic design, in `straight` around a circle of twice the rows' length, so
 * that rows go round without being beside themselves: of its n_columns outputs all are those of f.
 */
fbp_status fbp_periodic_unroll(struct fbp_filter_design *straight,
                               const struct fbp_filter_design *f);

#endif /* FBP_SRC_DECONVOLVE_H */
