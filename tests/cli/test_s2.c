/* S2's accounts: what the paper says of its own seconds, and Table 1 with numbers. */
#include "bench/papers/ino2010/text.h"
#include "test.h"

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

/* The paper: 14.0 and 1.4 views a second; 137 GB/s and less than .4 Tflop/s a GPU of 2048^3. */
TEST(published_seconds_give_published_rates)
{
    const struct s2_rates a = s2_published_rates(&s2_published[0], 0);
    const struct s2_rates b = s2_published_rates(&s2_published[1], 0);
    const struct s2_rates four = s2_published_rates(&s2_published[1], 2);

    check(a.views, 14.0, 0.05);
    check(b.views, 1.4, 0.05);
    check(four.views, 4.0, 0.05);
    check(a.speed_up, 1, 0);
    check(four.speed_up, 523.8 / 178.4, 1e-12);
    check(b.gbytes, 137, 0.5);
    check(a.gbytes, 102, 0.5);
    assert_true(b.gflops < 400 && b.gflops > 350);
    assert_true(four.gflops < 400);
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
