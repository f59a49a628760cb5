/** @file frame.h  Where a view stands about the rotation axis (internal; double, pure). */
#ifndef FBP_SRC_FRAME_H
#define FBP_SRC_FRAME_H

#include "fbp/geometry.h"

#include "base/vec.h"

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

#endif /* FBP_SRC_FRAME_H */
