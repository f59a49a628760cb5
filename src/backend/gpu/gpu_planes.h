/** @file gpu_planes.h  Plane integrals for GPUs: views as their kernels see them, and how filtered
 * rows lie (internal; C and C++).
 */
#ifndef FBP_SRC_GPU_PLANES_H
#define FBP_SRC_GPU_PLANES_H

#include "backend/gpu/gpu_kernel.h"

/** Coordinates are counted from the first voxel of cubes of so many voxels a side, counted from
 *  voxel 0 of the whole grid; samples of a block's window at most. */
enum { GPU_PLANES_EDGE = 16, GPU_PLANES_WINDOW = 2048 };

/** A view, in double: voxel (x, y, z) of the whole grid has sample u[0] x + u[1] y + u[2] z + u[3].
 */
struct gpu_plane {
    double u[4];
};

/** Rows of a batch: [view][group of frames][column][frame], zeros behind what there is of either.
 *  A row begins and ends with whole pieces of 16 bytes. */
struct gpu_planes {
    size_t columns;        /**< a multiple of 4 */
    size_t groups, frames; /**< frames: of a group, 1, 2, 4, 8 or 10 */
};

FBP_BEGIN
/** Is u of every view linear in x, y and z, and are rows frames? */
bool gpu_planes_usable(const struct fbp_job *job);

void gpu_plane_of(const struct fbp_job *job, size_t view, struct gpu_plane *out);

struct gpu_planes gpu_planes_of(const struct fbp_job *job, size_t n_rows);
size_t gpu_planes_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Samples, a multiple of 4, from one that is a multiple of 4 on, that hold those of any box of
 *  x * y * z voxels in any view, `taps` each. */
size_t gpu_planes_window(const struct fbp_job *job, const int box[3], size_t taps);
FBP_END

#endif /* FBP_SRC_GPU_PLANES_H */
