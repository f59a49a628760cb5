/** @file slab.h  Slabs (boxes of voxels that are computed at once), and statistics of voxels:
 * minimum, maximum and sum (internal).
 * Used by: bench/, analysis/, backend/, pipeline/. */
#ifndef FBP_SRC_SLAB_H
#define FBP_SRC_SLAB_H

#include "backend/backend.h"

#include <math.h>

/** Returns the slab of whole slices [z0, z0 + nz). */
static inline struct fbp_slab fbp_slab_whole(const struct fbp_job *job, size_t z0, size_t nz)
{
    return (struct fbp_slab){.nx = job->grid.n[0], .ny = job->grid.n[1], .z0 = z0, .nz = nz};
}

/** Returns the slab of slices [z0, z0 + nz) that is computed for the job's requested box of voxels:
 * along x and y the box, or whole slices if the kernel computes no boxes. */
static inline struct fbp_slab fbp_slab_asked(const struct fbp_job *job, size_t z0, size_t nz)
{
    struct fbp_slab out = fbp_slab_whole(job, z0, nz);

    if (!job->selection.boxes)
        return out;
    out.x0 = job->requested.box[0][0];
    out.y0 = job->requested.box[1][0];
    out.nx = (job->requested.box[0][1] ? job->requested.box[0][1] : out.nx) - out.x0;
    out.ny = (job->requested.box[1][1] ? job->requested.box[1][1] : out.ny) - out.y0;
    return out;
}

/** Returns the number of voxels per slice of a slab, in one channel. */
static inline size_t fbp_slab_slice(const struct fbp_slab *slab)
{
    return slab->nx * slab->ny;
}

/** Statistics of no voxel. */
#define FBP_NO_STATISTICS ((struct fbp_statistics){INFINITY, -INFINITY, 0})

/** Add n voxels x to the statistics *s.  A NaN changes neither minimum nor maximum. */
void fbp_statistics_add(struct fbp_statistics *s, const float *x, size_t n);
void fbp_statistics_add_double(struct fbp_statistics *s, const double *x, size_t n);

/** Add n voxels x to the statistics *s; x: double if fbp_in_double(job), else float. */
static inline void fbp_statistics_values(struct fbp_statistics *s, const struct fbp_job *job,
                                         const void *x, size_t n)
{
    if (fbp_in_double(job))
        fbp_statistics_add_double(s, x, n);
    else
        fbp_statistics_add(s, x, n);
}

/** Add the statistics *other of other voxels to *s. */
void fbp_statistics_join(struct fbp_statistics *s, const struct fbp_statistics *other);

#endif /* FBP_SRC_SLAB_H */
