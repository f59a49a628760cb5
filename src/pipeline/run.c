/* fbp_run(): computes those slabs (ranges of slices) of the volume that the sink does not have yet,
 * with one worker per device.
 *
 * A worker is a device with its buffers and queues. This file opens workers, starts the four stages
 * of each (stage_read.c, stages.c, stage_write.c) in threads, sums up their times and their counts
 * of repaired samples, and handles failures and cancellation. The stages call fbp_worker_*(),
 * fbp_run_progress() and fbp_run_stage_failed().
 * Used by: pipeline/. */
#include "pipeline/run.h"

#include "array/array.h"
#include "array/device_memory.h"
#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/job.h"
#include "pipeline/worker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- One worker ---- */

/* Set w->views to the caller's array of views if the device can copy from it directly, else to
 * NULL: its rows must be stored bottom up, in the type that the device reads. Set w->volume to the
 * caller's array of slices if the device can copy to it directly, else to NULL. */
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
    /* Do not fetch to the caller's volume if processes add partial volumes in buffers, or if slices
     * are cropped, or have several channels, which are not contiguous. */
    if ((rq->sum && rq->sum->in_order) || fbp_box_crops(rq->job) || rq->job->channels > 1 ||
        fbp_sink_info(rq->sink)->type != value)
        return;
    if (sink_on_device && fbp_run_finishes(rq)) /* the host cannot finish slices there */
        return;
    /* A backend that works in host memory, and computes the statistics of the voxels that it
     * fetches, can fetch slices to any host memory. */
    if ((volume && b->memory.reaches(w->dev, volume, volume_bytes)) ||
        (!sink_on_device && !b->can.own_memory && b->can.statistics))
        w->volume = volume;
}

static fbp_status open_worker(struct worker *w, const struct fbp_backend *b,
                              const struct fbp_job *job, const struct fbp_work *work, int device)
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

static void close_worker(struct worker *w)
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
    fbp_pool_destroy(&w->io_threads);
    if (w->dev)
        b->close(&w->dev);
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

static fbp_status begin_worker(struct worker *w, struct run_state *run)
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
    w->counts = NULL;
    memset(w->commands, 0, sizeof w->commands);
    w->n_commands = 0;
    FBP_TRY(w->backend->repair.counts(w->dev, &w->counted));
    FBP_TRY(w->backend->statistics(w->dev, &of_earlier_runs));
    find_callers_memory(w);
    FBP_TRY(fbp_worker_draw(w, &first));
    FBP_TRY(fbp_row_bitmap_empty(&w->ledger, run->rq->job));
    FBP_TRY(fbp_row_bitmap_empty(&w->claimed, run->rq->job));
    atomic_store(&w->n_stages, FBP_N_STAGES);
    const size_t n_filtered = work->kept ? MAX_SLOTS : work->n_filtered;
    const size_t room[N_QUEUES] = {[RAW_FREE] = work->n_raw,
                                   [RAW_FULL] = work->n_raw,
                                   [FILTERED_FREE] = n_filtered,
                                   [FILTERED_FULL] = n_filtered,
                                   [VOLUME_FREE] = work->n_volumes,
                                   [BLOCK_FREE] = N_BLOCKS,
                                   [BLOCK_FULL] = N_BLOCKS,
                                   [PIECE_FREE] = work->n_blocks,
                                   [PARTS_FULL] = work->n_blocks * MOST_PARTS};
    for (size_t q = 0; q < N_QUEUES; q++) {
        FBP_TRY(fbp_queue_create(&w->queues[q], room[q]));
        for (size_t i = 0; q < N_OF_FREE && i < room[q]; i++)
            fbp_queue_push(w->queues[q], i);
    }
    return FBP_OK;
}

static void abort_worker(struct worker *w)
{
    for (size_t q = 0; q < N_QUEUES; q++)
        if (w->queues[q])
            fbp_queue_abort(w->queues[q]);
    if (w->run)
        fbp_slabs_wake(&w->run->slabs, &w->run->shared, false);
}

static void set_failed(struct worker *w, fbp_status status)
{
    w->status = status;
    snprintf(w->why, sizeof w->why, "%s", fbp_message());
    atomic_store(&w->gone, true);
}

static void return_slabs(struct worker *w)
{
    struct run_state *run = w->run;

    /* Wait for the device, whose queues may still use the buffers after its failure. Errors of this
     * wait are ignored, because the failure is already reported. */
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

/* Add a device's counts of repaired samples to the report, after the device has filtered all rows
 * that it counts.  If each device keeps all filtered views, each counts all rows: its counts then
 * replace those in the report.  The caller holds run->lock. */
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

    /* Collect the counts of repaired samples of the worker's earlier slabs now, because a device
     * that fails loses them; the failure of a single device ends the run. */
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

    /* use the device's statistics of fetched voxels if the voxels are written unchanged */
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

static void end_worker(struct worker *w)
{
    for (size_t q = 0; q < N_QUEUES; q++)
        fbp_queue_destroy(&w->queues[q]);
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

/* ---- The run of all workers ---- */

enum { N_THREADS = 4 }; /* stages of a worker */

/* Return whether the sink has slice z of the volume of time point `frame`, in all channels. */
static bool has_slice(const struct fbp_run_request *rq, size_t frame, size_t z)
{
    for (size_t f = 0; f < fbp_channels(rq->job); f++)
        if (!fbp_sink_has(rq->sink, fbp_written_slice(rq->job, frame + f, z), 1))
            return false;
    return true;
}

/* Fill the work list with the slabs of this run's workers: all slabs, unless the run has fewer
 * workers than the division. Slices at the ends of slabs that the sink already has are left out. */
static fbp_status list_slabs(struct run_state *run)
{
    const struct fbp_run_request *rq = run->rq;
    const struct fbp_job *job = rq->job;
    const struct fbp_work *work = rq->work;
    const size_t n_slabs = fbp_work_slabs(work, job);
    struct fbp_slabs *list = &run->slabs;

    const fbp_status st = fbp_slabs_create(list, job, work);
    /* make the table of batches even if the list failed, because both are destroyed afterwards */
    FBP_TRY(fbp_shared_create(&run->shared, job, work));
    FBP_TRY(st);
    for (size_t all = 0; all < n_slabs; all += work->n_workers)
        for (size_t i = 0; i < run->n_workers && all + i < n_slabs; i++) {
            struct fbp_slab slab = fbp_work_slab(work, job, all + i);
            for (; slab.nz > 0 && has_slice(rq, slab.time_point, slab.z0); slab.nz--)
                slab.z0++;
            while (slab.nz > 0 && has_slice(rq, slab.time_point, slab.z0 + slab.nz - 1))
                slab.nz--;
            const uint64_t voxels = fbp_wanted_voxels(job, &slab, slab.z0, slab.z0 + slab.nz);
            if (slab.nz == 0) {
                run->report.slabs_resumed++;
            } else if (voxels == 0) { /* outside the region */
                list->list[list->n_most - ++list->n_skipped] = slab;
            } else {
                list->list[list->n++] = slab;
                run->n_slabs++;
                run->updates_total +=
                    voxels * fbp_channels(job) * fbp_work_own_views(job, work->group_views);
            }
        }
    return FBP_OK;
}

/* Store the failure of this thread as that of the run, if it is the first one, and stop the run. */
static fbp_status fail_run(struct run_state *s, fbp_status status)
{
    pthread_mutex_lock(&s->lock);
    if (s->status == FBP_OK) {
        s->status = status;
        snprintf(s->message, sizeof s->message, "%s", fbp_message());
    }
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->stop, true);
    for (size_t i = 0; i < s->n_workers; i++)
        abort_worker(&s->workers[i]);
    fbp_slabs_wake(&s->slabs, &s->shared, true);
    return status;
}

/* Call the caller's progress function; s->lock is held. Returns true if the caller cancels. */
static bool report_progress(struct run_state *s)
{
    const struct fbp_progress p = {.struct_size = sizeof p,
                                   .done = s->updates_done,
                                   .total = s->updates_total,
                                   .views_read = s->views_read,
                                   .slabs_done = s->slabs_done,
                                   .n_slabs = s->n_slabs,
                                   .seconds = fbp_seconds() - s->started,
                                   .waiting_for = s->waiting_for};

    return s->rq->progress && s->rq->progress(s->rq->progress_user, &p);
}

struct stage_start {
    void (*stage)(struct worker *);
    struct worker *worker;
};

/* Callback of the cancel scopes of stages, called at intervals while stages work: report the
 * progress. Returns true if the caller cancels or the run has stopped. */
static bool run_stops(void *user)
{
    struct run_state *s = user;

    if (atomic_load(&s->stop))
        return true;
    pthread_mutex_lock(&s->lock);
    const bool cancel = report_progress(s);
    pthread_mutex_unlock(&s->lock);
    return cancel && fail_run(s, fbp_fail(FBP_ERR_CANCELLED, "interrupted")) != FBP_OK;
}

static void *stage_main(void *arg)
{
    const struct stage_start *start = arg;
    struct fbp_cancel_scope scope = {
        .flag = start->worker->run->rq->stop, .asked = run_stops, .user = start->worker->run};

    fbp_message_clear();
    (void)fbp_cancel_scope(&scope);
    start->stage(start->worker);
    if (atomic_fetch_sub(&start->worker->n_stages, 1) == 1 && atomic_load(&start->worker->gone))
        return_slabs(start->worker);
    (void)fbp_cancel_scope(NULL);
    return NULL;
}

/* Add the times of all workers and the statistics to the report of the run; copy it to *out. */
static void sum_up(struct run_state *s, struct fbp_report *out, double seconds)
{
    const double now = fbp_seconds();
    double fetched_at = 0;

    for (size_t i = 0; i < s->n_workers; i++) {
        const struct worker *w = &s->workers[i];
        fetched_at = fmax(fetched_at, w->fetched_at);
        s->report.read += w->busy[0];
        s->report.filter += w->busy[1];
        s->report.backproject += w->busy[2];
        s->report.write += w->busy[3];
        s->report.upload += w->upload;
        s->report.fetch += w->fetch;
        s->report.waiting_read += w->waited[1];
        s->report.waiting_write += w->waited[2] + (w->drawn ? now - w->computed_at : 0);
    }
    s->report.total = seconds;
    s->report.volume_after_last_view = fbp_follow_latency(s->rq->source, fetched_at);
    s->report.gups = seconds > 0 ? (double)s->updates_done / seconds * 1e-9 : 0;
    s->report.min = s->n_found ? s->found.min : NAN;
    s->report.max = s->n_found ? s->found.max : NAN;
    s->report.mean = s->n_found ? s->found.sum / (double)s->n_found : NAN;
    if (s->rq->n_found)
        *s->rq->n_found = s->n_found;
    *out = s->report;
}

/* Arguments of open_one(). */
struct opening {
    struct worker *workers;
    const struct fbp_backend *backend;
    const struct fbp_job *job;
    const struct fbp_work *work;
    const int *devices;
};

/* Open the device of worker i; a failure is stored in the worker's status. */
static void open_one(void *user, size_t i, int thread)
{
    const struct opening *o = user;
    struct worker *w = &o->workers[i];

    (void)thread;
    fbp_message_clear();
    const fbp_status st = open_worker(w, o->backend, o->job, o->work, o->devices[i]);
    if (st != FBP_OK) {
        set_failed(w, st);
        close_worker(w);
    }
}

/* Return the first worker whose device has not failed.  If all have failed, return NULL, and set
 * *st and this thread's message to those of the first worker. */
static struct worker *first_usable(const struct fbp_workers *w, fbp_status *st)
{
    *st = FBP_OK;
    for (size_t i = 0; i < w->n; i++)
        if (!atomic_load(&w->list[i].gone))
            return &w->list[i];
    fbp_message_adopt(w->list[0].why);
    *st = w->list[0].status;
    return NULL;
}

fbp_status fbp_workers_open(struct fbp_workers *out, const struct fbp_backend *backend,
                            const struct fbp_job *job, const struct fbp_work *work,
                            const int *devices, size_t n_devices)
{
    struct opening opening = {.backend = backend, .job = job, .work = work, .devices = devices};
    fbp_pool *pool = NULL; /* devices open at the same time */
    fbp_status st = FBP_OK;

    *out = (struct fbp_workers){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&out->list, n_devices, sizeof *out->list, "workers"));
    opening.workers = out->list;
    out->n = n_devices;
    if (n_devices > 1)
        FBP_TRY_GOTO(fbp_pool_create(&pool, (int)n_devices));
    if (pool)
        fbp_pool_for(pool, n_devices, open_one, &opening);
    else
        open_one(&opening, 0, 0);
    if (first_usable(out, &st))
        st = fbp_check_cancelled();
fail:
    fbp_pool_destroy(&pool);
    if (st != FBP_OK)
        fbp_workers_close(out);
    return st;
}

void fbp_workers_close(struct fbp_workers *workers)
{
    for (size_t i = 0; i < workers->n; i++)
        close_worker(&workers->list[i]);
    free(workers->list);
    *workers = (struct fbp_workers){0};
}

fbp_status fbp_workers_alloc(const struct fbp_workers *workers, size_t bytes, void **out)
{
    fbp_status st;
    const struct worker *w = first_usable(workers, &st);

    return w ? w->backend->memory.host_alloc(w->dev, bytes, "views or a volume", out) : st;
}

void fbp_workers_release(const struct fbp_workers *workers, void *memory)
{
    const struct worker *w = &workers->list[0];

    fbp_host_put(w->backend, w->dev, memory); /* any device can free the memory */
}

/* Prepare all workers for a run; each takes its first slab.  Fails if no device is left. */
static fbp_status begin_workers(struct run_state *run)
{
    for (size_t i = 0; i < run->n_workers; i++)
        run->n_working += !atomic_load(&run->workers[i].gone);
    for (size_t i = 0; i < run->n_workers; i++) {
        struct worker *w = &run->workers[i];
        if (atomic_load(&w->gone))
            continue;
        const fbp_status st = begin_worker(w, run);
        if (st != FBP_OK)
            fbp_run_stage_failed(run, w, st);
        if (st != FBP_OK && atomic_load(&w->gone)) {
            return_slabs(w);
            end_worker(w);
        }
    }
    if (run->n_working == 0) {
        fbp_message_adopt(run->workers[0].why);
        (void)!fail_run(run, run->workers[0].status);
    }
    fbp_message_adopt(run->message);
    return run->status;
}

/* Compute all slabs with opened workers, and fill in the report. */
static fbp_status run_workers(struct run_state *run, struct fbp_report *report)
{
    static void (*const stages[N_THREADS])(struct worker *) = {
        fbp_stage_read, fbp_stage_filter, fbp_stage_backproject, fbp_stage_write};
    const struct fbp_run_request *rq = run->rq;
    const size_t most = N_THREADS * run->n_workers;
    char line[1200];
    pthread_t *threads = NULL;
    struct stage_start *starts = NULL;
    size_t n = 0;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(list_slabs(run));
    FBP_TRY_GOTO(fbp_calloc((void **)&threads, most, sizeof *threads, "threads"));
    FBP_TRY_GOTO(fbp_calloc((void **)&starts, most, sizeof *starts, "threads"));
    FBP_TRY_GOTO(begin_workers(run));
    run->report.open = fbp_seconds() - run->started;

    /* Start all four stages of a worker even if one of them fails at once, because the last stage
     * to end returns the worker's unfinished slabs to the work list. */
    for (size_t i = 0; i < run->n_workers; i++)
        for (size_t k = 0; run->workers[i].run && k < N_THREADS; k++, n++) {
            starts[n] = (struct stage_start){stages[k], &run->workers[i]};
            if (pthread_create(&threads[n], NULL, stage_main, &starts[n]) == 0)
                continue;
            (void)!fail_run(
                run,
                fbp_fail(FBP_ERR_NOMEM,
                         "threads: the system cannot start another thread; close other programs"));
            break;
        }
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);

    /* Set the bars of the timeline to the times that the devices measured, now that all slabs are
     * computed.  The bars of a failed device keep the times that the host measured. */
    for (size_t i = 0; run->status == FBP_OK && i < run->n_workers; i++) {
        struct worker *w = &run->workers[i];
        if (atomic_load(&w->gone))
            continue;
        st = fbp_timeline_settle(rq->timeline, w->dev);
        if (st != FBP_OK)
            fbp_run_stage_failed(run, w, st);
    }
    st = run->status;
    fbp_message_adopt(run->message);
    run->report.devices_dropped = 0;
    for (size_t i = 0; i < run->n_workers; i++) { /* warn about each device that failed, once */
        struct worker *w = &run->workers[i];
        if (!atomic_load(&w->gone))
            continue;
        run->report.devices_dropped++;
        if (w->said || !rq->log)
            continue;
        snprintf(line, sizeof line,
                 "device %s:%d is no longer used, and the other devices do its work: %s",
                 rq->backend->name, rq->devices[i], w->why);
        rq->log(rq->log_user, FBP_LOG_WARNING, line);
        w->said = true;
    }

    sum_up(run, report, fbp_seconds() - run->started);
fail:
    free(threads);
    free(starts);
    for (size_t i = 0; i < run->n_workers; i++)
        if (run->workers[i].run)
            end_worker(&run->workers[i]);
    fbp_slabs_destroy(&run->slabs);
    fbp_shared_destroy(&run->shared);
    return st;
}

fbp_status fbp_run(const struct fbp_run_request *rq, struct fbp_report *report)
{
    struct run_state run = {.rq = rq, .found = FBP_NO_STATISTICS};
    struct fbp_workers own = {0};
    fbp_status st = FBP_OK;

    run.started = fbp_seconds();
    pthread_mutex_init(&run.lock, NULL);
    pthread_mutex_init(&run.turn, NULL);
    pthread_mutex_init(&run.pass, NULL);
    struct fbp_span opening = fbp_span_host(rq->timeline);
    if (!rq->workers)
        st = fbp_workers_open(&own, rq->backend, rq->job, rq->work, rq->devices, rq->n_devices);
    if (st == FBP_OK)
        st = fbp_span_end(&opening, FBP_LANE_HOST, 0, "devices opened");
    run.workers = rq->workers ? rq->workers->list : own.list;
    run.n_workers = rq->n_devices;
    if (st == FBP_OK)
        st = run_workers(&run, report);
    fbp_workers_close(&own);
    pthread_mutex_destroy(&run.lock);
    pthread_mutex_destroy(&run.turn);
    pthread_mutex_destroy(&run.pass);
    return st;
}

void fbp_run_stage_failed(struct run_state *s, struct worker *w, fbp_status status)
{
    pthread_mutex_lock(&s->lock);
    /* If the device or an allocation failed, and other workers are left that do not need this
     * worker's filtered views, continue without it, and ignore its later failures; else the run
     * fails. */
    const bool followed = atomic_load(&w->gone);
    const bool needed = s->rq->work->shared && s->slabs_done < s->n_slabs; /* its filtered views */
    const bool drop = (status == FBP_ERR_DEVICE || status == FBP_ERR_NOMEM) && s->n_working > 1 &&
                      !atomic_load(&s->stop) && !followed && !needed;
    if (drop) {
        s->n_working--;
        set_failed(w, status);
    }
    pthread_mutex_unlock(&s->lock);
    if (drop)
        abort_worker(w);
    else if (!followed)
        (void)!fail_run(s, status);
}

fbp_status fbp_run_progress(struct run_state *s, uint64_t updates, size_t slabs, size_t views_read)
{
    FBP_TRY(fbp_check_cancelled());
    pthread_mutex_lock(&s->lock);
    s->updates_done += updates;
    s->slabs_done += slabs;
    s->views_read = views_read;
    const bool cancel = report_progress(s);
    pthread_mutex_unlock(&s->lock);
    return cancel ? fail_run(s, fbp_fail(FBP_ERR_CANCELLED, "cancelled")) : fbp_check_cancelled();
}
