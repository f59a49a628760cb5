/** @file matrix_exact.h  Views as (sample, difference to the next column), with a border of zeros
 * (internal; CUDA). */
#ifndef FBP_SRC_CUDA_MATRIX_EXACT_H
#define FBP_SRC_CUDA_MATRIX_EXACT_H

#include "backend/cuda/kernel.h"

enum { CUDA_EXACT_LEFT = 1, CUDA_EXACT_BELOW = 1 };

/** The layout of a batch, and the outermost coordinates: their taps are all zeros of the border. */
struct cuda_exact_layout {
    unsigned stride; /**< samples from row to row */
    size_t view_size;
    float columns, rows;
};

cuda_exact_layout cuda_exact_layout_of(const struct fbp_job *job, size_t n_rows);
size_t cuda_exact_views_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows);
cudaError_t cuda_exact_store(const struct fbp_job *job, const struct cuda_rows *rows,
                             const struct cuda_views *views, cudaStream_t stream);

#endif /* FBP_SRC_CUDA_MATRIX_EXACT_H */
