/*
 * fp32 kernels against the specification in double, on filtered phantom views: PSNR >= 110 dB for
 * J1's views, >= 105 dB for J2's (2.5 samples a voxel); on the CPU and on CUDA.  A few whole slices
 * over the full height.
 */
#include "recon/fixture.h"

static struct fbp_scan make_scan(size_t n_views, size_t columns, size_t rows, double pitch)
{
    static const double sod = 750, sdd = 1200;
    double *angles = even_angles(n_views, 0, 360.0 / (double)n_views);
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .n_views = n_views,
                                      .angles_rad = angles,
                                      .sod_mm = &sod,
                                      .sdd_mm = &sdd,
                                      .n_sod = 1,
                                      .n_sdd = 1,
                                      .pitch_mm = {pitch, pitch}};
    struct fbp_scan scan = {.n_views = n_views,
                            .panel = {columns, rows},
                            .volume = {{512, 512, 4}, {0.5, 0.5, 60}, {0, 0, 0}}};
    struct fbp_phantom phantom;

    scan.views = calloc(n_views, sizeof *scan.views);
    assert_non_null(scan.views);
    OK(fbp_circle_views(&circle, scan.views));
    free(angles);
    OK(fbp_phantom_create(&phantom, "shepp-logan", 128, 0.02));
    simulate(&scan, &phantom);
    fbp_phantom_clear(&phantom);
    return scan;
}

/* Values of water at 0.02/mm. */
static double rmse_hu(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum / (double)n) * 1000 / 0.02;
}

/* Texture units interpolate to 1/256 of a pixel and fp16 has 11 bits, so that `fast` and `half`
 * have floors of their own. */
static void check_cuda(const char *name, struct fbp_scan *scan, const float *ref, double floor_db)
{
    static const struct {
        const char *kernel, *name;
        enum fbp_precision precision;
    } cases[] = {
        {"matrix", "exact", FBP_PRECISION_EXACT}, {"column", "exact", FBP_PRECISION_EXACT},
        {"rot90", "exact", FBP_PRECISION_EXACT},  {"rot90+mirror", "exact", FBP_PRECISION_EXACT},
        {"matrix", "fast", FBP_PRECISION_FAST},   {"column", "fast", FBP_PRECISION_FAST},
        {"column", "half", FBP_PRECISION_HALF},   {"rot90", "half", FBP_PRECISION_HALF}};
    const size_t n = grid_size(&scan->volume);

    if (!usable("cuda"))
        return;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        float *cuda =
            reconstruct(scan, fbp_recon_params(.device = "cuda", .kernel = cases[k].kernel,
                                               .precision = cases[k].precision));
        const double db = psnr_db(cuda, ref, n), hu = rmse_hu(cuda, ref, n);
        print_message("%s: cuda %s %s against ref: %.1f dB, %.4f HU\n", name, cases[k].kernel,
                      cases[k].name, db, hu);
        assert_true(db >= (cases[k].precision == FBP_PRECISION_EXACT ? floor_db : 70));
        assert_true(hu <= 0.1);
        free(cuda);
    }
}

static void check(const char *name, struct fbp_scan *scan, double floor_db)
{
    static const char *const kernels[] = {"matrix", "column",        "mirror",      "rot180",
                                          "rot90",  "rot180+mirror", "rot90+mirror"};
    static const char *const levels[] = {"c", "avx2", "avx512"};
    const size_t n = grid_size(&scan->volume);
    float *ref = reconstruct(scan, fbp_recon_params(.device = "ref"));

    check_cuda(name, scan, ref, floor_db);
    const char *saved = getenv("FBP_CPU");
    char *keep = saved ? strdup(saved) : NULL;

    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int i = 0; i < 3; i++) {
            setenv("FBP_CPU", levels[i], 1);
            float *cpu = reconstruct(scan, fbp_recon_params(.device = "cpu", .kernel = kernels[k]));
            const double db = psnr_db(cpu, ref, n);
            print_message("%s: cpu %s %s against ref: %.1f dB\n", name, kernels[k], levels[i], db);
            assert_true(db >= floor_db);
            free(cpu);
        }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
    free(keep);
    free(ref);
    drop_scan(scan);
}

static void j1_views(void **state)
{
    struct fbp_scan scan = make_scan(120, 512, 512, 0.8);
    (void)state;
    check("J1-like", &scan, 110);
}

static void j2_views(void **state)
{
    struct fbp_scan scan = make_scan(64, 1248, 960, 0.32);
    (void)state;
    check("J2-like", &scan, 105);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(j1_views), cmocka_unit_test(j2_views)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
