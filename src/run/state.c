#include "run/state.h"

#include "base/clock.h"
#include "base/stop.h"
#include "run/worker.h"

#include <stdio.h>

void fbp_run_failed(struct run_state *s, fbp_status status)
{
    pthread_mutex_lock(&s->lock);
    if (s->status == FBP_OK) {
        s->status = status;
        snprintf(s->message, sizeof s->message, "%s", fbp_message());
    }
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->stop, true);
    for (size_t i = 0; i < s->n_workers; i++)
        fbp_worker_abort(&s->workers[i]);
    fbp_slabs_abort(&s->slabs);
    fbp_shared_abort(&s->shared);
}

/* Is it the first failure of a worker that the others can do without? */
static bool can_be_dropped(struct run_state *s, const struct worker *w, fbp_status status)
{
    return (status == FBP_ERR_DEVICE || status == FBP_ERR_NOMEM) && s->n_working > 1 &&
           !atomic_load(&s->stop) && !atomic_load(&w->gone);
}

void fbp_run_stage_failed(struct run_state *s, struct worker *w, fbp_status status)
{
    pthread_mutex_lock(&s->lock);
    const bool followed = atomic_load(&w->gone), drop = can_be_dropped(s, w, status);
    if (drop) {
        s->n_working--;
        fbp_worker_drop(w, status);
    }
    pthread_mutex_unlock(&s->lock);
    if (drop) {
        fbp_shared_return(&s->shared, fbp_worker_index(w));
        fbp_worker_abort(w);
    } else if (!followed)
        fbp_run_failed(s, status);
}

fbp_status fbp_run_cancelled(struct run_state *s, const char *how)
{
    const fbp_status st = fbp_fail(FBP_ERR_CANCELLED, "%s", how);

    fbp_run_failed(s, st);
    return st;
}

bool fbp_run_tell(struct run_state *s)
{
    const struct fbp_progress p = {.struct_size = sizeof p,
                                   .done = s->updates_done,
                                   .total = s->updates_total,
                                   .views_read = s->views_read,
                                   .slabs_done = s->slabs_done,
                                   .n_slabs = s->n_slabs,
                                   .seconds = fbp_seconds() - s->started,
                                   .waiting_for = s->waiting_for};

    return s->rq->progress && s->rq->progress(s->rq->user, &p);
}

fbp_status fbp_run_progress(struct run_state *s, uint64_t updates, size_t slabs, size_t views_read)
{
    FBP_TRY(fbp_go_on());
    pthread_mutex_lock(&s->lock);
    s->updates_done += updates;
    s->slabs_done += slabs;
    s->views_read = views_read;
    const bool cancel = fbp_run_tell(s);
    pthread_mutex_unlock(&s->lock);
    return cancel ? fbp_run_cancelled(s, "cancelled") : fbp_go_on();
}
