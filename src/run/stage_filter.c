/* The second stage: views to the device, prepared, weighted and filtered there. */
#include "run/stage.h"

#include "array/array.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "base/clock.h"

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
