/* S1's verdicts, from times and limits that are known. */
#include "s1.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* 10^9 of everything a second. */
static const struct fbp_limits limits = {
    .fma = 8e9, .texture_r32f = 1e9, .copy = 1e9, .upload = 1, .download = 1};

/* A second's work of 10^9 x the shares. */
static struct s1_result result(double i, double imt, double fetches, double bytes)
{
    struct s1_result r = {.shape = {.test = 1, .kernel = 'B'}};

    r.part[FBP_S1_I].seconds = 2 * i;
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
    assert_true(fabs(v.texture - r.part[FBP_S1_ALL].updates / 2e9) < 1e-12);
    assert_true(fabs(v.fma - v.texture) < 1e-12); /* eight instructions a fetch, 8e9 a second */
    assert_true(fabs(v.memory - r.part[FBP_S1_ALL].volume_bytes / 2e9) < 1e-12);
}

static void the_largest_share_binds(void **state)
{
    (void)state;
    check(result(.3, .95, .9, .1), "texture rate");
    check(result(.3, .95, .2, .8), "memory bandwidth");
    check(result(.9, .95, .7, .8), "instruction rate");
}

static void below_all_limits_the_cache_or_latency(void **state)
{
    (void)state;
    check(result(.1, .2, .2, .1), "none of them: taps beyond the cache");
    check(result(.4, .9, .4, .3), "none of them: latency");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_share_binds),
        cmocka_unit_test(below_all_limits_the_cache_or_latency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
