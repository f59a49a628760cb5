#include "bench/common/error.h"

#include "array/array.h"
#include "base/base.h"
#include "bench/common/memory.h"
#include "bench/common/truth.h"
#include "bench/common/views.h"
#include "geometry/kind.h"
#include "phantom/shapes.h"

/* Slices; samples of scans whose views are all computed at once, into memory. */
enum { SLICES = 4, FEW_SAMPLES = 1 << 22 };

/* A scan of a phantom as a source: the rows that are asked for, computed when they are, by several
 * threads at a time. */
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

/* In memory, *views, or where there are many, row by row. */
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

/* By kernel matrix in one stage, or where that lacks something, in double. */
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

fbp_status fbp_bench_error(const struct fbp_scan *scan, const struct fbp_recon_params *params,
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
