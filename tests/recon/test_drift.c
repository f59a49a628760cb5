/* Checks that fbp_calibrate_drift() finds planted movement of the panel between views, and none
 * in scans without movement. */
#include "recon/fixture.h"

#include "base/math.h"

enum { VIEWS = 120, N = 64 };

/* A scan of some balls over `turn` degrees, whose file does not contain the panel's movement:
 * offsets[view][2] in pixels. */
static void plant(struct fbp_scan *scan, fbp_source **source, float *samples, enum fbp_kind kind,
                  double turn, double (*offsets)[2])
{
    struct fbp_ellipsoid items[] = {
        {{3, 2, 0}, {70, 56, 60}, 20, .01},       {{30, 12, 8}, {18, 24, 20}, 0, .02},
        {{-34, -20, -20}, {16, 16, 15}, 0, .02},  {{5, -42, 30}, {9, 9, 9}, 0, .03},
        {{-12, 38, -14}, {12, 9, 12}, 30, -.006}, {{40, 6, -34}, {6, 6, 6}, 0, .03}};
    const struct fbp_phantom phantom = {.items = items, .n = sizeof items / sizeof *items};
    AUTO_FREE double *angles = even_angles(VIEWS, 0, turn / VIEWS);
    const double pitch = kind == FBP_PARALLEL ? 3 : 4.8;
    AUTO_FREE double *moved = malloc(2 * VIEWS * sizeof *moved);
    struct fbp_circle circle =
        circle_of(VIEWS, angles, 500, 800, .kind = kind, .pitch_mm = {pitch, pitch});
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {N, N, VIEWS},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};

    *scan = (struct fbp_scan){
        .struct_size = sizeof *scan, .kind = kind, .n_views = VIEWS, .panel = {N, N}};
    scan->views = calloc(VIEWS, sizeof *scan->views);
    assert_non_null(scan->views);
    for (size_t k = 0; k < 2 * VIEWS; k++)
        moved[k] = pitch * offsets[k / 2][k % 2];
    circle.offsets_mm = (const double(*)[2])moved;
    OK(fbp_circle_views(&circle, scan->views));
    OK(fbp_phantom_simulate(&phantom, scan, NULL,
                            fbp_simulate_params(.noise_i0 = 2e4, .seed = 3, .samples = samples)));
    circle.offsets_mm = NULL;
    OK(fbp_circle_views(&circle, scan->views));
    OK(fbp_source_memory(source, samples, &info));
}

/* Root mean square of the difference between planted and found offsets in one direction, without
 * its components along the first n of 1, cos and sin of the angle. */
static double left_over(const struct fbp_scan *found, const struct fbp_scan *scan,
                        double (*offsets)[2], int i, size_t n)
{
    double rest[VIEWS], basis[3][VIEWS], sum = 0;

    for (size_t k = 0; k < VIEWS; k++) {
        const double *step = i ? found->views[k].v : found->views[k].u;
        double move[3];
        fbp_axpy(found->views[k].d, -1, scan->views[k].d, move);
        rest[k] = fbp_dot(move, step) / fbp_dot(step, step) - offsets[k][i];
        const double angle = atan2(scan->views[k].s[1], scan->views[k].s[0]);
        basis[0][k] = 1;
        basis[1][k] = cos(angle);
        basis[2][k] = sin(angle);
    }
    for (int round = 0; round < 50; round++) /* alternating projections: the angles are uneven */
        for (size_t j = 0; j < n; j++) {
            double part = 0, square = 0;
            for (size_t k = 0; k < VIEWS; k++) {
                part += basis[j][k] * rest[k];
                square += basis[j][k] * basis[j][k];
            }
            for (size_t k = 0; k < VIEWS; k++)
                rest[k] -= part / square * basis[j][k];
        }
    for (size_t k = 0; k < VIEWS; k++)
        sum += rest[k] * rest[k];
    return sqrt(sum / VIEWS);
}

static void check(enum fbp_kind kind, double (*offsets)[2], bool moves, double most_u,
                  double most_v)
{
    AUTO_FREE float *samples = malloc(VIEWS * N * N * sizeof *samples);
    struct fbp_scan scan, found = {.struct_size = sizeof found};
    struct fbp_calibration c = {.struct_size = sizeof c};
    struct fbp_recon_params params = {.struct_size = sizeof params};
    fbp_source *source;

    plant(&scan, &source, samples, kind, kind == FBP_PARALLEL ? 180 : 360, offsets);
    params.input.source = source;
    OK(fbp_calibrate_drift(&scan, &params, &c, &found));
    for (int i = 0; i < 2; i++) {
        const struct fbp_drift *d = &c.drift[i];
        assert_true(d->observable && d->uncertainty > 0 && d->uncertainty < 0.3);
        assert_int_equal(d->found, moves);
        assert_int_equal(d->slow, kind == FBP_PARALLEL || i == 1);
        assert_true(moves ? d->range > 0.5 : !(d->range > 0));
        const double left = left_over(&found, &scan, offsets, i, i || kind == FBP_CONE ? 1 : 3);
        if (moves && left > (i ? most_v : most_u))
            fail_msg("direction %d: %.3f pixels are left", i, left);
    }
    fbp_scan_clear(&found);
    fbp_scan_clear(&scan);
    fbp_source_close(&source);
}

TEST(drift_and_jumps_of_parallel_beams_are_found)
{
    double offsets[VIEWS][2];

    for (size_t k = 0; k < VIEWS; k++) {
        offsets[k][0] = 3 * (double)k / VIEWS - 1.5 + (k % 5 == 0 ? 0.4 : 0);
        offsets[k][1] = (k < 70 ? 0.6 : -0.6) + 2e-4 * (double)(k * k % 97);
    }
    check(FBP_PARALLEL, offsets, true, 0.03, 0.03);
}

TEST(jitter_of_a_cone_beam_is_found)
{
    double offsets[VIEWS][2];
    unsigned seed = 1;

    for (size_t k = 0; k < 2 * VIEWS; k++) {
        seed = seed * 1664525u + 1013904223u;
        offsets[k / 2][k % 2] = (double)(seed >> 8) / (1 << 24) - 0.5;
    }
    check(FBP_CONE, offsets, true, 0.15, 0.04);
}

TEST(slow_movement_along_columns_of_a_full_turn_is_found)
{
    double offsets[VIEWS][2];

    for (size_t k = 0; k < VIEWS; k++) {
        offsets[k][0] = k % 2 ? 0.5 : -0.5;
        offsets[k][1] = 2 * (double)k / VIEWS - 1;
    }
    check(FBP_CONE, offsets, true, 0.1, 0.06);
}

/* In less than a full turn, a sine about the middle of the arc is not distinguished from a wrong
 * roll; other movement along columns is found.  Slow movement is not determined in general. */
TEST(slow_movement_of_a_short_scan_is_unknown)
{
    for (int even = 0; even < 2; even++) {
        AUTO_FREE float *samples = malloc(VIEWS * N * N * sizeof *samples);
        double offsets[VIEWS][2] = {{0}};
        struct fbp_scan scan;
        struct fbp_calibration c = {.struct_size = sizeof c};
        struct fbp_recon_params params = {.struct_size = sizeof params};
        fbp_source *source;

        for (size_t k = 0; k < VIEWS; k++) {
            const double x = 2 * (double)k / VIEWS - 1; /* both have a range of 2 pixels */
            offsets[k][1] = even ? 2 * x * x - 0.67 : sin(FBP_PI / 180 * 110 * x);
        }
        plant(&scan, &source, samples, FBP_CONE, 220, offsets);
        params.input.source = source;
        OK(fbp_calibrate_drift(&scan, &params, &c, NULL));
        assert_true(!c.drift[0].slow && !c.drift[1].slow && !c.drift[0].found);
        print_message("range %.3f\n", c.drift[1].range);
        assert_true(even ? fabs(c.drift[1].range - 2) < 0.2 : c.drift[1].range < 1);
        fbp_scan_clear(&scan);
        fbp_source_close(&source);
    }
}

TEST(the_axis_of_a_moving_panel_is_found)
{
    AUTO_FREE float *samples = malloc(VIEWS * N * N * sizeof *samples);
    double offsets[VIEWS][2];
    struct fbp_scan scan;
    struct fbp_centre c = {.struct_size = sizeof c};
    struct fbp_recon_params params = {.struct_size = sizeof params};
    fbp_source *source;

    for (size_t k = 0; k < VIEWS; k++) {
        offsets[k][0] = k % 3 == 0 ? 4.5 : -1.5;
        offsets[k][1] = k % 2 ? 3 : -3;
    }
    plant(&scan, &source, samples, FBP_CONE, 360, offsets);
    for (size_t k = 0; k < VIEWS; k++) {
        fbp_axpy(scan.views[k].d, offsets[k][0], scan.views[k].u, scan.views[k].d);
        fbp_axpy(scan.views[k].d, offsets[k][1], scan.views[k].v, scan.views[k].d);
    }
    params.input.source = source;
    OK(fbp_centre_find(&scan, &params, &c));
    assert_true(fabs(c.column - (N - 2) / 2.0) < 0.15); /* the mean offset is half a column */
    assert_true(c.misfit < 0.02);
    fbp_scan_clear(&scan);
    fbp_source_close(&source);
}

TEST(a_panel_that_rests_does_not_move)
{
    static double offsets[VIEWS][2];

    check(FBP_PARALLEL, offsets, false, 0, 0);
    check(FBP_CONE, offsets, false, 0, 0);
}

TEST_MAIN(NULL, NULL)
