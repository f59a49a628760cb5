/* What is left under the name of an output, for who begins or resumes it: one process, or the first
 * of several that start together. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"

#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool fbp_joint_is_left(const struct fbp_sink *s)
{
    char text[sizeof FBP_PART_HEAD] = "";

    return pread(s->log_fd, text, sizeof text - 1, 0) == (ssize_t)sizeof text - 1 &&
           strcmp(text, FBP_PART_HEAD) == 0;
}

fbp_status fbp_joint_yield(struct fbp_sink *s, bool resume)
{
    char *text = NULL;
    size_t n = 0;

    if (!fbp_joint_is_left(s))
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->log, FBP_JOINT_MAX_HEAD, &text, &n));
    const bool complete = strstr(text, "\ncomplete ");
    free(text);
    if (complete) /* a record, of which nothing can be resumed */
        return ftruncate(s->log_fd, 0) == 0 ? FBP_OK : fbp_fail_write(s->log, errno, 0);
    return resume ? FBP_OK : fbp_joint_each(s, false, fbp_joint_drop_peer, NULL);
}

/* Nothing of it is used. */
static fbp_status clear_left(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             const struct fbp_joint_kind *stack)
{
    FBP_TRY(stack ? stack->clear(s, inputs, true) : fbp_sink_file_clear(s, inputs, true));
    return ftruncate(s->log_fd, 0) == 0 ? FBP_OK : fbp_fail_write(s->log, errno, 0);
}

static fbp_status find_left(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool resume,
                            const struct fbp_joint_kind *stack)
{
    bool found = false;

    if (resume && fbp_joint_is_left(s))
        return FBP_OK;
    if (resume)
        FBP_TRY(fbp_journal_find(s, &found));
    return found ? fbp_joint_share(s->log_fd, s->log) : clear_left(s, inputs, stack);
}

/* Who resumes alone what several began is the only part. */
static fbp_status join_alone(struct fbp_sink *s)
{
    unsigned char *mine = NULL;

    FBP_TRY(fbp_alloc((void **)&mine, s->info.n[2], "a table of slices"));
    memset(mine, 1, s->info.n[2]);
    const fbp_status st = fbp_joint_create(
        s, s->path, &(struct fbp_sink_joint){.part = 1, .n_parts = 1, .mine = mine});
    fbp_free(mine);
    return st;
}

fbp_status fbp_joint_take_over(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                               bool resume, const struct fbp_joint_kind *stack)
{
    if (left)
        FBP_TRY(find_left(s, inputs, resume, stack));
    close(s->log_fd);
    s->log_fd = -1;
    s->log_made = false;
    fbp_sink_unlock_second(s);
    if (!s->joint)
        FBP_TRY(join_alone(s));
    return fbp_joint_join(s, inputs, stack);
}
