/* Checks scan files of plane integrals: directions, gradients, positions of samples, weights, and
 * the messages for wrong ones. */
#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"
#include "scan/file/text.h"
#include "unit/scan_files.h"

#define SOME "[[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.8, 0], [0, -0.6, 0.8]]"

static const double some[VIEWS][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {.6, .8, 0}, {0, -.6, .8}};

static const struct pair planes[] = {
    {"fbp_scan", "1"},    {"kind", "\"planes\""}, {"projections", "\"fan.mha\""},
    {"directions", SOME}, {"spacing_mm", "0.5"},  {"volume", "{\"size\": 4, \"voxel_mm\": 0.5}"},
};

static struct fbp_scan load_with(const char *key, const char *value)
{
    write_scan("s.json", planes, N_OF(planes), key, value);
    return load("s.json");
}

/* View k has this spacing, its direction, and sample 0 there. */
static void expect_view(const struct fbp_scan *scan, size_t k, double spacing, double first)
{
    struct fbp_view wanted;

    fbp_plane_view(some[k], spacing, first, COLUMNS, &wanted);
    same_views(&scan->views[k], &wanted, 1, 1e-15);
}

TEST(samples_are_symmetric_about_0)
{
    AUTO_CLEAR struct fbp_scan scan = load_with(NULL, NULL);

    assert_int_equal(scan.kind, FBP_PLANES);
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, .5, -1.25);
    assert_int_equal(scan.volume.n[0], 4);
    assert_int_equal(scan.volume.n[2], 4); /* a row is no slice */
    assert_true(scan.volume.centre_mm[0] == 0 && scan.quadrature == FBP_QUADRATURE_AUTO);
}

TEST(samples_may_begin_anywhere)
{
    static const double first[VIEWS] = {-1, -1.1, -1.2, -1.3, -1.4};

    struct fbp_scan scan = load_with("first_mm", "[-1, -1.1, -1.2, -1.3, -1.4]");
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, .5, first[k]);
    fbp_scan_clear(&scan);
    scan = load_with("spacing_mm", "[1, 2, 3, 4, 5]");
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, 1. + (double)k, -2.5 * (1. + (double)k));
    fbp_scan_clear(&scan);
    scan = load_with("grid", "\"eprit\""); /* 0 at sample S/2, voxel m at (m + 1 - N/2) d */
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, .5, -1.5);
    for (int i = 0; i < 3; i++)
        assert_true(scan.volume.centre_mm[i] == .25);
    fbp_scan_clear(&scan);
}

/* The strongest gradient has spacing_mm; half of it spreads the object over half as many samples.
 */
TEST(gradients_scale_the_axis)
{
    static const double spacing[VIEWS] = {1, .5, 2, .5, 1};

    struct fbp_scan scan = load_with("gradients", "[10, 20, 5, 20, 10]");
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, spacing[k], -2.5 * spacing[k]);
    fbp_scan_clear(&scan);
    write_text("g.csv", "gx,gy,gz\n10,0,0\n0,20,0\n0;0;5\n12 16 0\n0,-6,8 # weak\n");
    struct pair vectors[N_OF(planes)];
    memcpy(vectors, planes, sizeof planes);
    vectors[3] = (struct pair){"gradients", "\"g.csv\""};
    write_scan("s.json", vectors, N_OF(vectors), NULL, NULL);
    scan = load("s.json");
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, spacing[k], -2.5 * spacing[k]);
    assert_int_equal(scan.n_files, 1);
    assert_true(fbp_scan_reads(&scan, in_folder("g.csv")));
    fbp_scan_clear(&scan);
}

/* A float64 NPY of shape (rows, columns). */
static void write_npy(const char *name, const double *v, size_t rows, size_t columns)
{
    char head[128];
    FILE *f = fopen(in_folder(name), "wb");

    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    const int n =
        snprintf(head + 10, sizeof head - 10,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }", rows, columns);
    head[10 + n] = ' ';
    head[127] = '\n';
    assert_non_null(f);
    assert_int_equal(fwrite(head, 1, sizeof head, f), sizeof head);
    assert_int_equal(fwrite(v, sizeof *v, rows * columns, f), rows * columns);
    assert_int_equal(fclose(f), 0);
}

TEST(directions_come_from_files)
{
    double turned[3][VIEWS], (*loaded)[3];
    size_t n;

    write_npy("d.npy", some[0], VIEWS, 3);
    struct fbp_scan scan = load_with("directions", "\"d.npy\"");
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, .5, -1.25);
    fbp_scan_clear(&scan);
    for (size_t k = 0; k < VIEWS; k++)
        for (int i = 0; i < 3; i++)
            turned[i][k] = some[k][i];
    write_npy("t.npy", turned[0], 3, VIEWS);
    scan = load_with("directions", "\"t.npy\"");
    for (size_t k = 0; k < VIEWS; k++)
        expect_view(&scan, k, .5, -1.25);
    fbp_scan_clear(&scan);
    OK(fbp_directions_load(in_folder("t.npy"), &loaded, &n));
    assert_int_equal(n, VIEWS);
    assert_memory_equal(loaded, some, sizeof some);
    free(loaded);
}

TEST(directions_may_be_a_set)
{
    struct fbp_directions set = {.struct_size = sizeof set, .set = FBP_SET_FIBONACCI, .n = {5}};
    double n[VIEWS][3];

    set.pole = FBP_POLE_X;
    set.order = FBP_ORDER_MSPS;
    OK(fbp_directions_make(&set, n, NULL));
    AUTO_CLEAR struct fbp_scan scan =
        load_with("directions", "{\"set\": \"fibonacci\", \"n\": 5, "
                                "\"order\": \"msps\", \"pole\": \"x\"}");
    for (size_t k = 0; k < VIEWS; k++)
        for (int i = 0; i < 3; i++)
            assert_true(fabs(scan.views[k].u[i] - .5 * n[k][i]) < 1e-15);
}

TEST(weights_are_a_word_a_list_or_a_file)
{
    static const double w[VIEWS] = {1, 2, 3, 4, 5};

    struct fbp_scan scan = load_with("weights", "\"harmonics\"");
    assert_int_equal(scan.quadrature, FBP_QUADRATURE_HARMONICS);
    fbp_scan_clear(&scan);
    scan = load_with("weights", "[1, 2, 3, 4, 5]");
    assert_int_equal(scan.quadrature, FBP_QUADRATURE_GIVEN);
    assert_memory_equal(scan.plane_weights, w, sizeof w);
    assert_fails(fbp_scan_reduce(&scan, 2, 1), FBP_ERR_INVALID, "given weights apply to all views");
    fbp_scan_clear(&scan);
    write_npy("w.npy", w, VIEWS, 1);
    scan = load_with("weights", "\"w.npy\"");
    assert_memory_equal(scan.plane_weights, w, sizeof w);
    fbp_scan_clear(&scan);
}

/* What is saved is read again. */
TEST(scans_go_round)
{
    static const char *const with[][2] = {{NULL, NULL},
                                          {"first_mm", "[-1, -1.1, -1.2, -1.3, -1.4]"},
                                          {"gradients", "[10, 20, 5, 20, 10]"},
                                          {"weights", "\"voronoi\""},
                                          {"weights", "[1, 2, 3, 4, 5]"}};

    for (size_t i = 0; i < N_OF(with); i++) {
        AUTO_CLEAR struct fbp_scan scan = load_with(with[i][0], with[i][1]);
        OK(fbp_scan_save(&scan, in_folder("again.json"), NULL));
        AUTO_CLEAR struct fbp_scan again = load("again.json");
        assert_int_equal(again.kind, FBP_PLANES);
        same_views(again.views, scan.views, VIEWS, 1e-15);
        assert_memory_equal(&again.volume, &scan.volume, sizeof scan.volume);
        assert_int_equal(again.quadrature, scan.quadrature);
        assert_int_equal(again.plane_weights != NULL, scan.plane_weights != NULL);
        for (size_t k = 0; again.plane_weights && k < VIEWS; k++)
            assert_true(again.plane_weights[k] == scan.plane_weights[k]);
    }
}

/* fault/damaged_cases.c has more of them, with whole messages. */
TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *key, *value, *says;
    } wrong[] = {
        {"directions", "{\"set\": \"solid-angle\"}", "directions.n is missing"},
        {"directions", "{\"set\": \"fibonacci\", \"n\": 5, \"order\": \"flip\"}",
         "a spiral has no"},
        {"directions", "{\"set\": \"fibonacci\", \"n\": 5, \"poles\": \"x\"}",
         "did you mean \"pole\"?"},
        {"directions", "[[1, 0, 0], [0, 2.9, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]",
         "directions[1]: found a vector of length 2.9, expected 1"},
        {"directions", "[[1, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]",
         "directions[1]: found a vector of length 0, expected 1"},
        {"directions", "\"four.csv\"", "four.csv: 4 numbers up to line 1 are not a multiple of 3"},
        {"directions", "\"nan.csv\"", "nan.csv: line 1: a number is not finite"},
        {"spacing_mm", "[1, 2]", "spacing_mm: found 2 entries"},
        {"spacing_mm", "-1", "samples of view 0 are -1 mm apart"},
        {"weights", "\"vorono\"", "weights: "},
        {"flip", "\"direction\"", "flip: found \"direction\", expected \"u\""},
        {"direction", "1", "direction: unknown key; did you mean \"directions\"?"},
        {"angles_deg", "[1]",
         "angles_deg: not allowed, because plane integrals have \"directions\" instead"},
        {"detector", "{\"pitch_mm\": 1}",
         "detector.pitch_mm: not allowed, because plane integrals have \"spacing_mm\""},
        {"frames", "2", "frames: found 2, but "},
        {"frames", "0", "frames: "},
        {"projections", "\"dark.mha\"", "is one image of 4 x 6 samples"},
    };

    write_text("four.csv", "1 0 0 1\n");
    write_text("nan.csv", "nan, 0, 1\n");
    for (size_t i = 0; i < N_OF(wrong); i++) {
        AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan};
        write_scan("w.json", planes, N_OF(planes), wrong[i].key, wrong[i].value);
        const fbp_status st = fbp_scan_load(&scan, in_folder("w.json"), NULL);
        if (st == FBP_OK || !strstr(fbp_message(), wrong[i].says) ||
            !strstr(fbp_message(), "w.json"))
            fail_msg("%s %s: %d \"%s\", expected \"%s\"", wrong[i].key,
                     wrong[i].value ? wrong[i].value : "missing", st, fbp_message(), wrong[i].says);
    }
}

/* A geometry alone: the detector says how many samples there are, a set how many views. */
TEST(geometry_needs_no_samples)
{
    struct fbp_geometry_known known = {.struct_size = sizeof known};
    AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan};

    write_text("g.json", "{\"fbp_scan\": 1, \"kind\": \"planes\", \"spacing_mm\": 1,\n"
                         "\"detector\": {\"columns\": 112, \"rows\": 1},\n"
                         "\"directions\": {\"set\": \"solid-angle\", \"n\": 18}}\n");
    OK(fbp_geometry_load(&scan, in_folder("g.json"), NULL, &known));
    assert_int_equal(scan.n_views, 208);
    assert_int_equal(scan.panel.n_columns, 112);
}

TEST(facts_are_those_of_the_set)
{
    struct fbp_directions set = {.struct_size = sizeof set, .n = {18}};
    struct fbp_geometry_facts f = {.struct_size = sizeof f};
    double n[208][3];
    struct fbp_view views[208];
    struct fbp_grid grid;
    const struct fbp_views all = {FBP_PLANES, 208, {112, 1}, views};

    OK(fbp_directions_make(&set, n, NULL));
    for (size_t k = 0; k < 208; k++)
        fbp_plane_view(n[k], .5, -111 / 4., 112, &views[k]);
    OK(fbp_grid_default(all, &grid)); /* FOV/sqrt 2 */
    assert_int_equal(grid.n[0], 79);
    assert_int_equal(grid.n[2], 79);
    assert_true(grid.voxel_mm[1] == .5);
    OK(fbp_views_facts(all, &grid, &f));
    assert_int_equal(f.n_angles, 208);
    assert_int_equal(f.coverage, FBP_COVERAGE_FULL);
    assert_true(fabs(f.fov_radius_mm - 28) < 1e-12 && f.spacing_mm == .5);
    assert_true(fabs(f.alias_free_mm - 18 * .5 / 3.14159) < .02); /* n d / pi */
    assert_true(f.symmetry == 0 && !f.volume_inside);
    grid.n[0] = grid.n[1] = grid.n[2] = 64;
    OK(fbp_views_facts(all, &grid, &f));
    assert_true(f.volume_inside);
    assert_true(fabs(f.volume_radius_mm - 31.5 * .5 * sqrt(3)) < 1e-9);
    for (size_t k = 0; k < 208; k++) /* no direction near the pole: a gap */
        if (fabs(n[k][2]) > .7)
            views[k] = views[0];
    OK(fbp_views_facts(all, NULL, &f));
    assert_int_equal(f.coverage, FBP_COVERAGE_PARTIAL);
    assert_true(f.gap_rad > 1.59 && f.gap_rad < 1.95); /* 45 degrees, and up to a ring */
    for (size_t k = 0; k < 208; k++) {
        const double flat[3] = {cos((double)k), sin((double)k), 0};
        fbp_plane_view(flat, .5, -111 / 4., 112, &views[k]);
    }
    assert_fails(fbp_views_facts(all, NULL, &f), FBP_ERR_INVALID, "all 208 lie in one plane");
}

TEST_MAIN(make_files, drop_files)
