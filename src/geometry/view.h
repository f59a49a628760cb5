/** @file view.h Internal functions on single views (struct fbp_view): create them from a 3x4
 * matrix, a circular scan or a direction, flip them, compute their angle, axes and pixel positions.
 * Also: corners of a grid, and rotations of vectors in double precision.
 * Used by: bench/, cli/, analysis/, backend/, geometry/, picture/, pipeline/, scan/. */
#ifndef FBP_SRC_VIEW_H
#define FBP_SRC_VIEW_H

#include "fbp/geometry.h"

#include "base/math.h"

#include <stddef.h>

/** Rows of the inverse of the matrix with columns a, b, c; false: linearly dependent. */
bool fbp_dual_basis(const double a[3], const double b[3], const double c[3], double out[3][3]);

/** Unit vectors of the ideal panel of a view: n from the rotation axis to the source, a along the
 * axis, t = a x n the direction of the source's counter-clockwise motion (+u of an untilted panel).
 */
struct fbp_frame {
    double n[3], t[3], a[3];
    double radius; /**< distance of the source (parallel beam: end of s) from the axis [mm] */
};

/** Compute the axes of the ideal panel of a view; false if the source lies on the rotation axis. */
bool fbp_frame_of(const struct fbp_view *view, const double axis[3], struct fbp_frame *out);

/** Angle of the source (parallel beam: of vector s) about the axis [rad], in (-pi, pi]; for axis z:
 * atan2(s[1], s[0]). */
double fbp_view_angle(const struct fbp_view *view, const double axis[3]);

/** Get the world position [mm] of the centre of corner voxel i, 0 to 7, of a grid: if bit j of i is
 * set, it is the last voxel along axis j, else the first. */
static inline void fbp_grid_corner(const struct fbp_grid *g, int i, double out[3])
{
    for (int j = 0; j < 3; j++)
        out[j] = fbp_grid_coordinate(g, j, i >> j & 1 ? (double)g->n[j] - 1 : 0);
}

/** Project the point x [mm] to column cr[0] and row cr[1] by a 3x4 matrix; false: the point is not
 * in front of the source. */
static inline bool fbp_project(const double P[12], const double x[3], double cr[2])
{
    const double w = fbp_dot(P + 8, x) + P[11];

    cr[0] = (fbp_dot(P, x) + P[3]) / w;
    cr[1] = (fbp_dot(P + 4, x) + P[7]) / w;
    return w > 0;
}

/** Rotate orthogonal unit vectors in their plane, from a to b, by `angle` [rad]. */
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

/** Matrix R of a right-handed rotation by `angle` [rad] about a unit vector (Rodrigues). */
static inline void fbp_turn_about(const double axis[3], double angle, double R[9])
{
    const double c = cos(angle), s = sin(angle), a[3] = {axis[0], axis[1], axis[2]};
    const double cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            R[3 * i + j] = (i == j ? c : 0) + s * cross[3 * i + j] + (1 - c) * a[i] * a[j];
}

/** Flip views in place; flips: flags of enum fbp_flip. The same call restores the views. */
void fbp_views_flip(struct fbp_view *views, size_t n_views, unsigned flips);

/** World position [mm] of the centre of pixel (column c, row r), which may be fractional. */
void fbp_view_pixel(const struct fbp_view *view, const struct fbp_panel *panel, double c, double r,
                    double out[3]);

/** Views, with the kind of integrals and the panel that they share; passed to functions as one
 * argument. The caller owns the array `view`. */
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
