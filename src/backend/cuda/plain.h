/** @file plain.h  Filtered views in plain memory: [group][row][column][lane], with borders of zeros
 * (internal; CUDA).
 *
 * A texel is one sample of each view of a group.  Two columns and rows of zeros lie on every side,
 * so that the four taps of a coordinate that is clamped there are zeros: the edge is continuous.
 */
#ifndef FBP_SRC_CUDA_PLAIN_H
#define FBP_SRC_CUDA_PLAIN_H

#include "backend/cuda/kernel.h"

enum { CUDA_BORDER = 2 };

/** The layout of a batch. */
struct cuda_plain {
    unsigned stride;   /**< texels from row to row: whole lines of the cache */
    size_t group;      /**< texels from group to group */
    int columns, rows; /**< without borders */
};

struct cuda_plain cuda_plain_of(const struct fbp_job *job, size_t n_rows);
size_t cuda_plain_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows);
cudaError_t cuda_plain_store(const struct fbp_job *job, const struct cuda_rows *rows,
                             const struct cuda_views *views, cudaStream_t stream);

#endif /* FBP_SRC_CUDA_PLAIN_H */
