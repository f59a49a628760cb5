/** @file batch.h  What a benchmark of a kernel backprojects: batches of views, or of random
 *  numbers (internal). */
#ifndef FBP_BENCH_COMMON_BATCH_H
#define FBP_BENCH_COMMON_BATCH_H

#include "backend/backend.h"

/** The raw batch [n_views][load_rows][n_columns] of views[n_views][n_rows][n_columns] of
 *  job->panel; NULL: of numbers between 0 and 2 without a pattern, none of them 0. */
void fbp_bench_fill(const struct fbp_job *job, const struct fbp_batch *batch, const float *views,
                    fbp_pool *pool, float *raw);

/** Is that batch the views as they are? */
bool fbp_bench_as_is(const struct fbp_job *job, const struct fbp_batch *batch);

#endif /* FBP_BENCH_COMMON_BATCH_H */
