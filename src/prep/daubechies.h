/** @file daubechies.h  Daubechies' wavelets (internal; pure). */
#ifndef FBP_SRC_DAUBECHIES_H
#define FBP_SRC_DAUBECHIES_H

#include <stddef.h>

/** The most vanishing moments of a wavelet here. */
enum { FBP_DAUBECHIES_MOST = 20 };

/** The scaling filter with N vanishing moments, 1 <= N <= FBP_DAUBECHIES_MOST: 2 N taps whose sum
 * is sqrt(2), of least phase. */
const double *fbp_daubechies(unsigned N);

#endif /* FBP_SRC_DAUBECHIES_H */
