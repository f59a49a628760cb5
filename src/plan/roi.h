/** @file roi.h  The box of the volume that is asked for (internal; pure).
 *
 * The job's grid is the whole volume: coordinates, kernel and facts are those of it, so that the
 * box has the bits it has there.  Computed are the layers (backend/partners.h) that hold the box's
 * slices: of a kernel that computes boxes (job->boxes), the box of them alone (fbp_slab_asked());
 * of others whole ones, and what lies beside the box is left out when slices have been fetched.
 */
#ifndef FBP_SRC_ROI_H
#define FBP_SRC_ROI_H

#include "backend/partners.h"

/** Set job->roi to fbp_recon_params.roi: voxels [first, end) along x, y, z, end 0 = to the edge.
 * @return FBP_ERR_INVALID for a box that is empty or not inside job->grid. */
fbp_status fbp_roi_set(struct fbp_job *job, const size_t roi[3][2]);

/** First voxel of the box along an axis, and how many there are; a job without a box: all. */
size_t fbp_roi_first(const struct fbp_job *job, int axis);
size_t fbp_roi_size(const struct fbp_job *job, int axis);

/** Slices [*z0, *z1) of the box hold all that is wanted of it. */
void fbp_roi_wanted(const struct fbp_job *job, size_t *z0, size_t *z1);

/** The box as a grid of its own. */
void fbp_roi_grid(const struct fbp_job *job, struct fbp_grid *out);

/** Layers [*first, *first + *n) hold what is wanted of the box; of a job with a share, those of it
 *  alone. */
void fbp_roi_layers(const struct fbp_job *job, size_t *first, size_t *n);

/** Wanted slices [*z0, *z1) that are computed here: those of each half, if the job has a share of
 *  mirrored layers; else half 0 has all of them, and half 1 has none. */
void fbp_roi_share(const struct fbp_job *job, size_t half, size_t *z0, size_t *z1);

/** Is slice z of the box written here?  Those of the share are, and with the first share those of
 *  which nothing is wanted. */
bool fbp_roi_is_own(const struct fbp_job *job, size_t z);

/** Those of the slices [*z0, *z1) that are in the box and wanted; *z0 == *z1: none is. */
void fbp_roi_clip(const struct fbp_job *job, size_t *z0, size_t *z1);

/** Are the box's slices parts of those that are computed? */
bool fbp_roi_crops(const struct fbp_job *job);

/** n whole slices become, in place, the box's part of them, one behind the other. */
void fbp_roi_crop(const struct fbp_job *job, size_t n, void *slices);

#endif /* FBP_SRC_ROI_H */
