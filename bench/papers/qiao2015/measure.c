/* A session of Qiao et al. (2015): projections of a bottle; its object by plans of the library and
 * by kernels with the paper's arguments; the error of the object.  Called by runs.c.
 * Used by: command.c, runs.c. */
#include "bench/papers/qiao2015/s4.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "bench/common/filtered.h"
#include "bench/common/modules.h"
#include "bench/common/truth.h"
#include "fbp/phantom.h"
#include "geometry/ranges.h"
#include "geometry/view.h"
#include "pipeline/job.h"
#include "pipeline/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

struct fbp_s4 {
    pid_t process; /* the process that opened the session */
    int n_threads;
    size_t rings;
    struct fbp_scan scan;
    double d;         /* distance of voxels, and of samples */
    double *gx;       /* [3][n_views]: GX, GY and GZ */
    float *views;     /* [n_views][samples] */
    double *filtered; /* views [n_views][samples], filtered and weighted */
    struct fbp_phantom phantom;
    struct fbp_job_tables tables;
    fbp_pool *pool;
    double *object; /* [N][N][N] */
    bool done;      /* there is one */
    struct fbp_bench_truth truth;
};

enum { BLOCK = 256, MOST_BLOCK = 1024 }; /* threads of a block: usual, at most */
enum { RINGS = 18, MOST_SIDE = 1024, MOST_SAMPLES = 1 << 16 };

static const double SIDE_MM = 2; /* side of the object in units of the phantom */

size_t fbp_s4_samples_for(size_t size)
{
    return 2 * (size_t)ceil(sqrt(3) * (double)size / 2);
}

static fbp_status check_params(const struct fbp_s4_params *p)
{
    if (p->size < 2 || p->size > MOST_SIDE)
        return fbp_fail(FBP_ERR_INVALID, "qiao2015: size: expected 2 to %d, got %zu", MOST_SIDE,
                        p->size);
    if (p->samples == 1 || p->samples > MOST_SAMPLES)
        return fbp_fail(FBP_ERR_INVALID, "qiao2015: samples: expected 2 to %d, got %zu",
                        MOST_SAMPLES, p->samples);
    return fbp_check_range(&fbp_range_threads, "qiao2015: n_threads", p->n_threads);
}

/* Make views with the positions of the paper's kernel: t = 0 at sample S/2, voxel m at (m + 1 -
 * N/2) d. */
static fbp_status make_views(struct fbp_s4 *s, const double (*direction)[3])
{
    struct fbp_scan *scan = &s->scan;
    const double first = -0.5 * (double)scan->panel.n_columns * s->d;

    FBP_TRY(fbp_calloc((void **)&scan->views, scan->n_views, sizeof *scan->views, "views"));
    FBP_TRY(fbp_calloc((void **)&s->gx, 3 * scan->n_views, sizeof *s->gx, "directions"));
    for (size_t k = 0; k < scan->n_views; k++) {
        fbp_plane_view(direction[k], s->d, first, scan->panel.n_columns, &scan->views[k]);
        for (size_t i = 0; i < 3; i++)
            s->gx[i * scan->n_views + k] = direction[k][i];
    }
    return FBP_OK;
}

static fbp_status make_scan(struct fbp_s4 *s, const struct fbp_s4_params *p)
{
    const size_t rings = p->rings ? p->rings : RINGS;
    const struct fbp_directions set = {
        .struct_size = sizeof set, .n = {rings, 0}, .order = FBP_ORDER_FLIP};
    double(*direction)[3] = NULL;
    fbp_status st = FBP_OK;

    s->rings = rings;
    s->d = SIDE_MM / (double)p->size;
    s->scan.struct_size = sizeof s->scan;
    s->scan.kind = FBP_PLANES;
    s->scan.panel = (struct fbp_panel){p->samples ? p->samples : fbp_s4_samples_for(p->size), 1};
    for (int i = 0; i < 3; i++) {
        s->scan.volume.n[i] = p->size;
        s->scan.volume.voxel_mm[i] = s->d;
        s->scan.volume.centre_mm[i] = 0.5 * s->d;
    }
    FBP_TRY(fbp_directions_make(&set, NULL, &s->scan.n_views));
    FBP_TRY(fbp_calloc((void **)&direction, s->scan.n_views, sizeof *direction, "directions"));
    FBP_TRY_GOTO(fbp_directions_make(&set, direction, NULL));
    FBP_TRY_GOTO(make_views(s, (const double(*)[3])direction));
fail:
    free(direction);
    return st;
}

/* Simulate a projection; each sample is the mean of a few points, as a spectrometer measures. */
static void project(void *user, size_t view, int worker)
{
    enum { POINTS = 4 };
    const struct fbp_s4 *s = user;
    const size_t n = s->scan.panel.n_columns, views = s->scan.n_views;
    const double direction[3] = {s->gx[view], s->gx[views + view], s->gx[2 * views + view]};

    (void)worker;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < POINTS; k++) {
            const double at = (double)i - 0.5 * (double)n + ((double)k + 0.5) / POINTS - 0.5;
            sum += fbp_phantom_plane(&s->phantom, direction, at * s->d);
        }
        s->views[view * n + i] = (float)(sum / POINTS);
    }
}

static fbp_status keep_filtered(void *user, size_t view, const float *samples)
{
    struct fbp_s4 *s = user;
    const size_t n = s->scan.panel.n_columns;

    for (size_t i = 0; i < n; i++)
        s->filtered[view * n + i] = (double)samples[i];
    return FBP_OK;
}

/* Filter and weight the projections in double, as input of the paper's kernel. */
static fbp_status filter(struct fbp_s4 *s)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {s->scan.panel.n_columns, 1, s->scan.n_views},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};
    fbp_source *source = NULL;

    FBP_TRY(fbp_source_memory(&source, s->views, &info));
    const fbp_status st = fbp_bench_filter(&s->tables.job, source, false, keep_filtered, s);
    fbp_source_close(&source);
    return st;
}

static fbp_status make_arrays(struct fbp_s4 *s)
{
    const size_t samples = s->scan.n_views * s->scan.panel.n_columns;
    const struct fbp_recon_params params = {.struct_size = sizeof params,
                                            .n_threads = s->n_threads};
    size_t voxels, bytes;

    FBP_TRY(fbp_phantom_create(&s->phantom, "bottle", SIDE_MM / 2, 1));
    FBP_TRY(fbp_mul(s->scan.volume.n[0] * s->scan.volume.n[1], s->scan.volume.n[2], "an object",
                    &voxels));
    FBP_TRY(fbp_mul(voxels, sizeof(double), "an object", &bytes));
    FBP_TRY(fbp_alloc((void **)&s->object, bytes, "an object"));
    FBP_TRY(fbp_alloc((void **)&s->views, samples * sizeof(float), "projections"));
    FBP_TRY(fbp_alloc((void **)&s->filtered, samples * sizeof(double), "projections"));
    FBP_TRY(fbp_pool_create(&s->pool, s->n_threads));
    fbp_pool_for(s->pool, s->scan.n_views, project, s);
    FBP_TRY(fbp_job_create(&s->tables, &s->scan, &params, false));
    return filter(s);
}

fbp_status fbp_s4_open(struct fbp_s4 **out, const struct fbp_s4_params *given)
{
    struct fbp_s4_params own, *const p = &own;
    struct fbp_s4 *s = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_copy_struct_in("qiao2015", p, sizeof *p, given));
    FBP_TRY(check_params(p));
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a benchmark"));
    s->process = getpid();
    s->n_threads = p->n_threads > 0 ? p->n_threads : fbp_core_count();
    FBP_TRY_GOTO(make_scan(s, p));
    FBP_TRY_GOTO(make_arrays(s));
    *out = s;
    return FBP_OK;
fail:
    fbp_s4_close(&s);
    return st;
}

void fbp_s4_close(struct fbp_s4 **s4)
{
    struct fbp_s4 *s = *s4;

    if (!s)
        return;
    fbp_bench_truth_clear(&s->truth);
    fbp_job_clear(&s->tables);
    fbp_pool_destroy(&s->pool);
    fbp_phantom_clear(&s->phantom);
    fbp_scan_clear(&s->scan);
    fbp_free(s->filtered);
    fbp_free(s->views);
    fbp_free(s->object);
    free(s->gx);
    free(s);
    *s4 = NULL;
}

size_t fbp_s4_views(const struct fbp_s4 *s)
{
    return s->scan.n_views;
}

size_t fbp_s4_samples(const struct fbp_s4 *s)
{
    return s->scan.panel.n_columns;
}

const double *fbp_s4_object(const struct fbp_s4 *s)
{
    return s->done ? s->object : NULL;
}

fbp_status fbp_s4_truth(const struct fbp_s4 *s, size_t slice, float *out)
{
    fbp_message_clear();
    return fbp_phantom_voxels(&s->phantom, &s->scan.volume, slice, slice + 1, out);
}

fbp_status fbp_s4_compare(struct fbp_s4 *s, struct fbp_s4_error *out)
{
    const size_t n = s->scan.volume.n[2], slice = s->scan.volume.n[0] * s->scan.volume.n[1];
    const struct fbp_bench_truth *t = &s->truth;
    struct fbp_bench_sum sum = {0};

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "qiao2015"));
    if (!s->done)
        return fbp_fail(FBP_ERR_INVALID,
                        "qiao2015: there is no object to compare: reconstruct one first");
    if (!t->n)
        FBP_TRY(
            fbp_bench_truth_make(&s->truth, &s->tables.job, s->views, 0, n, s->pool, s->n_threads));
    for (size_t z = 0; z < n; z++)
        for (size_t i = t->first[z]; i < t->first[z + 1]; i++)
            fbp_bench_sum_add(&sum, s->object[z * slice + t->voxel[i]], t->value[i]);
    const struct fbp_bench_difference d = fbp_bench_sum_of(&sum);
    *out = (struct fbp_s4_error){
        .rmse = d.rmse / sum.peak, .max = d.max / sum.peak, .n_voxels = sum.n};
    return FBP_OK;
}

/* By plans. */

/* A plan, and its output: the object in double, or floats that are converted to it. */
struct planned {
    fbp_plan *plan;
    float *floats; /* NULL: the object */
};

/* Run a plan once; its stages are separate if the plan was made without overlap. */
static fbp_status run_plan(struct fbp_s4 *s, const struct planned *p, struct fbp_report *report)
{
    const size_t *n = s->scan.volume.n;
    fbp_sink *sink = NULL;
    fbp_status st;

    *report = (struct fbp_report){.struct_size = sizeof *report};
    FBP_TRY(fbp_sink_memory(&sink, p->floats ? (void *)p->floats : s->object,
                            p->floats ? FBP_F32 : FBP_F64, n));
    st = fbp_plan_run_to(p->plan, NULL, sink, report);
    fbp_sink_close(&sink);
    return st;
}

/* Seconds per stage of a run without overlap. With two stages, rows are filtered and meridian
 * images computed while they are read: all of that counts as computing. */
static void take_stages(const struct fbp_report *r, bool two, bool first, struct fbp_s4_time *out)
{
    const double compute = two ? r->total - r->write : r->backproject;

    out->filter = two ? NAN : first ? r->filter : fmin(out->filter, r->filter);
    out->compute = first ? compute : fmin(out->compute, compute);
    out->gather = first ? r->write : fmin(out->gather, r->write);
}

/* Time the fastest of `runs` runs, after one that is not counted. */
static fbp_status time_plan(struct fbp_s4 *s, const struct planned *p, size_t runs, bool apart,
                            struct fbp_s4_time *out)
{
    const bool two = fbp_plan_info(p->plan)->n_pictures > 0;
    struct fbp_report r;

    FBP_TRY(run_plan(s, p, &r));
    for (size_t i = 0; i < runs; i++) {
        FBP_TRY(run_plan(s, p, &r));
        if (apart)
            take_stages(&r, two, i == 0, out);
        else
            out->total = i == 0 ? r.total : fmin(out->total, r.total);
    }
    return FBP_OK;
}

static void describe(const fbp_plan *plan, struct fbp_s4_time *out)
{
    const struct fbp_plan_summary *info = fbp_plan_info(plan);

    snprintf(out->backend, sizeof out->backend, "%s", info->backend);
    snprintf(out->kernel, sizeof out->kernel, "%s", info->kernel);
    snprintf(out->isa, sizeof out->isa, "%s", info->isa);
    out->n_threads = info->n_threads;
}

static fbp_status measure(struct fbp_s4 *s, struct fbp_recon_params *params, float *floats,
                          size_t runs, struct fbp_s4_time *out)
{
    struct planned p = {.floats = floats};
    fbp_status st = FBP_OK;

    for (int apart = 0; apart < 2; apart++) {
        const double begin = fbp_seconds();
        params->tuning.no_overlap = apart;
        FBP_TRY_GOTO(fbp_plan_create(&p.plan, &s->scan, params));
        FBP_TRY_GOTO(fbp_plan_open(p.plan));
        if (!apart)
            out->open = fbp_seconds() - begin;
        FBP_TRY_GOTO(time_plan(s, &p, runs, apart, out));
        describe(p.plan, out);
        fbp_plan_destroy(&p.plan);
    }
    return FBP_OK;
fail:
    fbp_plan_destroy(&p.plan);
    return st;
}

/* Run a plan; a volume in float is converted to the object afterwards. */
static fbp_status run_way(struct fbp_s4 *s, struct fbp_recon_params *p, size_t runs,
                          struct fbp_s4_time *out)
{
    const size_t *n = s->scan.volume.n, voxels = n[0] * n[1] * n[2];
    float *floats = NULL;

    if (p->precision != FBP_PRECISION_DOUBLE)
        FBP_TRY(fbp_alloc((void **)&floats, voxels * sizeof *floats, "an object"));
    const fbp_status st = measure(s, p, floats, runs, out);
    for (size_t i = 0; st == FBP_OK && floats && i < voxels; i++)
        s->object[i] = (double)floats[i];
    fbp_free(floats);
    return st;
}

fbp_status fbp_s4_run(struct fbp_s4 *s, const struct fbp_s4_way *way, struct fbp_s4_time *out)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {s->scan.panel.n_columns, 1, s->scan.n_views},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = way->device ? way->device : "cpu",
                                 .precision = way->precision,
                                 .epr.stages = way->stages,
                                 .epr.angles = way->resampled ? s->rings : 0,
                                 .n_threads = s->n_threads};

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "qiao2015"));
    *out = (struct fbp_s4_time){0};
    s->done = false;
    FBP_TRY(fbp_source_memory(&p.input.source, s->views, &info));
    const fbp_status st = run_way(s, &p, way->runs > 0 ? way->runs : 1, out);
    fbp_source_close(&p.input.source);
    s->done = st == FBP_OK;
    return st;
}

/* By kernels with the paper's arguments. */

static fbp_status find_kernels(const struct fbp_s4_kernels **out)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n = 0;

    FBP_TRY(fbp_devices_listed("cuda", &backend, devices, &n));
    *out = bench_device_of(backend)->s4;
    if (!*out)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "qiao2015: device %s has no kernels with the paper's arguments: use cuda",
                        backend->name);
    return FBP_OK;
}

static struct fbp_s4_arguments arguments_of(const struct fbp_s4 *s)
{
    const size_t q = s->scan.n_views;

    return (struct fbp_s4_arguments){.projection = s->filtered,
                                     .gx = s->gx,
                                     .gy = s->gx + q,
                                     .gz = s->gx + 2 * q,
                                     .d_object = s->d,
                                     .d_proj = s->d,
                                     .n = (int)s->scan.volume.n[0],
                                     .q = (int)q,
                                     .s = (int)s->scan.panel.n_columns};
}

/* Refuse what the kernels with the paper's launch cannot compute, and replace a block of 0 by the
 * usual one. */
static fbp_status check_launch(const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                               unsigned *block)
{
    const bool own_launch = kernel != FBP_S4_REGISTERS;

    if (own_launch && a->s % 2)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "qiao2015: the paper's kernel halves the number of samples as an integer: "
                        "expected an even number, got %d",
                        a->s);
    if (own_launch && a->n > MOST_BLOCK)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "qiao2015: the paper's kernel takes at most %d voxels per side, got %d: "
                        "choose a smaller size",
                        MOST_BLOCK, a->n);
    if (*block == 0)
        *block = own_launch ? (unsigned)a->n : BLOCK;
    if (*block > MOST_BLOCK || (own_launch && *block != (unsigned)a->n))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "qiao2015: blocks of %u threads are not possible: the paper's kernel takes "
                        "one thread per voxel of a side, at most 1024",
                        *block);
    return FBP_OK;
}

static fbp_status launch_all(struct fbp_s4 *s, const struct fbp_s4_kernels *k,
                             enum fbp_s4_kernel kernel, unsigned block, size_t runs,
                             struct fbp_s4_launch *out)
{
    const struct fbp_s4_arguments a = arguments_of(s);
    struct fbp_s4_launch one;

    for (size_t i = 0; i < runs; i++) {
        FBP_TRY(k->run(0, &a, kernel, block, s->object, &one));
        if (i == 0)
            *out = one;
        out->send = fmin(out->send, one.send);
        out->compute = fmin(out->compute, one.compute);
        out->gather = fmin(out->gather, one.gather);
        out->launch = fmin(out->launch, one.launch);
        out->gather_launched = fmin(out->gather_launched, one.gather_launched);
        out->copied = fmin(out->copied, one.copied);
    }
    return FBP_OK;
}

fbp_status fbp_s4_launch(struct fbp_s4 *s, enum fbp_s4_kernel kernel, unsigned block, size_t runs,
                         struct fbp_s4_launch *out)
{
    const struct fbp_s4_arguments a = arguments_of(s);
    const struct fbp_s4_kernels *k;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "qiao2015"));
    FBP_TRY(check_launch(&a, kernel, &block));
    FBP_TRY(find_kernels(&k));
    s->done = false;
    FBP_TRY(launch_all(s, k, kernel, block, runs > 0 ? runs : 1, out));
    s->done = true;
    return FBP_OK;
}

fbp_status fbp_s4_occupancy(struct fbp_s4 *s, enum fbp_s4_kernel kernel, unsigned block,
                            struct fbp_s4_occupancy *out)
{
    const struct fbp_s4_arguments a = arguments_of(s);
    const struct fbp_s4_kernels *k;
    struct fbp_s4_gpu gpu;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "qiao2015"));
    FBP_TRY(check_launch(&a, kernel, &block));
    FBP_TRY(find_kernels(&k));
    FBP_TRY(k->describe(0, &gpu));
    *out = (struct fbp_s4_occupancy){0};
    FBP_TRY(k->occupancy(0, &a, kernel, block, out));
    out->paper_threads = fbp_s4_paper_threads(&gpu, block);
    return FBP_OK;
}

fbp_status fbp_s4_gpu(struct fbp_s4_gpu *out)
{
    const struct fbp_s4_kernels *k;

    fbp_message_clear();
    FBP_TRY(find_kernels(&k));
    return k->describe(0, out);
}
