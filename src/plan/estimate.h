/** @file estimate.h  How long a run will take, from a few milliseconds of it (internal). */
#ifndef FBP_SRC_ESTIMATE_H
#define FBP_SRC_ESTIMATE_H

#include "plan/work.h"

/**
 * Filter and backproject a few views into the middle slice and scale up.  Reading and writing are
 * taken to overlap; not counted.
 *
 * filtered_times: how often a row is filtered, on average
 */
fbp_status fbp_estimate(const struct fbp_job *job, const struct fbp_backend *backend, int device,
                        const struct fbp_work *work, double filtered_times, double *seconds);

#endif /* FBP_SRC_ESTIMATE_H */
