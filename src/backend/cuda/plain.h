/** @file plain.h  Filtered views in plain memory (backend/gpu/gpu_plain.h), for kernels (internal;
 * CUDA).
 */
#ifndef FBP_SRC_CUDA_PLAIN_H
#define FBP_SRC_CUDA_PLAIN_H

#include "backend/cuda/kernel.h"
#include "backend/gpu/gpu_plain.h"

/** Launch: store rows there, between borders of zeros. */
cudaError_t cuda_plain_store(const struct fbp_job *job, const struct cuda_rows *rows,
                             const struct cuda_views *views, cudaStream_t stream);

#endif /* FBP_SRC_CUDA_PLAIN_H */
