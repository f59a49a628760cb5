/** @file device_memory.h  Memory of a plan's device, for benchmarks (internal). */
#ifndef FBP_SRC_DEVICE_MEMORY_H
#define FBP_SRC_DEVICE_MEMORY_H

#include "fbp/recon.h"

/** On the first device of `device` ("name", "name:0"); FBP_ERR_UNSUPPORTED if callers can have none
 *  there. */
fbp_status fbp_device_memory_alloc(const char *device, size_t bytes, void **out);
void fbp_device_memory_release(const char *device, void *memory);

/** To it from the host's memory, or back; returns when it is done. */
fbp_status fbp_device_memory_copy(const char *device, void *to, const void *from, size_t bytes);

#endif /* FBP_SRC_DEVICE_MEMORY_H */
