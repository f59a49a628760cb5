/*
 * Processes that work together: meetings, failures, pieces, and one that is lost.  Each case runs
 * in processes of its own, which talk by sockets; `test_unit_team CASE` is one process of a case,
 * in whatever team it was started (tests/mpi/team.sh starts it by mpirun).
 */
#include "base/base.h"
#include "team/team.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* Of a child, whose exit status the test looks at. */
#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, fbp_message()); \
            _exit(9);                                                                          \
        }                                                                                      \
    } while (0)

static bool says(const char *text)
{
    return strstr(fbp_message(), text) != NULL;
}

/* All bring numbers, and all get all of them; rank 0 hands out a long letter. */
static void gathers(fbp_team *t)
{
    const size_t rank = fbp_team_rank(t), size = fbp_team_size(t);
    enum { N = 300000 }; /* several messages */
    uint64_t mine[3] = {rank, 10 * rank, 7}, all[3 * 16];
    AUTO_FREE unsigned char *letter = malloc(N);

    CHECK(size <= 16 && letter);
    for (int again = 0; again < 20; again++) {
        memset(all, 0xff, sizeof all);
        CHECK(fbp_team_gather(t, "numbers", FBP_OK, mine, sizeof mine, all) == FBP_OK);
        for (size_t r = 0; r < size; r++)
            CHECK(all[3 * r] == r && all[3 * r + 1] == 10 * r && all[3 * r + 2] == 7);
    }
    for (size_t i = 0; i < N; i++)
        letter[i] = (unsigned char)(rank == 0 ? i % 251 : 0);
    CHECK(fbp_team_share(t, "letter", FBP_OK, letter, N) == FBP_OK);
    for (size_t i = 0; i < N; i++)
        CHECK(letter[i] == i % 251);
    CHECK(fbp_team_local_size(t) == size && fbp_team_local_rank(t) == rank);
    CHECK(fbp_team_leave(&t, NULL) == FBP_OK && !t);
}

/* The last one fails; all others work on until they are told. */
static void fails(fbp_team *t)
{
    const bool last = fbp_team_rank(t) + 1 == fbp_team_size(t);
    atomic_bool stop = false;
    char name[100];

    fbp_team_cancel_flag(t, &stop);
    while (!last && !atomic_load(&stop))
        usleep(1000);
    fbp_team_cancel_flag(t, NULL);
    fbp_message_clear();
    const fbp_status own = last ? fbp_fail(FBP_ERR_IO, "x.mha: the disk is full")
                                : fbp_fail(FBP_ERR_CANCELLED, "interrupted");
    CHECK(fbp_team_meet(t, "computed", own) == FBP_ERR_IO);
    CHECK(says(fbp_team_name(t, fbp_team_size(t) - 1, name, sizeof name)));
    CHECK(says("x.mha: the disk is full"));
    CHECK(fbp_team_speaks(t) == (fbp_team_rank(t) == 0));
    CHECK(fbp_team_meet(t, "later", FBP_OK) == FBP_ERR_IO && says("disk"));
    CHECK(fbp_team_leave(&t, NULL) == FBP_ERR_IO);
}

/* What all say is of no rank. */
static void fails_alike(fbp_team *t)
{
    CHECK(fbp_team_meet(t, "plan", fbp_fail(FBP_ERR_INVALID, "no such scan")) == FBP_ERR_INVALID);
    CHECK(strcmp(fbp_message(), "no such scan") == 0);
    CHECK(fbp_team_leave(&t, "no such scan") == FBP_ERR_INVALID);
}

/* One leaves, with or without a failure, while others go on. */
static void leaves_early(fbp_team *t)
{
    if (fbp_team_rank(t) == 1) {
        CHECK(fbp_team_leave(&t, "scan.json: not there") == FBP_ERR_INVALID);
        return;
    }
    CHECK(fbp_team_meet(t, "plan", FBP_OK) == FBP_ERR_INVALID);
    CHECK(says("rank 1 on ") && says("scan.json: not there"));
    (void)fbp_team_leave(&t, NULL);
}

static void goes_astray(fbp_team *t)
{
    if (fbp_team_rank(t) == 1)
        CHECK(fbp_team_leave(&t, NULL) == FBP_ERR_INVALID);
    else
        CHECK(fbp_team_meet(t, "plan", FBP_OK) == FBP_ERR_INVALID);
    CHECK(says("rank 1 on ") && says("another step (end) than rank 0 (plan)"));
    if (t)
        (void)fbp_team_leave(&t, NULL);
}

enum { PIECES = 9, PIECE = 50001 };

/* Everybody gives pieces to rank 0, which asks the one behind while it takes the one before. */
static void gives_pieces(fbp_team *t)
{
    const size_t rank = fbp_team_rank(t), size = fbp_team_size(t);
    float *x[2] = {malloc(PIECE * sizeof(float)), malloc(PIECE * sizeof(float))};

    CHECK(x[0] && x[1]);
    for (uint64_t k = 0; k < PIECES && rank > 0; k++) {
        for (size_t i = 0; i < PIECE; i++)
            x[0][i] = (float)(rank + 10 * k + i);
        CHECK(fbp_team_send_piece(t, 0, x[0], PIECE * sizeof(float)) == FBP_OK);
    }
    for (uint64_t k = 0; k < PIECES && rank == 0; k++)
        for (size_t r = 0; r < size; r++) {
            if (r + 1 < size)
                CHECK(fbp_team_request_piece(t, r + 1, x[(r + 1) % 2], PIECE * sizeof(float)) ==
                      FBP_OK);
            if (r > 0)
                CHECK(fbp_team_wait_piece(t, r) == FBP_OK);
            for (size_t i = 0; i < PIECE && r > 0; i++)
                CHECK(x[r % 2][i] == (float)(r + 10 * k + i));
        }
    CHECK(fbp_team_leave(&t, NULL) == FBP_OK);
    free(x[0]);
    free(x[1]);
}

/* All others have slices for rank 0, from two threads each. */
static void *offer_main(void *arg)
{
    fbp_team *t = arg;
    float x[1000];

    for (uint64_t k = 0; k < PIECES; k++) {
        for (size_t i = 0; i < 1000; i++)
            x[i] = (float)(k + i);
        CHECK(fbp_team_offer(t, k, 1000, x, sizeof x) == FBP_OK);
    }
    return NULL;
}

static void offers(fbp_team *t)
{
    size_t ends = 0, pieces = 0, from;
    uint64_t z, n;
    pthread_t other;
    float x[1000];

    if (fbp_team_rank(t) > 0) {
        CHECK(pthread_create(&other, NULL, offer_main, t) == 0);
        offer_main(t);
        pthread_join(other, NULL);
        CHECK(fbp_team_offer(t, 0, 0, NULL, 0) == FBP_OK);
    }
    while (fbp_team_rank(t) == 0 && ends < fbp_team_size(t) - 1) {
        CHECK(fbp_team_next_offer(t, &from, &z, &n) == FBP_OK);
        ends += n == 0;
        pieces += n > 0;
        if (n > 0)
            CHECK(fbp_team_accept(t, from, x, n * sizeof *x) == FBP_OK && x[0] == (float)z &&
                  x[999] == (float)(z + 999));
    }
    CHECK(fbp_team_rank(t) > 0 || pieces == 2 * PIECES * (fbp_team_size(t) - 1));
    CHECK(fbp_team_leave(&t, NULL) == FBP_OK);
}

/* The last one ends without a word, or hangs: the others wait for it in every way there is. */
static void loses(fbp_team *t, int signal)
{
    const size_t rank = fbp_team_rank(t), last = fbp_team_size(t) - 1;
    char name[100], what[160];
    float x;

    if (rank == last) {
        usleep(200000);
        kill(getpid(), signal);
        _exit(0);
    }
    if (rank == 0) {
        CHECK(fbp_team_request_piece(t, last, &x, sizeof x) == FBP_OK);
        CHECK(fbp_team_wait_piece(t, last) == FBP_ERR_CANCELLED);
    }
    if (rank == 1)
        CHECK(fbp_team_send_piece(t, last, &x, sizeof x) == FBP_ERR_CANCELLED);
    snprintf(what, sizeof what, "%s is lost", fbp_team_name(t, last, name, sizeof name));
    CHECK(fbp_team_meet(t, "computed", FBP_OK) == FBP_ERR_IO && says(what));
    CHECK(fbp_team_leave(&t, NULL) == FBP_ERR_IO);
}

static void is_killed(fbp_team *t)
{
    loses(t, SIGKILL);
}

static void hangs(fbp_team *t)
{
    loses(t, SIGSTOP);
}

/* Rank 0 is lost: every other finds that out for itself. */
static void loses_first(fbp_team *t)
{
    if (fbp_team_rank(t) == 0) {
        kill(getpid(), SIGKILL);
        _exit(0);
    }
    CHECK(fbp_team_meet(t, "computed", FBP_OK) == FBP_ERR_IO && says("rank 0 on "));
    CHECK(says("is lost"));
    CHECK(fbp_team_end(t, NULL) == FBP_ERR_IO);
    CHECK(fbp_team_speaks(t) == (fbp_team_rank(t) == 1));
    CHECK(fbp_team_leave(&t, NULL) == FBP_ERR_IO);
}

static void tells(fbp_team *t)
{
    const uint64_t mine[FBP_TEAM_COUNTERS] = {fbp_team_rank(t), 1};
    uint64_t sum[FBP_TEAM_COUNTERS] = {0};
    const size_t n = fbp_team_size(t);

    fbp_team_send_progress(t, mine);
    while (fbp_team_rank(t) == 0 && sum[1] < n)
        fbp_team_sum_progress(t, sum);
    CHECK(fbp_team_rank(t) > 0 || sum[0] == n * (n - 1) / 2);
    CHECK(fbp_team_leave(&t, NULL) == FBP_OK);
}

static const struct {
    const char *name;
    void (*run)(fbp_team *t);
    bool dies; /* not all of them end by themselves */
} cases[] = {{"gathers", gathers, false},
             {"fails", fails, false},
             {"fails_alike", fails_alike, false},
             {"leaves_early", leaves_early, false},
             {"goes_astray", goes_astray, false},
             {"tells", tells, false},
             {"gives_pieces", gives_pieces, false},
             {"offers", offers, false},
             {"is_killed", is_killed, true},
             {"loses_first", loses_first, true},
             {"hangs", hangs, true}};
enum { N_CASES = sizeof cases / sizeof *cases };

/* One process of a case. */
static int take_part(const char *name)
{
    fbp_team *t;

    for (size_t i = 0; i < N_CASES; i++)
        if (strcmp(cases[i].name, name) == 0) {
            CHECK(fbp_team_join(&t) == FBP_OK && t);
            cases[i].run(t);
            return 0;
        }
    return 2;
}

/* The module, in a process whose partner does something else. */
static int waits_in_vain(const char *module)
{
    struct fbp_team_functions functions = {.struct_size = sizeof functions};
    void *handle = dlopen(module, RTLD_NOW);
    char why[400] = "";
    fbp_mpi_fn *entry;

    CHECK(handle);
    *(void **)&entry = dlsym(handle, "fbp_mpi_team");
    CHECK(entry && !entry(FBP_MPI_MODULE_VERSION, 2, fbp_stopped, &functions, why, sizeof why));
    fprintf(stderr, "%s\n", why);
    return 1;
}

static pid_t start(const char *name, size_t rank, size_t size, const char *folder)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    AUTO_FREE char *place = printed("%zu/%zu:%s", rank, size, folder);
    setenv("FBP_TEAM", place, 1);
    _exit(take_part(name));
}

static void run_case(size_t at, size_t size)
{
    char folder[] = "/tmp/fbp-team-XXXXXX", path[64];
    pid_t children[16];
    int status;

    assert_non_null(mkdtemp(folder));
    for (size_t r = 0; r < size; r++)
        children[r] = start(cases[at].name, r, size, folder);
    for (size_t i = 0; i < size; i++) {
        const size_t r = (i + (cases[at].run == loses_first)) % size; /* those that end, first */
        if (cases[at].dies && r == (cases[at].run == loses_first ? 0 : size - 1))
            kill(children[r], SIGKILL); /* it may sleep, and all others have ended */
        assert_int_equal(waitpid(children[r], &status, 0), children[r]);
        if (!cases[at].dies || !WIFSIGNALED(status)) {
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                fail_msg("%s: rank %zu of %zu failed", cases[at].name, r, size);
        }
        snprintf(path, sizeof path, "%s/%zu", folder, r);
        unlink(path);
    }
    rmdir(folder);
}

TEST(is_alone)
{
    fbp_team *t;

    OK(fbp_team_join(&t));
    assert_null(t);
    assert_int_equal(fbp_team_speaks(t), 1);
    OK(fbp_team_end(t, NULL));
    assert_int_equal(fbp_team_size(t), 1);
    OK(fbp_team_leave(&t, NULL));
}

TEST(refuses)
{
    struct fbp_team_functions none = {.struct_size = sizeof none, .size = 1};
    fbp_team *t;

    assert_int_equal(fbp_team_create(&t, &none), FBP_ERR_INVALID);
    const char *set = getenv("FBP_TEAM_MODULE");
    AUTO_FREE char *module = set ? strdup(set) : NULL;
    setenv("FBP_TEAM_MODULE", "/no/module.so", 1);
    assert_int_equal(fbp_team_join(&t), FBP_ERR_UNSUPPORTED);
    assert_true(says("FBP_TEAM_MODULE: /no/module.so"));
    unsetenv("FBP_TEAM_MODULE");
    setenv("PMI_RANK", "0", 1);
    assert_int_equal(fbp_team_join(&t), FBP_ERR_UNSUPPORTED);
    assert_true(says("the launcher of another MPI"));
    setenv("PMI_SIZE", "1", 1); /* alone, whatever Slurm has started */
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    OK(fbp_team_join(&t));
    assert_null(t);
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
    assert_int_equal(fbp_team_join(&t), FBP_ERR_UNSUPPORTED);
    assert_true(says("srun has started 3 processes without a connection between them"));
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    OK(fbp_team_join(&t));
    setenv("PMIX_RANK", "0", 1); /* alone, without the module */
    OK(fbp_team_join(&t));
    assert_null(t);
    unsetenv("PMIX_RANK");
    unsetenv("SLURM_STEP_NUM_TASKS");
    if (module)
        setenv("FBP_TEAM_MODULE", module, 1);
}

TEST(processes_work_together)
{
    static const size_t sizes[] = {2, 3, 4, 6};

    for (size_t i = 0; i < N_CASES; i++)
        for (size_t k = 0; k < 4; k++)
            if (cases[i].run != hangs || sizes[k] == 3) /* which takes seconds */
                run_case(i, sizes[k]);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return take_part(argv[1]);
    if (argc == 3 && strcmp(argv[1], "waits_in_vain") == 0)
        return waits_in_vain(argv[2]);
    return run_file_tests(argc, argv, NULL, NULL);
}
