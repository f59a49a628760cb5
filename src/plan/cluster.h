/** @file cluster.h  How long the nodes of a cluster will take that is described in words (internal;
 * pure).
 *
 * A rank is a card, or a node without cards.  Ranks form the grid that processes form (ranks.h).
 * The one with most to do is followed like any machine that is not there (predict.h), with its part
 * of what the ranks of its node share, and of the file system that all share.  Then come the sums
 * over the network.
 */
#ifndef FBP_SRC_CLUSTER_H
#define FBP_SRC_CLUSTER_H

#include "plan/model.h"
#include "plan/ranks.h"
#include "plan/work.h"

struct fbp_cluster_time {
    size_t n_slabs, n_parts;   /**< of the grid */
    struct fbp_predicted rank; /**< of the one with most to do; total: with the sums */
    double sum;                /**< partial slabs, over the network */
};

/** What a rank of a grid may use of its node, and of what all nodes share. */
struct fbp_machine fbp_cluster_rank(const struct fbp_model *model, const struct fbp_ranks *grid);

/** The grid of a job for so many nodes, and the rank in its middle.  n_parts: 0, or how many share
 *  views. */
fbp_status fbp_cluster_grid(const struct fbp_model *model, const struct fbp_job *job,
                            size_t group_views, size_t n_nodes, size_t n_parts,
                            struct fbp_ranks *out);

/** request: of one rank; its job may have a share, which plays no role */
fbp_status fbp_cluster_predict(const struct fbp_model *model,
                               const struct fbp_work_request *request, size_t n_nodes,
                               size_t n_parts, struct fbp_cluster_time *out);

#endif /* FBP_SRC_CLUSTER_H */
