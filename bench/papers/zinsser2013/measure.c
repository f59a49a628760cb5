/* Runs the kernels of Zinsser and Keck (2013) on a device that holds all views of a scan, and
 * compares their volumes. Called by command.c and transfers.c.
 * Used by: command.c, transfers.c. */
#include "bench/papers/zinsser2013/text.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/math.h"
#include "base/text.h"
#include "bench/common/memory.h"
#include "bench/common/modules.h"
#include "bench/common/truth.h"
#include "bench/common/views.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILTERED = 32,
    MOST_LAYERS = 2048
}; /* views filtered at a time; greatest number of layers of a texture */
enum { MOST_RUNS = 1000 };

static const double HU = 1000 / FBP_BENCH_WATER;

/* A device with a job of its own. */
struct side {
    const struct fbp_backend *backend;
    struct fbp_job_tables tables;
    fbp_device *dev;
    struct fbp_slab slab;
    void *raw, *filtered, *volume;
};

struct fbp_s1 {
    const struct fbp_scan *scan;
    struct fbp_recon_params params;
    float *views; /* unfiltered views in host memory, [n_views][n_rows][n_columns] */
    struct side fast;
    const struct fbp_s1_kernels *kernels;
};

static size_t view_samples(const struct fbp_scan *scan)
{
    return scan->panel.n_columns * scan->panel.n_rows;
}

static fbp_status settle(const struct side *s)
{
    return fbp_device_settle_all(s->backend, s->dev);
}

static void side_close(struct side *s)
{
    if (s->dev) {
        (void)!settle(s);
        fbp_device_put(s->backend, s->dev, FBP_FOR_RAW, s->raw);
        fbp_device_put(s->backend, s->dev, FBP_FOR_FILTERED, s->filtered);
        fbp_device_put(s->backend, s->dev, FBP_FOR_VOLUME, s->volume);
        s->backend->close(&s->dev);
    }
    fbp_job_clear(&s->tables);
}

/* All rows of views [view0, view0 + n). */
static struct fbp_batch batch_of(const struct side *s, size_t view0, size_t n)
{
    const struct fbp_job *job = &s->tables.job;

    return (struct fbp_batch){
        .view0 = view0, .n_views = n, .n_rows = job->panel.n_rows, .load_rows = job->panel.n_rows};
}

static fbp_status side_open(struct side *s, const struct fbp_s1 *of)
{
    const struct fbp_recon_params params = {.struct_size = sizeof params,
                                            .n_threads = of->params.n_threads,
                                            .precision = FBP_PRECISION_FAST,
                                            .tuning.kernel = "matrix"};
    const size_t n_rows = of->scan->panel.n_rows, n_views = of->scan->n_views;
    const struct fbp_job *job = &s->tables.job;

    FBP_TRY(fbp_job_create(&s->tables, of->scan, &params, false));
    FBP_TRY(fbp_job_arrange(&s->tables.job, s->backend));
    s->slab = fbp_slab_whole(job, 0, job->grid.n[2]);
    FBP_TRY(s->backend->open(&s->dev, 0, job));
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, s->backend->volume_bytes(job, &s->slab), 0,
                                      0};
    const struct fbp_buffer filtered = {
        FBP_FOR_FILTERED, s->backend->filtered_bytes(job, n_views, n_rows), n_views, n_rows};
    FBP_TRY(s->backend->memory.alloc(s->dev, &volume, &s->volume));
    return s->backend->memory.alloc(s->dev, &filtered, &s->filtered);
}

/* Copy a batch of views to the device and filter them there. */
static fbp_status filter(struct side *s, const float *views, const struct fbp_batch *b)
{
    const size_t n = fbp_raw_samples(&s->tables.job, b), size = n / b->n_views;
    const struct fbp_buffer raw = {FBP_FOR_RAW, n * sizeof(float), b->n_views, b->load_rows};
    fbp_status st = FBP_OK;

    FBP_TRY(s->backend->memory.alloc(s->dev, &raw, &s->raw));
    FBP_TRY_GOTO(s->backend->memory.upload(s->dev, s->raw, views + b->view0 * size, n));
    FBP_TRY_GOTO(settle(s));
    FBP_TRY_GOTO(s->backend->filter(s->dev, b, s->raw, s->filtered));
    FBP_TRY_GOTO(settle(s));
fail:
    fbp_device_put(s->backend, s->dev, FBP_FOR_RAW, s->raw);
    s->raw = NULL;
    return st;
}

/* Check that device memory, if its size is known, holds all views twice and two volumes. */
static fbp_status check_memory(const struct fbp_backend *backend, const struct fbp_scan *scan)
{
    const double voxels =
        (double)scan->volume.n[0] * (double)scan->volume.n[1] * (double)scan->volume.n[2];
    const double samples = (double)view_samples(scan) * (double)scan->n_views;
    const double bytes = 2 * sizeof(float) * (voxels + samples);
    struct fbp_device_info device = {.struct_size = sizeof device};
    char needs[32], has[32];

    backend->discovery.describe(0, &device);
    if (device.free_bytes && bytes > (double)device.free_bytes)
        return fbp_fail(FBP_ERR_NOMEM,
                        "zinsser2013: views and volumes take %s, the device has %s free: use fewer "
                        "views or voxels",
                        fbp_bytes_estimate_text(needs, sizeof needs, bytes),
                        fbp_bytes_text(has, sizeof has, device.free_bytes));
    return FBP_OK;
}

fbp_status fbp_s1_open(fbp_s1 **out, const struct fbp_scan *scan,
                       const struct fbp_recon_params *params)
{
    fbp_s1 *s;
    size_t samples;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a benchmark"));
    s->scan = scan;
    FBP_TRY_GOTO(fbp_take_params(&s->params, params));
    params = &s->params;
    FBP_TRY_GOTO(fbp_bench_device(params->device, &s->fast.backend));
    s->kernels = bench_device_of(s->fast.backend)->s1;
    if (!s->kernels)
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_UNSUPPORTED,
                     "zinsser2013: device %s does not have the paper's kernels: use a cuda device",
                     s->fast.backend->name));
    if (!fbp_kind_has_source(scan->kind) || scan->n_views > MOST_LAYERS)
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_INVALID,
                     "zinsser2013: expected a cone-beam scan of at most %d views: use fewer views",
                     MOST_LAYERS));
    FBP_TRY_GOTO(check_memory(s->fast.backend, scan));
    FBP_TRY_GOTO(fbp_mul(view_samples(scan) * sizeof(float), scan->n_views, "views", &samples));
    FBP_TRY_GOTO(fbp_alloc((void **)&s->views, samples, "views"));
    FBP_TRY_GOTO(side_open(&s->fast, s));
    FBP_TRY_GOTO(fbp_bench_random(scan, params->n_threads, FBP_F32, s->views));
    const struct fbp_batch all = batch_of(&s->fast, 0, scan->n_views);
    FBP_TRY_GOTO(filter(&s->fast, s->views, &all));
    *out = s;
    return FBP_OK;
fail:
    fbp_s1_close(&s);
    return st;
}

void fbp_s1_close(fbp_s1 **s)
{
    if (!*s)
        return;
    side_close(&(*s)->fast);
    fbp_free((*s)->views);
    free(*s);
    *s = NULL;
}

const struct fbp_s1_shape *fbp_s1_shape_at(const fbp_s1 *s, size_t index)
{
    return s->kernels->shape(index);
}

static fbp_status run_once(fbp_s1 *s, size_t index, enum fbp_s1_part part, struct fbp_s1_time *out)
{
    struct side *f = &s->fast;
    const struct fbp_batch all = batch_of(f, 0, s->scan->n_views);

    return s->kernels->run(f->dev, &all, f->filtered, f->volume, index, part, out);
}

fbp_status fbp_s1_measure(fbp_s1 *s, size_t index, enum fbp_s1_part part, size_t n_runs,
                          struct fbp_s1_time *out)
{
    const size_t *n = s->scan->volume.n;
    struct side *f = &s->fast;
    double seconds[MOST_RUNS];

    fbp_message_clear();
    FBP_TRY(f->backend->clear(f->dev, &f->slab, f->volume));
    for (size_t i = 0; i <= n_runs; i++) { /* the first run is not counted */
        FBP_TRY(run_once(s, index, part, out));
        seconds[i % n_runs] = out->seconds;
    }
    fbp_sort(seconds, n_runs);
    out->seconds = seconds[n_runs / 2];
    s1_account(fbp_s1_shape_at(s, index), part, (double)n[0] * (double)n[1] * (double)n[2],
               s->scan->n_views, out);
    return FBP_OK;
}

/* Filter views in place, on the host. */
static fbp_status filter_views(const struct fbp_scan *scan, int n_threads, float *views)
{
    const struct fbp_recon_params params = {
        .struct_size = sizeof params, .n_threads = n_threads, .tuning.kernel = "matrix"};
    struct side s = {.backend = fbp_backend_find("cpu")};
    struct fbp_scan measured = *scan;
    const size_t size = view_samples(scan), n = scan->n_views;
    float *rows = NULL;
    fbp_status st = FBP_OK;

    measured.filtered = false;
    FBP_TRY(fbp_job_create(&s.tables, &measured, &params, false));
    FBP_TRY_GOTO(fbp_job_arrange(&s.tables.job, s.backend));
    if (s.tables.job.padded.panel.n_columns != scan->panel.n_columns)
        FBP_TRY_GOTO(
            fbp_fail(FBP_ERR_UNSUPPORTED,
                     "zinsser2013: the detector is not centred: use a scan without an offset"));
    FBP_TRY_GOTO(s.backend->open(&s.dev, 0, &s.tables.job));
    FBP_TRY_GOTO(fbp_alloc((void **)&rows, FILTERED * size * sizeof *rows, "filtered views"));
    for (size_t view = 0; view < n; view += FILTERED) {
        const size_t left = n - view;
        const struct fbp_batch b = batch_of(&s, view, left < FILTERED ? left : FILTERED);
        FBP_TRY_GOTO(s.backend->filter_rows(s.dev, &b, views + view * size, rows));
        memcpy(views + view * size, rows, b.n_views * size * sizeof *rows);
    }
fail:
    fbp_free(rows);
    side_close(&s);
    return st;
}

fbp_status fbp_s1_project(const struct fbp_scan *scan, int n_threads, float *views)
{
    const struct fbp_grid *g = &scan->volume;

    FBP_TRY(fbp_bench_project(scan, 0.5 * (double)g->n[0] * g->voxel_mm[0], n_threads, views));
    return scan->filtered ? filter_views(scan, n_threads, views) : FBP_OK;
}

/* Some voxels of the volume against a backprojection in double. */
static fbp_status compare_double(const struct fbp_scan *scan, int n_threads, const float *views,
                                 const float *volume, double *rmse_hu)
{
    const struct fbp_recon_params params = {.struct_size = sizeof params, .n_threads = n_threads};
    const size_t nz = scan->volume.n[2];
    struct fbp_job_tables tables = {.views = NULL};
    struct fbp_bench_truth truth = {.n = 0};
    float *samples = NULL;
    fbp_pool *pool = NULL;
    fbp_status st = FBP_OK;

    n_threads = n_threads > 0 ? n_threads : fbp_core_count();
    FBP_TRY_GOTO(fbp_job_create(&tables, scan, &params, false));
    FBP_TRY_GOTO(fbp_pool_create(&pool, n_threads));
    FBP_TRY_GOTO(fbp_bench_truth_make(&truth, &tables.job, views, 0, nz, pool, n_threads));
    FBP_TRY_GOTO(fbp_alloc((void **)&samples, truth.n * sizeof *samples, "samples"));
    fbp_bench_truth_pick(&truth, &tables.job.grid, 0, nz, volume, samples);
    *rmse_hu = HU * fbp_bench_truth_compare(&truth, samples).rmse;
fail:
    fbp_free(samples);
    fbp_bench_truth_clear(&truth);
    fbp_pool_destroy(&pool);
    fbp_job_clear(&tables);
    return st;
}

fbp_status fbp_s1_compare_volume(const struct fbp_scan *scan, const struct fbp_recon_params *given,
                                 const float *views, const float *volume, struct fbp_s1_error *out)
{
    const size_t *n = scan->volume.n, voxels = n[0] * n[1] * n[2];
    struct fbp_recon_params params = *given;
    struct fbp_bench_sum sum = {.n = 0};
    float *exact = NULL;
    fbp_status st = FBP_OK;

    params.tuning.kernel = "matrix";
    params.precision = FBP_PRECISION_EXACT;
    FBP_TRY(fbp_alloc((void **)&exact, voxels * sizeof *exact, "a volume"));
    FBP_TRY_GOTO(fbp_bench_reconstruct(scan, &params, views, exact));
    for (size_t i = 0; i < voxels; i++)
        fbp_bench_sum_add(&sum, (double)volume[i], (double)exact[i]);
    const struct fbp_bench_difference d = fbp_bench_sum_of(&sum);
    *out = (struct fbp_s1_error){.rmse_hu = HU * d.rmse, .max_hu = HU * d.max, d.psnr_db};
    FBP_TRY_GOTO(compare_double(scan, params.n_threads, views, volume, &out->double_hu));
fail:
    fbp_free(exact);
    return st;
}

fbp_status fbp_s1_compare(fbp_s1 *s, size_t index, struct fbp_s1_error *out)
{
    const size_t *n = s->scan->volume.n, voxels = n[0] * n[1] * n[2];
    const struct fbp_batch all = batch_of(&s->fast, 0, s->scan->n_views);
    struct side *f = &s->fast;
    struct fbp_s1_time time;
    float *volume = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(fbp_s1_project(s->scan, s->params.n_threads, s->views));
    FBP_TRY(filter(f, s->views, &all));
    FBP_TRY(f->backend->clear(f->dev, &f->slab, f->volume));
    FBP_TRY(run_once(s, index, FBP_S1_ALL, &time));
    FBP_TRY(fbp_alloc((void **)&volume, voxels * sizeof *volume, "a volume"));
    FBP_TRY_GOTO(f->backend->fetch(f->dev, &f->slab, 0, n[2], f->volume, volume));
    FBP_TRY_GOTO(settle(f));
    FBP_TRY_GOTO(fbp_s1_compare_volume(s->scan, &s->params, s->views, volume, out));
fail:
    fbp_free(volume);
    return st;
}
