/** @file slab.h  Parts of the volume (internal; pure). */
#ifndef FBP_SRC_SLAB_H
#define FBP_SRC_SLAB_H

#include "backend/backend.h"

/** Slices (layers) [z0, z0 + nz), whole. */
static inline struct fbp_slab fbp_slab_whole(const struct fbp_job *job, size_t z0, size_t nz)
{
    return (struct fbp_slab){.nx = job->grid.n[0], .ny = job->grid.n[1], .z0 = z0, .nz = nz};
}

/** Voxels of a slice of a slab. */
static inline size_t fbp_slab_slice(const struct fbp_slab *slab)
{
    return slab->nx * slab->ny;
}

#endif /* FBP_SRC_SLAB_H */
