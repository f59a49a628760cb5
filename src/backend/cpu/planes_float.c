/* Kernel "planes" of the CPU device for volumes in float, which cpu.c selects for plane integrals;
 * planes_volume_tmpl.h has its code.
 * Used by: cpu.c. */
#define VALUE  float
#define PLANES struct fbp_bp_planes
#define LOOP   planes
/* Number of channels whose cubes stay in the cache together with the samples of some views. */
#define MOST_FRAMES 10
#define KERNEL      cpu_kernel_planes
#define MERIDIAN    cpu_meridian_float

#include "backend/cpu/planes_volume_tmpl.h"
