/** @file plan_cluster.h  What the nodes of a cluster would take: fbp plan --model nodes=... */
#ifndef FBP_CLI_PLAN_CLUSTER_H
#define FBP_CLI_PLAN_CLUSTER_H

#include "fbp/recon.h"

#include <cjson/cJSON.h>

enum { CLUSTER_ROWS = 40 };

/** The first is the model's own; then the other grids of its ranks, then other numbers of nodes. */
struct plan_cluster {
    struct fbp_cluster rows[CLUSTER_ROWS];
    size_t n, n_grids;
};

/** out->n 0: the plan is not of a cluster. */
fbp_status plan_cluster_ask(const fbp_plan *plan, const struct fbp_recon_params *params,
                            struct plan_cluster *out);
void plan_cluster_print(const struct plan_cluster *c);
void plan_cluster_json(cJSON *root, const struct plan_cluster *c);

#endif /* FBP_CLI_PLAN_CLUSTER_H */
