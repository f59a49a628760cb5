/* Plane integrals on devices with memory of their own: their kernel "matrix", weights and filter
 * take them as they are. */
#include "recon/planes_util.h"

static void devices_agree(void **state)
{
    static const char *const devices[] = {"mock", "gl", "cuda"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
