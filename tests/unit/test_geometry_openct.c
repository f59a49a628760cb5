/* Checks that openCT files give the views and files that they describe, and that others are refused
 * with a reason. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"

/* The sample is the scan of ctsimu_scenario in views 0 and 1, turned by 180 degrees about z. */
TEST(views_and_files)
{
    write_changed("o.json", openct_json, NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = load_file("o.json");
    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.n_views, 2);
    assert_true(s.panel.n_columns == 6 && s.panel.n_rows == 4);
    assert_int_equal(s.row_order, FBP_ROWS_TOP_DOWN);
    near3("s", s.views[0].s, 300, 0, 0);
    near3("d", s.views[0].d, -100, -3, 0);
    near3("u", s.views[0].u, 0, 0.8, 0);
    near3("v", s.views[0].v, 0, 0, 0.7);
    near3("s", s.views[1].s, 0, -300, 0);
    near3("d", s.views[1].d, -3, 100, 0);
    near3("u", s.views[1].u, 0.8, 0, 0);
    assert_contains(s.projections, "/a/p_%04d.tif 9 10");
    assert_contains(s.dark, "/b/dark.tif");
    assert_contains(s.flat, "/flat.tif");
    assert_null(s.note);
}

TEST(mirrored_images)
{
    static const struct {
        const char *axes;
        double u, v;
    } list[] = {{"U", -0.8, 0.7}, {"V", 0.8, -0.7}, {"UV", -0.8, -0.7}};

    for (size_t i = 0; i < N_OF(list); i++) {
        AUTO_FREE char *to = printed("\"mirrorDetectorAxis\": \"%s\"", list[i].axes);
        write_changed("o.json", openct_json, "\"mirrorDetectorAxis\": \"\"", to);
        AUTO_CLEAR struct fbp_scan s = load_file("o.json");
        near3("d", s.views[0].d, -100, -3, 0);
        near3("u", s.views[0].u, 0, list[i].u, 0);
        near3("v", s.views[0].v, 0, 0, list[i].v);
    }
}

TEST(notes)
{
    write_changed("o.json", openct_json, "\"flat.tif\"", "");
    AUTO_CLEAR struct fbp_scan s = load_file("o.json");
    assert_null(s.flat);
    assert_contains(s.note, "has no brightImages; give \"i0\"");
    write_changed("o.json", openct_json, "Mask\": null", "Mask\": {\"file\": \"m.tif\"}");
    AUTO_CLEAR struct fbp_scan t = load_file("o.json");
    assert_contains(t.note, "badPixelMask = m.tif is not applied");
}

TEST(others_are_refused)
{
    static const struct spoilt list[] = {
        {"FreeTraj", "CircularTraj", "OpenCTJSON.variant: found \"CircularTrajectoryCBCTScan\""},
        {"Millimeter", "Inch", "units.length: found \"Inch\""},
        {"Downwards", "Upwards", "projections.detectorCoordinateFrame"},
        {"\"Length\"", "\"PixelCount\"", "projections.detectorCoordinateDimension"},
        {"Axis\": \"\"", "Axis\": \"W\"", "geometry.mirrorDetectorAxis: found \"W\""},
        {"Domain\": true", "Domain\": false", "projections.intensityDomain: found false"},
        {"[6, 4]", "[6]", "geometry.detectorPixel: found a list of 1"},
        {"\"detectorSize\": [4.8, 2.8],", "", "expected an object with detectorPixel"},
        {"[4.8, 2.8]", "[0, 2.8]", "geometry.detectorSize[0]: found 0"},
        {"\"matrices\"", "\"other\"", "contains no views"},
        {"[0, 0.0033333333333333335, 0, 1]", "[0, 0, 0]", "projections.matrices[1]"},
        {"[0, 0, -1.33", "[0, \"a\", -1.33", "projections.matrices[0]"},
        {"p_0010", "p_0011", "projections.images: found an object, expected file names with numbers"},
        {"\"p_0010.tif\"", "10", "expected file names with numbers"},
    };

    refuses_all("w.json", openct_json, list, N_OF(list));
}

TEST_MAIN(make_files, drop_files)
