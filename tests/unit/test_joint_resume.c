/* Checks resuming across numbers of processes: several finish what one left and one finishes what
 * several left; a new run removes all of it. */
#include "unit/joint_util.h"

/* One that starts with others, of which it is the first or not. */
static fbp_sink *start(const struct output *o, bool resume, struct fbp_sink_share which)
{
    const struct fbp_array_info i = info();
    struct fbp_sink_params params = params_of(o);
    unsigned char mine[NZ];
    fbp_sink *s = NULL;

    params.resume = resume;
    for (size_t z = 0; z < NZ; z++)
        mine[z] = is_of(z, which.part, which.n_parts);
    which.mine = mine;
    if (fbp_sink_open_shared(&s, o->name, &i, &params, &which) != FBP_OK)
        fail_msg("%zu of %zu: %s", which.part, which.n_parts, fbp_message());
    return s;
}

static fbp_sink *lead(const struct output *o, bool resume, size_t p, size_t n)
{
    return start(o, resume, (struct fbp_sink_share){.part = p, .n_parts = n, .first = true});
}

static fbp_sink *follow(const struct output *o, size_t p, size_t n)
{
    return start(o, false, (struct fbp_sink_share){.part = p, .n_parts = n, .led = true});
}

/* By processes that start together; the slices that they compute. */
static size_t do_together(const struct output *o, bool resume, size_t n)
{
    fbp_sink *s[PARTS] = {lead(o, resume, 1, n)};
    size_t done = 0;

    for (size_t p = 1; p < n; p++)
        s[p] = join(o, p + 1, n);
    for (size_t p = 0; p < n; p++)
        done += write_some(s[p], p + 1, n, NZ);
    for (size_t p = n; p-- > 0;) {
        if (fbp_sink_finish(s[p]) != FBP_OK)
            fail_msg("%zu of %zu: %s", p + 1, n, fbp_message());
        fbp_sink_close(&s[p]);
    }
    return done;
}

static fbp_sink *open_alone(const struct output *o, bool resume)
{
    const struct fbp_array_info i = info();
    struct fbp_sink_params params = params_of(o);
    fbp_sink *s = NULL;

    params.resume = resume;
    if (fbp_sink_open(&s, o->name, &i, &params) != FBP_OK)
        fail_msg("alone: %s", fbp_message());
    return s;
}

/* A process that writes alone, up to so many slices, and is gone. */
static void die_alone(const struct output *o, bool resume, size_t slices)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        write_some(open_alone(o, resume), 1, 1, slices);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static size_t resume_alone(const struct output *o)
{
    fbp_sink *s = open_alone(o, true);
    const size_t done = write_some(s, 1, 1, NZ);

    if (fbp_sink_finish(s) != FBP_OK)
        fail_msg("alone: %s", fbp_message());
    assert_int_equal(fbp_sink_missing(s), 0);
    fbp_sink_close(&s);
    return done;
}

TEST(what_one_left_is_finished_by_several)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        die_alone(&outputs[i], false, 7);
        assert_int_equal(do_together(&outputs[i], true, 3), NZ - 7);
        assert_same_folders();
    }
}

/* Parts that know nothing of each other: the first has --resume, the rest need not. */
TEST(what_one_left_is_finished_by_parts)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        size_t done = 0;
        begin_output(&outputs[i]);
        die_alone(&outputs[i], false, 7);
        for (size_t p = 1; p <= 3; p++) {
            fbp_sink *s =
                start(&outputs[i], p == 1, (struct fbp_sink_share){.part = p, .n_parts = 3});
            done += write_some(s, p, 3, NZ);
            OK(fbp_sink_finish(s));
            assert_int_equal(fbp_sink_missing(s) == 0, p == 3);
            fbp_sink_close(&s);
        }
        assert_int_equal(done, NZ - 7); /* nothing twice */
        assert_same_folders();
    }
}

TEST(what_several_left_is_finished_by_one)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        die(&outputs[i], 2, PARTS, 3);
        die(&outputs[i], 1, PARTS, 1);
        assert_int_equal(resume_alone(&outputs[i]), NZ - 4);
        assert_same_folders();
    }
}

/* One, several, one, parts that know nothing of each other, several. */
TEST(by_turns)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        die_alone(&outputs[i], false, 2);
        const pid_t child = fork();
        if (child == 0) {
            write_some(lead(&outputs[i], true, 1, 2), 1, 2, 3);
            _exit(0);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
        die_alone(&outputs[i], true, 4);
        die(&outputs[i], 3, PARTS, 1);
        const size_t rest = do_together(&outputs[i], true, 4);
        assert_int_equal(rest, NZ - 2 - 3 - 4 - 1);
        assert_same_folders();
    }
}

/* Who begins anew drops what is left, of one or of several, and nothing of it stays. */
TEST(anew)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        die_alone(&outputs[i], false, 7);
        assert_int_equal(do_together(&outputs[i], false, 2), NZ);
        assert_same_folders();
        begin_output(&outputs[i]);
        die(&outputs[i], 1, PARTS, 2);
        die(&outputs[i], 3, PARTS, 2);
        assert_int_equal(do_together(&outputs[i], false, 3), NZ);
        assert_same_folders();
        begin_output(&outputs[i]);
        assert_int_equal(do_together(&outputs[i], false, 4), NZ);
        assert_int_equal(do_together(&outputs[i], true, 3), NZ); /* there is nothing to resume */
        assert_same_folders();
    }
}

/* The first of several that fail before they have computed anything keeps what one process had. */
TEST(what_was_there_stays)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        die_alone(&outputs[i], false, 3); /* 0, 1, 2 */
        fbp_sink *s = lead(&outputs[i], true, 1, PARTS);
        assert_int_equal(fbp_sink_has(s, 0, 1), is_of(0, 1, PARTS));
        fbp_sink_close(&s);
        assert_int_equal(do_together(&outputs[i], true, 3), NZ - 3);
        assert_same_folders();
    }
}

TEST(samples_of_one_that_are_not_there_are_noticed)
{
    const struct output o = {"v.mha", 0, 0};

    begin_output(&o);
    die_alone(&o, false, 7);
    (void)!system("dd if=/dev/zero of=v.mha.part bs=1000 count=8 seek=1 conv=notrunc 2>/dev/null");
    assert_int_equal(do_together(&o, true, 3), NZ - 7 + 2);
    assert_same_folders();
}

TEST(whoever_lives_or_is_another_is_refused)
{
    const struct output o = {"v.mha", 0, 0}, other = {"v.mha", 0, 8};
    const struct fbp_array_info i = info();
    struct fbp_sink_params params = params_of(&o);
    struct fbp_sink_params others = params_of(&other);
    const unsigned char mine[NZ] = {1};
    const struct fbp_sink_share first = {1, 2, mine, .first = true};
    fbp_sink *s = NULL;

    begin_output(&o);
    fbp_sink *lives = join(&o, 2, PARTS);
    write_some(lives, 2, PARTS, 1);
    assert_fails(fbp_sink_open_shared(&s, o.name, &i, &params, &first), FBP_ERR_IO,
                 "part 2 of 4 is being written by process");
    fbp_sink_close(&lives);
    others.resume = params.resume = true;
    assert_fails(fbp_sink_open_shared(&s, o.name, &i, &others, &first), FBP_ERR_INVALID,
                 "other options");
    assert_int_equal(do_together(&o, true, 2), NZ - 1);
    assert_same_folders();

    begin_output(&o);
    lives = open_alone(&o, false);
    write_some(lives, 1, 1, 1);
    assert_fails(fbp_sink_open_shared(&s, o.name, &i, &params, &first), FBP_ERR_IO,
                 "another process is writing this output");
    fbp_sink_close(&lives);
    assert_fails(fbp_sink_open_shared(&s, o.name, &i, &others, &first), FBP_ERR_INVALID,
                 "other settings or data");
    assert_int_equal(do_together(&o, true, 2), NZ - 1);
    assert_same_folders();
}

/* Also where it has nothing to write any more. */
TEST(the_first_publishes_and_nobody_else)
{
    static const struct output several[] = {{"v.mha", 0, 0}, {"v.mhd", 0, 0}, {"v.ome.zarr", 0, 0}};

    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        begin_output(&several[i]);
        assert_int_equal(do_part(&several[i], 1, 2), NZ / 2);
        fbp_sink *first = lead(&several[i], true, 1, 2), *other = follow(&several[i], 2, 2);
        assert_int_equal(write_some(first, 1, 2, NZ), 0);
        assert_int_equal(write_some(other, 2, 2, NZ), NZ / 2);
        OK(fbp_sink_finish(other));
        fbp_sink_close(&other);
        assert_false(is_there(several[i].name));
        OK(fbp_sink_finish(first));
        fbp_sink_close(&first);
        assert_same_folders();
    }
}

/* It does not say that the output is there. */
TEST(the_first_says_what_it_does_not_see)
{
    const struct output o = {"v.mha", 0, 0};

    begin_output(&o);
    fbp_sink *first = lead(&o, false, 1, 2), *other = follow(&o, 2, 2);
    write_some(first, 1, 2, NZ);
    write_some(other, 2, 2, NZ);
    OK(fbp_sink_finish(other));
    fbp_sink_close(&other);
    assert_int_equal(system("rm v.mha.part.log.2of2.*"), 0);
    assert_fails(fbp_sink_finish(first), FBP_ERR_IO, "10 of 20 slices are missing");
    fbp_sink_close(&first);
    assert_false(is_there("v.mha"));
    assert_int_equal(do_together(&o, true, 2), NZ / 2);
    assert_same_folders();
}

TEST_MAIN(begin, NULL)
