/** @file coverage.h  Angles of the views of a circular scan as an arc with gaps (struct fbp_arc),
 * and how often each ray is measured (struct fbp_ray_coverage), with the weights that follow
 * (internal; double, pure functions).
 * Used by: coverage.c, facts.c, weight/weight.c. */
#ifndef FBP_SRC_COVERAGE_H
#define FBP_SRC_COVERAGE_H

#include "fbp/geometry.h"

#include "base/base.h"

/**
 * The angles of the views as one arc of a circle.
 *
 * Angles of a parallel beam are taken modulo pi, unless its panel is offset, because a view and the
 * opposite view measure the same rays. In a fan, the ray with fan angle gamma of a view at beta
 * lies on a line of direction beta - gamma (modulo pi); a view at beta + pi - 2 gamma measures the
 * same line, with fan angle -gamma.
 */
struct fbp_arc {
    /** [n] Angular step of each view [rad], up to half way to the neighbouring views, or to an end
     * of the arc. Views at equal angles divide one step. The sum is arc_rad. */
    double *step;
    double *position; /**< angle of each view [rad] from the start of the arc, 0 … arc_rad */
    double *cell;  /**< [n][2] ends of each view's step, like `position`; equal for equal angles */
    bool full;     /**< true: the arc is the whole period, not cut at a gap (fbp_arc_create()) */
    size_t n_gaps; /**< gaps that are too large for a step (largest_step()) */
    size_t n_angles;  /**< number of different angles */
    double start_rad; /**< angle of the first view of the arc [rad]; of view 0 if the arc is full */
    /** Length of the arc [rad]: the period if the arc is full or all views have one angle; else
     * from first to last view, plus half the neighbouring step at both ends. For period pi, half
     * the largest gap expected of random angles replaces half the step, if it is larger, but at
     * most half the gap between the ends. */
    double arc_rad;
    double gap_rad;     /**< largest gap minus the median step [rad] */
    double step_rad[3]; /**< least, median and greatest step inside the arc [rad] */
    /** Largest gap between the directions of measured rays, over all fan angles [rad]. */
    double direction_gap_rad;
    /** Greatest gap that is not reported as missing views: the greatest of 4 median steps, 2
     * degrees and the gap expected of random angles; within 1.5 median steps to 45 degrees. */
    double usual_gap_rad;
    /** +1: angles ascend in at least 9 of 10 steps from a view to the next; -1: descend; else 0 */
    int direction;
};

/**
 * Compute the arc of the angles of n_views views about an axis.
 *
 * period_rad  angles are taken modulo this: pi or 2 pi.  The arc is cut at its largest gap: for 2
 * pi if the gap exceeds the largest step, for pi if it exceeds usual_gap_rad; always if there are
 * fewer than three angles.
 * fan_rad     full fan angle
 * closed      true: the arc is never cut; the views at both sides of a gap cover it
 */
fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                          const double axis[3], double period_rad, double fan_rad, bool closed);
void fbp_arc_clear(struct fbp_arc *arc);

/**
 * The rays that a circular scan has measured, the number of measurements per ray, and the weight of
 * a sample.
 *
 * A ray is (beta, x): the angle of its source about the axis, and its fan angle gamma, or in a
 * parallel beam its signed distance from the axis. The same line is measured from the other side as
 * (beta + pi - 2 gamma, -x), with gamma = 0 in a parallel beam.
 *
 * Views whose detectors have the same offset from the axis form a group. A view covers the angles
 * up to half way to its neighbours in the group, gaps included: the views beside a gap cover it.
 * Each group has a confidence C(beta, x). C falls smoothly towards a detector edge if other groups,
 * or opposite views, have measured rays beyond that edge. C falls nearly to 0 in a gap if these
 * have measured all rays of the gap, or if the gap is large. (If only some rays of a small gap were
 * measured, the whole projections beside the gap are used: they preserve means, and a mixture does
 * not.) The weight of a view is the integral over its angles of
 *
 *     m_i(beta, x) = 2 C_i(beta, x) / sum_j [C_j(beta, x) + C_j(beta + pi - 2 gamma, -x)],
 *
 * with the sum over all groups; the m of all measurements of a line add up to 2. Special cases:
 * Wang (Med. Phys. 29, 2002) for an offset detector, Parker (Med. Phys. 9, 1982) for a short scan.
 */
struct fbp_ray_coverage {
    bool source; /**< position x of a ray: fan angle [rad] (true), or distance from the axis */
    size_t n_views;
    size_t n_groups;
    struct fbp_coverage_group *group;
    struct fbp_coverage_view *view; /**< [n_views] */
};

/**
 * Compute how often the views measure each ray. Views whose detector offsets differ by less than
 * 1/20 of the detector's width form one group; more than 8 groups, or a group of fewer than 3
 * views, are not distinguished: then all views form one group.
 *
 * angle  [n_views] angle of the source about the axis [rad]
 * edge   [n_views][2] fan angle [rad] (parallel beam: distance from the axis [mm]) of the outermost
 *        pixel centre at the lower and at the upper end
 */
fbp_status fbp_coverage_create(struct fbp_ray_coverage *out, bool source, size_t n_views,
                               const double *angle, const double (*edge)[2]);
void fbp_coverage_clear(struct fbp_ray_coverage *coverage);

/** Get the largest range of directions [rad] in which no view has measured a line at x (fan angle,
 * or distance from the axis), from either side. */
double fbp_coverage_gap(const struct fbp_ray_coverage *coverage, double x);

/** Weight [rad] of the ray at x in a view: the view's angular step times the ray's redundancy. */
double fbp_coverage_weight(const struct fbp_ray_coverage *coverage, size_t view, double x);

/** Angular step [rad] of a view among the views of equal offset; beside a gap: half the gap. */
double fbp_coverage_step(const struct fbp_ray_coverage *coverage, size_t view);

#endif /* FBP_SRC_COVERAGE_H */
