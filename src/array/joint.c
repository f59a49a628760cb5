/* Joining the processes that write an output, and leaving them. */
#include "array/joint.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/stop.h"
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

/* What the head says. */
struct head {
    int fd;        /* locked */
    bool left;     /* it was there */
    bool shared;   /* of several processes */
    bool ours;     /* of this output, by the same release */
    bool publish;  /* all slices were there, and were getting their names */
    bool complete; /* and have them still */
    bool old;      /* of an output that was complete, and is another one now */
};

static fbp_status read_head(const struct fbp_sink *s, struct head *h)
{
    char line[FBP_JOURNAL_LINE];
    char *text = NULL;
    size_t n = 0;

    if (!h->left)
        return FBP_OK;
    FBP_TRY(fbp_read_text(s->joint->head, FBP_JOINT_MAX_HEAD, &text, &n));
    fbp_journal_first(s, line);
    h->shared = strncmp(text, FBP_PART_HEAD, strlen(FBP_PART_HEAD)) == 0;
    h->ours = strncmp(text, line, strlen(line)) == 0;
    h->publish = strstr(text, "\npublish\n");
    h->complete = h->publish && h->ours && fbp_joint_is_complete(s, text);
    h->old = h->publish && strstr(text, "\ncomplete ") && !h->complete;
    free(text);
    return FBP_OK;
}

static fbp_status refuse_living(const struct fbp_sink *s, const struct fbp_joint_peer *p)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: part %zu of %zu is being written by %s: wait for it, or choose another "
                    "name",
                    s->path, p->part, p->n_parts, p->who[0] ? p->who : "another process");
}

/* What ended processes left is of no use. */
static fbp_status drop_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    (void)user;
    if (p->alive)
        return refuse_living(s, p);
    fbp_joint_remove(p->path);
    return FBP_OK;
}

fbp_status fbp_joint_yield(struct fbp_sink *s, bool resume)
{
    char *text = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(s->log, FBP_JOINT_MAX_HEAD, &text, &n));
    const bool shared = strncmp(text, FBP_PART_HEAD, strlen(FBP_PART_HEAD)) == 0;
    const bool complete = shared && strstr(text, "\ncomplete ");
    free(text);
    if (complete) /* a record, of which nothing can be resumed */
        return ftruncate(s->log_fd, 0) == 0 ? FBP_OK : fbp_fail_write(s->log, errno, 0);
    if (!shared)
        return FBP_OK;
    if (resume)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: was begun in parts: finish it with --part, such as --part 1/1, or "
                        "start anew without --resume",
                        s->part);
    return fbp_joint_each(s, false, drop_peer, NULL);
}

/* Is PATH.part there?  Of a stack, there is none. */
static fbp_status find_part(const struct fbp_sink *s, bool *there)
{
    struct stat st;

    *there = true;
    return s->joint->stack ? FBP_OK : fbp_stat(s->part, &st, there);
}

static fbp_status clear_old(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    FBP_TRY(fbp_joint_each(s, false, drop_peer, NULL));
    if (s->joint->stack)
        return s->joint->stack->clear(s, inputs, false);
    return fbp_part_clear(inputs, s->part, false);
}

/* The first of all processes. */
static fbp_status begin_head(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             const struct head *h)
{
    char line[FBP_JOURNAL_LINE];

    if (ftruncate(h->fd, 0) < 0)
        return fbp_fail_write(s->joint->head, errno, 0);
    FBP_TRY(clear_old(s, inputs));
    s->joint->joined = true;
    if (s->joint->stack)
        FBP_TRY(s->joint->stack->room(s, h->fd));
    fbp_journal_first(s, line);
    return fbp_append(h->fd, s->joint->head, line);
}

static fbp_status refuse_head(const struct fbp_sink *s, const struct head *h)
{
    if (!h->shared)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: an interrupted run without --part left it: finish it with --resume, "
                        "or remove it and %s",
                        s->part, s->joint->head);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: belongs to parts with other options, another scan or another release of "
                    "fbp: use the same, or remove it and %s*",
                    s->part, s->joint->head);
}

/* All slices were there; whoever published has not tidied up. */
static fbp_status finish_published(struct fbp_sink *s, const struct head *h, bool there)
{
    bool gone = false;

    if (s->joint->stack && !h->complete)
        FBP_TRY(s->joint->stack->names(s, &gone));
    else if (there && !h->complete)
        return FBP_OK; /* not published after all: as if it were to be */
    FBP_TRY(fbp_joint_tidy(s, h->fd));
    s->joint->complete = !gone;
    return FBP_OK;
}

/* Is this the output that the head speaks of?  Else it is begun, or refused. */
static fbp_status take_head(struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                            const struct head *h)
{
    bool there;

    FBP_TRY(find_part(s, &there));
    if (!h->left || h->old || (h->publish && !h->ours && !there)) /* or of an older output */
        return begin_head(s, inputs, h);
    if (!h->ours)
        return refuse_head(s, h);
    if (h->publish)
        FBP_TRY(finish_published(s, h, there));
    s->joint->joined = true;
    return !there && !s->joint->complete ? clear_old(s, inputs) : FBP_OK;
}

/* Whoever comes first reserves all of it. */
static fbp_status open_part(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    struct stat st;

    FBP_TRY(fbp_part_reopen(inputs, s->part, &s->fd));
    if (s->fd < 0)
        FBP_TRY(fbp_part_create(s->part, &s->fd));
    if (fstat(s->fd, &st) == 0 && (uint64_t)st.st_size >= fbp_sink_part_bytes(s))
        return FBP_OK;
    return fbp_sink_reserve(s);
}

static bool is_mine(const struct fbp_sink *s, size_t z0, size_t nz)
{
    for (size_t z = z0; z < z0 + nz; z++)
        if (s->joint->mine[z])
            return true;
    return false;
}

/* Slices that are on the disk; nobody else computes those of this process now. */
static fbp_status take_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    for (size_t i = 0; p->alive && i < p->edges.n_runs; i++)
        if (is_mine(s, p->edges.runs[i].z0, p->edges.runs[i].nz))
            return refuse_living(s, p);
    return fbp_joint_mark_synced(s, p, user);
}

/* While the head is locked. */
static fbp_status join(struct fbp_sink *s, const struct fbp_part_inputs *inputs, struct head *h)
{
    FBP_TRY(read_head(s, h));
    FBP_TRY(take_head(s, inputs, h));
    if (s->joint->complete)
        return FBP_OK;
    if (s->joint->stack)
        FBP_TRY(s->joint->stack->check(s));
    FBP_TRY(fbp_joint_each(s, false, take_peer, NULL));
    if (!s->joint->stack) /* after the journals: what they speak of is seen in it */
        FBP_TRY(open_part(s, inputs));
    return fbp_joint_begin(s);
}

/* Are slices [z0, z0+nz) as the journal says? */
static bool is_whole(const struct fbp_sink *s, const struct fbp_joint_peer *p,
                     const struct fbp_joint_line *line, void *scratch)
{
    const uint64_t total = (uint64_t)line->nz * s->slice_bytes;
    const uint64_t at = s->part_offset + (uint64_t)line->z0 * s->slice_bytes;
    uint64_t h = 0;

    if (s->joint->stack)
        return s->joint->stack->has(s, line->z0, line->nz, line->hash, scratch);
    for (uint64_t done = 0; done < total;) {
        const size_t n = total - done < FBP_PIECE_BYTES ? (size_t)(total - done) : FBP_PIECE_BYTES;
        if (fbp_joint_get(s, &p->edges, at + done, scratch, n) != FBP_OK) {
            fbp_message_clear(); /* such slices are simply computed again */
            return false;
        }
        h = fbp_hash(h, scratch, n);
        done += n;
    }
    return h == line->hash;
}

/* One slice of another process becomes this one's. */
static fbp_status adopt(struct fbp_sink *s, const struct fbp_joint_peer *p, size_t z, void *scratch)
{
    const uint64_t at = s->part_offset + (uint64_t)z * s->slice_bytes;
    uint64_t h = 0;

    for (size_t done = 0; done < s->slice_bytes;) {
        const size_t left = s->slice_bytes - done,
                     n = left < FBP_PIECE_BYTES ? left : FBP_PIECE_BYTES;
        FBP_TRY(fbp_joint_get(s, &p->edges, at + done, scratch, n));
        FBP_TRY(fbp_joint_put(s, at + done, scratch, n));
        h = fbp_hash(h, scratch, n);
        done += n;
    }
    FBP_TRY(fbp_journal_append(s, z, 1, h));
    fbp_sink_mark(s, z, 1);
    return FBP_OK;
}

/* What a process that ended has noted, and nobody knows to be on the disk. */
static fbp_status salvage(struct fbp_sink *s, struct fbp_joint_peer *p, void *scratch)
{
    struct fbp_joint_line line;
    const char *at = p->lines;

    while (!p->alive && fbp_joint_next(s, p, &at, &line)) {
        if (line.synced || !is_mine(s, line.z0, line.nz) || fbp_sink_has(s, line.z0, line.nz) ||
            !is_whole(s, p, &line, scratch))
            continue;
        FBP_TRY(fbp_go_on());
        for (size_t z = line.z0; z < line.z0 + line.nz; z++) {
            if (!s->joint->mine[z] || s->have[z])
                continue;
            if (!s->joint->stack) {
                FBP_TRY(adopt(s, p, z, scratch));
                continue;
            }
            FBP_TRY(fbp_journal_append(s, z, 1, line.hash));
            fbp_sink_mark(s, z, 1);
        }
    }
    return FBP_OK;
}

static fbp_status salvage_all(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    void *scratch = NULL;

    FBP_TRY(fbp_alloc(&scratch, FBP_PIECE_BYTES, "a piece of the output"));
    const fbp_status st = fbp_joint_each(s, false, salvage, scratch);
    fbp_free(scratch);
    FBP_TRY(st);
    return s->joint->stack ? s->joint->stack->clear_missing(s, inputs) : FBP_OK;
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
    struct head h = {.fd = -1};
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
    if (st != FBP_OK && !h.left && !s->joint->joined)
        unlink(s->joint->head); /* the lock is ours: nobody has begun with it */
    close(h.fd);
    if (st == FBP_OK && !s->joint->complete)
        st = salvage_all(s, inputs);
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

static fbp_status count_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    size_t *n = user;

    (void)s;
    (void)p;
    ++*n;
    return FBP_OK;
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
    if (fbp_joint_each(s, false, count_peer, &n) == FBP_OK && n == 0) {
        if (s->joint->stack)
            s->joint->stack->remove(s);
        else
            unlink(s->part);
        unlink(s->joint->head);
    }
    close(fd);
}

void fbp_joint_leave(struct fbp_sink *s)
{
    if (!s->joint->joined || s->joint->complete || s->finished || is_worth_keeping(s))
        return;
    if (s->log)
        fbp_joint_remove(s->log);
    free(s->log);
    s->log = NULL;
    remove_all(s);
}
