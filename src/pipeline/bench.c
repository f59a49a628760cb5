/* Timing of a backend's backprojection alone. */
#include "fbp/bench.h"

#include "fbp/phantom.h"

#include "backend/rows.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "pipeline/bench_device.h"
#include "pipeline/device_memory.h"
#include "pipeline/job.h"
#include "pipeline/work.h"

#include <math.h>

enum { REPETITIONS = 5, DEFAULT_VIEWS = 16 };

static const double LEAST_SECONDS = 0.5; /* repetitions go on until then */
static const double RUN_SECONDS = 0.05;

/* A device with one batch on it, filtered, and a slab. */
struct bench {
    const struct fbp_backend *backend;
    const struct fbp_job *job;
    fbp_device *dev;
    struct fbp_batch batch;
    struct fbp_slab slab;
    float *raw;
    void *device_raw, *filtered, *volume;
};

static fbp_status settle(const struct bench *b)
{
    for (int i = 0; i < FBP_N_STAGES; i++)
        FBP_TRY(fbp_device_settle(b->backend, b->dev, (enum fbp_stage)i));
    return FBP_OK;
}

/* Exact line integrals of a head phantom that fills the volume: row r of view k. */
static void project_row(const struct fbp_job *job, const struct fbp_phantom *phantom, size_t k,
                        size_t r, float *out)
{
    const struct fbp_view *v = &job->views[k];

    for (size_t c = 0; c < job->panel.n_columns; c++) {
        double p[3], dir[3];
        fbp_view_pixel(v, &job->panel, (double)c, (double)r, p);
        for (int i = 0; i < 3; i++)
            dir[i] = job->kind == FBP_PARALLEL ? -v->s[i] : p[i] - v->s[i];
        fbp_normalise(dir);
        out[c] = (float)fbp_phantom_line(phantom, p, dir);
    }
}

static void project(const struct fbp_job *job, const struct fbp_phantom *phantom,
                    const struct fbp_batch *batch, float *out)
{
    for (size_t half = 0; half < fbp_halves(job); half++)
        for (size_t k = 0; k < batch->n_views; k++)
            for (size_t r = 0; r < batch->load_rows; r++, out += job->panel.n_columns)
                project_row(job, phantom, fbp_batch_view(job, batch, k),
                            fbp_first_row(job, batch, half) + r, out);
}

static void bench_close(struct bench *b)
{
    if (b->dev) {
        (void)!settle(b);
        fbp_device_put(b->backend, b->dev, FBP_FOR_RAW, b->device_raw);
        fbp_device_put(b->backend, b->dev, FBP_FOR_FILTERED, b->filtered);
        fbp_device_put(b->backend, b->dev, FBP_FOR_VOLUME, b->volume);
        b->backend->close(&b->dev);
    }
    fbp_free(b->raw);
}

/* Everything resident and filtered. */
static fbp_status bench_open(struct bench *b, const struct fbp_phantom *phantom)
{
    const struct fbp_job *job = b->job;
    const size_t n = fbp_raw_samples(job, &b->batch), n_views = b->batch.n_views;
    const struct fbp_buffer raw_buffer = {FBP_FOR_RAW, n * sizeof(float), n_views,
                                          b->batch.load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED,
                                        b->backend->filtered_bytes(job, n_views, b->batch.n_rows),
                                        n_views, b->batch.n_rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, b->backend->volume_bytes(job, b->slab.nz), 0,
                                      0};
    void *raw;

    FBP_TRY(b->backend->open(&b->dev, 0, job));
    FBP_TRY(fbp_alloc((void **)&b->raw, n * sizeof(float), "a benchmark"));
    FBP_TRY(fbp_device_get(b->backend, b->dev, &filtered, &b->filtered));
    FBP_TRY(fbp_device_get(b->backend, b->dev, &volume, &b->volume));
    project(job, phantom, &b->batch, b->raw);
    raw = b->raw;
    if (b->backend->upload) {
        FBP_TRY(fbp_device_get(b->backend, b->dev, &raw_buffer, &b->device_raw));
        FBP_TRY(b->backend->upload(b->dev, b->device_raw, b->raw, n));
        FBP_TRY(settle(b));
        raw = b->device_raw;
    }
    FBP_TRY(b->backend->filter(b->dev, &b->batch, raw, b->filtered));
    FBP_TRY(settle(b));
    FBP_TRY(b->backend->clear(b->dev, &b->slab, b->volume));
    return settle(b);
}

/* n times, one after another; a device with queues is waited for once. */
static fbp_status backproject(struct bench *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FBP_TRY(b->backend->backproject(b->dev, &b->batch, b->filtered, &b->slab, b->slab.z0,
                                        b->slab.z0 + b->slab.nz, b->volume));
    return settle(b);
}

/* Seconds of n backprojections, each. */
static fbp_status time_run(struct bench *b, size_t n, double *seconds)
{
    const double start = fbp_seconds();

    FBP_TRY(backproject(b, n));
    *seconds = (fbp_seconds() - start) / (double)n;
    return FBP_OK;
}

/* Best of several, after the one whose slice was fetched for the error; as many in a run as make
 * starting it and waiting for it small. */
static fbp_status time_it(struct bench *b, double *best)
{
    const double begin = fbp_seconds();
    double seconds;

    FBP_TRY(time_run(b, 1, best));
    const size_t n = *best < RUN_SECONDS ? (size_t)(RUN_SECONDS / *best) + 1 : 1;
    for (int i = 0; i < REPETITIONS || fbp_seconds() - begin < LEAST_SECONDS; i++) {
        FBP_TRY(time_run(b, n, &seconds));
        *best = fmin(*best, seconds);
    }
    return FBP_OK;
}

/* A slice in the middle of the slab, or near that of its upper half. */
static size_t slice_shown(const struct bench *b)
{
    return fbp_layer_slice(b->job, b->slab.z0 + b->slab.nz / 2);
}

/* What this backend makes of the batch there. */
static fbp_status shown_slice(struct bench *b, float *out)
{
    const size_t z = slice_shown(b);

    FBP_TRY(backproject(b, 1));
    FBP_TRY(b->backend->fetch(b->dev, &b->slab, z, z + 1, b->volume, out));
    return settle(b);
}

/* All views in one batch. */
static void whole_batch(struct bench *b)
{
    const size_t n = b->job->n_views;
    const struct fbp_work work = {.group_views = n, .n_batches = 1, .batch_views = n};
    b->batch = fbp_work_batch(&work, b->job, &b->slab, 0);
}

static fbp_status reference_slice(const struct bench *of, const struct fbp_phantom *phantom,
                                  float *out)
{
    struct fbp_job job = *of->job; /* views and slices one by one */
    struct bench b = {.backend = fbp_backend_find("ref"), .job = &job};
    fbp_status st = FBP_OK;

    job.turns = 1;
    job.mirrored = false;
    b.slab = (struct fbp_slab){slice_shown(of), 1};
    whole_batch(&b);
    FBP_TRY_GOTO(bench_open(&b, phantom));
    FBP_TRY_GOTO(shown_slice(&b, out));
fail:
    bench_close(&b);
    return st;
}

static double psnr_db(const float *a, const float *b, size_t n)
{
    double sum = 0, peak = 0;

    for (size_t i = 0; i < n; i++) {
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        peak = fmax(peak, fabs((double)b[i]));
    }
    return sum == 0 ? 999 : 20 * log10(peak / sqrt(sum / (double)n));
}

static fbp_status measure(struct bench *b, const struct fbp_phantom *phantom,
                          struct fbp_kernel_time *out)
{
    const struct fbp_grid *g = &b->job->grid;
    const size_t slice = g->n[0] * g->n[1];
    float *ours = NULL, *theirs = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_alloc((void **)&ours, slice * sizeof *ours, "a slice"));
    FBP_TRY_GOTO(fbp_alloc((void **)&theirs, slice * sizeof *theirs, "a slice"));
    FBP_TRY_GOTO(bench_open(b, phantom));
    FBP_TRY_GOTO(shown_slice(b, ours));
    FBP_TRY_GOTO(reference_slice(b, phantom, theirs));
    FBP_TRY_GOTO(time_it(b, &out->seconds));
    out->psnr_db = psnr_db(ours, theirs, slice);
    out->n_slices = fbp_layer_slices(b->job, b->slab.z0, b->slab.z0 + b->slab.nz);
    out->gups =
        (double)slice * (double)out->n_slices * (double)b->batch.n_views / out->seconds * 1e-9;
fail:
    fbp_free(ours);
    fbp_free(theirs);
    return st;
}

/* Views of the scan, n of them, evenly. */
static fbp_status thin_out(const struct fbp_scan *scan, size_t n, struct fbp_scan *out)
{
    *out = (struct fbp_scan){
        .kind = scan->kind, .n_views = n, .panel = scan->panel, .volume = scan->volume};
    FBP_TRY(fbp_calloc((void **)&out->views, n, sizeof *out->views, "views"));
    for (size_t k = 0; k < n; k++)
        out->views[k] = scan->views[k * scan->n_views / n];
    return FBP_OK;
}

fbp_status fbp_bench_kernel(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                            size_t n_views, size_t n_slices, struct fbp_kernel_time *out)
{
    struct fbp_scan thin = {0};
    struct fbp_job_tables tables = {0};
    struct fbp_phantom phantom = {0};
    struct bench b = {0};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = (struct fbp_kernel_time){0};
    FBP_TRY(fbp_bench_device(params->device, &b.backend));
    if (n_views == 0) /* whole passes, of a device that has large ones */
        n_views = b.backend->group_views > DEFAULT_VIEWS ? b.backend->group_views : DEFAULT_VIEWS;
    FBP_TRY_GOTO(thin_out(scan, n_views < scan->n_views ? n_views : scan->n_views, &thin));
    FBP_TRY_GOTO(fbp_job_create(&tables, &thin, params, false));
    b.job = &tables.job;
    FBP_TRY_GOTO(fbp_job_arrange(&tables.job, b.backend));
    const struct fbp_grid *g = &b.job->grid;
    FBP_TRY_GOTO(
        fbp_phantom_create(&phantom, "shepp-logan", 0.5 * (double)g->n[0] * g->voxel_mm[0], 0.02));
    const size_t layers = fbp_layers(b.job), wanted = n_slices / fbp_halves(b.job);
    b.slab.nz = wanted < 1 ? 1 : wanted < layers ? wanted : layers;
    b.slab.z0 = b.job->mirrored ? 0 : (layers - b.slab.nz) / 2; /* around the middle */
    whole_batch(&b);
    FBP_TRY_GOTO(measure(&b, &phantom, out));
    out->backend = b.backend->name;
    b.backend->choose(b.job, &out->kernel, &out->isa);
    out->n_threads = b.job->n_threads;
    out->n_views = thin.n_views;
fail:
    bench_close(&b);
    fbp_phantom_clear(&phantom);
    fbp_job_clear(&tables);
    fbp_scan_clear(&thin);
    return st;
}
