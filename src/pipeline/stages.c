/* The filter stage and the backprojection stage (fbp_stage_filter(), fbp_stage_backproject()) of a
 * worker, which is a device with its buffers and queues (worker.h), and functions that all four
 * stages share. Each stage is a thread. If the device has queues of its own, the stages only
 * enqueue commands, and events keep their order.
 * Used by: run.c, stage_read.c, stage_write.c. */
#include "pipeline/worker.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "backend/views.h"
#include "base/system.h"
#include "pipeline/job.h"

/* ---- What all stages share ---- */

fbp_status fbp_stage_record(struct worker *w, enum fbp_stage stage, struct fbp_event *out)
{
    return w->backend->event.record(w->dev, stage, out);
}

fbp_status fbp_stage_wait_for(struct worker *w, enum fbp_stage stage, struct fbp_event m)
{
    return fbp_device_after(w->backend, w->dev, stage, m);
}

fbp_status fbp_stage_wait(struct worker *w, struct fbp_event m)
{
    return fbp_device_wait(w->backend, w->dev, m);
}

double fbp_stage_begin(struct worker *w)
{
    if (w->run->rq->no_overlap)
        pthread_mutex_lock(&w->run->turn);
    return fbp_seconds();
}

fbp_status fbp_stage_end(struct worker *w, int stage, double start, fbp_status st)
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
    if (!w->run->rq->no_overlap || !w->backend->can.own_memory)
        return FBP_OK;
    FBP_TRY(fbp_device_settle(w->backend, w->dev, stage));
    *seconds += fbp_seconds() - start;
    return FBP_OK;
}

fbp_status fbp_stage_span(struct worker *w, enum fbp_stage stage, struct fbp_span *out)
{
    return fbp_span_device(w->run->rq->timeline, w->backend, w->dev, stage, out);
}

/* Index of a task among the tasks of its slab. */
static size_t task_number(const struct place *at)
{
    return (size_t)(at->task - at->drawn->tasks);
}

fbp_status fbp_stage_span_end(struct worker *w, struct fbp_span *span, enum fbp_lane lane,
                              const struct place *at)
{
    const struct fbp_batch *b = &at->task->batch;
    const size_t parts = w->run->rq->job->selection.symmetric_views;

    if (parts > 1)
        return fbp_span_end(span, lane, task_number(at), "views %zu to %zu of %zu parts", b->view0,
                            b->view0 + b->n_views / parts - 1, parts);
    return fbp_span_end(span, lane, task_number(at), "views %zu to %zu", b->view0,
                        b->view0 + b->n_views - 1);
}

fbp_status fbp_stage_await_slab(struct worker *w, struct fbp_work_item **out)
{
    struct fbp_slabs *s = &w->run->slabs;
    bool found = true;

    *out = NULL;
    /* repeat until this worker has a slab, or no slab is left that could be returned */
    while (!*out && found) {
        pthread_mutex_lock(&s->lock);
        while (s->n_drawn == s->n && s->n_open > 0 && !s->aborted && !atomic_load(&w->gone))
            pthread_cond_wait(&s->changed, &s->lock);
        found = s->n_drawn < s->n && !s->aborted && !atomic_load(&w->gone);
        pthread_mutex_unlock(&s->lock);
        if (found)
            FBP_TRY(fbp_worker_draw(w, out));
    }
    return FBP_OK;
}

void fbp_stage_ended(struct worker *w, fbp_status st)
{
    if (st != FBP_OK && !atomic_load(&w->run->stop))
        fbp_run_stage_failed(w->run, w, st);
}

/* ---- Stage two: upload and filter ---- */

/* Enqueue the upload of a batch to the device, and make the filter queue wait for the upload. */
static fbp_status upload(struct worker *w, struct raw_slot *raw)
{
    const struct fbp_job *job = w->run->rq->job;
    const struct fbp_batch *batch = &raw->at.task->batch;
    const size_t nc = job->panel.n_columns, view = job->panel.n_rows * nc, size = fbp_raw_size(job);
    const size_t per_part = batch->n_views / job->selection.symmetric_views,
                 n = batch->load_rows * nc;
    char *to = raw->device;
    struct fbp_span span;

    FBP_TRY(fbp_stage_wait_for(w, FBP_STAGE_IN, raw->consumed));
    const double start = fbp_seconds();
    FBP_TRY(fbp_stage_span(w, FBP_STAGE_IN, &span));
    if (!w->views)
        FBP_TRY(w->backend->memory.upload(w->dev, to, raw->host, fbp_raw_samples(job, batch)));
    /* if the device takes views from the caller's memory: upload the views of one part of the
     * circle after another (rotational symmetry), in the order in which fbp_load() reads them */
    for (size_t k = 0; w->views && k < batch->n_views; k += per_part, to += per_part * n * size) {
        const size_t first = fbp_batch_view(job, batch, k) * view + batch->load_row0 * nc;
        FBP_TRY(w->backend->memory.upload_pieces(w->dev, to, (const char *)w->views + first * size,
                                                 per_part, n, view));
    }
    FBP_TRY(fbp_stage_span_end(w, &span, FBP_LANE_UPLOAD, &raw->at));
    FBP_TRY(fbp_stage_copied(w, FBP_STAGE_IN, start, &w->upload));
    FBP_TRY(fbp_stage_record(w, FBP_STAGE_IN, &raw->uploaded));
    return fbp_stage_wait_for(w, FBP_STAGE_FILTER, raw->uploaded);
}

/* Upload and filter a batch. */
static fbp_status filter_task(struct worker *w, struct raw_slot *raw, struct filtered_slot *out)
{
    const struct fbp_batch *batch = &raw->at.task->batch;
    struct fbp_span span;

    if (!w->work->shared && raw->at.task->first)
        FBP_TRY(fbp_worker_claim(w, raw->at.drawn));
    if (w->backend->can.own_memory && batch->load_rows > 0)
        FBP_TRY(upload(w, raw));
    if (!batch->resident) /* wait until the buffer is free; resident batches have their own */
        FBP_TRY(fbp_stage_wait_for(w, FBP_STAGE_FILTER, out->consumed));
    if (batch->n_rows > 0) {
        FBP_TRY(fbp_stage_span(w, FBP_STAGE_FILTER, &span));
        FBP_TRY(w->backend->filter(w->dev, batch, raw->device, out->memory));
        FBP_TRY(fbp_stage_span_end(w, &span, FBP_LANE_FILTER, &raw->at));
    }
    FBP_TRY(fbp_stage_record(w, FBP_STAGE_FILTER, &out->ready));
    raw->consumed = out->ready;
    out->at = raw->at;
    return FBP_OK;
}

/* Filter all batches that the reading stage has read: for this worker alone, or, if workers share
 * views, into the memory from which the other workers copy them. */
static fbp_status filter_batches(struct worker *w)
{
    const bool shared = w->work->shared;
    /* waiting time of this stage [s]; the wait for the end of the run does not count */
    double waited = 0;
    size_t from, to = 0;

    if (shared)
        FBP_TRY(fbp_worker_claim(w, w->run->shared.views));
    while (fbp_queue_pop(w->queues[RAW_FULL], &from, &waited) &&
           (shared || fbp_queue_pop(w->queues[FILTERED_FREE], &to, NULL))) {
        struct raw_slot *raw = &w->raw[from];
        struct filtered_slot *filtered = &w->filtered[to];
        w->waited[FBP_STAGE_FILTER] += waited;
        waited = 0;
        const double start = fbp_stage_begin(w);
        FBP_TRY(fbp_stage_end(w, FBP_STAGE_FILTER, start, filter_task(w, raw, filtered)));
        if (shared)
            fbp_shared_set_queued(&w->run->shared, task_number(&raw->at), filtered->ready);
        fbp_queue_push(w->queues[RAW_FREE], from);
        if (!shared)
            fbp_queue_push(w->queues[FILTERED_FULL], to);
    }
    return shared ? fbp_worker_collect(w) : FBP_OK;
}

void fbp_stage_filter(struct worker *w)
{
    fbp_stage_ended(w, filter_batches(w));
    fbp_queue_close(w->queues[FILTERED_FULL]);
}

/* ---- Stage three: backproject ---- */

/* One backprojection command: some views of a task's batch into slices [z0, z1). */
struct step {
    const struct place *at;
    struct fbp_batch batch;
    const void *filtered;
    size_t volume, z0, z1;
};

/* Enqueue a backprojection, and record its event in the ring buffer w->commands. */
static fbp_status queue_step(struct worker *w, const struct step *s)
{
    const struct fbp_task *t = s->at->task;
    struct fbp_span span;

    FBP_TRY(fbp_stage_span(w, FBP_STAGE_BP, &span));
    FBP_TRY(w->backend->backproject(w->dev, &s->batch, s->filtered, &t->slab, s->z0, s->z1,
                                    w->volumes[s->volume].memory));
    FBP_TRY(fbp_stage_record(w, FBP_STAGE_BP, &w->commands[w->n_commands++ % N_AHEAD]));
    return fbp_span_end(
        &span, FBP_LANE_BACKPROJECT, t->step < t->z1 - t->z0 ? s->z0 / t->step : task_number(s->at),
        "views %zu to %zu, slices %zu to %zu", s->batch.view0,
        s->batch.view0 + s->batch.n_views / w->run->rq->job->selection.symmetric_views - 1, s->z0,
        s->z1 - 1);
}

/* Backproject all views of a task into slices [z0, z1), by commands of about 0.03 s, at most
 * N_AHEAD at a time, because enqueued commands cannot be stopped. */
static fbp_status backproject_block(struct worker *w, struct step *s)
{
    const struct fbp_job *job = w->run->rq->job;
    const struct fbp_batch *all = &s->at->task->batch;
    const uint64_t voxels =
        fbp_channels(job) * fbp_wanted_voxels(job, &s->at->task->slab, s->z0, s->z1);
    const size_t at_once = fbp_work_views_at_once(w->work, (double)voxels);

    for (size_t k = 0; k < all->n_views; k += at_once) {
        s->batch = *all;
        s->batch.n_views = all->n_views - k < at_once ? all->n_views - k : at_once;
        s->batch.view0 += k / job->selection.symmetric_views;
        s->batch.position += k / job->selection.symmetric_views;
        const double start = fbp_stage_begin(w);
        fbp_status st = fbp_stage_wait(w, w->commands[w->n_commands % N_AHEAD]);
        if (st == FBP_OK)
            st = queue_step(w, s);
        FBP_TRY(fbp_stage_end(w, FBP_STAGE_BP, start, st));
        FBP_TRY(
            fbp_run_progress(w->run, voxels * s->batch.n_views, 0,
                             s->batch.view0 * job->selection.symmetric_views + s->batch.n_views));
        s->at->drawn->updates += voxels * s->batch.n_views;
    }
    return FBP_OK;
}

/* Backproject the batch of a task into its slab, and pass finished blocks of slices to the stage
 * that writes. *volume: index of the slab's buffer, which the slab's first task sets */
static fbp_status backproject_task(struct worker *w, const struct place *at, const void *filtered,
                                   size_t *volume)
{
    const struct fbp_task *t = at->task;
    struct step s = {.at = at, .filtered = filtered};
    size_t next[2], block;

    if (t->first) {
        if (!fbp_queue_pop(w->queues[VOLUME_FREE], volume, &w->waited[FBP_STAGE_BP]))
            return FBP_ERR_CANCELLED;
        FBP_TRY(fbp_stage_wait_for(w, FBP_STAGE_BP, w->volumes[*volume].fetched));
        const double start = fbp_stage_begin(w);
        FBP_TRY(fbp_stage_end(w, FBP_STAGE_BP, start,
                              w->backend->clear(w->dev, &t->slab, w->volumes[*volume].memory)));
    }
    s.volume = *volume;
    for (size_t i = 0; fbp_task_block(t, i, &s.z0, &s.z1); i++) {
        FBP_TRY(backproject_block(w, &s));
        if (!t->final)
            continue;
        if (!fbp_queue_pop(w->queues[BLOCK_FREE], &block, &w->waited[FBP_STAGE_BP]))
            return FBP_ERR_CANCELLED;
        w->blocks[block] =
            (struct block_slot){.volume = *volume,
                                .drawn = at->drawn,
                                .z0 = s.z0,
                                .z1 = s.z1,
                                .last = t->last && !fbp_task_block(t, i + 1, &next[0], &next[1])};
        FBP_TRY(fbp_stage_record(w, FBP_STAGE_BP, &w->blocks[block].ready));
        fbp_queue_push(w->queues[BLOCK_FULL], block);
    }
    w->computed_at = fbp_seconds();
    return FBP_OK;
}

/* Copy a batch of filtered views from the device of the worker that has filtered it. */
static fbp_status copy_shared(struct worker *w, const struct fbp_shared_batch *b,
                              const struct place *at)
{
    struct worker *owner = &w->run->workers[b->by];
    struct fbp_event copied;
    struct fbp_span span;

    FBP_TRY(fbp_stage_wait(owner, b->ready));
    FBP_TRY(fbp_stage_span(w, FBP_STAGE_OUT, &span));
    FBP_TRY(w->backend->share(w->dev, &at->task->batch, w->filtered[0].memory, owner->dev,
                              owner->filtered[0].memory));
    FBP_TRY(fbp_stage_span_end(w, &span, FBP_LANE_UPLOAD, at));
    FBP_TRY(fbp_stage_record(w, FBP_STAGE_OUT, &copied));
    return fbp_stage_wait_for(w, FBP_STAGE_BP, copied);
}

/* Backproject all slabs of this worker. */
static fbp_status backproject_slabs(struct worker *w)
{
    struct fbp_work_item *d = w->work->shared ? w->drawn : NULL;
    struct fbp_shared_batch b;
    size_t volume = 0, i;

    /* batches of the worker's first slab; each batch is filtered by one worker for all */
    for (i = 0; d && i < d->n_tasks && d->tasks[i].loads; i++) {
        const struct place at = {d, &d->tasks[i]};
        if (!fbp_shared_await(&w->run->shared, i, &b))
            return FBP_ERR_CANCELLED;
        FBP_TRY(b.by == fbp_worker_index(w) ? fbp_stage_wait_for(w, FBP_STAGE_BP, b.ready)
                                            : copy_shared(w, &b, &at));
        FBP_TRY(backproject_task(w, &at, w->filtered[0].memory, &volume));
    }

    while (!w->work->shared && fbp_queue_pop(w->queues[FILTERED_FULL], &i, NULL)) {
        struct filtered_slot *slot = &w->filtered[i];
        FBP_TRY(fbp_stage_wait_for(w, FBP_STAGE_BP, slot->ready));
        FBP_TRY(backproject_task(w, &slot->at, slot->memory, &volume));
        FBP_TRY(fbp_stage_record(w, FBP_STAGE_BP, &slot->consumed));
        fbp_queue_push(w->queues[FILTERED_FREE], i);
    }

    /* Kept filtered views are all on the device: backproject them into all other slices. */
    d = w->work->kept ? w->drawn : NULL;
    while (d && !fbp_worker_is_over(w)) {
        for (i = 0; i < d->n_tasks; i++)
            if (!d->tasks[i].loads)
                FBP_TRY(backproject_task(w, &(struct place){d, &d->tasks[i]}, w->filtered[0].memory,
                                         &volume));
        FBP_TRY(fbp_stage_await_slab(w, &d));
    }
    return FBP_OK;
}

void fbp_stage_backproject(struct worker *w)
{
    fbp_stage_ended(w, backproject_slabs(w));
    fbp_queue_close(w->queues[BLOCK_FULL]);
}
