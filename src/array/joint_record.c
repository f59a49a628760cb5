/* What stays of an output that is complete.  Nothing, if all parts have come.  Where some have not,
 * because others had done their slices, the head stays, with "complete" and what the output is, and
 * with a line "came 3 of 16" for each part: the rest find that there is nothing to do, and the last
 * of them removes it. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"
#include "array/split.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_LINE = 120 };

/* Its size and time; false: it is not there. */
static bool describe_output(const struct fbp_sink *s, char line[RECORD_LINE])
{
    const bool pattern = s->joint->stack && s->pattern.suffix;
    char *first = pattern ? fbp_pattern_name(&s->pattern, 0) : NULL;
    const char *name = pattern ? first : s->joint->stack ? s->path : s->layout.data_path;
    struct stat st;

    const bool there = name && stat(name, &st) == 0;
    if (there)
        snprintf(line, RECORD_LINE, "\ncomplete %llu %lld.%09ld\n", (unsigned long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    free(first);
    return there;
}

bool fbp_joint_is_complete(const struct fbp_sink *s, const char *head)
{
    char line[RECORD_LINE];

    return describe_output(s, line) && strstr(head, line);
}

/* Which parts of this number have come. */
static fbp_status see(struct fbp_sink *s, struct fbp_joint_peer *p, void *seen)
{
    if (p->n_parts == s->joint->own.n_parts)
        ((char *)seen)[p->part] = 1;
    return FBP_OK;
}

static void see_noted(const struct fbp_sink *s, const char *head, char *seen)
{
    size_t part, n_parts;

    for (const char *at = head; (at = strstr(at, "\ncame ")); at++) {
        char line[64];
        snprintf(line, sizeof line, "%.63s", at);
        /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is no part's */
        if (sscanf(line, " came %zu of %zu", &part, &n_parts) == 2 &&
            n_parts == s->joint->own.n_parts && part <= n_parts)
            seen[part] = 1;
    }
}

static fbp_status note_came(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    const int *fd = user;
    char line[RECORD_LINE];

    snprintf(line, sizeof line, "came %zu of %zu\n", p->part, p->n_parts);
    return fbp_append(*fd, s->joint->head, line);
}

static fbp_status write_record(struct fbp_sink *s, int fd, const char *head)
{
    struct fbp_joint_peer own = {.part = s->joint->own.part, .n_parts = s->joint->own.n_parts};
    char line[RECORD_LINE];

    if (!describe_output(s, line))
        return FBP_OK;
    if (!strstr(head, line)) /* its first byte ends the line that is there */
        FBP_TRY(fbp_append(fd, s->joint->head, line + 1));
    FBP_TRY(fbp_joint_each(s, false, note_came, &fd));
    FBP_TRY(note_came(s, &own, &fd));
    return fbp_sync_file(fd, s->joint->head);
}

void fbp_joint_try_remove(struct fbp_sink *s, const char *journal)
{
    const int error = fbp_joint_remove(journal);

    if (error == 0)
        return;
    free(s->note);
    s->note = fbp_format("%s: cannot remove: %s: %s is complete, and needs it no more: remove it "
                         "yourself",
                         journal, strerror(error), s->path);
}

/* Who still lives has nothing to do any more. */
static fbp_status remove_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    (void)user;
    fbp_joint_try_remove(s, p->path);
    return FBP_OK;
}

static fbp_status tidy(struct fbp_sink *s, int fd, const char *head, char *seen)
{
    const size_t n = s->joint->own.n_parts;

    FBP_TRY(fbp_joint_each(s, false, see, seen));
    see_noted(s, head, seen);
    seen[s->joint->own.part] = 1;
    const bool all = s->joint->own.first || !memchr(seen + 1, 0, n); /* who leads knows of all */
    if (!all)
        FBP_TRY(write_record(s, fd, head));
    FBP_TRY(fbp_joint_each(s, true, remove_peer, NULL));
    if (all && unlink(s->joint->head) < 0 && errno != ENOENT)
        return fbp_fail_write(s->joint->head, errno, 0);
    return FBP_OK;
}

fbp_status fbp_joint_tidy(struct fbp_sink *s, int fd)
{
    char *head = NULL, *seen = NULL;
    size_t n = 0;
    fbp_status st;

    if (s->chunked)
        FBP_TRY(fbp_chunked_settle_old(s));
    if (s->format && s->format->split)
        FBP_TRY(fbp_split_settle_old(s));
    FBP_TRY(fbp_read_text(s->joint->head, FBP_JOINT_MAX_HEAD, &head, &n));
    FBP_TRY_GOTO(fbp_calloc((void **)&seen, s->joint->own.n_parts + 1, 1, "a table of parts"));
    st = tidy(s, fd, head, seen);
fail:
    free(seen);
    free(head);
    return st;
}
