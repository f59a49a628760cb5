/** @file doubles.h  Plane integrals in double, from raw samples to filtered rows (internal; C and
 * CUDA).
 *
 * Rows are few and short, and are convolved in space: row after row, without pairs.
 */
#ifndef FBP_SRC_CUDA_DOUBLES_H
#define FBP_SRC_CUDA_DOUBLES_H

#include "backend/cuda/filter_kernels.h"

/** A raw batch, [n_views][load_rows][n_columns], and which rows of it are filtered. */
struct cuda_doubles {
    double *samples;
    unsigned n_views, load_rows, n_columns;
    unsigned view0;           /**< of the scan */
    unsigned first_row, row0; /**< of the panel: the first that was loaded, and that is filtered */
    unsigned n_rows;          /**< filtered ones of a view */
    unsigned pad_left, apart; /**< as in struct cuda_pairs */
    unsigned length;          /**< of a filtered row */
    const double *weights;    /**< one a view of the scan; NULL: none */
};

FBP_BEGIN
/** What is not finite is bridged along its row, and counted. */
cudaError_t cuda_mend_doubles(const struct cuda_doubles *d, const struct cuda_prep *prep,
                              cudaStream_t stream);

/** Rows [first, first + n) of the batch, [view][row], weighted, samples apart, zeros between and
 *  around them: out[n][length]. */
cudaError_t cuda_load_doubles(const struct cuda_doubles *d, unsigned first, unsigned n, double *out,
                              cudaStream_t stream);

/** As cuda_convolve_rows(), of rows one by one. */
cudaError_t cuda_convolve_doubles(const double *in, unsigned n, unsigned length, const double *taps,
                                  unsigned half_width, double *out, cudaStream_t stream);

/** Rows [first, first + n), filtered, into views [view][group][column][frame] of struct gpu_planes,
 *  zeros behind the columns and frames that there are. */
cudaError_t cuda_store_doubles(const struct cuda_doubles *d, unsigned first, unsigned n,
                               const double *rows, unsigned columns, unsigned groups,
                               unsigned frames, double *views, cudaStream_t stream);
FBP_END

#endif /* FBP_SRC_CUDA_DOUBLES_H */
