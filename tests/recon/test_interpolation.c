/* Checks nearest, linear and cubic interpolation of plane integrals: published errors, kernels
 * and devices against each other, and the same bits for every division of the work. */
#include "recon/planes_util.h"

#include "filter/filter.h"
#include "geometry/view.h"
#include "pipeline/job.h"

struct way {
    const char *device, *kernel;
    enum fbp_interpolation how;
    size_t oversampling;
    int spatial;
};

static float *volume_of(const struct fbp_scan *scan, const float *views, const struct way *way)
{
    return planes_volume(scan, FBP_F32, views,
                         fbp_recon_params(.device = way->device, .tuning.kernel = way->kernel,
                                          .epr.interpolation = way->how,
                                          .epr.oversampling = way->oversampling,
                                          .filtering.spatial = way->spatial));
}

/* Rows of S samples, or of twice as many that are half as far apart. */
static struct fbp_scan finer(size_t rings, size_t times)
{
    struct fbp_scan scan = rings_scan(rings);

    scan.panel.n_columns = times * PLANES_S;
    for (size_t k = 0; k < scan.n_views; k++) {
        const double step = PLANES_STEP / (double)times;
        resample_view(&scan, k, 1, step, -((double)scan.panel.n_columns - 1) / 2 * step);
    }
    return scan;
}

/* Errors of a smooth ball of a computation in double precision from 1020 directions, to all
 * published digits. */
TEST(published_errors_are_met)
{
    static const struct {
        enum fbp_interpolation how;
        double error[2];
    } rows[] = {{FBP_INTERPOLATION_NEAREST, {.0100, .0054}},
                {FBP_INTERPOLATION_LINEAR, {.00385, .0021}},
                {FBP_INTERPOLATION_CUBIC, {.00184, .0021}}};
    const struct solid solid = ball_of_planes(2);

    for (size_t times = 1; times <= 2; times++) {
        AUTO_CLEAR struct fbp_scan scan = finer(40, times);
        AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
        for (size_t i = 0; i < 3; i++) {
            const struct way way = {.device = "cpu", .how = rows[i].how};
            AUTO_FREE float *volume = volume_of(&scan, views, &way);
            const double error = error_of(&scan.volume, volume, &solid);
            if (!(fabs(error - rows[i].error[times - 1]) < 1e-4))
                fail_msg("%s, %zu samples: error %.5f, expected %.5f",
                         fbp_interpolation_name(rows[i].how), scan.panel.n_columns, error,
                         rows[i].error[times - 1]);
        }
    }
}

/* Voxels differ by at most `part` of the peak, to which transforms in single precision are exact,
 * as most of the ellipsoid is outside of the grids.  The nearest sample is another one where
 * roundings decide. */
static void compare(const struct fbp_scan *scan, const float *views, const struct way *one,
                    const struct way *other, double part)
{
    const size_t n = grid_size(&scan->volume);
    AUTO_FREE float *a = volume_of(scan, views, one), *b = volume_of(scan, views, other);
    const size_t off = count_off(a, b, n, part);

    if (off > (one->how == FBP_INTERPOLATION_NEAREST ? n / 100 : 0))
        fail_msg("%s, grid %zu x %zu x %zu: %s %s and %s %s differ in %zu voxels",
                 fbp_interpolation_name(one->how), scan->volume.n[0], scan->volume.n[1],
                 scan->volume.n[2], one->device, one->kernel, other->device, other->kernel, off);
}

static const double s = PLANES_STEP;

/* Windows of 8 and 16 samples, odd grids beside the middle, rows that end inside the volume. */
TEST(kernels_agree)
{
    const struct {
        struct fbp_grid grid;
        size_t oversampling;
    } rows[] = {
        {{{20, 20, 20}, {s, s, s}, {0, 0, 0}}, 1},
        {{{20, 20, 20}, {s, s, s}, {0, 0, 0}}, 2},
        {{{37, 22, 29}, {1.2 * s, s, 1.7 * s}, {.1, -.2, .05}}, 1},
        {{{45, 13, 31}, {1.8 * s, 2.4 * s, 2 * s}, {-.3, .2, .2}}, 1},
        {{{1, 2, 131}, {.3 * s, s, .7 * s}, {0, .1, 0}}, 2},
    };
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(10);

    shrink_steps(&scan);
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int how = FBP_INTERPOLATION_NEAREST; how <= FBP_INTERPOLATION_LAST; how++) {
            const size_t o = rows[i].oversampling;
            const struct way planes = {"cpu", "planes", (enum fbp_interpolation)how, o, 0};
            const struct way matrix = {"cpu", "matrix", (enum fbp_interpolation)how, o, 0};
            const struct way ref = {"ref", "matrix", (enum fbp_interpolation)how, o, 0};
            const struct way space = {"cpu", "planes", (enum fbp_interpolation)how, o, 1};
            scan.volume = rows[i].grid;
            compare(&scan, views, &ref, &planes, 2e-5);
            compare(&scan, views, &ref, &matrix, 2e-5);
            if (how == FBP_INTERPOLATION_LINEAR) /* the same filtered samples */
                compare(&scan, views, &matrix, &planes, 4e-6);
            if (how == FBP_INTERPOLATION_CUBIC) /* another filter than that of linear */
                compare(&scan, views, &planes, &space, 2e-5);
        }
}

/* Half way between two samples, as in every view along an axis of this symmetric grid, all take the
 * upper one. */
TEST(nearest_of_two_is_the_upper_one)
{
    double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}};
    AUTO_CLEAR struct fbp_scan scan = planes_scan(axes, 3);
    AUTO_FREE float *views = calloc(3 * PLANES_S, sizeof *views);

    scan.volume.n[0] = scan.volume.n[1] = scan.volume.n[2] = 33;
    for (size_t i = 0; i < 3 * PLANES_S; i++)
        views[i] = (float)((i * 37) % 101);
    for (int kernel = 0; kernel < 2; kernel++) {
        const struct way ref = {.device = "ref", .how = FBP_INTERPOLATION_NEAREST};
        const struct way cpu = {"cpu", kernel ? "planes" : "matrix", FBP_INTERPOLATION_NEAREST, 0,
                                0};
        AUTO_FREE float *a = volume_of(&scan, views, &ref), *b = volume_of(&scan, views, &cpu);
        assert_int_equal(count_off(a, b, grid_size(&scan.volume), 2e-5), 0);
    }
}

TEST(bits_do_not_depend_on_the_division)
{
    const struct solid solid = ellipsoid_of_planes();
    AUTO_CLEAR struct fbp_scan scan = rings_scan(10);

    scan.volume.n[1] = 30;
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    for (int how = FBP_INTERPOLATION_NEAREST; how <= FBP_INTERPOLATION_LAST; how++)
        for (int kernel = 0; kernel < 2; kernel++) {
            const struct way way = {"cpu", kernel ? "planes" : "matrix",
                                    (enum fbp_interpolation)how, 0, 0};
            AUTO_FREE float *wanted = volume_of(&scan, views, &way);
            for (int i = 0; i < 3; i++) {
                AUTO_FREE float *out = planes_volume(
                    &scan, FBP_F32, views,
                    fbp_recon_params(.device = "cpu", .tuning.kernel = way.kernel,
                                     .epr.interpolation = way.how, .n_threads = i % 2 ? 1 : 3,
                                     .tuning.batch_views = i ? 14 : 0,
                                     .tuning.slab_slices = i > 1 ? 9 : 0));
                assert_memory_equal(out, wanted, grid_size(&scan.volume) * sizeof *out);
            }
        }
}

/* Who cannot do it says so, and never interpolates linearly instead. */
TEST(it_is_refused_where_it_is_missing)
{
    struct fbp_backend simple = *fbp_backend_find("ref");
    AUTO_CLEAR struct fbp_scan scan = rings_scan(10);
    struct fbp_job_tables tables;

    simple.can.interpolations = 1u << FBP_INTERPOLATION_CUBIC;
    for (int how = 0; how <= FBP_INTERPOLATION_LAST; how++) {
        OK(fbp_job_create(&tables, &scan,
                          fbp_recon_params(.epr.interpolation = (enum fbp_interpolation)how),
                          false));
        assert_int_equal(fbp_job_arrange(&tables.job, &simple),
                         how == FBP_INTERPOLATION_NEAREST ? FBP_ERR_UNSUPPORTED : FBP_OK);
        fbp_job_clear(&tables);
    }
    scan.filtered = true;
    assert_fails(fbp_job_create(&tables, &scan,
                                fbp_recon_params(.epr.interpolation = FBP_INTERPOLATION_CUBIC),
                                false),
                 FBP_ERR_UNSUPPORTED, "views are already filtered");
}

TEST_MAIN(NULL, NULL)
