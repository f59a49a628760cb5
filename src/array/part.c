#include "array/part.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/stack_names.h"

#include "base/system.h"
#include "base/base.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

static const char journal[] = "fbp-journal ";

static bool note(void *user, const char *file)
{
    struct fbp_part_inputs *in = user;
    bool there = false;

    if (in->n == in->room) {
        const size_t room = in->room ? 2 * in->room : 64;
        struct stat *more = realloc(in->is, room * sizeof *more);
        if (!more) {
            in->status = fbp_fail_nomem(room * sizeof *more, "a table of input files");
            return false;
        }
        in->is = more;
        in->room = room;
    }
    in->status = fbp_stat(file, &in->is[in->n], &there);
    in->n += there;
    return in->status == FBP_OK;
}

fbp_status fbp_part_inputs_open(struct fbp_part_inputs *out, const struct fbp_sink_params *params)
{
    *out = (struct fbp_part_inputs){.params = params};
    for (size_t i = 0; i < params->n_keep && out->status == FBP_OK; i++)
        if (params->keep[i])
            FBP_TRY(fbp_stack_each(params->keep[i], note, out));
    return out->status;
}

void fbp_part_inputs_close(struct fbp_part_inputs *in)
{
    free(in->is);
    *in = (struct fbp_part_inputs){0};
}

static bool is_input(const struct fbp_part_inputs *in, const struct stat *file)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->is[i].st_dev == file->st_dev && in->is[i].st_ino == file->st_ino)
            return true;
    return false;
}

static fbp_status refuse_input(const char *path)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is read for this output, which needs that name while it is written: "
                    "choose another name for the output",
                    path);
}

fbp_status fbp_part_spare(const struct fbp_part_inputs *in, const char *path)
{
    struct stat st;
    bool there;

    for (size_t i = 0; i < in->params->n_keep; i++)
        if (in->params->keep[i] && strcmp(in->params->keep[i], path) == 0)
            return refuse_input(path);
    FBP_TRY(fbp_stat(path, &st, &there));
    return there && is_input(in, &st) ? refuse_input(path) : FBP_OK;
}

static fbp_status refuse(const char *path, const char *why)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is there and was not left by fbp (%s): move it away or remove it, or "
                    "choose another name for the output",
                    path, why);
}

/* What a file that fbp left cannot be; NULL: nothing speaks against it. */
static const char *strange(const struct stat *st)
{
    return S_ISLNK(st->st_mode)    ? "it is a link"
           : S_ISDIR(st->st_mode)  ? "it is a folder"
           : !S_ISREG(st->st_mode) ? "it is no regular file"
           : st->st_nlink > 1      ? "it has other names, too: a hard link"
                                   : NULL;
}

static fbp_status cannot(const char *what, const char *path)
{
    const int error = errno;

    return fbp_fail(FBP_ERR_IO, "%s: cannot %s: %s%s", path, what, strerror(error),
                    error == ENOENT ? ": create its folder first" : fbp_write_remedy(error));
}

static int open_retry(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Why an open without following links failed. */
static fbp_status cannot_open(const char *path)
{
    const int error = errno;
    struct stat st;

    if (lstat(path, &st) == 0 && strange(&st))
        return refuse(path, strange(&st));
    errno = error;
    return fbp_fail(FBP_ERR_IO, "%s: cannot open: %s%s", path, strerror(error),
                    error == EACCES || error == EPERM
                        ? ": another user left it: remove it, or choose another name"
                        : fbp_write_remedy(error));
}

/* Nothing but a journal begins like one; an empty file holds nothing that could be lost. */
static fbp_status check_journal(const struct fbp_part_inputs *in, int fd, const char *path,
                                bool *left, bool *made)
{
    char text[sizeof FBP_PART_LOCK] = "";
    struct stat st;

    if (fstat(fd, &st) < 0)
        return cannot("look at", path);
    if (strange(&st))
        return refuse(path, strange(&st));
    if (is_input(in, &st))
        return refuse_input(path);
    const size_t n = (uint64_t)st.st_size < sizeof text ? (size_t)st.st_size : sizeof text - 1;
    FBP_TRY(fbp_read_at(fd, path, 0, text, n));
    if (n > 0 && strncmp(text, journal, sizeof journal - 1) != 0)
        return refuse(path, "it is no journal");
    *left = n > 0 && strcmp(text, FBP_PART_LOCK) != 0; /* as much of it was read */
    *made |= !*left;
    return FBP_OK;
}

fbp_status fbp_part_find_named(int fd, const char *path, bool *named)
{
    struct stat a, b;

    *named = false;
    if (fstat(fd, &a) < 0)
        return cannot("look at", path);
    if (lstat(path, &b) < 0)
        return errno == ENOENT || errno == ENOTDIR ? FBP_OK : cannot("look at", path);
    *named = a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    return FBP_OK;
}

/* What is a turn of a few, not the lock of one: the head of an output of several processes, or not
 * even that yet. */
static bool is_turn(int fd)
{
    char text[sizeof FBP_PART_HEAD] = "";
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);

    return n == 0 || strcmp(text, FBP_PART_HEAD) == 0;
}

/* How a journal is locked. */
struct locking {
    bool create; /**< where there is none; else *fd is -1 then */
    bool wait;   /**< for others of the same output, not for one that has all of it */
    double until;
};

/* *named: the lock is ours, of the file that has this name.  Neither: try again. */
static fbp_status lock_opened(const struct fbp_part_inputs *in, int fd, const char *path,
                              const struct locking *how, bool *left, bool *made, bool *named)
{
    static const struct timespec moment = {.tv_nsec = 10000000L};
    const bool held = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

    if (held && how->wait && is_turn(fd) && fbp_seconds() < how->until) {
        nanosleep(&moment, NULL);
        return fbp_go_on();
    }
    if (held)
        return fbp_fail(FBP_ERR_IO,
                        "%s: another process is writing this output: wait for it or choose "
                        "another name",
                        path);
    /* Another may have removed it before; file systems without locks are used without. */
    FBP_TRY(fbp_part_find_named(fd, path, named));
    return *named ? check_journal(in, fd, path, left, made) : FBP_OK;
}

/* *fd -1: there is none, or it has just come or gone. */
static fbp_status open_journal(const char *path, bool create, int *fd, bool *made)
{
    *fd = create ? open_retry(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL) : -1;
    *made = *fd >= 0;
    if (create && *fd < 0 && errno != EEXIST)
        return cannot("create", path);
    if (*fd < 0)
        *fd = open_retry(path, O_RDWR | O_APPEND);
    return *fd < 0 && errno != ENOENT ? cannot_open(path) : FBP_OK;
}

static fbp_status lock_journal(const struct fbp_part_inputs *in, const char *path,
                               const struct locking *how, int *fd, bool *left, bool *made)
{
    *left = false;
    for (int attempt = 0; attempt < ATTEMPTS;) {
        bool named = false;
        FBP_TRY(open_journal(path, how->create, fd, made));
        if (*fd < 0 && !how->create)
            return FBP_OK;
        attempt += *fd < 0;
        if (*fd < 0)
            continue;
        const fbp_status st = lock_opened(in, *fd, path, how, left, made, &named);
        if (st == FBP_OK && named)
            return FBP_OK;
        attempt += !how->wait;
        close(*fd);
        *fd = -1;
        *made = false;
        FBP_TRY(st);
    }
    return fbp_fail(FBP_ERR_IO, "%s: other processes keep replacing it", path);
}

fbp_status fbp_part_lock(const struct fbp_part_inputs *in, const char *path, int *fd, bool *left,
                         bool *made)
{
    return lock_journal(in, path, &(struct locking){.create = true}, fd, left, made);
}

fbp_status fbp_part_turn(const struct fbp_part_inputs *in, const char *path, bool create, int *fd,
                         bool *left)
{
    const struct locking how = {
        .create = create, .wait = true, .until = fbp_seconds() + FBP_PART_TURN_SECONDS};
    bool made;

    return lock_journal(in, path, &how, fd, left, &made);
}

fbp_status fbp_part_clear(const struct fbp_part_inputs *in, const char *path, bool ours)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? FBP_OK : cannot("look at", path);
    if (is_input(in, &st))
        return refuse_input(path);
    if (strange(&st))
        return refuse(path, strange(&st));
    if (!ours && st.st_size > 0)
        return refuse(path, "there is no journal of it");
    return unlink(path) == 0 || errno == ENOENT ? FBP_OK : cannot("remove", path);
}

fbp_status fbp_part_create(const char *path, int *fd)
{
    *fd = open_retry(path, O_RDWR | O_CREAT | O_EXCL);
    if (*fd >= 0)
        return FBP_OK;
    return errno == EEXIST ? refuse(path, "it came while the output was written")
                           : cannot("create", path);
}

fbp_status fbp_part_reopen(const struct fbp_part_inputs *in, const char *path, int *fd)
{
    const uid_t me = geteuid();
    fbp_status st = FBP_OK;
    struct stat is;

    *fd = open_retry(path, O_RDWR);
    if (*fd < 0)
        return errno == ENOENT ? FBP_OK : cannot_open(path);
    if (fstat(*fd, &is) < 0)
        st = cannot("look at", path);
    else if (is_input(in, &is))
        st = refuse_input(path);
    else if (strange(&is))
        st = refuse(path, strange(&is));
    else if (is.st_uid != me && me != 0) /* who left it could change what is written */
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: belongs to another user: start anew without --resume, or choose another "
                      "name for the output",
                      path);
    if (st == FBP_OK)
        return FBP_OK;
    close(*fd);
    *fd = -1;
    return st;
}
