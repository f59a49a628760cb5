#include "run/follow.h"

#include "array/file/growing.h"
#include "backend/partners.h"
#include "backend/rows.h"
#include "base/clock.h"
#include "run/load.h"

double fbp_follow_latency(const fbp_source *source, double at)
{
    const double complete_at = fbp_source_complete_at(source);

    return complete_at > 0 && at > complete_at ? at - complete_at : 0;
}

static fbp_status say(struct run_state *s, size_t waiting_for, size_t n_there)
{
    pthread_mutex_lock(&s->lock);
    s->waiting_for = waiting_for;
    pthread_mutex_unlock(&s->lock);
    return fbp_run_progress(s, 0, 0, n_there);
}

/* While a view is awaited: the user may cancel, another stage or the device may fail. */
static int idle(void *user, size_t n_there)
{
    const struct worker *w = user;

    return fbp_worker_is_over(w) || say(w->run, n_there + 1, n_there) != FBP_OK;
}

/* Until view `view` of the scan is there. */
static fbp_status await(struct worker *w, size_t view, size_t *n_there)
{
    FBP_TRY(fbp_source_await(w->run->rq->source, view + 1, idle, w, n_there));
    return say(w->run, 0, *n_there);
}

static size_t last_view(const struct worker *w, const struct fbp_batch *b)
{
    return fbp_batch_view(w->run->rq->job, b, b->n_views - 1);
}

/* Can a batch be read view by view?  With no_overlap all that is waited for is waited for first. */
static bool reads_single_views(const struct worker *w)
{
    const struct fbp_run_request *rq = w->run->rq;

    return !rq->no_overlap && rq->job->turns == 1;
}

/* Both as one batch, if they are of one slab, and not too large for the buffers. */
static bool join(const struct worker *w, struct fbp_task *t, const struct fbp_task *next)
{
    const struct fbp_work *work = w->work;

    if (t->last)
        return false;
    const struct fbp_batch both = fbp_work_batch_of(w->run->rq->job, &t->slab, t->batch.view0,
                                                    t->batch.n_views + next->batch.n_views);
    if (both.n_views > work->batch_views || both.load_rows > work->load_rows ||
        both.n_rows > work->filter_rows)
        return false;
    t->batch = both;
    t->step = next->step;
    t->last = next->last;
    t->final = next->final;
    return true;
}

fbp_status fbp_follow_task(struct worker *w, struct fbp_drawn *d, size_t i, size_t *n)
{
    struct fbp_task *t = &d->tasks[i];
    size_t n_there;

    *n = 1;
    if (!w->work->follow)
        return FBP_OK;
    FBP_TRY(await(w, reads_single_views(w) ? t->batch.view0 : last_view(w, &t->batch), &n_there));
    while (i + *n < d->n_tasks && last_view(w, &d->tasks[i + *n].batch) < n_there &&
           join(w, t, &d->tasks[i + *n]))
        (*n)++;
    pthread_mutex_lock(&w->run->lock);
    w->run->report.n_batches++;
    w->run->report.last_batch = t->batch.n_views;
    pthread_mutex_unlock(&w->run->lock);
    return FBP_OK;
}

fbp_status fbp_follow_load(struct worker *w, const struct fbp_batch *batch, void *out)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t view = batch->load_rows * rq->job->panel.n_columns * fbp_raw_size(rq->job);
    size_t n_there;

    for (size_t k = 0, n = batch->n_views; k < batch->n_views; k += n) {
        struct fbp_batch part = *batch;
        if (reads_single_views(w)) {
            const double start = fbp_seconds();
            FBP_TRY(await(w, batch->view0 + k, &n_there));
            w->busy[FBP_STAGE_IN] -= fbp_seconds() - start;
            n = n_there - batch->view0 - k;
            n = n < batch->n_views - k ? n : batch->n_views - k;
        }
        part.view0 += k;
        part.n_views = n;
        FBP_TRY(fbp_load(rq->source, rq->top_down, rq->job, &part, NULL, rq->look,
                         (char *)out + k * view));
    }
    return FBP_OK;
}
