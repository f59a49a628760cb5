/* S3's accounts: what the paper's own figures say of each other. */
#include "bench/papers/ino2009/text.h"
#include "test.h"

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

/* The rows of a synchronised run add up to its total, to what was rounded. */
TEST(published_rows_add_up)
{
    for (size_t i = 0; i < S3_VARIANTS; i++) {
        const struct s3_published *p = &s3_published[i];
        check(p->packing + p->download + p->filter + p->backproject + p->readback + p->unpacking +
                  p->others,
              p->synchronised, 0.16);
        check(p->processing + p->texture, p->flops, 0.16);
        assert_true(p->total < p->synchronised && p->memory < s3_theoretical.memory);
    }
}

/* 11 operations a fetch, one fetch an update: all variants fetch as often. */
TEST(published_texture_rates_are_of_one_fetch_an_update)
{
    const double updates = 1e-9 * 360 * 512 * 512 * 512;

    for (size_t i = 0; i < S3_VARIANTS; i++)
        check(s3_published[i].texture * s3_published[i].backproject / updates, 10.6, 0.9);
}

TEST(published_totals_give_published_ratios)
{
    check(s3_published_cpu / s3_published[4].total, 15.6, 0.05);
    check(s3_published_previous / s3_published[4].total, 1.1, 0.05);
    assert_true(s3_published_kill < s3_published[4].total);
}

TEST(passes_are_those_of_whole_groups)
{
    const struct fbp_s3_variant a = {.views = 1, .slices = 1}, b = {.views = 1, .slices = 4},
                                c = {.views = 4, .slices = 1}, d = {.views = 4, .slices = 4};

    assert_int_equal(fbp_s3_passes(&a, 512, 360), 512 * 360);
    assert_int_equal(fbp_s3_passes(&b, 512, 360), 512 * 360 / 4);
    assert_int_equal(fbp_s3_passes(&c, 512, 360), 512 * 360 / 4);
    assert_int_equal(fbp_s3_passes(&d, 512, 360), 512 * 360 / 16);
    assert_int_equal(fbp_s3_passes(&d, 30, 37), 8 * 10);
    assert_int_equal(fbp_s3_passes(&b, 30, 37), 8 * 37);
}

TEST(rates_follow_from_seconds)
{
    const struct s3_job job = {
        .size = 100, .views = 16, .limits = {.r32f = 64e6, .rgba32f = 40e6, .rgba16f = 50e6}};
    const struct s3_result r = {
        .time = {.backproject = 0.5, .total = 1, .filter = 0.25},
        .cost = {.updates = 16, .processing = 80, .texture = 176, .bytes = 320}};
    struct s3_result four = r;
    const struct s3_rates rates = s3_rates_of(&job, &r);

    check(rates.gups, 0.032, 1e-12); /* 16e6 updates in half a second */
    check(rates.processing, 0.16, 1e-12);
    check(rates.texture, 0.352, 1e-12);
    check(rates.flops, 0.512, 1e-12);
    check(rates.memory, 0.64, 1e-12);
    check(s3_others(&r.time), 0.25, 1e-12);
    four.of.views = 4;
    check(s3_fetch_share(&job, &four), 0.8, 1e-12);
    four.half = true;
    check(s3_fetch_share(&job, &four), 0.64, 1e-12);
    four.of.views = 1;
    check(s3_fetch_share(&job, &four), 0.5, 1e-12);
}

/* 16 of 64 slices were drawn: what depends on them takes four times as long, and nothing else. */
TEST(seconds_of_some_slices_are_multiplied)
{
    struct fbp_s3_time t = {.packing = 1,
                            .upload = 2,
                            .filter = 3,
                            .backproject = 4,
                            .readback = 5,
                            .unpacking = 6,
                            .total = 22,
                            .slices_alone = 15.5,
                            .n_slices = 16};

    s3_whole(&t, 64);
    check(t.packing + t.upload + t.filter, 6, 0);
    check(t.backproject, 16, 0);
    check(t.readback, 20, 0);
    check(t.unpacking, 24, 0);
    check(t.total, 22 + 3 * 15.5, 0);
    t.n_slices = 64;
    s3_whole(&t, 64);
    check(t.total, 22 + 3 * 15.5, 0);
}

TEST_MAIN(NULL, NULL)
