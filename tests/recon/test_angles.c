/* Checks rings of directions that are resampled to equal angles (--angles): the resampled views,
 * and the volumes in one stage and in two. */
#include "recon/planes_util.h"

#include "filter/filter.h"
#include "geometry/view.h"
#include "pipeline/view_step.h"

static struct fbp_view_step *rings_step(const struct fbp_scan *scan, size_t n,
                                        enum fbp_ring_interpolation how)
{
    const struct fbp_recon_params params = {
        .struct_size = sizeof params, .epr.angles = n, .epr.ring_interpolation = how};
    struct fbp_view_step_request request = {.scan = scan, .params = &params, .measured = true};
    struct fbp_view_step *step;

    OK(fbp_rings_step_create(&step, &request));
    return step;
}

/* |resampled - computed| / |computed| over all views. */
static double error_of_views(const struct fbp_scan *scan, size_t n, enum fbp_ring_interpolation how)
{
    const struct solid solid = ball_of_planes(2);
    struct fbp_view_step *step = rings_step(scan, n, how);
    double wrong = 0, all = 0;

    AUTO_FREE float *views = plane_samples(scan, &solid, 1),
                    *wanted = plane_samples(&step->scan, &solid, 1);
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {scan->panel.n_columns, 1, scan->n_views},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};
    fbp_source *source = memory_source(views, &info);
    OK(fbp_source_wrap(&source, step->set_up, &step, source, true));
    const size_t size = step->scan.n_views * scan->panel.n_columns;
    AUTO_FREE float *got = calloc(size, sizeof *got);
    OK(fbp_source_read(source, 0, step->scan.n_views, 0, 1, FBP_F32, got));
    for (size_t i = 0; i < size; i++) {
        wrong += ((double)got[i] - wanted[i]) * ((double)got[i] - wanted[i]);
        all += (double)wanted[i] * wanted[i];
    }
    fbp_source_close(&source);
    step->destroy(step);
    return sqrt(wrong / all);
}

/* Published: 6e-5, 1.6e-4 and 2.0e-3 for 208 directions at 18 angles. */
TEST(views_are_as_published)
{
    static const double most[] = {
        [FBP_RINGS_FFT] = 6.5e-5, [FBP_RINGS_SPLINE] = 1.65e-4, [FBP_RINGS_LINEAR] = 2.05e-3};
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);

    for (int how = 0; how < 3; how++) {
        const double error = error_of_views(&scan, 18, (enum fbp_ring_interpolation)how);
        if (!(error <= most[how]))
            fail_msg("%s: %.3g", fbp_ring_interpolation_name((enum fbp_ring_interpolation)how),
                     error);
    }
}

/* Some directions on the other side; the first sample half a step from where it would be symmetric;
 * a ring at the pole; any number of angles. */
TEST(rings_may_be_measured_on_either_side)
{
    AUTO_CLEAR struct fbp_scan scan = rings_scan(21);

    for (size_t k = 0; k < scan.n_views; k++) {
        const double side = k % 3 == 1 || k % 7 == 2 ? -1 : 1;
        resample_view(&scan, k, side, PLANES_STEP, -PLANES_S / 2 * PLANES_STEP);
    }
    assert_true(error_of_views(&scan, 18, FBP_RINGS_FFT) < 6.5e-5);
    assert_true(error_of_views(&scan, 50, FBP_RINGS_SPLINE) < 1.8e-4);
}

#define HANN(on, ...) \
    fbp_recon_params(.device = on, .filter = FBP_FILTER_HANN, .cutoff = .5, __VA_ARGS__)

/* 208 directions of rings, as 324 of a grid: the error of the volume is no larger, or by a
 * hundredth in two stages. */
TEST(rings_go_through_two_stages)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);
    const size_t size = grid_size(&scan.volume);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);

    AUTO_FREE float *rings = planes_volume(&scan, FBP_F32, views, HANN("cpu", .epr.stages = 1));
    AUTO_FREE float *one = planes_volume(&scan, FBP_F32, views, HANN("cpu", .epr.angles = 18));
    AUTO_FREE float *two =
        planes_volume(&scan, FBP_F32, views, HANN("cpu", .epr.angles = 18, .epr.stages = 2));
    AUTO_FREE float *ref =
        planes_volume(&scan, FBP_F32, views, HANN("ref", .epr.angles = 18, .epr.stages = 2));
    const double errors[] = {error_of(&scan.volume, rings, &solid),
                             error_of(&scan.volume, one, &solid),
                             error_of(&scan.volume, two, &solid)};
    if (!(errors[1] <= 1.01 * errors[0] && errors[2] <= 1.012 * errors[0] && errors[0] < .0425))
        fail_msg("rings %.5f, resampled %.5f, in two stages %.5f", errors[0], errors[1], errors[2]);
    assert_true(difference(one, two, size) < .003);
    assert_true(difference(ref, two, size) < 3e-6);
    for (int i = 0; i < 2; i++) {
        float *again =
            planes_volume(&scan, FBP_F32, views,
                          HANN("cpu", .epr.angles = 18, .epr.stages = 1 + i,
                               .tuning.slab_slices = 9, .n_threads = 1, .tuning.batch_views = 5));
        assert_memory_equal(again, i ? two : one, size * sizeof *again);
        free(again);
    }
}

/* Solid angles of a ring stay what they are, whichever rule gave them. */
TEST(weights_keep_their_sums)
{
    AUTO_CLEAR struct fbp_scan scan = rings_scan(19);

    for (int rule = FBP_QUADRATURE_BANDS; rule <= FBP_QUADRATURE_HARMONICS; rule++) {
        double sum = 0;
        scan.quadrature = (enum fbp_quadrature)rule;
        struct fbp_view_step *step = rings_step(&scan, 23, FBP_RINGS_FFT);
        for (size_t k = 0; k < step->scan.n_views; k++)
            sum += step->scan.plane_weights[k];
        assert_true(fabs(sum - 2 * PI) < 1e-11);
        step->destroy(step);
    }
}

/* A sample that is no number is bridged before it is spread over its ring, and counted. */
TEST(bad_samples_are_bridged)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);
    struct fbp_report report = {.struct_size = sizeof report};
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1),
                    *out = calloc(grid_size(&scan.volume), 4);

    AUTO_FREE float *wanted =
        planes_volume(&scan, FBP_F32, views, HANN("cpu", .epr.angles = 18, .epr.stages = 2));
    for (size_t c = 0; c < 4; c++)
        views[77 * PLANES_S + 54 + 2 * c] = c % 2 ? NAN : INFINITY;
    for (int stages = 1; stages <= 2; stages++) {
        OK(fbp_reconstruct(&scan, HANN("cpu", .epr.angles = 18, .epr.stages = stages), FBP_F32,
                           views, out, &report));
        assert_int_equal(report.not_finite, 4);
        assert_true(difference(wanted, out, grid_size(&scan.volume)) < .003);
    }
}

static void refused(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                    const char *says)
{
    float none = 0;

    assert_fails(fbp_reconstruct(scan, params, FBP_F32, &none, &none, NULL), FBP_ERR_UNSUPPORTED,
                 says);
}

TEST(what_is_no_ring_is_refused)
{
    AUTO_CLEAR struct fbp_scan rings = rings_scan(18), circle = circle_scan(24, 16, 12);
    double(*direction)[3];
    const size_t n = directions_of(FBP_SET_FIBONACCI, 208, &direction);
    AUTO_CLEAR struct fbp_scan spiral = planes_scan(direction, n);

    refused(&spiral, HANN("cpu", .epr.angles = 18), "do not lie in evenly spaced rings");
    refused(&circle, HANN("cpu", .epr.angles = 18), "kind cone");
    refused(&rings, HANN("cpu", .epr.stages = 2), "--angles 18");
    refused(&spiral, HANN("cpu", .epr.stages = 2), "planes; use one stage");
    rings.i0 = 1;
    refused(&rings, HANN("cpu", .epr.angles = 18), "intensities");
    rings.i0 = 0;
    for (int i = 0; i < 3; i++)
        rings.views[100].d[i] += rings.views[100].u[i] / 3;
    refused(&rings, HANN("cpu", .epr.angles = 18), "view 100");
    free(direction);
}

TEST_MAIN(NULL, NULL)
