/** @file vec.h  Dot and cross product of vectors with three components. */
#ifndef FBP_CLI_VEC_H
#define FBP_CLI_VEC_H

static inline double cli_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cli_cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

#endif /* FBP_CLI_VEC_H */
