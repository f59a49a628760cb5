/** @file roi.h  The box of the volume that is asked for (internal; pure).
 *
 * The job's grid is the whole volume: coordinates, kernel and facts are those of the volume, so
 * that the box has the same bits as in it.  A kernel that computes boxes (job->boxes) computes this
 * box alone (fbp_slab_asked()); others compute whole slices, which are cropped after they are
 * fetched.
 */
#ifndef FBP_SRC_ROI_H
#define FBP_SRC_ROI_H

#include "backend/backend.h"

/** Set job->roi to fbp_recon_params.roi: voxels [first, end) along x, y, z, end 0 = to the edge.
 * @return FBP_ERR_INVALID for a box that is empty or not inside job->grid. */
fbp_status fbp_roi_set(struct fbp_job *job, const size_t roi[3][2]);

/** First voxel of the box along an axis, and how many there are; a job without a box: all. */
size_t fbp_roi_first(const struct fbp_job *job, int axis);
size_t fbp_roi_size(const struct fbp_job *job, int axis);

/** Slices [*z0, *z1) of the box contain all of its wanted voxels. */
void fbp_roi_wanted(const struct fbp_job *job, size_t *z0, size_t *z1);

/** The box as a grid of its own. */
void fbp_roi_grid(const struct fbp_job *job, struct fbp_grid *out);

/** Slices [*first, *first + *n) are computed here: those of the share of the job, or all wanted
 *  ones. */
void fbp_roi_slices(const struct fbp_job *job, size_t *first, size_t *n);

/** Is slice z of the box written here?  The slices of the share are, and with the first share the
 *  slices without a wanted voxel. */
bool fbp_roi_is_own(const struct fbp_job *job, size_t z);

/** Is the box smaller than the slices that are computed? */
bool fbp_roi_crops(const struct fbp_job *job);

/** Crop n whole slices to the box, in place. */
void fbp_roi_crop(const struct fbp_job *job, size_t n, void *slices);

#endif /* FBP_SRC_ROI_H */
