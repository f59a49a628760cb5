/* Rows through a filter by sums, for tests of filter designs. */
#ifndef FBP_TESTS_FILTER_UTIL_H
#define FBP_TESTS_FILTER_UTIL_H

#include "unit/geometry_util.h"

#include "filter/filter.h"

#include <complex.h>

/* The row through the circle of n_fft points. */
static inline void by_response(const struct fbp_filter_design *d, const double *row, double *out)
{
    const size_t n = d->n_fft;

    memset(out, 0, d->n_columns * sizeof *out);
    for (size_t k = 0; k <= n / 2; k++) {
        double complex sum = 0;
        for (size_t i = 0; i < d->n_columns; i++)
            sum += row[i] * cexp(-2 * FBP_PI * I * (double)(k * i % n) / (double)n);
        sum *= (d->imaginary ? d->response[k] + I * d->imaginary[k] : d->response[k]) *
               (k == 0 || 2 * k == n ? 1 : 2);
        for (size_t i = 0; i < d->n_columns; i++)
            out[i] += creal(sum * cexp(2 * FBP_PI * I * (double)(k * i % n) / (double)n));
    }
}

/* The row convolved with the taps. */
static inline void by_kernel(const struct fbp_filter_design *d, const double *row, double *out)
{
    const double *back = d->kernel_back ? d->kernel_back : d->kernel;

    for (size_t c = 0; c < d->n_columns; c++) {
        out[c] = 0;
        for (size_t i = 0; i < d->n_columns; i++)
            if ((i > c ? i - c : c - i) <= d->half_width)
                out[c] += (i > c ? back[i - c] : d->kernel[c - i]) * row[i];
    }
}

#endif /* FBP_TESTS_FILTER_UTIL_H */
