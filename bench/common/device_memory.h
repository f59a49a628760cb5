/** @file device_memory.h  Device memory for views and volumes of benchmarks and tests (internal).
 */
#ifndef FBP_BENCH_COMMON_DEVICE_MEMORY_H
#define FBP_BENCH_COMMON_DEVICE_MEMORY_H

#include "fbp/types.h"

/** Allocate device memory on the first device that the text `device` names, such as "cuda:0".
 *  @return FBP_ERR_UNSUPPORTED if callers cannot allocate memory on this device. */
fbp_status fbp_bench_memory_alloc(const char *device, size_t bytes, void **out);
void fbp_bench_memory_release(const char *device, void *memory);

/** Copy `bytes` bytes between host and device memory, in either direction; returns when the copy is
 * done. */
fbp_status fbp_bench_memory_copy(const char *device, void *to, const void *from, size_t bytes);

#endif /* FBP_BENCH_COMMON_DEVICE_MEMORY_H */
