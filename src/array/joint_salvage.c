/* What processes that ended have written, and nobody knows to be on the disk. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/threads.h"

#include <string.h>

fbp_status fbp_joint_compare(const struct fbp_sink *s, const struct fbp_joint_peer *p,
                             const struct fbp_joint_line *line, void *scratch, bool *whole)
{
    const uint64_t total = (uint64_t)line->nz * s->slice_bytes;
    const uint64_t at = s->part_offset + (uint64_t)line->z0 * s->slice_bytes;
    uint64_t h = 0;

    for (uint64_t done = 0; done < total;) {
        const size_t n = total - done < FBP_PIECE_BYTES ? (size_t)(total - done) : FBP_PIECE_BYTES;
        FBP_TRY(fbp_joint_get(s, &p->edges, at + done, scratch, n));
        h = fbp_hash(h, scratch, n);
        done += n;
    }
    *whole = h == line->hash;
    return FBP_OK;
}

static bool is_whole(const struct fbp_sink *s, const struct fbp_joint_peer *p,
                     const struct fbp_joint_line *line, void *scratch)
{
    bool whole = false;

    if (s->joint->stack)
        return s->joint->stack->has(s, line->z0, line->nz, line->hash, scratch);
    if (fbp_joint_compare(s, p, line, scratch, &whole) != FBP_OK)
        fbp_message_clear(); /* such slices are simply computed again */
    return whole;
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
    return s->chunked ? fbp_chunked_count(s, z, 1) : FBP_OK;
}

static fbp_status salvage(struct fbp_sink *s, struct fbp_joint_peer *p, void *scratch)
{
    struct fbp_joint_line line;
    const char *at = p->lines;

    while (!p->alive && fbp_joint_next(s, p, &at, &line)) {
        if (line.synced || !fbp_joint_is_mine(s, line.z0, line.nz) ||
            fbp_sink_has(s, line.z0, line.nz) || !is_whole(s, p, &line, scratch))
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

/* Lines of the head are those of one process that wrote all slices, none of them apart. */
static fbp_status read_alone(const struct fbp_sink *s, struct fbp_joint_run *all,
                             struct fbp_joint_peer *out)
{
    size_t n = 0;

    *all = (struct fbp_joint_run){0, s->info.n[2]};
    *out = (struct fbp_joint_peer){.path = s->joint->head,
                                   .edges = {.runs = all, .n_runs = 1, .stripe = 1, .fd = -1}};
    FBP_TRY(fbp_read_text(s->joint->head, FBP_JOINT_MAX_HEAD, &out->text, &n));
    const char *newline = strchr(out->text, '\n');
    out->lines = out->synced = newline ? newline + 1 : out->text + n;
    return FBP_OK;
}

static fbp_status salvage_alone(struct fbp_sink *s, void *scratch)
{
    struct fbp_joint_peer alone;
    struct fbp_joint_run all;

    FBP_TRY(read_alone(s, &all, &alone));
    const fbp_status st = salvage(s, &alone, scratch);
    free(alone.text);
    return st;
}

bool fbp_joint_is_left_alone(const struct fbp_sink *s)
{
    struct fbp_joint_peer alone;
    struct fbp_joint_line line;
    struct fbp_joint_run all;

    if (read_alone(s, &all, &alone) != FBP_OK)
        return true; /* nobody knows */
    const char *at = alone.lines;
    const bool any = fbp_joint_next(s, &alone, &at, &line);
    free(alone.text);
    return any;
}

fbp_status fbp_joint_salvage(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    void *scratch = NULL;

    FBP_TRY(fbp_alloc(&scratch, FBP_PIECE_BYTES, "a piece of the output"));
    fbp_status st = fbp_joint_each(s, false, salvage, scratch);
    if (st == FBP_OK)
        st = salvage_alone(s, scratch);
    fbp_free(scratch);
    FBP_TRY(st);
    return s->joint->stack ? s->joint->stack->clear_missing(s, inputs) : FBP_OK;
}
