/** @file facts.h  Parts of fbp_views_facts() (internal; double, pure). */
#ifndef FBP_SRC_FACTS_H
#define FBP_SRC_FACTS_H

#include "geometry/coverage.h"
#include "geometry/view.h"

struct fbp_kind_table; /* geometry/kind.h */

/** Normal of the plane of the sources, upwards; z if that is as near as the sources are to a plane,
 *  or not clear.  Returns the angle between both [rad]: 0 if the axis is the normal. */
double fbp_axis_of(const struct fbp_view *views, size_t n_views, double axis[3]);

/**
 * Views whose rotation axis does not pass through the origin, moved so that the centre of their
 * circle does.  What depends on angles and distances from the axis is computed of these.
 *
 * own: copies that views->view then names; free() them.  NULL: the axis passes through the origin
 *      (within 0.1 % of the radius, or 3 times as far as the views lie off a circle), or is not
 *      determined; centre is 0.
 */
fbp_status fbp_views_centre(const struct fbp_kind_table *kind, struct fbp_views *views,
                            double centre[3], struct fbp_view **own);

/** enum fbp_symmetry flags that hold to 1e-9; grid may be NULL. */
unsigned fbp_symmetry_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                         const struct fbp_grid *grid);

/** What one view says.  lo is the side of -t, hi that of +t; fans in rad, distances in mm. */
struct fbp_view_facts {
    double sod, sdd, magnification;
    double edge_lo[2], edge_hi[2];   /**< fan angle, distance of the panel's outer edges */
    double pixel_lo[2], pixel_hi[2]; /**< the same of the outermost pixel centres */
    double axis_lo, axis_hi;         /**< part of the axis that falls on the rows [mm] */
    double tilt[3], skew;
    double lean; /**< of rows against the plane that the axis is normal to */
};

/** Which rays the views have measured about the axis. */
struct fbp_ray_coverage;
fbp_status fbp_coverage_of(struct fbp_ray_coverage *out, const struct fbp_kind_table *kind,
                           const struct fbp_views *views, const double axis[3]);

/** FBP_ERR_INVALID for a view that cannot be backprojected. */
fbp_status fbp_view_facts_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                             size_t k, const double axis[3], struct fbp_view_facts *out);

/** Views whose height is looked at. */
struct fbp_wander {
    const struct fbp_kind_table *kind;
    const struct fbp_views *views;
    const struct fbp_arc *arc; /**< of 2 pi */
    double axis[3];
    double radius; /**< of the field of view */
};

/** Fill wander_mm, seen_mm, pitch_mm, wander_error, rise_error; grid may be NULL. */
void fbp_wander_of(const struct fbp_wander *wander, const struct fbp_grid *grid,
                   struct fbp_geometry_facts *out);

/** The part of fbp_geometry_remark() about angles, gaps and units. */
bool fbp_angle_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf, size_t n);

#endif /* FBP_SRC_FACTS_H */
