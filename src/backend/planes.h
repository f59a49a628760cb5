/** @file planes.h  Conditions of a job that kernels for plane integrals check, on the CPU and on
 * GPUs (internal; pure functions). */
#ifndef FBP_SRC_BACKEND_PLANES_H
#define FBP_SRC_BACKEND_PLANES_H

#include "backend/backend.h"

#include <math.h>

/** Returns whether all views are plane integrals, with matrix rows (n/tau, -t0/tau), 0 and
 *  (0, 0, 0, 1), and each detector row is one channel. */
static inline bool fbp_planes_only(const struct fbp_job *job)
{
    static const double others[8] = {0, 0, 0, 0, 0, 0, 0, 1};

    if (job->padded.panel.n_rows != fbp_channels(job))
        return false;
    for (size_t k = 0; k < job->n_views; k++)
        for (int i = 0; i < 8; i++)
            if (fabs(job->matrices[k][4 + i] - others[i]) > 0)
                return false;
    return true;
}

/** Returns the distance, in samples of view k, of the two voxels of a box of box[0] x box[1] x
 *  box[2] voxels that are farthest apart in that view. */
static inline double fbp_planes_span(const struct fbp_job *job, size_t k, const int box[3])
{
    double span = 0;

    for (int i = 0; i < 3; i++)
        span += (box[i] - 1) * fabs(job->matrices[k][i]) * job->grid.voxel_mm[i];
    return span;
}

#endif /* FBP_SRC_BACKEND_PLANES_H */
