/*
 * Mid-plane of the Shepp-Logan phantom against its voxel means: the error falls with the voxel,
 * about as the share of voxels that an edge cuts (1/N, so the RMSE as 1/sqrt N).
 */
#include "recon/fixture.h"

static double midplane_rmse(size_t n, const char *device)
{
    const size_t n_views = 3 * n / 2, nd = 3 * n / 2;
    const double voxel = 256.0 / (double)n, pitch = voxel * 1200 / 750;
    /* An odd number of rows and one slice: the mid-plane itself. */
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .panel = {nd, 9},
                            .volume = {{n, n, 1}, {voxel, voxel, voxel}, {0, 0, 0}}};
    AUTO_FREE float *truth = not_null(malloc(n * n * sizeof *truth));

    add_views(&scan, &(struct orbit){.pitch_mm = {pitch, pitch}});
    struct fbp_phantom phantom = create_phantom("shepp-logan", 128, 1);
    simulate(&scan, &phantom);
    OK(fbp_phantom_voxels(&phantom, &scan.volume, 0, 1, truth));
    fbp_phantom_clear(&phantom);
    AUTO_FREE float *volume = reconstruct(&scan, fbp_recon_params(.device = device));
    drop_scan(&scan);
    return rms_between(volume, truth, n * n);
}

TEST(error_falls_with_the_voxel)
{
    static const char *const devices[] = {"cpu", "cuda"};

    for (int d = 0; d < 2; d++) {
        if (!usable(devices[d]))
            continue;
        const double e64 = midplane_rmse(64, devices[d]), e128 = midplane_rmse(128, devices[d]);
        const double e256 = midplane_rmse(256, devices[d]);
        print_message("%s: mid-plane RMSE [1/mm]: 64: %.5f  128: %.5f  256: %.5f; ratios %.2f "
                      "%.2f\n",
                      devices[d], e64, e128, e256, e64 / e128, e128 / e256);
        assert_true(e256 < 0.04);
        assert_true(e64 / e128 > 1.25 && e128 / e256 > 1.25);
    }
}

TEST_MAIN(NULL, NULL)
