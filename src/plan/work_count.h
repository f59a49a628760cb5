/** @file work_count.h  What a division of the work takes (internal). */
#ifndef FBP_SRC_WORK_COUNT_H
#define FBP_SRC_WORK_COUNT_H

#include "plan/work.h"

enum {
    FBP_WORK_BATCH = 32,       /**< views, where nobody asks for more */
    FBP_WORK_SLACK = 10 << 20, /**< stacks, scratch of readers, pages of libraries used later */
    FBP_WORK_THREAD = 256 << 10,
};

/** Batches of about so many views: of whole groups, and no more than all views. */
size_t fbp_work_rounded_batch(size_t views, size_t group, size_t n_views);

/** The batch that is tried first. */
size_t fbp_work_largest_batch(const struct fbp_work_request *rq);

/** The next one, if that does not fit; a group is the last. */
size_t fbp_work_smaller_batch(const struct fbp_work_request *rq, size_t batch);

/** How many slabs are tried after so many that do not fit; 0: none. */
size_t fbp_work_more_slabs(size_t slabs, size_t n_slices);

/** Number of slices to be computed. */
size_t fbp_work_slices(const struct fbp_job *job);

/** Bytes of a slab of n_slices on a device. */
size_t fbp_work_slab_bytes(const struct fbp_work_request *rq, size_t n_slices);

/** What a slice of the output, and a slab, take in tables. */
uint64_t fbp_work_table_bytes(const struct fbp_work *w, const struct fbp_job *job);

/** What slabs and their tables take at least, whatever views take beside that. */
void fbp_work_count_slabs(struct fbp_work *w, const struct fbp_work_request *rq);

/** Buffers and bytes of a division whose slabs and batches are set. */
void fbp_work_count(struct fbp_work *w, const struct fbp_work_request *rq);

/** Nothing fits: out->memory_bytes and device_bytes become the least limits that would be enough,
 * of so many slabs or more. */
fbp_status fbp_work_need(const struct fbp_work_request *rq, size_t slabs, struct fbp_work *out);

/** The error, of what a division takes at least. */
fbp_status fbp_work_too_large(const struct fbp_work_request *rq, struct fbp_work *out);

#endif /* FBP_SRC_WORK_COUNT_H */
