/* What several kernels are made of. */
#include "backend/cpu/kernel.h"
#include "backend/slab.h"

#include <math.h>

size_t cpu_plain_volume(const struct fbp_job *job, const struct fbp_slab *slab)
{
    (void)job;
    return slab->nz * fbp_slab_slice(slab);
}

void cpu_clip(double a, double b, double *lo, double *hi)
{
    if (b > 0)
        *lo = fmax(*lo, -a / b);
    else if (b < 0)
        *hi = fmin(*hi, -a / b);
    else if (!(a > 0))
        *hi = *lo;
}
