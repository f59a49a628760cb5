/** @file far.h  Memory of the caller's that lies on a device (internal): only that device copies
 * from and to it. */
#ifndef FBP_SRC_FAR_H
#define FBP_SRC_FAR_H

#include "fbp/array.h"

/** n pieces of `bytes`, so far apart. */
struct fbp_pieces {
    void *to;
    const void *from;
    size_t n, bytes, to_stride, from_stride;
};

struct fbp_far {
    /** Until all is done that the caller had queued. */
    fbp_status (*settle)(struct fbp_far *far);
    /** To or from the host's memory; returns when it is done.  Any thread. */
    fbp_status (*copy)(struct fbp_far *far, const struct fbp_pieces *pieces);
    void (*close)(struct fbp_far *far); /**< frees it */
};

/** What a sort of devices can do for it. */
struct fbp_far_access {
    /** The device in whose memory all of this lies, which the caller has from its driver; -1: none.
     */
    int (*owner)(const void *memory, size_t bytes);
    /** How to get at that memory, when the work is done that the caller gave to `queue`. */
    fbp_status (*open)(int index, void *queue, struct fbp_far **out);
    /** A queue on the device that the driver calls by this number, for what is to be waited for. */
    fbp_status (*queue)(int number, void **out);
    fbp_status (*wait)(void *queue); /**< until all in a queue is done, this one's or another's */
    void (*drop_queue)(void *queue);
    /** Such memory, for tests and benchmarks. */
    fbp_status (*alloc)(int index, size_t bytes, void **out);
    void (*release)(int index, void *memory);
};

/** As fbp_source_memory() and fbp_sink_memory() of samples that lie there.  They own `far` from
 *  then on, also after an error. */
fbp_status fbp_source_far_memory(fbp_source **out, const void *samples,
                                 const struct fbp_array_info *info, struct fbp_far *far);
fbp_status fbp_sink_far_memory(fbp_sink **out, enum fbp_type type, void *samples, const size_t n[3],
                               struct fbp_far *far);

/** NULL: the samples are elsewhere. */
struct fbp_far *fbp_source_far(const fbp_source *src);
struct fbp_far *fbp_sink_far(const fbp_sink *sink);

/** Until the caller is done with what lies there; far NULL: at once. */
static inline fbp_status fbp_far_settle(struct fbp_far *far)
{
    return far ? far->settle(far) : FBP_OK;
}

#endif /* FBP_SRC_FAR_H */
