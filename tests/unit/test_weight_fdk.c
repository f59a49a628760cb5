/* Checks the weights within a small FDK in double: the mean of a ball of 0.02/mm is right. */
#include "geometry_util.h"

#include "fdk_util.h"
#include "test.h"

static const struct scan usual = {
    .n = 360,
    .arc_deg = 360,
    .sod = 750,
    .sdd = 1200,
    .pitch = {1.6, 1.6},
    .panel = {256, 144},
};
static const struct ball near_plane = {.centre = {30, 0, 0}, .radius = 40, .mu = 0.02};
static const struct ball above_plane = {.centre = {30, 0, 25}, .radius = 30, .mu = 0.02};

static void check_mean(const struct scan *scan, const double *angles, const struct ball *ball,
                       bool endless, double tol)
{
    AUTO_FREE struct fbp_view *views = angles ? scan_views_at(scan, angles) : scan_views(scan);
    random_state = 1;
    const double mean = fdk_mean(scan, views, FBP_ANGULAR_AUTO, ball, endless, 40);
    print_message("           turns %3g %3g %3g deg, arc %3g: mean %.5f (%+.3f %%)\n",
                  scan->tilt_deg[0], scan->tilt_deg[1], scan->tilt_deg[2], scan->arc_deg, mean,
                  (mean / ball->mu - 1) * 100);
    check_near(mean / ball->mu, 1, tol);
}

TEST(turned_panels)
{
    const double turns[][3] = {
        {0, 0, 0}, {0, 2, 0}, {0, 10, 0}, {2, 0, 0}, {10, 0, 0}, {0, 0, 2}, {0, 0, 10}, {5, -6, 4},
    };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct scan scan = usual;
        memcpy(scan.tilt_deg, turns[i], sizeof scan.tilt_deg);
        check_mean(&scan, NULL, &near_plane, false, 1e-3);
        check_mean(&scan, NULL, &above_plane, false, 2e-3);
    }
}

TEST(short_and_offset_scans)
{
    struct scan scan = usual;

    scan.arc_deg = 210;
    scan.n = 210;
    scan.start_deg = 70;
    check_mean(&scan, NULL, &near_plane, false, 2e-3);
    scan.start_deg = 10;
    scan.arc_deg = -210;
    scan.tilt_deg[1] = 5;
    check_mean(&scan, NULL, &near_plane, false, 2e-3);
    scan = usual;
    scan.offset[0] = 0.3 * 256 * 1.6;
    check_mean(&scan, NULL, &near_plane, false, 2e-3);
    scan.offset[0] = -scan.offset[0];
    check_mean(&scan, NULL, &near_plane, false, 2e-3);
}

TEST(uneven_angles)
{
    double angles[360];

    for (int k = 0; k < 360; k++)
        angles[359 - k] = (k + 20 * sin(k * FBP_PI / 180) + uniform(-0.4, 0.4)) * FBP_PI / 180;
    check_mean(&usual, angles, &near_plane, false, 1e-3);
}

TEST(one_row_and_parallel)
{
    struct scan scan = usual;

    scan.panel.n_rows = 1;
    check_mean(&scan, NULL, &near_plane, true, 1e-3);
    scan.tilt_deg[1] = 10;
    check_mean(&scan, NULL, &near_plane, true, 1e-3);
    scan.kind = FBP_PARALLEL;
    check_mean(&scan, NULL, &near_plane, true, 1e-3);
    scan.arc_deg = 180;
    scan.n = 180;
    scan.tilt_deg[1] = 0;
    check_mean(&scan, NULL, &near_plane, true, 1e-3);
    scan.panel.n_rows = 144;
    check_mean(&scan, NULL, &near_plane, false, 1e-3);
    scan.arc_deg = 200;
    check_mean(&scan, NULL, &near_plane, false, 1e-3);
    scan.arc_deg = 360;
    scan.offset[0] = 100;
    check_mean(&scan, NULL, &near_plane, false, 1e-3);
}

/* d_n: the source comes and goes by 5 %, slowly. */
TEST(distance_of_its_own_for_every_view)
{
    AUTO_FREE struct fbp_view *views = scan_views(&usual);

    for (size_t k = 0; k < usual.n; k++)
        for (int i = 0; i < 3; i++)
            views[k].s[i] *= 1 + 0.05 * sin(2 * FBP_PI * (double)k / (double)usual.n);
    random_state = 1;
    const double mean = fdk_mean(&usual, views, FBP_ANGULAR_AUTO, &near_plane, false, 40);
    print_message("           d_n: mean %.5f\n", mean);
    check_near(mean / near_plane.mu, 1, 2e-3);
}

TEST_MAIN(NULL, NULL)
