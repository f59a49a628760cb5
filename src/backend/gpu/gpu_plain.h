/** @file gpu_plain.h  Filtered views in plain memory: [group][row][column][lane], with borders of
 * zeros (internal; C and C++).
 *
 * A texel is one sample of each view of a group.  Two columns and rows of zeros lie on every side,
 * so that the four taps of a coordinate that is clamped there are zeros: the edge is continuous.
 */
#ifndef FBP_SRC_GPU_PLAIN_H
#define FBP_SRC_GPU_PLAIN_H

#include "backend/backend.h"

enum { GPU_BORDER = 2 };

/** The layout of a batch. */
struct gpu_plain {
    unsigned stride;   /**< texels from row to row: whole lines of the cache */
    size_t group;      /**< texels from group to group */
    int columns, rows; /**< without borders */
};

FBP_BEGIN
struct gpu_plain gpu_plain_of(const struct fbp_job *job, size_t n_rows);
size_t gpu_plain_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows);
FBP_END

#endif /* FBP_SRC_GPU_PLAIN_H */
