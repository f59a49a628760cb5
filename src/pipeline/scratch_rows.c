/* Filtered views in a scratch file (--scratch), so that a volume of many slabs needs each view
 * filtered only once: fbp_rows_filter() filters all views into the file, fbp_rows_source() reads
 * them from it.
 * Used by: pipeline/. */
#include "array/file/bytes.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/run.h"

#include "fbp/callback.h"

#include <pthread.h>
#include <stdio.h>

enum { SLOTS = 2 }; /* one buffer is written to the file while the other is filled */

/* Buffer of a batch of filtered rows, to be written to the file. */
struct rows_slot {
    float *device, *host; /* buffers of the device and the host; equal without own memory */
    struct fbp_batch batch;
};

/* State of fbp_rows_filter(). */
struct rows_pass {
    const struct fbp_run_request *rq;
    const struct fbp_rows_file *to;
    struct fbp_report *report;
    fbp_device *dev;
    fbp_pool *io_threads;
    struct fbp_row_bitmap ledger;
    void *raw_host, *raw;
    struct rows_slot slots[SLOTS];
    fbp_queue *free, *full;
    fbp_status status; /* status of the writing thread */
    char why[1000];    /* its message */
    size_t views_read;
    double started;
};

/* Struct of a job's scratch file, with rows per view and bytes per row; not open. */
static struct fbp_rows_file shape_of(const struct fbp_job *job)
{
    return (struct fbp_rows_file){.n_rows = job->padded.panel.n_rows,
                                  .row_bytes = job->padded.panel.n_columns * sizeof(float)};
}

uint64_t fbp_rows_bytes(const struct fbp_job *job)
{
    const struct fbp_rows_file f = shape_of(job);

    return (uint64_t)job->n_views * f.n_rows * f.row_bytes;
}

/* Byte position of a detector row of a view in the scratch file. */
static uint64_t row_at(const struct fbp_rows_file *f, size_t view, size_t row)
{
    return ((uint64_t)view * f->n_rows + row) * f->row_bytes;
}

/* Main function of the thread that writes filled buffers to the scratch file. If it fails, it
 * aborts the queue of free buffers, which ends the filtering. */
static void *write_all(void *user)
{
    struct rows_pass *p = user;
    const struct fbp_job *job = p->rq->job;
    size_t i;

    while (p->status == FBP_OK && fbp_queue_pop(p->full, &i, NULL)) {
        const struct fbp_batch *b = &p->slots[i].batch;
        const size_t n = b->n_rows * job->padded.panel.n_columns;
        for (size_t k = 0; p->status == FBP_OK && k < b->n_views; k++)
            p->status = fbp_write_at(p->to->file.fd, p->to->file.folder,
                                     row_at(p->to, fbp_batch_view(job, b, k), b->row0),
                                     p->slots[i].host + k * n, n * sizeof(float));
        if (p->status == FBP_OK)
            fbp_queue_push(p->free, i);
        else
            snprintf(p->why, sizeof p->why, "%s", fbp_message());
    }
    if (p->status != FBP_OK)
        fbp_queue_abort(p->free);
    return NULL;
}

/* Read the batch of a buffer from the source, and filter it into the buffer's host memory. */
static fbp_status filter_batch(struct rows_pass *p, struct rows_slot *s)
{
    const struct fbp_run_request *rq = p->rq;
    const struct fbp_backend *b = rq->backend;
    const double start = fbp_seconds();

    if (s->batch.n_rows == 0)
        return FBP_OK;
    FBP_TRY(fbp_load(rq->source, rq->top_down, rq->job, &s->batch, p->io_threads, rq->check,
                     p->raw_host));
    const double read = fbp_seconds();
    if (b->can.own_memory)
        FBP_TRY(b->memory.upload(p->dev, p->raw, p->raw_host, fbp_raw_samples(rq->job, &s->batch)));
    FBP_TRY(fbp_device_settle(b, p->dev, FBP_STAGE_IN));
    FBP_TRY(b->filter_rows(p->dev, &s->batch, p->raw, s->device));
    FBP_TRY(fbp_device_settle(b, p->dev, FBP_STAGE_FILTER));
    const size_t n = s->batch.n_views * s->batch.n_rows * rq->job->padded.panel.n_columns;
    FBP_TRY(b->memory.download(p->dev, s->device, n, s->host));
    FBP_TRY(fbp_device_settle(b, p->dev, FBP_STAGE_OUT));
    p->report->read += read - start;
    p->report->filter += fbp_seconds() - read;
    return FBP_OK;
}

static fbp_status run_pass(struct rows_pass *p)
{
    const struct fbp_run_request *rq = p->rq;
    const struct fbp_slab any = {.z0 = 0};
    struct fbp_prep_counts counts;
    pthread_t writer;
    fbp_status st = FBP_OK;
    size_t i;

    if (pthread_create(&writer, NULL, write_all, p) != 0)
        return fbp_fail(FBP_ERR_NOMEM,
                        "threads: the system cannot start another thread; close other programs");
    for (size_t k = 0; st == FBP_OK && k < rq->work->n_batches; k++) {
        st = fbp_check_cancelled();
        if (st != FBP_OK || !fbp_queue_pop(p->free, &i, NULL)) /* the writing thread has failed */
            break;
        struct fbp_batch *batch = &p->slots[i].batch;
        *batch = fbp_work_batch(rq->work, rq->job, &any, k);
        batch->resident = false;
        batch->position = 0;
        st = filter_batch(p, &p->slots[i]);
        if (st != FBP_OK)
            break;
        p->views_read += batch->n_views;
        fbp_queue_push(p->full, i);
    }

    fbp_queue_close(p->full);
    pthread_join(writer, NULL);
    if (p->status != FBP_OK) {
        fbp_message_adopt(p->why);
        return p->status;
    }
    FBP_TRY(st);
    FBP_TRY(p->rq->backend->repair.counts(p->dev, &counts));
    p->report->not_finite = counts.not_finite;
    p->report->clipped = counts.clipped;
    return FBP_OK;
}

/* Callback of the cancel scope: report the progress of reading; return whether to cancel. */
static bool pass_stops(void *user)
{
    const struct rows_pass *p = user;
    const struct fbp_run_request *rq = p->rq;
    const struct fbp_progress none = {.struct_size = sizeof none,
                                      .total = 1,
                                      .views_read = p->views_read,
                                      .seconds = fbp_seconds() - p->started};

    return fbp_cancel_flagged(rq->stop) || (rq->progress && rq->progress(rq->progress_user, &none));
}

fbp_status fbp_rows_filter(const struct fbp_run_request *rq, const struct fbp_rows_file *to,
                           struct fbp_report *report)
{
    const struct fbp_backend *b = rq->backend;
    const struct fbp_work *w = rq->work;
    const struct fbp_buffer raw = {FBP_FOR_RAW, w->raw_device_bytes, w->batch_views, w->load_rows};
    const struct fbp_buffer rows = {FBP_FOR_RAW, w->filtered_bytes, w->batch_views, w->filter_rows};
    const int n_io = fbp_work_readers(b, rq->job);
    struct rows_pass p = {.rq = rq, .to = to, .report = report, .started = fbp_seconds()};
    struct fbp_cancel_scope scope = {.flag = rq->stop, .asked = pass_stops, .user = &p};
    struct fbp_cancel_scope *const before = fbp_cancel_scope(&scope);
    struct fbp_span span = fbp_span_host(rq->timeline);
    fbp_status st = FBP_ERR_DEVICE;

    for (size_t i = 0; st != FBP_OK && i < rq->n_devices; i++)
        st = b->open(&p.dev, rq->devices[i], rq->job);
    FBP_TRY_GOTO(st);
    FBP_TRY_GOTO(fbp_check_cancelled());

    if (n_io > 1 && !rq->job->input.in_order)
        FBP_TRY_GOTO(fbp_pool_create(&p.io_threads, n_io));
    FBP_TRY_GOTO(b->memory.host_alloc(p.dev, w->raw_bytes, "a batch of views", &p.raw_host));
    p.raw = p.raw_host;
    if (b->can.own_memory)
        FBP_TRY_GOTO(b->memory.alloc(p.dev, &raw, &p.raw));
    FBP_TRY_GOTO(fbp_queue_create(&p.free, SLOTS));
    FBP_TRY_GOTO(fbp_queue_create(&p.full, SLOTS));
    for (size_t i = 0; i < SLOTS; i++) {
        struct rows_slot *s = &p.slots[i];
        FBP_TRY_GOTO(
            b->memory.host_alloc(p.dev, w->filtered_bytes, "filtered rows", (void **)&s->host));
        s->device = s->host;
        if (b->can.own_memory)
            FBP_TRY_GOTO(b->memory.alloc(p.dev, &rows, (void **)&s->device));
        fbp_queue_push(p.free, i);
    }
    FBP_TRY_GOTO(fbp_row_bitmap_create(&p.ledger, rq->job));
    FBP_TRY_GOTO(b->repair.set_bitmap(p.dev, &p.ledger));

    FBP_TRY_GOTO(run_pass(&p));
    FBP_TRY_GOTO(fbp_span_end(&span, FBP_LANE_HOST, 0, "views filtered"));
fail:
    if (p.dev) { /* failures of this clean-up are not reported */
        (void)!fbp_device_settle_all(b, p.dev);
        for (size_t i = 0; i < SLOTS; i++) {
            if (p.slots[i].device != p.slots[i].host)
                fbp_device_put(b, p.dev, FBP_FOR_RAW, p.slots[i].device);
            fbp_host_put(b, p.dev, p.slots[i].host);
        }
        if (p.raw != p.raw_host)
            fbp_device_put(b, p.dev, FBP_FOR_RAW, p.raw);
        fbp_host_put(b, p.dev, p.raw_host);
        (void)!b->repair.set_bitmap(p.dev, &(struct fbp_row_bitmap){0});
        b->close(&p.dev);
    }
    fbp_row_bitmap_clear(&p.ledger);
    fbp_queue_destroy(&p.free);
    fbp_queue_destroy(&p.full);
    fbp_pool_destroy(&p.io_threads);

    (void)fbp_cancel_scope(before);
    return st;
}

/* Callback `read` of fbp_source_functions: read filtered rows from the scratch file. */
static int read_rows(void *user, size_t view, size_t n_views, size_t row0, size_t n_rows, void *out,
                     char *why, size_t n_why)
{
    const struct fbp_rows_file *f = user;
    char *to = out;

    for (size_t k = 0; k < n_views; k++, to += n_rows * f->row_bytes) {
        if (fbp_read_at(f->file.fd, f->file.folder, row_at(f, view + k, row0), to,
                        n_rows * f->row_bytes) != FBP_OK) {
            snprintf(why, n_why, "%s", fbp_message());
            return 1;
        }
    }
    return 0;
}

fbp_status fbp_rows_source(const struct fbp_job *job, struct fbp_rows_file *rows, fbp_source **out)
{
    const struct fbp_source_functions functions = {.struct_size = sizeof functions,
                                                   .read = read_rows,
                                                   .user = rows,
                                                   .at_once = job->n_views,
                                                   .concurrent = 1};
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {rows->row_bytes / sizeof(float), rows->n_rows, job->n_views},
        .type = FBP_F32,
        .row_order = FBP_ROWS_BOTTOM_UP};

    return fbp_source_callback(out, &functions, &info);
}

fbp_status fbp_rows_open(struct fbp_rows_file *out, const struct fbp_job *job, const char *folder)
{
    *out = shape_of(job);
    return fbp_scratch_open(&out->file, folder, fbp_rows_bytes(job));
}

void fbp_rows_close(struct fbp_rows_file *rows)
{
    fbp_scratch_close(&rows->file);
}
