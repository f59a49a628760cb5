/* Accumulator (public type fbp_accumulator): adds views of plane integrals to a volume one by one,
 * each as soon as it is measured. The public functions fbp_accumulator_create(),
 * fbp_accumulator_add(), fbp_accumulator_volume() and fbp_accumulator_destroy() (fbp/recon.h) are
 * for programs that measure. An accumulator computes on one device, with one slab (the whole
 * volume) and batches of one view, without the threads of a run. */
#include "fbp/recon.h"

#include "backend/device.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"

#include <string.h>

struct fbp_accumulator {
    pid_t process; /* process that created the accumulator */
    struct fbp_scan scan;
    struct fbp_job_tables tables;
    const struct fbp_backend *backend;
    fbp_device *dev;
    /* host buffers of a view and of the volume, for copies to and from the device */
    float *samples, *slices;
    void *raw, *filtered, *volume;
    bool *added; /* [view] true: the view was added, or adding it failed */
};

static const struct fbp_job *job_of(const fbp_accumulator *a)
{
    return &a->tables.job;
}

static size_t view_samples(const fbp_accumulator *a)
{
    return job_of(a)->panel.n_columns * job_of(a)->panel.n_rows;
}

static struct fbp_slab whole(const fbp_accumulator *a)
{
    return fbp_slab_whole(job_of(a), 0, job_of(a)->grid.n[2]);
}

/* Number of voxels of an accumulator: of all its volumes, one per detector row (time point). */
static size_t voxels(const fbp_accumulator *a)
{
    const size_t *n = job_of(a)->grid.n;

    return fbp_channels(job_of(a)) * n[0] * n[1] * n[2];
}

/* Reject scans and parameters that an accumulator does not support. */
static fbp_status check(const struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    bool box = p->region.shape || p->region.mask;

    for (int i = 0; i < 3; i++)
        box = box || p->box[i][0] || p->box[i][1];
    const char *what = scan->filtered                                ? "filtered views"
                       : p->precision == FBP_PRECISION_DOUBLE        ? "precision double"
                       : p->epr.stages > 1                           ? "two stages"
                       : p->epr.angles > 0                           ? "resampled angles"
                       : box || p->output.fill || p->cluster.n_parts ? "a part of the volume"
                       : scan->preparation                           ? "the scan's key prepare"
                                                                     : NULL;

    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (fbp_kind_of(scan->kind)->integral != FBP_OVER_PLANES)
        return FBP_UNSUPPORTED(
            "accumulator: only views of plane integrals (kind planes) can be added one "
            "by one, not of kind %s; run a plan that follows the scan",
            fbp_kind_of(scan->kind)->name);
    if (what)
        return FBP_UNSUPPORTED("accumulator: does not support %s; omit it, or run a plan", what);
    return fbp_check_scan(scan);
}

fbp_status fbp_accumulator_create(fbp_accumulator **out, const struct fbp_scan *scan,
                                  const struct fbp_recon_params *params)
{
    FBP_REQUIRE(out);
    struct fbp_recon_params own;
    struct fbp_scan taken;
    fbp_accumulator *a = NULL;
    int devices[FBP_MOST_DEVICES];
    char line[800];
    size_t n = 0;
    fbp_status st;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_take_params(&own, params));
    FBP_TRY(FBP_COPY_IN(scan, &taken, scan));
    FBP_TRY(check(&taken, &own));
    FBP_TRY(fbp_calloc((void **)&a, 1, sizeof *a, "an accumulator"));
    a->process = getpid();
    a->scan = taken;
    FBP_TRY_GOTO(fbp_devices_find(own.device ? own.device : "auto", &a->backend, devices, &n));
    if (n != 1)
        FBP_TRY_GOTO(
            FBP_INVALID("accumulator: \"%s\" selects %zu devices; give one", own.device, n));
    FBP_TRY_GOTO(fbp_job_create(&a->tables, &a->scan, &own, false));
    if (!own.device || strcmp(own.device, "auto") == 0)
        fbp_device_capable(fbp_backends, job_of(a), &a->backend, devices, line, sizeof line);
    FBP_TRY_GOTO(fbp_job_arrange(&a->tables.job, a->backend));

    const struct fbp_backend *b = a->backend;
    const struct fbp_job *job = job_of(a);
    const struct fbp_slab slab = whole(a);
    const size_t n_rows = job->panel.n_rows, bytes = view_samples(a) * sizeof(float);
    const struct fbp_buffer raw = {FBP_FOR_RAW, bytes, 1, n_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED, b->filtered_bytes(job, 1, n_rows), 1,
                                        n_rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, b->volume_bytes(job, &slab), 0, 0};
    FBP_TRY_GOTO(b->open(&a->dev, devices[0], job));
    FBP_TRY_GOTO(fbp_calloc((void **)&a->added, job->n_views, sizeof *a->added, "views"));
    FBP_TRY_GOTO(b->memory.host_alloc(a->dev, bytes, "a view", (void **)&a->samples));
    FBP_TRY_GOTO(
        b->memory.host_alloc(a->dev, voxels(a) * sizeof(float), "a volume", (void **)&a->slices));
    if (b->can.own_memory)
        FBP_TRY_GOTO(b->memory.alloc(a->dev, &raw, &a->raw));
    FBP_TRY_GOTO(b->memory.alloc(a->dev, &filtered, &a->filtered));
    FBP_TRY_GOTO(b->memory.alloc(a->dev, &volume, &a->volume));
    FBP_TRY_GOTO(b->clear(a->dev, &slab, a->volume));

    *out = a;
    return FBP_OK;
fail:
    fbp_accumulator_destroy(&a);
    return st;
}

/* Let later work of stage `then` on the device wait for the queued work of stage `first`. */
static fbp_status follow(const fbp_accumulator *a, enum fbp_stage first, enum fbp_stage then)
{
    struct fbp_event mark;

    FBP_TRY(a->backend->event.record(a->dev, first, &mark));
    return fbp_device_after(a->backend, a->dev, then, mark);
}

fbp_status fbp_accumulator_add(fbp_accumulator *a, size_t view, const float *samples)
{
    FBP_REQUIRE(a, samples);
    const struct fbp_backend *b = a->backend;
    const struct fbp_slab slab = whole(a);
    const size_t rows = job_of(a)->panel.n_rows;
    const struct fbp_batch batch = {.view0 = view, .n_views = 1, .n_rows = rows, .load_rows = rows};

    fbp_message_clear();
    FBP_TRY(fbp_check_process(a->process, "accumulator"));
    if (view >= job_of(a)->n_views)
        return FBP_INVALID(
            "accumulator: view %zu does not exist; the scan has %zu views, counted from 0", view,
            job_of(a)->n_views);
    if (a->added[view])
        return FBP_INVALID("accumulator: view %zu was already added; add each view once", view);
    memcpy(a->samples, samples, view_samples(a) * sizeof *samples);
    a->added[view] = true; /* set first: if adding fails, part of the view may be in the volume */
    if (b->can.own_memory)
        FBP_TRY(b->memory.upload(a->dev, a->raw, a->samples, view_samples(a)));
    FBP_TRY(follow(a, FBP_STAGE_IN, FBP_STAGE_FILTER));
    FBP_TRY(b->filter(a->dev, &batch, b->can.own_memory ? a->raw : a->samples, a->filtered));
    FBP_TRY(follow(a, FBP_STAGE_FILTER, FBP_STAGE_BP));
    FBP_TRY(b->backproject(a->dev, &batch, a->filtered, &slab, 0, slab.nz, a->volume));
    return fbp_device_settle(b, a->dev, FBP_STAGE_BP);
}

fbp_status fbp_accumulator_volume(fbp_accumulator *a, float *volume)
{
    FBP_REQUIRE(a, volume);
    const struct fbp_slab slab = whole(a);

    fbp_message_clear();
    FBP_TRY(fbp_check_process(a->process, "accumulator"));
    FBP_TRY(follow(a, FBP_STAGE_BP, FBP_STAGE_OUT));
    FBP_TRY(a->backend->fetch(a->dev, &slab, 0, slab.nz, a->volume, a->slices));
    FBP_TRY(fbp_device_settle(a->backend, a->dev, FBP_STAGE_OUT));
    memcpy(volume, a->slices, voxels(a) * sizeof *volume);
    return FBP_OK;
}

void fbp_accumulator_destroy(fbp_accumulator **accumulator)
{
    FBP_REQUIRE_ELSE(, accumulator);
    fbp_accumulator *a = *accumulator;

    if (!a)
        return;
    if (a->dev && a->process == getpid()) { /* a forked child process has no threads and devices */
        const struct fbp_backend *b = a->backend;
        (void)!fbp_device_settle_all(b, a->dev);
        if (b->can.own_memory)
            fbp_device_put(b, a->dev, FBP_FOR_RAW, a->raw);
        fbp_device_put(b, a->dev, FBP_FOR_FILTERED, a->filtered);
        fbp_device_put(b, a->dev, FBP_FOR_VOLUME, a->volume);
        fbp_host_put(b, a->dev, a->samples);
        fbp_host_put(b, a->dev, a->slices);
        b->close(&a->dev);
    }

    fbp_job_clear(&a->tables);
    free(a->added);
    free(a);
    *accumulator = NULL;
}
