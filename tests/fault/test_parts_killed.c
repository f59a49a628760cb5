/* Parts of a volume whose processes are killed: at every call that changes a file, publishing among
 * them, and at random moments of a reconstruction.  Whatever is left, under the final name is
 * nothing or all of it, parts of another number finish it with the same bytes, and little is done
 * twice. */
#include "recon/fixture.h"

#include "array/array.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Calls until this process is killed, but for those of its children; 0: it is not. */
static long calls_left;
static pid_t counted;

static void count_call(void)
{
    if (calls_left > 0 && getpid() == counted && --calls_left == 0)
        raise(SIGKILL);
}

/* In place of the C library's, for the library that is linked into this program. */
ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    count_call();
    return syscall(SYS_pwrite64, fd, data, n, at);
}
ssize_t write(int fd, const void *data, size_t n)
{
    count_call();
    return syscall(SYS_write, fd, data, n);
}
int fsync(int fd)
{
    count_call();
    return (int)syscall(SYS_fsync, fd);
}
int rename(const char *from, const char *to)
{
    count_call();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(const char *path)
{
    count_call();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
int unlinkat(int folder, const char *path, int flags)
{
    count_call();
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}
int mkdir(const char *path, mode_t mode)
{
    count_call();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int rmdir(const char *path)
{
    count_call();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
int ftruncate(int fd, off_t n)
{
    count_call();
    return (int)syscall(SYS_ftruncate, fd, n);
}
int fallocate(int fd, int mode, off_t at, off_t n)
{
    count_call();
    return (int)syscall(SYS_fallocate, fd, mode, at, n);
}

enum { NX = 37, NY = 41, NZ = 6, SLICE = NX * NY };

static float values[NZ * SLICE];

static int begin(void **state)
{
    for (size_t i = 0; i < NZ * SLICE; i++)
        values[i] = 0.5f + 0.5f * sinf((float)i);
    AUTO_FREE char *folder = temporary("killed");
    return mkdir(folder, 0777) || chdir(folder);
}

static int end(void **state)
{
    AUTO_FREE char *folder = temporary("killed");
    return chdir("..") || rmdir(folder);
}

static const struct fbp_array_info volume_info = {
    .struct_size = sizeof volume_info, .n = {NX, NY, NZ}, .type = FBP_F32};
static bool is_of(size_t z, size_t p, size_t n)
{
    return z * n / NZ == p - 1;
}

static fbp_status write_part(const char *path, size_t p, size_t n)
{
    const struct fbp_sink_params params = {.struct_size = sizeof params, .fingerprint = 7};
    unsigned char mine[NZ];
    fbp_sink *s = NULL;

    for (size_t z = 0; z < NZ; z++)
        mine[z] = is_of(z, p, n);
    fbp_status st =
        fbp_sink_open_shared(&s, path, &volume_info, &params,
                             &(struct fbp_sink_share){.part = p, .n_parts = n, .mine = mine});
    for (size_t z = 0; z < NZ && st == FBP_OK; z++)
        if (mine[z] && !fbp_sink_has(s, z, 1))
            st = fbp_sink_write(s, z, 1, FBP_F32, values + z * SLICE);
    if (st == FBP_OK)
        st = fbp_sink_finish(s);
    fbp_sink_close(&s);
    return st;
}

/* A child that is killed at call `call`; false: it has finished before. */
static bool kill_part(const char *path, size_t p, size_t n, long call)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        counted = getpid();
        calls_left = call;
        _exit(write_part(path, p, n) == FBP_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void write_whole(const char *path, uint64_t fingerprint, const float *v)
{
    const struct fbp_sink_params params = {.struct_size = sizeof params,
                                           .fingerprint = fingerprint};

    CLEANUP(fbp_sink_close) fbp_sink *s = create_sink(path, &volume_info, &params);
    OK(fbp_sink_write(s, 0, NZ, FBP_F32, v));
    OK(fbp_sink_finish(s));
}

static void shell(const char *line)
{
    if (system(line) != 0)
        fail_msg("%s", line);
}

struct output {
    const char *path, *look;
};

/* Killed at each call of its life; another process finds what is left. */
static void kill_everywhere(const struct output *o, size_t p, size_t n, size_t others)
{
    long call = 1;
    bool killed = true;

    shell("rm -rf one && mkdir one");
    assert_int_equal(chdir("one"), 0);
    if (strchr(o->path, '/'))
        shell("mkdir -p s");
    write_whole(o->path, 7, values);
    assert_int_equal(chdir(".."), 0);
    for (; killed; call++) {
        shell("rm -rf got && mkdir got");
        assert_int_equal(chdir("got"), 0);
        for (size_t k = 1; k <= n; k++)
            if (k != p)
                OK(write_part(o->path, k, n));
        killed = kill_part(o->path, p, n, call);
        /* Are all final names of an output there, or none, as `one` has them?  Samples without
         * their header are none, and a stack may have some of its names, as its journal says. */
        shell(o->look);
        for (size_t k = 1; k <= others && killed; k++)
            if (write_part(o->path, k, others) != FBP_OK)
                fail_msg("%s, killed at call %ld, part %zu of %zu: %s", o->path, call, k, others,
                         fbp_message());
        assert_int_equal(chdir(".."), 0);
        if (system("diff -r one got") != 0)
            fail_msg("%s, killed at call %ld of part %zu of %zu", o->path, call, p, n);
    }
    print_message("%s, part %zu of %zu: killed at each of %ld calls\n", o->path, p, n, call - 2);
    assert_true(call > 12);
    shell("rm -rf one got");
}

static const struct output outputs[] = {
    {"v.mha", "[ ! -e v.mha ] || cmp v.mha ../one/v.mha"},
    {"v.mhd", "[ ! -e v.mhd ] || [ ! -e v.raw ] || diff v.mhd ../one && cmp v.raw ../one/v.raw || "
              "[ ! -e v.raw ]"},
    {"v.ome.zarr", "[ ! -e v.ome.zarr ] || diff -r v.ome.zarr ../one/v.ome.zarr"},
    {"v.h5", "[ ! -e v.h5 ] || cmp v.h5 ../one/v.h5"},
    {"s/%03d.tif", "! ls s/*.tif >/dev/null 2>&1 || for f in s/*.tif; do cmp $f ../one/$f; done"},
};

/* The only one, the first of two, and the last, which publishes. */
TEST(a_part_is_killed_at_every_call)
{
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        kill_everywhere(&outputs[i], 1, 1, 1);
        kill_everywhere(&outputs[i], 3, 3, 1);
        kill_everywhere(&outputs[i], 2, 3, 2);
    }
}

/* What a reader sees in a file under its name. */
static void read_volume(const char *path, float *out)
{
    CLEANUP(fbp_source_close) fbp_source *s = open_source(path, NULL);
    OK(fbp_source_read(s, 0, NZ, 0, NY, FBP_F32, out));
}

static float old_values[NZ * SLICE];

/* The new one is there, or the old one. */
static bool look_at_volume(void)
{
    static float got[NZ * SLICE];

    read_volume("v.h5", got);
    const bool is_new = memcmp(got, values, sizeof got) == 0;
    assert_true(is_new || memcmp(got, old_values, sizeof got) == 0);
    return is_new;
}

/* One process, or the last of two parts, replaces a volume and is killed; false: it has finished.
 */
static bool replace_and_kill(bool alone, long call)
{
    if (!alone)
        OK(write_part("v.h5", 1, 2));
    const pid_t child = alone ? fork() : -1;
    int status;

    if (child < 0)
        return kill_part("v.h5", 2, 2, call);
    if (child == 0) {
        counted = getpid();
        calls_left = call;
        write_whole("v.h5", 7, values);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

/* A volume replaces another: at every moment there is the one or the other, whole;
 * and in the end nothing is left of the old one. */
static void replace_everywhere(bool alone)
{
    size_t n_old = 0, n_new = 0;
    bool killed = true;
    long call = 1;

    for (; killed; call++) {
        shell("rm -rf got && mkdir got");
        assert_int_equal(chdir("got"), 0);
        write_whole("v.h5", 8, old_values);
        killed = replace_and_kill(alone, call);
        const bool is_new = look_at_volume();
        n_new += is_new && killed;
        n_old += !is_new;
        if (killed && alone)
            write_whole("v.h5", 7, values);
        else if (killed && access("v.h5.part.log", F_OK) == 0)
            OK(write_part("v.h5", 1, 1));
        assert_true(look_at_volume());
        shell("[ $(ls) = v.h5 ]");
        assert_int_equal(chdir(".."), 0);
    }
    print_message("killed at each of %ld calls: the old one was there %zu times\n", call - 2,
                  n_old);
    assert_true(n_old > 5 && n_new > 0);
    shell("rm -rf got");
}

TEST(an_old_volume_is_replaced_at_once)
{
    for (size_t i = 0; i < NZ * SLICE; i++)
        old_values[i] = 1 - values[i];
    replace_everywhere(true);
    replace_everywhere(false);
}

enum { KILLS = 50, PARTS = 4 };

/* What a process says while it computes, for who kills it. */
struct shared {
    _Atomic uint64_t done, total;
};

static int note(void *user, const struct fbp_progress *p)
{
    struct shared *s = user;

    s->done = p->done;
    s->total = p->total;
    return 0;
}

static fbp_status run_part(const struct fbp_scan *scan, struct shared *s, const char *path,
                           size_t part, size_t n)
{
    const struct fbp_recon_params p =
        (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                  .device = "cpu",
                                  .n_threads = 1,
                                  .callbacks.progress = note,
                                  .callbacks.user = s,
                                  .cluster.part = part,
                                  .cluster.n_parts = n};
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
    fbp_status st = fbp_plan_create(&plan, scan, &p);

    s->done = s->total = 0; /* planning is no update */
    if (st == FBP_OK)
        st = fbp_plan_run(plan, path, NULL);
    return st;
}

/* Part of 4, killed after so long; the updates that it had done. */
static uint64_t kill_after(const struct fbp_scan *scan, struct shared *s, const char *path,
                           size_t part, double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    s->done = s->total = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(run_part(scan, s, path, part, PARTS) != FBP_OK);
    nanosleep(&time, NULL);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return s->done;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double part_of_one(void)
{
    return (double)rand() / RAND_MAX;
}

/* A part of four is killed at some moment after all others, and two others finish: the updates that
 * are done twice; -1: it was done before it was killed. */
static int64_t lost_by_a_kill(const struct fbp_scan *scan, struct shared *s, uint64_t all,
                              double lasts)
{
    const size_t victim = 1 + (size_t)rand() % PARTS;
    uint64_t done = 0;

    for (size_t k = 1; k <= PARTS; k++)
        if (k != victim) {
            OK(run_part(scan, s, "v.mha", k, PARTS));
            done += s->total;
        }
    done += kill_after(scan, s, "v.mha", victim, 1.2 * lasts * part_of_one());
    shell("[ ! -e v.mha ] || cmp one.mha v.mha");
    if (access("v.mha", F_OK) == 0 && access("v.mha.part.log", F_OK) != 0)
        return -1;
    for (size_t k = 1; k <= 2; k++) {
        OK(run_part(scan, s, "v.mha", k, 2));
        done += s->total;
    }
    return done > all ? (int64_t)(done - all) : 0;
}

TEST(at_random_moments_little_is_lost)
{
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *given = getenv("FBP_SEED");
    const unsigned seed = given ? (unsigned)atoi(given) : (unsigned)time(NULL);
    AUTO_DROP struct fbp_scan scan = circle_scan(48, 64, 0);
    int64_t most = 0, sum = 0;

    assert_true(s != MAP_FAILED);
    print_message("seed %u\n", seed);
    srand(seed);
    scan.volume = (struct fbp_grid){{64, 64, 160}, {3, 3, 1.2}, {0, 0, 0}};
    simulate_head(&scan, 90);
    const double start = seconds_now();
    OK(run_part(&scan, s, "one.mha", 1, 1));
    const double lasts = (seconds_now() - start) / PARTS;
    const uint64_t all = s->total;
    int kills = 0;
    for (int i = 0; i < 4 * KILLS && kills < KILLS; i++) {
        const int64_t twice = lost_by_a_kill(&scan, s, all, lasts);
        most = twice > most ? twice : most;
        sum += twice > 0 ? twice : 0;
        kills += twice >= 0;
        shell("cmp one.mha v.mha && [ $(ls v.mha*) = v.mha ] && rm v.mha");
    }
    print_message("%d kills: %.2f %% of the work of a volume is done twice at most, %.2f %% on "
                  "average\n",
                  kills, 100.0 * (double)most / (double)all,
                  100.0 * (double)sum / (double)all / kills);
    assert_int_equal(kills, KILLS);
    assert_true(20 * (uint64_t)most <= all); /* a slab: here exactly a 20th of the volume */
    shell("rm one.mha");
    munmap(s, sizeof *s);
}

TEST_MAIN(begin, end)
