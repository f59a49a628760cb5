/* What the stages of a worker share. */
#include "array/array.h"
#include "array/far.h"
#include "array/file/growing.h"
#include "array/hold.h"
#include "backend/device.h"
#include "backend/partners.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/clock.h"
#include "base/mem.h"
#include "pipeline/job.h"
#include "pipeline/run.h"
#include "pipeline/worker.h"

#include <string.h>

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

enum { BAND_BYTES = 1 << 16, COMPUTED_ROWS = 16 };

struct load {
    fbp_source *source;
    bool top_down;
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    size_t at_once; /* views of an item */
    size_t bands;   /* of a view's rows, an item each */
    fbp_look *look; /* NULL: none */
    char *out;
};

/* Rows from `row0` of the panel on, of a series the batch's. */
static fbp_status read_rows(const struct load *l, size_t view0, size_t n_views, size_t row0,
                            size_t n, void *out)
{
    row0 += l->batch->frame * l->job->panel.n_rows;
    if (l->job->raw == FBP_U16)
        return fbp_source_read_as_is(l->source, view0, n_views, row0, n, out);
    if (l->job->raw == FBP_F64)
        return fbp_source_read_double(l->source, view0, n_views, row0, n, out);
    return fbp_source_read(l->source, view0, n_views, row0, n, out);
}

static void turn_over(char *rows, size_t n, size_t row)
{
    char some[4096];

    for (char *low = rows, *high = rows + (n - 1) * row; low < high; low += row, high -= row)
        for (size_t at = 0; at < row; at += sizeof some) {
            const size_t bytes = row - at < sizeof some ? row - at : sizeof some;
            memcpy(some, low + at, bytes);
            memcpy(low + at, high + at, bytes);
            memcpy(high + at, some, bytes);
        }
}

/* Rows of one view, the last one first: by bands that the second cache holds. */
static fbp_status read_by_bands(const struct load *l, size_t view, size_t row0, size_t n,
                                size_t row, char *out)
{
    const size_t at_once = row <= BAND_BYTES / 2 ? BAND_BYTES / row : 1;
    fbp_status st = FBP_OK;
    char *band = NULL;

    FBP_TRY(fbp_alloc((void **)&band, BAND_BYTES, "rows of a view"));
    for (size_t r = 0; r < n && st == FBP_OK; r += at_once) {
        const size_t some = n - r < at_once ? n - r : at_once;
        char *to = out + (n - r) * row; /* behind row r's place */
        st = read_rows(l, view, 1, row0 + r, some, some == 1 ? to - row : band);
        for (size_t k = 0; some > 1 && k < some && st == FBP_OK; k++)
            memcpy(to - (k + 1) * row, band + k * row, row);
    }
    fbp_free(band);
    return st;
}

/* What unpacks a view is asked for it once: others may want theirs between two bands. */
static fbp_status read_upside_down(const struct load *l, size_t view, size_t row0, size_t n,
                                   size_t row, char *out)
{
    if (!l->job->unpacks)
        return read_by_bands(l, view, row0, n, row, out);
    FBP_TRY(read_rows(l, view, 1, row0, n, out));
    turn_over(out, n, row);
    return FBP_OK;
}

/* n views from `view0` of the scan on, rows [first, first + n), into out. */
static fbp_status load_views(const struct load *l, size_t view0, size_t n_views, size_t first,
                             size_t n, char *out)
{
    const struct fbp_job *job = l->job;
    const size_t row = job->panel.n_columns * fbp_raw_size(job);

    if (!l->top_down)
        return read_rows(l, view0, n_views, first, n, out);
    for (size_t k = 0; k < n_views; k++)
        FBP_TRY(read_upside_down(l, view0 + k, job->panel.n_rows - first - n, n, row,
                                 out + k * n * row));
    return FBP_OK;
}

/* Some views of a part, or a band of one. */
static fbp_status load_item(void *user, size_t item, int worker)
{
    const struct load *l = user;
    const struct fbp_batch *b = l->batch;
    const size_t k0 = item / l->bands * l->at_once, n = b->load_rows;
    const size_t r0 = item % l->bands * n / l->bands, r1 = (item % l->bands + 1) * n / l->bands;
    const size_t row = l->job->panel.n_columns * fbp_raw_size(l->job);

    (void)worker;
    FBP_TRY(load_views(l, fbp_batch_view(l->job, b, k0), l->at_once, b->load_row0 + r0, r1 - r0,
                       l->out + (k0 * n + r0) * row));
    for (size_t k = k0; l->look && k < k0 + l->at_once; k++)
        fbp_look_at(l->look, b, k, l->out, false);
    return FBP_OK;
}

/* Rows of pictures are computed as they are read, and the views of a batch may be fewer than the
 * threads. */
static size_t count_bands(const struct load *l)
{
    const size_t threads = (size_t)l->job->n_threads, some = l->batch->load_rows / COMPUTED_ROWS;
    const size_t wanted = (2 * threads + l->batch->n_views - 1) / l->batch->n_views;

    if (!l->job->second || l->look || l->top_down || l->at_once > 1 || some == 0)
        return 1;
    return wanted < some ? wanted : some;
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, fbp_look *look, void *out)
{
    /* One thread reads a part in one piece; several read a view each, or less. */
    const size_t at_once = pool ? 1 : batch->n_views / job->turns;
    struct load l = {source, top_down, job, batch, at_once, 1, look, out};

    if (pool)
        l.bands = count_bands(&l);
    return batch->load_rows > 0
               ? fbp_pool_try(pool, batch->n_views / at_once * l.bands, load_item, &l)
               : FBP_OK;
}

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

/* The first stage: views from the source, as soon as there is room for them. */

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

/* The second stage: views to the device, prepared, weighted and filtered there. */

/* A batch from where the caller has it: as fbp_load(), part after part. */
static fbp_status upload_from_caller(struct worker *w, const struct fbp_batch *batch, char *to)
{
    const struct fbp_job *job = w->run->rq->job;
    const size_t nc = job->panel.n_columns, view = job->panel.n_rows * nc, size = fbp_raw_size(job);
    const size_t a_part = batch->n_views / job->turns, n = batch->load_rows * nc;

    for (size_t k = 0; k < batch->n_views; k += a_part, to += a_part * n * size) {
        const size_t first = fbp_batch_view(job, batch, k) * view + batch->load_row0 * nc;
        FBP_TRY(w->backend->upload_pieces(w->dev, to, (const char *)w->views + first * size, a_part,
                                          n, view));
    }
    return FBP_OK;
}

static fbp_status upload(struct worker *w, const struct fbp_batch *batch,
                         const struct raw_slot *raw)
{
    if (w->views)
        return upload_from_caller(w, batch, raw->device);
    return w->backend->upload(w->dev, raw->device, raw->host,
                              fbp_raw_samples(w->run->rq->job, batch));
}

static fbp_status upload_task(struct worker *w, struct raw_slot *raw)
{
    struct fbp_span span;

    FBP_TRY(fbp_stage_after(w, FBP_STAGE_IN, raw->consumed));
    const double start = fbp_seconds();
    FBP_TRY(fbp_stage_span(w, FBP_STAGE_IN, &span));
    FBP_TRY(upload(w, &raw->at.task->batch, raw));
    FBP_TRY(fbp_stage_span_end(w, &span, FBP_LANE_UPLOAD, &raw->at));
    FBP_TRY(fbp_stage_copied(w, FBP_STAGE_IN, start, &w->upload));
    FBP_TRY(fbp_stage_mark(w, FBP_STAGE_IN, &raw->uploaded));
    return fbp_stage_after(w, FBP_STAGE_FILTER, raw->uploaded);
}

static fbp_status filter_task(struct worker *w, struct raw_slot *raw, struct filtered_slot *out)
{
    const struct fbp_batch *batch = &raw->at.task->batch;
    struct fbp_span span;

    if (!w->work->shared && raw->at.task->first)
        FBP_TRY(fbp_worker_claim(w, raw->at.drawn));
    if (w->backend->own_memory && batch->load_rows > 0)
        FBP_TRY(upload_task(w, raw));
    if (!batch->kept) /* else nothing is written over */
        FBP_TRY(fbp_stage_after(w, FBP_STAGE_FILTER, out->consumed));
    if (batch->n_rows > 0) {
        FBP_TRY(fbp_stage_span(w, FBP_STAGE_FILTER, &span));
        FBP_TRY(w->backend->filter(w->dev, batch, raw->device, out->memory));
        FBP_TRY(fbp_stage_span_end(w, &span, FBP_LANE_FILTER, &raw->at));
    }
    FBP_TRY(fbp_stage_mark(w, FBP_STAGE_FILTER, &out->ready));
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
        w->waited[FBP_STAGE_FILTER] += waited;
        waited = 0;
        const double start = fbp_turn_begin(w);
        FBP_TRY(fbp_turn_end(w, FBP_STAGE_FILTER, start,
                             filter_task(w, &w->raw[from], &w->filtered[to])));
        fbp_queue_push(w->raw_free, from);
        fbp_queue_push(w->filtered_full, to);
    }
    return FBP_OK;
}

static fbp_status settle_readers(struct worker *w)
{
    FBP_TRY(fbp_device_settle(w->backend, w->dev, FBP_STAGE_OUT));
    return fbp_device_settle(w->backend, w->dev, FBP_STAGE_BP);
}

/* What another one had filtered that has failed: this worker may have a copy already, which nothing
 * reads while the same values are written over it. */
static fbp_status filter_again(struct worker *w, struct raw_slot *raw, struct filtered_slot *out)
{
    pthread_mutex_lock(&w->reads_views);
    fbp_status st = settle_readers(w);
    if (st == FBP_OK)
        st = filter_task(w, raw, out);
    if (st == FBP_OK)
        st = fbp_device_settle(w->backend, w->dev, FBP_STAGE_FILTER);
    pthread_mutex_unlock(&w->reads_views);
    return st;
}

static fbp_status filter_batch(struct worker *w, struct raw_slot *raw, struct filtered_slot *out)
{
    const struct fbp_shared_batch b = fbp_shared_get(&w->run->shared, fbp_place_number(&raw->at));

    FBP_TRY(fbp_worker_expect(w, b.counted));
    return b.again ? filter_again(w, raw, out) : filter_task(w, raw, out);
}

/* Batches that whoever needs them takes from here. */
static fbp_status filter_shared(struct worker *w)
{
    struct filtered_slot *to = &w->filtered[0];
    double waited = 0;
    size_t from;

    while (fbp_queue_pop(w->raw_full, &from, &waited)) {
        w->waited[FBP_STAGE_FILTER] += waited;
        waited = 0;
        const size_t b = fbp_place_number(&w->raw[from].at);
        const double start = fbp_turn_begin(w);
        FBP_TRY(fbp_turn_end(w, FBP_STAGE_FILTER, start, filter_batch(w, &w->raw[from], to)));
        fbp_shared_queued(&w->run->shared, b, fbp_worker_index(w), to->ready);
        fbp_queue_push(w->raw_free, from);
    }
    return FBP_OK;
}

void fbp_stage_filter(struct worker *w)
{
    fbp_stage_leave(w, w->work->shared ? filter_shared(w) : filter_batches(w));
    fbp_queue_close(w->filtered_full);
}

/* The third stage: filtered views against the slices of a slab. */

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
