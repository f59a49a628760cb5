/* Checks limits of memory: what a plan may use beside the memory that the process has already,
 * and what counts (tables of slices, devices in host memory). */
#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"
#include "unit/mat_out.h"
#include "unit/memory_scan.h"

static const size_t MIB = (size_t)1 << 20;

/* The plan's facts, or its failure. */
static fbp_status plan_of(const struct fbp_grid *volume, const char *device, size_t memory,
                          struct fbp_plan_summary *out)
{
    const struct fbp_scan scan = scan_of(volume);
    CLEANUP(fbp_source_close) fbp_source *source = a_source();
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
    const fbp_status st = fbp_plan_create(&plan, &scan,
                                          fbp_recon_params(.device = device, .input.source = source,
                                                           .memory_bytes = memory, .n_threads = 2));
    if (plan)
        *out = *fbp_plan_info(plan);
    return st;
}

static const struct fbp_grid cube = {{128, 128, 128}, {0.3, 0.3, 0.3}, {0, 0, 0}};

/* A caller who holds much gets its plan; the process's own limit counts all. */
TEST(beside_what_is_held)
{
    struct fbp_plan_summary info;
    const size_t held = 200 * MIB, plan = 60 * MIB;
    AUTO_FREE char *much = not_null(malloc(held));

    memset(much, 1, held);
    OK(plan_of(&cube, "cpu", plan, &info));
    assert_true(info.memory_bytes > held);
    assert_true(info.memory_limit >= fbp_resident_bytes() + plan - MIB);
    fbp_limit_memory(held);
    assert_int_equal(plan_of(&cube, "cpu", plan, &info), FBP_ERR_NOMEM);
    assert_int_equal(plan_of(&cube, "cpu", 0, &info), FBP_ERR_NOMEM);
    fbp_limit_memory(held + 150 * MIB);
    OK(plan_of(&cube, "cpu", 0, &info));
    assert_int_equal(info.memory_limit, held + 150 * MIB);
    fbp_limit_memory(0);
    assert_true(much[held / 2] == 1);
}

TEST(slices_have_tables)
{
    const struct fbp_grid flat = {{3000, 1000, 1}, {1e-3, 1e-3, 1e-3}, {0, 0, 0}};
    const struct fbp_grid tall = {{1, 1, 3000000}, {1e-3, 1e-3, 1e-6}, {0, 0, 0}};
    struct fbp_plan_summary a, b;

    OK(plan_of(&flat, "ref", 0, &a));
    OK(plan_of(&tall, "ref", 0, &b)); /* as many voxels */
    assert_true(b.memory_bytes > a.memory_bytes + 9 * tall.n[2]);
    const struct fbp_grid taller = {{1, 1, 30000000}, {1e-3, 1e-3, 1e-7}, {0, 0, 0}};
    assert_fails(plan_of(&taller, "cpu", 100 * MIB, &b), FBP_ERR_NOMEM, "needs at least");
}

TEST(pretended_devices_count)
{
    struct fbp_plan_summary one, three;

    OK(plan_of(&cube, "mock", 0, &one));
    assert_true(one.device_bytes > 8 * MIB && one.memory_bytes > one.device_bytes + 8 * MIB);
    OK(plan_of(&cube, "mock:0,1,2", 0, &three));
    assert_true(three.memory_bytes > 3 * three.device_bytes);
}

/* A(view, row, column). */
static void write_mat(const char *path, size_t n[3])
{
    const size_t all = n[0] * n[1] * n[2];
    AUTO_FREE float *values = not_null(malloc(all * sizeof *values));
    FILE *f = mat_create(path);

    for (size_t i = 0; i < all; i++)
        values[i] = (float)(i % 1000);
    mat_put(f, mat_array("A", FBP_MX_SINGLE, FBP_MI_SINGLE, 3, n, values, NULL), false);
    fclose(f);
}

/* The reader of MAT files holds an array and its samples at the same time: both count. */
TEST(what_looks_at_files_counts)
{
    static char path[] = FBP_TEST_DIR "/limit.mat";
    const struct fbp_grid small = {{16, 16, 16}, {1, 1, 1}, {0, 0, 0}};
    size_t n[3] = {N_VIEWS, 800, 400};
    const size_t bytes = n[0] * n[1] * n[2] * sizeof(float);
    const double mib = 0x1p20;
    struct fbp_plan_summary info;

    write_mat(path, n);
    struct fbp_scan scan = scan_of(&small);
    scan.panel.n_columns = n[2];
    scan.panel.n_rows = n[1];
    scan.projections = path;
    const struct fbp_recon_params params = {
        .struct_size = sizeof params, .device = "ref", .n_threads = 1};
    const uint64_t held = fbp_resident_bytes();
    fbp_plan *plan = create_plan(&scan, &params);
    info = *fbp_plan_info(plan);
    fbp_plan_destroy(&plan);
    if (info.memory_bytes < held + 2 * bytes || info.memory_bytes > held + 4 * bytes)
        fail_msg("%.1f MiB are predicted beside %.1f, of an array of %.1f",
                 (double)info.memory_bytes / mib, (double)held / mib, (double)bytes / mib);
    assert_true(info.memory_bytes <= info.memory_limit);
    /* As much as the samples and a small volume take, and not what their reader held. */
    fbp_limit_memory(info.memory_bytes - bytes / 4);
    assert_int_not_equal(fbp_plan_create(&plan, &scan, &params), FBP_OK);
    assert_says("--memory");
    fbp_limit_memory(info.memory_bytes + 4 * bytes);
    OK(fbp_plan_create(&plan, &scan, &params));
    fbp_plan_destroy(&plan);
    fbp_limit_memory(0);
    unlink(path);
}

TEST_MAIN(NULL, NULL)
