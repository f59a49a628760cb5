/* Checks fbp_scan_cone() and the other constructors of scans: they return the right views, copy
 * their arguments, and leave an empty scan after a failure. */
#include "fbp/fbp.h"

#include "geometry/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

enum { N = 3 };
static const double angles[N] = {0, 1, 2.5}, sod = 100, sdd = 200;

static struct fbp_circle circle(void)
{
    return (struct fbp_circle){.struct_size = sizeof(struct fbp_circle),
                               .n_views = N,
                               .angles_rad = angles,
                               .sod_mm = &sod,
                               .sdd_mm = &sdd,
                               .n_sod = 1,
                               .n_sdd = 1,
                               .pitch_mm = {0.5, 0.5}};
}

static void circles(void **state)
{
    const struct fbp_panel panel = {8, 4};
    struct fbp_circle of = circle();
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_view views[N];

    (void)state;
    assert_int_equal(fbp_circle_views(&of, views), FBP_OK);
    assert_int_equal(fbp_scan_cone(&scan, &of, panel), FBP_OK);
    assert_true(scan.kind == FBP_CONE && scan.n_views == N && scan.panel.n_rows == 4);
    assert_memory_equal(scan.views, views, sizeof views);
    fbp_scan_clear(&scan);

    of.pitch_mm[1] = 0;
    assert_int_equal(fbp_scan_fan(&scan, &of, 8), FBP_OK);
    assert_true(scan.panel.n_columns == 8 && scan.panel.n_rows == 1);
    assert_memory_equal(scan.views, views, sizeof views);
    fbp_scan_clear(&scan);
    assert_int_equal(fbp_scan_cone(&scan, &of, panel), FBP_ERR_INVALID);
    assert_true(!scan.views && scan.n_views == 0);

    of.kind = FBP_PARALLEL;
    of.pitch_mm[1] = 0.5;
    assert_int_equal(fbp_circle_views(&of, views), FBP_OK);
    of.kind = FBP_CONE;
    assert_int_equal(fbp_scan_parallel(&scan, &of, panel), FBP_OK);
    assert_true(scan.kind == FBP_PARALLEL);
    assert_memory_equal(scan.views, views, sizeof views);
    fbp_scan_clear(&scan);
}

static void matrices_and_vectors(void **state)
{
    const struct fbp_panel panel = {8, 4};
    const struct fbp_circle of = circle();
    struct fbp_scan scan = {.struct_size = sizeof scan}, again = {.struct_size = sizeof again};
    double P[N][12];

    (void)state;
    assert_int_equal(fbp_scan_cone(&scan, &of, panel), FBP_OK);
    for (size_t k = 0; k < N; k++)
        assert_int_equal(fbp_view_to_matrix(&scan.views[k], FBP_CONE, &panel, P[k]), FBP_OK);
    assert_int_equal(fbp_scan_matrices(&again, (const double(*)[12])P, N, 0.5, panel), FBP_OK);
    for (size_t k = 0; k < N; k++)
        for (int i = 0; i < 3; i++)
            assert_true(fabs(again.views[k].s[i] - scan.views[k].s[i]) < 1e-9 &&
                        fabs(again.views[k].u[i] - scan.views[k].u[i]) < 1e-12);
    fbp_scan_clear(&again);
    memset(P[1], 0, sizeof P[1]);
    assert_int_equal(fbp_scan_matrices(&again, (const double(*)[12])P, N, 0.5, panel),
                     FBP_ERR_INVALID);
    assert_non_null(strstr(fbp_message(), "matrices[1]: "));
    assert_null(again.views);

    assert_int_equal(fbp_scan_vectors(&again, FBP_CONE, scan.views, N, panel), FBP_OK);
    assert_true(again.views != scan.views);
    assert_memory_equal(again.views, scan.views, N * sizeof *scan.views);
    fbp_scan_clear(&again);
    fbp_scan_clear(&scan);
}

static void planes(void **state)
{
    const double direction[N][3] = {{1, 0, 0}, {0, 3, 4}, {0, 0, -2}}, unit[3] = {0, 0.6, 0.8};
    const double spacing[N] = {0.1, 0.2, 0.3}, first = -1;
    struct fbp_planes of = {.struct_size = sizeof of,
                            .n_views = N,
                            .direction = direction,
                            .spacing_mm = spacing,
                            .n_spacing = N,
                            .n_samples = 11};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_view view;

    (void)state;
    assert_int_equal(fbp_scan_planes(&scan, &of), FBP_OK);
    fbp_plane_view(unit, 0.2, -1, 11, &view);
    assert_true(scan.kind == FBP_PLANES && scan.panel.n_columns == 11 && scan.panel.n_rows == 1);
    for (int i = 0; i < 3; i++) /* the samples are centred on 0 */
        assert_true(fabs(scan.views[1].u[i] - view.u[i]) < 1e-15 &&
                    fabs(scan.views[1].d[i]) < 1e-15);
    fbp_scan_clear(&scan);

    of.first_mm = &first;
    of.n_first = 1;
    of.n_time_points = 5;
    assert_int_equal(fbp_scan_planes(&scan, &of), FBP_OK);
    assert_true(scan.panel.n_rows == 5 && fabs(scan.views[0].d[0] + 0.5) < 1e-15);
    fbp_scan_clear(&scan);

    of.n_spacing = 2;
    assert_int_equal(fbp_scan_planes(&scan, &of), FBP_ERR_INVALID);
    assert_null(scan.views);
}

static void facts(void **state)
{
    const struct fbp_circle of = circle();
    const struct fbp_grid grid = {{4, 4, 4}, {1, 1, 1}, {0, 0, 0}};
    struct fbp_geometry_facts f = {.struct_size = sizeof f};
    struct fbp_scan scan = {.struct_size = sizeof scan};

    (void)state;
    assert_int_equal(fbp_scan_cone(&scan, &of, (struct fbp_panel){8, 4}), FBP_OK);
    assert_int_equal(fbp_scan_facts(&scan, NULL, &f), FBP_OK);
    assert_true(f.n_angles == N && f.method_error[0] == 0);
    assert_int_equal(fbp_scan_facts(&scan, &grid, &f), FBP_OK);
    assert_true(f.method_error[2] < 0); /* the top slice lies outside the plane of the sources */
    assert_int_equal(fbp_scan_draw(&scan, &grid, FBP_TEST_DIR "/scan.svg"), FBP_OK);
    fbp_scan_clear(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circles),
        cmocka_unit_test(matrices_and_vectors),
        cmocka_unit_test(planes),
        cmocka_unit_test(facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
