/** @file shared.h  Views that workers filter for one another (internal).
 *
 * Of views that are kept on the devices each batch is read and filtered by one worker, whoever is
 * free, and the others copy it from that device.  What a worker that fails had filtered is free
 * again: somebody else filters it for those who have not copied it.
 */
#ifndef FBP_SRC_SHARED_H
#define FBP_SRC_SHARED_H

#include "backend/backend.h"
#include "run/slabs.h"

#include <pthread.h>
#include <stdatomic.h>

enum fbp_shared_state {
    FBP_SHARED_FREE = 0,
    FBP_SHARED_TAKEN,
    FBP_SHARED_READ,
    FBP_SHARED_QUEUED,  /**< its filter is in a queue, until `ready` */
    FBP_SHARED_COUNTED, /**< filtered, and what was mended in it counts */
};

struct fbp_shared_batch {
    enum fbp_shared_state state;
    size_t by; /**< the worker that took it */
    struct fbp_mark ready;
    bool again;   /**< a worker that had it has failed, and others may have copied it */
    bool counted; /**< by that worker, too */
};

struct fbp_shared {
    pthread_mutex_t lock; /**< all below */
    pthread_cond_t changed;
    size_t n;
    struct fbp_shared_batch *list; /**< NULL: nothing is shared */
    struct fbp_drawn *views;       /**< a task for each batch: never backprojected */
    bool aborted;
};

/** For the batches of `work`; of one that shares nothing, empty. */
fbp_status fbp_shared_create(struct fbp_shared *s, const struct fbp_job *job,
                             const struct fbp_work *work);
void fbp_shared_destroy(struct fbp_shared *s);

/** What the stage of a worker that reads does next. */
enum fbp_shared_next { FBP_SHARED_TAKE, FBP_SHARED_COLLECT, FBP_SHARED_END };

/** Batch *b is this worker's to read and filter; or what was mended in those that it has is to be
 *  collected; or it has nothing more to read, as *has_all says, too, and all is counted.  Waits
 *  until one of them is so.  *over: it does nothing more. */
enum fbp_shared_next fbp_shared_next(struct fbp_shared *s, size_t worker,
                                     const atomic_bool *has_all, const atomic_bool *over,
                                     size_t *b);

/** Wait until all earlier batches are read, of a scan that can only be read in order. */
void fbp_shared_turn(struct fbp_shared *s, size_t b);
/** How batch b stands now. */
struct fbp_shared_batch fbp_shared_get(struct fbp_shared *s, size_t b);

/** A worker has read a batch, or has its filter in a queue, unless that was taken from it. */
void fbp_shared_read(struct fbp_shared *s, size_t b, size_t worker);
void fbp_shared_queued(struct fbp_shared *s, size_t b, size_t worker, struct fbp_mark ready);
/** All that this worker has filtered. */
void fbp_shared_counted(struct fbp_shared *s, size_t worker);

/** Wait until batch b is in a queue; false: nobody is to wait any more. */
bool fbp_shared_await(struct fbp_shared *s, size_t b, const atomic_bool *over,
                      struct fbp_shared_batch *out);
/** A worker has failed: its batches are free. */
void fbp_shared_return(struct fbp_shared *s, size_t worker);

/** Somebody's *has_all or *over was set. */
void fbp_shared_wake(struct fbp_shared *s);
/** Nobody waits from now on. */
void fbp_shared_abort(struct fbp_shared *s);

#endif /* FBP_SRC_SHARED_H */
