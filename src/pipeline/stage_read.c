/* The reading stage (fbp_stage_read()) of a worker, which is a device with its buffers and queues
 * (worker.h): a thread that reads batches of views from the source into host buffers, and checks
 * the views for bad data. If the scan is still being measured, the stage waits for new views.
 * fbp_load() reads one batch, also for the filtering into a scratch file (scratch_rows.c).
 * Used by: bench/common/filtered.c, plan_run.c, run.c, scratch_rows.c. */
#include "pipeline/worker.h"

#include "array/array.h"
#include "array/file/format.h"
#include "backend/rows.h"
#include "backend/views.h"
#include "base/base.h"
#include "base/system.h"

#include <string.h>

/* ---- Loading a batch ---- */

/* BAND_BYTES: size of the buffer through which the order of detector rows is reversed.
 * COMPUTED_ROWS: least number of rows per work item, if the source computes the views (sinogram
 * images of EPR in two stages) while they are read. */
enum { BAND_BYTES = 1 << 16, COMPUTED_ROWS = 16 };

/* Arguments of the threads that read one batch of views into `out`. */
struct load {
    fbp_source *source;
    bool top_down;
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    size_t at_once; /* views per work item */
    /* number of blocks of rows into which each view is cut; each block is a work item */
    size_t bands;
    fbp_data_check *check; /* NULL: views are not checked */
    char *out;
};

/* Read detector rows [row0, row0 + n) of n_views views, in the order in which the source stores
 * rows, as samples of the type that the device takes (counts, floats or doubles). */
static fbp_status read_rows(const struct load *l, size_t view0, size_t n_views, size_t row0,
                            size_t n, void *out)
{
    row0 += l->batch->time_point * l->job->panel.n_rows;
    if (l->job->input.type == FBP_U16)
        return fbp_source_read_as_is(l->source, view0, n_views, row0, n, out);
    return fbp_source_read(l->source, view0, n_views, row0, n,
                           l->job->input.type == FBP_F64 ? FBP_F64 : FBP_F32, out);
}

/* Read n rows of a view, `row` bytes each, in reverse order, in blocks that fit into the L2 cache.
 * If the source decodes whole views, all rows are read at once and reversed in place, because
 * between two blocks another thread may replace the decoded view in the source's cache. */
static fbp_status read_upside_down(const struct load *l, size_t view, size_t row0, size_t n,
                                   size_t row, char *out)
{
    const size_t at_once = row <= BAND_BYTES / 2 ? BAND_BYTES / row : 1;
    fbp_status st = FBP_OK;
    char *band = NULL;

    if (l->job->input.unpacks) {
        char some[4096];
        FBP_TRY(read_rows(l, view, 1, row0, n, out));
        for (char *low = out, *high = out + (n - 1) * row; low < high; low += row, high -= row)
            for (size_t at = 0; at < row; at += sizeof some) {
                const size_t bytes = row - at < sizeof some ? row - at : sizeof some;
                memcpy(some, low + at, bytes);
                memcpy(low + at, high + at, bytes);
                memcpy(high + at, some, bytes);
            }
        return FBP_OK;
    }
    FBP_TRY(fbp_alloc((void **)&band, BAND_BYTES, "rows of a view"));
    for (size_t r = 0; r < n && st == FBP_OK; r += at_once) {
        const size_t some = n - r < at_once ? n - r : at_once;
        char *to = out + (n - r) * row; /* end of the memory of row r in `out` */
        st = read_rows(l, view, 1, row0 + r, some, some == 1 ? to - row : band);
        for (size_t k = 0; some > 1 && k < some && st == FBP_OK; k++)
            memcpy(to - (k + 1) * row, band + k * row, row);
    }
    fbp_free(band);
    return st;
}

/* Work item of a thread pool: read l->at_once views, or a block of rows of one view.  Check these
 * views for bad data, unless l->check is NULL. */
static fbp_status load_item(void *user, size_t item, int worker)
{
    const struct load *l = user;
    const struct fbp_job *job = l->job;
    const struct fbp_batch *b = l->batch;
    const size_t k0 = item / l->bands * l->at_once, n = b->load_rows;
    const size_t r0 = item % l->bands * n / l->bands, r1 = (item % l->bands + 1) * n / l->bands;
    const size_t row = job->panel.n_columns * fbp_raw_size(job), first = b->load_row0 + r0;
    const size_t view0 = fbp_batch_view(job, b, k0), rows = r1 - r0;
    char *out = l->out + (k0 * n + r0) * row;

    (void)worker;
    if (!l->top_down)
        FBP_TRY(read_rows(l, view0, l->at_once, first, rows, out));
    for (size_t k = 0; l->top_down && k < l->at_once; k++)
        FBP_TRY(read_upside_down(l, view0 + k, job->panel.n_rows - first - rows, rows, row,
                                 out + k * rows * row));
    for (size_t k = k0; l->check && k < k0 + l->at_once; k++)
        fbp_data_check_view(l->check, b, k, l->out);
    return FBP_OK;
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, fbp_data_check *check, void *out)
{
    /* at_once: views per work item.  Without a pool: all views of the batch from one part of the
     * circle, which have consecutive numbers (kernels with rotational symmetry take views from
     * several parts of the circle).  With a pool: one view, or a block of its rows. */
    const size_t at_once = pool ? 1 : batch->n_views / job->selection.symmetric_views;
    struct load l = {source, top_down, job, batch, at_once, 1, check, out};

    if (batch->load_rows == 0)
        return FBP_OK;
    if (pool && job->epr.second_stage && !check && !top_down) {
        /* Cut views into blocks of rows: sinogram images (EPR in two stages) are computed while
         * they are read, and a batch may have fewer images than there are threads. */
        const size_t some = batch->load_rows / COMPUTED_ROWS;
        const size_t wanted = (2 * (size_t)job->n_threads + batch->n_views - 1) / batch->n_views;
        l.bands = some == 0 ? 1 : wanted < some ? wanted : some;
    }
    return fbp_pool_try(pool, batch->n_views / at_once * l.bands, load_item, &l);
}

/* ---- Views that are still being measured ---- */

double fbp_follow_latency(const fbp_source *source, double at)
{
    const double complete_at = fbp_source_complete_at(source);

    return complete_at > 0 && at > complete_at ? at - complete_at : 0;
}

/* Report the progress of a run that follows a measurement.  waiting_for: number of the awaited
 * view, from 1; 0: none.  n_there: number of stored views, reported as views read */
static fbp_status report_waiting(struct run_state *s, size_t waiting_for, size_t n_there)
{
    pthread_mutex_lock(&s->lock);
    s->waiting_for = waiting_for;
    pthread_mutex_unlock(&s->lock);
    return fbp_run_progress(s, 0, 0, n_there);
}

/* Callback of fbp_source_await(), called while it waits for a view: report progress. Returns
 * nonzero, which ends the wait, if the run is cancelled or failed, or its device failed. */
static int is_over_while_waiting(void *user, size_t n_there)
{
    const struct worker *w = user;

    return fbp_worker_is_over(w) || report_waiting(w->run, n_there + 1, n_there) != FBP_OK;
}

/* Wait until view `index` of a growing scan is stored; *n_there: views stored by then. */
static fbp_status await_view(struct worker *w, size_t view, size_t *n_there)
{
    FBP_TRY(fbp_source_await(w->run->rq->source, view + 1, is_over_while_waiting, w, n_there));
    return report_waiting(w->run, 0, *n_there);
}

/* Return whether a batch can be read view by view. With the option no_overlap, or a kernel with
 * rotational symmetry, the run waits for all views of the batch first. */
static bool reads_single_views(const struct worker *w)
{
    return !w->run->rq->no_overlap && w->run->rq->job->selection.symmetric_views == 1;
}

/* Join the batch of a task with that of the next task, if both belong to one slab and fit into the
 * buffers.  Returns whether they were joined. */
static bool join(const struct worker *w, struct fbp_task *t, const struct fbp_task *next)
{
    if (t->last)
        return false;
    const struct fbp_batch both = fbp_work_batch_of(w->run->rq->job, &t->slab, t->batch.view0,
                                                    t->batch.n_views + next->batch.n_views);
    if (both.n_views > w->work->batch_views || both.load_rows > w->work->load_rows ||
        both.n_rows > w->work->filter_rows)
        return false;
    t->batch = both;
    t->step = next->step;
    t->last = next->last;
    t->final = next->final;
    return true;
}

/* If the run follows a measurement, wait until the first view of task i's batch is stored, or all
 * views if it cannot be read view by view. Join next tasks whose views are stored (*n in all, with
 * task i): batches are small while computing keeps up with the measurement, else they grow. */
static fbp_status await_task(struct worker *w, struct fbp_work_item *d, size_t i, size_t *n)
{
    const struct fbp_job *job = w->run->rq->job;
    struct fbp_task *t = &d->tasks[i];
    size_t n_there;

    *n = 1;
    if (!w->work->follow)
        return FBP_OK;
    const size_t last = fbp_batch_view(job, &t->batch, t->batch.n_views - 1);
    FBP_TRY(await_view(w, reads_single_views(w) ? t->batch.view0 : last, &n_there));
    for (; i + *n < d->n_tasks; (*n)++) {
        const struct fbp_batch *next = &d->tasks[i + *n].batch;
        if (fbp_batch_view(job, next, next->n_views - 1) >= n_there ||
            !join(w, t, &d->tasks[i + *n]))
            break;
    }
    pthread_mutex_lock(&w->run->lock);
    w->run->report.n_batches++;
    w->run->report.last_batch = t->batch.n_views;
    pthread_mutex_unlock(&w->run->lock);
    return FBP_OK;
}

/* Read a batch from a growing scan: each view when it is stored, or all views at once if needed. */
static fbp_status load_as_measured(struct worker *w, const struct fbp_batch *batch, void *out)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t view = batch->load_rows * rq->job->panel.n_columns * fbp_raw_size(rq->job);
    size_t n_there;

    for (size_t k = 0, n = batch->n_views; k < batch->n_views; k += n) {
        struct fbp_batch part = *batch;
        if (reads_single_views(w)) {
            const double start = fbp_seconds();
            FBP_TRY(await_view(w, batch->view0 + k, &n_there));
            w->busy[FBP_STAGE_IN] -= fbp_seconds() - start;
            n = n_there - batch->view0 - k;
            n = n < batch->n_views - k ? n : batch->n_views - k;
        }
        part.view0 += k;
        part.n_views = n;
        FBP_TRY(fbp_load(rq->source, rq->top_down, rq->job, &part, NULL, rq->check,
                         (char *)out + k * view));
    }
    return FBP_OK;
}

/* ---- The stage ---- */

/* Callback of fbp_hold_fill(), called while it decompresses views: report progress. Returns
 * nonzero, which ends the work, if the run is cancelled or failed, or its device failed. */
static int is_over(void *user, size_t n_there)
{
    const struct worker *w = user;

    return fbp_worker_is_over(w) || fbp_run_progress(w->run, 0, 0, n_there) != FBP_OK;
}

/* Read the batch of a task into a host buffer, unless the device reads the caller's memory. */
static fbp_status read_task(struct worker *w, struct raw_slot *slot)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_batch *batch = &slot->at.task->batch;

    if (w->views)
        return FBP_OK;
    if (!slot->host) /* allocate host buffers at first use, while other stages work */
        FBP_TRY(w->backend->memory.host_alloc(w->dev, w->work->raw_bytes, "a batch of views",
                                              &slot->host));
    if (!w->backend->can.own_memory)
        slot->device = slot->host;
    FBP_TRY(fbp_stage_wait(w, slot->uploaded)); /* the last upload still reads the buffer */
    struct fbp_span span = fbp_span_host(rq->timeline);
    if (batch->load_rows > 0)
        FBP_TRY(fbp_hold_fill(rq->source, fbp_batch_view(rq->job, batch, batch->n_views - 1) + 1,
                              is_over, w));
    if (w->work->follow)
        FBP_TRY(load_as_measured(w, batch, slot->host));
    else
        FBP_TRY(fbp_load(rq->source, rq->top_down, rq->job, batch,
                         rq->job->input.in_order ? NULL : w->io_threads, rq->check, slot->host));
    return fbp_stage_span_end(w, &span, FBP_LANE_READ, &slot->at);
}

/* Read the views of all tasks of a slab, and pass them to the filter stage. */
static fbp_status read_tasks(struct worker *w, struct fbp_work_item *d)
{
    for (size_t i = 0, n; i < d->n_tasks; i += n) {
        size_t slot;
        n = 1;
        if (!d->tasks[i].loads)
            continue;
        if (!fbp_queue_pop(w->queues[RAW_FREE], &slot, &w->waited[FBP_STAGE_IN]))
            return FBP_ERR_CANCELLED;
        w->raw[slot].at = (struct place){d, &d->tasks[i]};
        fbp_status st = await_task(w, d, i, &n);
        const double start = fbp_stage_begin(w);
        if (st == FBP_OK)
            st = read_task(w, &w->raw[slot]);
        FBP_TRY(fbp_stage_end(w, FBP_STAGE_IN, start, st));
        fbp_queue_push(w->queues[RAW_FULL], slot);
    }
    return FBP_OK;
}

/* Read the views of each slab, or of the first only if the device keeps filtered views. */
static fbp_status read_slabs(struct worker *w)
{
    /* If views must be read in order, workers that alternate would make the source restart at the
     * first view each time.  A lock is therefore held while all views of a slab are read. */
    const bool alone = w->run->rq->job->input.in_order && !w->work->follow;
    struct fbp_work_item *d = w->drawn;

    if (!d) /* there are more workers than slabs */
        FBP_TRY(fbp_stage_await_slab(w, &d));
    while (d) {
        if (alone)
            pthread_mutex_lock(&w->run->pass);
        const fbp_status st = read_tasks(w, d);
        if (alone)
            pthread_mutex_unlock(&w->run->pass);
        FBP_TRY(st);
        if (w->work->kept)
            break;
        FBP_TRY(fbp_stage_await_slab(w, &d));
    }
    return FBP_OK;
}

/* Read the batches that this worker filters for all workers (slabs.c).  If views must be read in
 * order, a lock lets only one worker read at a time. */
static fbp_status read_shared(struct worker *w)
{
    struct run_state *run = w->run;
    const bool alone = run->rq->job->input.in_order;
    bool found = true;
    size_t b, slot;

    while (found) {
        if (!fbp_queue_pop(w->queues[RAW_FREE], &slot, &w->waited[FBP_STAGE_IN]))
            return FBP_ERR_CANCELLED;
        if (alone)
            pthread_mutex_lock(&run->pass);
        fbp_status st = FBP_OK;
        found = fbp_shared_take(&run->shared, fbp_worker_index(w), &b);
        if (found) {
            w->raw[slot].at = (struct place){run->shared.views, &run->shared.views->tasks[b]};
            const double start = fbp_stage_begin(w);
            st = fbp_stage_end(w, FBP_STAGE_IN, start, read_task(w, &w->raw[slot]));
        }
        if (alone)
            pthread_mutex_unlock(&run->pass);
        FBP_TRY(st);
        fbp_queue_push(found ? w->queues[RAW_FULL] : w->queues[RAW_FREE], slot);
    }
    return FBP_OK;
}

void fbp_stage_read(struct worker *w)
{
    fbp_stage_ended(w, w->work->shared ? read_shared(w) : read_slabs(w));
    fbp_queue_close(w->queues[RAW_FULL]);
}
