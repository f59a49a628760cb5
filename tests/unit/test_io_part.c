/* Checks the temporary files of outputs: only those of fbp are taken over, two runs that would
 * write one file exclude each other, and a new stack replaces an older one as a whole. */
#include "unit/some_volume.h"

#include "array/sink.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define FOLDER FBP_TEST_DIR "/io_part"

static int make_folder(void **state)
{
    (void)!system("rm -rf " FOLDER);
    return mkdir(FOLDER, 0777);
}

static fbp_status open_with(fbp_sink **out, const char *path, const struct fbp_sink_params *more)
{
    const struct fbp_array_info info = some_info();
    struct fbp_sink_params p = *more;

    p.struct_size = sizeof p;
    return fbp_sink_open(out, path, &info, &p);
}

static fbp_status open_sink(fbp_sink **out, const char *path, bool resume)
{
    return open_with(out, path, &(struct fbp_sink_params){.resume = resume, .fingerprint = 7});
}

static void write_all(const char *path)
{
    CLEANUP(fbp_sink_close) fbp_sink *s = NULL;

    OK(open_sink(&s, path, false));
    OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
    OK(fbp_sink_finish(s));
}

/* Slice 0 only, of a run that did not go on. */
static void write_some(const char *path)
{
    fbp_sink *s = NULL;

    OK(open_sink(&s, path, false));
    OK(fbp_sink_write(s, 0, 1, FBP_F32, volume));
    fbp_sink_close(&s);
}

static void assert_text(const char *path, const char *text)
{
    size_t n;
    AUTO_FREE char *got = get_file(path, &n);

    assert_string_equal(got, text);
}

static const char *const ends[] = {".part", ".part.log", ".part.z", ".part.side"};
enum { N_ENDS = sizeof ends / sizeof *ends };

/* A user's file of such a name, and links of all kinds to one: refused, and as before. */
TEST_WITH(others_are_refused, make_folder, NULL)
{
    for (size_t i = 0; i < N_ENDS; i++)
        for (int kind = 0; kind < 6; kind++)
            for (int force = 0; force < 2; force++) {
                fbp_sink *s = NULL;
                make_folder(NULL);
                put_file(FOLDER "/victim", "precious", 8);
                assert_int_equal(mkdir(FOLDER "/folder", 0777), 0);
                AUTO_FREE char *name = printed(FOLDER "/v.mha%s", ends[i]);
                const int made = kind == 0   ? (put_file(name, "precious", 8), 0)
                                 : kind == 1 ? symlink("victim", name)
                                 : kind == 2 ? link(FOLDER "/victim", name)
                                 : kind == 3 ? symlink("folder", name)
                                 : kind == 4 ? symlink("nowhere", name)
                                             : mkfifo(name, 0666);
                assert_int_equal(made, 0);
                const size_t before = files_in(FOLDER);
                const struct fbp_sink_params p = {.fingerprint = 7, .force = force != 0};
                assert_fails(open_with(&s, FOLDER "/v.mha", &p), FBP_ERR_INVALID,
                             "not a temporary file of fbp");
                assert_says(ends[i]);
                assert_null(s);
                assert_int_equal(files_in(FOLDER), before);
                assert_text(FOLDER "/victim", "precious");
                assert_false(is_there(FOLDER "/nowhere"));
            }
}

/* The same beside a journal of ours: a link is never what it left. */
TEST_WITH(links_beside_a_journal, make_folder, NULL)
{
    for (int kind = 0; kind < 2; kind++)
        for (int resume = 0; resume < 2; resume++) {
            fbp_sink *s = NULL;
            make_folder(NULL);
            write_some(FOLDER "/v.mha");
            assert_int_equal(unlink(FOLDER "/v.mha.part"), 0);
            put_file(FOLDER "/victim", "precious", 8);
            assert_int_equal(kind ? link(FOLDER "/victim", FOLDER "/v.mha.part")
                                  : symlink("victim", FOLDER "/v.mha.part"),
                             0);
            assert_fails(open_sink(&s, FOLDER "/v.mha", resume), FBP_ERR_INVALID,
                         kind ? "hard links" : "it is a link");
            assert_text(FOLDER "/victim", "precious");
        }
}

/* An input of such a name stays, whatever lies beside it and whatever is forced. */
TEST_WITH(inputs_are_spared, make_folder, NULL)
{
    for (size_t i = 0; i < N_ENDS; i++)
        for (int force = 0; force < 2; force++) {
            fbp_sink *s = NULL;
            make_folder(NULL);
            write_some(FOLDER "/v.mha"); /* a journal, so that other files pass for leftovers */
            AUTO_FREE char *name = printed(FOLDER "/v.mha%s", ends[i]);
            if (i >= 2)
                put_file(name, "precious", 8);
            const char *const keep[] = {name};
            const struct fbp_sink_params p = {
                .fingerprint = 7, .force = force != 0, .keep = keep, .n_keep = 1};
            assert_fails(open_with(&s, FOLDER "/v.mha", &p), FBP_ERR_INVALID, "is an input file");
            assert_true(is_there(name));
        }
}

/* What a run left, of this release or the one before, is gone on with or replaced. */
TEST_WITH(leftovers, make_folder, NULL)
{
    for (int version = 1; version <= 2; version++)
        for (int resume = 0; resume < 2; resume++) {
            fbp_sink *s = NULL;
            size_t n;
            make_folder(NULL);
            write_some(FOLDER "/v.mha");
            AUTO_FREE char *log = get_file(FOLDER "/v.mha.part.log", &n);
            log[strlen("fbp-journal ")] = (char)('0' + version);
            put_file(FOLDER "/v.mha.part.log", log, n);
            put_file(FOLDER "/v.mha.part.z", "half", 4);
            OK(open_sink(&s, FOLDER "/v.mha", resume));
            assert_int_equal(fbp_sink_has(s, 0, 1), resume);
            assert_false(is_there(FOLDER "/v.mha.part.z"));
            OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
            OK(fbp_sink_finish(s));
            fbp_sink_close(&s);
            assert_int_equal(files_in(FOLDER), 1);
        }
}

/* What cannot be looked at may have its name still: nobody takes it for published. */
TEST_WITH(named_or_unknown, make_folder, NULL)
{
    const int fd = open(FOLDER "/v", O_RDWR | O_CREAT, 0666);
    bool named = false;

    OK(fbp_part_find_named(fd, FOLDER "/v", &named));
    assert_true(named);
    OK(fbp_part_find_named(fd, FOLDER "/gone", &named));
    assert_false(named);
    OK(fbp_part_find_named(fd, FOLDER "/v/within", &named));
    assert_false(named);
    assert_int_equal(symlink("loop", FOLDER "/loop"), 0);
    assert_int_equal(fbp_part_find_named(fd, FOLDER "/loop/v", &named), FBP_ERR_IO);
    close(fd);
}

/* A journal is there before the file that it speaks of: after a kill at any moment the next run
 * begins.  Also without a fingerprint. */
TEST_WITH(journal_first, make_folder, NULL)
{
    fbp_sink *s = NULL;

    put_file(FOLDER "/v.mha.part.log", "", 0);
    write_all(FOLDER "/v.mha");
    assert_int_equal(files_in(FOLDER), 1);
    OK(open_with(&s, FOLDER "/w.mha", &(struct fbp_sink_params){0}));
    assert_true(is_there(FOLDER "/w.mha.part.log"));
    fbp_sink_close(&s);
    assert_int_equal(files_in(FOLDER), 1);
}

/* Opens one output twice at the same time: the second fails, because another process writes it. */
TEST_WITH(one_at_a_time, make_folder, NULL)
{
    static const struct {
        const char *first, *second;
    } pairs[] = {{"v.mhd", "v.mhd"}, {"s/%03d.png", "s/%03d.png"}, {"v.mha", "../io_part/v.mha"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int finished = 0; finished < 2; finished++) {
            const struct fbp_sink_params p = {.type = FBP_U16, .range = {0, 1}, .fingerprint = 7};
            char first[600], second[600];
            fbp_sink *a = NULL, *b = NULL;
            make_folder(NULL);
            snprintf(first, sizeof first, FOLDER "/%s", pairs[i].first);
            snprintf(second, sizeof second, FOLDER "/%s", pairs[i].second);
            OK(open_with(&a, first, &p));
            assert_fails(open_with(&b, second, &p), FBP_ERR_IO,
                         "another process is writing this output");
            OK(fbp_sink_write(a, 0, NZ, FBP_F32, volume));
            if (finished)
                OK(fbp_sink_finish(a));
            fbp_sink_close(&a);
            if (pairs[i].first[0] == 's')
                (void)!system("rm -rf " FOLDER "/s");
            OK(open_with(&b, second, &p)); /* and later it may */
            fbp_sink_close(&b);
        }
}

#define STACK FOLDER "/s/%d.tif"

static void put_old_stack(void)
{
    assert_int_equal(mkdir(FOLDER "/s", 0777), 0);
    for (int z = 0; z < NZ; z++) {
        AUTO_FREE char *name = printed(FOLDER "/s/%d.tif", z);
        put_file(name, "old", 3);
    }
}

static int new_slices(void)
{
    int n = 0;

    for (int z = 0; z < NZ; z++) {
        size_t bytes;
        AUTO_FREE char *name = printed(FOLDER "/s/%d.tif", z);
        free(get_file(name, &bytes));
        n += bytes != 3;
    }
    return n;
}

/* The older stack is whole until the new one is, whatever comes between. */
TEST_WITH(older_stack_stays, make_folder, NULL)
{
    fbp_sink *s = NULL;

    put_old_stack();
    OK(open_sink(&s, STACK, false));
    OK(fbp_sink_write(s, 0, NZ - 1, FBP_F32, volume));
    assert_int_equal(fbp_sink_finish(s), FBP_ERR_INVALID);
    fbp_sink_close(&s);
    assert_int_equal(new_slices(), 0);
}

/* Stopped while slices get their names: the next run gives the rest of them theirs, first of all,
 * whether it resumes, begins anew, or cannot do its own work. */
TEST_WITH(publication_is_finished, make_folder, NULL)
{
    for (int how = 0; how < 4; how++) {
        fbp_sink *s = NULL;
        size_t n;
        make_folder(NULL);
        put_old_stack();
        OK(open_sink(&s, STACK, false));
        OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
        fbp_sink_close(&s);
        char *log = get_file(FOLDER "/s/%d.tif.part.log", &n), text[4000];
        snprintf(text, sizeof text, "%spublish\n", log);
        put_file(FOLDER "/s/%d.tif.part.log", text, strlen(text));
        free(log);
        assert_int_equal(rename(FOLDER "/s/1.tif.part", FOLDER "/s/1.tif"), 0);
        assert_int_equal(new_slices(), 1);
        const struct fbp_sink_params other = {.resume = how == 3, .fingerprint = 8};
        const fbp_status st =
            how < 2 ? open_sink(&s, STACK, how == 1) : open_with(&s, STACK, &other);
        assert_int_equal(st, how == 3 ? FBP_ERR_INVALID : FBP_OK);
        assert_int_equal(new_slices(), NZ);
        if (how == 1) {
            assert_true(fbp_sink_has(s, 0, NZ)); /* nothing is left to do */
            OK(fbp_sink_finish(s));
        }
        fbp_sink_close(&s);
        assert_int_equal(new_slices(), NZ);
    }
}

TEST_MAIN(NULL, NULL)
