/*
 * A run is ended from another thread, or by a signal handler, whatever it is doing.  How long that
 * takes is printed; only what nobody would wait for fails, as machines are loaded.
 */
#include "recon/fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

/* Far beyond what is printed, for busy machines and sanitizers; without a stop the longest of these
 * jobs take longer. */
static const double MOST_S = 10;
enum { LATER_MS = 60 }; /* from when a stage is at work to the stop */

/* One run at a time; a signal handler looks at it. */
static fbp_plan *plan;
static struct fbp_stopper stop;
static _Atomic double stopped_at;
static atomic_bool at_work, by_signal, run_is_over;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void stop_now(int signal)
{
    atomic_store(&stopped_at, now());
    fbp_stopper_stop(&stop);
}

/* Called by whoever sees that the stage is at work. */
static void start_clock(void)
{
    const struct itimerval once = {.it_value = {0, LATER_MS * 1000}};

    if (!atomic_exchange(&at_work, true) && by_signal)
        setitimer(ITIMER_REAL, &once, NULL);
}

static void *stopper(void *arg)
{
    while (!at_work && !run_is_over)
        sleep_ms(1);
    if (by_signal || run_is_over)
        return arg;
    sleep_ms(LATER_MS);
    stop_now(0);
    return arg;
}

/* A run that is to be stopped while `stage` is at work. */
struct job {
    const char *stage, *device, *output; /* output NULL: a slow sink of the program's */
    size_t columns, rows, views, volume[3];
    long read_ms, read_steps, write_ms;
    size_t reads; /* at work from this read on; 0: not by reads */
    bool by_updates, by_slabs, by_writes, compress;
    atomic_size_t n_reads;
};

static int give(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows, void *out,
                char *why, size_t n_why)
{
    struct job *j = user;
    float *x = out;
    const size_t read = atomic_fetch_add(&j->n_reads, 1) + 1;

    (void)why, (void)n_why;
    for (size_t i = 0; i < n_slices * n_rows * j->columns; i++)
        x[i] = (float)((i * 2654435761u + slice0 + row0) % 1000);
    if (j->reads > 0 && read >= j->reads)
        start_clock();
    for (long i = 0; i < j->read_steps; i++) {
        sleep_ms(j->read_ms);
        if (fbp_stopped())
            return 1;
    }
    return 0;
}

static int take(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why)
{
    const struct job *j = user;

    (void)z0, (void)nz, (void)slices, (void)why, (void)n_why;
    if (j->by_writes)
        start_clock();
    sleep_ms(j->write_ms);
    return 0;
}

static int progress(void *user, const struct fbp_progress *p)
{
    const struct job *j = user;

    if ((j->by_updates && p->done > 0) ||
        (j->by_slabs && p->n_slabs > 0 && p->slabs_done == p->n_slabs))
        start_clock();
    return 0;
}

static fbp_status run(const struct job *j)
{
    const struct fbp_sink_functions to = {
        .struct_size = sizeof to, .write = take, .user = (void *)(uintptr_t)j};
    fbp_sink *sink = NULL;

    stop.stopped = false;
    fbp_stopper_attach(&stop);
    if (!j->output)
        OK(fbp_sink_callback(&sink, &to, fbp_plan_info(plan)->volume.n));
    const fbp_status st =
        j->output ? fbp_plan_run(plan, j->output, NULL) : fbp_plan_run_to(plan, NULL, sink, NULL);
    fbp_stopper_attach(NULL);
    fbp_sink_close(&sink);
    return st;
}

static void make_plan(struct job *j, struct fbp_scan *scan, fbp_source **source)
{
    const struct fbp_source_functions from = {.struct_size = sizeof from, .read = give, .user = j};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {j->columns, j->rows, j->views}, .type = FBP_F32};

    *scan = (struct fbp_scan){
        .struct_size = sizeof *scan,
        .n_views = j->views,
        .panel = {j->columns, j->rows},
        .row_order = FBP_ROWS_BOTTOM_UP,
        .volume = {{j->volume[0], j->volume[1], j->volume[2]}, {.3, .3, .3}, {0, 0, 0}}};
    add_views(scan, &(struct orbit){.start_deg = 11, .pitch_mm = {1, 1}});
    OK(fbp_source_callback(source, &from, &info));
    OK(fbp_plan_create(&plan, scan,
                       fbp_recon_params(.device = j->device, .input.source = *source,
                                        .output.compress = j->compress,
                                        .callbacks.progress = progress, .callbacks.user = j)));
}

static void stop_it(struct job *j, bool signal_does)
{
    struct fbp_scan scan;
    fbp_source *source = NULL;
    pthread_t thread;

    atomic_store(&j->n_reads, 0);
    make_plan(j, &scan, &source);
    at_work = run_is_over = false;
    by_signal = signal_does;
    assert_int_equal(pthread_create(&thread, NULL, stopper, NULL), 0);
    const fbp_status st = run(j);
    const double took = now() - stopped_at;
    run_is_over = true;
    pthread_join(thread, NULL);
    if (st != FBP_ERR_CANCELLED)
        fail_msg("%s: %d %s", j->stage, (int)st, fbp_message());
    print_message("%-34s %-6s %-7s %4.0f ms\n", j->stage, j->device,
                  signal_does ? "signal" : "thread", 1e3 * took);
    assert_true(took < MOST_S);
    if (j->output)
        assert_int_not_equal(access(j->output, F_OK), 0);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    fbp_scan_clear(&scan);
}

/* --- destroyed meanwhile --- */

static atomic_bool destroyed, used_later;

/* Only while the plan is there. */
static int give_watching(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                         void *out, char *why, size_t n_why)
{
    sleep_ms(5);
    at_work = true;
    used_later = used_later || destroyed;
    return give(user, slice0, n_slices, row0, n_rows, out, why, n_why);
}

/* A callback that destroys its own plan. */
static int give_destroying(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                           void *out, char *why, size_t n_why)
{
    fbp_plan *own = plan;

    fbp_plan_destroy(&own);
    if (own != plan || !strstr(fbp_message(), "by a callback of the plan's own run"))
        return 1;
    return give(user, slice0, n_slices, row0, n_rows, out, why, n_why);
}

static void *destroyer(void *arg)
{
    fbp_plan *own = plan;

    while (!at_work)
        sleep_ms(1);
    if (arg) /* a stop ends the wait soon */
        fbp_stopper_stop(&stop);
    fbp_plan_destroy(&own);
    destroyed = true;
    return own;
}

static fbp_status run_watched(int (*read)(void *, size_t, size_t, size_t, size_t, void *, char *,
                                          size_t),
                              bool destroy, bool stops)
{
    struct job j = {.columns = 20, .rows = 10, .views = 60, .volume = {12, 12, 8}, .device = "cpu"};
    const struct fbp_source_functions from = {.struct_size = sizeof from, .read = read, .user = &j};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {j.columns, j.rows, j.views}, .type = FBP_F32};
    fbp_source *unused = NULL, *source = NULL;
    struct fbp_scan scan;
    pthread_t thread;
    void *left = NULL;

    make_plan(&j, &scan, &unused);
    fbp_plan_destroy(&plan);
    OK(fbp_source_callback(&source, &from, &info));
    OK(fbp_plan_create(&plan, &scan, fbp_recon_params(.input.source = source, .n_threads = 2)));
    at_work = destroyed = used_later = false;
    if (destroy)
        assert_int_equal(pthread_create(&thread, NULL, destroyer, stops ? &j : NULL), 0);
    const fbp_status st = run(&j);
    if (destroy)
        pthread_join(thread, &left);
    else
        fbp_plan_destroy(&plan);
    assert_null(left);
    assert_false(used_later);
    plan = NULL;
    fbp_source_close(&source);
    fbp_source_close(&unused);
    fbp_scan_clear(&scan);
    return st;
}

TEST(destroyed_by_another_thread)
{
    OK(run_watched(give_watching, true, false));
    assert_int_equal(run_watched(give_watching, true, true), FBP_ERR_CANCELLED);
}

TEST(destroyed_by_its_own_callback)
{
    OK(run_watched(give_destroying, false, false));
}

/* Without a stop each of these takes seconds. */
static const struct job of_20_ms_a_view = {.stage = "reading, 20 ms a view",
                                           .columns = 40,
                                           .rows = 30,
                                           .views = 300,
                                           .volume = {30, 30, 20},
                                           .read_ms = 20,
                                           .read_steps = 1,
                                           .reads = 3};
static const struct job of_one_long_call = {.stage = "reading, a call of 20 s that asks",
                                            .columns = 40,
                                            .rows = 30,
                                            .views = 300,
                                            .volume = {30, 30, 20},
                                            .read_ms = 10,
                                            .read_steps = 2000,
                                            .reads = 1};
static const struct job of_long_rows = {.stage = "filtering",
                                        .columns = 4000,
                                        .rows = 200,
                                        .views = 2000,
                                        .volume = {4, 4, 150},
                                        .reads = 20};
static const struct job of_a_large_volume = {.stage = "backprojecting",
                                             .columns = 300,
                                             .rows = 300,
                                             .views = 2000,
                                             .volume = {360, 360, 300},
                                             .by_updates = true};
static const struct job of_a_middle_volume = {.stage = "backprojecting",
                                              .columns = 100,
                                              .rows = 100,
                                              .views = 2000,
                                              .volume = {200, 200, 200},
                                              .by_updates = true};
static const struct job of_ten_seconds = {.stage = "backprojecting",
                                          .columns = 100,
                                          .rows = 100,
                                          .views = 8000,
                                          .volume = {1200, 1200, 1200},
                                          .by_updates = true}; /* on a GPU */
static const struct job of_few_views = {.stage = "backprojecting",
                                        .columns = 100,
                                        .rows = 100,
                                        .views = 64,
                                        .volume = {250, 250, 250},
                                        .reads = 64};
static const struct job of_20_ms_a_slice = {.stage = "writing, 20 ms a slice",
                                            .columns = 40,
                                            .rows = 30,
                                            .views = 20,
                                            .volume = {30, 30, 300},
                                            .write_ms = 20,
                                            .by_writes = true};
static const struct job of_packed_slices = {.stage = "compressing the output",
                                            .columns = 60,
                                            .rows = 60,
                                            .views = 8,
                                            .volume = {300, 300, 300},
                                            .by_slabs = true,
                                            .compress = true};

/* By another thread, then by a signal. */
static void stop_both_ways(const struct job *what, const char *device, const char *output)
{
    for (int i = 0; i < 2; i++) {
        struct job j = *what;
        j.device = device;
        j.output = output;
        stop_it(&j, i == 1);
    }
}

TEST(stops_while_it_reads)
{
    stop_both_ways(&of_20_ms_a_view, "cpu", NULL);
    stop_both_ways(&of_one_long_call, "cpu", NULL);
    stop_both_ways(&of_20_ms_a_view, "mock:0", NULL);
}

TEST(stops_while_it_computes)
{
    stop_both_ways(&of_long_rows, "cpu", NULL);
    stop_both_ways(&of_a_large_volume, "cpu", NULL);
    stop_both_ways(&of_few_views, "ref", NULL);
    stop_both_ways(&of_a_middle_volume, "mock:0", NULL);
    if (usable("cuda"))
        stop_both_ways(&of_ten_seconds, "cuda", NULL);
}

TEST(stops_while_it_writes)
{
    AUTO_FREE char *path = temporary("stopped.nii.gz");

    stop_both_ways(&of_20_ms_a_slice, "cpu", NULL);
    stop_both_ways(&of_20_ms_a_slice, "mock:0", NULL);
    stop_both_ways(&of_packed_slices, "cpu", path);
}

/* Set before a run, it ends all runs until it is reset. */
TEST(ends_one_run)
{
    struct job j = {"", "cpu", "hash:", 40, 30, 20, {30, 30, 20}, 0, 0, 0, .n_reads = 0};
    struct fbp_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    struct fbp_scan scan;
    fbp_source *source = NULL;

    make_plan(&j, &scan, &source);
    OK(fbp_plan_run(plan, "hash:", &a));
    const size_t before = j.n_reads;
    fbp_stopper_attach(&stop);
    fbp_stopper_stop(&stop);
    assert_int_equal(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_CANCELLED);
    assert_int_equal(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_CANCELLED);
    assert_int_equal(j.n_reads, before);
    stop.stopped = false;
    OK(fbp_plan_run(plan, "hash:", &b));
    fbp_stopper_attach(NULL);
    assert_true(a.hash == b.hash && a.hash != 0);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    fbp_scan_clear(&scan);
}

/* Devices that stay open are as good as new after a run that was stopped half-way. */
TEST(opened_devices_go_on)
{
    static const char *const devices[] = {"cpu", "mock:0,1"};

    for (int i = 0; i < 4; i++) {
        const bool writes = i >= 2;
        struct job j = {.device = devices[i % 2],
                        .columns = 90,
                        .rows = 90,
                        .views = 64,
                        .volume = {90, 90, 90},
                        .output = writes ? NULL : "hash:",
                        .read_ms = 2,
                        .read_steps = !writes,
                        .write_ms = 10,
                        .reads = writes ? 0 : 20,
                        .by_writes = writes};
        struct fbp_report a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
        struct fbp_scan scan;
        fbp_source *source = NULL;
        make_plan(&j, &scan, &source);
        OK(fbp_plan_open(plan));
        at_work = true;
        OK(fbp_plan_run(plan, "hash:", &a));
        /* Stopped while it reads, or while slices are fetched and written. */
        pthread_t thread;
        atomic_store(&j.n_reads, 0);
        at_work = run_is_over = by_signal = false;
        assert_int_equal(pthread_create(&thread, NULL, stopper, NULL), 0);
        assert_int_equal(run(&j), FBP_ERR_CANCELLED);
        pthread_join(thread, NULL);
        OK(fbp_plan_run(plan, "hash:", &b));
        assert_true(a.hash == b.hash && a.hash != 0);
        fbp_plan_destroy(&plan);
        fbp_source_close(&source);
        fbp_scan_clear(&scan);
    }
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = stop_now};

    alarm(0);
    if (sigaction(SIGALRM, &action, NULL) != 0)
        return 1;
    return run_file_tests(argc, argv, NULL, NULL);
}
