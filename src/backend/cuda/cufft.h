/** @file cufft.h  The few functions of cuFFT that are needed, found at run time (internal). */
#ifndef FBP_SRC_CUDA_CUFFT_H
#define FBP_SRC_CUDA_CUFFT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "fbp/types.h"

typedef int cufft_plan;

enum { CUFFT_NO_PLAN = -1 };

/** Is the library there?  Looked for once: libcufft.so.12, .11 on the default path (which knows
 *  LD_LIBRARY_PATH), below CUDA_HOME, CUDA_PATH, where CUDA is usually installed, and in pip's
 *  package nvidia-cufft. */
bool cuda_fft_found(void);

/**
 * A plan for `rows` complex transforms in place, of length n, one after another.
 * @param[out] work_bytes  scratch that it wants; not allocated
 */
fbp_status cuda_fft_create(cufft_plan *out, size_t n, size_t rows, size_t *work_bytes);
void cuda_fft_destroy(cufft_plan *plan);

/** Give a plan its scratch and its stream. */
fbp_status cuda_fft_place(cufft_plan plan, void *work, cudaStream_t stream);

/** Transform in place, unscaled. */
fbp_status cuda_fft_run(cufft_plan plan, float2 *rows, bool inverse);

#endif /* FBP_SRC_CUDA_CUFFT_H */
