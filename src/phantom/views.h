/** @file views.h  A simulated scan in memory (internal). */
#ifndef FBP_SRC_PHANTOM_VIEWS_H
#define FBP_SRC_PHANTOM_VIEWS_H

#include "fbp/phantom.h"

/** All views of a scan, without noise: out[n_views][n_rows][n_columns].  n_threads 0: all cores. */
FBP_MUST_CHECK fbp_status fbp_phantom_views(const struct fbp_phantom *phantom,
                                            const struct fbp_scan *scan, int n_threads, float *out);

#endif /* FBP_SRC_PHANTOM_VIEWS_H */
