/** @file cyclic.h  Between even samples of a periodic function (internal; double, pure). */
#ifndef FBP_SRC_FILTER_CYCLIC_H
#define FBP_SRC_FILTER_CYCLIC_H

#include "fbp/recon.h"

/** Weights of all samples i < n in the value at x, counted in samples; they add up to 1.
 *
 * scratch: [n], of splines: what fbp_cyclic_prepare() wrote there */
void fbp_cyclic_weights(enum fbp_ring_interpolation how, size_t n, double x, const double *scratch,
                        double *weights);
void fbp_cyclic_prepare(enum fbp_ring_interpolation how, size_t n, double *scratch);

#endif /* FBP_SRC_FILTER_CYCLIC_H */
