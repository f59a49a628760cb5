/*
 * Tables 1 to 4 of Okitsu, Ino and Hagihara (2008): the rules of bench/papers/okitsu2008 obtain the
 * published figures from the published seconds, or the deviation is stated here.
 */
#include "test.h"

#include "bench/papers/okitsu2008/text.h"

static const struct s0_job paper = {512, 360, 256, 3};
static const struct s0_code unknown;

/* A figure as printed with one decimal. */
static void assert_prints(double value, double published)
{
    if (fabs(value - published) > 0.05)
        fail_msg("%.3f instead of %.1f", value, published);
}

static bool within(double published, double a, double b)
{
    return published + 0.05 >= fmin(a, b) && published - 0.05 <= fmax(a, b);
}

/* Each figure lies in the interval that seconds of one decimal leave; the CPU's does not. */
TEST(table_1_is_views_per_second)
{
    for (int i = 0; i < S0_METHODS; i++) {
        const struct s0_method *m = &s0_table1[i];
        const bool agrees =
            within(m->views_per_second, 360 / (m->seconds + 0.05), 360 / (m->seconds - 0.05));

        assert_int_equal(agrees, i > 0);
    }
    assert_prints(360 / s0_table1[0].seconds, 2.7); /* published: 2.8 */
    assert_prints(s0_table1[0].views_per_second, 2.8);
    assert_prints(360 / s0_table1[S0_METHODS - 1].seconds, 64.3);
}

TEST(table_2_adds_up_to_table_1)
{
    const struct s0_row *total = &s0_table2[S0_STAGES];
    double proposed = 0, prior = 0;

    for (const struct s0_row *row = s0_table2; row < total; row++) {
        proposed += isnan(row->proposed) ? 0 : row->proposed;
        prior += isnan(row->prior) ? 0 : row->prior;
    }
    assert_prints(proposed, total->proposed);
    assert_prints(prior, total->prior);
    assert_prints(total->proposed, s0_table1[S0_METHODS - 1].seconds);
    assert_prints(total->prior, s0_table1[3].seconds);
    assert_prints(s0_table2[13].proposed, 8.6);                  /* GUPS, not in the paper */
    assert_prints(100 * (1 - 5.6 / s0_table1[4].seconds), 17.6); /* abstract: 18 % faster */
}

/* The seconds round to Table 2's .7 and 4.3. */
TEST(table_3_follows_from_seconds)
{
    const double filter_seconds = 0.6978, seconds = 4.276;
    double filter[S0_ROWS], backproject[S0_ROWS];

    s0_filter_rates(&paper, filter_seconds, &unknown, filter);
    s0_backprojection_rates(&paper, seconds, &unknown, backproject);
    assert_prints(filter_seconds, 0.7);
    assert_prints(seconds, 4.3);
    for (int k = S0_PROCESSING; k < S0_ROWS; k++) {
        if (k != S0_TEXTURE)
            assert_prints(filter[k], s0_table3[k].paper[S0_FILTERING]);
        if (k != S0_MEMORY)
            assert_prints(backproject[k], s0_table3[k].paper[S0_BACKPROJECTION]);
    }
    assert_true(isnan(filter[S0_TEXTURE]) && isnan(filter[S0_INSTRUCTIONS]));
    assert_true(isnan(s0_table3[S0_TEXTURE].paper[S0_FILTERING]));
    assert_prints(backproject[S0_MEMORY], 70.2); /* published: 71.0 */
    assert_prints(s0_table3[S0_MEMORY].paper[S0_BACKPROJECTION], 71.0);
    /* The difference equals 40 bytes per view and line of 512 voxels. */
    assert_prints(backproject[S0_MEMORY] * (1 + 40 / 512.0 / s0_update_bytes(3)), 71.0);
}

/* The digits of Table 2: 130.1 agrees, no seconds that round to 4.3 give 71.0. */
TEST(table_3_from_rounded_seconds)
{
    double filter[S0_ROWS], backproject[S0_ROWS], least[S0_ROWS];

    s0_filter_rates(&paper, 0.7, &unknown, filter);
    s0_backprojection_rates(&paper, 4.3, &unknown, backproject);
    s0_backprojection_rates(&paper, 4.25, &unknown, least);
    assert_prints(filter[S0_MEMORY], 130.1);
    assert_prints(backproject[S0_MEMORY], 69.8);
    assert_prints(least[S0_MEMORY], 70.6);
}

/* 8800 GTX: 128 processors of 1.35 GHz, multiply-add and multiply; 384 bits of 1.8 GHz. */
TEST(table_3_shares_of_the_peak)
{
    const double peak = 128 * 1.35;

    assert_prints(s0_table3[S0_INSTRUCTIONS].paper[S0_THEORETICAL], peak);
    assert_prints(s0_table3[S0_PROCESSING].paper[S0_THEORETICAL], 2 * peak);
    assert_prints(s0_table3[S0_TEXTURE].paper[S0_THEORETICAL], peak);
    assert_prints(s0_table3[S0_TOTAL].paper[S0_THEORETICAL], 3 * peak);
    assert_prints(s0_table3[S0_MEMORY].paper[S0_THEORETICAL], 384 / 8 * 1.8);
    assert_prints(s0_table3[S0_INSTRUCTIONS].paper[S0_FILTERING], 1391 * 128e-3);
    assert_prints(s0_table3[S0_INSTRUCTIONS].paper[S0_BACKPROJECTION], 980 * 128e-3);
    assert_prints(100 * 71.0 / s0_table3[S0_MEMORY].paper[S0_THEORETICAL], 82.2); /* abstract: 82 */
    assert_prints(100 * (8.0 / 3) / s0_update_bytes(3), 40.0); /* global accesses */
}

/* Instructions per update and per multiply-add are those of the loops. */
TEST(instructions_come_from_the_code)
{
    const struct s0_code loop = {.instructions = 38, .fetches = 6};
    const struct s0_code taps = {.instructions = 60, .multiply_adds = 16};
    double out[S0_ROWS];

    s0_backprojection_rates(&paper, 4.3, &loop, out);
    assert_prints(out[S0_INSTRUCTIONS], 38.0 / 6 * 512 * 512 * 512 * 360 / 4.3e9);
    s0_filter_rates(&paper, 0.7, &taps, out);
    assert_prints(out[S0_INSTRUCTIONS], 60.0 / 16 * 257 * 512 * 512 * 360 / 0.7e9);
    s0_backprojection_rates(&paper, 4.3, &unknown, out);
    assert_true(isnan(out[S0_INSTRUCTIONS]));
}

/* Steps 1, 2 and 4 are L + G, L + G/3 and G/3, with L the traffic of the threads' arrays. */
TEST(table_4_separates_two_kinds_of_access)
{
    const double g = 3 * s0_steps[4].paper, l = s0_steps[1].paper - g;

    assert_prints(s0_steps[2].paper, l + g / s0_steps[2].i);
    assert_prints(s0_steps[S0_PROPOSED].paper, 4.3);
    assert_true(isnan(s0_steps[S0_PROPOSED + 1].paper)); /* the merged form is ours */
    assert_prints(s0_steps[0].paper / s0_steps[S0_PROPOSED].paper, 101.6);
}

TEST_MAIN(NULL, NULL)
