/** @file histogram.h  A histogram whose range grows with the values, in one pass; used by reduced.c
 * and viewer.c. */
#ifndef FBP_CLI_HISTOGRAM_H
#define FBP_CLI_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 4096 };

/** Bin i counts values in [lo + i width, lo + (i+1) width).  If a value lies outside, pairs of bins
 *  are joined until the range contains it: all counts are exact.  Initialise with {.step = …}. */
struct histogram {
    double step; /**< distance of values that are multiples of it; 0: any values */
    double lo, width;
    uint64_t counts[HISTOGRAM_BINS];
    bool begun;      /**< the range is chosen: two different values were counted */
    double only;     /**< the only value so far; not used once begun */
    uint64_t n_only; /**< number of occurrences of `only` */
};

/** Count the finite ones of n values. */
void histogram_add(struct histogram *h, const float *values, size_t n);

/** Join the bins from the least to the greatest value to at most `most` bins: bin i has counts[i]
 *  values in [*lo + i *width, *lo + (i+1) *width).  counts: room for `most`.  Returns the number of
 *  bins; 0 without values. */
size_t histogram_tell(const struct histogram *h, size_t most, double *lo, double *width,
                      uint64_t *counts);

#endif /* FBP_CLI_HISTOGRAM_H */
