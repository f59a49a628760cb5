/** @file rows.h  Preparing the rows of a batch, shared by backends in host memory (internal). */
#ifndef FBP_SRC_ROWS_H
#define FBP_SRC_ROWS_H

#include "backend/partners.h"

/** Samples of a raw batch. */
static inline size_t fbp_raw_samples(const struct fbp_job *job, const struct fbp_batch *batch)
{
    return batch->n_views * batch->load_rows * job->panel.n_columns;
}

/** Bytes of a raw sample. */
static inline size_t fbp_raw_size(const struct fbp_job *job)
{
    return job->raw == FBP_U16 ? sizeof(uint16_t) : fbp_value_size(job);
}

/** Where the floats that counts become lie in a raw buffer: behind n samples of them. */
static inline size_t fbp_raw_floats(const struct fbp_job *job, size_t n)
{
    return job->raw == FBP_U16 ? (n * sizeof(uint16_t) + 255) / 256 * 256 : 0;
}

/** Bytes of a device's raw buffer of n samples. */
static inline size_t fbp_raw_device_bytes(const struct fbp_job *job, size_t n)
{
    return fbp_raw_floats(job, n) + n * fbp_value_size(job);
}

/** Rows beside a filtered one that the filter along columns takes into it. */
static inline size_t fbp_column_reach(const struct fbp_job *job)
{
    return job->columns ? job->columns->half_width : 0;
}

/** Rows [*r0, *r1) whose line integrals are needed: those that are filtered, and those that the
 *  filter along columns takes into them. */
static inline void fbp_needed_rows(const struct fbp_job *job, const struct fbp_batch *batch,
                                   size_t *r0, size_t *r1)
{
    const size_t reach = fbp_column_reach(job), n = job->panel.n_rows;
    const size_t end = batch->row0 + batch->n_rows;

    *r0 = batch->row0 > reach ? batch->row0 - reach : 0;
    *r1 = n - end > reach ? end + reach : n;
}

/** Row r (of the detector) of view k (of the batch) in raw [n_views][load_rows][n_columns], floats
 *  or doubles. */
static inline void *fbp_raw_row(const struct fbp_job *job, const struct fbp_batch *batch, void *raw,
                                size_t k, size_t r)
{
    const size_t row = job->panel.n_columns * fbp_value_size(job);
    return (char *)raw + (k * batch->load_rows + (r - batch->load_row0)) * row;
}

/** Take a row's bit: was it there?  Thread-safe. */
static inline bool fbp_row_bitmap_take(const struct fbp_row_bitmap *ledger, size_t view, size_t row)
{
    const size_t at = view * ledger->n_rows + row;
    const unsigned bit = 1u << at % FBP_ROW_BITMAP_BITS;

    if (!ledger->bits)
        return true;
    return __atomic_fetch_and(&ledger->bits[at / FBP_ROW_BITMAP_BITS], ~bit, __ATOMIC_RELAXED) &
           bit;
}

/** Line integrals of row r of a view of the scan, in place; what is mended counts if the ledger has
 *  the row, which is asked of rows alone in which there is something: of most there is not. */
static inline void fbp_prepare_row(const struct fbp_job *job, const struct fbp_row_bitmap *ledger,
                                   size_t view, size_t r, void *samples,
                                   struct fbp_prep_counts *counts)
{
    struct fbp_prep_counts mended = {0};

    if (fbp_in_double(job))
        fbp_prep_row_double(job->prep, samples, &mended);
    else
        fbp_prep_row(job->prep, r, samples, &mended);
    if ((mended.not_finite || mended.clipped) && fbp_row_bitmap_take(ledger, view, r)) {
        counts->not_finite += mended.not_finite;
        counts->clipped += mended.clipped;
    }
}

/** Line integrals of all loaded rows of view k, in place, bad pixels bridged. */
static inline void fbp_prepare_view(const struct fbp_job *job, const struct fbp_batch *batch,
                                    void *raw, size_t k, const struct fbp_row_bitmap *ledger,
                                    struct fbp_prep_counts *counts)
{
    const size_t first = batch->load_row0, end = first + batch->load_rows;
    size_t r0, r1;

    for (size_t r = first; r < end; r++)
        fbp_prepare_row(job, ledger, fbp_batch_view(job, batch, k), r,
                        fbp_raw_row(job, batch, raw, k, r), counts);
    fbp_needed_rows(job, batch, &r0, &r1);
    if (job->prep->n_bridges)
        fbp_prep_bridge(job->prep, first, r0, r1, fbp_raw_row(job, batch, raw, k, first));
}

#endif /* FBP_SRC_ROWS_H */
