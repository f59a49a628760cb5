/* The progress bar: the remaining time in a recorded run, and what is drawn before the run and at
 * its end. */
#include "recon.h"
#include "say.h"
#include "test.h"

#include <unistd.h>

struct event {
    double seconds, share;
};

/* A run in six slabs that was stopped for six seconds. */
static const struct event paused[] = {
    {0.08, 0.000},  {0.44, 0.020},  {0.75, 0.041},  {1.05, 0.061},  {1.30, 0.081},  {1.51, 0.102},
    {1.71, 0.122},  {1.92, 0.143},  {2.13, 0.163},  {2.50, 0.183},  {2.72, 0.204},  {2.94, 0.224},
    {8.98, 0.226},  {9.19, 0.246},  {9.40, 0.267},  {9.60, 0.287},  {9.80, 0.307},  {9.99, 0.328},
    {10.28, 0.348}, {10.47, 0.369}, {10.68, 0.389}, {10.91, 0.409}, {11.12, 0.430}, {11.35, 0.450},
    {11.66, 0.470}, {11.91, 0.491}, {12.23, 0.511}, {12.46, 0.531}, {12.67, 0.552}, {12.89, 0.572},
    {13.11, 0.593}, {13.31, 0.613}, {13.51, 0.633}, {13.70, 0.654}, {13.98, 0.674}, {14.19, 0.694},
    {14.39, 0.715}, {14.59, 0.735}, {14.79, 0.756}, {14.99, 0.776}, {15.19, 0.796}, {15.39, 0.817},
    {15.63, 0.837}, {15.85, 0.857}, {16.05, 0.878}, {16.28, 0.898}, {16.51, 0.919}, {16.74, 0.939},
    {16.97, 0.959}, {17.19, 0.980}, {17.45, 1.000}};

enum { N = sizeof paused / sizeof *paused };

/* The remaining time goes down without jumps, also in a run that is as many times as long, and is
 * right after the pause. */
TEST(remaining_time_does_not_jump)
{
    for (double longer = 1; longer <= 900; longer *= 30) {
        struct progress_rate rate = {0};
        double last = -1, end = longer * paused[N - 1].seconds;

        for (size_t i = 0; i < N; i++) {
            const double t = longer * paused[i].seconds, passed = i ? t - rate.seconds : 0;
            const double left = progress_left(&rate, paused[i].share, t);
            const double most = 0.15 * last + 1;
            if (last >= 0 && !(left <= last + most && left >= last - passed - most))
                fail_msg("at %g s: %g s left, %g s before", t, left, last);
            if (paused[i].seconds > 8 && !(fabs(left - (end - t)) <= 0.2 * (end - t) + 1))
                fail_msg("at %g s: %g s left instead of %g s", t, left, end - t);
            assert_true(paused[i].share < 0.1 || left >= 0); /* known after a tenth */
            last = left;
        }
        assert_true(last <= 0);
    }
}

/* Slabs that a failed device has not finished are computed again, and the next run is a new one. */
TEST(lost_work_and_next_run)
{
    struct progress_rate rate = {0};

    for (int i = 0; i <= 50; i++)
        (void)progress_left(&rate, i / 100., i);
    for (int i = 30; i <= 50; i++) {
        const double left = progress_left(&rate, i / 100., 21 + i);
        assert_true(left > 45 && left < 71);
    }
    assert_true(progress_left(&rate, 0, 0) < 0);
    assert_true(progress_left(&rate, 0.5, 5) < 0); /* no part is measured */
}

/* What a call draws, and an error after it (NULL: none). */
static const char *drawn_with(struct progress *p, struct fbp_progress now, const char *error)
{
    static char text[500];
    FILE *f = tmpfile();
    const int was = dup(STDERR_FILENO);

    assert_non_null(f);
    assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
    now.struct_size = sizeof now;
    if (p->drawn > 0)
        p->drawn = 1e-9; /* long ago */
    (void)progress_update(p, &now);
    if (error)
        say_error(error);
    assert_true(dup2(was, STDERR_FILENO) >= 0);
    close(was);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    return text;
}

static const char *drawn(struct progress *p, struct fbp_progress now)
{
    return drawn_with(p, now, NULL);
}

TEST(what_is_drawn)
{
    struct progress p;

    progress_start(&p, 0, false);
    p.visible = true;
    assert_string_equal(drawn(&p, (struct fbp_progress){.total = 1}), "\r\033[Kpreparing");
    assert_string_equal(drawn(&p, (struct fbp_progress){.total = 1}), "");
    p.n_views = 40;
    assert_string_equal(drawn(&p, (struct fbp_progress){.total = 1, .views_read = 7}),
                        "\r\033[Kpreparing, view 7/40");
    const char *text = drawn(
        &p,
        (struct fbp_progress){.done = 1, .total = 4, .views_read = 10, .n_slabs = 1, .seconds = 1});
    assert_non_null(strstr(text, " 25% [#####...............] view 10/40, slab 0/1, 0.00 GUPS"));
    assert_null(strstr(text, "left"));
    const struct fbp_progress end = {
        .done = 4, .total = 4, .views_read = 40, .slabs_done = 1, .n_slabs = 1, .seconds = 3};
    assert_non_null(strstr(drawn(&p, end), "100% [####################] writing the volume"));
    assert_string_equal(drawn(&p, end), "");
    const struct fbp_progress later = {.done = 4, .total = 4, .slabs_done = 1, .n_slabs = 1};
    assert_string_equal(drawn(&p, later), "");
    progress_log(&p, FBP_LOG_NOTE, "a note"); /* erases the bar */
    assert_non_null(strstr(drawn(&p, later), "100%"));
    progress_end(&p);
    assert_string_equal(drawn_with(&p, end, "wrong"), "fbp: wrong\n"); /* there is no bar */
    p.visible = true;
    assert_non_null(strstr(drawn_with(&p, end, "wrong"), "the volume\r\033[Kfbp: wrong\n"));
}

TEST_MAIN(NULL, NULL)
