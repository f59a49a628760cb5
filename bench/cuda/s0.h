/** @file s0.h  Kernels of Okitsu, Ino and Hagihara (2008) (internal; C and CUDA).
 *
 * A plan never chooses them: `fbp bench okitsu2008` and `fbp bench ino2010` name them.
 */
#ifndef FBP_BENCH_CUDA_S0_H
#define FBP_BENCH_CUDA_S0_H

#include "backend/cuda/kernel.h"
#include "bench/papers/okitsu2008/rules.h"

FBP_BEGIN
/** The steps of the paper's Table 4 and their combinations (s0_ladder.cu); ended by a NULL name. */
extern const struct cuda_kernel cuda_s0_kernels[];

/** Convolve rows as cuda_convolve_rows() does (filter_kernels.h), one block per row, with row and
 * taps in shared memory; rows that do not fit are passed to cuda_convolve_rows(). */
cudaError_t cuda_s0_convolve(const float2 *in, unsigned n, unsigned length, const float *taps,
                             unsigned half_width, float2 *out, cudaStream_t stream);

/** Loops of the kernels; generated from their machine code, ended by capability 0. */
extern const struct s0_code cuda_s0_code[];
FBP_END

#endif /* FBP_BENCH_CUDA_S0_H */
