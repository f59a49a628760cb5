/*
 * Real fan-beam data of the Helsinki Tomography Challenge 2022, straight from its MAT files,
 * against the organisers' own reconstruction: 721 views, 0 to 360 degrees, both ends.
 */
#include "recon/fixture.h"

enum { VIEWS = 721, COLUMNS = 560, SIZE = 512 };

static const double PIXEL = 0.1483223173330444;

static struct fbp_scan load_scan(const char *path)
{
    struct fbp_scan scan = open_scan(path);
    assert_int_equal(scan.kind, FBP_CONE);
    assert_int_equal(scan.n_views, VIEWS);
    assert_int_equal(scan.panel.n_columns, COLUMNS);
    assert_int_equal(scan.panel.n_rows, 1);
    scan.volume = (struct fbp_grid){{SIZE, SIZE, 1}, {PIXEL, PIXEL, PIXEL}, {0, 0, 0}};
    return scan;
}

/* Inside 240 pixels of the centre; theirs is per effective pixel, and its first row is the top. */
static double nrmse(const float *ours, const float *theirs)
{
    double sum = 0, square = 0;

    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            const double dx = x - (SIZE - 1) / 2.0, dy = y - (SIZE - 1) / 2.0;
            if (dx * dx + dy * dy > 240.0 * 240.0)
                continue;
            const double a = (double)ours[y * SIZE + x] * PIXEL;
            const double b = (double)theirs[(SIZE - 1 - y) * SIZE + x];
            sum += (a - b) * (a - b);
            square += b * b;
        }
    return sqrt(sum / square);
}

static void check(const char *name)
{
    static const char *const devices[] = {"ref", "cpu", "cuda"};
    char path[600];

    snprintf(path, sizeof path, "%s/htc2022_fanbeam/htc2022_%s_full.mat", FBP_SHARED_DATA, name);
    AUTO_CLEAR struct fbp_scan scan = load_scan(path);
    snprintf(path, sizeof path, "%s/htc2022_fanbeam/htc2022_%s_recon_fbp.mat", FBP_SHARED_DATA,
             strcmp(name, "ta") == 0 ? "ta_full" : name);
    AUTO_FREE float *theirs = read_array(path);
    for (int d = 0; d < 3; d++) {
        if (!usable(devices[d]))
            continue;
        float *equal =
            reconstruct(&scan, fbp_recon_params(.device = devices[d],
                                                .filtering.angular_weights = FBP_ANGULAR_EQUAL));
        AUTO_FREE float *automatic = reconstruct(&scan, fbp_recon_params(.device = devices[d]));
        const double e = nrmse(equal, theirs), a = nrmse(automatic, theirs);
        print_message("%s, %s: NRMSE equal weights %.2e, automatic %.2e\n", name, devices[d], e, a);
        assert_true(e <= 2e-4);
        assert_true(a <= 5e-3);
        free(equal);
    }
}

TEST(phantom_ta)
{
    check("ta");
}

TEST(phantom_01a)
{
    check("01a");
}

int main(int argc, char **argv)
{
    if (access(FBP_SHARED_DATA "/htc2022_fanbeam/README.md", R_OK) != 0)
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
