/** @file view.h  Axes of a view relative to the rotation axis, corners of a grid, and rotations
 * (internal; double, pure functions). src/geometry, src/weight, src/scan, src/phantom,
 * src/pipeline, src/picture, cli and benchmarks use it.
 * Used by: bench/, cli/, geometry/, picture/, pipeline/, scan/. */
#ifndef FBP_SRC_VIEW_H
#define FBP_SRC_VIEW_H

#include "fbp/geometry.h"

#include "base/math.h"

#include <stddef.h>

/** Compute the rows of the inverse of the matrix with columns a, b, c; false if a, b, c are
 * linearly dependent. */
bool fbp_dual_basis(const double a[3], const double b[3], const double c[3], double out[3][3]);

/**
 * Axes of the ideal panel for a source position: n points from the axis to the source, t is the
 * direction of the source's counter-clockwise motion (+u of an untilted panel), a is the axis.
 */
struct fbp_frame {
    double n[3], t[3], a[3];
    double radius; /**< distance of the source from the axis [mm]; parallel beam: distance of the
                      end of vector s */
};

/** Compute the axes of the ideal panel of a view; false if the source lies on the rotation axis. */
bool fbp_frame_of(const struct fbp_view *view, const double axis[3], struct fbp_frame *out);

/** Get the angle of the source about the axis, (-pi, pi]; atan2(y, x) for axis z. */
double fbp_view_angle(const struct fbp_view *view, const double axis[3]);

/** Get the centre of corner voxel i, 0 to 7, of a grid; bit j of i: the last voxel along axis j. */
static inline void fbp_grid_corner(const struct fbp_grid *g, int i, double out[3])
{
    for (int j = 0; j < 3; j++)
        out[j] = fbp_grid_coordinate(g, j, i >> j & 1 ? (double)g->n[j] - 1 : 0);
}

/** Rotate a towards b by an angle; a and b are unit vectors at right angles. */
static inline void fbp_turn_pair(double a[3], double b[3], double angle)
{
    const double c = cos(angle), s = sin(angle);

    for (int i = 0; i < 3; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

/* Rotations are 3x3 matrices, row by row. */

/** out = A B, row by row */
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

/** Compute the matrix R of a right-handed rotation by `angle` about a unit axis (Rodrigues). */
static inline void fbp_turn_about(const double axis[3], double angle, double R[9])
{
    const double c = cos(angle), s = sin(angle), a[3] = {axis[0], axis[1], axis[2]};
    const double cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            R[3 * i + j] = (i == j ? c : 0) + s * cross[3 * i + j] + (1 - c) * a[i] * a[j];
}

/** Flip views[n_views] in place; flips: enum fbp_flip.  The same call again restores the views. */
void fbp_views_flip(struct fbp_view *views, size_t n_views, unsigned flips);

/** Compute the world position of pixel (c, r) [mm]; c and r may be fractional. */
void fbp_view_pixel(const struct fbp_view *view, const struct fbp_panel *panel, double c, double r,
                    double out[3]);

/** Views of one kind on one panel, as one argument of functions.  The caller owns the views. */
struct fbp_views {
    enum fbp_kind kind;
    size_t n;
    struct fbp_panel panel;
    const struct fbp_view *view; /**< [n] */
};

/**
 * Compute the cone-beam view of a 3x4 matrix.  The matrix may have any scale and sign.  It contains
 * no length, therefore the column pitch is required [mm].  Skew and unequal pitches are kept.
 * @return FBP_ERR_INVALID if the left 3x3 block is singular (a parallel or degenerate matrix), if
 *         the iso-centre lies in the source plane, or if the pitch is out of range.
 */
fbp_status fbp_view_from_matrix(const double P[12], double pitch_u_mm,
                                const struct fbp_panel *panel, struct fbp_view *out);

/**
 * Compute views[n_views] of a circular scan.  Without tilt, u points along (-sin t, cos t, 0) and v
 * along z.  Tilts are right-handed rotations about the centre of the panel: R = Ru Rv Rn, each
 * about the panel's own u, v or normal u x v, which the previous rotations have moved.
 * @return FBP_ERR_INVALID if values are out of range, or if sdd < sod; FBP_ERR_UNSUPPORTED for
 *         plane integrals.
 */
fbp_status fbp_circle_views(const struct fbp_circle *circle, struct fbp_view *views);

/** Compute a view of integrals over planes normal to the unit vector `direction`: n_samples
 * samples, the first at first_mm from the origin, spacing_mm apart. */
void fbp_plane_view(const double direction[3], double spacing_mm, double first_mm, size_t n_samples,
                    struct fbp_view *out);

#endif /* FBP_SRC_VIEW_H */
