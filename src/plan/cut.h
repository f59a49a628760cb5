/** @file cut.h  Where a volume is cut so that its slabs take about the same time (internal; pure).
 *
 * A view adds to a voxel only if its ray meets the panel.  Outer slices of a cone beam are seen in
 * fewer views than middle ones.
 */
#ifndef FBP_SRC_CUT_H
#define FBP_SRC_CUT_H

#include "backend/backend.h"

enum { FBP_CUT_PARTS = 64 };

/** before[i]: the share of the cost that lies in the first i/FBP_CUT_PARTS of the layers.  mean:
 *  the cost of a layer beside one that is seen in all views; 0: nothing is known. */
struct fbp_cut {
    double before[FBP_CUT_PARTS + 1], mean;
};

/** Of the layers that are computed; looks at some voxels in some views. */
void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out);

/** The first of n layers that belongs to slab i of n_slabs, each of one layer or more; i = n_slabs:
 *  n. */
size_t fbp_cut_layer(const struct fbp_cut *cut, size_t n, size_t n_slabs, size_t i);

/** Mean cost of those of the n layers that are [l0, l1), beside one that is seen in all views; 1 if
 *  nothing is known. */
double fbp_cut_cost(const struct fbp_cut *cut, size_t n, size_t l0, size_t l1);

#endif /* FBP_SRC_CUT_H */
