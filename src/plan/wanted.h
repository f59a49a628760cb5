/** @file wanted.h  The region of interest of a job: from a caller's words, or a mask, to the voxels
 * that are wanted (internal).
 *
 * The region belongs to the job (job->region), and all who compute may skip what it does not want:
 * slices outside [z0, z1) are not computed, nor are rows read that only they need (plan/roi.h);
 * kernels leave out rows, columns or blocks.  What they compute beyond it, the pipeline replaces in
 * finished slices (run/mask.h).  Voxels inside have the bits that they have without a region.
 */
#ifndef FBP_SRC_PLAN_WANTED_H
#define FBP_SRC_PLAN_WANTED_H

#include "backend/backend.h"

/**
 * The voxels of job->grid, inside the box job->roi, that fbp_recon_params.region and .region_mask
 * name.
 *
 * out: NULL where neither is given
 * file: malloc'ed name of the mask, if it is a file; else NULL
 * @return FBP_ERR_INVALID for words that are none, a region without a voxel of the box, a mask of
 * another grid or with NaN; failures of reading.
 */
fbp_status fbp_region_of(const struct fbp_recon_params *params, const struct fbp_job *job,
                         struct fbp_region **out, char **file);

/** Voxels of slices [z0, z1) of a slab that are to be computed: the wanted ones, or all. */
uint64_t fbp_wanted_voxels(const struct fbp_job *job, const struct fbp_slab *slab,
                           size_t z0, size_t z1);

/** The same as a share of the slab's. */
double fbp_wanted_share(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                        size_t z1);

/** The value of voxels outside a mask or region: the mask's, or nothing, in the job's unit. */
static inline double fbp_outside_value(const struct fbp_recon_params *params)
{
    return params->mask ? params->mask_value : params->mu_water > 0 ? -1000 : 0;
}

#endif /* FBP_SRC_PLAN_WANTED_H */
