/** @file cluster.h  How long several ranks take for a job that they share (internal; pure).
 *
 * Ranks form the grid that processes form (ranks.h).  The time of the rank with most to do is
 * predicted (predict.h), with its part of what the ranks of its node share, of the network, and of
 * the file system that all share.  A run chooses its grid by these times.
 */
#ifndef FBP_SRC_CLUSTER_H
#define FBP_SRC_CLUSTER_H

#include "plan/machine.h"
#include "plan/predict.h"
#include "plan/ranks.h"
#include "plan/work.h"

/** Ranks, and what they share.  Rates in bytes per second; 0: no limit. */
struct fbp_nodes {
    size_t ranks;               /**< per node */
    double net;                 /**< network of a node, each way */
    double disk;                /**< file system that all nodes share, each way */
    struct fbp_machine machine; /**< one node */
    bool on_host;               /**< ranks compute on cores: one core is taken by sums */
    int n_threads;              /**< per rank */
    /** What an arranged job takes on a rank; NULL: the rates of the request. */
    void (*rates)(const struct fbp_nodes *nodes, const struct fbp_job *job, struct fbp_rates *out);
};

struct fbp_cluster_time {
    struct fbp_predicted rank; /**< of the rank with most to do */
    double sum;                /**< seconds in which it gets partial volumes of others */
    struct fbp_work work;      /**< of that rank */
};

/** Bytes a second of partial volumes that a rank gets of others, while it gives them as many
 *  (docs/cluster.md): of a card, what sockets carried between two cores of a node; of cores that
 *  compute beside that, what one of them sends, takes and adds. */
#define FBP_CLUSTER_LOCAL 1.8e9
#define FBP_CLUSTER_CORE  0.27e9

/** What a rank of a grid may use of its node, and of what all nodes share. */
struct fbp_machine fbp_cluster_rank(const struct fbp_nodes *nodes, const struct fbp_ranks *grid);

/**
 * The grid of `size` ranks: the quickest; views are shared only if that saves enough.
 *
 * request: of one rank; the share of its job plays no role
 * n_parts: 0, or how many ranks share views
 */
fbp_status fbp_cluster_choose(const struct fbp_nodes *nodes, const struct fbp_work_request *request,
                              size_t size, size_t n_parts, struct fbp_ranks *out);

/** What the ranks of a grid take. */
fbp_status fbp_cluster_predict(const struct fbp_nodes *nodes,
                               const struct fbp_work_request *request, const struct fbp_ranks *grid,
                               struct fbp_cluster_time *out);

#endif /* FBP_SRC_CLUSTER_H */
