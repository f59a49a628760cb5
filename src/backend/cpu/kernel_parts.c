/* What several kernels are made of. */
#include "backend/cpu/kernel.h"
#include "backend/slab.h"

#include <math.h>

size_t cpu_plain_volume(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_frames(job) * slab->nz * fbp_slab_slice(slab);
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

void cpu_plain_fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                         size_t z1, size_t y, const float *volume, float *host)
{
    const size_t nx = slab->nx, ny = slab->ny;
    const float scale = (float)job->scale, shift = (float)job->shift;

    for (size_t z = z0; z < z1; z++) {
        const float *in = volume + ((z - slab->z0) * ny + y) * nx;
        float *out = host + ((z - z0) * ny + y) * nx;
        for (size_t x = 0; x < nx; x++)
            out[x] = scale * in[x] + shift;
    }
}

void cpu_plain_fetch_row_double(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                                size_t z1, size_t y, const double *volume, double *host)
{
    const size_t nx = slab->nx, ny = slab->ny;

    for (size_t z = z0; z < z1; z++) {
        const double *in = volume + ((z - slab->z0) * ny + y) * nx;
        double *out = host + ((z - z0) * ny + y) * nx;
        for (size_t x = 0; x < nx; x++)
            out[x] = job->scale * in[x] + job->shift;
    }
}
