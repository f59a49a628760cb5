/* A MAT file looked through before matio sees it, which takes what is left of a truncated file and
 * does not compare checksums: every element must be there, every compressed one inflate to its end.
 * Layout: MAT-File Format, The MathWorks, 1999 to 2023. */
#include "io/bytes.h"
#include "io/mat_lib.h"

#include "base/mem.h"

#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER = 128, TAG = 8, MATRIX = 14, COMPRESSED = 15, CHUNK = 1 << 16 };

struct walker {
    const char *path;
    int fd;
    uint64_t at, end;
    bool big_endian;
    unsigned char in[CHUNK], out[CHUNK];
};

static uint32_t number(const struct walker *w, const unsigned char *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return fbp_is_foreign(w->big_endian) ? __builtin_bswap32(x) : x;
}

static fbp_status damaged(const struct walker *w, const char *what)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: %s %llu: the file is truncated or damaged, copy it again",
                    w->path, what, (unsigned long long)w->at);
}

/* The zlib stream of n bytes at w->at ends where it should, and its checksum is right. */
static fbp_status inflate_through(struct walker *w, uint64_t n)
{
    z_stream z = {0};
    int code = Z_OK;

    if (inflateInit(&z) != Z_OK)
        return fbp_fail_nomem(CHUNK, "zlib");
    for (uint64_t done = 0; done < n && code == Z_OK;) {
        const size_t piece = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
        if (fbp_read_at(w->fd, w->path, w->at + done, w->in, piece) != FBP_OK)
            break;
        z.next_in = w->in;
        z.avail_in = (uInt)piece;
        done += piece;
        do {
            z.next_out = w->out;
            z.avail_out = CHUNK;
            code = inflate(&z, Z_NO_FLUSH);
        } while (code == Z_OK && z.avail_out == 0);
        if (code == Z_BUF_ERROR) /* all of the piece is used up */
            code = Z_OK;
    }
    inflateEnd(&z);
    return code == Z_STREAM_END ? FBP_OK : damaged(w, "cannot inflate the variable at byte");
}

static fbp_status walk(struct walker *w)
{
    unsigned char tag[TAG];

    for (w->at = HEADER; w->at < w->end;) {
        if (w->end - w->at < TAG)
            return damaged(w, "an incomplete variable at byte");
        FBP_TRY(fbp_read_at(w->fd, w->path, w->at, tag, TAG));
        const uint32_t type = number(w, tag), n = number(w, tag + 4);
        if ((type != MATRIX && type != COMPRESSED) || n > w->end - w->at - TAG)
            return damaged(w, "an incomplete variable at byte");
        w->at += TAG;
        if (type == COMPRESSED)
            FBP_TRY(inflate_through(w, n));
        w->at += n;
    }
    return w->end > HEADER ? FBP_OK : damaged(w, "no variable at byte");
}

/* Version 4 has no text before its first variable, but five integers: type, in decimal digits the
 * second of which is 0, rows, columns, 1 if complex, length of the name. */
static bool is_version_4(struct walker *w, const unsigned char *head)
{
    for (int big = 0; big < 2; big++) {
        w->big_endian = big;
        const uint32_t type = number(w, head), complex = number(w, head + 12);
        const uint32_t length = number(w, head + 16);
        if (type < 5000 && type / 100 % 10 == 0 && type / 10 % 10 < 6 && type % 10 < 3 &&
            complex < 2 && length > 0 && length < 256 && 20 + length <= w->end)
            return true;
    }
    return false;
}

fbp_status fbp_mat_check(const char *file)
{
    struct walker *w = NULL;
    unsigned char head[HEADER] = {0};
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&w, 1, sizeof *w, "a MAT file"));
    w->path = file;
    w->fd = -1;
    FBP_TRY_GOTO(fbp_open_file(file, &w->fd, &w->end));
    FBP_TRY_GOTO(fbp_read_at(w->fd, file, 0, head, w->end < HEADER ? w->end : HEADER));
    if (is_version_4(w, head)) {
        st = fbp_fail(FBP_ERR_UNSUPPORTED,
                      "%s: is a MAT file of version 4, which is not read: save it by save -v7 "
                      "(scipy: format='5')",
                      file);
        goto fail;
    }
    if (w->end < HEADER) {
        st = fbp_fail(FBP_ERR_INVALID, "%s: is too short for a MAT file: copy it again", file);
        goto fail;
    }
    w->big_endian = head[126] == 'M';
    st = walk(w);
fail:
    if (w->fd >= 0)
        close(w->fd);
    free(w);
    return st;
}
