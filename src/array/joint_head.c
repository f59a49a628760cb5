/* The head of an output that several processes write: which output it is of, and what of it is
 * left.
 */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_VERSION = sizeof "fbp-journal " - 1 };

fbp_status fbp_joint_head_read(const struct fbp_sink *s, struct fbp_joint_head *h)
{
    char line[FBP_JOURNAL_LINE];
    char *text = NULL;
    size_t n = 0;

    if (!h->left)
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->joint->head, FBP_JOINT_MAX_HEAD, &text, &n));
    fbp_journal_first(s, line);
    fbp_status st = FBP_OK;
    h->shared = strncmp(text, FBP_PART_HEAD, strlen(FBP_PART_HEAD)) == 0;
    h->ours = strncmp(text, line, strlen(line)) == 0;
    h->alone =
        !h->shared && strncmp(text, line, AT_VERSION) == 0 && text[AT_VERSION] &&
        strncmp(text + AT_VERSION + 1, line + AT_VERSION + 1, strlen(line) - AT_VERSION - 1) == 0;
    h->publish = strstr(text, "\npublish");
    if (h->publish && h->ours)
        st = fbp_joint_find_named(s, text, &h->named);
    h->complete = h->publish && h->ours && fbp_joint_is_complete(s, text);
    h->old = h->publish && strstr(text, "\ncomplete ") && !h->complete;
    free(text);
    return st;
}

fbp_status fbp_joint_share(int log_fd, const char *log)
{
    const size_t at = strlen("fbp-journal ");

    if (fcntl(log_fd, F_SETFL, 0) < 0) /* what is appended goes to its end, whatever the place */
        return fbp_fail_write(log, errno, 0);
    FBP_TRY(fbp_write_at(log_fd, log, at, &FBP_PART_HEAD[at], 1));
    if (fcntl(log_fd, F_SETFL, O_APPEND) < 0)
        return fbp_fail_write(log, errno, 0);
    return fbp_sync_file(log_fd, log);
}

fbp_status fbp_joint_refuse_living(const struct fbp_sink *s, const struct fbp_joint_peer *p)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: part %zu of %zu is being written by %s: wait for it, or choose another "
                    "name",
                    s->path, p->part, p->n_parts, p->who[0] ? p->who : "another process");
}

fbp_status fbp_joint_drop_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    (void)user;
    if (p->alive)
        return fbp_joint_refuse_living(s, p);
    const int error = fbp_joint_remove(p->path);

    return error == 0
               ? FBP_OK /* else its slices would be taken for those of this output */
               : fbp_fail(FBP_ERR_IO,
                          "%s: cannot remove: %s: remove it yourself, or choose another name "
                          "for the output",
                          p->path, strerror(error));
}

/* Is PATH.part there?  Of a stack, there is none. */
static fbp_status find_part(const struct fbp_sink *s, bool *there)
{
    struct stat st;

    *there = true;
    return s->joint->stack ? FBP_OK : fbp_stat(s->part, &st, there);
}

static fbp_status clear_old(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours)
{
    FBP_TRY(fbp_joint_each(s, false, fbp_joint_drop_peer, NULL));
    if (s->joint->stack)
        return s->joint->stack->clear(s, inputs, ours);
    return fbp_sink_part_clear(s, inputs, ours);
}

/* The first of all processes. */
static fbp_status begin_head(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             const struct fbp_joint_head *h)
{
    char line[FBP_JOURNAL_LINE];

    if (ftruncate(h->fd, 0) < 0)
        return fbp_fail_write(s->joint->head, errno, 0);
    FBP_TRY(clear_old(s, inputs, false));
    s->joint->joined = true;
    if (s->joint->stack)
        FBP_TRY(s->joint->stack->room(s, h->fd));
    fbp_journal_first(s, line);
    return fbp_append(h->fd, s->joint->head, line);
}

static fbp_status refuse_head(const struct fbp_sink *s, const struct fbp_joint_head *h)
{
    return h->shared ? fbp_fail(FBP_ERR_INVALID,
                                "%s: belongs to parts with other options, another scan or another "
                                "release of fbp: use the same, or remove it and %s*",
                                s->part, s->joint->head)
           : h->alone
               ? fbp_fail(FBP_ERR_INVALID,
                          "%s: an interrupted run without --part left it: finish it with "
                          "--resume, or remove it and %s",
                          s->part, s->joint->head)
               : fbp_fail(
                     FBP_ERR_INVALID,
                     "%s: an interrupted run without --part, with other options, another scan or "
                     "another release of fbp left it: remove it and %s, or choose another name",
                     s->part, s->joint->head);
}

/* The samples of this output were removed: nothing is left of it but its name in the head. */
static fbp_status begin_anew(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             const struct fbp_joint_head *h)
{
    char line[FBP_JOURNAL_LINE];

    FBP_TRY(clear_old(s, inputs, true));
    fbp_journal_first(s, line);
    return ftruncate(h->fd, (off_t)strlen(line)) == 0 ? FBP_OK
                                                      : fbp_fail_write(s->joint->head, errno, 0);
}

/* Slices get the rest of their names.  *lost: some are nowhere. */
static fbp_status finish_names(struct fbp_sink *s, const struct fbp_joint_head *h, bool *lost)
{
    size_t first;

    if (h->named)
        return FBP_OK;
    FBP_TRY(fbp_joint_find_lost(s, &first));
    *lost = first < s->info.n[2];
    return *lost ? FBP_OK : fbp_sink_excuse(s, fbp_joint_name_slices(s, h->fd));
}

/* All slices were there; whoever published has not tidied up.  *lost: somebody has removed them. */
static fbp_status finish_published(struct fbp_sink *s, const struct fbp_joint_head *h, bool there,
                                   bool *lost)
{
    if (s->joint->stack && !h->complete)
        FBP_TRY(finish_names(s, h, lost));
    else if (!h->complete && there)
        return FBP_OK; /* not published after all: as if it were to be */
    else
        *lost = !h->complete && !h->named;
    if (*lost)
        return FBP_OK;
    fbp_joint_tidy(s, h->fd);
    return FBP_OK;
}

/* Is this the output that the head speaks of?  Else it is begun, or refused. */
fbp_status fbp_joint_head_take(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                               const struct fbp_joint_head *h)
{
    bool there, lost;

    if (!h->left && fbp_joint_is_recorded(s)) {
        s->joint->complete = true;
        return FBP_OK;
    }
    FBP_TRY(find_part(s, &there));
    if (!h->left || h->old || (h->publish && !h->ours && !there)) /* or of an older output */
        return begin_head(s, inputs, h);
    if (!h->ours)
        return refuse_head(s, h);
    lost = !there;
    if (h->publish)
        FBP_TRY(finish_published(s, h, there, &lost));
    s->joint->joined = true;
    return lost && !s->joint->complete ? begin_anew(s, inputs, h) : FBP_OK;
}
