/** @file coverage.h  Angles of the views on the circle, and how often each ray is measured
 * (internal; double). */
#ifndef FBP_SRC_COVERAGE_H
#define FBP_SRC_COVERAGE_H

#include "fbp/geometry.h"

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The views' angles as one arc of a circle (internal; double, pure).
 *
 * Angles of a parallel beam count modulo pi, period_rad, unless its panel is offset: a view and the
 * one opposite measure the same rays.  In a fan the ray under gamma of a view at beta has the
 * direction beta + gamma, and is measured again, if at all, under -gamma at beta + pi - 2 gamma.
 */

struct fbp_arc {
    size_t n;
    double *step;     /**< share of the arc, a view: half the way to both neighbours, at an end
                           as far out as in; views at one angle share; adds up to arc_rad */
    double *position; /**< angle counter-clockwise from the arc's beginning, a view; 0 … arc_rad */
    double *cell;     /**< [view][2]: where that share begins and ends, of all views at the angle */
    bool full;        /**< no gap that a scan would call one */
    size_t n_gaps;    /**< gaps above fbp_arc_largest_step() */
    size_t n_angles;  /**< that are different */
    double start_rad;   /**< angle of the first view of the arc (view 0 of a full one) */
    double arc_rad;     /**< the period if full or of one angle, else half a step beyond both ends
                             included (of pi: half the gap if random angles leave such gaps) */
    double gap_rad;     /**< largest gap less the median step */
    double step_rad[3]; /**< least, median, greatest step inside the arc */
    double direction_gap_rad; /**< largest gap between directions of rays, of the columns of the
                                   fan where it is largest */
    double usual_gap_rad;     /**< gaps beyond this mean missing views: 4 median steps, 2 degrees,
                                   or what angles drawn at random leave; not above 45 degrees or
                                   1.5 median steps */
    int direction; /**< +1 if angles ascend in 9 of 10 steps of the acquisition, -1, else 0 */
};

/** Largest of m ascending gaps that is still a step; a larger one is a gap, where views are
 * missing: 1.5 median steps, 2.5 if that is below 90 degrees, or what angles drawn at random leave.
 */
double fbp_arc_largest_step(const double *gaps, size_t m);

/** period_rad: pi or 2 pi; fan_rad: the whole fan.  The arc is cut at its largest gap: of 2 pi if
 *  that exceeds fbp_arc_largest_step(), or if there are two angles only; of pi if it exceeds
 *  usual_gap_rad. */
fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                          const double axis[3], double period_rad, double fan_rad);

/** As fbp_arc_create() of a full turn or half turn whatever its gaps: the views at both sides of a
 *  gap stand for it. */
fbp_status fbp_arc_create_closed(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                                 const double axis[3], double period_rad);
void fbp_arc_clear(struct fbp_arc *arc);

/* Which rays a circular scan has measured, how often, and what a sample counts
 * for it (internal; double, pure).
 *
 * A ray is (beta, x): the angle of its source about the axis, and its fan angle gamma, or its
 * signed distance from the axis in a parallel beam.  The same line is measured from the other side
 * as (beta + pi - 2 gamma, -x), with gamma = 0 in a parallel beam.
 *
 * Views whose detector stands at one offset from the axis form a group.  A view stands for the
 * angles up to half way to its neighbours in the group, gaps included, so that the views beside a
 * gap fill it.  Each group has a confidence C(beta, x), which falls smoothly towards a detector
 * edge beyond which others have measured, and to 0 in a gap all of whose rays others have measured.
 * (Where only some were, whole projections from beside the gap keep means right, and a mixture does
 * not.)  The weight of a view is the integral over its angles of
 *
 *     m_i(beta, x) = 2 C_i(beta, x) / sum_j [C_j(beta, x) + C_j(beta + pi - 2 gamma, -x)],
 *
 * the sum over all groups, so that all measurements of a line add up to 2.  Wang (Med. Phys. 29,
 * 2002) for an offset detector and Parker (Med. Phys. 9, 1982) for a short scan are special cases.
 */

struct fbp_ray_coverage {
    bool source; /**< x is an angle */
    size_t n_views;
    size_t n_groups;
    struct fbp_coverage_group *group;
    struct fbp_coverage_view *view; /**< [n_views] */
};

/**
 * angle: of the sources about the axis; edge: x of the outermost pixel centres of each view.  Views
 * whose detector offsets differ by less than a twentieth of its width belong to one group.
 */
fbp_status fbp_coverage_create(struct fbp_ray_coverage *out, bool source, size_t n_views,
                               const double *angle, const double (*edge)[2]);
void fbp_coverage_clear(struct fbp_ray_coverage *coverage);

/** Largest range of directions [rad] over which no line at x was measured from either side. */
double fbp_coverage_gap(const struct fbp_ray_coverage *coverage, double x);

/** Angular step times redundancy weight of a view's ray [rad]. */
double fbp_coverage_weight(const struct fbp_ray_coverage *coverage, size_t view, double x);

/** Angular step of a view among its group's, gaps included [rad]. */
double fbp_coverage_step(const struct fbp_ray_coverage *coverage, size_t view);

#endif /* FBP_SRC_COVERAGE_H */
