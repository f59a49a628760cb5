/* Checks that Nikon's .xtekct files give the views that CIL computes from them, and that wrong
 * ones are refused with a reason. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"

/* Angle 0 is that of CIL at 180 degrees: the source at (0, SOD), turned by atan2(-offset, SDD). */
TEST(a_plain_scan)
{
    const double tilt = atan2(-1.5, 800), c = cos(tilt), s = sin(tilt);

    write_changed("a.xtekct", nikon_xtekct, NULL, NULL);
    AUTO_CLEAR struct fbp_scan scan = load_file("a.xtekct");
    assert_int_equal(scan.n_views, 4);
    assert_int_equal(scan.panel.n_columns, 200);
    assert_int_equal(scan.panel.n_rows, 160);
    assert_int_equal(scan.row_order, FBP_ROWS_TOP_DOWN);
    assert_true(fabs(scan.i0 - 60000) < 1e-9);
    near3("s", scan.views[0].s, -100 * s, 100 * c, 0);
    near3("u", scan.views[0].u, 0.2 * c, 0.2 * s, 0); /* from the right to the left */
    near3("v", scan.views[0].v, 0, 0, 0.25);
    near3("d", scan.views[0].d, 1.5 * c + 700 * s, 1.5 * s - 700 * c, -2.25);
    near3("s", scan.views[1].s, -100 * c, -100 * s, 0); /* counter-clockwise */
    const char *name = strrchr(scan.projections, '/');
    assert_string_equal(name, "/walnut 1_%04d.tif 1 4");
}

/* Older files have the axis on the panel, newer ones in the object's plane. */
TEST(where_the_axis_is)
{
    struct fbp_scan a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};

    write_changed("a.xtekct", nikon_xtekct, "CentreOfRotationTop=0\r\nCentreOfRotationBottom=0",
                  "CentreOfRotationTop=0.9\r\nCentreOfRotationBottom=0.5");
    a = load_file("a.xtekct");
    write_changed("b.xtekct", nikon_xtekct, "CentreOfRotationTop=0\r\nCentreOfRotationBottom=0",
                  "ObjectOffsetX=0.0875\r\nObjectRoll=-0.572938697683483\r\nObjectTilt=0");
    b = load_file("b.xtekct");
    same_views(a.views, b.views, 4, 1e-10);
    /* the source is that far beside the axis, whose foot CIL puts at -x */
    assert_true(fabs(hypot(hypot(a.views[0].s[0], a.views[0].s[1]), a.views[0].s[2]) -
                     hypot(100, 0.0875)) < 1e-10);
    fbp_scan_clear(&a);
    fbp_scan_clear(&b);
}

TEST(where_the_pictures_are)
{
    struct fbp_scan s = {.struct_size = sizeof s};

    write_changed("a.xtekct", nikon_xtekct,
                  "InputFolderName=", "InputFolderName=raw\r\nInputDigits=3\r\nInputSeparator=-");
    s = load_file("a.xtekct");
    assert_contains(s.projections, "/raw/walnut 1-%03d.tif 1 4");
    fbp_scan_clear(&s);
    write_changed("a.xtekct", nikon_xtekct, "InputFolderName=", "InputFolderName=D:\\scans");
    s = load_file("a.xtekct");
    assert_null(strstr(s.projections, "scans"));
    fbp_scan_clear(&s);
}

TEST(wrong_input_is_named)
{
    static const struct spoilt list[] = {
        {"DetectorPixelsX=200", "DetectorPixelsX=0", "DetectorPixelsX"},
        {"DetectorPixelsX=200", "DetectorPixelsX=two", "expected a number"},
        {"DetectorPixelsX=200", "DetectorPixelsX=1e30", "DetectorPixelsX"},
        {"DetectorPixelsY=160\r\n", "", "has no DetectorPixelsY"},
        {"DetectorPixelSizeX=0.2", "DetectorPixelSizeX=-1", "above 0"},
        {"SrcToObject=100", "SrcToObject=nan", "SrcToObject"},
        {"SrcToObject=100", "SrcToObject=900", "must exceed SrcToObject"},
        {"Projections=4", "Projections=4.5", "Projections"},
        {"AngularStep=90", "AngularStep=0", "AngularStep"},
        {"InputFolderName=", "InputDigits=99", "InputDigits"},
        {"[XTekCT]", "[XTekCT", "xtekct"},
    };

    refuses_all("w.xtekct", nikon_xtekct, list, N_OF(list));
}

TEST_MAIN(make_files, drop_files)
