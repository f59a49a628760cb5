/** @file pad.h  Kernels for rows that are carried on beyond the panel (internal; C and CUDA). */
#ifndef FBP_SRC_CUDA_PAD_H
#define FBP_SRC_CUDA_PAD_H

#if defined __CUDACC__ && !defined FBP_PAD_FN /* before anything that includes filter/pad.h */
#    define FBP_PAD_FN static __host__ __device__ inline
#endif
#include "backend/cuda/filter_kernels.h"
#include "filter/pad.h"

/** Pairs of rows whose samples are prepared, and what is to be added to them when they are
 * filtered.
 */
struct cuda_pad {
    struct cuda_pairs pairs;
    struct cuda_weights weights;
    bool weighted; /**< samples are weighted already */
    struct fbp_pad_rule rule;
    const float *tables;      /**< [end][n_lengths][n_columns] */
    unsigned n_columns;       /**< of filtered rows */
    struct fbp_pad_end *ends; /**< scratch [pairs.n][row of the pair][end] */
};

FBP_BEGIN
/** How the rows go on; before they are filtered, which may overwrite them. */
cudaError_t cuda_pad_find(const struct cuda_pad *pad, cudaStream_t stream);

/** Add that to filtered pairs [pairs.n][stride]. */
cudaError_t cuda_pad_add(const struct cuda_pad *pad, float2 *rows, unsigned stride,
                         cudaStream_t stream);
FBP_END

#endif /* FBP_SRC_CUDA_PAD_H */
