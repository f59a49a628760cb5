/* Checks the child processes that read files (base/sandbox.h): a crash, an endless loop, too much
 * memory or output ends in a reply or an error message. */
#include "unit/io_util.h"

#include "base/base.h"
#include "base/sandbox.h"
#include "base/system.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define LIMITED 0 /* sanitizers keep their own accounts of memory */
#else
#    define LIMITED 1
#endif

static const struct fbp_sandbox_limits limits = {.memory_bytes = (uint64_t)1 << 26, .seconds = 20};
static const struct fbp_sandbox_limits short_time = {.memory_bytes = (uint64_t)1 << 26,
                                                     .seconds = 0.3};

static fbp_status contain(const struct fbp_sandbox_limits *l, fbp_sandbox_fn *fn, void *arg,
                          struct fbp_blob *reply)
{
    fbp_message_clear();
    *reply = (struct fbp_blob){0};
    return fbp_sandbox_run("scan.h5", "the library", l, fn, arg, reply);
}

/* Fails with a sentence that names the file, and leaves no child and no reply. */
static void fails(const struct fbp_sandbox_limits *l, fbp_sandbox_fn *fn, void *arg,
                  const char *says)
{
    struct fbp_blob reply;
    const fbp_status st = contain(l, fn, arg, &reply);
    const bool died =
        strstr(fbp_message(), "crashed while it read the file"); /* the result is unknown */
    assert_int_equal(st, died ? FBP_ERR_IO : FBP_ERR_INVALID);
    assert_says("scan.h5");
    assert_says(says);
    assert_null(reply.bytes);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Takes 200 MiB, and says that it could. */
static fbp_status take_much(void *arg, struct fbp_blob *reply)
{
    AUTO_FREE char *p = malloc(200u << 20);
    if (!p)
        return fbp_fail(FBP_ERR_INVALID, "scan.h5: cannot be opened");
    for (size_t i = 0; i < 200u << 20; i += 1024) /* compilers leave out what nobody sees */
        ((volatile char *)p)[i] = 1;
    return FBP_OK;
}

/* A child gets what the process may still take. */
TEST(what_is_left)
{
    const struct fbp_sandbox_limits much = {.memory_bytes = (uint64_t)1 << 30, .seconds = 20};
    struct fbp_blob reply;

    if (!LIMITED)
        return;
    OK(contain(&much, take_much, NULL, &reply));
    fbp_limit_memory(fbp_resident_bytes() + (100u << 20));
    fails(&much, take_much, NULL, "raise it");
    fbp_limit_memory(fbp_resident_bytes() + (400u << 20));
    OK(contain(&much, take_much, NULL, &reply));
    fbp_limit_memory(0);
}

static fbp_status answer(void *arg, struct fbp_blob *reply)
{
    const size_t n = *(const size_t *)arg;
    unsigned char piece[1000];

    for (size_t at = 0; at < n; at += sizeof piece) {
        memset(piece, (int)(at / sizeof piece % 251), sizeof piece);
        FBP_TRY(fbp_blob_put(reply, piece, n - at < sizeof piece ? n - at : sizeof piece));
    }
    return FBP_OK;
}

static void expect_answer(const struct fbp_sandbox_limits *l, size_t n)
{
    struct fbp_blob reply;
    size_t at = 0;

    OK(contain(l, answer, &n, &reply));
    assert_int_equal(reply.n, n);
    for (size_t i = 0; i < n; i++)
        if (reply.bytes[i] != i / 1000 % 251)
            fail_msg("byte %zu of %zu is %d", i, n, reply.bytes[i]);
    assert_false(fbp_blob_take(&reply, &at, &(char[2]){0}, n + 1));
    assert_int_equal(at, 0);
    free(reply.bytes);
}

/* What children held, and what they sent, is known: of one that is done, beside this process. */
TEST(what_was_held)
{
    const struct fbp_sandbox_limits much = {.memory_bytes = (uint64_t)1 << 30, .seconds = 20};
    struct fbp_blob reply;

    if (!LIMITED)
        skip();
    AUTO_FREE char *held = not_null(malloc(300u << 20));
    memset(held, 1, 300u << 20); /* of this process, not of the child */
    fbp_sandbox_forget();
    assert_int_equal(fbp_sandbox_bytes(), 0);
    OK(contain(&much, take_much, NULL, &reply));
    const uint64_t most = fbp_sandbox_bytes();
    if (most < (200u << 20) || most > (220u << 20))
        fail_msg("a child that held 200 MiB: %.1f MiB", (double)most / (1 << 20));
    expect_answer(&much, 1000);
    assert_int_equal(fbp_sandbox_bytes(), most);
    fbp_sandbox_forget();
    expect_answer(&much, 40u << 20);
    assert_true(fbp_sandbox_bytes() >= (80u << 20));
    assert_true(held[100] == 1);
}

/* Of what it puts beside itself a child may hold half of what is left. */
TEST(copies_count)
{
    struct fbp_sandbox_limits twice = {
        .memory_bytes = (uint64_t)1 << 30, .seconds = 20, .leaves_copy = true};
    struct fbp_blob reply;

    if (!LIMITED)
        skip();
    fbp_limit_memory(fbp_resident_bytes() + (350u << 20));
    fails(&twice, take_much, NULL, "raise it");
    twice.leaves_copy = false;
    OK(contain(&twice, take_much, NULL, &reply));
    fbp_limit_memory(0);
}

TEST(replies_come_whole)
{
    expect_answer(&limits, 0);
    expect_answer(&limits, 1);
    expect_answer(&limits, 65536); /* as much as a pipe holds */
    expect_answer(&limits, 5000001);
}

static fbp_status refuse(void *arg, struct fbp_blob *reply)
{
    FBP_TRY(fbp_blob_put(reply, "half", 4));
    return fbp_fail(FBP_ERR_UNSUPPORTED, "scan.h5: holds no scan: %d arrays are there", 7);
}

TEST(refusals_keep_status_and_sentence)
{
    struct fbp_blob reply;

    assert_int_equal(contain(&limits, refuse, NULL, &reply), FBP_ERR_UNSUPPORTED);
    assert_string_equal(fbp_message(), "scan.h5: holds no scan: 7 arrays are there");
    assert_null(reply.bytes);
}

static fbp_status die(void *arg, struct fbp_blob *reply)
{
    (void)fbp_blob_put(reply, "half", 4);
    raise(*(const int *)arg);
    return FBP_OK;
}

static fbp_status leave(void *arg, struct fbp_blob *reply)
{
    _exit(0); /* as libraries that call exit() do */
}

static fbp_status endless_stack(void *arg, struct fbp_blob *reply)
{
    volatile char room[4096];

    room[0] = *(const char *)arg;
    const fbp_status st = room[0] == 2 ? FBP_OK : endless_stack(arg, reply);
    return room[0] == 1 ? FBP_ERR_IO : st;
}

TEST(crashes_are_sentences)
{
    static int deaths[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGKILL};

    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        fails(&limits, die, &deaths[i], strsignal(deaths[i]));
    fails(&limits, leave, NULL, "it gave up");
    fails(&limits, endless_stack, &(char){3}, "crashed while it read the file");
}

TEST(interruptions_are_no_damage)
{
    struct fbp_blob reply;

    assert_fails(contain(&limits, die, &(int){SIGINT}, &reply), FBP_ERR_CANCELLED, "interrupted");
    assert_null(strstr(fbp_message(), "damaged"));
}

static fbp_status loop(void *arg, struct fbp_blob *reply)
{
    for (volatile int i = 0;; i++)
        ;
    return FBP_OK;
}

static fbp_status sleep_long(void *arg, struct fbp_blob *reply)
{
    sleep(600);
    return FBP_OK;
}

TEST(loops_end)
{
    const double t0 = fbp_seconds();

    fails(&short_time, loop, NULL, "did not finish");
    fails(&short_time, sleep_long, NULL, "the disk is slow or busy, or the file is damaged");
    assert_true(fbp_seconds() - t0 < 10);
}

static fbp_status take_all(void *arg, struct fbp_blob *reply)
{
    const size_t piece = (size_t)1 << 20;

    for (size_t i = 0; i < 4096; i++) { /* 4 GiB, 64 MiB are allowed */
        char *p = malloc(piece);
        if (!p)
            return fbp_blob_put(reply, &i, sizeof i);
        memset(p, 1, piece);
    }
    return FBP_OK;
}

TEST(memory_is_limited)
{
    struct fbp_blob reply;
    size_t at = 0, n = 0;

    if (!LIMITED)
        skip();
    OK(contain(&limits, take_all, NULL, &reply));
    assert_true(fbp_blob_take(&reply, &at, &n, sizeof n));
    assert_in_range(n, 32, 64); /* that many pieces were given out */
    free(reply.bytes);
}

static fbp_status talk(void *arg, struct fbp_blob *reply)
{
    for (int i = 0; i < 100000; i++) {
        printf("a line of a library\n");
        fprintf(stderr, "HDF5-DIAG: Error detected\n");
    }
    fflush(stdout);
    return fbp_blob_put(reply, "quiet", 5);
}

/* What libraries print goes nowhere, and what this process had not yet written is not doubled. */
TEST(libraries_are_silent)
{
    const char *path = FBP_TEST_DIR "/contain.out";
    struct fbp_blob reply;
    size_t n;

    fflush(stdout);
    const int keep = dup(STDOUT_FILENO);
    assert_non_null(freopen(path, "w", stdout));
    printf("before ");
    const fbp_status st = contain(&limits, talk, NULL, &reply);
    printf("after");
    fflush(stdout);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    AUTO_FREE char *text = get_file(path, &n);
    OK(st);
    assert_string_equal(text, "before after");
    free(reply.bytes);
    unlink(path);
}

/* Pipes that could be written to, beside the standard files. */
static size_t open_pipes(void)
{
    size_t n = 0;
    struct stat st;

    for (int fd = 3; fd < 256; fd++)
        n += fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
             (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
    return n;
}

static fbp_status count_pipes(void *arg, struct fbp_blob *reply)
{
    const size_t n = open_pipes();

    return fbp_blob_put(reply, &n, sizeof n);
}

static void *count_often(void *arg)
{
    const size_t before = *(const size_t *)arg;

    for (int i = 0; i < 300; i++) {
        struct fbp_blob reply = {0};
        size_t at = 0, n = 0;
        if (fbp_sandbox_run("a", "b", &limits, count_pipes, NULL, &reply) != FBP_OK ||
            !fbp_blob_take(&reply, &at, &n, sizeof n))
            return "no answer";
        free(reply.bytes);
        if (n != before + 1)
            return "a child holds the pipe of another one, which seems not to end";
    }
    return NULL;
}

/* Else a reply would end when the slowest child of any thread does. */
TEST(children_hold_their_own_pipe_only)
{
    pthread_t threads[4];
    size_t before = open_pipes();
    void *said = NULL, *first = NULL;

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_often, &before), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &said), 0);
        first = first ? first : said;
    }
    if (first)
        fail_msg("%s", (const char *)first);
}

int main(int argc, char **argv)
{
    fbp_isolate_readers(true);
    return run_file_tests(argc, argv, NULL, NULL);
}
