/* The second stage: views to the device, prepared, weighted and filtered there. */
#include "run/stage.h"

#include "array/array.h"
#include "backend/rows.h"
#include "base/clock.h"

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
            FBP_TRY(w->backend->upload_pieces(w->dev, to, (const char *)w->views + first * size,
                                              a_part, n, view));
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

    if (raw->at.task->first)
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

void fbp_stage_filter(struct worker *w)
{
    fbp_stage_leave(w, filter_batches(w));
    fbp_queue_close(w->filtered_full);
}
