/** @file sort.h  Numbers in order (internal). */
#ifndef FBP_SRC_SORT_H
#define FBP_SRC_SORT_H

#include <stdlib.h>

/** Order of doubles, or of structs that begin with one. */
static inline int fbp_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Least first. */
static inline void fbp_sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, fbp_by_value);
}

#endif /* FBP_SRC_SORT_H */
