/* Checks that the tissues of the FORBILD head, simulated and reconstructed near its mid-plane,
 * have their means within 0.5 % of water. */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { N = 128, SLICES = 9, VIEWS = 240 };

static const double WATER = 0.02;

TEST(tissues)
{
    static const struct {
        const char *name;
        double ball[4], want; /* mm; of water */
    } parts[] = {
        {"brain, left", {-40, -30, 0, 15}, 1.05}, {"brain, right", {30, -60, 0, 15}, 1.05},
        {"ventricle", {0, -36, 0, 14}, 1.045},    {"eye, left", {-47, 43, 5, 14}, 1.06},
        {"eye, right", {47, 43, 5, 14}, 1.06},    {"sinus", {0, 70, 0, 8}, 0},
        {"outside", {-110, -100, 0, 10}, 0},
    };
    const char *path = FBP_SHARED_DATA "/leap_forbild/FORBILD_head.pd";
    if (access(path, R_OK) != 0) {
        print_message("skipped: there is no %s\n", path);
        skip();
    }
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .n_views = VIEWS,
                                      .panel = {256, 25},
                                      .volume = {.n = {N, N, SLICES}, .voxel_mm = {2, 2, 2}}};

    add_views(&scan, &(struct orbit){.pitch_mm = {2, 2}});
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = create_phantom(path, 1, 1);
    simulate(&scan, &phantom);
    AUTO_FREE float *volume = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const double mean =
            mean_in_ball(&scan.volume, volume, parts[i].ball, parts[i].ball[3]) / WATER;
        print_message("%-12s %.4f of water (%.4f)\n", parts[i].name, mean, parts[i].want);
        if (!(fabs(mean - parts[i].want) < 0.005))
            fail_msg("%s: %.4f instead of %.4f", parts[i].name, mean, parts[i].want);
    }
}

TEST_MAIN(NULL, NULL)
