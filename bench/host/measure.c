/* Times whole reconstructions from memory to memory, and their error on views of a phantom.
 * Called by host/command.c, kernels/command.c and the command of Zinsser 2013.
 * Used by: command.c, bench/kernels/command.c, bench/papers/zinsser2013/command.c. */
#include "bench/common/measure.h"
#include "fbp/device_memory.h"

#include "array/array.h"
#include "base/base.h"
#include "base/math.h"
#include "base/system.h"
#include "bench/common/device_memory.h"
#include "bench/common/memory.h"
#include "bench/common/truth.h"
#include "bench/common/views.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "phantom/shapes.h"
#include "pipeline/job.h"
#include "pipeline/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The error of a reconstruction, on filtered views of a phantom. */

/* Slices; samples of scans whose views are all computed at once, into memory. */
enum { SLICES = 4, FEW_SAMPLES = 1 << 22 };

/* A source that computes rows of a phantom's views when they are read; several threads may read at
 * a time. */
struct phantom_views {
    const struct fbp_scan *scan;
    struct fbp_phantom phantom;
    struct fbp_ball *balls;
};

static fbp_status read_rows(fbp_source *source, size_t view, size_t row0, size_t n_rows, void *out)
{
    const struct phantom_views *p = source->state;
    const struct fbp_scan *s = p->scan;
    struct fbp_shadow *shadows = NULL;
    double *row = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_calloc((void **)&shadows, p->phantom.n, sizeof *shadows, "a phantom"));
    FBP_TRY_GOTO(fbp_calloc((void **)&row, s->panel.n_columns, sizeof *row, "a row"));
    fbp_shadow_rows(p->balls, p->phantom.n, &s->views[view], s->kind, &s->panel, row0, n_rows,
                    shadows, row, out);
fail:
    free(shadows);
    free(row);
    return st;
}

static void close_views(fbp_source *source)
{
    struct phantom_views *p = source->state;

    fbp_phantom_clear(&p->phantom);
    free(p->balls);
    free(p);
}

static fbp_status make_views(struct phantom_views *p)
{
    const struct fbp_grid *g = &p->scan->volume;

    FBP_TRY(fbp_phantom_create(&p->phantom, "shepp-logan", 0.5 * (double)g->n[0] * g->voxel_mm[0],
                               FBP_BENCH_WATER));
    return fbp_balls_of(&p->phantom, &p->balls);
}

static fbp_status open_rows(const struct fbp_scan *scan, const struct fbp_array_info *info,
                            fbp_source **out)
{
    struct phantom_views *p = NULL;

    FBP_TRY(fbp_source_memory(out, NULL, info));
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "a phantom"));
    p->scan = scan;
    (*out)->state = p;
    (*out)->read = read_rows;
    (*out)->close = close_views;
    return make_views(p);
}

/* Open views of a phantom: in memory (*views), or computed row by row if they have many samples. */
static fbp_status open_views(const struct fbp_scan *scan, float **views, fbp_source **out)
{
    const struct fbp_grid *g = &scan->volume;
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {scan->panel.n_columns, scan->panel.n_rows, scan->n_views},
        .type = FBP_F32};
    const size_t n = info.n[0] * info.n[1] * info.n[2];

    if (n > FEW_SAMPLES)
        return open_rows(scan, &info, out);
    FBP_TRY(fbp_alloc((void **)views, n * sizeof **views, "views"));
    FBP_TRY(fbp_bench_project(scan, 0.5 * (double)g->n[0] * g->voxel_mm[0], 0, *views));
    return fbp_source_memory(out, *views, &info);
}

/* Reconstruct by kernel matrix, exact, in one stage; by `ref` in double if the kernel does not
 * support the job. */
static fbp_status reconstruct_exactly(const struct fbp_scan *scan, struct fbp_recon_params params,
                                      float *out)
{
    params.tuning.kernel = "matrix";
    params.precision = FBP_PRECISION_EXACT;
    params.epr.stages = 0;
    const fbp_status st = fbp_bench_reconstruct(scan, &params, NULL, out);
    if (st != FBP_ERR_UNSUPPORTED)
        return st;
    fbp_message_clear();
    params.device = "ref";
    return fbp_bench_reconstruct(scan, &params, NULL, out);
}

static size_t frames_of(const struct fbp_scan *scan)
{
    return fbp_kind_frames(scan->kind, &scan->panel);
}

static void compare(const float *a, const float *b, size_t n, double *rmse_hu, double *psnr_db)
{
    struct fbp_bench_sum sum = {0};

    for (size_t i = 0; i < n; i++)
        fbp_bench_sum_add(&sum, (double)a[i], (double)b[i]);
    const struct fbp_bench_difference d = fbp_bench_sum_of(&sum);
    *rmse_hu = 1000 * d.rmse / FBP_BENCH_WATER;
    *psnr_db = d.psnr_db;
}

/* The scan with a few slices only, beginning one above the middle. */
static struct fbp_scan thin_scan(const struct fbp_scan *scan)
{
    struct fbp_scan out = *scan;
    struct fbp_grid *g = &out.volume;

    out.dark = out.flat = out.bad_pixels = NULL;
    out.images = NULL;
    g->n[2] = g->n[2] < SLICES ? g->n[2] : SLICES;
    g->centre_mm[2] += (1 + 0.5 * (double)g->n[2]) * g->voxel_mm[2];
    return out;
}

/*
 * Reconstruct a few slices above the middle of the scan's volume from a head phantom of water
 * (0.02/mm) as `params` say, and by kernel `matrix` of precision exact on the same device, or if
 * that cannot, by device ref.
 *
 * rmse_hu  of their difference, in HU of water
 * psnr_db  the peak being the largest value of the exact one; 999 when equal
 * @return as fbp_plan_create() and fbp_plan_run().
 */
static fbp_status find_error(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                             double *rmse_hu, double *psnr_db)
{
    const struct fbp_scan thin = thin_scan(scan);
    const size_t *m = thin.volume.n, n = frames_of(scan) * m[0] * m[1] * m[2];
    struct fbp_recon_params ours = *params;
    float *a = NULL, *b = NULL, *samples = NULL;
    fbp_source *views = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_alloc((void **)&a, n * sizeof *a, "slices"));
    FBP_TRY_GOTO(fbp_alloc((void **)&b, n * sizeof *b, "slices"));
    FBP_TRY_GOTO(open_views(&thin, &samples, &views));
    ours.input.source = views;
    FBP_TRY_GOTO(fbp_bench_reconstruct(&thin, &ours, NULL, a));
    FBP_TRY_GOTO(reconstruct_exactly(&thin, ours, b));
    compare(a, b, n, rmse_hu, psnr_db);
fail:
    fbp_source_close(&views);
    fbp_free(samples);
    fbp_free(a);
    fbp_free(b);
    return st;
}

/* Timing. */

static const double MOST_COUNTS = 65535;

/* A plan, with views and volume in memory that its device can access. */
struct host_bench {
    /* copy of the caller's scan, with an open-beam intensity if views are counts */
    struct fbp_scan scan;
    struct fbp_recon_params params;
    bool counts, on_device;
    char backend[32]; /* device that holds views and volume, if on_device */
    fbp_plan *plan;
    fbp_source *source;
    fbp_sink *sink;
    void *views;
    float *volume;
};

static size_t view_samples(const struct fbp_scan *s)
{
    return s->panel.n_columns * s->panel.n_rows;
}

static size_t sample_size(const struct host_bench *b)
{
    return b->counts ? sizeof(uint16_t) : sizeof(float);
}

static fbp_status make_source(const struct host_bench *b, const void *views, fbp_source **out)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {b->scan.panel.n_columns, b->scan.panel.n_rows, b->scan.n_views},
        .type = b->counts ? FBP_U16 : FBP_F32};

    return views && b->on_device ? fbp_source_device_memory(out, views, &info, b->backend, NULL)
                                 : fbp_source_memory(out, views, &info);
}

static fbp_status alloc(const struct host_bench *b, size_t bytes, void **out)
{
    return b->on_device ? fbp_bench_memory_alloc(b->params.device, bytes, out)
                        : fbp_plan_alloc(b->plan, bytes, out);
}

static void release(const struct host_bench *b, void *memory)
{
    if (b->on_device)
        fbp_bench_memory_release(b->params.device, memory);
    else if (b->plan)
        fbp_plan_release(b->plan, memory);
}

/* Fill the views with random samples, through host memory if the views are in device memory. */
static fbp_status fill(const struct host_bench *b, size_t bytes)
{
    const enum fbp_type type = b->counts ? FBP_U16 : FBP_F32;
    void *host = NULL;

    if (!b->on_device)
        return fbp_bench_random(&b->scan, b->params.n_threads, type, b->views);
    FBP_TRY(fbp_alloc(&host, bytes, "views"));
    fbp_status st = fbp_bench_random(&b->scan, b->params.n_threads, type, host);
    if (st == FBP_OK)
        st = fbp_bench_memory_copy(b->params.device, b->views, host, bytes);
    fbp_free(host);
    return st;
}

/* Seconds since *at, which becomes now. */
static double lap(double *at)
{
    const double before = *at;

    *at = fbp_seconds();
    return *at - before;
}

static fbp_status host_open(struct host_bench *b, struct fbp_host_time *out)
{
    const size_t n = view_samples(&b->scan) * b->scan.n_views * sample_size(b);

    if (b->on_device) { /* the plan detects that the views are in device memory */
        snprintf(b->backend, sizeof b->backend, "%.*s", (int)strcspn(b->params.device, ":"),
                 b->params.device);
        FBP_TRY(alloc(b, n, &b->views));
    }
    FBP_TRY(make_source(b, b->views, &b->params.input.source));
    double at = fbp_seconds();
    FBP_TRY(fbp_plan_create(&b->plan, &b->scan, &b->params));
    out->plan = lap(&at);
    FBP_TRY(fbp_plan_open(b->plan));
    out->open = lap(&at);
    if (!b->views)
        FBP_TRY(alloc(b, n, &b->views));
    FBP_TRY(alloc(b, fbp_plan_info(b->plan)->output_bytes, (void **)&b->volume));
    out->pin = lap(&at);
    FBP_TRY(fill(b, n));
    return make_source(b, b->views, &b->source);
}

static void host_close(struct host_bench *b)
{
    release(b, b->views);
    release(b, b->volume);
    fbp_plan_destroy(&b->plan);
    fbp_source_close(&b->source);
    fbp_source_close(&b->params.input.source);
}

static fbp_status run_once(const struct host_bench *b, fbp_plan *plan, struct fbp_report *report)
{
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(b->on_device ? fbp_bench_device_sink(plan, b->volume, &sink)
                         : fbp_bench_sink(plan, b->volume, &sink));
    st = fbp_plan_run_to(plan, b->source, sink, report);
    fbp_sink_close(&sink);
    return st;
}

/* A plan for this run alone. */
static fbp_status run_whole(const struct host_bench *b, const struct fbp_recon_params *params,
                            struct fbp_report *report)
{
    fbp_plan *plan = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_plan_create(&plan, &b->scan, params));
    st = run_once(b, plan, report);
    fbp_plan_destroy(&plan);
    return st;
}

/* Seconds of n runs, sorted: of the opened plan, or each with a new plan. */
static fbp_status time_runs(const struct host_bench *b, bool whole, size_t n, double *seconds,
                            struct fbp_report *report)
{
    for (size_t i = 0; i < n; i++) {
        double at = fbp_seconds();
        FBP_TRY(whole ? run_whole(b, &b->params, report) : run_once(b, b->plan, report));
        seconds[i] = lap(&at);
    }
    fbp_sort(seconds, n);
    return FBP_OK;
}

static fbp_status measure(const struct host_bench *b, double *seconds, struct fbp_host_time *out)
{
    struct fbp_recon_params apart = b->params;
    struct fbp_report r = {.struct_size = sizeof r};

    FBP_TRY(time_runs(b, false, 1, &out->first, &r));
    FBP_TRY(time_runs(b, false, out->n_runs, seconds, &r));
    out->median = seconds[out->n_runs / 2];
    out->best = seconds[0];
    out->worst = seconds[out->n_runs - 1];
    out->min = r.min;
    out->max = r.max;
    out->mean = r.mean;
    FBP_TRY(time_runs(b, true, out->n_runs, seconds, &r));
    out->whole = seconds[out->n_runs / 2];
    apart.tuning.no_overlap = true;
    FBP_TRY(run_whole(b, &apart, &r));
    out->filter = r.filter;
    out->backproject = r.backproject;
    out->fetch = r.write;
    return FBP_OK;
}

static fbp_status draw_timeline(const struct host_bench *b, const char *path)
{
    struct fbp_report r = {.struct_size = sizeof r};

    fbp_plan_timeline(b->plan, path);
    const fbp_status st = run_once(b, b->plan, &r);
    fbp_plan_timeline(b->plan, NULL);
    return st;
}

fbp_status fbp_bench_host(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                          const struct fbp_host_options *options, struct fbp_host_time *out)
{
    struct host_bench b = {
        .scan = *scan, .counts = options->counts, .on_device = options->on_device};
    double *seconds = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(fbp_take_params(&b.params, params));
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_check_optional(&fbp_range_side, "options.n_runs", (double)options->n_runs));
    *out = (struct fbp_host_time){.n_runs = options->n_runs > 0 ? options->n_runs : 1,
                                  .counts = options->counts};
    b.params.input.source = NULL;
    if (b.counts && !fbp_scan_is_intensity(scan))
        b.scan.i0 = MOST_COUNTS;
    FBP_TRY_GOTO(fbp_calloc((void **)&seconds, out->n_runs, sizeof *seconds, "times"));
    FBP_TRY_GOTO(host_open(&b, out));
    const struct fbp_plan_summary *info = fbp_plan_info(b.plan);
    out->backend = info->backend;
    out->kernel = info->kernel;
    out->isa = info->isa;
    out->n_slabs = info->n_slabs;
    out->n_batches = info->n_batches;
    FBP_TRY_GOTO(measure(&b, seconds, out));
    if (options->timeline)
        FBP_TRY_GOTO(draw_timeline(&b, options->timeline));
    FBP_TRY_GOTO(find_error(scan, &b.params, &out->rmse_hu, &out->psnr_db));
    out->gups = (double)info->updates / out->median * 1e-9;
fail:
    host_close(&b);
    free(seconds);
    return st;
}
