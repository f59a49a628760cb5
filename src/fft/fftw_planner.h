/** @file fftw_planner.h  FFTW's planner, which is shared by nobody and does not live on without
 *  memory (internal).
 *
 * FFTW ends the process where an allocation fails, in its planner and, for long transforms, while
 * one is computed.  So its allocator is ours (fftw_memory.c): what the system denies comes from a
 * reserve that was asked for before the planner is entered, where that can still fail with a
 * sentence.
 */
#ifndef FBP_SRC_FFTW_PLANNER_H
#define FBP_SRC_FFTW_PLANNER_H

#include "base/status.h"

#include <stddef.h>

/** Calls FFTW. */
typedef void fbp_fftw_fn(void *arg);

/**
 * Run fn(arg), which calls fftw_plan_* or fftwf_plan_* and may execute and destroy plans, alone of
 * all threads.
 *
 * n  points of its longest transform
 * @return FBP_ERR_NOMEM if there is no memory for the planner
 */
fbp_status fbp_fftw_plan(size_t n, fbp_fftw_fn *fn, void *arg);

/** Run fn(arg), which destroys plans, alone of all threads. */
void fbp_fftw_alone(fbp_fftw_fn *fn, void *arg);

#endif /* FBP_SRC_FFTW_PLANNER_H */
