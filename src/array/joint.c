/* Joining the processes that write an output, and leaving them. */
#include "array/joint.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/threads.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fbp_status fbp_joint_create(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_joint *given)
{
    const size_t n = s->info.n[2];

    if (s->fingerprint == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is only written in parts if all they depend on is in files that do "
                        "not change: store the views first",
                        path);
    FBP_TRY(fbp_calloc((void **)&s->joint, 1, sizeof *s->joint, "a part of the output"));
    s->joint->edges.fd = -1;
    s->joint->own = *given;
    s->joint->own.mine = NULL;
    FBP_TRY(fbp_calloc((void **)&s->joint->mine, n, 1, "a table of slices"));
    memcpy(s->joint->mine, given->mine, n);
    return fbp_joint_runs(s->joint->mine, n, &s->joint->edges);
}

void fbp_joint_destroy(struct fbp_joint **joint)
{
    struct fbp_joint *j = *joint;

    if (!j)
        return;
    fbp_joint_edges_clear(&j->edges);
    free(j->mine);
    free(j->head);
    free(j);
    *joint = NULL;
}

static fbp_status count_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    size_t *n = user;

    (void)s;
    (void)p;
    ++*n;
    return FBP_OK;
}

/* Whoever comes first reserves all of it, and only then begins a journal.  So what is lacking
 * beside a journal was lost, with slices of which the journal speaks. */
static fbp_status open_part(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    size_t journals = 0;

    FBP_TRY(fbp_sink_part_reopen(s, inputs));
    if (s->fd < 0) {
        FBP_TRY(fbp_sink_part_create(s));
        return fbp_sink_reserve(s);
    }
    FBP_TRY(fbp_joint_each(s, false, count_peer, &journals));
    const fbp_status st = fbp_sink_part_check(s);
    if (st == FBP_OK)
        return fbp_joint_check_file(s); /* before anything is put into another one */
    if (journals > 0)
        return st;
    fbp_message_clear();
    return fbp_sink_reserve(s);
}

/* Slices that are on the disk; nobody else computes those of this process now. */
static fbp_status take_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    for (size_t i = 0; p->alive && i < p->edges.n_runs; i++)
        if (fbp_joint_is_mine(s, p->edges.runs[i].z0, p->edges.runs[i].nz))
            return fbp_joint_refuse_living(s, p);
    return fbp_joint_mark_synced(s, p, user);
}

/* While the head is locked. */
static fbp_status join(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                       struct fbp_joint_head *h)
{
    FBP_TRY(fbp_joint_head_read(s, h));
    if (h->alone && inputs->params->resume) { /* parts go on with what one process has left */
        FBP_TRY(fbp_joint_share(h->fd, s->joint->head));
        FBP_TRY(fbp_joint_head_read(s, h));
    }
    FBP_TRY(fbp_joint_head_take(s, inputs, h));
    if (s->joint->complete)
        return FBP_OK;
    if (s->joint->stack)
        FBP_TRY(s->joint->stack->check(s));
    FBP_TRY(fbp_joint_each(s, false, take_peer, NULL));
    if (!s->joint->stack) /* after the journals: what they speak of is seen in it */
        FBP_TRY(open_part(s, inputs));
    return fbp_joint_begin(s);
}

/* Nobody else writes these files under another name, now. */
static fbp_status try_second(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    FBP_TRY(fbp_sink_lock_second(s, inputs));
    fbp_sink_unlock_second(s);
    return FBP_OK;
}

fbp_status fbp_joint_join(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                          const struct fbp_joint_kind *stack)
{
    struct fbp_joint_head h = {.fd = -1};
    fbp_status st;

    s->joint->stack = stack;
    s->joint->head = s->log;
    s->log = NULL;
    FBP_TRY(fbp_part_spare(inputs, s->joint->head));
    if (!s->joint->stack)
        FBP_TRY(fbp_part_spare(inputs, s->part));
    FBP_TRY(fbp_part_turn(inputs, s->joint->head, true, &h.fd, &h.left));
    st = try_second(s, inputs);
    if (st == FBP_OK)
        st = join(s, inputs, &h);
    if (!h.left && !s->joint->joined)
        unlink(s->joint->head); /* the lock is ours: nobody has begun with it */
    close(h.fd);
    if (st == FBP_OK && !s->joint->complete)
        st = fbp_joint_salvage(s, inputs);
    if (s->joint->complete)
        fbp_sink_mark(s, 0, s->info.n[2]);
    return st;
}

/* Does the journal of this process name slices that are worth keeping? */
static bool is_worth_keeping(const struct fbp_sink *s)
{
    struct stat st;

    return s->fingerprint && s->log_fd >= 0 && fstat(s->log_fd, &st) == 0 &&
           (uint64_t)st.st_size > s->joint->begin && s->joint->begin > 0;
}

/* The last to leave an output of which nothing is there removes it. */
static void remove_all(struct fbp_sink *s)
{
    const struct fbp_sink_params none = {.struct_size = sizeof none};
    const struct fbp_part_inputs inputs = {.params = &none};
    bool left;
    size_t n = 0;
    int fd;

    if (fbp_part_turn(&inputs, s->joint->head, false, &fd, &left) != FBP_OK || fd < 0)
        return;
    if (fbp_joint_each(s, false, count_peer, &n) == FBP_OK && n == 0 &&
        !fbp_joint_is_left_alone(s)) {
        if (s->joint->stack)
            s->joint->stack->remove(s);
        else
            (void)fbp_sink_part_remove(s);
        unlink(s->joint->head);
    }
    close(fd);
}

/* Noted by whoever it was. */
static fbp_status note_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *noted)
{
    struct fbp_joint_line line;
    const char *at = p->lines;

    while (fbp_joint_next(s, p, &at, &line))
        memset((unsigned char *)noted + line.z0, 1, line.nz);
    return FBP_OK;
}

size_t fbp_joint_kept(struct fbp_sink *s)
{
    struct fbp_stop_scope deaf = {.deaf = true}, *const before = fbp_stop_scope(&deaf);
    unsigned char *noted = malloc(s->info.n[2]);
    size_t n = 0;

    if (noted) {
        memcpy(noted, s->have, s->info.n[2]);
        (void)!fbp_joint_each(s, true, note_peer, noted);
    }
    for (size_t z = 0; noted && z < s->info.n[2]; z++)
        n += noted[z];
    (void)fbp_stop_scope(before);
    free(noted);
    return n;
}

void fbp_joint_leave(struct fbp_sink *s)
{
    if (!s->joint->joined || s->joint->complete || s->finished || is_worth_keeping(s))
        return;
    if (s->log)
        (void)fbp_joint_remove(s->log);
    free(s->log);
    s->log = NULL;
    struct fbp_stop_scope deaf = {.deaf = true}, *const before = fbp_stop_scope(&deaf);
    remove_all(s);
    (void)fbp_stop_scope(before);
}
