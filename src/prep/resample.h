/** @file resample.h  Samples at uneven places to even ones (internal; double, pure). */
#ifndef FBP_SRC_RESAMPLE_H
#define FBP_SRC_RESAMPLE_H

#include <complex.h>
#include <stddef.h>

/** Value at an even place: of the cubic polynomial through samples first … first + 3. */
struct fbp_taps {
    size_t first;
    double weight[4];
};

/** Taps of n >= 4 even places from places[0] to places[n - 1], which rise or fall throughout. */
void fbp_resample_taps(const double *places, size_t n, struct fbp_taps *out);

/** out[i] = sum of weights times samples; not in place. */
void fbp_resample(const struct fbp_taps *taps, size_t n, const double complex *in,
                  double complex *out);

#endif /* FBP_SRC_RESAMPLE_H */
