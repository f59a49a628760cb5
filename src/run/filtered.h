/** @file filtered.h  Views weighted and filtered in double, for those who want them (internal). */
#ifndef FBP_SRC_FILTERED_H
#define FBP_SRC_FILTERED_H

#include "backend/backend.h"

/** Takes view `view`, [wide.n_rows][wide.n_columns]; from several threads, in any order. */
typedef fbp_status fbp_filtered_fn(void *user, size_t view, const float *samples);

/**
 * All views of a job as the backend `ref` filters them, rounded to float; rows run upwards.
 * Memory: four views a thread.
 */
fbp_status fbp_filter_views(const struct fbp_job *job, fbp_source *source, bool top_down,
                            fbp_filtered_fn *take, void *user);

#endif /* FBP_SRC_FILTERED_H */
