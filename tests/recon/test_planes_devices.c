/* Plane integrals on devices with memory of their own: their kernel "matrix", weights and filter
 * take them as they are. */
#include "recon/planes_util.h"

static const char *const devices[] = {"mock", "gl", "cuda"};

static void devices_agree(void **state)
{
    static const struct settings hann = {FBP_FILTER_HANN, 1};
    const struct solid solid = ellipsoid_of_planes();
    struct fbp_scan scan = rings_scan(18);

    (void)state;
    for (size_t k = 0; k < scan.n_views; k += 3) /* steps that differ, as gradients do */
        for (int i = 0; i < 3; i++)
            scan.views[k].u[i] *= .9;
    float *views = plane_samples(&scan, &solid, 1);
    float *wanted = volume_by(&scan, views, "cpu", &hann);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!usable(devices[i]))
            continue;
        float *got = volume_by(&scan, views, devices[i], &hann);
        const double off = difference(wanted, got, grid_size(&scan.volume));
        if (!(off < 1e-5))
            fail_msg("%s is off by %.2g of the peak", devices[i], off);
        free(got);
    }
    free(views);
    free(wanted);
    fbp_scan_clear(&scan);
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
    {{.filter = FBP_FILTER_HANN, .oversampling = 2}, "oversampling 2"},
    {{.filter = FBP_FILTER_HANN, .spatial_filter = 1, .half_width = 9}, "in space"},
};

static float *filtered_by(const struct fbp_scan *scan, const float *views, const char *device,
                          struct fbp_recon_params p)
{
    float *out = calloc(grid_size(&scan->volume), sizeof *out);

    p.struct_size = sizeof p;
    p.device = device;
    p.precision = FBP_PRECISION_EXACT;
    p.n_threads = 2;
    OK(fbp_reconstruct(scan, &p, views, out, NULL));
    return out;
}

static void every_filter_is_there(void **state)
{
    const struct solid solid = ellipsoid_of_planes();
    struct fbp_scan scan = rings_scan(9);
    float *views = plane_samples(&scan, &solid, 1);

    (void)state;
    scan.volume = (struct fbp_grid){.n = {33, 29, 18}, .voxel_mm = {.05, .06, .08}};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        float *wanted = filtered_by(&scan, views, "ref", filters[f].p);
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
            if (!usable(devices[i]))
                continue;
            float *got = filtered_by(&scan, views, devices[i], filters[f].p);
            const double off = difference(wanted, got, grid_size(&scan.volume));
            if (!(off < 1e-5))
                fail_msg("%s, %s: off by %.2g of the peak", devices[i], filters[f].text, off);
            free(got);
        }
        free(wanted);
    }
    free(views);
    fbp_scan_clear(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_agree),
                                       cmocka_unit_test(every_filter_is_there)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
