/** @file arc.h  The views' angles as one arc of a circle (internal; double, pure). */
#ifndef FBP_SRC_ARC_H
#define FBP_SRC_ARC_H

#include "fbp/geometry.h"

struct fbp_arc {
    size_t n;
    double *step;     /**< share of the arc, a view: half the way to both neighbours; views at
                           one angle share; adds up to arc_rad */
    double *position; /**< angle counter-clockwise from the arc's beginning, a view; 0 … arc_rad */
    bool full;        /**< no gap that a scan would call one */
    size_t n_angles;  /**< that are different */
    double start_rad;   /**< angle of the first view of the arc (view 0 of a full one) */
    double arc_rad;     /**< 2 pi if full or of one angle, else half a step beyond both ends
                             included */
    double gap_rad;     /**< largest gap less the median step */
    double step_rad[3]; /**< least, median, greatest step inside the arc */
    int direction;      /**< +1 if angles ascend in 9 of 10 steps of the acquisition, -1, else 0 */
};

/** The arc is cut at its largest gap, if that exceeds 10 degrees, and 4 median steps or 90 degrees,
 *  and 1.5 median steps; or if there are two angles only. */
fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                          const double axis[3]);
void fbp_arc_clear(struct fbp_arc *arc);

#endif /* FBP_SRC_ARC_H */
