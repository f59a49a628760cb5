/* Checks fbp_views_facts(): coverage, redundancy, field of view, pitch and symmetry that follow
 * from the views of each kind of scan. */
#include "geometry/kind.h"
#include "geometry_util.h"
#include "test.h"

#define DEG (FBP_PI / 180)

static const struct scan usual = {
    .n = 360,
    .arc_deg = 360,
    .sod = 750,
    .sdd = 1200,
    .pitch = {0.8, 0.8},
    .panel = {512, 384},
};

static struct fbp_geometry_facts facts_at(const struct scan *scan, const double *angles,
                                          const struct fbp_grid *grid)
{
    struct fbp_geometry_facts f = {.struct_size = sizeof f};
    AUTO_FREE struct fbp_view *views = angles ? scan_views_at(scan, angles) : scan_views(scan);
    const fbp_status st = fbp_views_facts(views_of(scan, views), grid, &f);
    OK(st);
    return f;
}

static struct fbp_geometry_facts facts(const struct scan *scan)
{
    return facts_at(scan, NULL, NULL);
}

TEST(full_scan)
{
    const struct fbp_geometry_facts f = facts(&usual);
    const double edge = atan(256 * 0.8 / 1200);

    assert_int_equal(f.coverage, FBP_COVERAGE_FULL);
    assert_int_equal(f.direction, 1);
    assert_false(f.offset);
    check_near3(f.axis, (double[3]){0, 0, 1}, 0);
    check_near(f.arc_rad, 2 * FBP_PI, 0);
    check_near(f.gap_rad, 0, 1e-12);
    check_near3(f.step_rad, (double[3]){DEG, DEG, DEG}, 1e-12);
    check_near(f.sod_mm[0], 750, 1e-9);
    check_near(f.sod_mm[1], 750, 1e-9);
    check_near(f.sdd_mm[0], 1200, 1e-9);
    check_near(f.magnification, 1.6, 1e-12);
    check_near(f.fan_rad[0], -edge, 1e-12);
    check_near(f.fan_rad[1], edge, 1e-12);
    check_near(f.edge_mm[1], 750 * sin(edge), 1e-9);
    check_near(f.fov_radius_mm, 750 * sin(edge), 1e-9);
    check_near(f.needed_rad, FBP_PI + 2 * edge, 1e-12);
    check_near(f.fov_half_height_mm[0], -96, 1e-9);
    check_near(f.fov_half_height_mm[1], 96, 1e-9);
    check_near3(f.tilt_rad, (double[3]){0, 0, 0}, 1e-12);
    check_near(f.skew_rad, 0, 1e-12);
    assert_int_equal(f.symmetry, FBP_SYM_COLUMN | FBP_SYM_ROT180 | FBP_SYM_ROT90);
}

TEST(few_views_and_inclusive_ends_are_full)
{
    const size_t counts[] = {3, 4, 21, 361, 721};

    for (size_t i = 0; i < 5; i++) {
        struct scan scan = usual;
        scan.n = counts[i];
        scan.inclusive = counts[i] > 20;
        scan.start_deg = 17.3;
        const struct fbp_geometry_facts f = facts(&scan);
        assert_int_equal(f.coverage, FBP_COVERAGE_FULL);
        check_near(f.arc_rad, 2 * FBP_PI, 0);
    }
}

TEST(order_direction_and_turns)
{
    struct scan scan = usual;
    double angles[720];

    scan.arc_deg = -360;
    assert_int_equal(facts(&scan).direction, -1);
    for (int k = 0; k < 360; k++) /* up and down by turns */
        angles[k] = (k % 2 ? 360 - k : k) * DEG;
    struct fbp_geometry_facts f = facts_at(&scan, angles, NULL);
    assert_int_equal(f.direction, 0);
    assert_int_equal(f.coverage, FBP_COVERAGE_FULL);
    check_near(f.step_rad[2], DEG, 1e-12);
    scan.n = 720;
    for (int k = 0; k < 720; k++)
        angles[k] = k * DEG;
    f = facts_at(&scan, angles, NULL);
    assert_int_equal(f.coverage, FBP_COVERAGE_FULL);
    assert_int_equal(f.direction, 1);
    check_near(f.step_rad[1], DEG, 1e-12);
}

TEST(short_scan)
{
    struct scan scan = usual;

    scan.n = 211;
    scan.arc_deg = 210;
    scan.inclusive = true;
    scan.start_deg = 300; /* across 0 */
    for (int i = 0; i < 2; i++) {
        const struct fbp_geometry_facts f = facts(&scan);
        assert_int_equal(f.coverage, FBP_COVERAGE_SHORT);
        assert_int_equal(f.direction, i ? -1 : 1);
        check_near(f.arc_rad, 211 * DEG, 1e-11);
        check_near(f.start_rad, 300 * DEG, 1e-11);
        check_near(f.gap_rad, 149 * DEG, 1e-11);
        assert_false(f.offset);
        scan.start_deg = 150; /* the same arc, backwards */
        scan.arc_deg = -210;
    }
    scan.arc_deg = 190;
    const struct fbp_geometry_facts f = facts(&scan);
    assert_int_equal(f.coverage, FBP_COVERAGE_PARTIAL);
    assert_true(f.needed_rad > f.arc_rad);
}

TEST(short_scan_is_enough_at_180_plus_fan)
{
    struct scan scan = usual;
    const double needed = 180 + 2 * atan(256 * 0.8 / 1200) / DEG;

    scan.n = 200;
    for (int i = 0; i < 2; i++) {
        scan.arc_deg = needed + (i ? -4 : 0);
        assert_int_equal(facts(&scan).coverage, i ? FBP_COVERAGE_PARTIAL : FBP_COVERAGE_SHORT);
    }
}

TEST(parallel_scans)
{
    struct scan scan = {
        .kind = FBP_PARALLEL, .n = 180, .arc_deg = 180, .pitch = {0.5, 0.5}, .panel = {200, 10}};

    struct fbp_geometry_facts f = facts(&scan);
    assert_int_equal(f.coverage, FBP_COVERAGE_SHORT);
    check_near(f.arc_rad, FBP_PI, 1e-12);
    check_near(f.needed_rad, FBP_PI, 0);
    check_near(f.edge_mm[0], -50, 1e-9);
    check_near(f.edge_mm[1], 50, 1e-9);
    check_near(f.fov_radius_mm, 50, 1e-9);
    check_near(f.fov_half_height_mm[1], 2.5, 1e-9);
    check_near(f.magnification, 1, 1e-12);
    scan.arc_deg = 360;
    scan.n = 360;
    scan.offset[0] = -20;
    f = facts(&scan);
    assert_int_equal(f.coverage, FBP_COVERAGE_FULL);
    assert_true(f.offset);
    check_near(f.overlap_mm, 29.75, 1e-9);
    check_near(f.fov_radius_mm, 70, 1e-9);
    scan.arc_deg = 150;
    scan.n = 150;
    assert_int_equal(facts(&scan).coverage, FBP_COVERAGE_PARTIAL);
}

/* The direction of parallel rays may have any length. */
TEST(length_of_a_direction_does_not_count)
{
    const struct scan scan = {
        .kind = FBP_PARALLEL, .n = 180, .arc_deg = 180, .pitch = {0.5, 0.5}, .panel = {200, 10}};
    AUTO_FREE struct fbp_view *views = scan_views(&scan);
    double error[2];

    for (int i = 0; i < 2; i++) {
        struct fbp_geometry_facts f = {.struct_size = sizeof f};
        for (size_t k = 0; k < scan.n; k++)
            for (int j = 0; j < 3; j++)
                views[k].s[j] = i ? 7 * views[k].s[j] : views[k].s[j] + 0.2 * (j == 2);
        OK(fbp_views_facts(views_of(&scan, views), NULL, &f));
        error[i] = f.cone_angle_error;
    }
    check_near(error[0], 1 - cos(atan(0.2)), 1e-9);
    check_near(error[1], error[0], 1e-12);
}

static enum fbp_coverage coverage_at(enum fbp_kind kind, double fan_deg, const double *deg,
                                     size_t n)
{
    struct scan scan = {.kind = kind, .n = n, .pitch = {1, 1}, .panel = {100, 1}};
    double angles[400] = {0};

    if (kind == FBP_CONE) {
        scan.sod = 50 / tan(fan_deg / 2 * DEG);
        scan.sdd = scan.sod + 50;
        scan.pitch[0] = scan.sdd / scan.sod;
    }
    for (size_t k = 0; k < n; k++)
        angles[k] = deg[k] * DEG;
    const struct fbp_geometry_facts f = facts_at(&scan, angles, NULL);
    if (kind == FBP_PARALLEL && f.coverage == FBP_COVERAGE_SHORT)
        assert_true(f.arc_rad >= FBP_PI);
    return f.coverage;
}

/* Whatever the order of its views, a half turn is one; and a wedge is missing where it is. */
TEST(half_turns_in_any_order)
{
    const double golden = (sqrt(5) - 1) / 2, fans[] = {0, 0.01, 1};
    double deg[400];

    for (int i = 0; i < 3; i++) {
        const enum fbp_kind kind = i ? FBP_CONE : FBP_PARALLEL;
        for (int k = 0; k < 180; k++)
            deg[k] = k + uniform(-0.5, 0.5);
        assert_int_equal(coverage_at(kind, fans[i], deg, 180), FBP_COVERAGE_SHORT);
        for (int n = 30; n < 200; n += 13) {
            for (int k = 0; k < n; k++)
                deg[k] = fmod(k * golden, 1) * 180;
            assert_int_equal(coverage_at(kind, fans[i], deg, (size_t)n), FBP_COVERAGE_SHORT);
            for (int k = 0; k < n; k++)
                deg[k] *= 140.0 / 180;
            assert_int_equal(coverage_at(kind, fans[i], deg, (size_t)n), FBP_COVERAGE_PARTIAL);
        }
        for (int k = 0; k < 170; k++)
            deg[k] = k;
        assert_int_equal(coverage_at(kind, fans[i], deg, 170), FBP_COVERAGE_PARTIAL);
        for (int k = 0; k < 179; k++)
            deg[k] = k;
        assert_int_equal(coverage_at(kind, fans[i], deg, 179), FBP_COVERAGE_SHORT);
        for (int k = 0; k < 150; k++) /* a hole, and two */
            deg[k] = k < 70 ? k : k + 30;
        assert_int_equal(coverage_at(kind, fans[i], deg, 150), FBP_COVERAGE_PARTIAL);
        for (int k = 0; k < 140; k++)
            deg[k] = k < 50 ? k : k < 100 ? k + 20 : k + 40;
        assert_int_equal(coverage_at(kind, fans[i], deg, 140), FBP_COVERAGE_PARTIAL);
        for (int k = 0; k < 210; k++) /* 60 to 120 degrees from the other side */
            deg[k] = k < 70 ? k - 5 : k < 140 ? k - 70 + 115 : k - 140 + 235;
        assert_int_equal(coverage_at(kind, fans[i], deg, 210), FBP_COVERAGE_SHORT);
    }
    for (int k = 0; k < 200; k++) /* a short scan with a hole */
        deg[k] = k < 90 ? k : k + 15;
    assert_int_equal(coverage_at(FBP_CONE, 20, deg, 200), FBP_COVERAGE_PARTIAL);
    for (int k = 0; k < 200; k++)
        deg[k] = k < 90 ? k : k + 2;
    assert_int_equal(coverage_at(FBP_CONE, 20, deg, 200), FBP_COVERAGE_SHORT);
}

TEST(offset_panel)
{
    struct scan scan = usual;

    scan.offset[0] = 0.3 * 512 * 0.8;
    const struct fbp_geometry_facts f = facts(&scan);
    const double last = atan((255.5 * 0.8 - scan.offset[0]) / 1200);
    assert_true(f.offset);
    check_near(f.overlap_rad, last, 1e-12);
    check_near(f.overlap_mm, 750 * sin(last), 1e-9);
    check_near(f.fov_radius_mm, 750 * sin(atan((256 * 0.8 + scan.offset[0]) / 1200)), 1e-9);

    scan.offset[0] = 1.5; /* less than 2 % */
    assert_false(facts(&scan).offset);
    scan.offset[0] = 256 * 0.8 + 3; /* past the axis */
    AUTO_FREE struct fbp_view *views = scan_views(&scan);
    struct fbp_geometry_facts none = {.struct_size = sizeof none};
    assert_fails(fbp_views_facts(views_of(&scan, views), NULL, &none), FBP_ERR_INVALID, "axis");
}

TEST(turned_panels_are_measured)
{
    struct scan scan = usual;
    const double turns[3] = {3, -7, 5};

    memcpy(scan.tilt_deg, turns, sizeof turns);
    const struct fbp_geometry_facts f = facts(&scan);
    check_near3(f.tilt_rad, (double[3]){3 * DEG, 7 * DEG, 5 * DEG}, 1e-12);
    assert_int_equal(f.symmetry, FBP_SYM_ROT180 | FBP_SYM_ROT90);

    AUTO_FREE struct fbp_view *views = scan_views(&usual);
    struct fbp_geometry_facts upside_down = {.struct_size = sizeof upside_down};
    for (size_t k = 0; k < usual.n; k++)
        for (int i = 0; i < 3; i++)
            views[k].v[i] += 0.1 * views[k].u[i];
    for (size_t k = 0; k < usual.n; k++)
        for (int i = 0; i < 3; i++)
            views[k].v[i] = -views[k].v[i];
    OK(fbp_views_facts(views_of(&usual, views), NULL, &upside_down));
    check_near3(upside_down.tilt_rad, (double[3]){0, 0, 0}, 1e-12);
    check_near(upside_down.skew_rad, atan(0.1), 1e-12);
}

TEST(symmetries_belong_to_scan_and_grid)
{
    struct scan scan = usual;
    struct fbp_grid grid = {.n = {64, 64, 32}, .voxel_mm = {1, 1, 2}};
    const unsigned c = FBP_SYM_COLUMN, r2 = FBP_SYM_ROT180, r4 = FBP_SYM_ROT90;

    assert_int_equal(facts_at(&scan, NULL, &grid).symmetry, c | r2 | r4);
    grid.centre_mm[2] = 0.1;
    assert_int_equal(facts_at(&scan, NULL, &grid).symmetry, c | r2 | r4);
    grid.n[1] = 60;
    assert_int_equal(facts_at(&scan, NULL, &grid).symmetry, c | r2);
    grid.centre_mm[0] = 0.1;
    assert_int_equal(facts_at(&scan, NULL, &grid).symmetry, c);
    scan.offset[1] = 1;
    assert_int_equal(facts(&scan).symmetry, c | r2 | r4);
    scan.n = 362;
    assert_int_equal(facts(&scan).symmetry, c | r2);
    scan.n = 361;
    assert_int_equal(facts(&scan).symmetry, c);
    scan.n = 360;
    scan.arc_deg = -360; /* clockwise */
    assert_int_equal(facts(&scan).symmetry, c | r2 | r4);
    scan.tilt_deg[1] = 2; /* about v: columns stay columns */
    assert_int_equal(facts(&scan).symmetry, c | r2 | r4);
    scan.tilt_deg[0] = 2;
    assert_int_equal(facts(&scan).symmetry, r2 | r4);
    scan = usual;
    scan.tilt_deg[1] = 2;
    scan.arc_deg = 210;
    scan.n = 210;
    assert_int_equal(facts(&scan).symmetry, c);
}

TEST(volume_in_the_field_of_view)
{
    struct fbp_grid grid = {.n = {101, 101, 101}, .voxel_mm = {1, 1, 1}};

    struct fbp_geometry_facts f = facts_at(&usual, NULL, &grid);
    assert_true(f.volume_inside);
    check_near(f.volume_radius_mm, 50 * sqrt(2), 1e-9);
    grid.voxel_mm[2] = 1.9; /* the axis is seen to +-96 mm, nearer voxels less */
    assert_false(facts_at(&usual, NULL, &grid).volume_inside);
    grid.voxel_mm[2] = 1;
    grid.voxel_mm[0] = 3;
    assert_false(facts_at(&usual, NULL, &grid).volume_inside);
    grid.voxel_mm[0] = 20;
    AUTO_FREE struct fbp_view *views = scan_views(&usual);
    assert_fails(fbp_views_facts((struct fbp_views){FBP_CONE, 360, usual.panel, views}, &grid, &f),
                 FBP_ERR_INVALID, "source");
}

/* A scan about another axis has the same facts; noise of a C-arm keeps z. */
TEST(axis_follows_the_sources)
{
    struct scan scan = usual;
    scan.arc_deg = 210;
    scan.n = 210;
    struct fbp_view *views = scan_views(&scan);
    struct fbp_geometry_facts f = {.struct_size = sizeof f};

    for (size_t k = 0; k < scan.n; k++) { /* (x, y, z) -> (z, x, y): the axis z becomes x */
        double *vectors[4] = {views[k].s, views[k].d, views[k].u, views[k].v};
        for (int i = 0; i < 4; i++) {
            const double a[3] = {vectors[i][2], vectors[i][0], vectors[i][1]};
            memcpy(vectors[i], a, sizeof a);
        }
    }
    OK(fbp_views_facts(views_of(&scan, views), NULL, &f));
    check_near3(f.axis, (double[3]){1, 0, 0}, 1e-9);
    assert_int_equal(f.coverage, FBP_COVERAGE_SHORT);
    assert_int_equal(f.direction, 1);
    check_near(f.arc_rad, 210 * DEG, 1e-9);
    check_near3(f.tilt_rad, (double[3]){0, 0, 0}, 1e-9);
    check_near(f.fov_half_height_mm[1], 96, 1e-6);
    free(views);

    views = scan_views(&scan);
    for (size_t k = 0; k < scan.n; k++)
        for (int i = 0; i < 3; i++)
            views[k].s[i] += uniform(-1.5, 1.5);
    OK(fbp_views_facts(views_of(&scan, views), NULL, &f));
    check_near3(f.axis, (double[3]){0, 0, 1}, 0);
    assert_int_equal(f.coverage, FBP_COVERAGE_SHORT);
    assert_int_equal(f.symmetry, FBP_SYM_COLUMN); /* v still runs along z */
    free(views);
}

TEST(impossible_scans_are_refused)
{
    struct scan scan = usual;
    struct fbp_geometry_facts f = {.struct_size = sizeof f};
    const char *const reason[] = {"the panel's side of the source", "not finite", "parallel to the",
                                  "through the source", "exchange rows"};

    scan.n = 4;
    for (int i = 0; i < 5; i++) {
        struct fbp_view *views = scan_views(&scan), *v = &views[2];
        for (int j = 0; j < 3; j++) {
            if (i == 0)
                v->d[j] = 3 * v->s[j];
            if (i == 1)
                v->u[j] = NAN;
            if (i == 2)
                v->u[j] = 0.01 * v->s[j];
            if (i == 3)
                v->s[j] = 700 * (j == 2);
            if (i == 4) {
                const double u = v->u[j];
                v->u[j] = v->v[j];
                v->v[j] = u;
            }
        }
        assert_int_equal(
            fbp_views_facts((struct fbp_views){FBP_CONE, 4, scan.panel, views}, NULL, &f),
            FBP_ERR_INVALID);
        if (!strstr(fbp_message(), reason[i]))
            fail_msg("case %d: %s", i, fbp_message());
        free(views);
    }
    assert_int_equal(fbp_views_facts((struct fbp_views){FBP_CONE, 0, scan.panel, NULL}, NULL, &f),
                     FBP_ERR_INVALID);
}

/* However many views stand there: the greatest of one or two gaps is no measure of itself. */
TEST(one_or_two_angles_are_no_turn)
{
    struct scan scan = usual;
    double angles[12];

    scan.n = 1;
    struct fbp_geometry_facts f = facts(&scan);
    assert_int_equal(f.coverage, FBP_COVERAGE_PARTIAL);
    check_near(f.arc_rad, 0, 0);
    assert_int_equal(f.n_angles, 1);
    assert_int_equal(fbp_geometry_circular(&f), FBP_ERR_INVALID);
    scan.n = 12;
    for (int second = 0; second <= 180; second += 45) {
        for (int k = 0; k < 12; k++)
            angles[k] = (k % 2 ? second : 0) * DEG;
        f = facts_at(&scan, angles, NULL);
        assert_int_equal(f.coverage, FBP_COVERAGE_PARTIAL);
        assert_int_equal(f.n_angles, second ? 2 : 1);
        assert_int_equal(fbp_geometry_circular(&f), second ? FBP_OK : FBP_ERR_INVALID);
    }
}

/* One missing view leaves a full turn, more leave a short scan, and half a turn is no full one. */
TEST(coarse_steps_make_no_turn_of_a_half)
{
    struct scan scan = usual;
    double angles[24];

    for (int n = 3; n <= 9; n++) { /* steps of 90 to 22.5 degrees, both ends */
        scan.n = (size_t)n;
        for (int k = 0; k < n; k++)
            angles[k] = k * 180.0 / (n - 1) * DEG;
        const struct fbp_geometry_facts f = facts_at(&scan, angles, NULL);
        assert_int_not_equal(f.coverage, FBP_COVERAGE_FULL);
        assert_true(f.arc_rad < 1.51 * FBP_PI);
    }
    for (int k = 0; k < 24; k++)
        angles[k] = k * 15 * DEG;
    for (int missing = 1; missing < 4; missing += 2) { /* of 24 views */
        scan.n = 24 - (size_t)missing;
        const struct fbp_geometry_facts f = facts_at(&scan, angles, NULL);
        assert_int_equal(f.coverage, missing == 1 ? FBP_COVERAGE_FULL : FBP_COVERAGE_SHORT);
        check_near(f.gap_rad, missing * 15 * DEG, 1e-9);
    }
}

TEST_MAIN(NULL, NULL)
