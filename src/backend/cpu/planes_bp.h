/** @file planes_bp.h  The kernel of plane integrals and its dispatch (internal). */
#ifndef FBP_SRC_PLANES_BP_H
#define FBP_SRC_PLANES_BP_H

#include "fbp/recon.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FBP_PLANES_EDGE = 4,    /**< voxels of a block along x, y and z */
    FBP_PLANES_BLOCK = 64,  /**< voxels of a block, [z][y][x] */
    FBP_PLANES_VIEWS = 48,  /**< of one call at most; a multiple of all vectors */
    FBP_PLANES_MARGIN = 20, /**< zeros on either side of a row, at least */
};

/** Greatest distance in samples, along one view, of two voxels of a block: those that the kernel
 * can do, and those for which half a window is enough.  A block that begins within a sample of its
 * window's first stays inside the windows of 16 and 8 samples, with room for rounding. */
#define FBP_PLANES_SPAN   14.99
#define FBP_PLANES_NARROW 6.99

/**
 * Views over a row of blocks along x.  Voxel (i, j, l) of the block whose first voxel is x takes
 * its sample at
 *
 *     u = start + x along + above + i step[0] + j step[1] + l step[2],
 *
 * where start + x along is the least u of the block.
 */
struct fbp_bp_planes {
    const float *samples; /**< sample 0 of the first view, inside its margins of zeros */
    size_t stride;        /**< from view to view */
    size_t n;             /**< views */
    size_t frames;        /**< blocks that are added to, one behind the other; 0: one */
    size_t frame;         /**< from a row to that of the next frame */
    double last;          /**< from this window on all samples are 0, and so are the ones before */
    bool narrow;          /**< no block of these views spans more than FBP_PLANES_NARROW */
    double along[FBP_PLANES_VIEWS], start[FBP_PLANES_VIEWS], above[FBP_PLANES_VIEWS];
    float step[3][FBP_PLANES_VIEWS];
};

/**
 *     block[l][j][i] += sum_k value(view_k, u_k(i, j, l))
 *
 * value: between two samples linearly; or sample floor(u), for the nearest one of u - FBP_NEAREST;
 * or of four samples, the coefficients of a spline (filter/spline.h).
 *
 * x  the block's first voxel, a multiple of FBP_PLANES_EDGE.  Bits depend on it alone, not on the
 *    other views, blocks or frames.
 */
typedef void fbp_bp_planes_fn(float *block, double x, const struct fbp_bp_planes *p);

/** The fastest that `flags` allow (base/cpu_features.h; 0 = C only). */
fbp_bp_planes_fn *fbp_bp_planes_find(unsigned flags, enum fbp_interpolation how);

fbp_bp_planes_fn fbp_bp_planes_c, fbp_bp_planes_avx2, fbp_bp_planes_avx512;
fbp_bp_planes_fn fbp_bp_planes_nearest_c, fbp_bp_planes_nearest_avx2, fbp_bp_planes_nearest_avx512;
fbp_bp_planes_fn fbp_bp_planes_cubic_c, fbp_bp_planes_cubic_avx2, fbp_bp_planes_cubic_avx512;

#endif /* FBP_SRC_PLANES_BP_H */
