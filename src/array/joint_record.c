/* The record of an output that is complete, for parts that are started again: they find that there
 * is nothing to do.  It is an extended attribute of the output (of a stack: of its first slice)
 * with the first line of the journal, size and time, and a line "of N" for each number of parts
 * that wrote it.  If the file system has no such attributes, the head stays as the record, with a
 * line "complete". */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"
#include "array/sink_stack.h"

#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ATTRIBUTE "user.fbp.complete"

enum { RECORD_LINE = 120, RECORD = 1024 };

/* malloc'ed; NULL: no memory for it. */
static char *recorded_file(const struct fbp_sink *s)
{
    return s->joint->stack ? fbp_sink_stack_name(s, 0, "") : fbp_strdup(s->layout.data_path);
}

/* The output's size and time; false: it is not there. */
static bool describe_output(const struct fbp_sink *s, char line[RECORD_LINE])
{
    char *name = recorded_file(s);
    struct stat st;

    const bool there = name && stat(name, &st) == 0;
    if (there)
        snprintf(line, RECORD_LINE, "\ncomplete %llu %lld.%09ld\n", (unsigned long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    free(name);
    return there;
}

bool fbp_joint_is_complete(const struct fbp_sink *s, const char *head)
{
    char line[RECORD_LINE];

    return describe_output(s, line) && strstr(head, line);
}

/* Are all files of the output there? */
static bool has_all_files(const struct fbp_sink *s)
{
    bool all = !s->layout.side_path || access(s->layout.side_path, F_OK) == 0;

    for (size_t z = 0; s->joint->stack && all && z < s->info.n[2]; z++) {
        char *name = fbp_sink_stack_name(s, z, "");
        all = name && access(name, F_OK) == 0;
        free(name);
    }
    return all;
}

bool fbp_joint_is_recorded(const struct fbp_sink *s)
{
    char first[FBP_JOURNAL_LINE], division[40], text[RECORD] = "";
    char *name = recorded_file(s);
    const ssize_t n = name ? getxattr(name, ATTRIBUTE, text, sizeof text - 1) : -1;

    free(name);
    fbp_journal_first(s, first);
    snprintf(division, sizeof division, "\nof %zu\n", s->joint->own.n_parts);
    return n > 0 && strncmp(text, first, strlen(first)) == 0 && strstr(text, division) &&
           fbp_joint_is_complete(s, text) && has_all_files(s);
}

/* A line for the number of parts of a process, unless it is there. */
static fbp_status add_division(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    char line[40], *text = user;

    (void)s;
    snprintf(line, sizeof line, "\nof %zu\n", p->n_parts);
    if (!strstr(text, line) && strlen(text) + strlen(line) < RECORD)
        strcat(text, line + 1); /* text already ends with a newline */
    return FBP_OK;
}

static fbp_status describe_published(const struct fbp_sink *s, char line[RECORD_LINE])
{
    return describe_output(s, line)
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot look at it: %s", s->path, strerror(errno));
}

/* *done false: the file system has no attributes. */
static fbp_status record(struct fbp_sink *s, bool *done)
{
    struct fbp_joint_peer own = {.n_parts = s->joint->own.n_parts};
    char line[RECORD_LINE], text[RECORD];

    FBP_TRY(describe_published(s, line));
    fbp_journal_first(s, text);
    strcat(text, line + 1); /* text already ends with a newline */
    (void)add_division(s, &own, text);
    FBP_TRY(fbp_joint_each(s, false, add_division, text));
    char *name = recorded_file(s);
    *done = name && setxattr(name, ATTRIBUTE, text, strlen(text), 0) == 0;
    const fbp_status st = name ? FBP_OK : fbp_fail_nomem(strlen(s->path), "a path");
    free(name);
    return st;
}

static fbp_status keep_head(const struct fbp_sink *s, int fd)
{
    char line[RECORD_LINE];
    char *head = NULL;
    size_t n = 0;

    FBP_TRY(describe_published(s, line));
    FBP_TRY(fbp_read_text(s->joint->head, FBP_JOINT_MAX_HEAD, &head, &n));
    const bool noted = strstr(head, line);
    free(head);
    if (noted)
        return FBP_OK;
    FBP_TRY(fbp_append(fd, s->joint->head, line + 1));
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

static fbp_status tidy(struct fbp_sink *s, int fd)
{
    if (s->chunked)
        FBP_TRY(fbp_chunked_settle_old(s));
    bool recorded = s->joint->own.first; /* processes that are led end together */
    if (!recorded)
        FBP_TRY(record(s, &recorded));
    if (!recorded)
        FBP_TRY(keep_head(s, fd));
    FBP_TRY(fbp_joint_each(s, true, remove_peer, NULL));
    return !recorded || unlink(s->joint->head) == 0 || errno == ENOENT
               ? FBP_OK
               : fbp_fail_write(s->joint->head, errno, 0);
}

void fbp_joint_tidy(struct fbp_sink *s, int fd)
{
    s->published = s->joint->complete = true;
    (void)!fbp_sink_excuse(s, tidy(s, fd));
}
