/** @file geometry.h  Views, detectors and volumes, in mm and double. */
#ifndef FBP_GEOMETRY_H
#define FBP_GEOMETRY_H

#include "fbp/types.h"

FBP_BEGIN

/** Type of the measured integrals. */
enum fbp_kind {
    FBP_CONE = 0, /**< line integrals through a point source; one row = fan beam */
    FBP_PARALLEL, /**< line integrals along one direction per view */
    FBP_PLANES,   /**< plane integrals along one direction per view (EPR imaging) */
};

/** "cone", as in scan files; "unknown" if the number is no kind. */
FBP_API const char *fbp_kind_name(enum fbp_kind kind);

/** Names of all kinds, i from 0: "" if no kind has this number, NULL beyond the last.  *refused:
 * the reason why no call accepts the kind, or NULL; refused may be NULL. */
FBP_API const char *fbp_kind_listed(size_t i, const char **refused);

/** True if all rays of a view meet in a source; otherwise there are no distances from it. */
FBP_API bool fbp_kind_has_source(enum fbp_kind kind);

/** True if a sample is an integral over a line; otherwise over a plane, without a detector. */
FBP_API bool fbp_kind_has_lines(enum fbp_kind kind);

/** The length in the unit of a volume's values, which are 1/mm or 1/cm; of plane integrals 1/mm^3
 * or 1/cm^3.  Lengths themselves are mm, in files, too. */
enum fbp_unit { FBP_UNIT_MM = 0, FBP_UNIT_CM };

/** "mm", "cm"; NULL beyond the last. */
FBP_API const char *fbp_unit_name(enum fbp_unit unit);

/**
 * One view.  World: right-handed, mm, rotation axis z, iso-centre 0.
 *
 *     pixel(c, r) = d + (c - (nc-1)/2) u + (r - (nr-1)/2) v,     0-based pixel centres
 *
 * cone:      s is the source.
 * parallel:  s is the unit vector towards the source; rays run along -s.
 * planes:    u = tau n, n the unit normal of the planes and tau the distance of samples; s and v
 * are 0.  Sample c is the integral over the plane x . n = t, t = d . n + (c - (nc-1)/2) tau.
 */
struct fbp_view {
    double s[3]; /**< source [mm], or direction towards it */
    double d[3]; /**< centre of the panel [mm] */
    double u[3]; /**< step from column c to c+1 [mm] */
    double v[3]; /**< step from row r to r+1 [mm] */
};

/** Size of the detector, in pixels. */
struct fbp_panel {
    size_t n_columns, n_rows;
};

/** Views of one kind on one panel, as one argument.  The caller owns the views. */
struct fbp_views {
    enum fbp_kind kind;
    size_t n;
    struct fbp_panel panel;
    const struct fbp_view *view; /**< [n] */
};

/** A volume: n voxels along x, y, z.  n[0] == 0 means "not given". */
struct fbp_grid {
    size_t n[3];
    double voxel_mm[3];
    double centre_mm[3]; /**< centre of the whole grid */
};

/** World coordinate of the centre of voxel `i` along `axis`. */
FBP_API double fbp_grid_coordinate(const struct fbp_grid *g, int axis, double i);

/** Position of pixel (c, r) [mm]. */
FBP_API void fbp_view_pixel(const struct fbp_view *view, const struct fbp_panel *panel, double c,
                            double r, double out[3]);

/**
 * The 3x4 matrix of a view, row-major: (c, r, 1) w = P (x, y, z, 1).
 *
 * cone: P = A [I | -s], A = inv([u v d0-s]); w is 1 on the detector plane, SOD/SDD at the
 * iso-centre.  parallel: third row (0, 0, 0, 1).  planes: rows (n/tau, -t0/tau), (0, 0, 0, 0),
 * (0, 0, 0, 1), t0 the place of sample 0.
 * @return FBP_ERR_INVALID if u, v and the ray through the panel are not independent.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_view_to_matrix(const struct fbp_view *view,
                                                     enum fbp_kind kind,
                                                     const struct fbp_panel *panel, double P[12]);

/**
 * The cone-beam view of a 3x4 matrix.  The matrix may have any scale and sign; it needs one length,
 * the column pitch.  Skew and unequal pitches are kept.
 * @return FBP_ERR_INVALID if the left 3x3 block is singular (a parallel or degenerate matrix) or
 *         the iso-centre lies in the source plane.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_view_from_matrix(const double P[12], double pitch_u_mm,
                                                       const struct fbp_panel *panel,
                                                       struct fbp_view *out);

/** A circular scan, described by angles and distances. */
struct fbp_circle {
    size_t struct_size;
    enum fbp_kind kind; /**< CONE or PARALLEL */
    size_t n_views;
    const double *angles_rad; /**< n_views; source at (d cos t, d sin t, 0) */
    const double *sod_mm,
        *sdd_mm;         /**< one value per view (n_sod, n_sdd == n_views) or one for all */
    size_t n_sod, n_sdd; /**< 1 or n_views; ignored for PARALLEL */
    double pitch_mm[2];  /**< along u, v */
    double offset_mm[2]; /**< panel centre along +u, +v */
    double tilt_rad[3];  /**< turns of the panel about its own u, then its v, then its normal;
                              each axis has moved with the turns before */
    double skew_rad;     /**< v is turned by this angle towards +u */
};

/**
 * Fill views[n_views].  Without tilt, u points along (-sin t, cos t, 0), and v along z.  Turns are
 * right-handed, about the centre of the panel.  Each is about the panel's own u, v or normal u x v,
 * which has moved with the turns before: R = Ru Rv Rn.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_circle_views(const struct fbp_circle *circle,
                                                   struct fbp_view *views);

/** Errors in the orientation of a scan; flags. */
enum fbp_flip {
    FBP_FLIP_U = 1 << 0,         /**< columns in reverse order */
    FBP_FLIP_V = 1 << 1,         /**< rows in reverse order */
    FBP_FLIP_DIRECTION = 1 << 2, /**< reverse rotation; view 0 does not move */
};

/** Flip views[n_views].  Two equal flips undo each other. */
FBP_API void fbp_views_flip(struct fbp_view *views, size_t n_views, unsigned flips);

/** Part of the circle that the views cover. */
enum fbp_coverage {
    FBP_COVERAGE_FULL = 0, /**< a whole turn: every ray is measured twice */
    FBP_COVERAGE_SHORT,    /**< rays of all directions: at least 180 degrees + fan; of a parallel
                                beam, views in any order that cover 180 degrees */
    FBP_COVERAGE_PARTIAL,  /**< less: the data do not determine the volume */
};

/** Symmetries that both the scan and the volume have; flags. */
enum fbp_symmetry {
    FBP_SYM_COLUMN = 1 << 0, /**< u and w of a voxel do not depend on z, in any view */
    FBP_SYM_ROT180 = 1 << 1, /**< view k + K/2 is view k turned by 180 degrees, grid centred */
    FBP_SYM_ROT90 =
        1 << 2, /**< view k + K/4 is view k turned by 90 or -90 degrees, grid square, centred */
};

/** Facts that follow from a geometry.  The choice of weights and kernels depends on them, and `fbp
 *  geometry check` prints them. */
struct fbp_geometry_facts {
    size_t struct_size;
    double axis[3];   /**< unit vector of the rotation axis; z, or found from the sources */
    double sod_mm[2]; /**< least and greatest distance from source to iso-centre; 0 for parallel */
    double sdd_mm[2]; /**< least and greatest distance from source to panel, along its normal */
    double magnification; /**< mean of sdd/sod along the ray of the iso-centre; 1 for parallel */
    int direction;        /**< +1 counter-clockwise as seen from +axis, -1 clockwise, 0 no order */
    double start_rad;   /**< angle of the first view of the arc; the arc goes counter-clockwise from
                           it */
    double arc_rad;     /**< angle covered, with half a step added at both ends; 2 pi for full, 0
                             for views at one angle */
    double gap_rad;     /**< largest gap between neighbouring views, minus one median step; of
                             parallel beams, unless full: modulo pi, like the steps */
    double step_rad[3]; /**< least, median and greatest step inside the arc */
    double fan_rad[2];  /**< least and greatest fan angle, to the panel's outer edges; positive
                             where the source moves if it turns counter-clockwise (+u of the views
                             of a circle) */
    double edge_mm[2];  /**< distances of the same rays from the axis; signed */
    enum fbp_coverage coverage;
    double needed_rad;  /**< least arc that determines the volume: pi + fan, or pi */
    bool offset;        /**< the panel is so far off centre that Wang's weights are needed */
    double overlap_rad; /**< half width of the part of the fan that is measured twice, > 0; only if
                             `offset` */
    double overlap_mm;  /**< the same as a distance from the axis (for parallel beams) */
    double fov_radius_mm; /**< radius around the axis that is seen from all needed directions */
    double fov_half_height_mm[2]; /**< least and greatest z on the axis that every view sees */
    double tilt_rad[3];           /**< greatest |turn| of the panel about u, v and its normal */
    double skew_rad;              /**< greatest deviation of u and v from a right angle */
    unsigned symmetry;            /**< enum fbp_symmetry flags, of scan and grid */
    bool volume_inside;           /**< the corners of the grid lie inside the field of view */
    double volume_radius_mm;      /**< greatest distance of a voxel centre from the axis */
    size_t n_angles;          /**< number of different angles of views (parallel beam, unless full:
                                   modulo pi); with fewer than 3 the coverage is partial */
    double direction_gap_rad; /**< largest gap between the directions of rays, over all columns
                                   of the fan; if it is more than a few steps, the coverage is
                                   partial */
    double wander_mm;         /**< axial drift: movement along the axis of the middle of the part of
                                   the axis that a view sees */
    double seen_mm;           /**< mean length of this part */
    double pitch_mm;          /**< that movement in one turn, along +axis for counter-clockwise
                                   turns, if it is steady, as in a helix; else 0 */
    double wander_error;      /**< part of a ball near the middle that a circular
                                   reconstruction loses because of that movement */
    double lean_rad;          /**< angle between rows and the plane perpendicular to the axis,
                                   mean over the views */
    double lean_error;        /**< 0: plans resample views of rolled detectors */
    double rise_error;        /**< part of a ball in the middle of the grid (or of the seen part
                                   of the axis) that is lost because rays there leave the plane
                                   of rotation, by the angle acos(1 - rise_error) */
    /** For plane integrals the axis above is z, and only these angles are set: n_angles, the number
     *  of different directions (n and -n are one); step_rad, twice the usual distance of a point of
     *  the sphere from the nearest direction; direction_gap_rad, the diameter of the largest circle
     *  on the sphere without a direction, and gap_rad the same if it is a gap (then the coverage is
     *  partial).  The field of view is a ball, and volume_radius_mm is measured from the
     * iso-centre.
     */
    double spacing_mm; /**< least distance of samples */
    double
        alias_free_mm; /**< radius within which this number of directions images an object
                            without streaks at cut-off 1; at cut-off c it is 1/c times as large */
    /* For line integrals: */
    bool per_ray; /**< neither Parker's nor Wang's weights apply (two detector offsets, gaps in the
                       turn of an offset detector, several gaps): redundancy is weighted per ray */
    double complete_radius_mm; /**< radius around the axis within which every line was measured; 0:
                                    some directions were not measured anywhere */
    double method_error[4]; /**< set by fbp_geometry_errors() and plans, else 0: expected relative
                                 error of the method for the mean of a small ball: in the middle
                                 of the volume, at its rim in the central plane, at its top and at
                                 its bottom (the worst of axis and rim) */
    double gap_error;       /**< expected relative error of values (rms), because neighbouring views
                                 fill direction_gap_rad; 0: it is not much larger than a step */
};

/**
 * Compute the facts of views and of a grid, which may be NULL.  If the call fails because of the
 * grid, or because of the panel's position relative to the axis, the facts of the views are set
 * (n_angles > 0).
 * @return FBP_ERR_INVALID: no views, the volume or the axis contains the source, the panel is on
 * the wrong side or seen edge-on, or values are not finite.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_views_facts(struct fbp_views views,
                                                  const struct fbp_grid *grid,
                                                  struct fbp_geometry_facts *out);

/**
 * Set facts->method_error for a volume.  Feldkamp's method reconstructs a small ball at p with the
 * mean 1/(2 pi) sum_n dbeta_n m_n R_n |t x q| / |q|^2, q = p - source, m_n the redundancy weight,
 * R_n the source's distance from the axis and t the direction in which it moves: on the axis of a
 * full turn with the cosine of the ray's elevation (of its frequencies those near the axis are in
 * no plane through the source path), of a short scan also because its weights add up in the central
 * plane only.
 *
 * @param facts  of these views and this grid: fbp_views_facts()
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_errors(struct fbp_views views,
                                                      const struct fbp_grid *grid,
                                                      struct fbp_geometry_facts *facts);

/**
 * Check that these views can be reconstructed as a circular scan.
 * @return FBP_ERR_INVALID if all of them are at one angle, FBP_ERR_UNSUPPORTED if wander_error
 *         exceeds 1 %; the message has the pitch of the helix.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_circular(const struct fbp_geometry_facts *facts);

/** Remark i = 0, 1, … about errors to expect in a reconstruction, a sentence in buf[n] (300 bytes
 * are enough); false if there is no such remark. */
FBP_API bool fbp_geometry_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf,
                                 size_t n);

/** Detector rows [*r0, *r1) that slices [z0, z1) need from views [k0, k1). */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_rows(struct fbp_views views, size_t k0, size_t k1,
                                                    const struct fbp_grid *grid, size_t z0,
                                                    size_t z1, size_t *r0, size_t *r1);

/** The grid of a scan that has none: covers the field of view, voxel = pitch SOD/SDD.  planes: a
 * cube whose side is the field of view over sqrt(2), voxel = the least distance of samples. */
FBP_API FBP_MUST_CHECK fbp_status fbp_grid_default(struct fbp_views views, struct fbp_grid *out);

FBP_END

#endif /* FBP_GEOMETRY_H */
