/** @file even.h  Transforms of even sequences, which cosines say entirely (internal; double). */
#ifndef FBP_SRC_EVEN_H
#define FBP_SRC_EVEN_H

#include "base/status.h"

#include <stddef.h>

/** The least even 2^a 3^b 5^c >= n; 0 if there is none. */
size_t fbp_even_length(size_t n);

/** Fourier transform of an even sequence of period 2 (n - 1), given by n values, in place; its own
 *  inverse but for a factor 2 (n - 1). */
fbp_status fbp_even_transform(double *values, size_t n);

#endif /* FBP_SRC_EVEN_H */
