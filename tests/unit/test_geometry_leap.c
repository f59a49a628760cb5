/* Checks that LEAP's parameter files give the views that LEAP computes, are written back, and
 * that wrong ones are refused with a reason. */
#include "unit/geometry_files.h"

#define VOLUME                                                                                   \
    "# CT volume parameters\nnumX = 8\nnumY = 8\nnumZ = 9\nvoxelWidth = 1.000000e+00\n"          \
    "voxelHeight = 1.500000e+00\noffsetX = 1.000000e+00\noffsetY = -2.000000e+00\noffsetZ = 3\n" \
    "\n# CT geometry parameters\n"

/* As LEAP 1.26 wrote it: a tilted helix with an offset centre. */
static const char their_helix[] = VOLUME
    "geometry = cone\nnumAngles = 4\nnumRows = 30\nnumCols = 41\npixelHeight = 7.500000e-01\n"
    "pixelWidth = 5.000000e-01\ncenterRow = 1.225000e+01\ncenterCol = 2.350000e+01\n"
    "phis =  1.000000e+01, 1.753125e+01, 2.506250e+01, 3.109375e+01\n"
    "sod = 5.120000e+02\nsdd = 1.024000e+03\ntau = 1.500000e+00\ntiltAngle = 2.500000e+00\n"
    "helicalPitch = 4.000000e+00\n";

/* The same as LEAP's modular beam: s, d, u, v. */
static const double their_vectors[4][12] = {
    {87.4306793, -504.482025, -0.736310959, -92.1793594, 503.644714, 0.873248994, 0.491935223,
     0.0867414773, 0.0218096934, -0.0322175361, -0.00568082184, 0.749286175},
    {152.797333, -488.670868, -0.210530758, -157.395309, 487.218353, 1.39902925, 0.476322651,
     0.150469616, 0.0218096953, -0.0311950445, -0.00985446759, 0.749286175},
    {215.527847, -464.42868, 0.31524992, -219.895782, 462.386078, 1.92480993, 0.452492058,
     0.211601764, 0.0218096953, -0.0296343453, -0.0138580967, 0.749286175},
    {263.132751, -439.21225, 0.736310482, -267.261871, 436.721985, 2.34587049, 0.427754223,
     0.257974207, 0.0218096953, -0.0280142277, -0.0168950967, 0.749286175},
};

static struct fbp_scan read_text(const char *text)
{
    write_text("p.txt", text);
    return load_as(in_folder("p.txt"), NULL, NULL);
}

/* LEAP counts in single precision. */
TEST(their_cone)
{
    AUTO_CLEAR struct fbp_scan s = read_text(their_helix);

    assert_int_equal(s.n_views, 4);
    assert_int_equal(s.panel.n_columns, 41);
    assert_int_equal(s.panel.n_rows, 30);
    for (int k = 0; k < 4; k++) {
        const struct fbp_view *v = &s.views[k];
        check_near3(v->s, their_vectors[k], 1e-4);
        check_near3(v->d, their_vectors[k] + 3, 1e-4);
        check_near3(v->u, their_vectors[k] + 6, 1e-7);
        check_near3(v->v, their_vectors[k] + 9, 1e-7);
    }
    assert_int_equal(s.volume.n[2], 9);
    check_near3(s.volume.voxel_mm, (double[]){1, 1, 1.5}, 0);
    check_near3(s.volume.centre_mm, (double[]){1, -2, 3}, 0);
}

/* Keys of older files, a range instead of angles, and no volume. */
TEST(legacy_keys)
{
    AUTO_CLEAR struct fbp_scan s =
        read_text("proj_geometry = parallel\nproj_nangles = 4\nproj_nrows = 3\n"
                  "proj_ncols = 5\nproj_pheight = 0.5\nproj_pwidth = 0.25\n"
                  "proj_crow = 1\nproj_ccol = 4\nproj_arange = 180\n");

    assert_int_equal(s.kind, FBP_PARALLEL);
    check_near3(s.views[0].s, (double[]){0, -1, 0}, 1e-12);
    check_near3(s.views[2].s, (double[]){1, 0, 0}, 1e-12);
    check_near3(s.views[2].d, (double[]){0, -0.5, 0}, 1e-12);
    assert_int_equal(s.volume.n[0], 0);
}

/* Of a fan, row and source lie at the height of centerRow; slices are rows. */
TEST(fans)
{
    AUTO_CLEAR struct fbp_scan s = read_text(
        "numX = 4\nnumY = 4\nnumZ = 1\nvoxelWidth = 0.5\nvoxelHeight = 0.5\noffsetX = 0\n"
        "offsetY = 0\noffsetZ = 0\ngeometry = fan\nnumAngles = 2\nnumRows = 1\nnumCols = 5\n"
        "pixelHeight = 0.5\npixelWidth = 0.25\ncenterRow = -2\ncenterCol = 2\nphis = 0, 90\n"
        "sod = 100\nsdd = 150\ntau = 3\n");

    check_near3(s.views[0].s, (double[]){-3, -100, 1}, 1e-12);
    check_near3(s.views[0].d, (double[]){-3, 50, 1}, 1e-12);
    check_near3(s.volume.centre_mm, (double[]){0, 0, 1}, 1e-12);
    save_as(&s, in_folder("fan.cfg"), NULL);
    AUTO_CLEAR struct fbp_scan again = load_as(in_folder("fan.cfg"), NULL, NULL);
    same_views(again.views, s.views, 2, 1e-10);
    check_near3(again.volume.centre_mm, s.volume.centre_mm, 1e-12);
}

/* A cone where LEAP's FBP can use one, vectors where they are needed. */
TEST(geometries_come_back)
{
    static const struct {
        unsigned what;
        const char *says;
    } shapes[] = {
        {0, "geometry = cone"},
        {OFFSET, "geometry = cone"},
        {SHORT, "geometry = cone"},
        {BACKWARDS | OFFSET, "geometry = cone"},
        {TILTED, "geometry = modular"},
        {WOBBLING, "geometry = modular"},
        {OFFSET | SHORT | TILTED | WOBBLING, "geometry = modular"},
    };

    for (size_t i = 0; i < N_OF(shapes); i++) {
        AUTO_CLEAR struct fbp_scan scan = random_scan(FBP_CONE, 11, shapes[i].what);
        comes_back(&scan, in_folder("back.cfg"), "leap", false);
        assert_true(file_says("back.cfg", shapes[i].says));
    }
    AUTO_CLEAR struct fbp_scan scan = random_scan(FBP_PARALLEL, 11, OFFSET | SHORT);
    comes_back(&scan, in_folder("back.cfg"), "leap", false);
    assert_true(file_says("back.cfg", "geometry = parallel"));
}

/* tau, tilt and helix are found again. */
TEST(helices_come_back)
{
    struct fbp_scan s = read_text(their_helix), again = {.struct_size = sizeof again};

    save_as(&s, in_folder("helix.cfg"), NULL);
    assert_true(file_says("helix.cfg", "geometry = cone"));
    again = load_as(in_folder("helix.cfg"), NULL, NULL);
    came_back("leap, helix", again.views, s.views, 4);
    check_near3(again.volume.centre_mm, s.volume.centre_mm, 0);
    fbp_scan_clear(&again);
    s.views[2].s[2] += 0.001;
    s.views[2].d[2] += 0.001; /* no longer a helix */
    save_as(&s, in_folder("helix.cfg"), NULL);
    assert_true(file_says("helix.cfg", "geometry = modular"));
    again = load_as(in_folder("helix.cfg"), NULL, NULL);
    came_back("leap, no helix", again.views, s.views, 4);
    fbp_scan_clear(&again);
    fbp_scan_clear(&s);
}

TEST(what_leap_cannot_hold)
{
    const char *path = in_folder("refused.cfg");
    struct fbp_scan scan = random_scan(FBP_CONE, 5, SKEWED);

    is_refused(&scan, path, "leap", "not at right angles");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_CONE, 5, WOBBLING);
    for (int i = 0; i < 3; i++)
        scan.views[4].v[i] *= 1.5;
    is_refused(&scan, path, "leap", "view 4 has another pixel pitch");
    scan.volume = (struct fbp_grid){.n = {4, 4, 4}, .voxel_mm = {1, 2, 1}};
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_CONE, 5, 0);
    scan.volume = (struct fbp_grid){.n = {4, 4, 4}, .voxel_mm = {1, 2, 1}};
    is_refused(&scan, path, "leap", "LEAP needs square voxels");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_PARALLEL, 5, TILTED);
    is_refused(&scan, path, "leap", "parallel beams");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_PARALLEL, 5, 0);
    scan.volume = (struct fbp_grid){.n = {4, 4, 4}, .voxel_mm = {1, 1, 1}};
    is_refused(&scan, path, "leap", "need one slice per detector row");
    fbp_scan_clear(&scan);
}

#define PANEL \
    "numRows = 3\nnumCols = 4\npixelHeight = 1\npixelWidth = 1\ncenterRow = 1\ncenterCol = 1\n"
#define CONE    "geometry = cone\nnumAngles = 2\n" PANEL "sod = 100\nsdd = 200\n"
#define MODULAR "geometry = modular\nnumAngles = 1\n" PANEL
static const struct wrong wrong[] = {
    {"", "geometry is missing", FBP_ERR_INVALID},
    {"geometry = cone\n", "numAngles is missing", FBP_ERR_INVALID},
    {"geometry = helix\n", "geometry: found \"helix\"", FBP_ERR_UNSUPPORTED},
    {"geometry = cone_parallel\n", "found \"cone_parallel\"", FBP_ERR_UNSUPPORTED},
    {CONE, "phis is missing", FBP_ERR_INVALID},
    {CONE "phis = 1\n", "phis has 1 numbers, expected 2", FBP_ERR_INVALID},
    {CONE "phis = 1, 2, 3\n", "found \"3\" after 2 numbers", FBP_ERR_INVALID},
    {CONE "phis = 1, x\n", "phis: found \"x\"", FBP_ERR_INVALID},
    {CONE "phis = 1, inf\n", "phis: found \"inf\"", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\ntau = a\n", "tau: found \"a\"", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\nsod = -1\n", "sod: found -1", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\ndetectorType = curved\n", "detectorType: found \"curved\"",
     FBP_ERR_UNSUPPORTED},
    {CONE "phis = 0, 1\naxisOfSymmetry = 30\n", "axisOfSymmetry", FBP_ERR_UNSUPPORTED},
    {CONE "phis = 0, 1\nmuCoeff = 0.1\n", "muCoeff", FBP_ERR_UNSUPPORTED},
    {CONE "phis = 0, 1\nnumX = 0\n", "numX: found 0", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\nnumX = 4\n", "numY is missing", FBP_ERR_INVALID},
    {CONE "angularRange = 360\nnumAngles = 1e12\n", "numAngles: found 1e+12", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\nnumAngles = 1.5\n", "numAngles: found 1.5", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\npixelWidth = 0\n", "pixelWidth: found 0", FBP_ERR_INVALID},
    {CONE "phis = 0, 1\ngeometry = fan\n", "a fan beam with 3 rows", FBP_ERR_UNSUPPORTED},
    {MODULAR "moduleCenters = 1, 2, 3\n", "sourcePositions is missing", FBP_ERR_INVALID},
    {MODULAR "sourcePositions = 1, 2\n", "sourcePositions has 2 numbers", FBP_ERR_INVALID},
};

TEST(wrong_files)
{
    are_wrong("wrong.cfg", "leap", wrong, N_OF(wrong));
}

TEST_MAIN(make_files, drop_files)
