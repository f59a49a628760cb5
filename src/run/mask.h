/** @file mask.h  What lies outside the field of view, or outside the region of interest, gets one
 * value (internal).
 *
 * In the field of view is a voxel whose centre lies within facts.fov_radius_mm of the rotation
 * axis, and on the detector's rows in every view: in a cone beam the lower and upper end is a bowl.
 * All its slices follow one another, so that a column of voxels is known by two numbers.  The
 * region is the job's (plan/wanted.h).
 *
 * Applied by the pipeline to slices that have been fetched, so that it is the same on every device.
 */
#ifndef FBP_SRC_MASK_H
#define FBP_SRC_MASK_H

#include "backend/backend.h"

typedef struct fbp_mask fbp_mask;

/** For the box of the job that is asked for, and its region.
 *  field: of the field of view, too */
fbp_status fbp_mask_create(fbp_mask **out, const struct fbp_job *job, bool field, double value);
void fbp_mask_destroy(fbp_mask **mask);

/** Bytes of a mask, and of a slice of it. */
size_t fbp_mask_bytes(const struct fbp_job *job, bool field);

/** Mask slices [z, z + n) of the volume, of the box alone, in place.  found: least, most and sum of
 *  what is inside; returns how many voxels that are.  Thread-safe. */
size_t fbp_mask_apply(const fbp_mask *mask, size_t z, size_t n, void *values,
                      struct fbp_statistics *found);

/** A slice of the box of which nothing is wanted; NULL: of a job without a region. */
const void *fbp_mask_blank(const fbp_mask *mask);

#endif /* FBP_SRC_MASK_H */
