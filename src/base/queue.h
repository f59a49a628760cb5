/** @file queue.h  A bounded queue of indices between two stages (internal). */
#ifndef FBP_SRC_QUEUE_H
#define FBP_SRC_QUEUE_H

#include "base/status.h"

typedef struct fbp_queue fbp_queue;

fbp_status fbp_queue_create(fbp_queue **out, size_t capacity);
void fbp_queue_destroy(fbp_queue **queue);

/** Blocks while full.  False once the queue is closed. */
bool fbp_queue_push(fbp_queue *queue, size_t item);

/** Blocks while empty.  False once the queue is closed and empty.  *waited (may be NULL) grows by
 *  the seconds spent waiting. */
bool fbp_queue_pop(fbp_queue *queue, size_t *item, double *waited);

/** No more items will come; those inside can still be popped. */
void fbp_queue_close(fbp_queue *queue);

/** Close and drop what is inside: everybody wakes up and leaves. */
void fbp_queue_abort(fbp_queue *queue);

#endif /* FBP_SRC_QUEUE_H */
