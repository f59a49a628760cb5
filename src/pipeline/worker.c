/* A worker of a run: one device with its buffers, its queues, its list of slabs, and its counts of
 * repaired samples.  run.c opens workers and starts and ends their runs; stages call the rest. */
#include "pipeline/worker.h"

#include "array/array.h"
#include "array/device_memory.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <stdio.h>
#include <string.h>

/* Make a queue of n places that contains 0 … n-1 if `filled`, else nothing. */
static fbp_status make_queue(fbp_queue **out, size_t n, bool filled)
{
    FBP_TRY(fbp_queue_create(out, n));
    for (size_t i = 0; filled && i < n; i++)
        fbp_queue_push(*out, i);
    return FBP_OK;
}

/* Set w->views and w->volume to the caller's memory if the device can copy from and to it directly:
 * rows must start with the lowest, and samples must have the type that the device computes with. */
static void find_callers_memory(struct worker *w)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_backend *b = w->backend;
    const struct fbp_array_info *views = fbp_source_info(rq->source);
    const size_t *n = views->n, *m = fbp_sink_info(rq->sink)->n;
    const size_t view_bytes = n[0] * n[1] * n[2] * fbp_raw_size(rq->job);
    const size_t volume_bytes = m[0] * m[1] * m[2] * fbp_value_size(rq->job);
    const void *samples = fbp_source_samples(rq->source);
    const enum fbp_type value = fbp_value_type(rq->job);
    const bool sink_on_device = fbp_sink_device(rq->sink) != NULL;
    void *volume = fbp_sink_samples(rq->sink);

    w->views = NULL;
    w->volume = NULL;
    if (views->type == (rq->job->input.type == FBP_U16 ? FBP_U16 : value) && !rq->top_down &&
        samples && b->memory.reaches(w->dev, samples, view_bytes))
        w->views = samples;
    /* Processes that add partial volumes must add the same blocks, of as many slices.  Cropped
     * slices and several frames are not contiguous in the volume. */
    if ((rq->sum && rq->sum->in_order) || fbp_box_crops(rq->job) || rq->job->channels > 1 ||
        fbp_sink_info(rq->sink)->type != value)
        return;
    if (sink_on_device && fbp_run_finishes(rq)) /* the host cannot finish slices there */
        return;
    /* A backend without its own memory that computes statistics fetches to any host memory. */
    if ((volume && b->memory.reaches(w->dev, volume, volume_bytes)) ||
        (!sink_on_device && !b->can.own_memory && b->can.statistics))
        w->volume = volume;
}

fbp_status fbp_worker_open(struct worker *w, const struct fbp_backend *b, const struct fbp_job *job,
                           const struct fbp_work *work, int device)
{
    const struct fbp_buffer raw = {FBP_FOR_RAW, work->raw_device_bytes, work->batch_views,
                                   work->load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED, work->filtered_bytes,
                                        work->kept ? job->n_views : work->batch_views,
                                        work->filter_rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, work->volume_bytes, 0, 0};

    *w = (struct worker){.backend = b, .work = work};
    FBP_TRY(b->open(&w->dev, device, job));
    if (fbp_work_readers(b, job) > 1)
        FBP_TRY(fbp_pool_create(&w->io_threads, fbp_work_readers(b, job)));
    for (size_t i = 0; b->can.own_memory && i < work->n_raw; i++)
        FBP_TRY(b->memory.alloc(w->dev, &raw, &w->raw[i].device));
    for (size_t i = 0; i < work->n_filtered; i++)
        FBP_TRY(b->memory.alloc(w->dev, &filtered, &w->filtered[i].memory));
    for (size_t i = 1; work->kept && i < MAX_SLOTS; i++)
        w->filtered[i].memory = w->filtered[0].memory;
    for (size_t i = 0; i < work->n_volumes; i++)
        FBP_TRY(b->memory.alloc(w->dev, &volume, &w->volumes[i].memory));
    return FBP_OK;
}

fbp_status fbp_worker_draw(struct worker *w, struct fbp_work_item **out)
{
    FBP_TRY(fbp_slabs_draw(&w->run->slabs, w->last == &w->drawn, out));
    if (*out) {
        *w->last = *out;
        w->last = &(*out)->next;
    }
    return FBP_OK;
}

fbp_status fbp_worker_begin(struct worker *w, struct run_state *run)
{
    const struct fbp_work *work = w->work;
    struct fbp_statistics of_earlier_runs; /* read to reset them, not used */
    struct fbp_work_item *first;

    w->run = run;
    for (int i = 0; i < FBP_N_STAGES; i++)
        w->busy[i] = w->waited[i] = 0;
    w->upload = w->fetch = w->computed_at = w->fetched_at = 0;
    w->found = FBP_NO_STATISTICS;
    w->n_found = 0;
    w->drawn = NULL;
    w->last = &w->drawn;
    w->counts = w->checked = NULL;
    memset(w->commands, 0, sizeof w->commands);
    w->n_commands = 0;
    FBP_TRY(w->backend->repair.counts(w->dev, &w->counted));
    FBP_TRY(w->backend->statistics(w->dev, &of_earlier_runs));
    find_callers_memory(w);
    FBP_TRY(fbp_worker_draw(w, &first));
    FBP_TRY(fbp_row_bitmap_empty(&w->ledger, run->rq->job));
    FBP_TRY(fbp_row_bitmap_empty(&w->claimed, run->rq->job));
    atomic_store(&w->n_stages, FBP_N_STAGES);
    FBP_TRY(make_queue(&w->raw_free, work->n_raw, true));
    FBP_TRY(make_queue(&w->raw_full, work->n_raw, false));
    const size_t n_filtered = work->kept ? MAX_SLOTS : work->n_filtered;
    FBP_TRY(make_queue(&w->filtered_free, n_filtered, true));
    FBP_TRY(make_queue(&w->filtered_full, n_filtered, false));
    FBP_TRY(make_queue(&w->volume_free, work->n_volumes, true));
    FBP_TRY(make_queue(&w->block_free, N_BLOCKS, true));
    FBP_TRY(make_queue(&w->block_full, N_BLOCKS, false));
    FBP_TRY(make_queue(&w->piece_free, work->n_blocks, true));
    return make_queue(&w->parts_full, work->n_blocks * MOST_PARTS, false);
}

void fbp_worker_abort(struct worker *w)
{
    fbp_queue *const queues[] = {w->raw_free,      w->raw_full,    w->filtered_free,
                                 w->filtered_full, w->volume_free, w->block_free,
                                 w->block_full,    w->piece_free,  w->parts_full};

    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        if (queues[i])
            fbp_queue_abort(queues[i]);
    if (w->run)
        fbp_slabs_wake(&w->run->slabs, &w->run->shared, false);
}

void fbp_worker_set_failed(struct worker *w, fbp_status status)
{
    w->status = status;
    snprintf(w->why, sizeof w->why, "%s", fbp_message());
    atomic_store(&w->gone, true);
}

void fbp_worker_return(struct worker *w)
{
    struct run_state *run = w->run;

    /* Wait for the device: after a failure its queues may still use the buffers.  Failures here
     * have been reported before. */
    if (w->dev)
        (void)!fbp_device_settle_all(w->backend, w->dev);
    if (w->claimed.bits)
        fbp_slabs_unclaim(&run->slabs, &w->claimed);
    for (const struct fbp_work_item *d = w->drawn; d; d = d->next) {
        if (d->done)
            continue;
        pthread_mutex_lock(&run->lock);
        run->updates_done -= d->updates;
        pthread_mutex_unlock(&run->lock);
        fbp_slabs_return(&run->slabs, d->slab);
    }
}

/* Add the device's counts of repaired samples to the report; all claimed rows are filtered.  If
 * every worker filters and counts all rows, because it keeps the filtered views, the numbers
 * replace those of the report.  The caller holds run->lock. */
static fbp_status collect_counts(struct worker *w)
{
    struct fbp_report *report = &w->run->report;
    const bool replace = w->work->kept && !w->work->shared;
    struct fbp_prep_counts counts;

    FBP_TRY(w->backend->repair.counts(w->dev, &counts));
    report->not_finite =
        (replace ? 0 : report->not_finite) + counts.not_finite - w->counted.not_finite;
    report->clipped = (replace ? 0 : report->clipped) + counts.clipped - w->counted.clipped;
    w->counted = counts;
    w->counts = NULL;
    fbp_row_bitmap_zero(&w->claimed);
    return FBP_OK;
}

size_t fbp_worker_index(const struct worker *w)
{
    return (size_t)(w - w->run->workers);
}

fbp_status fbp_worker_collect(struct worker *w)
{
    FBP_TRY(fbp_device_settle(w->backend, w->dev, FBP_STAGE_FILTER));
    pthread_mutex_lock(&w->run->lock);
    const fbp_status st = w->counts ? collect_counts(w) : FBP_OK;
    pthread_mutex_unlock(&w->run->lock);
    return st;
}

fbp_status fbp_worker_claim(struct worker *w, const struct fbp_work_item *drawn)
{
    struct run_state *run = w->run;

    /* If a device fails, its counts are lost unless they were collected: wait for the filter of
     * earlier slabs, and add their counts.  Without other devices the run fails anyway. */
    if (run->n_workers > 1 && drawn != w->drawn)
        FBP_TRY(fbp_worker_collect(w));
    pthread_mutex_lock(&run->lock);
    fbp_slabs_claim(&run->slabs, drawn, &w->ledger);
    fbp_row_bitmap_add(&w->claimed, &w->ledger);
    w->counts = drawn;
    pthread_mutex_unlock(&run->lock);
    return w->backend->repair.set_bitmap(w->dev, &w->ledger);
}

fbp_status fbp_worker_slab_done(struct worker *w, const struct fbp_work_item *drawn)
{
    struct run_state *run = w->run;
    struct fbp_statistics fetched;

    /* the device's statistics of fetched voxels, if they are those of the output */
    if (w->backend->can.statistics && !fbp_box_crops(run->rq->job) && !fbp_run_finishes(run->rq)) {
        FBP_TRY(w->backend->statistics(w->dev, &fetched));
        fbp_statistics_join(&w->found, &fetched);
    }
    pthread_mutex_lock(&run->lock);
    const fbp_status st = w->counts == drawn ? collect_counts(w) : FBP_OK;
    if (st == FBP_OK) {
        fbp_statistics_join(&run->found, &w->found);
        run->n_found += w->n_found;
        w->found = FBP_NO_STATISTICS;
        w->n_found = 0;
    }
    pthread_mutex_unlock(&run->lock);
    return st;
}

void fbp_worker_end(struct worker *w)
{
    fbp_queue **const queues[] = {&w->raw_free,      &w->raw_full,    &w->filtered_free,
                                  &w->filtered_full, &w->volume_free, &w->block_free,
                                  &w->block_full,    &w->piece_free,  &w->parts_full};

    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        fbp_queue_destroy(queues[i]);
    if (w->dev)
        (void)!fbp_device_settle_all(w->backend, w->dev);
    for (struct fbp_work_item *next; w->drawn; w->drawn = next) {
        next = w->drawn->next;
        free(w->drawn);
    }
    if (w->dev) /* a failure here has been reported before */
        (void)!w->backend->repair.set_bitmap(w->dev, &(struct fbp_row_bitmap){0});
    fbp_row_bitmap_clear(&w->ledger);
    fbp_row_bitmap_clear(&w->claimed);
    w->run = NULL;
}

void fbp_worker_close(struct worker *w)
{
    const struct fbp_backend *b = w->backend;

    for (int i = 0; w->dev && i < MAX_SLOTS; i++) {
        if (w->raw[i].device != w->raw[i].host)
            fbp_device_put(b, w->dev, FBP_FOR_RAW, w->raw[i].device);
        fbp_host_put(b, w->dev, w->raw[i].host);
        if ((size_t)i < w->work->n_filtered) /* the other slots share memory */
            fbp_device_put(b, w->dev, FBP_FOR_FILTERED, w->filtered[i].memory);
        fbp_device_put(b, w->dev, FBP_FOR_VOLUME, w->volumes[i].memory);
    }
    for (size_t i = 0; w->dev && i < FBP_MOST_PIECES; i++)
        fbp_host_put(b, w->dev, w->pieces[i].host);
    if (w->io_threads)
        fbp_pool_destroy(&w->io_threads);
    if (w->dev)
        b->close(&w->dev);
}
