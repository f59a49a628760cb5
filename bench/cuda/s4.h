/** @file s4.h  The kernels with the arguments of Qiao et al. (2015), and the table of their
 * functions (internal; C and CUDA). Included by entry.c, s4.c and s4.cu. */
#ifndef FBP_BENCH_CUDA_S4_H
#define FBP_BENCH_CUDA_S4_H

#include "backend/cuda/runtime.h"
#include "bench/common/modules.h"

FBP_BEGIN
/** A kernel, (object, projection, GX, GY, GZ, d_object, N, d_proj, Q, S).  counted: the same with
 *  a table of the threads that each multiprocessor has, (…, now, most); NULL: there is none. */
const void *cuda_s4_kernel(enum fbp_s4_kernel kernel, bool counted);

/** The slots (s4.c). */
extern const struct fbp_s4_kernels cuda_s4;
FBP_END

#endif /* FBP_BENCH_CUDA_S4_H */
