/** @file planes.h  What kernels for plane integrals ask of a job, on the CPU and on GPUs (internal;
 * pure). */
#ifndef FBP_SRC_BACKEND_PLANES_H
#define FBP_SRC_BACKEND_PLANES_H

#include "backend/backend.h"

#include <math.h>

/** Are all views planes', whose matrices have the rows (n/tau, -t0/tau), 0, (0, 0, 0, 1), and all
 *  rows frames? */
static inline bool fbp_planes_only(const struct fbp_job *job)
{
    static const double others[8] = {0, 0, 0, 0, 0, 0, 0, 1};

    if (job->wide.n_rows != fbp_frames(job))
        return false;
    for (size_t k = 0; k < job->n_views; k++)
        for (int i = 0; i < 8; i++)
            if (fabs(job->matrices[k][4 + i] - others[i]) > 0)
                return false;
    return true;
}

/** Samples between the voxels of a box [x, y, z] that are farthest apart, in view k. */
static inline double fbp_planes_span(const struct fbp_job *job, size_t k, const int box[3])
{
    double span = 0;

    for (int i = 0; i < 3; i++)
        span += (box[i] - 1) * fabs(job->matrices[k][i]) * job->grid.voxel_mm[i];
    return span;
}

#endif /* FBP_SRC_BACKEND_PLANES_H */
