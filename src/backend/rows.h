/** @file rows.h  Raw rows of a batch: their sizes and addresses in a buffer of raw samples, for all
 * backends and the pipeline, and their corrections in place, for backends that work in host memory
 * (internal).
 * Used by: bench/, backend/, pipeline/. */
#ifndef FBP_SRC_ROWS_H
#define FBP_SRC_ROWS_H

#include "backend/views.h"

/** Returns the number of raw samples of a batch, of all its views and loaded rows. */
static inline size_t fbp_raw_samples(const struct fbp_job *job, const struct fbp_batch *batch)
{
    return batch->n_views * batch->load_rows * job->panel.n_columns;
}

/** Returns the bytes of a raw sample as it is read and uploaded. */
static inline size_t fbp_raw_size(const struct fbp_job *job)
{
    return job->input.type == FBP_U16 ? sizeof(uint16_t) : fbp_value_size(job);
}

/** Offset [bytes] of the float samples in a device's buffer of n raw samples: 0, unless they are
 * uint16, which are uploaded to its start and converted to floats behind them. */
static inline size_t fbp_raw_floats(const struct fbp_job *job, size_t n)
{
    return job->input.type == FBP_U16 ? (n * sizeof(uint16_t) + 255) / 256 * 256 : 0;
}

/** Bytes of a device's buffer of n raw samples, with the floats to which uint16 are converted. */
static inline size_t fbp_raw_device_bytes(const struct fbp_job *job, size_t n)
{
    return fbp_raw_floats(job, n) + n * fbp_value_size(job);
}

/** Rows on either side of a row that the filter along columns reads; 0: no such filter. */
static inline size_t fbp_column_reach(const struct fbp_job *job)
{
    return job->filtering.columns ? job->filtering.columns->half_width : 0;
}

/** Sets [*r0, *r1) to the detector rows that are needed to filter a batch: its filtered rows, and
 * the neighbours that the filter along columns reads. */
static inline void fbp_needed_rows(const struct fbp_job *job, const struct fbp_batch *batch,
                                   size_t *r0, size_t *r1)
{
    const size_t reach = fbp_column_reach(job), n = job->panel.n_rows;
    const size_t end = batch->row0 + batch->n_rows;

    *r0 = batch->row0 > reach ? batch->row0 - reach : 0;
    *r1 = n - end > reach ? end + reach : n;
}

/** Returns the address of detector row r of the batch's view k in a buffer raw
 * [n_views][load_rows][n_columns] of float or double. */
static inline void *fbp_raw_row(const struct fbp_job *job, const struct fbp_batch *batch, void *raw,
                                size_t k, size_t r)
{
    const size_t row = job->panel.n_columns * fbp_value_size(job);
    return (char *)raw + (k * batch->load_rows + (r - batch->load_row0)) * row;
}

/** Converts detector row r of a view to line integrals, in place. Repairs are added to *counts if
 * there is no bitmap, or if the row's bit is set, which is then cleared. Rows without repairs keep
 * their bits. Thread-safe for different rows. */
static inline void fbp_prepare_row(const struct fbp_job *job, const struct fbp_row_bitmap *bitmap,
                                   size_t view, size_t r, void *samples,
                                   struct fbp_prep_counts *counts)
{
    const size_t at = view * bitmap->n_rows + r;
    const unsigned bit = 1u << at % FBP_ROW_BITMAP_BITS;
    struct fbp_prep_counts repaired = {0};

    if (fbp_in_double(job))
        fbp_prep_row_double(job->filtering.prep, samples, &repaired);
    else
        fbp_prep_row(job->filtering.prep, r, samples, &repaired);
    if ((repaired.not_finite || repaired.clipped) &&
        (!bitmap->bits ||
         __atomic_fetch_and(&bitmap->bits[at / FBP_ROW_BITMAP_BITS], ~bit, __ATOMIC_RELAXED) & bit))
        fbp_prep_counts_add(counts, &repaired);
}

/** Converts loaded rows of view k to line integrals, in place, and interpolates bad pixels. */
static inline void fbp_prepare_view(const struct fbp_job *job, const struct fbp_batch *batch,
                                    void *raw, size_t k, const struct fbp_row_bitmap *bitmap,
                                    struct fbp_prep_counts *counts)
{
    const size_t first = batch->load_row0, end = first + batch->load_rows;
    size_t r0, r1;

    for (size_t r = first; r < end; r++)
        fbp_prepare_row(job, bitmap, fbp_batch_view(job, batch, k), r,
                        fbp_raw_row(job, batch, raw, k, r), counts);
    fbp_needed_rows(job, batch, &r0, &r1);
    if (job->filtering.prep->n_bridges)
        fbp_prep_bridge(job->filtering.prep, first, r0, r1, fbp_raw_row(job, batch, raw, k, first));
}

#endif /* FBP_SRC_ROWS_H */
