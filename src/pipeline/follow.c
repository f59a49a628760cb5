#include "pipeline/follow.h"

#include "io/follow.h"

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

/* While a view is awaited: the user may cancel, another stage may fail. */
static int idle(void *user, size_t n_there)
{
    struct run_state *s = user;

    return atomic_load(&s->stop) || say(s, n_there + 1, n_there) != FBP_OK;
}

static size_t end_of(const struct task *t)
{
    return t->batch.view0 + t->batch.n_views;
}

/* Both as one batch, if it is not too large for the buffers. */
static bool join(const struct worker *w, struct task *t, const struct task *next)
{
    const struct fbp_work *work = w->work;
    const struct fbp_batch both = fbp_work_batch_of(w->run->rq->job, &t->slab, t->batch.view0,
                                                    t->batch.n_views + next->batch.n_views);

    if (t->last || both.n_views > work->batch_views || both.load_rows > work->load_rows ||
        both.n_rows > work->filter_rows)
        return false;
    t->batch = both;
    t->last = next->last;
    return true;
}

fbp_status fbp_follow_task(struct worker *w, size_t i, size_t *n)
{
    const struct fbp_run_request *rq = w->run->rq;
    struct task *t = &w->tasks[i];
    size_t n_there;

    *n = 1;
    if (!w->work->follow)
        return FBP_OK;
    FBP_TRY(fbp_source_await(rq->source, end_of(t), idle, w->run, &n_there));
    FBP_TRY(say(w->run, 0, n_there));
    while (i + *n < w->n_tasks && end_of(&w->tasks[i + *n]) <= n_there &&
           join(w, t, &w->tasks[i + *n]))
        (*n)++;
    pthread_mutex_lock(&w->run->lock);
    w->run->report.n_batches++;
    w->run->report.last_batch = t->batch.n_views;
    pthread_mutex_unlock(&w->run->lock);
    return FBP_OK;
}
