/** @file euler.h  Turns about z, x and z (internal). */
#ifndef FBP_SRC_PHANTOM_EULER_H
#define FBP_SRC_PHANTOM_EULER_H

#include <math.h>

/** The axes of a body, one a row, that was turned about z by turns[2], then about x by turns[1],
 * then about z by turns[0], always about those of the world [rad]: the columns of Rz(turns[0])
 * Rx(turns[1]) Rz(turns[2]). */
static inline void fbp_euler_axes(const double turns[3], double axes[3][3])
{
    const double ca = cos(turns[0]), cb = cos(turns[1]), cc = cos(turns[2]);
    const double sa = sin(turns[0]), sb = sin(turns[1]), sc = sin(turns[2]);

    axes[0][0] = ca * cc - sa * cb * sc;
    axes[0][1] = sa * cc + ca * cb * sc;
    axes[0][2] = sb * sc;
    axes[1][0] = -ca * sc - sa * cb * cc;
    axes[1][1] = -sa * sc + ca * cb * cc;
    axes[1][2] = sb * cc;
    axes[2][0] = sa * sb;
    axes[2][1] = -ca * sb;
    axes[2][2] = cb;
}

#endif /* FBP_SRC_PHANTOM_EULER_H */
