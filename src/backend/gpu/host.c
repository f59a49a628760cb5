#include "backend/gpu/host.h"

const struct fbp_module_host *gpu_host;
