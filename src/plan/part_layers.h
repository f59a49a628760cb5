/** @file part_layers.h  A volume in parts, one for each of several processes (internal; pure). */
#ifndef FBP_SRC_PART_LAYERS_H
#define FBP_SRC_PART_LAYERS_H

#include "backend/backend.h"
#include "base/status.h"

/** Which of n_parts; parts count from 1. */
struct fbp_part_of {
    size_t part, n_parts;
};

/**
 * The layers of a part, for job->share: runs that take about the same time, cut at borders of the
 * output's files (job->same_files) where these are near.  They depend on scan, volume, kernel and
 * output alone, so that processes that know nothing of each other agree.
 *
 * job: with its kernel; its own share plays no role.
 * @return FBP_ERR_INVALID if there are more parts than layers.
 */
fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2]);

#endif /* FBP_SRC_PART_LAYERS_H */
