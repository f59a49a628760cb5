/* The end of an output that several processes write: the last of them publishes it. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"

#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What this process has written is on the disk, and then its journal says so. */
static fbp_status sync_own(struct fbp_sink *s)
{
    if (s->joint->stack && syncfs(s->log_fd) < 0)
        return fbp_fail_write(s->path, errno, 0);
    if (!s->joint->stack) {
        FBP_TRY(fbp_sink_sync(s));
        FBP_TRY(fbp_sync_file(s->joint->edges.fd, s->joint->edges.path));
    }
    FBP_TRY(fbp_joint_note_file(s));
    FBP_TRY(fbp_append(s->log_fd, s->log, "synced\n"));
    FBP_TRY(fbp_sync_file(s->log_fd, s->log));
    fbp_sync_folder(s->path);
    return FBP_OK;
}

struct copying {
    unsigned char *done; /* 1 a slice that is whole now */
    void *scratch;
};

static fbp_status copy_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    const struct copying *c = user;
    struct fbp_joint_line line;
    const char *at = p->lines;

    while (fbp_joint_next(s, p, &at, &line)) {
        if (!line.synced)
            continue;
        FBP_TRY(fbp_joint_copy_edges(s, &p->edges, line.z0, line.nz, c->scratch));
        memset(c->done + line.z0, 1, line.nz);
    }
    return FBP_OK;
}

/* What was seen when this process began may be gone by now. */
static fbp_status check_copied(const struct fbp_sink *s, const unsigned char *done)
{
    const unsigned char *lost = memchr(done, 0, s->info.n[2]);

    if (!lost)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: slice %zu is not whole: a journal or its edges (%s.*) were removed while "
                    "the output was written: run it again, which computes what is lost",
                    s->path, (size_t)(lost - done), s->joint->head);
}

/* Edges of all processes, this one among them. */
static fbp_status copy_edges(struct fbp_sink *s)
{
    struct copying c = {0};
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&c.done, s->info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(fbp_alloc(&c.scratch, FBP_PIECE_BYTES, "a piece of the output"));
    FBP_TRY_GOTO(fbp_joint_each(s, true, copy_peer, &c));
    st = check_copied(s, c.done);
fail:
    fbp_free(c.scratch);
    free(c.done);
    return st;
}

/* What all processes have done with their layers of chunks. */
static fbp_status take_layers(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    (void)user;
    for (const char *at = p->lines; at < p->synced; at = strchr(at, '\n') + 1)
        fbp_chunked_take_line(s, at);
    return FBP_OK;
}

/* Whoever comes after a kill does all of this again; the bytes are the same. */
static fbp_status publish(struct fbp_sink *s, int head)
{
    FBP_TRY(fbp_joint_say_publish(s, head));
    if (s->joint->stack)
        return fbp_joint_name_slices(s, head);
    FBP_TRY(fbp_sink_write_header(s));
    FBP_TRY(copy_edges(s));
    if (s->chunked)
        FBP_TRY(fbp_joint_each(s, true, take_layers, NULL));
    return fbp_sink_publish_names(s);
}

/* What a kill while publishing left of a small file beside the samples. */
static fbp_status clear_side(const struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    char *side = fbp_format("%s.side", s->part);
    const fbp_status st =
        side ? fbp_part_clear(inputs, side, true) : fbp_fail_nomem(strlen(s->part), "a path");

    free(side);
    return st;
}

static fbp_status seal(struct fbp_sink *s, const struct fbp_part_inputs *inputs, int head)
{
    FBP_TRY(fbp_joint_check_file(s));
    if (s->chunked)
        FBP_TRY(fbp_joint_check_chunks(s));
    FBP_TRY(clear_side(s, inputs));
    FBP_TRY(fbp_sink_lock_second(s, inputs));
    const fbp_status st = publish(s, head);
    fbp_sink_unlock_second(s);
    FBP_TRY(fbp_sink_excuse(s, st));
    fbp_joint_tidy(s, head);
    fbp_sync_folder(s->path);
    return FBP_OK;
}

/* All processes say that theirs are on the disk. */
static fbp_status lacks_slices(const struct fbp_sink *s)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: all processes have written their slices, but %zu of %zu are not there: "
                    "journals (%s.*) were removed, or this machine does not see them: run it again "
                    "with --resume",
                    s->path, s->info.n[2] - s->n_have, s->info.n[2], s->joint->head);
}

/* Has it still the name PATH.part?  Of a stack, nothing has. */
static fbp_status find_unpublished(const struct fbp_sink *s, bool *unpublished)
{
    *unpublished = false;
    return s->joint->stack ? FBP_OK : fbp_part_find_named(s->fd, s->part, unpublished);
}

/* Not PATH.part any more: who published it gave it its name. */
static fbp_status check_named(const struct fbp_sink *s)
{
    bool named = true;

    if (!s->joint->stack)
        FBP_TRY(fbp_part_find_named(s->fd, s->layout.data_path, &named));
    if (named)
        return FBP_OK;
    return fbp_fail(
        FBP_ERR_IO,
        "%s: was moved or removed while the output was written, or %s has been replaced "
        "since then: start again if it is not there",
        s->part, s->path);
}

/* While the head is locked. */
static fbp_status finish(struct fbp_sink *s, const struct fbp_part_inputs *inputs, int head)
{
    bool unpublished;

    fbp_joint_look_anew(s->log);
    FBP_TRY(fbp_joint_each(s, false, fbp_joint_mark_synced, NULL));
    if (s->n_have < s->info.n[2])
        return s->joint->own.first ? lacks_slices(s) : FBP_OK;
    FBP_TRY(find_unpublished(s, &unpublished));
    if (s->joint->stack || unpublished)
        return seal(s, inputs, head);
    FBP_TRY(check_named(s));
    fbp_joint_tidy(s, head); /* who gave it its name ended then */
    return FBP_OK;
}

static fbp_status head_was_removed(const struct fbp_sink *s)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: was removed while the output was written: remove %s, too, and start again",
                    s->joint->head, s->part);
}

/* Nobody removes the head before the output has its name. */
static fbp_status check_published(struct fbp_sink *s)
{
    bool unpublished;

    FBP_TRY(find_unpublished(s, &unpublished));
    if (unpublished)
        return head_was_removed(s);
    FBP_TRY(check_named(s));
    s->joint->complete = true;
    fbp_sink_mark(s, 0, s->info.n[2]);
    fbp_joint_try_remove(s, s->log);
    return FBP_OK;
}

fbp_status fbp_joint_finish(struct fbp_sink *s)
{
    const struct fbp_sink_params none = {.struct_size = sizeof none};
    const struct fbp_part_inputs inputs = {.params = &none};
    bool left;
    int fd;

    if (!s->joint->head || s->joint->complete)
        return FBP_OK;
    FBP_TRY(sync_own(s));
    if (s->joint->own.led)
        return FBP_OK;
    FBP_TRY(fbp_part_turn(&inputs, s->joint->head, false, &fd, &left));
    if (fd < 0)
        return check_published(s);
    const fbp_status st = finish(s, &inputs, fd);
    close(fd);
    return st;
}
