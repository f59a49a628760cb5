/* Several frames (delays) of plane integrals at once: the same bits as one by one, whichever device
 * and kernel compute them, and however memory divides the work. */
#include "recon/planes_util.h"

enum { FRAMES = 3, SIDE = 40 };

/* Balls that fade away at different speeds beside an ellipsoid that stays: [view][frame][S]. */
static float *series_of(const struct fbp_scan *scan)
{
    const size_t S = scan->panel.n_columns, n = scan->n_views;
    const struct solid ball = ball_of_planes(2), ellipsoid = ellipsoid_of_planes();
    float *a = plane_samples(scan, &ball, 1), *b = plane_samples(scan, &ellipsoid, 1);
    float *out = calloc(n * FRAMES * S, sizeof *out);

    for (size_t k = 0; k < n; k++)
        for (size_t f = 0; f < FRAMES; f++)
            for (size_t c = 0; c < S; c++)
                out[(k * FRAMES + f) * S + c] =
                    (float)exp(-.7 * (double)f) * a[k * S + c] + b[k * S + c];
    free(a);
    free(b);
    return out;
}

static float *frame_of(const struct fbp_scan *scan, const float *series, size_t f)
{
    const size_t S = scan->panel.n_columns;
    float *out = calloc(scan->n_views * S, sizeof *out);

    for (size_t k = 0; k < scan->n_views; k++)
        memcpy(out + k * S, series + (k * FRAMES + f) * S, S * sizeof *out);
    return out;
}

/* A grid whose sides are no multiple of a kernel's blocks. */
static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = rings_scan(10);

    scan.volume = (struct fbp_grid){.n = {SIDE + 1, SIDE - 1, SIDE - 2},
                                    .voxel_mm = {.041, .043, .039},
                                    .centre_mm = {.03, -.02, .01}};
    return scan;
}

struct way {
    const char *name, *device;
    struct fbp_recon_params p;
};

static size_t voxels_of(const struct way *w, const struct fbp_scan *scan)
{
    size_t n = 1;

    for (int i = 0; i < 3; i++)
        n *= w->p.roi[i][1] ? w->p.roi[i][1] - w->p.roi[i][0] : scan->volume.n[i];
    return n;
}

static float *volume_of(const struct way *w, const struct fbp_scan *scan, const float *views,
                        struct fbp_report *report)
{
    struct fbp_recon_params p = w->p;
    float *out = calloc(scan->panel.n_rows * voxels_of(w, scan), sizeof *out);

    p.struct_size = sizeof p;
    p.device = w->device;
    p.n_threads = 2;
    *report = (struct fbp_report){.struct_size = sizeof *report};
    if (fbp_reconstruct(scan, &p, views, out, report) != FBP_OK)
        fail_msg("%s: %s", w->name, fbp_message());
    return out;
}

/* Least, most and mean of all frames are those of single ones. */
static void check_report(const struct way *w, const struct fbp_report *all,
                         const struct fbp_report *one)
{
    double least = INFINITY, most = -INFINITY, mean = 0;

    for (size_t f = 0; f < FRAMES; f++) {
        least = fmin(least, one[f].min);
        most = fmax(most, one[f].max);
        mean += one[f].mean / FRAMES;
    }
    if (fabs(all->min - least) > 0 || fabs(all->max - most) > 0 ||
        !(fabs(all->mean - mean) <= 1e-6 * most))
        fail_msg("%s: least %g, most %g, mean %g of all frames, expected %g, %g, %g", w->name,
                 all->min, all->max, all->mean, least, most, mean);
}

static void check_way(const struct way *w, struct fbp_scan *scan, const float *series)
{
    const size_t n = voxels_of(w, scan);
    struct fbp_report all, one[FRAMES];

    scan->panel.n_rows = FRAMES;
    float *together = volume_of(w, scan, series, &all);
    scan->panel.n_rows = 1;
    for (size_t f = 0; f < FRAMES; f++) {
        float *views = frame_of(scan, series, f);
        float *alone = volume_of(w, scan, views, &one[f]);
        if (memcmp(alone, together + f * n, n * sizeof *alone) != 0)
            fail_msg("%s: frame %zu differs from the same one alone by %g of the peak", w->name, f,
                     difference(alone, together + f * n, n));
        free(views);
        free(alone);
    }
    check_report(w, &all, one);
    free(together);
}

static const struct way ways[] = {
    {"ref", "ref", {.roi = {{10, 18}, {12, 20}, {9, 14}}}},
    {"planes", "cpu", {0}},
    {"matrix", "cpu", {.kernel = "matrix"}},
    {"oversampled", "cpu", {.oversampling = 2}},
    {"in space", "cpu", {.spatial_filter = 1, .half_width = 20}},
    {"two ramps", "cpu", {.filter = FBP_FILTER_TWO_RAMPS}},
    {"in slabs and batches", "cpu", {.slab_slices = 5, .batch_views = 16}},
    {"nearest", "cpu", {.interpolation = FBP_INTERPOLATION_NEAREST}},
    {"splines", "cpu", {.interpolation = FBP_INTERPOLATION_CUBIC}},
    {"splines along rows", "cpu", {.kernel = "matrix", .interpolation = FBP_INTERPOLATION_CUBIC}},
    {"masked", "cpu", {.mask = 1, .mask_value = -7}},
    {"a box", "cpu", {.roi = {{3, 30}, {5, 21}, {7, 18}}}},
    {"a region", "cpu", {.region = "ball:0.1,0,0,0.5"}},
    {"a region in slabs", "cpu", {.region = "ball:0.1,0,0,0.3", .slab_slices = 4, .mask = 1}},
    {"mock", "mock", {.slab_slices = 7}},
    {"two of them", "mock:0,1", {.slab_slices = 3, .mask = 1}},
};

static void together_is_one_by_one(void **state)
{
    struct fbp_scan scan = make_scan();
    float *series = series_of(&scan);

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        check_way(&ways[i], &scan, series);
    free(series);
    fbp_scan_clear(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(together_is_one_by_one)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
