/** @file cluster.h  How long the nodes of a cluster will take that is described in words (internal;
 * pure).
 *
 * A rank is a card, or a node without cards.  Ranks form the grid that processes form (ranks.h).
 * The one with most to do is followed like any machine that is not there (predict.h), with its part
 * of what the ranks of its node share, of the network, and of the file system that all share.  So
 * does a run choose its grid, and so is it predicted.
 */
#ifndef FBP_SRC_CLUSTER_H
#define FBP_SRC_CLUSTER_H

#include "plan/model.h"
#include "plan/ranks.h"
#include "plan/work.h"

struct fbp_cluster_time {
    size_t n_slabs, n_parts;   /**< of the grid */
    struct fbp_predicted rank; /**< of the one with most to do */
    double sum;                /**< of that, what it gets of partial volumes of others */
};

/** Bytes a second of partial volumes that a rank gets of others, while it gives them as many
 *  (docs/cluster.md): of a card, what sockets carried between two cores of a node; of cores that
 *  compute beside that, what one of them sends, takes and adds. */
#define FBP_CLUSTER_LOCAL 1.8e9
#define FBP_CLUSTER_CORE  0.27e9

/** What a rank of a grid may use of its node, and of what all nodes share. */
struct fbp_machine fbp_cluster_rank(const struct fbp_model *model, const struct fbp_ranks *grid);

/**
 * The grid of so many ranks: the quickest, but for what sharing views must save.
 *
 * model:   its `card` NULL: ranks that run, whose rates are those of the request
 * request: of one rank; its job may have a share, which plays no role
 * n_parts: 0, or how many share views
 */
fbp_status fbp_cluster_choose(const struct fbp_model *model, const struct fbp_work_request *request,
                              size_t size, size_t n_parts, struct fbp_ranks *out);

/** And what its ranks take, of so many nodes. */
fbp_status fbp_cluster_predict(const struct fbp_model *model,
                               const struct fbp_work_request *request, size_t n_nodes,
                               size_t n_parts, struct fbp_cluster_time *out);

#endif /* FBP_SRC_CLUSTER_H */
