/* Checks scan files: every key with right and wrong values, saving and loading, and the line and
 * column of a mistake. */
#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"
#include "scan/file/text.h"
#include "unit/scan_files.h"

TEST(test_whole_file)
{
    write_scan("whole.json", cone, N_OF(cone), NULL, NULL);
    struct fbp_scan s = load("whole.json");
    const double turn = FBP_PI / 180, sod = 500, sdd[] = {800, 801, 802, 803, 804};
    const double angles[] = {10 * turn, 82 * turn, 154 * turn, 226 * turn, 298 * turn};
    struct fbp_view views[VIEWS];
    const struct fbp_circle circle = {
        .struct_size = sizeof circle,
        .n_views = VIEWS,
        .angles_rad = angles,
        .sod_mm = &sod,
        .sdd_mm = sdd,
        .n_sod = 1,
        .n_sdd = VIEWS,
        .pitch_mm = {0.8, 0.7},
        .offset_mm = {1, -2},
        .tilt_rad = {1 * turn, 2 * turn, 3 * turn},
        .skew_rad = 0.5 * turn,
    };
    OK(fbp_circle_views(&circle, views));
    assert_int_equal(s.n_views, VIEWS);
    assert_int_equal(s.panel.n_columns, COLUMNS);
    assert_int_equal(s.panel.n_rows, ROWS);
    same_views(s.views, views, VIEWS, 1e-10);
    assert_string_equal(s.projections, in_folder("p.mha"));
    assert_string_equal(s.dark, in_folder("dark.mha"));
    assert_int_equal(s.row_order, FBP_ROWS_TOP_DOWN);
    assert_int_equal(s.angular_weights, FBP_ANGULAR_EQUAL);
    assert_true(fbp_scan_is_intensity(&s));
    assert_true(fabs(s.i0 - 60000) < 1e-9);
    assert_int_equal(s.volume.n[2], 5);
    assert_true(fabs(s.volume.voxel_mm[1] - 0.5) < 1e-12);
    assert_true(fabs(s.volume.centre_mm[2] - 3) < 1e-12);
    fbp_scan_clear(&s);
    assert_null(s.views);
}

/* Keys with a wrong value; the message must hold the last column.  fault/damaged_cases.c has more
 * of them, with whole messages. */
static const struct {
    const char *key, *value, *part;
} wrong_values[] = {
    {"fbp_scan", "\"1\"", "fbp_scan"},
    {"kind", "3", "kind"},
    {"projections", "7", "projections"},
    {"projections", "\"\"", "projections"},
    {"detector", "[1]", "detector"},
    {"detector", "{\"columns\": 6}", "detector.pitch_mm"},
    {"detector", "{\"columns\": 6.5, \"pitch_mm\": 1}", "detector.columns"},
    {"detector", "{\"rows\": -4, \"pitch_mm\": 1}", "detector.rows"},
    {"detector", "{\"rows\": 5, \"pitch_mm\": 1}", "detector.rows: found 5"},
    {"detector", "{\"pitch_mm\": [1, -1]}", "detector.pitch_mm[1]"},
    {"detector", "{\"pitch_mm\": [1, 1, 1]}", "detector.pitch_mm"},
    {"detector", "{\"pitch_mm\": 1e999}", "detector.pitch_mm"},
    {"detector", "{\"pitch_mm\": 1, \"offset_mm\": 3}", "detector.offset_mm"},
    {"detector", "{\"pitch_mm\": 1, \"offset_mm\": [0, true]}", "detector.offset_mm[1]"},
    {"detector", "{\"pitch_mm\": 1, \"row_order\": \"up\"}", "detector.row_order"},
    {"detector", "{\"pitch_mm\": 1, \"tilt_deg\": [0, 95, 0]}", "detector.tilt_deg[1]"},
    {"detector", "{\"pitch_mm\": 1, \"tilt_deg\": 2}", "detector.tilt_deg"},
    {"detector", "{\"pitch_mm\": 1, \"skew_deg\": 50}", "detector.skew_deg"},
    {"source_to_axis_mm", "-500", "source_to_axis_mm"},
    {"source_to_axis_mm", NULL, "source_to_axis_mm"},
    {"source_to_axis_mm", "[500, 500]", "source_to_axis_mm"},
    {"source_to_axis_mm", "[500, 500, 500, 0, 500]", "source_to_axis_mm[3]"},
    {"source_to_axis_mm", "900", "source-to-axis"},
    {"source_to_detector_mm", "\"far\"", "source_to_detector_mm"},
    {"source_to_detector_mm", NULL, "source_to_detector_mm"},
    {"source_to_detector_mm", "[]", "source_to_detector_mm"},
    {"angles_deg", NULL, "angles_deg"},
    {"angles_deg", "\"all\"", "angles_deg"},
    {"angles_deg", "{\"start\": 1}", "angles_deg.step"},
    {"angles_deg", "{\"step\": 1}", "angles_deg.start"},
    {"angles_deg", "{\"start\": 1, \"step\": 0}", "angles_deg.step"},
    {"angles_deg", "{\"start\": \"0\", \"step\": 1}", "angles_deg.start"},
    {"angles_deg", "{\"start\": 0, \"step\": 1, \"stop\": 9}", "angles_deg.stop"},
    {"angular_weights", "\"best\"", "angular_weights"},
    {"matrices", "3", "matrices"},
    {"matrices", "[" EYE "]", "source_to_axis_mm"},
    {"matrix_origin", "\"corner\"", "matrix_origin"},
    {"dark", "1", "dark"},
    {"dark", "\"small.mha\"", "small.mha has 5 x 4"},
    {"flat", "\"none.mha\"", "none.mha"},
    {"flat", "true", "flat"},
    {"i0", "[1, 2]", "i0"},
    {"sinograms", "1", "sinograms"},
    {"zingers", "\"8\"", "zingers"},
    {"zingers", "-8", "zingers"},
    {"bad_pixels", "\"none.mha\"", "bad_pixels"},
    {"volume", "5", "volume"},
    {"volume", "{\"size\": 0}", "volume.size"},
    {"volume", "{\"size\": [4, 4]}", "volume.size"},
    {"volume", "{\"size\": [4, 4, 2.5]}", "volume.size[2]"},
    {"volume", "{\"voxel_mm\": 1e-12}", "volume.voxel_mm"},
    {"volume", "{\"centre_mm\": 0}", "volume.centre_mm"},
    {"raw", "1", "raw"},
    {"raw", "{\"shape\": [5, 4, 6]}", "raw.type"},
    {"raw", "{\"type\": \"int\", \"shape\": [5, 4, 6]}", "raw.type"},
    {"raw", "{\"type\": \"none\", \"shape\": [5, 4, 6]}", "raw.type"},
    {"raw", "{\"type\": \"int8\"}", "raw.shape"},
    {"raw", "{\"type\": \"int8\", \"shape\": [5, 4]}", "raw.shape"},
    {"raw", "{\"type\": \"int8\", \"shape\": [5, 4, 6], \"big_endian\": 1}", "raw.big_endian"},
    {"raw", "{\"type\": \"int8\", \"shape\": [5, 4, 6], \"header_bytes\": -1}", "raw.header_bytes"},
};

TEST(test_every_key_wrong)
{
    for (size_t i = 0; i < N_OF(wrong_values); i++) {
        write_scan("bad.json", cone, N_OF(cone), wrong_values[i].key, wrong_values[i].value);
        struct fbp_scan scan = {.struct_size = sizeof scan};
        const fbp_status st = fbp_scan_load(&scan, in_folder("bad.json"), NULL);
        if (st == FBP_OK || !strstr(fbp_message(), wrong_values[i].part) ||
            !strstr(fbp_message(), "bad.json"))
            fail_msg("%s: %s gives %d: \"%s\", without \"%s\"", wrong_values[i].key,
                     wrong_values[i].value ? wrong_values[i].value : "left out", st, fbp_message(),
                     wrong_values[i].part);
    }
}

TEST(test_wrong_for_the_kind)
{
    write_scan("m.json", c_arm, N_OF(c_arm), "detector", "{}");
    expect_load_fails("m.json", FBP_ERR_INVALID, "contain no lengths");
    write_scan("m.json", c_arm, N_OF(c_arm), "detector", "{\"pitch_mm\": 1, \"skew_deg\": 1}");
    expect_load_fails("m.json", FBP_ERR_INVALID, "detector.skew_deg");
    write_scan("m.json", c_arm, N_OF(c_arm), "matrices", "[" MATRIX "]");
    expect_load_fails("m.json", FBP_ERR_INVALID, "found 1 entries");
    write_scan("m.json", c_arm, N_OF(c_arm), "matrices",
               "[" MATRIX "," EYE "," MATRIX "," MATRIX "," MATRIX "]");
    expect_load_fails("m.json", FBP_ERR_INVALID, "matrices: view 1");
    write_scan("m.json", c_arm, N_OF(c_arm), "matrices", "[[1, 2]]");
    expect_load_fails("m.json", FBP_ERR_INVALID, "matrices[0]");
    write_scan("m.json", c_arm, N_OF(c_arm), "matrices", "\"none.txt\"");
    expect_load_fails("m.json", FBP_ERR_IO, "none.txt");
    write_scan("m.json", c_arm, N_OF(c_arm), "matrix_origin", "\"middle\"");
    expect_load_fails("m.json", FBP_ERR_INVALID, "matrix_origin");
    write_scan("m.json", parallel, N_OF(parallel), "source_to_axis_mm", "5");
    expect_load_fails("m.json", FBP_ERR_INVALID,
                      "source_to_axis_mm: not allowed, because a parallel beam");
    write_scan("m.json", parallel, N_OF(parallel), "matrices", "[" MATRIX "]");
    expect_load_fails("m.json", FBP_ERR_INVALID, "matrices");
    write_scan("m.json", parallel, N_OF(parallel), "kind", "\"planes\"");
    expect_load_fails(
        "m.json", FBP_ERR_INVALID,
        "angles_deg: not allowed, because plane integrals have \"directions\" instead");
    write_scan("m.json", parallel, N_OF(parallel), "directions", "[[0, 0, 1]]");
    expect_load_fails("m.json", FBP_ERR_INVALID,
                      "directions: not allowed, because this key needs \"kind\": \"planes\"");
}

TEST(test_unknown_keys_name_the_nearest)
{
    write_scan("u.json", cone, N_OF(cone), "source_to_axis", "1");
    expect_load_fails("u.json", FBP_ERR_INVALID, "did you mean \"source_to_axis_mm\"");
    write_scan("u.json", cone, N_OF(cone), "detector", "{\"pich_mm\": 1}");
    expect_load_fails("u.json", FBP_ERR_INVALID,
                      "detector.pich_mm: unknown key; did you mean \"pitch_mm\"");
    write_scan("u.json", cone, N_OF(cone), "volume", "{\"center_mm\": [0, 0, 0]}");
    expect_load_fails("u.json", FBP_ERR_INVALID, "did you mean \"centre_mm\"");
    write_scan("u.json", cone, N_OF(cone), "raw", "{\"typ\": 1}");
    expect_load_fails("u.json", FBP_ERR_INVALID, "did you mean \"type\"");
    write_scan("u.json", cone, N_OF(cone), "volume", "{\"size\": 3, \"size\": 4}");
    expect_load_fails("u.json", FBP_ERR_INVALID, "volume.size: given twice");
}

TEST(test_keys_that_are_comments)
{
    struct fbp_scan plain = {.struct_size = sizeof plain},
                    commented = {.struct_size = sizeof commented};

    write_scan("c.json", cone, N_OF(cone), "//", "\"one\", \"//\": [2], \"_three\": {\"any\": 3}");
    OK(fbp_scan_load(&commented, in_folder("c.json"), NULL));
    write_scan("c.json", cone, N_OF(cone), NULL, NULL);
    OK(fbp_scan_load(&plain, in_folder("c.json"), NULL));
    assert_memory_equal(plain.views, commented.views, plain.n_views * sizeof *plain.views);
    fbp_scan_clear(&plain);
    fbp_scan_clear(&commented);
    write_scan("c.json", cone, N_OF(cone), "volume", "{\"// size\": 1, \"_\": 2, \"size\": 3}");
    OK(fbp_scan_load(&commented, in_folder("c.json"), NULL));
    assert_int_equal(commented.volume.n[0], 3);
    fbp_scan_clear(&commented);
    write_scan("c.json", cone, N_OF(cone), "/", "1"); /* one slash is none */
    expect_load_fails("c.json", FBP_ERR_INVALID, "/: unknown key");
}

TEST(test_syntax_errors_have_a_place)
{
    write_text("s.json", "{ \"fbp_scan\": 1,\n  \"kind\" \"cone\" }\n");
    expect_load_fails("s.json", FBP_ERR_INVALID, "line 2, column 10");
    write_text("s.json", "{ \"fbp_scan\": 1, // no comments\n}\n");
    expect_load_fails("s.json", FBP_ERR_INVALID, "line 1, column 18");
    write_text("s.json", "{ \"fbp_scan\": NaN }");
    expect_load_fails("s.json", FBP_ERR_INVALID, "line 1, column 15");
    write_text("s.json", "{ \"fbp_scan\": 1,\n}");
    expect_load_fails("s.json", FBP_ERR_INVALID, "line 2, column 1:");
    write_text("s.json", "{ \"angles_deg\": [1, 2 3] }");
    expect_load_fails("s.json", FBP_ERR_INVALID, "line 1, column 23:");
    write_text("s.json", "");
    expect_load_fails("s.json", FBP_ERR_INVALID, "line 1");
    write_text("s.json", "{\n\"fbp_scan\": 1\n");
    expect_load_fails("s.json", FBP_ERR_INVALID, "invalid JSON");
    write_text("s.json", "{\"fbp_scan\": 1,\n \"a\\\\u0000\": \"b\\u0000c\"}");
    expect_load_fails("s.json", FBP_ERR_INVALID,
                      "line 2, column 16: a string contains the character \\u0000");
    write_text("s.json", "[1]");
    expect_load_fails("s.json", FBP_ERR_INVALID, "object");
    put_file(in_folder("s.json"), "{}\0{}", 5);
    expect_load_fails("s.json", FBP_ERR_INVALID, "zero bytes");
    expect_load_fails("absent.json", FBP_ERR_IO, "absent.json");
    write_text("s.json", "{}");
    assert_int_equal(truncate(in_folder("s.json"), ((off_t)256 << 20) + 1), 0);
    expect_load_fails("s.json", FBP_ERR_INVALID, "256 MiB");
    unlink(in_folder("s.json"));
}

TEST(test_missing_projections)
{
    write_scan("n.json", cone, N_OF(cone), "projections", "\"nowhere.mha\"");
    expect_load_fails("n.json", FBP_ERR_IO, "nowhere.mha");
}

TEST(test_headerless)
{
    const unsigned char bytes[2 * COLUMNS * ROWS * VIEWS + 7] = {0};
    struct pair raw[N_OF(parallel) + 1];

    memcpy(raw, parallel, sizeof parallel);
    raw[2].value = "\"p.bin\"";
    raw[N_OF(parallel)] =
        (struct pair){"raw", "{\"type\": \"uint16\", \"shape\": [5, 4, 6], \"big_endian\": true,"
                             " \"header_bytes\": 7}"};
    put_file(in_folder("p.bin"), bytes, sizeof bytes);
    write_scan("r.json", raw, N_OF(raw), NULL, NULL);
    struct fbp_scan s = load("r.json");
    assert_int_equal(s.raw.type, FBP_U16);
    assert_int_equal(s.raw.n[0], COLUMNS);
    assert_int_equal(s.raw.n[2], VIEWS);
    assert_true(s.raw.big_endian);
    assert_int_equal(s.raw.header_bytes, 7);
    assert_int_equal(s.panel.n_rows, ROWS);
    assert_int_equal(s.angular_weights, FBP_ANGULAR_AUTO);
    assert_false(fbp_scan_is_intensity(&s));
    fbp_scan_clear(&s);
    write_scan("r.json", raw, N_OF(raw), "dark", "\"none.bin\"");
    expect_load_fails("r.json", FBP_ERR_IO, "none.bin");
}

TEST(test_matrix_forms_agree)
{
    char text[1024] = "# five views\n";

    for (int k = 0; k < VIEWS; k++)
        strcat(text, "-2.5 1000,0 1250 # a comment\n-1.5,0,1000,\t750\n-0.001 0 0 5e-1\n");
    write_text("m.txt", text);
    write_scan("a.json", c_arm, N_OF(c_arm), NULL, NULL);
    write_scan("b.json", c_arm, N_OF(c_arm), "matrices", "\"m.txt\"");
    write_scan("c.json", c_arm, N_OF(c_arm), "matrix_origin", "\"corner\"");
    AUTO_CLEAR struct fbp_scan a = load("a.json"), b = load("b.json"), c = load("c.json");
    assert_true(fabs(a.views[0].s[0] - 500) < 1e-9);
    assert_true(fabs(fbp_norm(a.views[0].u) - 0.5) < 1e-12);
    same_views(a.views, b.views, VIEWS, 1e-12);
    /* A point at (c, r) by the corner rule lies at (c - 1/2, r - 1/2): the panel moves up. */
    for (int i = 0; i < 3; i++) {
        const double shift = 0.5 * (a.views[1].u[i] + a.views[1].v[i]);
        assert_true(fabs(c.views[1].d[i] - a.views[1].d[i] - shift) < 1e-10);
        assert_true(fabs(c.views[1].s[i] - a.views[1].s[i]) < 1e-9);
    }
}

TEST(test_matrix_files)
{
    static const struct pair bad[] = {
        {"1 2 3\n4 x 6\n", "line 2: \"x 6"},
        {"1 2 3\n4 5\n", "multiple of 12"},
        {"# nothing\n", "contains no numbers"},
        {"1 2 3 4 5 6 7 8 9 10 11 -0x10\n", "line 1: \"-0x10"},
        {"1 2 3\n\xEF\xBB\xBF"
         "4\n",
         "line 2"},
        {"1 2 3 4 5 6 7 8\n\n9 10 11 nan\n", "line 3"},
        {"1 2 3 4 5 6 7 8 9 10 11 1e999\n", "line 1"},
        {"1 2 3 4 5 6 7 8 9 10 11 12mm\n", "line 1: \"12mm"},
    };
    double *m;
    size_t n;

    for (size_t i = 0; i < N_OF(bad); i++) {
        write_text("m.txt", bad[i].key);
        const fbp_status st = fbp_matrices_load(in_folder("m.txt"), &m, &n);
        expect_message(st, FBP_ERR_INVALID, bad[i].value);
        assert_null(m);
    }
    expect_message(fbp_matrices_load(in_folder("no.txt"), &m, &n), FBP_ERR_IO, "no.txt");
    expect_message(fbp_matrices_load(folder, &m, &n), FBP_ERR_IO, "not a regular file");
    write_text("m.txt", "1 2 3 4 5 6 7 8 9 10 11 12");
    OK(fbp_matrices_load(in_folder("m.txt"), &m, &n));
    assert_int_equal(n, 1);
    assert_true(fabs(m[11] - 12) < 1e-15);
    free(m);
    write_text("m.txt", "\xEF\xBB\xBF"
                        "10,2,3,4,5,6,7,8,9,10,11,12"); /* as spreadsheets save */
    OK(fbp_matrices_load(in_folder("m.txt"), &m, &n));
    assert_true(fabs(m[0] - 10) < 1e-15);
    free(m);
}

/* Angles in a file are those of the list; the file is one of the scan's inputs. */
TEST(test_angles_in_a_file)
{
    static const char *const files[] = {"a.txt", "a.csv", "a.npy"};
    static const struct pair bad[] = {
        {"10 82 154 226", "angles_deg: found 4 entries"},
        {"10 82 x 226 298", "angles_deg: "},
        {"10 82 154 226 2e9", "angles_deg: number 4 of the file: found 2000000000"},
        {"", "contains no numbers"},
    };
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {VIEWS, 1, 1}};
    const float angles[VIEWS] = {10, 82, 154, 226, 298};

    write_text("a.txt", "# degrees\n10\n82\n154\n226\n298\n");
    write_text("a.csv", "angle\r\n10;82\r\n154;226;298\r\n");
    save_array(in_folder("a.npy"), &info, NULL, angles);
    write_scan("list.json", cone, N_OF(cone), "angles_deg", "[10, 82, 154, 226, 298]");
    struct fbp_scan list = load("list.json");
    for (size_t i = 0; i < N_OF(files); i++) {
        AUTO_FREE char *value = printed("\"%s\"", files[i]);
        write_scan("file.json", cone, N_OF(cone), "angles_deg", value);
        struct fbp_scan file = load("file.json");
        same_views(file.views, list.views, VIEWS, 1e-12);
        assert_true(fbp_scan_reads(&file, in_folder(files[i])));
        fbp_scan_clear(&file);
    }
    fbp_scan_clear(&list);
    for (size_t i = 0; i < N_OF(bad); i++) {
        write_text("a.txt", bad[i].key);
        write_scan("file.json", cone, N_OF(cone), "angles_deg", "\"a.txt\"");
        expect_load_fails("file.json", FBP_ERR_INVALID, bad[i].value);
    }
}

/* i0, dose and flats of a beam that changes: read, saved and read again. */
TEST(test_changing_beam)
{
    double all[VIEWS] = {100, 90, 80, 70, 60};

    write_text("i0.txt", "100 90 80 70 60");
    write_scan("i0.json", cone, N_OF(cone), "i0", "\"i0.txt\"");
    struct fbp_scan s = load("i0.json");
    assert_memory_equal(s.i0s, all, sizeof all);
    assert_true(s.i0 == 100 && !s.doses);
    OK(fbp_scan_save(&s, in_folder("again.json"), NULL));
    fbp_scan_clear(&s);
    s = load("again.json");
    assert_memory_equal(s.i0s, all, sizeof all);
    fbp_scan_clear(&s);
    write_scan("i0.json", cone, N_OF(cone), "i0", "[1, 2]");
    expect_load_fails("i0.json", FBP_ERR_INVALID, "i0: found 2 entries");
    write_scan("i0.json", cone, N_OF(cone), "i0", "[1, 2, 3, 4, 0]");
    expect_load_fails("i0.json", FBP_ERR_INVALID, "i0[4]");

    write_scan("f.json", cone, N_OF(cone), "flat",
               "[\"dark.mha\", \"dark.mha\"], \"dose\": [100, 90, 80, 70, 60]");
    s = load("f.json");
    assert_string_equal(s.flat, in_folder("dark.mha"));
    assert_string_equal(s.flat_after, in_folder("dark.mha"));
    OK(fbp_scan_save(&s, in_folder("again.json"), NULL));
    fbp_scan_clear(&s);
    s = load("again.json");
    assert_string_equal(s.flat_after, in_folder("dark.mha"));
    assert_memory_equal(s.doses, all, sizeof all);
    fbp_scan_clear(&s);
    write_scan("f.json", cone, N_OF(cone), "flat", "[\"dark.mha\"]");
    expect_load_fails("f.json", FBP_ERR_INVALID,
                      "flat: found a list of 1, expected a path, or two");
    write_scan("f.json", cone, N_OF(cone), "flat", "[\"dark.mha\", \"small.mha\"]");
    expect_load_fails("f.json", FBP_ERR_INVALID, "small.mha has 5 x 4");
}

TEST(test_volume_is_completed)
{
    struct fbp_scan s = {.struct_size = sizeof s};
    struct fbp_grid g;

    write_scan("v.json", cone, N_OF(cone), "volume", NULL);
    s = load("v.json");
    assert_int_equal(s.volume.n[0], 0);
    OK(fbp_grid_default(fbp_scan_views(&s), &g));
    fbp_scan_clear(&s);
    write_scan("v.json", cone, N_OF(cone), "volume", "{\"size\": [10, 20, 30]}");
    s = load("v.json");
    assert_int_equal(s.volume.n[1], 20);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs((double)s.volume.n[i] * s.volume.voxel_mm[i] -
                         (double)g.n[i] * g.voxel_mm[i]) < 1e-10);
        assert_true(fabs(s.volume.centre_mm[i] - g.centre_mm[i]) < 1e-10);
    }
    fbp_scan_clear(&s);
    write_scan("v.json", cone, N_OF(cone), "volume", "{\"voxel_mm\": 0.1}");
    s = load("v.json");
    for (int i = 0; i < 3; i++) {
        const double excess = (double)s.volume.n[i] * 0.1 - (double)g.n[i] * g.voxel_mm[i];
        assert_true(excess > -1e-6 && excess < 0.1);
    }
    fbp_scan_clear(&s);
    write_scan("v.json", cone, N_OF(cone), "volume", "{\"centre_mm\": [7, 8, 9]}");
    s = load("v.json");
    assert_int_equal(s.volume.n[0], g.n[0]);
    assert_true(fabs(s.volume.centre_mm[2] - 9) < 1e-12);
    fbp_scan_clear(&s);
}

TEST(test_fan_volume_is_flat)
{
    struct pair fan[N_OF(parallel)];

    memcpy(fan, parallel, sizeof parallel);
    fan[2].value = "\"fan.mha\"";
    write_scan("f.json", fan, N_OF(fan), "volume", "{\"size\": 8, \"voxel_mm\": 1}");
    AUTO_CLEAR struct fbp_scan s = load("f.json");
    assert_int_equal(s.volume.n[1], 8);
    assert_int_equal(s.volume.n[2], 1);
}

/* Save, load, compare; returns the text of the file, to be freed. */
static char *round_trip(const struct fbp_scan *scan, const struct fbp_circle *circle)
{
    char *text = calloc(1, 65536);
    struct fbp_scan again = {.struct_size = sizeof again};

    OK(fbp_scan_save(scan, in_folder("trip.json"), circle));
    again = load("trip.json");
    assert_int_equal(again.kind, scan->kind);
    assert_int_equal(again.n_views, scan->n_views);
    same_views(again.views, scan->views, scan->n_views, 1e-10);
    assert_string_equal(again.projections, scan->projections);
    assert_int_equal(again.row_order, scan->row_order);
    assert_int_equal(!again.dark, !scan->dark);
    assert_int_equal(!again.bad_pixels, !scan->bad_pixels);
    assert_true(fabs(again.i0 - scan->i0) < 1e-12);
    assert_memory_equal(&again.volume, &scan->volume, sizeof again.volume);
    fbp_scan_clear(&again);
    FILE *f = not_null(fopen(in_folder("trip.json"), "rb"));
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, f) > 0);
    fclose(f);
    assert_int_not_equal(access(in_folder("trip.json.part"), F_OK), 0);
    return text;
}

TEST(test_round_trip_of_circles)
{
    const double sod[] = {500, 501.25, 502.1, 499, 500.3}, sdd = 1000.1;
    double angles[VIEWS];
    struct fbp_circle circle = {
        .struct_size = sizeof circle,
        .n_views = VIEWS,
        .angles_rad = angles,
        .sod_mm = sod,
        .sdd_mm = &sdd,
        .n_sod = VIEWS,
        .n_sdd = 1,
        .pitch_mm = {0.1, 1.0 / 3},
        .offset_mm = {0.25, -3},
    };

    write_scan("whole.json", cone, N_OF(cone), NULL, NULL);
    for (int i = 0; i < 16; i++) {
        AUTO_CLEAR struct fbp_scan s = load("whole.json");
        const bool tilted = i & 1, uneven = i & 2;
        double offsets[VIEWS][2], numbers[5 * VIEWS];
        for (int k = 0; k < 2 * VIEWS; k++)
            offsets[k / 2][k % 2] = 0.3 * k - 1;
        circle.offsets_mm = i & 8 ? (const double(*)[2])offsets : NULL;
        circle.kind = s.kind = i & 4 ? FBP_PARALLEL : FBP_CONE;
        for (int k = 0; k < VIEWS; k++)
            angles[k] = (0.1 + k * (360.0 / 7) + (uneven ? 0.01 * k * k : 0)) * FBP_PI / 180;
        for (int a = 0; a < 3; a++)
            circle.tilt_rad[a] = tilted ? 0.01 * (a + 1) : 0;
        circle.skew_rad = tilted ? -0.02 : 0;
        OK(fbp_circle_views(&circle, s.views));
        AUTO_FREE char *text = round_trip(&s, &circle);
        assert_int_equal(strstr(text, "\"step\"") == NULL, uneven);
        assert_int_equal(strstr(text, "tilt_deg") == NULL, !tilted);
        assert_int_equal(strstr(text, "\"offset_mm\": [[") != NULL, circle.offsets_mm != NULL);
        struct fbp_circle found;
        const struct fbp_views views = fbp_scan_views(&s);
        assert_true(fbp_circle_of(&views, &found, numbers));
        assert_int_equal(found.offsets_mm != NULL, circle.offsets_mm != NULL);
        assert_contains(text, "\"projections\": \"p.mha\"");
        s.views[2].d[1] += 0.1;
        expect_message(fbp_scan_save(&s, in_folder("x.json"), &circle), FBP_ERR_INVALID, "view 2");
        assert_int_not_equal(access(in_folder("x.json"), F_OK), 0);
    }
}

TEST(test_even_angles_are_short)
{
    double angles[VIEWS];
    const struct fbp_circle circle = circle_of(VIEWS, angles, 500, 1000, .pitch_mm = {1, 1});

    for (int k = 0; k < VIEWS; k++)
        angles[k] = (10 - 0.7 * k) * FBP_PI / 180;
    AUTO_CLEAR struct fbp_scan s = load("whole.json");
    OK(fbp_circle_views(&circle, s.views));
    AUTO_FREE char *text = round_trip(&s, &circle);
    assert_contains(text, "{\"start\": 10, \"step\": -0.7}");
}

TEST(test_round_trip_of_matrices)
{
    write_scan("whole.json", cone, N_OF(cone), NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = load("whole.json");
    s.views[1].s[2] += 1.2345678901234; /* not a circle any more */
    char *text = round_trip(&s, NULL);
    assert_contains(text, "\"matrices\"");
    free(text);
    s.views[3].u[0] += 0.1;
    text = round_trip(&s, NULL); /* nor of one pitch */
    assert_contains(text, "\"views\"");
    free(text);
    s.kind = FBP_PARALLEL;
    free(round_trip(&s, NULL));
}

TEST(test_paths)
{
    char here[512], text[4096] = {0};

    assert_non_null(getcwd(here, sizeof here));
    write_scan("whole.json", cone, N_OF(cone), "projections", "\"sub/p.mha\"");
    struct fbp_scan s = load("whole.json");
    assert_string_equal(s.projections, in_folder("sub/p.mha"));
    free(round_trip(&s, NULL));
    /* From inside the folder, written another way; and from a folder beside it. */
    assert_int_equal(chdir(folder), 0);
    OK(fbp_scan_save(&s, "inside.json", NULL));
    OK(fbp_scan_save(&s, "sub/outside.json", NULL));
    FILE *f = not_null(fopen("inside.json", "rb"));
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_int_equal(chdir(here), 0);
    assert_contains(text, "\"projections\": \"sub/p.mha\"");
    fbp_scan_clear(&s);
    s = load("sub/outside.json"); /* darks lie above it: absolute */
    assert_int_equal(s.dark[0], '/');
    expect_message(fbp_scan_save(&s, in_folder("no/where.json"), NULL), FBP_ERR_IO, "where.json");
    s.volume.centre_mm[0] = NAN;
    expect_message(fbp_scan_save(&s, in_folder("x.json"), NULL), FBP_ERR_INVALID, "not finite");
    assert_int_not_equal(access(in_folder("x.json"), F_OK), 0);
    assert_int_not_equal(access(in_folder("x.json.part"), F_OK), 0);
    fbp_scan_clear(&s);
}

/* Sinograms: 4 views of 5 rows, from an array of 5 x 4 x 6; saved and read again. */
TEST(test_sinograms)
{
    write_scan("s.json", parallel, N_OF(parallel) - 1, "sinograms",
               "true, \"angles_deg\": [0, 30, 60, 90]");
    struct fbp_scan s = load("s.json");
    assert_true(s.sinograms && s.n_views == 4 && s.panel.n_rows == 5 && s.panel.n_columns == 6);
    OK(fbp_scan_save(&s, in_folder("again.json"), NULL));
    fbp_scan_clear(&s);
    s = load("again.json");
    assert_true(s.sinograms && s.n_views == 4 && s.panel.n_rows == 5);
    fbp_scan_clear(&s);
}

/* An offset per view, as a list and in a file, gives the views of circles with these offsets. */
TEST(test_offset_per_view)
{
    static const double offsets[VIEWS][2] = {{1, -2}, {0, 0}, {-3, 0.5}, {4, 4}, {0, 1}};
    static const char *const values[] = {"[[1, -2], [0, 0], [-3, 0.5], [4, 4], [0, 1]]",
                                         "\"offsets.txt\""};

    write_text("offsets.txt", "1 -2\n0 0\n-3 0.5\n4 4\n0 1\n");
    for (size_t i = 0; i < N_OF(values); i++) {
        AUTO_FREE char *detector = printed("{\"pitch_mm\": [0.8, 0.7], \"tilt_deg\": [1, 2, 3], "
                                           "\"skew_deg\": 0.5, \"offset_mm\": %s}",
                                           values[i]);
        write_scan("o.json", cone, N_OF(cone), "detector", detector);
        struct fbp_scan s = load("o.json");
        for (size_t k = 0; k < VIEWS; k++) {
            const double angle = (10 + 72 * (double)k) * 3.14159265358979323846 / 180;
            const double sod = 500, sdd = 800 + (double)k, turn = 3.14159265358979323846 / 180;
            const struct fbp_circle one = {.struct_size = sizeof one,
                                           .n_views = 1,
                                           .angles_rad = &angle,
                                           .sod_mm = &sod,
                                           .sdd_mm = &sdd,
                                           .n_sod = 1,
                                           .n_sdd = 1,
                                           .pitch_mm = {0.8, 0.7},
                                           .offset_mm = {offsets[k][0], offsets[k][1]},
                                           .tilt_rad = {turn, 2 * turn, 3 * turn},
                                           .skew_rad = 0.5 * turn};
            struct fbp_view right;
            OK(fbp_circle_views(&one, &right));
            for (int j = 0; j < 3; j++)
                assert_true(fabs(s.views[k].s[j] - right.s[j]) < 1e-9 &&
                            fabs(s.views[k].d[j] - right.d[j]) < 1e-9 &&
                            fabs(s.views[k].u[j] - right.u[j]) < 1e-12 &&
                            fabs(s.views[k].v[j] - right.v[j]) < 1e-12);
        }
        fbp_scan_clear(&s);
    }
    write_scan("o.json", parallel, N_OF(parallel), "detector",
               "{\"pitch_mm\": 1, \"offset_mm\": [[0, 0], [1, 1], [2, 2], [3, 3], [4, 5]]}");
    struct fbp_scan s = load("o.json");
    assert_true(fabs(s.views[4].d[2] - s.views[0].d[2] - 5) < 1e-12);
    fbp_scan_clear(&s);
    write_scan("o.json", cone, N_OF(cone), "detector",
               "{\"pitch_mm\": 1, \"offset_mm\": [[0, 0], [1, 1]]}");
    expect_load_fails("o.json", FBP_ERR_INVALID, "detector.offset_mm: found 2 entries");
    write_scan("o.json", cone, N_OF(cone), "detector", "{\"pitch_mm\": 1, \"offset_mm\": [[0]]}");
    expect_load_fails("o.json", FBP_ERR_INVALID, "offset_mm[0]");
    write_scan("o.json", cone, N_OF(cone), "detector",
               "{\"pitch_mm\": 1, \"offset_mm\": [[1e13,0],[0,0],[0,0],[0,0],[0,0]]}");
    expect_load_fails("o.json", FBP_ERR_INVALID, "offset");
}

/* Two owners of equal scans: what one changes or frees the other does not see. */
TEST(test_copy)
{
    AUTO_CLEAR struct fbp_scan copy = {.struct_size = sizeof copy};

    write_scan("whole.json", cone, N_OF(cone), "assumed", "{\"i0\": \"a guess\"}");
    struct fbp_scan s = load("whole.json");
    const struct fbp_corrections harder = {
        .struct_size = sizeof harder, .beam_hardening = {1, 0.1}, .zingers = 7.5};
    OK(fbp_scan_correct(&s, &harder));
    AUTO_FREE char *text = round_trip(&s, NULL);
    assert_non_null(strstr(text, "\"zingers\": 7.5"));
    OK(fbp_scan_copy(&copy, &s));
    assert_int_equal(copy.n_assumed, s.n_assumed);
    assert_true(copy.n_assumed > 0 && copy.assumed[0].key != s.assumed[0].key);
    assert_true(copy.views != s.views && copy.projections != s.projections && copy.dark != s.dark);
    assert_true(copy.corrections && copy.corrections != s.corrections);
    s.views[0].s[0] += 1;
    fbp_scan_confirm(&s, "i0");
    fbp_scan_clear(&s);
    AUTO_FREE char *again = round_trip(&copy, NULL);
    assert_string_equal(again, text);
    assert_int_equal(copy.n_assumed, 1);
}

TEST_MAIN(make_files, drop_files)
