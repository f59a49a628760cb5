/** @file bench_views.h  What a benchmark backprojects: views of a phantom, and random ones
 * (internal). */
#ifndef FBP_SRC_BENCH_VIEWS_H
#define FBP_SRC_BENCH_VIEWS_H

#include "backend/backend.h"

/** Density of the phantom's skull, of which tissue is a fifth [1/mm]: values are of the size of
 *  water's. */
#define FBP_BENCH_WATER 0.02

/** Line integrals of a head phantom of `half_mm` half side, out[n_views][n_rows][n_columns] of
 *  job->panel; cone and parallel beams. */
fbp_status fbp_bench_project(const struct fbp_job *job, double half_mm, fbp_pool *pool,
                             int n_threads, float *out);

/** The raw batch [halves][n_views][load_rows][n_columns] of views as fbp_bench_project() has them;
 *  NULL: numbers between 0 and 2 without a pattern, none of them 0. */
void fbp_bench_fill(const struct fbp_job *job, const struct fbp_batch *batch, const float *views,
                    fbp_pool *pool, float *raw);

/** Is that batch the views as they are? */
bool fbp_bench_as_is(const struct fbp_job *job, const struct fbp_batch *batch);

#endif /* FBP_SRC_BENCH_VIEWS_H */
