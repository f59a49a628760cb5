/* Checks the volumes and filtered views that benchmarks compare kernels with
 * (bench/common/measure.c): they equal those of the simulator and of backend ref, on devices with
 * and without memory of their own. */
#include "recon/fixture.h"

#include "bench/common/measure.h"

#include "base/threads.h"
#include "bench/common/truth.h"
#include "bench/common/views.h"
#include "devices/mock/mock.h"
#include "pipeline/job.h"

enum { VIEWS = 20, SIDE = 24 };

static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = circle_scan(VIEWS, 31, 3);

    scan.volume = (struct fbp_grid){{SIDE, SIDE, SIDE}, {8, 8, 8}, {0, 0, 0}};
    return scan;
}

TEST(truth_is_the_specification)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    CLEANUP(fbp_job_clear) struct fbp_job_tables tables;
    struct fbp_bench_truth truth;
    fbp_pool *pool;
    AUTO_FREE float *views = not_null(malloc(VIEWS * 31 * 31 * sizeof *views));

    OK(fbp_job_create(&tables, &scan, fbp_recon_params(.n_threads = 3), false));
    OK(fbp_pool_create(&pool, 3));
    OK(fbp_bench_project(&scan, 96, 3, views));
    OK(fbp_bench_truth_make(&truth, &tables.job, views, 2, SIDE - 3, pool, 3));

    simulate_head(&scan, 96);
    AUTO_FREE float *simulated = read_array(scan.projections);
    assert_memory_equal(views, simulated, VIEWS * 31 * 31 * sizeof *views);

    assert_int_equal(truth.n_whole, FBP_BENCH_SLICES);
    assert_int_equal(truth.n, (SIDE - 3) * SIDE * SIDE); /* so small that none is left out */
    AUTO_FREE float *ref = reconstruct(&scan, fbp_recon_params(.device = "ref"));
    AUTO_FREE float *samples = not_null(calloc(truth.n, sizeof *samples));
    fbp_bench_truth_pick(&truth, &scan.volume, 2, 9, ref + 2 * SIDE * SIDE, samples);
    fbp_bench_truth_pick(&truth, &scan.volume, 11, SIDE - 12, ref + 11 * SIDE * SIDE, samples);
    struct fbp_bench_difference e = fbp_bench_truth_compare(&truth, samples);
    assert_true(e.psnr_db > 140 && e.max < 1e-8);
    samples[777] += 0.5f;
    e = fbp_bench_truth_compare(&truth, samples);
    assert_float_equal(e.max, 0.5, 1e-6);
    assert_float_equal(e.rmse, 0.5F / sqrtf((float)truth.n), 1e-6F);
    samples[777] = NAN; /* is never taken for a perfect volume */
    assert_true(isnan(fbp_bench_truth_compare(&truth, samples).psnr_db));

    fbp_pool_destroy(&pool);
    fbp_bench_truth_clear(&truth);
}

/* Of larger slices whole ones are few, and of the others each part gives one voxel. */
TEST(samples_are_everywhere)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    CLEANUP(fbp_job_clear) struct fbp_job_tables tables;
    struct fbp_bench_truth t;
    fbp_pool *pool;
    AUTO_FREE float *views = not_null(calloc(VIEWS * 31 * 31, sizeof *views));
    size_t n_whole = 0, n_random = 0;

    scan.n_views = 2;
    scan.volume = (struct fbp_grid){{1 << 11, 1 << 11, 40}, {0.1, 0.1, 0.1}, {0, 0, 0}};
    OK(fbp_job_create(&tables, &scan, fbp_recon_params(.n_threads = 2), false));
    OK(fbp_pool_create(&pool, 2));
    OK(fbp_bench_truth_make(&t, &tables.job, views, 0, 40, pool, 2));
    for (size_t i = 0; i < 40; i++) {
        const size_t n = t.first[i + 1] - t.first[i];
        *(n == 1 << 22 ? &n_whole : &n_random) += n;
        for (size_t k = t.first[i]; k + 1 < t.first[i + 1]; k++)
            assert_true(t.voxel[k] <= t.voxel[k + 1]);
        assert_true(t.voxel[t.first[i + 1] - 1] < 1 << 22);
    }
    assert_int_equal(n_whole, 2 << 22);
    assert_int_equal(n_random, 38 * (FBP_BENCH_VOXELS / 38));
    assert_int_equal(t.n_whole, 2);
    assert_int_equal(t.n_random, n_random);
    fbp_pool_destroy(&pool);
    fbp_bench_truth_clear(&t);
}

static fbp_bench *open_bench(const char *device, const struct fbp_scan *scan)
{
    fbp_bench *bench;

    OK(fbp_bench_create(&bench, fbp_recon_params(.device = device, .n_threads = 2)));
    OK(fbp_bench_scan(bench, scan, 0, 0));
    return bench;
}

static void check_time(const struct fbp_kernel_time *t)
{
    assert_true(t->n_runs >= 5 && t->best > 0 && t->best <= t->median && t->median <= t->worst);
    assert_true(t->psnr_db > 120 && t->psnr_db < 170);
    assert_true(isnan(t->hu) && t->limit_gups == 0 && !t->by_events);
}

TEST(devices_agree)
{
    static const char *const kernels[] = {"matrix", "column", "rot90"};
    AUTO_DROP struct fbp_scan scan = make_scan();
    fbp_bench *cpu = open_bench("cpu", &scan), *mock;
    struct fbp_kernel_time a, b;

    fbp_mock_faults.keep_batches = true;
    mock = open_bench("mock", &scan);
    assert_false(fbp_bench_about(cpu)->own_memory);
    assert_true(fbp_bench_about(mock)->own_memory);
    assert_int_equal(fbp_bench_about(cpu)->n_views, 16);
    assert_int_equal(fbp_bench_about(mock)->n_views, VIEWS);
    OK(fbp_bench_scan(cpu, &scan, VIEWS, 0));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        OK(fbp_bench_kernel(cpu, kernels[i], FBP_PRECISION_DEFAULT, &a));
        OK(fbp_bench_kernel(mock, kernels[i], FBP_PRECISION_DEFAULT, &b));
        assert_string_equal(a.kernel, kernels[i]);
        check_time(&a);
        check_time(&b);
        assert_true(a.rmse == b.rmse && a.max_error == b.max_error);
    }
    fbp_mock_faults.drop_upload = 1;
    assert_int_equal(fbp_bench_kernel(mock, NULL, FBP_PRECISION_DEFAULT, &b), FBP_ERR_DEVICE);
    fbp_mock_faults = (struct fbp_mock_faults){.no_memory = true};
    assert_fails(fbp_bench_kernel(mock, NULL, FBP_PRECISION_DEFAULT, &b), FBP_ERR_NOMEM, "--views");
    fbp_mock_faults = (struct fbp_mock_faults){0};
    fbp_bench_destroy(&mock);
    fbp_bench_destroy(&cpu);
}

/* Views serve a second volume of the same extent; another extent has a phantom of its own. */
TEST(views_are_kept)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    fbp_bench *bench = open_bench("cpu", &scan);
    struct fbp_kernel_time t;

    assert_true(fbp_bench_about(bench)->project > 0);
    scan.volume = (struct fbp_grid){{2 * SIDE, 2 * SIDE, 2 * SIDE}, {4, 4, 4}, {0, 0, 0}};
    OK(fbp_bench_scan(bench, &scan, 0, 11));
    assert_true(fbp_bench_about(bench)->project == 0);
    assert_int_equal(fbp_bench_about(bench)->n_slices, 12);
    OK(fbp_bench_kernel(bench, "column", FBP_PRECISION_DEFAULT, &t));
    check_time(&t);
    scan.volume.voxel_mm[0] = scan.volume.voxel_mm[1] = 5;
    scan.volume.n[2] = 9;
    OK(fbp_bench_scan(bench, &scan, 0, 4));
    assert_true(fbp_bench_about(bench)->project > 0);
    assert_int_equal(fbp_bench_about(bench)->n_slices, 5);
    OK(fbp_bench_kernel(bench, "column", FBP_PRECISION_DEFAULT, &t));
    check_time(&t);
    assert_int_equal(fbp_bench_kernel(bench, "no such", FBP_PRECISION_DEFAULT, &t),
                     FBP_ERR_UNSUPPORTED);
    fbp_bench_destroy(&bench);
}

TEST_MAIN(NULL, NULL)
