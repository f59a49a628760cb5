/* Checks plane integrals on devices with memory of their own (mock, gl, cuda) against the CPU:
 * kernels, weights, filters, and the same bits for every division of the work. */
#include "filter/filter.h"
#include "geometry/view.h"
#include "recon/planes_util.h"

static const char *const devices[] = {"mock", "gl", "cuda"};

TEST(devices_agree)
{
    static const struct settings hann = {FBP_FILTER_HANN, 1};
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);

    shrink_steps(&scan);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    AUTO_FREE float *wanted = volume_by(&scan, views, "cpu", &hann);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!usable(devices[i]))
            continue;
        AUTO_FREE float *got = volume_by(&scan, views, devices[i], &hann);
        const double off = difference(wanted, got, grid_size(&scan.volume));
        if (!(off < 1e-5))
            fail_msg("%s is off by %.2g of the peak", devices[i], off);
    }
}

/* One that is not symmetric, two passes, samples between those measured, and taps cut off. */
static const struct {
    struct fbp_recon_params p;
    const char *text;
} filters[] = {
    {{.filter = FBP_FILTER_RAM_LAK}, "ram-lak"},
    {{.filter = FBP_FILTER_5_POINT_DERIVATIVE}, "5-point-derivative"},
    {{.filter = FBP_FILTER_TWO_RAMPS}, "two-ramps"},
    {{.filter = FBP_FILTER_TWO_RAMPS_UNPADDED}, "two-ramps-unpadded"},
    {{.filter = FBP_FILTER_HANN, .epr.oversampling = 2}, "oversampling 2"},
    {{.filter = FBP_FILTER_TWO_RAMPS, .epr.oversampling = 2}, "two-ramps, oversampling 2"},
    {{.filter = FBP_FILTER_HANN, .filtering.spatial = true, .filtering.half_width = 9}, "in space"},
};

static float *volume_with(const struct fbp_scan *scan, const float *views, const char *device,
                          struct fbp_recon_params p)
{
    p.device = device;
    p.precision = FBP_PRECISION_EXACT;
    return planes_volume(scan, FBP_F32, views, &p);
}

TEST(every_filter_is_there)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(9);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);

    scan.volume = (struct fbp_grid){.n = {33, 29, 18}, .voxel_mm = {.05, .06, .08}};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        AUTO_FREE float *wanted = volume_with(&scan, views, "ref", filters[f].p);
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
            if (!usable(devices[i]))
                continue;
            AUTO_FREE float *got = volume_with(&scan, views, devices[i], filters[f].p);
            const double off = difference(wanted, got, grid_size(&scan.volume));
            if (!(off < 1e-5))
                fail_msg("%s, %s: off by %.2g of the peak", devices[i], filters[f].text, off);
        }
    }
}

/* Has a device this interpolation and kernel?  If not it says so. */
static bool takes(const struct fbp_scan *scan, const float *views, const char *device,
                  struct fbp_recon_params p)
{
    AUTO_FREE float *out = calloc(grid_size(&scan->volume), sizeof *out);

    p.struct_size = sizeof p;
    p.device = device;
    memcpy(p.box, (size_t[3][2]){{0, 1}, {0, 1}, {0, 1}}, sizeof p.box);
    const fbp_status st = fbp_reconstruct(scan, &p, FBP_F32, views, out, NULL);
    if (st == FBP_OK)
        return true;
    assert_int_equal(st, FBP_ERR_UNSUPPORTED);
    assert_true(strstr(fbp_message(), "interpolates linearly only") ||
                strstr(fbp_message(), "has no \"planes\" for this scan"));
    return false;
}

/* Directions without symmetry: no sample is half way between two others. */
static struct fbp_scan skew_scan(float **views)
{
    const struct solid solid = ellipsoid_of_planes();
    double direction[90][3];

    for (int k = 0; k < 90; k++) {
        const double z = (k + .37) / 91, r = sqrt(1 - z * z), angle = 2.399963 * k + .1;
        direction[k][0] = r * cos(angle);
        direction[k][1] = r * sin(angle);
        direction[k][2] = z;
    }
    struct fbp_scan scan = planes_scan(direction, 90);
    for (size_t k = 0; k < 90; k += 4) /* gradients differ */
        fbp_plane_view(direction[k], .7 * PLANES_STEP, -41 * PLANES_STEP, PLANES_S, &scan.views[k]);
    *views = plane_samples(&scan, &solid, 1);
    scan.volume = (struct fbp_grid){.n = {37, 30, 41}, .voxel_mm = {.04, .05, .035}};
    return scan;
}

TEST(interpolations_agree)
{
    float *views;
    AUTO_CLEAR struct fbp_scan scan = skew_scan(&views);

    for (enum fbp_interpolation how = 0; how <= FBP_INTERPOLATION_LAST; how++) {
        const struct fbp_recon_params p = {
            .filter = FBP_FILTER_HANN, .epr.interpolation = how, .tuning.kernel = "planes"};
        struct fbp_recon_params of_ref = p;
        of_ref.tuning.kernel = NULL;
        AUTO_FREE float *wanted = volume_with(&scan, views, "ref", of_ref);
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
            if (!usable(devices[i]) || !takes(&scan, views, devices[i], p))
                continue;
            AUTO_FREE float *got = volume_with(&scan, views, devices[i], p);
            const size_t off = count_off(wanted, got, grid_size(&scan.volume), 1e-5);
            if (off >
                (how == FBP_INTERPOLATION_NEAREST ? 40 : 0)) /* a sample is nearest by a hair */
                fail_msg("%s: %zu voxels differ", fbp_interpolation_name(how), off);
        }
    }
    free(views);
}

static void divided(const struct fbp_scan *scan, const float *views, const char *device,
                    struct fbp_recon_params p, const float *whole)
{
    const size_t n = grid_size(&scan->volume);
    struct fbp_recon_params q = p;

    q.tuning.batch_views = 24;
    q.tuning.slab_slices = 11;
    AUTO_FREE float *slabs = volume_with(scan, views, device, q);
    assert_memory_equal(slabs, whole, n * sizeof *whole);
    q = p;
    q.region.shape = "ball:0,0,0,.3";
    AUTO_FREE float *ball = volume_with(scan, views, device, q);
    /* Zeros outside a ball. */
    size_t same = 0;
    for (size_t i = 0; i < grid_size((&scan->volume)); i++) {
        double x[3];
        voxel_at((&scan->volume), i, x);
        const double r = sqrt(dot3(x, x));
        if (r < .3 - 1e-9) {
            assert_memory_equal(&ball[i], &whole[i], sizeof *ball);
            same++;
        } else if (r > .3 + 1e-9) {
            assert_true(ball[i] == 0);
        }
    }
    assert_true(same > 100);
    q = p;
    memcpy(q.box, (size_t[3][2]){{3, 36}, {7, 29}, {10, 31}}, sizeof q.box);
    AUTO_FREE float *box = volume_with(scan, views, device, q);
    assert_box(device, sizeof *box, box, whole, scan->volume.n, (const size_t(*)[2])q.box);
}

/* Nor on the shape of a kernel. */
TEST(bits_do_not_depend_on_the_division)
{
    static const char *const shapes[] = {"0", "1", "2", "3", "4"};
    float *views;
    AUTO_CLEAR struct fbp_scan scan = skew_scan(&views);
    const size_t bytes = grid_size(&scan.volume) * sizeof(float);

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        for (enum fbp_interpolation how = 0; how <= FBP_INTERPOLATION_LAST && usable(devices[i]);
             how++) {
            const struct fbp_recon_params p = {.epr.interpolation = how, .tuning.kernel = "planes"};
            if (!takes(&scan, views, devices[i], p))
                continue;
            AUTO_FREE float *whole = volume_with(&scan, views, devices[i], p);
            divided(&scan, views, devices[i], p, whole);
            for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
                assert_int_equal(setenv("FBP_SHAPE", shapes[s], 1), 0);
                AUTO_FREE float *other = volume_with(&scan, views, devices[i], p);
                assert_memory_equal(other, whole, bytes);
            }
            unsetenv("FBP_SHAPE");
        }
    free(views);
}

TEST_MAIN(NULL, NULL)
