/* Temporary files of an output, PATH.part and its journal PATH.part.log: the check which existing
 * files may be used, locks, the journal, disk space, publication. sink.c, sink_stack.c, chunked.c
 * and shared_output.c call it; sink.h describes the files. */
#include "array/chunked.h"
#include "array/names.h"
#include "array/shared_output.h"

#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/file/outfile.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

/* --- Files that fbp may use --- */

fbp_status fbp_part_inputs_open(struct fbp_part_inputs *out, const struct fbp_sink_params *params)
{
    fbp_status st = FBP_OK;

    *out = (struct fbp_part_inputs){.params = params};
    for (size_t i = 0; i < params->n_keep && st == FBP_OK; i++) {
        struct fbp_files files = {.path = params->keep[i]};

        for (const char *file; files.path && (file = fbp_files_next(&files, &st));) {
            bool there = false;

            if (out->n == out->room) {
                const size_t room = out->room ? 2 * out->room : 64;
                struct stat *more = realloc(out->is, room * sizeof *more);
                if (!more) {
                    st = fbp_fail_nomem(room * sizeof *more, "a table of input files");
                    continue;
                }
                out->is = more;
                out->room = room;
            }
            st = fbp_stat(file, &out->is[out->n], &there);
            out->n += there;
        }
    }
    return st;
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

fbp_status fbp_part_refuse(const char *path, const char *why)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is there and was not left by fbp (%s): move it away or remove it, or "
                    "choose another name for the output",
                    path, why);
}

fbp_status fbp_part_cannot(const char *what, const char *path)
{
    const int error = errno;

    return fbp_fail(FBP_ERR_IO, "%s: cannot %s: %s%s", path, what, strerror(error),
                    error == ENOENT ? ": create its folder first" : fbp_write_remedy(error));
}

fbp_status fbp_part_rename(const char *from, const char *to)
{
    if (rename(from, to) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be renamed to %s: %s", from, to, strerror(errno));
    return FBP_OK;
}

fbp_status fbp_part_name(char **out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int n = vasprintf(out, format, args);
    va_end(args);
    if (n >= 0)
        return FBP_OK;
    *out = NULL;
    return fbp_fail_nomem(strlen(format), "a path");
}

/* Check that a file can be a temporary file of fbp, and is not an input. */
static fbp_status check_file(const struct fbp_part_inputs *in, const struct stat *st,
                             const char *path)
{
    const char *strange = S_ISLNK(st->st_mode)    ? "it is a link"
                          : S_ISDIR(st->st_mode)  ? "it is a folder"
                          : !S_ISREG(st->st_mode) ? "it is no regular file"
                          : st->st_nlink > 1      ? "it has other names, too: a hard link"
                                                  : NULL;

    if (in && is_input(in, st))
        return refuse_input(path);
    return strange ? fbp_part_refuse(path, strange) : FBP_OK;
}

static int open_retry(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Report the reason why open_retry() failed. */
static fbp_status cannot_open(const char *path)
{
    const int error = errno;
    struct stat st;

    if (lstat(path, &st) == 0)
        FBP_TRY(check_file(NULL, &st, path));
    return fbp_fail(FBP_ERR_IO, "%s: cannot open: %s%s", path, strerror(error),
                    error == EACCES || error == EPERM
                        ? ": another user left it: remove it, or choose another name"
                        : fbp_write_remedy(error));
}

fbp_status fbp_part_find_named(int fd, const char *path, bool *named)
{
    struct stat a, b;

    *named = false;
    if (fstat(fd, &a) < 0)
        return fbp_part_cannot("look at", path);
    if (lstat(path, &b) < 0)
        return errno == ENOENT || errno == ENOTDIR ? FBP_OK : fbp_part_cannot("look at", path);
    *named = a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    return FBP_OK;
}

/* Check a locked file, which must begin like a journal, or be empty. */
static fbp_status check_journal(const struct fbp_part_inputs *in, int fd, const char *path,
                                bool *left, bool *made)
{
    static const char journal[] = "fbp-journal ";
    char text[sizeof FBP_PART_LOCK] = "";
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fbp_part_cannot("look at", path);
    FBP_TRY(check_file(in, &st, path));
    const size_t n = (uint64_t)st.st_size < sizeof text ? (size_t)st.st_size : sizeof text - 1;
    FBP_TRY(fbp_read_at(fd, path, 0, text, n));
    if (n > 0 && strncmp(text, journal, sizeof journal - 1) != 0)
        return fbp_part_refuse(path, "it is no journal");
    *left = n > 0 && strcmp(text, FBP_PART_LOCK) != 0; /* the number of bytes read was the same */
    *made |= !*left;
    return FBP_OK;
}

fbp_status fbp_part_lock(const struct fbp_part_inputs *in, const char *path, bool create, bool wait,
                         int *fd, bool *left, bool *made)
{
    static const struct timespec moment = {.tv_nsec = 10000000L};
    enum { ATTEMPTS = 100, PATIENCE_SECONDS = 600 };
    const double until = wait ? fbp_seconds() + PATIENCE_SECONDS : 0;

    *left = false;
    for (int attempt = 0; attempt < ATTEMPTS;) {
        char text[sizeof FBP_PART_MANIFEST] = "";
        fbp_status st = FBP_OK;
        bool named = false;

        *fd = create ? open_retry(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL) : -1;
        *made = *fd >= 0;
        if (create && *fd < 0 && errno != EEXIST)
            return fbp_part_cannot("create", path);
        if (*fd < 0)
            *fd = open_retry(path, O_RDWR | O_APPEND);
        if (*fd < 0 && errno != ENOENT)
            return cannot_open(path);
        if (*fd < 0 && !create)
            return FBP_OK;
        if (*fd < 0) { /* removed in the meantime */
            attempt++;
            continue;
        }

        if (flock(*fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
            /* A manifest, or a journal that becomes one, is locked for moments; a journal for a
             * whole run. */
            const ssize_t n = pread(*fd, text, sizeof text - 1, 0);

            if ((n == 0 || strcmp(text, FBP_PART_MANIFEST) == 0) && fbp_seconds() < until) {
                nanosleep(&moment, NULL);
                st = fbp_check_cancelled();
            } else {
                st = fbp_fail(FBP_ERR_IO,
                              "%s: another process is writing this output: wait for it or choose "
                              "another name",
                              path);
            }
        } else {                                         /* also on file systems without locks */
            st = fbp_part_find_named(*fd, path, &named); /* another process may have removed it */
            if (st == FBP_OK && named)
                st = check_journal(in, *fd, path, left, made);
            if (st == FBP_OK && named)
                return FBP_OK;
        }
        attempt += !wait;
        close(*fd);
        *fd = -1;
        *made = false;
        FBP_TRY(st);
    }
    return fbp_fail(FBP_ERR_IO, "%s: other processes keep replacing it", path);
}

fbp_status fbp_part_clear(const struct fbp_part_inputs *in, const char *path, bool ours)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? FBP_OK : fbp_part_cannot("look at", path);
    FBP_TRY(check_file(in, &st, path));
    if (!ours && st.st_size > 0)
        return fbp_part_refuse(path, "there is no journal of it");
    return unlink(path) == 0 || errno == ENOENT ? FBP_OK : fbp_part_cannot("remove", path);
}

fbp_status fbp_part_create(const char *path, int *fd)
{
    *fd = open_retry(path, O_RDWR | O_CREAT | O_EXCL);
    if (*fd >= 0)
        return FBP_OK;
    return errno == EEXIST ? fbp_part_refuse(path, "it came while the output was written")
                           : fbp_part_cannot("create", path);
}

fbp_status fbp_part_reopen(const struct fbp_part_inputs *in, const char *path, int *fd)
{
    const uid_t me = geteuid();
    struct stat is;
    fbp_status st;

    *fd = open_retry(path, O_RDWR);
    if (*fd < 0)
        return errno == ENOENT ? FBP_OK : cannot_open(path);
    st = fstat(*fd, &is) < 0 ? fbp_part_cannot("look at", path) : check_file(in, &is, path);
    if (st == FBP_OK && is.st_uid != me && me != 0) /* its owner could change the output */
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

/* --- Opening --- */

fbp_status fbp_sink_follow_link(char **path, const char *extensions)
{
    enum { MOST_LINKS = 40 };
    char target[4096];

    for (int i = 0; i <= MOST_LINKS; i++) {
        const ssize_t n = readlink(*path, target, sizeof target - 1);
        if (n < 0) /* not a link, or the file does not exist */
            return FBP_OK;
        target[n] = '\0';
        char *next = fbp_path_join(*path, target);
        if (!next)
            return fbp_fail_nomem((size_t)n, "a path");
        if (!fbp_has_extension(next, extensions)) {
            (void)!fbp_fail(FBP_ERR_INVALID,
                            "%s: is a link to %s, whose name does not end in %s: name that file "
                            "itself, or remove the link",
                            *path, next, extensions);
            free(next);
            return FBP_ERR_INVALID;
        }
        free(*path);
        *path = next;
    }
    return fbp_fail(FBP_ERR_INVALID, "%s: is one of too many links: name the file itself", *path);
}

fbp_status fbp_sink_lock_second(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    bool left = false;
    char *line;

    if (!s->lock_path)
        return FBP_OK;
    FBP_TRY(fbp_part_lock(inputs, s->lock_path, true, false, &s->lock_fd, &left, &s->lock_made));
    if (left) /* the journal belongs to another output of that name and is not changed */
        return FBP_OK;
    if (ftruncate(s->lock_fd, 0) < 0)
        return fbp_fail_write(s->lock_path, errno, 0);
    FBP_TRY(fbp_part_name(&line, FBP_PART_LOCK "of %s\n", s->path));
    const fbp_status st = fbp_append(s->lock_fd, s->lock_path, line);
    free(line);
    return st;
}

void fbp_sink_unlock_second(struct fbp_sink *s)
{
    if (s->lock_made)
        unlink(s->lock_path);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_made = false;
    s->lock_fd = -1;
}

fbp_status fbp_sink_hash_slices(const struct fbp_sink *s, const struct fbp_boundary *boundary,
                                size_t z0, size_t nz, void *scratch, uint64_t *hash)
{
    const uint64_t total = (uint64_t)nz * s->slice_bytes;
    const uint64_t at = s->part_offset + (uint64_t)z0 * s->slice_bytes;

    *hash = 0;
    for (uint64_t done = 0; done < total;) {
        const size_t n =
            total - done < FBP_WRITE_BUFFER_BYTES ? (size_t)(total - done) : FBP_WRITE_BUFFER_BYTES;
        FBP_TRY(boundary ? fbp_boundary_get(s, boundary, at + done, scratch, n)
                         : fbp_sink_get(s, at + done, scratch, n));
        *hash = fbp_hash(*hash, scratch, n);
        done += n;
    }
    return FBP_OK;
}

bool fbp_sink_is_stored(const struct fbp_sink *s, const struct fbp_boundary *boundary, size_t z0,
                        size_t nz, uint64_t hash, void *scratch)
{
    uint64_t h;

    if (s->kind == FBP_SINK_STACK)
        return fbp_sink_stack_has(s, z0, nz, hash, scratch);
    if (fbp_sink_hash_slices(s, boundary, z0, nz, scratch, &h) == FBP_OK)
        return h == hash;
    fbp_message_clear(); /* these slices are computed again */
    return false;
}

/* Read the first line of a journal; "": incomplete because of a kill. */
static fbp_status read_first(const struct fbp_sink *s, char line[FBP_JOURNAL_LINE])
{
    struct stat st;

    if (fstat(s->log_fd, &st) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot look at it: %s", s->log, strerror(errno));
    const size_t n = st.st_size < FBP_JOURNAL_LINE ? (size_t)st.st_size : FBP_JOURNAL_LINE - 1;
    FBP_TRY(fbp_read_at(s->log_fd, s->log, 0, line, n));
    line[n] = '\0';
    char *end = strchr(line, '\n');
    line[end ? end + 1 - line : 0] = '\0';
    return FBP_OK;
}

static const char *behind_version(const char *line)
{
    return strncmp(line, "fbp-journal ", 12) == 0 && line[12] >= '1' && line[12] <= '3' &&
                   line[13] == ' '
               ? line + 14
               : line;
}

/* Find the number of slices of a stack whose run was stopped during publication; 0: not stopped
 * there. */
static fbp_status find_published(const struct fbp_sink *s, size_t *n_slices)
{
    unsigned long long n[3] = {0};
    char first[FBP_JOURNAL_LINE];
    char *text = NULL;
    size_t bytes = 0;

    *n_slices = 0;
    FBP_TRY(read_first(s, first));
    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is not a size */
    if (sscanf(behind_version(first), "%*x size %llu %llu %llu", &n[0], &n[1], &n[2]) != 3)
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->log, FBP_JOURNAL_MOST_BYTES, &text, &bytes));
    if (strstr(text, "\npublish\n"))
        *n_slices = (size_t)n[2];
    free(text);
    return FBP_OK;
}

/* Open the files of an output of this process alone; its journal is locked. */
static fbp_status begin_file(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                             bool resume)
{
    bool found = false;

    if (left && resume)
        FBP_TRY(fbp_journal_find(s, &found));
    if (found)
        FBP_TRY(fbp_sink_part_reopen(s, inputs));
    const bool fresh = s->fd < 0;
    FBP_TRY(fbp_sink_file_clear(s, inputs, left, fresh));
    if (fresh) { /* otherwise a failure from here on must not remove files that can be resumed */
        s->log_made = true; /* the files that it lists are removed */
        /* The journal is created first: a kill can then never leave a PATH.part without a
         * journal. */
        FBP_TRY(fbp_journal_create(s));
        FBP_TRY(fbp_sink_part_create(s));
        s->owned = true;
    }
    FBP_TRY(fbp_sink_reserve(s));
    FBP_TRY(fbp_sink_write_header(s));
    return fresh ? FBP_OK : fbp_journal_resume(s);
}

static fbp_status begin(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool resume)
{
    const bool stack = s->kind == FBP_SINK_STACK;
    bool left = false, gone = false;
    size_t n;

    if (s->shared && !s->shared->own.first)
        return fbp_shared_output_join(s, inputs);
    FBP_TRY(fbp_part_spare(inputs, stack ? s->log : s->part));
    FBP_TRY(fbp_part_lock(inputs, s->log, true, false, &s->log_fd, &left, &s->log_made));
    FBP_TRY(fbp_sink_lock_second(s, inputs));
    if (left)
        FBP_TRY(fbp_shared_output_yield(s, resume));
    const bool resume_shared = resume && fbp_shared_output_is_left(s);
    if (stack && left && !resume_shared) {
        FBP_TRY(find_published(s, &n));
        FBP_TRY(fbp_sink_stack_rename(s, n, &gone));
    }
    if (s->shared || resume_shared)
        return fbp_shared_output_take_over(s, inputs, left, resume);
    return (stack ? fbp_sink_stack_begin : begin_file)(s, inputs, left, resume);
}

fbp_status fbp_sink_files_open(struct fbp_sink *s, const struct fbp_sink_params *params)
{
    struct fbp_part_inputs inputs = {0};
    fbp_status st = fbp_part_inputs_open(&inputs, params);

    if (st == FBP_OK)
        st = begin(s, &inputs, params->resume);
    free(inputs.is);
    return st;
}

/* --- PATH.part --- */

uint64_t fbp_sink_part_bytes(const struct fbp_sink *s)
{
    return s->part_offset + (uint64_t)s->slice_bytes * s->info.n[2] + s->layout.tail_bytes;
}

fbp_status fbp_sink_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n)
{
    return s->chunked ? fbp_chunked_put(s, at, data, n) : fbp_write_at(s->fd, s->part, at, data, n);
}

fbp_status fbp_sink_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n)
{
    return s->chunked ? fbp_chunked_get(s, at, out, n) : fbp_read_at(s->fd, s->part, at, out, n);
}

fbp_status fbp_sink_sync(const struct fbp_sink *s)
{
    if (!s->chunked)
        return fbp_sync_file(s->fd, s->part);
    /* One call for all chunks, although it also syncs data of other programs. */
    return syncfs(s->fd) < 0 ? fbp_fail_write(s->path, errno, 0) : FBP_OK;
}

fbp_status fbp_sink_part_create(struct fbp_sink *s)
{
    return s->chunked ? fbp_chunked_begin(s) : fbp_part_create(s->part, &s->fd);
}

fbp_status fbp_sink_part_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    return s->chunked ? fbp_chunked_reopen(s) : fbp_part_reopen(inputs, s->part, &s->fd);
}

fbp_status fbp_sink_part_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours)
{
    return s->chunked ? fbp_chunked_clear(s, inputs, ours) : fbp_part_clear(inputs, s->part, ours);
}

bool fbp_sink_part_remove(const struct fbp_sink *s)
{
    if (s->chunked)
        fbp_chunked_remove(s);
    else
        unlink(s->part);
    return access(s->part, F_OK) < 0;
}

fbp_status fbp_sink_file_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours,
                               bool samples)
{
    static const char *const ends[] = {".z", ".side"}; /* files that publication creates */

    if (samples)
        FBP_TRY(fbp_sink_part_clear(s, inputs, ours));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *name;

        FBP_TRY(fbp_part_name(&name, "%s%s", s->part, ends[i]));
        const fbp_status st = fbp_part_clear(inputs, name, ours);
        free(name);
        FBP_TRY(st);
    }
    return FBP_OK;
}

void fbp_sink_file_remove(const struct fbp_sink *s)
{
    if (fbp_sink_part_remove(s)) /* the journal proves that PATH.part belongs to fbp */
        unlink(s->log);
}

fbp_status fbp_sink_reserve(struct fbp_sink *s)
{
    const uint64_t need = fbp_sink_part_bytes(s);
    struct stat st;

    if (s->chunked) /* each file is small, and created with its first slices */
        return fbp_chunked_room(s);
    const int error = fbp_disk_reserve(s->fd, need);
    if (error == 0)
        return FBP_OK;
    if (error == EOPNOTSUPP) { /* not supported here: check the free space */
        if (fstat(s->fd, &st) < 0)
            return fbp_part_cannot("look at", s->part);
        const uint64_t taken = (uint64_t)st.st_blocks * 512, left = fbp_disk_free(s->fd);
        if (need > taken && need - taken > left)
            return fbp_fail_disk_full(s->path, need - taken, left);
        if ((uint64_t)st.st_size < need && ftruncate(s->fd, (off_t)need) < 0)
            return fbp_fail_write(s->path, errno, need);
        return FBP_OK;
    }
    if (error != ENOSPC && error != EDQUOT && error != EFBIG) {
        errno = error;
        return fbp_part_cannot("reserve space", s->part);
    }
    if (s->owned && ftruncate(s->fd, 0) < 0) /* reserved blocks then count as free */
        return fbp_part_cannot("empty", s->part);
    const uint64_t left = fbp_disk_free(s->fd);
    if (need <= left) /* a quota, or a limit of the file system */
        return fbp_fail_write(s->path, error, need);
    return fbp_fail_disk_full(s->path, need, left);
}

fbp_status fbp_sink_write_header(const struct fbp_sink *s)
{
    struct fbp_write_buffer p = {0};
    fbp_status st;

    if (s->part_offset == 0)
        return FBP_OK;
    FBP_TRY_GOTO(fbp_write_buffer_open(&p, s->fd, s->part, 0));
    FBP_TRY_GOTO(fbp_layout_put(&s->layout, &s->info, &p));
    st = fbp_write_buffer_flush(&p);
fail:
    fbp_write_buffer_close(&p);
    return st;
}

/* --- The journal --- */

void fbp_journal_first(const struct fbp_sink *s, char line[FBP_JOURNAL_LINE])
{
    /* Version 3: output of several processes. Version 1 had no line "publish". */
    snprintf(line, FBP_JOURNAL_LINE, "fbp-journal %d %016llx size %zu %zu %zu header %zu\n",
             s->shared ? 3 : 2, (unsigned long long)s->fingerprint, s->info.n[0], s->info.n[1],
             s->info.n[2], s->part_offset);
}

fbp_status fbp_journal_create(struct fbp_sink *s)
{
    char line[FBP_JOURNAL_LINE];

    if (ftruncate(s->log_fd, 0) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot empty: %s", s->log, strerror(errno));
    fbp_journal_first(s, line);
    return fbp_append(s->log_fd, s->log, line);
}

fbp_status fbp_journal_find(const struct fbp_sink *s, bool *found)
{
    char line[FBP_JOURNAL_LINE], old[FBP_JOURNAL_LINE];

    *found = false;
    FBP_TRY(read_first(s, old));
    if (!old[0] || strncmp(behind_version(old), "lock ", 5) == 0)
        return FBP_OK;
    fbp_journal_first(s, line);
    if (strcmp(behind_version(line), behind_version(old)) != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: belongs to a run with other settings or data: use the same ones to "
                        "resume it, or start anew without --resume",
                        s->part);
    *found = true;
    return FBP_OK;
}

fbp_status fbp_journal_append(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash)
{
    char line[80];

    snprintf(line, sizeof line, "%zu %zu %016llx\n", z0, nz, (unsigned long long)hash);
    return fbp_append(s->log_fd, s->log, line);
}

bool fbp_journal_read(const struct fbp_sink *s, const char *line, size_t *z0, size_t *nz,
                      uint64_t *hash)
{
    unsigned long long first, n, h;

    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large fails the tests that follow */
    if (sscanf(line, "%llu %llu %16llx", &first, &n, &h) != 3 || first >= s->info.n[2] ||
        n > s->info.n[2] - first)
        return false;
    *z0 = (size_t)first;
    *nz = (size_t)n;
    *hash = h;
    return true;
}

fbp_status fbp_journal_resume(struct fbp_sink *s)
{
    char *text = NULL, *line, *newline;
    size_t n = 0, z0, nz;
    void *scratch = NULL;
    uint64_t hash;
    fbp_status st;

    FBP_TRY(fbp_read_text(s->log, FBP_JOURNAL_MOST_BYTES, &text, &n));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    line = memchr(text, '\n', n);
    line = line ? line + 1 : text + n;
    for (; (newline = strchr(line, '\n')); line = newline + 1) {
        *newline = '\0';
        if (fbp_journal_read(s, line, &z0, &nz, &hash) &&
            fbp_sink_is_stored(s, NULL, z0, nz, hash, scratch))
            fbp_sink_mark(s, z0, nz);
    }
    s->owned = true;
    if (ftruncate(s->log_fd, (off_t)(line - text)) < 0) /* a last line cut off by a kill */
        st = fbp_fail(FBP_ERR_IO, "%s: cannot be shortened: %s", s->log, strerror(errno));
fail:
    fbp_free(scratch);
    free(text);
    return st;
}

/* --- Publication --- */

struct deflater {
    z_stream z;
    uint64_t at; /* next byte of the compressed file */
    unsigned char in[1 << 18], out[1 << 18];
};

/* Compress PATH.part into a new file. The header is written last, because it contains the
 * compressed size. */
static fbp_status compress_part(struct fbp_sink *s, const char *path)
{
    const uint64_t start = s->format->packs_header ? 0 : s->layout.header_bytes;
    const uint64_t total = fbp_sink_part_bytes(s); /* with the header, if it is packed */
    const int frame = s->format->gzip ? 15 + 16 : 15;
    struct deflater *d = NULL;
    bool begun = false;
    fbp_status st;
    int fd;

    FBP_TRY(fbp_part_create(path, &fd));
    FBP_TRY_GOTO(fbp_calloc((void **)&d, 1, sizeof *d, "zlib"));
    d->at = start;
    /* Noise compresses little at any level. */
    begun = deflateInit2(&d->z, Z_BEST_SPEED, Z_DEFLATED, frame, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!begun) {
        st = fbp_fail_nomem(1 << 18, "zlib");
        goto fail;
    }
    for (uint64_t at = 0; at < total;) {
        const size_t n = total - at < sizeof d->in ? (size_t)(total - at) : sizeof d->in;

        FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(fbp_read_at(s->fd, s->part, at, d->in, n));
        at += n;
        d->z.next_in = d->in;
        d->z.avail_in = (uInt)n;
        do {
            d->z.next_out = d->out;
            d->z.avail_out = sizeof d->out;
            if (deflate(&d->z, at == total ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) {
                st = fbp_fail(FBP_ERR_IO, "%s: zlib failed", path);
                goto fail;
            }
            const size_t packed = sizeof d->out - d->z.avail_out;
            FBP_TRY_GOTO(fbp_write_at(fd, path, d->at, d->out, packed));
            d->at += packed;
        } while (d->z.avail_out == 0);
    }
    if (!s->format->packs_header) {
        fbp_layout_clear(&s->layout);
        FBP_TRY_GOTO(s->format->layout(s->path, &s->info, d->at - start, &s->layout));
        FBP_TRY_GOTO(fbp_write_at(fd, path, 0, s->layout.header, s->layout.header_bytes));
    }
    st = fbp_sync_file(fd, path);
fail:
    if (begun)
        deflateEnd(&d->z);
    free(d);
    if (close(fd) < 0 && st == FBP_OK)
        st = fbp_part_cannot("close", path);
    if (st != FBP_OK)
        unlink(path);
    return st;
}

/* Check that a file can be renamed; called before the first of two renames. */
static fbp_status check_rename(const char *from, const char *to)
{
    struct stat st;

    if (stat(to, &st) == 0 && S_ISDIR(st.st_mode))
        return fbp_fail(FBP_ERR_IO, "%s: cannot be renamed to %s: %s", from, to, strerror(EISDIR));
    return FBP_OK;
}

/* Remove an earlier integer output together with its description PATH.json, whose scale would be
 * applied to the new samples. */
static fbp_status remove_described(const struct fbp_sink *s, const char *data)
{
    const char *old = s->layout.data_path;
    struct fbp_array_info info = {.type = FBP_TYPE_NONE};
    bool described = false;
    char *beside;
    fbp_status st;

    FBP_TRY(fbp_part_name(&beside, "%s.json", old));
    st = fbp_parse_description_beside(old, &info, &described);
    if (st == FBP_OK && described) {
        st = check_rename(data, old);
        if (st == FBP_OK && unlink(old) < 0 && errno != ENOENT)
            st = fbp_part_cannot("replace", old);
        if (st == FBP_OK && unlink(beside) < 0)
            st = fbp_part_cannot("remove", beside);
    }
    free(beside);
    return st;
}

/* Rename the file with the samples; write the small header file beside it, if the format has
 * one. */
static fbp_status publish_names(struct fbp_sink *s, const char *data)
{
    const struct fbp_layout *l = &s->layout;
    char *side;
    fbp_status st;
    int fd;

    if (!l->side_path || !fbp_has_extension(l->side_path, ".json"))
        FBP_TRY(remove_described(s, data));
    if (!l->side_path) {
        st = fbp_part_rename(data, l->data_path);
        s->published = st == FBP_OK;
        return st;
    }

    /* Before any rename, because the disk may be full. */
    FBP_TRY(fbp_part_name(&side, "%s.part.side", s->path));
    FBP_TRY_GOTO(fbp_part_create(side, &fd));
    st = fbp_write_at(fd, side, 0, l->side_text, strlen(l->side_text));
    if (st == FBP_OK)
        st = fbp_sync_file(fd, side);
    close(fd);
    if (st != FBP_OK)
        goto fail;

    /* The header file must never describe other samples. Therefore old samples are removed first
     * and new ones renamed last: after an interruption there is one volume or none. */
    FBP_TRY_GOTO(check_rename(data, l->data_path));
    FBP_TRY_GOTO(check_rename(side, l->side_path));
    if (unlink(l->data_path) < 0 && errno != ENOENT) {
        st = fbp_part_cannot("replace", l->data_path);
        goto fail;
    }
    FBP_TRY_GOTO(fbp_part_rename(side, l->side_path));
    st = fbp_part_rename(data, l->data_path);
    s->published = st == FBP_OK;
    if (st != FBP_OK)
        unlink(l->side_path);
fail:
    if (st != FBP_OK)
        unlink(side);
    free(side);
    return st;
}

fbp_status fbp_sink_publish_names(struct fbp_sink *s)
{
    if (s->chunked) {
        FBP_TRY(fbp_chunked_complete(s));
        return fbp_chunked_publish(s);
    }
    FBP_TRY(fbp_sink_sync(s));
    return publish_names(s, s->part);
}

fbp_status fbp_sink_publish(struct fbp_sink *s)
{
    char *packed;

    if (s->compress && !s->chunked) {
        FBP_TRY(fbp_part_name(&packed, "%s.part.z", s->path));
        fbp_status st = compress_part(s, packed);
        if (st == FBP_OK)
            st = publish_names(s, packed);
        if (st != FBP_OK)
            unlink(packed);
        free(packed);
        FBP_TRY(st);
    } else {
        FBP_TRY(fbp_sink_publish_names(s));
    }
    fbp_sink_file_remove(s);
    fbp_sync_folder(s->path);
    return access(s->log, F_OK) != 0
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot be removed: it belongs to the finished run",
                          s->log);
}
