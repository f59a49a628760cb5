/* Checks kernels that use rotational symmetry, on objects without symmetry: the values of ref,
 * and the same bits for every division of the work. */
#include "recon/fixture.h"

#include "devices/mock/mock.h"

/* Grids and detectors of odd and even sizes, both senses of rotation. */
static const struct scan_case {
    const char *kernel; /* the plan's own choice, or what it is asked for */
    bool chosen;
    size_t views;
    double arc_deg;
    size_t columns, rows;
    struct fbp_grid grid;
} cases[] = {
    {"rot90", true, 52, 360, 48, 40, {{40, 40, 36}, {4, 4, 4}, {0, 0, 0}}},
    {"rot90", true, 36, -360, 51, 41, {{41, 41, 37}, {4, 4, 4}, {0, 0, 0}}},
    {"rot180", false, 50, 360, 48, 41, {{41, 36, 36}, {4, 4.5, 4}, {0, 0, 0}}},
    {"rot180", false, 52, -360, 47, 40, {{36, 41, 35}, {4, 4, 4}, {0, 0, 0}}},
    {"rot90", true, 52, 360, 48, 40, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
    {"rot90", true, 52, -360, 49, 40, {{40, 40, 37}, {4, 4, 4}, {0, 0, -7}}},
    {"rot180", true, 54, 360, 48, 200, {{40, 41, 36}, {4, 4, 4}, {0, 0, -7}}},
    {"rot180", false, 52, -360, 48, 40, {{41, 40, 35}, {4, 4, 4}, {0, 0, 1}}},
};

enum { N_CASES = sizeof cases / sizeof *cases };

static struct fbp_scan make_scan(const struct scan_case *c)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = c->views,
                            .panel = {c->columns, c->rows},
                            .volume = c->grid};

    add_views(&scan, &(struct orbit){.start_deg = 11,
                                     .step_deg = c->arc_deg / (double)c->views,
                                     .pitch_mm = {8, 300. / (double)c->rows}});
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = create_phantom("shepp-logan", 90, 0.02);
    for (size_t i = 0; i < phantom.n; i++) {
        phantom.items[i].centre_mm[0] += 7;
        phantom.items[i].centre_mm[1] -= 4;
        phantom.items[i].centre_mm[2] += 5;
    }
    simulate(&scan, &phantom);
    return scan;
}

static const char *asked(const struct scan_case *c)
{
    return c->chosen ? NULL : c->kernel;
}

TEST(values_are_the_references)
{
    for (size_t i = 0; i < N_CASES; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        const size_t n = grid_size(&scan.volume);
        fbp_plan *plan = create_plan(
            &scan, fbp_recon_params(.device = "cpu", .tuning.kernel = asked(&cases[i])));
        assert_string_equal(fbp_plan_info(plan)->kernel, cases[i].kernel);
        fbp_plan_destroy(&plan);
        AUTO_FREE float *ref = reconstruct(&scan, fbp_recon_params(.device = "ref"));
        AUTO_FREE float *cpu = reconstruct(
            &scan, fbp_recon_params(.device = "cpu", .tuning.kernel = asked(&cases[i])));
        const double db = psnr_db(cpu, ref, n);
        print_message("%s: %.1f dB\n", cases[i].kernel, db);
        assert_true(db >= 120);
    }
}

/* Angles that are rounded to some thousandths of a degree are symmetric within 1/100 pixel, and the
 * values then differ little from those of kernel matrix. Larger deviations are not symmetric. */
TEST(rounded_views_are_symmetric)
{
    static const double deviations_deg[] = {0, 0.002, 0.02};
    const struct scan_case c = {
        "rot90", true, 180, 360, 128, 96, {{64, 64, 48}, {3, 3, 3}, {0, 0, 0}}};

    for (int i = 0; i < 3; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&c);
        for (size_t k = 0; k < scan.n_views; k++) {
            const double angle = ((double)(k * 7919 % 13) / 6 - 1) * deviations_deg[i] * PI / 180;
            double *const vectors[] = {scan.views[k].s, scan.views[k].d, scan.views[k].u,
                                       scan.views[k].v};
            for (int j = 0; j < 4; j++) {
                const double x = vectors[j][0], y = vectors[j][1];
                vectors[j][0] = cos(angle) * x - sin(angle) * y;
                vectors[j][1] = sin(angle) * x + cos(angle) * y;
            }
        }
        const size_t n = grid_size(&scan.volume);
        fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
        const bool symmetric = strcmp(fbp_plan_info(plan)->kernel, "rot90") == 0;
        fbp_plan_destroy(&plan);
        AUTO_FREE float *a = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
        AUTO_FREE float *b =
            reconstruct(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "matrix"));
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += pow((double)a[j] - (double)b[j], 2);
        const double hu = 1000 / 0.02 * sqrt(sum / (double)n);
        print_message("%g deg: %s, %.2g HU rms\n", deviations_deg[i],
                      symmetric ? "symmetric" : "not symmetric", hu);
        assert_int_equal(symmetric, i < 2);
        assert_true(hu < 1);
    }
}

TEST(splits_change_nothing)
{
    static const struct fbp_recon_params splits[] = {
        {.n_threads = 2, .tuning.batch_views = 8},
        {.n_threads = 7, .tuning.slab_slices = 1, .tuning.batch_views = 16},
        {.n_threads = 3, .tuning.slab_slices = 2},
        {.n_threads = 2, .tuning.slab_slices = 7, .tuning.batch_views = 24},
        {.device = "mock", .n_threads = 2, .tuning.slab_slices = 6, .tuning.batch_views = 8},
        {.device = "mock:0,1", .n_threads = 1, .tuning.batch_views = 16},
    };

    fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 50};
    for (size_t i = 0; i < N_CASES; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        const uint64_t whole =
            reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .n_threads = 1,
                                                     .tuning.kernel = asked(&cases[i])));
        for (size_t s = 0; s < sizeof splits / sizeof *splits; s++) {
            struct fbp_recon_params p = splits[s];
            p.struct_size = sizeof p;
            p.tuning.kernel = asked(&cases[i]);
            p.device = p.device ? p.device : "cpu";
            if (reconstruct_hash(&scan, &p) != whole)
                fail_msg("%s (case %zu): split %zu: other values", cases[i].kernel, i, s);
        }
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Bad pixels are bridged in the views of all parts, in each slab. */
TEST(bad_pixels_are_bridged)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&cases[0]);
    const size_t n = scan.panel.n_columns * scan.panel.n_rows;
    AUTO_FREE float *mask = not_null(calloc(n, sizeof *mask));

    for (size_t i = 0; i < n; i += 37)
        mask[i] = 1;
    scan.bad_pixels = write_array("mask.mha", scan.panel.n_columns, scan.panel.n_rows, 1, mask);
    AUTO_FREE float *ref = reconstruct(&scan, fbp_recon_params(.device = "ref"));
    AUTO_FREE float *cpu =
        reconstruct(&scan, fbp_recon_params(.device = "cpu", .tuning.slab_slices = 4));
    assert_true(psnr_db(cpu, ref, grid_size(&scan.volume)) >= 120);
}

/* Kernels of the GPU, with what each must reach: texture units interpolate to 1/256 of a pixel. */
static const struct cuda_case {
    const char *kernel;
    enum fbp_precision precision;
    double floor_db;
} cuda_cases[] = {
    {"rot90", FBP_PRECISION_EXACT, 105},  {"rot90", FBP_PRECISION_HALF, 60},
    {"rot180", FBP_PRECISION_EXACT, 105}, {"rot180", FBP_PRECISION_FAST, 60},
    {"rot180", FBP_PRECISION_HALF, 60},   {"column", FBP_PRECISION_EXACT, 105},
    {"column", FBP_PRECISION_HALF, 60},   {"matrix", FBP_PRECISION_EXACT, 105},
    {"matrix", FBP_PRECISION_FAST, 60},   {"matrix", FBP_PRECISION_HALF, 60},
};

enum { N_CUDA_CASES = sizeof cuda_cases / sizeof *cuda_cases };

static struct fbp_recon_params cuda_params(const struct cuda_case *c)
{
    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = "cuda",
                                     .tuning.kernel = c->kernel,
                                     .precision = c->precision};
}

/* Does the plan have this kernel for the scan? */
static bool applies(const struct fbp_scan *scan, const struct cuda_case *c)
{
    const struct fbp_recon_params p = cuda_params(c);
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
    const bool ok = fbp_plan_create(&plan, scan, &p) == FBP_OK;

    return ok;
}

static bool is_expected(const struct scan_case *scan, const struct cuda_case *c)
{
    return strcmp(c->kernel, "column") == 0 || strcmp(c->kernel, "matrix") == 0 ||
           strcmp(scan->kernel, c->kernel) == 0;
}

TEST(values_on_cuda)
{
    if (!usable("cuda"))
        skip();
    for (size_t i = 0; i < N_CASES; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        AUTO_FREE float *ref = reconstruct(&scan, fbp_recon_params(.device = "ref"));
        for (size_t k = 0; k < N_CUDA_CASES; k++) {
            const struct cuda_case *c = &cuda_cases[k];
            if (!applies(&scan, c)) {
                assert_false(is_expected(&cases[i], c));
                continue;
            }
            const struct fbp_recon_params p = cuda_params(c);
            AUTO_FREE float *cuda = reconstruct(&scan, &p);
            const double db = psnr_db(cuda, ref, grid_size(&scan.volume));
            print_message("case %zu: cuda %s, precision %d: %.1f dB\n", i, c->kernel,
                          (int)c->precision, db);
            if (!(db >= c->floor_db))
                fail_msg("case %zu: cuda %s, precision %d: %.1f dB", i, c->kernel,
                         (int)c->precision, db);
        }
    }
}

TEST(splits_on_cuda)
{
    static const struct fbp_recon_params splits[] = {
        {.tuning.batch_views = 32},
        {.tuning.slab_slices = 1},
        {.tuning.slab_slices = 7, .tuning.batch_views = 32}};

    if (!usable("cuda"))
        skip();
    for (size_t i = 0; i < N_CASES; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        for (size_t k = 0; k < N_CUDA_CASES; k++) {
            if (!applies(&scan, &cuda_cases[k]))
                continue;
            struct fbp_recon_params p = cuda_params(&cuda_cases[k]);
            const uint64_t whole = reconstruct_hash(&scan, &p);
            for (size_t s = 0; s < sizeof splits / sizeof *splits; s++) {
                p.tuning.batch_views = splits[s].tuning.batch_views;
                p.tuning.slab_slices = splits[s].tuning.slab_slices;
                if (reconstruct_hash(&scan, &p) != whole)
                    fail_msg("case %zu: cuda %s, precision %d: split %zu: other values", i,
                             p.tuning.kernel, (int)p.precision, s);
            }
        }
    }
}

TEST_MAIN(NULL, NULL)
