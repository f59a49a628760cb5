/* Checks the importer of scans of linear accelerators (Varian, Elekta): the views must equal those
 * that fbp_rtk_view() computes from RTK's parameters. */
#include "unit/foreign_files.h"
#include "unit/linac_samples.h"

#include "scan/format/importers.h"

static void same_view(const struct fbp_view *view, const struct fbp_rtk *p, double pitch_u,
                      double pitch_v)
{
    struct fbp_view expected;

    fbp_rtk_view(p, (double[2]){pitch_u, pitch_v}, (double[2]){0, 0}, &expected);
    near3("s", view->s, expected.s[0], expected.s[1], expected.s[2]);
    near3("d", view->d, expected.d[0], expected.d[1], expected.d[2]);
    near3("u", view->u, expected.u[0], expected.u[1], expected.u[2]);
    near3("v", view->v, expected.v[0], expected.v[1], expected.v[2]);
}

/* A new folder for a scan, with a character that is special in patterns. */
static void begin_scan(const char *name)
{
    AUTO_FREE char *command = printed("rm -rf '%s'", in_folder(name));
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(in_folder(name), 0777), 0);
}

static void sub_folder(const char *name)
{
    assert_int_equal(mkdir(in_folder(name), 0777), 0);
}

TEST(a_scan_of_obi)
{
    int32_t p[N];

    samples_of(p, 2);
    begin_scan("obi [1]");
    sub_folder("obi [1]/Scan0");
    write_text("obi [1]/ProjectionInfo.xml", projection_info_xml);
    put_bytes("obi [1]/Scan0/Proj_00002.hnd", make_hnd(p, W, H, 0.388, 12.5));
    put_bytes("obi [1]/Scan0/Proj_00001.hnd", make_hnd(p, W, H, 0.388, -71.25));
    AUTO_CLEAR struct fbp_scan scan = load_file("obi [1]/ProjectionInfo.xml");
    assert_int_equal(scan.n_views, 2);
    assert_int_equal(scan.panel.n_columns, W);
    assert_int_equal(scan.panel.n_rows, H);
    assert_int_equal(scan.row_order, FBP_ROWS_BOTTOM_UP);
    assert_contains(scan.projections, "obi [1]/Scan0/Proj_*.hnd");
    assert_true(fabs(scan.i0 - 139000) < 1e-9);
    assert_int_equal(scan.n_assumed, 1);
    assert_string_equal(scan.assumed[0].key, "i0");
    assert_null(scan.doses);
    struct fbp_rtk r = {.gantry_rad = -71.25 * FBP_PI / 180,
                        .sid_mm = 1000,
                        .sdd_mm = 1500,
                        .projection_mm = {1.5, -0.75}};
    same_view(&scan.views[0], &r, 0.388, 0.388);
    r.gantry_rad = 12.5 * FBP_PI / 180;
    same_view(&scan.views[1], &r, 0.388, 0.388);

    /* with a half fan, the panel's lateral position counts, too; .hnc is read in the same way */
    write_changed("obi [1]/ProjectionInfo.xml", projection_info_xml, "FullFan", "HalfFan");
    assert_int_equal(remove(in_folder("obi [1]/Scan0/Proj_00001.hnd")), 0);
    assert_int_equal(remove(in_folder("obi [1]/Scan0/Proj_00002.hnd")), 0);
    put_bytes("obi [1]/Scan0/Proj_1.hnc", make_hnc(p, W, H, 0.5, 12.5));
    AUTO_CLEAR struct fbp_scan half = load_file("obi [1]/ProjectionInfo.xml");
    r.projection_mm[0] = 21.5;
    assert_int_equal(half.n_views, 1);
    same_view(&half.views[0], &r, 0.5, 0.5);
    assert_true(fabs(half.i0 - 65535) < 1e-9);
}

TEST(a_scan_of_true_beam)
{
    const struct xim a = {0.0388, 30, 0.25, -0.5, 1200}, b = {0.0388, 31, 0.5, 0, 900},
                     air = {0.0388, 0, 0, 0, 600};
    int32_t p[N];

    samples_of(p, 2);
    begin_scan("tb");
    sub_folder("tb/Acquisitions");
    sub_folder("tb/Acquisitions/733061622");
    write_text("tb/Scan.xml", scan_xml);
    put_bytes("tb/Acquisitions/733061622/Proj_00000.xim", make_xim(p, W, H, &a));
    put_bytes("tb/Acquisitions/733061622/Proj_00001.xim", make_xim(p, W, H, &b));
    AUTO_CLEAR struct fbp_scan scan = load_file("tb/Scan.xml");
    assert_int_equal(scan.n_views, 2);
    struct fbp_rtk r = {.gantry_rad = 150 * FBP_PI / 180,
                        .sid_mm = 1000,
                        .sdd_mm = 1500,
                        .projection_mm = {2.5, -5}};
    same_view(&scan.views[0], &r, 0.388, 0.388);
    r = (struct fbp_rtk){149 * FBP_PI / 180, .sid_mm = 1000, .sdd_mm = 1500,
                         .projection_mm = {5, 0}};
    same_view(&scan.views[1], &r, 0.388, 0.388);
    assert_true(fabs(scan.i0 - 139000) < 1e-9);
    assert_null(scan.flat);
    assert_true(fabs(scan.doses[0] - 1) < 1e-12 && fabs(scan.doses[1] - 0.75) < 1e-12);

    sub_folder("tb/Calibrations");
    sub_folder("tb/Calibrations/AIR-Full-Bowtie-100KV");
    sub_folder("tb/Calibrations/AIR-Full-Bowtie-100KV/Current");
    put_bytes("tb/Calibrations/AIR-Full-Bowtie-100KV/Current/Filter.xim", make_xim(p, W, H, &a));
    put_bytes("tb/Calibrations/AIR-Full-Bowtie-100KV/Current/FilterBowtie.xim",
              make_xim(p, W, H, &air));
    AUTO_CLEAR struct fbp_scan with_air = load_file("tb/Scan.xml");
    assert_contains(with_air.flat, "AIR-Full-Bowtie-100KV/Current/FilterBowtie.xim");
    assert_true(fabs(with_air.i0) < 1e-9 && with_air.n_assumed == 0);
    assert_true(fabs(with_air.doses[0] - 2) < 1e-12 && fabs(with_air.doses[1] - 1.5) < 1e-12);
    write_changed("tb/Scan.xml", scan_xml, "Full Fan", "None");
    AUTO_CLEAR struct fbp_scan open_beam = load_file("tb/Scan.xml");
    assert_contains(open_beam.flat, "Current/Filter.xim");
    assert_true(fabs(open_beam.doses[1] - 0.75) < 1e-12);
}

TEST(a_scan_of_xvi)
{
    int32_t p[N];

    samples_of(p, 2);
    begin_scan("xvi");
    write_text("xvi/_Frames.xml", frames_xml);
    put_bytes("xvi/00001.1.3.46.423632.135428.1351013645.166.his", make_his(p, W, H, 1));
    refuses_for("xvi/_Frames.xml", "_Frames.xml", "has 2 frames, but there are 1 projections");
    put_bytes("xvi/00002.1.3.46.423632.135428.1351013645.166.his", make_his(p, W, H, 1));
    AUTO_CLEAR struct fbp_scan scan = load_file("xvi/_Frames.xml");
    assert_int_equal(scan.n_views, 2);
    assert_true(fabs(scan.i0 - 65536) < 1e-9);
    assert_int_equal(scan.n_assumed, 0);
    struct fbp_rtk r = {
        .gantry_rad = -FBP_PI, .sid_mm = 1000, .sdd_mm = 1536, .projection_mm = {-1.5, 2.25}};
    same_view(&scan.views[0], &r, 409.6 / W, 409.6 / H);
    r = (struct fbp_rtk){10.25 * FBP_PI / 180, .sid_mm = 1000, .sdd_mm = 1536,
                         .projection_mm = {-1.75, 2.5}};
    same_view(&scan.views[1], &r, 409.6 / W, 409.6 / H);
}

TEST(wrong_scans_are_refused)
{
    static const struct spoilt obi[] = {
        {"1000.0", "0", "SAD and SID"},
        {"1500.0", "900", "SAD and SID"},
        {"1500.0", "far", "expected a number"},
        {"CalibratedDetectorOffsetY>-", "Other>-", "mismatched tag"},
        {"<CalibratedDetectorOffsetX>1.5</CalibratedDetectorOffsetX>", "", "panel position"},
        {"<Scan>", "<!DOCTYPE a [<!ENTITY b \"c\">]><Scan>", "XML entity"},
        {"</Scan>", "", "not well-formed"}};
    static const struct spoilt frames[] = {
        {"<GantryAngle>10.25</GantryAngle>", "", "panel position"},
        {"<UCentre>1.5<", "<UCentre>nan<", "expected a number"},
        {"<Frame><Seq>2",
         "</Frames><Frames><Frame><GantryAngle>1</GantryAngle></Frame><Frame><Seq>2",
         "has 3 frames, but there are 2 projections"}};
    const struct xim x = {0.0388, NAN, 0.25, -0.5, 0};
    int32_t p[N];

    samples_of(p, 2);
    begin_scan("wrong");
    write_text("wrong/ProjectionInfo.xml", projection_info_xml);
    refuses_for("wrong/ProjectionInfo.xml", "ProjectionInfo.xml",
                "found no projections Proj_*.hnd");
    put_bytes("wrong/Proj_1.hnd", make_hnd(p, W, H, 1, 0));
    refuses_all("wrong/ProjectionInfo.xml", projection_info_xml, obi, N_OF(obi));
    put_bytes("wrong/Proj_1.hnd", make_hnd(p, W, H, -1, 0));
    write_text("wrong/ProjectionInfo.xml", projection_info_xml);
    refuses_for("wrong/ProjectionInfo.xml", "ProjectionInfo.xml", "pixel pitch is missing");
    put_bytes("wrong/Proj_1.hnd", make_hnd(p, W, H, 1, NAN));
    write_text("wrong/ProjectionInfo.xml", projection_info_xml);
    refuses_for("wrong/ProjectionInfo.xml", "Proj_1.hnd", "the angle");

    put_bytes("wrong/1.his", make_his(p, W, H, 1));
    put_bytes("wrong/2.his", make_his(p, W, H, 1));
    refuses_all("wrong/_Frames.xml", frames_xml, frames, N_OF(frames));

    write_text("wrong/Scan.xml", scan_xml);
    sub_folder("wrong/Acquisitions");
    sub_folder("wrong/Acquisitions/1");
    sub_folder("wrong/Acquisitions/2");
    put_bytes("wrong/Acquisitions/1/Proj_1.xim", make_xim(p, W, H, &x));
    refuses_for("wrong/Scan.xml", "Proj_1.xim", "the angle");
    put_bytes("wrong/Acquisitions/2/Proj_1.xim", make_xim(p, W, H, &x));
    refuses_for("wrong/Scan.xml", "Scan.xml", "several folders have files");
}

TEST_MAIN(make_files, drop_files)
