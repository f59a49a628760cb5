/* Checks the conventions of views, 3x4 matrices, circular scans and grids that the comments of
 * include/fbp/geometry.h state. */
#include "geometry_util.h"

#include "geometry/kind.h"
#include "geometry/view.h"
#include "test.h"

TEST(view_survives_matrix_of_any_scale_and_sign)
{
    for (int i = 0; i < 200; i++) {
        const struct fbp_panel panel = {1 + (size_t)(uniform(0, 600)), 1 + (size_t)uniform(0, 400)};
        const struct fbp_view in = random_view(FBP_CONE);
        const double pitch = fbp_norm(in.u);
        const double scale = (i & 1 ? -1 : 1) * pow(10, uniform(-6, 6));
        struct fbp_view out;
        double P[12];

        OK(fbp_view_to_matrix(&in, FBP_CONE, &panel, P));
        for (int j = 0; j < 12; j++)
            P[j] *= scale;
        OK(fbp_view_from_matrix(P, pitch, &panel, &out));
        check_near3(out.s, in.s, 1e-10 * 1000);
        check_near3(out.d, in.d, 1e-10 * 1000);
        check_near3(out.u, in.u, 1e-10);
        check_near3(out.v, in.v, 1e-10);
    }
}

TEST(matrix_projects_where_the_ray_meets_the_panel)
{
    for (int i = 0; i < 400; i++) {
        const enum fbp_kind kind = i & 1 ? FBP_PARALLEL : FBP_CONE;
        const struct fbp_panel panel = {301, 200};
        const struct fbp_view view = random_view(kind);
        const double c = uniform(-20, 320), r = uniform(-20, 220), along = uniform(0.2, 0.9);
        double P[12], pixel[3], x[3], w;

        OK(fbp_view_to_matrix(&view, kind, &panel, P));
        fbp_view_pixel(&view, &panel, c, r, pixel);
        for (int j = 0; j < 3; j++)
            x[j] = kind == FBP_CONE ? view.s[j] + along * (pixel[j] - view.s[j])
                                    : pixel[j] + 500 * along * view.s[j];
        w = fbp_dot(P + 8, x) + P[11];
        check_near((fbp_dot(P, x) + P[3]) / w, c, 1e-9);
        check_near((fbp_dot(P + 4, x) + P[7]) / w, r, 1e-9);
        check_near(w, kind == FBP_CONE ? along : 1, 1e-12);
    }
}

TEST(impossible_views_and_matrices_are_refused)
{
    const struct fbp_panel panel = {10, 10};
    struct fbp_view view = random_view(FBP_CONE);
    double P[12];

    OK(fbp_view_to_matrix(&view, FBP_CONE, &panel, P));
    struct fbp_view out;
    assert_int_equal(fbp_view_from_matrix(P, 0, &panel, &out), FBP_ERR_INVALID);
    assert_int_equal(fbp_view_from_matrix(P, NAN, &panel, &out), FBP_ERR_INVALID);
    double iso[12];
    memcpy(iso, P, sizeof iso);
    iso[11] = 0;
    assert_fails(fbp_view_from_matrix(iso, 1, &panel, &out), FBP_ERR_INVALID, "iso-centre");
    memset(P + 8, 0, 3 * sizeof *P);
    P[11] = 1;
    assert_fails(fbp_view_from_matrix(P, 1, &panel, &out), FBP_ERR_INVALID, "singular");
    memcpy(view.v, view.u, sizeof view.v);
    assert_int_equal(fbp_view_to_matrix(&view, FBP_CONE, &panel, P), FBP_ERR_INVALID);
}

TEST(circle_follows_the_convention)
{
    const double angle = 0.7, sod = 750, sdd = 1200;
    const struct fbp_circle circle =
        circle_of(1, &angle, sod, sdd, .pitch_mm = {0.8, 0.5}, .offset_mm = {7, -3});
    struct fbp_view view;

    OK(fbp_circle_views(&circle, &view));
    const double c = cos(angle), s = sin(angle);
    check_near3(view.s, (double[3]){750 * c, 750 * s, 0}, 1e-12);
    check_near3(view.d, (double[3]){-450 * c - 7 * s, -450 * s + 7 * c, -3}, 1e-12);
    check_near3(view.u, (double[3]){-0.8 * s, 0.8 * c, 0}, 1e-15);
    check_near3(view.v, (double[3]){0, 0, 0.5}, 1e-15);

    struct fbp_circle parallel = circle;
    parallel.kind = FBP_PARALLEL;
    parallel.sod_mm = parallel.sdd_mm = NULL;
    OK(fbp_circle_views(&parallel, &view));
    check_near3(view.s, (double[3]){c, s, 0}, 1e-15);
    check_near3(view.d, (double[3]){-7 * s, 7 * c, -3}, 1e-12);
}

/* Three turns at once: about axes that stay it is the last one first. */
TEST(turns_are_about_turned_axes)
{
    const double angle = 0, sod = 500, sdd = 900, tilt[3] = {0.4, -0.7, 1.1};
    static const double u[3] = {0, 1, 0}, v[3] = {0, 0, 1}, n[3] = {1, 0, 0}; /* untilted */
    const struct fbp_circle circle =
        circle_of(1, &angle, sod, sdd, .pitch_mm = {1, 1}, .tilt_rad = {tilt[0], tilt[1], tilt[2]});
    double Ru[9], Rv[9], Rn[9], Ruv[9], R[9], want[3];
    struct fbp_view view;

    OK(fbp_circle_views(&circle, &view));
    fbp_turn_about(u, tilt[0], Ru);
    fbp_turn_about(v, tilt[1], Rv);
    fbp_turn_about(n, tilt[2], Rn);
    fbp_matmul(Ru, Rv, Ruv);
    fbp_matmul(Ruv, Rn, R);
    fbp_turned(R, u, want);
    check_near3(view.u, want, 1e-14);
    fbp_turned(R, v, want);
    check_near3(view.v, want, 1e-14);
}

TEST(turns_are_right_handed)
{
    const double angle = 0, sod = 100, sdd = 200, a = 0.1;
    struct fbp_circle circle = circle_of(1, &angle, sod, sdd, .pitch_mm = {1, 1});
    struct fbp_view view; /* untilted: u = y, v = z, normal = x */

    circle.tilt_rad[0] = a;
    OK(fbp_circle_views(&circle, &view));
    check_near3(view.u, (double[3]){0, 1, 0}, 1e-15);
    check_near3(view.v, (double[3]){sin(a), 0, cos(a)}, 1e-15);
    circle.tilt_rad[0] = 0;
    circle.tilt_rad[1] = a;
    OK(fbp_circle_views(&circle, &view));
    check_near3(view.u, (double[3]){-sin(a), cos(a), 0}, 1e-15);
    check_near3(view.v, (double[3]){0, 0, 1}, 1e-15);
    circle.tilt_rad[1] = 0;
    circle.tilt_rad[2] = a;
    OK(fbp_circle_views(&circle, &view));
    check_near3(view.u, (double[3]){0, cos(a), sin(a)}, 1e-15);
    check_near3(view.v, (double[3]){0, -sin(a), cos(a)}, 1e-15);
    circle.tilt_rad[2] = 0;
    circle.skew_rad = a;
    OK(fbp_circle_views(&circle, &view));
    check_near3(view.v, (double[3]){0, sin(a), cos(a)}, 1e-15);
}

TEST(circle_refuses_with_a_reason)
{
    const double angles[2] = {0, 1}, nan_angles[2] = {0, NAN}, sod = 100, sdd = 200, zero = 0;
    const struct fbp_circle good = circle_of(2, angles, sod, sdd, .pitch_mm = {1, 1});
    struct fbp_circle bad[8];
    const char *const reason[8] = {
        "source-to-axis", "source-to-detector", "give one",   "angle", "pitch",
        "tilt 2",         "no views",           "struct_size"};
    const double near = 0.5 * sod; /* equal distances are a virtual detector */
    struct fbp_view views[2];

    for (size_t i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].sod_mm = &zero;
    bad[1].sdd_mm = &near;
    bad[2].n_sod = 3;
    bad[3].angles_rad = nan_angles;
    bad[4].pitch_mm[1] = 0;
    bad[5].tilt_rad[1] = 2;
    bad[6].n_views = 0;
    bad[7].struct_size = 0;
    OK(fbp_circle_views(&good, views));
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(fbp_circle_views(&bad[i], views), FBP_ERR_INVALID);
        if (!strstr(fbp_message(), reason[i]))
            fail_msg("case %zu: %s", i, fbp_message());
    }
}

TEST(default_grid_covers_the_field_of_view)
{
    struct scan scan = {
        .n = 36, .arc_deg = 360, .sod = 750, .sdd = 1200, .pitch = {0.8, 0.8}, .panel = {512, 384}};
    struct fbp_grid grid;
    struct fbp_view *views = scan_views(&scan);

    OK(fbp_grid_default(views_of(&scan, views), &grid));
    check_near(grid.voxel_mm[0], 0.5, 1e-12);
    check_near(grid.voxel_mm[2], 0.5, 1e-12);
    assert_int_equal(grid.n[0], 512);
    assert_int_equal(grid.n[1], 512);
    assert_int_equal(grid.n[2], 384);
    check_near3(grid.centre_mm, (double[3]){0, 0, 0}, 0x1p-1022);
    free(views);

    scan.offset[0] = 100 * 0.8;
    scan.panel.n_rows = 1;
    views = scan_views(&scan);
    OK(fbp_grid_default(views_of(&scan, views), &grid));
    assert_int_equal(grid.n[0], 712);
    assert_int_equal(grid.n[2], 1);
    free(views);

    scan = (struct scan){
        .kind = FBP_PARALLEL, .n = 36, .arc_deg = 180, .pitch = {0.8, 0.8}, .panel = {100, 300}};
    views = scan_views(&scan);
    OK(fbp_grid_default(views_of(&scan, views), &grid));
    check_near(grid.voxel_mm[1], 0.8, 1e-12);
    assert_int_equal(grid.n[0], 100);
    assert_int_equal(grid.n[2], 300);
    free(views);
}

TEST(grid_coordinates_are_voxel_centres)
{
    const struct fbp_grid g = {.n = {4, 5, 1}, .voxel_mm = {0.5, 2, 3}, .centre_mm = {1, 2, 3}};

    check_near(fbp_grid_coordinate(&g, 0, 0), 1 - 0.75, 1e-15);
    check_near(fbp_grid_coordinate(&g, 1, 2), 2, 1e-15);
    check_near(fbp_grid_coordinate(&g, 2, 0), 3, 1e-15);
}

/* Every tap inside the panel of every voxel lies in the rows; and not many rows too many. */
TEST(rows_cover_every_tap)
{
    for (int i = 0; i < 60; i++) {
        const enum fbp_kind kind = i % 3 == 2 ? FBP_PARALLEL : FBP_CONE;
        const struct fbp_panel panel = {60, 50};
        const struct fbp_grid grid = {
            .n = {9, 7, 12},
            .voxel_mm = {uniform(1, 8), uniform(1, 8), uniform(1, 8)},
            .centre_mm = {uniform(-20, 20), uniform(-20, 20), uniform(-60, 60)}};
        const size_t z0 = (size_t)uniform(0, 11), z1 = z0 + 1 + (size_t)uniform(0, 11 - (double)z0);
        struct fbp_view views[5];
        double lo = INFINITY, hi = -INFINITY;
        size_t r0, r1;

        for (int k = 0; k < 5; k++) {
            double P[12];
            views[k] = random_view(kind);
            OK(fbp_view_to_matrix(&views[k], kind, &panel, P));
            for (size_t j = 0; j < 9 * 7 * (z1 - z0); j++) {
                const double x[3] = {fbp_grid_coordinate(&grid, 0, (double)(j % 9)),
                                     fbp_grid_coordinate(&grid, 1, (double)(j / 9 % 7)),
                                     fbp_grid_coordinate(&grid, 2, (double)(z0 + j / 63))};
                const double r = (fbp_dot(P + 4, x) + P[7]) / (fbp_dot(P + 8, x) + P[11]);
                lo = fmin(lo, floor(r));
                hi = fmax(hi, floor(r) + 1);
            }
        }
        OK(fbp_geometry_rows((struct fbp_views){kind, 5, panel, views}, 0, 5, &grid, z0, z1, &r0,
                             &r1));
        if (hi < 0 || lo > 49) {
            assert_true(r1 - r0 <= 1);
            continue;
        }
        lo = fmax(lo, 0);
        hi = fmin(hi, 49);
        assert_true((double)r0 <= lo && (double)r0 >= lo - 1);
        assert_true((double)r1 >= hi + 1 && (double)r1 <= hi + 2);
    }
}

TEST(rows_of_nothing_are_none)
{
    struct scan scan = {
        .n = 8, .arc_deg = 360, .sod = 750, .sdd = 1200, .pitch = {1, 1}, .panel = {64, 64}};
    AUTO_FREE struct fbp_view *views = scan_views(&scan);
    struct fbp_grid grid = {.n = {8, 8, 8}, .voxel_mm = {1, 1, 1}, .centre_mm = {0, 0, 200}};
    size_t r0 = 7, r1 = 9;

    OK(fbp_geometry_rows(views_of(&scan, views), 0, 8, &grid, 0, 8, &r0, &r1));
    assert_int_equal(r0, r1);
    grid.centre_mm[2] = 0;
    OK(fbp_geometry_rows(views_of(&scan, views), 0, 8, &grid, 3, 3, &r0, &r1));
    assert_int_equal(r0, r1);
    grid.centre_mm[0] = 750; /* around the source: every row */
    OK(fbp_geometry_rows(views_of(&scan, views), 0, 8, &grid, 0, 8, &r0, &r1));
    assert_int_equal(r0, 0);
    assert_int_equal(r1, 64);
}

TEST_MAIN(NULL, NULL)
