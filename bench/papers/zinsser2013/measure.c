/* The kernels of S1 on a device that holds all views of a scan, and their error. */
#include "bench/papers/zinsser2013/s1.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/text.h"
#include "bench/common/device.h"
#include "bench/common/modules.h"
#include "bench/common/views.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_BATCH = 32, BLOCK_SLICES = 16, MOST_LAYERS = 2048 };

/* A device with a job of its own. */
struct side {
    const struct fbp_backend *backend;
    struct fbp_job_tables tables;
    fbp_device *dev;
    struct fbp_slab slab;
    size_t batch_views;
    void *raw, *filtered, *volume;
};

struct fbp_s1 {
    const struct fbp_scan *scan;
    struct fbp_recon_params params;
    float *views; /* of the host, unfiltered [n_views][n_rows][n_columns] */
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

static fbp_status side_open(struct side *s, const struct fbp_s1 *of, enum fbp_precision precision,
                            size_t batch_views)
{
    const struct fbp_recon_params params = {.struct_size = sizeof params,
                                            .n_threads = of->params.n_threads,
                                            .precision = precision,
                                            .tuning.kernel = "matrix"};
    const size_t n_rows = of->scan->panel.n_rows;
    const struct fbp_job *job = &s->tables.job;

    s->batch_views = batch_views;
    FBP_TRY(fbp_job_create(&s->tables, of->scan, &params, false));
    FBP_TRY(fbp_job_arrange(&s->tables.job, s->backend));
    s->slab = fbp_slab_whole(job, 0, job->grid.n[2]);
    FBP_TRY(s->backend->open(&s->dev, 0, job));
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, s->backend->volume_bytes(job, &s->slab), 0,
                                      0};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED,
                                        s->backend->filtered_bytes(job, batch_views, n_rows),
                                        batch_views, n_rows};
    FBP_TRY(s->backend->memory.alloc(s->dev, &volume, &s->volume));
    return s->backend->memory.alloc(s->dev, &filtered, &s->filtered);
}

/* A batch of the host's views, filtered on the device. */
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

/* Enough device memory, as far as it is known, for all views twice and two volumes? */
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
                        "S1: views and volumes take %s, the device has %s free: use "
                        "fewer views or voxels",
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
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_UNSUPPORTED, "S1: %s has no texture units: use a cuda device",
                              s->fast.backend->name));
    if (!fbp_kind_has_source(scan->kind) || scan->n_views > MOST_LAYERS)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID,
                              "S1: a cone-beam scan of at most %d views is needed: use fewer",
                              MOST_LAYERS));
    FBP_TRY_GOTO(check_memory(s->fast.backend, scan));
    FBP_TRY_GOTO(fbp_mul(view_samples(scan) * sizeof(float), scan->n_views, "views", &samples));
    FBP_TRY_GOTO(fbp_alloc((void **)&s->views, samples, "views"));
    FBP_TRY_GOTO(side_open(&s->fast, s, FBP_PRECISION_FAST, scan->n_views));
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

static int by_seconds(const void *a, const void *b)
{
    const double x = ((const struct fbp_s1_time *)a)->seconds;
    const double y = ((const struct fbp_s1_time *)b)->seconds;
    return (x > y) - (x < y);
}

fbp_status fbp_s1_measure(fbp_s1 *s, size_t index, enum fbp_s1_part part, size_t n_runs,
                          struct fbp_s1_time *out)
{
    struct side *f = &s->fast;
    struct fbp_s1_time *runs;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(fbp_calloc((void **)&runs, n_runs + 1, sizeof *runs, "times"));
    FBP_TRY_GOTO(f->backend->clear(f->dev, &f->slab, f->volume));
    for (size_t i = 0; i <= n_runs; i++) /* the last one is the first one again */
        FBP_TRY_GOTO(run_once(s, index, part, &runs[i % n_runs]));
    qsort(runs, n_runs, sizeof *runs, by_seconds);
    *out = runs[n_runs / 2];
fail:
    free(runs);
    return st;
}

/* Batch after batch, into a volume that was cleared. */
static fbp_status reconstruct(struct side *s, const float *views)
{
    const size_t n = s->tables.job.n_views;

    FBP_TRY(s->backend->clear(s->dev, &s->slab, s->volume));
    for (size_t view = 0; view < n; view += s->batch_views) {
        const size_t left = n - view;
        const struct fbp_batch b = batch_of(s, view, left < s->batch_views ? left : s->batch_views);
        FBP_TRY(filter(s, views, &b));
        FBP_TRY(
            s->backend->backproject(s->dev, &b, s->filtered, &s->slab, 0, s->slab.nz, s->volume));
        FBP_TRY(settle(s));
    }
    return FBP_OK;
}

/* Sums over voxels; ours and theirs hold a block of slices each. */
struct comparison {
    float *ours, *theirs;
    double squares, most, peak;
};

static fbp_status fetch(const struct side *s, size_t z0, size_t z1, float *out)
{
    FBP_TRY(s->backend->fetch(s->dev, &s->slab, z0, z1, s->volume, out));
    return settle(s);
}

static fbp_status compare_blocks(const struct side *ours, const struct side *theirs,
                                 struct comparison *c)
{
    const struct fbp_grid *g = &ours->tables.job.grid;

    for (size_t z = 0; z < g->n[2]; z += BLOCK_SLICES) {
        const size_t end = z + BLOCK_SLICES < g->n[2] ? z + BLOCK_SLICES : g->n[2];
        FBP_TRY(fetch(ours, z, end, c->ours));
        FBP_TRY(fetch(theirs, z, end, c->theirs));
        for (size_t i = 0; i < (end - z) * g->n[0] * g->n[1]; i++) {
            const double exact = (double)c->theirs[i], d = (double)c->ours[i] - exact;
            c->squares += d * d;
            c->most = fmax(c->most, fabs(d));
            c->peak = fmax(c->peak, fabs(exact));
        }
    }
    return FBP_OK;
}

static fbp_status compare(const struct side *ours, const struct side *theirs,
                          struct fbp_s1_error *out)
{
    const struct fbp_grid *g = &ours->tables.job.grid;
    const size_t slice = g->n[0] * g->n[1], block = BLOCK_SLICES * slice * sizeof(float);
    struct comparison c = {0};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_alloc((void **)&c.ours, block, "slices"));
    FBP_TRY_GOTO(fbp_alloc((void **)&c.theirs, block, "slices"));
    FBP_TRY_GOTO(compare_blocks(ours, theirs, &c));
    const double rms = sqrt(c.squares / ((double)slice * (double)g->n[2]));
    out->rmse_hu = 1000 / FBP_BENCH_WATER * rms;
    out->max_hu = 1000 / FBP_BENCH_WATER * c.most;
    out->psnr_db = rms > 0 ? 20 * log10(c.peak / rms) : 999;
fail:
    fbp_free(c.theirs);
    fbp_free(c.ours);
    return st;
}

/* Views of a phantom that fills the volume, on the host and on the fast side. */
static fbp_status show_phantom(fbp_s1 *s)
{
    const struct fbp_grid *g = &s->fast.tables.job.grid;
    const struct fbp_batch all = batch_of(&s->fast, 0, s->scan->n_views);

    FBP_TRY(fbp_bench_project(s->scan, 0.5 * (double)g->n[0] * g->voxel_mm[0], s->params.n_threads,
                              s->views));
    return filter(&s->fast, s->views, &all);
}

fbp_status fbp_s1_compare(fbp_s1 *s, size_t index, struct fbp_s1_error *out)
{
    const size_t n = s->scan->n_views;
    struct side exact = {.backend = s->fast.backend};
    struct fbp_s1_time time;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(show_phantom(s));
    FBP_TRY(s->fast.backend->clear(s->fast.dev, &s->fast.slab, s->fast.volume));
    FBP_TRY(run_once(s, index, FBP_S1_ALL, &time));
    FBP_TRY_GOTO(side_open(&exact, s, FBP_PRECISION_EXACT, n < EXACT_BATCH ? n : EXACT_BATCH));
    FBP_TRY_GOTO(reconstruct(&exact, s->views));
    FBP_TRY_GOTO(compare(&s->fast, &exact, out));
fail:
    side_close(&exact);
    return st;
}
