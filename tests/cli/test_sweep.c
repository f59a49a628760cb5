/* Sweeps: ranges, what a value does to the views, scores, the peak. */
#include "analysis/score.h"
#include "geometry/view.h"
#include "scan/adjust.h"
#include "sweep.h"
#include "test.h"

enum { VIEWS = 12 };

static const double rad = 3.14159265358979323846 / 180;

TEST(ranges_are_read)
{
    struct sweep_range r;
    char why[200];

    assert_true(sweep_parse("centre=-5:5:0.25", &r, why, sizeof why));
    assert_int_equal(r.parameter, FBP_ADJUST_CENTRE);
    assert_int_equal(r.n, 41);
    assert_true(sweep_value(&r, 20) >= 0 && sweep_value(&r, 20) <= 0);
    assert_true(fabs(sweep_value(&r, 40) - 5) < 1e-12);
    assert_true(sweep_parse("center=1:2:0.1", &r, why, sizeof why));
    assert_int_equal(r.n, 11);
    assert_true(sweep_parse("sdd=600:601:0.3", &r, why, sizeof why));
    assert_int_equal(r.n, 4); /* 600.9 is the last */
}

TEST(wrong_ranges_are_explained)
{
    static const char *const wrong[][2] = {
        {"centre", "expected NAME=FROM"},
        {"wobble=1:2:1", "centre, tilt, offset, sod, sdd"},
        {"centre=1:2", "three numbers"},
        {"centre=1:2:x", "three numbers"},
        {"centre=1:2:3:4", "three numbers"},
        {"centre=1:nan:1", "three numbers"},
        {"centre=1:2:", "three numbers"},
        {"centre=2:1:1", "FROM below TO"},
        {"centre=1:2:-1", "FROM below TO"},
        {"centre=1:2:0", "FROM below TO"},
        {"centre=0:1000:0.1", "1000"},
        {"centre=1:2:5", "2 to"},
        {"", "expected NAME"},
        {"=0:1:1", "expected NAME"}, /* was a sweep of the tilt */
        {"cent=0:1:1", "expected NAME"},
    };
    struct sweep_range r;
    char why[200];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(sweep_parse(wrong[i][0], &r, why, sizeof why));
        if (!strstr(why, wrong[i][1]))
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i][0], why, wrong[i][1]);
    }
}

/* What a circle of these values is. */
static void make_views(struct fbp_scan *scan, struct fbp_view *views, double sod, double sdd,
                       double offset, double tilt_deg, double lean_deg)
{
    double angles[VIEWS];
    for (int k = 0; k < VIEWS; k++)
        angles[k] = k * 30 * rad;
    const struct fbp_circle c =
        circle_of(VIEWS, angles, sod, sdd, .kind = FBP_CONE, .pitch_mm = {0.5, 0.7},
                  .offset_mm = {offset, 40}, .tilt_rad = {lean_deg * rad, 0, tilt_deg * rad});

    *scan = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                              .kind = FBP_CONE,
                              .n_views = VIEWS,
                              .panel = {101, 81},
                              .views = views};
    OK(fbp_circle_views(&c, views));
}

static void expect_views(const struct fbp_view *a, const struct fbp_view *b)
{
    const double *x = a[0].s, *y = b[0].s;

    for (size_t i = 0; i < VIEWS * sizeof *a / sizeof(double); i++)
        if (!(fabs(x[i] - y[i]) < 1e-9))
            fail_msg("number %zu: %.12g is not %.12g", i, x[i], y[i]);
}

/* A value gives the views that a scan file with that value would give, of a panel as it should be
 * and of one that is turned and shifted along its columns. */
TEST(values_are_those_of_a_scan_file)
{
    struct fbp_view from[VIEWS], to[VIEWS], got[VIEWS];
    struct fbp_scan scan = {.struct_size = sizeof scan}, other = {.struct_size = sizeof other};
    double now;

    const struct {
        enum fbp_adjust which;
        double sod, sdd, offset, tilt, value, present;
    } cases[] = {
        {FBP_ADJUST_SOD, 410, 600, 2, 0, 410, 400},
        {FBP_ADJUST_SDD, 400, 650, 2, 0, 650, 600},
        {FBP_ADJUST_OFFSET, 400, 600, -7, 0, -7, 2},
        {FBP_ADJUST_TILT, 400, 600, 2, 1.5, 1.5, 0},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t c = i / 2;
        const double lean = i % 2 ? 2 : 0,
                     tilt = i % 2 && cases[c].which != FBP_ADJUST_TILT ? 3 : 0;
        make_views(&scan, from, 400, 600, 2, tilt, lean);
        make_views(&other, to, cases[c].sod, cases[c].sdd, cases[c].offset, tilt + cases[c].tilt,
                   lean);
        OK(fbp_adjust_get(&scan, cases[c].which, &now));
        assert_true(fabs(now - cases[c].present) < 1e-9);
        memcpy(got, from, sizeof got);
        scan.views = got;
        OK(fbp_adjust_set(&scan, cases[c].which, cases[c].value));
        expect_views(got, to);
        OK(fbp_adjust_get(&scan, cases[c].which, &now)); /* and back */
        assert_true(cases[c].which == FBP_ADJUST_TILT || fabs(now - cases[c].value) < 1e-9);
    }
    make_views(&scan, from, 400, 600, 2, 0, 0);
    make_views(&other, to, 400, 600, -7, 0, 0);
    OK(fbp_adjust_set(&scan, FBP_ADJUST_CENTRE, 64));
    expect_views(from, to);
    fbp_views_flip(from, VIEWS, FBP_FLIP_U); /* along +u, whichever way that is */
    OK(fbp_adjust_get(&scan, FBP_ADJUST_OFFSET, &now));
    assert_true(fabs(now - 7) < 1e-9);
}

/* Several at once: each is what it was asked to be. */
TEST(values_go_together)
{
    struct fbp_view views[VIEWS];
    struct fbp_scan scan = {.struct_size = sizeof scan};
    const double values[FBP_ADJUSTS] = {[FBP_ADJUST_CENTRE] = 47.5,
                                        [FBP_ADJUST_TILT] = 2,
                                        [FBP_ADJUST_OFFSET] = NAN,
                                        [FBP_ADJUST_SOD] = 410,
                                        [FBP_ADJUST_SDD] = 640};
    double now;

    make_views(&scan, views, 400, 600, 2, 0, 0);
    OK(fbp_adjust_all(&scan, values));
    for (int i = 0; i < FBP_ADJUSTS; i++) {
        OK(fbp_adjust_get(&scan, (enum fbp_adjust)i, &now));
        assert_true(i == FBP_ADJUST_TILT || i == FBP_ADJUST_OFFSET || fabs(now - values[i]) < 1e-9);
    }
}

/* Of a parallel beam the same, and views that differ keep their differences. */
TEST(the_centre_keeps_a_wobble)
{
    struct fbp_view views[2] = {{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                {{0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 0, 1}}};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_PARALLEL,
                            .n_views = 2,
                            .panel = {11, 3},
                            .views = views};
    double column;

    OK(fbp_adjust_get(&scan, FBP_ADJUST_CENTRE, &column));
    assert_true(fabs(column - 5.5) < 1e-12); /* 5 and 6 */
    OK(fbp_adjust_set(&scan, FBP_ADJUST_CENTRE, 4));
    OK(fbp_adjust_get(&scan, FBP_ADJUST_CENTRE, &column));
    assert_true(fabs(column - 4) < 1e-12);
    assert_true(fabs(views[0].d[1] - 1.5) < 1e-12 && fabs(views[1].d[0] + 0.5) < 1e-12);
}

static double score_of_disk(enum fbp_score score, double blur, double contrast, double ghost)
{
    enum { N = 64 };
    static float v[N * N];

    for (int i = 0; i < N * N; i++) {
        const double x = i % N - 31.5, y = i / N - 31.5; // NOLINT(bugprone-integer-division)
        v[i] = (float)(contrast / (1 + exp((hypot(x, y) - 15) / blur)) - ghost * (fabs(y) < 8));
    }
    return fbp_slice_score(score, v, N, N, 31.5, 31.5, 28);
}

TEST(scores_fall_with_what_is_wrong)
{
    double before = INFINITY;
    for (double blur = 0.3; blur < 6; blur *= 2) {
        const double s = score_of_disk(FBP_SCORE_SHARPNESS, blur, 1, 0);
        assert_true(s < before);
        before = s;
    }
    assert_true(fabs(score_of_disk(FBP_SCORE_SHARPNESS, 1, 1, 0) /
                         score_of_disk(FBP_SCORE_SHARPNESS, 1, 50, 0) -
                     1) < 1e-3);
    assert_true(score_of_disk(FBP_SCORE_NEGATIVITY, 1, 1, 0.2) <
                score_of_disk(FBP_SCORE_NEGATIVITY, 1, 1, 0));
    float few[9] = {0};
    assert_true(isnan(fbp_slice_score(FBP_SCORE_SHARPNESS, few, 3, 3, 1, 1, 5)));
}

TEST(the_peak_is_that_of_a_parabola)
{
    double y[9];
    bool at_end;

    for (int i = 0; i < 9; i++)
        y[i] = 2 - 0.1 * (i - 3.3) * (i - 3.3);
    assert_true(fabs(fbp_score_peak(y, 9, &at_end) - 3.3) < 1e-9);
    assert_false(at_end);
    y[3] = NAN; /* beside it there is nothing to interpolate with */
    assert_true(fabs(fbp_score_peak(y, 9, &at_end) - 4) < 1e-9);
    assert_true(at_end);
    assert_true(fabs(fbp_score_peak(y + 5, 4, &at_end)) < 1e-9);
    assert_true(at_end);
    for (int i = 0; i < 9; i++)
        y[i] = NAN;
    assert_true(isnan(fbp_score_peak(y, 9, &at_end)));
}

TEST(another_peak_is_noticed)
{
    static const double two[] = {2.08982, 2.08741, 2.08666, 2.0917, 2.09252, 2.0911, 2.08641};
    static const double ends[] = {2.0, 2.2, 2.5, 2.2, 2.1, 2.2, 2.3};
    static const double flat[] = {2.09, 2.0901, 2.0905, 2.092, 2.0911, 2.0911, 2.0912};
    double hills[9];

    assert_int_equal(fbp_score_rival(two, 7), 0);
    assert_int_equal(fbp_score_rival(ends, 7), 7); /* the second is far below */
    assert_int_equal(fbp_score_rival(flat, 7), 7); /* a ripple */
    for (int i = 0; i < 9; i++)
        hills[i] = NAN;
    assert_int_equal(fbp_score_rival(hills, 9), 9);
    for (int i = 0; i < 9; i++)
        hills[i] = 3 + 0.001 * cos(i * 3.14159265358979 / 4) + 1e-6 * i;
    assert_int_equal(fbp_score_rival(hills, 9), 0);
}

TEST_MAIN(NULL, NULL)
