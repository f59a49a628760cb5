/** @file statistics.h  Least, most and sum of voxels (internal). */
#ifndef FBP_SRC_STATISTICS_H
#define FBP_SRC_STATISTICS_H

#include "backend/backend.h"

#include <math.h>

/** Of no voxel. */
#define FBP_NO_STATISTICS ((struct fbp_statistics){INFINITY, -INFINITY, 0})

/** Add n voxels.  Those that are no numbers are neither least nor most. */
void fbp_statistics_add(struct fbp_statistics *s, const float *x, size_t n);
void fbp_statistics_add_double(struct fbp_statistics *s, const double *x, size_t n);

/** Add n values of a job, of its precision. */
static inline void fbp_statistics_values(struct fbp_statistics *s, const struct fbp_job *job,
                                         const void *x, size_t n)
{
    if (fbp_in_double(job))
        fbp_statistics_add_double(s, x, n);
    else
        fbp_statistics_add(s, x, n);
}

/** Add those of other voxels. */
void fbp_statistics_join(struct fbp_statistics *s, const struct fbp_statistics *other);

#endif /* FBP_SRC_STATISTICS_H */
