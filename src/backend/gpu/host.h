/** @file host.h  The library's functions for the code of a GPU module (internal). */
#ifndef FBP_SRC_GPU_HOST_H
#define FBP_SRC_GPU_HOST_H

#include "backend/module.h"

/** The table that the module received (backend/module.h); set by its entry function first. */
extern const struct fbp_module_host *gpu_host;

#endif /* FBP_SRC_GPU_HOST_H */
