/** @file stage.h  What the four stages of a worker share (internal).
 *
 * The body of each loop takes a slot from the stage before, works, and hands a slot to the stage
 * after; freed slots run back.  On a device with queues of its own the calls only enqueue, and
 * marks carry the order.  A stage of the host and the queue of the device that it fills have one
 * name.
 */
#ifndef FBP_SRC_STAGE_H
#define FBP_SRC_STAGE_H

#include "run/worker.h"

/** Order on the worker's device: as the slots `mark`, `after` and `wait` of backend.h. */
fbp_status fbp_stage_mark(struct worker *w, enum fbp_stage stage, struct fbp_mark *out);
fbp_status fbp_stage_after(struct worker *w, enum fbp_stage stage, struct fbp_mark m);
fbp_status fbp_stage_wait(struct worker *w, struct fbp_mark m);

/** A stage begins to work: its seconds count from here. */
double fbp_turn_begin(struct worker *w);
/** With no_overlap, what the stage gave to its queue belongs to its turn. */
fbp_status fbp_turn_end(struct worker *w, int stage, double start, fbp_status st);
/** With no_overlap, the seconds that a copy begun at `start` takes. */
fbp_status fbp_stage_copied(struct worker *w, enum fbp_stage stage, double start, double *seconds);

/** Work of a stage of the device, for the timeline. */
fbp_status fbp_stage_span(struct worker *w, enum fbp_stage stage, struct fbp_span *out);
/** ... on views of a task ends. */
fbp_status fbp_stage_span_end(struct worker *w, struct fbp_span *span, enum fbp_lane lane,
                              const struct place *at);
/** Number of a task, among those of its slab. */
size_t fbp_place_number(const struct place *at);

/** The next slab, one that comes back from another worker; *out NULL: there will be none.  Of
 *  several workers that wait one gets it. */
fbp_status fbp_stage_await_slab(struct worker *w, struct fbp_drawn **out);

/** A stage has ended.  A queue that was closed early says that the run has stopped: its failure is
 *  known. */
void fbp_stage_leave(struct worker *w, fbp_status st);

#endif /* FBP_SRC_STAGE_H */
