/** @file coverage.h  Angles of the views on the circle, and how often each ray is measured
 * (internal; double, pure).  geometry/facts.c and weight/weight.c use both. */
#ifndef FBP_SRC_COVERAGE_H
#define FBP_SRC_COVERAGE_H

#include "fbp/geometry.h"

#include "base/base.h"

/**
 * The views' angles as one arc of a circle.
 *
 * Angles of a parallel beam count modulo pi, unless its panel is offset: a view and the opposite
 * one measure the same rays.  In a fan the ray under gamma of a view at beta has the direction beta
 * + gamma, and is measured again, if at all, under -gamma at beta + pi - 2 gamma.
 */
struct fbp_arc {
    size_t n;
    double *step; /**< [n] share of the arc of each view [rad]: half the way to both neighbours, at
                       an end as far outwards as inwards; views at one angle share it; the sum is
                       arc_rad */
    double *position;   /**< [n] angle counter-clockwise from the arc's beginning, 0 … arc_rad */
    double *cell;       /**< [n][2] where the share begins and ends, of all views at the angle */
    bool full;          /**< no gap is larger than the largest step */
    size_t n_gaps;      /**< number of gaps above the largest step */
    size_t n_angles;    /**< number of different angles */
    double start_rad;   /**< angle of the first view of the arc (view 0 of a full arc) */
    double arc_rad;     /**< the period if the arc is full or has one angle, else with half a step
                             beyond both ends (of pi: half the gap if random angles leave such gaps) */
    double gap_rad;     /**< largest gap less the median step */
    double step_rad[3]; /**< least, median, greatest step inside the arc */
    double direction_gap_rad; /**< largest gap between directions of rays, of those columns of the
                                   fan that have the largest */
    double usual_gap_rad;     /**< gaps beyond this mean missing views: 4 median steps, 2 degrees,
                                   or the largest gap of random angles; at most 45 degrees or 1.5
                                   median steps */
    int direction; /**< +1 if angles ascend in 9 of 10 steps of the acquisition, -1: descend, else 0
                    */
};

/**
 * period_rad: pi or 2 pi; fan_rad: the whole fan.  The arc is cut at its largest gap: of 2 pi if
 * that exceeds the largest step, or if there are only two angles; of pi if it exceeds
 * usual_gap_rad. closed: never cut; the views at both sides of a gap stand for it.
 */
fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                          const double axis[3], double period_rad, double fan_rad, bool closed);
void fbp_arc_clear(struct fbp_arc *arc);

/**
 * Which rays a circular scan has measured, how often, and the weight of a sample.
 *
 * A ray is (beta, x): the angle of its source about the axis, and its fan angle gamma, or in a
 * parallel beam its signed distance from the axis.  The same line is measured from the other side
 * as (beta + pi - 2 gamma, -x), with gamma = 0 in a parallel beam.
 *
 * Views whose detector has one offset from the axis form a group.  A view stands for the angles up
 * to half way to its neighbours in the group, gaps included: the views beside a gap fill it.  Each
 * group has a confidence C(beta, x), which falls smoothly towards a detector edge beyond which
 * others have measured, and to 0 in a gap all of whose rays others have measured.  (If only some
 * rays were, whole projections from beside the gap keep means right, and a mixture does not.)  The
 * weight of a view is the integral over its angles of
 *
 *     m_i(beta, x) = 2 C_i(beta, x) / sum_j [C_j(beta, x) + C_j(beta + pi - 2 gamma, -x)],
 *
 * the sum over all groups; all measurements of a line add up to 2.  Wang (Med. Phys. 29, 2002) for
 * an offset detector and Parker (Med. Phys. 9, 1982) for a short scan are special cases.
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
