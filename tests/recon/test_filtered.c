/* Checks views that are filtered already: from RabbitCT's files, from scan files, and one by one.
 */
#include "recon/fixture.h"

#include "bench/common/filtered.h"
#include "bench/rabbitct/feed.h"
#include "bench/rabbitct/rabbitct.h"

#include "array/array.h"
#include "devices/mock/mock.h"
#include "pipeline/job.h"
#include "pipeline/run.h"

enum { VIEWS = 50, COLUMNS = 78, ROWS = 60, SIDE = 40 };

/* A wobbling C-arm around a ball-like phantom; projections in a file. */
static struct fbp_scan c_arm_scan(void)
{
    struct fbp_scan scan = {
        .struct_size = sizeof scan,
        .n_views = VIEWS,
        .panel = {COLUMNS, ROWS},
        .row_order = FBP_ROWS_BOTTOM_UP,
        .volume = {{SIDE, SIDE, SIDE}, {256.0 / SIDE, 256.0 / SIDE, 256.0 / SIDE}, {0, 0, 0}}};

    add_views(&scan, &(struct orbit){.start_deg = 20,
                                     .step_deg = 198.0 / (VIEWS - 1),
                                     .sod_mm = 745,
                                     .sdd_mm = 1196,
                                     .pitch_mm = {4.9, 4.9},
                                     .c_arm = true});
    simulate_head(&scan, 90);
    return scan;
}

/* The same as a data set, loaded as a scan of this volume. */
static struct fbp_scan filtered_scan(const struct fbp_scan *scan, const char *path)
{
    const struct fbp_rabbitct_make make = {.struct_size = sizeof make};

    OK(fbp_rabbitct_create(path, scan, &make));
    struct fbp_scan out = open_scan(path);
    assert_true(out.filtered && out.n_views == VIEWS && out.panel.n_columns == COLUMNS);
    assert_int_equal(out.volume.n[0], 512);
    assert_true(out.volume.voxel_mm[2] == 0.5);
    out.volume = scan->volume;
    return out;
}

static void assert_alike(const float *a, const float *b, double least_db, const char *what)
{
    const double db = psnr_db(a, b, (size_t)SIDE * SIDE * SIDE);
    if (!(db > least_db))
        fail_msg("%s: %.1f dB", what, db);
}

/* Filtering first and backprojecting then is filtered backprojection, in other scales of the
 * matrices, whose depths differ from view to view. */
TEST(test_two_steps)
{
    static const char *const devices[] = {"ref", "cpu", "mock", "cuda", "gl"};
    AUTO_DROP struct fbp_scan scan = c_arm_scan();
    AUTO_REMOVE char *path = temporary("set.rctd"), *json = temporary("set.json");
    AUTO_CLEAR struct fbp_scan filtered = filtered_scan(&scan, path),
                               saved = {.struct_size = sizeof saved};
    AUTO_FREE float *right = reconstruct(&scan, fbp_recon_params(.device = "ref"));

    assert_true(fabs(filtered.depths[0] - filtered.depths[VIEWS / 3]) > 1e-4);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!usable(devices[i]))
            continue;
        const struct fbp_recon_params *p =
            fbp_recon_params(.device = devices[i], .precision = FBP_PRECISION_EXACT);
        AUTO_FREE float *values = reconstruct(&filtered, p);
        assert_alike(values, right, 120, devices[i]);
    }
    OK(fbp_scan_save(&filtered, json, NULL));
    OK(fbp_scan_load(&saved, json, NULL));
    assert_true(saved.filtered);
    for (size_t k = 0; k < VIEWS; k++)
        assert_true(fabs(saved.depths[k] - filtered.depths[k]) < 1e-12);
    AUTO_FREE float *again = reconstruct(&saved, fbp_recon_params(.device = "ref"));
    assert_alike(again, right, 120, "saved");
}

/* Views that were never filtered are only summed up: kernels of circular scans agree with the
 * sum over matrices, and unequal depths are no symmetry. */
TEST(test_symmetric)
{
    enum { K = 24 };
    AUTO_DROP struct fbp_scan scan = circle_scan(K, COLUMNS, 0);
    double depths[K];
    fbp_plan *plan;

    scan.volume = (struct fbp_grid){{SIDE, SIDE, SIDE}, {4, 4, 4}, {0, 0, 0}};
    simulate_head(&scan, 70);
    scan.filtered = true;
    for (int k = 0; k < K; k++)
        depths[k] = 1.25;
    for (int equal = 1; equal >= 0; equal--) {
        scan.depths = depths;
        AUTO_FREE float *right = reconstruct(&scan, fbp_recon_params(.device = "ref"));
        AUTO_FREE float *values = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
        assert_alike(values, right, 105, equal ? "equal depths" : "unequal depths");
        OK(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu")));
        assert_true((strstr(fbp_plan_info(plan)->kernel, "rot90") != NULL) == equal);
        fbp_plan_destroy(&plan);
        depths[5] = 1.5;
    }
    scan.depths = NULL;
}

static void refused(const struct fbp_scan *scan, const char *why)
{
    fbp_plan *plan = NULL;

    assert_fails(fbp_plan_create(&plan, scan, fbp_recon_params(.device = "cpu")), FBP_ERR_INVALID,
                 why);
}

TEST(test_refused)
{
    AUTO_DROP struct fbp_scan scan = c_arm_scan();
    double depths[VIEWS] = {0};

    scan.depths = depths;
    refused(&scan, "filtered");
    scan.filtered = true;
    refused(&scan, "scan.depths[0]");
    scan.depths = NULL;
    scan.i0 = 1000;
    refused(&scan, "i0");
    scan.i0 = 0;
}

/* A source that knows which view was read last. */
static size_t next_view;
static bool went_back;

static fbp_status read_rows(fbp_source *source, size_t view, size_t row0, size_t n_rows, void *out)
{
    usleep(view % 3 == 0 ? 3000 : 0); /* another thread would be before */
    went_back |= view < next_view;
    next_view = view;
    memset(out, 0, n_rows * source->info.n[0] * sizeof(float));
    return FBP_OK;
}

static fbp_status forget(void *user, size_t k, const float *samples)
{
    return FBP_OK;
}

/* A compressed scan is filtered in its order, however many threads there are. */
TEST(test_in_order)
{
    AUTO_DROP struct fbp_scan scan = c_arm_scan();
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {COLUMNS, ROWS, VIEWS}, .type = FBP_F32};
    CLEANUP(fbp_job_clear) struct fbp_job_tables tables;

    OK(fbp_job_create(&tables, &scan, fbp_recon_params(.n_threads = 8), false));
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(NULL, &info);
    source->read = read_rows;
    tables.job.input.in_order = true;
    for (int i = 0; i < 5; i++) {
        next_view = 0;
        went_back = false;
        OK(fbp_bench_filter(&tables.job, source, false, forget, NULL));
        assert_int_equal(next_view, VIEWS - 1);
        assert_false(went_back);
    }
}

/* A feed of the scan's views, in order. */
struct feed_case {
    const char *device;
    size_t batch, n_views;
    bool in_place;
};

static void feed_views(fbp_feed *feed, const struct fbp_scan *s, const float *views, size_t first,
                       size_t end, bool in_place)
{
    float *copy = NULL;

    if (in_place) {
        OK(fbp_feed_alloc(feed, (size_t)VIEWS * COLUMNS * ROWS * sizeof *copy, (void **)&copy));
        memcpy(copy, views, (size_t)VIEWS * COLUMNS * ROWS * sizeof *copy);
    } else {
        copy = not_null(malloc((size_t)COLUMNS * ROWS * sizeof *copy));
    }
    for (size_t k = first; k < end; k++) {
        double P[12];
        float *view = in_place ? copy + k * COLUMNS * ROWS : copy;
        if (!in_place)
            memcpy(copy, views + k * COLUMNS * ROWS, (size_t)COLUMNS * ROWS * sizeof *copy);
        OK(fbp_view_to_matrix(&s->views[k], FBP_CONE, &s->panel, P));
        for (int i = 0; i < 12; i++)
            P[i] *= (k % 2 ? 1 : -1) * s->depths[k] / fabs(P[11]);
        OK(fbp_feed_add(feed, P, view, in_place));
        if (!in_place)
            memset(copy, 0xff, (size_t)COLUMNS * ROWS * sizeof *copy);
    }
    if (in_place) {
        OK(fbp_feed_settle(feed));
        memset(copy, 0xff, (size_t)VIEWS * COLUMNS * ROWS * sizeof *copy);
        fbp_feed_release(feed, copy);
    } else {
        free(copy);
    }
}

static float *fed(const struct fbp_scan *s, const float *views, const struct feed_case *c)
{
    const struct fbp_feed_params p = {.struct_size = sizeof p,
                                      .device = c->device,
                                      .n_threads = 2,
                                      .precision = FBP_PRECISION_EXACT,
                                      .panel = s->panel,
                                      .volume = s->volume,
                                      .n_views = c->n_views,
                                      .batch_views = c->batch};
    float *volume = not_null(malloc(grid_size(&s->volume) * sizeof *volume));
    CLEANUP(fbp_feed_close) fbp_feed *feed = NULL;

    OK(fbp_feed_open(&feed, &p));
    feed_views(feed, s, views, 0, 13, c->in_place);
    OK(fbp_feed_reset(feed)); /* forgets them */
    feed_views(feed, s, views, 7, 28, c->in_place);
    OK(fbp_feed_fetch(feed, volume)); /* another volume follows */
    feed_views(feed, s, views, 0, 21, c->in_place);
    feed_views(feed, s, views, 21, VIEWS, c->in_place);
    OK(fbp_feed_fetch(feed, volume));
    return volume;
}

TEST(test_feed)
{
    static const struct feed_case cases[] = {
        {"ref", 0, 0, false},      {"cpu", 0, 0, false},      {"cpu", 8, VIEWS, true},
        {"cpu", 48, 0, false},     {"cpu", 8, 8, false}, /* more views come than were told */
        {"mock", 8, VIEWS, false}, {"mock", 8, 0, true},      {"mock", 0, VIEWS, true},
        {"mock", 8, 24, true},     {"cuda", 8, VIEWS, false}, {"cuda", 16, 0, true},
        {"cuda", 0, VIEWS, false}, {"cuda", 0, VIEWS, true},  {"cuda", 8, 16, false},
        {"gl", 8, VIEWS, false},   {"gl", 16, 0, true},
    };
    AUTO_DROP struct fbp_scan scan = c_arm_scan();
    AUTO_REMOVE char *path = temporary("feed.rctd");
    AUTO_CLEAR struct fbp_scan filtered = filtered_scan(&scan, path);
    AUTO_FREE float *views = read_array(path);
    AUTO_FREE float *right = reconstruct(&filtered, fbp_recon_params(.device = "ref"));
    float *first = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!usable(cases[i].device))
            continue;
        float *volume = fed(&filtered, views, &cases[i]);
        assert_alike(volume, right, 110, cases[i].device);
        /* How views are divided into batches does not matter. */
        if (first && strcmp(cases[i].device, cases[i - 1].device) == 0)
            assert_memory_equal(volume, first, grid_size(&scan.volume) * sizeof *volume);
        free(first);
        first = volume;
    }
    free(first);
}

/* All views to the mock device and the volume back, which may fail. */
static fbp_status fed_late(const struct fbp_scan *s, const float *views, float *volume)
{
    const struct fbp_feed_params p = {.struct_size = sizeof p,
                                      .device = "mock",
                                      .n_threads = 2,
                                      .panel = s->panel,
                                      .volume = s->volume,
                                      .n_views = VIEWS,
                                      .batch_views = 8};
    CLEANUP(fbp_feed_close) fbp_feed *feed = NULL;
    double P[12];
    fbp_status st = fbp_feed_open(&feed, &p);

    for (size_t k = 0; k < VIEWS && st == FBP_OK; k++) {
        OK(fbp_view_to_matrix(&s->views[k], FBP_CONE, &s->panel, P));
        st = fbp_feed_add(feed, P, views + k * COLUMNS * ROWS, true);
    }
    if (st == FBP_OK)
        st = fbp_feed_fetch(feed, volume);
    return st;
}

/* Of each queue; a forgotten order is a race, which a sanitizer of threads would report. */
#ifdef __SANITIZE_THREAD__
enum { FORGOTTEN = 0 };
#else
enum { FORGOTTEN = 20 };
#endif

/* Whichever queue is late, the volume is right; orders that are forgotten are found. */
TEST(test_late)
{
    const size_t bytes = (size_t)SIDE * SIDE * SIDE * sizeof(float);
    AUTO_DROP struct fbp_scan scan = c_arm_scan();
    AUTO_FREE float *views = read_array(scan.projections), *right = malloc(bytes),
                    *volume = malloc(bytes);
    int found = 0;

    assert_true(right && volume);
    scan.volume.n[0] = scan.volume.n[1] = scan.volume.n[2] = 20;
    memset(right, 0, bytes);
    memset(volume, 0, bytes);
    OK(fed_late(&scan, views, right));
    for (unsigned slow = 1; slow <= FBP_N_STAGES; slow++) {
        fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 200, .slow_stage = slow};
        OK(fed_late(&scan, views, volume));
        assert_memory_equal(volume, right, bytes);
        for (uint64_t i = 1; i <= FORGOTTEN; i++) {
            fbp_mock_faults.drop_after = i;
            found += fed_late(&scan, views, volume) != FBP_OK || memcmp(volume, right, bytes) != 0;
        }
    }
    fbp_mock_faults = (struct fbp_mock_faults){.drop_upload = 30};
    assert_int_not_equal(fed_late(&scan, views, volume), FBP_OK);
    fbp_mock_faults = (struct fbp_mock_faults){0};
    print_message("%d of %d forgotten orders were found\n", found, FBP_N_STAGES * FORGOTTEN);
    assert_true(found >= FORGOTTEN / 2);
}

TEST(test_feed_refuses)
{
    struct fbp_feed_params p = {.struct_size = sizeof p,
                                .device = "cpu",
                                .panel = {8, 8},
                                .volume = {{8, 8, 8}, {1, 1, 1}, {0, 0, 0}}};
    const float view[64] = {0};
    double P[12] = {1, 0, 0, 4, 0, 0, 1, 4, 0, 0.1, 0, 1};
    fbp_feed *feed;

    OK(fbp_feed_open(&feed, &p));
    OK(fbp_feed_add(feed, P, view, false));
    P[9] = 0.4; /* w = 1 + 0.4 y is negative at y = -3.5 */
    assert_fails(fbp_feed_add(feed, P, view, false), FBP_ERR_INVALID, "view 1");
    P[9] = NAN;
    assert_int_equal(fbp_feed_add(feed, P, view, false), FBP_ERR_INVALID);
    fbp_feed_close(&feed);
    p.struct_size--;
    assert_int_equal(fbp_feed_open(&feed, &p), FBP_ERR_INVALID);
    p.struct_size++;
    p.batch_views = 12;
    assert_int_equal(fbp_feed_open(&feed, &p), FBP_ERR_INVALID);
    p.batch_views = 0;
    p.volume.n[1] = 0;
    assert_int_equal(fbp_feed_open(&feed, &p), FBP_ERR_INVALID);
    p.volume.n[1] = 8;
    p.device = "mock:0,1";
    assert_int_equal(fbp_feed_open(&feed, &p), FBP_ERR_INVALID);
    p.device = "nothing";
    assert_int_equal(fbp_feed_open(&feed, &p), FBP_ERR_UNSUPPORTED);
    assert_null(feed);
}

TEST_MAIN(NULL, NULL)
