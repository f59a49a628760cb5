/* What the stages of a worker share. */
#include "run/stage.h"

#include "backend/device.h"
#include "base/clock.h"

fbp_status fbp_stage_mark(struct worker *w, enum fbp_stage stage, struct fbp_mark *out)
{
    return w->backend->mark(w->dev, stage, out);
}

fbp_status fbp_stage_after(struct worker *w, enum fbp_stage stage, struct fbp_mark m)
{
    return fbp_device_after(w->backend, w->dev, stage, m);
}

fbp_status fbp_stage_wait(struct worker *w, struct fbp_mark m)
{
    return fbp_device_wait(w->backend, w->dev, m);
}

double fbp_turn_begin(struct worker *w)
{
    if (w->run->rq->no_overlap)
        pthread_mutex_lock(&w->run->turn);
    return fbp_seconds();
}

fbp_status fbp_turn_end(struct worker *w, int stage, double start, fbp_status st)
{
    if (w->run->rq->no_overlap && st == FBP_OK)
        st = fbp_device_settle(w->backend, w->dev, (enum fbp_stage)stage);
    w->busy[stage] += fbp_seconds() - start;
    if (w->run->rq->no_overlap)
        pthread_mutex_unlock(&w->run->turn);
    return st;
}

fbp_status fbp_stage_copied(struct worker *w, enum fbp_stage stage, double start, double *seconds)
{
    if (!w->run->rq->no_overlap || !w->backend->own_memory)
        return FBP_OK;
    FBP_TRY(fbp_device_settle(w->backend, w->dev, stage));
    *seconds += fbp_seconds() - start;
    return FBP_OK;
}

fbp_status fbp_stage_span(struct worker *w, enum fbp_stage stage, struct fbp_span *out)
{
    return fbp_span_device(w->run->rq->timeline, w->backend, w->dev, stage, out);
}

size_t fbp_place_number(const struct place *at)
{
    return (size_t)(at->task - at->drawn->tasks);
}

fbp_status fbp_stage_span_end(struct worker *w, struct fbp_span *span, enum fbp_lane lane,
                              const struct place *at)
{
    const struct fbp_batch *b = &at->task->batch;
    const size_t parts = w->run->rq->job->turns;

    if (parts > 1)
        return fbp_span_end(span, lane, fbp_place_number(at), "views %zu to %zu of %zu parts",
                            b->view0, b->view0 + b->n_views / parts - 1, parts);
    return fbp_span_end(span, lane, fbp_place_number(at), "views %zu to %zu", b->view0,
                        b->view0 + b->n_views - 1);
}

fbp_status fbp_stage_await_slab(struct worker *w, struct fbp_drawn **out)
{
    *out = NULL;
    while (!*out && fbp_slabs_await(&w->run->slabs, &w->gone))
        FBP_TRY(fbp_worker_draw(w, out));
    return FBP_OK;
}

void fbp_stage_leave(struct worker *w, fbp_status st)
{
    if (st != FBP_OK && !atomic_load(&w->run->stop))
        fbp_run_stage_failed(w->run, w, st);
}
