/** @file timeline.h  What a run did when: bars of batches and slabs on the stages' lanes
 * (internal).
 *
 * Work that a device has queued is timed by its stamps, everything else by the host's clock; both
 * end on one axis.
 */
#ifndef FBP_SRC_TIMELINE_H
#define FBP_SRC_TIMELINE_H

#include "backend/backend.h"

enum fbp_lane {
    FBP_LANE_HOST = 0, /**< opening devices, finishing the output */
    FBP_LANE_READ,
    FBP_LANE_UPLOAD,
    FBP_LANE_FILTER,
    FBP_LANE_BACKPROJECT,
    FBP_LANE_FETCH,
    FBP_LANE_WRITE,
    FBP_N_LANES
};

typedef struct fbp_timeline fbp_timeline;

/** A piece of work that has begun. */
struct fbp_span {
    fbp_timeline *to; /**< NULL: nobody wants to know */
    const struct fbp_backend *backend;
    fbp_device *dev;
    enum fbp_stage stage;
    uint64_t stamps[2]; /**< of a device's queue, or */
    double begin;       /**< of the host */
    bool queued;
};

/** Zero is now. */
fbp_status fbp_timeline_create(fbp_timeline **out);
void fbp_timeline_destroy(fbp_timeline **timeline);

/** Work of the host begins.  timeline may be NULL, here and below. */
struct fbp_span fbp_span_host(fbp_timeline *timeline);

/** Work of a stage of a device begins. */
fbp_status fbp_span_device(fbp_timeline *timeline, const struct fbp_backend *backend,
                           fbp_device *dev, enum fbp_stage stage, struct fbp_span *out);

/** It ends here, or in the device's queue.  shade: even and odd are drawn apart; words: what it
 *  was. */
fbp_status fbp_span_end(struct fbp_span *span, enum fbp_lane lane, size_t shade, const char *fmt,
                        ...) __attribute__((format(printf, 4, 5)));

/** Turn a device's stamps into seconds: all its work is done, and it is still open. */
fbp_status fbp_timeline_settle(fbp_timeline *timeline, fbp_device *dev);

fbp_status fbp_timeline_svg(const fbp_timeline *timeline, const char *title, const char *path);

#endif /* FBP_SRC_TIMELINE_H */
