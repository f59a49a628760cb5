/** @file fft.h  FFTW, which neither shares its planner nor lives on without memory (internal).
 *
 * FFTW ends the process where an allocation fails, in its planner and, for long transforms, while
 * one is computed.  So its allocator is ours (fft_memory.c): what the system denies comes from a
 * reserve that was asked for before the planner is entered, where that can still fail with a
 * sentence.
 */
#ifndef FBP_SRC_FFT_H
#define FBP_SRC_FFT_H

#include "base/status.h"

#include <fftw3.h>
#include <stddef.h>

/** Makes plans, and may execute and destroy them. */
typedef void fbp_fft_fn(void *arg);

/**
 * Run fn(arg), which calls fftw_plan_* or fftwf_plan_*, alone of all threads.
 *
 * n  points of its longest transform
 * @return FBP_ERR_NOMEM if there is no memory for the planner
 */
fbp_status fbp_fft_plan(size_t n, fbp_fft_fn *fn, void *arg);

/** fftw_destroy_plan() and fftwf_destroy_plan(), alone of all threads; plans may be NULL. */
void fbp_fft_destroy(fftw_plan a, fftw_plan b);
void fbp_fft_destroyf(fftwf_plan a, fftwf_plan b);

/** For tests: from now on the system denies FFTW all memory, so that the reserve serves it. */
void fbp_fft_deny(bool deny);

#endif /* FBP_SRC_FFT_H */
