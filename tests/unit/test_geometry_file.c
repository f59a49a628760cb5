/* Checks that fbp_geometry_save() and fbp_geometry_load() return the same views, and that a
 * message names what a format lacks. */
#include "geometry/view.h"
#include "unit/geometry_util.h"
#include "unit/scan_files.h"

enum { N = 7 };

/* A wobbling circle with skewed, turned panels, of one pitch. */
static struct fbp_scan make_scan(enum fbp_kind kind)
{
    double angles[N], sod[N], sdd[N];
    struct fbp_scan scan = {
        .struct_size = sizeof scan, .kind = kind, .n_views = N, .panel = {COLUMNS, ROWS}};
    struct fbp_circle circle = {.struct_size = sizeof circle,
                                .kind = kind,
                                .n_views = N,
                                .angles_rad = angles,
                                .sod_mm = sod,
                                .sdd_mm = sdd,
                                .n_sod = N,
                                .n_sdd = N,
                                .pitch_mm = {0.8, 0.7},
                                .offset_mm = {1.25, -2.5},
                                .tilt_rad = {0.02, -0.03, 0.05},
                                .skew_rad = 0.01};

    for (int k = 0; k < N; k++) {
        angles[k] = 0.3 + 0.9 * k;
        sod[k] = 500 + k / 3.0;
        sdd[k] = 900 - k / 7.0;
    }
    scan.views = calloc(N, sizeof *scan.views);
    assert_non_null(scan.views);
    OK(fbp_circle_views(&circle, scan.views));
    return scan;
}

static struct fbp_scan back(const char *path, const struct fbp_geometry_known *known)
{
    struct fbp_scan s = {.struct_size = sizeof s};
    const fbp_status st = fbp_geometry_load(&s, path, NULL, known);

    OK(st);
    return s;
}

TEST(matrices_come_back)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(FBP_CONE);
    const char *path = in_folder("m.txt");
    const struct fbp_geometry_known known = {
        .struct_size = sizeof known, .panel = scan.panel, .pitch_mm = {0.8, 0.7}};

    OK(fbp_geometry_save(&scan, path, NULL));
    AUTO_CLEAR struct fbp_scan s = back(path, &known);
    assert_int_equal(s.n_views, N);
    came_back("matrices", s.views, scan.views, N);
}

TEST(scans_come_back)
{
    for (int kind = FBP_CONE; kind <= FBP_PARALLEL; kind++) {
        AUTO_CLEAR struct fbp_scan scan = make_scan((enum fbp_kind)kind);
        const char *path = in_folder("geometry.json");
        for (int other = 0; other < 2; other++) {
            OK(fbp_geometry_save(&scan, path, NULL));
            struct fbp_scan s = back(path, NULL);
            assert_int_equal(s.kind, kind);
            assert_int_equal(s.panel.n_columns, COLUMNS);
            assert_int_equal(s.panel.n_rows, ROWS);
            came_back("fbp", s.views, scan.views, N);
            fbp_scan_clear(&s);
            for (int i = 0; i < 3; i++) /* of two pitches: no longer one of matrices */
                scan.views[N - 1].u[i] *= 1.25;
        }
    }
}

TEST(what_is_missing_is_said)
{
    struct fbp_scan scan = make_scan(FBP_CONE), s = {.struct_size = sizeof s};
    const char *path = in_folder("m2.txt");
    struct fbp_geometry_known known = {.struct_size = sizeof known};

    OK(fbp_geometry_save(&scan, path, "matrices"));
    assert_fails(fbp_geometry_load(&s, path, NULL, NULL), FBP_ERR_INVALID, "--detector");
    known.panel = scan.panel;
    assert_fails(fbp_geometry_load(&s, path, NULL, &known), FBP_ERR_INVALID, "--pitch");
    known.pitch_mm[0] = known.pitch_mm[1] = 0.8;
    known.n_views = N + 1;
    assert_fails(fbp_geometry_load(&s, path, NULL, &known), FBP_ERR_INVALID,
                 "has 7 views, but the projections have 8");
    assert_fails(fbp_geometry_load(&s, path, "matlab", &known), FBP_ERR_UNSUPPORTED, "matlab");
    assert_int_equal(fbp_geometry_load(&s, in_folder("none.txt"), NULL, &known), FBP_ERR_IO);
    assert_int_equal(fbp_geometry_save(&scan, in_folder("x.unknown"), NULL), FBP_ERR_UNSUPPORTED);
    assert_int_equal(fbp_scan_load(&s, path, NULL), FBP_ERR_INVALID);
    scan.kind = FBP_PARALLEL;
    assert_int_equal(fbp_geometry_save(&scan, path, NULL), FBP_ERR_UNSUPPORTED);
    fbp_scan_clear(&scan);
}

/* A scan file that names a geometry file. */
TEST(scan_files_name_geometry)
{
    static const struct pair members[] = {
        {"fbp_scan", "1"},
        {"projections", "\"p.mha\""},
        {"geometry", "\"m3.txt\""},
        {"detector", "{\"pitch_mm\": 0.8}"},
    };
    AUTO_CLEAR struct fbp_scan scan = make_scan(FBP_CONE);

    scan.n_views = VIEWS;
    OK(fbp_geometry_save(&scan, in_folder("m3.txt"), NULL));
    write_scan("named.json", members, N_OF(members), NULL, NULL);
    struct fbp_scan s = load("named.json");
    same_views(s.views, scan.views, VIEWS, 1e-10);
    fbp_scan_clear(&s);
    scan.n_views = VIEWS - 1;
    OK(fbp_geometry_save(&scan, in_folder("m3.txt"), NULL));
    assert_fails(fbp_scan_load(&s, in_folder("named.json"), NULL), FBP_ERR_INVALID,
                 "files that belong together");
}

TEST_MAIN(make_files, drop_files)
