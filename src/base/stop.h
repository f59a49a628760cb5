/** @file stop.h  Is somebody waiting for this call to end (internal)?
 *
 * Every loop over views, slices, slabs or files asks fbp_go_on(): each of its steps has to be far
 * shorter than a second.
 */
#ifndef FBP_SRC_STOP_H
#define FBP_SRC_STOP_H

#include "base/status.h"

#include <stdatomic.h>

/** Who may cancel what this thread does, beside fbp_stop(). */
struct fbp_stop_scope {
    const atomic_bool *flag;   /**< looked at every time; NULL: none */
    bool (*asked)(void *user); /**< a few times a second; NULL: nobody */
    void *user;
    double next; /**< when it is asked next */
    bool said;   /**< it said so, and is not asked again */
    bool deaf;   /**< nobody may, not even fbp_stop(): what was begun is tidied up */
};

/** From now on ask `next`, NULL: nobody, in this thread; returns who was asked before. */
struct fbp_stop_scope *fbp_stop_scope(struct fbp_stop_scope *next);

/** The flag of this thread's scope, for threads that work for it; NULL: none. */
const atomic_bool *fbp_stop_flag(void);

/* fbp_stopped() (fbp/types.h): was fbp_stop() called, or did the scope say so? */

/** FBP_OK, or FBP_ERR_CANCELLED if fbp_stopped().  Cheap enough for every block of a loop. */
fbp_status fbp_go_on(void);

#endif /* FBP_SRC_STOP_H */
