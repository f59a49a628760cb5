/* Arrays of Zarr, version 2, as sources: rows of chunks that are files of their own. */
#include "array/file/bytes.h"
#include "array/file/cache.h"
#include "array/file/describe.h"
#include "array/file/inflate.h"
#include "array/format/zarr/zarr.h"

#include "base/base.h"
#include "base/threads.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_WATCHED = 256 }; /* of the files of chunks */
enum { MOST_SMALL = 1000000, SMALL_BYTES = 256 };

static const size_t CACHE_BYTES = (size_t)256 << 20; /* a layer of chunks, if it is no more */
static const size_t LEAST_BYTES = (size_t)64 << 20;

struct zarr {
    struct fbp_zarr_array a;
    char *folder; /* of the array */
    int dir;
    size_t grid[3], chunk_bytes;
    struct fbp_cache cache; /* of compressed chunks */
};

/* A chunk by its number, x fastest. */
struct chunk {
    char name[160]; /* in the folder */
};

static struct chunk chunk_of(const struct zarr *z, size_t k)
{
    const size_t at[3] = {k % z->grid[0], k / z->grid[0] % z->grid[1], k / z->grid[0] / z->grid[1]};
    struct chunk out;
    size_t n = 0;

    for (int i = z->a.n_dims - 1; i >= 0; i--)
        n += (size_t)snprintf(out.name + n, sizeof out.name - n, "%zu%c", i < 3 ? at[i] : 0,
                              i ? z->a.separator : '\0');
    return out;
}

/* *fd -1: it was never written. */
static fbp_status open_chunk(const fbp_source *src, const struct chunk *c, int *fd, uint64_t *bytes)
{
    const struct zarr *z = src->state;
    struct stat is;

    do
        *fd = openat(z->dir, c->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0 && errno == ENOENT)
        return FBP_OK;
    if (*fd >= 0 && fstat(*fd, &is) == 0 && S_ISREG(is.st_mode)) {
        *bytes = (uint64_t)is.st_size;
        return FBP_OK;
    }
    const int error = *fd < 0 ? errno : 0;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return fbp_fail(FBP_ERR_IO, "%s/%s: cannot open: %s", z->folder, c->name,
                    error ? strerror(error) : "it is no file");
}

static void fill(const struct zarr *z, size_t size, size_t n, unsigned char *out)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * size, z->a.fill, size);
}

static fbp_status damaged(const struct zarr *z, const struct chunk *c, const char *how)
{
    return fbp_fail(FBP_ERR_INVALID, "%s/%s: %s: it is damaged: copy it again", z->folder, c->name,
                    how);
}

/* zlib's frame or gzip's. */
static fbp_status inflate_chunk(const struct zarr *z, const struct chunk *c, unsigned char *in,
                                size_t n, void *out)
{
    z_stream s = {
        .next_in = in, .avail_in = (uInt)n, .next_out = out, .avail_out = (uInt)z->chunk_bytes};

    if (inflateInit2(&s, 15 + 32) != Z_OK)
        return fbp_fail_nomem(1 << 16, "zlib");
    const int code = inflate(&s, Z_FINISH);
    inflateEnd(&s);
    return code == Z_STREAM_END && s.avail_out == 0
               ? FBP_OK
               : damaged(z, c, "cannot be inflated to the size of a chunk");
}

static fbp_status read_packed(const struct zarr *z, const struct chunk *c, int fd, uint64_t bytes,
                              void *out)
{
    void *packed = NULL;

    if (bytes > 2 * (uint64_t)z->chunk_bytes + 4096)
        return damaged(z, c, "is larger than a compressed chunk can be");
    FBP_TRY(fbp_alloc(&packed, (size_t)bytes + 1, "a compressed chunk"));
    fbp_status st = fbp_read_at(fd, z->folder, 0, packed, (size_t)bytes);
    if (st == FBP_OK)
        st = inflate_chunk(z, c, packed, (size_t)bytes, out);
    fbp_free(packed);
    return st;
}

/* A fbp_cache_load_fn. */
static fbp_status load(void *user, size_t k, void *out)
{
    const fbp_source *src = user;
    const struct zarr *z = src->state;
    const struct chunk c = chunk_of(z, k);
    const size_t size = fbp_type_size(src->info.type);
    fbp_status st = FBP_OK;
    uint64_t bytes = 0;
    int fd;

    FBP_TRY(open_chunk(src, &c, &fd, &bytes));
    if (fd < 0)
        fill(z, size, z->chunk_bytes / size, out);
    else
        st = read_packed(z, &c, fd, bytes, out);
    if (fd >= 0)
        close(fd);
    return st;
}

/* What is wanted of a chunk: rows [y0, y0 + n) of its slice z, as they lie there. */
struct rows {
    size_t z, y0, n;
    unsigned char *out; /* of the chunk's width */
};

static fbp_status from_cache(fbp_source *src, size_t k, const struct rows *r)
{
    struct zarr *z = src->state;
    const size_t row = z->a.chunk[0] * fbp_type_size(src->info.type);
    struct fbp_cached *chunk;

    FBP_TRY(fbp_cache_take(&z->cache, k, load, src, &chunk));
    memcpy(r->out, (const char *)fbp_cache_data(chunk) + (r->z * z->a.chunk[1] + r->y0) * row,
           r->n * row);
    fbp_cache_give_back(&z->cache, chunk);
    return FBP_OK;
}

static fbp_status from_file(fbp_source *src, size_t k, const struct rows *r)
{
    const struct zarr *z = src->state;
    const size_t size = fbp_type_size(src->info.type), row = z->a.chunk[0] * size;
    const struct chunk c = chunk_of(z, k);
    uint64_t bytes = 0;
    int fd;

    FBP_TRY(open_chunk(src, &c, &fd, &bytes));
    if (fd < 0) {
        fill(z, size, r->n * z->a.chunk[0], r->out);
        return FBP_OK;
    }
    const fbp_status st =
        bytes == z->chunk_bytes
            ? fbp_read_at(fd, z->folder, (r->z * z->a.chunk[1] + r->y0) * row, r->out, r->n * row)
            : damaged(z, &c, "has not the size of a chunk");
    close(fd);
    return st;
}

static fbp_status read_rows(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const struct zarr *z = src->state;
    const size_t *c = z->a.chunk, size = fbp_type_size(src->info.type), nx = src->info.n[0];
    struct rows r = {.z = slice % c[2]};
    fbp_status st = FBP_OK;
    void *piece = NULL;

    FBP_TRY(fbp_alloc(&piece, c[0] * c[1] * size, "rows of a chunk"));
    r.out = piece;
    for (size_t y = row0; y < row0 + n_rows && st == FBP_OK; y += r.n) {
        r.y0 = y % c[1];
        r.n = c[1] - r.y0 < row0 + n_rows - y ? c[1] - r.y0 : row0 + n_rows - y;
        for (size_t kx = 0; kx < z->grid[0] && st == FBP_OK; kx++) {
            const size_t k = (slice / c[2] * z->grid[1] + y / c[1]) * z->grid[0] + kx;
            const size_t x = kx * c[0], width = nx - x < c[0] ? nx - x : c[0];
            st = (z->a.compressed ? from_cache : from_file)(src, k, &r);
            for (size_t j = 0; j < r.n && st == FBP_OK; j++)
                memcpy((char *)out + ((y - row0 + j) * nx + x) * size,
                       (char *)piece + j * c[0] * size, width * size);
        }
    }
    fbp_free(piece);
    if (st == FBP_OK && z->a.foreign)
        fbp_swap_bytes(out, size, n_rows * nx);
    return st;
}

static void close_zarr(fbp_source *src)
{
    struct zarr *z = src->state;

    if (z->dir >= 0)
        close(z->dir);
    fbp_cache_close(&z->cache);
    free(z->folder);
    free(z);
}

static fbp_status make_cache(fbp_source *src)
{
    struct zarr *z = src->state;
    const size_t layer = z->grid[0] * z->grid[1] * z->chunk_bytes;
    const size_t room = layer < LEAST_BYTES   ? LEAST_BYTES
                        : layer < CACHE_BYTES ? layer
                                              : CACHE_BYTES;
    const size_t all = z->grid[0] * z->grid[1] * z->grid[2], threads = (size_t)fbp_core_count();
    size_t n = room / z->chunk_bytes;

    if (!z->a.compressed)
        return FBP_OK;
    n = n < threads ? threads : n < FBP_CACHE_MOST ? n : FBP_CACHE_MOST;
    n = n < all ? n : all;
    src->unpacks = true;
    src->held_bytes = (uint64_t)n * z->chunk_bytes;
    src->reader_bytes += (uint64_t)z->chunk_bytes * 2; /* the file of a chunk */
    return fbp_cache_make(&z->cache, n, z->chunk_bytes);
}

static fbp_status measure(fbp_source *src)
{
    struct zarr *z = src->state;
    size_t bytes = fbp_type_size(src->info.type);

    for (int i = 0; i < 3; i++) {
        z->grid[i] = (src->info.n[i] + z->a.chunk[i] - 1) / z->a.chunk[i];
        if (__builtin_mul_overflow(bytes, z->a.chunk[i], &bytes) || bytes > UINT32_MAX)
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: its chunks are larger than 4 GiB: write smaller ones", src->path);
    }
    const double n_chunks = (double)z->grid[0] * (double)z->grid[1] * (double)z->grid[2];
    if (n_chunks > MOST_SMALL && bytes < SMALL_BYTES)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: %.3g chunks of %zu bytes, each a file of its own, take too long to "
                        "read: write chunks of %d bytes or more",
                        src->path, n_chunks, bytes, SMALL_BYTES);
    z->chunk_bytes = bytes;
    src->reader_bytes = bytes / z->a.chunk[2]; /* rows of a chunk */
    return make_cache(src);
}

/* Files of chunks below an open folder, by layers along z: there[grid[2]].  d: numbers that their
 * names still lack. */
static fbp_status count_chunks(const struct zarr *z, int fd, int d, size_t layer, size_t *there)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    fbp_status st = FBP_OK;
    const struct dirent *e;

    if (!dir)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be listed: %s", z->folder, strerror(errno));
    while (st == FBP_OK && (errno = 0, e = readdir(dir))) {
        const char *at = e->d_name;
        int i = d;
        for (char *end; i > 0 && isdigit((unsigned char)*at); at = end + (*end == z->a.separator)) {
            const size_t k = strtoull(at, &end, 10), most = --i < 3 ? z->grid[i] : 1;
            if (k >= most || (at[0] == '0' && end > at + 1))
                break;
            layer = i == 2 ? k : layer;
        }
        if (*at || i == d || (i > 0 && z->a.separator != '/')) /* another file */
            continue;
        const int below =
            i ? openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (i == 0)
            there[layer]++;
        else if (below >= 0 || errno != ENOTDIR)
            st = count_chunks(z, below, i, layer, there);
    }
    closedir(dir);
    return st == FBP_OK ? fbp_go_on() : st;
}

/* Report missing chunks: a sparse array, or an incomplete copy. */
static fbp_status note_missing(fbp_source *src)
{
    const struct zarr *z = src->state;
    const size_t layer = z->grid[0] * z->grid[1], all = layer * z->grid[2];
    const int fd = openat(z->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned char *lacks = NULL;
    size_t *there = NULL, n = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&there, z->grid[2], sizeof *there, "a table of chunks"));
    FBP_TRY_GOTO(fbp_calloc((void **)&lacks, src->info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(count_chunks(z, fd, z->a.n_dims, 0, there));
    for (size_t i = 0; i < src->info.n[2]; i++)
        lacks[i] = there[i / z->a.chunk[2]] < layer;
    for (size_t i = 0; i < z->grid[2]; i++)
        n += there[i] < layer ? layer - there[i] : 0;
    if (n > 0)
        fbp_describe_missing(src->path, n, all, "chunks are missing", lacks, &src->info);
    if (n > 0 && z->a.ours)
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: %zu of %zu chunks are missing, and fbp wrote all of them: it is an "
                      "incomplete copy: copy it again",
                      src->path, n, all);
fail:
    free(lacks);
    free(there);
    return st;
}

/* A chunk that is there is read from, and must stay what it is. */
static fbp_status add_input(fbp_source *src, size_t k)
{
    const struct zarr *z = src->state;
    const struct chunk c = chunk_of(z, k);
    fbp_status st = FBP_OK;

    if (faccessat(z->dir, c.name, F_OK, 0) < 0)
        return FBP_OK;
    char *path = fbp_format("%s/%s", z->folder, c.name);
    st = path ? fbp_inputs_add(&src->inputs, path) : fbp_fail_nomem(sizeof c, "a path");
    free(path);
    return st;
}

/* All chunks, or of many so many, from the first to the last: to look at 100000 of them takes
 * longer than to read a slice. */
static fbp_status add_inputs(fbp_source *src)
{
    const struct zarr *z = src->state;
    const size_t n = z->grid[0] * z->grid[1] * z->grid[2],
                 wanted = n < MOST_WATCHED ? n : MOST_WATCHED;
    const double step = wanted > 1 ? (double)(n - 1) / (double)(wanted - 1) : 0;

    for (size_t i = 0; i < wanted; i++)
        FBP_TRY(add_input(src, (size_t)((double)i * step + 0.5)));
    return FBP_OK;
}

fbp_status fbp_zarr_open(fbp_source *src)
{
    struct zarr *z = NULL;

    FBP_TRY(fbp_calloc((void **)&z, 1, sizeof *z, "an array of chunks"));
    z->dir = -1;
    fbp_cache_open(&z->cache);
    src->state = z;
    src->close = close_zarr;
    src->read = read_rows;
    if (src->growing)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: Zarr arrays cannot be followed while they grow: start when all views "
                        "are there",
                        src->path);
    FBP_TRY(fbp_zarr_describe(src, &z->a, &z->folder));
    z->dir = open(z->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (z->dir < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot open: %s", z->folder, strerror(errno));
    FBP_TRY(measure(src));
    FBP_TRY(note_missing(src));
    return add_inputs(src);
}
