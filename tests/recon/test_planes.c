/* Checks volumes of plane integrals: published amplitudes and errors of balls and an ellipsoid,
 * for either half of the sphere and for rotated scans, and the selection of kernels and filters. */
#include "recon/planes_util.h"

#include "filter/filter.h"
#include "geometry/view.h"
#include "pipeline/job.h"

static const struct settings ram_lak = {FBP_FILTER_RAM_LAK, 1}, hann = {FBP_FILTER_HANN, 1},
                             soft_hann = {FBP_FILTER_HANN, .5};

/* The published table of a double precision computation: rows of two phantoms, mean inside within
 * 2e-3 of 1 and rms outside; and the soft ball's error. */
struct row {
    size_t rings;
    const struct settings *settings;
    double ball_outside, ellipsoid_outside, soft_error;
};

static const struct row table[] = {
    {18, &ram_lak, .109, .120, .0138},     {18, &hann, .038, .045, .0167},
    {18, &soft_hann, .0039, .0059, .0423}, {40, &ram_lak, .019, .023, .0039},
    {40, &hann, .0034, .0036, .0135},      {40, &soft_hann, .0020, .0013, .0419},
};

static void amplitude_is_right(const struct fbp_scan *scan, const struct row *row,
                               const struct solid *solid, double outside, const char *device)
{
    AUTO_FREE float *views = plane_samples(scan, solid, 8);
    AUTO_FREE float *volume = volume_by(scan, views, device, row->settings);
    const struct amplitude a = amplitude_of(&scan->volume, volume, solid);

    if (!(fabs(a.mean - 1) <= 2e-3 && a.outside <= 1.02 * outside + 5e-5))
        fail_msg("%zu rings, %s %g on %s: mean inside %.5f, rms outside %.5f, expected 1, %.4f",
                 row->rings, fbp_filter_name(row->settings->filter), row->settings->cutoff, device,
                 a.mean, a.outside, outside);
}

static void soft_ball_is_right(const struct fbp_scan *scan, const struct row *row,
                               const char *device)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_FREE float *views = plane_samples(scan, &solid, 1);
    AUTO_FREE float *volume = volume_by(scan, views, device, row->settings);
    const double error = error_of(&scan->volume, volume, &solid);

    if (!(error <= 1.01 * row->soft_error + 5e-5))
        fail_msg("%zu rings, %s %g on %s: error %.5f of the soft ball, expected %.4f", row->rings,
                 fbp_filter_name(row->settings->filter), row->settings->cutoff, device, error,
                 row->soft_error);
}

TEST(the_table_is_met)
{
    const struct solid ball = ball_of_planes(0), ellipsoid = ellipsoid_of_planes();

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        AUTO_CLEAR struct fbp_scan scan = rings_scan(table[i].rings);
        amplitude_is_right(&scan, &table[i], &ball, table[i].ball_outside, "cpu");
        amplitude_is_right(&scan, &table[i], &ellipsoid, table[i].ellipsoid_outside, "cpu");
        soft_ball_is_right(&scan, &table[i], "cpu");
    }
}

TEST(the_reference_meets_it)
{
    const struct solid ball = ball_of_planes(0);

    for (size_t i = 0; i < 3; i++) {
        AUTO_CLEAR struct fbp_scan scan = rings_scan(18);
        amplitude_is_right(&scan, &table[i], &ball, table[i].ball_outside, "ref");
        soft_ball_is_right(&scan, &table[i], "ref");
    }
}

/* p(t, n) = p(-t, -n): views on the other side, a list in another order, all of the sphere. */
TEST(any_half_of_the_sphere_serves)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);
    double(*direction)[3] = calloc(2 * scan.n_views, sizeof *direction);

    float *views = plane_samples(&scan, &solid, 1);
    AUTO_FREE float *wanted = volume_by(&scan, views, "cpu", &hann);
    free(views);
    for (int whole = 0; whole < 2; whole++) {
        const size_t n = scan.n_views;
        for (size_t k = 0; k < n * (whole ? 2 : 1); k++) {
            const size_t from = k * 77 % n; /* 77 and 208 share no factor */
            for (int i = 0; i < 3; i++)
                direction[k][i] = (whole ? k >= n : k % 3 == 1 || k % 7 == 2)
                                      ? -scan.views[from].u[i] / PLANES_STEP
                                      : scan.views[from].u[i] / PLANES_STEP;
        }
        AUTO_CLEAR struct fbp_scan other = planes_scan(direction, n * (whole ? 2 : 1));
        views = plane_samples(&other, &solid, 1);
        AUTO_FREE float *got = volume_by(&other, views, "cpu", &hann);
        assert_true(difference(wanted, got, grid_size(&scan.volume)) < 1e-5);
        free(views);
    }
    free(direction);
}

/* Directions and object turned by a quarter about y: the volume turns with them, x to -z. */
TEST(a_turned_scan_has_a_turned_volume)
{
    static const double R[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0};
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18), other = rings_scan(18);
    struct solid moved = solid;
    const size_t n = PLANES_N;
    double most = 0;

    turned(R, solid.centre, moved.centre);
    times(R, solid.turn, moved.turn);
    for (size_t k = 0; k < scan.n_views; k++) {
        turned(R, scan.views[k].u, other.views[k].u);
        turned(R, scan.views[k].d, other.views[k].d);
    }
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1),
                    *again = plane_samples(&other, &moved, 1);
    AUTO_FREE float *a = volume_by(&scan, views, "cpu", &hann);
    AUTO_FREE float *b = volume_by(&other, again, "cpu", &hann);
    for (size_t z = 0; z < n; z++)
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < n; x++) /* (x, y, z) came from (-z, y, x) */
                most = fmax(most, fabs(b[(z * n + y) * n + x] - a[(x * n + y) * n + n - 1 - z]));
    assert_true(most < 1e-5);
}

/* Turned by any angle: rings are none about x, y or z any more, and cells weigh them. */
TEST(a_scan_may_be_turned_by_any_angle)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(40);

    turn_scan(&scan);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    AUTO_FREE float *volume = volume_by(&scan, views, "cpu", &ram_lak);
    assert_true(error_of(&scan.volume, volume, &solid) < .005);
}

/* Samples elsewhere, farther apart, another number: the ball stays where it is. */
TEST(samples_may_lie_anywhere)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(40);

    scan.panel.n_columns = 131;
    for (size_t k = 0; k < scan.n_views; k++) {
        const double step = PLANES_STEP * (1 - .2 * (double)(k % 5) / 4);
        resample_view(&scan, k, 1, step, -(65 + .3 * (double)(k % 3)) * step);
    }
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    AUTO_FREE float *volume = volume_by(&scan, views, "cpu", &ram_lak);
    assert_true(error_of(&scan.volume, volume, &solid) < .006);
}

/* Twice as many filtered samples: linear interpolation is as good as a spline.  Computed from the
 * same samples; the band stays that of the measured ones. */
TEST(oversampling_halves_the_error)
{
    const struct solid solid = ball_of_planes(2);

    for (int small = 0; small < 2; small++) {
        AUTO_CLEAR struct fbp_scan scan = rings_scan(small ? 10 : 40);
        AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
        AUTO_FREE float *a = planes_volume(
            &scan, FBP_F32, views, fbp_recon_params(.device = "cpu", .epr.oversampling = 2));
        AUTO_FREE float *b =
            planes_volume(&scan, FBP_F32, views,
                          fbp_recon_params(.device = small ? "ref" : "cpu", .epr.oversampling = 2,
                                           .filtering.spatial = !small));
        const double error = error_of(&scan.volume, a, &solid);
        const double off = difference(b, a, grid_size(&scan.volume));
        if (!(small ||
              error < .0023)) /* .0039 without, .0021 from twice as many measured samples */
            fail_msg("error %.5f", error);
        if (!(off < 1e-5))
            fail_msg("%s: off by %.2g", small ? "reference" : "filter in space", off);
    }
}

/* What a device computes the scan with if asked for this kernel, or left the choice; NULL if it
 * refuses. */
static const char *kernel_of(const struct fbp_scan *scan, const char *device, const char *asked)
{
    CLEANUP(fbp_job_clear) struct fbp_job_tables tables;

    OK(fbp_job_create(&tables, scan, fbp_recon_params(.tuning.kernel = asked), false));
    const fbp_status st = fbp_job_arrange(&tables.job, fbp_backend_find(device));
    return st == FBP_OK ? tables.job.selection.name : NULL;
}

/* Cubes of four voxels a side have to lie within 15 samples; lines are no planes, though they may
 * have one row. */
TEST(the_kernel_is_chosen)
{
    struct fbp_scan scan = rings_scan(10);

    assert_string_equal(kernel_of(&scan, "cpu", NULL), "planes");
    assert_string_equal(kernel_of(&scan, "cpu", "matrix"), "matrix");
    assert_string_equal(kernel_of(&scan, "ref", NULL), "matrix");
    for (int i = 0; i < 3; i++)
        scan.volume.voxel_mm[i] = 2.8 * PLANES_STEP;
    assert_string_equal(kernel_of(&scan, "cpu", NULL), "planes");
    for (int i = 0; i < 3; i++)
        scan.volume.voxel_mm[i] = 3.2 * PLANES_STEP;
    assert_string_equal(kernel_of(&scan, "cpu", NULL), "matrix");
    assert_null(kernel_of(&scan, "cpu", "planes"));
    assert_says("cpu has no \"planes\" for this scan, volume and options");
    fbp_scan_clear(&scan);
    scan = (struct fbp_scan){.struct_size = sizeof scan,
                             .n_views = 12,
                             .panel = {48, 1},
                             .volume = {.n = {16, 16, 1}, .voxel_mm = {4, 4, 4}}};
    add_views(&scan, &(struct orbit){.pitch_mm = {8, 8}});
    assert_string_equal(kernel_of(&scan, "cpu", NULL), "matrix");
    assert_null(kernel_of(&scan, "cpu", "planes"));
    fbp_scan_clear(&scan);
}

/* Half a sample on the t axis is odd under n -> -n: no shift of the object, but an error. */
TEST(the_place_of_samples_counts)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(36);

    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    for (size_t k = 0; k < scan.n_views; k++)
        for (int i = 0; i < 3; i++)
            scan.views[k].d[i] += scan.views[k].u[i] / 2;
    AUTO_FREE float *volume = volume_by(&scan, views, "cpu", &hann);
    const double error = error_of(&scan.volume, volume, &solid);
    assert_true(error > .08 && error < .09); /* 8.2 % */
}

/* Filters that lines do not have: as exact as the parabola inside a ball, but for the ramps that
 * lose what lies beyond the row between them, which is seen where it is missing: two passes were
 * made. */
TEST(other_filters)
{
    static const struct {
        enum fbp_filter filter;
        double mean, within;
    } rows[] = {
        {FBP_FILTER_SECOND_DIFFERENCE, 1, 3e-4},      {FBP_FILTER_3_POINT_DERIVATIVE, 1, 3e-4},
        {FBP_FILTER_5_POINT_DERIVATIVE, 1, 3e-4},     {FBP_FILTER_TWO_RAMPS, 1, 3e-4},
        {FBP_FILTER_TWO_RAMPS_UNPADDED, .9984, 2e-4},
    };
    static const char *const devices[] = {"cpu", "ref"};
    const struct solid ball = ball_of_planes(0);
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);
    AUTO_FREE float *views = plane_samples(&scan, &ball, 8);

    for (size_t d = 0; d < 2; d++)
        for (size_t i = d ? 4 : 0; i < 5; i++) {
            const struct settings settings = {rows[i].filter, 1};
            AUTO_FREE float *volume = volume_by(&scan, views, devices[d], &settings);
            const struct amplitude a = amplitude_of(&scan.volume, volume, &ball);
            if (!(fabs(a.mean - rows[i].mean) <= rows[i].within))
                fail_msg("%s on %s: mean inside %.5f, expected %g", fbp_filter_name(rows[i].filter),
                         devices[d], a.mean, rows[i].mean);
        }
}

/* A device that filters rows once says so, and takes all other filters. */
TEST(a_device_may_lack_them)
{
    struct fbp_backend simple = *fbp_backend_find("ref");
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);

    simple.can.any_filter = false;
    for (int f = 0; f <= FBP_FILTER_LAST; f++) {
        CLEANUP(fbp_job_clear) struct fbp_job_tables tables;
        OK(fbp_job_create(&tables, &scan, fbp_recon_params(.filter = (enum fbp_filter)f), false));
        const fbp_status st = fbp_job_arrange(&tables.job, &simple);
        assert_int_equal(st, f == FBP_FILTER_TWO_RAMPS_UNPADDED ? FBP_ERR_UNSUPPORTED : FBP_OK);
        if (st != FBP_OK)
            assert_says("supports neither the filter two-ramps-unpadded nor");
    }
}

TEST_MAIN(NULL, NULL)
