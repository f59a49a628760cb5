/** @file kind.h  Kinds of geometry (cone, parallel, planes) as tables of functions, and facts of
 * scans (internal; double, pure).
 *
 * No code outside of the tables compares kinds (tests/house/kinds.sh): it takes a fact or a
 * function from the kind's table, because "cone, or else parallel" would be wrong for a third kind.
 *
 * A new kind is a value of enum fbp_kind and a table in kind.c.  Kinds of line integrals share
 * fbp_line_facts(), _rows() and _grid().  Tables of other folders have the index `integral`
 * (weight/weight.c, filter/design.c, phantom/simulate.c) and refuse kinds without an entry.  A
 * format of another program's geometries lists the kinds that it can hold (importers.h).
 */
#ifndef FBP_SRC_GEOMETRY_KIND_H
#define FBP_SRC_GEOMETRY_KIND_H

#include "geometry/view.h"

/** Domain of the integral that a sample of a view is. */
enum fbp_integral { FBP_OVER_LINES = 0, FBP_OVER_PLANES, FBP_N_INTEGRALS };

struct fbp_kind_table {
    const char *name;    /**< "cone", as in scan files */
    const char *refused; /**< reason why all calls refuse the kind, a clause for messages; NULL: it
                              is supported.  A refused kind has no functions */
    enum fbp_integral integral;
    bool has_source;   /**< s is the source, where rays meet; otherwise s is the direction towards
                            it, views half a turn apart measure the same rays, and distances have no
                            meaning */
    bool row_is_frame; /**< rows are repetitions of the same measurement: row r of all views yields
                            volume r */

    fbp_status (*check_view)(const struct fbp_view *view, size_t k); /**< NULL: nothing to check */
    bool (*matrix)(const struct fbp_view *view, const struct fbp_panel *panel, double P[12]);
    /** Distance of columns at the iso-centre [mm], of a view of line integrals with matrix P. */
    double (*pitch)(const struct fbp_view *view, const double P[12]);

    /** fbp_views_facts(), fbp_geometry_rows(), fbp_grid_default().  kind: this table. */
    fbp_status (*facts)(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        const struct fbp_grid *grid, struct fbp_geometry_facts *out);
    void (*rows)(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                 size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                 size_t *r1);
    void (*grid)(const struct fbp_kind_table *kind, const struct fbp_views *views,
                 struct fbp_grid *out);
};

/** Greatest number of kinds; values of enum fbp_kind are below. */
enum { FBP_MOST_KINDS = 8 };

/** The kind's table; an unknown kind has one that is refused, never NULL. */
const struct fbp_kind_table *fbp_kind_of(enum fbp_kind kind);

/** Supported kinds in the order of their numbers; names may be NULL.  Returns their number. */
size_t fbp_kinds(enum fbp_kind kinds[FBP_MOST_KINDS], const char *names[FBP_MOST_KINDS]);

/** Replace the table of `kind`; NULL: restore the built-in one.  For tests, before any other call.
 */
void fbp_kind_plug_in(enum fbp_kind kind, const struct fbp_kind_table *table);

/** FBP_ERR_INVALID for a number that is no kind, FBP_ERR_UNSUPPORTED for a refused kind.  where:
 * the beginning of the message. */
fbp_status fbp_check_kind(const char *where, enum fbp_kind kind);

/** The same for a kind's name; an unknown name is no error here. */
fbp_status fbp_check_kind_name(const char *where, const char *name);

/** fbp_check_kind(), and FBP_ERR_UNSUPPORTED for a kind without line integrals. */
fbp_status fbp_check_lines(const char *where, enum fbp_kind kind);

/** Number of volumes of a scan with this panel: its rows if each is a frame, else 1. */
size_t fbp_kind_frames(enum fbp_kind kind, const struct fbp_panel *panel);

/** Unit of a volume's values, "1/mm" or "1/cm^3", and its number per 1/mm or 1/mm^3. */
const char *fbp_value_unit(enum fbp_kind kind, enum fbp_unit unit);
double fbp_value_scale(enum fbp_kind kind, enum fbp_unit unit);

/** fbp_view_to_matrix() without a message; false: there is no matrix. */
bool fbp_view_matrix(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                     double P[12]);

/** FBP_ERR_INVALID for a scan without views or pixels. */
fbp_status fbp_check_views(const struct fbp_views *views);

/** Check lengths of a view whose values are finite; k: its index, for messages. */
fbp_status fbp_check_view(const struct fbp_kind_table *kind, const struct fbp_view *view, size_t k);

/** Unit vectors of plane integrals' views; *out: [n], free() it, also after an error. */
fbp_status fbp_planes_directions(const struct fbp_view *views, size_t n, double (**out)[3]);

/** fbp_views_facts() for the library's own struct. */
fbp_status fbp_facts_of(struct fbp_views views, const struct fbp_grid *grid,
                        struct fbp_geometry_facts *out);

/** Functions that kinds of line integrals share (facts.c). */
fbp_status fbp_line_facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                          const struct fbp_grid *grid, struct fbp_geometry_facts *out);
void fbp_line_rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                   size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                   size_t *r1);
void fbp_line_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                   struct fbp_grid *out);

/** Rotation axis: the upward normal of the plane of the sources; z if the normal is as close to z
 * as the sources lie to a plane, or not determined.  Returns the angle between both [rad], 0 if the
 *  axis is the normal. */
double fbp_axis_of(const struct fbp_view *views, size_t n_views, double axis[3]);

/**
 * Move views whose rotation axis does not pass through the origin; then the centre of their circle
 * is the origin.  Angles and distances from the axis are computed from the moved views.
 *
 * own: the moved copies, to which views->view points then; free() them.  NULL: the axis passes
 *      through the origin (within 0.1 % of the radius, or 3 times the distance of the views from a
 *      circle) or is not determined; centre is 0.
 */
fbp_status fbp_views_centre(const struct fbp_kind_table *kind, struct fbp_views *views,
                            double centre[3], struct fbp_view **own);

/** Facts of one view of line integrals.  lo: side of -t; hi: side of +t. */
struct fbp_view_facts {
    double sod, sdd;                 /**< [mm]; 0: the kind has no source */
    double magnification;            /**< sdd / sod on the iso ray */
    double edge_lo[2], edge_hi[2];   /**< panel's outer edges: fan angle [rad], distance [mm] */
    double pixel_lo[2], pixel_hi[2]; /**< outermost pixel centres, likewise */
    double axis_lo, axis_hi;         /**< part of the axis that is projected onto the rows [mm] */
    double tilt[3], skew;            /**< as in struct fbp_circle [rad] */
    double lean;                     /**< angle of rows to the plane normal to the axis [rad] */
};

/** Points of the axis [mm] that matrix P projects onto the lower and the upper edge of the panel.
 */
void fbp_axis_seen(const double P[12], const struct fbp_panel *panel, const double axis[3],
                   double z[2]);

/** FBP_ERR_INVALID for a view that cannot be backprojected. */
fbp_status fbp_view_facts_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                             size_t k, const double axis[3], struct fbp_view_facts *out);

/** Find the rays about the axis that the views have measured (coverage.h). */
struct fbp_ray_coverage;
fbp_status fbp_coverage_of(struct fbp_ray_coverage *out, const struct fbp_kind_table *kind,
                           const struct fbp_views *views, const double axis[3]);

#endif /* FBP_SRC_GEOMETRY_KIND_H */
