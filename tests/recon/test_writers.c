/* Checks that several threads write slices of a device with memory of its own: the same volume
 * for any number of threads, and a failure of any thread is that of the run. */
#include "recon/fixture.h"

#include <pthread.h>
#include <time.h>

enum { WRITERS = 4, PATIENCE_S = 10 };

/* Slices of over 4 MiB: a piece holds one. */
static struct fbp_scan large_slices(void)
{
    struct fbp_scan scan = circle_scan(2, 24, 10);

    scan.volume = (struct fbp_grid){{1088, 1024, WRITERS}, {0.25, 0.25, 0.25}, {0, 0, 0}};
    simulate_head(&scan, 90);
    return scan;
}

/* Slices of which over a hundred lie in a piece. */
static struct fbp_scan small_slices(void)
{
    struct fbp_scan scan = circle_scan(6, 24, 10);

    scan.volume = (struct fbp_grid){{3, 5, 700}, {10, 10, 0.3}, {0, 0, 0}};
    simulate_head(&scan, 90);
    return scan;
}

/* Writers that wait for each other. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int inside, most;
};

static int meet(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why)
{
    struct meeting *m = user;
    struct timespec until;

    (void)z0, (void)nz, (void)slices, (void)why, (void)n_why;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&m->lock);
    m->most = ++m->inside > m->most ? m->inside : m->most;
    pthread_cond_broadcast(&m->changed);
    while (m->most < WRITERS && pthread_cond_timedwait(&m->changed, &m->lock, &until) == 0)
        ;
    m->inside--;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

TEST(slices_of_several_pieces_at_once)
{
    struct meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    const struct fbp_sink_functions out = {
        .struct_size = sizeof out, .write = meet, .user = &m, .concurrent = 1};
    AUTO_DROP struct fbp_scan scan = large_slices();
    fbp_sink *sink;

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "mock", .n_threads = WRITERS));
    OK(fbp_sink_callback(&sink, &out, fbp_plan_info(plan)->volume.n));
    OK(fbp_plan_run_to(plan, NULL, sink, NULL));
    assert_int_equal(m.most, WRITERS);
    fbp_sink_close(&sink);
}

static uint64_t hash_with(const struct fbp_scan *scan, int n_threads, size_t memory, bool apart)
{
    return reconstruct_hash(scan,
                            fbp_recon_params(.device = "mock", .n_threads = n_threads,
                                             .memory_bytes = memory, .tuning.no_overlap = apart));
}

TEST(any_number_gives_the_same)
{
    struct fbp_scan scans[] = {large_slices(), small_slices()};

    for (size_t i = 0; i < 2; i++) {
        const uint64_t right = hash_with(&scans[i], 1, 0, false);
        assert_true(right != 0);
        for (int n = 2; n <= 9; n += 3)
            assert_true(hash_with(&scans[i], n, 0, false) == right);
        assert_true(hash_with(&scans[i], 8, 0, true) == right);
        assert_true(hash_with(&scans[i], 8, 200 << 20, false) == right);
        drop_scan(&scans[i]);
    }
}

/* Each thread that writes integers holds a piece of them, which counts. */
TEST(integers_count_in_the_memory)
{
    enum { DEVICES = 2, THREADS = 8 };
    AUTO_DROP struct fbp_scan scan = small_slices();
    uint64_t bytes[2];

    for (int i = 0; i < 2; i++) {
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan = create_plan(
            &scan, fbp_recon_params(.device = "mock:0,1", .n_threads = THREADS,
                                    .output.type = i ? FBP_U16 : FBP_F32, .output.range = {0, i}));
        bytes[i] = fbp_plan_info(plan)->memory_bytes;
    }
    assert_true(bytes[1] > bytes[0] + ((uint64_t)DEVICES * THREADS << 20));
}

static int refuse(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why)
{
    const size_t *bad = user;

    if (z0 > *bad || z0 + nz <= *bad)
        return 0;
    snprintf(why, n_why, "slice %zu is not wanted", *bad);
    return 1;
}

TEST(a_failure_of_any_is_the_runs)
{
    AUTO_DROP struct fbp_scan scan = small_slices();

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "mock", .n_threads = WRITERS));
    for (size_t bad = 0; bad < 700; bad += 233) {
        const struct fbp_sink_functions out = {
            .struct_size = sizeof out, .write = refuse, .user = &bad, .concurrent = 1};
        fbp_sink *sink;
        OK(fbp_sink_callback(&sink, &out, fbp_plan_info(plan)->volume.n));
        assert_int_equal(fbp_plan_run_to(plan, NULL, sink, NULL), FBP_ERR_IO);
        AUTO_FREE char *says = printed("slice %zu is not wanted", bad);
        assert_says(says);
        fbp_sink_close(&sink);
    }
}

TEST_MAIN(NULL, NULL)
