/* Checks plane integrals in double precision: numbers of another program, kernels against ref,
 * the same bits for every division of the work, and files of float64. */
#include "filter/filter.h"
#include "geometry/view.h"
#include "recon/planes_double_table.h"
#include "recon/planes_util.h"

enum { N = 16, S = 29 };
static const double STEP = 2. / N;

/* Samples in double, [view][frame][S], of solids that grow with the frame. */
static double *samples_of(const struct fbp_scan *scan, double first_mm)
{
    struct solid solid = {.centre = {.10, -.05, .08}, .axes = {.6, .45, .5}, .m = 2};
    const size_t frames = scan->panel.n_rows, nc = scan->panel.n_columns;
    double *out = calloc(scan->n_views * frames * nc, sizeof *out);

    turn_of(.4, .9, .2, solid.turn);
    for (size_t k = 0; k < scan->n_views; k++)
        for (size_t f = 0; f < frames; f++) {
            const double *u = scan->views[k].u, step = sqrt(dot3(u, u));
            const double n[3] = {u[0] / step, u[1] / step, u[2] / step};
            for (size_t c = 0; c < nc; c++)
                out[(k * frames + f) * nc + c] =
                    (1 + .1 * (double)f) * plane_integral(&solid, n, first_mm + (double)c * step);
        }
    return out;
}

static struct fbp_scan small_scan(bool spiral, double *first_mm)
{
    double(*direction)[3];
    const size_t n = directions_of(spiral ? FBP_SET_FIBONACCI : FBP_SET_SOLID_ANGLE,
                                   spiral ? 23 : 6, &direction);
    const double shift = spiral ? .02 : 0;
    struct fbp_scan scan = planes_scan(direction, n);

    *first_mm = -(S - 1) / 2. * STEP + (spiral ? .3 * STEP : 0);
    scan.panel.n_columns = S;
    scan.volume = (struct fbp_grid){
        .n = {N, N, N}, .voxel_mm = {STEP, STEP, STEP}, .centre_mm = {shift, shift, shift}};
    for (size_t k = 0; k < n; k++)
        fbp_plane_view(direction[k], STEP, *first_mm, S, &scan.views[k]);
    free(direction);
    return scan;
}

/* Equal weights. */
static void give_weights(struct fbp_scan *scan, double *weights)
{
    for (size_t k = 0; k < scan->n_views; k++)
        weights[k] = 2 * PI / (double)scan->n_views;
    scan->quadrature = FBP_QUADRATURE_GIVEN;
    scan->plane_weights = weights;
}

static const struct {
    const char *device, *kernel;
} computers[] = {{"ref", "matrix"}, {"cpu", "planes"}, {"cpu", "matrix"}, {"cuda", "planes"}};
enum { N_COMPUTERS = sizeof computers / sizeof *computers };

static void check_row(const struct table_row *row)
{
    double first_mm, weights[23];
    AUTO_CLEAR struct fbp_scan scan = small_scan(row->spiral, &first_mm);
    AUTO_FREE double *views = samples_of(&scan, first_mm);

    if (row->spiral)
        give_weights(&scan, weights);
    for (size_t d = 0; d < N_COMPUTERS && usable(computers[d].device); d++) {
        const struct fbp_recon_params p = {.device = computers[d].device,
                                           .tuning.kernel = computers[d].kernel,
                                           .filter = row->filter,
                                           .cutoff = row->cutoff};
        AUTO_FREE double *volume = planes_volume(&scan, FBP_F64, views, &p);
        for (size_t i = 0; i < TABLE_VOXELS; i++) {
            const size_t x = (5 * i + 1) % N, y = (3 * i + 2) % N, z = (7 * i + 4 * (i / N)) % N;
            const double error = volume[(z * N + y) * N + x] - row->value[i];
            if (!(fabs(error) <= 1e-10))
                fail_msg("%s, %s of %s, voxel %zu %zu %zu: wrong by %g",
                         fbp_filter_name(row->filter), p.tuning.kernel, p.device, x, y, z, error);
            if (!(fabs(error) <= 1e-13 * row->peak))
                print_message("%s %s %s: %g\n", fbp_filter_name(row->filter), p.tuning.kernel,
                              p.device, error);
        }
    }
    scan.plane_weights = NULL;
}

TEST(numbers_of_another_program)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_row(&table[i]);
}

/* Sides that are no multiple of a block, several frames. */
static struct fbp_scan odd_scan(double **views)
{
    double first_mm;
    struct fbp_scan scan = small_scan(true, &first_mm);

    scan.panel.n_rows = 2;
    scan.volume = (struct fbp_grid){
        .n = {19, 14, 17}, .voxel_mm = {.11, .13, .09}, .centre_mm = {.03, -.02, .01}};
    *views = samples_of(&scan, first_mm);
    return scan;
}

TEST(all_agree_with_the_reference)
{
    static const struct fbp_recon_params ways[] = {
        {.filter = FBP_FILTER_RAM_LAK},
        {.epr.oversampling = 2},
        {.filter = FBP_FILTER_TWO_RAMPS_UNPADDED},
        {.filtering.spatial = true, .filtering.half_width = 9},
        {.epr.interpolation = FBP_INTERPOLATION_NEAREST},
        {.epr.interpolation = FBP_INTERPOLATION_CUBIC},
        {.epr.periodic = true},
    };
    double *views;
    AUTO_CLEAR struct fbp_scan scan = odd_scan(&views);
    const size_t n = 2 * grid_size(&scan.volume);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fbp_recon_params p = ways[i];
        p.device = "ref";
        AUTO_FREE double *wanted = planes_volume(&scan, FBP_F64, views, &p);
        for (size_t d = 1; d < N_COMPUTERS && usable(computers[d].device); d++) {
            p.device = computers[d].device;
            p.tuning.kernel = computers[d].kernel;
            if (p.epr.periodic && strcmp(p.device, "cuda") == 0) /* which lacks it */
                continue;
            AUTO_FREE double *got = planes_volume(&scan, FBP_F64, views, &p);
            const double error = difference_double(wanted, got, n);
            if (!(error <= 1e-12))
                fail_msg("way %zu, kernel %s: %g of the peak", i, p.tuning.kernel, error);
        }
    }
    free(views);
}

TEST(no_division_changes_a_bit)
{
    static const struct fbp_recon_params ways[] = {
        {.n_threads = 1},
        {.n_threads = 3},
        {.tuning.batch_views = 8},
        {.tuning.slab_slices = 3},
        {.tuning.slab_slices = 5, .tuning.batch_views = 16},
        {.tuning.no_overlap = true},
        {.output.fill = true},
    };
    double *views;
    AUTO_CLEAR struct fbp_scan scan = odd_scan(&views);
    const size_t n = 2 * grid_size(&scan.volume);

    for (size_t d = 0; d < N_COMPUTERS && usable(computers[d].device); d++) {
        struct fbp_recon_params p = {.device = computers[d].device,
                                     .tuning.kernel = computers[d].kernel};
        AUTO_FREE double *wanted = planes_volume(&scan, FBP_F64, views, &p);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            p = ways[i];
            p.device = computers[d].device;
            p.tuning.kernel = computers[d].kernel;
            AUTO_FREE double *got = planes_volume(&scan, FBP_F64, views, &p);
            for (size_t k = 0; k < n; k++)
                if (!(p.output.fill && got[k] == 0) &&
                    memcmp(&got[k], &wanted[k], sizeof *got) != 0)
                    fail_msg("%s, way %zu: voxel %zu differs", p.device, i, k);
        }
    }
    free(views);
}

TEST(a_box_has_the_bits_of_the_whole)
{
    static const size_t roi[3][2] = {{3, 18}, {5, 9}, {2, 13}};
    double *views;
    AUTO_CLEAR struct fbp_scan scan = odd_scan(&views);
    const size_t *n = scan.volume.n;

    for (size_t d = 0; d < N_COMPUTERS && usable(computers[d].device); d++) {
        struct fbp_recon_params p = {.device = computers[d].device,
                                     .tuning.kernel = computers[d].kernel};
        AUTO_FREE double *whole = planes_volume(&scan, FBP_F64, views, &p);
        memcpy(p.box, roi, sizeof roi);
        p.tuning.slab_slices = 4;
        AUTO_FREE double *box = planes_volume(&scan, FBP_F64, views, &p);
        const size_t part = (size_t)15 * 4 * 11, all = n[0] * n[1] * n[2];
        for (size_t f = 0; f < 2; f++)
            assert_box(p.device, sizeof *box, box + f * part, whole + f * all, n, roi);
    }
    free(views);
}

/* From files to files, through a mask, a limit of memory and an interrupted run. */
TEST(files_hold_doubles)
{
    static const char *const names[] = {"v.npy", "v.mha", "v.mat", "v.h5"};
    double first_mm;
    AUTO_CLEAR struct fbp_scan scan = small_scan(false, &first_mm);
    AUTO_FREE double *views = samples_of(&scan, first_mm);
    AUTO_FREE double *wanted =
        planes_volume(&scan, FBP_F64, views, fbp_recon_params(.device = "cpu"));
    AUTO_FREE char *projections = temporary("double-views.npy");

    write_planes(projections, FBP_F64, &scan, views);
    scan.projections = projections;
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.precision = FBP_PRECISION_DOUBLE));
    assert_string_equal(fbp_plan_info(plan)->backend, "cpu");
    assert_int_equal(fbp_plan_info(plan)->output_bytes, (size_t)N * N * N * sizeof(double));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO_REMOVE char *path = temporary(names[i]);
        OK(fbp_plan_run(plan, path, NULL));
        AUTO_FREE double *got = read_planes(path, FBP_F64);
        assert_memory_equal(got, wanted, (size_t)N * N * N * sizeof *got);
    }
    fbp_plan_destroy(&plan);
    AUTO_FREE char *path = temporary("v32.npy");
    OK(reconstruct_to(&scan,
                      fbp_recon_params(.precision = FBP_PRECISION_DOUBLE, .output.type = FBP_F32),
                      path, NULL));
    AUTO_FREE double *rounded = read_planes(path, FBP_F32);
    for (size_t i = 0; i < (size_t)N * N * N; i++)
        assert_true(rounded[i] == (double)(float)wanted[i]);
    remove(path);
    remove(projections);
    scan.projections = NULL;
}

/* Floats are taken as they are, and samples that are no numbers are repaired. */
TEST(other_views_become_doubles)
{
    double first_mm;
    AUTO_CLEAR struct fbp_scan scan = small_scan(false, &first_mm);
    AUTO_FREE double *views = samples_of(&scan, first_mm);
    const size_t n = scan.n_views * S;
    struct fbp_report report = {.struct_size = sizeof report};
    AUTO_FREE char *path = temporary("float-views.npy"), *volume = temporary("float-volume.npy");

    write_planes(path, FBP_F32, &scan, views);
    for (size_t i = 0; i < n; i++)
        views[i] = (double)(float)views[i];
    scan.projections = path;
    OK(reconstruct_to(&scan, fbp_recon_params(.precision = FBP_PRECISION_DOUBLE), volume, NULL));
    double *wanted = planes_volume(&scan, FBP_F64, views, fbp_recon_params(.device = "cpu"));
    AUTO_FREE double *got = read_planes(volume, FBP_F64);
    assert_memory_equal(got, wanted, (size_t)N * N * N * sizeof *got);
    views[5 * S + 7] = NAN;
    OK(fbp_reconstruct(&scan, fbp_recon_params(.device = "cpu"), FBP_F64, views, got, &report));
    assert_int_equal(report.not_finite, 1);
    views[5 * S + 7] = views[5 * S + 6] + (views[5 * S + 8] - views[5 * S + 6]) / 2;
    free(wanted);
    wanted = planes_volume(&scan, FBP_F64, views, fbp_recon_params(.device = "cpu"));
    assert_true(difference_double(wanted, got, (size_t)N * N * N) < 1e-14);
    remove(path);
    remove(volume);
    free(wanted);
    scan.projections = NULL;
}

TEST(who_lacks_it_says_so)
{
    double first_mm;
    AUTO_CLEAR struct fbp_scan scan = small_scan(false, &first_mm);
    AUTO_FREE double *views = samples_of(&scan, first_mm);
    AUTO_FREE double *out = calloc((size_t)N * N * N, sizeof *out);

    assert_int_equal(
        fbp_reconstruct(&scan, fbp_recon_params(.device = "mock"), FBP_F64, views, out, NULL),
        FBP_ERR_UNSUPPORTED);
    assert_string_equal(
        fbp_message(),
        "precision: device mock computes in float32 only; omit double, or use device cpu");
    scan.i0 = 3;
    assert_fails(fbp_reconstruct(&scan, NULL, FBP_F64, views, out, NULL), FBP_ERR_UNSUPPORTED,
                 "remove dark, flat, i0");
    scan.i0 = 0;
    AUTO_FREE float *floats = calloc(scan.n_views * S, sizeof *floats);
    assert_fails(fbp_reconstruct(&scan, fbp_recon_params(.output.type = FBP_F64), FBP_F32, floats,
                                 floats, NULL),
                 FBP_ERR_UNSUPPORTED, "float64 needs a computation in double");
}

TEST_MAIN(NULL, NULL)
