/** @file clock.h  Monotonic seconds (internal). */
#ifndef FBP_SRC_CLOCK_H
#define FBP_SRC_CLOCK_H

#include <time.h>

static inline double fbp_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif /* FBP_SRC_CLOCK_H */
