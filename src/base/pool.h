/** @file pool.h  A fixed set of compute threads shared by concurrent parallel loops (internal). */
#ifndef FBP_SRC_POOL_H
#define FBP_SRC_POOL_H

#include "base/status.h"

typedef struct fbp_pool fbp_pool;

/** Body of a loop: item in [0, n_items), worker in [0, n_threads). */
typedef void fbp_pool_fn(void *user, size_t item, int worker);

/** Cores in this process's affinity mask, at least 1. */
int fbp_core_count(void);

/** n_threads >= 1 threads; they compute, callers only wait, so that no more than n_threads run. */
fbp_status fbp_pool_create(fbp_pool **out, int n_threads);
void fbp_pool_destroy(fbp_pool **pool);

/** Run fn for every item and return when all are done.  Loops of several callers interleave.
 *  Once the caller is to stop (base/stop.h) no further item begins: it asks fbp_go_on() behind a
 *  loop before it believes in what was made. */
void fbp_pool_for(fbp_pool *pool, size_t n_items, fbp_pool_fn *fn, void *user);

/** The same, before all loops that wait: for short work that others stand still for. */
void fbp_pool_for_first(fbp_pool *pool, size_t n_items, fbp_pool_fn *fn, void *user);

/** Body of a loop that may fail. */
typedef fbp_status fbp_pool_try_fn(void *user, size_t item, int worker);

/** Run fn for every item, by the pool or, if it is NULL, one after another in this thread.  After
 *  a failure no further item begins; the first is passed on with its message. */
fbp_status fbp_pool_try(fbp_pool *pool, size_t n_items, fbp_pool_try_fn *fn, void *user);

#endif /* FBP_SRC_POOL_H */
