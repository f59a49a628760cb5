/** @file in_double_kernels.h  Launches of jobs in double (internal; C and CUDA). */
#ifndef FBP_SRC_CUDA_IN_DOUBLE_KERNELS_H
#define FBP_SRC_CUDA_IN_DOUBLE_KERNELS_H

#include "backend/cuda/kernel.h"
#include "backend/gpu/gpu_planes.h"

struct cuda_double_found {
    double min, max, sum;
};

/** Rows of a batch on their way into the kernel's layout, some of them. */
struct cuda_double_rows {
    double *raw; /**< [view][load_rows][raw_columns] */
    unsigned raw_columns, load_rows;
    unsigned skip;             /**< rows that are loaded before the first that is filtered */
    unsigned first, n, n_rows; /**< rows [first, first + n) of all, n_rows a view */
    unsigned view0;            /**< of the scan, that view 0 is */
    unsigned pad_left, apart;  /**< sample c goes to column pad_left + apart c */
    unsigned n_columns;        /**< of a line */
    const double *weights;     /**< NULL: rows are filtered already */
    unsigned *ledger;          /**< NULL: all rows count */
    unsigned panel_rows, row0; /**< of the ledger; detector row of row 0 */
    unsigned long long *not_finite;
    double *lines;
};

FBP_BEGIN
/** Launch: rows as they are, samples that are no numbers mended, weighted, into lines. */
cudaError_t cuda_double_take(const struct cuda_double_rows *rows, cudaStream_t stream);
/** Launch: n lines through a filter of 2 half_width + 1 taps. */
cudaError_t cuda_double_convolve(const double *in, unsigned n, unsigned n_columns,
                                 const double *taps, unsigned half_width, double *out,
                                 cudaStream_t stream);
/** Launch: lines to where the kernel wants them, zeros around them. */
cudaError_t cuda_double_store(const struct cuda_double_rows *rows, const double *lines,
                              const struct gpu_planes *to, double *filtered, cudaStream_t stream);
/** Launch: add n voxels to found[GPU_FOUND]. */
cudaError_t cuda_double_look_at(const double *in, size_t n, struct cuda_double_found *found,
                                cudaStream_t stream);
/** Launch: a batch, whose views and volume are doubles (planes.cu). */
cudaError_t cuda_planes_in_double(const struct cuda_bp *bp);
FBP_END

#endif /* FBP_SRC_CUDA_IN_DOUBLE_KERNELS_H */
