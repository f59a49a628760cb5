/* What the kernels of quarter turns share: when they can be used, their domain and their volume. */
#include "backend/cuda/orbit.h"

#include "backend/cuda/cuda.h"

/* Rows run up, and views may be read part beside part. */
bool cuda_can_rot90(const struct fbp_job *job)
{
    const unsigned flags = FBP_SYM_COLUMN | FBP_SYM_ROT90;

    return (job->facts.symmetry & flags) == flags && !job->in_order && fbp_rows_run_up(job);
}

/* Does view k + K/4 follow view k counter-clockwise? */
static bool counter_clockwise(const struct fbp_job *job)
{
    const double *a = job->views[0].s, *b = job->views[fbp_part_views(job)].s;
    return a[0] * b[1] - a[1] * b[0] > 0;
}

/* Counter-clockwise (x, y) goes to (n - 1 - y, x), otherwise to (y, n - 1 - x). */
void cuda_find_domain(const struct fbp_job *job, struct cuda_domain *out)
{
    const int n = (int)job->grid.n[0];
    const float e = n % 2 == 0 ? 1.0f : 0.0f;
    const bool forward = counter_clockwise(job);

    *out = (struct cuda_domain){.x0 = n / 2,
                                .y0 = n / 2,
                                .nx = n - n / 2,
                                .ny = n - n / 2,
                                .s = forward ? -1.0f : 1.0f,
                                .ex = forward ? e : 0.0f,
                                .ey = forward ? 0.0f : e};
}

size_t cuda_orbit_volume_size(const struct fbp_job *job, size_t n_layers)
{
    const size_t n = job->grid.n[0] - job->grid.n[0] / 2;
    return ORBIT_TURNS * n * n * n_layers;
}
