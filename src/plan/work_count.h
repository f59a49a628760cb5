/** @file work_count.h  What a division of the work takes (internal). */
#ifndef FBP_SRC_WORK_COUNT_H
#define FBP_SRC_WORK_COUNT_H

#include "plan/work.h"

enum {
    FBP_WORK_SLACK = 10 << 20, /**< stacks, scratch of readers, pages of libraries used later */
    FBP_WORK_THREAD = 256 << 10,
};

/** Layers to be computed. */
size_t fbp_work_layers(const struct fbp_job *job);

/** Of a slab of so many layers, on a device. */
size_t fbp_work_slab_bytes(const struct fbp_work_request *rq, size_t n_layers);

/** What a slice of the output, and a slab, take in tables. */
uint64_t fbp_work_table_bytes(const struct fbp_work *w, const struct fbp_job *job);

/** Buffers and bytes of a division whose slabs and batches are set. */
void fbp_work_count(struct fbp_work *w, const struct fbp_work_request *rq);

#endif /* FBP_SRC_WORK_COUNT_H */
