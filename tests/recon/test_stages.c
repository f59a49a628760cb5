/* Checks plane integrals in two stages: near to one stage, about any axis, with the same bits for
 * every division of the work, and refusals with a reason. Bounds for usual views are in
 * test_stages_double.c. */
#include "filter/filter.h"
#include "geometry/view.h"
#include "recon/planes_util.h"

/* Parameters of a run: of stages, with so many columns of a picture a voxel. */
#define STAGES(n, columns, ...)                                                          \
    fbp_recon_params(.epr.stages = n, .epr.image_oversampling = columns, .n_threads = 2, \
                     .filter = FBP_FILTER_HANN, .cutoff = .5, __VA_ARGS__)

/* Other numbers of samples, starts and steps of each view; a volume beside the middle, its voxels
 * no cubes; rings at the pole; few directions on the other side.  How near they are for usual
 * views: stages_double. */
TEST(views_and_volume_may_be_any)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = grid_scan(15, 14, FBP_POLE_Z);

    scan.panel.n_columns = 131;
    scan.volume = (struct fbp_grid){{50, 37, 41}, {.031, .036, .042}, {.21, -.13, .08}};
    for (size_t k = 0; k < scan.n_views; k++) {
        const double step = PLANES_STEP * (1 - .2 * (double)(k % 5) / 4);
        resample_view(&scan, k, k % 7 ? 1 : -1, step, -(65 + .3 * (double)(k % 3)) * step);
    }
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    AUTO_FREE float *one = planes_volume(&scan, FBP_F32, views, STAGES(1, 0, .device = "cpu"));
    for (size_t columns = 1; columns <= 2; columns++) {
        AUTO_FREE float *two =
            planes_volume(&scan, FBP_F32, views, STAGES(2, columns, .device = "cpu"));
        const double error = distance(FBP_F32, one, two, grid_size(&scan.volume)).rms;
        if (!(error <= (columns == 1 ? .003 : .001)))
            fail_msg("%zu columns a voxel: %.5f from one stage", columns, error);
    }
}

/* Amplitudes are those of one stage, and so right: an ellipsoid from many directions. */
TEST(amplitudes_are_right)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = grid_scan(40, 40, FBP_POLE_Z);

    AUTO_FREE float *views = plane_samples(&scan, &solid, 8);
    for (int i = 0; i < 2; i++) {
        const double cutoff = i ? .5 : 1;
        AUTO_FREE float *volume =
            planes_volume(&scan, FBP_F32, views,
                          fbp_recon_params(.epr.stages = 2, .device = "cpu", .n_threads = 2,
                                           .filter = FBP_FILTER_HANN, .cutoff = cutoff));
        const struct amplitude a = amplitude_of(&scan.volume, volume, &solid);
        if (!(fabs(a.mean - 1) <= 2e-3 && a.outside <= (i ? .0014 : .0046)))
            fail_msg("cut-off %g: mean inside %.5f, rms outside %.5f", cutoff, a.mean, a.outside);
    }
}

/* Twice as many filtered samples, and twice as many columns: windows of the kernel do not hold them
 * without computing columns between. */
TEST(oversampling_goes_with_it)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    const size_t size = grid_size(&scan.volume);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);

    AUTO_FREE float *one =
        planes_volume(&scan, FBP_F32, views, STAGES(1, 0, .device = "cpu", .epr.oversampling = 2));
    for (size_t columns = 1; columns <= 4; columns++) {
        float *two = planes_volume(&scan, FBP_F32, views,
                                   STAGES(2, columns, .device = "cpu", .epr.oversampling = 2));
        float *ref = planes_volume(&scan, FBP_F32, views,
                                   STAGES(2, columns, .device = "ref", .epr.oversampling = 2));
        assert_true(distance(FBP_F32, one, two, size).rms < (columns > 1 ? .001 : .003));
        assert_true(difference(ref, two, size) < 3e-6);
        free(two);
        free(ref);
    }
}

/* Interpolation between samples is that of one stage: splines differ by the columns alone, and the
 * nearest samples, whose steps columns smooth, are about as wrong as without. */
TEST(splines_go_with_it)
{
    static const enum fbp_interpolation kinds[] = {FBP_INTERPOLATION_NEAREST,
                                                   FBP_INTERPOLATION_CUBIC};
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    const size_t size = grid_size(&scan.volume);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);

    for (size_t i = 0; i < 2; i++) {
        float *one = planes_volume(&scan, FBP_F32, views,
                                   STAGES(1, 0, .device = "ref", .epr.interpolation = kinds[i]));
        float *two = planes_volume(&scan, FBP_F32, views,
                                   STAGES(2, 0, .device = "ref", .epr.interpolation = kinds[i]));
        const double errors[2] = {error_of(&scan.volume, one, &solid),
                                  error_of(&scan.volume, two, &solid)};
        if (!(errors[1] <= 1.02 * errors[0] &&
              distance(FBP_F32, one, two, size).rms <= (i ? .001 : .02)))
            fail_msg("%s: errors %.5f, %.5f", fbp_interpolation_name(kinds[i]), errors[0],
                     errors[1]);
        free(one);
        one = planes_volume(&scan, FBP_F32, views,
                            STAGES(2, 0, .device = "cpu", .epr.interpolation = kinds[i]));
        assert_true(difference(two, one, size) < 3e-6);
        free(one);
        free(two);
    }
}

/* Of voxels that measure many samples no window holds a block: one by one. */
TEST(large_voxels_are_computed_too)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    const double voxels[] = {3, 7};

    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    for (size_t i = 0; i < 2; i++) {
        const double d = voxels[i] * PLANES_STEP;
        scan.volume = (struct fbp_grid){.n = {9, 9, 9}, .voxel_mm = {d, d, d}};
        AUTO_FREE float *two = planes_volume(&scan, FBP_F32, views, STAGES(2, 1, .device = "cpu"));
        AUTO_FREE float *ref = planes_volume(&scan, FBP_F32, views, STAGES(2, 1, .device = "ref"));
        assert_true(difference(ref, two, 9 * 9 * 9) < 3e-6);
    }
}

TEST(bits_do_not_depend_on_the_division)
{
    const struct solid solid = ellipsoid_of_planes();
    const enum fbp_pole poles[] = {FBP_POLE_Z, FBP_POLE_X};

    for (int p = 0; p < 2; p++) {
        AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, poles[p]);
        const size_t size = grid_size(&scan.volume);
        AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
        AUTO_FREE float *wanted =
            planes_volume(&scan, FBP_F32, views, STAGES(2, 0, .device = "cpu"));
        for (int i = 0; i < 6; i++) {
            struct fbp_recon_params params = *STAGES(2, 0, .device = i == 5 ? "mock:0,1" : "cpu");
            params.n_threads = i % 2 ? 1 : 3;
            params.tuning.batch_views = i ? 5 : 0;
            params.tuning.slab_slices = i > 1 ? 7 : 0;
            AUTO_FREE float *out = planes_volume(&scan, FBP_F32, views, &params);
            assert_memory_equal(out, wanted, size * sizeof *out);
        }
        AUTO_FREE float *ref = planes_volume(&scan, FBP_F32, views, STAGES(2, 0, .device = "ref"));
        assert_true(difference(ref, wanted, size) < 2e-6);
    }
}

/* Little memory makes many slabs, for which rows of pictures are computed as they are needed. */
TEST(memory_may_be_little)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_DROP struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    uint64_t hash[2];

    scan.projections = write_array("planes.mha", PLANES_S, 1, scan.n_views, views);
    for (int little = 0; little < 2; little++) {
        struct fbp_report report = {.struct_size = sizeof report};
        struct fbp_recon_params params = *STAGES(2, 0, .device = "cpu");
        params.volume = (struct fbp_grid){.n = {160, 160, 160}};
        params.memory_bytes = little ? (size_t)26 << 20 : 0;
        CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &params);
        const struct fbp_plan_summary *p = fbp_plan_info(plan);
        assert_true((p->n_slabs > 2) == little);
        assert_true(!little || (p->memory_limit > 0 && p->memory_bytes <= p->memory_limit));
        OK(fbp_plan_run(plan, "hash:", &report));
        hash[little] = report.hash;
    }
    assert_true(hash[0] == hash[1]);
}

/* A box and a region have the bits of the whole. */
TEST(a_part_has_the_bits_of_the_whole)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    AUTO_FREE float *wanted = planes_volume(&scan, FBP_F32, views, STAGES(2, 0, .device = "cpu"));
    const size_t roi[3][2] = {{11, 31}, {40, 50}, {33, 47}};
    AUTO_FREE float *box =
        planes_volume(&scan, FBP_F32, views,
                      STAGES(2, 0, .device = "cpu", .box = {{11, 31}, {40, 50}, {33, 47}}));

    assert_box("a box", sizeof *box, box, wanted, scan.volume.n, roi);
}

/* A plan that is run twice, and one whose views have samples that are no numbers. */
TEST(a_plan_runs_again)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1),
                    *out = calloc(grid_size(&scan.volume), 4);
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {PLANES_S, 1, scan.n_views},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};
    struct fbp_report report = {.struct_size = sizeof report};
    struct fbp_recon_params params = *STAGES(2, 0, .device = "cpu");
    fbp_sink *sink;

    AUTO_FREE float *wanted = planes_volume(&scan, FBP_F32, views, &params);
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(views, &info);
    params.input.source = source;
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &params);
    const struct fbp_plan_summary *p = fbp_plan_info(plan);
    assert_int_equal(p->n_pictures, 18);
    assert_true(p->picture[0] > 2 * 90 && p->picture[1] == PLANES_N);
    assert_true(p->picture_updates == 324 * p->picture[0] * PLANES_N);
    assert_true(strstr(p->weights, "two stages: 18 planes through z") && !p->filtered);
    OK(fbp_plan_open(plan));
    for (int i = 0; i < 2; i++) {
        OK(fbp_sink_memory(&sink, out, FBP_F32, scan.volume.n));
        OK(fbp_plan_run_to(plan, NULL, sink, &report));
        fbp_sink_close(&sink);
        assert_int_equal(report.not_finite, i ? 2 : 0);
        assert_true((memcmp(out, wanted, grid_size(&scan.volume) * 4) == 0) == (i == 0));
        views[5 * PLANES_S + 50] = NAN; /* in the second run */
        views[7 * PLANES_S + 60] = INFINITY;
    }
}

TEST(what_has_no_planes_is_refused)
{
    AUTO_DROP struct fbp_scan rings = rings_scan(18), circle = circle_scan(24, 16, 12);
    AUTO_FREE float *views = calloc(rings.n_views * PLANES_S, sizeof *views);

    rings.projections = write_array("rings.mha", PLANES_S, 1, rings.n_views, views);
    assert_no_plan(
        &rings, STAGES(2, 0, .device = "cpu"), FBP_ERR_UNSUPPORTED,
        "geometry: two stages need directions in planes through one axis, at least 3 per plane on "
        "average, but these 208 directions lie in 93 planes; use one stage, or resample the rings "
        "(--angles 18)");
    circle.projections = write_array("circle.mha", circle.panel.n_columns, circle.panel.n_rows,
                                     circle.n_views, views);
    assert_no_plan(
        &circle, STAGES(2, 0, .device = "cpu"), FBP_ERR_UNSUPPORTED,
        "stages: two stages need plane integrals (kind planes), but this scan is of kind cone; "
        "omit stages");
}

/* The table of what else two stages do not go with. */
TEST(what_they_lack_is_said)
{
    static const char no_kernel[] =
        "kernel: device cpu has no \"%s\" for this scan, volume and options; omit the kernel";
    static const char *const kernels[] = {"planes", "no-such-kernel"};
    AUTO_DROP struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    AUTO_FREE float *views = calloc(scan.n_views * PLANES_S, sizeof *views);
    char sentence[300];

    scan.projections = write_array("grid.mha", PLANES_S, 1, scan.n_views, views);
    assert_no_plan(&scan, STAGES(2, 0, .device = "cpu", .input.follow = true), FBP_ERR_UNSUPPORTED,
                   "stages: two stages of the backprojection need all views at once, which "
                   "excludes --follow; omit --stages or --follow");
    assert_no_plan(
        &scan, STAGES(2, 0, .device = "cpu", .input.follow = true, .epr.angles = 18),
        FBP_ERR_UNSUPPORTED,
        "angles: resampling needs all views at once, so it excludes --follow; omit one of the two");
    for (size_t i = 0; i < 2; i++) {
        snprintf(sentence, sizeof sentence, no_kernel, kernels[i]);
        assert_no_plan(&scan, STAGES(2, 0, .device = "cpu", .tuning.kernel = kernels[i]),
                       FBP_ERR_UNSUPPORTED, sentence);
    }
    assert_no_plan(
        &scan, STAGES(2, 5, .device = "cpu"), FBP_ERR_INVALID,
        "picture_oversampling: found 5, expected a whole number from 1 to 4, or 0 for the "
        "default");
    assert_no_plan(&scan, STAGES(3, 0, .device = "cpu"), FBP_ERR_INVALID,
                   "stages: found 3, expected 1 or 2, or 0 for the default");
    scan.filtered = 1;
    assert_no_plan(
        &scan, STAGES(2, 0, .device = "cpu"), FBP_ERR_UNSUPPORTED,
        "stages: two stages need unfiltered views, but these views are already filtered; omit "
        "stages");
}

TEST_MAIN(NULL, NULL)
