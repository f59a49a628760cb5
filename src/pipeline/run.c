/* fbp_run(): computes all slabs of a plan that the sink lacks.  Opens one worker per device, starts
 * the four stages of each worker, sums up their times, and handles failures and cancellation.
 * plan_run.c calls fbp_run(). */
#include "pipeline/run.h"

#include "backend/device.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/job.h"
#include "pipeline/worker.h"

#include <math.h>
#include <stdio.h>

enum { N_THREADS = 4 }; /* stages of a worker */

/* Does the sink have slice z, in all frames from `frame` on? */
static bool has_slice(const struct fbp_run_request *rq, size_t frame, size_t z)
{
    for (size_t f = 0; f < fbp_channels(rq->job); f++)
        if (!fbp_sink_has(rq->sink, fbp_written_slice(rq->job, frame + f, z), 1))
            return false;
    return true;
}

/* Fill the work list with the slabs of the workers of this run, without slices at both ends that
 * the sink already has. */
static fbp_status list_slabs(struct run_state *run)
{
    const struct fbp_run_request *rq = run->rq;
    const struct fbp_job *job = rq->job;
    const struct fbp_work *work = rq->work;
    const size_t n_slabs = fbp_work_slabs(work, job);
    struct fbp_slabs *list = &run->slabs;

    const fbp_status st = fbp_slabs_create(list, job, work);
    FBP_TRY(fbp_shared_create(&run->shared, job, work)); /* both can be destroyed now */
    FBP_TRY(st);
    for (size_t all = rq->first_worker; all < n_slabs; all += work->n_workers)
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

/* Store this thread's failure as that of the run, if it is the first, and stop the run. */
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
        fbp_worker_abort(&s->workers[i]);
    fbp_slabs_wake(&s->slabs, &s->shared, true);
    return status;
}

/* Call the caller's progress function, with s->lock held.  Returns true if the run is cancelled. */
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

    return s->rq->progress && s->rq->progress(s->rq->user, &p);
}

struct stage_start {
    void (*stage)(struct worker *);
    struct worker *worker;
};

/* Called while a block is computed.  Returns true if the caller cancels or the run has stopped. */
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
        fbp_worker_return(start->worker);
    (void)fbp_cancel_scope(NULL);
    return NULL;
}

/* Sum up times and statistics of all workers in *out. */
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

/* A worker whose device is opened, in a thread if there are several. */
struct opening {
    struct worker *worker;
    const struct fbp_backend *backend;
    const struct fbp_job *job;
    const struct fbp_work *work;
    int device;
    const struct fbp_cancel_flag *stop;
    pthread_t thread;
    bool has_thread;
};

static void *open_one(void *arg)
{
    const struct opening *o = arg;
    struct fbp_cancel_scope scope = {.flag = o->stop}, *const before = fbp_cancel_scope(&scope);

    const fbp_status st = fbp_worker_open(o->worker, o->backend, o->job, o->work, o->device);
    if (st != FBP_OK) {
        fbp_worker_set_failed(o->worker, st);
        fbp_worker_close(o->worker);
    }
    (void)fbp_cancel_scope(before);
    return NULL;
}

/* The first worker whose device has not failed.  If all have failed: NULL, with status and message
 * of the first worker. */
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
    struct opening *list = NULL;
    fbp_status st = FBP_OK;

    *out = (struct fbp_workers){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&out->list, n_devices, sizeof *out->list, "workers"));
    FBP_TRY_GOTO(fbp_calloc((void **)&list, n_devices, sizeof *list, "workers"));
    out->n = n_devices;
    for (size_t i = 0; i < n_devices; i++)
        list[i] = (struct opening){.worker = &out->list[i],
                                   .backend = backend,
                                   .job = job,
                                   .work = work,
                                   .device = devices[i],
                                   .stop = fbp_cancel_flag()};
    for (size_t i = 1; i < n_devices; i++) /* all at once, the first in this thread */
        list[i].has_thread = pthread_create(&list[i].thread, NULL, open_one, &list[i]) == 0;
    for (size_t i = 0; i < n_devices; i++)
        if (list[i].has_thread)
            pthread_join(list[i].thread, NULL);
        else
            (void)open_one(&list[i]); /* failures are stored in the workers */

    if (first_usable(out, &st))
        st = fbp_check_cancelled();
fail:
    free(list);
    if (st != FBP_OK)
        fbp_workers_close(out);
    return st;
}

void fbp_workers_close(struct fbp_workers *workers)
{
    for (size_t i = 0; i < workers->n; i++)
        fbp_worker_close(&workers->list[i]);
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

    fbp_host_put(w->backend, w->dev, memory); /* the same for all devices */
}

/* Begin the run of each worker: it takes a first slab.  Fails if no device is left. */
static fbp_status begin_workers(struct run_state *run)
{
    for (size_t i = 0; i < run->n_workers; i++)
        run->n_working += !atomic_load(&run->workers[i].gone);
    for (size_t i = 0; i < run->n_workers; i++) {
        struct worker *w = &run->workers[i];
        if (atomic_load(&w->gone))
            continue;
        const fbp_status st = fbp_worker_begin(w, run);
        if (st != FBP_OK)
            fbp_run_stage_failed(run, w, st);
        if (st != FBP_OK && atomic_load(&w->gone)) {
            fbp_worker_return(w);
            fbp_worker_end(w);
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

    /* Start all four stages of a worker, even if one of them fails at once: the last stage to end
     * returns unfinished slabs. */
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

    /* Read the devices' timestamps now that all is computed.  If a device fails, its bars keep the
     * times of the host. */
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
        rq->log(rq->user, FBP_LOG_WARNING, line);
        w->said = true;
    }

    sum_up(run, report, fbp_seconds() - run->started);
fail:
    free(threads);
    free(starts);
    for (size_t i = 0; i < run->n_workers; i++)
        if (run->workers[i].run)
            fbp_worker_end(&run->workers[i]);
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
    /* The run continues without this worker only after its first failure, of the device or of
     * memory, with other workers left. */
    const bool followed = atomic_load(&w->gone);
    const bool needed = s->rq->work->shared && s->slabs_done < s->n_slabs; /* its filtered views */
    const bool drop = (status == FBP_ERR_DEVICE || status == FBP_ERR_NOMEM) && s->n_working > 1 &&
                      !atomic_load(&s->stop) && !followed && !needed;
    if (drop) {
        s->n_working--;
        fbp_worker_set_failed(w, status);
    }
    pthread_mutex_unlock(&s->lock);
    if (drop)
        fbp_worker_abort(w);
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
