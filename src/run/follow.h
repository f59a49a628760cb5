/** @file follow.h  Batches of views that are still coming (internal). */
#ifndef FBP_SRC_FOLLOW_H
#define FBP_SRC_FOLLOW_H

#include "run/worker.h"

/**
 * Wait until the first view of task i of a slab is there, and join it with the tasks after it as
 * far as their views are there, and the buffers are large enough: while computing keeps up a batch
 * is one group of views, and it grows where computing has fallen behind.
 *
 * n  tasks that are now one; 1 where nothing is followed
 */
fbp_status fbp_follow_task(struct worker *w, struct fbp_drawn *d, size_t i, size_t *n);

/** fbp_load() of such a task: each view as soon as it is there, so that only the last one of a scan
 *  is left to be read after it has come. */
fbp_status fbp_follow_load(struct worker *w, const struct fbp_batch *batch, void *out);

/** Seconds from when the last view was there until `at`; 0 where nothing was followed. */
double fbp_follow_latency(const fbp_source *source, double at);

#endif /* FBP_SRC_FOLLOW_H */
