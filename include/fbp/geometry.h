/** @file geometry.h  Geometry of a scan: views, detector, volume, and facts that follow from them,
 * with remarks about these facts (fbp_geometry_remark()). Used by scan.h, most folders of src,
 * cli, bindings and programs.
 *
 *  Lengths are in mm, angles in radians, numbers in double.
 */
#ifndef FBP_GEOMETRY_H
#define FBP_GEOMETRY_H

#include "fbp/types.h"

FBP_BEGIN

/** Type of the measured integrals. */
enum fbp_kind {
    FBP_CONE = 0, /**< line integrals through a point source; a panel of one row is a fan beam */
    FBP_PARALLEL, /**< line integrals along one direction per view */
    FBP_PLANES,   /**< plane integrals along one direction per view (EPR imaging) */
};

/** Length unit of the values of a volume: 1/mm or 1/cm for line integrals, 1/mm^3 or 1/cm^3 for
 *  plane integrals.  Coordinates and lengths are always in mm, also in files. */
enum fbp_unit { FBP_UNIT_MM = 0, FBP_UNIT_CM };

/**
 * One view.  The world coordinates are right-handed, in mm; the rotation axis is z and the
 * iso-centre is 0.
 *
 *     pixel(c, r) = d + (c - (nc-1)/2) u + (r - (nr-1)/2) v,     0-based pixel centres
 *
 * cone:      s is the source.
 * parallel:  s points from the iso-centre towards the source (any length > 0); rays run along -s.
 * planes:    u = tau n with the unit normal n of the planes and the sample distance tau; s = v = 0.
 *            Sample c is the integral over the plane x . n = t, t = d . n + (c - (nc-1)/2) tau.
 */
struct fbp_view {
    /** Cone beam: position of the source [mm]; parallel beam: direction towards the source, of any
     * length; plane integrals: 0. */
    double s[3];
    double d[3]; /**< centre of the panel; plane integrals: centre of the row of samples [mm] */
    double u[3]; /**< step from column c to c+1 [mm] */
    double v[3]; /**< step from row r to r+1 [mm]; planes: 0 */
};

/** Size of the detector [pixels].  Plane integrals: columns are samples of a view, rows are time
 * points. */
struct fbp_panel {
    size_t n_columns, n_rows;
};

/** A volume of n voxels along x, y, z.  n[0] == 0: no volume is given. */
struct fbp_grid {
    size_t n[3];
    double voxel_mm[3];
    /** Centre of the n[0] x n[1] x n[2] voxels. */
    double centre_mm[3];
};

/** World coordinate [mm] of the centre of voxel `i` (0-based, may be fractional) along `axis`. */
FBP_API double fbp_grid_coordinate(const struct fbp_grid *g, int axis, double i);

/**
 * Compute the 3x4 matrix of a view, row-major: (c, r, 1) w = P (x, y, z, 1).
 *
 * cone:      P = A [I | -s], A = inv([u v d0-s]), d0 = pixel(0, 0); w is 1 on the detector plane
 *            and SOD/SDD at the iso-centre.
 * parallel:  the third row is (0, 0, 0, 1).
 * planes:    rows (n/tau, -t0/tau), (0, 0, 0, 0), (0, 0, 0, 1), with t0 the t of sample 0.
 * @return FBP_ERR_INVALID if u, v and the ray through the panel are not independent, or if a plane
 *         view has step 0; FBP_ERR_INVALID or FBP_ERR_UNSUPPORTED if the kind is not supported.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_view_to_matrix(const struct fbp_view *view,
                                                     enum fbp_kind kind,
                                                     const struct fbp_panel *panel, double P[12]);

/**
 * A circular scan, described by angles and distances.  Without offset, tilt and skew, the view at
 * angle t is (struct fbp_view)
 *
 *     cone:      s = sod (cos t, sin t, 0)      d = (sod - sdd) (cos t, sin t, 0)
 *     parallel:  s = (cos t, sin t, 0)          d = 0
 *     both:      u = pitch_mm[0] (-sin t, cos t, 0)      v = pitch_mm[1] (0, 0, 1)
 *
 * Row 0 of a view is the lowest row, unless row_order is FBP_ROWS_TOP_DOWN.  Angles increase in
 * counter-clockwise scans as seen from +z, and decrease in clockwise scans.
 */
struct fbp_circle {
    size_t struct_size;
    enum fbp_kind kind; /**< cone or parallel beams */
    size_t n_views;
    const double *angles_rad; /**< [n_views] angle t of each view [radians] */
    /** sod_mm: distances from source to axis; sdd_mm: distances from source to panel [mm].  Each
     * list has one number per view, or one for all views. */
    const double *sod_mm, *sdd_mm;
    size_t n_sod, n_sdd; /**< number of values in sod_mm and in sdd_mm: 1 or n_views; ignored for
                            FBP_PARALLEL */
    double pitch_mm[2];  /**< distance between pixel centres along u, v [mm] */
    double offset_mm[2]; /**< shift of the panel's centre along +u, +v, before the tilt [mm] */
    /** Tilt of the panel [radians]: rotations about the panel's u, then about its v, then about its
     * normal, each about the axis as the previous rotations left it.  Magnitudes below pi/2. */
    double tilt_rad[3];
    /** Skew of the pixel grid: rotation of v towards +u [radians]; magnitude below pi/4. */
    double skew_rad;
    const double (*offsets_mm)[2]; /**< [n_views] as offset_mm, of each view; NULL: offset_mm */
};

/** Reversals that a wrong description of a scan causes, and that fbp_scan_flip() corrects; flags.
 */
enum fbp_flip {
    FBP_FLIP_U = 1 << 0,         /**< columns in reverse order */
    FBP_FLIP_V = 1 << 1,         /**< rows in reverse order */
    FBP_FLIP_DIRECTION = 1 << 2, /**< opposite direction of rotation; view 0 keeps its angle */
};

/** Part of the circle that the views cover. */
enum fbp_coverage {
    /** Full turn: every line through the field of view is measured from both sides; with an offset
     * panel, from at least one side.  Plane integrals: the directions have no gap. */
    FBP_COVERAGE_FULL = 0,
    /** Less than a full turn, but every line through the field of view is measured: at least 180
       degrees + fan angle.  Parallel beam: the views cover 180 degrees, in any order. */
    FBP_COVERAGE_SHORT,
    FBP_COVERAGE_PARTIAL, /**< some lines through the field of view are not measured, or the
                             directions of planes have a gap: the volume is not determined */
};

/** Symmetries that scan and volume have in common; flags. */
enum fbp_symmetry {
    /** In every view, detector column and depth (w of the matrix) of a voxel do not depend on z. */
    FBP_SYM_COLUMN = 1 << 0,
    /** View k + K/2 (modulo K) of K views is view k rotated by 180 degrees about z; the grid is
     * centred on z. */
    FBP_SYM_ROT180 = 1 << 1,
    /** View k + K/4 (modulo K) of K views is view k rotated by 90 or -90 degrees about z, the same
     * for all k; the grid is square and centred on z. */
    FBP_SYM_ROT90 = 1 << 2,
};

/** Facts that follow from a geometry.  They determine the weights and the kernel of a plan, and
 *  `fbp geometry check` prints them. */
struct fbp_geometry_facts {
    size_t struct_size;
    double axis[3]; /**< unit vector of the rotation axis: z, or fitted to the sources */
    /** Least and greatest distance from source to iso-centre; 0: parallel beam. */
    double sod_mm[2];
    /** Least and greatest distance from source to panel along the panel's normal; 0: parallel
     * beam. */
    double sdd_mm[2];
    double magnification; /**< mean magnification at the iso-centre, sdd / sod; parallel beam: 1 */
    /** Direction of rotation: +1 counter-clockwise seen from +axis, -1 clockwise, 0: fewer than 9
     * of 10 steps between successive views have the same direction. */
    int direction;
    /** Angle of the view at the clockwise end of the arc that the views cover; full turn: angle of
     * view 0 [radians]. */
    double start_rad;
    /** Arc that the views cover, including half an angular step at both ends; 2 pi for a full turn,
     * 0 if all views are at one angle [radians]. */
    double arc_rad;
    /** Largest angle between neighbouring views, minus the median of these angles [radians].  In a
     * parallel beam that covers less than a full turn, without offset panel, view angles that
     * differ by pi count as equal. */
    double gap_rad;
    /** Least, median and greatest angle between neighbouring views inside the arc [radians]. */
    double step_rad[3];
    /** Least and greatest fan angle, over the views, of rays to the panel's outer edges [radians];
     * positive on the side to which the source moves in a counter-clockwise turn (+u for the views
     * of a struct fbp_circle). */
    double fan_rad[2];
    /** Least and greatest distance from the axis to the rays that hit the panel's outer edges [mm],
     * with the sign of fan_rad.  Plane integrals: least and greatest plane position t. */
    double edge_mm[2];
    enum fbp_coverage coverage;
    double needed_rad; /**< least arc that determines the volume: pi + fan angle; parallel: pi;
                          offset panel: 2 pi */
    /** True: the panel is off centre, so some lines are measured from one side only (Wang's weights
     * or, if per_ray is true, weights per ray). */
    bool offset;
    /** Offset panel, unless per_ray is true: rays with fan angles up to this magnitude are measured
     * from both sides [radians]; parallel beam: 0. */
    double overlap_rad;
    /** Offset panel, unless per_ray is true: greatest distance from the axis of rays that are
     * measured from both sides [mm]. */
    double overlap_mm;
    /** Radius of the field of view around the axis.  Every view sees the whole field of view;
     * with an offset panel or weights per ray, a view may see only a part of it. */
    double fov_radius_mm;
    /** Field of view along the axis: least and greatest z on the axis that every view sees [mm]. */
    double fov_half_height_mm[2];
    /** Greatest magnitude over the views of the panel's rotation about [0] u, [1] v, [2] its normal
     * [radians]. */
    double tilt_rad[3];
    double skew_rad;    /**< greatest deviation of the angle between u and v from a right angle
                           [radians] */
    unsigned symmetry;  /**< common symmetries of the scan and the grid (enum fbp_symmetry) */
    bool volume_inside; /**< true: the corner voxels of the grid lie inside the field of view */
    double volume_radius_mm; /**< greatest distance of a voxel centre of the grid from the axis */
    /** Line integrals: number of different view angles; with fewer than 3, the coverage is partial.
     * In a parallel beam that covers less than a full turn, without offset panel, angles that
     * differ by pi count as one.  Plane integrals: number of different directions; opposite ones
     * count as one. */
    size_t n_angles;
    /** Largest angle between neighbouring directions of measured rays, at the distance from the
     * axis where it is largest [radians].  If it is much larger than the step between views, the
     * coverage is partial. */
    double direction_gap_rad;
    /** Axial drift: each view sees a part of the axis; distance between the lowest and the highest
     * middle of these parts [mm]. */
    double axial_drift_mm;
    double seen_mm; /**< mean length of the part of the axis that a view sees [mm] */
    /** Helix: axial drift per counter-clockwise turn, positive along +axis [mm]; 0: the drift is
     * not proportional to the angle. */
    double pitch_mm;
    /** Expected loss of a small ball's value, as a fraction of the value, near the middle of the
     * field of view, because the views drift along the axis but the reconstruction assumes a
     * circle. */
    double axial_drift_error;
    /** Mean angle between detector rows and the plane of rotation [radians]. */
    double row_tilt_rad;
    /** Fraction of a small ball's value that is lost because its rays are inclined to the plane of
     * rotation: 1 - cos(inclination), mean over the views.  The ball is in the middle of the grid
     * or, without a grid, of the part of the axis that the views see. */
    double cone_angle_error;
    /** Plane integrals.  `axis` is z, and only these angles are set:
     *  - n_angles: number of different directions (n and -n are one direction);
     *  - step_rad: twice the radius of a direction's Voronoi cell, median over the directions;
     *  - direction_gap_rad: diameter of the largest circle on the sphere without a direction;
     *  - gap_rad: direction_gap_rad if it counts as a gap (the coverage is then partial), else 0.
     *  The field of view is a ball, and volume_radius_mm is measured from the iso-centre.
     *  spacing_mm: least distance between neighbouring samples of a view; line integrals: 0. */
    double spacing_mm;
    /** Plane integrals: greatest radius of an object that n_angles directions reconstruct without
     * streaks if the filter's cut-off is 1; at cut-off c, 1/c times as large. */
    double alias_free_mm;
    /** Line integrals.  True: redundancy weights are computed per ray, because Parker's and Wang's
     * weights do not apply: the views have different detector offsets or, in a cone beam, the turn
     * has several gaps. */
    bool per_ray;
    /** Line integrals: radius around the axis within which every line was measured; 0: some lines
     * through the axis itself were not measured. */
    double complete_radius_mm;
    /** Line integrals: expected relative error of the method for the mean of a small ball: in the
     * middle of the volume, at its rim in the central plane, at its top and at its bottom (the
     * worse of axis and rim).  Set by fbp_scan_facts() with a grid, and by plans; else 0. */
    double method_error[4];
    /** Line integrals: expected relative error of voxels (rms) because of the missing rays in the
     * largest gap between ray directions (direction_gap_rad); 0: the gap is not much larger than
     * the step between views. */
    double gap_error;
};

/** Write remark i = 0, 1, … about expected errors of a reconstruction to buf[n], one sentence (400
 *  bytes are enough).  Returns false if there is no such remark. */
FBP_API bool fbp_geometry_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf,
                                 size_t n);

FBP_END

#endif /* FBP_GEOMETRY_H */
