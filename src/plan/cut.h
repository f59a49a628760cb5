/** @file cut.h  Where a volume is cut so that its slabs take about the same time (internal; pure).
 *
 * A view adds to a voxel only if its ray meets the panel.  Outer slices of a cone beam are seen in
 * fewer views than middle ones.
 */
#ifndef FBP_SRC_CUT_H
#define FBP_SRC_CUT_H

#include "backend/backend.h"

enum { FBP_CUT_PARTS = 64 };

/** before[i]: the share of the cost that lies in the first i/FBP_CUT_PARTS of the layers. */
struct fbp_cut {
    double before[FBP_CUT_PARTS + 1];
};

/** Of the layers that are computed; looks at some voxels in some views. */
void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out);

/** The first of n layers that belongs to slab i of n_slabs, each of one layer or more; i = n_slabs:
 *  n. */
size_t fbp_cut_layer(const struct fbp_cut *cut, size_t n, size_t n_slabs, size_t i);

#endif /* FBP_SRC_CUT_H */
