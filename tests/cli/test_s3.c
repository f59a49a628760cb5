/* Ino 2009: the paper's seconds give the paper's figures; extrapolation to all slices. */
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

/* The backprojection that Table 3 of the paper used, from its texture rate [s]. */
static double seconds_of_table3(size_t variant)
{
    return 1e-9 * 11 * 360 * 512 * 512 * 512 / s3_published[variant].texture;
}

static struct s3_rates paper_rates(size_t variant, double seconds)
{
    return s3_paper_rates(variant, S3_PAPER_SIZE, S3_PAPER_VIEWS, seconds);
}

/* Table 3 rounds to .05; with its own seconds the first three rows agree to that, memory to 1.3 %.
 */
TEST(seconds_of_table_3_give_table_3)
{
    static const double seconds[] = {15.7, 7.7, 7.5, 4.0, 4.1};

    for (size_t i = 0; i < S3_VARIANTS; i++) {
        const struct s3_published *p = &s3_published[i];
        const struct s3_rates r = paper_rates(i, seconds_of_table3(i));
        check(seconds_of_table3(i), seconds[i], 0.05);
        check(r.texture, p->texture, 1e-9);
        check(r.processing, p->processing, 0.05 + 0.0016 * p->processing);
        check(r.flops, p->flops, 0.05 + 0.0016 * p->flops);
        check(r.memory, p->memory, 0.013 * p->memory);
    }
}

/* The backprojection of Table 2 took from 4 % longer to 10 % shorter than Table 3 used. */
TEST(seconds_of_table_2_give_table_3_with_stated_deviations)
{
    static const double deviation[] = {-0.038, 0.035, 0.107, 0.086, 0.036};

    for (size_t i = 0; i < S3_VARIANTS; i++) {
        const struct s3_published *p = &s3_published[i];
        const struct s3_rates r = paper_rates(i, p->backproject);
        check(r.texture / p->texture - 1, deviation[i], 0.001);
        check(r.processing / p->processing - 1, deviation[i], 0.003);
        check(r.flops / p->flops - 1, deviation[i], 0.003);
        check(r.memory / p->memory - 1, deviation[i], 0.013);
    }
}

/* Bytes depend on the slices of a pass alone: a texel of four views counts no more than one view.
 */
TEST(bytes_of_the_paper_depend_on_slices_alone)
{
    static const double ratio[] = {0.847, 0.535, 0.847, 0.535, 0.535};

    for (size_t i = 0; i < S3_VARIANTS; i++) {
        const struct s3_rates r = paper_rates(i, 1);
        check(s3_published[i].memory / s3_published[i].texture, ratio[i], 0.0007);
        check(r.memory / r.texture, ratio[i], 0.0065);
    }
}

/* Fig. 5: 15.6 times the speed of the CPU, 10 % more than AG-GPU, 3 times that of MP-GPU. */
TEST(published_totals_give_published_ratios)
{
    static const double views_per_second[] = {17.4, 21.2, 33.3, 43.4, 44.4};

    for (size_t i = 0; i < S3_VARIANTS; i++)
        check(S3_PAPER_VIEWS / s3_published[i].total, views_per_second[i], 0.05);
    check(s3_competitors[0].seconds, 126.4, 0.05);
    check(s3_competitors[1].seconds, 24.8, 0.05);
    check(S3_PAPER_VIEWS / s3_competitors[1].seconds, 14.5, 1e-9);
    check(s3_competitors[2].seconds / s3_published[4].total, 1.1, 0.05);
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

/* A run that draws n slices, with given fixed costs and costs per slice. */
static struct fbp_s3_time model(bool synchronised, size_t n)
{
    /* without synchronisation the slices have more fixed costs, and less per slice */
    const double fixed = synchronised ? 0.03 : 0.08, each = synchronised ? 0.025 : 0.024;
    struct fbp_s3_time t = {.packing = 0.1,
                            .upload = 0.2,
                            .filter = 0.7,
                            .backproject = 0.02 + 0.019 * (double)n,
                            .readback = 0.01 + 0.004 * (double)n,
                            .unpacking = 0.002 * (double)n,
                            .slices_alone = fixed + each * (double)n,
                            .n_slices = n};

    t.total = 1 + t.slices_alone;
    return t;
}

/* From 4 and 20 slices the seconds of 1024 are those of the model: fixed costs are kept once. */
TEST(only_costs_per_slice_are_extrapolated)
{
    struct fbp_s3_time total[2];

    for (int i = 0; i < 2; i++) {
        const struct fbp_s3_time few = model(i, 4), all = model(i, 1024);
        struct fbp_s3_time t = model(i, 20);
        s3_whole(&t, &few, 1024);
        check(t.packing + t.upload + t.filter, 1, 1e-12);
        check(t.backproject, all.backproject, 1e-9);
        check(t.readback, all.readback, 1e-9);
        check(t.unpacking, all.unpacking, 1e-9);
        check(t.slices_alone, all.slices_alone, 1e-9);
        check(t.total, all.total, 1e-9);
        total[i] = t;
    }
    assert_true(total[0].total < total[1].total); /* multiplied by 1024/20 it was not */
    assert_true(model(0, 20).slices_alone > model(1, 20).slices_alone);
}

/* Seconds of one number of slices, or that shrink with slices, are proportional; all slices need
 * no extrapolation. */
TEST(without_growth_seconds_are_proportional)
{
    const struct fbp_s3_time t16 = {
        .backproject = 4, .slices_alone = 5, .total = 9, .n_slices = 16};
    struct fbp_s3_time few = t16, t = t16;

    s3_whole(&t, &few, 64);
    check(t.backproject, 16, 1e-12);
    check(t.total, 9 + 15, 1e-12);
    few.n_slices = 4;
    few.backproject = 5;
    few.slices_alone = 0.5; /* less than a quarter: no fixed cost */
    t = t16;
    s3_whole(&t, &few, 64);
    check(t.backproject, 16, 1e-12);
    check(t.slices_alone, 20, 1e-12);
    t = t16;
    s3_whole(&t, &few, 16);
    check(t.backproject, 4, 1e-12);
    check(t.total, 9, 1e-12);
}

TEST_MAIN(NULL, NULL)
