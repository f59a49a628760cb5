/** @file sum.h  A volume as the sum of some, each backprojected from a part of the views
 * (internal).
 *
 * Devices then give sums as they are.  What follows from the whole, its scale and shift (HU), and
 * the least, most and mean voxel, is done with the host's floats when the others' are added.
 */
#ifndef FBP_SRC_SUM_H
#define FBP_SRC_SUM_H

#include "backend/backend.h"

struct fbp_sum {
    /** Add what others have of slices [z, z + n) of the box asked for (of frames, one behind the
     *  other) to x[n][y][x].  Called by
     *  several threads at once, unless in_order, and again for slices that a device failed with;
     * the order of terms is its own to fix. */
    fbp_status (*add)(void *user, size_t z, size_t n, float *x);
    /** Is slice z whole here after add()?  Else it is elsewhere.  NULL: all are. */
    bool (*has)(void *user, size_t z);
    void *user;
    bool in_order;       /**< add() is called by one thread, for slabs and blocks in their order */
    double scale, shift; /**< of the sum, as a job's are of a volume */
};

/** Take over a job's scale and shift: its devices give sums as they are. */
void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job);

/** The next slices from *at on, of n from `z` on, that are whole here after add(): their number,
 *  the first of them to *at.  0: there are no more.  sum NULL: all are. */
size_t fbp_sum_run(const struct fbp_sum *sum, size_t z, size_t n, size_t *at);

/** The scale and shift of n values that are whole. */
void fbp_sum_scale(const struct fbp_sum *sum, size_t n, float *x);

#endif /* FBP_SRC_SUM_H */
