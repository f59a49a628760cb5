/* Checks the CPU kernel of plane integrals in float; planes_check.h has the checks. */
#include "backend/cpu/simd.h"

#define VALUE     float
#define PLANES    struct fbp_bp_planes
#define PLANES_FN fbp_bp_planes_fn
#define TABLE     planes
/* A few roundings of u < 16, on slopes of up to 2, and of the sum. */
#define TOLERANCE(n) (4e-6 * sqrt((double)(n)) + 1e-6)
#define LOOSE        1e-5

#include "check/planes_check.h"
