/** @file from_kernel.h  A design from the values of its kernel (internal; double). */
#ifndef FBP_SRC_FILTER_FROM_KERNEL_H
#define FBP_SRC_FILTER_FROM_KERNEL_H

#include "filter/filter.h"

/**
 * Fill a design that has its arrays (fbp_filter_design_alloc()): its kernel, cut off after the
 * half-width, and the response of the whole kernel around the circle.
 *
 * ahead   kernel[n], n = 0 … n_columns - 1
 * behind  kernel[-n]; NULL: it is symmetric
 */
fbp_status fbp_filter_from_kernel(struct fbp_filter_design *design, const double *ahead,
                                  const double *behind);

#endif /* FBP_SRC_FILTER_FROM_KERNEL_H */
