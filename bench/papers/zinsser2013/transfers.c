/* Section V of Zinsser and Keck (2013): views are copied to the device in chunks, and finished
 * parts of the volume to the host, while kernels run. Two buffers hold parts of the volume.
 * Called by command.c for --transfers.
 * Used by: command.c. */
#include "bench/papers/zinsser2013/text.h"

#include "backend/device.h"
#include "backend/slab.h"
#include "base/cache.h"
#include "base/math.h"
#include "base/system.h"
#include "bench/common/modules.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"
#include "pipeline/run.h"

#include <math.h>
#include <string.h>

enum { BUFFERS = 2, MOST_CHUNKS = 2048 / S1_CHUNK_STEP, LARGEST_CHUNK = 4 * S1_CHUNK_STEP };
enum { MOST_RUNS = 1000 };

struct transfers {
    const struct fbp_backend *backend;
    struct fbp_job_tables tables;
    fbp_device *dev;
    struct s1_division division;
    size_t view;           /* samples per view */
    float *views, *voxels; /* host memory that the device reaches */
    void *raw[BUFFERS], *volume[BUFFERS], *filtered[MOST_CHUNKS];
    /* The last use of each of these buffers. */
    struct fbp_event raw_used[BUFFERS], fetched[BUFFERS], used[MOST_CHUNKS];
    bool overlap;
    fbp_timeline *timeline;
    struct fbp_span span;
    double steps[FBP_N_STAGES], lap; /* without overlap: seconds per stage, end of the last step */
};

static fbp_status open_device(struct transfers *t)
{
    const struct fbp_job *job = &t->tables.job;
    const size_t *n = job->grid.n, voxels = n[0] * n[1] * n[2], rows = job->panel.n_rows;
    const struct fbp_slab part = fbp_slab_whole(job, 0, t->division.part_slices);
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, t->backend->volume_bytes(job, &part), 0, 0};
    const struct fbp_buffer raw = {FBP_FOR_RAW, LARGEST_CHUNK * t->view * sizeof(float),
                                   LARGEST_CHUNK, rows};

    if (t->division.passes > 1 && volume.bytes != part.nz * fbp_slab_slice(&part) * sizeof(float))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "zinsser2013: device %s stores slices in another layout than the host, "
                        "which cannot be copied to it: use cpu, cuda or gl",
                        t->backend->name);
    FBP_TRY(t->backend->open(&t->dev, 0, job));
    FBP_TRY(t->backend->memory.host_alloc(t->dev, job->n_views * t->view * sizeof(float), "views",
                                          (void **)&t->views));
    FBP_TRY(t->backend->memory.host_alloc(t->dev, voxels * sizeof(float), "the volume",
                                          (void **)&t->voxels));
    for (size_t i = 0; i < BUFFERS; i++) {
        FBP_TRY(t->backend->memory.alloc(t->dev, &raw, &t->raw[i]));
        FBP_TRY(t->backend->memory.alloc(t->dev, &volume, &t->volume[i]));
    }
    for (size_t c = 0, left = t->division.pass_views, m; left > 0; c++, left -= m) {
        m = s1_chunk(c, left);
        const struct fbp_buffer views = {FBP_FOR_FILTERED, t->backend->filtered_bytes(job, m, rows),
                                         m, rows};
        FBP_TRY(t->backend->memory.alloc(t->dev, &views, &t->filtered[c]));
    }
    return FBP_OK;
}

static void close_device(struct transfers *t)
{
    if (t->dev) {
        (void)!fbp_device_settle_all(t->backend, t->dev);
        for (size_t i = 0; i < BUFFERS; i++) {
            fbp_device_put(t->backend, t->dev, FBP_FOR_RAW, t->raw[i]);
            fbp_device_put(t->backend, t->dev, FBP_FOR_VOLUME, t->volume[i]);
        }
        for (size_t c = 0; c < MOST_CHUNKS; c++)
            fbp_device_put(t->backend, t->dev, FBP_FOR_FILTERED, t->filtered[c]);
        fbp_host_put(t->backend, t->dev, t->views);
        fbp_host_put(t->backend, t->dev, t->voxels);
        t->backend->close(&t->dev);
    }
    fbp_job_clear(&t->tables);
}

/* A step of a stage begins after an event. */
static fbp_status begin(struct transfers *t, enum fbp_stage stage, struct fbp_event after)
{
    FBP_TRY(fbp_check_cancelled());
    FBP_TRY(fbp_device_after(t->backend, t->dev, stage, after));
    return fbp_span_device(t->timeline, t->backend, t->dev, stage, &t->span);
}

/* End a step: record its event; without overlap, wait for it and add its seconds. */
static fbp_status end(struct transfers *t, enum fbp_stage stage, size_t index, const char *what,
                      struct fbp_event *out)
{
    FBP_TRY(fbp_span_end(&t->span, (enum fbp_lane)(FBP_LANE_UPLOAD + stage), index, "%s %zu", what,
                         index));
    FBP_TRY(t->backend->event.record(t->dev, stage, out));
    if (t->overlap)
        return FBP_OK;
    FBP_TRY(fbp_device_wait(t->backend, t->dev, *out));
    const double now = fbp_seconds();
    t->steps[stage] += now - t->lap;
    t->lap = now;
    return FBP_OK;
}

static fbp_status upload(const struct transfers *t, void *to, const float *from, size_t n)
{
    if (!t->backend->can.own_memory)
        memcpy(to, from, n * sizeof *from);
    return t->backend->memory.upload(t->dev, to, from, n);
}

static fbp_status send_chunk(struct transfers *t, size_t c, const struct fbp_batch *batch)
{
    struct fbp_event here, *raw_used = &t->raw_used[c % BUFFERS];
    void *raw = t->raw[c % BUFFERS];

    FBP_TRY(begin(t, FBP_STAGE_IN, *raw_used));
    FBP_TRY(upload(t, raw, t->views + batch->view0 * t->view, batch->n_views * t->view));
    FBP_TRY(end(t, FBP_STAGE_IN, c, "chunk", &here));
    FBP_TRY(fbp_device_after(t->backend, t->dev, FBP_STAGE_FILTER, t->used[c]));
    FBP_TRY(begin(t, FBP_STAGE_FILTER, here));
    FBP_TRY(t->backend->filter(t->dev, batch, raw, t->filtered[c]));
    FBP_TRY(end(t, FBP_STAGE_FILTER, c, "layout of chunk", raw_used));
    return fbp_device_after(t->backend, t->dev, FBP_STAGE_BP, *raw_used);
}

/* Clear a part, or copy to the device what earlier passes computed of it. */
static fbp_status begin_part(struct transfers *t, const struct fbp_slab *part, size_t index,
                             bool first_pass, const float *voxels, struct fbp_event *ready)
{
    const enum fbp_stage stage = first_pass ? FBP_STAGE_BP : FBP_STAGE_IN;
    void *volume = t->volume[index % BUFFERS];

    FBP_TRY(begin(t, stage, t->fetched[index % BUFFERS]));
    FBP_TRY(first_pass ? t->backend->clear(t->dev, part, volume)
                       : upload(t, volume, voxels, part->nz * fbp_slab_slice(part)));
    FBP_TRY(end(t, stage, index, "part", ready));
    return fbp_device_after(t->backend, t->dev, FBP_STAGE_BP, *ready);
}

/* Part `index`, counted over all passes, from views [view0, end).  New views are sent first. */
static fbp_status compute_part(struct transfers *t, const struct fbp_slab *part, size_t index,
                               size_t view0, size_t end_view)
{
    float *voxels = t->voxels + part->z0 * fbp_slab_slice(part);
    void *volume = t->volume[index % BUFFERS];
    const size_t rows = t->tables.job.panel.n_rows;
    struct fbp_event ready;
    size_t c = 0;

    FBP_TRY(begin_part(t, part, index, view0 == 0, voxels, &ready));
    for (size_t view = view0, n; view < end_view; view += n, c++) {
        n = s1_chunk(c, end_view - view);
        const struct fbp_batch batch = {
            .view0 = view, .n_views = n, .n_rows = rows, .load_rows = rows, .resident = true};
        if (part->z0 == 0)
            FBP_TRY(send_chunk(t, c, &batch));
        FBP_TRY(begin(t, FBP_STAGE_BP, (struct fbp_event){.ticket = 0}));
        FBP_TRY(t->backend->backproject(t->dev, &batch, t->filtered[c], part, part->z0,
                                        part->z0 + part->nz, volume));
        FBP_TRY(end(t, FBP_STAGE_BP, c, "chunk", &t->used[c]));
    }
    if (view0 > 0) /* fetch() may write to `voxels` at once, so their upload must be finished */
        FBP_TRY(fbp_device_wait(t->backend, t->dev, ready));
    FBP_TRY(begin(t, FBP_STAGE_OUT, t->used[c - 1]));
    FBP_TRY(t->backend->fetch(t->dev, part, part->z0, part->z0 + part->nz, volume, voxels));
    return end(t, FBP_STAGE_OUT, index, "part", &t->fetched[index % BUFFERS]);
}

static fbp_status run(struct transfers *t, bool overlap, double *seconds)
{
    const struct fbp_job *job = &t->tables.job;
    const struct s1_division *d = &t->division;
    const size_t nz = job->grid.n[2];
    const double start = fbp_seconds();

    t->overlap = overlap;
    t->lap = start;
    memset(t->steps, 0, sizeof t->steps);
    for (size_t view = 0, index = 0; view < job->n_views; view += d->pass_views) {
        const size_t left = job->n_views - view;
        for (size_t z = 0; z < nz; z += d->part_slices) {
            const size_t n = nz - z < d->part_slices ? nz - z : d->part_slices;
            const struct fbp_slab part = fbp_slab_whole(job, z, n);
            FBP_TRY(compute_part(t, &part, index++, view,
                                 view + (left < d->pass_views ? left : d->pass_views)));
        }
    }
    FBP_TRY(fbp_device_settle_all(t->backend, t->dev));
    *seconds = fbp_seconds() - start;
    return FBP_OK;
}

/* Median of n runs, after one that is not counted; every run must compute the same volume. */
static fbp_status measure(struct transfers *t, bool overlap, size_t n, double *median,
                          uint64_t *hash)
{
    const size_t *size = t->tables.job.grid.n, bytes = size[0] * size[1] * size[2] * sizeof(float);
    double seconds[MOST_RUNS];

    for (size_t i = 0; i <= n; i++) {
        FBP_TRY(run(t, overlap, &seconds[i % n]));
        const uint64_t found = fbp_hash(0, t->voxels, bytes);
        if (*hash && found != *hash)
            return fbp_fail(FBP_ERR_DEVICE, "zinsser2013: two runs gave different volumes: report "
                                            "this error, or check the device");
        *hash = found;
    }
    fbp_sort(seconds, n);
    *median = seconds[n / 2];
    return FBP_OK;
}

static fbp_status draw(struct transfers *t, const char *path)
{
    double seconds = 0;
    char title[100];

    FBP_TRY(fbp_timeline_create(&t->timeline));
    fbp_status st = run(t, true, &seconds);
    if (st == FBP_OK)
        st = fbp_timeline_settle(t->timeline, t->dev);
    snprintf(title, sizeof title, "%zu^3 voxels from %zu views on %s, %.3g s (filter: layout)",
             t->tables.job.grid.n[0], t->tables.job.n_views, t->backend->name, seconds);
    if (st == FBP_OK)
        st = fbp_timeline_svg(t->timeline, title, path);
    fbp_timeline_destroy(&t->timeline);
    return st;
}

fbp_status fbp_s1_transfers(const struct fbp_scan *scan, const struct fbp_recon_params *given,
                            bool streamed, size_t n_runs, const char *timeline,
                            struct fbp_s1_transfers *out)
{
    struct transfers t = {.division = s1_divide(scan->volume.n[2], scan->n_views, streamed),
                          .view = scan->panel.n_columns * scan->panel.n_rows};
    struct fbp_recon_params params;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_take_params(&params, given));
    params.tuning.kernel = "matrix";
    *out =
        (struct fbp_s1_transfers){streamed, {NAN, NAN, NAN, NAN}, NAN, NAN, {.double_hu = NAN}, 0};
    FBP_TRY_GOTO(fbp_bench_device(params.device, &t.backend));
    FBP_TRY_GOTO(fbp_job_create(&t.tables, scan, &params, false));
    FBP_TRY_GOTO(fbp_job_arrange(&t.tables.job, t.backend));
    FBP_TRY_GOTO(open_device(&t));
    FBP_TRY_GOTO(fbp_s1_project(scan, params.n_threads, t.views));
    FBP_TRY_GOTO(measure(&t, true, n_runs, &out->overlapped, &out->hash));
    if (timeline)
        FBP_TRY_GOTO(draw(&t, timeline));
    FBP_TRY_GOTO(measure(&t, false, n_runs, &out->in_order, &out->hash));
    memcpy(out->steps, t.steps, sizeof out->steps);
    FBP_TRY_GOTO(fbp_s1_compare_volume(scan, &params, t.views, t.voxels, &out->error));
fail:
    close_device(&t);
    return st;
}
