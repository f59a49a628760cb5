/* Plane integrals in double. */
#include "backend/cuda/planes_launch.h"

/* Rows come by cuda_store_doubles(). */
extern "C" const struct cuda_kernel cuda_kernel_planes_double =
    planes_kernel_of<double>(gpu_known[GPU_PLANES_DOUBLE], nullptr);
