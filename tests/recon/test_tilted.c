/* Kernel "tilted" of the CPU device, for detectors that are slightly tilted against the z axis:
 * when it is chosen, its values beside those of kernels "matrix" and "column" and beside the
 * phantom, and the same bits for every division of the work. */
#include "recon/fixture.h"

enum { VIEWS = 90, PIXELS = 160, VOXELS = 96 };

static const double HEAD_MM = 88;

/* A head; tilt: of the panel about its rows (pitch), columns (yaw) and normal (roll) [deg]. */
static struct fbp_scan make_scan(const double tilt[3])
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = VIEWS,
                            .panel = {PIXELS, PIXELS},
                            .volume = {{VOXELS, VOXELS, VOXELS}, {2, 2, 2}, {0, 0, 0}}};
    double *angles = even_angles(VIEWS, 0, 360.0 / VIEWS);
    const double pitch = 2 * 1200 / 750.0 * VOXELS / PIXELS * 1.15;
    const struct fbp_circle circle =
        circle_of(VIEWS, angles, 750, 1200, .pitch_mm = {pitch, pitch},
                  .tilt_rad = {tilt[0] * PI / 180, tilt[1] * PI / 180, tilt[2] * PI / 180});

    scan.views = not_null(calloc(VIEWS, sizeof *scan.views));
    OK(fbp_circle_views(&circle, scan.views));
    free(angles);
    simulate_head(&scan, HEAD_MM);
    return scan;
}

static void check_kernel(const struct fbp_scan *scan, enum fbp_precision precision,
                         const char *expected)
{
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;

    OK(fbp_plan_create(&plan, scan, fbp_recon_params(.device = "cpu", .precision = precision)));
    assert_string_equal(fbp_plan_info(plan)->kernel, expected);
}

TEST(chosen_for_small_tilts)
{
    AUTO_DROP struct fbp_scan none = make_scan((double[]){0, 0, 0});
    AUTO_DROP struct fbp_scan small = make_scan((double[]){2, 0, 0.03});
    AUTO_DROP struct fbp_scan large = make_scan((double[]){25, 0, 0});

    check_kernel(&none, FBP_PRECISION_DEFAULT, "column");
    check_kernel(&small, FBP_PRECISION_DEFAULT, "tilted");
    check_kernel(&small, FBP_PRECISION_FAST, "tilted");
    check_kernel(&small, FBP_PRECISION_EXACT, "matrix");
    check_kernel(&large, FBP_PRECISION_DEFAULT, "matrix");
    small.volume.n[2] = 8; /* set up per voxel column, which pays only for many slices */
    check_kernel(&small, FBP_PRECISION_DEFAULT, "matrix");
}

/* Means of the head over the voxels of a scan's volume. */
static float *truth_of(const struct fbp_scan *scan)
{
    CLEANUP(fbp_phantom_clear)
    struct fbp_phantom phantom = create_phantom("shepp-logan", HEAD_MM, 0.02);
    float *out = not_null(malloc(grid_size(&scan->volume) * sizeof *out));

    OK(fbp_phantom_voxels(&phantom, &scan->volume, 0, VOXELS, out));
    return out;
}

static double hu_between(const float *a, const float *b, size_t n)
{
    return rms_between(a, b, n) * 1000 / 0.02;
}

/* Bilinear interpolation at every voxel, and interpolation along projected voxel columns, differ by
 * the slope of these columns, and by nothing without one; their errors are the same. */
TEST(values_and_errors)
{
    static const struct {
        double tilt[3], most_hu;
    } cases[] = {{{0, 0, 0}, 0.002}, {{1, 0, 0}, 0.05}, {{0, 0, 0.04}, 0.02}, {{3, 0, 0.04}, 0.12}};
    static const char *const levels[] = {"c", "avx2", "avx512"};
    const char *saved = getenv("FBP_CPU");
    AUTO_FREE char *keep = saved ? strdup(saved) : NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(cases[i].tilt);
        const size_t n = grid_size(&scan.volume);
        AUTO_FREE float *truth = truth_of(&scan);
        AUTO_FREE float *matrix =
            reconstruct(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "matrix"));
        const double error = hu_between(matrix, truth, n);
        for (int level = 0; level < 3; level++) {
            setenv("FBP_CPU", levels[level], 1);
            AUTO_FREE float *tilted =
                reconstruct(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "tilted"));
            const double differs = hu_between(tilted, matrix, n);
            const double other = hu_between(tilted, truth, n);
            print_message("tilt %g, %g, %g, %s: %.4f HU from matrix; error %.4f HU, of matrix "
                          "%.4f HU\n",
                          cases[i].tilt[0], cases[i].tilt[1], cases[i].tilt[2], levels[level],
                          differs, other, error);
            assert_true(differs <= cases[i].most_hu);
            assert_true(fabs(other - error) < 1e-4 * error);
        }
    }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
}

TEST(splits_change_nothing)
{
    static const struct fbp_recon_params cases[] = {
        {.n_threads = 3, .tuning.batch_views = 8, .tuning.slab_slices = 7},
        {.n_threads = 1, .tuning.batch_views = 16, .tuning.slab_slices = 33},
        {.n_threads = 2, .tuning.slab_slices = 1},
    };
    AUTO_DROP struct fbp_scan scan = make_scan((double[]){2.5, 0, 0.04});

    check_divisions(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "tilted"), cases,
                    sizeof cases / sizeof *cases);
}

TEST_MAIN(NULL, NULL)
