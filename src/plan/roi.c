#include "plan/roi.h"

#include "base/status.h"

#include <string.h>

fbp_status fbp_roi_set(struct fbp_job *job, const size_t roi[3][2])
{
    static const char axes[] = "xyz";

    for (int i = 0; i < 3; i++) {
        const size_t n = job->grid.n[i], end = roi[i][1] ? roi[i][1] : n;
        if (roi[i][0] >= end || end > n)
            return fbp_fail(FBP_ERR_INVALID,
                            "roi: voxels %zu:%zu along %c: the volume has 0:%zu (the end is "
                            "excluded)",
                            roi[i][0], end, axes[i], n);
        job->roi[i][0] = roi[i][0];
        job->roi[i][1] = end;
    }
    return FBP_OK;
}

size_t fbp_roi_first(const struct fbp_job *job, int axis)
{
    return job->roi[axis][0];
}

static size_t end_of(const struct fbp_job *job, int axis)
{
    return job->roi[axis][1] ? job->roi[axis][1] : job->grid.n[axis];
}

size_t fbp_roi_size(const struct fbp_job *job, int axis)
{
    return end_of(job, axis) - job->roi[axis][0];
}

void fbp_roi_grid(const struct fbp_job *job, struct fbp_grid *out)
{
    *out = job->grid;
    for (int i = 0; i < 3; i++) {
        const size_t first = fbp_roi_first(job, i), n = fbp_roi_size(job, i);
        if (n == job->grid.n[i]) /* and not its centre with a rounding error */
            continue;
        out->n[i] = n;
        out->centre_mm[i] = fbp_grid_coordinate(&job->grid, i, (double)first + ((double)n - 1) / 2);
    }
}

void fbp_roi_wanted(const struct fbp_job *job, size_t *z0, size_t *z1)
{
    *z0 = job->region ? job->region->z0 : job->roi[2][0];
    *z1 = job->region ? job->region->z1 : end_of(job, 2);
}

void fbp_roi_slices(const struct fbp_job *job, size_t *first, size_t *n)
{
    size_t end;

    fbp_roi_wanted(job, first, &end);
    *n = end - *first;
    if (job->share[1] == 0)
        return;
    *first += job->share[0];
    *n = job->share[1] - job->share[0];
}

bool fbp_roi_is_own(const struct fbp_job *job, size_t z)
{
    const size_t at = fbp_roi_first(job, 2) + z;
    size_t z0, z1, first, n;

    fbp_roi_wanted(job, &z0, &z1);
    if (at < z0 || at >= z1)
        return job->share[0] == 0;
    fbp_roi_slices(job, &first, &n);
    return at >= first && at < first + n;
}

bool fbp_roi_crops(const struct fbp_job *job)
{
    return !job->boxes &&
           (fbp_roi_size(job, 0) < job->grid.n[0] || fbp_roi_size(job, 1) < job->grid.n[1]);
}

void fbp_roi_crop(const struct fbp_job *job, size_t n, void *slices)
{
    const size_t nx = job->grid.n[0], ny = job->grid.n[1], size = fbp_value_size(job);
    const size_t mx = fbp_roi_size(job, 0), my = fbp_roi_size(job, 1);
    char *const from = slices, *to = slices;

    for (size_t z = 0; fbp_roi_crops(job) && z < n; z++)
        for (size_t y = 0; y < my; y++, to += mx * size) {
            const size_t row = (z * ny + fbp_roi_first(job, 1) + y) * nx;
            memmove(to, from + (row + fbp_roi_first(job, 0)) * size, mx * size);
        }
}
