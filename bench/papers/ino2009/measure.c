/* A session of Ino et al. (2009): the scan and phantom, runs on a device that draws, and the
 * error of their volume. Called by command.c, runs.c and pictures.c.
 * Used by: bench/papers/ino2009/. */
#include "bench/papers/ino2009/s3.h"

#include "backend/device.h"
#include "base/base.h"
#include "base/threads.h"
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
#include <sys/types.h>

static const double PI = 3.14159265358979323846;
static const double PAPER_LEFT_OUT = 0.75;

struct fbp_s3 {
    pid_t process; /* that opened it */
    const struct fbp_scan *scan;
    int n_threads;
    struct fbp_job_tables tables;
    const struct fbp_s3_kernels *kernels;
    struct fbp_s3_device *dev;
    float *views;        /* unfiltered views in host memory, [n_views][n_rows][n_columns] */
    uint8_t *wanted;     /* [nz][ny][nx] */
    float *voxels;       /* of the last run */
    bool done, some;     /* there was a run; it computed only voxels of the region */
    size_t z0, n_slices; /* slices that the last run may have drawn; all others are zeros */
    struct fbp_bench_truth truth;
};

static size_t slice_of(const fbp_s3 *s)
{
    return s->scan->volume.n[0] * s->scan->volume.n[1];
}

/* Opening. */

bool fbp_s3_draws(const char *device)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n = 0;

    return fbp_devices_listed(device ? device : "gl", &backend, devices, &n) != FBP_OK ||
           bench_device_of(backend)->s3;
}

static fbp_status find_device(fbp_s3 *s, const char *name, int *index)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n = 0;

    FBP_TRY(fbp_devices_listed(name ? name : "gl", &backend, devices, &n));
    s->kernels = bench_device_of(backend)->s3;
    if (!s->kernels)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "ino2009: device %s does not draw with OpenGL; use --device gl",
                        backend->name);
    *index = devices[0];
    return FBP_OK;
}

static struct fbp_recon_params job_params(const fbp_s3 *s)
{
    const size_t half = s->scan->panel.n_columns / 2;

    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .n_threads = s->n_threads,
                                     .filter = FBP_FILTER_SHEPP_LOGAN,
                                     .filtering.spatial = true,
                                     .filtering.half_width = half > 0 ? half : 1};
}

static fbp_status make_job(fbp_s3 *s)
{
    const struct fbp_recon_params params = job_params(s);

    if (!fbp_kind_has_source(s->scan->kind) || s->scan->filtered)
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2009: expected a cone-beam scan of unfiltered views: use such a scan");
    return fbp_job_create(&s->tables, s->scan, &params, false);
}

/* Mark the region of interest: a cylinder about the axis with a share 1 - left_out of each slice.
 */
static void make_wanted(fbp_s3 *s, double left_out)
{
    const size_t *n = s->scan->volume.n;
    const double r2 = (1 - left_out) / PI * (double)n[0] * (double)n[1];

    for (size_t i = 0; i < n[2] * slice_of(s); i++) {
        const double x = (double)(i % n[0]) - ((double)n[0] - 1) / 2;
        const double y = (double)(i / n[0] % n[1]) - ((double)n[1] - 1) / 2;
        s->wanted[i] = x * x + y * y <= r2;
    }
}

static fbp_status make_arrays(fbp_s3 *s, double left_out)
{
    const struct fbp_scan *scan = s->scan;
    const double half = 0.5 * (double)scan->volume.n[0] * scan->volume.voxel_mm[0];
    size_t views, voxels;

    FBP_TRY(fbp_mul(scan->panel.n_columns * scan->panel.n_rows * sizeof(float), scan->n_views,
                    "views", &views));
    FBP_TRY(fbp_mul(slice_of(s) * sizeof(float), scan->volume.n[2], "a volume", &voxels));
    FBP_TRY(fbp_alloc((void **)&s->views, views, "views"));
    FBP_TRY(fbp_alloc((void **)&s->voxels, voxels, "a volume"));
    FBP_TRY(fbp_alloc((void **)&s->wanted, voxels / sizeof(float), "a region of interest"));
    s->n_slices = scan->volume.n[2];
    make_wanted(s, left_out);
    return fbp_bench_project(scan, half, s->n_threads, s->views);
}

fbp_status fbp_s3_open(fbp_s3 **out, const struct fbp_scan *scan, const struct fbp_s3_params *given)
{
    struct fbp_s3_params own, *const p = &own;
    fbp_s3 *s = NULL;
    int index = 0;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_copy_struct_in("ino2009", p, sizeof *p, given));
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "ino2009: n_threads", p->n_threads));
    if (!(p->left_out >= 0 && p->left_out < 1))
        return fbp_fail(FBP_ERR_INVALID, "ino2009: left_out: expected 0 ... 1, got %g",
                        p->left_out);
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a benchmark"));
    s->process = getpid();
    s->scan = scan;
    s->n_threads = p->n_threads > 0 ? p->n_threads : fbp_core_count();
    FBP_TRY_GOTO(find_device(s, p->device, &index));
    FBP_TRY_GOTO(make_job(s));
    FBP_TRY_GOTO(s->kernels->open(&s->dev, index, &s->tables.job));
    FBP_TRY_GOTO(make_arrays(s, p->left_out > 0 ? p->left_out : PAPER_LEFT_OUT));
    *out = s;
    return FBP_OK;
fail:
    fbp_s3_close(&s);
    return st;
}

void fbp_s3_close(fbp_s3 **s3)
{
    fbp_s3 *s = *s3;

    if (!s)
        return;
    if (s->dev && s->process == getpid()) /* a child does not have its thread */
        s->kernels->close(&s->dev);
    fbp_bench_truth_clear(&s->truth);
    fbp_job_clear(&s->tables);
    fbp_free(s->wanted);
    fbp_free(s->voxels);
    fbp_free(s->views);
    free(s);
    *s3 = NULL;
}

const char *fbp_s3_renderer(const fbp_s3 *s)
{
    return s->kernels->renderer(s->dev);
}

const struct fbp_s3_variant *fbp_s3_variant_at(const fbp_s3 *s, size_t index)
{
    return s->kernels->variant(index);
}

void fbp_s3_cost_of(const fbp_s3 *s, const struct fbp_s3_way *way, struct fbp_s3_cost *out)
{
    s->kernels->cost(way, out);
}

fbp_status fbp_s3_measure(fbp_s3 *s, struct fbp_s3_limits *out)
{
    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "ino2009"));
    return s->kernels->measure(s->dev, out);
}

size_t fbp_s3_passes(const struct fbp_s3_variant *v, size_t n_slices, size_t n_views)
{
    const size_t groups = (n_slices + v->slices - 1) / v->slices;

    return groups * ((n_views + v->views - 1) / v->views);
}

static fbp_status check_passes(const fbp_s3 *s, const struct fbp_s3_way *way,
                               const struct fbp_s3_time *t)
{
    const struct fbp_s3_variant *v = s->kernels->variant(way->variant);
    const size_t wanted = fbp_s3_passes(v, t->n_slices, s->scan->n_views);

    if (t->passes != wanted)
        return fbp_fail(FBP_ERR_DEVICE,
                        "ino2009: variant %c drew %zu passes, expected %zu: report this error",
                        v->letter, t->passes, wanted);
    return FBP_OK;
}

fbp_status fbp_s3_run(fbp_s3 *s, const struct fbp_s3_way *way, struct fbp_s3_time *out)
{
    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "ino2009"));
    if (!s->kernels->variant(way->variant))
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2009: variant %zu does not exist: choose a smaller index",
                        way->variant);
    FBP_TRY(fbp_check_cancelled());
    s->done = false;
    s->some = way->kill != FBP_S3_NO_KILL;
    if (way->middle) /* only what was drawn before is not zero */
        memset(s->voxels + s->z0 * slice_of(s), 0, s->n_slices * slice_of(s) * sizeof *s->voxels);
    s->z0 = 0; /* a run that fails may have drawn any */
    s->n_slices = s->scan->volume.n[2];
    FBP_TRY(s->kernels->run(s->dev, way, s->views, s->some ? s->wanted : NULL, s->voxels,
                            fbp_check_cancelled, out));
    s->done = true;
    s->z0 = out->z0;
    s->n_slices = out->n_slices;
    return check_passes(s, way, out);
}

const float *fbp_s3_volume(const fbp_s3 *s)
{
    return s->done ? s->voxels : NULL;
}

const uint8_t *fbp_s3_wanted(const fbp_s3 *s)
{
    return s->done && s->some ? s->wanted : NULL;
}

/* Find the slices [z, end) that are drawn and have reference values. */
static void find_common(const fbp_s3 *s, size_t *z, size_t *end)
{
    const struct fbp_bench_truth *t = &s->truth;
    const size_t drawn = s->z0 + s->n_slices, known = t->z0 + t->nz;

    *z = s->z0 > t->z0 ? s->z0 : t->z0;
    *end = drawn < known ? drawn : known;
}

/* Compute reference values in double for the drawn slices, unless some of these slices have them
 * already. */
static fbp_status make_truth(fbp_s3 *s)
{
    fbp_pool *pool = NULL;
    size_t z, end;

    find_common(s, &z, &end);
    if (s->truth.n && z < end)
        return FBP_OK;
    fbp_bench_truth_clear(&s->truth);
    FBP_TRY(fbp_pool_create(&pool, s->n_threads));
    const fbp_status st = fbp_bench_truth_make(&s->truth, &s->tables.job, s->views, s->z0,
                                               s->n_slices, pool, s->n_threads);
    fbp_pool_destroy(&pool);
    return st;
}

fbp_status fbp_s3_compare(fbp_s3 *s, struct fbp_s3_error *out)
{
    const struct fbp_bench_truth *t = &s->truth;
    struct fbp_bench_sum sum = {0};
    size_t z, end;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "ino2009"));
    if (!s->done)
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2009: there is no volume to compare: run the job first");
    FBP_TRY(make_truth(s));
    find_common(s, &z, &end);
    for (; z < end; z++)
        for (size_t i = t->first[z - t->z0]; i < t->first[z - t->z0 + 1]; i++) {
            const size_t voxel = z * slice_of(s) + t->voxel[i];
            if (!s->some || s->wanted[voxel])
                fbp_bench_sum_add(&sum, (double)s->voxels[voxel], t->value[i]);
        }
    const struct fbp_bench_difference d = fbp_bench_sum_of(&sum);
    *out = (struct fbp_s3_error){.rmse = d.rmse,
                                 .max = d.max,
                                 .rmse_hu = 1000 * d.rmse / FBP_BENCH_WATER,
                                 .psnr_db = d.psnr_db,
                                 .n_voxels = sum.n};
    return FBP_OK;
}

/* The CPU's kernels, on the same views. */
fbp_status fbp_s3_by_cpu(fbp_s3 *s, float *voxels)
{
    struct fbp_recon_params params = job_params(s);

    FBP_TRY(fbp_check_process(s->process, "ino2009"));
    params.device = "cpu";
    return fbp_bench_reconstruct(s->scan, &params, s->views, voxels);
}
