/** @file move.h  Copying by several threads, any of which may fail (internal). */
#ifndef FBP_SRC_MOVE_H
#define FBP_SRC_MOVE_H

#include "base/pool.h"

/** Copies one of several pieces; messages belong to threads. */
typedef fbp_status fbp_move_fn(void *user, size_t item);

/** fn for every item, by the pool's threads, or one after another if pool is NULL; the first
 * failure is passed on with its message. */
fbp_status fbp_move(fbp_pool *pool, size_t n_items, fbp_move_fn *fn, void *user);

#endif /* FBP_SRC_MOVE_H */
