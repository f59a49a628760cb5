/* Checks that small output files appear complete or not at all, and that files of other programs
 * stay untouched. */
#include "unit/io_util.h"

#include "array/file/outfile.h"
#include "scan/file/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define assert_ok(call) OK(call)
#define FOLDER          FBP_TEST_DIR "/io_outfile"

static int make_folder(void **state)
{
    (void)!system("rm -rf " FOLDER);
    return mkdir(FOLDER, 0777);
}

static void assert_holds(const char *path, const char *text)
{
    char got[200] = "";
    FILE *f = not_null(fopen(path, "r"));

    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

TEST_WITH(appears_whole, make_folder, NULL)
{
    struct fbp_outfile out;

    assert_ok(fbp_outfile_open(&out, FOLDER "/a.txt"));
    fputs("half", out.f);
    fflush(out.f);
    assert_int_not_equal(access(FOLDER "/a.txt", F_OK), 0);
    assert_holds(out.part, "half"); /* it can be read until then */
    fputs(" and half", out.f);
    assert_ok(fbp_outfile_finish(&out));
    fbp_outfile_clear(&out);
    assert_holds(FOLDER "/a.txt", "half and half");
    assert_int_equal(files_in(FOLDER), 1);
}

TEST_WITH(nothing_is_left, make_folder, NULL)
{
    struct fbp_outfile out;

    assert_ok(fbp_text_save(FOLDER "/a.txt", "old", true));
    assert_ok(fbp_outfile_open(&out, FOLDER "/a.txt"));
    fputs("new", out.f);
    fbp_outfile_clear(&out);
    assert_holds(FOLDER "/a.txt", "old");
    assert_ok(fbp_outfile_open(&out, FOLDER "/a.txt"));
    fputs("new", out.f);
    assert_ok(fbp_outfile_settle(&out)); /* it has a temporary name now */
    fbp_outfile_clear(&out);
    assert_holds(FOLDER "/a.txt", "old");
    assert_int_equal(files_in(FOLDER), 1);
}

/* What lies beside an output under a name that a temporary file might have is somebody's. */
TEST_WITH(leaves_others_alone, make_folder, NULL)
{
    assert_ok(fbp_text_save(FOLDER "/victim", "precious", true));
    assert_ok(fbp_text_save(FOLDER "/a.txt.part", "mine", true));
    assert_int_equal(symlink("victim", FOLDER "/b.txt.part"), 0);
    assert_ok(fbp_text_save(FOLDER "/a.txt", "new", true));
    assert_ok(fbp_text_save(FOLDER "/b.txt", "new", true));
    assert_holds(FOLDER "/a.txt.part", "mine");
    assert_holds(FOLDER "/victim", "precious");
    assert_holds(FOLDER "/a.txt", "new");
    assert_holds(FOLDER "/b.txt", "new");
}

TEST_WITH(exclusive, make_folder, NULL)
{
    assert_ok(fbp_text_save(FOLDER "/a.txt", "old", false));
    assert_fails(fbp_text_save(FOLDER "/a.txt", "new", false), FBP_ERR_INVALID, "already exists");
    assert_holds(FOLDER "/a.txt", "old");
    assert_int_equal(files_in(FOLDER), 1);
}

TEST_WITH(only_regular_files, make_folder, NULL)
{
    assert_int_equal(mkfifo(FOLDER "/pipe", 0666), 0);
    assert_fails(fbp_text_save(FOLDER "/pipe", "new", true), FBP_ERR_INVALID, "not a regular file");
    assert_int_equal(fbp_text_save("/dev/null", "new", true), FBP_ERR_INVALID);
    assert_int_equal(fbp_text_save(FOLDER, "new", true), FBP_ERR_INVALID);
    assert_fails(fbp_text_save(FOLDER "/none/a.txt", "new", true), FBP_ERR_IO,
                 "create its folder first");
}

/* A full disk, as a limit of the size of files: the old file stays, and the message says why. */
TEST_WITH(too_large, make_folder, NULL)
{
    const struct rlimit small = {4096, RLIM_INFINITY};
    static char text[10000];
    struct rlimit was;

    memset(text, 'x', sizeof text - 1);
    assert_ok(fbp_text_save(FOLDER "/a.txt", "old", true));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const fbp_status st = fbp_text_save(FOLDER "/a.txt", text, true);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_fails(st, FBP_ERR_IO, "a.txt: cannot write: a file of");
    assert_says("ulimit -f");
    assert_holds(FOLDER "/a.txt", "old");
    assert_int_equal(files_in(FOLDER), 1);
}

/* Several files get their names when all are on disk. */
TEST_WITH(together, make_folder, NULL)
{
    struct fbp_outfile out[2] = {{.fd = -1}, {.fd = -1}};
    struct fbp_writer w;

    assert_ok(fbp_text_save(FOLDER "/1.txt", "old", true));
    assert_ok(fbp_writer_open(&w, FOLDER "/1.txt"));
    fputs("new", w.f);
    assert_ok(fbp_writer_settle(&w, FBP_OK, &out[0]));
    assert_holds(FOLDER "/1.txt", "old");
    assert_ok(fbp_writer_open(&w, FOLDER "/2.txt"));
    assert_int_equal(fbp_writer_settle(&w, FBP_ERR_IO, &out[1]), FBP_ERR_IO);
    fbp_outfile_clear(&out[0]);
    fbp_outfile_clear(&out[1]);
    assert_holds(FOLDER "/1.txt", "old");
    assert_int_equal(files_in(FOLDER), 1);
}

TEST_MAIN(NULL, NULL)
