/** @file volume.h Region (struct fbp_region): the set of voxels of a grid that are reconstructed
 * (internal).
 *
 * The region is stored twice. Exactly, for the output: per row of voxels as runs along x;
 * consecutive equal slices share one copy. For backprojection: per voxel column (x, y) as one
 * interval of slices, which may contain additional voxels.
 * Used by: backend/backend.h, volume.c, pipeline/job.h. */
#ifndef FBP_SRC_VOLUME_H
#define FBP_SRC_VOLUME_H

#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>

/** Indices [first, end). */
struct fbp_interval {
    uint32_t first, end;
};

/** Indices at which the data of a slice begin in fbp_region.rows and in fbp_region.runs;
 * consecutive equal slices have the same indices. */
struct fbp_region_slice {
    size_t rows, runs;
};

struct fbp_region {
    size_t n[3];
    size_t z0, z1; /**< the whole region is in slices [z0, z1); 0, 0: it is empty */
    struct fbp_region_slice *slices; /**< [n[2]] */
    uint32_t *rows; /**< [ny + 1] per stored slice: index of each row's first run in the slice */
    struct fbp_interval *runs; /**< runs along x, ascending */
    /** [ny][nx] least interval of slices with all voxels of the region in (x, y); 0, 0: none */
    struct fbp_interval *columns;
    uint64_t *before; /**< [nz + 1] number of voxels of the region in slices 0 to z - 1 */
    size_t n_rows, n_runs, rows_room, runs_room;
};

/** Callback that writes the runs (intervals of x) of the region in voxel row (y, z), ascending, to
 * out, which has memory for nx / 2 + 1 runs; *n: number of runs. fbp_region_create() calls it once
 * per row of the box: for ascending z and, within a slice, ascending y. */
typedef fbp_status fbp_region_fn(void *user, size_t y, size_t z, struct fbp_interval *out,
                                 size_t *n);

/** Create the region of a grid of n[0] x n[1] x n[2] voxels from the runs that callback `row`
 * writes, restricted to the voxels [box[i][0], box[i][1]) along axes i = x, y, z. */
fbp_status fbp_region_create(struct fbp_region **out, const size_t n[3], const size_t box[3][2],
                             fbp_region_fn *row, void *user);
void fbp_region_destroy(struct fbp_region **region);

/** Hash a region, chained through `seed`; equal regions in equal grids have equal hashes. */
uint64_t fbp_region_hash(uint64_t seed, const struct fbp_region *region);

/** Runs of a row; *n: their number. */
static inline const struct fbp_interval *fbp_region_row(const struct fbp_region *region, size_t y,
                                                        size_t z, size_t *n)
{
    const struct fbp_region_slice *s = &region->slices[z];
    const uint32_t *row = region->rows + s->rows + y;

    *n = row[1] - row[0];
    return region->runs + s->runs + row[0];
}

/** Number of voxels of the region in slices [z0, z1). */
static inline uint64_t fbp_region_count(const struct fbp_region *region, size_t z0, size_t z1)
{
    return region->before[z1] - region->before[z0];
}

#endif /* FBP_SRC_VOLUME_H */
