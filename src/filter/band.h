/** @file band.h  Frequencies of a band with what a filter does there (internal; double, pure). */
#ifndef FBP_SRC_FILTER_BAND_H
#define FBP_SRC_FILTER_BAND_H

#include "filter/deconvolve.h"

#include <complex.h>

struct fbp_band {
    size_t n;          /**< points */
    double *f, *w;     /**< frequency; weight of the integral */
    double complex *h; /**< h^, then what rows are multiplied by */
};

fbp_status fbp_band_alloc(struct fbp_band *band, size_t n);
void fbp_band_clear(struct fbp_band *band);

/** Of frequencies and weights that are there: R / h^ times the weights of both halves of the band.
 *  FBP_ERR_INVALID where nothing is left to be divided by. */
fbp_status fbp_band_divide(struct fbp_band *b, const struct fbp_spectral_filter *s);

/** What fbp_deconvolution_design() refuses. */
fbp_status fbp_spectral_check(const struct fbp_spectral_filter *s, size_t n_columns);

#endif /* FBP_SRC_FILTER_BAND_H */
