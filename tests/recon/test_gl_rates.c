/* Checks the rates of OpenGL devices: a run measures and stores them, later plans use them, and
 * the divisions that follow have the same bits. */
#include "recon/planted.h"

#include <sys/stat.h>

static char *cache;

static struct fbp_scan make_scan(size_t n_views, size_t side)
{
    return head_scan(n_views, 48, 48, &(struct orbit){.pitch_mm = {6, 6}},
                     (struct fbp_grid){{side, side, side}, {3, 3, 3}, {0, 0, 0}}, 90);
}

static int start(void **state)
{
    lift(state);
    AUTO_FREE char *file = printed("%s/fbp/gl-rates", cache);
    remove(file);
    setenv("XDG_CACHE_HOME", cache, 1);
    unsetenv("FBP_TUNE");
    return 0;
}

struct way {
    const char *name, *kernel;
    enum fbp_precision precision;
};

/* Views that are kept, and two slabs: filtered once or twice, fetched early. */
TEST_WITH(divisions_by_rates_have_the_same_bits, start, NULL)
{
    static const struct fbp_rates rates[] = {
        {1 / 54e9, 1 / 54e9, 1 / 50e9, 1e-11, 10e-6, .share = 1},
        {1 / 5e9, 1 / 54e9, 1 / 50e9, 1e-12, 10e-6, .share = 1},
        {1 / 54e12, 1 / 1e9, 1 / 50e9, 1e-12, 10e-9, .share = 1},
    };
    static const struct way ways[] = {
        {"matrix", "matrix", FBP_PRECISION_FAST},
        {"plain", "column-plain", FBP_PRECISION_EXACT},
        {"turns", "rot90", FBP_PRECISION_HALF},
        {"half", "matrix", FBP_PRECISION_HALF},
    };
    AUTO_DROP struct fbp_scan scan = make_scan(32, 20);
    size_t kept = 0, several = 0;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fbp_recon_params p = {.struct_size = sizeof p,
                                     .device = "gl",
                                     .tuning.kernel = ways[i].kernel,
                                     .precision = ways[i].precision};
        plant->rates = (struct fbp_rates){0};
        const uint64_t whole = reconstruct_hash(&scan, &p);
        for (size_t k = 0; k < 2 * sizeof rates / sizeof *rates; k++) {
            struct fbp_report r = {.struct_size = sizeof r};
            plant->rates = rates[k / 2];
            p.tuning.slab_slices = k % 2 ? 8 : 0;
            CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &p);
            kept += fbp_plan_info(plan)->keeps_views != 0;
            several += fbp_plan_info(plan)->n_slabs > 1;
            assert_true(fbp_plan_info(plan)->predicted.total > 0);
            OK(fbp_plan_run(plan, "hash:", &r));
            if (r.hash != whole)
                fail_msg("%s, division %zu: other bits", ways[i].name, k);
        }
    }
    print_message("%zu divisions keep views, %zu have several slabs\n", kept, several);
    assert_true(kept > 6 && several > 6);
}

/* Is anything known when a plan is made? */
static bool known(const struct fbp_scan *scan, const char *kernel)
{
    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(scan, fbp_recon_params(.device = "gl", .tuning.kernel = kernel));
    return fbp_plan_info(plan)->predicted.total > 0;
}

TEST_WITH(a_run_measures_once, start, NULL)
{
    AUTO_DROP struct fbp_scan scan = make_scan(48, 24);
    const struct fbp_recon_params *p = fbp_recon_params(.device = "gl", .tuning.kernel = "matrix");

    const uint64_t before = reconstruct_hash(&scan, p);
    assert_false(known(&scan, "matrix")); /* software: of no interest */
    plant->hardware = plant->short_runs = true;
    plant->apply();
    assert_false(known(&scan, "matrix"));
    assert_true(reconstruct_hash(&scan, p) == before);
    assert_true(known(&scan, "matrix"));
    assert_false(known(&scan, "column"));
    assert_true(reconstruct_hash(&scan, p) == before);
    setenv("FBP_TUNE", "0", 1);
    assert_false(known(&scan, "matrix"));
    unsetenv("FBP_TUNE");
    assert_true(known(&scan, "matrix"));
}

/* All values of the file get this one. */
static void spoil(const char *value)
{
    char file[4200], line[1000], text[8000] = "";

    snprintf(file, sizeof file, "%s/fbp/gl-rates", cache);
    FILE *f = not_null(fopen(file, "r"));
    while (fgets(line, sizeof line, f)) {
        char *tab = strchr(line, '\t');
        if (tab)
            sprintf(tab + 1, "%s\n", value);
        strcat(text, line);
    }
    fclose(f);
    f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST_WITH(damage_is_ignored, start, NULL)
{
    static const char *const damaged[] = {"",
                                          "1e-9",
                                          "1e-9 1e-9 1e-9",
                                          "1e-9 1e-9 1e-9 0",
                                          "1e-9 1e-9 1e-9 1e-9 1e-9",
                                          "1e-9 1e-9 nan 1e-9",
                                          "1e-9 -1 1e-9 1e-9"};
    AUTO_DROP struct fbp_scan scan = make_scan(48, 24);

    plant->hardware = plant->short_runs = true;
    plant->apply();
    (void)known(&scan, "column");
    (void)reconstruct_hash(&scan, fbp_recon_params(.device = "gl", .tuning.kernel = "matrix"));
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        spoil(damaged[i]);
        (void)known(&scan, "column"); /* so that it is read again */
        assert_false(known(&scan, "matrix"));
    }
    spoil("1e-9 1e-9 1e-9 1e-9");
    (void)known(&scan, "column");
    assert_true(known(&scan, "matrix"));
}

int main(int argc, char **argv)
{
    if (!usable("gl"))
        return 77;
    cache = temporary("gl-cache");
    assert_int_equal(mkdir(cache, 0777), 0);
    find_plant();
    const int failed = run_file_tests(argc, argv, NULL, NULL);
    start(NULL);
    free(cache);
    return failed;
}
