/*
 * The four stages of a worker.  Each loop body takes a slot from the stage before, works, and hands
 * a slot to the stage after; freed slots run back.  On a device with queues of its own the calls
 * only enqueue, and marks carry the order.
 */
#include "run/worker.h"

#include "array/array.h"
#include "array/hold.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "backend/statistics.h"
#include "base/clock.h"
#include "plan/roi.h"
#include "run/follow.h"
#include "run/load.h"

#include <math.h>

/* A stage of the host, and the queue of the device that it fills. */
enum {
    READ = FBP_STAGE_IN,
    FILTER = FBP_STAGE_FILTER,
    BACKPROJECT = FBP_STAGE_BP,
    WRITE = FBP_STAGE_OUT
};

static const struct fbp_backend *backend(const struct worker *w)
{
    return w->backend;
}

static fbp_status mark(struct worker *w, enum fbp_stage stage, struct fbp_mark *out)
{
    return backend(w)->mark(w->dev, stage, out);
}

static fbp_status after(struct worker *w, enum fbp_stage stage, struct fbp_mark m)
{
    return fbp_device_after(backend(w), w->dev, stage, m);
}

static fbp_status wait(struct worker *w, struct fbp_mark m)
{
    return fbp_device_wait(backend(w), w->dev, m);
}

/* A stage begins to work: its seconds count from here. */
static double turn_begin(struct worker *w)
{
    if (w->run->rq->no_overlap)
        pthread_mutex_lock(&w->run->turn);
    return fbp_seconds();
}

/* With no_overlap, what the stage gave to its queue belongs to its turn. */
static fbp_status turn_end(struct worker *w, int stage, double start, fbp_status st)
{
    if (w->run->rq->no_overlap && st == FBP_OK)
        st = fbp_device_settle(backend(w), w->dev, (enum fbp_stage)stage);
    w->busy[stage] += fbp_seconds() - start;
    if (w->run->rq->no_overlap)
        pthread_mutex_unlock(&w->run->turn);
    return st;
}

/* With no_overlap, the seconds that a copy begun at `start` takes. */
static fbp_status copied(struct worker *w, enum fbp_stage stage, double start, double *seconds)
{
    if (!w->run->rq->no_overlap || !backend(w)->own_memory)
        return FBP_OK;
    FBP_TRY(fbp_device_settle(backend(w), w->dev, stage));
    *seconds += fbp_seconds() - start;
    return FBP_OK;
}

/* Work of a stage of the device, for the timeline. */
static fbp_status begin_span(struct worker *w, enum fbp_stage stage, struct fbp_span *out)
{
    return fbp_span_device(w->run->rq->timeline, backend(w), w->dev, stage, out);
}

/* Of a task, among those of its slab. */
static size_t number_of(const struct place *at)
{
    return (size_t)(at->task - at->drawn->tasks);
}

/* ... on views of a task. */
static fbp_status end_views(struct worker *w, struct fbp_span *span, enum fbp_lane lane,
                            const struct place *at)
{
    const struct fbp_batch *b = &at->task->batch;
    const size_t parts = w->run->rq->job->turns;

    if (parts > 1)
        return fbp_span_end(span, lane, number_of(at), "views %zu to %zu of %zu parts", b->view0,
                            b->view0 + b->n_views / parts - 1, parts);
    return fbp_span_end(span, lane, number_of(at), "views %zu to %zu", b->view0,
                        b->view0 + b->n_views - 1);
}

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
    FBP_TRY(wait(w, slot->uploaded)); /* the host side is still being copied from */
    struct fbp_span span = fbp_span_host(rq->timeline);
    const struct fbp_batch *batch = &slot->at.task->batch;
    if (batch->load_rows > 0)
        FBP_TRY(fbp_hold_fill(rq->source, fbp_batch_view(rq->job, batch, batch->n_views - 1) + 1,
                              is_over, w));
    FBP_TRY(w->work->follow
                ? fbp_follow_load(w, batch, slot->host)
                : fbp_load(rq->source, rq->top_down, rq->job, batch,
                           rq->job->in_order ? NULL : w->io_threads, rq->look, slot->host));
    return end_views(w, &span, FBP_LANE_READ, &slot->at);
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

/* At what the caller holds, when all is on its way: no device waits for that.  Kept views are those
 * of the first slab. */
static fbp_status look_at_views(struct worker *w)
{
    const struct fbp_drawn *d = w->looked ? w->looked->next : w->drawn;

    if (!w->run->rq->look || !w->views || atomic_load(&w->run->stop))
        return FBP_OK;
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
    if (!fbp_queue_pop(w->raw_free, &slot, &w->waited[READ]))
        return FBP_ERR_CANCELLED;
    w->raw[slot].at = (struct place){d, &d->tasks[i]};
    fbp_status st = fbp_follow_task(w, d, i, n);
    const double start = turn_begin(w);
    if (st == FBP_OK)
        st = read_task(w, &w->raw[slot]);
    FBP_TRY(turn_end(w, READ, start, st));
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

/* The next slab: one that comes back from another worker.  Of several that wait one gets it. */
static fbp_status await_slab(struct worker *w, struct fbp_drawn **out)
{
    *out = NULL;
    while (!*out && fbp_slabs_await(&w->run->slabs, &w->gone))
        FBP_TRY(fbp_worker_draw(w, out));
    return FBP_OK;
}

/* ... or one that is left. */
static fbp_status next_slab(struct worker *w, struct fbp_drawn **out)
{
    FBP_TRY(fbp_worker_draw(w, out));
    if (*out)
        return FBP_OK;
    FBP_TRY(look_at_views(w));
    return await_slab(w, out);
}

/* Slabs, as soon as their views can be read; those that are kept are read once. */
static fbp_status read_slabs(struct worker *w)
{
    struct fbp_drawn *d = w->drawn;

    if (!d) /* there are more workers than slabs */
        FBP_TRY(await_slab(w, &d));
    while (d) {
        FBP_TRY(read_slab(w, d));
        if (w->work->kept)
            break;
        FBP_TRY(next_slab(w, &d));
    }
    fbp_queue_close(w->raw_full);
    return look_at_views(w);
}

/* A queue that was closed early says that the run has stopped: its failure is known. */
static void leave(struct worker *w, fbp_status st)
{
    if (st != FBP_OK && !atomic_load(&w->run->stop))
        fbp_run_stage_failed(w->run, w, st);
}

void fbp_stage_read(struct worker *w)
{
    leave(w, read_slabs(w));
    fbp_queue_close(w->raw_full);
}

/* A batch from where the caller has it: as fbp_load(), part after part. */
static fbp_status upload_from_caller(struct worker *w, const struct fbp_batch *batch, char *to)
{
    const struct fbp_job *job = w->run->rq->job;
    const size_t nc = job->panel.n_columns, view = job->panel.n_rows * nc, size = fbp_raw_size(job);
    const size_t a_part = batch->n_views / job->turns, n = batch->load_rows * nc;

    for (size_t half = 0; half < fbp_halves(job); half++)
        for (size_t k = 0; k < batch->n_views; k += a_part, to += a_part * n * size) {
            const size_t first =
                fbp_batch_view(job, batch, k) * view + fbp_first_row(job, batch, half) * nc;
            FBP_TRY(backend(w)->upload_pieces(w->dev, to, (const char *)w->views + first * size,
                                              a_part, n, view));
        }
    return FBP_OK;
}

static fbp_status upload(struct worker *w, const struct fbp_batch *batch,
                         const struct raw_slot *raw)
{
    if (w->views)
        return upload_from_caller(w, batch, raw->device);
    return backend(w)->upload(w->dev, raw->device, raw->host,
                              fbp_raw_samples(w->run->rq->job, batch));
}

static fbp_status upload_task(struct worker *w, struct raw_slot *raw)
{
    struct fbp_span span;

    FBP_TRY(after(w, FBP_STAGE_IN, raw->consumed));
    const double start = fbp_seconds();
    FBP_TRY(begin_span(w, FBP_STAGE_IN, &span));
    FBP_TRY(upload(w, &raw->at.task->batch, raw));
    FBP_TRY(end_views(w, &span, FBP_LANE_UPLOAD, &raw->at));
    FBP_TRY(copied(w, FBP_STAGE_IN, start, &w->upload));
    FBP_TRY(mark(w, FBP_STAGE_IN, &raw->uploaded));
    return after(w, FBP_STAGE_FILTER, raw->uploaded);
}

static fbp_status filter_task(struct worker *w, struct raw_slot *raw, struct filtered_slot *out)
{
    const struct fbp_batch *batch = &raw->at.task->batch;
    struct fbp_span span;

    if (raw->at.task->first)
        FBP_TRY(fbp_worker_claim(w, raw->at.drawn));
    if (backend(w)->own_memory && batch->load_rows > 0)
        FBP_TRY(upload_task(w, raw));
    if (!batch->kept) /* else nothing is written over */
        FBP_TRY(after(w, FBP_STAGE_FILTER, out->consumed));
    if (batch->n_rows > 0) {
        FBP_TRY(begin_span(w, FBP_STAGE_FILTER, &span));
        FBP_TRY(backend(w)->filter(w->dev, batch, raw->device, out->memory));
        FBP_TRY(end_views(w, &span, FBP_LANE_FILTER, &raw->at));
    }
    FBP_TRY(mark(w, FBP_STAGE_FILTER, &out->ready));
    raw->consumed = out->ready;
    out->at = raw->at;
    return FBP_OK;
}

static fbp_status filter_batches(struct worker *w)
{
    double waited = 0; /* for the end of the run is not for views */
    size_t from, to;

    while (fbp_queue_pop(w->raw_full, &from, &waited) &&
           fbp_queue_pop(w->filtered_free, &to, NULL)) {
        w->waited[FILTER] += waited;
        waited = 0;
        const double start = turn_begin(w);
        FBP_TRY(turn_end(w, FILTER, start, filter_task(w, &w->raw[from], &w->filtered[to])));
        fbp_queue_push(w->raw_free, from);
        fbp_queue_push(w->filtered_full, to);
    }
    return FBP_OK;
}

void fbp_stage_filter(struct worker *w)
{
    leave(w, filter_batches(w));
    fbp_queue_close(w->filtered_full);
}

/* Slices [z0, z1) of the slab are finished: hand them to the writer. */
static fbp_status finish_block(struct worker *w, struct fbp_drawn *drawn, size_t volume, size_t z0,
                               size_t z1, bool last)
{
    size_t at;

    if (!fbp_queue_pop(w->block_free, &at, &w->waited[BACKPROJECT]))
        return FBP_ERR_CANCELLED;
    w->blocks[at] =
        (struct block_slot){.volume = volume, .drawn = drawn, .z0 = z0, .z1 = z1, .last = last};
    FBP_TRY(mark(w, FBP_STAGE_BP, &w->blocks[at].ready));
    fbp_queue_push(w->block_full, at);
    return FBP_OK;
}

static fbp_status clear_slab(struct worker *w, const struct fbp_task *t, size_t volume)
{
    FBP_TRY(after(w, FBP_STAGE_BP, w->volumes[volume].fetched));
    const double start = turn_begin(w);
    return turn_end(w, BACKPROJECT, start,
                    backend(w)->clear(w->dev, &t->slab, w->volumes[volume].memory));
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
    return wait(w, w->commands[w->n_commands % N_AHEAD]);
}

static fbp_status queue_step(struct worker *w, const struct step *s)
{
    const struct fbp_task *t = s->at->task;
    struct fbp_span span;

    FBP_TRY(await_commands(w));
    FBP_TRY(begin_span(w, FBP_STAGE_BP, &span));
    FBP_TRY(backend(w)->backproject(w->dev, &s->batch, s->filtered, &t->slab, s->z0, s->z1,
                                    w->volumes[s->volume].memory));
    FBP_TRY(mark(w, FBP_STAGE_BP, &w->commands[w->n_commands++ % N_AHEAD]));
    return fbp_span_end(
        &span, FBP_LANE_BACKPROJECT, t->step < t->z1 - t->z0 ? s->z0 / t->step : number_of(s->at),
        "views %zu to %zu, slices %zu to %zu", s->batch.view0,
        s->batch.view0 + s->batch.n_views / w->run->rq->job->turns - 1, s->z0, s->z1 - 1);
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
        (uint64_t)(job->grid.n[0] * job->grid.n[1]) * fbp_layer_slices(job, s->z0, s->z1);
    const size_t at_once = fbp_work_views_at_once(w->work, (double)voxels);

    for (size_t k = 0; k < all->n_views; k += at_once) {
        s->batch = views_from(job, all, k, at_once);
        const double start = turn_begin(w);
        FBP_TRY(turn_end(w, BACKPROJECT, start, queue_step(w, s)));
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

    if (t->first && !fbp_queue_pop(w->volume_free, volume, &w->waited[BACKPROJECT]))
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
        FBP_TRY(after(w, FBP_STAGE_BP, slot->ready));
        FBP_TRY(backproject_task(w, &slot->at, slot->memory, volume));
        FBP_TRY(mark(w, FBP_STAGE_BP, &slot->consumed));
        fbp_queue_push(w->filtered_free, i);
    }
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

    FBP_TRY(backproject_filtered(w, &volume));
    struct fbp_drawn *d = w->work->kept ? w->drawn : NULL; /* reading has ended */
    while (d && !fbp_worker_is_over(w)) {
        FBP_TRY(backproject_kept(w, d, &volume));
        FBP_TRY(fbp_worker_draw(w, &d));
        if (!d)
            FBP_TRY(await_slab(w, &d));
    }
    return FBP_OK;
}

void fbp_stage_backproject(struct worker *w)
{
    leave(w, backproject_slabs(w));
    fbp_queue_close(w->block_full);
}

/* Values of a slice as it is written. */
static size_t slice_values(const struct worker *w)
{
    return fbp_roi_size(w->run->rq->job, 0) * fbp_roi_size(w->run->rq->job, 1);
}

/* Those slices of layers [l0, l1) in a half that are asked for; false if none is. */
static bool wanted_slices(const struct fbp_job *job, size_t half, size_t l0, size_t l1, size_t *z0,
                          size_t *z1)
{
    fbp_layer_range(job, half, l0, l1, z0, z1);
    fbp_roi_clip(job, z0, z1);
    return *z0 < *z1;
}

/* Mask slices from `z` of the volume on, and look at what is inside. */
static void mask_slices(struct worker *w, size_t z, size_t n, float *x)
{
    struct fbp_statistics found;
    const size_t inside = fbp_mask_apply(w->run->rq->mask, z, n, x, &found);

    pthread_mutex_lock(&w->run->lock);
    fbp_statistics_join(&w->found, &found);
    w->n_found += inside;
    pthread_mutex_unlock(&w->run->lock);
}

/* Those slices that the sink lacks: a device that failed may have written some of them. */
static fbp_status write_missing(fbp_sink *sink, size_t z, size_t n, size_t slice, const float *x)
{
    for (size_t i = 0, some; i < n; i += some + (some == 0)) {
        some = 0;
        while (i + some < n && !fbp_sink_has(sink, z + i + some, 1))
            some++;
        if (some > 0)
            FBP_TRY(fbp_sink_write(sink, z + i, some, x + i * slice));
    }
    return FBP_OK;
}

/* Slices that one of the io threads writes. */
struct store {
    struct worker *worker;
    const struct piece_slot *piece;
    size_t slice, first, at_once; /* voxels of a slice, the sink's first one, slices of an item */
};

static fbp_status store_item(void *user, size_t item, int worker)
{
    const struct store *s = user;
    const struct fbp_run_request *rq = s->worker->run->rq;
    const size_t z = item * s->at_once, left = s->piece->nz - z;
    const size_t n = left < s->at_once ? left : s->at_once;
    float *slices = s->piece->host + z * s->slice;

    (void)worker;
    if (rq->mask)
        mask_slices(s->worker, s->piece->z0 + z, n, slices);
    return write_missing(rq->sink, s->piece->z0 - s->first + z, n, s->slice, slices);
}

static fbp_status store_piece(struct worker *w, const struct piece_slot *p)
{
    fbp_pool *io_threads = w->backend->own_memory ? w->io_threads : NULL;
    const size_t at_once = io_threads ? 1 : p->nz;
    struct store store = {w, p, slice_values(w), fbp_roi_first(w->run->rq->job, 2), at_once};

    return fbp_pool_try(io_threads, (p->nz + at_once - 1) / at_once, store_item, &store);
}

/* A piece is here: hand it to the sink. */
static fbp_status write_piece(struct worker *w, const struct piece_slot *p)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(wait(w, p->fetched));
    w->fetched_at = fbp_seconds();
    struct fbp_span span = fbp_span_host(rq->timeline);
    fbp_roi_crop(rq->job, p->nz, p->host);
    if (!rq->mask && (!backend(w)->has_statistics || fbp_roi_crops(rq->job)))
        fbp_statistics_add(&w->found, p->host, p->nz * slice_values(w));
    FBP_TRY(store_piece(w, p));
    return fbp_span_end(&span, FBP_LANE_WRITE, p->z0 / w->work->block_slices, "slices %zu to %zu",
                        p->z0, p->z0 + p->nz - 1);
}

/* Slices [z0, z1) to the host. */
static fbp_status fetch(struct worker *w, const struct block_slot *b, size_t z0, size_t z1,
                        float *to)
{
    const double start = fbp_seconds();
    struct fbp_span span;

    FBP_TRY(begin_span(w, FBP_STAGE_OUT, &span));
    FBP_TRY(backend(w)->fetch(w->dev, &b->drawn->slab, z0, z1, w->volumes[b->volume].memory, to));
    FBP_TRY(fbp_span_end(&span, FBP_LANE_FETCH, z0 / w->work->block_slices, "slices %zu to %zu", z0,
                         z1 - 1));
    return copied(w, FBP_STAGE_OUT, start, &w->fetch);
}

/* Slices [z0, z1): while one piece is written the next ones are fetched. */
static fbp_status write_pieces(struct worker *w, const struct block_slot *b, size_t z0, size_t z1)
{
    const size_t step = w->work->block_slices, n_slots = w->work->n_blocks;
    const size_t n = (z1 - z0 + step - 1) / step;
    struct volume_slot *volume = &w->volumes[b->volume];

    for (size_t i = 0; i < n + n_slots - 1; i++) {
        if (i < n) {
            struct piece_slot *p = &w->pieces[i % n_slots];
            p->z0 = z0 + i * step;
            p->nz = p->z0 + step < z1 ? step : z1 - p->z0;
            FBP_TRY(fetch(w, b, p->z0, p->z0 + p->nz, p->host));
            FBP_TRY(mark(w, FBP_STAGE_OUT, &p->fetched));
            volume->fetched = p->fetched;
        }
        if (i + 1 >= n_slots && i + 1 - n_slots < n)
            FBP_TRY(write_piece(w, &w->pieces[(i + 1 - n_slots) % n_slots]));
    }
    return FBP_OK;
}

/* Slices [z0, z1) to where the caller wants them; they are there when the slab is. */
static fbp_status fetch_to_caller(struct worker *w, const struct block_slot *b, size_t z0,
                                  size_t z1)
{
    struct volume_slot *volume = &w->volumes[b->volume];
    float *to = w->volume + (z0 - fbp_roi_first(w->run->rq->job, 2)) * slice_values(w);

    FBP_TRY(fetch(w, b, z0, z1, to));
    return mark(w, FBP_STAGE_OUT, &volume->fetched);
}

static void written_to_caller(struct worker *w, size_t z0, size_t z1)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t first = fbp_roi_first(rq->job, 2);

    if (rq->mask)
        mask_slices(w, z0, z1 - z0, w->volume + (z0 - first) * slice_values(w));
    fbp_sink_written(rq->sink, z0 - first, z1 - z0);
}

static fbp_status finish_slab(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_slab *slab = &b->drawn->slab;
    size_t z0, z1;

    if (w->volume)
        FBP_TRY(wait(w, w->volumes[b->volume].fetched));
    if (w->volume)
        w->fetched_at = fbp_seconds();
    for (size_t half = 0; w->volume && half < fbp_halves(rq->job); half++)
        if (wanted_slices(rq->job, half, slab->z0, slab->z0 + slab->nz, &z0, &z1))
            written_to_caller(w, z0, z1);
    FBP_TRY(fbp_worker_slab_done(w, b->drawn));
    b->drawn->done = true;
    fbp_slabs_done(&w->run->slabs);
    return fbp_run_progress(w->run, 0, 1, rq->job->n_views);
}

static fbp_status write_block(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(after(w, FBP_STAGE_OUT, b->ready));
    for (size_t half = 0; half < fbp_halves(rq->job); half++) {
        size_t z0, z1;
        if (!wanted_slices(rq->job, half, b->z0, b->z1, &z0, &z1))
            continue;
        FBP_TRY((w->volume ? fetch_to_caller : write_pieces)(w, b, z0, z1));
        if (!rq->mask)
            w->n_found += (z1 - z0) * slice_values(w);
    }
    return b->last ? finish_slab(w, b) : FBP_OK;
}

/* While the first views are read. */
static fbp_status prepare_pieces(struct worker *w)
{
    for (size_t i = 0; !w->volume && i < w->work->n_blocks; i++)
        FBP_TRY(fbp_worker_piece_host(w, &w->pieces[i]));
    return FBP_OK;
}

static fbp_status write_blocks(struct worker *w)
{
    size_t at;

    FBP_TRY(prepare_pieces(w));
    while (fbp_queue_pop(w->block_full, &at, &w->waited[WRITE])) {
        const struct block_slot b = w->blocks[at];
        const double start = turn_begin(w);
        FBP_TRY(turn_end(w, WRITE, start, write_block(w, &b)));
        fbp_queue_push(w->block_free, at);
        if (b.last)
            fbp_queue_push(w->volume_free, b.volume);
    }
    return FBP_OK;
}

void fbp_stage_write(struct worker *w)
{
    leave(w, write_blocks(w));
}
