/* Checks, without a GPU, the layout of a GPU's tables in memory, the selection of the row filter,
 * the layout of plain views, and the remarks about precision. */
#include "gpu_util.h"

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tables.h"
#include "test.h"

static size_t of_orbits(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return slab->nz;
}

static const struct gpu_kernel plain = {.name = "plain", .symmetric_views = 1, .precision = 1},
                               orbits = {.name = "orbits",
                                         .symmetric_views = 4,
                                         .volume_size = of_orbits};
static float pixels;
static struct fbp_prep none, all = {.dark = &pixels, .gain = &pixels, .n_bridges = 1000};
static struct fbp_filter_design filter, long_filter;

/* 496 views of 960 x 1248 pixels, 512^3 voxels. */
static struct fbp_job ordinary(void)
{
    filter = (struct fbp_filter_design){.half_width = 1248, .n_fft = 4096};
    long_filter = (struct fbp_filter_design){.half_width = 5000, .n_fft = 10240};
    return (struct fbp_job){.n_views = 496,
                            .selection.symmetric_views = 1,
                            .panel = {.n_rows = 960, .n_columns = 1248},
                            .padded.panel = {.n_rows = 960, .n_columns = 1248},
                            .filtering.prep = &none,
                            .filtering.design = &filter,
                            .scale = 1,
                            .grid = {{512, 512, 512}, {1, 1, 1}, {0, 0, 0}},
                            .selection.entry = &plain};
}

static struct fbp_job of_long_rows(void)
{
    struct fbp_job job = ordinary();

    job.panel.n_columns = job.padded.panel.n_columns = 5000;
    job.filtering.design = &long_filter;
    return job;
}

static void check_layout(const char *what, const struct fbp_job *job,
                         const struct gpu_tables *expected)
{
    struct gpu_tables t;

    gpu_tables_lay_out(job, &offer, &t);
#define SAME(member)                  \
    if (t.member != expected->member) \
    fail_msg("%s: %s is %zu, not %zu", what, #member, (size_t)t.member, (size_t)expected->member)
    SAME(way);
    SAME(dark);
    SAME(gain);
    SAME(bridges);
    SAME(image);
    SAME(lines);
    SAME(rays);
    SAME(filter);
    SAME(twiddles);
    SAME(fft_length);
    SAME(rows);
    SAME(work);
    SAME(taps_v);
    SAME(weighted);
    SAME(pad);
    SAME(ends);
    SAME(counters);
    SAME(row_bitmap);
    SAME(found);
    SAME(slices);
    SAME(rows_per_call);
    SAME(row_length);
    SAME(work_bytes);
    SAME(slice_bytes);
    SAME(views_per_call);
    SAME(bytes);
#undef SAME
}

/* As the CUDA module laid them out when the layout was its own: speeds hang on the calls' sizes,
 * and the memory that a plan counts on the sum. */
TEST_WITH(sizes_are_those_of_before, start, NULL)
{
    const struct fbp_job job = ordinary();

    check_layout("ordinary", &job,
                 &(struct gpu_tables){.way = GPU_FILTER_CHAIN,
                                      .image = 134247936,
                                      .lines = 139040256,
                                      .twiddles = 10240,
                                      .fft_length = 2560,
                                      .rows = 32768,
                                      .counters = 141516288,
                                      .row_bitmap = 141516800,
                                      .found = 141576704,
                                      .rows_per_call = 13443,
                                      .row_length = 1248,
                                      .bytes = 141584896});
}

TEST_WITH(sizes_with_columns_and_scale, start, NULL)
{
    struct fbp_column_filter columns = {.half_width = 9};
    struct fbp_pad pad = {.rule.n_lengths = 5, .n_columns = 1248};
    struct fbp_job job = ordinary();

    job.filtering.columns = &columns;
    job.filtering.pad = &pad;
    job.scale = 1000;
    check_layout("columns, carried on, scaled", &job,
                 &(struct gpu_tables){.way = GPU_FILTER_CHAIN,
                                      .image = 134247936,
                                      .lines = 139040256,
                                      .twiddles = 10240,
                                      .fft_length = 2560,
                                      .rows = 32768,
                                      .taps_v = 141516288,
                                      .weighted = 141516800,
                                      .pad = 175063040,
                                      .ends = 175113216,
                                      .counters = 175758848,
                                      .row_bitmap = 175759360,
                                      .found = 175819264,
                                      .slices = 175827456,
                                      .rows_per_call = 13443,
                                      .row_length = 1248,
                                      .slice_bytes = 16777216,
                                      .views_per_call = 7,
                                      .bytes = 209381888});
}

TEST_WITH(sizes_with_prep_and_orbits, start, NULL)
{
    struct fbp_job job = ordinary();

    job.filtering.prep = &all;
    job.selection.symmetric_views = 4;
    job.selection.entry = &orbits;
    product = false;
    check_layout("orbits, dark, gain, bad pixels, rays", &job,
                 &(struct gpu_tables){.way = GPU_FILTER_CHAIN,
                                      .gain = 4792320,
                                      .bridges = 9584640,
                                      .rays = 143838720,
                                      .filter = 9620992,
                                      .twiddles = 9631232,
                                      .fft_length = 2560,
                                      .rows = 9653760,
                                      .counters = 143922176,
                                      .row_bitmap = 143922688,
                                      .found = 143982592,
                                      .slices = 143990784,
                                      .rows_per_call = 13440,
                                      .row_length = 1248,
                                      .slice_bytes = 16777216,
                                      .bytes = 177545216});
}

TEST_WITH(sizes_of_long_rows, start, NULL)
{
    struct fbp_job job = of_long_rows();

    check_layout("in space", &job,
                 &(struct gpu_tables){.way = GPU_FILTER_SPATIAL,
                                      .image = 67080704,
                                      .lines = 86280704,
                                      .rows = 40448,
                                      .work = 33560576,
                                      .counters = 96200704,
                                      .row_bitmap = 96201216,
                                      .found = 96261120,
                                      .rows_per_call = 838,
                                      .row_length = 5000,
                                      .work_bytes = 33520000,
                                      .bytes = 96269312});
    fft_now = true;
    check_layout("by a library", &job,
                 &(struct gpu_tables){.way = GPU_FILTER_FFT,
                                      .image = 67031552,
                                      .lines = 86231552,
                                      .rows = 20992,
                                      .work = 33526272,
                                      .counters = 96151552,
                                      .row_bitmap = 96152064,
                                      .found = 96211968,
                                      .rows_per_call = 409,
                                      .row_length = 10240,
                                      .work_bytes = 33505280,
                                      .bytes = 96220160});
    job.input.filtered = true;
    job.shift = -1;
    check_layout("filtered", &job,
                 &(struct gpu_tables){.way = GPU_FILTER_NONE,
                                      .counters = 33520128,
                                      .row_bitmap = 33520640,
                                      .found = 33580544,
                                      .slices = 33588736,
                                      .rows_per_call = 838,
                                      .row_length = 5000,
                                      .slice_bytes = 16777216,
                                      .bytes = 67143168});
}

/* To look for a library takes time: nobody does without need. */
TEST_WITH(modules_are_asked_where_it_matters, start, NULL)
{
    struct fbp_job job = ordinary();

    assert_int_equal(gpu_filter_method_of(&job, &offer), GPU_FILTER_CHAIN);
    assert_int_equal(n_asked_fft, 0);
    n_asked_bytes = 0;
    job.filtering.spatial = true;
    assert_int_equal(gpu_filter_method_of(&job, &offer), GPU_FILTER_SPATIAL);
    job.input.filtered = true;
    assert_int_equal(gpu_filter_method_of(&job, &offer), GPU_FILTER_NONE);
    assert_int_equal(n_asked_bytes + n_asked_fft, 0);
    job.input.filtered = job.filtering.spatial = false;
    row_bytes_now = 0;
    assert_int_equal(gpu_filter_method_of(&job, &offer), GPU_FILTER_SPATIAL);
    fft_now = true;
    assert_int_equal(gpu_filter_method_of(&job, &offer), GPU_FILTER_FFT);
}

TEST_WITH(chains_hold_two_rows_and_are_permutations, start, NULL)
{
    static const size_t radices[] = {GPU_CHAIN_RADICES};

    for (size_t i = 0; i < COUNT(radices); i++) {
        const size_t n = radices[i] * GPU_CHAIN_INNER, bytes = gpu_chain_row_bytes(n);
        AUTO_FREE char *seen = not_null(calloc(n, 1));

        assert_int_equal(gpu_chain_length(n / 2, bytes), n);
        assert_int_equal(gpu_chain_length(n / 2, bytes - 1), 0);
        assert_int_equal(gpu_chain_length(n / 2 + 1, SIZE_MAX),
                         i + 1 < COUNT(radices) ? radices[i + 1] * GPU_CHAIN_INNER : 0);
        for (size_t k = 0; k < n; k++)
            seen[gpu_chain_frequency(n, k)]++;
        assert_null(memchr(seen, 0, n));
        for (size_t k = 0; k < gpu_chain_twiddles(n); k++)
            assert_true(gpu_chain_twiddle(n, k) >= 0 && gpu_chain_twiddle(n, k) < 1);
    }
}

/* Rows begin where lines of the cache do, between borders. */
TEST_WITH(plain_views, start, NULL)
{
    static const size_t turns[] = {1, 2, 4}, columns[] = {1, 28, 29, 1248};

    for (size_t i = 0; i < COUNT(turns); i++)
        for (size_t k = 0; k < COUNT(columns); k++) {
            const struct fbp_job job = {.selection.symmetric_views = turns[i],
                                        .padded.panel = {.n_columns = columns[k]}};
            const struct gpu_plain p = gpu_plain_of(&job, 7);
            const size_t texel = turns[i] * sizeof(float);
            assert_int_equal(p.stride * texel % 128, 0);
            assert_true(p.stride >= columns[k] + 4 && (p.stride - columns[k] - 4) * texel < 128);
            assert_int_equal(p.group, 11 * p.stride);
            assert_int_equal(gpu_plain_bytes(&job, 3, 7), 3 * p.group * texel);
        }
}

TEST_WITH(what_blocks_found, start, NULL)
{
    static struct gpu_block_statistics found[GPU_STATISTICS_BLOCKS];
    struct fbp_statistics sum;

    gpu_statistics_take(found, &sum); /* zeros, as memory comes */
    gpu_statistics_take(found, &sum);
    assert_true(sum.min == INFINITY && sum.max == -INFINITY && sum.sum == 0);
    found[3] = (struct gpu_block_statistics){-1, 2, 5};
    found[GPU_STATISTICS_BLOCKS - 1] = (struct gpu_block_statistics){0, 7, 0.5};
    gpu_statistics_take(found, &sum);
    assert_true(sum.min == -1 && sum.max == 7 && sum.sum == 5.5);
}

TEST_WITH(remarks, start, NULL)
{
    static const struct gpu_kernel exact = {.precision = FBP_PRECISION_EXACT},
                                   fast = {.precision = FBP_PRECISION_FAST};
    struct fbp_job job = {.selection.entry = &fast};
    char text[200];

    gpu_remark_precision(&job, text, sizeof text);
    assert_contains(text, "--precision exact");
    job.precision = FBP_PRECISION_FAST;
    gpu_remark_precision(&job, text, sizeof text);
    assert_string_equal(text, "");
    gpu_remark_add(text, sizeof text, "one");
    gpu_remark_add(text, sizeof text, "");
    gpu_remark_add(text, sizeof text, "two");
    assert_string_equal(text, "one; two");
    job.selection.entry = &exact;
    job.precision = FBP_PRECISION_HALF;
    gpu_remark_precision(&job, text, sizeof text);
    assert_string_equal(
        text, "precision half has no faster kernel for this scan; precision exact is used");
}

TEST_MAIN(NULL, NULL)
