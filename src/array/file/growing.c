/*
 * Views of a file, or of a file each, that a scanner is still writing.  A thread of its own looks
 * how far they are: woken by inotify where the system tells of writes, and every two milliseconds
 * in any case, as it does not of those by other machines or through mapped memory.
 */
#include "array/file/growing.h"
#include "array/file/bytes.h"

#include "base/system.h"
#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 2, IDLE_MS = 20, MAX_HEADER = 1 << 16 };

struct fbp_follow {
    double timeout_s;
    pthread_t thread;
    pthread_mutex_t lock; /* all up to the message */
    pthread_cond_t changed;
    bool started, stop;
    size_t n_there;     /* views that are complete, from the first on */
    double alive;       /* when anything grew last */
    double looked;      /* when that was looked for last */
    double complete_at; /* when the last view was complete */
    fbp_status status;  /* why no more views will come, or why the next is not complete */
    char message[1000];
    uint64_t bytes; /* of the thread that looks: what was there last time */
    dev_t device;
    ino_t inode; /* 0: not seen yet */
    char *header;
};

bool fbp_source_grows(const fbp_source *src)
{
    return src->growing;
}

/* A source that grows because one below does has as many views as that. */
static fbp_source *followed(const fbp_source *src)
{
    while (!src->follow && src->growing && src->below)
        src = src->below;
    return (fbp_source *)src;
}

static uint64_t view_bytes(const fbp_source *src)
{
    return (uint64_t)src->info.n[0] * src->info.n[1] * fbp_type_size(src->info.type);
}

/* Are the samples in another file than that of the name? */
static bool is_beside(const fbp_source *src)
{
    return src->inputs.n > 1;
}

/* The header that was read, if it stands before the samples.  Bytes before headerless samples were
 * not read, and may change. */
static size_t header_bytes(const fbp_source *src)
{
    const bool has_one = !src->headerless && !is_beside(src);

    return has_one && src->offset <= MAX_HEADER ? (size_t)src->offset : 0;
}

static fbp_status changed(const fbp_source *src, const char *how)
{
    return fbp_fail(FBP_ERR_IO, "%s: was %s while it was followed: start again with the new file",
                    src->path, how);
}

/* The file must stay the one that was opened. */
static fbp_status check_name(fbp_source *src, struct fbp_follow *f, bool *missing)
{
    struct stat named, opened;

    *missing = false;
    if (stat(src->path, &named) != 0) {
        *missing = src->fd < 0 && errno == ENOENT;
        return *missing ? FBP_OK : changed(src, "removed");
    }
    if (src->fd < 0) {
        uint64_t size;
        FBP_TRY(fbp_open_file(src->path, &src->fd, &size));
    }
    if (f->inode == 0) {
        f->device = named.st_dev;
        f->inode = named.st_ino;
    }
    if (named.st_dev != f->device || named.st_ino != f->inode ||
        (!is_beside(src) && (fstat(src->fd, &opened) != 0 || opened.st_ino != named.st_ino)))
        return changed(src, "replaced by another file");
    return FBP_OK;
}

static fbp_status check_header(const fbp_source *src, const struct fbp_follow *f)
{
    const size_t n = header_bytes(src);
    char now[4096];

    for (size_t at = 0; at < n; at += sizeof now) {
        const size_t some = n - at < sizeof now ? n - at : sizeof now;
        FBP_TRY(fbp_read_at(src->fd, src->path, at, now, some));
        if (memcmp(now, (const char *)f->header + at, some) != 0)
            return changed(src, "given another header");
    }
    return FBP_OK;
}

/* A file that is enlarged first and filled later looks complete; its last view is a hole then. */
static fbp_status check_written(const fbp_source *src)
{
    const uint64_t end = src->offset + view_bytes(src) * src->info.n[2];
    const off_t data = lseek(src->fd, (off_t)(end - view_bytes(src)), SEEK_DATA);

    if (data >= 0 ? (uint64_t)data < end : errno != ENXIO)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: has its full size, but its last view was never written: a file that is "
                    "enlarged before it is written cannot be followed: append the views, or write "
                    "one file a view",
                    src->path);
}

static fbp_status look_at_file(fbp_source *src, struct fbp_follow *f, size_t *n_views,
                               uint64_t *bytes)
{
    const uint64_t view = view_bytes(src), end = src->offset + view * src->info.n[2];
    struct stat file;
    bool missing;

    *n_views = 0;
    *bytes = 0;
    FBP_TRY(check_name(src, f, &missing));
    if (missing)
        return FBP_OK;
    if (fstat(src->fd, &file) != 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot look at: %s", src->path, strerror(errno));
    *bytes = (uint64_t)file.st_size;
    if (*bytes < f->bytes)
        return fbp_fail(FBP_ERR_IO,
                        "%s: shrank from %llu to %llu bytes while it was followed: start again "
                        "with the new file",
                        src->path, (unsigned long long)f->bytes, (unsigned long long)*bytes);
    if (*bytes > end && src->headerless)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: grew to %llu bytes, but raw describes %llu: correct type, shape or "
                        "header_bytes",
                        src->path, (unsigned long long)*bytes, (unsigned long long)end);
    if (*bytes > src->offset)
        *n_views = (size_t)((*bytes - src->offset) / view);
    if (*n_views < src->info.n[2])
        return FBP_OK;
    *n_views = src->info.n[2];
    FBP_TRY(check_written(src));
    return check_header(src, f);
}

static fbp_status look(fbp_source *src, struct fbp_follow *f, bool again, size_t *n_views,
                       uint64_t *bytes)
{
    fbp_message_clear();
    return src->look ? src->look(src, again, n_views, bytes) : look_at_file(src, f, n_views, bytes);
}

/* What was found, to those who wait. */
static void publish(struct fbp_follow *f, const fbp_source *src, fbp_status st, size_t n_views,
                    uint64_t bytes)
{
    const double now = fbp_seconds();

    pthread_mutex_lock(&f->lock);
    f->status = st;
    snprintf(f->message, sizeof f->message, "%s", fbp_message());
    f->looked = now;
    if (st == FBP_OK && (n_views > f->n_there || bytes > f->bytes))
        f->alive = now;
    if (st == FBP_OK && n_views == src->info.n[2])
        f->complete_at = now;
    if (st != FBP_OK || n_views > f->n_there)
        pthread_cond_broadcast(&f->changed);
    if (st == FBP_OK) {
        f->n_there = n_views;
        f->bytes = bytes;
    }
    pthread_mutex_unlock(&f->lock);
}

/* A descriptor that tells of writes in the source's folder; -1 if the system does not, or if there
 * is no file: the views of a program's own functions. */
static int open_watch(const fbp_source *src)
{
    if (src->read_block && src->look && src->inputs.n == 0)
        return -1;
    char *folder = fbp_path_join(src->path, ".");
    int fd = folder ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1;

    if (fd >= 0 &&
        inotify_add_watch(fd, folder, IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
        close(fd);
        fd = -1;
    }
    free(folder);
    return fd;
}

/* Until something was written, or a moment has passed. */
static void wait_for_writes(int watch)
{
    struct pollfd p = {.fd = watch, .events = POLLIN};
    char events[4096];

    if (poll(&p, 1, LOOK_MS) > 0)
        while (read(watch, events, sizeof events) > 0)
            ;
}

static bool is_stopped(struct fbp_follow *f)
{
    pthread_mutex_lock(&f->lock);
    const bool stop = f->stop;
    pthread_mutex_unlock(&f->lock);
    return stop;
}

static void *keep_looking(void *arg)
{
    fbp_source *src = arg;
    struct fbp_follow *f = src->follow;
    const int watch = open_watch(src);
    size_t n_views = 0;
    uint64_t bytes = 0;

    while (n_views < src->info.n[2] && !is_stopped(f)) {
        const fbp_status st = look(src, f, false, &n_views, &bytes);
        publish(f, src, st, n_views, bytes);
        if (st != FBP_OK)
            break;
        if (n_views < src->info.n[2])
            wait_for_writes(watch);
    }
    if (watch >= 0)
        close(watch);
    return NULL;
}

static fbp_status start(fbp_source *src, struct fbp_follow *f)
{
    if (f->started)
        return FBP_OK;
    f->alive = f->looked = fbp_seconds();
    if (pthread_create(&f->thread, NULL, keep_looking, src) != 0)
        return fbp_fail(FBP_ERR_NOMEM, "threads: the system grants no more: close other programs");
    f->started = true;
    return FBP_OK;
}

/* Nothing came for too long. */
static fbp_status gave_up(const fbp_source *src, const struct fbp_follow *f)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: nothing came for %g s: %zu of %zu views are there%s%s: scan again, or "
                    "raise --follow-timeout if the scan may pause for so long",
                    src->path, f->timeout_s, f->n_there, src->info.n[2], f->message[0] ? "; " : "",
                    f->message);
}

static void wait_a_moment(struct fbp_follow *f)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += IDLE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&f->changed, &f->lock, &until);
}

/* Under the lock, but for `idle`. */
static fbp_status wait_for(fbp_source *src, struct fbp_follow *f, size_t n_views, fbp_idle_fn *idle,
                           void *user)
{
    FBP_TRY(start(src, f));
    while (f->n_there < n_views) {
        if (f->status != FBP_OK) {
            fbp_message_adopt(f->message);
            return f->status;
        }
        /* Counted between looks: a busy machine that does not get to look is no silent scanner. */
        if (f->timeout_s > 0 && f->looked - f->alive > f->timeout_s)
            return gave_up(src, f);
        wait_a_moment(f);
        const size_t n_there = f->n_there;
        if (!idle || n_there >= n_views)
            continue;
        pthread_mutex_unlock(&f->lock);
        const int stop = idle(user, n_there);
        pthread_mutex_lock(&f->lock);
        if (stop)
            return fbp_fail(FBP_ERR_CANCELLED, "cancelled");
    }
    return FBP_OK;
}

fbp_status fbp_source_await(fbp_source *src, size_t n_views, fbp_idle_fn *idle, void *user,
                            size_t *n_there)
{
    struct fbp_follow *f = (src = followed(src))->follow;
    fbp_status st = FBP_OK;

    if (n_there)
        *n_there = src->info.n[2];
    if (!f)
        return FBP_OK;
    pthread_mutex_lock(&f->lock);
    st = wait_for(src, f, n_views, idle, user);
    if (n_there)
        *n_there = f->n_there;
    pthread_mutex_unlock(&f->lock);
    return st;
}

double fbp_source_complete_at(const fbp_source *src)
{
    struct fbp_follow *f = followed(src)->follow;
    double at = 0;

    if (f) {
        pthread_mutex_lock(&f->lock);
        at = f->complete_at;
        pthread_mutex_unlock(&f->lock);
    }
    return at;
}

fbp_status fbp_source_unchanged(fbp_source *src)
{
    FBP_GIVEN(src);
    struct fbp_follow *f = src->follow;
    size_t n_views;
    uint64_t bytes;

    if (src->below)
        return fbp_source_unchanged(src->below);
    if (!f)
        return fbp_watch_check(&src->watch);
    FBP_TRY(fbp_source_await(src, src->info.n[2], NULL, NULL, NULL)); /* nobody else looks now */
    return look(src, f, true, &n_views, &bytes);
}

void fbp_follow_destroy(struct fbp_follow **follow)
{
    struct fbp_follow *f = *follow;

    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_mutex_unlock(&f->lock);
    if (f->started)
        pthread_join(f->thread, NULL);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f->header);
    free(f);
    *follow = NULL;
}

fbp_status fbp_follow_create(struct fbp_follow **out, const fbp_source *src, double timeout_s)
{
    const size_t n = header_bytes(src);
    struct fbp_follow *f = NULL;
    pthread_condattr_t attr;

    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "a source"));
    f->timeout_s = timeout_s;
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->changed, &attr);
    pthread_condattr_destroy(&attr);
    *out = f;
    FBP_TRY(fbp_calloc((void **)&f->header, n + 1, 1, "a header"));
    return n > 0 ? fbp_read_at(src->fd, src->path, 0, f->header, n) : FBP_OK;
}
