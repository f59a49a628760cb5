/*
 * The ladder of scenario S0 on a CUDA device: every step, and every I and J, gives the volume of
 * the exact kernel as far as the texture units' 1/256 of a pixel lets it, and that of every other
 * step but for the order of sums.  Small, so that it can run under compute-sanitizer.
 */
#include "recon/fixture.h"

#include "bench/common/modules.h"

static const char *const kernels[] = {
    "s0-naive",     "s0-1",     "s0-2",     "s0-3",     "s0-4",     "s0-without-1", "s0-without-3",
    "s0-without-4", "s0-i1-j1", "s0-i1-j2", "s0-i1-j4", "s0-i2-j1", "s0-i2-j2",     "s0-i2-j4",
    "s0-i3-j1",     "s0-i3-j2", "s0-i3-j4", "s0-i4-j1", "s0-i4-j2", "s0-i4-j4",     "s0-i5-j1",
    "s0-i5-j2",     "s0-i5-j4", "s0-i6-j1", "s0-i6-j2", "s0-i6-j4", "s0-merged",    "s2"};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

static const double EXACT_DB = 60, EACH_OTHER_DB = 110;

static struct fbp_scan make_scan(size_t n_views, size_t n_columns, size_t n_rows,
                                 const struct fbp_grid *volume)
{
    const double pitch = 409.6 / (double)n_columns;

    return head_scan(
        n_views, n_columns, n_rows,
        &(struct orbit){.start_deg = 11, .pitch_mm = {pitch, n_rows == 1 ? 10 : pitch}}, *volume,
        80);
}

static float *run(const struct fbp_scan *scan, const char *kernel, enum fbp_precision precision,
                  const struct fbp_recon_params *more)
{
    struct fbp_recon_params p = *more;

    p.device = "cuda";
    p.tuning.kernel = kernel;
    p.precision = precision;
    return reconstruct(scan, &p);
}

static void compare(const char *what, const float *a, const float *b, size_t n, double floor_db)
{
    const double db = psnr_db(a, b, n);

    print_message("%-28s %6.1f dB\n", what, db);
    if (!(db >= floor_db))
        fail_msg("%s: %.1f dB instead of %.0f", what, db, floor_db);
}

static void check_all(const struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    const size_t n = grid_size(&scan->volume);
    AUTO_FREE float *exact = run(scan, "column", FBP_PRECISION_EXACT, p);
    AUTO_FREE float *proposed = run(scan, "s0", FBP_PRECISION_FAST, p);

    compare("s0 against exact", proposed, exact, n, EXACT_DB);
    for (size_t i = 0; i < N_KERNELS; i++) {
        AUTO_FREE float *step = run(scan, kernels[i], FBP_PRECISION_FAST, p);

        AUTO_FREE char *what = printed("%s against s0", kernels[i]);
        compare(what, step, proposed, n, EACH_OTHER_DB);
    }
}

/* Sides that no block divides; 70 views, which no launch of more than two does. */
TEST(every_step_gives_the_volume)
{
    const struct fbp_grid volume = {{37, 35, 33}, {5, 5, 5}, {3, -2, 4}};
    AUTO_DROP struct fbp_scan scan = make_scan(70, 40, 37, &volume);

    check_all(&scan, fbp_recon_params(.filter = FBP_FILTER_SHEPP_LOGAN));
}

/* Lines beyond the array of a thread, and slabs. */
TEST(of_long_lines_and_slabs)
{
    const struct fbp_grid volume = {{6, 5, 530}, {20, 20, 0.3}, {0, 0, 0}};
    AUTO_DROP struct fbp_scan scan = make_scan(17, 24, 21, &volume);

    check_all(&scan, fbp_recon_params(.tuning.slab_slices = 0));
    check_all(&scan, fbp_recon_params(.tuning.slab_slices = 100));
}

static void check_filter(const struct fbp_scan *scan, const char *what, size_t half_width)
{
    const struct fbp_recon_params *p =
        fbp_recon_params(.filter = FBP_FILTER_SHEPP_LOGAN, .filtering.spatial = true,
                         .filtering.half_width = half_width);
    AUTO_FREE float *exact = run(scan, "column", FBP_PRECISION_EXACT, p);
    AUTO_FREE float *s0 = run(scan, "s0", FBP_PRECISION_FAST, p);

    compare(what, s0, exact, grid_size(&scan->volume), EXACT_DB);
}

/* The filter of a row a block, of all widths, and of rows that no block's memory holds. */
TEST(the_filter_in_space)
{
    const struct fbp_grid cube = {{37, 35, 33}, {5, 5, 5}, {0, 0, 0}};
    const struct fbp_grid slice = {{40, 40, 1}, {4, 4, 4}, {0, 0, 0}};
    struct fbp_scan scan = make_scan(31, 300, 21, &cube);

    check_filter(&scan, "S = 1", 1);
    check_filter(&scan, "S = 150", 150);
    check_filter(&scan, "S = the row", 0);
    drop_scan(&scan);
    scan = make_scan(10, 4301, 1, &slice);
    check_filter(&scan, "4301 columns", 0);
    drop_scan(&scan);
}

/* The plan never takes one, and a scan whose u depends on z cannot have one. */
TEST(only_where_asked_for)
{
    const struct fbp_grid volume = {{37, 35, 33}, {5, 5, 5}, {0, 0, 0}};
    AUTO_DROP struct fbp_scan scan = make_scan(12, 40, 37, &volume);
    fbp_plan *plan;

    for (int i = FBP_PRECISION_DEFAULT; i <= FBP_PRECISION_HALF; i++) {
        OK(fbp_plan_create(&plan, &scan,
                           fbp_recon_params(.device = "cuda", .precision = (enum fbp_precision)i)));
        assert_int_not_equal(strncmp(fbp_plan_info(plan)->kernel, "s0", 2), 0);
        fbp_plan_destroy(&plan);
    }
    assert_int_equal(fbp_plan_create(&plan, &scan,
                                     fbp_recon_params(.device = "cuda", .tuning.kernel = "s0",
                                                      .precision = FBP_PRECISION_EXACT)),
                     FBP_ERR_UNSUPPORTED);
    scan.views[3].v[0] += 1; /* leans */
    assert_int_equal(
        fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cuda", .tuning.kernel = "s0")),
        FBP_ERR_UNSUPPORTED);
}

int main(int argc, char **argv)
{
    if (!usable("cuda"))
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
