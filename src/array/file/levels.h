/** @file levels.h  A volume in chunks, and the smaller volumes made of it: sizes, places, means
 * (internal; pure).
 *
 * Level 0 is the volume.  A voxel of the next level is the mean of up to 2 x 2 x 2 of the one
 * before: at the end of an odd axis of those that are there.  An axis of one voxel stays as it is.
 */
#ifndef FBP_SRC_LEVELS_H
#define FBP_SRC_LEVELS_H

#include "fbp/array.h"

/** Sides are halved until none is longer than FBP_LEVELS_LEAST, or than four chunks. */
enum { FBP_LEVELS_MOST = 64, FBP_LEVELS_LEAST = 256, FBP_CHUNK_EDGE = 64 };

struct fbp_level {
    size_t n[3];      /**< voxels x, y, z */
    size_t step[3];   /**< in voxels of level 0 */
    size_t chunks[3]; /**< of them z are layers */
};

struct fbp_levels {
    size_t n_levels;
    size_t
        chunk[3]; /**< voxels of a chunk, of every level; an axis of several has an even number */
    struct fbp_level level[FBP_LEVELS_MOST];
};

/** edge: the longest side of a chunk, an even number. */
void fbp_levels_make(const size_t n[3], size_t edge, struct fbp_levels *out);

/** A box of samples in memory: `step` in samples from row to row, and from slice to slice. */
struct fbp_level_box {
    void *data;
    size_t n[3], step[2];
};

/** Means of boxes of up to 2 x 2 x 2, of those that are numbers; NaN: none is.  Integers are
 * rounded to the nearest, halves up.  out->n: halves of in->n, rounded up. */
void fbp_levels_mean(enum fbp_type type, const struct fbp_level_box *in,
                     const struct fbp_level_box *out);

#endif /* FBP_SRC_LEVELS_H */
