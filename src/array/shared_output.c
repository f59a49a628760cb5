/* Several processes write one output (see shared_output.h): joining, recovery of slices of ended
 * processes, publication by the last process, leaving.  sink.c and sink_files.c call it.
 *
 * The manifest PATH.part.log has one line that describes the output, and later:
 *
 * "publish INODE": all slices are stored, and PATH.part, the file with this inode, is being
 * renamed.  The inode distinguishes the output from an older file of the same name.  The line of a
 * stack has no inode.
 *
 * "named": all slices of a stack have their final names.  Before this line, a slice without a
 * temporary file either has its final name, if a journal contains its hash, or is lost.
 *
 * "complete BYTES TIME": the output of this size and time is complete.  This line is written only
 * if the file system has no extended attributes (see is_recorded()).
 *
 * If one process began the output alone, its lines of slices precede these lines. */
#include "array/shared_output.h"

#include "array/chunked.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 120 };

static bool is_stack(const struct fbp_sink *s)
{
    return s->kind == FBP_SINK_STACK;
}

static bool is_mine(const struct fbp_sink *s, size_t z0, size_t nz)
{
    return memchr(s->shared->mine + z0, 1, nz);
}

fbp_status fbp_shared_output_create(struct fbp_sink *s, const char *path,
                                    const struct fbp_sink_share *given)
{
    const size_t n = s->info.n[2];

    if (s->fingerprint == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is only written in parts if all they depend on is in files that do "
                        "not change: store the views first",
                        path);
    FBP_TRY(fbp_calloc((void **)&s->shared, 1, sizeof *s->shared, "a part of the output"));
    s->shared->boundary.fd = -1;
    s->shared->own = *given;
    s->shared->own.mine = NULL;
    FBP_TRY(fbp_calloc((void **)&s->shared->mine, n, 1, "a table of slices"));
    for (size_t z = 0; z < n; z++)
        s->shared->mine[z] = given->mine[z] != 0;
    return fbp_boundary_runs(s->shared->mine, n, &s->shared->boundary);
}

void fbp_shared_output_destroy(struct fbp_shared_output **shared)
{
    struct fbp_shared_output *j = *shared;

    if (!j)
        return;
    fbp_boundary_clear(&j->boundary);
    free(j->mine);
    free(j->manifest);
    free(j);
    *shared = NULL;
}

/* --- Files that other programs changed --- */

/* Identity of PATH.part: a hash of its inode and of its birth time, if known, because a new file
 * may get the inode of a removed one. 0: unknown. */
static uint64_t identity_of(const struct fbp_sink *s)
{
    struct statx is = {0};

    if (statx(s->fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &is) < 0)
        return 0;
    const int64_t what[] = {(int64_t)is.stx_ino, is.stx_btime.tv_sec, is.stx_btime.tv_nsec};
    return fbp_hash(1, what, sizeof what);
}

/* Check that PATH.part is the file into which samples were written. If a journal has another
 * identity, PATH.part was copied or replaced: its samples are compared with the hashes of the
 * journal. */
static fbp_status check_file(struct fbp_sink *s)
{
    /* FUSE, CIFS, SMB: inode numbers differ between machines or mounts. */
    static const unsigned others[] = {0x65735546u, 0xff534d42u, 0xfe534d42u};
    struct fbp_peers w = {.sink = s, .own = true};
    unsigned long long identity;
    fbp_status st = FBP_OK;
    void *scratch = NULL;
    struct statfs fs;
    uint64_t hash;

    if (is_stack(s) || s->chunked || fstatfs(s->fd, &fs) < 0)
        return FBP_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((unsigned)fs.f_type == others[i])
            return FBP_OK;
    FBP_TRY(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    while (fbp_peers_next(&w, &st)) {
        const struct fbp_peer *p = &w.peer;
        struct fbp_peer_line line;
        bool other = false;

        for (const char *at = p->lines; at < p->synced; at = strchr(at, '\n') + 1)
            /* NOLINTNEXTLINE(cert-err34-c): a number that is too large matches no file */
            if (sscanf(at, "file 0 %16llx", &identity) == 1)
                other |= identity != identity_of(s);
        for (const char *at = p->lines; st == FBP_OK && other && fbp_peer_next(s, p, &at, &line);) {
            if (!line.synced)
                continue;
            st = fbp_check_cancelled();
            if (st == FBP_OK)
                st = fbp_sink_hash_slices(s, &p->boundary, line.z0, line.nz, scratch, &hash);
            if (st == FBP_OK && hash != line.hash)
                st = fbp_fail(FBP_ERR_IO,
                              "%s: has other samples than were written: another program changed it "
                              "while the output was written: put it back and go on, or remove %s* "
                              "and start again",
                              s->part, s->part);
        }
    }
    fbp_free(scratch);
    return st;
}

/* Check that all chunks with written slices exist. Must precede the copying of boundary blocks,
 * which would fill a missing chunk with zeros. */
static fbp_status check_chunks(struct fbp_sink *s)
{
    const size_t n = s->chunked->levels.level[0].chunks[2], deep = s->chunked->levels.chunk[2];
    struct fbp_peers w = {.sink = s, .own = true};
    struct writer {
        size_t part, n_parts;
    } *layers = NULL; /* last writer of each layer; n_parts 0: all samples are in boundary files */
    struct fbp_peer_line line;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_calloc((void **)&layers, n, sizeof *layers, "a table of layers"));
    while (fbp_peers_next_line(&w, &line, &st))
        for (size_t z = line.z0; line.synced && z < line.z0 + line.nz; z++)
            if (!fbp_boundary_has_start(s, &w.peer.boundary, z))
                layers[z / deep] = (struct writer){w.peer.part, w.peer.n_parts};
    for (size_t k = 0; k < n && st == FBP_OK; k++) {
        const size_t part = layers[k].part, n_parts = layers[k].n_parts;
        char remedy[120];

        snprintf(remedy, sizeof remedy, ".log.%zuof%zu.* and run part %zu of %zu again", part,
                 n_parts, part, n_parts);
        if (n_parts > 0)
            st = fbp_chunked_check_layer(s, 0, k, remedy);
    }
    free(layers);
    return st;
}

/* --- Names of a complete output --- */

/* Whether the output has its final name, according to the text of a manifest. */
static fbp_status find_named(const struct fbp_sink *s, const char *text, bool *named)
{
    char line[LINE] = "\nnamed\n";
    struct stat is;

    *named = true;
    if (!is_stack(s)) {
        FBP_TRY(fbp_stat(s->layout.data_path, &is, named));
        if (*named)
            snprintf(line, sizeof line, "\npublish %llu\n", (unsigned long long)is.st_ino);
    }
    *named = *named && strstr(text, line);
    return FBP_OK;
}

/* Find the first slice of a stack that has neither its final name nor a temporary file; *lost is
 * the number of slices if there is none. */
static fbp_status find_lost(struct fbp_sink *s, size_t *lost)
{
    struct fbp_peers w = {.sink = s, .own = true};
    unsigned char *nameless = NULL; /* 1 for each slice that may have neither */
    struct fbp_peer_line line;
    void *scratch = NULL;
    fbp_status st;

    *lost = s->info.n[2];
    FBP_TRY_GOTO(fbp_calloc((void **)&nameless, s->info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    for (size_t z = 0; z < s->info.n[2]; z++) {
        bool there = true;
        char *part;

        FBP_TRY_GOTO(fbp_sink_stack_name(s, z, ".part", &part));
        st = fbp_file_exists(part, &there);
        free(part);
        if (st != FBP_OK)
            goto fail;
        nameless[z] = !there;
    }
    if (memchr(nameless, 1, s->info.n[2]))
        while (fbp_peers_next_line(&w, &line, &st))
            if (nameless[line.z0] && fbp_sink_stack_has(s, line.z0, line.nz, line.hash, scratch))
                nameless[line.z0] = 0;
    const unsigned char *first = memchr(nameless, 1, s->info.n[2]);
    if (st == FBP_OK && first)
        *lost = (size_t)(first - nameless);
fail:
    fbp_free(scratch);
    free(nameless);
    return st;
}

/* Rename all slices of a stack to their final names, and record that in the manifest. */
static fbp_status name_slices(struct fbp_sink *s, int manifest)
{
    const char *path = s->shared->manifest;
    bool gone = false;
    char *text = NULL, *part;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, FBP_JOURNAL_MOST_BYTES, &text, &n));
    const fbp_status st = find_named(s, text, &s->published);
    free(text);
    FBP_TRY(st);
    if (s->published)
        return FBP_OK;
    FBP_TRY(find_lost(s, &n));
    if (n < s->info.n[2]) {
        FBP_TRY(fbp_sink_stack_name(s, n, ".part", &part));
        (void)!fbp_fail(FBP_ERR_IO,
                        "%s: was removed before the stack was complete: run all parts again", part);
        free(part);
        return FBP_ERR_IO;
    }
    FBP_TRY(fbp_sink_stack_rename(s, s->info.n[2], &gone));
    if (gone) /* removed after find_lost() */
        return fbp_fail(FBP_ERR_IO,
                        "%s: another program removed slices before they had their names: remove "
                        "%s* and start again",
                        s->path, path);
    s->published = true;
    FBP_TRY(fbp_append(manifest, path, "named\n"));
    return fbp_sync_file(manifest, path);
}

/* --- The record of a complete output ---
 *
 * A part that is started again reads the record, and ends without work.  The record is an extended
 * attribute of the output (of a stack: of its first slice): the first line of the manifest, the
 * line "complete", and a line "of N" for each number of parts that wrote it.  If the file system
 * has no extended attributes, the manifest with its line "complete" remains as the record. */

#define ATTRIBUTE "user.fbp.complete"
enum { RECORD = 1024 };

static fbp_status recorded_file(const struct fbp_sink *s, char **out)
{
    return is_stack(s) ? fbp_sink_stack_name(s, 0, "", out)
                       : fbp_part_name(out, "%s", s->layout.data_path);
}

/* Format the line "complete" with the output's size and time. */
static fbp_status describe_output(const struct fbp_sink *s, char line[LINE])
{
    struct stat st;
    char *name;

    FBP_TRY(recorded_file(s, &name));
    const bool there = stat(name, &st) == 0;
    free(name);
    if (!there)
        return fbp_fail(FBP_ERR_IO, "%s: cannot look at it: %s", s->path, strerror(errno));
    snprintf(line, LINE, "\ncomplete %llu %lld.%09ld\n", (unsigned long long)st.st_size,
             (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    return FBP_OK;
}

/* Whether a manifest or record states that the output is complete, and its size and time still
 * agree. */
static bool is_complete(const struct fbp_sink *s, const char *text)
{
    char line[LINE];

    if (!strstr(text, "\ncomplete "))
        return false;
    if (describe_output(s, line) == FBP_OK)
        return strstr(text, line);
    fbp_message_clear();
    return false;
}

/* Whether a complete output with a record of the same settings and number of parts exists. */
static bool is_recorded(const struct fbp_sink *s)
{
    char first[FBP_JOURNAL_LINE], division[40], text[RECORD] = "";
    char *name = NULL;
    bool all =
        recorded_file(s, &name) == FBP_OK && getxattr(name, ATTRIBUTE, text, sizeof text - 1) > 0;

    free(name);
    fbp_journal_first(s, first);
    snprintf(division, sizeof division, "\nof %zu\n", s->shared->own.n_parts);
    all = all && strncmp(text, first, strlen(first)) == 0 && strstr(text, division) &&
          is_complete(s, text);

    /* All its files must exist. */
    if (s->layout.side_path)
        all = all && access(s->layout.side_path, F_OK) == 0;
    for (size_t z = 0; is_stack(s) && all && z < s->info.n[2]; z++) {
        all = fbp_sink_stack_name(s, z, "", &name) == FBP_OK && access(name, F_OK) == 0;
        free(name);
    }
    return all;
}

/* Remove a journal of a complete output. */
static void remove_journal(struct fbp_sink *s, const char *journal)
{
    const int error = fbp_peer_remove_journal(journal);

    if (error == 0)
        return;
    free(s->note);
    s->note = fbp_format("%s: cannot remove: %s: %s is complete, and needs it no more: remove it "
                         "yourself",
                         journal, strerror(error), s->path);
}

static fbp_status record_and_remove(struct fbp_sink *s, int manifest)
{
    struct fbp_peers w = {.sink = s}, all = {.sink = s, .own = true};
    const char *path = s->shared->manifest;
    char line[LINE] = "", record[RECORD], *name, *text = NULL;
    fbp_status st = FBP_OK;
    size_t n = 0;

    if (s->chunked)
        FBP_TRY(fbp_chunked_settle_old(s));
    bool recorded = s->shared->own.first; /* processes that start together end together */
    if (!recorded) {
        FBP_TRY(describe_output(s, line));
        fbp_journal_first(s, record);
        strcat(record, line + 1); /* record already ends with a newline */
        n = strlen(record);
        snprintf(record + n, sizeof record - n, "of %zu\n", s->shared->own.n_parts);
        while (fbp_peers_next(&w, &st)) {
            char division[40];

            snprintf(division, sizeof division, "\nof %zu\n", w.peer.n_parts);
            if (!strstr(record, division) && strlen(record) + strlen(division) < RECORD)
                strcat(record, division + 1);
        }
        FBP_TRY(st);
        FBP_TRY(recorded_file(s, &name));
        recorded = setxattr(name, ATTRIBUTE, record, strlen(record), 0) == 0;
        free(name);
    }
    if (!recorded) {
        FBP_TRY(fbp_read_text(path, FBP_JOURNAL_MOST_BYTES, &text, &n));
        const bool noted = strstr(text, line);
        free(text);
        if (!noted) {
            FBP_TRY(fbp_append(manifest, path, line + 1));
            FBP_TRY(fbp_sync_file(manifest, path));
        }
    }
    while (fbp_peers_next(&all, &st))
        remove_journal(s, all.peer.path);
    FBP_TRY(st);
    return !recorded || unlink(path) == 0 || errno == ENOENT ? FBP_OK
                                                             : fbp_fail_write(path, errno, 0);
}

/* Record that the output is complete, and remove the files of its processes; the manifest, whose
 * lock is held, is removed last. Failures become s->note. */
static void complete(struct fbp_sink *s, int manifest)
{
    s->published = s->shared->complete = true;
    (void)!fbp_sink_excuse(s, record_and_remove(s, manifest));
}

/* --- The manifest --- */

struct manifest {
    int fd;        /* descriptor; locked */
    bool left;     /* it existed before */
    bool shared;   /* it describes an output of several processes */
    bool ours;     /* it describes this output, written by the same release */
    bool alone;    /* it describes this output, written by one process */
    bool publish;  /* all slices were stored, and renaming had begun */
    bool named;    /* the output has its final name */
    bool complete; /* the output is complete and unchanged */
    bool old;      /* record of a complete output that has changed since, or has other settings */
};

/* Read all members except `fd` and `left`. */
static fbp_status read_manifest(const struct fbp_sink *s, struct manifest *m)
{
    const size_t at = strlen("fbp-journal "); /* position of the version, one digit */
    char line[FBP_JOURNAL_LINE];
    char *text = NULL;
    size_t n = 0;

    if (!m->left)
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->shared->manifest, FBP_JOURNAL_MOST_BYTES, &text, &n));
    fbp_journal_first(s, line);
    fbp_status st = FBP_OK;
    m->shared = strncmp(text, FBP_PART_MANIFEST, strlen(FBP_PART_MANIFEST)) == 0;
    m->ours = strncmp(text, line, strlen(line)) == 0;
    m->alone = !m->shared && strncmp(text, line, at) == 0 && text[at] &&
               strncmp(text + at + 1, line + at + 1, strlen(line) - at - 1) == 0;
    m->publish = strstr(text, "\npublish");
    if (m->publish && m->ours)
        st = find_named(s, text, &m->named);
    m->complete = m->publish && m->ours && is_complete(s, text);
    m->old = m->publish && strstr(text, "\ncomplete ") && !m->complete;
    free(text);
    return st;
}

/* Turn the locked journal of one process into a manifest. Only one byte changes, the version: after
 * a kill the file is either the one or the other. */
static fbp_status share_journal(int fd, const char *path)
{
    const size_t at = strlen("fbp-journal ");

    if (fcntl(fd, F_SETFL, 0) < 0) /* with O_APPEND, every write goes to the end of the file */
        return fbp_fail_write(path, errno, 0);
    FBP_TRY(fbp_write_at(fd, path, at, &FBP_PART_MANIFEST[at], 1));
    if (fcntl(fd, F_SETFL, O_APPEND) < 0)
        return fbp_fail_write(path, errno, 0);
    return fbp_sync_file(fd, path);
}

static fbp_status refuse_running(const struct fbp_sink *s, const struct fbp_peer *p)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: part %zu of %zu is being written by %s: wait for it, or choose another "
                    "name",
                    s->path, p->part, p->n_parts, p->who[0] ? p->who : "another process");
}

/* Remove the journals of processes, which must have ended. Otherwise their slices would count as
 * slices of this output. */
static fbp_status drop_peers(struct fbp_sink *s)
{
    struct fbp_peers w = {.sink = s};
    fbp_status st = FBP_OK;

    while (fbp_peers_next(&w, &st)) {
        if (w.peer.alive) {
            st = refuse_running(s, &w.peer);
            continue;
        }
        const int error = fbp_peer_remove_journal(w.peer.path);
        if (error)
            st = fbp_fail(FBP_ERR_IO,
                          "%s: cannot remove: %s: remove it yourself, or choose another name "
                          "for the output",
                          w.peer.path, strerror(error));
    }
    return st;
}

static fbp_status clear_old(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours)
{
    FBP_TRY(drop_peers(s));
    return is_stack(s) ? fbp_sink_stack_clear(s, inputs, ours)
                       : fbp_sink_part_clear(s, inputs, ours);
}

/* Check that the manifest belongs to this output. Otherwise it is rewritten or refused. */
static fbp_status take_manifest(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                const struct manifest *m)
{
    const char *path = s->shared->manifest;
    char line[FBP_JOURNAL_LINE];
    bool there = true; /* PATH.part exists; always true for a stack */
    struct stat st;

    fbp_journal_first(s, line);
    if (!m->left && is_recorded(s)) {
        s->shared->complete = true;
        return FBP_OK;
    }
    if (!is_stack(s))
        FBP_TRY(fbp_stat(s->part, &st, &there));

    /* This is the first process, or the manifest belongs to an older, finished output. */
    if (!m->left || m->old || (m->publish && !m->ours && !there)) {
        if (ftruncate(m->fd, 0) < 0)
            return fbp_fail_write(path, errno, 0);
        FBP_TRY(clear_old(s, inputs, false));
        s->shared->joined = true;
        if (is_stack(s))
            FBP_TRY(fbp_sink_stack_check_room(s, m->fd));
        return fbp_append(m->fd, path, line);
    }
    if (!m->ours && m->shared)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: belongs to parts with other options, another scan or another "
                        "release of fbp: use the same, or remove it and %s*",
                        s->part, path);
    if (!m->ours && m->alone)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: an interrupted run without --part left it: finish it with "
                        "--resume, or remove it and %s",
                        s->part, path);
    if (!m->ours)
        return fbp_fail(
            FBP_ERR_INVALID,
            "%s: an interrupted run without --part, with other options, another scan or "
            "another release of fbp left it: remove it and %s, or choose another name",
            s->part, path);

    /* A process was publishing. It may have stopped before or after the renaming, or another
     * program may have removed samples since. */
    bool lost = !there, published = m->publish;
    if (m->complete) {
        lost = false;
    } else if (m->publish && is_stack(s) && !m->named) {
        size_t first;

        FBP_TRY(find_lost(s, &first));
        lost = first < s->info.n[2];
        if (!lost)
            FBP_TRY(fbp_sink_excuse(s, name_slices(s, m->fd)));
    } else if (m->publish && !is_stack(s)) {
        published = !there;
        lost = !there && !m->named;
    }
    if (published && !lost)
        complete(s, m->fd);
    s->shared->joined = true;
    if (!lost)
        return FBP_OK;
    FBP_TRY(clear_old(s, inputs, true));
    return ftruncate(m->fd, (off_t)strlen(line)) == 0 ? FBP_OK : fbp_fail_write(path, errno, 0);
}

/* --- Recovery: slices that ended processes stored without "synced" --- */

/* Recover slices of this process from a journal. scratch: FBP_WRITE_BUFFER_BYTES. */
static fbp_status recover_peer(struct fbp_sink *s, const struct fbp_peer *p, void *scratch)
{
    struct fbp_peer_line line;

    for (const char *next = p->lines; !p->alive && fbp_peer_next(s, p, &next, &line);) {
        if (line.synced || !is_mine(s, line.z0, line.nz) || fbp_sink_has(s, line.z0, line.nz) ||
            !fbp_sink_is_stored(s, &p->boundary, line.z0, line.nz, line.hash, scratch))
            continue;
        FBP_TRY(fbp_check_cancelled());
        for (size_t z = line.z0; z < line.z0 + line.nz; z++) {
            const uint64_t at = s->part_offset + (uint64_t)z * s->slice_bytes;

            if (!s->shared->mine[z] || s->have[z])
                continue;
            uint64_t hash = is_stack(s) ? line.hash : 0;
            for (size_t done = 0; !is_stack(s) && done < s->slice_bytes;) {
                const size_t left = s->slice_bytes - done;
                const size_t n = left < FBP_WRITE_BUFFER_BYTES ? left : FBP_WRITE_BUFFER_BYTES;

                FBP_TRY(fbp_boundary_get(s, &p->boundary, at + done, scratch, n));
                FBP_TRY(fbp_boundary_put(s, at + done, scratch, n));
                hash = fbp_hash(hash, scratch, n);
                done += n;
            }
            FBP_TRY(fbp_journal_append(s, z, 1, hash));
            fbp_sink_mark(s, z, 1);
            if (s->chunked)
                FBP_TRY(fbp_chunked_count(s, z, 1));
        }
    }
    return FBP_OK;
}

/* Read lines of slices in the manifest as the journal of a single process that wrote all slices,
 * without boundary blocks; free out->text. */
static fbp_status read_alone(const struct fbp_sink *s, struct fbp_slice_run *all,
                             struct fbp_peer *out)
{
    size_t n = 0;

    *all = (struct fbp_slice_run){0, s->info.n[2]};
    *out = (struct fbp_peer){.path = s->shared->manifest,
                             .boundary = {.runs = all, .n_runs = 1, .block = 1, .fd = -1}};
    FBP_TRY(fbp_read_text(s->shared->manifest, FBP_JOURNAL_MOST_BYTES, &out->text, &n));
    const char *newline = strchr(out->text, '\n');
    out->lines = out->synced = newline ? newline + 1 : out->text + n;
    return FBP_OK;
}

static fbp_status recover(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    struct fbp_peers w = {.sink = s};
    struct fbp_peer alone = {0};
    struct fbp_slice_run all;
    void *scratch = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    while (fbp_peers_next(&w, &st))
        st = recover_peer(s, &w.peer, scratch);
    if (st != FBP_OK)
        goto fail;
    FBP_TRY_GOTO(read_alone(s, &all, &alone));
    FBP_TRY_GOTO(recover_peer(s, &alone, scratch));
    if (is_stack(s))
        st = fbp_sink_stack_clear_missing(s, inputs);
fail:
    free(alone.text);
    fbp_free(scratch);
    return st;
}

/* --- Joining --- */

/* Open PATH.part. The first process reserves its full size before it begins a journal. Therefore,
 * if PATH.part is too short and a journal exists, slices of the journal were lost. */
static fbp_status open_part(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    struct fbp_peers w = {.sink = s};
    fbp_status st = FBP_OK;
    size_t journals = 0;
    struct stat is;

    FBP_TRY(fbp_sink_part_reopen(s, inputs));
    if (s->fd < 0) {
        FBP_TRY(fbp_sink_part_create(s));
        return fbp_sink_reserve(s);
    }
    while (fbp_peers_next(&w, &st))
        journals++;
    FBP_TRY(st);
    const bool known = s->chunked || fstat(s->fd, &is) == 0;
    if (s->chunked || (known && (uint64_t)is.st_size >= fbp_sink_part_bytes(s)))
        return check_file(s); /* before samples are written to a wrong file */
    if (journals == 0)
        return fbp_sink_reserve(s);
    if (!known)
        return fbp_fail(FBP_ERR_IO, "%s: cannot look at: %s", s->part, strerror(errno));
    return fbp_fail(FBP_ERR_IO,
                    "%s: is too short: another program changed it while the output was "
                    "written: put it back and go on, or remove %s* and start again",
                    s->part, s->part);
}

/* Join; the manifest is locked. */
static fbp_status join(struct fbp_sink *s, const struct fbp_part_inputs *inputs, struct manifest *m)
{
    struct fbp_peers w = {.sink = s};
    struct fbp_peer_line line;
    fbp_status st = FBP_OK;

    FBP_TRY(read_manifest(s, m));
    if (m->alone && inputs->params->resume) { /* parts resume the output of one process */
        FBP_TRY(share_journal(m->fd, s->shared->manifest));
        FBP_TRY(read_manifest(s, m));
    }
    FBP_TRY(take_manifest(s, inputs, m));
    if (s->shared->complete)
        return FBP_OK;
    if (is_stack(s))
        FBP_TRY(fbp_sink_stack_check_others(s));
    while (fbp_peers_next(&w, &st)) { /* no running process may own slices of this process */
        const struct fbp_boundary *b = &w.peer.boundary;

        for (size_t i = 0; w.peer.alive && st == FBP_OK && i < b->n_runs; i++)
            if (is_mine(s, b->runs[i].z0, b->runs[i].nz))
                st = refuse_running(s, &w.peer);
        for (const char *at = w.peer.lines; st == FBP_OK && fbp_peer_next(s, &w.peer, &at, &line);)
            if (line.synced)
                fbp_sink_mark(s, line.z0, line.nz);
    }
    FBP_TRY(st);
    if (!is_stack(s)) /* after the journals: PATH.part then contains the samples that they list */
        FBP_TRY(open_part(s, inputs));
    return fbp_peers_begin_journal(s);
}

fbp_status fbp_shared_output_join(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    struct manifest m = {.fd = -1};
    fbp_status st;
    bool made;

    s->shared->manifest = s->log;
    s->log = NULL;
    FBP_TRY(fbp_part_spare(inputs, s->shared->manifest));
    if (!is_stack(s))
        FBP_TRY(fbp_part_spare(inputs, s->part));
    FBP_TRY(fbp_part_lock(inputs, s->shared->manifest, true, true, &m.fd, &m.left, &made));
    st = fbp_sink_lock_second(s, inputs); /* no process writes these files under another name */
    if (st == FBP_OK) {
        fbp_sink_unlock_second(s);
        st = join(s, inputs, &m);
    }
    if (!m.left && !s->shared->joined)
        unlink(s->shared->manifest); /* locked: no process has started with it */
    close(m.fd);
    if (st == FBP_OK && !s->shared->complete)
        st = recover(s, inputs);
    if (s->shared->complete)
        fbp_sink_mark(s, 0, s->info.n[2]);
    return st;
}

bool fbp_shared_output_is_left(const struct fbp_sink *s)
{
    char text[sizeof FBP_PART_MANIFEST] = "";

    return pread(s->log_fd, text, sizeof text - 1, 0) == (ssize_t)sizeof text - 1 &&
           strcmp(text, FBP_PART_MANIFEST) == 0;
}

fbp_status fbp_shared_output_yield(struct fbp_sink *s, bool resume)
{
    char *text = NULL;
    size_t n = 0;

    if (!fbp_shared_output_is_left(s))
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->log, FBP_JOURNAL_MOST_BYTES, &text, &n));
    const bool is_record = strstr(text, "\ncomplete "); /* complete: cannot be resumed */
    free(text);
    if (is_record)
        return ftruncate(s->log_fd, 0) == 0 ? FBP_OK : fbp_fail_write(s->log, errno, 0);
    return resume ? FBP_OK : drop_peers(s);
}

fbp_status fbp_shared_output_take_over(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                       bool left, bool resume)
{
    bool found = false;

    if (left && !(resume && fbp_shared_output_is_left(s))) {
        if (resume)
            FBP_TRY(fbp_journal_find(s, &found));
        if (found) {
            FBP_TRY(share_journal(s->log_fd, s->log));
        } else {
            FBP_TRY(is_stack(s) ? fbp_sink_stack_clear(s, inputs, true)
                                : fbp_sink_file_clear(s, inputs, true, true));
            if (ftruncate(s->log_fd, 0) < 0)
                return fbp_fail_write(s->log, errno, 0);
        }
    }
    close(s->log_fd);
    s->log_fd = -1;
    s->log_made = false;
    fbp_sink_unlock_second(s);
    if (!s->shared) { /* one process resumes an output of several, as part 1 of 1 */
        struct fbp_sink_share own = {.part = 1, .n_parts = 1};
        unsigned char *mine = NULL;

        FBP_TRY(fbp_alloc((void **)&mine, s->info.n[2], "a table of slices"));
        memset(mine, 1, s->info.n[2]);
        own.mine = mine;
        const fbp_status st = fbp_shared_output_create(s, s->path, &own);
        fbp_free(mine);
        FBP_TRY(st);
    }
    return fbp_shared_output_join(s, inputs);
}

/* --- Finishing --- */

/* Copy the boundary blocks of all processes, write the header, and rename PATH.part. After a kill,
 * the next process repeats all of this with the same bytes. */
static fbp_status publish(struct fbp_sink *s, int manifest)
{
    struct fbp_peers w = {.sink = s, .own = true}, layers = {.sink = s, .own = true};
    unsigned char *done = NULL; /* 1 for each slice that is complete in PATH.part */
    char text[LINE] = "publish\n";
    struct fbp_peer_line line;
    void *scratch = NULL;
    struct stat is;
    fbp_status st;

    if (!is_stack(s)) {
        if (fstat(s->fd, &is) < 0)
            return fbp_fail(FBP_ERR_IO, "%s: cannot look at: %s", s->part, strerror(errno));
        snprintf(text, sizeof text, "publish %llu\n", (unsigned long long)is.st_ino);
    }
    FBP_TRY(fbp_append(manifest, s->shared->manifest, text));
    FBP_TRY(fbp_sync_file(manifest, s->shared->manifest));
    if (is_stack(s))
        return name_slices(s, manifest);

    FBP_TRY(fbp_sink_write_header(s));
    FBP_TRY_GOTO(fbp_calloc((void **)&done, s->info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    while (fbp_peers_next_line(&w, &line, &st))
        if (line.synced) {
            st = fbp_boundary_copy(s, &w.peer.boundary, line.z0, line.nz, scratch);
            memset(done + line.z0, 1, line.nz);
        }
    if (st != FBP_OK)
        goto fail;
    const unsigned char *lost = memchr(done, 0, s->info.n[2]);
    if (lost) {
        st =
            fbp_fail(FBP_ERR_IO,
                     "%s: slice %zu is not whole: a journal or its edges (%s.*) were removed while "
                     "the output was written: run it again, which computes what is lost",
                     s->path, (size_t)(lost - done), s->shared->manifest);
        goto fail;
    }
    while (s->chunked && fbp_peers_next(&layers, &st))
        for (const char *at = layers.peer.lines; at < layers.peer.synced; at = strchr(at, '\n') + 1)
            fbp_chunked_take_line(s, at);
    if (st == FBP_OK)
        st = fbp_sink_publish_names(s);
fail:
    fbp_free(scratch);
    free(done);
    return st;
}

/* Check the files, publish, and remove all files that are no longer needed. */
static fbp_status commit(struct fbp_sink *s, const struct fbp_part_inputs *inputs, int manifest)
{
    char *side; /* small file that a kill during publication may have left */

    FBP_TRY(check_file(s));
    if (s->chunked)
        FBP_TRY(check_chunks(s));
    FBP_TRY(fbp_part_name(&side, "%s.side", s->part));
    fbp_status st = fbp_part_clear(inputs, side, true);
    free(side);
    FBP_TRY(st);
    FBP_TRY(fbp_sink_lock_second(s, inputs));
    st = publish(s, manifest);
    fbp_sink_unlock_second(s);
    FBP_TRY(fbp_sink_excuse(s, st));
    complete(s, manifest);
    fbp_sync_folder(s->path);
    return FBP_OK;
}

/* Check that PATH.part was renamed to the output's name; it no longer has its temporary name. */
static fbp_status check_renamed(const struct fbp_sink *s)
{
    bool named = true;

    if (!is_stack(s))
        FBP_TRY(fbp_part_find_named(s->fd, s->layout.data_path, &named));
    if (named)
        return FBP_OK;
    return fbp_fail(
        FBP_ERR_IO,
        "%s: was moved or removed while the output was written, or %s has been replaced "
        "since then: start again if it is not there",
        s->part, s->path);
}

fbp_status fbp_shared_output_finish(struct fbp_sink *s)
{
    const struct fbp_sink_params none = {.struct_size = sizeof none};
    const struct fbp_part_inputs inputs = {.params = &none};
    struct fbp_shared_output *j = s->shared;
    struct fbp_peers w = {.sink = s};
    struct fbp_peer_line synced;
    bool left, made, unpublished = false;
    char line[60];
    fbp_status st;
    int fd;

    if (!j->manifest || j->complete)
        return FBP_OK;

    /* The slices of this process are synced to disk; then the journal gets its line "synced". */
    if (is_stack(s)) {
        if (syncfs(s->log_fd) < 0)
            return fbp_fail_write(s->path, errno, 0);
    } else {
        FBP_TRY(fbp_sink_sync(s));
        FBP_TRY(fbp_sync_file(j->boundary.fd, j->boundary.path));
    }
    if (!is_stack(s) && !s->chunked) {
        snprintf(line, sizeof line, "file 0 %016llx\n", (unsigned long long)identity_of(s));
        FBP_TRY(fbp_append(s->log_fd, s->log, line));
    }
    FBP_TRY(fbp_append(s->log_fd, s->log, "synced\n"));
    FBP_TRY(fbp_sync_file(s->log_fd, s->log));
    fbp_sync_folder(s->path);
    if (j->own.led)
        return FBP_OK;

    FBP_TRY(fbp_part_lock(&inputs, j->manifest, false, true, &fd, &left, &made));
    if (!is_stack(s)) {
        st = fbp_part_find_named(s->fd, s->part, &unpublished);
        if (st != FBP_OK)
            goto fail;
    }
    if (fd < 0) { /* another process has published: the manifest is removed last */
        if (unpublished)
            return fbp_fail(
                FBP_ERR_IO,
                "%s: was removed while the output was written: remove %s, too, and start again",
                j->manifest, s->part);
        FBP_TRY(check_renamed(s));
        j->complete = true;
        fbp_sink_mark(s, 0, s->info.n[2]);
        remove_journal(s, s->log);
        return FBP_OK;
    }

    fbp_peers_refresh(s->log);
    st = FBP_OK;
    while (fbp_peers_next_line(&w, &synced, &st))
        if (synced.synced)
            fbp_sink_mark(s, synced.z0, synced.nz);
    if (st != FBP_OK)
        goto fail;
    if (s->n_have < s->info.n[2]) {
        if (j->own.first)
            st = fbp_fail(FBP_ERR_IO,
                          "%s: all processes have written their slices, but %zu of %zu are not "
                          "there: journals (%s.*) were removed, or this machine does not see them: "
                          "run it again with --resume",
                          s->path, s->info.n[2] - s->n_have, s->info.n[2], j->manifest);
    } else if (is_stack(s) || unpublished) {
        st = commit(s, &inputs, fd);
    } else { /* the process that renamed it ended before it removed its files */
        FBP_TRY_GOTO(check_renamed(s));
        complete(s, fd);
    }
fail:
    if (fd >= 0)
        close(fd);
    return st;
}

/* --- Leaving --- */

size_t fbp_shared_output_kept(struct fbp_sink *s)
{
    struct fbp_cancel_scope deaf = {.deaf = true}, *const before = fbp_cancel_scope(&deaf);
    unsigned char *noted = malloc(s->info.n[2]);
    struct fbp_peers w = {.sink = s, .own = true};
    struct fbp_peer_line line;
    fbp_status st = FBP_OK;
    size_t n = 0;

    if (noted) {
        memcpy(noted, s->have, s->info.n[2]);
        while (fbp_peers_next_line(&w, &line, &st))
            memset(noted + line.z0, 1, line.nz);
    }
    for (size_t z = 0; noted && z < s->info.n[2]; z++)
        n += noted[z];
    (void)fbp_cancel_scope(before);
    free(noted);
    return n;
}

/* Whether any process has recorded slices: its journal exists, or the manifest was the journal of
 * one process. */
static bool has_slices(struct fbp_sink *s)
{
    struct fbp_peers w = {.sink = s};
    struct fbp_peer alone;
    struct fbp_peer_line line;
    struct fbp_slice_run all;
    fbp_status st = FBP_OK;
    size_t n = 0;

    while (fbp_peers_next(&w, &st))
        n++;
    if (st != FBP_OK || n > 0 || read_alone(s, &all, &alone) != FBP_OK)
        return true; /* also if unknown */
    const char *at = alone.lines;
    const bool any = fbp_peer_next(s, &alone, &at, &line);
    free(alone.text);
    return any;
}

void fbp_shared_output_leave(struct fbp_sink *s)
{
    const struct fbp_sink_params none = {.struct_size = sizeof none};
    const struct fbp_part_inputs inputs = {.params = &none};
    struct fbp_cancel_scope deaf = {.deaf = true}, *before;
    const struct fbp_shared_output *j = s->shared;
    struct stat st;
    bool left, made;
    int fd;

    if (!j->joined || j->complete || s->finished)
        return;
    if (s->fingerprint && s->log_fd >= 0 && j->begin > 0 && fstat(s->log_fd, &st) == 0 &&
        (uint64_t)st.st_size > j->begin)
        return; /* other processes can use its slices */
    if (s->log)
        (void)fbp_peer_remove_journal(s->log);
    free(s->log);
    s->log = NULL;

    /* The last process to leave an output without slices removes it. */
    before = fbp_cancel_scope(&deaf);
    if (fbp_part_lock(&inputs, j->manifest, false, true, &fd, &left, &made) == FBP_OK && fd >= 0) {
        if (!has_slices(s)) {
            if (is_stack(s))
                fbp_sink_stack_remove(s);
            else
                (void)fbp_sink_part_remove(s);
            unlink(j->manifest);
        }
        close(fd);
    }
    (void)fbp_cancel_scope(before);
}

/* --- Probes: whether two processes share a file system --- */

void fbp_sink_probe(const struct fbp_sink *s, struct fbp_sink_probe *out)
{
    *out = (struct fbp_sink_probe){.path = ""};
    if (!s->shared || !s->log || strlen(s->log) >= sizeof out->path)
        return;
    if (pread(s->log_fd, out->text, sizeof out->text - 1, 0) >
        0) /* its journal has a unique name */
        snprintf(out->path, sizeof out->path, "%s", s->log);
}

bool fbp_sink_sees_probe(const struct fbp_sink_probe *probe)
{
    static const struct timespec moment = {.tv_nsec = 50000000L};
    static const double patience_s = 3; /* greatest delay of a file system [s] */
    const double until = fbp_seconds() + patience_s;

    for (;;) {
        char text[sizeof probe->text] = "";
        const int fd = open(probe->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        const bool same = fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0 &&
                          strncmp(text, probe->text, strlen(probe->text)) == 0;

        if (fd >= 0)
            close(fd);
        if (same)
            return true;
        if (fbp_seconds() > until)
            return false;
        fbp_peers_refresh(probe->path);
        char *folder = fbp_path_join(probe->path, ".");
        DIR *dir = folder ? opendir(folder) : NULL; /* opening also refreshes cached names */
        if (dir) {
            (void)!readdir(dir);
            closedir(dir);
        }
        free(folder);
        nanosleep(&moment, NULL);
    }
}
