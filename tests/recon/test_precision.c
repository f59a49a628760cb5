/*
 * fp32 kernels against the specification in double, on filtered phantom views: PSNR >= 110 dB for
 * J1's views, >= 105 dB for J2's (2.5 samples a voxel); on the CPU and on CUDA.  A few whole slices
 * over the full height.
 */
#include "recon/fixture.h"

#include "base/system.h"

static struct fbp_scan make_scan(size_t n_views, size_t columns, size_t rows, double pitch)
{
    return head_scan(n_views, columns, rows, &(struct orbit){.pitch_mm = {pitch, pitch}},
                     (struct fbp_grid){{512, 512, 4}, {0.5, 0.5, 60}, {0, 0, 0}}, 128);
}

/* Values of water at 0.02/mm. */
static double rmse_hu(const float *a, const float *b, size_t n)
{
    return rms_between(a, b, n) * 1000 / 0.02;
}

/* A scan, and what the specification makes of it. */
struct truth {
    struct fbp_scan scan;
    float *ref;
};

static struct truth make_truth(size_t n_views, size_t columns, size_t rows, double pitch)
{
    struct truth out = {.scan = make_scan(n_views, columns, rows, pitch)};
    out.ref = reconstruct(&out.scan, fbp_recon_params(.device = "ref"));
    return out;
}

static void drop_truth(struct truth *t)
{
    free(t->ref);
    drop_scan(&t->scan);
}

/* Texture units interpolate to 1/256 of a pixel and fp16 has 11 bits, so that `fast` and `half`
 * have floors of their own: 0.1 HU for the whole job, which has more views than these scans. */
static void check_cuda(const char *name, const struct truth truth[2], double whole, double floor_db)
{
    static const struct {
        const char *kernel, *name;
        enum fbp_precision precision;
    } cases[] = {{"matrix", "exact", FBP_PRECISION_EXACT}, {"column", "exact", FBP_PRECISION_EXACT},
                 {"rot90", "exact", FBP_PRECISION_EXACT},  {"matrix", "fast", FBP_PRECISION_FAST},
                 {"matrix", "half", FBP_PRECISION_HALF},   {"column", "half", FBP_PRECISION_HALF},
                 {"rot90", "half", FBP_PRECISION_HALF}};
    const size_t n = grid_size(&truth[0].scan.volume);
    int n_wrong = 0;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool exact = cases[k].precision == FBP_PRECISION_EXACT;
        double db[2], hu[2], n_views[2];
        for (int i = 0; i < 2; i++) {
            AUTO_FREE float *cuda = reconstruct(
                &truth[i].scan, fbp_recon_params(.device = "cuda", .tuning.kernel = cases[k].kernel,
                                                 .precision = cases[k].precision));
            db[i] = psnr_db(cuda, truth[i].ref, n);
            hu[i] = rmse_hu(cuda, truth[i].ref, n);
            n_views[i] = (double)truth[i].scan.n_views;
        }
        /*
         * The RMSE that `whole` views would have.  Roundings of K views are independent and K views
         * are averaged, so that RMSE^2 = s^2 + r^2/K, where s is what all views have in common (a
         * shift of the coordinates, say) and does not average out: two numbers of views tell both.
         */
        const double r2 =
            fmax((hu[1] * hu[1] - hu[0] * hu[0]) / (1 / n_views[1] - 1 / n_views[0]), 0);
        const double s2 = fmax(hu[0] * hu[0] - r2 / n_views[0], 0);
        const double all = sqrt(s2 + r2 / whole);
        const bool right = db[0] >= (exact ? floor_db : 70) && all <= 0.1;
        print_message("%s: cuda %s %s against ref: %.1f dB, %.4f HU with %.0f views, %.4f with "
                      "%.0f, so %.4f with %.0f%s\n",
                      name, cases[k].kernel, cases[k].name, db[0], hu[0], n_views[0], hu[1],
                      n_views[1], all, whole, right ? "" : ": too much");
        n_wrong += !right;
    }
    assert_int_equal(n_wrong, 0);
}

static void check(const char *name, const struct truth *truth, double floor_db)
{
    static const char *const kernels[] = {"matrix", "column", "rot180", "rot90"};
    static const char *const levels[] = {"c", "avx2", "avx512"};
    const size_t n = grid_size(&truth->scan.volume);
    const char *saved = getenv("FBP_CPU");
    AUTO_FREE char *keep = saved ? strdup(saved) : NULL;

    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int i = 0; i < 3; i++) {
            setenv("FBP_CPU", levels[i], 1);
            AUTO_FREE float *cpu = reconstruct(
                &truth->scan, fbp_recon_params(.device = "cpu", .tuning.kernel = kernels[k]));
            const double db = psnr_db(cpu, truth->ref, n);
            print_message("%s: cpu %s %s against ref: %.1f dB\n", name, kernels[k], levels[i], db);
            assert_true(db >= floor_db);
        }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
}

TEST(j1_views)
{
    struct truth truth = make_truth(120, 512, 512, 0.8);

    check("J1-like", &truth, 110);
    drop_truth(&truth);
}

TEST(j2_views)
{
    struct truth truth = make_truth(64, 1248, 960, 0.32);

    check("J2-like", &truth, 105);
    drop_truth(&truth);
}

/* Precision half of the CPU: within 0.1 HU of the specification, for 120 views and more. */
TEST(half_on_cpu)
{
    static const char *const levels[] = {"avx2", "avx512"};
    struct truth truth = make_truth(120, 512, 512, 0.8);
    const size_t n = grid_size(&truth.scan.volume);
    const char *saved = getenv("FBP_CPU");
    AUTO_FREE char *keep = saved ? strdup(saved) : NULL;

    for (int i = 0; i < 2; i++) {
        setenv("FBP_CPU", levels[i], 1);
        AUTO_FREE float *half =
            reconstruct(&truth.scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "rot90",
                                                      .precision = FBP_PRECISION_HALF));
        AUTO_FREE float *exact =
            reconstruct(&truth.scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "rot90"));
        const double hu = rmse_hu(half, truth.ref, n);
        print_message("cpu rot90 half %s against ref: %.4f HU\n", levels[i], hu);
        assert_true(hu <= 0.1);
        /* the values are those of 16 bits, if the processor has the instructions */
        assert_true((fbp_cpu_flags() & FBP_CPU_AVX2) == 0 || rmse_hu(half, exact, n) > 0);
    }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
    drop_truth(&truth);
}

/* In precision half a device without this precision uses exact, and the plan notes it. */
TEST(half_where_it_is_missing)
{
    static const struct {
        const char *level, *kernel;
        bool half;
    } cases[] = {{"c", "rot90", false}, {"avx2", "column", false}, {"avx2", "rot90", true}};
    AUTO_DROP struct fbp_scan scan = circle_scan(24, 40, 30);
    const char *saved = getenv("FBP_CPU");
    AUTO_FREE char *keep = saved ? strdup(saved) : NULL;

    scan.volume = (struct fbp_grid){{32, 32, 20}, {4, 4, 4}, {0, 0, 0}};
    simulate_head(&scan, 60);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fbp_plan *plan = NULL;
        setenv("FBP_CPU", cases[i].level, 1);
        OK(fbp_plan_create(&plan, &scan,
                           fbp_recon_params(.device = "cpu", .tuning.kernel = cases[i].kernel,
                                            .precision = FBP_PRECISION_HALF)));
        const bool is_half = strstr(fbp_plan_info(plan)->isa, "half") != NULL;
        assert_int_equal(is_half, cases[i].half && fbp_cpu_flags() & FBP_CPU_AVX2);
        fbp_plan_destroy(&plan);
    }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
}

TEST(j1_views_on_cuda)
{
    if (!usable("cuda"))
        skip();
    struct truth truth[2] = {make_truth(120, 512, 512, 0.8), make_truth(60, 512, 512, 0.8)};
    check_cuda("J1-like", truth, 360, 110);
    drop_truth(&truth[0]);
    drop_truth(&truth[1]);
}

TEST(j2_views_on_cuda)
{
    if (!usable("cuda"))
        skip();
    struct truth truth[2] = {make_truth(64, 1248, 960, 0.32), make_truth(32, 1248, 960, 0.32)};
    check_cuda("J2-like", truth, 496, 105);
    drop_truth(&truth[0]);
    drop_truth(&truth[1]);
}

/* With many views rows of fp16 have one texel a column; with one fewer, they have two. */
TEST(many_views_on_cuda)
{
    static const size_t n_views[2] = {568, 572};
    static const char *const kernels[] = {"matrix", "rot90"};

    if (!usable("cuda"))
        skip();
    for (int i = 0; i < 2; i++) {
        struct truth truth = make_truth(n_views[i], 512, 512, 0.8);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            AUTO_FREE float *cuda = reconstruct(
                &truth.scan, fbp_recon_params(.device = "cuda", .tuning.kernel = kernels[k],
                                              .precision = FBP_PRECISION_HALF));
            const double hu = rmse_hu(cuda, truth.ref, grid_size(&truth.scan.volume));
            print_message("%zu views: cuda %s half against ref: %.4f HU\n", n_views[i], kernels[k],
                          hu);
            assert_true(hu <= 0.1);
        }
        drop_truth(&truth);
    }
}

TEST_MAIN(NULL, NULL)
