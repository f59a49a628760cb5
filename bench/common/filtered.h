/** @file filtered.h  Views filtered in double precision, for benchmarks and tests (internal). */
#ifndef FBP_BENCH_COMMON_FILTERED_H
#define FBP_BENCH_COMMON_FILTERED_H

#include "pipeline/job.h"

/** Callback that gets the filtered samples of one view, [row][column of the padded detector].
 * Several threads call it, with views in any order. */
typedef fbp_status fbp_bench_filtered_fn(void *user, size_t view, const float *samples);

/**
 * Weight and filter all views of a job in double precision, by the backend `ref`, and call `take`
 * with each view, rounded to float; the row index grows with +v. Each thread needs memory for about
 * four views of floats.
 */
fbp_status fbp_bench_filter(const struct fbp_job *job, fbp_source *source, bool top_down,
                            fbp_bench_filtered_fn *take, void *user);

#endif /* FBP_BENCH_COMMON_FILTERED_H */
