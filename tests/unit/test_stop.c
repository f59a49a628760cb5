/* Checks that a progress callback or fbp_stop() ends long calls, and that a forked child gets an
 * error if it uses plans, sinks or feeds of its parent. */
#include "bench/rabbitct/feed.h"

#include "base/math.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"
#include "test.h"
#include "unit/memory_scan.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct fbp_grid small = {{32, 32, 24}, {1, 1, 1}, {0, 0, 0}};

static int calls, most_done;

static int cancel(void *user, const struct fbp_progress *p)
{
    calls++;
    assert_true(p->total > 0);
    most_done = (int)(100 * (double)p->done / (double)p->total);
    return 1;
}

/* A million slices, one of which memory holds: slabs are counted for a minute. */
TEST(planning)
{
    const struct fbp_grid tall = {{12000, 12000, 1000000}, {1e-3, 1e-3, 1e-5}, {0, 0, 0}};
    const struct fbp_scan scan = scan_of(&tall);
    CLEANUP(fbp_source_close) fbp_source *source = a_source();
    fbp_plan *plan = NULL;

    calls = 0;
    assert_int_equal(fbp_plan_create(&plan, &scan,
                                     fbp_recon_params(.device = "cpu", .input.source = source,
                                                      .memory_bytes = (size_t)4 << 30,
                                                      .callbacks.progress = cancel)),
                     FBP_ERR_CANCELLED);
    assert_null(plan);
    assert_int_equal(calls, 1); /* and is not asked again */
}

/* One block of the reference takes minutes; nothing is finished when it is cancelled. */
TEST(computing)
{
    const struct fbp_grid large = {{250, 250, 250}, {0.1, 0.1, 0.1}, {0, 0, 0}};
    const struct fbp_scan scan = scan_of(&large);
    CLEANUP(fbp_source_close) fbp_source *source = a_source();

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "ref", .input.source = source,
                                                         .tuning.batch_views = N_VIEWS,
                                                         .callbacks.progress = cancel));
    assert_int_equal(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_CANCELLED);
    assert_true(most_done < 50);
}

static void *stop_soon(void *stopper)
{
    usleep(20000);
    fbp_stopper_stop(stopper);
    return NULL;
}

/* What `fn` returns in a child; cmocka stays out of it. */
static int in_child(int (*fn)(void *), void *arg)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        alarm(60);
        _exit(fn(arg));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool says_child(fbp_status st)
{
    return st == FBP_ERR_INVALID && strstr(fbp_message(), "forked child");
}

static int use_plan(void *arg)
{
    fbp_plan *plan = arg;
    double seconds;
    void *memory;

    if (!says_child(fbp_plan_run(plan, "hash:", NULL)) || !says_child(fbp_plan_open(plan)) ||
        !says_child(fbp_plan_run_to(plan, NULL, NULL, NULL)) ||
        !says_child(fbp_plan_alloc(plan, 8, &memory)) ||
        !says_child(fbp_plan_estimate(plan, &seconds)))
        return 1;
    fbp_plan_destroy(&plan);
    return plan != NULL;
}

/* OK, or what the library says. */
static void assert_ok(fbp_status st)
{
    if (st != FBP_OK)
        fail_msg("status %d: %s", (int)st, fbp_message());
}

TEST(plan_in_a_child)
{
    static const char *const devices[] = {"ref", "cpu", "mock"};
    for (int i = 0; i < 3; i++) {
        const struct fbp_scan scan = scan_of(&small);
        CLEANUP(fbp_source_close) fbp_source *source = a_source();
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan =
            create_plan(&scan, fbp_recon_params(.device = devices[i], .input.source = source));
        OK(fbp_plan_open(plan));
        assert_int_equal(in_child(use_plan, plan), 0);
        assert_ok(fbp_plan_run(plan, "hash:", NULL)); /* the parent's is whole */
    }
}

static int use_sink(void *arg)
{
    fbp_sink *sink = arg;
    static float slice[64];

    if (!says_child(fbp_sink_write(sink, 0, 1, FBP_F32, slice)) ||
        !says_child(fbp_sink_finish(sink)))
        return 1;
    fbp_sink_close(&sink);
    return sink != NULL;
}

TEST(sink_in_a_child)
{
    static const char *const names[] = {FBP_TEST_DIR "/stop.mha", FBP_TEST_DIR "/stop/%d.tif"};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {8, 8, 2}, .type = FBP_F32};
    static float slices[128];

    for (int i = 0; i < 2; i++) {
        CLEANUP(fbp_sink_close) fbp_sink *sink = create_sink(names[i], &info, NULL);
        OK(fbp_sink_write(sink, 1, 1, FBP_F32, slices));
        assert_int_equal(in_child(use_sink, sink), 0);
        OK(fbp_sink_write(sink, 0, 1, FBP_F32, slices));
        OK(fbp_sink_finish(sink));
    }
    assert_int_equal(access(names[0], R_OK), 0);
    assert_int_equal(access(FBP_TEST_DIR "/stop/1.tif", R_OK), 0);
    (void)unlink(names[0]);
    (void)unlink(FBP_TEST_DIR "/stop/0.tif");
    (void)unlink(FBP_TEST_DIR "/stop/1.tif");
    (void)rmdir(FBP_TEST_DIR "/stop");
}

static int use_feed(void *arg)
{
    fbp_feed *feed = arg;
    const double P[12] = {1, 0, 0, 4, 0, 0, 1, 4, 0, 0, 0, 1};
    static float view[64], volume[512];

    if (!says_child(fbp_feed_add(feed, P, view, false)) || !says_child(fbp_feed_settle(feed)) ||
        !says_child(fbp_feed_fetch(feed, volume)) || !says_child(fbp_feed_reset(feed)))
        return 1;
    fbp_feed_close(&feed);
    return feed != NULL;
}

TEST(feed_in_a_child)
{
    const struct fbp_feed_params p = {.struct_size = sizeof p,
                                      .device = "cpu",
                                      .panel = {8, 8},
                                      .volume = {{8, 8, 8}, {1, 1, 1}, {0, 0, 0}}};
    CLEANUP(fbp_feed_close) fbp_feed *feed = NULL;

    OK(fbp_feed_open(&feed, &p));
    assert_int_equal(in_child(use_feed, feed), 0);
}

/* Every long call, once fbp_stop() was called: there is no way back, so each in a child. */

static int stopped_plan(void *arg)
{
    fbp_plan *plan = NULL;
    const fbp_status st = fbp_plan_create(&plan, arg, fbp_recon_params(.device = "cpu"));
    return st != FBP_ERR_CANCELLED || plan;
}

static int stopped_facts(void *arg)
{
    const struct fbp_scan *s = arg;
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    return fbp_views_facts(fbp_scan_views(s), &s->volume, &facts) != FBP_ERR_CANCELLED;
}

static int stopped_simulation(void *arg)
{
    struct fbp_phantom phantom;
    if (fbp_phantom_create(&phantom, "shepp-logan", 10, 1) != FBP_OK)
        return 1;
    return fbp_phantom_simulate(&phantom, arg, "null:",
                                fbp_simulate_params(.noise_i0 = 100, .seed = 1, .n_threads = 2)) !=
           FBP_ERR_CANCELLED;
}

static int stopped_truth(void *arg)
{
    const struct fbp_scan *s = arg;
    struct fbp_phantom phantom;
    if (fbp_phantom_create(&phantom, "shepp-logan", 10, 1) != FBP_OK)
        return 1;
    return fbp_phantom_volume(&phantom, &s->volume, FBP_CONE, FBP_UNIT_MM, "null:", 2) !=
           FBP_ERR_CANCELLED;
}

#define STOP_VOLUME FBP_TEST_DIR "/stopped.mha"

static int stopped_view(void *arg)
{
    return fbp_picture_write(STOP_VOLUME, FBP_TEST_DIR "/stopped.png", NULL) != FBP_ERR_CANCELLED ||
           access(FBP_TEST_DIR "/stopped.png", F_OK) == 0;
}

static int stopped_compare(void *arg)
{
    struct fbp_comparison c = {.struct_size = sizeof c};
    return fbp_array_compare(STOP_VOLUME, STOP_VOLUME, 0, &c) != FBP_ERR_CANCELLED;
}

static int stop_then(void *arg)
{
    int (*const *call)(void *) = arg;
    const struct fbp_scan scan = scan_of(&small);
    fbp_stop();
    return (*call)((void *)(uintptr_t)&scan);
}

/* Only calls of the threads that have it, until it is reset. */
TEST(a_stopper)
{
    static float sum[2];
    struct fbp_stopper stopper = {false};
    pthread_t other;
    const struct fbp_grid none = {{1, 1, 2}, {1, 1, 1}, {0, 0, 0}};
    const struct fbp_grid slow = {{4000, 4000, 400}, {0.05, 0.05, 0.5}, {0, 0, 0}};

    CLEANUP(fbp_phantom_clear) struct fbp_phantom head = create_phantom("shepp-logan", 90, 1);
    fbp_stopper_attach(&stopper);
    OK(fbp_phantom_voxels(&head, &none, 0, 2, sum));
    assert_int_equal(pthread_create(&other, NULL, stop_soon, &stopper), 0);
    assert_int_equal(fbp_phantom_volume(&head, &slow, FBP_CONE, FBP_UNIT_MM, "null:", 1),
                     FBP_ERR_CANCELLED);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(fbp_stopped());
    fbp_stopper_attach(NULL);
    assert_false(fbp_stopped());
    OK(fbp_phantom_voxels(&head, &none, 0, 2, sum));
    fbp_stopper_attach(&stopper);
    assert_true(fbp_stopped());
    stopper.stopped = false;
    assert_false(fbp_stopped());
    fbp_stopper_attach(NULL);
}

TEST(after_a_stop)
{
    static int (*calls_of[])(void *) = {stopped_plan,  stopped_facts, stopped_simulation,
                                        stopped_truth, stopped_view,  stopped_compare};

    struct fbp_phantom phantom = create_phantom("shepp-logan", 10, 1);
    OK(fbp_phantom_volume(&phantom, &small, FBP_CONE, FBP_UNIT_MM, STOP_VOLUME, 1));
    fbp_phantom_clear(&phantom);
    for (size_t i = 0; i < sizeof calls_of / sizeof *calls_of; i++)
        if (in_child(stop_then, &calls_of[i]) != 0)
            fail_msg("call %zu went on", i);
    (void)unlink(STOP_VOLUME);
}

TEST_MAIN(NULL, NULL)
