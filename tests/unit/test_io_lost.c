/* Checks that an output whose files are moved, removed or changed by others while it is written
 * is never published as if it were complete. */
#include "unit/joint_util.h"

static const struct output plain = {"v.mha", 0, 0};

static void run(const char *line)
{
    if (system(line) != 0)
        fail_msg("%s", line);
}

/* As processes find it that come later, of parts or alone. */
static void assert_refused(const struct output *o, const char *says)
{
    struct fbp_sink_params p = params_of(o);
    const struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    p.resume = true;
    assert_fails(try_join(&s, o, 2, 3), FBP_ERR_IO, says);
    assert_says("start again");
    assert_fails(fbp_sink_open(&s, o->name, &i, &p), FBP_ERR_IO, says);
    assert_false(is_there(o->name));
}

TEST(parts_find_that_something_was_lost)
{
    static const struct {
        const struct output *o;
        const char *lose, *says, *mend;
    } cases[] = {
        {&plain, "cp v.mha.part x; truncate -s 5000 v.mha.part",
         "v.mha.part: this temporary file is too short", "cp x v.mha.part"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_output(cases[i].o);
        assert_int_equal(do_part(cases[i].o, 1, 3) > 0, 1);
        run(cases[i].lose);
        assert_refused(cases[i].o, cases[i].says);
        run(cases[i].mend);
        run("rm -rf x");
        for (size_t p = 2; p <= 3; p++)
            do_part(cases[i].o, p, 3);
        assert_same_folders();
    }
}

/* While a process has all of it open, which is the only one or the last of two parts. */
static void lose(const struct output *o, bool parts, const char *line, const char *says)
{
    const struct fbp_sink_params p = params_of(o);
    const struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    begin_output(o);
    if (parts)
        do_part(o, 1, 2);
    if (parts)
        s = join(o, 2, 2);
    else
        OK(fbp_sink_open(&s, o->name, &i, &p));
    for (size_t z = 0; z < NZ; z++)
        if (!fbp_sink_has(s, z, 1))
            OK(fbp_sink_write(s, z, 1, FBP_F32, volume + z * SLICE));
    run(line);
    if (fbp_sink_finish(s) != FBP_ERR_IO)
        fail_msg("%s, %s: %s", o->name, line, "finished");
    assert_says(says);
    assert_false(is_there(o->name));
    fbp_sink_close(&s);
}

TEST(nothing_is_lost_while_it_is_written)
{
    for (int parts = 0; parts < 2; parts++) {
        lose(&plain, parts, "rm v.mha.part", "v.mha");
    }
    lose(&plain, true, "rm v.mha.part*", "v.mha: its temporary file was moved or removed");
}

/* Chunks of parts that have ended: the one that is lost is named, and the part whose it was is
 * enough to mend it. */
TEST(a_chunk_that_was_lost_between_parts_is_named)
{
    static const struct {
        struct output o;
        const char *lose, *says;
    } cases[] = {
        {{"v.ome.zarr", 0, 0}, "rm v.ome.zarr.part/0/0/2/3", "/0/0/2/3: is missing"},
        /* threads check chunks, and any of them is named */
        {{"v.ome.zarr", 0, 0}, "rm -r v.ome.zarr.part/0/0/2", ": is missing"},
        {{"v.ome.zarr", 0, 0}, "rm -r v.ome.zarr.part/0/0", ": is missing"},
        {{"v.ome.zarr", 0, 0}, "mv v.ome.zarr.part/0 x && rm -r x", ": is missing"},
        {{"v.ome.zarr", 0, 0}, "truncate -s 9 v.ome.zarr.part/0/0/2/3", "3: has another size"},
        {{"v.zarr", FBP_U16, 0}, "rm v.zarr.part/0/0/2/3", "/0/0/2/3: is missing"},
        {{"v.zarr", FBP_U16, 0}, "truncate -s 0 v.zarr.part/0/0/2/3", "3: has another size"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct output *o = &cases[i].o;
        begin_output(o);
        do_part(o, 1, 2);
        run(cases[i].lose);
        fbp_sink *s = join(o, 2, 2);
        write_some(s, 2, 2, NZ);
        assert_fails(fbp_sink_finish(s), FBP_ERR_IO, cases[i].says);
        assert_says("restore it and continue");
        fbp_sink_close(&s);
        assert_false(is_there(o->name));
        run("rm -f v.*.part/0/0/2/3 v.*.part.log.1of2.*");
        assert_int_equal(do_part(o, 1, 2), 0);
        assert_same_folders();
    }
}

/* Its head is gone because another has published it, which is no loss. */
TEST(what_another_has_published_is_there)
{
    begin_output(&plain);
    fbp_sink *a = join(&plain, 1, 2), *b = join(&plain, 2, 2);
    write_some(a, 1, 2, NZ);
    write_some(b, 2, 2, NZ);
    OK(fbp_sink_finish(a));
    OK(fbp_sink_finish(b));
    assert_true(is_there("v.mha"));
    fbp_sink_close(&a);
    fbp_sink_close(&b);
    assert_same_folders();
}

TEST_MAIN(begin, NULL)
