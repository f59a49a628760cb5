/* Input files that change while they are read. With `--follow`, a thread counts the complete views
 * of a scan that is still being measured, and fbp_source_await() waits for them. Otherwise, inode,
 * size and time of each input file are recorded at opening and compared at the end: a file that
 * changed is an error. The thread examines a growing source every two milliseconds, because the
 * system does not report writes by other machines or through mapped memory.
 * Used by: bench/, cli/, array/, picture/, pipeline/, prep/, scan/. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/system.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 2, IDLE_MS = 20, MAX_HEADER = 1 << 16 };

struct fbp_follow {
    double timeout_s;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members from `started` to `message` */
    pthread_cond_t changed;
    bool started, stop;
    /* number of complete views, counted from the first view to the first incomplete one */
    size_t n_there;
    double alive;       /* time when a file last grew [s] */
    double looked;      /* time of the last examination [s] */
    double complete_at; /* time when the last view was complete [s]; 0: not yet */
    /* status of the last examination of the files; a failure ends the wait for views */
    fbp_status status;
    char message[1000];
    /* Members that the examining thread uses. bytes: size of all files at the last examination;
     * device, inode: identity of a single file; header: its header at the start. */
    uint64_t bytes;
    dev_t device;
    ino_t inode; /* 0: not examined yet */
    char *header;
};

bool fbp_source_grows(const fbp_source *src)
{
    return src->growing;
}

/* Find the source whose files grow: `src`, or a source that it reads from (`below`). */
static fbp_source *followed(const fbp_source *src)
{
    while (!src->follow && src->growing && src->below)
        src = src->below;
    return (fbp_source *)src;
}

/* Number of header bytes before the samples in the file of a growing source; when the scan is
 * complete, they must be the same as at its start. 0: they are not compared, because the source has
 * several files, or its file has no header or one larger than MAX_HEADER. */
static size_t header_bytes(const fbp_source *src)
{
    const bool has_one = !src->headerless && src->inputs.n <= 1;

    return has_one && src->offset <= MAX_HEADER ? (size_t)src->offset : 0;
}

static fbp_status changed(const fbp_source *src, const char *how)
{
    return fbp_fail(
        FBP_ERR_IO,
        "%s: was %s while --follow was reading it; start again when the scan is complete",
        src->path, how);
}

/* Count the complete views in a file that is still being written. It is an error if the file was
 * replaced by another one or removed. */
static fbp_status look_at_file(fbp_source *src, struct fbp_follow *f, size_t *n_views,
                               uint64_t *bytes)
{
    const uint64_t view = (uint64_t)src->info.n[0] * src->info.n[1] * fbp_type_size(src->info.type);
    const uint64_t end = src->offset + view * src->info.n[2];
    const size_t n_header = header_bytes(src);
    struct stat named, file;
    char now[4096];

    *n_views = 0;
    *bytes = 0;
    if (stat(src->path, &named) != 0)
        return src->fd < 0 && errno == ENOENT ? FBP_OK : changed(src, "removed");
    if (src->fd < 0) {
        uint64_t size;
        FBP_TRY(fbp_open_file(src->path, &src->fd, &size));
    }
    if (f->inode == 0) {
        f->device = named.st_dev;
        f->inode = named.st_ino;
    }
    if (named.st_dev != f->device || named.st_ino != f->inode ||
        (src->inputs.n <= 1 && (fstat(src->fd, &file) != 0 || file.st_ino != named.st_ino)))
        return changed(src, "replaced by another file");

    if (fstat(src->fd, &file) != 0)
        return fbp_fail_status(src->path);
    *bytes = (uint64_t)file.st_size;
    if (*bytes < f->bytes)
        return fbp_fail(FBP_ERR_IO,
                        "%s: shrank from %llu to %llu bytes while --follow was reading it; start "
                        "again when the scan is complete",
                        src->path, (unsigned long long)f->bytes, (unsigned long long)*bytes);
    if (*bytes > end && src->headerless)
        return FBP_INVALID("%s: grew to %llu bytes, but \"raw\" in the scan file describes %llu; "
                           "correct type, shape or header_bytes there",
                           src->path, (unsigned long long)*bytes, (unsigned long long)end);
    if (*bytes > src->offset)
        *n_views = (size_t)((*bytes - src->offset) / view);
    if (*n_views < src->info.n[2])
        return FBP_OK;

    /* Refuse a file of full size with a hole in place of the last view. */
    *n_views = src->info.n[2];
    const off_t data = lseek(src->fd, (off_t)(end - view), SEEK_DATA);
    if (data >= 0 ? (uint64_t)data >= end : errno == ENXIO)
        return fbp_fail(
            FBP_ERR_IO,
            "%s: has its full size, but its last view is missing; --follow needs a file that grows "
            "view by view, so append the views, or write one file per view",
            src->path);
    for (size_t at = 0; at < n_header; at += sizeof now) {
        const size_t some = n_header - at < sizeof now ? n_header - at : sizeof now;
        FBP_TRY(fbp_read_at(src->fd, src->path, at, now, some));
        if (memcmp(now, (const char *)f->header + at, some) != 0)
            return changed(src, "given a different header");
    }
    return FBP_OK;
}

static fbp_status look(fbp_source *src, struct fbp_follow *f, bool again, size_t *n_views,
                       uint64_t *bytes)
{
    fbp_message_clear();
    return src->look ? src->look(src, again, n_views, bytes) : look_at_file(src, f, n_views, bytes);
}

/* Thread function: examines growing files, and wakes threads that wait in fbp_source_await(). */
static void *keep_looking(void *arg)
{
    fbp_source *src = arg;
    struct fbp_follow *f = src->follow;
    static const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    size_t n_views = 0;
    uint64_t bytes = 0;

    while (n_views < src->info.n[2]) {
        pthread_mutex_lock(&f->lock);
        const bool stop = f->stop;
        pthread_mutex_unlock(&f->lock);
        if (stop)
            break;

        const fbp_status st = look(src, f, false, &n_views, &bytes);
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
        if (st != FBP_OK)
            break;

        if (n_views < src->info.n[2])
            nanosleep(&pause, NULL);
    }
    return NULL;
}

fbp_status fbp_source_await(fbp_source *src, size_t n_views, fbp_idle_fn *idle, void *user,
                            size_t *n_there)
{
    struct fbp_follow *f = (src = followed(src))->follow;
    struct timespec until;
    fbp_status st = FBP_OK;

    if (n_there)
        *n_there = src->info.n[2];
    if (!f)
        return FBP_OK;
    pthread_mutex_lock(&f->lock);
    if (!f->started) {
        f->alive = f->looked = fbp_seconds();
        f->started = pthread_create(&f->thread, NULL, keep_looking, src) == 0;
        if (!f->started)
            st = fbp_fail(FBP_ERR_NOMEM,
                          "threads: the system cannot start another thread; close other programs");
    }
    while (st == FBP_OK && f->n_there < n_views) {
        if (f->status != FBP_OK) {
            fbp_message_adopt(f->message);
            st = f->status;
        } else if (f->timeout_s > 0 && f->looked - f->alive > f->timeout_s) {
            /* The time without new data is measured up to the last examination, because on a busy
             * machine the examining thread may be late. */
            st = fbp_fail(FBP_ERR_IO,
                          "%s: no new view for %g s; %zu of %zu views have arrived%s%s; repeat the "
                          "scan, or raise --follow-timeout if the scan may pause for so long",
                          src->path, f->timeout_s, f->n_there, src->info.n[2],
                          f->message[0] ? "; " : "", f->message);
        } else {
            clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += IDLE_MS * 1000000L;
            until.tv_sec += until.tv_nsec / 1000000000L;
            until.tv_nsec %= 1000000000L;
            pthread_cond_timedwait(&f->changed, &f->lock, &until);
            const size_t there = f->n_there;
            if (!idle || there >= n_views)
                continue;
            pthread_mutex_unlock(&f->lock);
            if (idle(user, there))
                st = fbp_fail(FBP_ERR_CANCELLED, "cancelled");
            pthread_mutex_lock(&f->lock);
        }
    }
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
    FBP_REQUIRE(src);
    struct fbp_follow *f = src->follow;
    size_t n_views;
    uint64_t bytes;

    if (src->below)
        return fbp_source_unchanged(src->below);
    if (!f)
        return fbp_file_states_check(&src->watch);
    FBP_TRY(fbp_source_await(src, src->info.n[2], NULL, NULL, NULL)); /* the thread has ended */
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

/* ---- input files that must not change while a reconstruction reads them */

struct fbp_watched {
    char *path;
    struct stat was;
};

bool fbp_file_states_add(void *user, const char *file)
{
    struct fbp_file_states *w = user;
    struct stat was;
    bool there = false;

    w->status = fbp_stat(file, &was, &there);
    if (!there) /* a missing file is reported by the function that opens it */
        return false;
    w->status =
        fbp_reserve((void **)&w->files, sizeof *w->files, w->n + 1, &w->room, "names of files");
    char *path = w->status == FBP_OK ? fbp_strdup(file) : NULL;
    if (!path) {
        w->status = fbp_fail_nomem(strlen(file), "a path");
        return false;
    }
    w->files[w->n++] = (struct fbp_watched){path, was};
    return true;
}

fbp_status fbp_file_states_check(const struct fbp_file_states *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        const struct fbp_watched *f = &watch->files[i];
        const char *how = NULL;
        struct stat is;
        bool there;
        FBP_TRY(fbp_stat(f->path, &is, &there));
        if (!there)
            how = "was removed";
        else if (is.st_dev != f->was.st_dev || is.st_ino != f->was.st_ino)
            how = "was replaced";
        else if (is.st_size != f->was.st_size)
            how = "changed its size";
        else if (is.st_mtim.tv_sec != f->was.st_mtim.tv_sec ||
                 is.st_mtim.tv_nsec != f->was.st_mtim.tv_nsec)
            how = "was written to";
        if (how)
            return fbp_fail(FBP_ERR_IO,
                            "%s: %s while it was read, so the result was discarded; start again "
                            "when no program writes to the file",
                            f->path, how);
    }
    return FBP_OK;
}

void fbp_file_states_clear(struct fbp_file_states *watch)
{
    for (size_t i = 0; i < watch->n; i++)
        free(watch->files[i].path);
    free(watch->files);
    *watch = (struct fbp_file_states){0};
}
