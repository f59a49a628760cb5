/* What the kernels of symmetric scans share: when they can be used, their domain and volume. */
#include "backend/gpu/gpu_kernel.h"

bool gpu_has_symmetry(const struct fbp_job *job, unsigned flags)
{
    flags |= FBP_SYM_COLUMN;
    return (job->facts.symmetry & flags) == flags && !job->in_order && fbp_rows_run_up(job);
}

/* Does view k + K/4 follow view k counter-clockwise? */
static bool counter_clockwise(const struct fbp_job *job)
{
    const double *a = job->views[0].s, *b = job->views[fbp_part_views(job)].s;
    return a[0] * b[1] - a[1] * b[0] > 0;
}

/* What is left over when the reference voxel is taken to its image about the middle. */
static float rest(size_t n)
{
    return n % 2 == 0 ? 1.0f : 0.0f;
}

/* Counter-clockwise a quarter turn takes (x, y) to (n - 1 - y, x), otherwise to (y, n - 1 - x). */
void gpu_find_domain(const struct fbp_job *job, const struct fbp_slab *slab, struct gpu_domain *out)
{
    const size_t n[2] = {slab->nx, slab->ny}, x0 = job->turns == 4 ? n[0] / 2 : 0, y0 = n[1] / 2;

    *out = (struct gpu_domain){.x0 = (int)x0,
                               .y0 = (int)y0,
                               .nx = (int)(n[0] - x0),
                               .ny = (int)(n[1] - y0),
                               .ex = rest(n[0]),
                               .ey = rest(n[1])};
    if (job->turns == 4) {
        const bool forward = counter_clockwise(job);
        out->s = forward ? -1.0f : 1.0f;
        *(forward ? &out->ey : &out->ex) = 0;
    }
}

size_t gpu_orbit_volume_size(const struct fbp_job *job, const struct fbp_slab *slab)
{
    struct gpu_domain d;

    gpu_find_domain(job, slab, &d);
    return job->turns * (size_t)d.nx * (size_t)d.ny * slab->nz;
}
