/** @file predict.h  Plans for machines that are described in words, and their predicted times.
 * Called by predict/command.c. */
#ifndef FBP_BENCH_PREDICT_PREDICT_H
#define FBP_BENCH_PREDICT_PREDICT_H

#include "bench/predict/model.h"
#include "pipeline/plan.h"

/** A plan for a machine that is not there. */
struct prediction {
    struct fbp_model model;
    struct fbp_backend backend;
    struct fbp_plan_target target;
    double open; /**< seconds before the first run: driver, memory that devices copy from */
};

/** Make such a plan; `p` must outlive it.  model: "gpus=4,gpu=h200", as docs/recipes.md says. */
fbp_status prediction_plan(struct prediction *p, const char *model, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params, fbp_plan **out);

/** Predicted times of a grid of ranks of a cluster. */
struct cluster_time {
    size_t nodes, ranks;      /**< a rank is a card, or a node without cards */
    size_t slabs, view_ranks; /**< their grid: slabs, and ranks that share the views of each */
    /** times of the rank with most work; total and gups of all ranks */
    struct fbp_predicted times;
    double open, sum;  /**< seconds before the first run, and of the sums of partial slabs */
    const char *binds; /**< what takes longest: "compute" (filter and backprojection), "read",
                          "upload", "fetch", "sum", "write" */
};

/**
 * What so many nodes of the plan's model would take.
 *
 * nodes       0: the model's; up to FBP_MODEL_MOST_NODES
 * view_ranks  ranks that share the views of a slab; 0: as a run would choose
 * @return FBP_ERR_INVALID for a plan of no cluster, and for a grid that is impossible;
 *         FBP_ERR_NOMEM if a slab does not fit into the model's memory.
 */
fbp_status prediction_cluster(const struct prediction *p, const fbp_plan *plan, size_t nodes,
                              size_t view_ranks, struct cluster_time *out);

#endif /* FBP_BENCH_PREDICT_PREDICT_H */
