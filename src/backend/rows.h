/** @file rows.h  Preparing the rows of a batch, shared by backends in host memory (internal). */
#ifndef FBP_SRC_ROWS_H
#define FBP_SRC_ROWS_H

#include "backend/backend.h"

/** Row r (global) of view k (of the batch) in raw [n_views][load_rows][n_columns]. */
static inline float *fbp_raw_row(const struct fbp_job *job, const struct fbp_batch *batch,
                                 float *raw, size_t k, size_t r)
{
    return raw + (k * batch->load_rows + (r - batch->load_row0)) * job->panel.n_columns;
}

/** Line integrals of all loaded rows of view k, in place, bad pixels bridged. */
static inline void fbp_prepare_view(const struct fbp_job *job, const struct fbp_batch *batch,
                                    float *raw, size_t k, struct fbp_prep_counts *counts)
{
    const size_t end = batch->load_row0 + batch->load_rows;

    for (size_t r = batch->load_row0; r < end; r++)
        fbp_prep_row(job->prep, r, fbp_raw_row(job, batch, raw, k, r), counts);
    if (job->prep->n_bridges)
        fbp_prep_bridge(job->prep, batch->load_row0, batch->row0, batch->row0 + batch->n_rows,
                        fbp_raw_row(job, batch, raw, k, batch->load_row0));
}

#endif /* FBP_SRC_ROWS_H */
