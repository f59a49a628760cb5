/* Checks runs from memory to memory: the bits of runs between files, copied directly or through
 * buffers. */
#include "recon/fixture.h"

#include "devices/mock/mock.h"

/* Views of a scan that has a projections file, and what a device makes of that. */
struct job {
    struct fbp_scan scan;
    float *views;
};

static void make_job(struct job *j, size_t n_views, bool symmetric)
{
    enum { N = 40 };

    j->scan = circle_scan(n_views, N, symmetric ? 0 : 11);
    j->scan.volume = symmetric ? (struct fbp_grid){{33, 33, 31}, {4, 4, 4}, {0, 0, 0}}
                               : (struct fbp_grid){{33, 29, 31}, {4.1, 3.9, 4.3}, {3, -2, 5}};
    simulate_head(&j->scan, 70);
    j->views = read_array(j->scan.projections);
}

static void drop_job(struct job *j)
{
    free(j->views);
    drop_scan(&j->scan);
}

static struct fbp_array_info info_of(const struct job *j)
{
    return (struct fbp_array_info){
        .struct_size = sizeof(struct fbp_array_info),
        .n = {j->scan.panel.n_columns, j->scan.panel.n_rows, j->scan.n_views},
        .type = FBP_F32};
}

static void assert_same_report(const struct fbp_report *a, const struct fbp_report *b)
{
    assert_true(a->min == b->min && a->max == b->max);
    assert_true(fabs(a->mean - b->mean) <= 1e-6 * fabs(b->max));
}

/* fbp_reconstruct() and a plan that runs again and again, against the file's volume. */
static void check(const struct job *j, const struct fbp_recon_params *params)
{
    const size_t n = grid_size(&j->scan.volume);
    const struct fbp_array_info info = info_of(j);
    AUTO_FREE float *right = reconstruct(&j->scan, params),
                    *at_once = not_null(malloc(n * sizeof *at_once));
    struct fbp_recon_params p = *params;
    struct fbp_report by_file = {.struct_size = sizeof by_file}, r = {.struct_size = sizeof r};

    OK(reconstruct_to(&j->scan, params, "null:", &by_file));
    struct fbp_report is = {.struct_size = sizeof is, .min = INFINITY, .max = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        is.min = fmin(is.min, (double)right[i]);
        is.max = fmax(is.max, (double)right[i]);
        is.mean += (double)right[i] / (double)n;
    }
    assert_same_report(&by_file, &is);
    OK(fbp_reconstruct(&j->scan, params, FBP_F32, j->views, at_once, &r));
    assert_memory_equal(at_once, right, n * sizeof *right);
    assert_same_report(&r, &by_file);

    CLEANUP(fbp_source_close) fbp_source *later = memory_source(NULL, &info);
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(j->views, &info);
    p.input.source = later;
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&j->scan, &p);
    for (int i = 0; i < 3; i++) { /* the second opens the plan, the third finds it open */
        if (i == 1)
            OK(fbp_plan_open(plan));
        AUTO_FREE float *volume = run_to_memory(plan, source, &r);
        assert_memory_equal(volume, right, n * sizeof *volume);
        assert_same_report(&r, &by_file);
    }
    assert_fails(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_INVALID, "without their samples");
}

TEST(memory_gives_the_files_bits)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "ref"},
        {.device = "cpu", .n_threads = 2},
        {.device = "mock"},
        {.device = "mock", .tuning.batch_views = 8, .tuning.slab_slices = 5},
        {.device = "mock:0,1", .tuning.batch_views = 8, .tuning.slab_slices = 5, .mu_water = 0.02},
        {.device = "cuda", .precision = FBP_PRECISION_EXACT},
        {.device = "cuda",
         .precision = FBP_PRECISION_FAST,
         .tuning.slab_slices = 5,
         .tuning.batch_views = 32},
        {.device = "cuda", .precision = FBP_PRECISION_HALF, .mu_water = 0.02},
        {.device = "cuda:0,0", .tuning.slab_slices = 7, .tuning.batch_views = 32},
        {.device = "gl",
         .precision = FBP_PRECISION_HALF,
         .tuning.slab_slices = 5,
         .tuning.batch_views = 16},
    };
    struct job j;

    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        struct fbp_recon_params p = cases[i / 2];
        p.struct_size = sizeof p;
        if (!usable(p.device))
            continue;
        make_job(&j, i % 2 ? 56 : 53, i % 2);
        for (int reach = 0; reach < 2; reach++) {
            fbp_mock_faults = (struct fbp_mock_faults){.reaches_nothing = !reach, .delay_us = 100};
            check(&j, &p);
        }
        drop_job(&j);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* The volume of views in memory, or of the scan's file if `views` is NULL; free() it. */
static float *run(const struct job *j, const struct fbp_recon_params *params, const void *views,
                  enum fbp_type type)
{
    struct fbp_array_info info = info_of(j);
    struct fbp_recon_params p = *params;

    info.type = type;
    info.row_order = j->scan.row_order;
    if (views)
        OK(fbp_source_memory(&p.input.source, views, &info));
    fbp_plan *plan = create_plan(&j->scan, &p);
    float *out = run_to_memory(plan, NULL, NULL);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    return out;
}

/* Rows that run downwards, and integers, are read through a buffer. */
TEST(other_layouts_are_converted)
{
    struct job j;

    make_job(&j, 24, false);
    const size_t nc = j.scan.panel.n_columns, nr = j.scan.panel.n_rows;
    const size_t bytes = grid_size(&j.scan.volume) * sizeof(float), samples = nc * nr * 24;
    const struct fbp_recon_params *p = fbp_recon_params(.device = "mock", .tuning.batch_views = 8);
    AUTO_FREE float *down = not_null(malloc(samples * sizeof *down));
    AUTO_FREE uint16_t *counts = not_null(malloc(samples * sizeof *counts));

    AUTO_FREE float *right = run(&j, p, j.views, FBP_F32);
    for (size_t r = 0; r < nr * j.scan.n_views; r++)
        memcpy(down + (r / nr * nr + nr - 1 - r % nr) * nc, j.views + r * nc, nc * sizeof *down);
    j.scan.row_order = FBP_ROWS_TOP_DOWN;
    AUTO_FREE float *turned = run(&j, p, down, FBP_F32);
    assert_memory_equal(turned, right, bytes);

    j.scan.row_order = FBP_ROWS_AUTO;
    for (size_t i = 0; i < samples; i++) {
        counts[i] = (uint16_t)(j.views[i] * 1000);
        down[i] = (float)counts[i];
    }
    AUTO_FREE float *of_floats = run(&j, p, down, FBP_F32);
    AUTO_FREE float *of_counts = run(&j, p, counts, FBP_U16);
    assert_memory_equal(of_counts, of_floats, bytes);
    drop_job(&j);
}

/* A MetaImage of uint16 views, rows as they are. */
static char *write_counts(const struct job *j, const uint16_t *counts)
{
    const size_t nc = j->scan.panel.n_columns, nr = j->scan.panel.n_rows, k = j->scan.n_views;
    char *path = temporary("counts.mha");
    FILE *f = not_null(fopen(path, "wb"));

    fprintf(f,
            "NDims = 3\nDimSize = %zu %zu %zu\nElementType = MET_USHORT\n"
            "ElementByteOrderMSB = False\nElementDataFile = LOCAL\n",
            nc, nr, k);
    assert_int_equal(fwrite(counts, sizeof *counts, nc * nr * k, f), nc * nr * k);
    fclose(f);
    return path;
}

/* Bytes that mock devices upload for it, by memory and by file, straight and through buffers. */
static void check_counts(struct job *j, const struct fbp_recon_params *p, const uint16_t *counts,
                         const float *floats, const char *file)
{
    const size_t n = grid_size(&j->scan.volume) * sizeof(float);
    char *projections = j->scan.projections;

    for (int reach = 0; reach < 2; reach++) {
        fbp_mock_faults = (struct fbp_mock_faults){.reaches_nothing = !reach, .delay_us = 100};
        uint64_t before = fbp_mock_uploaded;
        AUTO_FREE float *right = run(j, p, floats, FBP_F32);
        const uint64_t as_float = fbp_mock_uploaded - before;
        for (int by_file = 0; by_file < 2; by_file++) {
            j->scan.projections = by_file ? (char *)(uintptr_t)file : projections;
            before = fbp_mock_uploaded;
            AUTO_FREE float *volume = run(j, p, by_file ? NULL : counts, FBP_U16);
            assert_int_equal(2 * (fbp_mock_uploaded - before), as_float);
            assert_memory_equal(volume, right, n);
        }
        j->scan.projections = projections;
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Counts cross the bus as they are, two bytes each, and become floats on the device: the same bits,
 * with dead pixels that are clipped, and with rows that run downwards. */
TEST(counts_give_the_bits_of_floats)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "mock", .tuning.batch_views = 8},
        {.device = "mock:0,1", .tuning.slab_slices = 9},
        {.device = "cuda", .precision = FBP_PRECISION_EXACT, .tuning.batch_views = 16},
        {.device = "cuda", .precision = FBP_PRECISION_HALF, .tuning.slab_slices = 9},
        {.device = "cuda", .precision = FBP_PRECISION_FAST, .filtering.spatial = true},
    };

    for (size_t i = 0; i < 4 * (sizeof cases / sizeof *cases); i++) {
        struct fbp_recon_params p = cases[i / 4];
        struct job j;
        p.struct_size = sizeof p;
        if (!usable(p.device))
            continue;
        make_job(&j, i % 2 ? 56 : 53, i % 2);
        const size_t samples = j.scan.panel.n_columns * j.scan.panel.n_rows * j.scan.n_views;
        AUTO_FREE uint16_t *counts = malloc(samples * sizeof *counts);
        AUTO_FREE float *floats = malloc(samples * sizeof *floats);
        assert_true(counts && floats);
        for (size_t k = 0; k < samples; k++) {
            counts[k] = k % 997 == 5 ? 0 : (uint16_t)(60000 * exp(-(double)j.views[k]));
            floats[k] = (float)counts[k];
        }
        j.scan.i0 = 60000;
        j.scan.row_order = i % 4 < 2 ? FBP_ROWS_BOTTOM_UP : FBP_ROWS_TOP_DOWN;
        AUTO_FREE char *file = write_counts(&j, counts);
        check_counts(&j, &p, counts, floats, file);
        remove(file);
        drop_job(&j);
    }
}

/* A plan for counts does not take floats. */
TEST(plans_for_counts_refuse_floats)
{
    struct job j;
    fbp_sink *sink;

    make_job(&j, 24, false);
    struct fbp_array_info info = info_of(&j);
    struct fbp_recon_params p = *fbp_recon_params(.device = "mock");
    AUTO_FREE float *volume = not_null(malloc(grid_size(&j.scan.volume) * sizeof *volume));
    fbp_source *floats = memory_source(j.views, &info);
    info.type = FBP_U16;
    OK(fbp_source_memory(&p.input.source, NULL, &info));
    fbp_plan *plan = create_plan(&j.scan, &p);
    OK(fbp_sink_memory(&sink, volume, FBP_F32, j.scan.volume.n));
    assert_fails(fbp_plan_run_to(plan, floats, sink, NULL), FBP_ERR_INVALID, "float32");
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    fbp_source_close(&floats);
    drop_job(&j);
}

/* Memory from the plan, which on a real device alone is copied from and to straight. */
static void check_own_memory(const struct job *j, const struct fbp_recon_params *params)
{
    const size_t n = grid_size(&j->scan.volume);
    const struct fbp_array_info info = info_of(j);
    const size_t bytes = info.n[0] * info.n[1] * info.n[2] * sizeof(float);
    AUTO_FREE float *right = reconstruct(&j->scan, params);
    struct fbp_recon_params p = *params;
    void *views, *volume, *large;
    fbp_source *source;
    fbp_sink *sink;

    OK(fbp_source_memory(&p.input.source, NULL, &info));
    fbp_plan *plan = create_plan(&j->scan, &p);
    OK(fbp_plan_alloc(plan, bytes, &views));
    OK(fbp_plan_alloc(plan, n * sizeof(float), &volume));
    OK(fbp_plan_alloc(plan, (size_t)65 << 20, &large)); /* pinned otherwise */
    memcpy(large, j->views, bytes);
    memcpy(views, j->views, bytes);
    for (int i = 0; i < 2; i++) {
        memset(volume, 0xff, n * sizeof(float));
        OK(fbp_source_memory(&source, i ? large : views, &info));
        OK(fbp_sink_memory(&sink, volume, FBP_F32, j->scan.volume.n));
        OK(fbp_plan_run_to(plan, source, sink, NULL));
        assert_memory_equal(volume, right, n * sizeof(float));
        fbp_sink_close(&sink);
        fbp_source_close(&source);
    }
    fbp_plan_release(plan, views);
    fbp_plan_release(plan, volume);
    fbp_plan_release(plan, large);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
}

TEST(memory_of_the_plan)
{
    static const char *const devices[] = {"cpu", "mock", "cuda"};
    struct job j;

    make_job(&j, 53, false);
    for (size_t i = 0; i < 3; i++)
        if (i < 2 || usable("cuda"))
            for (size_t slices = 0; slices < 12; slices += 6)
                check_own_memory(&j, fbp_recon_params(.device = devices[i], .n_threads = 2,
                                                      .tuning.slab_slices = slices));
    drop_job(&j);
}

TEST(what_does_not_fit_is_refused)
{
    struct job j;
    float one = 0;
    fbp_sink *sink;

    make_job(&j, 24, false);
    struct fbp_array_info info = info_of(&j);
    fbp_plan *plan = create_plan(&j.scan, fbp_recon_params(.device = "cpu"));
    OK(fbp_sink_memory(&sink, &one, FBP_F32, (size_t[3]){33, 29, 30}));
    assert_int_equal(fbp_plan_run_to(plan, NULL, sink, NULL), FBP_ERR_INVALID);
    fbp_sink_close(&sink);
    OK(fbp_sink_memory(&sink, &one, FBP_F32, j.scan.volume.n));
    info.n[2]--;
    fbp_source *source = memory_source(j.views, &info);
    assert_int_equal(fbp_plan_run_to(plan, source, sink, NULL), FBP_ERR_INVALID);
    fbp_source_close(&source);
    info = info_of(&j);
    info.row_order = FBP_ROWS_TOP_DOWN;
    OK(fbp_source_memory(&source, j.views, &info));
    assert_int_equal(fbp_plan_run_to(plan, source, sink, NULL), FBP_ERR_INVALID);
    fbp_source_close(&source);
    fbp_sink_close(&sink);
    info.big_endian = true;
    assert_int_equal(fbp_source_memory(&source, j.views, &info), FBP_ERR_UNSUPPORTED);
    assert_null(source);
    fbp_plan_destroy(&plan);
    drop_job(&j);
}

TEST_MAIN(NULL, NULL)
