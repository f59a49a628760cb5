/** @file geometry_rtk.h  RTK's nine parameters of a projection (internal; double, pure).
 *
 * RTK's axis of rotation is y; (x, y, z) of this program is (x, -z, y) of RTK.  Axes of a panel,
 * the rows of R = Rz(-in_plane) Rx(-out_of_plane) Ry(-gantry), are its u, its v and the normal
 * towards the source.  In them the source is at (source, sid), and the point (U, V) of the
 * projection's image at (projection + (U, V), sid - sdd).
 * RTK, documentation/docs/Geometry.md, src/rtkThreeDCircularProjectionGeometry.cxx.
 */
#ifndef FBP_SRC_GEOMETRY_RTK_H
#define FBP_SRC_GEOMETRY_RTK_H

#include "fbp/geometry.h"

struct fbp_rtk {
    double gantry_rad, out_of_plane_rad, in_plane_rad;
    double sid_mm,
        sdd_mm; /**< source to iso-centre, to the panel, along its normal; sdd 0: parallel */
    double source_mm[2], projection_mm[2]; /**< offsets along u, v */
};

/** The view: a panel of this pitch [mm] whose centre is the point `centre` of the image [mm]. */
void fbp_rtk_view(const struct fbp_rtk *p, const double pitch[2], const double centre[2],
                  struct fbp_view *out);

/** The parameters of a view whose panel's centre is the point (0, 0) of the image.  u, v and, for a
 *  parallel beam, s must be orthogonal, u x v on the source's side. */
void fbp_rtk_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_rtk *out);

/** RTK's matrix: (U, V, 1) w = M (x, y, z, 1) of RTK's axes, w -sid at the iso-centre (parallel:
 *  1), row by row. */
void fbp_rtk_matrix(const struct fbp_rtk *p, double M[12]);

#endif /* FBP_SRC_GEOMETRY_RTK_H */
