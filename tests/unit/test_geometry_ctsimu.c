/* Checks that CTSimU scenarios and metadata give the right views (frames of stage, source and
 * detector, deviations), and that wrong ones are refused with a reason. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"

/* The stage turns counter-clockwise, so that the source runs clockwise about the object. */
TEST(frames_of_a_scan)
{
    write_changed("s.json", ctsimu_scenario, NULL, NULL);
    struct fbp_scan s = load_file("s.json");
    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.n_views, 3);
    assert_int_equal(s.panel.n_columns, 6);
    assert_int_equal(s.panel.n_rows, 4);
    assert_null(s.projections);
    assert_int_equal(s.row_order, FBP_ROWS_TOP_DOWN); /* v = w x u points down */
    near3("s", s.views[0].s, -300, 0, 0);
    near3("d", s.views[0].d, 100, 3, 0);
    near3("u", s.views[0].u, 0, -0.8, 0);
    near3("v", s.views[0].v, 0, 0, 0.7);
    near3("s", s.views[1].s, 0, 300, 0);
    near3("d", s.views[1].d, 3, -100, 0);
    near3("s", s.views[2].s, 300, 0, 0);
    fbp_scan_clear(&s);
    write_changed("s.json", ctsimu_scenario, "\"CCW\"", "\"CW\"");
    s = load_file("s.json");
    near3("s", s.views[1].s, 0, -300, 0);
    fbp_scan_clear(&s);
    write_changed("s.json", ctsimu_scenario, "\"include_final_angle\": true",
                  "\"include_final_angle\": false");
    s = load_file("s.json");
    near3("s", s.views[1].s, -150, 150 * sqrt(3), 0);
    fbp_scan_clear(&s);
    write_changed("s.json", ctsimu_scenario, "\"cone\"", "\"parallel\"");
    s = load_file("s.json");
    assert_int_equal(s.kind, FBP_PARALLEL);
    near3("s", s.views[1].s, 0, 1, 0);
    fbp_scan_clear(&s);
}

/* In the order of the list, along and about the axes a part has by then. */
TEST(deviations)
{
    static const char moved[] =
        "\"deviations\": ["
        "{\"type\": \"rotation\", \"axis\": \"w\", \"amount\": {\"value\": 90, \"unit\": \"deg\"}},"
        "{\"type\": \"translation\", \"axis\": \"u\", \"amount\": {\"value\": 2, \"unit\": "
        "\"cm\"}},"
        "{\"type\": \"rotation\", \"axis\": \"z\", \"amount\": {\"value\": 1, \"unit\": \"rad\"},"
        " \"known_to_reconstruction\": false}]";
    static const char about[] =
        "\"deviations\": [{\"type\": \"rotation\", \"axis\": {\"x\": {\"value\": 0}, \"y\": "
        "{\"value\": 0}, \"z\": {\"value\": 3}}, \"pivot\": " XYZ(
            300, 3, 0) ","
                       " \"amount\": {\"value\": 90, \"unit\": \"deg\"}}]";

    write_changed("s.json", ctsimu_scenario, "\"deviations\": []", moved);
    struct fbp_scan s = load_file("s.json");
    near3("u", s.views[0].u, 0, 0, -0.8); /* -y about x */
    near3("d", s.views[0].d, 100, 3, -20);
    near3("v", s.views[0].v, 0, 0.7, 0);
    fbp_scan_clear(&s);
    write_changed("s.json", ctsimu_scenario, "\"deviations\": []", about);
    s = load_file("s.json");
    near3("d", s.views[0].d, 0, 103, 0);
    near3("u", s.views[0].u, 0.8, 0, 0);
    fbp_scan_clear(&s);
    /* the stage takes the volume with it */
    write_changed("s.json", ctsimu_scenario, "\"deviations\": null",
                  "\"deviations\": [{\"type\": \"translation\", \"axis\": \"z\", \"amount\": 5}]");
    s = load_file("s.json");
    near3("s", s.views[1].s, 0, 300, -5);
    fbp_scan_clear(&s);
}

static void ends_with(const char *text, const char *end)
{
    assert_non_null(text);
    if (strlen(text) < strlen(end) || strcmp(text + strlen(text) - strlen(end), end) != 0)
        fail_msg("\"%s\" does not end in \"%s\"", text, end);
}

/* The scenario is not where the metadata say, but beside them; of three flats two are there. */
TEST(metadata_name_the_files)
{
    write_changed("m.json", ctsimu_scenario, NULL, NULL);
    write_changed("m_metadata.json", ctsimu_metadata, NULL, NULL);
    write_changed("flat_0000.raw", "x", NULL, NULL);
    write_changed("flat_0001.raw", "x", NULL, NULL);
    for (int i = 0; i < 2; i++) {
        AUTO_CLEAR struct fbp_scan s = load_file(i ? "m.json" : "m_metadata.json");
        ends_with(s.projections, "/p.raw");
        ends_with(s.dark, "/dark.raw");
        ends_with(s.flat, "/flat_%04d.raw 0 1");
        assert_contains(s.note, "2 of the 3 files flat_%04d.raw exist");
        assert_int_equal(s.raw.type, FBP_U16);
        assert_true(s.raw.big_endian && s.raw.header_bytes == 8);
        assert_true(s.raw.n[0] == 6 && s.raw.n[1] == 4 && s.raw.n[2] == 3);
        assert_true(s.volume.n[0] == 5 && s.volume.n[1] == 6 && s.volume.n[2] == 7);
        near3("voxel", s.volume.voxel_mm, 1, 2, 3);
        assert_false(s.i0 > 0);
    }
    /* corrected already: the level of air is what is left to know */
    write_changed("m_metadata.json", ctsimu_metadata,
                  "\"flat_%04d.raw\", \"projections_corrected\": false",
                  "\"flat_%04d.raw\", \"projections_corrected\": true");
    refuses_for("m.json", "m_metadata.json",
                "flat correction was applied without the dark correction");
    write_changed("m_metadata.json", ctsimu_metadata,
                  "\"number\": 3, \"filename\": \"flat_%04d.raw\"",
                  "\"number\": 0, \"filename\": null");
    struct fbp_scan s = load_file("m.json");
    assert_null(s.flat);
    assert_true(s.i0 > 59999 && s.i0 < 60001);
    fbp_scan_clear(&s);
    write_changed("m_metadata.json", ctsimu_metadata, "\"p.raw\"", "\"p_%03d.tif\"");
    refuses_for("m.json", "m_metadata.json", "another format than the projections");
    unlink(in_folder("m_metadata.json"));
}

TEST(spoilt_metadata)
{
    static const struct spoilt list[] = {
        {"\"number\": 3, \"max", "\"number\": 4, \"max", "4 projections, but the scenario has 3"},
        {"\"number\": 3, \"max", "\"number\": 1e300, \"max", "expected a whole number"},
        {"\"p.raw\"", "null", "filename: missing"},
        {"\"p.raw\"", "\"p_%s.raw\"", "is not a pattern of file names"},
        {"\"uint16\"", "\"int12\"", "datatype"},
        {"\"big\"", "\"middle\"", "byteorder"},
        {"\"image\": 0", "\"image\": 8", "headers before each image"},
        {"\"file\": 8", "\"file\": -8", "headersize"},
        {"\"x\": {\"value\": 6,", "\"x\": {\"value\": 7,",
         "7 x 4 pixels, but the scenario has 6 x 4"},
        {"\"x\": {\"value\": 5}", "\"x\": {\"value\": 0}", "expected whole numbers"},
        {"CTSimU Metadata", "CTSimU Metadaten", "file.file_type"},
        {"../elsewhere/m.json", "none.json", "copy the scenario into"},
    };

    write_changed("m.json", ctsimu_scenario, NULL, NULL);
    for (size_t i = 0; i < N_OF(list); i++) {
        write_changed("m_metadata.json", ctsimu_metadata, list[i].from, list[i].to);
        refuses_for(i + 1 == N_OF(list) ? "m_metadata.json" : "m.json", "m_metadata.json",
                    list[i].message);
    }
    unlink(in_folder("m_metadata.json"));
}

TEST(spoilt_scenarios)
{
    static const struct spoilt list[] = {
        {"\"stage\"", "\"stag\"", "geometry.stage is missing"},
        {"\"center\": " XYZ(300, 0, 0), "\"center\": 3", "geometry.stage.center"},
        {"\"center\": " XYZ(300, 0, 0), "\"center\": {\"x\": {\"value\": \"3\"}}",
         "geometry.stage.center.x"},
        {"\"vector_u\": " DIRECTION(1, 0, 0), "\"vector_u\": " DIRECTION(1, 0, 1), "right angles"},
        {"\"vector_u\": " DIRECTION(1, 0, 0), "\"vector_u\": " DIRECTION(0, 0, 0), "direction"},
        {"\"value\": 700, \"unit\": \"um\"", "\"value\": 700, \"unit\": \"in\"", "unit of length"},
        {"\"value\": 700, \"unit\": \"um\"", "\"value\": 0", "pixel_pitch.v"},
        {"\"value\": 400, \"unit\": \"mm\"", "\"value\": \"400\"", "expected a number"},
        {"\"value\": 400, \"unit\": \"mm\"",
         "\"value\": 400, \"unit\": \"mm\", \"drifts\": [{\"value\": [0, 1]}]", "drifts"},
        {"\"number_of_projections\": 3", "\"number_of_projections\": 0", "number_of_projections"},
        {"\"number_of_projections\": 3", "\"number_of_projections\": 2.5", "number_of_projections"},
        {"\"stop_angle\": {\"value\": 180", "\"stop_angle\": {\"value\": -180", "stop_angle"},
        {"\"stop_angle\"", "\"stop\"", "stop_angle: is missing"},
        {"\"CCW\"", "\"left\"", "direction"},
        {"\"cone\"", "\"fan\"", "geometry.source.type"},
        {"\"pixel_binning\": {\"u\": 1", "\"pixel_binning\": {\"u\": 2", "binned"},
        {"\"deviations\": []", "\"deviations\": [{\"type\": \"shear\"}]", "type"},
        {"\"deviations\": []", "\"deviations\": [{\"type\": \"rotation\", \"axis\": \"q\"}]",
         "axis"},
        {"\"deviations\": []", "\"deviations\": [{\"type\": \"rotation\", \"axis\": \"u\"}]",
         "amount"},
        {"\"deviations\": []", "\"deviation\": {\"position\": {\"u\": 1}}", "before 0.9"},
        {"\"rows\": {\"value\": 4", "\"rows\": {\"value\": 1e12", "rows"},
    };
    static const char ignored[] =
        "\"value\": 400, \"unit\": \"mm\", \"drifts\": [{\"known_to_reconstruction\": false}]";

    refuses_all("w.json", ctsimu_scenario, list, N_OF(list));
    write_changed("w.json", ctsimu_scenario, "\"value\": 400, \"unit\": \"mm\"", ignored);
    AUTO_CLEAR struct fbp_scan s = load_file("w.json");
}

TEST_MAIN(make_files, drop_files)
