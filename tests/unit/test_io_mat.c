/* MAT files: classes, structs, order of axes, compression, what is refused, damage. */
#include "unit/mat_files.h"

#include "fbp/scan.h"

#include <math.h>

#define MAT FBP_TEST_DIR "/io_mat.mat"
#define BAD FBP_TEST_DIR "/io_mat_bad.mat"

static void check_array(const char *name, enum fbp_type type)
{
    char path[600];
    float out[N];

    snprintf(path, sizeof path, MAT ":%s", name);
    fbp_source *src = open_source(path, NULL);
    const struct fbp_array_info *i = fbp_source_info(src);
    assert_int_equal(i->type, type);
    assert_int_equal(i->row_order, FBP_ROWS_TOP_DOWN);
    assert_true(i->n[0] == COLUMNS && i->n[1] == ROWS && i->n[2] == VIEWS);
    assert_int_equal(fbp_source_read(src, 0, VIEWS, 0, ROWS, out), FBP_OK);
    for (int k = 0; k < N; k++)
        assert_true((double)out[k] ==
                    30 * (k / (ROWS * COLUMNS)) + 10 * (k / COLUMNS % ROWS) + k % COLUMNS);
    assert_int_equal(fbp_source_read(src, 2, 1, 1, 1, out), FBP_OK);
    assert_true((double)out[2] == 72);
    fbp_source_close(&src);
}

static void every_class(void **state)
{
    mat_t *file = Mat_CreateVer(MAT, NULL, MAT_FT_MAT5);

    (void)state;
    VALUES(double);
    VALUES(float);
    VALUES(int8_t);
    VALUES(uint8_t);
    VALUES(int16_t);
    VALUES(uint16_t);
    VALUES(int32_t);
    VALUES(uint32_t);
    for (int z = 0; z < 2; z++) {
        const enum matio_compression how = z ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
        put(file, array(z ? "zf8" : "f8", MAT_C_DOUBLE, MAT_T_DOUBLE, values_double), how);
        put(file, array(z ? "zf4" : "f4", MAT_C_SINGLE, MAT_T_SINGLE, values_float), how);
        put(file, array(z ? "zi1" : "i1", MAT_C_INT8, MAT_T_INT8, values_int8_t), how);
        put(file, array(z ? "zu1" : "u1", MAT_C_UINT8, MAT_T_UINT8, values_uint8_t), how);
        put(file, array(z ? "zi2" : "i2", MAT_C_INT16, MAT_T_INT16, values_int16_t), how);
        put(file, array(z ? "zu2" : "u2", MAT_C_UINT16, MAT_T_UINT16, values_uint16_t), how);
        put(file, array(z ? "zi4" : "i4", MAT_C_INT32, MAT_T_INT32, values_int32_t), how);
        put(file, array(z ? "zu4" : "u4", MAT_C_UINT32, MAT_T_UINT32, values_uint32_t), how);
    }
    Mat_Close(file);
    static const struct {
        const char *name;
        enum fbp_type type;
    } sets[] = {{"f8", FBP_F64},  {"f4", FBP_F32},  {"i1", FBP_I8},   {"u1", FBP_U8},
                {"i2", FBP_I16},  {"u2", FBP_U16},  {"i4", FBP_I32},  {"u4", FBP_U32},
                {"zf8", FBP_F64}, {"zf4", FBP_F32}, {"zi1", FBP_I8},  {"zu1", FBP_U8},
                {"zi2", FBP_I16}, {"zu2", FBP_U16}, {"zi4", FBP_I32}, {"zu4", FBP_U32}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        check_array(sets[i].name, sets[i].type);
}

static void fields_by_dots(void **state)
{
    float out[12];

    (void)state;
    put_struct(MAT, 400, VIEWS, MAT_COMPRESSION_ZLIB);
    check_array("ct.parameters.deep", FBP_F64);
    for (int s = 0; s < 2; s++) {
        fbp_source *src = open_source(s ? MAT ":ct.sinogram?sinogram" : MAT ":ct.sinogram", NULL);
        const struct fbp_array_info *i = fbp_source_info(src);
        assert_true(i->n[0] == COLUMNS && i->n[1] == (s ? 1 : VIEWS) && i->n[2] == (s ? VIEWS : 1));
        assert_int_equal(fbp_source_read(src, 0, i->n[2], 0, i->n[1], out), FBP_OK);
        for (int k = 0; k < 12; k++)
            assert_true((double)out[k] == 10 * (k / COLUMNS) + k % COLUMNS);
        fbp_source_close(&src);
    }
}

static void whole_scan(void **state)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    (void)state;
    put_struct(MAT, 400, VIEWS, MAT_COMPRESSION_ZLIB);
    if (fbp_scan_load(&scan, MAT) != FBP_OK)
        fail_msg("%s", fbp_message());
    assert_int_equal(scan.n_views, VIEWS);
    assert_true(scan.panel.n_columns == COLUMNS && scan.panel.n_rows == 1);
    assert_string_equal(scan.projections, MAT ":ct.sinogram?sinogram");
    const struct fbp_view *v = &scan.views[0]; /* their 0 is a quarter turn ahead of the source */
    assert_true(v->s[1] < -399.999 && v->s[0] < 1e-9 && v->s[0] > -1e-9);
    assert_true(v->u[0] > 0.2499 && v->u[0] < 0.2501);
    fbp_scan_clear(&scan);
    put_struct(MAT, 400, VIEWS + 1, MAT_COMPRESSION_ZLIB);
    assert_int_equal(fbp_scan_load(&scan, MAT), FBP_ERR_INVALID);
    assert_says("5 angles, but a sinogram of 4 views");
    put_struct(MAT, -1, VIEWS, MAT_COMPRESSION_ZLIB);
    assert_int_equal(fbp_scan_load(&scan, MAT), FBP_ERR_INVALID);
    assert_says("distanceSourceOrigin: expected one positive number");
}

static void wrong_arrays(void **state)
{
    static const struct {
        const char *name, *says;
        fbp_status status;
    } table[] = {
        {":ct.sinogramm", "did you mean \"ct.sinogram\"?: it has ct.sinogram (4 x 3), ",
         FBP_ERR_INVALID},
        {":none", "has no array \"none\"", FBP_ERR_INVALID},
        {":ct", "is no array of numbers", FBP_ERR_UNSUPPORTED},
        {":ct.parameters", "is no array of numbers", FBP_ERR_UNSUPPORTED},
        {":ct.sinogram.more", "has no array", FBP_ERR_INVALID},
        {":ct.parameters.deep?sinogram", "a sinogram has two", FBP_ERR_INVALID},
        {":ct.sinogram?x", "expected sinogram", FBP_ERR_INVALID},
        {"", "holds several arrays", FBP_ERR_INVALID},
    };
    fbp_source *src;

    (void)state;
    put_struct(MAT, 400, VIEWS, MAT_COMPRESSION_ZLIB);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char path[600];
        snprintf(path, sizeof path, MAT "%s", table[i].name);
        assert_int_equal(fbp_source_open(&src, path, NULL), table[i].status);
        assert_null(src);
        assert_says("io_mat.mat");
        assert_says(table[i].says);
    }
}

/* Version 4 as it is written on either kind of machine, and arrays of numbers that are not read. */
static void what_is_not_read(void **state)
{
    static const char little[] = "\0\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0A";
    static const char big[] = "\0\0\3\350\0\0\0\2\0\0\0\2\0\0\0\0\0\0\0\2A";
    static const double values[4] = {1, 2, 3, 4};
    const struct {
        enum matio_classes class;
        enum matio_types type;
        int flags;
        const char *says;
    } table[] = {{MAT_C_INT64, MAT_T_INT64, 0, "A is of 64-bit integers: "},
                 {MAT_C_UINT64, MAT_T_UINT64, 0, "A is of 64-bit integers: "},
                 {MAT_C_DOUBLE, MAT_T_DOUBLE, MAT_F_COMPLEX, "A is complex: "}};
    int64_t numbers[4] = {1, 2, 3, 4};
    mat_complex_split_t parts = {(void *)(uintptr_t)values, (void *)(uintptr_t)values};
    size_t dims[2] = {2, 2};
    fbp_source *src;

    (void)state;
    for (int k = 0; k < 2; k++) {
        char file[200] = "";
        memcpy(file, k ? big : little, sizeof little);
        memcpy(file + 22, values, sizeof values);
        put_file(MAT, file, k ? sizeof file : 22 + sizeof values);
        assert_int_equal(fbp_source_open(&src, MAT, NULL), FBP_ERR_UNSUPPORTED);
        assert_says("io_mat.mat: is a MAT file of version 4");
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        mat_t *file = Mat_CreateVer(MAT, NULL, MAT_FT_MAT5);
        assert_non_null(file);
        put(file,
            Mat_VarCreate("A", table[i].class, table[i].type, 2, dims,
                          table[i].flags ? (void *)&parts : numbers, table[i].flags),
            MAT_COMPRESSION_NONE);
        Mat_Close(file);
        const fbp_status st = fbp_source_open(&src, MAT, NULL);
        assert_says(table[i].says);
        assert_int_equal(st, FBP_ERR_UNSUPPORTED);
        assert_says("save it as single");
    }
}

/* One member more in the parameters: text, or a number. */
static void put_more(const char *name, const char *text, double number)
{
    put_struct(MAT, 400, VIEWS, MAT_COMPRESSION_NONE);
    mat_t *file = Mat_Open(MAT, MAT_ACC_RDONLY);
    matvar_t *ct = Mat_VarRead(file, "ct");
    size_t dims[2] = {1, text ? strlen(text) : 1};
    matvar_t *v =
        text ? Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UTF8, 2, dims, (void *)(uintptr_t)text, 0)
             : numbers(name, 1, &number);
    matvar_t *p = Mat_VarGetStructFieldByName(ct, "parameters", 0);

    Mat_Close(file);
    assert_int_equal(Mat_VarAddStructField(p, name), 0);
    Mat_VarSetStructFieldByName(p, name, 0, v);
    file = Mat_CreateVer(MAT, NULL, MAT_FT_MAT5);
    put(file, ct, MAT_COMPRESSION_NONE);
    Mat_Close(file);
}

/* Facts of a scan of Helsinki that would change the result are not passed over. */
static void facts_are_not_passed_over(void **state)
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
        {"numDetectorsPost", NULL, COLUMNS, NULL},
        {"numDetectorsPost", NULL, COLUMNS + 4, "numDetectorsPost is 7, the sinogram has 3"},
        {"scanner", "a machine", 0, NULL},
    };
    struct fbp_scan scan = {.struct_size = sizeof scan};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_more(rows[i].name, rows[i].text, rows[i].number);
        const fbp_status st = fbp_scan_load(&scan, MAT);
        if ((st == FBP_OK) != !rows[i].says)
            fail_msg("%s: %s", rows[i].name, fbp_message());
        if (rows[i].says)
            assert_says(rows[i].says);
        fbp_scan_clear(&scan);
    }
}

static void damage(void **state)
{
    size_t n;

    (void)state;
    put_struct(MAT, 400, VIEWS, MAT_COMPRESSION_ZLIB);
    char *bytes = get_file(MAT, &n);
    for (size_t cut = 0; cut < n; cut += n / 40 + 1) {
        fbp_source *src;
        struct fbp_scan scan = {.struct_size = sizeof scan};
        put_file(BAD, bytes, cut);
        assert_int_not_equal(fbp_source_open(&src, BAD ":ct.sinogram", NULL), FBP_OK);
        assert_says("io_mat_bad.mat");
        assert_int_not_equal(fbp_scan_load(&scan, BAD), FBP_OK);
        assert_says("io_mat_bad.mat");
    }
    for (size_t i = 0; i < 200; i++) {
        const size_t at = i * 13 % n;
        fbp_source *src;
        bytes[at] = (char)(bytes[at] ^ (1 << i % 8));
        put_file(BAD, bytes, n);
        bytes[at] = (char)(bytes[at] ^ (1 << i % 8));
        if (fbp_source_open(&src, BAD ":ct.sinogram", NULL) != FBP_OK)
            assert_says("io_mat_bad.mat");
        fbp_source_close(&src);
    }
    free(bytes);
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
    fbp_sink *sink;
    float values[45];

    for (int i = 0; i < 45; i++)
        values[i] = (float)i;
    if (fbp_sink_open(&sink, path, &info, &params) != FBP_OK)
        fail_msg("%s", fbp_message());
    assert_int_equal(fbp_sink_write(sink, 0, 3, values), FBP_OK);
    assert_int_equal(fbp_sink_finish(sink), FBP_OK);
    fbp_sink_close(&sink);
}

static void written_volumes_come_back(void **state)
{
    static const enum fbp_type types[] = {FBP_F32, FBP_U16, FBP_U8, FBP_F64};
    static const char *const names[] = {"", ":vol", ":a_b2", ":d"};
    float out[45];

    (void)state;
    remove(VOL);
    for (int t = 0; t < 4; t++) {
        char path[600];
        snprintf(path, sizeof path, VOL "%s", names[t]);
        write_volume(path, types[t]);
        mat_t *file = Mat_Open(VOL, MAT_ACC_RDONLY);
        matvar_t *v = Mat_VarRead(file, t ? names[t] + 1 : "mat_recFXD");
        assert_non_null(v); /* MATLAB's (x, y, z) */
        assert_true(v->rank == 3 && v->dims[0] == 3 && v->dims[1] == 5 && v->dims[2] == 3);
        Mat_VarFree(v);
        v = Mat_VarRead(file, "rec_info"); /* cm */
        const matvar_t *size =
            Mat_VarGetStructFieldByName(Mat_VarGetStructFieldByName(v, "rec", 0), "Size", 0);
        assert_true(size->nbytes == 24 && ((double *)size->data)[1] == 0.5);
        Mat_VarFree(v);
        Mat_Close(file);
        fbp_source *src = open_source(t ? path : VOL, NULL);
        const struct fbp_array_info *i = fbp_source_info(src);
        assert_true(i->n[0] == 3 && i->n[1] == 5 && i->n[2] == 3 && i->type == types[t]);
        assert_true(i->has_spacing && i->spacing_mm[1] == 1 && i->origin_mm[2] == -3);
        assert_string_equal(i->unit, "1/mm^3");
        assert_int_equal(i->row_order, FBP_ROWS_BOTTOM_UP);
        assert_int_equal(fbp_source_read(src, 0, 3, 0, 5, out), FBP_OK);
        for (int k = 0; k < 45; k++)
            assert_true(fabs((double)out[k] - k) < (t == 2 ? 0.1 : 1e-3));
        fbp_source_close(&src);
    }
}

/* Frames, one behind the other, are MATLAB's fourth index. */
static void frames_are_a_fourth_index(void **state)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {2, 2, 6},
                                        .frames = 3,
                                        .spacing_mm = {1, 1, 1},
                                        .unit = "1/mm^3"};
    float values[24], out[24];
    fbp_sink *sink;

    (void)state;
    for (int i = 0; i < 24; i++)
        values[i] = (float)i;
    remove(VOL);
    assert_int_equal(fbp_sink_open(&sink, VOL, &info, NULL), FBP_OK);
    assert_int_equal(fbp_sink_write(sink, 0, 6, values), FBP_OK);
    assert_int_equal(fbp_sink_finish(sink), FBP_OK);
    fbp_sink_close(&sink);
    mat_t *file = Mat_Open(VOL, MAT_ACC_RDONLY);
    matvar_t *v = Mat_VarRead(file, "mat_recFXD");
    assert_true(v->rank == 4 && v->dims[2] == 2 && v->dims[3] == 3);
    Mat_VarFree(v);
    Mat_Close(file);
    fbp_source *src = open_source(VOL, NULL);
    assert_true(fbp_source_info(src)->n[2] == 6 && fbp_source_info(src)->frames == 3);
    assert_int_equal(fbp_source_read(src, 0, 6, 0, 2, out), FBP_OK);
    assert_memory_equal(out, values, sizeof out);
    fbp_source_close(&src);
}

static void no_variable_is_lost(void **state)
{
    static const struct {
        const char *path, *says;
    } rows[] = {{VOL, "which another program has written"},
                {VOL ":voxel_mm", "\"voxel_mm\" cannot be the name of the volume"},
                {VOL ":2x", "use letters, digits and '_'"},
                {VOL ":a-b", "use letters, digits and '_'"}};
    struct fbp_array_info info = {.struct_size = sizeof info, .n = {2, 2, 2}};
    fbp_sink *sink;

    (void)state;
    put_struct(VOL, 400, VIEWS, MAT_COMPRESSION_ZLIB);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(fbp_sink_open(&sink, rows[i].path, &info, NULL), FBP_ERR_INVALID);
        assert_says(rows[i].says);
        assert_says("io_mat_volume.mat");
    }
    remove(VOL);
    info.n[0] = info.n[1] = info.n[2] = 1000;
    assert_int_equal(fbp_sink_open(&sink, VOL, &info, NULL), FBP_ERR_INVALID);
    assert_says("less than 2 GiB: write .h5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class),
        cmocka_unit_test(fields_by_dots),
        cmocka_unit_test(whole_scan),
        cmocka_unit_test(wrong_arrays),
        cmocka_unit_test(what_is_not_read),
        cmocka_unit_test(facts_are_not_passed_over),
        cmocka_unit_test(damage),
        cmocka_unit_test(written_volumes_come_back),
        cmocka_unit_test(frames_are_a_fourth_index),
        cmocka_unit_test(no_variable_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
