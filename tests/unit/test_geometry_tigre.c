/* Checks that TIGRE's geometry (JSON and MAT files) gives the views that TIGRE computes, is
 * written back, and that wrong files are refused with a reason. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"
#include "unit/geometry_util.h"
#include "unit/mat_files.h"

enum { N_VIEWS = 5 };

TEST(numbers_mean_what_tigre_does)
{
    write_changed("a.json", tigre_json, NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = load_file("a.json");
    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.n_views, 3);
    assert_int_equal(s.panel.n_columns, 6);
    assert_int_equal(s.panel.n_rows, 4);
    assert_int_equal(s.row_order, FBP_ROWS_BOTTOM_UP);
    near3("s", s.views[0].s, 1000, 0.25, 0);
    near3("d", s.views[0].d, -500, -1.75, 1.5);
    near3("u", s.views[0].u, 0, 0.8, 0);
    near3("v", s.views[0].v, 0, 0, 0.7);
    near3("s", s.views[1].s, -0.25, 1001, 0);
    near3("d", s.views[1].d, 1.75, -499, 1.5);
    near3("u", s.views[1].u, -0.8, 0, 0);
    near3("s", s.views[2].s, -1002, -0.25, 0);
    assert_true(s.volume.n[0] == 5 && s.volume.n[1] == 4 && s.volume.n[2] == 3);
    near3("voxel", s.volume.voxel_mm, 3, 2, 1);
    near3("centre", s.volume.centre_mm, 9, 8, 7);
}

/* Rz(a0) Ry(a1) Rz(a2), and a panel turned about z, then y, then x. */
TEST(three_angles_and_a_turned_panel)
{
    static const char *const changes[2] = {"\"COR\": 0.25, \"rotDetector\": [0, 0, 0]",
                                           "\"rotDetector\": [0, 0, 0.3]"};

    write_changed("a.json", tigre_json, changes[0], changes[1]);
    struct fbp_scan s = load_file("a.json");
    near3("u", s.views[0].u, -0.8 * sin(0.3), 0.8 * cos(0.3), 0);
    near3("v", s.views[0].v, 0, 0, 0.7);
    fbp_scan_clear(&s);
    write_changed("a.json", tigre_json, "\"COR\": 0.25, \"rotDetector\": [0, 0, 0]",
                  "\"rotDetector\": [0.2, 0, 0]");
    s = load_file("a.json");
    near3("u", s.views[0].u, 0, 0.8 * cos(0.2), 0.8 * sin(0.2));
    near3("v", s.views[0].v, 0, -0.7 * sin(0.2), 0.7 * cos(0.2));
    fbp_scan_clear(&s);
    write_changed("a.json", tigre_json,
                  "\"COR\": 0.25, \"rotDetector\": [0, 0, 0],\n\"accuracy\": 0.5, "
                  "\"filter\": null,\n\"angles\": [0, 1.5707963267948966, 3.141592653589793]",
                  "\"angles\": [[0, 0.4, 0], [0, 0.4, 0], [0.1, 0, 0.2]]");
    s = load_file("a.json");
    near3("s", s.views[0].s, 1000 * cos(0.4), 0, -1000 * sin(0.4));
    near3("s", s.views[2].s, 1002 * cos(0.3), 1002 * sin(0.3), 0);
    fbp_scan_clear(&s);
}

static struct fbp_scan random_scan(enum fbp_kind kind)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = kind,
                            .n_views = N_VIEWS,
                            .panel = {6, 4},
                            .volume = {{3, 4, 5}, {0.5, 0.25, 0.125}, {1, 2, 3}}};

    scan.views = calloc(N_VIEWS, sizeof *scan.views);
    assert_non_null(scan.views);
    for (int k = 0; k < N_VIEWS; k++) {
        struct fbp_view *v = &scan.views[k];
        double n[3];
        *v = random_view(FBP_CONE);
        fbp_normalise(v->u); /* square to v, of one pitch */
        fbp_axpy(v->v, -fbp_dot(v->v, v->u), v->u, v->v);
        fbp_normalise(v->v);
        for (int i = 0; i < 3; i++) {
            v->u[i] *= 0.8;
            v->v[i] *= 0.7;
        }
        fbp_cross(v->u, v->v, n);
        fbp_normalise(n);
        if (kind == FBP_PARALLEL)
            memcpy(v->s, n, sizeof n);
    }
    return scan;
}

TEST(what_is_written_comes_back)
{
    for (int kind = FBP_CONE; kind <= FBP_PARALLEL; kind++) {
        AUTO_CLEAR struct fbp_scan scan = random_scan((enum fbp_kind)kind);
        for (int round = 0; round < 3; round++) {
            OK(fbp_geometry_save(&scan, in_folder("r.json"), "tigre"));
            struct fbp_scan s = load_file("r.json");
            assert_int_equal(s.kind, kind);
            assert_int_equal(s.n_views, N_VIEWS);
            came_back("tigre", s.views, scan.views, N_VIEWS);
            assert_memory_equal(&s.volume, &scan.volume, sizeof s.volume);
            fbp_scan_clear(&s);
            /* next: mirrored (a cone only), then sources in the plane */
            for (int k = 0; k < N_VIEWS; k++)
                for (int i = 0; i < 3; i++)
                    if (round == 0 && kind == FBP_CONE)
                        scan.views[k].v[i] = -scan.views[k].v[i];
                    else if (kind == FBP_CONE)
                        scan.views[k].s[2] = 0;
        }
    }
}

TEST(what_tigre_cannot_hold_is_refused)
{
    struct fbp_scan scan = random_scan(FBP_CONE);
    const char *path = in_folder("no.json");

    assert_fails(fbp_geometry_save(&scan, in_folder("no.mat"), NULL), FBP_ERR_UNSUPPORTED,
                 "can be read, but not written");
    scan.views[2].u[0] += 0.1;
    assert_fails(fbp_geometry_save(&scan, path, "tigre"), FBP_ERR_UNSUPPORTED, "view 2");
    assert_int_not_equal(access(path, F_OK), 0);
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_PARALLEL);
    for (int i = 0; i < 3; i++)
        scan.views[1].v[i] = -scan.views[1].v[i];
    assert_fails(fbp_geometry_save(&scan, path, "tigre"), FBP_ERR_UNSUPPORTED, "mirrored");
    fbp_scan_clear(&scan);
}

/* offDetector: (V, U) = (1, 3) in view 0 and (2, 4) in view 1. */
TEST(mat_files_of_both_orders)
{
    for (int columns = 0; columns < 2; columns++) {
        put_tigre(in_folder("g.mat"), columns);
        AUTO_CLEAR struct fbp_scan s = load_file("g.mat");
        assert_int_equal(s.n_views, 2);
        assert_int_equal(s.panel.n_columns, 6);
        assert_int_equal(s.panel.n_rows, 4);
        near3("s", s.views[0].s, 1000, 0, 0);
        near3("d", s.views[0].d, -500, 3, 1);
        near3("s", s.views[1].s, -1001, 0, 0);
        near3("d", s.views[1].d, 499, -4, 2);
        near3("u", s.views[0].u, 0, 0.8, 0);
        near3("v", s.views[0].v, 0, 0, 0.7);
    }
}

/* Whole numbers as small as they fit in. */
TEST(sizes_may_be_of_any_type)
{
    static const char *const fields[] = {"DSD", "DSO", "nDetector", "dDetector"};
    static const double distances[2] = {1500, 1000}, pitch[2] = {0.8, 0.7}, angles[2] = {0, 1};
    static const int8_t sizes[2] = {6, 4};
    static const size_t two[2] = {2, 1};
    FILE *f = mat_create(in_folder("i8.mat"));
    const struct mat_var members[] = {
        mat_matrix(NULL, 1, 1, distances), mat_matrix(NULL, 1, 1, distances + 1),
        mat_array(NULL, FBP_MX_INT8, FBP_MI_INT8, 2, two, sizes, NULL),
        mat_matrix(NULL, 2, 1, pitch)};

    mat_put(f, mat_struct("geo", N_OF(fields), fields, members), false);
    mat_put(f, mat_matrix("angles", 1, 2, angles), false);
    fclose(f);
    AUTO_CLEAR struct fbp_scan s = load_file("i8.mat");
    assert_int_equal(s.panel.n_columns, 6);
    assert_int_equal(s.panel.n_rows, 4);
}

static void refused_mat(const char *name, const char *format, const char *message)
{
    struct fbp_scan s = {.struct_size = sizeof s};

    assert_int_not_equal(fbp_geometry_load(&s, in_folder(name), format, NULL), FBP_OK);
    assert_says(message);
}

/* The remedy is that of where the struct is, or of the file's version. */
TEST(mat_files_say_how_to_be_saved)
{
    static const char *const outer[] = {"geo", "angles"}, *const inner[] = {"DSD"};
    static const double dsd[1] = {1500};
    FILE *f = mat_create(in_folder("nested.mat"));
    const struct mat_var value = mat_matrix(NULL, 1, 1, dsd);
    const struct mat_var members[] = {mat_struct(NULL, 1, inner, &value),
                                      mat_matrix(NULL, 1, 1, dsd)};
    char head[512] = "MATLAB 7.3 MAT-file, Platform: GLNXA64";

    mat_put(f, mat_struct("scan", 2, outer, members), false);
    fclose(f);
    refused_mat("nested.mat", NULL, "geo is inside the struct scan; save it separately by");
    refused_mat("nested.mat", "tigre", "geo is inside the struct scan; save it separately by");

    FILE *raw = not_null(fopen(in_folder("v73.mat"), "wb"));
    assert_int_equal(fwrite(head, sizeof head, 1, raw), 1);
    assert_int_equal(fclose(raw), 0);
    refused_mat("v73.mat", "tigre", "'-v7'");
}

/* Cut off anywhere, even within the last number. */
TEST(cut_mat_files_are_refused)
{
    unsigned char bytes[4096];

    put_tigre(in_folder("g.mat"), false);
    FILE *f = not_null(fopen(in_folder("g.mat"), "rb"));
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut += 16) {
        struct fbp_scan s = {.struct_size = sizeof s};
        f = fopen(in_folder("cut.mat"), "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, cut, f), cut);
        fclose(f);
        assert_int_not_equal(fbp_geometry_load(&s, in_folder("cut.mat"), "tigre", NULL), FBP_OK);
    }
}

TEST(wrong_input_is_named)
{
    static const struct spoilt list[] = {
        {"\"DSO\"", "\"DS0\"", "did you mean \"DSO\""},
        {"\"DSD\": 1500,", "\"DSD\": null,", "DSD is missing"},
        {"\"DSD\": 1500,", "\"DSD\": -1500,", "expected positive distances"},
        {"1001, 1002]", "1001]", "DSO: has 2 entries, but angles has 3"},
        {"\"nDetector\": [4, 6]", "\"nDetector\": [4.5, 6]", "nDetector"},
        {"\"nDetector\": [4, 6]", "\"nDetector\": [4, 6, 7]", "nDetector"},
        {"[2.8, 4.8]", "[2.8, 5]", "sDetector is 5, but"},
        {"\"dDetector\": [0.7, 0.8]", "\"dDetector\": [0.7, 0]", "dDetector"},
        {"\"rotDetector\": [0, 0, 0]", "\"rotDetector\": [0, 0, 0.1]", "COR with rotDetector"},
        {"\"offDetector\": [1.5, -2]", "\"offDetector\": [1.5]", "offDetector"},
        {"\"offDetector\": [1.5, -2]", "\"offDetector\": [[1, 2], [3]]", "offDetector"},
        {"\"mode\": \"cone\"", "\"mode\": \"fan\"", "mode"},
        {"\"angles\": [0,", "\"angles\": [1e999,", "angles"},
        {"[0, 1.5707963267948966, 3.141592653589793]", "[]", "angles"},
        {"[0, 1.5707963267948966, 3.141592653589793]", "[[0, 0.1, 0], [0, 0, 0], [0, 0, 0]]",
         "COR with a second or third angle"},
    };

    refuses_all("w.json", tigre_json, list, N_OF(list));
    struct fbp_scan s = {.struct_size = sizeof s};
    write_changed("w.json", tigre_json, NULL, NULL);
    const struct fbp_geometry_known known = {.struct_size = sizeof known, .n_views = 4};
    assert_fails(fbp_geometry_load(&s, in_folder("w.json"), NULL, &known), FBP_ERR_INVALID,
                 "files that belong together");
}

TEST_MAIN(make_files, drop_files)
