/* Temporary files of an output until it is complete: PATH.part with the samples, and
 * PATH.part.log, the journal, which lists the stored slices and is locked by the process that
 * writes them. Contains the checks that protect files of other programs (fbp_part_…()), the
 * journal (fbp_journal_…()), locking, opening (fbp_output_open(): a new output, or one that a
 * single process resumes) and closing. sink.h describes the files.
 * Used by: array/. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/names.h"
#include "array/shared_output.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- Files that fbp may use --- */

fbp_status fbp_part_spare(struct fbp_output *o, const char *path)
{
    const struct fbp_sink_params *params = o ? o->params : NULL;
    bool hit = false;

    for (size_t i = 0; params && i < params->n_keep; i++) {
        if (params->keep[i])
            FBP_TRY(fbp_input_has(params->keep[i], path, &hit));
        if (hit)
            return FBP_INVALID(
                "%s: is an input file, but the output needs this name for a temporary "
                "file; choose another name for the output",
                path);
    }
    return FBP_OK;
}

fbp_status fbp_part_refuse(const char *path, const char *why)
{
    return FBP_INVALID(
        "%s: exists, but is not a temporary file of fbp (%s); move it away or remove "
        "it, or choose another name for the output",
        path, why);
}

fbp_status fbp_part_cannot(const char *what, const char *path)
{
    const int error = errno, n = fbp_output_length(path);
    const bool temporary = path[n], named = temporary && strcmp(what, "remove") == 0;

    return fbp_fail(FBP_ERR_IO, "%.*s: cannot %s%s%s%s: %s%s", n, path, what,
                    temporary ? " its temporary file" : "", named ? " " : "", named ? path : "",
                    strerror(error),
                    error == ENOENT ? "; create its folder first" : fbp_write_remedy(error));
}

fbp_status fbp_part_rename(const char *from, const char *to)
{
    if (rename(from, to) < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: this finished temporary file cannot be renamed to %s: %s%s", from, to,
                        strerror(errno), fbp_write_remedy(errno));
    return FBP_OK;
}

struct fbp_file_name fbp_file_name(const char *format, ...)
{
    struct fbp_file_name name;

    FBP_PRINT_ARGUMENTS(name.text, sizeof name.text, format); /* fbp_output_name_parts() checks */
    return name;
}

/* Fail if an existing file cannot be a temporary file of fbp, which is a regular file with a single
 * name, or if it is an input of the run. o NULL: inputs are not checked. */
static fbp_status check_file(struct fbp_output *o, const struct stat *st, const char *path)
{
    const char *strange = S_ISLNK(st->st_mode)    ? "it is a link"
                          : S_ISDIR(st->st_mode)  ? "it is a folder"
                          : !S_ISREG(st->st_mode) ? "it is not a regular file"
                          : st->st_nlink > 1      ? "it has several hard links"
                                                  : NULL;

    FBP_TRY(fbp_part_spare(o, path));
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

/* Fail with the reason of open_retry(): errno, or that it is no regular file with one name. */
static fbp_status cannot_open(const char *path)
{
    const int error = errno;
    struct stat st;

    if (lstat(path, &st) == 0)
        FBP_TRY(check_file(NULL, &st, path));
    return fbp_fail(FBP_ERR_IO, "%.*s: cannot open its temporary file %s: %s%s",
                    fbp_output_length(path), path, path, strerror(error),
                    error == EACCES || error == EPERM
                        ? ", perhaps because it belongs to another user; make it writable or "
                          "remove it, or choose another name"
                        : fbp_write_remedy(error));
}

fbp_status fbp_part_find_named(int fd, const char *path, bool *named)
{
    struct stat a, b;

    *named = false;
    if (fstat(fd, &a) < 0)
        return fbp_part_cannot("examine", path);
    if (lstat(path, &b) < 0)
        return errno == ENOENT || errno == ENOTDIR ? FBP_OK : fbp_part_cannot("examine", path);
    *named = a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    return FBP_OK;
}

/* Check an open, locked file: it must be empty, or begin like a journal of fbp. *left: it is a
 * journal with a description of an output, from an earlier run; otherwise *made is set, because the
 * file may be removed. */
static fbp_status check_journal(struct fbp_output *o, int fd, const char *path, bool *left,
                                bool *made)
{
    static const char journal[] = "fbp-journal ";
    char text[sizeof journal] = "";
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fbp_part_cannot("examine", path);
    FBP_TRY(check_file(o, &st, path));
    const size_t n = (uint64_t)st.st_size < sizeof text ? (size_t)st.st_size : sizeof text - 1;
    FBP_TRY(fbp_read_at(fd, path, 0, text, n));
    if (n > 0 && strncmp(text, journal, sizeof journal - 1) != 0)
        return fbp_part_refuse(path, "it is not a journal of fbp");
    *left = n > 0;
    *made |= !*left;
    return FBP_OK;
}

fbp_status fbp_part_lock(struct fbp_output *o, const char *path, bool create, bool wait, int *fd,
                         bool *left, bool *made)
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
            /* A manifest, which is empty at first, is locked only for moments: if `wait` is set,
             * wait for it. The journal of a single process is locked during its whole run: fail. */
            const ssize_t n = pread(*fd, text, sizeof text - 1, 0);

            if ((n == 0 || strcmp(text, FBP_PART_MANIFEST) == 0) && fbp_seconds() < until) {
                nanosleep(&moment, NULL);
                st = fbp_check_cancelled();
            } else {
                st = fbp_fail(FBP_ERR_IO,
                              "%.*s: another process is writing this output; wait for it, or "
                              "choose another name",
                              fbp_output_length(path), path);
            }
        } else {                                         /* also on file systems without locks */
            st = fbp_part_find_named(*fd, path, &named); /* another process may have removed it */
            if (st == FBP_OK && named)
                st = check_journal(o, *fd, path, left, made);
            if (st == FBP_OK && named)
                return FBP_OK;
        }
        attempt += !wait;
        close(*fd);
        *fd = -1;
        *made = false;
        FBP_TRY(st);
    }
    return fbp_fail(FBP_ERR_IO,
                    "%.*s: other processes replace the temporary files of this output repeatedly; "
                    "stop them, or choose another name for the output",
                    fbp_output_length(path), path);
}

fbp_status fbp_part_clear(struct fbp_output *o, const char *path, bool ours)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? FBP_OK : fbp_part_cannot("examine", path);
    FBP_TRY(check_file(o, &st, path));
    if (!ours && st.st_size > 0)
        return fbp_part_refuse(path, "it has no journal");
    return unlink(path) == 0 || errno == ENOENT ? FBP_OK : fbp_part_cannot("remove", path);
}

fbp_status fbp_part_create(const char *path, int *fd)
{
    *fd = open_retry(path, O_RDWR | O_CREAT | O_EXCL);
    if (*fd >= 0)
        return FBP_OK;
    return errno == EEXIST ? fbp_part_refuse(path, "it was created while the output was written")
                           : fbp_part_cannot("create", path);
}

fbp_status fbp_part_reopen(struct fbp_output *o, const char *path, int *fd)
{
    const uid_t me = geteuid();
    struct stat is;
    fbp_status st;

    *fd = open_retry(path, O_RDWR);
    if (*fd < 0)
        return errno == ENOENT ? FBP_OK : cannot_open(path);
    st = fstat(*fd, &is) < 0 ? fbp_part_cannot("examine", path) : check_file(o, &is, path);
    if (st == FBP_OK && is.st_uid != me && me != 0) /* its owner could change the output */
        st = FBP_INVALID(
            "%.*s: the unfinished output belongs to another user, so this run cannot "
            "continue it; choose another name for the output, or let its owner continue",
            fbp_output_length(path), path);
    if (st == FBP_OK)
        return FBP_OK;
    close(*fd);
    *fd = -1;
    return st;
}

/* --- The journal --- */

static const char *behind_version(const char *line)
{
    return strncmp(line, "fbp-journal ", 12) == 0 && line[12] >= '1' && line[12] <= '3' &&
                   line[13] == ' '
               ? line + 14
               : line;
}

void fbp_journal_first(struct fbp_output *o, char line[FBP_JOURNAL_LINE])
{
    /* The first number is the version: 3 if several processes write the output (manifest and
     * journals), 2 if a single one does. Version 1 was written by older releases. */
    snprintf(line, FBP_JOURNAL_LINE, "fbp-journal %d %016llx size %zu %zu %zu header %zu\n",
             o->shared ? 3 : 2, (unsigned long long)o->sink.fingerprint, o->sink.info.n[0],
             o->sink.info.n[1], o->sink.info.n[2], o->part_offset);
}

fbp_status fbp_journal_create(struct fbp_output *o)
{
    char line[FBP_JOURNAL_LINE];

    if (ftruncate(o->log_fd, 0) < 0)
        return fbp_part_cannot("empty", o->log);
    fbp_journal_first(o, line);
    return fbp_append(o->log_fd, o->log, line);
}

fbp_status fbp_journal_find(struct fbp_output *o, bool *found)
{
    char line[FBP_JOURNAL_LINE], *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(o->log, FBP_JOURNAL_MOST_BYTES, &text, &n));
    fbp_journal_first(o, line);
    const char *old = behind_version(text), *ours = behind_version(line);
    /* no newline: a process was killed while it wrote the first line */
    const bool none = !strchr(text, '\n');
    *found = !none && strncmp(old, ours, strlen(ours)) == 0;
    free(text);
    if (none || *found)
        return FBP_OK;
    return FBP_INVALID(
        "%s: the unfinished output belongs to a run with other settings or data, or "
        "another device, kernel, instruction set or release of fbp; use the same ones "
        "(--device, --kernel, FBP_CPU) to resume it, or start again without --resume",
        o->path);
}

fbp_status fbp_journal_append(struct fbp_output *o, size_t z0, size_t nz, uint64_t hash)
{
    char line[80];

    snprintf(line, sizeof line, "%zu %zu %016llx\n", z0, nz, (unsigned long long)hash);
    return fbp_append(o->log_fd, o->log, line);
}

bool fbp_journal_read(struct fbp_output *o, const char *line, size_t *z0, size_t *nz,
                      uint64_t *hash)
{
    unsigned long long first, n, h;

    /* NOLINTNEXTLINE(cert-err34-c): the next lines refuse slice numbers that are too large */
    if (sscanf(line, "%llu %llu %16llx", &first, &n, &h) != 3 || first >= o->sink.info.n[2] ||
        n > o->sink.info.n[2] - first)
        return false;
    *z0 = (size_t)first;
    *nz = (size_t)n;
    *hash = h;
    return true;
}

/* Mark the slices that the journal lists as written, if the stored samples have the recorded hash,
 * and remove an incomplete last line from the journal. */
static fbp_status resume_journal(struct fbp_output *o)
{
    char *text = NULL, *line, *newline;
    size_t n = 0, z0, nz;
    void *scratch = NULL;
    uint64_t hash;
    fbp_status st;

    FBP_TRY(fbp_read_text(o->log, FBP_JOURNAL_MOST_BYTES, &text, &n));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    line = memchr(text, '\n', n);
    line = line ? line + 1 : text + n;
    for (; (newline = strchr(line, '\n')); line = newline + 1) {
        *newline = '\0';
        if (fbp_journal_read(o, line, &z0, &nz, &hash) &&
            o->store->has(o, NULL, z0, nz, hash, scratch))
            fbp_sink_mark(&o->sink, z0, nz);
    }
    o->owned = true;
    if (ftruncate(o->log_fd, (off_t)(line - text)) < 0) /* a last line cut off by a kill */
        st = fbp_part_cannot("shorten", o->log);
fail:
    fbp_free(scratch);
    free(text);
    return st;
}

void fbp_output_begin(struct fbp_output *o, const struct fbp_store *store,
                      const struct fbp_sink_request *rq)
{
    o->sink.files = o;
    o->store = store;
    o->put = store->put;
    o->format = rq->format;
    o->compress = rq->params->compress;
    o->resume = rq->params->resume;
    o->fd = o->log_fd = -1;
}

fbp_status fbp_output_check_frames(struct fbp_output *o, const char *path, bool has_place)
{
    const size_t frames = fbp_array_frames(&o->sink.info);

    if (o->sink.info.n[2] % frames != 0)
        return FBP_INVALID("%s: %zu slices cannot be divided equally among %zu frames; give all "
                           "frames the same number of slices",
                           path, o->sink.info.n[2], frames);
    if (frames == 1 || has_place)
        return FBP_OK;
    return FBP_UNSUPPORTED(
        "%s: this format cannot store a series of %zu frames; write .mha, .nii, .nrrd, "
        ".h5, .mat, .npy or .raw",
        path, frames);
}

fbp_status fbp_output_name_parts(struct fbp_output *o, const char *extensions)
{
    enum { MOST_LINKS = 40, MOST_SUFFIX = 400 }; /* bytes of slice number and suffixes */
    char target[4096];
    ssize_t n = -1; /* length of a link's target; -1: no link */

    for (int i = 0; extensions && (n = readlink(o->path, target, sizeof target - 1)) >= 0; i++) {
        target[n] = '\0';
        char *next = i < MOST_LINKS ? fbp_path_join(o->path, target) : NULL;
        if (i == MOST_LINKS)
            return FBP_INVALID("%s: is a chain of too many links; name the file itself", o->path);
        FBP_TRY(fbp_check_path(next));
        if (!fbp_has_extension(next, extensions)) {
            (void)!FBP_INVALID("%s: is a link to %s, whose name does not end in %s; name that file "
                               "itself, or remove the link",
                               o->path, next, extensions);
            free(next);
            return FBP_ERR_INVALID;
        }
        free(o->path);
        o->path = next;
    }
    if (strlen(o->path) + MOST_SUFFIX > sizeof(struct fbp_file_name))
        return FBP_INVALID("%.100s...: the file name is too long; choose a shorter one", o->path);
    FBP_TRY(fbp_print_path(&o->part, "%s.part", o->path));
    return fbp_print_path(&o->log, "%s.log", o->part);
}

/* Begin or resume an output that this process alone writes, and whose journal it has locked. left:
 * the journal is of an earlier run. */
static fbp_status begin_alone(struct fbp_output *o, bool left)
{
    const bool stack = fbp_output_is_stack(o);
    bool found = false;

    if (stack)
        FBP_TRY(fbp_stack_check_others(o));
    if (left && o->resume)
        FBP_TRY(fbp_journal_find(o, &found));
    if (found && !stack) {
        FBP_TRY(o->store->open(o, false));
        found = o->fd >= 0;
    }
    if (!found)
        FBP_TRY(o->store->clear(o, left));
    FBP_TRY(fbp_output_clear_beside(o, left));
    if (!found) {
        o->log_made = true; /* no temporary samples exist yet: after a failure the journal may be
                             * removed */
        if (stack)
            FBP_TRY(fbp_stack_check_room(o, o->log_fd));
        /* The journal is created first: after a kill, no PATH.part exists without a journal. */
        FBP_TRY(fbp_journal_create(o));
        if (!stack)
            FBP_TRY(o->store->open(o, true));
        o->owned = true;
    }
    if (!stack) {
        FBP_TRY(o->store->reserve(o));
        FBP_TRY(fbp_output_write_header(o));
    }
    if (!found)
        return FBP_OK;
    FBP_TRY(resume_journal(o));
    return stack ? fbp_stack_clear_missing(o) : FBP_OK;
}

/* Complete the renaming of slice files to their final names, if an earlier run was stopped. */
static fbp_status finish_names(struct fbp_output *o)
{
    unsigned long long n[3] = {0};
    bool gone = false;
    char *text = NULL;
    size_t bytes = 0;

    FBP_TRY(fbp_read_text(o->log, FBP_JOURNAL_MOST_BYTES, &text, &bytes));
    /* NOLINTNEXTLINE(cert-err34-c): fbp has written these numbers */
    if (sscanf(behind_version(text), "%*x size %llu %llu %llu", &n[0], &n[1], &n[2]) != 3 ||
        !strstr(text, "\npublish\n"))
        n[2] = 0;
    free(text);
    return fbp_stack_rename(o, (size_t)n[2], &gone);
}

fbp_status fbp_output_open(struct fbp_output *o, const struct fbp_sink_request *rq)
{
    const bool stack = fbp_output_is_stack(o);
    bool left = false, is_shared = false;
    fbp_status st;

    o->params = rq->params;
    if (rq->share && !rq->share->first) {
        st = fbp_shared_output_join(o, rq->share);
        goto fail;
    }
    FBP_TRY_GOTO(fbp_part_spare(o, stack ? o->log : o->part));
    FBP_TRY_GOTO(fbp_part_lock(o, o->log, true, false, &o->log_fd, &left, &o->log_made));
    if (left)
        FBP_TRY_GOTO(fbp_shared_output_yield(o, &is_shared));
    if (stack && left && !is_shared)
        FBP_TRY_GOTO(finish_names(o));
    if (rq->share || is_shared)
        st = fbp_shared_output_take_over(o, rq->share, left && !is_shared);
    else
        st = begin_alone(o, left);
fail:
    o->params = NULL;
    return st;
}

fbp_status fbp_output_excuse(struct fbp_output *o, fbp_status st)
{
    if (st == FBP_OK || !o->published)
        return st;
    free(o->sink.note);
    o->sink.note = fbp_format("%s; %s is complete nevertheless; remove the remaining files %s*",
                              fbp_message(), o->path, o->part);
    fbp_message_clear();
    return FBP_OK;
}

size_t fbp_output_kept(struct fbp_sink *s)
{
    return s->fingerprint && s->files && s->files->log_fd >= 0 ? s->n_have : 0;
}

void fbp_output_close(struct fbp_sink *s)
{
    const bool own = s->process == getpid(); /* false in a forked process */
    struct fbp_output *o = s->files;

    if (!o)
        return;
    if (own && o->has_reserver) {
        atomic_store(&o->stop_reserver, true);
        pthread_join(o->reserver, NULL);
    }
    /* Remove the files of an unfinished output from which no slice can be resumed. This process
     * still locks the journal, so no other process uses the files. */
    if (own && o->owned && !s->finished && fbp_sink_resumable(s) == 0) {
        if (o->store->remove(o)) /* the journal is removed last, because it proves that PATH.part
                                    belongs to fbp */
            unlink(o->log);
    } else if (own && !o->owned && o->log_made) {
        unlink(o->log);
    }
    if (own && o->made_folder && !s->finished)
        rmdir(o->folder); /* fails if the folder is not empty */
    if (o->log_fd >= 0)
        close(o->log_fd);
    if (o->map)
        munmap(o->map, o->map_bytes);
    if (o->fd >= 0)
        close(o->fd);
    if (o->store->close)
        o->store->close(o);
    fbp_layout_clear(&o->layout);
    free(o->path);
    free(o->part);
    free(o->log);
    free(o->folder);
}
