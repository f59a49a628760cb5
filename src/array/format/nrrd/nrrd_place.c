/* Where the samples lie in a file of them: behind lines and bytes, or behind zlib. */
#include "array/file/bytes.h"
#include "array/file/inflate.h"
#include "array/format/nrrd/nrrd.h"

#include <string.h>
#include <unistd.h>

/* Byte behind `lines` newlines, from `at` on. */
static fbp_status skip_lines(const struct fbp_source *src, long long lines, uint64_t size,
                             uint64_t *at)
{
    char chunk[4096];

    while (lines > 0) {
        const size_t n = size - *at < sizeof chunk ? (size_t)(size - *at) : sizeof chunk;
        if (n == 0)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: the file ends within the lines that are to be skipped: correct "
                            "\"line skip\"",
                            src->path);
        FBP_TRY(fbp_read_at(src->fd, src->path, *at, chunk, n));
        const char *p = chunk;
        while (lines > 0 && (p = memchr(p, '\n', n - (size_t)(p - chunk)))) {
            p++;
            lines--;
        }
        *at += p ? (size_t)(p - chunk) : n;
    }
    return FBP_OK;
}

/* Of a file that is still being written, it must be known where a view lies. */
static fbp_status check_growing(const struct fbp_source *src, const struct nrrd_data *data)
{
    if (src->growing && data->gzip)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: its samples are compressed: a compressed file cannot be followed "
                        "while it grows: write it with encoding: raw",
                        src->path);
    if (src->growing && data->byte_skip == -1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: NRRD header: byte skip: -1 counts from the end: such a file cannot be "
                        "followed while it grows: give the number of bytes",
                        src->path);
    return FBP_OK;
}

fbp_status fbp_nrrd_place(struct fbp_source *src, const struct nrrd_data *data, uint64_t at)
{
    const off_t end = lseek(src->fd, 0, SEEK_END);
    const uint64_t size = end < 0 ? 0 : (uint64_t)end;
    uint64_t bytes = 0;

    FBP_TRY(check_growing(src, data));
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    FBP_TRY(skip_lines(src, data->line_skip, size, &at));
    src->offset = at;
    if (data->gzip) {
        FBP_TRY(fbp_inflate_check(src, 0, size, (uint64_t)data->byte_skip, bytes));
        return fbp_inflate_open(src, (uint64_t)data->byte_skip, bytes);
    }
    if (data->byte_skip == -1) /* the file's last bytes, but not the header's */
        src->offset = size >= bytes && size - bytes > at ? size - bytes : at;
    else
        src->offset += (uint64_t)data->byte_skip;
    if (!src->growing && (size < bytes || src->offset > size - bytes))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the file has %llu bytes, but the header asks for %llu of samples from "
                        "byte %llu on: it is truncated, copy it again",
                        src->path, (unsigned long long)size, (unsigned long long)bytes,
                        (unsigned long long)src->offset);
    return FBP_OK;
}
