/** @file kind.h  Kinds of geometry (cone, parallel, planes) as tables of functions, and facts of
 * scans (internal; double, pure functions).
 *
 * Code outside of the tables does not compare kinds (tests/house/kinds.sh).  It uses a member or a
 * function of the kind's table, because "cone, or else parallel" would be wrong for a third kind.
 *
 * A new kind consists of a value of enum fbp_kind and a table in kind.c.  Kinds of line integrals
 * share fbp_line_facts(), _rows() and _grid().  Tables in other files are indexed by `integral`
 * (filter_of in pipeline/job.c, integral_of in phantom/simulate.c).  A format of another program's
 * geometries lists the kinds that it can write (scan/format/importers.h).
 * Used by: bench/, cli/, analysis/, backend/, geometry/, phantom/, picture/, pipeline/, prep/,
 * scan/, weight/.
 */
#ifndef FBP_SRC_GEOMETRY_KIND_H
#define FBP_SRC_GEOMETRY_KIND_H

#include "geometry/view.h"

/** Domain of integration of one sample of a view. */
enum fbp_integral { FBP_OVER_LINES = 0, FBP_OVER_PLANES, FBP_N_INTEGRALS };

struct fbp_kind_table {
    const char *name; /**< name in scan files, such as "cone" */
    enum fbp_integral integral;
    /** True: s is the source, where rays meet.  False: s is the direction towards the source, views
     * half a turn apart measure the same rays, and distances have no meaning. */
    bool has_source;
    /** True: each row is a measurement of its own; row r of all views yields volume r. */
    bool row_is_frame;

    /** Checks view k; NULL: nothing to check. */
    fbp_status (*check_view)(const struct fbp_view *view, size_t k);
    bool (*matrix)(const struct fbp_view *view, const struct fbp_panel *panel, double P[12]);
    /** Column pitch at the iso-centre [mm] of a view of line integrals with matrix P. */
    double (*pitch)(const struct fbp_view *view, const double P[12]);

    /** Implementations of fbp_views_facts(), fbp_geometry_rows() and fbp_grid_default() for this
     * kind of geometry; argument `kind` points to the table that contains them. */
    fbp_status (*facts)(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        const struct fbp_grid *grid, struct fbp_geometry_facts *out);
    void (*rows)(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                 size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                 size_t *r1);
    void (*grid)(const struct fbp_kind_table *kind, const struct fbp_views *views,
                 struct fbp_grid *out);
};

/** Number of geometry kinds. */
enum { FBP_N_KINDS = FBP_PLANES + 1 };

/** Table of a geometry kind; never NULL: a table without functions for other numbers. */
const struct fbp_kind_table *fbp_kind_of(enum fbp_kind kind);

/** Check that a number is a geometry kind, else FBP_ERR_INVALID; `where` begins the message. */
fbp_status fbp_check_kind(const char *where, enum fbp_kind kind);

/** Check that a number is a geometry kind (else FBP_ERR_INVALID), and one of line integrals (else
 * FBP_ERR_UNSUPPORTED).  where: beginning of the message. */
fbp_status fbp_check_lines(const char *where, enum fbp_kind kind);

/** Number of volumes of a scan: one per detector row of plane integrals, else 1. */
size_t fbp_kind_frames(enum fbp_kind kind, const struct fbp_panel *panel);

/** Unit of a volume's values, such as "1/cm^3", and its factor from 1/mm (planes: 1/mm^3). */
const char *fbp_value_unit(enum fbp_kind kind, enum fbp_unit unit);
double fbp_value_scale(enum fbp_kind kind, enum fbp_unit unit);

/** Compute the 3x4 matrix of a view without an error message; false: it has no matrix. */
bool fbp_view_matrix(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                     double P[12]);

/** Check that a scan has views and pixels, else FBP_ERR_INVALID. */
fbp_status fbp_check_views(const struct fbp_views *views);

/** Check the lengths of the vectors d, u, v (and s) of a view; k: its index, for messages. */
fbp_status fbp_check_view(const struct fbp_kind_table *kind, const struct fbp_view *view, size_t k);

/** Directions of n views of plane integrals, unit vectors; *out: [n], freed by the caller. */
fbp_status fbp_planes_directions(const struct fbp_view *views, size_t n, double (**out)[3]);

/** Functions of facts.c that all kinds of line integrals share. */
fbp_status fbp_line_facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                          const struct fbp_grid *grid, struct fbp_geometry_facts *out);
void fbp_line_rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                   size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                   size_t *r1);
void fbp_line_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                   struct fbp_grid *out);

/** Find the rotation axis: the upward normal of the plane of the sources; z if the normal is
 * undetermined, or so near to z that the sources' scatter explains the angle. Returns the angle
 * between normal and axis [rad], or 0. */
double fbp_axis_of(const struct fbp_view *views, size_t n_views, double axis[3]);

/** Describe views by angles and distances; the lists of *out are in numbers[5 views->n].  False:
 * the views are not those of a circular scan about the axis z. */
bool fbp_circle_of(const struct fbp_views *views, struct fbp_circle *out, double *numbers);

/**
 * Move views whose rotation axis does not pass through the origin: the centre of their circle
 * becomes the origin. Angles and distances from the axis are computed from the moved views.
 *
 * own  *own: the moved copies, to which views->views points; freed by the caller. NULL: the axis is
 *      undetermined or passes through the origin (within 0.1 % of the radius, or 3 times the views'
 *      deviation from a circle); centre is 0 then.
 */
fbp_status fbp_views_centre(const struct fbp_kind_table *kind, struct fbp_views *views,
                            double centre[3], struct fbp_view **own);

/** Facts about one view of line integrals.  lo, hi: sides of the panel along -t and +t; t:
 * direction of the source's counter-clockwise motion (struct fbp_frame). */
struct fbp_view_facts {
    double sod, sdd; /**< distances from the source to the axis, and to the panel along its normal
                        [mm]; 0: no source */
    double magnification; /**< sdd / sod on the ray through the iso-centre, or 1 */
    /** Rays to the panel's outer edges: [0] fan angle [rad], [1] distance from the axis [mm]. */
    double edge_lo[2], edge_hi[2];
    /** Rays to the outermost pixel centres: [0] fan angle [rad], [1] distance to axis [mm]. */
    double pixel_lo[2], pixel_hi[2];
    double axis_lo, axis_hi; /**< part of the axis that is projected onto the panel's rows [mm] */
    double tilt[3], skew;    /**< as in struct fbp_circle [rad] */
    double row_tilt;         /**< angle between the rows and the plane normal to the axis [rad] */
};

/** Positions z on the axis [mm] that matrix P projects onto the panel's lower and upper edge. */
void fbp_axis_seen(const double P[12], const struct fbp_panel *panel, const double axis[3],
                   double z[2]);

/** Compute the facts of view k; FBP_ERR_INVALID if the view cannot be backprojected. */
fbp_status fbp_view_facts_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                             size_t k, const double axis[3], struct fbp_view_facts *out);

/** Compute how often the views of line integrals measure each ray (coverage.h). */
struct fbp_ray_coverage;
fbp_status fbp_coverage_of(struct fbp_ray_coverage *out, const struct fbp_kind_table *kind,
                           const struct fbp_views *views, const double axis[3]);

/** Name of a kind as in scan files, such as "cone"; "unknown" if the number is no kind. */
const char *fbp_kind_name(enum fbp_kind kind);

/** Name of geometry kind i = 0, 1, …; NULL beyond the last kind. */
const char *fbp_kind_listed(size_t i);

/** Name of a unit: "mm", "cm"; NULL beyond the last unit. */
const char *fbp_unit_name(size_t i);

/** True if the rays of a view meet in a source (cone); only then do views have source distances. */
bool fbp_kind_has_source(enum fbp_kind kind);

/** True if samples are integrals over lines (cone, parallel), false if over planes. */
bool fbp_kind_has_lines(enum fbp_kind kind);

/**
 * Check that the views of a scan can be reconstructed as a circular scan.
 * @return FBP_ERR_INVALID if all views are at one angle; FBP_ERR_UNSUPPORTED if axial_drift_error
 *         exceeds 1 %: the message contains the pitch of the helix, if the path is one.
 */
fbp_status fbp_geometry_circular(const struct fbp_geometry_facts *facts);

/** Detector rows [*r0, *r1) that slices [z0, z1) need from views [k0, k1); planes: all. */
fbp_status fbp_geometry_rows(struct fbp_views views, size_t k0, size_t k1,
                             const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                             size_t *r1);

/** Compute the default grid of a scan. Line integrals: the field of view, with voxels of the column
 * pitch at the iso-centre (pitch times SOD/SDD). Plane integrals: a cube whose side is the diameter
 * of the field of view over sqrt(2), with the least distance between samples. */
fbp_status fbp_grid_default(struct fbp_views views, struct fbp_grid *out);

/**
 * Compute the facts of views and of a grid, which may be NULL.  If the call fails because of the
 * grid, or because of the panel's position relative to the axis, the facts of the views are set
 * (n_angles > 0).
 * @return FBP_ERR_INVALID: no views, the volume or the axis contains a source, the panel is on the
 *         wrong side or seen edge-on, or values are not finite.
 */
fbp_status fbp_views_facts(struct fbp_views views, const struct fbp_grid *grid,
                           struct fbp_geometry_facts *out);

#endif /* FBP_SRC_GEOMETRY_KIND_H */
