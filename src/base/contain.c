#include "base/contain.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What comes through the pipe first; then the message, then the bytes of the reply. */
struct head {
    fbp_status status;
    size_t n_message, n_reply;
    uint64_t resident; /* of the child when it began */
};

/* Held from a pipe's making until the end that the child writes to is closed here: another thread's
 * child made in between would keep it open, and the reply would seem not to end. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static bool isolated;

static _Thread_local uint64_t most_bytes; /* of a child and its reply, beside this process */

enum outcome { ENDED, TOO_LATE, TOO_MUCH, NO_MEMORY, STOPPED, UNREAD };

static const uint64_t LEAST_BYTES = (uint64_t)64 << 20; /* of a child */
static const size_t MAX_REPLY = (size_t)1 << 30;

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

/* Address space and resident set that this process has now. */
static void look_at_self(uint64_t *space, uint64_t *resident)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char text[64] = "", *end = text;
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!read(fd, text, sizeof text - 1);
        close(fd);
    }
    *space = strtoull(text, &end, 10) * page;
    *resident = strtoull(end, NULL, 10) * page;
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

static _Noreturn void be_child(int fd, const struct fbp_child_limits *limits, fbp_contained_fn *fn,
                               void *arg)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct fbp_blob reply = {0};
    uint64_t now, resident;

    look_at_self(&now, &resident);

    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        signal(deaths[i], SIG_DFL); /* the program's handlers are not for this */
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read what it finds */
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (uint64_t)limits->seconds + 1);
    if (now)
        limit(RLIMIT_AS, now + limits->memory_bytes);
    fbp_message_clear();
    const fbp_status st = fn(arg, &reply);
    const char *message = fbp_message();
    const struct head head = {st, strlen(message), st == FBP_OK ? reply.n : 0, resident};
    put_all(fd, &head, sizeof head);
    put_all(fd, message, head.n_message);
    put_all(fd, reply.bytes, head.n_reply);
    _exit(0);
}

/* All that comes before the end, if it comes in time and is not too much to hold. */
static enum outcome collect(int fd, double seconds, struct fbp_blob *all)
{
    const double end = fbp_seconds() + seconds;
    char piece[1 << 13];

    for (;;) {
        const double left = end - fbp_seconds();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const int ready = left > 0 ? poll(&p, 1, left < 0.1 ? (int)(left * 1e3) + 1 : 100) : 0;
        if (fbp_stopped())
            return STOPPED;
        if ((ready < 0 && errno == EINTR) || (ready == 0 && left > 0.1))
            continue;
        if (ready <= 0)
            return TOO_LATE;
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? UNREAD : ENDED; /* with errno */
        if (all->n > MAX_REPLY)
            return TOO_MUCH;
        if (fbp_blob_put(all, piece, (size_t)n) != FBP_OK)
            return NO_MEMORY;
    }
}

static fbp_status died(const char *path, const char *library, enum outcome outcome, int status,
                       const struct fbp_child_limits *limits)
{
    const int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (outcome == NO_MEMORY)
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: there is not enough memory for what %s finds in it: close other "
                        "programs",
                        path, library);
    if (outcome == TOO_MUCH)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s finds more in it than can be held: the file is damaged, or too "
                        "large for this machine",
                        path, library);
    if (outcome == STOPPED || (outcome == ENDED && (sig == SIGINT || sig == SIGTERM)))
        return fbp_fail(FBP_ERR_CANCELLED, "%s: reading it was interrupted", path);
    if (outcome == TOO_LATE)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s was not done with it after %.0f s: the disk is slow or busy, or "
                        "the file is damaged: try again with a copy of it on a fast disk",
                        path, library, limits->seconds);
    /* Nobody knows what it would have found. */
    return fbp_fail(FBP_ERR_IO,
                    "%s: %s failed inside (%s): the file is damaged, or there was not enough "
                    "memory: copy it again, or close other programs",
                    path, library, sig ? strsignal(sig) : "it gave up");
}

uint64_t fbp_contained_bytes(void)
{
    return most_bytes;
}

void fbp_contained_forget(void)
{
    most_bytes = 0;
}

void fbp_contained_note(uint64_t bytes)
{
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
}

/* A child that is done: what it held more than when it began, and what it sent, twice while that is
 * unpacked. */
static void note_bytes(const struct fbp_blob *all, const struct rusage *usage)
{
    const uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;
    struct head head;
    size_t at = 0;

    if (!fbp_blob_take(all, &at, &head, sizeof head))
        return;
    const uint64_t more = peak > head.resident ? peak - head.resident : 0;
    fbp_contained_note(more + 2 * (uint64_t)all->n);
}

/* Head, message and reply out of what came. */
static fbp_status unpack(const struct fbp_blob *all, bool *whole, struct fbp_blob *reply)
{
    struct head head;
    size_t at = 0;

    *whole = fbp_blob_take(all, &at, &head, sizeof head) && head.n_message <= all->n - at &&
             head.n_reply == all->n - at - head.n_message;
    if (!*whole)
        return FBP_OK;
    const char *message = (const char *)all->bytes + at;
    if (head.status != FBP_OK)
        return fbp_fail(head.status, "%.*s", (int)head.n_message, message);
    return fbp_blob_put(reply, all->bytes + at + head.n_message, head.n_reply);
}

/* A child that runs fn, and the end of a pipe where its reply comes. */
static fbp_status make_child(const char *path, const struct fbp_child_limits *limits,
                             fbp_contained_fn *fn, void *arg, pid_t *child, int *fd)
{
    int ends[2], error;

    pthread_mutex_lock(&making);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error = errno;
        pthread_mutex_unlock(&making);
        return fbp_fail(FBP_ERR_IO,
                        "%s: no pipe for a child process: %s: close other programs, or "
                        "raise the number of open files (ulimit -n)",
                        path, strerror(error));
    }
    *child = fork();
    if (*child == 0) {
        close(ends[0]);
        be_child(ends[1], limits, fn, arg);
    }
    error = errno;
    close(ends[1]);
    pthread_mutex_unlock(&making);
    *fd = ends[0];
    if (*child > 0)
        return FBP_OK;
    close(ends[0]);
    return fbp_fail(
        error == ENOMEM ? FBP_ERR_NOMEM : FBP_ERR_IO,
        "%s: no child process to read it in: %s: close other programs, or raise the number "
        "of processes (ulimit -u)",
        path, strerror(error));
}

void fbp_isolate_readers(bool isolate)
{
    isolated = isolate;
}

static fbp_status run_here(fbp_contained_fn *fn, void *arg, struct fbp_blob *reply)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* as libraries want it */

    pthread_mutex_lock(&one_at_a_time);
    const fbp_status st = fn(arg, reply);
    pthread_mutex_unlock(&one_at_a_time);
    if (st != FBP_OK) {
        free(reply->bytes);
        *reply = (struct fbp_blob){0};
    }
    return st;
}

/* What is left of the process's limit, if that is less: some is needed even for a small file. */
static bool cut(struct fbp_child_limits *own)
{
    const uint64_t limit = fbp_process_limit(), held = limit ? fbp_resident_bytes() : 0;
    const uint64_t free = limit > held ? limit - held : 0,
                   left = own->leaves_copy ? free / 2 : free;
    const uint64_t room = left > LEAST_BYTES ? left : LEAST_BYTES;

    if (!limit || own->memory_bytes <= room)
        return false;
    own->memory_bytes = room;
    return true;
}

/* It may have failed only as it could not have more memory. */
static fbp_status tell_limit(fbp_status st, uint64_t bytes)
{
    char room[32], why[1000];

    if (st == FBP_OK || st == FBP_ERR_CANCELLED)
        return st;
    snprintf(why, sizeof why, "%s", fbp_message());
    fbp_message_clear();
    return fbp_fail(st, "%s (--memory left %s for looking at it: if the file is whole, raise it)",
                    why, fbp_bytes_text(room, sizeof room, bytes));
}

fbp_status fbp_contain(const char *path, const char *library, const struct fbp_child_limits *given,
                       fbp_contained_fn *fn, void *arg, struct fbp_blob *reply)
{
    struct fbp_child_limits own = *given;
    const struct fbp_child_limits *const limits = &own;
    struct fbp_blob all = {0};
    int fd = -1, status = 0;
    struct rusage usage = {0};
    bool whole = false;
    pid_t child = 0;

    if (!isolated)
        return run_here(fn, arg, reply);
    const bool less = cut(&own);
    FBP_TRY(make_child(path, limits, fn, arg, &child, &fd));
    const enum outcome outcome = collect(fd, limits->seconds, &all);
    const int error = errno;
    close(fd);
    if (outcome != ENDED)
        kill(child, SIGKILL);
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    note_bytes(&all, &usage);
    fbp_message_clear(); /* of a reply that could not be held */
    fbp_status st = outcome == ENDED ? unpack(&all, &whole, reply) : FBP_OK;
    if (outcome == UNREAD)
        st = fbp_fail(FBP_ERR_IO, "%s: what %s finds in it cannot be read: %s", path, library,
                      strerror(error));
    else if (!whole)
        st = died(path, library, outcome, status, limits);
    free(all.bytes);
    return less ? tell_limit(st, own.memory_bytes) : st;
}
