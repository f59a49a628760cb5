/** @file geometry.h  Views, detectors, volumes: the canonical form, in mm and double. */
#ifndef FBP_GEOMETRY_H
#define FBP_GEOMETRY_H

#include "fbp/types.h"

FBP_BEGIN

/** What a view measures. */
enum fbp_kind {
    FBP_CONE = 0, /**< line integrals through a point source; one row = fan beam */
    FBP_PARALLEL, /**< line integrals along one direction a view */
    FBP_PLANES,   /**< plane integrals along one direction a view (EPR imaging): every call
                       refuses it with FBP_ERR_UNSUPPORTED */
};

/** "cone", as scan files say it; "unknown" of a number that is no kind. */
FBP_API const char *fbp_kind_name(enum fbp_kind kind);

/** Do all rays of a view meet in a source?  Otherwise it has no distances. */
FBP_API bool fbp_kind_has_source(enum fbp_kind kind);

/**
 * One view.  World: right-handed, mm, rotation axis z, iso-centre 0.
 *
 *     pixel(c, r) = d + (c - (nc-1)/2) u + (r - (nr-1)/2) v,     0-based pixel centres
 *
 * cone:      s is the source.
 * parallel:  s is the unit vector towards the source; rays run along -s.
 */
struct fbp_view {
    double s[3]; /**< source [mm], or direction towards it */
    double d[3]; /**< centre of the panel [mm] */
    double u[3]; /**< step from column c to c+1 [mm] */
    double v[3]; /**< step from row r to r+1 [mm] */
};

/** Shape of the detector, in pixels. */
struct fbp_panel {
    size_t n_columns, n_rows;
};

/** Views of one kind on one panel, as one argument.  The views themselves stay the caller's. */
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
    double centre_mm[3]; /**< of the whole grid */
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
 * iso-centre.  parallel: third row (0, 0, 0, 1).
 * @return FBP_ERR_INVALID if u, v and the ray through the panel are not independent.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_view_to_matrix(const struct fbp_view *view,
                                                     enum fbp_kind kind,
                                                     const struct fbp_panel *panel, double P[12]);

/**
 * The cone-beam view of a 3x4 matrix of any scale and sign, given one length, the column pitch.
 * Skew and unequal pitches survive.
 * @return FBP_ERR_INVALID if the left 3x3 block is singular (a parallel or degenerate matrix) or
 *         the iso-centre lies in the source plane.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_view_from_matrix(const double P[12], double pitch_u_mm,
                                                       const struct fbp_panel *panel,
                                                       struct fbp_view *out);

/** A circular scan as people describe it. */
struct fbp_circle {
    size_t struct_size;
    enum fbp_kind kind; /**< CONE or PARALLEL */
    size_t n_views;
    const double *angles_rad;      /**< n_views; source at (d cos t, d sin t, 0) */
    const double *sod_mm, *sdd_mm; /**< one value a view (n_sod, n_sdd == n_views) or one for all */
    size_t n_sod, n_sdd;           /**< 1 or n_views; ignored for PARALLEL */
    double pitch_mm[2];            /**< along u, v */
    double offset_mm[2];           /**< panel centre along +u, +v */
    double tilt_rad[3];            /**< panel turned about its own u, then about its v and then its
                                        normal as the turns before have left them */
    double skew_rad;               /**< v leans by this towards +u */
};

/**
 * Fill views[n_views].  Untilted: u along (-sin t, cos t, 0), v along z.  Turns are right-handed,
 * about the panel's centre, and each is about the panel's own u, v or normal u x v as the turns
 * before have left it: R = Ru Rv Rn.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_circle_views(const struct fbp_circle *circle,
                                                   struct fbp_view *views);

/** Ways to misread a scan; flags. */
enum fbp_flip {
    FBP_FLIP_U = 1 << 0,         /**< columns run the other way */
    FBP_FLIP_V = 1 << 1,         /**< rows run the other way */
    FBP_FLIP_DIRECTION = 1 << 2, /**< the source goes round the other way; view 0 stays */
};

/** Change views[n_views] as if the scan had been read so; twice is as never. */
FBP_API void fbp_views_flip(struct fbp_view *views, size_t n_views, unsigned flips);

/** How much of the circle was measured. */
enum fbp_coverage {
    FBP_COVERAGE_FULL = 0, /**< a whole turn: every ray twice */
    FBP_COVERAGE_SHORT,    /**< rays of all directions: at least 180 degrees + fan; views of a
                                parallel beam, wherever they stand, that fill 180 degrees */
    FBP_COVERAGE_PARTIAL,  /**< less: the reconstruction is not determined */
};

/** Symmetries that scan and volume share; flags. */
enum fbp_symmetry {
    FBP_SYM_COLUMN = 1 << 0, /**< u and w of a voxel do not depend on z, in any view */
    FBP_SYM_MIRROR = 1 << 1, /**< z -> -z maps detector rows r -> nr-1-r and the grid onto itself */
    FBP_SYM_ROT180 = 1 << 2, /**< view k + K/2 is view k turned by 180 degrees, grid centred */
    FBP_SYM_ROT90 =
        1 << 3, /**< view k + K/4 is view k turned by 90 or -90 degrees, grid square, centred */
};

/** What a geometry implies; all that the engine decides by, and `fbp geometry check` prints. */
struct fbp_geometry_facts {
    size_t struct_size;
    double axis[3];       /**< unit rotation axis; z unless the sources say otherwise */
    double sod_mm[2];     /**< least, greatest source to iso-centre distance; 0 for parallel */
    double sdd_mm[2];     /**< least, greatest distance source to panel along the normal */
    double magnification; /**< mean of sdd/sod along the iso ray; 1 for parallel */
    int direction;        /**< +1 counter-clockwise seen from +axis, -1 clockwise, 0 unordered */
    double start_rad;     /**< angle of the first view of the arc, counter-clockwise from it */
    double arc_rad;       /**< angle covered, half a step beyond both ends; 2 pi for full, 0 for
                               views at one angle */
    double gap_rad;       /**< largest gap between neighbouring views, minus one median step;
                               parallel beam, unless full: modulo pi, as are the steps */
    double step_rad[3];   /**< least, median, greatest step inside the arc */
    double fan_rad[2];    /**< least, greatest fan angle of the panel's outer edges; positive the
                               way the source moves counter-clockwise (+u of a circle's views) */
    double edge_mm[2];    /**< the same as distances of those rays from the axis; signed */
    enum fbp_coverage coverage;
    double needed_rad;    /**< arc that determines the volume: pi + fan, or pi */
    bool offset;          /**< panel so far off centre that rays are weighted (Wang) */
    double overlap_rad;   /**< half width of the doubly measured fan, 0 < overlap; offset only */
    double overlap_mm;    /**< the same as a distance from the axis (used for parallel) */
    double fov_radius_mm; /**< radius about the axis seen from every needed direction */
    double fov_half_height_mm[2]; /**< least and greatest z seen on the axis by every view */
    double tilt_rad[3];           /**< greatest |turn| of the panel about u, v, normal */
    double skew_rad;              /**< greatest deviation of (u, v) from a right angle */
    unsigned symmetry;            /**< enum fbp_symmetry flags; of scan and grid together */
    bool volume_inside;           /**< the grid's corners stay inside the field of view */
    double volume_radius_mm;      /**< greatest distance of a voxel centre from the axis */
    size_t n_angles;              /**< different angles that views stand at (parallel beam, unless
                                       full: modulo pi); fewer than 3 are partial, whatever lies
                                       between them */
    double direction_gap_rad;     /**< largest gap between the directions of rays, of all columns
                                       of the fan; beyond a few steps the coverage is partial */
    double wander_mm;             /**< how far along the axis the middle of what a view sees of it
                                       moves from view to view */
    double seen_mm;               /**< how much of the axis a view sees, on average */
    double pitch_mm;              /**< of that movement a turn, along +axis for counter-clockwise
                                       turns; 0 unless it is steady, as that of a helix */
    double wander_error;          /**< part of a ball near the middle that a circular
                                       reconstruction loses because of it */
    double lean_rad;              /**< by how much rows lean against the plane that the axis is
                                       normal to, mean over the views */
    double lean_error;            /**< offset only: by what part values near the axis deviate, up
                                       and down (rms), because of that */
    double rise_error;            /**< part of a ball in the middle of the grid (or of what views
                                       see of the axis) that is lost because rays rise there out
                                       of the plane of the turn, by acos(1 - rise_error) */
};

/**
 * Work out the facts of views and (if not NULL) a grid.  Where these fail on the panel's
 * place beside the axis or on the grid, those of the views are set (n_angles > 0).
 * @return FBP_ERR_INVALID for no views, a volume or axis through the source, a panel on the wrong
 *         side or seen edge-on, values that are not finite.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_views_facts(struct fbp_views views,
                                                  const struct fbp_grid *grid,
                                                  struct fbp_geometry_facts *out);

/**
 * Can a circular reconstruction take these views?
 * @return FBP_ERR_INVALID if all of them stand at one angle, FBP_ERR_UNSUPPORTED if wander_error
 *         exceeds 1 %, with the pitch of a helix.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_circular(const struct fbp_geometry_facts *facts);

/** Remark i = 0, 1, … for people, about what a reconstruction will not quite do justice to; false
 * if there are no more.  n: size of buf; 300 are enough. */
FBP_API bool fbp_geometry_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf,
                                 size_t n);

/** Detector rows [*r0, *r1) that hold every tap of slices [z0, z1) in views [k0, k1). */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_rows(struct fbp_views views, size_t k0, size_t k1,
                                                    const struct fbp_grid *grid, size_t z0,
                                                    size_t z1, size_t *r0, size_t *r1);

/** The grid used where a scan names none: covers the field of view, voxel = pitch SOD/SDD. */
FBP_API FBP_MUST_CHECK fbp_status fbp_grid_default(struct fbp_views views, struct fbp_grid *out);

FBP_END

#endif /* FBP_GEOMETRY_H */
