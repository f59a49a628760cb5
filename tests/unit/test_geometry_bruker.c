/* Checks that log files of Bruker (SkyScan) scanners give the right scan, and that unsupported
 * ones are refused with a reason. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"

TEST(a_plain_scan)
{
    write_changed("a.log", bruker_log, NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = load_file("a.log");
    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.n_views, 4);
    assert_int_equal(s.panel.n_columns, 120);
    assert_int_equal(s.panel.n_rows, 100);
    assert_int_equal(s.row_order, FBP_ROWS_TOP_DOWN);
    assert_true(fabs(s.i0 - 65536) < 1e-9);
    near3("s", s.views[0].s, 25, 0, 0);
    near3("u", s.views[0].u, 0, -0.15, 0);
    near3("v", s.views[0].v, 0, 0, 0.15);
    /* line 40 from the bottom edge is 10 lines below the middle, so the panel stands higher */
    near3("d", s.views[0].d, -261, 0, 10 * 0.15);
    near3("s", s.views[1].s, 0, -25, 0); /* the stage turns the other way */
    assert_string_equal(strrchr(s.projections, '/'), "/embryo_~00%08d.tif 0 3");
}

TEST(variants)
{
    struct fbp_scan s = {.struct_size = sizeof s};

    write_changed("a.log", bruker_log, "Direction=CC", "Direction=CW\r\nScanning Start Angle=90");
    s = load_file("a.log");
    near3("s", s.views[0].s, 0, 25, 0);
    near3("s", s.views[1].s, -25, 0, 0);
    fbp_scan_clear(&s);
    write_changed("a.log", bruker_log, "Depth (bits)=16",
                  "Depth (bits)=16\r\nReference Intensity=58000");
    s = load_file("a.log");
    assert_true(fabs(s.i0 - 58000) < 1e-9);
    fbp_scan_clear(&s);
    write_changed("a.log", bruker_log, "Camera binning=2x2",
                  "Camera binning=1x1\r\nResized in image=2");
    s = load_file("a.log");
    near3("u", s.views[0].u, 0, -0.15, 0);
    fbp_scan_clear(&s);
    /* without the camera: the same rays by the pixel at the object */
    write_changed("a.log", bruker_log, "Camera to Source (mm)=286.0\r\n", "");
    s = load_file("a.log");
    near3("d", s.views[0].d, -25, 0, 10 * 0.015);
    near3("u", s.views[0].u, 0, -0.015, 0);
    fbp_scan_clear(&s);
    write_changed("a.log", bruker_log, "Object to Source (mm)=25", "Object to Source (mm)=1000000");
    s = load_file("a.log");
    assert_int_equal(s.kind, FBP_PARALLEL);
    near3("u", s.views[0].u, 0, -0.0075, 0);
    near3("s", s.views[1].s, 0, -1, 0);
    fbp_scan_clear(&s);
}

/* Logs without sizes: those of the images, which have the name of the log. */
TEST(sizes_of_the_images)
{
    const struct fbp_geometry_known known = {.struct_size = sizeof known, .panel = {7, 4}};
    char text[2000], *at;

    snprintf(text, sizeof text, "%s", bruker_log);
    while ((at = strstr(text, "Number Of Columns")) || (at = strstr(text, "Number Of Rows")) ||
           (at = strstr(text, "Filename Prefix")))
        *at = '_';
    write_changed("b_.log", text, NULL, NULL);
    refuses("b_.log", "has no Number Of Columns");
    struct fbp_scan s = load_known("b_.log", &known);
    assert_true(s.panel.n_columns == 7 && s.panel.n_rows == 4 && !s.projections);
    fbp_scan_clear(&s);
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {5, 3, 1}};
    const float zeros[15] = {0};
    save_array(in_folder("b_00000000.tif"), &info, NULL, zeros);
    s = load_file("b_.log");
    assert_true(s.panel.n_columns == 5 && s.panel.n_rows == 3);
    assert_string_equal(strrchr(s.projections, '/'), "/b_%08d.tif 0 3");
    fbp_scan_clear(&s);
    write_changed("b_.log", text, "_umber Of Columns", "Number Of Columns");
    s = load_file("b_.log");
    assert_true(s.panel.n_columns == 120 && s.panel.n_rows == 3);
    fbp_scan_clear(&s);
    unlink(in_folder("b_00000000.tif"));
}

TEST(wrong_input_is_named)
{
    static const struct spoilt list[] = {
        {"Number Of Files=  4", "Number Of Files=0", "Number Of Files"},
        {"Number Of Rows= 100\r\n", "", "has no Number Of Rows"},
        {"Number Of Columns= 120", "Number Of Columns=many", "expected a number"},
        {"Rotation Step (deg)=90", "Rotation Step (deg)=-90", "above 0"},
        {"Direction=CC", "Direction=UP", "expected CC or CW"},
        {"ROUND", "SPIRAL", "only ROUND"},
        {"Partial Width=OFF", "Partial Width=ON", "Partial Width"},
        {"Partial Width=OFF", "Number Of Horizontal Offset Positions=2", "stitch"},
        {"binning=2x2", "binning=two", "Camera binning"},
        {"Ratio=1.0000", "Ratio=0.9", "Camera X/Y Ratio"},
        {"Camera to Source (mm)=286.0", "Camera to Source (mm)=20", "must exceed Object"},
        {"Camera Pixel Size (um)=75.0\r\n", "", "has no Camera Pixel Size"},
        {"Filename Index Length=8", "Filename Index Length=0", "Filename Index Length"},
        {"Camera binning=2x2", "Camera binning=1x1\r\nResized in image=0", "Resized in image"},
    };

    refuses_all("w.log", bruker_log, list, N_OF(list));
    write_changed("w.csv", "shifts", NULL, NULL);
    write_changed("w.log", bruker_log, "Random Movement=OFF", "Random Movement=ON");
    refuses("w.log", "a table of shifts");
}

TEST_MAIN(make_files, drop_files)
