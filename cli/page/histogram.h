/** @file histogram.h  A histogram whose range grows with the values, in one pass. */
#ifndef FBP_CLI_HISTOGRAM_H
#define FBP_CLI_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 4096 };

/** Bin i counts values in [lo + i width, lo + (i+1) width).  Where a value lies outside, pairs of
 *  bins become one, until it lies inside: no count is estimated.  Starts as {.step = …}. */
struct histogram {
    double step; /**< distance of the values, if they are whole multiples of it; 0: they are not */
    double lo, width;
    uint64_t counts[HISTOGRAM_BINS];
    bool begun;
    double only;     /**< until there are two different values: the one there is */
    uint64_t n_only; /**< and how often */
};

/** Count n values; those that are not finite are left out. */
void histogram_add(struct histogram *h, const float *values, size_t n);

/** All counts as at most `most` bins over the values; returns how many there are.  Each bin is that
 *  of *lo, *width and counts[].  No values: 0. */
size_t histogram_tell(const struct histogram *h, size_t most, double *lo, double *width,
                      uint64_t *counts);

#endif /* FBP_CLI_HISTOGRAM_H */
