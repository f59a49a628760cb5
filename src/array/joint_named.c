/* What an output that several processes write has of its name.  The head says "publish INODE"
 * before PATH.part, which is that file, is renamed; so an older file under this name is never taken
 * for it. Of a stack it says "publish", and "named" when all slices have their names: until then a
 * slice without temporary file has its name already, if its samples are as a journal says, or is
 * lost. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"
#include "array/sink_stack.h"

#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PUBLISH_LINE = 40 };

static void write_line(char line[PUBLISH_LINE], const struct stat *is)
{
    snprintf(line, PUBLISH_LINE, "\npublish %llu\n", (unsigned long long)is->st_ino);
}

fbp_status fbp_joint_say_publish(const struct fbp_sink *s, int head)
{
    char line[PUBLISH_LINE] = "\npublish\n";
    struct stat is;

    if (!s->joint->stack) {
        if (fstat(s->fd, &is) < 0)
            return fbp_fail(FBP_ERR_IO, "%s: cannot look at: %s", s->part, strerror(errno));
        write_line(line, &is);
    }
    FBP_TRY(fbp_append(head, s->joint->head, line + 1)); /* its first byte ends the line before */
    return fbp_sync_file(head, s->joint->head);
}

fbp_status fbp_joint_find_named(const struct fbp_sink *s, const char *head, bool *named)
{
    char line[PUBLISH_LINE] = "\nnamed\n";
    struct stat is;

    *named = true;
    if (!s->joint->stack) {
        FBP_TRY(fbp_stat(s->layout.data_path, &is, named));
        if (*named)
            write_line(line, &is);
    }
    *named = *named && strstr(head, line);
    return FBP_OK;
}

/* Slices without a temporary file. */
struct nameless {
    unsigned char *is;
    void *scratch;
};

static fbp_status look_at_slices(const struct fbp_sink *s, struct nameless *n, size_t *count)
{
    *count = 0;
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *part = fbp_sink_stack_name(s, z, ".part");
        bool there = true;
        const fbp_status st =
            part ? fbp_is_there(part, &there) : fbp_fail_nomem(strlen(s->path), "a path");
        free(part);
        FBP_TRY(st);
        n->is[z] = !there;
        *count += !there;
    }
    return FBP_OK;
}

/* Those that have their names. */
static fbp_status take_named(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    const struct nameless *n = user;
    struct fbp_joint_line line;
    const char *at = p->lines;

    while (fbp_joint_next(s, p, &at, &line))
        if (n->is[line.z0] && s->joint->stack->has(s, line.z0, line.nz, line.hash, n->scratch))
            n->is[line.z0] = 0;
    return FBP_OK;
}

fbp_status fbp_joint_find_lost(struct fbp_sink *s, size_t *lost)
{
    struct nameless n = {0};
    size_t count = 0;
    fbp_status st;

    *lost = s->info.n[2];
    FBP_TRY_GOTO(fbp_calloc((void **)&n.is, s->info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_alloc(&n.scratch, FBP_PIECE_BYTES, "a piece of the output"));
    FBP_TRY_GOTO(look_at_slices(s, &n, &count));
    if (count > 0)
        FBP_TRY_GOTO(fbp_joint_each(s, true, take_named, &n));
    const unsigned char *first = memchr(n.is, 1, s->info.n[2]);
    if (first)
        *lost = (size_t)(first - n.is);
fail:
    fbp_free(n.scratch);
    free(n.is);
    return st;
}

static fbp_status say_lost(const struct fbp_sink *s, size_t z)
{
    char *part = fbp_sink_stack_name(s, z, ".part");
    const fbp_status st =
        part ? fbp_fail(FBP_ERR_IO,
                        "%s: was removed before the stack was complete: run all parts again", part)
             : fbp_fail_nomem(strlen(s->path), "a path");

    free(part);
    return st;
}

fbp_status fbp_joint_name_slices(struct fbp_sink *s, int head)
{
    bool named = false, gone = false;
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(s->joint->head, FBP_JOINT_MAX_HEAD, &text, &n));
    const fbp_status st = fbp_joint_find_named(s, text, &named);
    free(text);
    FBP_TRY(st);
    s->published = named;
    if (named)
        return FBP_OK;
    FBP_TRY(fbp_joint_find_lost(s, &n));
    if (n < s->info.n[2])
        return say_lost(s, n);
    FBP_TRY(s->joint->stack->names(s, &gone));
    if (gone) /* since they were looked for */
        return fbp_fail(FBP_ERR_IO,
                        "%s: another program removed slices before they had their names: remove "
                        "%s* and start again",
                        s->path, s->joint->head);
    s->published = true;
    FBP_TRY(fbp_append(head, s->joint->head, "named\n"));
    return fbp_sync_file(head, s->joint->head);
}
