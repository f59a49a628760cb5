/* PATH.part.log: one line that says what is written, then one line "z0 nz hash" a run of slices,
 * appended when its samples are in PATH.part.  The lines are believed only after the samples have
 * been read again, so that nothing needs to reach the disk in any order.  A stack whose slices are
 * all whole, and get their names, has a line "publish"; that is on disk before the first name.
 *
 * Version 1 had no such line, and no journal where nothing could be resumed.  Version 3 is that of
 * an output that several processes write (array/joint.h). */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/sink.h"

#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_LINE = FBP_JOURNAL_LINE, MAX_JOURNAL = 1 << 28 };

void fbp_journal_first(const struct fbp_sink *s, char line[FBP_JOURNAL_LINE])
{
    snprintf(line, FIRST_LINE, "fbp-journal %d %016llx size %zu %zu %zu header %zu\n",
             s->joint ? 3 : 2, (unsigned long long)s->fingerprint, s->info.n[0], s->info.n[1],
             s->info.n[2], s->part_offset);
}

fbp_status fbp_journal_create(struct fbp_sink *s)
{
    char line[FIRST_LINE];

    if (ftruncate(s->log_fd, 0) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot empty: %s", s->log, strerror(errno));
    fbp_journal_first(s, line);
    return fbp_append(s->log_fd, s->log, line);
}

/* The first line; "": torn, as after a kill. */
static fbp_status read_first(const struct fbp_sink *s, char line[FIRST_LINE])
{
    struct stat st;

    if (fstat(s->log_fd, &st) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot look at it: %s", s->log, strerror(errno));
    const size_t n = st.st_size < FIRST_LINE ? (size_t)st.st_size : FIRST_LINE - 1;
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

fbp_status fbp_journal_find(const struct fbp_sink *s, bool *found)
{
    char line[FIRST_LINE], old[FIRST_LINE];

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

fbp_status fbp_journal_publish(const struct fbp_sink *s)
{
    FBP_TRY(fbp_append(s->log_fd, s->log, "publish\n"));
    return fbp_sync_file(s->log_fd, s->log);
}

fbp_status fbp_journal_published(const struct fbp_sink *s, size_t *n_slices)
{
    unsigned long long n[3] = {0};
    char first[FIRST_LINE];
    char *text = NULL;
    size_t bytes = 0;

    *n_slices = 0;
    FBP_TRY(read_first(s, first));
    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is no size */
    if (sscanf(behind_version(first), "%*x size %llu %llu %llu", &n[0], &n[1], &n[2]) != 3)
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->log, MAX_JOURNAL, &text, &bytes));
    if (strstr(text, "\npublish\n"))
        *n_slices = (size_t)n[2];
    free(text);
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

static void take_line(struct fbp_sink *s, const char *line, fbp_run_there_fn *is_there,
                      void *scratch)
{
    size_t z0, nz;
    uint64_t hash;

    if (fbp_journal_read(s, line, &z0, &nz, &hash) && is_there(s, z0, nz, hash, scratch))
        fbp_sink_mark(s, z0, nz);
}

fbp_status fbp_journal_resume(struct fbp_sink *s, fbp_run_there_fn *is_there)
{
    char *text = NULL, *line, *newline;
    void *scratch = NULL;
    fbp_status st;
    size_t n = 0;

    FBP_TRY(fbp_read_text(s->log, MAX_JOURNAL, &text, &n));
    FBP_TRY_GOTO(fbp_alloc(&scratch, FBP_PIECE_BYTES, "a piece of the output"));
    line = memchr(text, '\n', n);
    line = line ? line + 1 : text + n;
    for (; (newline = strchr(line, '\n')); line = newline + 1) {
        *newline = '\0';
        take_line(s, line, is_there, scratch);
    }
    s->owned = true;
    if (ftruncate(s->log_fd, (off_t)(line - text)) < 0) /* a last line torn by a kill */
        st = fbp_fail(FBP_ERR_IO, "%s: cannot be shortened: %s", s->log, strerror(errno));
fail:
    fbp_free(scratch);
    free(text);
    return st;
}
