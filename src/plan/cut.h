/** @file cut.h  Cutting a volume into slabs, or parts of processes, that take about the same time
 * (internal; pure).
 *
 * A view adds to a voxel only if its ray meets the panel.  Outer slices of a cone beam are seen in
 * fewer views than middle ones.
 */
#ifndef FBP_SRC_CUT_H
#define FBP_SRC_CUT_H

#include "backend/backend.h"
#include "base/status.h"

enum { FBP_CUT_PARTS = 64 };

/** Cost of the slices that are computed, relative to slices that all views see. */
struct fbp_cut {
    double before[FBP_CUT_PARTS + 1]; /**< [i]: share of the cost of the first i/FBP_CUT_PARTS of
                                         the slices, 0 to 1 */
    double mean;                      /**< Mean cost of a slice; 0: not known. */
};

/** Estimate the cost from a sample of voxels and views. */
void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out);

/** The first slice, of n, of slab i of n_slabs.  A slab has at least one slice; i = n_slabs: n. */
size_t fbp_cut_slice(const struct fbp_cut *cut, size_t n, size_t n_slabs, size_t i);

/** Mean cost of slices [z0, z1) of the n slices; 1 if it is not known. */
double fbp_cut_cost(const struct fbp_cut *cut, size_t n, size_t z0, size_t z1);

/** One of several processes that compute a volume; parts count from 1. */
struct fbp_part_of {
    size_t part, n_parts;
};

/**
 * Slices of a part, for job->share.  Parts are runs of slices that take about the same time, cut at
 * borders of the output's files (job->same_files) if these are near.  The result depends on scan,
 * volume, kernel and output alone, so that processes that do not communicate agree.
 *
 * job: with its kernel; its own share is ignored.
 * @return FBP_ERR_INVALID if there are more parts than slices.
 */
fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2]);

#endif /* FBP_SRC_CUT_H */
