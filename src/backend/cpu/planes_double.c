/* Kernel "planes" of the CPU device, in double (planes_volume_tmpl.h). */
#define VALUE       double
#define PLANES      struct fbp_bp_planes_double
#define LOOP        planes_double
#define MOST_FRAMES 1
#define KERNEL      cpu_kernel_planes_double
#define MERIDIAN    cpu_meridian_double

#include "backend/cpu/planes_volume_tmpl.h"
