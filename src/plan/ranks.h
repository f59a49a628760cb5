/** @file ranks.h  Which process of a team computes what (internal; pure). */
#ifndef FBP_SRC_RANKS_H
#define FBP_SRC_RANKS_H

#include "backend/backend.h"
#include "base/status.h"

/** Processes form a grid: each has a slab of the volume, a run of layers. */
struct fbp_ranks {
    size_t n_slabs;
    size_t slab; /**< of this process, from 0 */
    bool idle;   /**< it has none: there are more processes than layers */
};

/** The grid for so many processes, and the place of one of them in it.  job: with its kernel. */
void fbp_ranks_choose(const struct fbp_job *job, size_t rank, size_t size, struct fbp_ranks *out);

/** job->share of a place; of one that is idle that of the last slab, which another computes. */
fbp_status fbp_ranks_share(const struct fbp_ranks *ranks, struct fbp_job *job);

#endif /* FBP_SRC_RANKS_H */
