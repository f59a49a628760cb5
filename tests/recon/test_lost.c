/* Checks that the other devices compute the work of a device that fails during a run, with the
 * same bits and reports, unless they copy filtered views from that device: then the run fails. */
#include "pipeline/plan.h"
#include "recon/slabs.h"

#include <inttypes.h>
#include <stdatomic.h>

/* Ways in which each device filters the views that it needs: the first of `ways`. */
enum { OWN_VIEWS = 2 };

/* What a run without failures gives. */
struct right {
    uint64_t hash;
    struct fbp_report report;
};

static void check_report(const struct fbp_report *r, const struct right *right)
{
    assert_true(r->hash == right->hash);
    assert_true(r->min == right->report.min && r->max == right->report.max);
    assert_true(fabs(r->mean - right->report.mean) < 1e-12 * fabs(right->report.max));
    assert_int_equal(r->not_finite, right->report.not_finite);
    assert_int_equal(r->clipped, right->report.clipped);
}

/* As a plan of its own. */
static fbp_status run_plan(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                           const char *output, struct fbp_report *r)
{
    return reconstruct_to(scan, p, output, r);
}

/* A run in which what is planted fails, if it comes to that, and one after it on the same plan. */
static bool run_with_failure(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                             const struct right *right, size_t *n_dropped)
{
    const uint64_t before = atomic_load(&fbp_mock_failures);
    struct fbp_recon_params p = *params;
    struct fbp_report r = {.struct_size = sizeof r};
    int lines = 0;

    p.callbacks.log = count_lines;
    p.callbacks.user = &lines;
    fbp_plan *plan = create_plan(scan, &p);
    OK(fbp_plan_open(plan));
    for (int time = 0; time < 2; time++) {
        OK(fbp_plan_run(plan, "hash:", &r));
        check_report(&r, right);
        /* What fails when all is done drops nothing. */
        assert_true(r.devices_dropped <= (atomic_load(&fbp_mock_failures) > before));
        assert_int_equal(lines, r.devices_dropped);
    }
    *n_dropped += r.devices_dropped;
    fbp_plan_destroy(&plan);
    return atomic_load(&fbp_mock_failures) > before;
}

static void spoil(struct fbp_scan *scan)
{
    const size_t n = scan->n_views * scan->panel.n_columns * scan->panel.n_rows;
    AUTO_FREE float *p = read_array(scan->projections);

    for (size_t i = 0; i < n; i += 97)
        p[i] = NAN;
    replace_samples(scan, p);
}

/* Every call of a device, and every command of its queues: the others do its part, the same bits,
 * the same facts.  step: every so many of them. */
static void check_failures(const struct fbp_scan *scan, struct fbp_recon_params p,
                           struct fbp_rates rates, uint64_t step, struct right *right)
{
    right->report = (struct fbp_report){.struct_size = sizeof right->report};
    fbp_mock_faults = (struct fbp_mock_faults){.rates = rates};
    OK(run_plan(scan, &p, "hash:", &right->report));
    assert_true(right->report.hash == right->hash && right->report.not_finite > 100);
    for (int commands = 0; commands < 2; commands++) {
        uint64_t n = 1;
        size_t dropped = 0;
        for (bool failed = true; failed; n += step) {
            fbp_mock_faults = (struct fbp_mock_faults){.rates = rates};
            (commands ? fbp_mock_faults.fail_command : fbp_mock_faults.fail_call)[n % 2] = n;
            failed = run_with_failure(scan, &p, right, &dropped);
        }
        print_message("%zu devices dropped after a failure among %" PRIu64 " %s\n", dropped, n,
                      commands ? "commands" : "calls");
        assert_true(dropped > 10 / step);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

TEST(others_do_what_a_failed_device_had_to_do)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    struct right right;

    spoil(&scan);
    right.hash = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = "mock:0,1",
                                       .tuning.slab_slices = 3,
                                       .tuning.batch_views = 8};
    const uint64_t shared = atomic_load(&fbp_mock_shared);
    for (int way = 0; way < OWN_VIEWS; way++)
        check_failures(&scan, p, *ways[way], 13, &right);
    assert_true(atomic_load(&fbp_mock_shared) == shared);
}

/* Devices copy filtered views from one another: the failure of one of them fails the run, unless
 * all slabs are written, and a second run resumes the output. */
TEST(a_failed_device_with_views_of_others_fails_the_run)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE char *out = temporary("shared.mha");
    struct fbp_report r = {.struct_size = sizeof r};
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "mock:0,1",
                                 .tuning.slab_slices = 3,
                                 .tuning.batch_views = 8};
    uint64_t n_failed = 0, n = 1;
    struct right right;

    spoil(&scan);
    right.hash = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    right.report = (struct fbp_report){.struct_size = sizeof right.report};
    fbp_mock_faults = (struct fbp_mock_faults){.rates = linked};
    const uint64_t shared = atomic_load(&fbp_mock_shared);
    OK(run_plan(&scan, &p, "hash:", &right.report));
    assert_true(atomic_load(&fbp_mock_shared) > shared);
    for (bool failed = true; failed; n++) {
        const uint64_t before = atomic_load(&fbp_mock_failures);
        fbp_mock_faults = (struct fbp_mock_faults){.rates = linked};
        fbp_mock_faults.fail_command[n % 2] = n;
        p.output.resume = false;
        const fbp_status st = run_plan(&scan, &p, out, &r);
        failed = atomic_load(&fbp_mock_failures) > before;
        if (st != FBP_OK) {
            assert_int_equal(st, FBP_ERR_DEVICE);
            assert_says("as requested by a test");
            n_failed++;
        }
        fbp_mock_faults = (struct fbp_mock_faults){.rates = linked};
        p.output.resume = true;
        OK(run_plan(&scan, &p, out, &r));
        OK(run_plan(&scan, &p, "hash:", &r));
        check_report(&r, &right);
        remove(out);
    }
    print_message("%" PRIu64 " runs failed, commands 1 to %" PRIu64 "\n", n_failed, n);
    assert_true(n_failed > 10);
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* With none left the run fails, and says why; another one resumes it. */
TEST(the_last_device_fails_the_run)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    struct fbp_report r = {.struct_size = sizeof r};
    AUTO_FREE char *out = temporary("slabs.mha");
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "mock:0,0",
                                 .tuning.slab_slices = 3,
                                 .tuning.batch_views = 8};

    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    fbp_mock_faults = (struct fbp_mock_faults){.fail_command = {100}};
    assert_fails(run_plan(&scan, &p, out, &r), FBP_ERR_DEVICE, "as requested by a test");
    fbp_mock_faults = (struct fbp_mock_faults){0};
    p.output.resume = true;
    OK(run_plan(&scan, &p, out, &r));
    assert_true(r.slabs_resumed > 0);
    remove(out);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "mock:0,0")) == right);
}

/* A sink that counts how often each slice comes. */
struct counts {
    unsigned n[3 * SLABS];
    uint64_t done, total; /* as told */
};

static int count_slices(void *user, size_t z0, size_t nz, const float *slices, char *why,
                        size_t n_why)
{
    struct counts *c = user;

    (void)slices, (void)why, (void)n_why;
    for (size_t z = z0; z < z0 + nz; z++)
        c->n[z]++;
    return 0;
}

static int watch(void *user, const struct fbp_progress *p)
{
    struct counts *c = user;

    assert_true(p->done <= p->total && p->slabs_done <= p->n_slabs);
    c->done = p->done;
    c->total = p->total;
    return 0;
}

/* The caller's function gets each slice once, though a device had written some of a slab; what is
 * done is never more than all, and all in the end. */
TEST(each_slice_is_written_once)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    size_t n_dropped = 0;

    for (uint64_t n = 1; n <= 80; n++) {
        struct counts c = {0};
        const struct fbp_sink_functions to = {
            .struct_size = sizeof to, .write = count_slices, .user = &c};
        struct fbp_report r = {.struct_size = sizeof r};
        fbp_sink *sink;

        fbp_mock_faults = (struct fbp_mock_faults){.fail_call = {n}, .rates = *ways[n % OWN_VIEWS]};
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan =
            create_plan(&scan, fbp_recon_params(.device = "mock:0,1", .tuning.slab_slices = 9,
                                                .tuning.batch_views = 40,
                                                .callbacks.progress = watch, .callbacks.user = &c));
        OK(fbp_sink_callback(&sink, &to, fbp_plan_info(plan)->volume.n));
        OK(fbp_plan_run_to(plan, NULL, sink, &r));
        for (size_t z = 0; z < 3 * SLABS; z++)
            assert_int_equal(c.n[z], 1);
        assert_true(c.total > 0 && c.done == c.total);
        n_dropped += r.devices_dropped;
        fbp_sink_close(&sink);
    }
    assert_true(n_dropped > 10);
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Integers that were clipped are those of the volume. */
TEST(clipped_values_are_counted_once)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    struct fbp_report right = {.struct_size = sizeof right}, r = right;
    AUTO_REMOVE char *out = temporary("lost.mha");
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = "mock:0,1",
                                       .tuning.slab_slices = 9,
                                       .tuning.batch_views = 40,
                                       .output.type = FBP_U8,
                                       .output.range = {0, 0.01}};

    fbp_mock_faults = (struct fbp_mock_faults){0};
    OK(run_plan(&scan, &p, out, &right));
    assert_true(right.output_clipped > 1000);
    for (uint64_t n = 1; n <= 80; n++) {
        fbp_mock_faults = (struct fbp_mock_faults){.fail_call = {n}};
        OK(run_plan(&scan, &p, out, &r));
        assert_int_equal(r.output_clipped, right.output_clipped);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Slices from `z` on are of an earlier run. */
static void run_rest(const struct fbp_scan *scan, size_t z, const float *right, float *volume)
{
    const size_t slice = 41 * 37;
    fbp_sink *sink;

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan =
        create_plan(scan, fbp_recon_params(.device = "mock:0,1,2,3", .tuning.slab_slices = 3,
                                           .tuning.batch_views = 8));
    OK(fbp_sink_memory(&sink, volume, FBP_F32, fbp_plan_info(plan)->volume.n));
    memset(volume, 0, 3 * SLABS * slice * sizeof *volume);
    if (z < 3 * SLABS)
        OK(fbp_sink_write(sink, z, 3 * SLABS - z, FBP_F32, right + z * slice));
    OK(fbp_plan_run_to(plan, NULL, sink, NULL));
    fbp_sink_close(&sink);
}

/* Of four devices three fail, one after another.  Those that have nothing to do, or no more, do
 * what is left: of one slab or of all. */
TEST(whoever_is_left_does_it)
{
    const size_t n_voxels = (size_t)41 * 37 * 3 * SLABS;
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *right = malloc(n_voxels * sizeof *right),
                    *volume = malloc(n_voxels * sizeof *volume);

    assert_true(right && volume);
    fbp_mock_faults = (struct fbp_mock_faults){0};
    run_rest(&scan, 3 * SLABS, NULL, right);
    for (int way = 0; way < OWN_VIEWS; way++)
        for (size_t z = 9; z <= 3 * SLABS; z += 9)
            for (uint64_t n = 1; n <= 46; n += 9) {
                fbp_mock_faults =
                    (struct fbp_mock_faults){.fail_command = {n, n, n, 0}, .rates = *ways[way]};
                run_rest(&scan, z, right, volume);
                assert_memory_equal(volume, right, n_voxels * sizeof *right);
            }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Its bars, too: every call fails once, those that read the times included. */
TEST(a_timeline_of_failing_devices)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_REMOVE char *svg = temporary("lost.svg");
    size_t n_dropped = 0;
    bool failed = true;

    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    for (uint64_t n = 1; failed; n += 7) {
        const uint64_t before = atomic_load(&fbp_mock_failures);
        struct fbp_report r = {.struct_size = sizeof r};

        fbp_mock_faults = (struct fbp_mock_faults){.fail_call = {n}};
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan = create_plan(
            &scan, fbp_recon_params(.device = "mock:0,1", .tuning.slab_slices = 9,
                                    .tuning.batch_views = 16, .tuning.no_overlap = n % 2 == 0));
        fbp_plan_timeline(plan, svg);
        OK(fbp_plan_run(plan, "hash:", &r));
        assert_true(r.hash == right);
        failed = atomic_load(&fbp_mock_failures) > before;
        n_dropped += r.devices_dropped;
    }
    assert_true(n_dropped > 10);
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* The device is dropped, and the run goes on until it is cancelled, or the sink refuses. */
struct breaker {
    int cancel_at, refuse_at, n_told, n_written;
};

static int cancel(void *user, const struct fbp_progress *p)
{
    struct breaker *b = user;

    if (p->total <= 1) /* the plan is still being made */
        return 0;
    return b->cancel_at > 0 && ++b->n_told == b->cancel_at; /* once */
}

static int refuse(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why)
{
    struct breaker *b = user;

    (void)z0, (void)nz, (void)slices;
    if (b->refuse_at == 0 || ++b->n_written < b->refuse_at)
        return 0;
    snprintf(why, n_why, "the shelf is full");
    return 1;
}

static fbp_status break_it(const struct fbp_scan *scan, struct breaker *b, int no_overlap)
{
    const struct fbp_sink_functions to = {.struct_size = sizeof to, .write = refuse, .user = b};
    fbp_sink *sink;

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan =
        create_plan(scan, fbp_recon_params(.device = "mock:0,1,2", .tuning.slab_slices = 3,
                                           .tuning.batch_views = 8, .callbacks.progress = cancel,
                                           .callbacks.user = b, .tuning.no_overlap = no_overlap));
    OK(fbp_sink_callback(&sink, &to, fbp_plan_info(plan)->volume.n));
    const fbp_status st = fbp_plan_run_to(plan, NULL, sink, NULL);
    fbp_sink_close(&sink);
    return st;
}

TEST(a_run_ends_though_devices_fail)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    int n_broken = 0;

    for (int n = 1; n <= 40; n += 3)
        for (int what = 0; what < 2; what++) {
            struct breaker b = {.cancel_at = what ? 0 : n, .refuse_at = what ? n : 0};
            fbp_mock_faults = (struct fbp_mock_faults){
                .fail_command = {(uint64_t)n, 0, (uint64_t)n + 5}, .rates = *ways[n % OWN_VIEWS]};
            const fbp_status st = break_it(&scan, &b, n % 4 == 0);
            if (b.n_told < n && b.n_written < n) /* it did not come to that */
                OK(st);
            else
                assert_int_equal(st, what ? FBP_ERR_IO : FBP_ERR_CANCELLED);
            if (what && st != FBP_OK)
                assert_says("the shelf is full");
            n_broken += st != FBP_OK;
        }
    assert_true(n_broken > 10);
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Boxes, masks, one stage at a time, the caller's memory out of reach. */
TEST(whatever_is_asked_for)
{
    static const struct fbp_recon_params asked[] = {
        {.tuning.no_overlap = true},
        {.output.fill = true, .output.fill_value = -1},
        {.box = {{5, 30}, {3, 33}, {7, 40}}},
        {.box = {{0, 41}, {0, 37}, {4, 44}}, .output.fill = true, .tuning.no_overlap = true}};
    AUTO_DROP struct fbp_scan scan = make_scan();

    spoil(&scan);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct fbp_recon_params p = asked[i];
        struct right right;
        p.struct_size = sizeof p;
        p.device = "mock:0,1";
        p.tuning.slab_slices = 9;
        p.tuning.batch_views = 16;
        fbp_mock_faults = (struct fbp_mock_faults){0};
        right.hash = reconstruct_hash(&scan, &p);
        check_failures(&scan, p, *ways[i % OWN_VIEWS], 11, &right);
    }
}

TEST_MAIN(without_cache, NULL)
