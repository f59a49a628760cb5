/** @file partners.h  Views and voxel columns that a kernel takes together (internal; pure).
 *
 * turns = 1, 2, 4: a batch takes the same number of views from each of `turns` equal parts of the
 * scan, part after part.
 */
#ifndef FBP_SRC_PARTNERS_H
#define FBP_SRC_PARTNERS_H

#include "backend/backend.h"

/** Views of each part. */
static inline size_t fbp_part_views(const struct fbp_job *job)
{
    return job->n_views / job->turns;
}

/** The scan's index of view k of a batch. */
static inline size_t fbp_batch_view(const struct fbp_job *job, const struct fbp_batch *batch,
                                    size_t k)
{
    const size_t a_part = batch->n_views / job->turns;
    return batch->view0 + k % a_part + k / a_part * fbp_part_views(job);
}

/** Do the rows of every view run up with z?  Kernels that run along z require it. */
static inline bool fbp_rows_run_up(const struct fbp_job *job)
{
    for (size_t k = 0; k < job->n_views; k++)
        if (!(job->matrices[k][6] > 0))
            return false;
    return true;
}

/** Slices [first, end) in which a voxel is wanted that the job's kernel takes together with voxel
 *  column (x, y); 0, 0: none.  Of a job with a region. */
static inline struct fbp_interval fbp_symmetric_slices(const struct fbp_job *job, size_t x,
                                                       size_t y)
{
    const struct fbp_region *r = job->region;
    const size_t *n = job->grid.n;
    struct fbp_interval out = {UINT32_MAX, 0};

    for (size_t i = 0; i < job->turns; i++) {
        const struct fbp_interval z = r->columns[y * n[0] + x];
        if (z.end > 0) {
            out.first = z.first < out.first ? z.first : out.first;
            out.end = z.end > out.end ? z.end : out.end;
        }
        /* the same places for either sense of rotation */
        const size_t old = x;
        x = job->turns == 4 ? n[1] - 1 - y : n[0] - 1 - x;
        y = job->turns == 4 ? old : n[1] - 1 - y;
    }
    return out.end > 0 ? out : (struct fbp_interval){0, 0};
}

#endif /* FBP_SRC_PARTNERS_H */
