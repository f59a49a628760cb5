/* Checks, without a GPU, the values that src/backend/gpu/tables.c writes into a GPU's tables. */
#include "gpu_util.h"

#include "backend/gpu/tables.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static const struct gpu_kernel plain = {.name = "plain", .symmetric_views = 1};

/* A pretended block of device memory: nothing is written twice, or beyond its end. */
struct block {
    char *memory, *written;
    size_t bytes;
    int calls, fail_at; /* fail_at: the call that fails; 0: none */
};

static fbp_status put(void *user, size_t at, const void *data, size_t bytes)
{
    struct block *b = user;

    if (++b->calls == b->fail_at)
        return FBP_ERR_DEVICE;
    assert_true(at % 512 == 0 && at + bytes <= b->bytes);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(b->written[at + i]++, 0);
    memcpy(b->memory + at, data, bytes);
    return FBP_OK;
}

static struct block open_block(const struct fbp_job *job, struct gpu_tables *t)
{
    gpu_tables_lay_out(job, &offer, t);
    struct block b = {
        .memory = calloc(1, t->bytes), .written = calloc(1, t->bytes), .bytes = t->bytes};

    assert_true(b.memory && b.written);
    return b;
}

static void close_block(struct block *b)
{
    free(b->memory);
    free(b->written);
}

static float at(const struct block *b, size_t place, size_t i)
{
    float x;

    assert_int_equal(b->written[place + i * sizeof x], 1);
    memcpy(&x, b->memory + place + i * sizeof x, sizeof x);
    return x;
}

/* 3 views of 2 x 4 pixels with everything, and the taps 4, 2, 1. */
static struct {
    float dark[8], gain[8], pads[2 * 2 * 4];
    double kernel[3], response[9], columns[2];
    struct fbp_bridge bridges[2];
    struct fbp_prep prep;
    struct fbp_filter_design filter;
    struct fbp_column_filter column_filter;
    struct fbp_pad pad;
} small;

static struct fbp_job small_job(void)
{
    for (int i = 0; i < 8; i++) {
        small.dark[i] = (float)i;
        small.gain[i] = (float)(10 + i);
    }
    for (int i = 0; i < 16; i++)
        small.pads[i] = (float)(20 + i);
    memcpy(small.kernel, (double[]){4, 2, 1}, sizeof small.kernel);
    memcpy(small.columns, (double[]){.5, .25}, sizeof small.columns);
    for (int i = 0; i < 9; i++)
        small.response[i] = 1 + i;
    small.bridges[1] =
        (struct fbp_bridge){.pixel = 5, .from = {4, 6, 1, 1}, .weight = {.5f, .25f, .25f, 0}};
    small.prep = (struct fbp_prep){
        .dark = small.dark, .gain = small.gain, .bridges = small.bridges, .n_bridges = 2};
    small.filter = (struct fbp_filter_design){.n_columns = 4,
                                              .n_fft = 16,
                                              .response = small.response,
                                              .half_width = 2,
                                              .kernel = small.kernel};
    small.column_filter = (struct fbp_column_filter){.half_width = 1, .kernel = small.columns};
    small.pad = (struct fbp_pad){.rule.n_lengths = 2, .n_columns = 4, .tables = small.pads};
    return (struct fbp_job){.n_views = 3,
                            .selection.symmetric_views = 1,
                            .panel = {.n_rows = 2, .n_columns = 4},
                            .padded.panel = {.n_rows = 2, .n_columns = 4},
                            .filtering.prep = &small.prep,
                            .filtering.design = &small.filter,
                            .filtering.columns = &small.column_filter,
                            .filtering.pad = &small.pad,
                            .scale = 1,
                            .grid = {{8, 8, 8}, {1, 1, 1}, {0, 0, 0}},
                            .selection.entry = &plain};
}

static void check_prep(const struct block *b, const struct gpu_tables *t)
{
    struct gpu_bridge bridge;

    for (size_t i = 0; i < 8; i++) {
        assert_true(at(b, t->dark, i) == (float)i);
        assert_true(at(b, t->gain, i) == (float)(10 + i));
    }
    memcpy(&bridge, b->memory + t->bridges + sizeof bridge, sizeof bridge);
    assert_int_equal(bridge.pixel, 5);
    assert_int_equal(bridge.from[1], 6);
    assert_true(bridge.weight[0] == .5f && bridge.weight[3] == 0);
}

static void check_columns(const struct block *b, const struct gpu_tables *t, size_t taps)
{
    assert_int_equal(taps, 2 * (GPU_COLUMN_ROWS + 1) + 1);
    for (size_t i = 0; i < taps; i++) {
        const size_t off = i > taps / 2 ? i - taps / 2 : taps / 2 - i;
        assert_true(at(b, t->taps_v, i) == (off == 0 ? .5f : off == 1 ? .25f : 0));
    }
}

TEST_WITH(tables_hold_what_they_should, start, NULL)
{
    const struct fbp_job job = small_job();
    struct gpu_tables t;
    struct block b = open_block(&job, &t);

    OK(gpu_tables_write(&job, &t, put, &b));
    check_prep(&b, &t);
    /* At every place of a chain's table the sum of the taps at its frequency; factors on the
     * circle. */
    const size_t n = t.fft_length;
    assert_int_equal(n, 512);
    for (size_t i = 0; i < n; i++) {
        const double f = 2 * PI * (double)gpu_chain_frequency(n, i) / (double)n;
        const double sum = (4 + 4 * cos(f) + 2 * cos(2 * f)) / (double)n;
        assert_true(fabs((double)at(&b, t.filter, i) - sum) < 1e-8);
    }
    for (size_t i = 0; i < gpu_chain_twiddles(n); i++) {
        const double f = -2 * PI * gpu_chain_twiddle(n, i);
        assert_true(fabs((double)at(&b, t.twiddles, 2 * i) - cos(f)) < 1e-7);
        assert_true(fabs((double)at(&b, t.twiddles, 2 * i + 1) - sin(f)) < 1e-7);
    }
    check_columns(&b, &t, gpu_column_taps(&job));
    for (size_t i = 0; i < 16; i++)
        assert_true(at(&b, t.pad, i) == (float)(20 + i));
    for (size_t i = 0; i < 8; i++)
        assert_true(at(&b, t.image, i) == (float)(i / 4 * 100 + i % 4));
    for (size_t i = 0; i < 12; i++)
        assert_true(at(&b, t.lines, i) == (float)(i / 4 * 1000 + i % 4));
    close_block(&b);
}

TEST_WITH(other_ways_and_rays, start, NULL)
{
    static const float taps[] = {1, 2, 4, 2, 1};
    struct fbp_job job = small_job();
    struct fbp_ray_view ray;
    struct gpu_tables t;

    product = false;
    row_bytes_now = 0;
    struct block b = open_block(&job, &t);
    OK(gpu_tables_write(&job, &t, put, &b));
    for (size_t i = 0; i < COUNT(taps); i++)
        assert_true(at(&b, t.filter, i) == taps[i]);
    memcpy(&ray, b.memory + t.rays + 2 * sizeof ray, sizeof ray);
    assert_true(ray.factor == 2);
    close_block(&b);

    fft_now = true;
    b = open_block(&job, &t);
    OK(gpu_tables_write(&job, &t, put, &b));
    for (size_t i = 0; i < 9; i++)
        assert_true(at(&b, t.filter, i) == (float)(1 + i));
    close_block(&b);

    job.input.filtered = true; /* no weights are asked for: there are none */
    job.filtering.columns = NULL;
    job.filtering.pad = NULL;
    b = open_block(&job, &t);
    OK(gpu_tables_write(&job, &t, put, &b));
    assert_int_equal(b.calls, 3);
    check_prep(&b, &t);
    close_block(&b);
}

TEST_WITH(a_failed_copy_ends_it, start, NULL)
{
    const struct fbp_job job = small_job();
    struct gpu_tables t;
    struct block b = open_block(&job, &t);

    OK(gpu_tables_write(&job, &t, put, &b));
    const int n = b.calls;
    assert_int_equal(n, 9);
    close_block(&b);
    for (int i = 1; i <= n; i++) {
        b = open_block(&job, &t);
        b.fail_at = i;
        assert_int_equal(gpu_tables_write(&job, &t, put, &b), FBP_ERR_DEVICE);
        assert_int_equal(b.calls, i);
        close_block(&b);
    }
}

/* A region away from the middle, of 37 x 37 x 21 voxels: (x - 25)^2 + (y - 12)^2 + (z - 14)^2 < 17.
 */
enum { SIDE = 37, SLICES = 21, CELLS = 5 };

static bool is_in_ball(int x, int y, int z)
{
    return (x - 25) * (x - 25) + (y - 12) * (y - 12) + (z - 14) * (z - 14) < 17;
}

static fbp_status ball_row(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    *n = 0;
    for (int x = SIDE - 1; x >= 0; x--)
        if (is_in_ball(x, (int)y, (int)z)) {
            out[0].end = *n ? out[0].end : (uint32_t)x + 1;
            out[0].first = (uint32_t)x;
            *n = 1;
        }
    return FBP_OK;
}

/* One wanted voxel, and all voxels that are taken together with it, into the cells. */
static void expect_voxel(const struct fbp_job *job, int x, int y, int z,
                         struct gpu_wanted cells[CELLS * CELLS])
{
    for (size_t turn = 0; turn < job->selection.symmetric_views; turn++) {
        struct gpu_wanted *c = &cells[y / GPU_CELL * CELLS + x / GPU_CELL];
        c->first = c->end == 0 || z < c->first ? z : c->first;
        c->end = z + 1 > c->end ? z + 1 : c->end;
        const int old = y;
        y = job->selection.symmetric_views == 4 ? x : SIDE - 1 - y;
        x = job->selection.symmetric_views == 4 ? SIDE - 1 - old : SIDE - 1 - x;
    }
}

/* Every cell knows the slices that are wanted of it, and of what kernels take together with it. */
TEST_WITH(cells_are_wanted, start, NULL)
{
    static const size_t box[3][2] = {{0, SIDE}, {0, SIDE}, {0, SLICES}},
                        n[3] = {SIDE, SIDE, SLICES};
    CLEANUP(fbp_region_destroy) struct fbp_region *region = NULL;

    OK(fbp_region_create(&region, n, box, ball_row, NULL));
    for (int i = 0; i < 3; i++) {
        struct gpu_wanted right[CELLS * CELLS] = {{0}}, found[CELLS * CELLS];
        struct fbp_job job = small_job();
        struct gpu_tables t;
        memcpy(job.grid.n, n, sizeof n);
        job.selection.symmetric_views = (size_t)1 << i;
        job.requested.region = region;
        job.n_views = 4;
        struct block b = open_block(&job, &t);
        OK(gpu_tables_write(&job, &t, put, &b));
        memcpy(found, b.memory + t.wanted, sizeof found);
        for (int at = 0; at < SIDE * SIDE * SLICES; at++)
            if (is_in_ball(at % SIDE, at / SIDE % SIDE, at / SIDE / SIDE))
                expect_voxel(&job, at % SIDE, at / SIDE % SIDE, at / SIDE / SIDE, right);
        for (int c = 0; c < CELLS * CELLS; c++)
            if (found[c].first != right[c].first || found[c].end != right[c].end)
                fail_msg("%zu turns: cell %d, %d: slices %d to %d, not %d to %d",
                         job.selection.symmetric_views, c % CELLS, c / CELLS, found[c].first,
                         found[c].end, right[c].first, right[c].end);
        close_block(&b);
    }
}

TEST_MAIN(NULL, NULL)
