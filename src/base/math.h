/** @file math.h  Vectors of three doubles, sorting of doubles, and pi.
 * Used by: bench/, cli/, analysis/, array/, backend/, fft/, filter/, geometry/, phantom/,
 * picture/, pipeline/, prep/, scan/, weight/. */
#ifndef FBP_SRC_BASE_MATH_H
#define FBP_SRC_BASE_MATH_H

#include <math.h>
#include <stdlib.h>

#define FBP_PI 3.14159265358979323846

static inline double fbp_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double fbp_norm(const double a[3])
{
    return sqrt(fbp_dot(a, a));
}

static inline void fbp_cross(const double a[3], const double b[3], double out[3])
{
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

/** out = a + k b */
static inline void fbp_axpy(const double a[3], double k, const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[i] + k * b[i];
}

/** Scale a vector to length 1, unless its length is 0; returns the old length. */
static inline double fbp_normalise(double a[3])
{
    const double n = fbp_norm(a);
    for (int i = 0; n > 0 && i < 3; i++)
        a[i] /= n;
    return n;
}

/** Compare doubles, or structs that begin with one, for qsort(). */
static inline int fbp_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Sort in ascending order. */
static inline void fbp_sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, fbp_by_value);
}

#endif /* FBP_SRC_BASE_MATH_H */
