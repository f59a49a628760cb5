/* Kernel "planes" of the CPU device (cpu_kernel_planes_double), which backprojects plane integrals
 * (EPR), for volumes in double; planes_volume_tmpl.h has its code.
 * Used by: cpu.c. */
#define VALUE       double
#define PLANES      struct fbp_bp_planes_double
#define LOOP        planes_double
#define MOST_FRAMES 1
#define KERNEL      cpu_kernel_planes_double
#define MERIDIAN    cpu_meridian_double

#include "backend/cpu/planes_volume_tmpl.h"
