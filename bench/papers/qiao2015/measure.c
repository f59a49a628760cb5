/* The job of S4: projections of a bottle, ways of the library, the object and its error. */
#include "bench/papers/qiao2015/measure.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "geometry/ranges.h"
#include "geometry/view.h"
#include "pipeline/job.h"
#include "pipeline/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RINGS = 18, MOST_SIDE = 1024, MOST_SAMPLES = 1 << 16 };

static const double SIDE_MM = 2; /* of the object, in the unit of the phantom */

size_t fbp_s4_samples_for(size_t size)
{
    return 2 * (size_t)ceil(sqrt(3) * (double)size / 2);
}

static fbp_status check_params(const struct fbp_s4_params *p)
{
    if (p->size < 2 || p->size > MOST_SIDE)
        return fbp_fail(FBP_ERR_INVALID, "S4: size: expected 2 to %d, got %zu", MOST_SIDE, p->size);
    if (p->samples == 1 || p->samples > MOST_SAMPLES)
        return fbp_fail(FBP_ERR_INVALID, "S4: samples: expected 2 to %d, got %zu", MOST_SAMPLES,
                        p->samples);
    return fbp_check_range(&fbp_range_threads, "S4: n_threads", p->n_threads);
}

/* Places as the paper's kernel has them: t = 0 at sample S/2, voxel m at (m + 1 - N/2) d. */
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

/* Means of a few points a sample, as a spectrometer measures them. */
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

/* What the paper's kernel takes: filtered as ref does it, and weighted. */
static fbp_status filter(struct fbp_s4 *s)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {s->scan.panel.n_columns, 1, s->scan.n_views},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};
    fbp_source *source = NULL;

    FBP_TRY(fbp_source_memory(&source, s->views, &info));
    const fbp_status st = fbp_filter_views(&s->tables.job, source, false, keep_filtered, s);
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
    FBP_TRY(fbp_copy_struct_in("S4", p, sizeof *p, given));
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
    FBP_TRY(fbp_check_process(s->process, "S4"));
    if (!s->done)
        return fbp_fail(FBP_ERR_INVALID, "S4: there is no object to compare: make one first");
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
