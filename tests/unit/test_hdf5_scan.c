/* Checks that whole scans in HDF5 (Data Exchange, NXtomo) are opened with the right angles, units
 * and images, and that incomplete ones are refused with a reason. */
#include "unit/hdf5_files.h"

#include "base/math.h"
#include "scan/file/scan.h"

#define H5 FBP_TEST_DIR "/hdf5_scan.h5"

static struct fbp_scan load(void)
{
    struct fbp_scan scan = open_scan(H5);
    assert_int_equal(scan.kind, FBP_PARALLEL);
    assert_true(scan.panel.n_columns == NX && scan.panel.n_rows == NY);
    return scan;
}

static double angle_of(const struct fbp_view *v)
{
    return atan2(v->s[1], v->s[0]) * 180 / 3.14159265358979323846;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

TEST(data_exchange)
{
    for (int radians = 0; radians < 2; radians++) {
        const hid_t file = new_file(H5);
        put_exchange(file, radians ? "radians" : NULL, radians ? 3.14159265358979 / 180 : 1, NZ);
        H5Fclose(file);
        AUTO_CLEAR struct fbp_scan scan = load();
        assert_int_equal(scan.n_views, NZ);
        assert_string_equal(scan.projections, H5 ":/exchange/data");
        assert_string_equal(scan.flat, H5 ":/exchange/data_white");
        assert_null(scan.dark);
        assert_true(fabs(angle_of(&scan.views[4]) - 120) < 1e-4);
        assert_true(near(scan.views[0].u[1], 1));
        char line[600];
        assert_int_equal(fbp_scan_assumed(&scan, line, sizeof line), 2);
        assert_contains(line, "detector.pitch_mm, assumed to be 1 (lengths are in pixels");
        assert_contains(line, "--pitch gives");
        assert_contains(line, "detector.offset_mm, assumed to be 0");
        assert_contains(line, "central column, 3;");
    }
}

TEST(nxtomo)
{
    static const struct {
        const char *unit;
        double mm;
    } units[] = {{"um", 1e-3},
                 {"µm", 1e-3},
                 {"mm", 1},
                 {"m", 1e3},
                 {"furlong", 0},
                 {NULL, 0},
                 {"millimeters", 1},
                 {"Millimetres", 1},
                 {"centimeter", 10},
                 {"centimetres", 10},
                 {"micrometers", 1e-3},
                 {"microns", 1e-3},
                 {"nanometer", 1e-6},
                 {"ms", 0}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const hid_t file = new_file(H5);
        put_tomo(file, units[i].unit);
        H5Fclose(file);
        AUTO_CLEAR struct fbp_scan scan = load();
        assert_int_equal(scan.n_views, 3);
        assert_string_equal(scan.projections, H5 ":/entry/instrument/detector/data?image_key=0");
        assert_string_equal(scan.flat, H5 ":/entry/instrument/detector/data?image_key=1");
        assert_string_equal(scan.dark, H5 ":/entry/instrument/detector/data?image_key=2");
        assert_true(near(angle_of(&scan.views[0]), 30) && near(angle_of(&scan.views[2]), 120));
        const double u = hypot(scan.views[0].u[0], scan.views[0].u[1]), v = scan.views[0].v[2];
        const bool known = units[i].mm > 0;
        assert_true(near(u, known ? 6.5 * units[i].mm : 1));
        assert_true(near(v, known ? 13 * units[i].mm : 1));
        assert_int_equal(scan.n_assumed, known ? 1 : 2);
        assert_string_equal(scan.assumed[scan.n_assumed - 1].key, "detector.offset_mm");
    }
}

/* What other programs go by, and is not applied here, is named. */
TEST(ignored_facts_are_named)
{
    static const struct {
        const char *name;
        double first, last;
        const char *note; /* NULL: none */
    } rows[] = {
        {"/entry/sample/y_translation", 3, 3, NULL},
        {"/entry/sample/y_translation", 3, 5.5, "y_translation, which changes by 2.5, is not"},
        {"/entry/instrument/detector/x_rotation_axis_pixel_position", 0, 0, NULL},
        {"/entry/instrument/detector/x_rotation_axis_pixel_position", 4, 4,
         "x_rotation_axis_pixel_position, which is 4, is not applied (use --centre"},
        {"/entry/instrument/detector/x_flipped", 1, 1, "x_flipped, which is 1, is not applied"},
        {"/entry/sample/mass", 1, 2, NULL},
        {"/entry/instrument/detector/half_acquisition", 0, 0, NULL},
        {"/entry/instrument/detector/half_acquisition", 1, 1,
         "half_acquisition, which is 1, is not applied (the axis is near an edge"},
        {"/entry/control/data", 3, 3, NULL},
        {"/entry/control/data", 2.5, 3, "control/data, which changes by 0.5, is not applied"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double v[NZ] = {rows[i].first, 3, 3, 3, 3, rows[i].last};
        const double same[NZ] = {rows[i].first, rows[i].first, rows[i].first,
                                 rows[i].first, rows[i].first, rows[i].first};
        const bool moves = rows[i].first < rows[i].last;
        const hid_t file = new_file(H5);
        put_tomo(file, "mm");
        put_list(file, rows[i].name, H5T_IEEE_F64LE, NZ, moves ? v : same);
        H5Fclose(file);
        AUTO_CLEAR struct fbp_scan scan = load();
        assert_int_equal(scan.note != NULL, rows[i].note != NULL);
        if (rows[i].note && !strstr(scan.note, rows[i].note))
            fail_msg("\"%s\" has not \"%s\"", scan.note, rows[i].note);
    }
    const hid_t file = new_file(H5);
    put_tomo(file, "furlong");
    H5Fclose(file);
    AUTO_CLEAR struct fbp_scan scan = load();
    assert_contains(scan.note, "x_pixel_size = 6.5 \"furlong\" is not applied");
}

/* Units of angles, and those that are none. */
TEST(units_of_angles)
{
    static const struct {
        const char *unit;
        double degree; /* 0: refused */
    } rows[] = {{"deg", 1},
                {"Degrees", 1},
                {"rad", FBP_PI / 180},
                {"mdeg", 1000},
                {"mrad", FBP_PI / 0.18},
                {"arcsec", 3600},
                {"arcminutes", 60},
                {"grad", 1 / 0.9},
                {"turn", 1 / 360.},
                {"", 1},
                {"revolutions", 1 / 360.},
                {"counts", 0},
                {"radish", 0},
                {"mm", 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int tomo = 0; tomo < 2; tomo++) {
            double angles[NZ];
            for (int k = 0; k < NZ; k++)
                angles[k] = 20 * k * (rows[i].degree > 0 ? rows[i].degree : 1);
            const char *set = tomo ? "/entry/sample/rotation_angle" : "/exchange/theta";
            const hid_t file = new_file(H5);
            put_volume(file, tomo ? "/entry/instrument/detector/data" : "/exchange/data",
                       H5T_STD_U16LE, H5P_DEFAULT);
            put_list(file, set, H5T_IEEE_F64LE, NZ, angles);
            put_text(file, set, "units", rows[i].unit);
            H5Fclose(file);
            AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan};
            const fbp_status st = fbp_scan_load(&scan, H5, NULL);
            if (st != (rows[i].degree > 0 ? FBP_OK : FBP_ERR_UNSUPPORTED))
                fail_msg("\"%s\": %s", rows[i].unit, fbp_message());
            if (st == FBP_OK)
                assert_true(near(angle_of(&scan.views[4]), 80));
            else
                assert_says(rows[i].unit);
        }
}

/* Rotations of the panel, which take the place of x_flipped, and a field of view of one half. */
TEST(turned_panels_are_named)
{
    static const struct {
        const char *name, *type;
        double vector[3], angle;
        const char *unit, *note;
    } rows[] = {
        {"rx",
         "rotation",
         {1, 0, 0},
         180,
         "deg",
         "rx, which is 180 deg, is not applied (use --flip-v"},
        {"ry",
         "rotation",
         {0, 1, 0},
         180,
         "deg",
         "ry, which is 180 deg, is not applied (use --flip-u"},
        {"ry",
         "rotation",
         {0, 1, 0},
         -3.14159265358979,
         "rad",
         "use --flip-u to reverse the columns"},
        {"rz",
         "rotation",
         {0, 0, 1},
         180,
         "deg",
         "use --flip-u and --flip-v to reverse columns and rows"},
        {"rz", "rotation", {0, 0, 1}, 90, "deg", "rotate the images back first"},
        {"yaw",
         "rotation",
         {0, 1, 0},
         180,
         "deg",
         "yaw, which is 180 deg, is not applied (use --flip-u"},
        {"ry", "rotation", {0, 1, 0}, 360, "deg", NULL},
        {"ry", "rotation", {0, 1, 0}, 0, "deg", NULL},
        {"tx", "translation", {1, 0, 0}, 180, "m", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO_FREE char *set =
            printed("/entry/instrument/detector/transformations/%s", rows[i].name);
        hid_t file = new_file(H5);
        put_tomo(file, "mm");
        put_list(file, set, H5T_IEEE_F64LE, 1, &rows[i].angle);
        put_text(file, set, "transformation_type", rows[i].type);
        put_text(file, set, "units", rows[i].unit);
        const hid_t data = H5Dopen2(file, set, H5P_DEFAULT);
        const hid_t space = H5Screate_simple(1, (const hsize_t[]){3}, NULL);
        const hid_t a = H5Acreate2(data, "vector", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Awrite(a, H5T_NATIVE_DOUBLE, rows[i].vector) >= 0);
        H5Aclose(a);
        H5Sclose(space);
        H5Dclose(data);
        H5Fclose(file);
        AUTO_CLEAR struct fbp_scan scan = load();
        assert_int_equal(scan.note != NULL, rows[i].note != NULL);
        if (rows[i].note && !strstr(scan.note, rows[i].note))
            fail_msg("\"%s\" has not \"%s\"", scan.note, rows[i].note);
    }
    const hid_t file = new_file(H5), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    put_tomo(file, "mm");
    H5Tset_size(type, 5);
    const hid_t data = H5Dcreate2(file, "/entry/instrument/detector/field_of_view", type, space,
                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "Half") >= 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    AUTO_CLEAR struct fbp_scan scan = load();
    assert_contains(scan.note, "field_of_view, which is Half, is not applied (the axis is");
}

/* Frames that alignment is seen from are images of the sample, but not of the scan. */
TEST(alignment_frames_are_no_projections)
{
    const double control[NZ] = {1, 0, -1, 2, 0, 3};
    fbp_source *src;
    float out[N];

    hid_t file = new_file(H5);
    put_tomo(file, "mm");
    put_list(file, "/entry/instrument/detector/image_key_control", H5T_STD_I64LE, NZ, control);
    H5Fclose(file);
    struct fbp_scan scan = load();
    assert_int_equal(scan.n_views, 2);
    assert_true(near(angle_of(&scan.views[0]), 30) && near(angle_of(&scan.views[1]), 120));
    src = open_source(scan.projections, NULL);
    assert_int_equal(fbp_source_info(src)->n[2], 2);
    OK(fbp_source_read(src, 1, 1, 0, NY, FBP_F32, out));
    assert_true((double)out[0] == value((size_t)4 * NY * NX));
    fbp_source_close(&src);
    fbp_scan_clear(&scan);

    file = new_file(H5);
    put_tomo(file, "mm");
    put_list(file, "/entry/instrument/detector/image_key_control", H5T_STD_I64LE, NZ - 1, control);
    H5Fclose(file);
    assert_fails(fbp_scan_load(&scan, H5, NULL), FBP_ERR_INVALID,
                 "image_key_control has 5 entries");
}

/* The images of an NXtomo file are often in the file of the detector. */
TEST(linked_images)
{
    static const char far[] = FBP_TEST_DIR "/hdf5_scan_far.h5";
    const double keys[NZ] = {1, 0, 0, 2, 0, 0};

    hid_t file = new_file(far);
    put_volume(file, "/raw/images", H5T_STD_U16LE, H5P_DEFAULT);
    H5Fclose(file);
    file = new_file(H5);
    put_list(file, "/entry/instrument/detector/image_key", H5T_STD_I64LE, NZ, keys);
    put_list(file, "/entry/sample/rotation_angle", H5T_IEEE_F64LE, NZ, degrees);
    H5Lcreate_external("hdf5_scan_far.h5", "/raw/images", file, "/entry/instrument/detector/data",
                       H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/entry/instrument/detector", file, "/entry/data", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    struct fbp_scan scan = load();
    assert_int_equal(scan.n_views, 4);
    assert_contains(scan.projections, "/data?image_key=0");
    fbp_scan_clear(&scan);
    remove(far);
    assert_fails(fbp_scan_load(&scan, H5, NULL), FBP_ERR_INVALID,
                 "a link to hdf5_scan_far.h5:/raw/images");

    file = new_file(H5);
    put_volume(file, "/measured", H5T_STD_U16LE, H5P_DEFAULT);
    put_list(file, "/exchange/theta", H5T_IEEE_F64LE, NZ, degrees);
    H5Lcreate_soft("/measured", file, "/exchange/data", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    scan = load();
    assert_string_equal(scan.projections, H5 ":/exchange/data");
    fbp_scan_clear(&scan);
}

static void expect(const char *says)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    assert_int_not_equal(fbp_scan_load(&scan, H5, NULL), FBP_OK);
    assert_null(scan.projections);
    assert_says("hdf5_scan.h5");
    assert_says(says);
}

TEST(what_lacks)
{
    hid_t file = new_file(H5);
    const hsize_t n[3] = {1, 2, 2};
    double bad[NZ] = {0, 1, NAN, 3, 4, 5};

    put_volume(file, "/a", H5T_STD_U16LE, H5P_DEFAULT);
    H5Fclose(file);
    expect("neither Data Exchange");

    const hid_t how = H5Pcreate(H5P_FILE_CREATE); /* as MATLAB saves with -v7.3 */
    H5Pset_userblock(how, 512);
    file = H5Fcreate(H5, H5F_ACC_TRUNC, how, H5P_DEFAULT);
    put_volume(file, "/geo", H5T_STD_U16LE, H5P_DEFAULT);
    H5Fclose(file);
    H5Pclose(how);
    FILE *f = not_null(fopen(H5, "r+b"));
    fputs("MATLAB 7.3 MAT-file, Platform: GLNXA64", f);
    assert_int_equal(fclose(f), 0);
    expect("geometries of TIGRE must be saved as MAT files by -v7");

    file = new_file(H5);
    put_exchange(file, NULL, 1, 0);
    H5Fclose(file);
    expect("the angles, /exchange/theta, are missing");

    file = new_file(H5);
    put_exchange(file, NULL, 1, NZ - 1);
    H5Fclose(file);
    expect("6 projections, but 5 angles");

    file = new_file(H5);
    put_exchange(file, NULL, 1, NZ);
    H5Fclose(file);
    struct fbp_scan scan = {.struct_size = sizeof scan};
    assert_fails(fbp_scan_load(&scan, H5,
                               &(struct fbp_scan_known){
                                   .struct_size = sizeof(struct fbp_scan_known), .growing = true}),
                 FBP_ERR_UNSUPPORTED, "--follow supports only scan files of fbp");

    file = new_file(H5);
    put_exchange(file, NULL, 1, NZ);
    put_text(file, "/exchange/data", "axes", "y:theta:x");
    H5Fclose(file);
    expect("only theta:y:x");

    file = new_file(H5);
    put_exchange(file, NULL, 1, NZ);
    put_set(file, "/exchange/data_dark", H5T_STD_U16LE, 3, n, H5P_DEFAULT, bad);
    H5Fclose(file);
    expect("has 2 x 2 pixels");

    file = new_file(H5);
    put_volume(file, "/exchange/data", H5T_STD_U16LE, H5P_DEFAULT);
    put_list(file, "/exchange/theta", H5T_IEEE_F64LE, NZ, bad);
    H5Fclose(file);
    expect("angle 2 is not a number");
}

/* In a scan file of one's own the data sets are named, and saving it names them again. */
TEST(scan_file_names_data_sets)
{
    static const char json[] =
        "{\"fbp_scan\": 1, \"kind\": \"parallel\", \"projections\": "
        "\"hdf5_scan.h5:/exchange/data\","
        "\"flat\": \"hdf5_scan.h5:/exchange/data_white\", \"detector\": {\"pitch_mm\": 0.5},"
        "\"angles_deg\": {\"start\": 0, \"step\": 30}}";
    const char *path = FBP_TEST_DIR "/hdf5_scan.json", *copy = FBP_TEST_DIR "/hdf5_scan2.json";
    const hid_t file = new_file(H5);
    AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan},
                               again = {.struct_size = sizeof again};
    size_t n;

    put_exchange(file, NULL, 1, 0);
    H5Fclose(file);
    put_file(path, json, sizeof json - 1);
    OK(fbp_scan_load(&scan, path, NULL));
    assert_string_equal(scan.projections, H5 ":/exchange/data");
    OK(fbp_scan_save(&scan, copy, NULL));
    AUTO_FREE char *text = get_file(copy, &n);
    assert_contains(text, "\"hdf5_scan.h5:/exchange/data\"");
    OK(fbp_scan_load(&again, copy, NULL));
    assert_string_equal(again.flat, H5 ":/exchange/data_white");
    remove(path);
    remove(copy);
}

TEST_MAIN(NULL, NULL)
