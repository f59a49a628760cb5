/** @file cluster_text.h  Predicted times for grids of ranks and numbers of nodes, as a table.
 * Included by predict/command.c. */
#ifndef FBP_BENCH_PREDICT_CLUSTER_TEXT_H
#define FBP_BENCH_PREDICT_CLUSTER_TEXT_H

#include "bench/predict/predict.h"

#include <cjson/cJSON.h>

enum { CLUSTER_ROWS = 40 };

/** The first row is the model's own; then other grids of its ranks, then other numbers of nodes. */
struct cluster_table {
    struct cluster_time rows[CLUSTER_ROWS];
    size_t n, n_grids;
};

/** out->n 0: the plan is not of a cluster. */
fbp_status cluster_table_make(const struct prediction *p, const fbp_plan *plan, size_t view_ranks,
                              struct cluster_table *out);
void cluster_table_print(const struct cluster_table *c);
void cluster_table_json(cJSON *root, const struct cluster_table *c);

#endif /* FBP_BENCH_PREDICT_CLUSTER_TEXT_H */
