/* Checks that RTK's geometry (nine parameters, matrices, XML files) is read and written, and that
 * wrong files are refused with a reason. */
#include "scan/format/importers.h"

#include "geometry/view.h"
#include "unit/geometry_files.h"

#define HEAD \
    "<?xml version=\"1.0\"?>\n<!DOCTYPE RTKGEOMETRY>\n<RTKThreeDCircularGeometry version=\"3\">\n"
#define TAIL "</RTKThreeDCircularGeometry>\n"
#define DISTANCES                                                  \
    "<SourceToIsocenterDistance>600</SourceToIsocenterDistance>\n" \
    "<SourceToDetectorDistance>1100</SourceToDetectorDistance>\n"

/* As RTK 2.7 wrote it, of two projections added by hand. */
static const char theirs[] =
    HEAD "    <SourceToIsocenterDistance>600</SourceToIsocenterDistance>\n"
         "    <SourceToDetectorDistance>1100</SourceToDetectorDistance>\n"
         "    <SourceOffsetX>1.5</SourceOffsetX>\n"
         "    <ProjectionOffsetY>-7</ProjectionOffsetY>\n"
         "  <Projection>\n"
         "    <GantryAngle>30</GantryAngle>\n"
         "    <ProjectionOffsetX>3.5</ProjectionOffsetX>\n"
         "    <InPlaneAngle>0</InPlaneAngle>\n"
         "    <OutOfPlaneAngle>0</OutOfPlaneAngle>\n"
         "    <Matrix>\n"
         "        -953.627944162883                   0    548.267949192431                2850\n"
         "                      3.5               -1100    6.06217782649107               -4200\n"
         "                      0.5                   0   0.866025403784439                -600\n"
         "    </Matrix>\n"
         "  </Projection>\n"
         "  <Projection>\n"
         "    <GantryAngle>75</GantryAngle>\n"
         "    <ProjectionOffsetX>-2.25</ProjectionOffsetX>\n"
         "    <InPlaneAngle>348</InPlaneAngle>\n"
         "    <OutOfPlaneAngle>4</OutOfPlaneAngle>\n"
         "    <Matrix>\n"
         "        -259.456249952461    227.884164450845    1044.39711051551                -600\n"
         "        -124.945537127132   -1073.82966589015    203.291567474565               -4200\n"
         "         0.96357287952349 -0.0697564737441253   0.258188574916851                -600\n"
         "    </Matrix>\n"
         "  </Projection>\n" TAIL;

static const double theirs_matrix[2][12] = {
    {-953.627944162883, 0, 548.267949192431, 2850, 3.5, -1100, 6.06217782649107, -4200, 0.5, 0,
     0.866025403784439, -600},
    {-259.456249952461, 227.884164450845, 1044.39711051551, -600, -124.945537127132,
     -1073.82966589015, 203.291567474565, -4200, 0.96357287952349, -0.0697564737441253,
     0.258188574916851, -600}};

static const struct fbp_geometry_known known = {
    .struct_size = sizeof known, .panel = {COLUMNS, ROWS}, .pitch_mm = {0.8, 0.7}};

static struct fbp_scan read_text(const char *text)
{
    write_text("g.xml", text);
    return load_as(in_folder("g.xml"), NULL, &known);
}

/* RTK's matrix in this program's axes: (x, y, z) is (x, z, -y) there. */
static void to_our_axes(const double M[12], double P[12])
{
    for (int i = 0; i < 12; i += 4) {
        P[i] = M[i];
        P[i + 1] = -M[i + 2];
        P[i + 2] = M[i + 1];
        P[i + 3] = M[i + 3];
    }
}

static double turn(double a, double b)
{
    return remainder(a - b, 2 * FBP_PI);
}

/* The greatest difference of nine parameters [rad, mm]; infinite if one is not a number. */
static double difference(const struct fbp_rtk *p, const struct fbp_rtk *q)
{
    const double d[9] = {turn(p->gantry_rad, q->gantry_rad),
                         turn(p->out_of_plane_rad, q->out_of_plane_rad),
                         turn(p->in_plane_rad, q->in_plane_rad),
                         q->sid_mm - p->sid_mm,
                         q->sdd_mm - p->sdd_mm,
                         q->source_mm[0] - p->source_mm[0],
                         q->source_mm[1] - p->source_mm[1],
                         q->projection_mm[0] - p->projection_mm[0],
                         q->projection_mm[1] - p->projection_mm[1]};
    double worst = 0;

    for (int i = 0; i < 9; i++)
        worst = isnan(d[i]) ? INFINITY : fmax(worst, fabs(d[i]));
    return worst;
}

TEST(parameters_from_matrix)
{
    const double degree = FBP_PI / 180;
    double worst = 0;

    for (int i = 0; i < 3 * 3 * 8 * 5 * 5 * 5 * 5 * 2; i++) {
        int j = i;
        struct fbp_rtk p = {.sid_mm = 100};
        p.out_of_plane_rad = (j % 3 * 60 - 60) * degree;
        p.in_plane_rad = ((j /= 3) % 3 * 60 - 60) * degree;
        p.gantry_rad = ((j /= 3) % 8 * 45) * degree;
        p.source_mm[0] = (j /= 8) % 5 * 25 - 50;
        p.source_mm[1] = (j /= 5) % 5 * 25 - 50;
        p.projection_mm[0] = (j /= 5) % 5 * 25 - 50;
        p.projection_mm[1] = (j /= 5) % 5 * 25 - 50;
        p.sdd_mm = 200 + (j / 5) * 200;
        /* The grid of rtkgeometryfrommatrixtest.cxx, which asks for 1e-2: nine parameters from the
         * matrix alone. */
        const struct fbp_panel panel = {1, 1};
        struct fbp_view view;
        struct fbp_rtk q;
        double M[12], P[12];
        fbp_rtk_matrix(&p, M);
        to_our_axes(M, P);
        OK(fbp_view_from_matrix(P, 1, &panel, &view));
        fbp_rtk_of(&view, FBP_CONE, &q);
        const double d = difference(&p, &q);
        if (!(d < 1e-10))
            fail_msg("case %d: the parameters come back to %g", i, d);
        worst = fmax(worst, d);
    }
    print_message("nine parameters from 90000 matrices: within %.1e rad or mm\n", worst);
}

/* Angles that are no longer independent: the view is the same all the same. */
TEST(quarter_turn_out_of_plane)
{
    const double centre[2] = {0, 0};
    struct fbp_view view, again;
    struct fbp_rtk q;

    for (int i = -1; i <= 1; i += 2) {
        const struct fbp_rtk p = {1.1, i * FBP_PI / 2, 0.4, 600, 1100, {3, -4}, {5, 6}};
        fbp_rtk_view(&p, PITCH, centre, &view);
        fbp_rtk_of(&view, FBP_CONE, &q);
        fbp_rtk_view(&q, PITCH, centre, &again);
        same_views(&again, &view, 1, 1e-10);
    }
}

/* RTK, source at gantry angle 0 on its z axis, which is -y here; rows along x. */
TEST(axes_are_rtks)
{
    struct fbp_scan s =
        read_text(HEAD DISTANCES "<Projection><GantryAngle>0</GantryAngle></Projection>\n"
                                 "<Projection><GantryAngle>90</GantryAngle></Projection>\n" TAIL);

    check_near3(s.views[0].s, (double[]){0, -600, 0}, 1e-10);
    check_near3(s.views[0].d, (double[]){0, 500, 0}, 1e-10);
    check_near3(s.views[0].u, (double[]){0.8, 0, 0}, 1e-10);
    check_near3(s.views[0].v, (double[]){0, 0, 0.7}, 1e-10);
    check_near3(s.views[1].s, (double[]){600, 0, 0}, 1e-10); /* counter-clockwise from +z */
    fbp_scan_clear(&s);
}

/* Points land where the matrices of RTK's own file put them. */
TEST(their_file)
{
    AUTO_CLEAR struct fbp_scan s = read_text(theirs);
    double P[12], Q[12];

    assert_int_equal(s.n_views, 2);
    for (int k = 0; k < 2; k++) {
        OK(fbp_view_to_matrix(&s.views[k], FBP_CONE, &s.panel, P));
        to_our_axes(theirs_matrix[k], Q);
        for (int i = 0; i < 20; i++) {
            const double x[3] = {uniform(-90, 90), uniform(-90, 90), uniform(-90, 90)};
            const double w = fbp_dot(P + 8, x) + P[11], W = fbp_dot(Q + 8, x) + Q[11];
            const double c = (fbp_dot(P, x) + P[3]) / w, U = (fbp_dot(Q, x) + Q[3]) / W;
            const double r = (fbp_dot(P + 4, x) + P[7]) / w, V = (fbp_dot(Q + 4, x) + Q[7]) / W;
            check_near((c - (COLUMNS - 1) / 2.0) * 0.8, U, 1e-10);
            check_near((r - (ROWS - 1) / 2.0) * 0.7, V, 1e-10);
        }
    }
}

TEST(geometries_come_back)
{
    static const unsigned shapes[] = {
        0, OFFSET, SHORT, TILTED, WOBBLING, BACKWARDS, OFFSET | SHORT | TILTED | WOBBLING};

    for (size_t i = 0; i < N_OF(shapes); i++)
        for (int kind = FBP_CONE; kind <= FBP_PARALLEL; kind++) {
            if (kind == FBP_PARALLEL && shapes[i] & TILTED)
                continue;
            AUTO_CLEAR struct fbp_scan scan = random_scan((enum fbp_kind)kind, 11, shapes[i]);
            comes_back(&scan, in_folder("back.xml"), "rtk", false);
        }
}

TEST(values_stay)
{
    AUTO_CLEAR struct fbp_scan s = read_text(
        HEAD "<sourcetoisocenterdistance>600</sourcetoisocenterdistance>\n"
             "<SourceToDetectorDistance>1100</SourceToDetectorDistance><Anything>x</Anything>\n"
             "<Projection><Angle>0</Angle><SourceOffsetX>2</SourceOffsetX></Projection>\n"
             "<Projection><SOURCEOFFSETY>5</SOURCEOFFSETY>"
             "<CollimationUInf>3</CollimationUInf></Projection>\n"
             "<Projection><SourceOffsetX>0</SourceOffsetX></Projection>\n" TAIL);

    assert_int_equal(s.n_views, 3);
    check_near3(s.views[0].s, (double[]){2, -600, 0}, 1e-10);
    check_near3(s.views[1].s, (double[]){2, -600, 5}, 1e-10);
    check_near3(s.views[2].s, (double[]){0, -600, 5}, 1e-10);
}

TEST(version_2_and_parallel)
{
    AUTO_CLEAR struct fbp_scan s = read_text(
        "<RTKThreeDCircularGeometry version=\"2\">"
        "<SourceToIsocenterDistance>1000</SourceToIsocenterDistance>"
        "<SourceToDetectorDistance>0</SourceToDetectorDistance>"
        "<Projection><ProjectionOffsetX>4</ProjectionOffsetX><GantryAngle>90</GantryAngle>"
        "</Projection></RTKThreeDCircularGeometry>");

    assert_int_equal(s.kind, FBP_PARALLEL);
    check_near3(s.views[0].s, (double[]){1, 0, 0}, 1e-12);
    check_near3(s.views[0].d, (double[]){0, 4, 0}, 1e-12);
}

#define ONE(members) HEAD DISTANCES "<Projection>" members "</Projection>" TAIL
#define M0           "-1100 0 0 0  0 -1100 0 0  0 0 1 -600"
static const struct wrong wrong[] = {
    {HEAD, "line 4: the XML is not well-formed", FBP_ERR_INVALID},
    {HEAD TAIL, "contains no views", FBP_ERR_INVALID},
    {"<RTKThreeDCircularGeometry version=\"1\"></RTKThreeDCircularGeometry>", "version 1",
     FBP_ERR_UNSUPPORTED},
    {"<RTKThreeDCircularGeometry></RTKThreeDCircularGeometry>", "version none",
     FBP_ERR_UNSUPPORTED},
    {"<Other version=\"3\"></Other>", "root element is <Other>", FBP_ERR_INVALID},
    {"", "not well-formed", FBP_ERR_INVALID},
    {"<!DOCTYPE x [<!ENTITY a \"1\">]><x>&a;</x>", "declares an XML entity", FBP_ERR_INVALID},
    {ONE("<GantryAngle>x</GantryAngle>"), "GantryAngle: found \"x\", expected a number",
     FBP_ERR_INVALID},
    {ONE("<GantryAngle>1 2</GantryAngle>"), "GantryAngle: found \"1 2\"", FBP_ERR_INVALID},
    {ONE("<GantryAngle></GantryAngle>"), "GantryAngle: found \"\"", FBP_ERR_INVALID},
    {ONE("<GantryAngle>nan</GantryAngle>"), "found \"nan\"", FBP_ERR_INVALID},
    {ONE("<SourceOffsetX>1e999</SourceOffsetX>"), "found \"1e999\"", FBP_ERR_INVALID},
    {ONE("<Matrix>1 2 3</Matrix>"), "Matrix: found \"1 2 3\", expected 12 numbers",
     FBP_ERR_INVALID},
    {ONE("<Matrix>" M0 " 7</Matrix>"), "expected 12 numbers", FBP_ERR_INVALID},
    {ONE("<RadiusCylindricalDetector>500</RadiusCylindricalDetector>"), "cylinder of radius 500",
     FBP_ERR_UNSUPPORTED},
    {ONE("<SourceToDetectorDistance>-1</SourceToDetectorDistance>"), "Distance is -1 mm",
     FBP_ERR_INVALID},
    {ONE("<SourceToIsocenterDistance>0</SourceToIsocenterDistance>"), "Distance is 0 mm",
     FBP_ERR_INVALID},
    {HEAD DISTANCES "<Projection></Projection><Projection><SourceToDetectorDistance>0"
                    "</SourceToDetectorDistance></Projection>" TAIL,
     "projection 1 (line 6): parallel and divergent", FBP_ERR_UNSUPPORTED},
    {HEAD DISTANCES "<Projection><Matrix>" M0 "</Matrix></Projection>\n"
                    "<Projection><Matrix>-1100 0 0 0 0 -1100 0 0 0 0 1 -600.002</Matrix>\n"
                    "</Projection>" TAIL,
     "projection 1 (line 8): the matrix has -600.002 in row 2, column 3, but the parameters give "
     "-600",
     FBP_ERR_INVALID},
};

TEST(wrong_files)
{
    are_wrong("wrong.xml", "rtk", wrong, N_OF(wrong));
}

/* Within RTK's tolerance a matrix is right, and says nothing more. */
TEST(matrices_of_few_digits)
{
    struct fbp_scan s =
        read_text(ONE("<Matrix>-1100 0 0.0009 0 0 -1100.0009 0 0 0 0 1 -600</Matrix>"));

    check_near3(s.views[0].s, (double[]){0, -600, 0}, 1e-12);
    fbp_scan_clear(&s);
}

TEST(what_rtk_cannot_hold)
{
    const char *path = in_folder("refused.xml");
    struct fbp_scan scan = random_scan(FBP_CONE, 5, SKEWED);

    is_refused(&scan, path, "rtk", "not at right angles");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_CONE, 5, 0);
    for (int i = 0; i < 3; i++)
        scan.views[3].u[i] *= 1.25;
    is_refused(&scan, path, "rtk", "view 3 has another pixel pitch");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_CONE, 5, 0);
    for (int i = 0; i < 3; i++)
        scan.views[2].v[i] *= -1;
    is_refused(&scan, path, "rtk", "rows run downwards");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_PARALLEL, 5, TILTED);
    is_refused(&scan, path, "rtk", "not perpendicular to the rays");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_PARALLEL, 5, 0);
    for (int i = 0; i < 3; i++)
        scan.views[1].s[i] *= 300; /* s may have any length */
    OK(fbp_geometry_save(&scan, path, "rtk"));
    fbp_scan_clear(&scan);
}

static const struct pair members[] = {
    {"fbp_scan", "1"},
    {"projections", "\"headed.mha\""},
    {"geometry", "\"scan.xml\""},
};

/* Pixel (0, 0) is where the header puts it, as in RTK; a pitch that is given centres the panel. */
TEST(headers_say_where_the_panel_is)
{
    double pixel[3];

    /* An array whose header has a spacing, and an origin that is not the centred one. */
    char text[1024] = {0};
    const int n = snprintf(text, sizeof text,
                           "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                           "BinaryDataByteOrderMSB = False\nDimSize = %d %d 2\n"
                           "ElementSpacing = 0.5 0.25 1\nOffset = 10 -3 0\n"
                           "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
                           COLUMNS, ROWS);
    put_file(in_folder("headed.mha"), text, (size_t)n + sizeof(float) * COLUMNS * ROWS * 2);
    write_text("scan.xml",
               HEAD DISTANCES "<Projection></Projection><Projection></Projection>" TAIL);
    write_scan("header.json", members, N_OF(members), NULL, NULL);
    struct fbp_scan s = load("header.json");
    fbp_view_pixel(&s.views[0], &s.panel, 0, 0, pixel);
    check_near3(pixel, (double[]){10, 500, -3}, 1e-10);
    fbp_view_pixel(&s.views[0], &s.panel, 1, 1, pixel);
    check_near3(pixel, (double[]){10.5, 500, -2.75}, 1e-10);
    fbp_scan_clear(&s);

    write_scan("given.json", members, N_OF(members), "detector", "{\"pitch_mm\": [0.5, 0.25]}");
    s = load("given.json");
    check_near3(s.views[0].d, (double[]){0, 500, 0}, 1e-10);
    fbp_scan_clear(&s);
}

TEST(pitch_is_asked_for)
{
    const struct fbp_geometry_known panel = {.struct_size = sizeof panel, .panel = {COLUMNS, ROWS}};
    struct fbp_scan s = {.struct_size = sizeof s};

    write_text("pitch.xml", theirs);
    expect_message(fbp_geometry_load(&s, in_folder("pitch.xml"), NULL, &panel), FBP_ERR_INVALID,
                   "--pitch");
    expect_message(fbp_geometry_load(&s, in_folder("pitch.xml"), NULL, NULL), FBP_ERR_INVALID,
                   "--detector");
}

TEST_MAIN(make_files, drop_files)
