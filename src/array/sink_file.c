/* The temporary file of a sink: locked, reserved, and at last published. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/describe.h"
#include "array/file/outfile.h"
#include "array/file/room.h"
#include "array/sink.h"

#include "base/base.h"
#include "base/threads.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static fbp_status cannot(const char *what, const char *path)
{
    return fbp_fail(FBP_ERR_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Make room for the temporary files: PATH.part itself, and those of publishing. */
static fbp_status clear_parts(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours,
                              bool part)
{
    static const char *const ends[] = {"", ".z", ".side"};
    fbp_status st = FBP_OK;

    for (size_t i = 0; i < sizeof ends / sizeof *ends && st == FBP_OK; i++) {
        if (i == 0 && part)
            st = fbp_sink_part_clear(s, inputs, ours);
        if (i == 0)
            continue;
        char *name = fbp_format("%s%s", s->part, ends[i]);
        st = name ? fbp_part_clear(inputs, name, ours) : fbp_fail_nomem(strlen(s->part), "a path");
        free(name);
    }
    return st;
}

fbp_status fbp_sink_file_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours)
{
    return clear_parts(s, inputs, ours, true);
}

void fbp_sink_file_remove(const struct fbp_sink *s)
{
    /* A part without its journal would be nobody's. */
    if (fbp_sink_part_remove(s))
        unlink(s->log);
}

fbp_status fbp_sink_part_open(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                              bool resume, bool *fresh)
{
    bool found = false;

    if (left && resume)
        FBP_TRY(fbp_journal_find(s, &found));
    if (found)
        FBP_TRY(fbp_sink_part_reopen(s, inputs));
    *fresh = s->fd < 0;
    FBP_TRY(clear_parts(s, inputs, left, *fresh));
    if (!*fresh)
        return FBP_OK;  /* what can be resumed is not removed by a failure from here on */
    s->log_made = true; /* nothing is left of which it spoke */
    /* The journal is there before what it speaks of, so that this is known as ours after a kill. */
    FBP_TRY(fbp_journal_create(s));
    FBP_TRY(fbp_sink_part_create(s));
    s->owned = true;
    return FBP_OK;
}

/* A quota, too, may be in the way. */
static fbp_status no_room(const struct fbp_sink *s, int error, uint64_t need, uint64_t left)
{
    return need <= left ? fbp_fail_write(s->path, error, need) : fbp_fail_room(s->path, need, left);
}

/* Where blocks cannot be reserved, asking how many are free is the next best. */
static fbp_status grow(struct fbp_sink *s, uint64_t need)
{
    const uint64_t left = fbp_room_left(s->fd);
    struct stat st;

    if (fstat(s->fd, &st) < 0)
        return cannot("look at", s->part);
    const uint64_t taken = (uint64_t)st.st_blocks * 512;
    if (need > taken && need - taken > left)
        return no_room(s, ENOSPC, need - taken, left);
    if ((uint64_t)st.st_size < need && ftruncate(s->fd, (off_t)need) < 0)
        return fbp_fail_write(s->path, errno, need);
    return FBP_OK;
}

fbp_status fbp_sink_reserve(struct fbp_sink *s)
{
    const uint64_t need = fbp_sink_part_bytes(s);

    if (s->chunked) /* each file is small, and made when its first slices come */
        return fbp_chunked_room(s);
    const int error = fbp_room_reserve(s->fd, need);
    if (error == 0)
        return FBP_OK;
    if (error == EOPNOTSUPP)
        return grow(s, need);
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        if (s->owned && ftruncate(s->fd, 0) < 0) /* what was reserved so far counts as free */
            return cannot("empty", s->part);
        return no_room(s, error, need, fbp_room_left(s->fd));
    }
    errno = error;
    return cannot("reserve space", s->part);
}

fbp_status fbp_sink_write_header(const struct fbp_sink *s)
{
    struct fbp_piece p = {0};
    fbp_status st;

    if (s->part_offset == 0)
        return FBP_OK;
    FBP_TRY_GOTO(fbp_piece_open(&p, s->fd, s->part, 0));
    FBP_TRY_GOTO(fbp_layout_put(&s->layout, &s->info, &p));
    st = fbp_piece_flush(&p);
fail:
    fbp_piece_close(&p);
    return st;
}

void fbp_sink_begin_sync(const struct fbp_sink *s, uint64_t at, uint64_t n)
{
    if (!s->compress && !s->passing)
        fbp_begin_sync(s->fd, at, n);
}

enum { CHUNK = 1 << 18 };

struct deflater {
    z_stream z;
    uint64_t at; /* next byte of the compressed file */
    unsigned char in[CHUNK], out[CHUNK];
};

static fbp_status deflate_chunk(struct deflater *d, int fd, const char *path, int flush)
{
    do {
        d->z.next_out = d->out;
        d->z.avail_out = sizeof d->out;
        if (deflate(&d->z, flush) == Z_STREAM_ERROR)
            return fbp_fail(FBP_ERR_IO, "%s: zlib failed", path);
        const size_t n = sizeof d->out - d->z.avail_out;
        FBP_TRY(fbp_write_at(fd, path, d->at, d->out, n));
        d->at += n;
    } while (d->z.avail_out == 0);
    return FBP_OK;
}

static fbp_status deflate_all(struct fbp_sink *s, struct deflater *d, int fd, const char *path)
{
    const uint64_t total = fbp_sink_part_bytes(s);

    for (uint64_t at = 0;
         at < total;) { /* the samples alone, or with a header that is packed, too */
        const size_t n = total - at < CHUNK ? (size_t)(total - at) : CHUNK;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_read_at(s->fd, s->part, at, d->in, n));
        at += n;
        d->z.next_in = d->in;
        d->z.avail_in = (uInt)n;
        FBP_TRY(deflate_chunk(d, fd, path, at == total ? Z_FINISH : Z_NO_FLUSH));
    }
    return FBP_OK;
}

/* Samples through zlib into a second temporary file, its header last: it holds their size. */
static fbp_status compress_to(struct fbp_sink *s, int fd, const char *path)
{
    const uint64_t start = s->format->packs_header ? 0 : s->layout.header_bytes;
    const int frame = s->format->gzip ? 15 + 16 : 15;
    struct deflater *d = NULL;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d, "zlib"));
    d->at = start;
    /* Noise shrinks little at any level. */
    if (deflateInit2(&d->z, Z_BEST_SPEED, Z_DEFLATED, frame, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(d);
        return fbp_fail_nomem(1 << 18, "zlib");
    }
    FBP_TRY_GOTO(deflate_all(s, d, fd, path));
    if (!s->format->packs_header) {
        fbp_layout_clear(&s->layout);
        FBP_TRY_GOTO(s->format->layout(s->path, &s->info, d->at - start, &s->layout));
        FBP_TRY_GOTO(fbp_write_at(fd, path, 0, s->layout.header, s->layout.header_bytes));
    }
    st = fbp_sync_file(fd, path);
fail:
    deflateEnd(&d->z);
    free(d);
    return st;
}

static fbp_status compress_part(struct fbp_sink *s, const char *path)
{
    fbp_status st;
    int fd;

    FBP_TRY(fbp_part_create(path, &fd));
    st = compress_to(s, fd, path);
    if (close(fd) < 0 && st == FBP_OK)
        st = cannot("close", path);
    if (st != FBP_OK)
        unlink(path);
    return st;
}

static fbp_status rename_to(const char *from, const char *to)
{
    if (rename(from, to) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be renamed to %s: %s", from, to, strerror(errno));
    return FBP_OK;
}

/* Found before anything has its name: one of two names would be taken otherwise. */
static fbp_status check_name(const char *from, const char *to)
{
    struct stat st;

    if (stat(to, &st) == 0 && S_ISDIR(st.st_mode))
        return fbp_fail(FBP_ERR_IO, "%s: cannot be renamed to %s: %s", from, to, strerror(EISDIR));
    return FBP_OK;
}

static fbp_status write_side(const struct fbp_sink *s, const char *path)
{
    fbp_status st;
    int fd;

    FBP_TRY(fbp_part_create(path, &fd));
    st = fbp_write_at(fd, path, 0, s->layout.side_text, strlen(s->layout.side_text));
    if (st == FBP_OK)
        st = fbp_sync_file(fd, path);
    close(fd);
    return st;
}

/* Both files under their final names.  Samples say nothing without the small file, and a small file
 * of other samples says something wrong: old samples go first, new ones come last, so that whenever
 * this ends there is one volume or none. */
static fbp_status publish_both(const struct fbp_sink *s, const char *data, const char *side)
{
    const struct fbp_layout *l = &s->layout;

    FBP_TRY(write_side(s, side)); /* before anything gets its name: the disk may be full */
    FBP_TRY(check_name(data, l->data_path));
    FBP_TRY(check_name(side, l->side_path));
    if (unlink(l->data_path) < 0 && errno != ENOENT)
        return cannot("replace", l->data_path);
    FBP_TRY(rename_to(side, l->side_path));
    const fbp_status st = rename_to(data, l->data_path);
    if (st != FBP_OK)
        unlink(l->side_path);
    return st;
}

/* An earlier output of integers under this name goes with its description, which would give the new
 * samples its scale. */
static fbp_status drop_described(const struct fbp_sink *s, const char *data)
{
    const char *old = s->layout.data_path;
    struct fbp_array_info info = {.type = FBP_TYPE_NONE};
    char *beside = fbp_format("%s.json", old);
    bool described = false;
    fbp_status st;

    if (!beside)
        return fbp_fail_nomem(strlen(old), "a path");
    st = fbp_described_beside(old, &info, &described);
    if (st == FBP_OK && described) {
        st = check_name(data, old);
        if (st == FBP_OK && unlink(old) < 0 && errno != ENOENT)
            st = cannot("replace", old);
        if (st == FBP_OK && unlink(beside) < 0)
            st = cannot("remove", beside);
    }
    free(beside);
    return st;
}

/* The samples under their final name, with the small file where the format has one. */
static fbp_status publish_names(struct fbp_sink *s, const char *data)
{
    const struct fbp_layout *l = &s->layout;
    const bool described = l->side_path && fbp_has_extension(l->side_path, ".json");
    fbp_status st;
    char *side;

    if (!described)
        FBP_TRY(drop_described(s, data));
    if (!l->side_path) {
        st = rename_to(data, l->data_path);
        s->published = st == FBP_OK;
        return st;
    }
    side = fbp_format("%s.part.side", s->path);
    if (!side)
        return fbp_fail_nomem(strlen(s->path), "a path");
    st = publish_both(s, data, side);
    s->published = st == FBP_OK;
    if (st != FBP_OK)
        unlink(side);
    free(side);
    return st;
}

static fbp_status publish_compressed(struct fbp_sink *s)
{
    char *packed = fbp_format("%s.part.z", s->path);
    fbp_status st;

    if (!packed)
        return fbp_fail_nomem(strlen(s->path), "a path");
    st = compress_part(s, packed);
    if (st == FBP_OK)
        st = publish_names(s, packed);
    if (st != FBP_OK)
        unlink(packed);
    free(packed);
    return st;
}

fbp_status fbp_sink_publish_names(struct fbp_sink *s)
{
    if (s->chunked) {
        FBP_TRY(fbp_chunked_complete(s));
        return fbp_chunked_publish(s);
    }
    FBP_TRY(fbp_sink_sync(s));
    return publish_names(s, s->part);
}

fbp_status fbp_sink_publish(struct fbp_sink *s)
{
    FBP_TRY((s->compress && !s->chunked ? publish_compressed : fbp_sink_publish_names)(s));
    fbp_sink_file_remove(s);
    fbp_sync_folder(s->path);
    return access(s->log, F_OK) != 0
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot be removed: it belongs to the finished run",
                          s->log);
}
