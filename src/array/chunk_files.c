/* Files of an output in chunks: plain (uncompressed) ones, which are written in parts, and packed
 * (compressed) ones; and copies of boxes of samples between memory and plain chunks of level 0.
 * chunked.c and sink_files.c call it (see chunked.h). */
#include "array/chunked.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { NAME_BYTES = 120 };

/* Name of a file in the folder of the output. */
struct name {
    char text[NAME_BYTES];
};

static struct name name_of(size_t level, const size_t k[3], const char *end)
{
    struct name name;

    snprintf(name.text, sizeof name.text, "%zu/%zu/%zu/%zu%s", level, k[2], k[1], k[0], end);
    return name;
}

static struct name plain_name(const struct fbp_sink *s, size_t level, const size_t k[3])
{
    return name_of(level, k, s->chunked->compression ? ".part" : "");
}

static fbp_status cannot(const struct fbp_sink *s, const char *what, const struct name *name)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return fbp_fail_write(s->path, errno, 0);
    return fbp_fail(FBP_ERR_IO, "%s/%s: cannot %s: %s%s", s->part, name->text, what,
                    strerror(errno), fbp_write_remedy(errno));
}

static int open_in(const struct fbp_sink *s, const struct name *name, int flags)
{
    int fd;

    do
        fd = openat(s->fd, name->text, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Open a file; a missing file is created, together with its folders. */
static fbp_status create(const struct fbp_sink *s, const struct name *name, int *fd)
{
    struct name folder = *name;

    *fd = open_in(s, name, O_RDWR | O_CREAT);
    if (*fd >= 0 || errno != ENOENT)
        return *fd < 0 ? cannot(s, "create", name) : FBP_OK;
    for (char *slash = strchr(folder.text, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(s->fd, folder.text, 0777) < 0 && errno != EEXIST) /* another thread's */
            return cannot(s, "create the folder of", name);
        *slash = '/';
    }
    *fd = open_in(s, name, O_RDWR | O_CREAT);
    return *fd < 0 ? cannot(s, "create", name) : FBP_OK;
}

static fbp_status close_written(const struct fbp_sink *s, int fd, const struct name *name,
                                fbp_status st)
{
    return close(fd) < 0 && st == FBP_OK ? cannot(s, "close", name) : st;
}

/* Write a whole file under a temporary name, and rename it. */
static fbp_status replace(const struct fbp_sink *s, const struct name *name, const void *data,
                          size_t n)
{
    struct name other;
    fbp_status st;
    int fd;

    snprintf(other.text, sizeof other.text, "%.*s.new", NAME_BYTES - 5, name->text);
    FBP_TRY(create(s, &other, &fd));
    st = ftruncate(fd, 0) < 0 ? cannot(s, "empty", &other) : fbp_write_at(fd, s->part, 0, data, n);
    FBP_TRY(close_written(s, fd, &other, st));
    return renameat(s->fd, other.text, s->fd, name->text) < 0 ? cannot(s, "rename", &other)
                                                              : FBP_OK;
}

/* Read the packed file of a chunk. */
static fbp_status read_packed(const struct fbp_sink *s, size_t level, const size_t k[3], void *out)
{
    const struct name name = name_of(level, k, "");
    const int fd = open_in(s, &name, O_RDONLY);
    uLongf got = s->chunked->chunk_bytes;
    bool whole = false;
    void *packed = NULL;
    struct stat is;
    fbp_status st = FBP_OK;

    if (fd < 0)
        return cannot(s, "open", &name);
    if (fstat(fd, &is) < 0) {
        st = cannot(s, "look at", &name);
        goto fail;
    }
    if ((uint64_t)is.st_size <= fbp_chunk_packed_bytes(s->chunked)) {
        FBP_TRY_GOTO(fbp_alloc(&packed, (size_t)is.st_size, "a compressed chunk"));
        FBP_TRY_GOTO(fbp_read_at(fd, s->part, 0, packed, (size_t)is.st_size));
        whole = uncompress(out, &got, packed, (uLong)is.st_size) == Z_OK &&
                got == s->chunked->chunk_bytes;
    }
    if (!whole)
        st = fbp_fail(FBP_ERR_IO,
                      "%s/%s: cannot be inflated: it is damaged: remove %s and %s.log* and start "
                      "again",
                      s->part, name.text, s->part, s->part);
fail:
    fbp_free(packed);
    close(fd);
    return st;
}

/* Decompress a packed chunk to a plain one, before some of its slices are read or written. *fd -1:
 * the chunk does not exist. */
static fbp_status unpack(const struct fbp_sink *s, size_t level, const size_t k[3], int *fd)
{
    const struct name packed = name_of(level, k, ""), plain = plain_name(s, level, k);
    fbp_status st = FBP_OK;
    void *data = NULL;

    pthread_mutex_lock(&s->chunked->unpacking);
    *fd = open_in(s, &plain, O_RDWR); /* another thread may have decompressed and written it */
    if (*fd < 0 && faccessat(s->fd, packed.text, F_OK, 0) == 0) {
        FBP_TRY_GOTO(fbp_alloc(&data, s->chunked->chunk_bytes, "a chunk"));
        FBP_TRY_GOTO(read_packed(s, level, k, data));
        FBP_TRY_GOTO(replace(s, &plain, data, s->chunked->chunk_bytes));
        *fd = open_in(s, &plain, O_RDWR);
        if (*fd < 0)
            st = cannot(s, "open", &plain);
    }
fail:
    pthread_mutex_unlock(&s->chunked->unpacking);
    fbp_free(data);
    return st;
}

/* Open a plain chunk. create_it: create a missing one; otherwise *fd is -1 if it is missing. */
static fbp_status open_plain(const struct fbp_sink *s, size_t level, const size_t k[3],
                             bool create_it, int *fd)
{
    const struct name name = plain_name(s, level, k);
    const size_t bytes = s->chunked->chunk_bytes;
    struct stat is;

    *fd = open_in(s, &name, O_RDWR);
    if (*fd < 0 && errno != ENOENT)
        return cannot(s, "open", &name);
    if (*fd < 0 && s->chunked->compression)
        FBP_TRY(unpack(s, level, k, fd));
    if (!create_it)
        return FBP_OK;
    if (*fd < 0)
        FBP_TRY(create(s, &name, fd));
    if (fstat(*fd, &is) < 0)
        return cannot(s, "look at", &name);
    /* Samples of a chunk beyond the end of the volume are 0. */
    return (size_t)is.st_size >= bytes || ftruncate(*fd, (off_t)bytes) == 0
               ? FBP_OK
               : cannot(s, "enlarge", &name);
}

fbp_status fbp_chunk_put(const struct fbp_sink *s, size_t level, const size_t k[3], size_t at,
                         const void *data, size_t n)
{
    const struct name name = plain_name(s, level, k);
    fbp_status st;
    int fd = -1;

    FBP_TRY_GOTO(open_plain(s, level, k, true, &fd));
    st = fbp_write_at(fd, s->part, at, data, n);
fail:
    return fd < 0 ? st : close_written(s, fd, &name, st);
}

fbp_status fbp_chunk_check(const struct fbp_sink *s, size_t level, const size_t k[3],
                           const char *remedy)
{
    const struct name names[] = {plain_name(s, level, k), name_of(level, k, "")};
    const size_t most = fbp_chunk_packed_bytes(s->chunked);
    bool there = false, fits = false;
    struct stat is;

    for (size_t i = 0; i < (s->chunked->compression ? 2 : 1) && !there; i++) {
        there = fstatat(s->fd, names[i].text, &is, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there && errno != ENOENT && errno != ENOTDIR)
            return cannot(s, "look at", &names[i]);
        fits = there && (i == 0 ? (uint64_t)is.st_size == s->chunked->chunk_bytes
                                : is.st_size > 0 && (uint64_t)is.st_size <= most);
    }
    if (fits)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s/%s: %s: another program changed it while the output was written: put it "
                    "back and go on, or remove %s%s%s",
                    s->part, names[1].text, there ? "has another size" : "is not there",
                    there ? "it and " : "", s->part, remedy ? remedy : "* and start again");
}

uint64_t fbp_chunk_taken(const struct fbp_sink *s, size_t level, const size_t k[3])
{
    const struct name name = plain_name(s, level, k);
    struct stat is;

    return fstatat(s->fd, name.text, &is, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)is.st_blocks * 512
                                                                    : 0;
}

fbp_status fbp_chunk_read(const struct fbp_sink *s, size_t level, const size_t k[3], void *out)
{
    const struct name name = plain_name(s, level, k);
    int fd;

    FBP_TRY(fbp_chunk_check(s, level, k, NULL));
    fd = open_in(s, &name, O_RDONLY);
    if (fd < 0 && errno == ENOENT && s->chunked->compression)
        return read_packed(s, level, k, out);
    if (fd < 0)
        return cannot(s, "open", &name);
    const fbp_status st = fbp_read_at(fd, s->part, 0, out, s->chunked->chunk_bytes);
    close(fd);
    return st;
}

size_t fbp_chunk_packed_bytes(const struct fbp_chunked *c)
{
    return compressBound(c->chunk_bytes);
}

fbp_status fbp_chunk_pack(const struct fbp_sink *s, size_t level, const size_t k[3],
                          const void *plain, void *scratch)
{
    const struct name name = name_of(level, k, "");
    uLongf n = fbp_chunk_packed_bytes(s->chunked);

    if (compress2(scratch, &n, plain, s->chunked->chunk_bytes, s->chunked->compression) != Z_OK)
        return fbp_fail_nomem(1 << 18, "zlib");
    return replace(s, &name, scratch, n);
}

void fbp_chunk_drop(const struct fbp_sink *s, size_t level, const size_t k[3])
{
    const struct name name = plain_name(s, level, k);

    unlinkat(s->fd, name.text, 0);
}

/* --- Boxes of samples --- */

/* A box of samples of level 0 at `first`, contiguous at `data` in the order [z][y][x]. */
struct box {
    size_t first[3], n[3];
    char *data;
    bool write;
};

/* Copy the samples that a box and a chunk have in common. piece: buffer of one chunk. */
static fbp_status copy_common(const struct fbp_sink *s, const struct box *b, const size_t k[3],
                              char *piece)
{
    const struct fbp_levels *l = &s->chunked->levels;
    const size_t *c = l->chunk, size = fbp_type_size(s->info.type);
    const struct name name = plain_name(s, 0, k);
    size_t at[3], n[3]; /* the common samples, relative to the chunk */
    size_t from[3];     /* first common sample, relative to the box */
    size_t inside[3];   /* samples of the chunk that lie in the volume */
    fbp_status st;
    int fd = -1;

    for (int i = 0; i < 3; i++) {
        const size_t first = k[i] * c[i], end = first + c[i];
        const size_t last = end < l->level[0].n[i] ? end : l->level[0].n[i];
        const size_t lo = first > b->first[i] ? first : b->first[i];
        const size_t hi = last < b->first[i] + b->n[i] ? last : b->first[i] + b->n[i];
        at[i] = lo - first;
        n[i] = hi - lo;
        from[i] = lo - b->first[i];
        inside[i] = last - first;
    }
    FBP_TRY_GOTO(open_plain(s, 0, k, b->write, &fd));
    if (fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s/%s: is not there", s->part, name.text);

    /* Partial rows are copied one by one; whole rows of a slice, or of all slices, are copied
     * together. */
    const bool whole = n[0] == inside[0];
    const size_t run_nz = whole && n[1] == inside[1] ? n[2] : 1, run_ny = whole ? n[1] : 1;
    const size_t rows = run_nz > 1 ? c[1] : run_ny, x = whole ? 0 : at[0];
    const size_t bytes = whole ? run_nz * rows * c[0] * size : n[0] * size;
    for (size_t z = 0; z < n[2]; z += run_nz)
        for (size_t y = 0; y < n[1]; y += run_ny) {
            const size_t to = (((at[2] + z) * c[1] + at[1] + y) * c[0] + x) * size;

            if (!b->write)
                FBP_TRY_GOTO(fbp_read_at(fd, s->part, to, piece, bytes));
            else
                memset(piece, 0, bytes);
            for (size_t j = 0; j < run_nz; j++)
                for (size_t i = 0; i < run_ny; i++) {
                    char *in_piece = piece + (j * rows + i) * c[0] * size;
                    char *in_box =
                        b->data +
                        (((from[2] + z + j) * b->n[1] + from[1] + y + i) * b->n[0] + from[0]) *
                            size;
                    memcpy(b->write ? in_piece : in_box, b->write ? in_box : in_piece, n[0] * size);
                }
            if (b->write)
                FBP_TRY_GOTO(fbp_write_at(fd, s->part, to, piece, bytes));
        }
fail:
    return fd < 0 ? st : close_written(s, fd, &name, st);
}

/* Copy n bytes in boxes of greatest possible size: a part of a row, whole rows of a slice, or whole
 * slices. */
static fbp_status copy(const struct fbp_sink *s, uint64_t at, char *data, size_t n, bool write)
{
    const size_t size = fbp_type_size(s->info.type), nx = s->info.n[0], ny = s->info.n[1];
    const size_t *c = s->chunked->levels.chunk;
    fbp_status st = FBP_OK;
    void *piece = NULL;

    FBP_TRY(fbp_alloc(&piece, s->chunked->chunk_bytes, "a chunk"));
    for (size_t done = 0; done < n && st == FBP_OK;) {
        const size_t first = (size_t)(at + done) / size, left = (n - done) / size;
        const size_t x = first % nx, y = first / nx % ny, z = first / nx / ny;
        struct box b = {.first = {x, y, z}, .data = data + done, .write = write};
        size_t k[3];

        b.n[0] = left < nx - x ? left : nx - x;
        b.n[1] = b.n[2] = 1;
        if (x == 0 && left >= nx)
            b.n[1] = left / nx < ny - y ? left / nx : ny - y;
        if (x == 0 && y == 0 && left >= nx * ny)
            b.n[2] = left / (nx * ny);
        for (k[2] = z / c[2]; k[2] * c[2] < z + b.n[2] && st == FBP_OK; k[2]++)
            for (k[1] = y / c[1]; k[1] * c[1] < y + b.n[1] && st == FBP_OK; k[1]++)
                for (k[0] = x / c[0]; k[0] * c[0] < x + b.n[0] && st == FBP_OK; k[0]++)
                    st = copy_common(s, &b, k, piece);
        done += b.n[0] * b.n[1] * b.n[2] * size;
    }
    fbp_free(piece);
    return st;
}

fbp_status fbp_chunked_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n)
{
    return copy(s, at, (char *)(uintptr_t)data, n, true); /* data is only read */
}

fbp_status fbp_chunked_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n)
{
    return copy(s, at, out, n, false);
}
