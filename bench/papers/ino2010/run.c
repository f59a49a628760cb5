/* Runs of Ino et al. (2010): all devices at the same time are opened, filter their views, and
 * backproject their boxes. Called by command.c.
 * Used by: command.c. */
#include "bench/papers/ino2010/measure.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "bench/common/views.h"

#include <math.h>

/* A function that all workers call at the same time, each in its own thread. */
struct duty {
    struct s2_worker *workers;
    fbp_status (*what)(struct s2_worker *w);
};

/* Only the first failure is returned: the other workers stop because of it. */
static fbp_status do_duty(void *user, size_t item, int thread)
{
    const struct duty *d = user;
    struct s2_worker *w = &d->workers[item];
    const fbp_status st = d->what(w);

    (void)thread;
    if (st == FBP_ERR_CANCELLED && atomic_load(w->failed))
        return FBP_OK;
    if (st != FBP_OK)
        atomic_store(w->failed, true);
    return st;
}

static fbp_status all(struct s2_worker *workers, size_t n, fbp_status (*what)(struct s2_worker *))
{
    struct duty duty = {workers, what};
    fbp_pool *pool = NULL;

    FBP_TRY(fbp_pool_create(&pool, (int)n));
    const fbp_status st = fbp_pool_try(pool, n, do_duty, &duty);
    fbp_pool_destroy(&pool);
    return st;
}

/* Before the first run: start the driver of all devices, and allocate the host memory. */
static fbp_status start_device(struct s2_worker *w)
{
    fbp_device *dev = NULL;
    const fbp_status st = w->s->backend->open(&dev, w->s->devices[w->at], &w->s->rows);

    w->s->backend->close(&dev);
    return st;
}

static fbp_status prepare(fbp_s2 *s, struct s2_worker *workers)
{
    const double start = fbp_seconds();

    if (s->keeper)
        return FBP_OK;
    FBP_TRY(all(workers, s->plan.n_devices, start_device));
    s->plan.start = fbp_seconds() - start;
    FBP_TRY(fbp_pool_create(&s->pool, s->n_threads));
    FBP_TRY(s->backend->open(&s->keeper, s->devices[0], &s->rows));
    FBP_TRY(s->backend->memory.host_alloc(s->keeper, (size_t)s->plan.views_bytes, "views",
                                          (void **)&s->views));
    FBP_TRY(s2_volume_open(s));
    s->plan.pin = fbp_seconds() - start - s->plan.start;
    return FBP_OK;
}

static void begin_workers(const fbp_s2 *s, size_t n, bool streams, atomic_bool *failed,
                          struct s2_worker *workers)
{
    atomic_store(failed, false);
    for (size_t i = 0; i < n; i++)
        workers[i] =
            (struct s2_worker){.s = s, .at = i, .n = n, .streams = streams, .failed = failed};
}

/* Seconds of the slowest worker per stage; with streams, stages cannot be separated and are NAN. */
static void add_up(const struct s2_worker *workers, struct fbp_s2_time *out)
{
    for (size_t i = 0; i < out->n_devices; i++) {
        const struct fbp_s2_time *t = &workers[i].time;
        out->download = fmax(out->download, t->download + t->layout);
        out->layout = fmax(out->layout, t->layout);
        out->sent += t->sent;
        out->filter = fmax(out->filter, t->filter);
        out->readback = fmax(out->readback, t->readback);
        out->backproject = fmax(out->backproject, t->backproject);
        out->fetch = fmax(out->fetch, t->fetch);
        out->concatenate = fmax(out->concatenate, t->concatenate);
    }
    if (out->streams)
        out->download = out->layout = out->filter = out->readback = out->backproject = out->fetch =
            out->concatenate = NAN;
    out->write = workers[0].s->plan.in_file ? out->concatenate : NAN;
    if (workers[0].s->plan.in_file)
        out->concatenate = NAN;
}

static fbp_status run(struct s2_worker *workers, struct fbp_s2_time *out)
{
    const double start = fbp_seconds();

    FBP_TRY(all(workers, out->n_devices, s2_worker_open));
    out->init = fbp_seconds() - start;
    FBP_TRY(all(workers, out->n_devices, s2_worker_filter));
    FBP_TRY(all(workers, out->n_devices, s2_worker_backproject));
    out->total = fbp_seconds() - start;
    add_up(workers, out);
    const double sending = fbp_seconds();
    FBP_TRY(all(workers, out->n_devices, s2_worker_send));
    out->link = (double)(out->n_devices * workers[0].s->plan.views_bytes) /
                fmax(fbp_seconds() - sending, 1e-9);
    return FBP_OK;
}

fbp_status fbp_s2_run(fbp_s2 *s, size_t n_devices, bool streams, struct fbp_s2_time *out)
{
    const struct fbp_grid *g = &s->tables.job.grid;
    struct s2_worker *workers = NULL;
    fbp_status st = FBP_OK;
    atomic_bool failed;

    fbp_message_clear();
    if (n_devices < 1 || n_devices > s->plan.n_devices)
        return fbp_fail(
            FBP_ERR_INVALID,
            "ino2010: %zu devices were requested, there are %zu: choose a smaller number",
            n_devices, s->plan.n_devices);
    s->complete = false;
    *out = (struct fbp_s2_time){.n_devices = n_devices, .streams = streams};
    FBP_TRY(fbp_calloc((void **)&workers, FBP_MOST_DEVICES, sizeof *workers, "devices"));
    begin_workers(s, s->plan.n_devices, streams, &failed, workers);
    FBP_TRY_GOTO(prepare(s, workers));
    FBP_TRY_GOTO(
        fbp_bench_project(s->scan, 0.5 * (double)g->n[0] * g->voxel_mm[0], s->n_threads, s->views));
    begin_workers(s, n_devices, streams, &failed, workers);
    st = run(workers, out);
    for (size_t i = 0; i < n_devices; i++)
        s2_worker_close(&workers[i]);
    if (st == FBP_OK)
        st = s2_volume_hash(s, &out->hash);
    s->complete = st == FBP_OK;
fail:
    free(workers);
    return st;
}
