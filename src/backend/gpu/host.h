/** @file host.h  What a GPU's module was handed by the library (internal). */
#ifndef FBP_SRC_GPU_HOST_H
#define FBP_SRC_GPU_HOST_H

#include "backend/module.h"

/** Set by the module's entry before anything else. */
extern const struct fbp_module_host *gpu_host;

#endif /* FBP_SRC_GPU_HOST_H */
