/* What an output needs is moved, removed or changed by others while it is written: it is never
 * published as if it were whole. */
#include "unit/split_util.h"

static const struct output split = {"v.h5", 0, 0, 5}, plain = {"v.mha", 0, 0, 0};

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
    assert_int_equal(try_join(&s, o, 2, 3), FBP_ERR_IO);
    assert_says(says);
    assert_says("start again");
    assert_int_equal(fbp_sink_open(&s, o->name, &i, &p), FBP_ERR_IO);
    assert_says(says);
    assert_false(is_there(o->name));
}

static void parts_find_that_something_was_lost(void **state)
{
    static const struct {
        const struct output *o;
        const char *lose, *says, *mend;
    } cases[] = {
        {&split, "mv v.h5.[0-9a-f]*/slices_05-09.h5 .", "slices_05-09.h5: is not there",
         "mv slices_05-09.h5 v.h5.[0-9a-f]*/"},
        {&split, "mkdir x && mv v.h5.[0-9a-f]* x", "was moved or removed", "mv x/* ."},
        {&split, "f=$(echo v.h5.[0-9a-f]*/slices_05*); cp $f x; truncate -s 5000 $f",
         "slices_05-09.h5: has another size", "cp x v.h5.[0-9a-f]*/slices_05*"},
        {&split, "f=$(echo v.h5.[0-9a-f]*/slices_05*); cp $f x; echo >>$f",
         "slices_05-09.h5: has another size", "cp x v.h5.[0-9a-f]*/slices_05*"},
        {&split, "f=$(echo v.h5.[0-9a-f]*/slices_05*); mv $f x; ln -s ../x $f",
         "slices_05-09.h5: is no regular file",
         "f=$(echo v.h5.[0-9a-f]*/slices_05*); rm $f; mv x $f"},
        {&plain, "cp v.mha.part x; truncate -s 5000 v.mha.part", "v.mha.part: is too short",
         "cp x v.mha.part"},
    };

    (void)state;
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

/* Who starts anew makes all of it. */
static void what_was_lost_is_written_anew(void **state)
{
    (void)state;
    begin_output(&split);
    do_part(&split, 1, 3);
    run("rm v.h5.[0-9a-f]*/slices_05-09.h5");
    write_alone(&split);
    assert_same_folders();
}

/* A process that no journal speaks of was killed while it made the files: they are made. */
static void files_that_were_never_made_are_made(void **state)
{
    (void)state;
    begin_output(&split);
    do_part(&split, 1, 3);
    run("rm v.h5.part.log.* v.h5.[0-9a-f]*/slices_05-09.h5; truncate -s 99 "
        "v.h5.[0-9a-f]*/slices_1*");
    for (size_t p = 1; p <= 3; p++)
        do_part(&split, p, 3);
    assert_same_folders();
}

/* One process reads again what it resumes, and computes the rest. */
static void one_process_resumes_what_is_there(void **state)
{
    static const char *const lines[] = {
        "rm v.h5.[0-9a-f]*/slices_05-09.h5",
        "rm -r v.h5.[0-9a-f]*",
        "truncate -s 5000 v.h5.[0-9a-f]*/slices_0*",
        "echo >>$(echo v.h5.[0-9a-f]*/slices_05*)",
        "f=$(echo v.h5.[0-9a-f]*/slices_05*); truncate -s 0 $f",
    };
    struct fbp_sink_params p = params_of(&split);
    const struct fbp_array_info i = info();
    fbp_sink *s = NULL;

    (void)state;
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        begin_output(&split);
        p.resume = false;
        assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_OK);
        assert_int_equal(fbp_sink_write(s, 0, 12, volume), FBP_OK);
        fbp_sink_close(&s);
        run(lines[k]);
        p.resume = true;
        assert_int_equal(fbp_sink_open(&s, "v.h5", &i, &p), FBP_OK);
        assert_int_equal(fbp_sink_has(s, 5, 1), strncmp(lines[k], "echo", 4) == 0);
        for (size_t z = 0; z < NZ; z++)
            if (!fbp_sink_has(s, z, 1))
                assert_int_equal(fbp_sink_write(s, z, 1, volume + z * SLICE), FBP_OK);
        if (fbp_sink_finish(s) != FBP_OK)
            fail_msg("%s: %s", lines[k], fbp_message());
        fbp_sink_close(&s);
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
        assert_int_equal(fbp_sink_open(&s, o->name, &i, &p), FBP_OK);
    for (size_t z = 0; z < NZ; z++)
        if (!fbp_sink_has(s, z, 1))
            assert_int_equal(fbp_sink_write(s, z, 1, volume + z * SLICE), FBP_OK);
    run(line);
    if (fbp_sink_finish(s) != FBP_ERR_IO)
        fail_msg("%s, %s: %s", o->name, line, "finished");
    assert_says(says);
    assert_false(is_there(o->name));
    fbp_sink_close(&s);
}

static void nothing_is_lost_while_it_is_written(void **state)
{
    (void)state;
    for (int parts = 0; parts < 2; parts++) {
        lose(&split, parts, "mv $(echo v.h5.[0-9a-f]*) x", "was moved or removed");
        lose(&split, parts, "rm v.h5.[0-9a-f]*/slices_00-04.h5", "slices_00-04.h5: is not there");
        lose(&split, parts, "f=$(echo v.h5.[0-9a-f]*/slices_00*); cp $f x; mv x $f; echo >>$f",
             "slices_00-04.h5: has another size");
        lose(&split, parts, "cd v.h5.[0-9a-f]*; cp slices_05* x; mv x slices_00-04.h5",
             parts ? "slices_00-04.h5: has other samples" : "slices_00-04.h5: has another header");
        lose(&split, parts, "rm v.h5.part", "v.h5.part");
        lose(&plain, parts, "rm v.mha.part", "v.mha.part");
    }
    lose(&plain, true, "rm v.mha.part*", "v.mha.part: was moved or removed");
}

/* Chunks of parts that have ended: the one that is lost is named, and the part whose it was is
 * enough to mend it. */
static void a_chunk_that_was_lost_between_parts_is_named(void **state)
{
    static const struct {
        struct output o;
        const char *lose, *says;
    } cases[] = {
        {{"v.ome.zarr", 0, 0, 0}, "rm v.ome.zarr.part/0/1/2/3", "/0/1/2/3: is not there"},
        {{"v.ome.zarr", 0, 0, 0}, "rm -r v.ome.zarr.part/0/1/2", "/0/1/2/0: is not there"},
        {{"v.ome.zarr", 0, 0, 0}, "rm -r v.ome.zarr.part/0/1", "/0/1/0/0: is not there"},
        {{"v.ome.zarr", 0, 0, 0}, "mv v.ome.zarr.part/0 x && rm -r x", "/0/1/0/0: is not there"},
        {{"v.ome.zarr", 0, 0, 0}, "truncate -s 9 v.ome.zarr.part/0/1/2/3", "3: has another size"},
        {{"v.zarr", FBP_U16, 0, 0}, "rm v.zarr.part/0/1/2/3", "/0/1/2/3: is not there"},
        {{"v.zarr", FBP_U16, 0, 0}, "truncate -s 0 v.zarr.part/0/1/2/3", "3: has another size"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct output *o = &cases[i].o;
        begin_output(o);
        do_part(o, 1, 2);
        run(cases[i].lose);
        fbp_sink *s = join(o, 2, 2);
        write_some(s, 2, 2, NZ);
        assert_int_equal(fbp_sink_finish(s), FBP_ERR_IO);
        assert_says(cases[i].says);
        assert_says(".part.log.1of2.* and run part 1 of 2 again");
        fbp_sink_close(&s);
        assert_false(is_there(o->name));
        run("rm -f v.*.part/0/1/2/3 v.*.part.log.1of2.*");
        assert_int_equal(do_part(o, 1, 2), 0);
        assert_same_folders();
    }
}

/* Its head is gone because another has published it, which is no loss. */
static void what_another_has_published_is_there(void **state)
{
    (void)state;
    begin_output(&plain);
    fbp_sink *a = join(&plain, 1, 2), *b = join(&plain, 2, 2);
    write_some(a, 1, 2, NZ);
    write_some(b, 2, 2, NZ);
    assert_int_equal(fbp_sink_finish(a), FBP_OK);
    assert_int_equal(fbp_sink_finish(b), FBP_OK);
    assert_true(is_there("v.mha"));
    fbp_sink_close(&a);
    fbp_sink_close(&b);
    assert_same_folders();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_find_that_something_was_lost),
        cmocka_unit_test(what_was_lost_is_written_anew),
        cmocka_unit_test(files_that_were_never_made_are_made),
        cmocka_unit_test(one_process_resumes_what_is_there),
        cmocka_unit_test(nothing_is_lost_while_it_is_written),
        cmocka_unit_test(a_chunk_that_was_lost_between_parts_is_named),
        cmocka_unit_test(what_another_has_published_is_there),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
