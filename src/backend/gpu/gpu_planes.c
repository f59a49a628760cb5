#include "backend/gpu/gpu_planes.h"

#include "backend/gpu/host.h"
#include "backend/planes.h"

#include <math.h>

/* A box spans `span` samples, less than one more at either end by rounding; its voxels' first taps
 * may then lie in one more, and the window begins up to 3 before. */
static size_t window_of(double span, size_t taps)
{
    const double samples = ceil(span + .5) + 1 + (double)taps + 3;

    return samples < 1e6 ? ((size_t)samples + 3) / 4 * 4 : 1000000;
}

size_t gpu_planes_window(const struct fbp_job *job, const int box[3], size_t taps)
{
    double span = 0;

    for (size_t k = 0; k < job->n_views; k++)
        span = fmax(span, fbp_planes_span(job, k, box));
    return window_of(span, taps);
}

bool gpu_planes_usable(const struct fbp_job *job)
{
    static const int cube[3] = {GPU_PLANES_EDGE, GPU_PLANES_EDGE, GPU_PLANES_EDGE};
    enum { TAPS = 4 };

    return fbp_planes_only(job) && gpu_planes_window(job, cube, TAPS) <= GPU_PLANES_WINDOW;
}

void gpu_plane_of(const struct fbp_job *job, size_t view, struct gpu_plane *out)
{
    const struct fbp_grid *g = &job->grid;
    const double *m = job->matrices[view];

    out->u[3] = m[3];
    for (int i = 0; i < 3; i++) {
        out->u[i] = m[i] * g->voxel_mm[i];
        out->u[3] += m[i] * gpu_host->coordinate(g, i, 0);
    }
}

/* Frames that a thread takes together: few of a group are none. */
static size_t group_of(const struct fbp_job *job, size_t n)
{
    static const size_t groups[] = {10, 8, 4};

    for (size_t i = fbp_in_double(job) ? 2 : 0; i < sizeof groups / sizeof *groups; i++)
        if ((n + 1) % groups[i] < 2 && n + 1 >= groups[i])
            return groups[i];
    return n > 1 ? 2 : 1;
}

struct gpu_planes gpu_planes_of(const struct fbp_job *job, size_t n_rows)
{
    const size_t group = group_of(job, n_rows);

    return (struct gpu_planes){.columns = (job->wide.n_columns + 3) / 4 * 4,
                               .groups = (n_rows + group - 1) / group,
                               .frames = group};
}

size_t gpu_planes_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_planes p = gpu_planes_of(job, n_rows);

    return n_views * p.groups * p.columns * p.frames * fbp_value_size(job);
}
