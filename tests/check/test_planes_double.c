/* Checks the CPU kernel of plane integrals in double; planes_check.h has the checks. */
#include "backend/cpu/simd.h"

#define VALUE     double
#define PLANES    struct fbp_bp_planes_double
#define PLANES_FN fbp_bp_planes_double_fn
#define TABLE     planes_double
/* Views begin up to 1e5 samples away, which takes 1e-11 of u. */
#define TOLERANCE(n) (2e-11 * sqrt((double)(n)))
#define LOOSE        1e-10

#include "check/planes_check.h"
