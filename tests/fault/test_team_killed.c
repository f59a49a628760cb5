/* A team of processes of which one is killed at random moments, some of them
 * while the output gets its name.  Whatever is left, under the final name is
 * nothing or all of it; a team of another number, or one process, finishes it
 * with the same bytes, and little is done twice.  If processes share views, as
 * many finish it with the bytes that they would have had. */
#include "recon/fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { KILLS = 50, KILLS_SHARING = 20, SIZE = 3, MOST = 4, SLICES = 160, SLAB = 2 };

static size_t sharers; /* of the views of a slab */

/* What processes say, for who kills them. */
struct shared {
    _Atomic uint64_t done[MOST]; /* updates of each; of rank 0 those of all, as
                                    far as it has heard */
    _Atomic uint64_t total;      /* the most that rank 0 said there was to do */
    _Atomic size_t resumed;      /* slabs of a run that has ended */
};

/* What they write, and how the shell looks at it: is there nothing under its name, or all; is it
 * complete, and nothing beside it; remove it. */
struct output {
    const char *path, *log;
    const char *whole, *clean, *remove;
};

static const struct output mha = {.path = "v.mha",
                                  .log = "v.mha.part.log",
                                  .whole = "[ ! -e v.mha ] || cmp one/v.mha v.mha",
                                  .clean = "cmp one/v.mha v.mha && [ $(ls v.mha*) = v.mha ]",
                                  .remove = "rm v.mha"};
static const struct output h5 = {.path = "v.h5",
                                 .log = "v.h5.part.log",
                                 .whole = "[ ! -e v.h5 ] || cmp one/v.h5 v.h5",
                                 .clean = "cmp one/v.h5 v.h5 && [ $(ls v.h5*) = v.h5 ]",
                                 .remove = "rm v.h5"};
static const struct output *output;

struct teller {
    struct shared *shared;
    size_t rank;
};

static int note(void *user, const struct fbp_progress *p)
{
    const struct teller *t = user;

    t->shared->done[t->rank] = p->done;
    if (t->rank == 0 && p->total > t->shared->total)
        t->shared->total = p->total;
    return 0;
}

static int begin(void **state)
{
    AUTO_FREE char *folder = temporary("team");
    return mkdir(folder, 0777) || chdir(folder);
}

static int end(void **state)
{
    AUTO_FREE char *folder = temporary("team");
    return chdir("..") || rmdir(folder);
}

static void shell(const char *line)
{
    if (system(line) != 0)
        fail_msg("%s", line);
}

static fbp_status run(const struct fbp_scan *scan, struct shared *s, fbp_team *team,
                      const char *path, bool resume)
{
    struct teller teller = {s, fbp_team_rank(team)};
    struct fbp_report report = {.struct_size = sizeof report};
    fbp_plan *plan = NULL;
    fbp_status st =
        fbp_plan_create(&plan, scan,
                        fbp_recon_params(.device = "cpu", .n_threads = 1,
                                         .tuning.slab_slices = SLAB, .callbacks.progress = note,
                                         .callbacks.user = &teller, .cluster.team = team,
                                         .output.resume = resume, .cluster.view_ranks = sharers));

    if (st == FBP_OK)
        st = fbp_plan_run(plan, path, &report);
    fbp_plan_destroy(&plan);
    if (st == FBP_OK && teller.rank == 0)
        s->resumed = report.slabs_resumed;
    return st;
}

/* A process of a team; its exit status. */
static int take_part(const struct fbp_scan *scan, struct shared *s, const char *place, bool resume)
{
    fbp_team *team = NULL;

    setenv("FBP_TEAM", place, 1);
    fbp_status st = fbp_team_join(&team);
    if (st == FBP_OK)
        st = run(scan, s, team, output->path, resume);
    char *why = st == FBP_OK ? NULL : strdup(fbp_message());
    if (team && fbp_team_leave(&team, why) != FBP_OK)
        st = FBP_ERR_IO;
    free(why);
    return st == FBP_OK ? 0 : 1;
}

/* Their sockets are in `folder`. */
static void start(const struct fbp_scan *scan, struct shared *s, size_t size, bool resume,
                  const char *folder, pid_t *pids)
{
    memset(s, 0, sizeof *s);
    for (size_t r = 0; r < size; r++) {
        AUTO_FREE char *place = printed("%zu/%zu:%s", r, size, folder);
        pids[r] = fork();
        if (pids[r] == 0)
            _exit(take_part(scan, s, place, resume));
        assert_true(pids[r] > 0);
    }
}

/* In a new folder, which is removed when all have ended. */
static char *make_folder(char folder[32])
{
    strcpy(folder, "/tmp/fbp-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_folder(const char *folder)
{
    AUTO_FREE char *line = printed("rm -r %s", folder);
    shell(line);
}

/* All that is left of the output by others: one process, or several. */
static void finish(const struct fbp_scan *scan, struct shared *s, size_t size)
{
    pid_t pids[MOST];
    char folder[32];
    int status;

    if (size == 1) {
        memset(s, 0, sizeof *s);
        OK(run(scan, s, NULL, output->path, true));
        return;
    }
    start(scan, s, size, true, make_folder(folder), pids);
    for (size_t r = 0; r < size; r++) {
        assert_int_equal(waitpid(pids[r], &status, 0), pids[r]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    remove_folder(folder);
}

/* Does the output get its name now? */
static bool is_published(void)
{
    char line[80];

    snprintf(line, sizeof line, "grep -qs ^publish %s", output->log);
    return system(line) == 0;
}

static bool lives(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* Kill a process of three after so long; less than 0: rank 0, as soon as it
 * publishes. */
static void kill_one(const struct fbp_scan *scan, struct shared *s, double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    const size_t victim = seconds < 0 ? 0 : (size_t)rand() % SIZE;
    pid_t pids[MOST];
    char folder[32];

    start(scan, s, SIZE, false, make_folder(folder), pids);
    if (seconds >= 0)
        nanosleep(&time, NULL);
    while (seconds < 0 && lives(pids[0]) && !is_published())
        ;
    kill(pids[victim], SIGKILL);
    for (size_t r = 0; r < SIZE; r++)
        assert_int_equal(waitpid(pids[r], NULL, 0), pids[r]);
    remove_folder(folder);
}

/* Slices that the journals of a rank name; every journal has its lines. */
static size_t noted_by(size_t rank)
{
    char line[200];
    size_t n = 0, z0, nz;

    snprintf(line, sizeof line,
             "grep -ashE '^[0-9]+ [0-9]+ [0-9a-f]{16}$' "
             "%s.%zuof%d.????????",
             output->log, rank + 1, SIZE);
    FILE *lines = not_null(popen(line, "r"));
    while (fscanf(lines, "%zu %zu %*x", &z0, &nz) == 2)
        n += nz;
    pclose(lines);
    return n;
}

/* Return the share of the work of a volume that is done twice, without the work that rank 0 had not
 * finished (rank 0 reports the progress of all); -1 if the volume was complete before the kill. */
static double lost_by_a_kill(const struct fbp_scan *scan, struct shared *s, double all,
                             double seconds)
{
    static const size_t sizes[] = {2, 4, 1};
    double done;

    kill_one(scan, s, seconds);
    shell(output->whole);
    if (access(output->path, F_OK) == 0 && access(output->log, F_OK) != 0)
        return -1;
    done = all * (double)noted_by(0) / SLICES;
    for (size_t r = 1; r < SIZE; r++)
        done += (double)s->done[r];
    finish(scan, s, sizes[(size_t)rand() % 3]);
    const double rest = all * (1 - (double)(s->resumed * SLAB) / SLICES);
    /* What is there is no work; the last slab of a rank may be thinner. */
    assert_true((double)s->total <= rest + all * MOST * SLAB / SLICES);
    done += rest;
    return done > all ? (done - all) / all : 0;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned seed_of(void)
{
    const char *given = getenv("FBP_SEED");
    const unsigned seed = given ? (unsigned)atoi(given) : (unsigned)time(NULL);

    print_message("seed %u\n", seed);
    return seed;
}

static void check_and_remove(void)
{
    shell(output->clean);
    shell(output->remove);
}

/* As one process writes it, in a folder of its own; the updates that it takes. */
static double write_one(const struct fbp_scan *scan, struct shared *s)
{
    shell("mkdir one");
    assert_int_equal(chdir("one"), 0);
    OK(run(scan, s, NULL, output->path, false));
    assert_int_equal(chdir(".."), 0);
    return (double)s->done[0];
}

static void kill_often(const struct output *o, int wanted)
{
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    AUTO_DROP struct fbp_scan scan = circle_scan(48, 64, 0);
    double most = 0, sum = 0;
    int kills = 0, named = 0;

    output = o;
    assert_true(s != MAP_FAILED);
    srand(seed_of());
    sharers = 1;
    scan.volume = (struct fbp_grid){{64, 64, SLICES}, {3, 3, 1.2}, {0, 0, 0}};
    simulate_head(&scan, 90);
    const double all = write_one(&scan, s), begun = seconds_now();
    finish(&scan, s, SIZE); /* there is nothing to resume */
    const double lasts = seconds_now() - begun;
    check_and_remove();
    for (int i = 0; i < 4 * wanted && kills < wanted; i++) {
        const double when = i % 5 == 0 ? -1 : 1.1 * lasts * rand() / RAND_MAX;
        const double twice = lost_by_a_kill(&scan, s, all, when);
        most = fmax(most, twice);
        sum += fmax(twice, 0);
        kills += twice >= 0;
        named += twice >= 0 && when < 0;
        check_and_remove();
    }
    print_message("%d kills, %d of them while it got its name: %.2f %% of the "
                  "work of a volume is "
                  "done twice at most, %.2f %% on average\n",
                  kills, named, 100 * most, 100 * sum / kills);
    assert_int_equal(kills, wanted);
    /* Each process but rank 0 loses at most two slabs: one is backprojected, one is written.  The
     * processes that finish the volume may begin their slabs at other slices, so that they compute
     * three slabs anew. */
    assert_true(most <= 3.0 * (SIZE - 1) * SLAB / SLICES);
    shell("rm -r one");
    munmap(s, sizeof *s);
}

TEST(as_many_finish_what_was_shared)
{
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    AUTO_DROP struct fbp_scan scan = circle_scan(48, 64, 0);
    size_t resumed = 0;

    output = &mha;
    assert_true(s != MAP_FAILED);
    srand(seed_of());
    sharers = SIZE;
    scan.volume = (struct fbp_grid){{64, 64, SLICES}, {3, 3, 1.2}, {0, 0, 0}};
    simulate_head(&scan, 90);
    const double begun = seconds_now();
    finish(&scan, s, SIZE); /* there is nothing to resume */
    const double lasts = seconds_now() - begun;
    shell("mv v.mha shared.mha");
    for (int i = 0; i < KILLS_SHARING; i++) {
        kill_one(&scan, s, i % 5 == 0 ? -1 : 1.1 * lasts * rand() / RAND_MAX);
        shell("[ ! -e v.mha ] || cmp shared.mha v.mha");
        finish(&scan, s, SIZE);
        resumed += s->resumed > 0;
        shell("cmp shared.mha v.mha && [ $(ls v.mha*) = v.mha ] && rm v.mha");
    }
    print_message("%d kills, of which %zu left slabs that were not computed again\n", KILLS_SHARING,
                  resumed);
    assert_true(resumed > 0);
    shell("rm shared.mha");
    munmap(s, sizeof *s);
}

TEST(another_number_finishes_what_a_kill_left)
{
    kill_often(&mha, KILLS);
}

TEST(also_where_the_output_is_several_files)
{
    kill_often(&h5, KILLS / 2);
}

TEST_MAIN(begin, end)
