/* What symmetric kernels share: when they can be used, their domain and their volume. */
#include "backend/cuda/orbit.h"

#include "backend/cuda/cuda.h"

#include <math.h>

/* Rows run up, and views may be read part beside part. */
static bool has(const struct fbp_job *job, unsigned flags)
{
    flags |= FBP_SYM_COLUMN;
    if ((job->facts.symmetry & flags) != flags || job->in_order)
        return false;
    for (size_t k = 0; k < job->n_views; k++)
        if (!(job->matrices[k][6] > 0))
            return false;
    return true;
}

bool cuda_can_rot90(const struct fbp_job *job)
{
    return has(job, FBP_SYM_ROT90);
}

bool cuda_can_rot90_mirror(const struct fbp_job *job)
{
    return has(job, FBP_SYM_ROT90 | FBP_SYM_MIRROR);
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
    const float e = (float)(n - 1 - 2 * ((n - 1) / 2));
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
    return n * n * n_layers * ORBIT_TURNS * fbp_halves(job);
}

void cuda_orbit_lay_out(const struct fbp_job *job, size_t n_layers, bool tall,
                        struct cuda_orbit_volume *out)
{
    const size_t n = job->grid.n[0] - job->grid.n[0] / 2, halves = fbp_halves(job);

    if (tall)
        *out = (struct cuda_orbit_volume){n_layers, 1, halves * n_layers};
    else
        *out = (struct cuda_orbit_volume){n * n, halves * n * n, 1};
}

/* In mirrored halves the least row is the middle, which no (upper) slice is below. */
float cuda_least_row(const struct fbp_job *job, const struct fbp_batch *batch)
{
    const double middle = ((double)job->panel.n_rows - 1) / 2 - (double)batch->row0;
    return (float)(job->mirrored && middle > -1 ? middle : -1);
}
