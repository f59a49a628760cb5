/* Checks that no division of the work (threads, batches, slabs, devices) changes a bit of the
 * volume, on any backend. */
#include "recon/fixture.h"

#include "base/system.h"
#include "devices/mock/mock.h"

/* Views of n x n. */
static struct fbp_scan make_scan_of(size_t n_views, size_t n)
{
    struct fbp_scan scan = circle_scan(n_views, n, 11);

    /* Nothing symmetric, so that no two ways of computing agree by luck. */
    scan.volume = (struct fbp_grid){{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}};
    simulate_head(&scan, 90);
    return scan;
}

static struct fbp_scan make_scan(void)
{
    return make_scan_of(53, 48);
}

TEST(splits_change_nothing)
{
    static const struct fbp_recon_params cases[] = {
        {.n_threads = 1},
        {.n_threads = 2},
        {.n_threads = 5},
        {.n_threads = 7, .tuning.batch_views = 8},
        {.n_threads = 2, .tuning.batch_views = 16, .tuning.slab_slices = 45},
        {.n_threads = 3, .tuning.slab_slices = 1},
        {.n_threads = 2, .tuning.slab_slices = 7, .tuning.batch_views = 24},
        {.n_threads = 1, .tuning.slab_slices = 44},
        {.n_threads = 2,
         .tuning.slab_slices = 7,
         .tuning.batch_views = 8,
         .tuning.no_overlap = true},
    };
    AUTO_DROP struct fbp_scan scan = make_scan();

    static const char *const devices[] = {"cpu", "cpu", "ref"};
    static const char *const kernels[] = {"column", "matrix", "matrix"};
    for (size_t d = 0; d < 3; d++) {
        setenv("FBP_KERNEL", kernels[d], 1);
        const uint64_t whole = reconstruct_hash(&scan, fbp_recon_params(.device = devices[d]));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct fbp_recon_params p = cases[i];
            p.struct_size = sizeof p;
            p.device = devices[d];
            if (reconstruct_hash(&scan, &p) != whole)
                fail_msg("%s: %d threads, batches of %zu, slabs of %zu: other values", devices[d],
                         p.n_threads, p.tuning.batch_views, p.tuning.slab_slices);
        }
    }
    unsetenv("FBP_KERNEL");
}

/* Kernel rot90 in precision half: the unit of the samples comes from whole views, so it does not
 * depend on the rows that a slab needs. */
TEST(half_splits_change_nothing)
{
    static const struct fbp_recon_params cases[] = {
        {.n_threads = 1},
        {.n_threads = 3, .tuning.slab_slices = 1},
        {.n_threads = 2, .tuning.slab_slices = 7, .tuning.batch_views = 24},
        {.n_threads = 5, .tuning.batch_views = 8},
        {.n_threads = 2, .tuning.slab_slices = 44, .tuning.no_overlap = true},
    };
    AUTO_DROP struct fbp_scan scan = circle_scan(52, 48, 40);

    /* two odd numbers: of groups of views, and of slices */
    scan.volume = (struct fbp_grid){{41, 41, 45}, {4.1, 4.1, 4.3}, {0, 0, 5}};
    simulate_head(&scan, 90);
    const uint64_t whole =
        reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "rot90",
                                                 .precision = FBP_PRECISION_HALF));
    const uint64_t exact =
        reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "rot90"));
    assert_true(whole != exact || !(fbp_cpu_flags() & FBP_CPU_AVX2));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fbp_recon_params p = cases[i];
        p.struct_size = sizeof p;
        p.device = "cpu";
        p.tuning.kernel = "rot90";
        p.precision = FBP_PRECISION_HALF;
        if (reconstruct_hash(&scan, &p) != whole)
            fail_msg("half: %d threads, batches of %zu, slabs of %zu: other values", p.n_threads,
                     p.tuning.batch_views, p.tuning.slab_slices);
    }
}

/* Passes of 32 views, the last one short; the same device twice is two devices of one kind. */
TEST(cuda_splits_change_nothing)
{
    static const enum fbp_precision precisions[] = {FBP_PRECISION_EXACT, FBP_PRECISION_FAST};
    static const struct fbp_recon_params cases[] = {
        {.device = "cuda", .tuning.batch_views = 32},
        {.device = "cuda", .tuning.batch_views = 64, .tuning.slab_slices = 44},
        {.device = "cuda", .tuning.slab_slices = 1},
        {.device = "cuda", .tuning.slab_slices = 7, .tuning.batch_views = 96},
        {.device = "cuda:0,0", .tuning.slab_slices = 9},
        {.device = "cuda:0,0", .tuning.slab_slices = 4, .tuning.batch_views = 32},
    };

    if (!usable("cuda"))
        skip();
    AUTO_DROP struct fbp_scan scan = make_scan_of(141, 48);
    for (size_t k = 0; k < 4; k++) {
        const enum fbp_precision precision = precisions[k % 2];
        const int in_space = k >= 2;
        const uint64_t whole = reconstruct_hash(
            &scan, fbp_recon_params(.device = "cuda", .precision = precision, .n_threads = 1,
                                    .filtering.spatial = in_space));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct fbp_recon_params p = cases[i];
            p.struct_size = sizeof p;
            p.precision = precision;
            p.filtering.spatial = in_space;
            if (reconstruct_hash(&scan, &p) != whole)
                fail_msg("%s, precision %d: batches of %zu, slabs of %zu: other values", p.device,
                         (int)precision, p.tuning.batch_views, p.tuning.slab_slices);
        }
    }
}

/* All shapes of a kernel; of more than there are the rest is the one guessed. */
static void check_shapes(const struct fbp_scan *scan, const char *kernel,
                         enum fbp_precision precision)
{
    const int n_shapes = precision == FBP_PRECISION_EXACT ? 6 : 3;
    uint64_t first = 0;

    for (int shape = 0; shape < n_shapes; shape++) {
        AUTO_FREE char *text = printed("%d", shape);
        setenv("FBP_SHAPE", text, 1);
        const uint64_t hash =
            reconstruct_hash(scan, fbp_recon_params(.device = "cuda", .precision = precision,
                                                    .tuning.kernel = kernel));
        if (shape > 0 && hash != first)
            fail_msg("%s, precision %d, %zu pixels: shape %d has other values", kernel,
                     (int)precision, scan->panel.n_columns, shape);
        first = hash;
    }
    unsetenv("FBP_SHAPE");
}

static void check_value(const struct fbp_scan *scan, const char *kernel)
{
    AUTO_FREE float *ref = reconstruct(scan, fbp_recon_params(.device = "ref"));
    float *cuda =
        reconstruct(scan, fbp_recon_params(.device = "cuda", .precision = FBP_PRECISION_EXACT,
                                           .tuning.kernel = kernel));

    assert_true(psnr_db(cuda, ref, grid_size(&scan->volume)) >= 105);
    free(cuda);
}

/* One to six pixels a voxel: windows that fit and windows that do not; volumes within the view and
 * larger ones, whose boxes lie across the detector's edge and beside it. */
TEST(cuda_shapes_change_nothing)
{
    static const struct {
        size_t pixels;
        double enlarged;
    } cases[] = {{48, 1}, {150, 1}, {290, 1}, {32, 2.2}, {70, 2.2}, {150, 2.2}};

    if (!usable("cuda"))
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan_of(37, cases[i].pixels);
        for (int axis = 0; axis < 3; axis++)
            scan.volume.voxel_mm[axis] *= cases[i].enlarged;
        for (int p = FBP_PRECISION_EXACT; p <= FBP_PRECISION_HALF; p++) {
            check_shapes(&scan, "matrix", p);
            check_shapes(&scan, "column", p);
        }
        check_value(&scan, "matrix");
        check_value(&scan, "column");
    }
}

/* A run that times the shapes, one that finds the fastest kept, and one that does neither. */
TEST(cuda_tuning_changes_nothing)
{
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = "cuda",
                                       .precision = FBP_PRECISION_EXACT,
                                       .tuning.kernel = "matrix"};

    if (!usable("cuda"))
        skip();
    AUTO_FREE char *folder = temporary("cache");
    AUTO_FREE char *file = printed("%s/fbp/cuda-shapes", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
    AUTO_DROP struct fbp_scan scan = make_scan_of(400, 48);
    scan.volume = (struct fbp_grid){{130, 126, 133}, {1.3, 1.3, 1.3}, {3, -2, 5}};
    setenv("FBP_TUNE", "0", 1);
    const uint64_t hash = reconstruct_hash(&scan, &p);
    assert_int_not_equal(access(file, F_OK), 0);
    unsetenv("FBP_TUNE");
    assert_true(reconstruct_hash(&scan, &p) == hash);
    assert_int_equal(access(file, F_OK), 0);
    assert_true(reconstruct_hash(&scan, &p) == hash);
    remove(file);
    unsetenv("XDG_CACHE_HOME");
}

TEST(mock_devices_give_the_cpus_bits)
{
    static const char *const devices[] = {"mock", "mock:2", "mock:0,1", "mock:3,0,1"};
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t cpu = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    for (unsigned slow = 0; slow <= FBP_N_STAGES; slow++) {
        fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 300, .slow_stage = slow};
        for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
            assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = devices[i],
                                                                 .tuning.batch_views = 8,
                                                                 .tuning.slab_slices = 6)) == cpu);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Filtered views that are kept, with memory for one slab and for small ones, on one device and on
 * two; with single views and with those of four quarter turns. */
TEST(kept_views_change_nothing)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "mock"},
        {.device = "mock", .tuning.batch_views = 8},
        {.device = "mock", .tuning.slab_slices = 5, .tuning.batch_views = 16},
        {.device = "mock:0,1", .tuning.slab_slices = 5},
    };
    static const char *const kernels[] = {"column", "rot90"};
    const struct fbp_rates card = {1e-12, 1e-10, 1e-12, 1e-10, .share = 1};

    for (size_t k = 0; k < 2; k++) {
        AUTO_DROP struct fbp_scan scan = make_scan_of(k == 0 ? 45 : 48, 48);
        if (k == 1)
            scan.volume = (struct fbp_grid){{40, 40, 45}, {4, 4, 4}, {0, 0, 0}};
        const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (unsigned slow = 0; slow <= FBP_N_STAGES; slow += 2) {
                struct fbp_recon_params p = cases[i];
                struct fbp_report r = {.struct_size = sizeof r};
                fbp_mock_faults =
                    (struct fbp_mock_faults){.rates = card, .delay_us = 300, .slow_stage = slow};
                p.struct_size = sizeof p;
                CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &p);
                const struct fbp_plan_summary *info = fbp_plan_info(plan);
                assert_string_equal(info->kernel, kernels[k]);
                assert_true(info->view_reads <= (double)info->n_devices);
                for (int run = 0; run < 2; run++) {
                    OK(fbp_plan_run(plan, "hash:", &r));
                    assert_true(r.hash == right);
                }
            }
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

static int count_calls(void *user, const struct fbp_progress *p)
{
    int *n = user;

    *n += 1;
    return p->done > p->total; /* never */
}

/* A device so slow that it gets the fewest views at once: one group of them a command. */
TEST(short_commands_change_nothing)
{
    static const char *const devices[] = {"mock", "mock:0,1"};
    /* Filtered views are kept where uploads take long, else there are two slabs or more. */
    static const double uploads[] = {1e-12, 1e-2};

    for (size_t k = 0; k < 2; k++) { /* column, rot90 */
        AUTO_DROP struct fbp_scan scan = make_scan_of(k == 0 ? 45 : 96, 48);
        if (k == 1)
            scan.volume = (struct fbp_grid){{40, 40, 45}, {4, 4, 4}, {0, 0, 0}};
        const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
        for (size_t i = 0; i < 4; i++) {
            int calls[2] = {0, 0};
            for (int slow = 0; slow < 2; slow++) {
                fbp_mock_faults = (struct fbp_mock_faults){
                    .rates = {uploads[i / 2], 1e-10, 1e-12, slow ? 1 : 1e-12, 0}};
                assert_true(
                    reconstruct_hash(
                        &scan, fbp_recon_params(.device = devices[i % 2], .tuning.batch_views = 48,
                                                .callbacks.progress = count_calls,
                                                .callbacks.user = &calls[slow])) == right);
            }
            assert_true(calls[1] > calls[0] + 4);
        }
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* One stage at a time: their seconds cannot add up to more than the whole. */
TEST(stages_can_be_kept_apart)
{
    static const char *const devices[] = {"cpu", "mock", "mock:0,1"};
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 300, .slow_stage = 1 + FBP_STAGE_FILTER};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct fbp_report r = {.struct_size = sizeof r};
        OK(reconstruct_to(&scan,
                          fbp_recon_params(.device = devices[i], .tuning.batch_views = 8,
                                           .tuning.slab_slices = 6, .tuning.no_overlap = true),
                          "hash:", &r));
        assert_true(r.hash == right);
        assert_true(r.open + r.read + r.filter + r.backproject + r.write + r.finish <= r.total);
        assert_true(r.upload <= r.filter && r.fetch <= r.write);
        assert_true(i == 0 ? r.upload == 0 && r.fetch == 0 : r.upload > 0 && r.fetch > 0);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* A pipeline with one transfer or one order missing must not pass unnoticed. */
TEST(planted_mistakes_are_found)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = "mock",
                                       .tuning.batch_views = 8,
                                       .tuning.slab_slices = 12};
    const uint64_t right = reconstruct_hash(&scan, &p);
    struct fbp_report report = {.struct_size = sizeof report};
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;

#ifdef __SANITIZE_THREAD__
    skip(); /* a forgotten order is a race, which is what that sanitizer would report */
#endif
    OK(fbp_plan_create(&plan, &scan, &p));
    for (uint64_t i = 1; i <= 20; i += 3) {
        fbp_mock_faults = (struct fbp_mock_faults){.drop_upload = i};
        assert_fails(fbp_plan_run(plan, "hash:", &report), FBP_ERR_DEVICE,
                     "before they were uploaded");
    }
    /* Orders: with a late queue, each kind of forgotten order shows in some place. */
    int found = 0;
    for (unsigned slow = 1; slow <= FBP_N_STAGES; slow++)
        for (uint64_t i = 1; i <= 24; i++) {
            fbp_mock_faults =
                (struct fbp_mock_faults){.drop_after = i, .delay_us = 300, .slow_stage = slow};
            const fbp_status st = fbp_plan_run(plan, "hash:", &report);
            found += st != FBP_OK || report.hash != right;
        }
    print_message("%d of %d forgotten orders were found\n", found, FBP_N_STAGES * 24);
    assert_true(found >= 12);
    fbp_mock_faults = (struct fbp_mock_faults){0};
    OK(fbp_plan_run(plan, "hash:", &report));
    assert_true(report.hash == right);
}

/* A kernel can be asked for; one that the geometry does not allow is refused, not replaced. */
TEST(kernels_are_chosen_by_geometry)
{
    AUTO_DROP struct fbp_scan scan = make_scan();

    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
    assert_string_equal(fbp_plan_info(plan)->kernel, "column");
    fbp_plan_destroy(&plan);
    OK(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "matrix")));
    assert_string_equal(fbp_plan_info(plan)->kernel, "matrix");
    fbp_plan_destroy(&plan);
    for (size_t k = 0; k < scan.n_views; k++)
        scan.views[k].v[0] += 1e-3 * scan.views[k].v[2]; /* rows lean: u depends on z */
    OK(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu")));
    assert_string_equal(fbp_plan_info(plan)->kernel, "tilted");
    fbp_plan_destroy(&plan);
    assert_fails(
        fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "column")),
        FBP_ERR_UNSUPPORTED, "omit the kernel");
    assert_null(plan);
    assert_int_equal(fbp_plan_create(&plan, &scan, fbp_recon_params(.tuning.kernel = "rot45")),
                     FBP_ERR_UNSUPPORTED);
}

TEST_MAIN(NULL, NULL)
