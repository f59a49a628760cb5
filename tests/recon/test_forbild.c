/* The FORBILD head, projected and reconstructed about its middle: its tissues by their means. */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { N = 128, SLICES = 9, VIEWS = 240 };

static const double WATER = 0.02;

/* Mean over the voxels of a ball [mm]. */
static double mean_of(const float *volume, const struct fbp_grid *g, const double ball[4])
{
    double sum = 0;
    size_t count = 0, i = 0;

    for (size_t z = 0; z < g->n[2]; z++)
        for (size_t y = 0; y < g->n[1]; y++)
            for (size_t x = 0; x < g->n[0]; x++, i++) {
                const double d[3] = {fbp_grid_coordinate(g, 0, (double)x) - ball[0],
                                     fbp_grid_coordinate(g, 1, (double)y) - ball[1],
                                     fbp_grid_coordinate(g, 2, (double)z) - ball[2]};
                if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > ball[3] * ball[3])
                    continue;
                sum += (double)volume[i];
                count++;
            }
    assert_true(count > 30);
    return sum / (double)count;
}

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
    AUTO_FREE double *angles = even_angles(VIEWS, 0, 360.0 / VIEWS);
    const struct fbp_circle circle = circle_of(VIEWS, angles, 750, 1200, .pitch_mm = {2, 2});
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .n_views = VIEWS,
                                      .panel = {256, 25},
                                      .volume = {.n = {N, N, SLICES}, .voxel_mm = {2, 2, 2}}};

    scan.views = calloc(VIEWS, sizeof *scan.views);
    assert_non_null(scan.views);
    OK(fbp_circle_views(&circle, scan.views));
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = create_phantom(path, 1, 1);
    simulate(&scan, &phantom);
    AUTO_FREE float *volume = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const double mean = mean_of(volume, &scan.volume, parts[i].ball) / WATER;
        print_message("%-12s %.4f of water (%.4f)\n", parts[i].name, mean, parts[i].want);
        if (!(fabs(mean - parts[i].want) < 0.005))
            fail_msg("%s: %.4f instead of %.4f", parts[i].name, mean, parts[i].want);
    }
}

TEST_MAIN(NULL, NULL)
