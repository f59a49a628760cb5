/** @file views.h  Views of a job as kernels process them: indices of symmetric views and symmetric
 * voxel columns, the detector pixel from which kernels count, and conditions for plane integrals
 * (internal; pure functions).
 *
 * job->selection.symmetric_views = 1, 2 or 4 is the number of views that are processed together.
 * The scan consists of that many equal parts, and a batch contains the same number of views of each
 * part, part after part.
 * Used by: bench/, backend/, pipeline/.
 */
#ifndef FBP_SRC_BACKEND_VIEWS_H
#define FBP_SRC_BACKEND_VIEWS_H

#include "backend/backend.h"

#include <math.h>

/** Returns the number of views in each of the scan's symmetric parts. */
static inline size_t fbp_part_views(const struct fbp_job *job)
{
    return job->n_views / job->selection.symmetric_views;
}

/** Returns the index in the scan of the view with index k in a batch. */
static inline size_t fbp_batch_view(const struct fbp_job *job, const struct fbp_batch *batch,
                                    size_t k)
{
    const size_t a_part = batch->n_views / job->selection.symmetric_views;
    return batch->view0 + k % a_part + k / a_part * fbp_part_views(job);
}

/** Returns whether view k + n_views / 4 is view k rotated by 90 degrees counter-clockwise (true) or
 * clockwise (false), in a scan of 4 symmetric parts. */
static inline bool fbp_turns_counter_clockwise(const struct fbp_job *job)
{
    const double *a = job->views[0].s, *b = job->views[fbp_part_views(job)].s;
    return a[0] * b[1] - a[1] * b[0] > 0;
}

/** Sets *column and *row to the pixel nearest to the projection of the origin in view k. Near the
 * origin, coordinates from there are small, so float is most precise. */
static inline void fbp_principal_pixel(const struct fbp_job *job, size_t k, double *column,
                                       double *row)
{
    const double *m = job->matrices[k];

    *column = fmin(fmax(round(m[3] / m[11]), 0), (double)job->padded.panel.n_columns - 1);
    *row = fmin(fmax(round(m[7] / m[11]), 0), (double)job->padded.panel.n_rows - 1);
}

/** Returns whether detector rows increase with z in every view; kernels along z require it. */
static inline bool fbp_rows_run_up(const struct fbp_job *job)
{
    for (size_t k = 0; k < job->n_views; k++)
        if (!(job->matrices[k][6] > 0))
            return false;
    return true;
}

/** Least range of slices [first, end) that contains all requested voxels of voxel column (x, y) and
 * of the columns symmetric to it; 0, 0: none. The job must have a region. */
static inline struct fbp_interval fbp_symmetric_slices(const struct fbp_job *job, size_t x,
                                                       size_t y)
{
    const struct fbp_region *r = job->requested.region;
    const size_t *n = job->grid.n;
    struct fbp_interval out = {UINT32_MAX, 0};

    for (size_t i = 0; i < job->selection.symmetric_views; i++) {
        const struct fbp_interval z = r->columns[y * n[0] + x];
        if (z.end > 0) {
            out.first = z.first < out.first ? z.first : out.first;
            out.end = z.end > out.end ? z.end : out.end;
        }
        /* both directions of rotation yield the same set of symmetric voxel columns */
        const size_t old = x;
        x = job->selection.symmetric_views == 4 ? n[1] - 1 - y : n[0] - 1 - x;
        y = job->selection.symmetric_views == 4 ? old : n[1] - 1 - y;
    }
    return out.end > 0 ? out : (struct fbp_interval){0, 0};
}

/** Returns whether all views are plane integrals, with as many detector rows as channels. The
 * matrix of a plane integral has rows (n/tau, -t0/tau), 0 and (0, 0, 0, 1); n: direction of the
 * view, tau: distance between samples [mm], t0: position of the first sample [mm]. */
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

/** Greatest distance, in samples of view k, between projections of voxels of a box. */
static inline double fbp_planes_span(const struct fbp_job *job, size_t k, const int box[3])
{
    double span = 0;

    for (int i = 0; i < 3; i++)
        span += (box[i] - 1) * fabs(job->matrices[k][i]) * job->grid.voxel_mm[i];
    return span;
}

#endif /* FBP_SRC_BACKEND_VIEWS_H */
