/** @file bench_views.h  Views to measure with, in the host's memory (internal). */
#ifndef FBP_SRC_BENCH_VIEWS_H
#define FBP_SRC_BENCH_VIEWS_H

#include "fbp/phantom.h"

/** Numbers without a pattern, none of them 0: FBP_F32, between 0 and 2, or FBP_U16; n_threads 0: all
 *  cores. */
fbp_status fbp_bench_random(const struct fbp_scan *scan, int n_threads, enum fbp_type type,
                            void *views);

/** Line integrals of a phantom. */
fbp_status fbp_bench_project(const struct fbp_scan *scan, const struct fbp_phantom *phantom,
                             int n_threads, float *views);

#endif /* FBP_SRC_BENCH_VIEWS_H */
