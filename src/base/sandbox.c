/* Runs a parser of another project (the HDF5 library) in a child process with limits on time and
 * memory, and returns its result to this process through a pipe (sandbox.h); unless the program has
 * enabled this by fbp_isolate_readers(), the parser runs in this process.
 * Used by: cli/, array/format/, pipeline/, scan/format/. */
#include "base/sandbox.h"

#include "base/system.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#    include <sys/prctl.h>
#endif

/* Header of a child's answer in the pipe to its parent; error message and result follow. */
struct head {
    fbp_status status;
    size_t n_message, n_reply;
    uint64_t resident; /* resident set of the child at its start [bytes] */
};

static bool isolated;

static _Thread_local uint64_t most_bytes; /* see fbp_sandbox_bytes() */

void fbp_isolate_readers(bool isolate)
{
    isolated = isolate;
}

uint64_t fbp_sandbox_bytes(void)
{
    return most_bytes;
}

void fbp_sandbox_forget(void)
{
    most_bytes = 0;
}

void fbp_sandbox_note(uint64_t bytes)
{
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
}

fbp_status fbp_blob_put(struct fbp_blob *blob, const void *data, size_t n)
{
    if (n > blob->room - blob->n) {
        const size_t room = 2 * (blob->n + n) + 256;
        unsigned char *more = room > blob->n ? realloc(blob->bytes, room) : NULL;
        if (!more)
            return fbp_fail_nomem(n, "a reply");
        blob->bytes = more;
        blob->room = room;
    }
    if (n)
        memcpy(blob->bytes + blob->n, data, n);
    blob->n += n;
    return FBP_OK;
}

bool fbp_blob_take(const struct fbp_blob *blob, size_t *at, void *out, size_t n)
{
    if (*at > blob->n || n > blob->n - *at)
        return false;
    if (n)
        memcpy(out, blob->bytes + *at, n);
    *at += n;
    return true;
}

static void put_all(int fd, const void *data, size_t n)
{
    for (const char *p = data; n > 0;) {
        const ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            _exit(1);
        p += put;
        n -= (size_t)put;
    }
}

static void limit(int what, uint64_t value)
{
    struct rlimit l;

    if (getrlimit((__rlimit_resource_t)what, &l) != 0)
        return;
    if (l.rlim_max == RLIM_INFINITY || value < l.rlim_max)
        l.rlim_cur = l.rlim_max = value;
    (void)!setrlimit((__rlimit_resource_t)what, &l);
}

static _Noreturn void run_in_child(int fd, const struct fbp_sandbox_limits *limits,
                                   fbp_sandbox_fn *fn, void *arg)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct fbp_blob reply = {0};
    char text[64] = "", *end = text;

    if (statm >= 0) {
        (void)!read(statm, text, sizeof text - 1);
        close(statm);
    }
    const uint64_t space = strtoull(text, &end, 10) * page;
    const uint64_t resident = strtoull(end, NULL, 10) * page;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL); /* the signal handlers of the program must not run */
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (uint64_t)limits->seconds + 1);
    if (space)
        limit(RLIMIT_AS, space + limits->memory_bytes);

    fbp_message_clear();
    const fbp_status st = fn(arg, &reply);
    const char *message = fbp_message();
    const struct head head = {st, strlen(message), st == FBP_OK ? reply.n : 0, resident};
    put_all(fd, &head, sizeof head);
    put_all(fd, message, head.n_message);
    put_all(fd, reply.bytes, head.n_reply);
    _exit(0);
}

/* Start a child process that runs fn(arg); *fd: end of a pipe from which this process reads the
 * child's answer (struct head, error message, result). */
static fbp_status start_child(const char *path, const struct fbp_sandbox_limits *limits,
                              fbp_sandbox_fn *fn, void *arg, pid_t *child, int *fd)
{
    /* Held until this process has closed the writing end of the pipe: a child that another thread
     * starts in between would inherit that end and keep the pipe open. */
    static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
    int ends[2], error;

    pthread_mutex_lock(&starting);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error = errno;
        pthread_mutex_unlock(&starting);
        return fbp_fail(FBP_ERR_IO,
                        "%s: cannot create a pipe for a child process: %s; close other programs, "
                        "or raise the limit of open files (ulimit -n)",
                        path, strerror(error));
    }
    *child = fork();
    if (*child == 0) {
        close(ends[0]);
        run_in_child(ends[1], limits, fn, arg);
    }
    error = errno;
    close(ends[1]);
    pthread_mutex_unlock(&starting);
    *fd = ends[0];
    if (*child > 0)
        return FBP_OK;
    close(ends[0]);
    return fbp_fail(error == ENOMEM ? FBP_ERR_NOMEM : FBP_ERR_IO,
                    "%s: cannot start the child process that reads the file: %s; close other "
                    "programs, or raise the limit of processes (ulimit -u)",
                    path, strerror(error));
}

/* Read the child's answer from the pipe `fd` to its end, for at most `seconds`. */
static fbp_status collect(const char *path, const char *library, int fd, double seconds,
                          struct fbp_blob *all)
{
    static const size_t MAX_REPLY = (size_t)1 << 30;
    const double end = fbp_seconds() + seconds;
    char piece[1 << 13];

    for (;;) {
        const double left = end - fbp_seconds();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const int ready = left > 0 ? poll(&p, 1, left < 0.1 ? (int)(left * 1e3) + 1 : 100) : 0;
        if (fbp_stopped())
            return fbp_fail(FBP_ERR_CANCELLED, "%s: reading the file was interrupted", path);
        if ((ready < 0 && errno == EINTR) || (ready == 0 && left > 0.1))
            continue;
        if (ready <= 0)
            return FBP_INVALID(
                "%s: %s did not finish reading the file within %.0f s, because the disk is slow or "
                "busy, or the file is damaged; try again with a copy on a fast disk",
                path, library, seconds);
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fbp_fail(
                FBP_ERR_IO,
                "%s: the result of %s could not be read from its child process: %s; try again",
                path, library, strerror(errno));
        if (n == 0)
            return FBP_OK;
        if (all->n > MAX_REPLY)
            return FBP_INVALID(
                "%s: %s returned more than 1 GiB for the file, the limit; check whether "
                "the file is damaged",
                path, library);
        if (fbp_blob_put(all, piece, (size_t)n) != FBP_OK) {
            fbp_message_clear();
            return fbp_fail(FBP_ERR_NOMEM,
                            "%s: not enough memory for the data that %s finds in the file; close "
                            "other programs",
                            path, library);
        }
    }
}

fbp_status fbp_sandbox_run(const char *path, const char *library,
                           const struct fbp_sandbox_limits *given, fbp_sandbox_fn *fn, void *arg,
                           struct fbp_blob *reply)
{
    static const uint64_t LEAST_BYTES = (uint64_t)64 << 20; /* memory that a child needs for any
                                                               file */
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* HDF5 is not thread-safe */
    struct fbp_sandbox_limits limits = *given;
    struct fbp_blob all = {0};
    struct head head = {0};
    struct rusage usage = {0};
    int fd = -1, status = 0;
    size_t at = 0;
    pid_t child = 0;
    fbp_status st;

    if (!isolated) {
        pthread_mutex_lock(&one_at_a_time);
        st = fn(arg, reply);
        pthread_mutex_unlock(&one_at_a_time);
        if (st != FBP_OK) {
            free(reply->bytes);
            *reply = (struct fbp_blob){0};
        }
        return st;
    }

    /* Limit the child to the memory that is left below the limit of this process
     * (fbp_limit_memory()), or to half of it if the child copies its data (leaves_copy), but not to
     * less than LEAST_BYTES. */
    const uint64_t most = fbp_process_limit(), held = most ? fbp_resident_bytes() : 0;
    const uint64_t rest = most > held ? most - held : 0;
    uint64_t room = limits.leaves_copy ? rest / 2 : rest;
    room = room > LEAST_BYTES ? room : LEAST_BYTES;
    const bool reduced = most && limits.memory_bytes > room;
    if (reduced)
        limits.memory_bytes = room;

    FBP_TRY(start_child(path, &limits, fn, arg, &child, &fd));
    fbp_message_clear();
    st = collect(path, library, fd, limits.seconds, &all);
    close(fd);
    if (st != FBP_OK)
        kill(child, SIGKILL);
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;

    const bool has_head = fbp_blob_take(&all, &at, &head, sizeof head);
    if (has_head) { /* the child's answer is in memory twice while its result is copied to *reply */
        const uint64_t peak = (uint64_t)usage.ru_maxrss * 1024;
        const uint64_t more = peak > head.resident ? peak - head.resident : 0;
        fbp_sandbox_note(more + 2 * (uint64_t)all.n);
    }
    const int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool complete =
        has_head && head.n_message <= all.n - at && head.n_reply == all.n - at - head.n_message;
    if (st == FBP_OK && complete && head.status != FBP_OK)
        st = fbp_fail(head.status, "%.*s", (int)head.n_message, (const char *)all.bytes + at);
    else if (st == FBP_OK && complete)
        st = fbp_blob_put(reply, all.bytes + at + head.n_message, head.n_reply);
    else if (st == FBP_OK && (sig == SIGINT || sig == SIGTERM))
        st = fbp_fail(FBP_ERR_CANCELLED, "%s: reading the file was interrupted", path);
    else if (st == FBP_OK) /* not FBP_ERR_INVALID, because the file may be undamaged */
        st = fbp_fail(FBP_ERR_IO,
                      "%s: %s crashed while it read the file (%s), because the file is damaged or "
                      "memory was exhausted; copy it again, or close other programs",
                      path, library, sig ? strsignal(sig) : "it gave up");
    free(all.bytes);

    if (reduced && st != FBP_OK && st != FBP_ERR_CANCELLED) { /* the reduced memory limit may be the
                                                                 reason of the failure */
        char size[32], cause[1000];
        snprintf(cause, sizeof cause, "%s", fbp_message());
        fbp_message_clear();
        st = fbp_fail(st,
                      "%s (--memory left %s to inspect the file; raise it if the file is intact)",
                      cause, fbp_bytes_text(size, sizeof size, limits.memory_bytes));
    }
    return st;
}
