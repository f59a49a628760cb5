/* Kernel "planes" of the CPU device, in float (planes_volume_tmpl.h). */
#define VALUE       float
#define PLANES      struct fbp_bp_planes
#define LOOP        planes
#define MOST_FRAMES 10 /* that stay in the cache with the samples of a group of views */
#define KERNEL      cpu_kernel_planes
#define MERIDIAN    cpu_meridian_float

#include "backend/cpu/planes_volume_tmpl.h"
