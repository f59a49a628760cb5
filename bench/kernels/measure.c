/* Times the backprojection of a backend alone, its error, and the limit of the device for the
 * kernel. Called by kernels/command.c.
 * Used by: command.c. */
#include "bench/common/measure.h"

#include "backend/device.h"
#include "backend/gpu/gpu_kernel.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/math.h"
#include "base/system.h"
#include "bench/common/modules.h"
#include "bench/common/truth.h"
#include "bench/common/views.h"
#include "geometry/ranges.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_RUNS = 5, MOST_RUNS = 99, FEW_VIEWS = 16, FEW_VOXELS = 64 << 20, FETCH_SLICES = 16 };
enum { MOST_KERNELS = 16 };

static const double LEAST_SECONDS = 0.5; /* runs go on until then */
static const double RUN_SECONDS = 0.02;  /* backprojections of a run are repeated for this long */

/* Samples of a kernel's exact result. */
struct exact {
    const char *kernel;
    float *samples;
};

struct fbp_bench {
    const struct fbp_backend *backend;
    bool has_limits;
    fbp_pool *pool;
    const char *region; /* the caller's; NULL: none */
    struct fbp_bench_info info;
    struct fbp_scan scan;         /* views that are used */
    struct fbp_job_tables tables; /* views and slices one by one */
    double half_mm;               /* of the phantom */
    float *views;                 /* [n_views][n_rows][n_columns] */
    float *raw;                   /* a batch in the order of views of the kernel */
    size_t raw_samples;
    float *slices; /* [frames][FETCH_SLICES][ny][nx], of which the first frame is compared */
    struct fbp_bench_truth truth;
    float *samples; /* of the kernel at hand */
    struct exact exact[MOST_KERNELS];
};

/* A device with one filtered batch and a slab. */
struct trial {
    const struct fbp_backend *backend;
    const struct fbp_job *job;
    /** Function that reads the clock of the device; NULL: use the clock of the host. */
    fbp_status (*time)(fbp_device *dev, enum fbp_stage stage, double *seconds);
    fbp_device *dev;
    struct fbp_batch batch;
    struct fbp_slab slab;
    void *raw, *filtered, *volume;
};

/* Ceilings of a GPU that a kernel is compared with. */

enum { TAP_BYTES = 4 * sizeof(float) };

static double fetches(const struct gpu_kernel *k, const struct fbp_limits *l)
{
    const double rates[3][2] = {{l->texture_r16f, l->texture_r32f},
                                {l->texture_rg16f, l->texture_rg32f},
                                {l->texture_rgba16f, l->texture_rgba32f}};

    return rates[k->channels / 2][k->bits == 32];
}

/* Limit of kernels for plane integrals: the taps of an update are loaded from shared memory, those
 * of 1, 2 or 4 frames by one load. */
static double loads_of_planes(const struct fbp_job *job, const struct fbp_limits *l, char *what,
                              size_t n)
{
    static const size_t taps[] = {[FBP_INTERPOLATION_LINEAR] = 2,
                                  [FBP_INTERPOLATION_NEAREST] = 1,
                                  [FBP_INTERPOLATION_CUBIC] = 4};
    const double loads[3] = {l->load_4, l->load_8, l->load_16};
    const size_t bytes = taps[job->epr.interpolation] * sizeof(float);
    const size_t frames = gpu_planes_of(job, fbp_channels(job)).frames;
    const size_t together = frames % 4 == 0 ? 4 : frames % 2 == 0 ? 2 : 1;

    snprintf(what, n, "loads of %zu bytes an update, by %zu", bytes, together * sizeof(float));
    return loads[together / 2] / (double)bytes;
}

/*
 * From a texture: one fetch serves the voxels of an orbit, one a channel.  From plain memory: the
 * four fp32 taps of an update, as many of them a load as voxels are served by one; a kernel that
 * keeps taps from voxel to voxel may do more.  Shared memory is the first cache's, and as fast.
 */
static double kernel_limit(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                           size_t n)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const double loads[3] = {limits->load_4, limits->load_8, limits->load_16};

    if (k->planes)
        return loads_of_planes(job, limits, what, n);
    if (k->slices) { /* 8 samples for 16 voxels */
        const int parts = k->precision == FBP_PRECISION_HALF ? 1 : 2;
        snprintf(what, n, "loads of %d byte an update, by 16", parts);
        return limits->load_16 / parts;
    }
    if (k->channels) {
        snprintf(what, n, "bilinear fetches of %d fp%d", k->channels, k->bits);
        return k->channels * fetches(k, limits);
    }
    snprintf(what, n, "loads of 16 bytes an update, by %zu", k->symmetric_views * sizeof(float));
    return loads[k->symmetric_views / 2] / TAP_BYTES;
}

/* Batches of views, or of random numbers. */

struct filling {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const float *views;
    float *raw;
};

static void fill_view(void *user, size_t k, int worker)
{
    const struct filling *f = user;
    const struct fbp_job *job = f->job;
    const size_t nc = job->panel.n_columns, n = f->batch->load_rows * nc;
    const size_t row = fbp_batch_view(job, f->batch, k) * job->panel.n_rows + f->batch->load_row0;
    uint32_t x = 0x9e3779b9u * (uint32_t)(k + 1);

    (void)worker;
    if (f->views)
        memcpy(f->raw + k * n, f->views + row * nc, n * sizeof *f->raw);
    for (size_t i = 0; !f->views && i < n; i++)
        f->raw[k * n + i] = fbp_bench_sample(fbp_bench_next(&x));
}

static void fill(const struct fbp_job *job, const struct fbp_batch *batch, const float *views,
                 fbp_pool *pool, float *raw)
{
    struct filling f = {job, batch, views, raw};

    fbp_pool_for(pool, batch->n_views, fill_view, &f);
}

/* Tiles and windows of the job's kernel, which kernels of GPUs have. */
static int shapes_of(const struct fbp_backend *backend, const struct fbp_job *job)
{
    const bool is_gpu = strcmp(backend->name, "cuda") == 0 || strcmp(backend->name, "gl") == 0;
    const int n = is_gpu ? gpu_kernel_of(job)->n_shapes : 0;

    return n > 1 ? n : 1;
}

fbp_status fbp_bench_create(fbp_bench **out, const struct fbp_recon_params *given)
{
    struct fbp_recon_params own, *const params = &own;
    fbp_bench *b;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_take_params(&own, given));
    FBP_TRY(fbp_calloc((void **)&b, 1, sizeof *b, "a benchmark"));
    FBP_TRY_GOTO(fbp_bench_device(params->device, &b->backend));
    b->region = params->region.shape;
    b->info.backend = b->backend->name;
    b->info.own_memory = b->backend->can.own_memory;
    b->info.has_precisions = b->backend->can.precisions;
    b->info.n_threads = params->n_threads > 0 ? params->n_threads : fbp_core_count();
    FBP_TRY_GOTO(fbp_pool_create(&b->pool, b->info.n_threads));
    const struct bench_device *functions = bench_device_of(b->backend);
    b->has_limits = functions->limits != NULL;
    if (b->has_limits)
        FBP_TRY_GOTO(functions->limits(0, &b->info.limits));
    *out = b;
    return FBP_OK;
fail:
    fbp_bench_destroy(&b);
    return st;
}

/* Free results that depend on volume and kernels; views are kept. */
static void forget_results(fbp_bench *b)
{
    for (size_t i = 0; i < MOST_KERNELS; i++)
        free(b->exact[i].samples);
    memset(b->exact, 0, sizeof b->exact);
    free(b->samples);
    fbp_free(b->slices);
    b->samples = b->slices = NULL;
    fbp_bench_truth_clear(&b->truth);
    fbp_job_clear(&b->tables);
}

static void forget_views(fbp_bench *b)
{
    fbp_free(b->views);
    fbp_free(b->raw);
    b->views = b->raw = NULL;
    b->raw_samples = 0;
}

void fbp_bench_destroy(fbp_bench **bench)
{
    fbp_bench *b = *bench;

    if (!b)
        return;
    forget_results(b);
    forget_views(b);
    fbp_scan_clear(&b->scan);
    fbp_pool_destroy(&b->pool);
    free(b);
    *bench = NULL;
}

const struct fbp_bench_info *fbp_bench_about(const fbp_bench *bench)
{
    return &bench->info;
}

/* Views of the scan, n of them, evenly. */
static fbp_status thin_out(const struct fbp_scan *scan, size_t n, struct fbp_scan *out)
{
    *out = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = scan->kind,
                             .n_views = n,
                             .panel = scan->panel,
                             .volume = scan->volume};
    FBP_TRY(fbp_calloc((void **)&out->views, n, sizeof *out->views, "views"));
    for (size_t k = 0; k < n; k++)
        out->views[k] = scan->views[k * scan->n_views / n];
    return FBP_OK;
}

static bool same_views(const struct fbp_scan *a, const struct fbp_scan *b)
{
    return a->kind == b->kind && a->n_views == b->n_views &&
           a->panel.n_columns == b->panel.n_columns && a->panel.n_rows == b->panel.n_rows &&
           memcmp(a->views, b->views, a->n_views * sizeof *a->views) == 0;
}

/* Views of a phantom that fills the volume. */
static fbp_status make_views(fbp_bench *b)
{
    const struct fbp_job *job = &b->tables.job;
    const size_t n = job->n_views * job->panel.n_rows * job->panel.n_columns;
    const double start = fbp_seconds(), half = 0.5 * (double)job->grid.n[0] * job->grid.voxel_mm[0];

    b->info.project = 0;
    if (b->views && half == b->half_mm)
        return FBP_OK;
    forget_views(b);
    FBP_TRY(fbp_alloc((void **)&b->views, n * sizeof *b->views, "the views of a benchmark"));
    FBP_TRY(fbp_bench_project(&b->scan, half, b->info.n_threads, b->views));
    b->half_mm = half;
    b->info.project = fbp_seconds() - start;
    return FBP_OK;
}

/* Number of slices nearest to the requested one that can be centred in the volume. */
static size_t slices_of(const fbp_bench *b, size_t wanted)
{
    const struct fbp_grid *g = &b->tables.job.grid;
    const size_t nz = g->n[2], few = FEW_VOXELS / (g->n[0] * g->n[1]);

    if (wanted == 0)
        wanted = b->info.own_memory ? nz : few > 1 ? few : 1;
    return wanted >= nz ? nz : nz - (nz - wanted) / 2 * 2;
}

static fbp_status make_truth(fbp_bench *b)
{
    const struct fbp_grid *g = &b->tables.job.grid;
    const double start = fbp_seconds();

    FBP_TRY(fbp_bench_truth_make(&b->truth, &b->tables.job, b->views,
                                 (g->n[2] - b->info.n_slices) / 2, b->info.n_slices, b->pool,
                                 b->info.n_threads));
    b->info.reference = fbp_seconds() - start;
    b->info.whole_slices = b->truth.n_whole;
    b->info.more_voxels = b->truth.n_random;
    FBP_TRY(fbp_calloc((void **)&b->samples, b->truth.n, sizeof *b->samples, "samples"));
    return fbp_alloc((void **)&b->slices,
                     fbp_channels(&b->tables.job) * FETCH_SLICES * g->n[0] * g->n[1] *
                         sizeof *b->slices,
                     "slices");
}

/* Replace the remedy in a message about lack of memory by the options of this command. */
static fbp_status explained(const fbp_bench *b, fbp_status st)
{
    if (st != FBP_ERR_NOMEM)
        return st;
    char why[400];
    snprintf(why, sizeof why, "%s", fbp_message());
    fbp_message_clear();
    return fbp_fail(
        st, "bench: %zu views and %zu slices at a time: %s, or choose fewer (--views, --slices)",
        b->info.n_views, b->info.n_slices, why);
}

static struct fbp_recon_params params_of(const fbp_bench *b, const char *kernel,
                                         enum fbp_precision precision)
{
    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .n_threads = b->info.n_threads,
                                     .tuning.kernel = kernel,
                                     .precision = precision,
                                     .region.shape = b->region};
}

fbp_status fbp_bench_scan(fbp_bench *b, const struct fbp_scan *scan, size_t n_views,
                          size_t n_slices)
{
    const struct fbp_recon_params p = params_of(b, NULL, FBP_PRECISION_DEFAULT);
    const size_t wanted = n_views ? n_views : b->info.own_memory ? scan->n_views : FEW_VIEWS;
    struct fbp_scan thin = {.struct_size = sizeof thin};

    fbp_message_clear();
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "bench: n_views", (double)n_views));
    FBP_TRY(fbp_check_optional(&fbp_range_side, "bench: n_slices", (double)n_slices));
    forget_results(b);
    FBP_TRY(thin_out(scan, wanted < scan->n_views ? wanted : scan->n_views, &thin));
    if (b->views && !same_views(&b->scan, &thin))
        forget_views(b);
    fbp_scan_clear(&b->scan);
    b->scan = thin;
    FBP_TRY(fbp_job_create(&b->tables, &b->scan, &p, false));
    b->info.n_views = thin.n_views;
    b->info.n_slices = slices_of(b, n_slices);
    const fbp_status st = make_views(b);
    return explained(b, st == FBP_OK ? make_truth(b) : st);
}

static fbp_status settle(const struct trial *t)
{
    return fbp_device_settle_all(t->backend, t->dev);
}

static void trial_close(struct trial *t)
{
    if (!t->dev)
        return;
    (void)!settle(t);
    if (t->backend->can.own_memory)
        fbp_device_put(t->backend, t->dev, FBP_FOR_RAW, t->raw);
    fbp_device_put(t->backend, t->dev, FBP_FOR_FILTERED, t->filtered);
    fbp_device_put(t->backend, t->dev, FBP_FOR_VOLUME, t->volume);
    t->backend->close(&t->dev);
}

/* Host memory for a batch, which the next kernel uses again. */
static fbp_status raw_memory(fbp_bench *b, size_t n)
{
    if (n <= b->raw_samples)
        return FBP_OK;
    fbp_free(b->raw);
    b->raw_samples = 0;
    FBP_TRY(fbp_alloc((void **)&b->raw, n * sizeof *b->raw, "a batch of a benchmark"));
    b->raw_samples = n;
    return FBP_OK;
}

/* All views in one batch, slices about the middle. */
static fbp_status trial_open(fbp_bench *b, const struct fbp_job *job, struct trial *t)
{
    const struct fbp_backend *be = b->backend;
    const size_t n = job->n_views, nz = b->info.n_slices;
    const struct fbp_work work = {.group_views = n, .n_batches = 1, .batch_views = n};

    *t = (struct trial){.backend = be, .job = job, .time = bench_device_of(be)->time};
    t->slab = fbp_slab_whole(job, (job->grid.n[2] - nz) / 2, nz);
    t->batch = fbp_work_batch(&work, job, &t->slab, 0);
    const size_t samples = fbp_raw_samples(job, &t->batch), rows = t->batch.n_rows;
    const struct fbp_buffer raw = {FBP_FOR_RAW, samples * sizeof(float), n, t->batch.load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED, be->filtered_bytes(job, n, rows), n,
                                        rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, be->volume_bytes(job, &t->slab), 0, 0};
    FBP_TRY(raw_memory(b, samples));
    FBP_TRY(be->open(&t->dev, 0, job));
    FBP_TRY(be->memory.alloc(t->dev, &filtered, &t->filtered));
    FBP_TRY(be->memory.alloc(t->dev, &volume, &t->volume));
    t->raw = b->raw;
    if (be->can.own_memory) {
        t->raw = NULL;
        FBP_TRY(be->memory.alloc(t->dev, &raw, &t->raw));
    }
    return FBP_OK;
}

/* Filter views (NULL: random ones) on the device, and clear the volume. */
static fbp_status load(fbp_bench *b, struct trial *t, const float *views)
{
    const struct fbp_backend *be = t->backend;
    const bool straight = views && be->can.own_memory && t->batch.n_views == t->job->n_views &&
                          t->batch.load_rows == t->job->panel.n_rows; /* a batch of whole views */

    if (!straight)
        fill(t->job, &t->batch, views, b->pool, b->raw);
    if (be->can.own_memory) {
        FBP_TRY(be->memory.upload(t->dev, t->raw, straight ? views : b->raw,
                                  fbp_raw_samples(t->job, &t->batch)));
        FBP_TRY(settle(t));
    }
    FBP_TRY(be->filter(t->dev, &t->batch, t->raw, t->filtered));
    FBP_TRY(settle(t));
    FBP_TRY(be->clear(t->dev, &t->slab, t->volume));
    return settle(t);
}

static fbp_status backproject(const struct trial *t)
{
    return t->backend->backproject(t->dev, &t->batch, t->filtered, &t->slab, t->slab.z0,
                                   t->slab.z0 + t->slab.nz, t->volume);
}

/* Seconds per backprojection of n in sequence. */
static fbp_status time_run(const struct trial *t, size_t n, double *seconds)
{
    const double start = fbp_seconds();
    double taken = 0;

    if (t->time)
        FBP_TRY(t->time(t->dev, FBP_STAGE_BP, NULL));
    for (size_t i = 0; i < n; i++)
        FBP_TRY(backproject(t));
    if (t->time) {
        FBP_TRY(t->time(t->dev, FBP_STAGE_BP, &taken));
    } else {
        FBP_TRY(settle(t));
        taken = fbp_seconds() - start;
    }
    *seconds = taken / (double)n;
    return FBP_OK;
}

/* Time runs of so many backprojections that the start of a run does not matter; the first run is
 * not counted. */
static fbp_status time_it(const struct trial *t, struct fbp_kernel_time *out)
{
    const double begin = fbp_seconds();
    double seconds[MOST_RUNS];
    size_t runs = 0;

    FBP_TRY(time_run(t, 1, &seconds[0]));
    const size_t n = seconds[0] < RUN_SECONDS ? (size_t)(RUN_SECONDS / seconds[0]) + 1 : 1;
    while (runs < LEAST_RUNS || (runs < MOST_RUNS && fbp_seconds() - begin < LEAST_SECONDS))
        FBP_TRY(time_run(t, n, &seconds[runs++]));
    fbp_sort(seconds, runs);
    out->n_runs = runs;
    out->by_events = t->time != NULL;
    out->best = seconds[0];
    out->median = seconds[runs / 2];
    out->worst = seconds[runs - 1];
    return FBP_OK;
}

/* The samples of what was backprojected. */
static fbp_status sample(fbp_bench *b, const struct trial *t)
{
    const struct fbp_job *job = t->job;
    const size_t end = t->slab.z0 + t->slab.nz;

    for (size_t z = t->slab.z0, n; z < end; z += n) {
        n = end - z < FETCH_SLICES ? end - z : FETCH_SLICES;
        FBP_TRY(t->backend->fetch(t->dev, &t->slab, z, z + n, t->volume, b->slices));
        FBP_TRY(settle(t));
        fbp_bench_truth_pick(&b->truth, &job->grid, z, n, b->slices, b->samples);
    }
    return FBP_OK;
}

/* RMSE against the samples of this kernel in precision exact; stores the samples if the precision
 * is exact. */
static fbp_status compare_exact(fbp_bench *b, enum fbp_precision precision,
                                struct fbp_kernel_time *out)
{
    const size_t n = b->truth.n;
    struct exact *e = b->exact;
    double sum = 0;

    out->hu = NAN;
    for (size_t i = 0; e->kernel && strcmp(e->kernel, out->kernel) != 0; i++)
        if (i + 1 < MOST_KERNELS)
            e++;
        else
            return FBP_OK;
    if (precision == FBP_PRECISION_EXACT && !e->kernel) {
        FBP_TRY(fbp_calloc((void **)&e->samples, n, sizeof *e->samples, "samples"));
        memcpy(e->samples, b->samples, n * sizeof *e->samples);
        e->kernel = out->kernel;
    } else if (precision != FBP_PRECISION_EXACT && e->kernel) {
        for (size_t i = 0; i < n; i++) {
            const double d = (double)b->samples[i] - (double)e->samples[i];
            sum += d * d;
        }
        out->hu = 1000 / FBP_BENCH_WATER * sqrt(sum / (double)n);
    }
    return FBP_OK;
}

static fbp_status measure(fbp_bench *b, struct trial *t, struct fbp_kernel_time *out)
{
    const struct fbp_slab *s = &t->slab;

    FBP_TRY(load(b, t, b->views));
    FBP_TRY(backproject(t));
    FBP_TRY(settle(t));
    FBP_TRY(sample(b, t));
    const struct fbp_bench_difference error = fbp_bench_truth_compare(&b->truth, b->samples);
    out->psnr_db = error.psnr_db;
    out->rmse = error.rmse;
    out->max_error = error.max;
    FBP_TRY(load(b, t, NULL));
    FBP_TRY(time_it(t, out));
    out->gups =
        (double)(fbp_channels(t->job) * fbp_wanted_voxels(t->job, s, s->z0, s->z0 + s->nz)) *
        (double)out->n_views / out->median * 1e-9;
    return FBP_OK;
}

/* Whether the device has a kernel of exactly this precision, not only a more exact one. */
static bool has_precision(const fbp_bench *b, const struct fbp_job *job)
{
    struct fbp_job other = *job;

    if (!b->backend->can.precisions || job->precision <= FBP_PRECISION_EXACT)
        return true;
    other.precision = (enum fbp_precision)(job->precision - 1);
    return !b->backend->choose(&other, job->selection.requested) ||
           strcmp(job->selection.name, other.selection.name) != 0 ||
           strcmp(job->selection.isa, other.selection.isa) != 0;
}

fbp_status fbp_bench_kernel(fbp_bench *b, const char *kernel, enum fbp_precision precision,
                            struct fbp_kernel_time *out)
{
    const struct fbp_recon_params p = params_of(b, kernel, precision);
    struct fbp_job_tables tables = {0};
    struct trial t = {0};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(fbp_check_choice("bench: precision", (long)precision, FBP_PRECISION_LAST));
    if (precision == FBP_PRECISION_DOUBLE)
        return fbp_fail(FBP_ERR_INVALID, "precision: kernels are timed in float: omit --precision "
                                         "double, or use fbp bench host");
    *out = (struct fbp_kernel_time){.backend = b->backend->name,
                                    .n_threads = b->info.n_threads,
                                    .n_views = b->info.n_views,
                                    .n_slices = b->info.n_slices};
    FBP_TRY_GOTO(fbp_job_create(&tables, &b->scan, &p, false));
    FBP_TRY_GOTO(fbp_job_arrange(&tables.job, b->backend));
    out->kernel = tables.job.selection.name;
    out->isa = tables.job.selection.isa;
    if (!has_precision(b, &tables.job))
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_UNSUPPORTED,
                              "precision: device %s has kernel \"%s\" only in a more exact "
                              "precision: choose that precision",
                              b->backend->name, out->kernel));
    if (b->has_limits)
        out->limit_gups =
            1e-9 * kernel_limit(&tables.job, &b->info.limits, out->limit, sizeof out->limit);
    out->n_shapes = shapes_of(b->backend, &tables.job);
    FBP_TRY_GOTO(trial_open(b, &tables.job, &t));
    FBP_TRY_GOTO(measure(b, &t, out));
    FBP_TRY_GOTO(compare_exact(b, precision, out));
fail:
    trial_close(&t);
    fbp_job_clear(&tables);
    return explained(b, st);
}
