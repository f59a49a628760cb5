/** @file slabs.h  The slabs of a run: workers draw one after another (internal). */
#ifndef FBP_SRC_SLABS_H
#define FBP_SRC_SLABS_H

#include "plan/shares.h"
#include "plan/work.h"

#include <pthread.h>

/** A slab that a worker has drawn, with its tasks. */
struct fbp_drawn {
    struct fbp_slab slab;
    struct fbp_drawn *next; /**< of the same worker */
    size_t n_tasks;
    struct fbp_task tasks[];
};

/** What is left to be done.  Slabs are drawn in their order, by whoever is free. */
struct fbp_slabs {
    const struct fbp_job *job;
    const struct fbp_work *work;
    struct fbp_slab *list; /**< n of them; nz > 0 */
    size_t n, n_drawn;
    struct fbp_ledger uncounted; /**< rows that no worker counts yet */
    pthread_mutex_t lock;        /**< n_drawn and uncounted */
};

/** An empty list, with room for all slabs of the division. */
fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work);
void fbp_slabs_destroy(struct fbp_slabs *s);

/** Add a slab at the end, before anybody draws. */
void fbp_slabs_add(struct fbp_slabs *s, struct fbp_slab slab);

/** The next slab, NULL if there is none left.  first: of this worker, which has no views yet.
 *  Thread-safe. */
fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_drawn **out);

/** Those rows of a drawn slab that nobody counts yet; instead of those that are in *mine.
 *  Thread-safe. */
void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_drawn *drawn, struct fbp_ledger *mine);

#endif /* FBP_SRC_SLABS_H */
