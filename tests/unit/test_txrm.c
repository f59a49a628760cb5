/* Checks the reader and importer of files of Zeiss Xradia (.txrm), which the test writes as
 * [MS-CFB] describes them: samples, views by CIL's formulas, and refusal of damaged files.  The
 * volume must agree to 1e-4 of its peak with that of the same views in a MetaImage. */
#include "recon/fixture.h"
#include "unit/txrm_files.h"

enum { W = 56, H = 40, VIEWS = 12, N = W * H };

static uint16_t samples[VIEWS * N];
static float reference[N], angles[VIEWS], shifts[2 * VIEWS];

static char *put_txrm(const char *name, bool with_reference, int cone)
{
    char *path = temporary(name);
    struct bytes b =
        make_txrm(samples, W, H, VIEWS, angles, shifts, with_reference ? reference : NULL, cone);

    put_file(path, b.p, b.n);
    free(b.p);
    return path;
}

static int make_samples(void **state)
{
    for (int i = 0; i < N; i++)
        reference[i] = 50000 + (float)(i % 97) * 50;
    for (int i = 0; i < VIEWS * N; i++) {
        const double x = i % W - 27.5, y = i % N / W - 19.5, q = 200 - x * x - y * y;
        samples[i] = (uint16_t)(reference[i % N] * (float)exp(q > 0 ? -0.1 * sqrt(q) : 0));
    }
    for (int k = 0; k < VIEWS; k++) {
        angles[k] = (float)(k * 30 - 180);
        shifts[k] = (float)(k % 3) * 0.5f;
        shifts[VIEWS + k] = -1.25f;
    }
    return 0;
}

TEST(samples_are_those_of_the_streams)
{
    AUTO_REMOVE char *path = put_txrm("a.txrm", true, 1);
    AUTO_FREE char *name = printed("%s:reference", path);
    AUTO_FREE float *p = read_array(path), *r = read_array(name);

    for (int i = 0; i < VIEWS * N; i++)
        assert_true(p[i] == (float)samples[i]);
    for (int i = 0; i < N; i++)
        assert_true(r[i] == reference[i]);
}

static void near(const double a[3], double x, double y, double z)
{
    if (!(fabs(a[0] - x) < 1e-5 && fabs(a[1] - y) < 1e-5 && fabs(a[2] - z) < 1e-5))
        fail_msg("(%g %g %g) is not (%g %g %g)", a[0], a[1], a[2], x, y, z);
}

/* The pitch of the panel is 0.1 mm times the magnification 2.5. */
TEST(views_are_those_of_cil)
{
    AUTO_REMOVE char *path = put_txrm("a.txrm", true, 1), *other = put_txrm("b.txrm", false, 0);
    AUTO_CLEAR struct fbp_scan scan = open_scan(path), flat = open_scan(other);

    assert_int_equal(scan.kind, FBP_CONE);
    near(scan.views[6].s, 0, -200, 0); /* angle 0 */
    near(scan.views[6].d, 0, 300, -1.25 * 0.25);
    near(scan.views[6].u, 0.25, 0, 0);
    near(scan.views[6].v, 0, 0, 0.25);
    near(scan.views[9].s, -200, 0, 0); /* the object is turned by +90 */
    near(scan.views[7].u, 0.25 * cos(PI / 6), -0.25 * sin(PI / 6), 0);
    near(scan.views[8].d, 300 * sin(PI / 3) + 0.25 * cos(PI / 3),
         300 * cos(PI / 3) - 0.25 * sin(PI / 3), -1.25 * 0.25);
    assert_contains(scan.flat, ":reference");
    assert_null(scan.note);
    assert_int_equal(flat.kind, FBP_PARALLEL);
    near(flat.views[6].u, 0.1, 0, 0);
    assert_contains(flat.note, "no reference image");
}

TEST(the_volume_is_that_of_the_same_views_in_a_meta_image)
{
    const struct fbp_grid grid = {{24, 24, 16}, {0.2, 0.2, 0.2}, {0, 0, 0}};
    const struct fbp_recon_params *params = fbp_recon_params(.device = "cpu", .n_threads = 2);
    float saved[2 * VIEWS], p[VIEWS * N];
    double theta[VIEWS];

    memcpy(saved, shifts, sizeof saved);
    memset(shifts, 0, sizeof shifts);
    AUTO_REMOVE char *path = put_txrm("c.txrm", true, 1);
    memcpy(shifts, saved, sizeof saved);
    AUTO_CLEAR struct fbp_scan scan = open_scan(path);
    AUTO_DROP struct fbp_scan same = {.struct_size = sizeof same};
    for (int k = 0; k < VIEWS; k++)
        theta[k] = (-90 - (double)angles[k]) * PI / 180;
    for (int i = 0; i < VIEWS * N; i++)
        p[i] = samples[i];
    const struct fbp_circle circle = circle_of(VIEWS, theta, 200, 500, .pitch_mm = {0.25, 0.25});
    OK(fbp_scan_cone(&same, &circle, (struct fbp_panel){W, H}));
    same.projections = write_array("same.mha", W, H, VIEWS, p);
    same.flat = write_array("flat.mha", W, H, 1, reference);
    scan.volume = same.volume = grid;
    AUTO_FREE float *a = reconstruct(&scan, params), *b = reconstruct(&same, params);
    double error = 0, peak = 0;
    for (size_t i = 0; i < grid_size(&grid); i++) {
        error = fmax(error, fabs((double)a[i] - (double)b[i]));
        peak = fmax(peak, fabs((double)b[i]));
    }
    print_message("greatest difference %.1e of the peak %.3f/mm\n", error / peak, peak);
    assert_true(peak > 0.3 && error <= 1e-4 * peak);
}

TEST(damaged_files_are_refused)
{
    AUTO_REMOVE char *path = temporary("d.txrm");
    struct bytes b = make_txrm(samples, W, H, VIEWS, angles, shifts, reference, 1);
    static const struct {
        size_t at;
        unsigned char value;
    } spoilt[] = {{7, 0}, {30, 10}, {44, 255}, {47, 255}, {48, 255}, {76, 255}, {67, 255}};

    for (size_t n = 0; n < b.n; n += n < 4096 ? 97 : 1999) {
        put_file(path, b.p, n);
        struct fbp_scan scan = {.struct_size = sizeof scan};
        assert_int_not_equal(fbp_scan_load(&scan, path, NULL), FBP_OK);
        assert_contains(fbp_message(), "d.txrm");
    }
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        const unsigned char was = b.p[spoilt[i].at];
        struct fbp_scan scan = {.struct_size = sizeof scan};
        b.p[spoilt[i].at] = spoilt[i].value;
        put_file(path, b.p, b.n);
        if (fbp_scan_load(&scan, path, NULL) == FBP_OK)
            fail_msg("byte %zu may be %d", spoilt[i].at, spoilt[i].value);
        b.p[spoilt[i].at] = was;
    }
    free(b.p);
}

TEST_MAIN(make_samples, NULL)
