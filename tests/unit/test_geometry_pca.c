/* Checks that scan descriptions of phoenix datos|x (.pca) give the right scan, that their guesses
 * and ignored keys are listed, and that unsupported ones are refused with a reason. */
#include "unit/foreign_files.h"
#include "unit/foreign_texts.h"
#include "unit/one_array.h"

#include "scan/file/scan.h"

TEST(a_plain_scan)
{
    char line[1000];

    write_changed("a.pca", phoenix_pca, NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = load_file("a.pca");
    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.n_views, 4); /* not the 18 images of another section */
    assert_int_equal(s.panel.n_columns, 120);
    assert_int_equal(s.panel.n_rows, 100);
    assert_int_equal(s.row_order, FBP_ROWS_TOP_DOWN);
    assert_true(fabs(s.i0 - 3401) < 1e-9);
    near3("s", s.views[0].s, 100, 0, 0);
    near3("d", s.views[0].d, -700, 0, 0);
    near3("u", s.views[0].u, 0, 0.2, 0); /* to the right as seen from the source */
    near3("v", s.views[0].v, 0, 0, 0.2);
    near3("s", s.views[1].s, 0, 100, 0); /* the object turns clockwise */
    assert_string_equal(strrchr(s.projections, '/'), "/a%05d.tif 1 4");
    assert_null(s.note);
    assert_int_equal(fbp_scan_assumed(&s, line, sizeof line), 1);
    assert_contains(line, "a.pca lacks: angles_deg, assumed to be counter-clockwise");
    assert_contains(line, "fbp calibrate");
    assert_contains(line, "--reverse");
}

/* CIL's geometry in S. Anttalainen's CT_Reconstruction: source at (0, -FOD, 0), columns along +x,
 * rows from the top, and the object turns by +angle about (0, 0, -1). The same rays hit the same
 * pixels of the imported scan, whose frame is turned by a right angle. */
TEST(the_rays_of_the_published_reconstruction)
{
    write_changed("a.pca", phoenix_pca, NULL, NULL);
    AUTO_CLEAR struct fbp_scan s = load_file("a.pca");
    for (size_t k = 0; k < 4; k++) {
        const double object[3] = {3, -5, 2}, angle = -(double)k * FBP_PI / 2;
        const double x = cos(angle) * object[0] - sin(angle) * object[1];
        const double y = sin(angle) * object[0] + cos(angle) * object[1];
        const double scale = 800 / (100 + y);
        const double column = 59.5 + x * scale / 0.2, row = 49.5 + object[2] * scale / 0.2;
        double P[12], p[3];

        OK(fbp_view_to_matrix(&s.views[k], FBP_CONE, &s.panel, P));
        const double here[4] = {-object[1], object[0], object[2], 1};
        for (int i = 0; i < 3; i++)
            p[i] =
                P[4 * i] * here[0] + P[4 * i + 1] * here[1] + P[4 * i + 2] * here[2] + P[4 * i + 3];
        assert_true(fabs(p[0] / p[2] - column) < 1e-9);
        assert_true(fabs(p[1] / p[2] - row) < 1e-9);
    }
}

TEST(variants)
{
    struct fbp_scan s = {.struct_size = sizeof s};

    write_changed("a.pca", phoenix_pca, "cx=59.5", "cx=69.5");
    s = load_file("a.pca");
    near3("d", s.views[0].d, -700, -10 * 0.2, 0); /* column 69.5 faces the source */
    fbp_scan_clear(&s);
    write_changed("a.pca", phoenix_pca, "cy=49.5", "cy=39.5");
    s = load_file("a.pca");
    near3("d", s.views[0].d, -700, 0, -10 * 0.2); /* the row nearer to the top does */
    fbp_scan_clear(&s);
    write_changed("a.pca", phoenix_pca, "RotationSector=360", "RotationSector=200");
    s = load_file("a.pca");
    near3("s", s.views[3].s, 100 * cos(150 * FBP_PI / 180), 100 * sin(150 * FBP_PI / 180), 0);
    fbp_scan_clear(&s);
    write_changed("a.pca", phoenix_pca, "FreeRay=3401", "FreeRay=0");
    s = load_file("a.pca");
    assert_true(fabs(s.i0) < 1e-9);
    fbp_scan_clear(&s);
    write_changed("b", phoenix_pca, NULL, NULL); /* found by its content */
    s = load_file("b");
    assert_string_equal(strrchr(s.projections, '/'), "/b%05d.tif 1 4");
    fbp_scan_clear(&s);
}

TEST(wrong_input_is_named)
{
    static const struct spoilt list[] = {
        {"FOD=100\r\n", "", "[Geometry] has no FOD"},
        {"FDD=800", "FDD=80", "FDD (80) must exceed FOD (100)"},
        {"FDD=800", "FDD=far", "expected a number"},
        {"NumberImages=4", "NumberImages=0", "NumberImages"},
        {"RotationSector=360.00000000\r\n", "", "has no RotationSector"},
        {"RotationSector=360", "RotationSector=-360", "above 0"},
        {"PixelsizeX=0.2", "PixelsizeX=0.0", "PixelsizeX"},
        {"PixelsizeY=0.20000000\r\n", "", "has no PixelsizeY"},
        {"DimX=120\r\n", "", "has no DimX"},
        {"cx=59.5", "cx=x59.5", "cx: found"},
        {"Tilt=0.0", "Tilt=30.0", "[Geometry] Tilt = 30 is not supported"},
        {"Type=0", "Type=2", "[CT] Type = 2 is not supported"},
        {"Active=0", "Active=1", "[Trajectory] Active = 1"},
        {"MirrorX=0", "MirrorX=1", "[Image] MirrorX = 1"},
    };

    refuses_all("w.pca", phoenix_pca, list, N_OF(list));
}

/* Write a simulated scan as intensities in TIFF files, whose rows begin at the top, with a
 * description. The volume is that of the simulated line integrals. */
TEST(a_whole_scan_is_reconstructed)
{
    enum { N = 24, C = 40, R = 30, K = 36 };
    const struct fbp_grid grid = {{N, N, N}, {0.1, 0.1, 0.1}, {0, 0, 0}};
    const double sod = 100, sdd = 800;
    struct fbp_phantom phantom;
    struct fbp_scan direct = {.struct_size = sizeof direct};
    struct fbp_array_info info = {.struct_size = sizeof info, .type = FBP_F32};
    AUTO_FREE float *views = not_null(malloc(sizeof(float) * C * R * K));
    AUTO_FREE float *expected = not_null(malloc(sizeof(float) * N * N * N));
    AUTO_FREE float *found = not_null(malloc(sizeof(float) * N * N * N));
    double angles[K], worst = 0, peak = 0;
    fbp_plan *plan = NULL;

    for (int k = 0; k < K; k++)
        angles[k] = 2 * FBP_PI * k / K;
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .n_views = K,
                                      .angles_rad = angles,
                                      .sod_mm = &sod,
                                      .sdd_mm = &sdd,
                                      .n_sod = 1,
                                      .n_sdd = 1,
                                      .pitch_mm = {0.8, 0.8}};
    OK(fbp_scan_cone(&direct, &circle, (struct fbp_panel){C, R}));
    write_text("body.txt", "0 0 0 1.1 0.8 0.7 20 0.3\n0.4 0.3 0.2 0.2 0.3 0.2 0 0.4\n");
    OK(fbp_phantom_create(&phantom, in_folder("body.txt"), 1.2, 1));
    OK(fbp_phantom_simulate(&phantom, &direct, NULL, fbp_simulate_params(.samples = views)));
    const struct fbp_recon_params *how = fbp_recon_params(.volume = grid, .device = "cpu");
    OK(fbp_reconstruct(&direct, how, FBP_F32, views, expected, NULL));

    info.n[0] = C, info.n[1] = R, info.n[2] = 1;
    for (int k = 0; k < K; k++) {
        float image[C * R];
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++)
                image[r * C + c] = 3401 * expf(-views[(k * R + R - 1 - r) * C + c]);
        AUTO_FREE char *name = printed("%s/whole%05d.tif", folder, k + 1);
        assert_true(array_write(name, &info, image));
    }
    write_text("whole.pca", "[Geometry]\nFDD=800\nFOD=100\nCalibValue=0\ncx=19.5\ncy=14.5\n"
                            "[CT]\nNumberImages=36\nRotationSector=360\n"
                            "[Image]\nDimX=40\nDimY=30\nFreeRay=3401\n"
                            "[Detector]\nPixelsizeX=0.8\nPixelsizeY=0.8\n");
    AUTO_CLEAR struct fbp_scan scan = open_scan(in_folder("whole.pca"));
    OK(fbp_plan_create(&plan, &scan, how));
    OK(fbp_plan_run(plan, in_folder("whole.mha"), NULL));
    fbp_plan_destroy(&plan);
    assert_true(array_read(in_folder("whole.mha"), &info, found));
    for (int i = 0; i < N * N * N; i++) {
        peak = fmax(peak, fabs((double)expected[i]));
        worst = fmax(worst, fabs((double)found[i] - (double)expected[i]));
    }
    assert_true(peak > 0.3);
    assert_true(worst < 1e-4 * peak);
    fbp_phantom_clear(&phantom);
    fbp_scan_clear(&direct);
}

TEST_MAIN(make_files, drop_files)
