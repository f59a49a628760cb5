/** @file mem.h  Allocation with checked products and alignment (internal). */
#ifndef FBP_SRC_MEM_H
#define FBP_SRC_MEM_H

#include "base/status.h"

#include <stdlib.h>

/** Alignment of every sample and voxel buffer: a cache line and a 512-bit vector. */
enum { FBP_ALIGN = 64 };

/** a * b in *out; FBP_ERR_NOMEM naming `what` on overflow. */
fbp_status fbp_mul(size_t a, size_t b, const char *what, size_t *out);

/** FBP_ALIGN-aligned, not cleared; *out NULL on failure.  Large blocks are fresh pages, returned
 *  to the system on fbp_free, so that the resident set follows what is in use. */
fbp_status fbp_alloc(void **out, size_t bytes, const char *what);
void fbp_free(void *p);

/** n zeroed elements of `size`; free() them. */
fbp_status fbp_calloc(void **out, size_t n, size_t size, const char *what);

/** Resident set of this process now [bytes]; 0 where the system does not say. */
uint64_t fbp_resident_bytes(void);

/** The limit of fbp_limit_memory(); 0: none. */
uint64_t fbp_process_limit(void);

/** Memory that programs may still take without swapping [bytes]. */
uint64_t fbp_available_bytes(void);

#endif /* FBP_SRC_MEM_H */
