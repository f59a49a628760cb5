/* The first stage: views from the source, as soon as there is room for them. */
#include "run/stage.h"

#include "array/array.h"
#include "array/far.h"
#include "array/hold.h"
#include "backend/rows.h"
#include "base/clock.h"
#include "run/follow.h"
#include "run/load.h"

/* While views are unpacked: the user may cancel, another stage or the device may fail. */
static int is_over(void *user, size_t n_there)
{
    const struct worker *w = user;

    return fbp_worker_is_over(w) || fbp_run_progress(w->run, 0, 0, n_there) != FBP_OK;
}

static fbp_status read_task(struct worker *w, struct raw_slot *slot)
{
    const struct fbp_run_request *rq = w->run->rq;

    if (w->views)
        return FBP_OK;
    FBP_TRY(fbp_worker_raw_host(w, slot));
    FBP_TRY(fbp_stage_wait(w, slot->uploaded)); /* the host side is still being copied from */
    struct fbp_span span = fbp_span_host(rq->timeline);
    const struct fbp_batch *batch = &slot->at.task->batch;
    if (batch->load_rows > 0)
        FBP_TRY(fbp_hold_fill(rq->source, fbp_batch_view(rq->job, batch, batch->n_views - 1) + 1,
                              is_over, w));
    FBP_TRY(w->work->follow
                ? fbp_follow_load(w, batch, slot->host)
                : fbp_load(rq->source, rq->top_down, rq->job, batch,
                           rq->job->in_order ? NULL : w->io_threads, rq->look, slot->host));
    return fbp_stage_span_end(w, &span, FBP_LANE_READ, &slot->at);
}

/* A batch of views that the caller holds. */
struct held {
    const struct worker *worker;
    const struct fbp_batch *batch;
};

static fbp_status look_at_held(void *user, size_t k, int thread)
{
    const struct held *h = user;

    (void)thread;
    fbp_look_at(h->worker->run->rq->look, h->batch, k, h->worker->views, true);
    return FBP_OK;
}

/* All views, which a device holds: by one worker. */
static fbp_status look_at_far(struct worker *w)
{
    if (atomic_exchange(&w->run->looked_far, true))
        return FBP_OK;
    return fbp_look_at_far(w->run->rq->look, w->run->rq->source);
}

/* At what the caller holds, when all is on its way: no device waits for that.  Kept views are those
 * of the first slab. */
static fbp_status look_at_views(struct worker *w)
{
    const struct fbp_drawn *d = w->looked ? w->looked->next : w->drawn;

    if (!w->run->rq->look || !w->views || atomic_load(&w->run->stop))
        return FBP_OK;
    if (fbp_source_far(w->run->rq->source))
        return look_at_far(w);
    for (; d; d = w->work->kept ? NULL : d->next) {
        for (size_t i = 0; i < d->n_tasks; i++) {
            struct held held = {w, &d->tasks[i].batch};
            if (d->tasks[i].loads)
                FBP_TRY(fbp_pool_try(w->io_threads, held.batch->n_views, look_at_held, &held));
        }
        w->looked = d;
    }
    return FBP_OK;
}

/* Task i of a slab, and those that are joined with it: *n in all. */
static fbp_status read_next(struct worker *w, struct fbp_drawn *d, size_t i, size_t *n)
{
    size_t slot;

    *n = 1;
    if (!d->tasks[i].loads)
        return FBP_OK;
    if (!fbp_queue_pop(w->raw_free, &slot, &w->waited[FBP_STAGE_IN]))
        return FBP_ERR_CANCELLED;
    w->raw[slot].at = (struct place){d, &d->tasks[i]};
    fbp_status st = fbp_follow_task(w, d, i, n);
    const double start = fbp_turn_begin(w);
    if (st == FBP_OK)
        st = read_task(w, &w->raw[slot]);
    FBP_TRY(fbp_turn_end(w, FBP_STAGE_IN, start, st));
    fbp_queue_push(w->raw_full, slot);
    return FBP_OK;
}

static fbp_status read_tasks(struct worker *w, struct fbp_drawn *d)
{
    for (size_t i = 0, n; i < d->n_tasks; i += n)
        FBP_TRY(read_next(w, d, i, &n));
    return FBP_OK;
}

/* Workers that unpack different views in turns would begin at the first one again and again. */
static fbp_status read_slab(struct worker *w, struct fbp_drawn *d)
{
    const bool alone = w->run->rq->job->in_order && !w->work->follow;

    if (alone)
        pthread_mutex_lock(&w->run->pass);
    const fbp_status st = read_tasks(w, d);
    if (alone)
        pthread_mutex_unlock(&w->run->pass);
    return st;
}

/* ... or one that is left. */
static fbp_status next_slab(struct worker *w, struct fbp_drawn **out)
{
    FBP_TRY(fbp_worker_draw(w, out));
    if (*out)
        return FBP_OK;
    FBP_TRY(look_at_views(w));
    return fbp_stage_await_slab(w, out);
}

/* As look_at_views(), at those that this worker has just given to its filter. */
static fbp_status look_at_own(struct worker *w)
{
    struct fbp_shared *s = &w->run->shared;

    if (!w->run->rq->look || !w->views)
        return FBP_OK;
    if (fbp_source_far(w->run->rq->source))
        return look_at_far(w);
    for (size_t b = 0; b < s->n; b++) {
        const struct fbp_shared_batch at = fbp_shared_get(s, b);
        struct held held = {w, &s->views->tasks[b].batch};
        if (at.by == fbp_worker_index(w) && at.state == FBP_SHARED_QUEUED)
            FBP_TRY(fbp_pool_try(w->io_threads, held.batch->n_views, look_at_held, &held));
    }
    return FBP_OK;
}

/* Batch b of shared views. */
static fbp_status read_batch(struct worker *w, size_t b)
{
    struct fbp_shared *s = &w->run->shared;
    size_t slot;

    if (!fbp_queue_pop(w->raw_free, &slot, &w->waited[FBP_STAGE_IN]))
        return FBP_ERR_CANCELLED;
    w->raw[slot].at = (struct place){s->views, &s->views->tasks[b]};
    if (w->run->rq->job->in_order)
        fbp_shared_turn(s, b);
    const double start = fbp_turn_begin(w);
    FBP_TRY(fbp_turn_end(w, FBP_STAGE_IN, start, read_task(w, &w->raw[slot])));
    fbp_shared_read(s, b, fbp_worker_index(w));
    fbp_queue_push(w->raw_full, slot);
    return FBP_OK;
}

/* Views for all workers, in turns with the others. */
static fbp_status read_shared(struct worker *w)
{
    struct fbp_shared *s = &w->run->shared;
    enum fbp_shared_next next;
    size_t b;

    while ((next = fbp_shared_next(s, fbp_worker_index(w), &w->has_all, &w->gone, &b)) !=
           FBP_SHARED_END) {
        if (next == FBP_SHARED_TAKE) {
            FBP_TRY(read_batch(w, b));
            continue;
        }
        FBP_TRY(look_at_own(w));
        FBP_TRY(fbp_worker_collect(w));
    }
    return FBP_OK;
}

/* Slabs, as soon as their views can be read; those that are kept are read once. */
static fbp_status read_slabs(struct worker *w)
{
    struct fbp_drawn *d = w->drawn;

    if (!d) /* there are more workers than slabs */
        FBP_TRY(fbp_stage_await_slab(w, &d));
    while (d) {
        FBP_TRY(read_slab(w, d));
        if (w->work->kept)
            break;
        FBP_TRY(next_slab(w, &d));
    }
    fbp_queue_close(w->raw_full);
    return look_at_views(w);
}

void fbp_stage_read(struct worker *w)
{
    fbp_stage_leave(w, w->work->shared ? read_shared(w) : read_slabs(w));
    fbp_queue_close(w->raw_full);
}
