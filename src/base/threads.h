/** @file threads.h  Cancellation of calls, a pool of compute threads, and a bounded queue of
 * indices between threads, such as the stages of a run.
 * Used by: bench/, cli/, analysis/, array/, backend/, base/, filter/, geometry/, phantom/,
 * picture/, pipeline/, prep/, team/, weight/. */
#ifndef FBP_SRC_BASE_THREADS_H
#define FBP_SRC_BASE_THREADS_H

#include "base/base.h"

#ifndef __cplusplus
#    include <stdatomic.h>
#endif
#include <unistd.h>

/* Cancellation: loops over views, slices, slabs or files call fbp_check_cancelled() at intervals
 * far below a second. */

#ifndef __cplusplus /* atomic_bool exists in C only; C++ sources (CUDA) do not use cancellation */

/** A flag that cancels the library calls of a thread, in a chain: if one call is made within
 * another one, setting the flag of either cancels the inner call. */
struct fbp_cancel_flag {
    const atomic_bool *set;              /**< true: cancelled */
    const struct fbp_cancel_flag *outer; /**< flag of the caller; NULL: none */
};

/** True if the flag or one of the outer flags is set; flag may be NULL. */
bool fbp_cancel_flagged(const struct fbp_cancel_flag *flag);

/** Conditions that cancel the calls of one thread, in addition to fbp_stop(). */
struct fbp_cancel_scope {
    const struct fbp_cancel_flag *flag; /**< NULL: none */
    bool (*asked)(void *user); /**< callback, called at most every 50 ms by fbp_stopped(); returns
                                  true to cancel; NULL: none */
    void *user;                /**< argument of asked() */
    double next; /**< earliest time of the next call of asked(), by fbp_seconds() [s] */
    bool said;   /**< whether asked() has returned true, after which it is not called again */
    bool deaf;   /**< whether this thread ignores all cancellation, including fbp_stop(); set during
                    clean-up */
};

/** Make `next` the cancel scope of this thread (NULL: none); returns the previous scope. */
struct fbp_cancel_scope *fbp_cancel_scope(struct fbp_cancel_scope *next);

/** Get the cancel flag of this thread's scope, for threads that run its work items; NULL: none. */
const struct fbp_cancel_flag *fbp_cancel_flag(void);

/** Cancel all running and all later calls of this process; the public fbp_stopper_stop(NULL) calls
 * it. */
void fbp_stop(void);

#endif

/** Return FBP_ERR_CANCELLED, with a message, if the calls of this thread are cancelled
 * (fbp_stopped()), else FBP_OK. */
fbp_status fbp_check_cancelled(void);

/* A pool of threads, shared by parallel loops of several callers. */

typedef struct fbp_pool fbp_pool;

/** Body of a parallel loop: item in [0, n_items), worker (thread) in [0, n_threads). */
typedef void fbp_pool_fn(void *user, size_t item, int worker);

/** Body of a parallel loop that can fail; the arguments are those of fbp_pool_fn. */
typedef fbp_status fbp_pool_try_fn(void *user, size_t item, int worker);

/** Number of cores in this process's affinity mask, at least 1. */
int fbp_core_count(void);

/** Start n_threads >= 1 threads.  A thread that calls fbp_pool_for() only waits, so at most
 * n_threads threads compute. */
fbp_status fbp_pool_create(fbp_pool **out, int n_threads);
void fbp_pool_destroy(fbp_pool **pool);

/** Run fn for every item in [0, n_items) in the threads of the pool, and return when all have
 * ended.  After cancellation of the caller no further item begins: call fbp_check_cancelled() after
 * the loop, before its results are used. */
void fbp_pool_for(fbp_pool *pool, size_t n_items, fbp_pool_fn *fn, void *user);

/** Run a loop like fbp_pool_for(), but before the remaining items of all other loops in the pool:
 * for short work for which other threads wait. */
void fbp_pool_for_first(fbp_pool *pool, size_t n_items, fbp_pool_fn *fn, void *user);

/** Run fn for every item in [0, n_items), in the pool or, if pool is NULL, in this thread.  After a
 * failure no further item begins; the first failure is returned with its message. */
fbp_status fbp_pool_try(fbp_pool *pool, size_t n_items, fbp_pool_try_fn *fn, void *user);

/* A bounded queue of indices between two stages. */

typedef struct fbp_queue fbp_queue;

fbp_status fbp_queue_create(fbp_queue **out, size_t capacity);
void fbp_queue_destroy(fbp_queue **queue);

/** Append an item to a queue; blocks while the queue is full and not closed.  Returns false if the
 * queue is closed. */
bool fbp_queue_push(fbp_queue *queue, size_t item);

/** Remove the first item of a queue; blocks while the queue is empty and not closed.  Returns false
 * if it is closed and empty.  Adds the waiting time [s] to *waited, if not NULL. */
bool fbp_queue_pop(fbp_queue *queue, size_t *item, double *waited);

/** Close a queue: no more items can be appended, but the items that it contains can be removed. */
void fbp_queue_close(fbp_queue *queue);

/** Close a queue and discard its items: all threads that wait for this queue return. */
void fbp_queue_abort(fbp_queue *queue);

/* Forked children */

/** Return FBP_OK if this process is `owner`, which opened the object `what`; else FBP_ERR_INVALID:
 * a forked child has no copies of the threads and devices of its parent. */
static inline fbp_status fbp_check_process(pid_t owner, const char *what)
{
    if (owner == getpid())
        return FBP_OK;
    return FBP_INVALID(
        "%s: was opened by process %ld, and this process is a forked child without its "
        "threads and devices; open another one in this process",
        what, (long)owner);
}

#endif /* FBP_SRC_BASE_THREADS_H */
