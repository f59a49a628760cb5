/** @file frame.h  Where a view stands about the rotation axis (internal; double, pure). */
#ifndef FBP_SRC_FRAME_H
#define FBP_SRC_FRAME_H

#include "fbp/geometry.h"

#include "base/vec.h"

/** The matrix of fbp_view_to_matrix(); false, without a message, if there is none. */
bool fbp_view_matrix(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                     double P[12]);

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

/**
 * Angle of the ray through `pixel` [mm] about the iso ray, seen along the axis; positive along +t.
 * With the source at angle phi, the same line is measured again from phi + pi - 2 gamma under
 * -gamma.  Parallel: 0.
 */
double fbp_ray_gamma(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_frame *frame,
                     const double pixel[3]);

/** Signed distance of that ray from the axis, seen along the axis [mm]; positive along +t. */
double fbp_ray_distance(const struct fbp_view *view, enum fbp_kind kind,
                        const struct fbp_frame *frame, const double pixel[3]);

#endif /* FBP_SRC_FRAME_H */
