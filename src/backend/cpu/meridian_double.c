#include "backend/cpu/cpu.h"

#define VALUE    double
#define PLANES   struct fbp_bp_planes_double
#define ADD(dev) (dev)->doubles.planes
#define MERIDIAN cpu_meridian_double

#include "backend/cpu/meridian_tmpl.h"
