/* Checks reconstruction while projections are being written (--follow): the bits of an ordinary
 * run at any pace, on any device, for any slabs and formats. */
#include "recon/fixture.h"

#include "array/file/format.h"
#include "devices/mock/mock.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>

enum { N = 48, N_VIEWS = 60, VIEW = N * N }; /* a full circle that quarter turns would suit */

/* A scan whose projections a thread writes, `burst` views at once and then a pause. */
struct live {
    struct fbp_scan scan; /* its projections are the file that grows */
    void *views;
    char *pattern, *file;
    size_t burst;
    long pause_ms;
    size_t stop_at; /* views that are ever written */
    bool files;
    pthread_t writer;
};

static void make_live(struct live *l, struct fbp_scan *scan)
{
    *scan = circle_scan(N_VIEWS, N, 0);
    scan->volume = (struct fbp_grid){{40, 40, 44}, {4, 4, 4}, {0, 0, 0}};
    simulate_head(scan, 90);
    *l = (struct live){.burst = 1, .pause_ms = 1, .stop_at = N_VIEWS};
    l->views = read_array(scan->projections);
    l->file = temporary("live.raw");
    l->pattern = temporary("live%03d.raw 0 59");
    l->scan = *scan;
    l->scan.raw = (struct fbp_raw){.type = FBP_F32, .n = {N, N, N_VIEWS}};
    l->scan.row_order = FBP_ROWS_BOTTOM_UP;
}

static void drop_live(struct live *l)
{
    free(l->views);
    free(l->file);
    free(l->pattern);
}

static void name_view(const struct live *l, size_t k, char *out)
{
    sprintf(out, "%.*s%03zu.raw", (int)(strchr(l->pattern, '%') - l->pattern), l->pattern, k);
}

static void *write_views(void *user)
{
    const struct live *l = user;
    const struct timespec t = {0, l->pause_ms * 1000000};

    for (size_t k = 0; k < l->stop_at; k++) {
        if (k % l->burst == 0)
            nanosleep(&t, NULL);
        char name[500], temporary_name[510];
        const size_t bytes = VIEW * fbp_type_size(l->scan.raw.type);
        name_view(l, k, name);
        sprintf(temporary_name, "%s.tmp", name);
        const int fd =
            open(l->files ? temporary_name : l->file, O_WRONLY | O_CREAT | O_APPEND, 0666);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, (const char *)l->views + k * bytes, bytes), bytes);
        close(fd);
        if (l->files)
            assert_int_equal(rename(temporary_name, name), 0);
    }
    return NULL;
}

static void remove_files(const struct live *l)
{
    char name[500];

    remove(l->file);
    for (size_t k = 0; k < N_VIEWS; k++) {
        name_view(l, k, name);
        remove(name);
    }
}

static void begin(struct live *l)
{
    remove_files(l);
    l->scan.projections = l->files ? l->pattern : l->file;
    assert_int_equal(pthread_create(&l->writer, NULL, write_views, l), 0);
}

static void end(struct live *l)
{
    pthread_join(l->writer, NULL);
    remove_files(l);
}

/* Follow; the kernel that was chosen, and the hash. */
static uint64_t follow(struct live *l, const struct fbp_recon_params *params, char kernel[40])
{
    struct fbp_recon_params p = *params;
    struct fbp_report report = {.struct_size = sizeof report};

    p.struct_size = sizeof p;
    p.input.follow = true;
    p.input.follow_timeout_s = 20;
    begin(l);
    fbp_plan *plan = create_plan(&l->scan, &p);
    assert_true(fbp_plan_info(plan)->follows);
    snprintf(kernel, 40, "%s", fbp_plan_info(plan)->kernel);
    OK(fbp_plan_run(plan, "hash:", &report));
    assert_true(report.volume_after_last_view > 0);
    assert_true(report.output_after_last_view >= report.volume_after_last_view);
    assert_true(report.n_batches > 0 && report.last_batch > 0);
    const uint64_t hash = report.hash;
    OK(fbp_plan_run(plan, "hash:", &report)); /* again, of the file that is complete now */
    assert_true(report.hash == hash);
    fbp_plan_destroy(&plan);
    end(l);
    return hash;
}

/* The hash of an ordinary run over the file that the writer has completed. */
static uint64_t complete(struct live *l, const struct fbp_recon_params *params, const char *kernel)
{
    struct fbp_recon_params p = *params;

    p.struct_size = sizeof p;
    p.tuning.kernel = kernel;
    p.tuning.no_overlap = false;
    begin(l);
    pthread_join(l->writer, NULL);
    const uint64_t hash = reconstruct_hash(&l->scan, &p);
    remove_files(l);
    return hash;
}

TEST(same_bits)
{
    static const struct {
        size_t burst;
        long pause_ms;
        bool files;
        struct fbp_recon_params p;
    } cases[] = {
        {1, 1, false, {.device = "cpu"}},
        {13, 20, false, {.device = "cpu", .n_threads = 2}},
        {60, 1, false, {.device = "cpu"}},
        {7, 5, true, {.device = "cpu", .tuning.batch_views = 16}},
        {5, 3, false, {.device = "cpu", .tuning.slab_slices = 9}},
        {1, 1, false, {.device = "cpu", .tuning.kernel = "matrix"}},
        {11, 5, false, {.device = "ref"}},
        {3, 2, false, {.device = "mock"}},
        {3, 2, true, {.device = "mock:0,1", .tuning.slab_slices = 5}},
        {5, 3, false, {.device = "cpu", .tuning.no_overlap = true}},
        {1, 2, false, {.device = "cuda", .precision = FBP_PRECISION_EXACT}},
        {13, 9, true, {.device = "cuda", .precision = FBP_PRECISION_FAST}},
        {2, 2, false, {.device = "cuda", .tuning.kernel = "matrix", .tuning.slab_slices = 30}},
        {3, 2, false, {.device = "gl", .precision = FBP_PRECISION_FAST}},
    };
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan};
    struct live l;

    make_live(&l, &scan);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fbp_recon_params p = cases[i].p;
        char kernel[40];
        if (!usable(p.device))
            continue;
        l.burst = cases[i].burst;
        l.pause_ms = cases[i].pause_ms;
        l.files = cases[i].files;
        const uint64_t hash = follow(&l, &p, kernel);
        p.struct_size = sizeof p;
        p.tuning.kernel = kernel;
        p.tuning.no_overlap = false;
        if (hash != reconstruct_hash(&scan, &p))
            fail_msg("case %zu: %s, kernel %s: other values", i, p.device, kernel);
    }
    drop_live(&l);
}

/* Counts of 16 bits instead of line integrals, top rows first. */
static void make_counts(struct live *l)
{
    const float *integrals = l->views;
    uint16_t *counts = not_null(malloc((size_t)N_VIEWS * VIEW * sizeof *counts));

    for (size_t i = 0; i < (size_t)N_VIEWS * VIEW; i++)
        counts[i] = (uint16_t)lround(60000 * exp(-0.02 * (double)integrals[i]));
    free(l->views);
    l->views = counts;
    l->scan.raw.type = FBP_U16;
    l->scan.i0 = 60000;
    l->scan.row_order = FBP_ROWS_TOP_DOWN;
}

/* Late queues, counts, views that are filtered already, several devices and slabs, one stage at a
 * time, rates that make views stay in an ordinary run: the bits of the complete scan. */
TEST(same_bits_on_devices)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "mock"},
        {.device = "mock", .n_threads = 3, .tuning.batch_views = 16},
        {.device = "mock:0,1", .tuning.slab_slices = 9},
        {.device = "mock:0,1,2", .tuning.no_overlap = true},
        {.device = "mock", .tuning.no_overlap = true, .tuning.slab_slices = 13},
    };
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan};
    struct live l;

    make_live(&l, &scan);
    for (int kind = 0; kind < 3; kind++) { /* line integrals, filtered views, counts */
        l.scan.filtered = kind == 1;
        if (kind == 2)
            make_counts(&l);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct fbp_recon_params p = cases[i];
            char kernel[40];
            l.burst = 3 + 5 * (i % 3);
            l.pause_ms = 3;
            l.files = i % 2 == 1;
            fbp_mock_faults = (struct fbp_mock_faults){
                .delay_us = 150, .slow_stage = 1 + (unsigned)i % FBP_N_STAGES};
            fbp_mock_faults.rates = (struct fbp_rates){1e-9, 1e-9, 1e-9, 1e-9, 1e-6, .share = 1};
            const uint64_t hash = follow(&l, &p, kernel);
            const uint64_t expected = complete(&l, &p, kernel);
            fbp_mock_faults = (struct fbp_mock_faults){0};
            if (hash != expected)
                fail_msg("kind %d, case %zu: %s: other values", kind, i, p.device);
        }
    }
    drop_live(&l);
}

/* The other one does all, of views that come meanwhile and of those that came before. */
TEST(a_device_fails_meanwhile)
{
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = "mock:0,1",
                                       .tuning.slab_slices = 9,
                                       .tuning.batch_views = 16};
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan};
    struct live l;
    char kernel[40];

    make_live(&l, &scan);
    l.burst = 3;
    const uint64_t before = atomic_load(&fbp_mock_failures);
    for (uint64_t n = 1; n < 100; n = 2 * n + 1) {
        fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 150, .fail_command = {n}};
        const uint64_t hash = follow(&l, &p, kernel);
        fbp_mock_faults = (struct fbp_mock_faults){0};
        assert_true(hash == complete(&l, &p, kernel));
    }
    assert_true(atomic_load(&fbp_mock_failures) >= before + 5);
    drop_live(&l);
}

/* Kernels that need distant views together are not taken, nor on request. */
TEST(views_in_order)
{
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan};
    struct live l;

    make_live(&l, &scan);
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
    assert_string_equal(fbp_plan_info(plan)->kernel, "rot90");
    fbp_plan_destroy(&plan);
    l.scan.projections = l.file;
    OK(fbp_plan_create(&plan, &l.scan, fbp_recon_params(.device = "cpu", .input.follow = true)));
    assert_string_equal(fbp_plan_info(plan)->kernel, "column");
    fbp_plan_destroy(&plan);
    assert_int_equal(fbp_plan_create(&plan, &l.scan,
                                     fbp_recon_params(.device = "cpu", .input.follow = true,
                                                      .tuning.kernel = "rot90")),
                     FBP_ERR_UNSUPPORTED);
    drop_live(&l);
}

struct watcher {
    size_t waited_for, calls;
    bool cancel;
};

static int watch(void *user, const struct fbp_progress *now)
{
    struct watcher *w = user;

    if (now->waiting_for) {
        w->waited_for = now->waiting_for;
        w->calls++;
    }
    return w->cancel && w->calls > 2;
}

/* A scan that stops after 21 views: nothing is left, and the reason is said. */
TEST(ends_without_views)
{
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan};
    struct watcher w = {0};
    struct live l;
    fbp_plan *plan;
    char *out = temporary("never.mha"), part[500];

    make_live(&l, &scan);
    l.stop_at = 21;
    for (int cancel = 0; cancel < 2; cancel++) {
        w = (struct watcher){.cancel = cancel != 0};
        begin(&l);
        OK(fbp_plan_create(&plan, &l.scan,
                           fbp_recon_params(.device = "cpu", .input.follow = true,
                                            .input.follow_timeout_s = cancel ? 20 : 0.3,
                                            .callbacks.progress = watch, .callbacks.user = &w)));
        assert_int_equal(fbp_plan_run(plan, out, NULL), cancel ? FBP_ERR_CANCELLED : FBP_ERR_IO);
        if (!cancel) {
            assert_says("21 of 60 views have arrived");
            assert_int_equal(w.waited_for, 22);
        }
        assert_true(w.calls > 2);
        fbp_plan_destroy(&plan);
        end(&l);
        sprintf(part, "%s.part", out);
        assert_true(access(out, F_OK) != 0 && access(part, F_OK) != 0);
        strcat(part, ".log");
        assert_true(access(part, F_OK) != 0);
    }
    free(out);
    drop_live(&l);
}

/* What is in memory is followed by nobody, and a source of the caller's is, without a flag. */
TEST(sources_of_the_caller)
{
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_report report = {.struct_size = sizeof report};
    struct live l;
    fbp_source *source;

    make_live(&l, &scan);
    const uint64_t expected =
        reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "column"));
    begin(&l);
    OK(fbp_source_follow(&source, l.file, &l.scan.raw, 20));
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu", .input.source = source));
    assert_true(fbp_plan_info(plan)->follows);
    OK(fbp_plan_run(plan, "hash:", &report));
    assert_true(report.hash == expected && report.volume_after_last_view > 0);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    end(&l);
    OK(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "column")));
    assert_false(fbp_plan_info(plan)->follows);
    OK(fbp_plan_run(plan, "hash:", &report));
    assert_true(report.volume_after_last_view == 0 && report.n_batches == 0);
    fbp_plan_destroy(&plan);
    drop_live(&l);
}

TEST_MAIN(NULL, NULL)
