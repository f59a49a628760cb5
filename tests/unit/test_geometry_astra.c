/* Checks that ASTRA's geometries (dictionaries as JSON, vectors as NPY or text) are read and
 * written, and that wrong ones are refused with a reason. */
#include "unit/geometry_files.h"

#define SIZES   "\"DetectorRowCount\": 4, \"DetectorColCount\": 6, "
#define SPACING SIZES "\"DetectorSpacingX\": 0.8, \"DetectorSpacingY\": 0.7, "
#define ANGLES  "\"ProjectionAngles\": [0, 1.5707963267948966]"

static struct fbp_scan read_text(const char *text)
{
    write_text("a.json", text);
    return load_as(in_folder("a.json"), NULL, NULL);
}

/* What astra.geom_2vec() makes of these. */
TEST(circles)
{
    struct fbp_scan s =
        read_text("{\"type\": \"cone\", " SPACING
                  "\"DistanceOriginSource\": 500, \"DistanceOriginDetector\": 300, " ANGLES
                  ", \"option\": {}}");

    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.row_order, FBP_ROWS_BOTTOM_UP);
    check_near3(s.views[0].s, (double[]){0, -500, 0}, 1e-12);
    check_near3(s.views[0].d, (double[]){0, 300, 0}, 1e-12);
    check_near3(s.views[0].u, (double[]){0.8, 0, 0}, 1e-12);
    check_near3(s.views[0].v, (double[]){0, 0, 0.7}, 1e-12);
    check_near3(s.views[1].s, (double[]){500, 0, 0}, 1e-12);
    check_near3(s.views[1].u, (double[]){0, 0.8, 0}, 1e-12);
    fbp_scan_clear(&s);
    s = read_text("{\"type\": \"parallel3d\", " SPACING ANGLES "}");
    assert_int_equal(s.kind, FBP_PARALLEL);
    check_near3(s.views[1].s, (double[]){1, 0, 0}, 1e-12);
    fbp_scan_clear(&s);
    s = read_text("{\"type\": \"fanflat\", \"DetectorWidth\": 0.5, \"DetectorCount\": 7, "
                  "\"DistanceOriginSource\": 500, \"DistanceOriginDetector\": 0, " ANGLES "}");
    assert_int_equal(s.panel.n_columns, 7);
    assert_int_equal(s.panel.n_rows, 1);
    check_near3(s.views[1].v, (double[]){0, 0, 0.5}, 1e-12);
    fbp_scan_clear(&s);
}

/* Six numbers a view: the plane z = 0, one row as high as columns are wide. */
TEST(flat_vectors)
{
    struct fbp_scan s = read_text("{\"type\": \"fanflat_vec\", \"DetectorCount\": 7, "
                                  "\"Vectors\": [[10, -500, 20, 300, 0.3, 0.4]]}");

    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.panel.n_columns, 7);
    assert_int_equal(s.panel.n_rows, 1);
    check_near3(s.views[0].s, (double[]){10, -500, 0}, 0);
    check_near3(s.views[0].d, (double[]){20, 300, 0}, 0);
    check_near3(s.views[0].u, (double[]){0.3, 0.4, 0}, 0);
    check_near3(s.views[0].v, (double[]){0, 0, 0.5}, 1e-15);
    fbp_scan_clear(&s);
    s = read_text("{\"type\": \"parallel_vec\", \"DetectorCount\": 7, "
                  "\"Vectors\": [[0, -2, 5, 0, 1, 0], [2, 0, 0, 5, 0, 1]]}");
    assert_int_equal(s.kind, FBP_PARALLEL);
    check_near3(s.views[0].s, (double[]){0, -1, 0}, 0);
    check_near3(s.views[1].d, (double[]){0, 5, 0}, 0);
    check_near3(s.views[1].v, (double[]){0, 0, 1}, 0);
    fbp_scan_clear(&s);
}

TEST(dictionaries_come_back)
{
    static const struct {
        enum fbp_kind kind;
        unsigned what;
        const char *says;
    } shapes[] = {
        {FBP_CONE, 0, "\"cone\""},
        {FBP_CONE, SHORT | BACKWARDS, "\"cone\""},
        {FBP_CONE, OFFSET, "\"cone_vec\""},
        {FBP_CONE, OFFSET | SHORT | TILTED | WOBBLING | SKEWED, "\"cone_vec\""},
        {FBP_PARALLEL, SHORT, "\"parallel3d\""},
        {FBP_PARALLEL, OFFSET | TILTED | SKEWED, "\"parallel3d_vec\""},
    };

    for (size_t i = 0; i < N_OF(shapes); i++) {
        AUTO_CLEAR struct fbp_scan scan = random_scan(shapes[i].kind, 11, shapes[i].what);
        comes_back(&scan, in_folder("back.json"), "astra", false);
        assert_true(file_says("back.json", shapes[i].says));
    }
}

TEST(vectors_come_back)
{
    static const char *const names[] = {"v.npy", "v.csv", "v.txt"};
    static const char *const formats[] = {"astra-cone-vec", "astra-parallel-vec"};

    for (int kind = FBP_CONE; kind <= FBP_PARALLEL; kind++)
        for (size_t i = 0; i < N_OF(names); i++) {
            struct fbp_scan scan =
                random_scan((enum fbp_kind)kind, 1 + 5 * i, OFFSET | TILTED | WOBBLING | SKEWED);
            comes_back(&scan, in_folder(names[i]), formats[kind], true);
            is_refused(&scan, in_folder("other.npy"), formats[1 - kind], "the beam is");
            fbp_scan_clear(&scan);
        }
}

/* An array as numpy saves it; the header says big-endian, single precision. */
TEST(arrays_of_numpy)
{
    static const double v[12] = {0, -500, 0, 0, 300, 0, 0.5, 0, 0, 0, 0, 0.25};
    const struct fbp_geometry_known known = {.struct_size = sizeof known, .panel = {3, 2}};
    unsigned char file[128 + sizeof(float) * 12];

    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(file + 10, "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 12), }", 60);
    file[127] = '\n';
    for (int i = 0; i < 12; i++) {
        const float x = (float)v[i];
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        for (int b = 0; b < 4; b++)
            file[128 + 4 * i + b] = (unsigned char)(bits >> (24 - 8 * b));
    }
    put_file(in_folder("f4.npy"), file, sizeof file);
    AUTO_CLEAR struct fbp_scan s = load_as(in_folder("f4.npy"), "astra-cone-vec", &known);
    check_near3(s.views[0].s, v, 0);
    check_near3(s.views[0].v, v + 9, 0);
}

/* Rays of parallel beams may have any length. */
TEST(directions_are_made_unit)
{
    const struct fbp_geometry_known known = {.struct_size = sizeof known, .panel = {3, 2}};

    write_text("ray.txt", "0 -4 0  0 0 0  1 0 0  0 0 1\n");
    AUTO_CLEAR struct fbp_scan s = load_as(in_folder("ray.txt"), "astra-parallel-vec", &known);
    check_near3(s.views[0].s, (double[]){0, -1, 0}, 0);
}

/* Twelve numbers say nothing of what they are: nobody guesses. */
TEST(vectors_are_not_guessed)
{
    const struct fbp_geometry_known known = {
        .struct_size = sizeof known, .panel = {3, 2}, .pitch_mm = {1, 1}};
    struct fbp_scan scan = random_scan(FBP_CONE, 3, 0), s = {.struct_size = sizeof s};

    save_as(&scan, in_folder("what.npy"), "astra-cone-vec");
    save_as(&scan, in_folder("what.csv"), "astra-cone-vec");
    expect_message(fbp_geometry_load(&s, in_folder("what.npy"), NULL, &known), FBP_ERR_UNSUPPORTED,
                   "--from-format");
    expect_message(fbp_geometry_load(&s, in_folder("what.csv"), NULL, &known), FBP_ERR_UNSUPPORTED,
                   "astra-cone-vec");
    expect_message(fbp_geometry_save(&scan, in_folder("x.npy"), NULL), FBP_ERR_UNSUPPORTED,
                   "--to-format");
    fbp_scan_clear(&scan);
}

TEST(scan_files_name_the_format)
{
    static const struct pair members[] = {
        {"fbp_scan", "1"},
        {"projections", "\"p.mha\""},
        {"geometry", "\"named.npy\""},
        {"geometry_format", "\"astra-cone-vec\""},
    };
    struct fbp_scan scan = random_scan(FBP_CONE, VIEWS, OFFSET | WOBBLING),
                    s = {.struct_size = sizeof s};

    save_as(&scan, in_folder("named.npy"), "astra-cone-vec");
    write_scan("named.json", members, N_OF(members), NULL, NULL);
    s = load("named.json");
    same_views(s.views, scan.views, VIEWS, 1e-12);
    fbp_scan_clear(&s);
    write_scan("wrong.json", members, N_OF(members), "geometry_format", "\"astr\"");
    expect_load_fails("wrong.json", FBP_ERR_UNSUPPORTED, "astr: is not a geometry format");
    write_scan("lonely.json", parallel, N_OF(parallel), "geometry_format", "\"astra\"");
    expect_load_fails("lonely.json", FBP_ERR_INVALID, "there is no \"geometry\"");
    fbp_scan_clear(&scan);
}

#define CONE "{\"type\": \"cone\", " SPACING
static const struct wrong wrong[] = {
    {"", "", FBP_ERR_INVALID},
    {"[]", "expected an object", FBP_ERR_INVALID},
    {"{}", "type is missing", FBP_ERR_INVALID},
    {"{\"type\": \"cyl_cone_vec\"}", "type: found \"cyl_cone_vec\"", FBP_ERR_INVALID},
    {"{\"type\": 3}", "type: found 3", FBP_ERR_INVALID},
    {"{\"type\": \"cone\"}", "DetectorColCount is missing", FBP_ERR_INVALID},
    {"{\"type\": \"cone\", \"DetectorColCount\": 6, \"DetectorRowCount\": 0}",
     "DetectorRowCount: found 0", FBP_ERR_INVALID},
    {"{\"type\": \"cone\", " SIZES ANGLES "}", "DetectorSpacingX is missing", FBP_ERR_INVALID},
    {CONE ANGLES "}", "DistanceOriginSource is missing", FBP_ERR_INVALID},
    {CONE "\"DistanceOriginSource\": 5, \"DistanceOriginDetector\": -1, " ANGLES "}",
     "DistanceOriginDetector: found -1", FBP_ERR_INVALID},
    {CONE "\"DistanceOriginSource\": 5, \"DistanceOriginDetector\": 1}", "contains no views",
     FBP_ERR_INVALID},
    {CONE "\"DistanceOriginSource\": 5, \"DistanceOriginDetector\": 1, "
          "\"ProjectionAngles\": [\"x\"]}",
     "ProjectionAngles", FBP_ERR_INVALID},
    {"{\"type\": \"cone_vec\", " SIZES "\"Vectors\": [[1, 2, 3]]}", "Vectors", FBP_ERR_INVALID},
    {"{\"type\": \"cone_vec\", " SIZES "\"Vectors\": []}", "", FBP_ERR_INVALID},
    {"{\"type\": \"fanflat_vec\", \"DetectorCount\": 6, "
     "\"Vectors\": [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]]}",
     "Vectors", FBP_ERR_INVALID},
    {"{\"type\": \"cone_vec\", \"DetectorRowCount\": 4, \"DetectorColCount\": 7, "
     "\"Vectors\": [[0, -500, 0, 0, 300, 0, 0.8, 0, 0, 0, 0, 0.7]]}",
     "detector of 7 x 4 pixels, but the projections have 6 x 4", FBP_ERR_INVALID},
    {"{\"type\": \"cone_vec\", " SIZES
     "\"Vectors\": [[0, -500, 0, 0, 300, 0, 0.5, 0, 0, 0, 0, 0.5]]}",
     "0.5 mm along the rows, but 0.8 mm", FBP_ERR_INVALID},
    {"{\"type\": \"parallel3d_vec\", " SIZES "\"Vectors\": [[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]]}",
     "the ray direction is 0", FBP_ERR_INVALID},
};

static const struct wrong wrong_text[] = {
    {"1 2 3", "not a multiple of 12", FBP_ERR_INVALID},
    {"a", "is not a number", FBP_ERR_INVALID},
    {"0 -500 0 0 300 0 0.8 0 0 0 0 nan", "not finite", FBP_ERR_INVALID},
};

TEST(wrong_files)
{
    are_wrong("wrong.json", "astra", wrong, N_OF(wrong));
    are_wrong("wrong.csv", "astra-cone-vec", wrong_text, N_OF(wrong_text));
}

TEST(wrong_arrays)
{
    static const char *const shapes[] = {"(2, 6)", "(2, 6, 2)", "(3, 12)", "(24,)"};
    static const char *const messages[] = {"views x 12 numbers", "views x 12 numbers", "",
                                           "views x 12 numbers"};
    const struct fbp_geometry_known known = {.struct_size = sizeof known, .panel = {3, 2}};

    for (size_t i = 0; i < N_OF(shapes); i++) {
        struct fbp_scan s = {.struct_size = sizeof s};
        char file[128 + 24 * 8] = {0};
        memset(file, ' ', 128);
        memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
        const int n = snprintf(file + 10, 110,
                               "{'descr': '<f8', 'fortran_order': False, 'shape': %s}", shapes[i]);
        file[10 + n] = ' ';
        put_file(in_folder("shape.npy"), file, sizeof file);
        const fbp_status st =
            fbp_geometry_load(&s, in_folder("shape.npy"), "astra-cone-vec", &known);
        assert_int_not_equal(st, FBP_OK);
        expect_message(st, st, messages[i]);
        expect_message(st, st, "shape.npy");
    }
}

TEST_MAIN(make_files, drop_files)
