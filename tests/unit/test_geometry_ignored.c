/* Checks that keys of other programs' geometry files that would change the result are applied,
 * refused, or named in a note. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"

static const struct fbp_geometry_known panel = {
    .struct_size = sizeof panel, .panel = {40, 32}, .pitch_mm = {1, 1}};

/* What is replaced by what, and what the note says then; NULL: nothing. */
struct change {
    const char *from, *to, *note;
};

static void check_notes(const char *name, const char *text, const struct fbp_geometry_known *known,
                        const struct change *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        write_changed(name, text, list[i].from, list[i].to);
        AUTO_CLEAR struct fbp_scan s = load_known(name, known);
        if (list[i].note && (!s.note || !strstr(s.note, list[i].note) || !strstr(s.note, name)))
            fail_msg("\"%s\" has not \"%s\"", s.note ? s.note : "no note", list[i].note);
        if (!list[i].note && s.note)
            fail_msg("%s: \"%s\"", list[i].to ? list[i].to : "plain", s.note);
    }
}

TEST(bruker)
{
    static const char before[] = "Rotation Direction=CC\r\n", end[] = "Program=NRecon\r\n";
    static const struct change list[] = {
        {NULL, NULL, NULL},
        {before, "Image Rotation=0.0000\r\nFlat Field Correction=ON\r\n", NULL},
        {before, "Image Rotation=0.5730\r\n", "Image Rotation = 0.5730 is not applied; use --tilt"},
        {before, "Flat Field Correction=OFF\r\n", "Flat Field Correction = OFF"},
        {before, "Geometrical Correction=OFF\r\n", "the lens may distort"},
        {before, "Number Of connected Scans=3\r\n", "connected Scans = 3"},
        {"Random Movement=OFF (30)", "Random Movement=ON (30)", "its table of shifts"},
        {end, "Program=NRecon\r\nPostalignment=0.00\r\n", NULL},
        {end, "Program=NRecon\r\nPost alignment=-1.50\r\n",
         "Post alignment = -1.50 is not applied"},
        {end, "Program=x\r\nPostalignment=2\r\n", "--centre or --offset"},
        {end, "Program=x\r\nMisalignment compensation=4.5\r\n", "Misalignment compensation = 4.5"},
        {end, "Program=x\r\nXY Alignment with a reference scan=1\r\n", "XY Alignment"},
        {end, "Program=x\r\nRing Artifact Correction=9\r\nSmoothing=3\r\n", NULL},
        {"Pixel Size (um)=7.5", "Pixel Size (um)=11", "distances give 13.1119"},
    };
    /* the pixel at the object as it follows from the camera's */
    const char *at = strstr(bruker_log, "Image Pixel Size (um)=7.5");

    AUTO_FREE char *text = printed("%.*sImage Pixel Size (um)=13.1119%s", (int)(at - bruker_log),
                                   bruker_log, at + strlen("Image Pixel Size (um)=7.5"));
    check_notes("a.log", text, NULL, list, N_OF(list) - 1);
    check_notes("a.log", bruker_log, NULL, &list[N_OF(list) - 1], 1);
}

TEST(pca)
{
    static const struct change list[] = {
        {NULL, NULL, NULL},
        {"[Image]", "[ImgProc]\r\nSwBin=1\r\n[Image]", NULL},
        {"CalibValue=0.000", "CalibValue=-9.402", "CalibValue = -9.402 is not applied; find the"},
        {"DetectorRot=0.0", "DetectorRot=0.5", "DetectorRot = 0.50000000 is not applied; use --ti"},
        {"VoxelSizeX=0.025", "VoxelSizeX=0.05",
         "VoxelSizeX is 0.05, but PixelsizeX, FOD and FDD "
         "give 0.025; check --pitch"},
    };

    check_notes("a.pca", phoenix_pca, NULL, list, N_OF(list));
}

TEST(nikon)
{
    static const char at[] = "WhiteLevel=60000\r\n";
    static const struct change list[] = {
        {NULL, NULL, NULL},
        {at, "CoefX4=0\r\nCoefX3=0\r\nCoefX2=0\r\nCoefX1=1\r\nMaskRadius=12\r\n", NULL},
        {at, "CoefX4=0\r\nCoefX2=0.3\r\n", "CoefX2 = 0.3 is not applied; beam hardening"},
    };

    check_notes("a.xtekct", nikon_xtekct, NULL, list, N_OF(list));
    write_changed("a.ang", "Step\tAngle\r\n1:\t0.0\r\n", NULL, NULL);
    const struct change beside = {
        NULL, NULL,
        "angles = a.ang is not applied; the angles are assumed to have steps of Angular"};
    check_notes("a.xtekct", nikon_xtekct, NULL, &beside, 1);
    unlink(in_folder("a.ang"));
    static const char *const names[] = {"_ctdata.txt", "a_ctdata.txt", "other.ANG"};
    for (size_t i = 0; i < N_OF(names); i++) {
        write_changed(names[i], "x\n", NULL, NULL);
        AUTO_CLEAR struct fbp_scan s = load_file("a.xtekct");
        if (!s.note || !strstr(s.note, names[i]))
            fail_msg("\"%s\" has not \"%s\"", s.note ? s.note : "no note", names[i]);
        unlink(in_folder(names[i]));
    }
}

TEST(rtk)
{
    static const char text[] =
        "<?xml version=\"1.0\"?><RTKThreeDCircularGeometry version=\"3\">"
        "<SourceToIsocenterDistance>600</SourceToIsocenterDistance>"
        "<SourceToDetectorDistance>1100</SourceToDetectorDistance><Maker>x</Maker>"
        "<Projection><GantryAngle>0</GantryAngle></Projection></RTKThreeDCircularGeometry>";
    static const struct change list[] = {
        {NULL, NULL, NULL},
        {"<Maker>x</Maker>", "<CollimationUInf>1.79e+308</CollimationUInf>", NULL},
        {"<Maker>x</Maker>", "<CollimationVSup>30.5</CollimationVSup>",
         "CollimationVSup = 30.5 is not applied; pixels behind a collimator"},
    };

    check_notes("a.xml", text, &panel, list, N_OF(list));
}

TEST(leap)
{
    static const char text[] = "geometry = parallel\nnumAngles = 4\nnumRows = 3\nnumCols = 5\n"
                               "pixelHeight = 1\npixelWidth = 1\ncenterRow = 1\ncenterCol = 2\n"
                               "phis = 0, 45, 90, 135\nsod = 0\nrampID = 2\n";
    static const struct change list[] = {
        {NULL, NULL, NULL},
        {"rampID = 2", "tiltAngle = 0", NULL},
        {"rampID = 2", "tiltAngle = 1.5",
         "tiltAngle = 1.5 is not applied; it applies to other beams"},
        {"rampID = 2", "tau = 3", "tau = 3"},
        {"rampID = 2", "helicalPitch = 3", "helicalPitch = 3"},
    };

    check_notes("a.cfg", text, NULL, list, N_OF(list));
}

TEST(plastimatch)
{
    static const struct change list[] = {
        {NULL, NULL, NULL},
        {"7.00000000e+02", "7.10000000e+02",
         "SAD = 710 is not applied, because the matrix places the source"},
    };

    const struct fbp_geometry_known pixels = {.struct_size = sizeof pixels, .panel = {24, 32}};

    check_notes("a.txt", plastimatch_txt, &pixels, list, N_OF(list));
}

TEST(tigre)
{
    static const struct spoilt list[] = {
        {"\"DSD\"", "\"vectors\": [[1, 2]], \"DSD\"", "vectors: found a list of 1, expected null"},
    };

    refuses_all("a.json", tigre_json, list, N_OF(list));
}

/* A byte order mark in front changes nothing; UTF-16 is named. */
TEST(byte_order_marks)
{
    static const char leap[] = "geometry = parallel\nnumAngles = 4\nnumRows = 3\nnumCols = 5\n"
                               "pixelHeight = 1\npixelWidth = 1\ncenterRow = 1\ncenterCol = 2\n"
                               "phis = 0, 45, 90, 135\nsod = 0\n";
    static const char rtk[] = "<?xml version=\"1.0\"?><RTKThreeDCircularGeometry version=\"3\">"
                              "<SourceToIsocenterDistance>600</SourceToIsocenterDistance>"
                              "<SourceToDetectorDistance>1100</SourceToDetectorDistance>"
                              "<Projection><GantryAngle>0</GantryAngle></Projection>"
                              "</RTKThreeDCircularGeometry>";
    static const char views[] = "{\"fbp_scan\": 1, \"detector\": {\"columns\": 5, \"rows\": 4}, "
                                "\"views\": [[9, 0, 0, -9, 0, 0, 0, 1, 0, 0, 0, 1]]}";
    static const struct {
        const char *name, *text;
    } files[] = {{"b.xtekct", nikon_xtekct},
                 {"b.log", bruker_log},
                 {"b.pca", phoenix_pca},
                 {"tigre.json", tigre_json},
                 {"openct.json", openct_json},
                 {"m.json", ctsimu_scenario},
                 {"m_metadata.json", ctsimu_metadata},
                 {"p.txt", plastimatch_txt},
                 {"leap.txt", leap},
                 {"rtk.xml", rtk},
                 {"views.json", views}};
    const struct fbp_geometry_known pixels = {.struct_size = sizeof pixels, .panel = {24, 32}};
    char text[8000];

    for (size_t i = 0; i < N_OF(files); i++) {
        const struct fbp_geometry_known *known = files[i].text == rtk               ? &panel
                                                 : files[i].text == plastimatch_txt ? &pixels
                                                                                    : NULL;
        write_changed(files[i].name, files[i].text, NULL, NULL);
        AUTO_CLEAR struct fbp_scan a = load_known(files[i].name, known);
        snprintf(text, sizeof text, "\xEF\xBB\xBF%s", files[i].text);
        write_changed(files[i].name, text, NULL, NULL);
        AUTO_CLEAR struct fbp_scan b = load_known(files[i].name, known);
        assert_int_equal(a.n_views, b.n_views);
        same_views(a.views, b.views, a.n_views, 1e-10);
    }
    write_changed("b.xtekct", "\xFF\xFE[XTekCT]", NULL, NULL);
    refuses("b.xtekct", "is encoded in UTF-16; save it as UTF-8");
}

/* A scan file that names such a file as its geometry has the note, too. */
TEST(through_a_scan_file)
{
    char raw[4 * 100 * 120 * 2] = {0};
    FILE *f = fopen(in_folder("views.raw"), "wb");

    assert_int_equal(fwrite(raw, 1, sizeof raw, f), sizeof raw);
    fclose(f);
    write_changed("a.log", bruker_log, "Rotation Direction=CC\r\n", "Image Rotation=0.5\r\n");
    write_changed(
        "outer.json",
        "{\"fbp_scan\": 1, \"projections\": \"views.raw\", \"raw\": {\"type\": \"uint16\", "
        "\"shape\": [4, 100, 120]}, \"i0\": 60000, \"geometry\": \"a.log\"}",
        NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = open_scan(in_folder("outer.json"));
    assert_non_null(s.note);
    assert_contains(s.note, "Image Rotation = 0.5 is not applied");
}

TEST_MAIN(make_files, drop_files)
