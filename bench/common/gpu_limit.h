/** @file gpu_limit.h  Which ceiling of a GPU a kernel is to be seen beside (internal). */
#ifndef FBP_BENCH_COMMON_GPU_LIMIT_H
#define FBP_BENCH_COMMON_GPU_LIMIT_H

#include "backend/backend.h"
#include "bench/common/measure.h"

/** Updates per second that the job's kernel could do if it did only what limits it most; `what`
 * gets the name of that. */
double gpu_kernel_limit(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                        size_t n);

#endif /* FBP_BENCH_COMMON_GPU_LIMIT_H */
