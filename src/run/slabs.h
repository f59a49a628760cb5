/** @file slabs.h  The slabs of a run: workers draw one after another (internal). */
#ifndef FBP_SRC_SLABS_H
#define FBP_SRC_SLABS_H

#include "plan/shares.h"
#include "plan/work.h"

#include <pthread.h>
#include <stdatomic.h>

/** A slab that a worker has drawn, with its tasks. */
struct fbp_drawn {
    struct fbp_slab slab;
    struct fbp_drawn *next; /**< of the same worker */
    bool done;              /**< computed and written; of the stage that writes */
    uint64_t updates;       /**< so far; of the stage that backprojects */
    size_t n_tasks;
    const struct fbp_task *planned; /**< the same, never changed */
    struct fbp_task tasks[];        /**< of the stage that reads: it may join some */
};

/** A slab with its tasks, as fbp_work_tasks(); free() it. */
fbp_status fbp_drawn_create(struct fbp_drawn **out, const struct fbp_job *job,
                            const struct fbp_work *work, const struct fbp_slab *slab, bool first);

/** What is left to be done.  Slabs are drawn in their order, by whoever is free; those of a device
 *  that fails come back. */
struct fbp_slabs {
    const struct fbp_job *job;
    const struct fbp_work *work;
    pthread_mutex_t lock; /**< all below, from the first draw on */
    pthread_cond_t changed;
    struct fbp_slab *list; /**< n of them; nz > 0 */
    size_t n, n_most, n_drawn, n_skipped;
    size_t n_open; /**< drawn, and neither done nor returned */
    bool aborted;
    struct fbp_ledger uncounted; /**< rows that no worker counts yet */
};

/** An empty list, with room for all slabs of the division. */
fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work);
void fbp_slabs_destroy(struct fbp_slabs *s);

/** Add a slab at the end, before anybody draws. */
void fbp_slabs_add(struct fbp_slabs *s, struct fbp_slab slab);

/** Note a slab of which nothing is wanted: nobody draws it. */
void fbp_slabs_skip(struct fbp_slabs *s, struct fbp_slab slab);
/** Skipped slab i of s->n_skipped. */
const struct fbp_slab *fbp_slabs_skipped(const struct fbp_slabs *s, size_t i);

/** The next slab; *out NULL: there is none left.  first: of this worker, which has no views yet.
 *  Thread-safe, as are all below. */
fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_drawn **out);

/** Wait until there is a slab to draw, which somebody else may be the first to do.  False: there
 *  will be none: all are done, *gone, or nobody is to wait any more. */
bool fbp_slabs_await(struct fbp_slabs *s, const atomic_bool *gone);
/** Wake up who waits, after *gone was set. */
void fbp_slabs_wake(struct fbp_slabs *s);
/** Nobody waits from now on. */
void fbp_slabs_abort(struct fbp_slabs *s);

void fbp_slabs_done(struct fbp_slabs *s);
/** A drawn slab will not be done by who drew it: `missing`, nz 0 if nothing is, is left of it. */
void fbp_slabs_return(struct fbp_slabs *s, struct fbp_slab missing);

/** *mine becomes those rows of a drawn slab that nobody counts yet; of kept views, all. */
void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_drawn *drawn, struct fbp_ledger *mine);
/** *mine gets all rows that nobody counts yet; they stay uncounted. */
void fbp_slabs_uncounted(struct fbp_slabs *s, struct fbp_ledger *mine);
/** Nobody counts these any more. */
void fbp_slabs_unclaim(struct fbp_slabs *s, const struct fbp_ledger *mine);

#endif /* FBP_SRC_SLABS_H */
