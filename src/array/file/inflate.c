/* A source whose samples are one zlib or gzip stream (fbp_inflate_open()), for compressed MHA,
 * NRRD and NIfTI files. Reading forward continues the stream; reading backward starts it again.
 * The memory does not depend on the size of the file.
 * Used by: array/format/mha.c, array/format/nifti.c, array/format/nrrd.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"

#include <pthread.h>
#include <string.h>
#include <zlib.h>

enum { IN_BYTES = 1 << 16, SKIP_BYTES = 1 << 16 };

struct cursor {
    pthread_mutex_t lock;
    z_stream z;
    bool ready; /* `z` is initialized */
    bool gzip;  /* another member may follow the first */
    bool ended; /* The last gzip member of the stream has ended, and its checksum was correct. */
    uint64_t start;    /* first byte of the stream in the file */
    uint64_t file_pos; /* next byte of the file to inflate */
    uint64_t pos;      /* number of bytes inflated so far */
    uint64_t skip;     /* inflated bytes before the samples */
    uint64_t total;    /* `skip` and the bytes of all samples */
    unsigned char in[IN_BYTES], skipped[SKIP_BYTES];
};

/* Inflate up to `room` more bytes of a zlib or gzip stream into `out`, from one gzip member to the
 * next; *got: number of bytes. c->ended is set at the end of the stream. */
static fbp_status inflate_some(fbp_source *src, struct cursor *c, unsigned char *out, uInt room,
                               size_t *got)
{
    unsigned char head[3] = {0};
    size_t n = 0;

    if (c->z.avail_in == 0 && !c->ended) {
        FBP_TRY(fbp_read_most(src->fd, src->path, c->file_pos, c->in, sizeof c->in, &n));
        if (n == 0)
            return FBP_INVALID("%s: the compressed samples end after %llu bytes; the file is "
                               "truncated, copy it again",
                               src->path, (unsigned long long)c->pos);
        c->file_pos += n;
        c->z.next_in = c->in;
        c->z.avail_in = (uInt)n;
    }
    c->z.next_out = out;
    c->z.avail_out = room;
    const int code = inflate(&c->z, Z_NO_FLUSH);
    *got = room - c->z.avail_out;
    c->pos += *got;
    if (code == Z_OK || code == Z_BUF_ERROR)
        return FBP_OK;
    if (code == Z_MEM_ERROR)
        return fbp_fail_nomem(1 << 16, "zlib");
    if (code != Z_STREAM_END && c->pos == c->total)
        return FBP_INVALID(
            "%s: the checksum of the compressed samples is wrong; the file is damaged, "
            "copy it again",
            src->path);
    if (code != Z_STREAM_END)
        return FBP_INVALID(
            "%s: the compressed samples cannot be decoded after %llu bytes; the file "
            "is damaged, copy it again",
            src->path, (unsigned long long)c->pos);
    /* Another gzip member may follow. Other bytes, such as zeros, end the stream. */
    n = 0;
    if (c->gzip)
        FBP_TRY(
            fbp_read_most(src->fd, src->path, c->file_pos - c->z.avail_in, head, sizeof head, &n));
    c->ended = !fbp_is_gzip(head, n);
    if (!c->ended && inflateReset(&c->z) != Z_OK)
        return fbp_fail_nomem(1 << 16, "zlib");
    return FBP_OK;
}

static fbp_status inflate_bytes(fbp_source *src, struct cursor *c, unsigned char *out, size_t n)
{
    while (n > 0) {
        size_t got = 0;
        if (c->ended)
            return FBP_INVALID(
                "%s: the compressed samples end after %llu bytes; the file is damaged, "
                "copy it again",
                src->path, (unsigned long long)c->pos);
        FBP_TRY(inflate_some(src, c, out, n < (1u << 30) ? (uInt)n : 1u << 30, &got));
        out += got;
        n -= got;
    }
    return FBP_OK;
}

/* Inflate n bytes from byte `pos` of the decompressed stream on. The caller holds c->lock. */
static fbp_status inflate_at(fbp_source *src, struct cursor *c, uint64_t pos, unsigned char *out,
                             size_t n)
{
    unsigned char more;
    size_t got = 0;

    if (!c->ready || pos < c->pos) { /* start at the first byte of the stream */
        if (c->ready)
            inflateEnd(&c->z);
        memset(&c->z, 0, sizeof c->z);
        c->ready = inflateInit2(&c->z, 15 + 32) == Z_OK; /* zlib or gzip, by its header */
        c->ended = false;
        c->file_pos = c->start;
        c->pos = 0;
        if (!c->ready)
            return fbp_fail_nomem(1 << 16, "zlib");
    }
    while (c->pos < pos) {
        const uint64_t left = pos - c->pos;
        FBP_TRY(inflate_bytes(src, c, c->skipped, left < SKIP_BYTES ? (size_t)left : SKIP_BYTES));
    }
    FBP_TRY(inflate_bytes(src, c, out, n));
    if (c->pos != c->total)
        return FBP_OK;
    /* The compressed stream must end after the last sample, with a correct checksum. */
    while (!c->ended && got == 0)
        FBP_TRY(inflate_some(src, c, &more, 1, &got));
    if (got == 0)
        return FBP_OK;
    return FBP_INVALID("%s: the file contains more compressed samples than its header states; the "
                       "file is damaged, copy it again",
                       src->path);
}

static fbp_status read_compressed(fbp_source *src, size_t slice, size_t row0, size_t n_rows,
                                  void *out)
{
    struct cursor *c = src->state;
    const size_t size = fbp_type_size(src->info.type), row_bytes = src->info.n[0] * size;
    const uint64_t pos = c->skip + ((uint64_t)slice * src->info.n[1] + row0) * row_bytes;
    fbp_status st;

    pthread_mutex_lock(&c->lock);
    st = inflate_at(src, c, pos, out, n_rows * row_bytes);
    if (st != FBP_OK && c->ready) { /* a failed stream is not continued */
        inflateEnd(&c->z);
        c->ready = false;
    }
    pthread_mutex_unlock(&c->lock);
    if (st == FBP_OK && fbp_is_foreign(src->info.big_endian))
        fbp_swap_bytes(out, size, n_rows * src->info.n[0]);
    return st;
}

static void close_compressed(fbp_source *src)
{
    struct cursor *c = src->state;

    if (c->ready)
        inflateEnd(&c->z);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

fbp_status fbp_inflate_open(struct fbp_source *src, uint64_t stated, uint64_t skip, uint64_t bytes)
{
    const uint64_t size = fbp_file_bytes(src->fd);
    const uint64_t left = size > src->offset ? size - src->offset : 0;
    unsigned char head[3];
    struct cursor *c = NULL;
    uint64_t total = 0;
    size_t n = 0;

    if (src->growing)
        return FBP_UNSUPPORTED(
            "%s: --follow cannot read compressed samples; write the file without compression",
            src->path);
    if (stated > left || bytes / FBP_DEFLATE_AT_MOST > left ||
        skip / FBP_DEFLATE_AT_MOST > left - bytes / FBP_DEFLATE_AT_MOST)
        return FBP_INVALID(
            "%s: the file has %llu bytes of compressed samples, fewer than its header states, or "
            "too few for %llu bytes of samples; the file is truncated or damaged, copy it again",
            src->path, (unsigned long long)left, (unsigned long long)bytes);
    if (__builtin_add_overflow(skip, bytes, &total))
        return FBP_INVALID(
            "%s: the header gives %llu bytes before the samples, which is impossible; "
            "the header is damaged, copy the file again",
            src->path, (unsigned long long)skip);
    FBP_TRY(fbp_read_most(src->fd, src->path, src->offset, head, sizeof head, &n));
    FBP_TRY(fbp_calloc((void **)&c, 1, sizeof *c, "a zlib stream"));
    pthread_mutex_init(&c->lock, NULL);
    c->start = src->offset;
    c->gzip = fbp_is_gzip(head, n);
    c->skip = skip;
    c->total = total;
    src->state = c;
    src->read = read_compressed;
    src->in_order = true;
    src->close = close_compressed;
    return FBP_OK;
}

bool fbp_is_gzip(const unsigned char *head, size_t n)
{
    return n >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

fbp_status fbp_inflate_head(const unsigned char *head, size_t n, unsigned char *out, size_t max,
                            size_t *got)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)head, /* zlib does not write there */
                  .avail_in = (uInt)n,
                  .next_out = out,
                  .avail_out = (uInt)max};

    int code = inflateInit2(&z, 15 + 32);

    *got = 0;
    if (code != Z_OK)
        return fbp_fail_nomem(1 << 16, "zlib");
    /* The stream in head[n] is cut off, so inflate() may fail after the requested bytes. A gzip
     * stream may have several members. */
    while ((code = inflate(&z, Z_SYNC_FLUSH)) == Z_STREAM_END &&
           fbp_is_gzip(z.next_in, z.avail_in) && z.avail_out > 0 && inflateReset(&z) == Z_OK)
        ;
    inflateEnd(&z);
    *got = max - z.avail_out;
    return code == Z_MEM_ERROR ? fbp_fail_nomem(1 << 16, "zlib") : FBP_OK;
}
