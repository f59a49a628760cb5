/** @file view.h  Views: checks, frames about the rotation axis, rotations (internal; double, pure).
 */
#ifndef FBP_SRC_VIEW_H
#define FBP_SRC_VIEW_H

#include "fbp/geometry.h"

#include "base/vec.h"

#include <stddef.h>

/* Where a view stands about the rotation axis (internal; double, pure). */

/** Rows of the inverse of the matrix with columns a, b, c, or columns of that with rows a, b, c;
 *  false if they are dependent. */
bool fbp_dual_basis(const double a[3], const double b[3], const double c[3], double out[3][3]);

/**
 * The ideal panel's axes for a source position: n from the axis towards the source, t the
 * direction in which the source moves counter-clockwise (an untilted panel's +u), a the axis.
 */
struct fbp_frame {
    double n[3], t[3], a[3];
    double radius; /**< distance of the source from the axis; 1 or less for a direction */
};

/** False if the source lies on the axis. */
bool fbp_frame_of(const struct fbp_view *view, const double axis[3], struct fbp_frame *out);

/** Angle of the source about the axis, (-pi, pi]; atan2(y, x) for axis z. */
double fbp_view_angle(const struct fbp_view *view, const double axis[3]);

/* Rotations as 3x3 matrices, row by row (internal; double, pure). */

/** out = A B */
static inline void fbp_matmul(const double A[9], const double B[9], double out[9])
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/** out = R x */
static inline void fbp_turned(const double R[9], const double x[3], double out[3])
{
    const double in[3] = {x[0], x[1], x[2]};

    for (size_t i = 0; i < 3; i++)
        out[i] = fbp_dot(R + 3 * i, in);
}

/** Right-handed by `angle` about a unit axis (Rodrigues). */
static inline void fbp_turn_about(const double axis[3], double angle, double R[9])
{
    const double c = cos(angle), s = sin(angle), a[3] = {axis[0], axis[1], axis[2]};
    const double cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            R[3 * i + j] = (i == j ? c : 0) + s * cross[3 * i + j] + (1 - c) * a[i] * a[j];
}

/** Rz(a[0]) Ry(a[1]) Rz(a[2]) */
static inline void fbp_turn_zyz(const double a[3], double R[9])
{
    static const double y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    double A[9], B[9], C[9], AB[9];

    fbp_turn_about(z, a[0], A);
    fbp_turn_about(y, a[1], B);
    fbp_turn_about(z, a[2], C);
    fbp_matmul(A, B, AB);
    fbp_matmul(AB, C, R);
}

/** Rz(a[2]) Ry(a[1]) Rx(a[0]): about x first. */
static inline void fbp_turn_zyx(const double a[3], double R[9])
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    double A[9], B[9], C[9], AB[9];

    fbp_turn_about(z, a[2], A);
    fbp_turn_about(y, a[1], B);
    fbp_turn_about(x, a[0], C);
    fbp_matmul(A, B, AB);
    fbp_matmul(AB, C, R);
}

#endif /* FBP_SRC_VIEW_H */
