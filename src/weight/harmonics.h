/** @file harmonics.h  Weights that integrate spherical harmonics exactly (internal; double, pure).
 */
#ifndef FBP_SRC_HARMONICS_H
#define FBP_SRC_HARMONICS_H

#include "base/status.h"

#include <stddef.h>

/**
 * The least change, in the sense of squares, of weights[count] that integrates all even harmonics
 * up to a degree exactly over the half sphere, with no weight below 0.  *degree: the greatest, of
 * at most 32, that three quarters of the directions determine.
 * @return FBP_ERR_NOMEM.
 */
fbp_status fbp_harmonics_correct(const double (*direction)[3], size_t count, double *weights,
                                 size_t *degree);

#endif /* FBP_SRC_HARMONICS_H */
