/** @file volume.h  Grids of voxels and regions of interest (internal; pure). */
#ifndef FBP_SRC_VOLUME_H
#define FBP_SRC_VOLUME_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The voxels of a grid that are wanted (internal; pure).
 *
 * A region is exact where it is applied to finished slices: rows of voxels are cut into runs.  What
 * computes may take more than it: columns know the first and the last slice that they are wanted
 * in.  Equal slices that follow one another are stored once.
 */

/** Voxels [first, end). */
struct fbp_interval {
    uint32_t first, end;
};

/** Where the rows of a slice begin in fbp_region.rows, and its runs in ->runs. */
struct fbp_region_slice {
    size_t rows, runs;
};

struct fbp_region {
    size_t n[3];
    size_t z0, z1; /**< slices [z0, z1) hold all wanted voxels; 0, 0: there is none */
    struct fbp_region_slice *slices; /**< n[2] */
    uint32_t *rows;                  /**< [ny + 1] of each: where a row's runs begin */
    struct fbp_interval *runs;       /**< along x, in their order */
    struct fbp_interval *columns;    /**< [ny][nx]: the slices of a column; 0, 0: none */
    uint64_t *before;                /**< [nz + 1]: wanted voxels of the slices below */
    size_t n_rows, n_runs, rows_room, runs_room;
};

/** The runs of row (y, z) in their order, into out, which has room for nx / 2 + 1; *n: how many.
 *  Rows are asked for in the order in which they lie. */
typedef fbp_status fbp_region_fn(void *user, size_t y, size_t z, struct fbp_interval *out,
                                 size_t *n);

/** What `row` tells of a grid of n voxels, and only inside the box: voxels [first, end). */
fbp_status fbp_region_create(struct fbp_region **out, const size_t n[3], const size_t box[3][2],
                             fbp_region_fn *row, void *user);
void fbp_region_destroy(struct fbp_region **region);

/** Chained through `seed`: the same for the same voxels of the same grid. */
uint64_t fbp_region_hash(uint64_t seed, const struct fbp_region *region);

/** Runs of a row; *n: how many. */
static inline const struct fbp_interval *fbp_region_row(const struct fbp_region *region, size_t y,
                                                        size_t z, size_t *n)
{
    const struct fbp_region_slice *s = &region->slices[z];
    const uint32_t *row = region->rows + s->rows + y;

    *n = row[1] - row[0];
    return region->runs + s->runs + row[0];
}

/** Wanted voxels of slices [z0, z1). */
static inline uint64_t fbp_region_count(const struct fbp_region *region, size_t z0, size_t z1)
{
    return region->before[z1] - region->before[z0];
}

#endif /* FBP_SRC_VOLUME_H */
