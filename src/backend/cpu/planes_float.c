/* Kernel "planes" of the CPU device (cpu_kernel_planes), which backprojects plane integrals (EPR),
 * for volumes in float; planes_volume_tmpl.h has its code.
 * Used by: cpu.c. */
#define VALUE  float
#define PLANES struct fbp_bp_planes
#define LOOP   planes
/* Greatest number of channels per call; their cubes stay in the cache with some views. */
#define MOST_FRAMES 10
#define KERNEL      cpu_kernel_planes
#define MERIDIAN    cpu_meridian_float

#include "backend/cpu/planes_volume_tmpl.h"
