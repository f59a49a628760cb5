#include "base/contain.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What comes through the pipe first; then the message, then the bytes of the reply. */
struct head {
    fbp_status status;
    size_t n_message, n_reply;
};

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

/* Address space this process has now. */
static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    char text[64] = "";
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) > 0)
            pages = strtoull(text, NULL, 10);
        close(fd);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
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

static _Noreturn void be_child(int fd, const struct fbp_limits *limits, fbp_contained_fn *fn,
                               void *arg)
{
    static const int deaths[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    const uint64_t now = address_space();
    struct fbp_blob reply = {0};

    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        signal(deaths[i], SIG_DFL); /* the program's handlers are not for this */
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (uint64_t)limits->seconds + 1);
    if (now)
        limit(RLIMIT_AS, now + limits->memory_bytes);
    fbp_message_clear();
    const fbp_status st = fn(arg, &reply);
    const char *message = fbp_message();
    const struct head head = {st, strlen(message), st == FBP_OK ? reply.n : 0};
    put_all(fd, &head, sizeof head);
    put_all(fd, message, head.n_message);
    put_all(fd, reply.bytes, head.n_reply);
    _exit(0);
}

/* All that comes before the end; false after too long a time or too much. */
static bool collect(int fd, double seconds, struct fbp_blob *all)
{
    const double end = fbp_seconds() + seconds;
    char piece[1 << 16];

    for (;;) {
        const double left = end - fbp_seconds();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const int ready = left > 0 ? poll(&p, 1, (int)(left * 1e3) + 1) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (all->n > MAX_REPLY || fbp_blob_put(all, piece, (size_t)n) != FBP_OK)
            return false;
    }
}

static fbp_status died(const char *path, const char *library, bool in_time, int status,
                       const struct fbp_limits *limits)
{
    if (!in_time)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s was not done with it after %.0f s: the file is damaged, copy it "
                        "again",
                        path, library, limits->seconds);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s failed inside (%s): the file is damaged, copy it again", path, library,
                    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it gave up");
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

fbp_status fbp_contain(const char *path, const char *library, const struct fbp_limits *limits,
                       fbp_contained_fn *fn, void *arg, struct fbp_blob *reply)
{
    struct fbp_blob all = {0};
    int ends[2], status = 0;
    bool whole = false;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return fbp_fail(FBP_ERR_IO, "%s: no pipe for a child process: %s", path, strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(ends[1], limits, fn, arg);
    }
    const int error = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return fbp_fail(FBP_ERR_IO, "%s: no child process to read it in: %s", path,
                        strerror(error));
    }
    const bool in_time = collect(ends[0], limits->seconds, &all);
    close(ends[0]);
    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    fbp_status st = in_time ? unpack(&all, &whole, reply) : FBP_OK;
    if (!whole)
        st = died(path, library, in_time, status, limits);
    free(all.bytes);
    return st;
}
