/* An output that several processes write (`--part`, MPI ranks): joining
 * (fbp_shared_output_join()), recovery of slices of ended processes, publication (renaming to the
 * final name) by the process that finds all slices stored, and leaving. Also contains probes
 * (fbp_sink_probe()), with which MPI ranks find whether they all use the same file system.
 * shared_output.h describes the files.
 * Used by: output_files.c, pipeline/team_run.c. */
#include "array/shared_output.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const struct fbp_sink_calls shared_calls;

enum { LINE = 120 };

/*
 * The manifest PATH.part.log begins with the line that describes the output. Further lines:
 *
 * "publish INODE": all slices are stored, and PATH.part, the file with this inode number, is being
 * renamed. The number distinguishes the output from an older file of the same name. For a stack
 * (one file per slice), the line has no number.
 *
 * "named": all slices of a stack have their final names. Without this line, a slice without a
 * temporary file was either renamed already, if its file has a hash that a journal lists, or is
 * lost.
 *
 * "complete BYTES TIME": the output (of a stack: its first slice) of this size and modification
 * time is complete. This line is written only if the file system stores no extended attributes of
 * files (see is_recorded()).
 *
 * If a single process without --part began the output, the manifest was its journal: its lines "z0
 * nz hash" (stored slices) precede the lines described above.
 */

/* --- Names of a complete output --- */

/* Find whether the output has its final name, by the text of its manifest and that file. */
static fbp_status find_named(struct fbp_output *o, const char *text, bool *named)
{
    char line[LINE] = "\nnamed\n";
    struct stat is;

    *named = true;
    if (!fbp_output_is_stack(o)) {
        FBP_TRY(fbp_stat(o->layout.data_path, &is, named));
        if (*named)
            snprintf(line, sizeof line, "\npublish %llu\n", (unsigned long long)is.st_ino);
    }
    *named = *named && strstr(text, line);
    return FBP_OK;
}

/* Find the first lost slice in an output of one file per slice: it has no temporary file, and no
 * file with its final name and a hash that a journal records. *lost: its index, or the number of
 * slices if none is lost. */
static fbp_status find_lost(struct fbp_output *o, size_t *lost)
{
    struct fbp_peers w = {.output = o, .own = true};
    unsigned char *nameless = NULL; /* [slice] 1: no file of the slice was found yet */
    const size_t n = o->sink.info.n[2];
    struct fbp_peer_line line;
    void *scratch = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&nameless, n, 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    for (size_t z = 0; z < n; z++) {
        bool there = true;

        FBP_TRY_GOTO(fbp_file_exists(fbp_sink_slice_name(o, z, ".part").text, &there));
        nameless[z] = !there;
    }
    if (memchr(nameless, 1, n))
        while (fbp_peers_next_line(&w, &line, &st))
            if (nameless[line.z0] && o->store->has(o, NULL, line.z0, line.nz, line.hash, scratch))
                nameless[line.z0] = 0;
    const unsigned char *first = memchr(nameless, 1, n);
    *lost = st == FBP_OK && first ? (size_t)(first - nameless) : n;
fail:
    fbp_free(scratch);
    free(nameless);
    return st;
}

/* Rename all slice files to their final names, if needed, and record it in the manifest. */
static fbp_status name_slices(struct fbp_output *o, int manifest)
{
    const char *path = o->shared->manifest;
    bool gone = false;
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, FBP_JOURNAL_MOST_BYTES, &text, &n));
    const fbp_status st = find_named(o, text, &o->published);
    free(text);
    if (st != FBP_OK || o->published)
        return st;
    FBP_TRY(find_lost(o, &n));
    if (n < o->sink.info.n[2])
        return fbp_fail(
            FBP_ERR_IO,
            "%s: was removed before the stack of slices was complete; run all parts again",
            fbp_sink_slice_name(o, n, ".part").text);
    FBP_TRY(fbp_stack_rename(o, o->sink.info.n[2], &gone));
    if (gone) /* slices were removed after find_lost() */
        return fbp_fail(FBP_ERR_IO,
                        "%s: another program removed slices before the output was complete; remove "
                        "%s* and start again",
                        o->path, path);
    o->published = true;
    FBP_TRY(fbp_append(manifest, path, "named\n"));
    return fbp_sync_file(manifest, path);
}

/* --- The record of a complete output ---
 *
 * If a part (--part) of a complete output is run again, it reads the record and computes nothing.
 * The record is an extended attribute of the output (of a stack: of its first slice): the first
 * line of the manifest, and the line "complete". If the file system has no extended attributes, the
 * manifest with its line "complete" remains as the record. */

#define ATTRIBUTE "user.fbp.complete"
enum { RECORD = 1024 };

/* Print the manifest's line "complete" with size and modification time of the output (of a stack:
 * of its first slice); false: the output does not exist. */
static bool describe_output(struct fbp_output *o, char line[LINE])
{
    struct stat st;

    if (stat(o->layout.data_path, &st) < 0)
        return false;
    snprintf(line, LINE, "\ncomplete %llu %lld.%09ld\n", (unsigned long long)st.st_size,
             (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    return true;
}

/* Whether a manifest or record states that the output is complete, and the output still has the
 * size and modification time recorded there. */
static bool is_complete(struct fbp_output *o, const char *text)
{
    char line[LINE];

    return strstr(text, "\ncomplete ") && describe_output(o, line) && strstr(text, line);
}

/* Whether all files of the output exist, and its extended attribute (see above) states that it is
 * complete and was written with the settings of this run. */
static bool is_recorded(struct fbp_output *o)
{
    char first[FBP_JOURNAL_LINE], text[RECORD] = "";
    bool all = getxattr(o->layout.data_path, ATTRIBUTE, text, sizeof text - 1) > 0;

    fbp_journal_first(o, first);
    all = all && strncmp(text, first, strlen(first)) == 0 && is_complete(o, text);

    /* All files of the output must exist. */
    if (o->layout.side_path)
        all = all && access(o->layout.side_path, F_OK) == 0;
    for (size_t z = 0; fbp_output_is_stack(o) && all && z < o->sink.info.n[2]; z++)
        all = access(fbp_sink_slice_name(o, z, "").text, F_OK) == 0;
    return all;
}

static void remove_journal(struct fbp_output *o, const char *journal)
{
    const int error = fbp_peer_remove_journal(journal);

    if (error == 0)
        return;
    free(o->sink.note);
    o->sink.note = fbp_format(
        "%s: cannot remove: %s; %s is complete and no longer needs this file, so remove it",
        journal, strerror(error), o->path);
}

static fbp_status record_and_remove(struct fbp_output *o, int manifest)
{
    struct fbp_peers w = {.output = o, .own = true};
    const char *path = o->shared->manifest;
    char line[LINE] = "", record[RECORD], *text = NULL;
    fbp_status st = FBP_OK;
    size_t n = 0;

    if (o->store->settle)
        FBP_TRY(o->store->settle(o));
    bool recorded = o->shared->own.first; /* MPI ranks end together */
    if (!recorded) {
        if (!describe_output(o, line))
            return fbp_fail_status(o->path);
        fbp_journal_first(o, record);
        strcat(record, line + 1); /* record already ends with a newline */
        recorded = setxattr(o->layout.data_path, ATTRIBUTE, record, strlen(record), 0) == 0;
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
    while (fbp_peers_next(&w, &st))
        remove_journal(o, w.peer.path);
    FBP_TRY(st);
    return !recorded || unlink(path) == 0 || errno == ENOENT ? FBP_OK
                                                             : fbp_fail_write(path, errno, 0);
}

/* Record that the output is complete, and remove the journals of all processes, then the manifest,
 * which is locked, unless it is the record. Failures become a note (o->sink.note). */
static void complete(struct fbp_output *o, int manifest)
{
    o->published = o->shared->complete = true;
    (void)!fbp_output_excuse(o, record_and_remove(o, manifest));
}

/* --- The manifest --- */

struct manifest {
    int fd;      /* descriptor; locked */
    bool left;   /* the manifest existed before */
    bool shared; /* the manifest describes an output of several processes */
    bool ours;   /* the manifest describes this output, with the same settings and build of fbp */
    bool alone;  /* the manifest is the journal of a single process, without --part, that began this
                    output */
    bool publish;  /* the manifest has the line "publish": renaming to final names had begun */
    bool named;    /* the output has its final name */
    bool complete; /* the output is complete and unchanged */
    /* the manifest records a complete output that was changed later, or has other settings */
    bool old;
};

/* Read all members except `fd` and `left`. */
static fbp_status read_manifest(struct fbp_output *o, struct manifest *m)
{
    const size_t at = strlen("fbp-journal "); /* position of the version, one digit */
    char line[FBP_JOURNAL_LINE];
    char *text = NULL;
    size_t n = 0;

    if (!m->left)
        return FBP_OK;
    FBP_TRY(fbp_read_text(o->shared->manifest, FBP_JOURNAL_MOST_BYTES, &text, &n));
    fbp_journal_first(o, line);
    fbp_status st = FBP_OK;
    m->shared = strncmp(text, FBP_PART_MANIFEST, strlen(FBP_PART_MANIFEST)) == 0;
    m->ours = strncmp(text, line, strlen(line)) == 0;
    m->alone = !m->shared && strncmp(text, line, at) == 0 && text[at] &&
               strncmp(text + at + 1, line + at + 1, strlen(line) - at - 1) == 0;
    m->publish = strstr(text, "\npublish");
    if (m->publish && m->ours)
        st = find_named(o, text, &m->named);
    m->complete = m->publish && m->ours && is_complete(o, text);
    m->old = m->publish && strstr(text, "\ncomplete ") && !m->complete;
    free(text);
    return st;
}

/* Turn the locked journal of a single process into the manifest of several. Only one byte, the
 * version, changes: if the process is killed, the file is a valid journal or a valid manifest. */
static fbp_status share_journal(int fd, const char *path)
{
    const size_t at = strlen("fbp-journal ");

    /* O_APPEND is switched off, because it would move this write to the end of the file. */
    if (fcntl(fd, F_SETFL, 0) < 0)
        return fbp_fail_write(path, errno, 0);
    FBP_TRY(fbp_write_at(fd, path, at, &FBP_PART_MANIFEST[at], 1));
    if (fcntl(fd, F_SETFL, O_APPEND) < 0)
        return fbp_fail_write(path, errno, 0);
    return fbp_sync_file(fd, path);
}

static fbp_status refuse_running(struct fbp_output *o, const struct fbp_peer *p)
{
    return fbp_fail(
        FBP_ERR_IO,
        "%s: part %zu of %zu is being written by %s; wait for it, or choose another name", o->path,
        p->part, p->n_parts, p->who[0] ? p->who : "another process");
}

/* Remove the journals of all processes of an earlier run; fail if one of these processes still
 * runs. A journal that remained would add its slices to the new output. */
static fbp_status drop_peers(struct fbp_output *o)
{
    struct fbp_peers w = {.output = o};
    fbp_status st = FBP_OK;

    while (fbp_peers_next(&w, &st)) {
        if (w.peer.alive) {
            st = refuse_running(o, &w.peer);
            continue;
        }
        const int error = fbp_peer_remove_journal(w.peer.path);
        if (error)
            st = fbp_fail(FBP_ERR_IO,
                          "%s: cannot remove: %s; remove it, or choose another name for the output",
                          w.peer.path, strerror(error));
    }
    return st;
}

static fbp_status clear_old(struct fbp_output *o, bool ours)
{
    FBP_TRY(drop_peers(o));
    return o->store->clear(o, ours);
}

/* Check the manifest. Begin a new manifest if no manifest exists, or if it is that of an older,
 * finished output; fail if it is that of another output that is unfinished. If an earlier process
 * had begun to rename this output, finish that. If samples of this output were removed, begin it
 * again. */
static fbp_status take_manifest(struct fbp_output *o, const struct manifest *m)
{
    const char *path = o->shared->manifest;
    char line[FBP_JOURNAL_LINE];
    /* whether PATH.part, the unfinished output, exists; true for an output of one file per slice */
    bool there = true;
    struct stat st;

    fbp_journal_first(o, line);
    if (!m->left && is_recorded(o)) {
        o->shared->complete = true;
        return FBP_OK;
    }
    if (!fbp_output_is_stack(o))
        FBP_TRY(fbp_stat(o->part, &st, &there));

    /* This process is the first one, or the manifest is that of an older output that has got its
     * final name: begin a new manifest. */
    if (!m->left || m->old || (m->publish && !m->ours && !there)) {
        if (ftruncate(m->fd, 0) < 0)
            return fbp_fail_write(path, errno, 0);
        FBP_TRY(clear_old(o, false));
        o->shared->joined = true;
        if (fbp_output_is_stack(o))
            FBP_TRY(fbp_stack_check_room(o, m->fd));
        return fbp_append(m->fd, path, line);
    }
    if (!m->ours && m->shared)
        return FBP_INVALID(
            "%s: the unfinished output belongs to parts with other options or another "
            "scan, device, kernel, instruction set or release of fbp; use the same "
            "ones (--device, --kernel, FBP_CPU), or remove its temporary files %s*",
            o->path, o->part);
    if (!m->ours && m->alone)
        return FBP_INVALID(
            "%s: the unfinished output belongs to an interrupted run without --part; "
            "finish that run with --resume, or remove its temporary files %s*",
            o->path, o->part);
    if (!m->ours)
        return FBP_INVALID(
            "%s: the unfinished output belongs to an interrupted run without --part, "
            "with other options or another scan, device, kernel, instruction set or "
            "release of fbp; remove its temporary files %s*, or choose another name",
            o->path, o->part);

    /* The manifest is that of this output. If an earlier process had begun to rename the output,
     * finish that. If another program has removed samples (`lost`), begin the output again. */
    bool lost = !there, published = m->publish;
    if (m->complete) {
        lost = false;
    } else if (m->publish && fbp_output_is_stack(o) && !m->named) {
        size_t first;

        FBP_TRY(find_lost(o, &first));
        lost = first < o->sink.info.n[2];
        if (!lost)
            FBP_TRY(fbp_output_excuse(o, name_slices(o, m->fd)));
    } else if (m->publish && !fbp_output_is_stack(o)) {
        published = !there;
        lost = !there && !m->named;
    }
    if (published && !lost)
        complete(o, m->fd);
    o->shared->joined = true;
    if (!lost)
        return FBP_OK;
    FBP_TRY(clear_old(o, true));
    return ftruncate(m->fd, (off_t)strlen(line)) == 0 ? FBP_OK : fbp_fail_write(path, errno, 0);
}

/* --- Recovery of slices that an ended process listed in its journal without a line "synced" --- */

/* Recover slices that this process should compute, and that an ended process has listed in its
 * journal without a line "synced". If the stored samples have the hash in that journal, write them
 * as slices of this process, and list them in the journal of this process. scratch: buffer of
 * FBP_WRITE_BUFFER_BYTES. */
static fbp_status recover_peer(struct fbp_output *o, const struct fbp_peer *p, void *scratch)
{
    struct fbp_peer_line line;

    for (const char *next = p->lines; !p->alive && fbp_peer_next(o, p, &next, &line);) {
        if (line.synced || !memchr(o->sink.mine + line.z0, 1, line.nz) ||
            fbp_sink_has(&o->sink, line.z0, line.nz) ||
            !o->store->has(o, &p->boundary, line.z0, line.nz, line.hash, scratch))
            continue;
        FBP_TRY(fbp_check_cancelled());
        for (size_t z = line.z0; z < line.z0 + line.nz; z++) {
            const uint64_t at = o->part_offset + (uint64_t)z * o->sink.slice_bytes;

            if (!o->sink.mine[z] || o->sink.have[z])
                continue;
            uint64_t hash = fbp_output_is_stack(o) ? line.hash : 0;
            for (size_t done = 0; !fbp_output_is_stack(o) && done < o->sink.slice_bytes;) {
                const size_t left = o->sink.slice_bytes - done;
                const size_t n = left < FBP_WRITE_BUFFER_BYTES ? left : FBP_WRITE_BUFFER_BYTES;

                FBP_TRY(fbp_boundary_get(o, &p->boundary, at + done, scratch, n));
                FBP_TRY(o->put(o, at + done, scratch, n));
                hash = fbp_hash(hash, scratch, n);
                done += n;
            }
            FBP_TRY(fbp_journal_append(o, z, 1, hash));
            fbp_sink_mark(&o->sink, z, 1);
            if (o->store->count)
                FBP_TRY(o->store->count(o, z, 1));
        }
    }
    return FBP_OK;
}

static fbp_status recover(struct fbp_output *o)
{
    struct fbp_peers w = {.output = o, .manifest = true};
    void *scratch = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    while (fbp_peers_next(&w, &st))
        st = recover_peer(o, &w.peer, scratch);
    if (st == FBP_OK && fbp_output_is_stack(o))
        st = fbp_stack_clear_missing(o);
    fbp_free(scratch);
    return st;
}

/* Open or create PATH.part. The first process reserves its full size before a journal exists.
 * Therefore, if PATH.part is too short and a journal exists, samples were lost. */
static fbp_status open_part(struct fbp_output *o)
{
    struct fbp_peers w = {.output = o};
    fbp_status st = FBP_OK;
    size_t journals = 0;
    struct stat is;

    FBP_TRY(o->store->open(o, false));
    if (o->fd < 0) {
        FBP_TRY(o->store->open(o, true));
        return o->store->reserve(o);
    }
    if (o->block)
        return FBP_OK;
    if (fstat(o->fd, &is) < 0)
        return fbp_fail_status(o->part);
    if ((uint64_t)is.st_size >= fbp_output_part_bytes(o))
        return FBP_OK;
    while (fbp_peers_next(&w, &st))
        journals++;
    FBP_TRY(st);
    if (journals == 0)
        return o->store->reserve(o);
    return fbp_fail(FBP_ERR_IO,
                    "%s: this temporary file is too short, because another program changed it "
                    "while the output was "
                    "written; restore it and continue, or remove %s* and start again",
                    o->part, o->part);
}

/* Join; the manifest is locked. */
static fbp_status join(struct fbp_output *o, struct manifest *m)
{
    struct fbp_peers w = {.output = o};
    struct fbp_peer_line line;
    fbp_status st = FBP_OK;

    FBP_TRY(read_manifest(o, m));
    if (m->alone && o->resume) { /* several processes resume the output of a single one */
        FBP_TRY(share_journal(m->fd, o->shared->manifest));
        FBP_TRY(read_manifest(o, m));
    }
    FBP_TRY(take_manifest(o, m));
    if (o->shared->complete)
        return FBP_OK;
    if (fbp_output_is_stack(o))
        FBP_TRY(fbp_stack_check_others(o));
    /* Mark the slices that other processes have stored; fail if a running process writes slices
     * that this process should write. */
    while (fbp_peers_next(&w, &st)) {
        const struct fbp_boundary *b = &w.peer.boundary;

        for (size_t i = 0; w.peer.alive && st == FBP_OK && i < b->n_runs; i++)
            if (memchr(o->sink.mine + b->runs[i].z0, 1, b->runs[i].nz))
                st = refuse_running(o, &w.peer);
        for (const char *at = w.peer.lines; st == FBP_OK && fbp_peer_next(o, &w.peer, &at, &line);)
            if (line.synced)
                fbp_sink_mark(&o->sink, line.z0, line.nz);
    }
    FBP_TRY(st);
    /* The unfinished output PATH.part is opened after the journals are read: it then contains all
     * samples that the journals list. */
    if (!fbp_output_is_stack(o))
        FBP_TRY(open_part(o));
    return fbp_peers_begin_journal(o);
}

fbp_status fbp_shared_output_join(struct fbp_output *o, const struct fbp_sink_share *share)
{
    struct manifest m = {.fd = -1};
    fbp_status st;
    bool made;

    FBP_TRY(fbp_calloc((void **)&o->shared, 1, sizeof *o->shared, "a part of the output"));
    o->shared->own = *share;
    o->shared->boundary.fd = -1;
    o->shared->manifest = o->log;
    o->log = NULL;
    o->put = fbp_boundary_put;
    o->sink.calls = &shared_calls;
    FBP_TRY(fbp_boundary_runs(o->sink.mine, o->sink.info.n[2], &o->shared->boundary));
    FBP_TRY(fbp_part_spare(o, o->shared->manifest));
    if (!fbp_output_is_stack(o))
        FBP_TRY(fbp_part_spare(o, o->part));
    FBP_TRY(fbp_part_lock(o, o->shared->manifest, true, true, &m.fd, &m.left, &made));
    st = join(o, &m);
    if (!m.left && !o->shared->joined)
        unlink(o->shared->manifest); /* this process holds its lock */
    close(m.fd);
    if (st == FBP_OK && !o->shared->complete)
        st = recover(o);
    if (o->shared->complete)
        fbp_sink_mark(&o->sink, 0, o->sink.info.n[2]);
    return st;
}

fbp_status fbp_shared_output_yield(struct fbp_output *o, bool *is_shared)
{
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(o->log, FBP_JOURNAL_MOST_BYTES, &text, &n));
    *is_shared = strncmp(text, FBP_PART_MANIFEST, strlen(FBP_PART_MANIFEST)) == 0;
    const bool is_record = strstr(text, "\ncomplete "); /* the output is complete */
    free(text);
    if (!*is_shared || (o->resume && !is_record))
        return FBP_OK;
    *is_shared = false;
    if (!is_record)
        return drop_peers(o);
    return ftruncate(o->log_fd, 0) == 0 ? FBP_OK : fbp_fail_write(o->log, errno, 0);
}

fbp_status fbp_shared_output_take_over(struct fbp_output *o, const struct fbp_sink_share *share,
                                       bool alone)
{
    const struct fbp_sink_share one = {.part = 1, .n_parts = 1};
    bool found = false;

    if (alone) {
        if (o->resume)
            FBP_TRY(fbp_journal_find(o, &found));
        if (found) {
            FBP_TRY(share_journal(o->log_fd, o->log));
        } else {
            FBP_TRY(o->store->clear(o, true));
            FBP_TRY(fbp_output_clear_beside(o, true));
            if (ftruncate(o->log_fd, 0) < 0)
                return fbp_fail_write(o->log, errno, 0);
        }
    }
    close(o->log_fd);
    o->log_fd = -1;
    o->log_made = false;
    if (!share) { /* a single process resumes an output of several processes as part 1 of 1 */
        FBP_TRY(fbp_alloc((void **)&o->sink.mine, o->sink.info.n[2], "a table of slices"));
        memset(o->sink.mine, 1, o->sink.info.n[2]);
    }
    return fbp_shared_output_join(o, share ? share : &one);
}

/* Write "publish" to the manifest, then the header and the boundary blocks of all processes to
 * PATH.part, and rename PATH.part to the output's name; of a stack, rename all slices. If this
 * process is killed, the next one that joins completes the output. */
static fbp_status publish(struct fbp_output *o, int manifest)
{
    struct fbp_peers w = {.output = o, .own = true};
    /* [slice] 1: the slice is complete in the unfinished output PATH.part */
    unsigned char *done = NULL;
    char text[LINE] = "publish\n";
    struct fbp_peer_line line;
    void *scratch = NULL;
    struct stat is;
    fbp_status st;

    if (!fbp_output_is_stack(o)) {
        if (fstat(o->fd, &is) < 0)
            return fbp_fail_status(o->part);
        snprintf(text, sizeof text, "publish %llu\n", (unsigned long long)is.st_ino);
    }
    FBP_TRY(fbp_append(manifest, o->shared->manifest, text));
    FBP_TRY(fbp_sync_file(manifest, o->shared->manifest));
    if (fbp_output_is_stack(o))
        return name_slices(o, manifest);

    FBP_TRY(fbp_output_write_header(o));
    FBP_TRY_GOTO(fbp_calloc((void **)&done, o->sink.info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_WRITE_BUFFER_BYTES, "a piece of the output"));
    while (fbp_peers_next_line(&w, &line, &st))
        if (line.synced) {
            st = fbp_boundary_copy(o, &w.peer.boundary, line.z0, line.nz, scratch);
            memset(done + line.z0, 1, line.nz);
        }
    if (st != FBP_OK)
        goto fail;
    const unsigned char *lost = memchr(done, 0, o->sink.info.n[2]);
    if (lost)
        FBP_TRY_GOTO(fbp_fail(
            FBP_ERR_IO,
            "%s: slice %zu is incomplete, because temporary files (%s.*) were removed while the "
            "output was written; run again to compute the lost slices",
            o->path, (size_t)(lost - done), o->shared->manifest));
    st = o->store->publish(o);
fail:
    fbp_free(scratch);
    free(done);
    return st;
}

/* Fail if the file with the output's final name is not the file that this process opened as
 * PATH.part and another process has renamed. */
static fbp_status check_renamed(struct fbp_output *o)
{
    bool named = true;

    if (!fbp_output_is_stack(o))
        FBP_TRY(fbp_part_find_named(o->fd, o->layout.data_path, &named));
    if (named)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: its temporary file was moved or removed during the run, or another "
                    "program replaced the output after the run had written it; check the output, "
                    "and run again if it is missing",
                    o->path);
}

static fbp_status finish(struct fbp_output *o)
{
    struct fbp_shared_output *j = o->shared;
    struct fbp_peers w = {.output = o};
    struct fbp_peer_line synced;
    bool left, made, unpublished = false;
    fbp_status st;
    int fd;

    if (j->complete)
        return FBP_OK;

    /* Sync the slices of this process to disk; then append the line "synced" to its journal. */
    FBP_TRY(o->store->sync(o));
    if (!fbp_output_is_stack(o))
        FBP_TRY(fbp_sync_file(j->boundary.fd, j->boundary.path));
    FBP_TRY(fbp_append(o->log_fd, o->log, "synced\n"));
    FBP_TRY(fbp_sync_file(o->log_fd, o->log));
    fbp_sync_folder(o->path);
    if (j->own.led)
        return FBP_OK;

    FBP_TRY(fbp_part_lock(o, j->manifest, false, true, &fd, &left, &made));
    if (!fbp_output_is_stack(o))
        FBP_TRY_GOTO(fbp_part_find_named(o->fd, o->part, &unpublished));
    if (fd < 0) { /* no manifest: the output is published, or a program removed the manifest */
        if (unpublished)
            return fbp_fail(
                FBP_ERR_IO,
                "%s: its temporary file %s was removed while the output was written; remove %s, "
                "too, and start again",
                o->path, j->manifest, o->part);
        FBP_TRY(check_renamed(o));
        j->complete = true;
        fbp_sink_mark(&o->sink, 0, o->sink.info.n[2]);
        remove_journal(o, o->log);
        return FBP_OK;
    }

    fbp_peers_refresh(o->log);
    st = FBP_OK;
    while (fbp_peers_next_line(&w, &synced, &st))
        if (synced.synced)
            fbp_sink_mark(&o->sink, synced.z0, synced.nz);
    if (st != FBP_OK)
        goto fail;
    if (o->sink.n_have < o->sink.info.n[2]) {
        if (j->own.first)
            st = fbp_fail(FBP_ERR_IO,
                          "%s: all processes have finished, but %zu of %zu slices are missing, "
                          "because temporary files (%s.*) were removed, or are not visible on this "
                          "machine; run again with --resume",
                          o->path, o->sink.info.n[2] - o->sink.n_have, o->sink.info.n[2],
                          j->manifest);
    } else if (fbp_output_is_stack(o) || unpublished) {
        /* The small text file beside the samples may exist already, from a process that was killed
         * while it gave the output its final name. */
        const struct fbp_file_name side = fbp_file_name("%s.side", o->part);

        FBP_TRY_GOTO(fbp_part_clear(o, side.text, true));
        FBP_TRY_GOTO(fbp_output_excuse(o, publish(o, fd)));
        complete(o, fd);
        fbp_sync_folder(o->path);
    } else { /* the process that renamed PATH.part ended before it removed the journals */
        FBP_TRY_GOTO(check_renamed(o));
        complete(o, fd);
    }
fail:
    if (fd >= 0)
        close(fd);
    return st;
}

static size_t kept_shared(struct fbp_sink *s)
{
    struct fbp_output *o = s->files;
    struct fbp_cancel_scope deaf = {.deaf = true}, *const before = fbp_cancel_scope(&deaf);
    unsigned char *noted = malloc(s->info.n[2]);
    struct fbp_peers w = {.output = o, .own = true};
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

static void leave(struct fbp_output *o)
{
    struct fbp_cancel_scope deaf = {.deaf = true}, *before;
    const struct fbp_shared_output *j = o->shared;
    struct fbp_peers w = {.output = o, .manifest = true};
    fbp_status status = FBP_OK;
    struct fbp_peer_line line;
    bool left, made;
    struct stat st;
    /* number of journals of other processes, plus 1 if the manifest lists slices, because it was
     * the journal of a single process */
    size_t n = 0;
    int fd;

    if (!j->joined || j->complete || o->sink.finished)
        return;
    if (o->sink.fingerprint && o->log_fd >= 0 && j->begin > 0 && fstat(o->log_fd, &st) == 0 &&
        (uint64_t)st.st_size > j->begin)
        return; /* other processes can use its slices */
    if (o->log)
        (void)fbp_peer_remove_journal(o->log);
    free(o->log);
    o->log = NULL;

    /* If no other process has a journal, and the manifest lists no slices, remove the output's
     * temporary files. */
    before = fbp_cancel_scope(&deaf);
    if (fbp_part_lock(o, j->manifest, false, true, &fd, &left, &made) == FBP_OK && fd >= 0) {
        while (fbp_peers_next(&w, &status))
            n += w.peer.part > 0 || fbp_peer_next(o, &w.peer, &w.at, &line);
        if (status == FBP_OK && n == 0) {
            (void)o->store->remove(o);
            unlink(j->manifest);
        }
        close(fd);
    }
    (void)fbp_cancel_scope(before);
}

static fbp_status finish_shared(struct fbp_sink *s)
{
    return fbp_output_excuse(s->files, finish(s->files));
}

static void close_shared(struct fbp_sink *s)
{
    struct fbp_shared_output *j = s->files->shared;

    if (s->process == getpid())
        leave(s->files);
    fbp_output_close(s);
    fbp_boundary_clear(&j->boundary);
    free(j->manifest);
    free(j);
}

static const struct fbp_sink_calls shared_calls = {
    .finish = finish_shared,
    .kept = kept_shared,
    .close = close_shared,
};

/* --- Probes: small files that show whether two processes use the same file system --- */

void fbp_sink_probe(const struct fbp_sink *s, struct fbp_sink_probe *out)
{
    struct fbp_output *o = s->files;

    *out = (struct fbp_sink_probe){.path = ""};
    if (!o || !o->shared || !o->log || strlen(o->log) >= sizeof out->path)
        return;
    /* The journal of the process is the probe, because its name is unique. */
    if (pread(o->log_fd, out->text, sizeof out->text - 1, 0) > 0)
        snprintf(out->path, sizeof out->path, "%s", o->log);
}

bool fbp_sink_sees_probe(const struct fbp_sink_probe *probe)
{
    static const struct timespec moment = {.tv_nsec = 50000000L};
    static const double patience_s = 3; /* greatest delay of a network file system [s] */
    const double until = fbp_seconds() + patience_s;

    for (;;) {
        char text[sizeof probe->text] = "";
        size_t n = 0;

        if (fbp_read_head(probe->path, text, sizeof text - 1, &n) != FBP_OK)
            fbp_message_clear();
        if (n > 0 && strncmp(text, probe->text, strlen(probe->text)) == 0)
            return true;
        if (fbp_seconds() > until)
            return false;
        fbp_peers_refresh(probe->path);
        nanosleep(&moment, NULL);
    }
}
