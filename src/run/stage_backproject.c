/* The third stage: filtered views against the slices of a slab. */
#include "run/stage.h"

#include "backend/partners.h"
#include "backend/slab.h"
#include "base/clock.h"
#include "plan/wanted.h"

/* Slices [z0, z1) of the slab are finished: hand them to the writer. */
static fbp_status finish_block(struct worker *w, struct fbp_drawn *drawn, size_t volume, size_t z0,
                               size_t z1, bool last)
{
    size_t at;

    if (!fbp_queue_pop(w->block_free, &at, &w->waited[FBP_STAGE_BP]))
        return FBP_ERR_CANCELLED;
    w->blocks[at] =
        (struct block_slot){.volume = volume, .drawn = drawn, .z0 = z0, .z1 = z1, .last = last};
    FBP_TRY(fbp_stage_mark(w, FBP_STAGE_BP, &w->blocks[at].ready));
    fbp_queue_push(w->block_full, at);
    return FBP_OK;
}

static fbp_status clear_slab(struct worker *w, const struct fbp_task *t, size_t volume)
{
    FBP_TRY(fbp_stage_after(w, FBP_STAGE_BP, w->volumes[volume].fetched));
    const double start = fbp_turn_begin(w);
    return fbp_turn_end(w, FBP_STAGE_BP, start,
                        w->backend->clear(w->dev, &t->slab, w->volumes[volume].memory));
}

/* What a task needs of a batch: views, slices, and where they are. */
struct step {
    const struct place *at;
    struct fbp_batch batch;
    const void *filtered;
    size_t volume, z0, z1;
};

/* Not far ahead of the device: what is queued cannot be stopped. */
static fbp_status await_commands(struct worker *w)
{
    return fbp_stage_wait(w, w->commands[w->n_commands % N_AHEAD]);
}

static fbp_status queue_command(struct worker *w, const struct step *s)
{
    const struct fbp_task *t = s->at->task;
    struct fbp_span span;

    FBP_TRY(fbp_stage_span(w, FBP_STAGE_BP, &span));
    FBP_TRY(w->backend->backproject(w->dev, &s->batch, s->filtered, &t->slab, s->z0, s->z1,
                                    w->volumes[s->volume].memory));
    FBP_TRY(fbp_stage_mark(w, FBP_STAGE_BP, &w->commands[w->n_commands++ % N_AHEAD]));
    return fbp_span_end(&span, FBP_LANE_BACKPROJECT,
                        t->step < t->z1 - t->z0 ? s->z0 / t->step : fbp_place_number(s->at),
                        "views %zu to %zu, slices %zu to %zu", s->batch.view0,
                        s->batch.view0 + s->batch.n_views / w->run->rq->job->turns - 1, s->z0,
                        s->z1 - 1);
}

static fbp_status queue_step(struct worker *w, const struct step *s)
{
    FBP_TRY(await_commands(w));
    pthread_mutex_lock(&w->reads_views);
    const fbp_status st = queue_command(w, s);
    pthread_mutex_unlock(&w->reads_views);
    return st;
}

/* Some views of each part of a task's batch, from view `first` of all parts together on. */
static struct fbp_batch views_from(const struct fbp_job *job, const struct fbp_batch *all,
                                   size_t first, size_t at_once)
{
    struct fbp_batch some = *all;

    some.n_views = all->n_views - first < at_once ? all->n_views - first : at_once;
    some.view0 += first / job->turns;
    some.place += first / job->turns;
    return some;
}

/* Slices of a task, as many views at once as take a short time. */
static fbp_status backproject_block(struct worker *w, struct step *s)
{
    const struct fbp_job *job = w->run->rq->job;
    const struct fbp_batch *all = &s->at->task->batch;
    const uint64_t voxels =
        fbp_frames(job) * fbp_wanted_voxels(job, &s->at->task->slab, s->z0, s->z1);
    const size_t at_once = fbp_work_views_at_once(w->work, (double)voxels);

    for (size_t k = 0; k < all->n_views; k += at_once) {
        s->batch = views_from(job, all, k, at_once);
        const double start = fbp_turn_begin(w);
        FBP_TRY(fbp_turn_end(w, FBP_STAGE_BP, start, queue_step(w, s)));
        FBP_TRY(fbp_run_progress(w->run, voxels * s->batch.n_views, 0,
                                 s->batch.view0 * job->turns + s->batch.n_views));
        s->at->drawn->updates += voxels * s->batch.n_views;
    }
    return FBP_OK;
}

/* *volume: that of the slab, from its first task on. */
static fbp_status backproject_task(struct worker *w, const struct place *at, const void *filtered,
                                   size_t *volume)
{
    const struct fbp_task *t = at->task;
    struct step s = {.at = at, .filtered = filtered};
    size_t next[2];

    if (t->first && !fbp_queue_pop(w->volume_free, volume, &w->waited[FBP_STAGE_BP]))
        return FBP_ERR_CANCELLED;
    if (t->first)
        FBP_TRY(clear_slab(w, t, *volume));
    s.volume = *volume;
    for (size_t i = 0; fbp_task_block(t, i, &s.z0, &s.z1); i++) {
        FBP_TRY(backproject_block(w, &s));
        if (t->final)
            FBP_TRY(finish_block(w, at->drawn, *volume, s.z0, s.z1,
                                 t->last && !fbp_task_block(t, i + 1, &next[0], &next[1])));
    }
    w->computed_at = fbp_seconds();
    return FBP_OK;
}

/* Batches as they are filtered. */
static fbp_status backproject_filtered(struct worker *w, size_t *volume)
{
    size_t i;

    while (fbp_queue_pop(w->filtered_full, &i, NULL)) {
        struct filtered_slot *slot = &w->filtered[i];
        FBP_TRY(fbp_stage_after(w, FBP_STAGE_BP, slot->ready));
        FBP_TRY(backproject_task(w, &slot->at, slot->memory, volume));
        FBP_TRY(fbp_stage_mark(w, FBP_STAGE_BP, &slot->consumed));
        fbp_queue_push(w->filtered_free, i);
    }
    return FBP_OK;
}

/* Views that another device has filtered, and that this thread knows to be there. */
static fbp_status copy_from(struct worker *w, const struct worker *owner, const struct place *at)
{
    struct fbp_span span;
    struct fbp_mark copied;

    FBP_TRY(fbp_stage_span(w, FBP_STAGE_OUT, &span));
    FBP_TRY(w->backend->share(w->dev, &at->task->batch, w->filtered[0].memory, owner->dev,
                              owner->filtered[0].memory));
    FBP_TRY(fbp_stage_span_end(w, &span, FBP_LANE_UPLOAD, at));
    FBP_TRY(fbp_stage_mark(w, FBP_STAGE_OUT, &copied));
    return fbp_stage_after(w, FBP_STAGE_BP, copied);
}

/* A device that fails after it has filtered a batch has not filtered it: it is waited for here, as
 * its own worker may find out too late. */
static fbp_status take_from(struct worker *w, const struct fbp_shared_batch *b,
                            const struct place *at, bool *done)
{
    struct worker *owner = &w->run->workers[b->by];
    fbp_status st = fbp_stage_wait(owner, b->ready);

    *done = false;
    if (st != FBP_OK) {
        fbp_run_stage_failed(w->run, owner, st);
        return FBP_OK;
    }
    pthread_mutex_lock(&w->reads_views);
    if (!atomic_load(&owner->gone)) { /* else this one may have filtered it, too */
        st = copy_from(w, owner, at);
        *done = st == FBP_OK;
    }
    pthread_mutex_unlock(&w->reads_views);
    return atomic_load(&owner->gone) ? FBP_OK : st;
}

/* A batch of shared views, from whoever has filtered it, before this queue goes on. */
static fbp_status await_shared(struct worker *w, const struct place *at)
{
    const size_t number = fbp_place_number(at);
    struct fbp_shared_batch b;
    bool done = false;

    while (!done) {
        if (!fbp_shared_await(&w->run->shared, number, &w->gone, &b))
            return FBP_ERR_CANCELLED;
        if (b.by == fbp_worker_index(w))
            return fbp_stage_after(w, FBP_STAGE_BP, b.ready);
        FBP_TRY(take_from(w, &b, at, &done));
    }
    return FBP_OK;
}

/* This worker needs nothing more of shared views. */
static void say_has_all(struct worker *w)
{
    atomic_store(&w->has_all, true);
    fbp_shared_wake(&w->run->shared);
}

/* As backproject_filtered(), of a slab of this worker. */
static fbp_status backproject_shared(struct worker *w, size_t *volume)
{
    struct fbp_drawn *d = w->drawn;

    if (!d) /* there are more workers than slabs */
        FBP_TRY(fbp_stage_await_slab(w, &d));
    for (size_t i = 0; d && i < d->n_tasks && d->tasks[i].loads; i++) {
        const struct place at = {d, &d->tasks[i]};
        FBP_TRY(await_shared(w, &at));
        FBP_TRY(backproject_task(w, &at, w->filtered[0].memory, volume));
    }
    say_has_all(w);
    return FBP_OK;
}

/* What a slab needs of views that are kept: this queue has waited for all of them. */
static fbp_status backproject_kept(struct worker *w, struct fbp_drawn *d, size_t *volume)
{
    for (size_t i = 0; i < d->n_tasks; i++)
        if (!d->tasks[i].loads)
            FBP_TRY(backproject_task(w, &(struct place){d, &d->tasks[i]}, w->filtered[0].memory,
                                     volume));
    return FBP_OK;
}

static fbp_status backproject_slabs(struct worker *w)
{
    size_t volume = 0;

    FBP_TRY((w->work->shared ? backproject_shared : backproject_filtered)(w, &volume));
    struct fbp_drawn *d = w->work->kept ? w->drawn : NULL; /* reading has ended */
    while (d && !fbp_worker_is_over(w)) {
        FBP_TRY(backproject_kept(w, d, &volume));
        FBP_TRY(fbp_worker_draw(w, &d));
        if (!d)
            FBP_TRY(fbp_stage_await_slab(w, &d));
    }
    return FBP_OK;
}

void fbp_stage_backproject(struct worker *w)
{
    fbp_stage_leave(w, backproject_slabs(w));
    say_has_all(w);
    fbp_queue_close(w->block_full);
}
