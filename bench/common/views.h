/** @file views.h  Views to measure with, in the memory of the host: random samples, or integrals
 * of a head phantom (internal). Called by the commands that measure from memory. */
#ifndef FBP_BENCH_COMMON_VIEWS_H
#define FBP_BENCH_COMMON_VIEWS_H

#include "fbp/scan.h"

/** Density of the skull of the head phantom [1/mm]; tissue has a fifth of it, so that values are
 * near those of water. */
#define FBP_BENCH_WATER 0.02

/** The next pseudo-random number of a sequence; *state must not be 0. */
static inline uint32_t fbp_bench_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/** Convert a pseudo-random number to a float above 0 and up to 2. */
static inline float fbp_bench_sample(uint32_t number)
{
    return ((float)(number >> 9) + 1) * 0x1p-22f;
}

/** Fill views with pseudo-random numbers other than 0: FBP_F32 up to 2, or FBP_U16. n_threads 0:
 * all cores. */
fbp_status fbp_bench_random(const struct fbp_scan *scan, int n_threads, enum fbp_type type,
                            void *views);

/** Fill views with line or plane integrals of a head phantom in a cube of half side half_mm.
 * n_threads 0: all cores. */
fbp_status fbp_bench_project(const struct fbp_scan *scan, double half_mm, int n_threads,
                             float *views);

#endif /* FBP_BENCH_COMMON_VIEWS_H */
