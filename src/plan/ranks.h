/** @file ranks.h  Which process of a team computes what (internal; pure).
 *
 * Processes form a grid.  Along one side each has a slab of the volume, a run of slices; those of
 * one slab share its views along the other, and their partial volumes are added up.  Slabs cost
 * nothing but the rows that two of them need.  Views are shared if there are too few slices, or if
 * each slab needs most rows anyway.
 */
#ifndef FBP_SRC_RANKS_H
#define FBP_SRC_RANKS_H

#include "backend/backend.h"
#include "base/status.h"

struct fbp_ranks {
    size_t n_slabs, n_parts;
    size_t slab, part;               /**< of this process, from 0 */
    bool idle;                       /**< it has none: the grid has no more places */
    double cost;                     /**< seconds of the process with most to do; 0: not known */
    size_t other_slabs, other_parts; /**< of the grid that would be next best; 0: there is none */
    double other_cost;
};

/**
 * May n_parts of so many processes share views?
 *
 * @return FBP_ERR_INVALID for more parts than there are processes, or groups of views;
 *         FBP_ERR_UNSUPPORTED for parts of a volume in double.
 */
fbp_status fbp_ranks_check(const struct fbp_job *job, size_t group_views, size_t size,
                           size_t n_parts);

/** What a grid (n_slabs, n_parts) takes. */
struct fbp_ranks_cost {
    fbp_status (*seconds)(void *user, const struct fbp_ranks *grid, double *out);
    void *user;
};

/**
 * The quickest grid for so many processes, where views are shared only if that saves a good part of
 * the time; `out` has no place of a process yet.
 *
 * job: with its kernel.  group_views: of its backend.  n_parts: 0, or how many share views
 * @return as fbp_ranks_check()
 */
fbp_status fbp_ranks_choose(const struct fbp_job *job, size_t group_views, size_t size,
                            size_t n_parts, const struct fbp_ranks_cost *how,
                            struct fbp_ranks *out);
/** The place of a process in a grid; those that share views are neighbours. */
void fbp_ranks_place(struct fbp_ranks *ranks, size_t rank);

/**
 * Which of the processes that share the views of a slab gets the sum of slice z of the box: job's
 * share is that slab.  They own segments of its slices in turn, each about 1/n_parts of each
 * `block` of them and of all.  Slices of which nothing is wanted are the first one's.
 */
size_t fbp_ranks_owner(const struct fbp_job *job, size_t n_parts, size_t block, size_t z);
/** Slices of the thickest segment. */
size_t fbp_ranks_segment(size_t n_parts, size_t block);

/** job->share and job->view_groups of a place; of one that is idle those of another. */
fbp_status fbp_ranks_share(const struct fbp_ranks *ranks, size_t group_views, struct fbp_job *job);

#endif /* FBP_SRC_RANKS_H */
