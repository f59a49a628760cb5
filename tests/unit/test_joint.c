/* Checks outputs that several processes write: the bytes equal those of one process, others
 * finish what a killed process left, no two write to one page, and other runs are refused. Sinks
 * of one process and child processes that end without closing act as the processes. */
#include "unit/joint_util.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

TEST(every_format_has_the_bytes_of_one_process)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        for (size_t p = PARTS; p > 0; p--) /* in any order */
            assert_int_equal(do_part(&outputs[i], p, PARTS) == 0, p == 1);
        assert_same_folders();
    }
}

/* All are open at once, and finish in another order than they have begun. */
TEST(at_the_same_time)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        fbp_sink *s[PARTS];
        begin_output(&outputs[i]);
        for (size_t p = 0; p < PARTS; p++)
            s[p] = join(&outputs[i], p + 1, PARTS);
        for (size_t k = 0; k < NZ; k++)
            for (size_t p = 0; p < PARTS; p++)
                write_some(s[p], p + 1, PARTS, 1);
        for (size_t p = PARTS; p-- > 0;) {
            OK(fbp_sink_finish(s[p]));
            assert_int_equal(fbp_sink_missing(s[p]) == 0, p == 0);
            fbp_sink_close(&s[p]);
        }
        assert_same_folders();
    }
}

/* Each part dies after some slices, and is finished by parts of another number. */
TEST(what_dies_is_finished_by_others)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        size_t done = 0;
        begin_output(&outputs[i]);
        for (size_t p = 1; p <= PARTS; p++)
            die(&outputs[i], p, PARTS, p);
        for (size_t p = 1; p <= 3; p++) {
            fbp_sink *s = join(&outputs[i], p, 3);
            done += write_some(s, p, 3, NZ);
            OK(fbp_sink_finish(s));
            assert_int_equal(fbp_sink_missing(s) == 0, p == 3);
            fbp_sink_close(&s);
        }
        assert_int_equal(done, NZ - (1 + 2 + 3 + 4)); /* nothing twice */
        assert_same_folders();
    }
}

/* Slices that the journal names, and that are not in the file, are written again. */
TEST(samples_that_are_not_there_are_noticed)
{
    static const char *const places[] = {"v.mha.part", "v.mha.part.log.1of4.*.edges"};
    const struct output o = {"v.mha", 0, 0};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        begin_output(&o);
        die(&o, 1, PARTS, NZ);
        (void)shell("for f in %s; do dd if=/dev/zero of=$f bs=100 count=400 conv=notrunc%s; done",
                    places[i], " 2>/dev/null");
        for (size_t p = 1; p <= PARTS; p++)
            do_part(&o, p, PARTS);
        assert_same_folders();
    }
}

/* Without its edges, or with some of them, a slice is not there: nothing else has these bytes. */
TEST(edges_that_were_lost_are_computed_again)
{
    static const char *const ways[] = {"rm %s%s", "truncate -s 5000 %s%s", "truncate -s -1 %s%s"};
    static const struct output pieces[] = {{"v.mha", 0, 0}, {"v.h5", 0, 0}};

    for (size_t i = 0; i < sizeof ways / sizeof *ways * 2; i++) {
        const struct output *o = &pieces[i % 2];
        begin_output(o);
        do_part(o, 1, 3);
        do_part(o, 2, 3);
        assert_int_equal(shell(ways[i / 2], o->name, ".part.log.1of3.*.edges"), 0);
        assert_true(do_part(o, 3, 3) > 0);
        assert_int_equal(do_part(o, 1, 3), 0);
        assert_same_folders();
    }
}

/* The last part has seen them when it began: it does not publish without them. */
TEST(edges_that_are_lost_meanwhile_are_noticed)
{
    static const char *const whose[] = {"1of2.*.edges", "2of2.*.edges", "1of2.*"};
    const struct output o = {"v.mha", 0, 0};

    for (size_t i = 0; i < sizeof whose / sizeof *whose; i++) {
        begin_output(&o);
        do_part(&o, 1, 2);
        fbp_sink *s = join(&o, 2, 2);
        write_some(s, 2, 2, NZ);
        assert_int_equal(shell("rm v.mha.part.log.%s%s", whose[i], ""), 0);
        assert_fails(fbp_sink_finish(s), FBP_ERR_IO, "is incomplete");
        fbp_sink_close(&s);
        if (do_part(&o, 1, 2) > 0)
            assert_int_equal(do_part(&o, 2, 2), 0);
        assert_same_folders();
    }
}

static void assert_refused(const struct output *o, size_t p, size_t n, const char *why)
{
    fbp_sink *s = NULL;

    fbp_message_clear();
    assert_int_not_equal(try_join(&s, o, p, n), FBP_OK);
    assert_null(s);
    assert_says(why);
}

/* Whole pages of PATH.part have one process that writes to them; what they share is elsewhere until
 * the end. */
TEST(no_two_processes_write_to_one_page)
{
    static const char *const stripes[] = {"4096", "16384", "1048576"};
    const struct output o = {"v.mha", 0, 0};

    for (size_t i = 0; i < sizeof stripes / sizeof *stripes; i++) {
        const size_t stripe = (size_t)atol(stripes[i]);
        fbp_sink *s[PARTS];
        size_t n, whole = 0;
        begin_output(&o);
        setenv("FBP_STRIPE", stripes[i], 1);
        AUTO_FREE char *wanted = get_file(FOLDER "/alone/v.mha", &n);
        const size_t offset = n - sizeof volume;
        char *before = calloc(n, 1), *after;
        for (size_t p = 0; p < PARTS; p++) {
            s[p] = join(&o, p + 1, PARTS);
            write_some(s[p], p + 1, PARTS, NZ);
            after = get_file("v.mha.part", &n);
            for (size_t at = 0; at < n; at++) {
                if (after[at] == before[at])
                    continue;
                assert_int_equal(after[at], wanted[at]);
                /* all of the stripe is this part's */
                for (size_t k = at / stripe * stripe; k < (at / stripe + 1) * stripe; k++) {
                    assert_true(k >= offset && k < n);
                    assert_true(is_of((k - offset) / (SLICE * sizeof(float)), p + 1, PARTS));
                }
                whole++;
                at = (at / stripe + 1) * stripe - 1;
            }
            free(before);
            before = after;
        }
        assert_true(stripe > sizeof volume ? whole == 0 : whole > 0);
        for (size_t p = 0; p < PARTS; p++) {
            OK(fbp_sink_finish(s[p]));
            fbp_sink_close(&s[p]);
        }
        free(before);
        assert_same_folders();
    }
    unsetenv("FBP_STRIPE");
}

TEST(what_cannot_be_written_in_parts_is_refused)
{
    begin_output(&(struct output){"v.mha", 0, 0});
    assert_refused(&(struct output){"hash:", 0, 0}, 1, 2, "all slices");
    assert_refused(&(struct output){"v.nii.gz", 0, 0}, 1, 2, "compressed");
    assert_refused(&(struct output){"no/such/v.mha", 0, 0}, 1, 2, "create its folder first");
    assert_int_equal(files_in("."), 0);
    fbp_sink *s = NULL;
    const struct fbp_array_info i = info();
    unsigned char mine[NZ] = {1};
    struct fbp_sink_params p = {.struct_size = sizeof p, .compress = true, .fingerprint = 7};
    assert_int_equal(
        fbp_sink_open_shared(&s, "v.mha", &i, &p,
                             &(struct fbp_sink_share){.part = 1, .n_parts = 2, .mine = mine}),
        FBP_ERR_UNSUPPORTED);
    p = (struct fbp_sink_params){.struct_size = sizeof p};
    assert_fails(
        fbp_sink_open_shared(&s, "v.mha", &i, &p,
                             &(struct fbp_sink_share){.part = 1, .n_parts = 2, .mine = mine}),
        FBP_ERR_INVALID, "all views in files");
    assert_int_equal(files_in("."), 0);
}

TEST(who_does_not_belong_is_refused)
{
    const struct output o = {"v.mha", 0, 0}, other = {"v.mha", 0, 8};
    const struct fbp_array_info i = info();
    struct fbp_sink_params p = params_of(&o);
    fbp_sink *alone = NULL;

    begin_output(&o);
    fbp_sink *s = join(&o, 1, PARTS);
    write_some(s, 1, PARTS, 2);
    assert_refused(&other, 2, PARTS, "other options");
    assert_refused(&o, 1, PARTS, "part 1 of 4 is being written by process");
    assert_refused(&o, 1, 2, "part 1 of 4 is being written by process"); /* the same slices */
    assert_fails(fbp_sink_open(&alone, "v.mha", &i, &p), FBP_ERR_IO,
                 "part 1 of 4 is being written by process");
    const size_t there = files_in(".");
    fbp_sink_close(&s); /* what it has written stays */
    assert_int_equal(files_in("."), there);
    p.resume = true;
    p.fingerprint = 8;
    assert_fails(fbp_sink_open(&alone, "v.mha", &i, &p), FBP_ERR_INVALID, "other options");
    assert_refused(&other, 1, PARTS, "remove its temporary files v.mha.part*");
    assert_int_equal(files_in("."), there);
    assert_int_equal(do_part(&o, 1, 1), 0);
    assert_same_folders();
}

/* Without --resume, a run of one process starts anew. */
TEST(one_process_takes_over_what_parts_left)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        die(&outputs[i], 2, PARTS, 3);
        write_alone(&outputs[i]);
        assert_same_folders();
    }
}

TEST(parts_do_not_take_over_what_one_process_left)
{
    const struct output o = {"v.mha", 0, 0};
    const struct fbp_array_info i = info();
    const struct fbp_sink_params p = params_of(&o);

    begin_output(&o);
    fbp_sink *alone = create_sink("v.mha", &i, &p);
    assert_refused(&o, 1, 2, "another process is writing this output");
    OK(fbp_sink_write(alone, 0, 1, FBP_F32, volume));
    fbp_sink_close(&alone);
    assert_int_equal(files_in("."), 2);
    assert_refused(&o, 1, 2, "finish that run with --resume");
    assert_int_equal(files_in("."), 2);
    put_file("v.mha.part.log", "", 0); /* as a kill may leave it, with a file of somebody's */
    assert_refused(&o, 1, 2, "it has no journal");
    assert_true(is_there("v.mha.part"));
}

TEST(who_leaves_without_a_slice_leaves_nothing)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        begin_output(&outputs[i]);
        (void)!system("rm -rf " FOLDER "/alone/*");
        fbp_sink *a = join(&outputs[i], 1, 2), *b = join(&outputs[i], 2, 2);
        fbp_sink_close(&a);
        assert_true(files_in(".") > 0);
        write_some(b, 2, 2, 2);
        fbp_sink_forget(b); /* wrong data */
        fbp_sink_close(&b);
        (void)rmdir("s"); /* who made it left first */
        assert_same_folders();
    }
}

/* As the head has it when PATH.part gets its name. */
#define SAY_PUBLISH(path) "echo publish $(stat -c %i " path ".part) >>" path ".part.log"

/* Someone killed while publishing, at every step that a folder can tell. */
TEST(kills_while_publishing)
{
    const struct output o = {"v.mha", 0, 0}, pair = {"v.mhd", 0, 0};

    begin_output(&o);
    die(&o, 2, 2, NZ);
    do_part(&o, 1, 2); /* it is not the last */
    (void)!system(SAY_PUBLISH("v.mha"));
    assert_int_equal(do_part(&o, 2, 2), 0);
    assert_same_folders();

    begin_output(&o); /* it had its name, and journals were left */
    do_part(&o, 1, 2);
    (void)!system(SAY_PUBLISH("v.mha") "; mv v.mha.part v.mha; cp ../alone/v.mha v.mha");
    fbp_sink *s = join(&o, 2, 2);
    assert_int_equal(write_some(s, 2, 2, NZ), 0);
    OK(fbp_sink_finish(s));
    fbp_sink_close(&s);
    assert_same_folders();

    begin_output(&o); /* the same, and now comes a part of another output */
    do_part(&o, 1, 2);
    (void)!system(SAY_PUBLISH("v.mha") "; mv v.mha.part v.mha");
    const struct output other = {"v.mha", 0, 8};
    do_part(&other, 1, 2);
    assert_int_equal(do_part(&other, 2, 2), 0);
    assert_same_folders();

    begin_output(&pair); /* a small file was written, and not yet renamed */
    do_part(&pair, 1, 2);
    (void)!system(SAY_PUBLISH("v.mhd") "; echo x >v.mhd.part.side");
    assert_int_equal(do_part(&pair, 2, 2), 0);
    assert_same_folders();

    const struct output stack = {"s/%03d.tif", 0, 0};
    begin_output(&stack); /* some slices had their names */
    do_part(&stack, 1, 2);
    die(&stack, 2, 2, NZ);
    (void)!system("echo publish >>s/%03d.tif.part.log; mv s/000.tif.part s/000.tif");
    do_part(&stack, 2, 2);
    assert_same_folders();
}

/* A volume of the same sizes, with other values. */
static void write_older(const struct output *o)
{
    const struct fbp_array_info i = info();
    struct fbp_sink_params params = params_of(o);
    AUTO_FREE float *zeros = calloc(NZ * SLICE, sizeof *zeros);

    params.fingerprint = 9;
    CLEANUP(fbp_sink_close) fbp_sink *s = create_sink(o->name, &i, &params);
    OK(fbp_sink_write(s, 0, NZ, FBP_F32, zeros));
    OK(fbp_sink_finish(s));
}

/* All was there and about to get its name, and then a user removed it: an older output under that
 * name is not taken for it. */
TEST(an_older_output_is_not_taken_for_the_new_one)
{
    static const struct {
        struct output o;
        const char *publish, *lose;
    } cases[] = {
        {{"v.mha", 0, 0}, SAY_PUBLISH("v.mha"), "rm v.mha.part"},
        {{"v.mhd", 0, 0}, SAY_PUBLISH("v.mhd"), "rm v.mhd.part"},
        {{"v.h5", 0, 0}, SAY_PUBLISH("v.h5"), "rm v.h5.part"},
        {{"v.ome.zarr", 0, 0}, SAY_PUBLISH("v.ome.zarr"), "rm -r v.ome.zarr.part"},
        {{"v.zarr", FBP_U16, 0}, SAY_PUBLISH("v.zarr"), "rm -r v.zarr.part"},
        {{"s/%03d.tif", 0, 0}, "echo publish >>s/%03d.tif.part.log", "rm s/*.part"},
        {{"s/%03d.tif", 0, 0}, "echo publish >>s/%03d.tif.part.log", "rm s/004.tif.part"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct output *o = &cases[i].o;
        begin_output(o);
        write_older(o);
        do_part(o, 1, 2);
        die(o, 2, 2, NZ);
        (void)!system(cases[i].publish);
        assert_int_equal(system(cases[i].lose), 0);
        const size_t missing = do_part(o, 2, 2);
        if (missing == 0)
            fail_msg("%s: what was lost is called complete", o->name);
        assert_int_equal(do_part(o, 1, 2), 0);
        assert_same_folders();
    }
}

/* In place of the C library's: file systems without attributes. */
static bool has_attributes = true;
int setxattr(const char *path, const char *name, const void *value, size_t n, int flags)
{
    errno = ENOTSUP;
    return has_attributes ? (int)syscall(SYS_setxattr, path, name, value, n, flags) : -1;
}

static void finds_all(const struct output *o, size_t p, size_t n)
{
    CLEANUP(fbp_sink_close) fbp_sink *s = join(o, p, n);

    assert_int_equal(fbp_sink_missing(s), 0);
    assert_int_equal(write_some(s, p, n, NZ), 0);
    OK(fbp_sink_finish(s));
}

TEST(a_part_that_is_started_again_has_nothing_to_do)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const struct output *o = &outputs[i];
        begin_output(o);
        for (size_t p = 1; p < PARTS; p++)
            do_part(o, p, PARTS);
        do_part(o, 1, 2); /* what another number has finished, too */
        do_part(o, 2, 2);
        finds_all(o, PARTS, PARTS);
        finds_all(o, 2, 2);
        assert_same_folders();
        if (!strchr(o->name, '%') && !strstr(o->name, "hd")) {
            assert_true(do_part(&(struct output){o->name, o->type, 8}, 1, 2) > 0); /* another */
            assert_int_equal(shell("rm -r %s.part*%s", o->name, ""), 0);
            assert_int_equal(shell("touch -d '2001-01-01' %s%s", o->name, ""), 0);
            assert_true(do_part(o, 1, 2) > 0); /* it was changed since then */
            assert_int_equal(do_part(o, 2, 2), 0);
            assert_same_folders();
        }
    }
    const struct output stack = {"s/%03d.tif", 0, 0}; /* is not complete any more */
    begin_output(&stack);
    do_part(&stack, 1, 1);
    assert_int_equal(unlink("s/007.tif"), 0);
    do_part(&stack, 1, 1);
    assert_same_folders();
}

TEST(without_attributes_the_head_stays)
{
    static const struct output some[] = {
        {"v.mha", 0, 0}, {"s/%03d.tif", 0, 0}, {"v.ome.zarr", 0, 0}};

    has_attributes = false;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        begin_output(&some[i]);
        for (size_t p = 1; p <= 3; p++)
            do_part(&some[i], p, 3);
        for (size_t p = 1; p <= 3; p++)
            finds_all(&some[i], p, 3);
        assert_int_equal(shell("rm %s.part.log%s", some[i].name, ""), 0);
        assert_same_folders();
    }
    has_attributes = true;
}

/* The slice of an older stack is not left in its place. */
TEST(a_slice_that_was_lost_between_parts_is_named)
{
    const struct output o = {"s/%03d.tif", 0, 0};

    begin_output(&o);
    write_older(&o);
    do_part(&o, 1, 2);
    assert_int_equal(unlink("s/009.tif.part"), 0);
    fbp_sink *s = join(&o, 2, 2);
    write_some(s, 2, 2, NZ);
    assert_fails(
        fbp_sink_finish(s), FBP_ERR_IO,
        "s/009.tif.part: was removed before the stack of slices was complete; run all parts again");
    fbp_sink_close(&s);
    assert_int_equal(do_part(&o, 2, 2), NZ / 2);
    assert_int_equal(do_part(&o, 1, 2), 0);
    assert_same_folders();
}

TEST(a_common_file_that_was_removed_is_begun_anew)
{
    const struct output o = {"v.mha", 0, 0};

    begin_output(&o);
    do_part(&o, 1, 2);
    assert_int_equal(unlink("v.mha.part"), 0);
    assert_true(do_part(&o, 2, 2) > 0); /* the first half is gone */
    assert_int_equal(do_part(&o, 1, 2), 0);
    assert_same_folders();

    begin_output(&o);
    fbp_sink *s = join(&o, 1, 1);
    write_some(s, 1, 1, NZ);
    (void)!system("rm v.mha.part.log");
    assert_fails(fbp_sink_finish(s), FBP_ERR_IO, "was removed while the output was written");
    fbp_sink_close(&s);
}

/* It is named when the output is complete, and never taken for a journal of the next output. */
TEST(a_journal_that_cannot_be_removed_is_named)
{
    const struct output o = {"v.mha", 0, 0}, other = {"v.mha", 0, 8};

    begin_output(&o);
    do_part(&o, 1, 2);
    if (system("chattr +i v.mha.part.log.1of2.*[0-9a-f] 2>/dev/null") != 0)
        skip();
    fbp_sink *s = join(&o, 2, 2);
    write_some(s, 2, 2, NZ);
    const fbp_status st = fbp_sink_finish(s);
    AUTO_FREE char *note = strdup(fbp_sink_note(s) ? fbp_sink_note(s) : "");
    fbp_sink_close(&s);
    const fbp_status next = try_join(&s, &other, 1, 2);
    AUTO_FREE char *refused = strdup(fbp_message());
    fbp_sink_close(&s);
    (void)!system("chattr -i v.mha.part.log.1of2.*");
    OK(st);
    assert_contains(note, "v.mha.part.log.1of2.");
    assert_contains(note, "v.mha is complete and no longer needs this file, so remove it");
    assert_int_equal(next, FBP_ERR_IO);
    assert_contains(refused, "cannot remove");
    do_part(&other, 1, 2);
    assert_int_equal(do_part(&other, 2, 2), 0);
    assert_same_folders();
}

/* Journals that nobody has written so. */
TEST(damaged_journals_say_nothing)
{
    static const char *const texts[] = {
        "",
        "fbp-journal 3 0",
        "fbp-journal 3 0\nby x\npart 1 of 1 stripe 0\nslices 0 1\nbegin\n0 1 0\nsynced\n",
        "fbp-journal 3 0\nby x\npart 1 of 1 stripe 4096\nslices 0 99\nbegin\n0 1 0\nsynced\n",
        "fbp-journal 3 0\nby x\npart 1 of 1 stripe 4096\nslices 0 1\n",
        "fbp-journal 3 0\nby x\npart 1 of 1 stripe 4096\nslices 0 20\nbegin\n0 99 0\n99 1 0\n1 1 "
        "0\nx\n-1 2 3\n",
    };
    const struct output o = {"v.mha", 0, 0};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        begin_output(&o);
        do_part(&o, 1, 2);
        put_file("v.mha.part.log.1of9.00000001", texts[i], strlen(texts[i]));
        put_file("v.mha.part.log.1of9.00000001.edges", texts[i], strlen(texts[i]));
        assert_int_equal(do_part(&o, 2, 2), 0);
        assert_same_folders();
    }
}

TEST_MAIN(begin, NULL)
