/** @file gpu_limits.h  Which ceiling of a GPU a kernel is to be seen beside (internal). */
#ifndef FBP_SRC_GPU_LIMITS_H
#define FBP_SRC_GPU_LIMITS_H

#include "backend/experiments.h"

/** As fbp_limit_kernels.of_kernel. */
double gpu_kernel_limit(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                        size_t n);

#endif /* FBP_SRC_GPU_LIMITS_H */
