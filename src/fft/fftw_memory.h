/** @file fftw_memory.h  What FFTW's allocator needs to know of its planner (internal). */
#ifndef FBP_SRC_FFTW_MEMORY_H
#define FBP_SRC_FFTW_MEMORY_H

#include "base/status.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

/** A reserve for plans of up to n points, until fbp_fftw_release(); its pieces may be in use for
 *  longer.  For transforms that take memory while they are computed it stays. */
fbp_status fbp_fftw_reserve(size_t n);
void fbp_fftw_release(void);

/** Where this thread goes on if even the reserve was too small; NULL: nowhere. */
void fbp_fftw_escape(jmp_buf *to);

/** For tests: from now on the system denies FFTW all memory. */
void fbp_fftw_deny(bool deny);

#endif /* FBP_SRC_FFTW_MEMORY_H */
