/** @file coverage.h  Which rays a circular scan has measured, how often, and what a sample counts
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
#ifndef FBP_SRC_GEOMETRY_COVERAGE_H
#define FBP_SRC_GEOMETRY_COVERAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif /* FBP_SRC_GEOMETRY_COVERAGE_H */
