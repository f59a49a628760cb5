/** @file partners.h  Views and slices that a kernel takes together (internal; pure).
 *
 * turns = 1, 2, 4: a batch takes as many views from each of `turns` equal parts of the scan, part
 * after part.  mirrored: slabs count layers, not slices.  Layer l is the slice nz/2 + l (rounded
 * down) and its mirror image nz - 1 - (nz/2 + l), for odd nz the same slice where l = 0; and rows
 * count from the detector's middle: with every row its mirror image nr - 1 - r belongs to a batch.
 */
#ifndef FBP_SRC_PARTNERS_H
#define FBP_SRC_PARTNERS_H

#include "backend/backend.h"

/** Halves of volume and detector: 1, or 2 if they are mirrored. */
static inline size_t fbp_halves(const struct fbp_job *job)
{
    return job->mirrored ? 2 : 1;
}

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

/** Do the rows of every view run up with z?  Kernels that walk along z count on it. */
static inline bool fbp_rows_run_up(const struct fbp_job *job)
{
    for (size_t k = 0; k < job->n_views; k++)
        if (!(job->matrices[k][6] > 0))
            return false;
    return true;
}

/** Layers of the volume: what slabs are counted in. */
static inline size_t fbp_layers(const struct fbp_job *job)
{
    return job->mirrored ? (job->grid.n[2] + 1) / 2 : job->grid.n[2];
}

/** The (upper) slice of a layer. */
static inline size_t fbp_layer_slice(const struct fbp_job *job, size_t layer)
{
    return job->mirrored ? job->grid.n[2] / 2 + layer : layer;
}

/** Slices of layers [l0, l1): *z0 … in half 0 (upper) or 1 (mirrored), each slice once. */
static inline void fbp_layer_range(const struct fbp_job *job, size_t half, size_t l0, size_t l1,
                                   size_t *z0, size_t *z1)
{
    *z0 = fbp_layer_slice(job, l0);
    *z1 = fbp_layer_slice(job, l1);
    if (half == 1) {
        const size_t upper = *z0 + (job->grid.n[2] % 2 == 1 && l0 == 0);
        *z0 = job->grid.n[2] - *z1;
        *z1 = job->grid.n[2] - upper;
        if (*z1 < *z0)
            *z1 = *z0;
    }
}

/** Slices of layers [l0, l1). */
static inline size_t fbp_layer_slices(const struct fbp_job *job, size_t l0, size_t l1)
{
    size_t n = 0, z0, z1;

    for (size_t half = 0; half < fbp_halves(job); half++) {
        fbp_layer_range(job, half, l0, l1, &z0, &z1);
        n += z1 - z0;
    }
    return n;
}

/** Row r of a batch, or its mirror image. */
static inline size_t fbp_half_row(const struct fbp_job *job, size_t half, size_t r)
{
    return half ? job->panel.n_rows - 1 - r : r;
}

#endif /* FBP_SRC_PARTNERS_H */
