/** @file statistics.h  Minimum, maximum and sum of voxels, called by pipeline/stage_write.c and
 * the CPU device (internal). */
#ifndef FBP_SRC_STATISTICS_H
#define FBP_SRC_STATISTICS_H

#include "backend/backend.h"

#include <math.h>

/** Statistics of no voxel. */
#define FBP_NO_STATISTICS ((struct fbp_statistics){INFINITY, -INFINITY, 0})

/** Add n voxels to *s.  A NaN changes neither minimum nor maximum. */
void fbp_statistics_add(struct fbp_statistics *s, const float *x, size_t n);
void fbp_statistics_add_double(struct fbp_statistics *s, const double *x, size_t n);

/** Add n values, double or float as fbp_in_double() of the job. */
static inline void fbp_statistics_values(struct fbp_statistics *s, const struct fbp_job *job,
                                         const void *x, size_t n)
{
    if (fbp_in_double(job))
        fbp_statistics_add_double(s, x, n);
    else
        fbp_statistics_add(s, x, n);
}

/** Add the statistics of other voxels. */
void fbp_statistics_join(struct fbp_statistics *s, const struct fbp_statistics *other);

#endif /* FBP_SRC_STATISTICS_H */
