/** @file orbit_layers.h  What a region of interest wants of voxels that a kernel takes together
 * (internal; pure).
 *
 * Such a kernel computes an orbit where any of its voxels is wanted: columns of voxels that turns
 * map onto each other, and slices that the mirror does (backend/partners.h).
 */
#ifndef FBP_SRC_ORBIT_LAYERS_H
#define FBP_SRC_ORBIT_LAYERS_H

#include "backend/partners.h"

/** Layers of the slices of a column, which are [first, end) and at least one. */
static inline struct fbp_interval fbp_layers_of(const struct fbp_job *job, struct fbp_interval z)
{
    const uint32_t half = (uint32_t)(job->grid.n[2] / 2), up = (uint32_t)job->grid.n[2] - half;
    /* in the upper half, and in the lower one, turned upwards */
    const uint32_t a0 = z.first > half ? z.first - half : 0, a1 = z.end > half ? z.end - half : 0;
    const uint32_t b0 = z.end < up ? up - z.end : 0, b1 = z.first < up ? up - z.first : 0;

    if (!job->mirrored)
        return z;
    if (a0 >= a1)
        return (struct fbp_interval){b0, b1};
    if (b0 >= b1)
        return (struct fbp_interval){a0, a1};
    return (struct fbp_interval){a0 < b0 ? a0 : b0, a1 > b1 ? a1 : b1};
}

/** Layers [first, end) in which a voxel is wanted that the job's kernel takes together with voxel
 *  column (x, y); 0, 0: in none.  Of a job with a region. */
static inline struct fbp_interval fbp_orbit_layers(const struct fbp_job *job, size_t x, size_t y)
{
    const struct fbp_region *r = job->region;
    const size_t *n = job->grid.n;
    struct fbp_interval out = {UINT32_MAX, 0};

    for (size_t i = 0; i < job->turns; i++) {
        const struct fbp_interval z = r->columns[y * n[0] + x];
        if (z.end > 0) {
            const struct fbp_interval l = fbp_layers_of(job, z);
            out.first = l.first < out.first ? l.first : out.first;
            out.end = l.end > out.end ? l.end : out.end;
        }
        /* whichever way views turn, these are all places */
        const size_t old = x;
        x = job->turns == 4 ? n[1] - 1 - y : n[0] - 1 - x;
        y = job->turns == 4 ? old : n[1] - 1 - y;
    }
    return out.end > 0 ? out : (struct fbp_interval){0, 0};
}

#endif /* FBP_SRC_ORBIT_LAYERS_H */
