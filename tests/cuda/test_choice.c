/* What the CUDA module decides from a job alone; no device is needed. */
#include "recon/fixture.h"

#include "backend/cuda/kernel.h"
#include "bench/rabbitct/feed.h"
#include "phantom/shapes.h"

enum { VIEWS = 24 };

/* RabbitCT's panel and volume of `side` voxels. */
static struct fbp_job job_of(size_t side, double (*matrices)[12])
{
    const double voxel = 256.0 / (double)side;

    return (struct fbp_job){.n_views = VIEWS,
                            .panel = {1248, 960},
                            .padded.panel = {1248, 960},
                            .grid = {{side, side, side}, {voxel, voxel, voxel}, {0, 0, 0}},
                            .matrices = matrices,
                            .selection.symmetric_views = 1};
}

static void c_arm_matrices(double (*out)[12])
{
    const struct fbp_panel panel = {1248, 960};
    AUTO_FREE double *angles = even_angles(VIEWS, 0, 198.0 / (VIEWS - 1));
    const struct fbp_circle circle =
        circle_of(VIEWS, angles, 745, 1196, .kind = FBP_CONE, .pitch_mm = {0.308, 0.308});
    struct fbp_view views[VIEWS];

    OK(fbp_c_arm_views(&circle, &panel, views));
    for (size_t k = 0; k < VIEWS; k++) {
        OK(fbp_view_to_matrix(&views[k], FBP_CONE, &panel, out[k]));
        const double w0 = out[k][11];
        for (int i = 0; i < 12; i++)
            out[k][i] /= w0;
    }
}

/* A feed's device is opened before any matrix has come: it must choose as it would by them. */
TEST(feeds_choose_as_scans_do)
{
    static const size_t sides[] = {128, 256, 512, 1024, 2048};
    static double scan[VIEWS][12], feed[VIEWS][12];

    c_arm_matrices(scan);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        const struct fbp_job of_scan = job_of(sides[i], scan), of_feed = job_of(sides[i], feed);
        for (size_t k = 0; k < VIEWS; k++)
            fbp_feed_expect(&of_feed.panel, &of_feed.grid, feed[k]);
        const double right = gpu_pixels_per_voxel(&of_scan), is = gpu_pixels_per_voxel(&of_feed);
        if (!(is > 0.8 * right && is < 1.2 * right))
            fail_msg("%zu: %g pixels a voxel, not %g", sides[i], is, right);
        assert_int_equal(gpu_texels_per_column(&cuda_kernel_MATRIX_FAST.gpu, &of_feed),
                         gpu_texels_per_column(&cuda_kernel_MATRIX_FAST.gpu, &of_scan));
    }
}

TEST_MAIN(NULL, NULL)
