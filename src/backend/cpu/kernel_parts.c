/* What several kernels are made of. */
#include "backend/cpu/cpu.h"
#include "backend/slab.h"

#include <math.h>
#include <string.h>

size_t cpu_rows_stride(const struct fbp_job *job)
{
    const size_t line = 64 / fbp_value_size(job);
    const size_t n = FBP_PLANES_MARGIN + job->wide.n_columns + FBP_PLANES_MARGIN;

    return (n + line - 1) / line * line;
}

size_t cpu_rows_size(const struct fbp_job *job, size_t n_rows)
{
    return n_rows * cpu_rows_stride(job);
}

/* n rows of a job's values, from where the first of them lies on. */
static void store_rows(const struct fbp_job *job, size_t n, const char *rows, char *at)
{
    const size_t size = fbp_value_size(job), row = job->wide.n_columns * size;
    const size_t stride = cpu_rows_stride(job) * size, margin = FBP_PLANES_MARGIN * size;

    for (size_t i = 0; i < n; i++, at += stride, rows += row) {
        memset(at, 0, stride);
        memcpy(at + margin, rows, row);
    }
}

void cpu_rows_store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                    const float *rows, float *view)
{
    (void)n_rows;
    store_rows(dev->job, n, (const char *)rows, (char *)(view + cpu_rows_size(dev->job, first)));
}

void cpu_rows_store_double(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                           const double *rows, double *view)
{
    (void)n_rows;
    store_rows(dev->job, n, (const char *)rows, (char *)(view + cpu_rows_size(dev->job, first)));
}

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
