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

static size_t layer_of(const struct fbp_job *job, size_t z)
{
    const size_t nz = job->grid.n[2], half = nz / 2;

    if (!job->mirrored)
        return z;
    return z >= half ? z - half : nz - 1 - z - half;
}

void fbp_roi_wanted(const struct fbp_job *job, size_t *z0, size_t *z1)
{
    *z0 = job->region ? job->region->z0 : job->roi[2][0];
    *z1 = job->region ? job->region->z1 : end_of(job, 2);
}

/* Layers that hold what is wanted, whoever computes them. */
static void wanted_layers(const struct fbp_job *job, size_t *first, size_t *n)
{
    const size_t half = job->grid.n[2] / 2;
    size_t z0, end;

    fbp_roi_wanted(job, &z0, &end);
    const size_t a = layer_of(job, z0), b = layer_of(job, end - 1);
    const bool both = job->mirrored && z0 < half && end > half;

    *first = both ? 0 : a < b ? a : b;
    *n = (a > b ? a : b) + 1 - *first;
}

void fbp_roi_layers(const struct fbp_job *job, size_t *first, size_t *n)
{
    wanted_layers(job, first, n);
    if (job->share[1] == 0)
        return;
    *first += job->share[0];
    *n = job->share[1] - job->share[0];
}

void fbp_roi_share(const struct fbp_job *job, size_t half, size_t *z0, size_t *z1)
{
    size_t first, n;

    fbp_roi_wanted(job, z0, z1);
    if (job->share[1] == 0 && half > 0)
        *z0 = *z1;
    if (job->share[1] == 0)
        return;
    fbp_roi_layers(job, &first, &n);
    fbp_layer_range(job, half, first, first + n, z0, z1);
    fbp_roi_clip(job, z0, z1);
}

bool fbp_roi_is_own(const struct fbp_job *job, size_t z)
{
    const size_t at = fbp_roi_first(job, 2) + z;
    size_t z0, z1;

    fbp_roi_wanted(job, &z0, &z1);
    if (at < z0 || at >= z1)
        return job->share[0] == 0;
    for (size_t half = 0; half < fbp_halves(job); half++) {
        fbp_roi_share(job, half, &z0, &z1);
        if (at >= z0 && at < z1)
            return true;
    }
    return false;
}

void fbp_roi_clip(const struct fbp_job *job, size_t *z0, size_t *z1)
{
    size_t first, end;

    fbp_roi_wanted(job, &first, &end);
    *z0 = *z0 > first ? *z0 : first;
    *z1 = *z1 < end ? *z1 : end;
    if (*z0 > *z1)
        *z0 = *z1;
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
