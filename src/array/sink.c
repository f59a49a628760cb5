/* A sink at work: written, finished, closed. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/joint.h"
#include "array/sink_stack.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/threads.h"

#include <unistd.h>

/* Bytes to where they belong, for a piece, too. */
static fbp_status put_bytes(void *sink, uint64_t at, const void *data, size_t n)
{
    const struct fbp_sink *s = sink;

    return s->joint ? fbp_joint_put(sink, at, data, n) : fbp_sink_put(s, at, data, n);
}

static fbp_status write_as_is(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const uint64_t at = s->part_offset + (uint64_t)z0 * s->slice_bytes;

    FBP_TRY(put_bytes(s, at, data, nz * s->slice_bytes));
    fbp_sink_begin_sync(s, at, nz * s->slice_bytes);
    if (s->fingerprint)
        FBP_TRY(fbp_journal_append(s, z0, nz, fbp_piece_hash(0, data, nz * s->slice_bytes)));
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

uint64_t fbp_sink_thread_bytes(enum fbp_type type)
{
    const uint64_t packer = 512 << 10; /* zlib and rows of a PNG file */

    return type == FBP_F32 || type == FBP_F64 || type == FBP_TYPE_NONE ? 0
                                                                       : FBP_PIECE_BYTES + packer;
}

static fbp_status write_converted(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const uint64_t at = s->part_offset + (uint64_t)z0 * s->slice_bytes;
    const size_t n = nz * s->info.n[0] * s->info.n[1];
    struct fbp_piece p = {0};
    uint64_t clipped = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_piece_open(&p, s->fd, s->part, at));
    p.to = put_bytes;
    p.user = s;
    FBP_TRY_GOTO(fbp_piece_put_values(&p, &s->info, data, n, &clipped));
    FBP_TRY_GOTO(fbp_piece_flush(&p));
    fbp_sink_begin_sync(s, at, nz * s->slice_bytes);
    if (s->fingerprint)
        FBP_TRY_GOTO(fbp_journal_append(s, z0, nz, p.hash));
    fbp_sink_mark_clipped(s, z0, nz, clipped);
fail:
    fbp_piece_close(&p);
    return st;
}

static fbp_status write_file(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    return (s->info.scale != 0 ? write_converted : write_as_is)(s, z0, nz, data);
}

/* Those slices that are not there: each is put into its layer of chunks once. */
static fbp_status write_chunked(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const size_t bytes = fbp_sink_given_bytes(s);

    for (size_t i = 0, n; i < nz; i += n) {
        const bool there = fbp_sink_has(s, z0 + i, 1);
        for (n = 1; i + n < nz && fbp_sink_has(s, z0 + i + n, 1) == there;)
            n++;
        if (there)
            continue;
        FBP_TRY(write_file(s, z0 + i, n, (const char *)data + i * bytes));
        FBP_TRY(fbp_chunked_count(s, z0 + i, n));
    }
    return FBP_OK;
}

/* Doubles for FBP_F64, else floats. */
static fbp_status write_given(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    FBP_TRY(fbp_own_process(s->process, "output"));
    if (s->finished || z0 > s->info.n[2] || nz > s->info.n[2] - z0)
        return fbp_fail(FBP_ERR_INVALID, "output: slices [%zu, +%zu) of %zu cannot be written%s",
                        z0, nz, s->info.n[2], s->finished ? ": it is finished" : "");
    if (nz == 0)
        return FBP_OK;
    if (!s->fingerprint) /* else what is finished is worth keeping */
        FBP_TRY(fbp_go_on());
    if (s->kind == FBP_SINK_HASH)
        for (size_t z = 0; z < nz; z++)
            s->hash[z0 + z] = fbp_hash(0, (const char *)data + z * s->slice_bytes, s->slice_bytes);
    if (s->calls)
        FBP_TRY(s->calls->write(s, z0, nz, data));
    if (s->kind == FBP_SINK_STACK)
        return fbp_sink_stack_write(s, z0, nz, data);
    if (s->kind == FBP_SINK_FILE)
        return (s->chunked ? write_chunked : write_file)(s, z0, nz, data);
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

/* Values of the other precision than the sink takes. */
static void convert(bool to_double, const void *data, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++)
        if (to_double)
            ((double *)out)[i] = (double)((const float *)data)[i];
        else
            ((float *)out)[i] = (float)((const double *)data)[i];
}

/* A slice at a time, so that little memory is enough. */
static fbp_status write_other(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const bool to_double = s->info.type == FBP_F64;
    const size_t n = s->info.n[0] * s->info.n[1];
    const size_t given = n * (to_double ? sizeof(float) : sizeof(double));
    fbp_status st = FBP_OK;
    void *slice = NULL;

    FBP_TRY(fbp_alloc(&slice, fbp_sink_given_bytes(s), "a slice of the output"));
    for (size_t z = 0; z < nz && st == FBP_OK; z++) {
        convert(to_double, (const char *)data + z * given, n, slice);
        st = write_given(s, z0 + z, 1, slice);
    }
    fbp_free(slice);
    return st;
}

fbp_status fbp_sink_write(fbp_sink *s, size_t z0, size_t nz, const float *data)
{
    FBP_GIVEN(s, data);
    fbp_message_clear();
    return (s->info.type == FBP_F64 ? write_other : write_given)(s, z0, nz, data);
}

fbp_status fbp_sink_write_double(fbp_sink *s, size_t z0, size_t nz, const double *data)
{
    FBP_GIVEN(s, data);
    fbp_message_clear();
    return (s->info.type == FBP_F64 ? write_given : write_other)(s, z0, nz, data);
}

/* The first slice that is to be written here and was not; *n: how many. */
static size_t find_lacking(const struct fbp_sink *s, size_t *n)
{
    size_t first = s->info.n[2];

    *n = 0;
    for (size_t z = s->info.n[2]; z-- > 0;) {
        if (s->have[z] || (s->joint && !s->joint->mine[z]))
            continue;
        first = z;
        ++*n;
    }
    return first;
}

fbp_status fbp_sink_finish(fbp_sink *s)
{
    FBP_GIVEN(s);
    size_t n;

    fbp_message_clear();
    FBP_TRY(fbp_own_process(s->process, "output"));
    if (s->finished)
        return FBP_OK;
    const size_t first = find_lacking(s, &n);
    if (n > 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu of %zu slices were never written, the first is %zu: resume the "
                        "run",
                        s->path ? s->path : "output", n, s->info.n[2], first);
    fbp_status st = FBP_OK;
    if (s->joint)
        st = fbp_joint_finish(s);
    else if (s->kind == FBP_SINK_FILE)
        st = fbp_sink_publish(s);
    else if (s->kind == FBP_SINK_STACK)
        st = fbp_sink_stack_publish(s);
    FBP_TRY(fbp_sink_excuse(s, st));
    if (s->calls)
        FBP_TRY(s->calls->finish(s));
    s->finished = true;
    return FBP_OK;
}

size_t fbp_sink_missing(const fbp_sink *s)
{
    return s->joint && s->joint->head && !s->joint->complete ? s->info.n[2] - s->n_have : 0;
}

const char *fbp_sink_note(const fbp_sink *s)
{
    return s->note;
}

uint64_t fbp_sink_clipped(const fbp_sink *s)
{
    FBP_GIVEN_ELSE(0, s);
    return s->clipped;
}

uint64_t fbp_sink_hash(const fbp_sink *s)
{
    FBP_GIVEN_ELSE(0, s);
    return s->kind == FBP_SINK_HASH ? fbp_hash(0, s->hash, s->info.n[2] * sizeof *s->hash) : 0;
}

void fbp_sink_forget(fbp_sink *s)
{
    s->fingerprint = 0;
}

size_t fbp_sink_kept(struct fbp_sink *s)
{
    if (s && s->joint && s->joint->head && !s->finished)
        return fbp_joint_kept(s);
    return s && !s->finished && s->fingerprint && s->log_fd >= 0 ? s->n_have : 0;
}

/* Removed before the lock is let go, so that it cannot be somebody else's by then. */
static void remove_unfinished(struct fbp_sink *s)
{
    if (s->joint && s->joint->head && s->process == getpid())
        fbp_joint_leave(s);
    else if (s->owned && !s->finished && fbp_sink_kept(s) == 0) {
        if (s->kind == FBP_SINK_STACK)
            fbp_sink_stack_remove(s);
        else
            fbp_sink_file_remove(s);
    } else if (!s->owned && s->log_made) {
        unlink(s->log);
    }
    fbp_sink_unlock_second(s);
}

void fbp_sink_close(fbp_sink **sink)
{
    FBP_GIVEN_ELSE(, sink);
    struct fbp_sink *s = *sink;

    if (!s)
        return;
    if (s->process != getpid()) /* the files are its parent's */
        s->owned = s->log_made = s->lock_made = s->made_folder = false;
    remove_unfinished(s);
    if (s->calls)
        s->calls->close(s);
    if (s->made_folder && !s->finished)
        rmdir(s->folder); /* it stays if there is anything in it */
    if (s->log_fd >= 0)
        close(s->log_fd);
    if (s->fd >= 0)
        close(s->fd);
    fbp_joint_destroy(&s->joint);
    fbp_chunked_destroy(&s->chunked);
    fbp_layout_clear(&s->layout);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s->part);
    free(s->log);
    free(s->lock_path);
    free(s->note);
    free(s->folder);
    free(s->have);
    free(s->hash);
    free(s);
    *sink = NULL;
}
