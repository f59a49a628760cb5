/* S1's verdicts, from times and limits that are known. */
#include "bench/papers/zinsser2013/text.h"
#include "test.h"

/* 10^9 of everything a second. */
static const struct fbp_limits limits = {
    .fma = 8e9, .texture_r32f = 1e9, .copy = 1e9, .upload = 1, .download = 1};

/* Two seconds, made up of these steps, and 10^9 x the shares of the limits. */
static struct s1_result result(double i, double im, double imt, double fetches, double bytes)
{
    struct s1_result r = {.shape = {.test = 1, .kernel = 'B'}};

    r.part[FBP_S1_I].seconds = 2 * i;
    r.part[FBP_S1_IM].seconds = 2 * im;
    r.part[FBP_S1_IMT].seconds = 2 * imt;
    r.part[FBP_S1_ALL] = (struct fbp_s1_time){.seconds = 2,
                                              .updates = 2e9 * fetches,
                                              .instructions = 16e9 * fetches,
                                              .volume_bytes = 2e9 * bytes};
    return r;
}

static void check(struct s1_result r, const char *binds)
{
    const struct s1_verdict v = s1_judge(&r, &limits);

    assert_string_equal(v.binds, binds);
    assert_true(fabs(v.instructions - r.part[FBP_S1_I].seconds / 2) < 1e-12);
    assert_true(fabs(v.instructions + v.volume + v.fetches + v.places - 1) < 1e-12);
    assert_true(fabs(v.texture - r.part[FBP_S1_ALL].updates / 2e9) < 1e-12);
    assert_true(fabs(v.fma - v.texture) < 1e-12); /* eight instructions a fetch, 8e9 a second */
    assert_true(fabs(v.memory - r.part[FBP_S1_ALL].volume_bytes / 2e9) < 1e-12);
}

TEST(what_adds_most_binds)
{
    check(result(.2, .3, .9, .9, .1), "texture rate");
    check(result(.2, .8, .9, .2, .8), "memory bandwidth");
    check(result(.7, .8, .9, .7, .8), "instruction rate");
    check(result(.1, .2, .4, .2, .1), "texture cache");
}

TEST(far_from_the_limit_it_is_waiting)
{
    check(result(.2, .3, .9, .5, .1), "texture latency");
    check(result(.2, .8, .9, .2, .5), "memory latency");
}

/* Times are measured: a step may come out a little quicker than the one before. */
TEST(steps_that_go_backwards_add_nothing)
{
    const struct s1_result r = result(.3, .29, .95, .9, .1);
    const struct s1_verdict v = s1_judge(&r, &limits);

    assert_true(v.volume >= 0 && v.volume < 1e-12);
    assert_true(fabs(v.fetches - .65) < 1e-12);
    assert_string_equal(v.binds, "texture rate");
}

TEST_MAIN(NULL, NULL)
