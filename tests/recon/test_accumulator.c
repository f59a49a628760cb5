/* Checks that plane integrals added one view at a time (fbp_accumulator) give the volume of all
 * views at once. */
#include "recon/planes_util.h"

static const char *const devices[] = {"cpu", "ref", "mock", "gl", "cuda"};

/* Views in the order 0, 25, 50 …, from the first to the last. */
static void add_all(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                    const float *views, float *out)
{
    fbp_accumulator *accumulator = NULL;

    OK(fbp_accumulator_create(&accumulator, scan, p));
    for (size_t i = 0; i < scan->n_views; i++) {
        const size_t k = i * 25 % scan->n_views;
        OK(fbp_accumulator_add(accumulator, k,
                               views + k * scan->panel.n_columns * scan->panel.n_rows));
    }
    OK(fbp_accumulator_volume(accumulator, out));
    fbp_accumulator_destroy(&accumulator);
    assert_null(accumulator);
}

TEST(one_by_one_is_all_at_once)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(10);

    scan.volume = (struct fbp_grid){{40, 37, 42}, {.05, .05, .05}, {.1, 0, 0}};
    const size_t n = grid_size(&scan.volume);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1), *a = calloc(n, sizeof *a),
                    *b = calloc(n, sizeof *b);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int way = 0; way < 4 && usable(devices[d]); way++) {
            const bool any = strcmp(devices[d], "cpu") == 0 || strcmp(devices[d], "ref") == 0;
            struct fbp_recon_params p = {.struct_size = sizeof p,
                                         .device = devices[d],
                                         .filter = FBP_FILTER_HANN,
                                         .tuning.kernel = way == 1 ? "matrix" : NULL,
                                         .n_threads = 2};
            if (way == 2 && any)
                p.epr.interpolation = FBP_INTERPOLATION_CUBIC;
            if (way == 3 && any)
                p.epr.oversampling = 2;
            OK(fbp_reconstruct(&scan, &p, FBP_F32, views, a, NULL));
            add_all(&scan, &p, views, b);
            const double off = difference(a, b, n);
            if (!(off < 1e-5))
                fail_msg("%s, way %d: one by one is off by %.2g of the peak", devices[d], way, off);
        }
}

/* Delays, a volume each. */
TEST(frames_are_added_together)
{
    enum { FRAMES = 3 };
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(8);
    const size_t S = PLANES_S;

    scan.volume = (struct fbp_grid){{20, 17, 22}, {.1, .1, .1}, {0, 0, 0}};
    const size_t n = grid_size(&scan.volume);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1), *a = calloc(FRAMES * n, sizeof *a),
                    *b = calloc(FRAMES * n, sizeof *b),
                    *all = calloc(FRAMES * scan.n_views * S, sizeof *all);
    for (size_t i = 0; i < FRAMES * scan.n_views * S; i++)
        all[i] = (float)(i / S % FRAMES + 1) * views[i / S / FRAMES * S + i % S];
    scan.panel.n_rows = FRAMES;
    for (size_t d = 0; d < 2; d++) {
        const struct fbp_recon_params p = {.struct_size = sizeof p, .device = devices[d]};
        OK(fbp_reconstruct(&scan, &p, FBP_F32, all, a, NULL));
        add_all(&scan, &p, all, b);
        assert_true(difference(a, b, FRAMES * n) < 1e-5);
        for (size_t i = 0; i < n; i += 37) /* frames are told apart */
            assert_true(fabs((double)b[2 * n + i] - 3 * (double)b[i]) < 1e-4);
    }
}

/* With the weights of the whole set: half of the views are a part of the sum, and the other half is
 * the rest. */
TEST(parts_add_up)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(10);
    const size_t n = grid_size(&scan.volume);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1), *sum = calloc(n, sizeof *sum),
                    *part = calloc(n, sizeof *part), *all = calloc(n, sizeof *all);

    for (size_t half = 0; half < 2; half++) {
        fbp_accumulator *accumulator = NULL;
        OK(fbp_accumulator_create(&accumulator, &scan, fbp_recon_params(.device = "cpu")));
        for (size_t k = half; k < scan.n_views; k += 2)
            OK(fbp_accumulator_add(accumulator, k, views + k * PLANES_S));
        OK(fbp_accumulator_volume(accumulator, part));
        fbp_accumulator_destroy(&accumulator);
        for (size_t i = 0; i < n; i++)
            sum[i] += part[i];
    }
    OK(fbp_reconstruct(&scan, fbp_recon_params(.device = "cpu"), FBP_F32, views, all, NULL));
    assert_true(difference(all, sum, n) < 1e-5);
    assert_true(difference(all, part, n) > .1);
}

static void refused(const struct fbp_scan *scan, const struct fbp_recon_params *p, const char *says)
{
    fbp_accumulator *accumulator = NULL;

    assert_int_not_equal(fbp_accumulator_create(&accumulator, scan, p), FBP_OK);
    assert_null(accumulator);
    assert_says(says);
}

TEST(what_cannot_be_added_is_refused)
{
    AUTO_CLEAR struct fbp_scan scan = rings_scan(10);
    const float view[PLANES_S] = {0};
    fbp_accumulator *accumulator = NULL;

    OK(fbp_accumulator_create(&accumulator, &scan, NULL));
    assert_fails(fbp_accumulator_add(accumulator, scan.n_views, view), FBP_ERR_INVALID,
                 "view 66 does not exist; the scan has 66 views, counted from 0");
    OK(fbp_accumulator_add(accumulator, 3, view));
    assert_fails(fbp_accumulator_add(accumulator, 3, view), FBP_ERR_INVALID,
                 "view 3 was already added; add each view once");
    fbp_accumulator_destroy(&accumulator);
    fbp_accumulator_destroy(&accumulator);
    refused(&scan, fbp_recon_params(.epr.stages = 2), "two stages");
    refused(&scan, fbp_recon_params(.epr.angles = 10), "resampled angles");
    refused(&scan, fbp_recon_params(.precision = FBP_PRECISION_DOUBLE), "precision double");
    refused(&scan, fbp_recon_params(.box = {{0, 4}}), "a part of the volume");
    refused(&scan, fbp_recon_params(.box = {{0}, {0}, {4}}), "a part of the volume");
    refused(&scan, fbp_recon_params(.device = "mock:0,1"), "selects 2 devices; give one");
    refused(&scan, fbp_recon_params(.filter = (enum fbp_filter)99), "filter");
    refused(&scan, fbp_recon_params(.device = "mock", .epr.interpolation = FBP_INTERPOLATION_CUBIC),
            "interpolates linearly only");
    struct fbp_preparation steps = {.struct_size = sizeof steps};
    scan.preparation = &steps;
    refused(&scan, NULL, "the scan's key prepare");
    scan.preparation = NULL;
    scan.kind = FBP_PARALLEL;
    refused(&scan, NULL, "kind parallel");
}

TEST_MAIN(NULL, NULL)
