/* S2's accounts: what the paper says of its own seconds, and Table 1 with numbers. */
#include "bench/papers/ino2010/text.h"
#include "test.h"

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

/* Published: 14.0 and 1.4 views/s (Table 3), 4 views/s on four GPUs in about three minutes, 137
 * GB/s and less than .4 Tflop/s per GPU.  The other values below, such as the speed-ups of Fig. 3,
 * are quotients of the seconds of Table 2: the digits of the paper's charts are not known here. One
 * pair does not fit together: 137 GB/s follows only with GB of 2^30 bytes (147 of 10^9), while 102
 * GB/s, the bandwidth that it is compared with, is that of the card (102.4 of 10^9 bytes). */
TEST(published_seconds_give_published_figures)
{
    static const struct {
        double views, speed_up, gbytes;
    } wanted[S2_CASES][S2_COUNTS] = {{{14.0, 1, 102}, {25.4, 1.81, 101}, {40.0, 2.86, 101}},
                                     {{1.4, 1, 137}, {2.2, 1.60, 137}, {4.0, 2.94, 136}}};

    for (size_t k = 0; k < S2_CASES; k++)
        for (size_t i = 0; i < S2_COUNTS; i++) {
            const struct s2_rates r = s2_published_rates(&s2_published[k], i);
            check(r.views, wanted[k][i].views, 0.05);
            check(r.speed_up, wanted[k][i].speed_up, 0.005);
            check(r.gbytes, wanted[k][i].gbytes, 0.5);
            assert_true(r.gflops < 400 && r.gflops < S2_GFLOPS);
        }
    const struct s2_rates b = s2_published_rates(&s2_published[1], 0);
    check(b.gbytes * 0x1p30 * 1e-9, 147, 0.5);
    check(s2_published[1].streams[2] / 60, 3, 0.05);
    assert_true(b.gbytes > S2_GBYTES);
}

/* Views are the limit of a run if they take longer than all that is computed. */
TEST(the_limit_is_the_longest_part)
{
    struct s2_result r = {.streams[2] = {.n_devices = 4, .sent = 800000, .link = 1e5, .total = 9}};

    check(s2_result_limits(&r, 2).views, 8, 1e-12);
    assert_string_equal(s2_result_limits(&r, 2).name, "unknown without --streams both");
    assert_true(isnan(s2_result_limits(&r, 2).compute));
    r.apart[2] = (struct fbp_s2_time){.n_devices = 4,
                                      .download = 100, /* not what is computed */
                                      .layout = 1,
                                      .filter = 2,
                                      .backproject = 4,
                                      .fetch = 3,
                                      .concatenate = NAN,
                                      .write = 4};
    check(s2_result_limits(&r, 2).compute, 7, 1e-12);
    check(s2_result_limits(&r, 2).volume, 7, 1e-12);
    assert_string_equal(s2_result_limits(&r, 2).name, "views");
    r.streams[2].link = 2e5;
    assert_string_equal(s2_result_limits(&r, 2).name, "computing");
    r.apart[2].fetch = 3.5;
    assert_string_equal(s2_result_limits(&r, 2).name, "volume");
    r.streams[2].n_devices = 0; /* without streams, then */
    r.apart[2].sent = 900000;
    r.apart[2].link = 1e5;
    check(s2_result_limits(&r, 2).views, 9, 1e-12);
}

/* The rows of a run without streams add up to its total. */
TEST(published_rows_add_up)
{
    for (size_t k = 0; k < S2_CASES; k++)
        for (size_t i = 0; i < S2_COUNTS; i++) {
            const struct s2_published *p = &s2_published[k];
            check(p->init[i] + p->download[i] + p->filter[i] + p->readback[i] + p->backproject[i] +
                      p->fetch[i],
                  p->apart[i], 1e-9);
        }
}

TEST(table_3_is_normalised_by_bandwidth)
{
    check(s2_normalised(1.7, 44.8), 3.9, 0.05);
    check(s2_normalised(7.1, 67.2), 10.8, 0.05);
    check(s2_normalised(0.3, 111.9), 0.3, 0.05);
    check(s2_normalised(14.0, 102), 14.0, 1e-12);
    assert_true(isnan(s2_normalised(14.0, 0)));
}

TEST(table_1_counts)
{
    const struct fbp_s2_plan p = {.n_views = 720,
                                  .n_columns = 2048,
                                  .n_rows = 2048,
                                  .n = {2048, 2048, 2048},
                                  .launch_views = 5,
                                  .subvolumes = 64};
    const double view = 4. * 2048 * 2048, volume = 4. * 2048 * 2048 * 2048;
    const struct s2_cost was = s2_original_cost(&p), one = s2_proposed_cost(&p, 1),
                         four = s2_proposed_cost(&p, 4);

    check(was.download, 720 * view, 0);
    check(was.filter, 720 * view / 4, 0);
    check(was.backproject, 720 * volume / 4, 0);
    check(was.fetch, volume, 0);
    check(was.video, volume + 5 * view, 0);
    check(was.memory, volume + 720 * view, 0);
    assert_true(isnan(was.readback) && isnan(was.boxes));
    check(one.download, 65 * 720 * view, 0); /* to be filtered, and for every box */
    check(four.download, 65 * 720 * view / 4, 0);
    check(four.filter, was.filter / 4, 0);
    check(four.readback, 720 * view / 4, 0); /* of views, K M^2 / C */
    check(four.backproject, was.backproject / 4, 0);
    check(four.fetch, volume / 4, 0);
    check(four.boxes, 64, 0);
    check(four.video, volume / 64 + 5 * view, 0);
    check(four.memory, was.memory, 0);
}

/* Five boxes on two devices: one has three of them. */
TEST(the_busiest_device_counts)
{
    const struct fbp_s2_plan p = {.n_views = 10,
                                  .n_columns = 8,
                                  .n_rows = 8,
                                  .n = {10, 10, 10},
                                  .launch_views = 5,
                                  .subvolumes = 5};
    const struct s2_cost two = s2_proposed_cost(&p, 2);

    check(two.download, 2560. / 2 + 3 * 2560., 1e-9);
    check(two.backproject, 0.6 * 1e4, 1e-9);
    check(two.fetch, 0.6 * 4e3, 1e-9);
}

TEST_MAIN(NULL, NULL)
