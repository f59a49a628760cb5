/* Checks the MAT reader and writer (version 5): classes, structs, order of axes, compression,
 * whole scans, and refusals with a reason. */
#include "unit/mat_files.h"

#define MAT FBP_TEST_DIR "/io_mat.mat"
#define BAD FBP_TEST_DIR "/io_mat_bad.mat"

static void check_array(const char *name, enum fbp_type type)
{
    float out[N];

    AUTO_FREE char *path = printed(MAT ":%s", name);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const struct fbp_array_info *i = fbp_source_info(src);
    assert_int_equal(i->type, type);
    assert_int_equal(i->row_order, FBP_ROWS_TOP_DOWN);
    assert_true(i->n[0] == MAT_COLUMNS && i->n[1] == MAT_ROWS && i->n[2] == MAT_VIEWS);
    OK(fbp_source_read(src, 0, MAT_VIEWS, 0, MAT_ROWS, FBP_F32, out));
    for (int k = 0; k < N; k++)
        assert_true((double)out[k] == 30 * (k / (MAT_ROWS * MAT_COLUMNS)) +
                                          10 * (k / MAT_COLUMNS % MAT_ROWS) + k % MAT_COLUMNS);
    OK(fbp_source_read(src, 2, 1, 1, 1, FBP_F32, out));
    assert_true((double)out[2] == 72);
}

TEST(every_class)
{
    FILE *f = mat_create(MAT);

    VALUES(double);
    VALUES(float);
    VALUES(int8_t);
    VALUES(uint8_t);
    VALUES(int16_t);
    VALUES(uint16_t);
    VALUES(int32_t);
    VALUES(uint32_t);
    for (int z = 0; z < 2; z++) {
        mat_put(f, array(z ? "zf8" : "f8", FBP_MX_DOUBLE, FBP_MI_DOUBLE, values_double), z);
        mat_put(f, array(z ? "zf4" : "f4", FBP_MX_SINGLE, FBP_MI_SINGLE, values_float), z);
        mat_put(f, array(z ? "zi1" : "i1", FBP_MX_INT8, FBP_MI_INT8, values_int8_t), z);
        mat_put(f, array(z ? "zu1" : "u1", FBP_MX_UINT8, FBP_MI_UINT8, values_uint8_t), z);
        mat_put(f, array(z ? "zi2" : "i2", FBP_MX_INT16, FBP_MI_INT16, values_int16_t), z);
        mat_put(f, array(z ? "zu2" : "u2", FBP_MX_UINT16, FBP_MI_UINT16, values_uint16_t), z);
        mat_put(f, array(z ? "zi4" : "i4", FBP_MX_INT32, FBP_MI_INT32, values_int32_t), z);
        mat_put(f, array(z ? "zu4" : "u4", FBP_MX_UINT32, FBP_MI_UINT32, values_uint32_t), z);
    }
    /* Doubles that are stored in a type that takes less room. */
    mat_put(f, array("as_u1", FBP_MX_DOUBLE, FBP_MI_UINT8, values_uint8_t), false);
    mat_put(f, array("as_i2", FBP_MX_DOUBLE, FBP_MI_INT16, values_int16_t), true);
    fclose(f);
    static const struct {
        const char *name;
        enum fbp_type type;
    } sets[] = {{"f8", FBP_F64},    {"f4", FBP_F32},   {"i1", FBP_I8},   {"u1", FBP_U8},
                {"i2", FBP_I16},    {"u2", FBP_U16},   {"i4", FBP_I32},  {"u4", FBP_U32},
                {"zf8", FBP_F64},   {"zf4", FBP_F32},  {"zi1", FBP_I8},  {"zu1", FBP_U8},
                {"zi2", FBP_I16},   {"zu2", FBP_U16},  {"zi4", FBP_I32}, {"zu4", FBP_U32},
                {"as_u1", FBP_F64}, {"as_i2", FBP_F64}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        check_array(sets[i].name, sets[i].type);
}

/* Files of machines with the other byte order. */
TEST(swapped_files)
{
    VALUES(double);
    VALUES(uint16_t);
    VALUES(int8_t);

    mat_swapped = true;
    FILE *f = mat_create(MAT);
    mat_put(f, array("f8", FBP_MX_DOUBLE, FBP_MI_DOUBLE, values_double), false);
    mat_put(f, array("u2", FBP_MX_UINT16, FBP_MI_UINT16, values_uint16_t), true);
    mat_put(f, array("as_i1", FBP_MX_DOUBLE, FBP_MI_INT8, values_int8_t), true);
    fclose(f);
    check_array("f8", FBP_F64);
    check_array("u2", FBP_U16);
    check_array("as_i1", FBP_F64);
    put_struct(MAT, 400, MAT_VIEWS, true);
    check_array("ct.parameters.deep", FBP_F64);
    mat_swapped = false;
}

/* Cells, sparse arrays, objects and function handles are passed over; an array behind them is read.
 */
TEST(other_classes_are_passed_over)
{
    static const size_t two[2] = {1, 2}, one[2] = {1, 1};
    static const double number = 5;
    static const int32_t rows[2] = {0, 1};
    static const unsigned classes[] = {FBP_MX_CELL, FBP_MX_SPARSE, FBP_MX_OBJECT, FBP_MX_FUNCTION,
                                       FBP_MX_OPAQUE};
    fbp_source *src;
    VALUES(float);

    for (int z = 0; z < 2; z++) {
        FILE *f = mat_create(MAT);
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
            const bool cell = classes[i] == FBP_MX_CELL;
            struct mat_var v = mat_head(classes[i], false, "x", 2, cell ? two : one);
            if (cell)
                mat_member(&v, mat_matrix(NULL, 1, 1, &number));
            if (cell)
                mat_member(&v, mat_text(NULL, "letters"));
            else
                mat_element(&v, FBP_MI_INT32, rows, 2, 4);
            mat_put(f, v, z);
        }
        mat_put(f, array("f4", FBP_MX_SINGLE, FBP_MI_SINGLE, values_float), z);
        fclose(f);
        check_array("f4", FBP_F32);
    }
    assert_fails(fbp_source_open(&src, MAT ":x", NULL), FBP_ERR_UNSUPPORTED,
                 "is not an array of a supported type");
}

/* Levels of structs and their members are limited. */
TEST(structs_are_limited)
{
    static const char *const name[] = {"a"};
    static const double number = 5;
    fbp_source *src;

    for (int levels = 60; levels < 80; levels += 19) {
        struct mat_var v = mat_matrix(levels ? NULL : "a", 1, 1, &number);
        for (int i = 0; i < levels; i++)
            v = mat_struct(i + 1 < levels ? NULL : "a", 1, name, &v);
        FILE *f = mat_create(MAT);
        mat_put(f, v, true);
        fclose(f);
        assert_fails(fbp_source_open(&src, MAT ":b", NULL), FBP_ERR_INVALID,
                     levels < 64 ? "has no array" : "too many levels of structs");
    }
    AUTO_FREE char *names = calloc(1, 70000);
    struct mat_var v = mat_head(FBP_MX_STRUCT, false, "s", 2, (const size_t[2]){1, 1});
    const int32_t length = 1;
    mat_element(&v, FBP_MI_INT32, &length, 1, 4);
    mat_element(&v, FBP_MI_INT8, names, 70000, 1);
    FILE *f = mat_create(MAT);
    mat_put(f, v, true);
    fclose(f);
    assert_fails(fbp_source_open(&src, MAT ":b", NULL), FBP_ERR_UNSUPPORTED,
                 "more than 65536 members");
}

TEST(fields_by_dots)
{
    float out[12];

    put_struct(MAT, 400, MAT_VIEWS, true);
    check_array("ct.parameters.deep", FBP_F64);
    for (int s = 0; s < 2; s++) {
        CLEANUP(fbp_source_close)
        fbp_source *src = open_source(s ? MAT ":ct.sinogram?sinogram" : MAT ":ct.sinogram", NULL);
        const struct fbp_array_info *i = fbp_source_info(src);
        assert_true(i->n[0] == MAT_COLUMNS && i->n[1] == (s ? 1 : MAT_VIEWS) &&
                    i->n[2] == (s ? MAT_VIEWS : 1));
        OK(fbp_source_read(src, 0, i->n[2], 0, i->n[1], FBP_F32, out));
        for (int k = 0; k < 12; k++)
            assert_true((double)out[k] == 10 * (k / MAT_COLUMNS) + k % MAT_COLUMNS);
    }
}

TEST(whole_scan)
{
    put_struct(MAT, 400, MAT_VIEWS, true);
    struct fbp_scan scan = open_scan(MAT);
    assert_int_equal(scan.n_views, MAT_VIEWS);
    assert_true(scan.panel.n_columns == MAT_COLUMNS && scan.panel.n_rows == 1);
    assert_string_equal(scan.projections, MAT ":ct.sinogram?sinogram");
    const struct fbp_view *v = &scan.views[0]; /* their 0 is a quarter turn ahead of the source */
    assert_true(v->s[1] < -399.999 && v->s[0] < 1e-9 && v->s[0] > -1e-9);
    assert_true(v->u[0] > 0.2499 && v->u[0] < 0.2501);
    fbp_scan_clear(&scan);
    put_struct(MAT, 400, MAT_VIEWS + 1, true);
    assert_fails(fbp_scan_load(&scan, MAT, NULL), FBP_ERR_INVALID,
                 "5 angles, but the sinogram has 4 views");
    put_struct(MAT, -1, MAT_VIEWS, true);
    assert_fails(fbp_scan_load(&scan, MAT, NULL), FBP_ERR_INVALID,
                 "distanceSourceOrigin: expected one positive number");
}

TEST(wrong_arrays)
{
    static const struct {
        const char *name, *says;
        fbp_status status;
    } table[] = {
        {":ct.sinogramm", "did you mean \"ct.sinogram\"?; the file has ct.sinogram (4 x 3), ",
         FBP_ERR_INVALID},
        {":none", "has no array \"none\"", FBP_ERR_INVALID},
        {":ct", "is not an array of a supported type", FBP_ERR_UNSUPPORTED},
        {":ct.parameters", "is not an array of a supported type", FBP_ERR_UNSUPPORTED},
        {":ct.sinogram.more", "has no array", FBP_ERR_INVALID},
        {":ct.parameters.deep?sinogram", "a sinogram must have two", FBP_ERR_INVALID},
        {":ct.sinogram?x", "expected sinogram", FBP_ERR_INVALID},
        {"", "contains several arrays", FBP_ERR_INVALID},
    };
    fbp_source *src;

    put_struct(MAT, 400, MAT_VIEWS, true);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        AUTO_FREE char *path = printed(MAT "%s", table[i].name);
        assert_int_equal(fbp_source_open(&src, path, NULL), table[i].status);
        assert_null(src);
        assert_says("io_mat.mat");
        assert_says(table[i].says);
    }
}

/* Version 4 as it is written on either kind of machine, and arrays of numbers that are not read. */
TEST(what_is_not_read)
{
    static const char little[] = "\0\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0A";
    static const char big[] = "\0\0\3\350\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\2A";
    static const double values[4] = {1, 2, 3, 4};
    static const struct {
        unsigned class, type;
        const void *imaginary;
        const char *says;
    } table[] = {{FBP_MX_INT64, FBP_MI_INT64, NULL, "A is an array of 64-bit integers, "},
                 {FBP_MX_UINT64, FBP_MI_UINT64, NULL, "A is an array of 64-bit integers, "},
                 {FBP_MX_DOUBLE, FBP_MI_DOUBLE, values, "A is complex, "}};
    static const size_t dims[2] = {2, 2};
    fbp_source *src;

    for (int k = 0; k < 2; k++) {
        char file[200] = "";
        memcpy(file, k ? big : little, sizeof little);
        memcpy(file + 22, values, sizeof values);
        put_file(MAT, file, k ? sizeof file : 22 + sizeof values);
        assert_fails(fbp_source_open(&src, MAT, NULL), FBP_ERR_UNSUPPORTED,
                     "io_mat.mat: is a MAT file of version 4");
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        FILE *f = mat_create(MAT);
        mat_put(f,
                mat_array("A", table[i].class, table[i].type, 2, dims, values, table[i].imaginary),
                false);
        fclose(f);
        const fbp_status st = fbp_source_open(&src, MAT, NULL);
        assert_says(table[i].says);
        assert_fails(st, FBP_ERR_UNSUPPORTED, "save it as single");
    }
}

/* Facts of a scan of Helsinki that would change the result are not passed over. */
TEST(facts_are_not_passed_over)
{
    static const struct {
        const char *name, *text;
        double number;
        const char *says; /* NULL: it is read */
    } rows[] = {
        {"distanceUnit", "mm", 0, NULL},
        {"distanceUnit", "cm", 0, "parameters.distanceUnit is \"cm\", expected mm"},
        {"pixelSizeUnit", "um", 0, "parameters.pixelSizeUnit is \"um\", expected mm"},
        {"angleUnit", "degrees", 0, NULL},
        {"angleUnit", "rad", 0, "parameters.angleUnit is \"rad\""},
        {"geometryType", "Cone", 0, NULL},
        {"geometryType", "fan", 0, NULL},
        {"geometryType", "Parallel", 0, "expected a beam with a source"},
        {"numDetectorsPost", NULL, MAT_COLUMNS, NULL},
        {"numDetectorsPost", NULL, MAT_COLUMNS + 4,
         "numDetectorsPost is 7, but the sinogram has 3"},
        {"scanner", "a machine", 0, NULL},
    };
    struct fbp_scan scan = {.struct_size = sizeof scan};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mat_var more =
            rows[i].text ? mat_text(NULL, rows[i].text) : mat_matrix(NULL, 1, 1, &rows[i].number);
        put_struct_with(MAT, 400, MAT_VIEWS, false, rows[i].name, &more);
        const fbp_status st = fbp_scan_load(&scan, MAT, NULL);
        if ((st == FBP_OK) != !rows[i].says)
            fail_msg("%s: %s", rows[i].name, fbp_message());
        if (rows[i].says)
            assert_says(rows[i].says);
        fbp_scan_clear(&scan);
    }
}

/* fuzz/corpus reads files with changed bytes. */
TEST(cut_files_are_refused)
{
    size_t n;

    put_struct(MAT, 400, MAT_VIEWS, true);
    AUTO_FREE char *bytes = get_file(MAT, &n);
    for (size_t cut = 0; cut < n; cut += n / 40 + 1) {
        fbp_source *src;
        struct fbp_scan scan = {.struct_size = sizeof scan};
        put_file(BAD, bytes, cut);
        assert_int_not_equal(fbp_source_open(&src, BAD ":ct.sinogram", NULL), FBP_OK);
        assert_says("io_mat_bad.mat");
        assert_int_not_equal(fbp_scan_load(&scan, BAD, NULL), FBP_OK);
        assert_says("io_mat_bad.mat");
    }
    remove(BAD);
}

/* Whole scans that end too early, at any byte. */
TEST(cut_scans)
{
    struct prj prj = prj_usual();
    size_t n;

    put_prj(MAT, &prj);
    AUTO_FREE char *bytes = get_file(MAT, &n);
    for (size_t end = 0; end < n; end++) {
        struct fbp_scan scan = {.struct_size = sizeof scan};
        put_file(BAD, bytes, end);
        if (fbp_scan_load(&scan, BAD, NULL) == FBP_OK)
            fail_msg("of %zu bytes %zu are taken for a scan", n, end);
        assert_says("io_mat_bad.mat");
    }
    remove(BAD);
}

#define VOL FBP_TEST_DIR "/io_mat_volume.mat"

/* 3 x 5 x 3 voxels: an odd number, so that the file ends with a filling. */
static void write_volume(const char *path, enum fbp_type type)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {3, 5, 3},
                                        .spacing_mm = {0.5, 1, 2},
                                        .origin_mm = {-1, 2, -3},
                                        .unit = "1/mm^3"};
    const struct fbp_sink_params params = {
        .struct_size = sizeof params,
        .type = type,
        .range = {0, type == FBP_U8 || type == FBP_U16 ? 44 : 0}};
    float values[45];

    for (int i = 0; i < 45; i++)
        values[i] = (float)i;
    save_array(path, &info, &params, values);
}

TEST(written_volumes_come_back)
{
    static const enum fbp_type types[] = {FBP_F32, FBP_U16, FBP_U8, FBP_F64};
    static const char *const names[] = {"", ":vol", ":a_b2", ":d"};
    float out[45];

    remove(VOL);
    for (int t = 0; t < 4; t++) {
        AUTO_FREE char *path = printed(VOL "%s", names[t]);
        write_volume(path, types[t]);
        struct fbp_mat *file;
        struct fbp_mat_array *size;
        OK(fbp_mat_open(VOL, &file));
        const struct fbp_mat_array *v = fbp_mat_find(file, t ? names[t] + 1 : "mat_recFXD");
        assert_non_null(v); /* MATLAB's (x, y, z) */
        assert_true(v->rank == 3 && v->sizes[0] == 3 && v->sizes[1] == 5 && v->sizes[2] == 3);
        OK(fbp_mat_read(file, "rec_info.rec.Size", &size)); /* cm */
        assert_true(size->count == 3 && ((double *)size->real)[1] == 0.5);
        fbp_mat_free(size);
        fbp_mat_close(file);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(t ? path : VOL, NULL);
        const struct fbp_array_info *i = fbp_source_info(src);
        assert_true(i->n[0] == 3 && i->n[1] == 5 && i->n[2] == 3 && i->type == types[t]);
        assert_true(i->has_spacing && i->spacing_mm[1] == 1 && i->origin_mm[2] == -3);
        assert_string_equal(i->unit, "1/mm^3");
        assert_int_equal(i->row_order, FBP_ROWS_BOTTOM_UP);
        OK(fbp_source_read(src, 0, 3, 0, 5, FBP_F32, out));
        for (int k = 0; k < 45; k++)
            assert_true(fabs((double)out[k] - k) < (t == 2 ? 0.1 : 1e-3));
    }
}

/* Frames, one behind the other, are MATLAB's fourth index. */
TEST(frames_are_a_fourth_index)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {2, 2, 6},
                                        .time_points = 3,
                                        .spacing_mm = {1, 1, 1},
                                        .unit = "1/mm^3"};
    float values[24], out[24];

    for (int i = 0; i < 24; i++)
        values[i] = (float)i;
    remove(VOL);
    save_array(VOL, &info, NULL, values);
    struct fbp_mat *file;
    OK(fbp_mat_open(VOL, &file));
    const struct fbp_mat_array *v = fbp_mat_find(file, "mat_recFXD");
    assert_true(v->rank == 4 && v->sizes[2] == 2 && v->sizes[3] == 3);
    fbp_mat_close(file);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(VOL, NULL);
    assert_true(fbp_source_info(src)->n[2] == 6 && fbp_source_info(src)->time_points == 3);
    OK(fbp_source_read(src, 0, 6, 0, 2, FBP_F32, out));
    assert_memory_equal(out, values, sizeof out);
}

TEST(no_variable_is_lost)
{
    static const struct {
        const char *path, *says;
    } rows[] = {{VOL, "which another program has written"},
                {VOL ":voxel_mm", "\"voxel_mm\" is not a valid name for the volume"},
                {VOL ":2x", "letters, digits and '_'"},
                {VOL ":a-b", "letters, digits and '_'"}};
    struct fbp_array_info info = {.struct_size = sizeof info, .n = {2, 2, 2}};
    fbp_sink *sink;

    put_struct(VOL, 400, MAT_VIEWS, true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_fails(fbp_sink_open(&sink, rows[i].path, &info, NULL), FBP_ERR_INVALID,
                     rows[i].says);
        assert_says("io_mat_volume.mat");
    }
    remove(VOL);
    info.n[0] = info.n[1] = info.n[2] = 1000;
    assert_fails(fbp_sink_open(&sink, VOL, &info, NULL), FBP_ERR_INVALID,
                 "less than 2 GiB; write .h5");
}

TEST_MAIN(NULL, NULL)
