/* The sink for OME-Zarr (table `fbp_sink_chunks`): a folder of chunk files with levels of lower
 * resolution. The folder is named PATH.part while the output is incomplete.
 *
 * The file "L/Z/Y/X" is a chunk of level L. Slices are first written into uncompressed ("plain")
 * chunks. If the output is compressed, a plain chunk is named "L/Z/Y/X.part"; it is compressed
 * ("packed") when it is complete, and removed when all chunks of its layer are packed.
 *
 * A layer is the set of chunks with the same L and Z. A layer with all its slices is reduced: the
 * means of 2 x 2 x 2 voxels are written into the next level, where they fill half a layer. If
 * several processes write slices of one layer, these are in boundary files (shared_output.h) until
 * the process that publishes the output copies them to the chunks and reduces the layer.
 * Used by: sink.c. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/shared_output.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { REDUCED = 1, PACKED = 2 }; /* work that is complete for a layer */

struct chunks {
    struct fbp_output out;
    struct fbp_levels levels;
    int compression;    /* zlib level; 0: chunks are not compressed */
    size_t chunk_bytes; /* bytes of a plain chunk */
    /* greatest number of threads that compute means of a layer or compress it */
    size_t threads;
    /* done[level][layer]: completed work, REDUCED or PACKED or both; protected by the sink's
     * lock */
    unsigned char *done[FBP_LEVELS_MOST];
    size_t *put; /* [layer of the full-resolution volume] number of slices that were written */
    unsigned char *halves[FBP_LEVELS_MOST]; /* halves[level][layer]: number of halves (0 to 2) of
                                               the layer that are filled */
    /* held by the thread that reduces a layer of chunks to the next level and compresses it */
    pthread_mutex_t turn;
    pthread_mutex_t unpacking; /* held while a chunk is decompressed */
};

enum {
    MOST_THREADS = 8,
    MOST_EDGE = 512,     /* greatest edge of a chunk [voxels]: 1 GiB of float64 */
    MEMORY_SHARE = 16,   /* levels may use 1/16 of the memory */
    ZLIB_BYTES = 1 << 19 /* tables of zlib, per thread */
};

/* Memory [bytes]. */
struct memory {
    uint64_t chunk;     /* a plain chunk */
    uint64_t unpacking; /* two buffers for decompressing a chunk: plain and packed */
    /* Memory per thread that computes means of a layer (a chunk, the means of four chunks, a
     * compressed chunk) or compresses it (a chunk, uncompressed and compressed). */
    uint64_t thread;
};

/* Compute the resolution levels of a volume, and the memory that writing them needs. */
static struct memory size_up(const size_t n[3], enum fbp_type type, bool compressed,
                             struct fbp_levels *l)
{
    const char *given = fbp_environment(FBP_ENV_CHUNK);
    const unsigned long edge = given ? strtoul(given, NULL, 10) : 0;

    /* The edge of a chunk is even, because the two samples of a mean must lie in one chunk. */
    fbp_levels_make(n, edge >= 2 && edge <= MOST_EDGE ? (size_t)edge / 2 * 2 : FBP_CHUNK_EDGE, l);
    const uint64_t chunk = l->chunk[0] * l->chunk[1] * l->chunk[2] * fbp_type_size(type);
    const uint64_t packed = compressed ? compressBound(chunk) + ZLIB_BYTES : 0;
    return (struct memory){chunk, compressed ? chunk + packed : 0, 2 * chunk + packed};
}

/* Number of threads that can reduce or compress a layer with `bytes` of memory, at least 1. */
static size_t threads_in(const struct memory *m, uint64_t bytes)
{
    const uint64_t n = bytes > m->unpacking ? (bytes - m->unpacking) / m->thread : 0;

    return n < 1 ? 1 : n < MOST_THREADS ? (size_t)n : MOST_THREADS;
}

static void needs(const size_t n[3], enum fbp_type type, bool compress, uint64_t limit,
                  struct fbp_output_needs *out)
{
    const size_t cores = (size_t)fbp_core_count();
    struct fbp_levels levels;
    const struct memory m = size_up(n, type, compress, &levels);
    const size_t fit = threads_in(&m, limit / MEMORY_SHARE);

    out->layer = levels.chunk[2];
    out->writer_bytes += m.chunk;
    out->level_bytes = m.unpacking + (fit < cores ? fit : cores) * m.thread;
}

/* --- Files of chunks --- */

enum { NAME_BYTES = 120 };

/* A chunk, and the names of its uncompressed ("plain") and compressed ("packed") files in the
 * output's folder, such as "L/Z/Y/X" (level, chunk z, y, x). */
struct chunk {
    size_t k[3]; /* index x, y, z in its level */
    char plain[NAME_BYTES], packed[NAME_BYTES];
};

static struct chunk chunk_of(const struct chunks *c, size_t level, size_t layer, size_t i)
{
    const size_t nx = c->levels.level[level].chunks[0];
    struct chunk out = {.k = {i % nx, i / nx, layer}};

    snprintf(out.packed, NAME_BYTES, "%zu/%zu/%zu/%zu", level, layer, i / nx, i % nx);
    snprintf(out.plain, NAME_BYTES, "%zu/%zu/%zu/%zu%s", level, layer, i / nx, i % nx,
             c->compression ? ".part" : "");
    return out;
}

static size_t chunks_in(const struct chunks *c, size_t level)
{
    const size_t *n = c->levels.level[level].chunks;

    return n[0] * n[1];
}

static fbp_status cannot(const struct chunks *c, const char *what, const char *name)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return fbp_fail_write(c->out.path, errno, 0);
    return fbp_fail(FBP_ERR_IO, "%s/%s: cannot %s: %s%s", c->out.part, name, what, strerror(errno),
                    fbp_write_remedy(errno));
}

static int open_in(const struct chunks *c, const char *name, int flags)
{
    int fd;

    do
        fd = openat(c->out.fd, name, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Open a file in the output's folder; a missing file is created, together with its folders. */
static fbp_status create(const struct chunks *c, const char *name, int *fd)
{
    char folder[NAME_BYTES];

    *fd = open_in(c, name, O_RDWR | O_CREAT);
    for (const char *slash = strchr(name, '/'); *fd < 0 && errno == ENOENT && slash;
         slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
        if (mkdirat(c->out.fd, folder, 0777) < 0 && errno != EEXIST) /* not created meanwhile */
            return cannot(c, "create the folder of", name);
        *fd = open_in(c, name, O_RDWR | O_CREAT);
    }
    return *fd < 0 ? cannot(c, "create", name) : FBP_OK;
}

static fbp_status close_written(const struct chunks *c, int fd, const char *name, fbp_status st)
{
    return close(fd) < 0 && st == FBP_OK ? cannot(c, "close", name) : st;
}

/* Write a whole file in the output's folder under a temporary name, and rename it. */
static fbp_status replace(const struct chunks *c, const char *name, const void *data, size_t n)
{
    char other[NAME_BYTES + 5];
    fbp_status st;
    int fd;

    snprintf(other, sizeof other, "%s.new", name);
    FBP_TRY(create(c, other, &fd));
    st = ftruncate(fd, 0) < 0 ? cannot(c, "empty", other)
                              : fbp_write_at(fd, c->out.part, 0, data, n);
    FBP_TRY(close_written(c, fd, other, st));
    return renameat(c->out.fd, other, c->out.fd, name) < 0 ? cannot(c, "rename", other) : FBP_OK;
}

static fbp_status read_packed(const struct chunks *c, const struct chunk *k, void *out)
{
    const int fd = open_in(c, k->packed, O_RDONLY);
    uLongf got = c->chunk_bytes;
    bool whole = false;
    void *packed = NULL;
    struct stat is;
    fbp_status st = FBP_OK;

    if (fd < 0)
        return cannot(c, "open", k->packed);
    if (fstat(fd, &is) < 0)
        FBP_TRY_GOTO(cannot(c, "examine", k->packed));
    if ((uint64_t)is.st_size <= compressBound(c->chunk_bytes)) {
        FBP_TRY_GOTO(fbp_alloc(&packed, (size_t)is.st_size, "a compressed chunk"));
        FBP_TRY_GOTO(fbp_read_at(fd, c->out.part, 0, packed, (size_t)is.st_size));
        whole = uncompress(out, &got, packed, (uLong)is.st_size) == Z_OK && got == c->chunk_bytes;
    }
    if (!whole)
        st = fbp_fail(FBP_ERR_IO,
                      "%s/%s: cannot be decompressed; the chunk is damaged, so remove %s and "
                      "%s.log* and start again",
                      c->out.part, k->packed, c->out.part, c->out.part);
fail:
    fbp_free(packed);
    close(fd);
    return st;
}

/* Open the uncompressed file of a chunk; if only the compressed file exists, decompress it first. A
 * chunk without a file is created if `create_it` is set; else *fd is -1. */
static fbp_status open_plain(struct chunks *c, const struct chunk *k, bool create_it, int *fd)
{
    fbp_status st = FBP_OK;
    void *data = NULL;
    struct stat is;

    *fd = open_in(c, k->plain, O_RDWR);
    if (*fd < 0 && errno != ENOENT)
        return cannot(c, "open", k->plain);
    if (*fd < 0 && c->compression) {
        pthread_mutex_lock(&c->unpacking);
        *fd = open_in(c, k->plain, O_RDWR); /* another thread may have decompressed it */
        if (*fd < 0 && faccessat(c->out.fd, k->packed, F_OK, 0) == 0) {
            FBP_TRY_GOTO(fbp_alloc(&data, c->chunk_bytes, "a chunk"));
            FBP_TRY_GOTO(read_packed(c, k, data));
            FBP_TRY_GOTO(replace(c, k->plain, data, c->chunk_bytes));
            *fd = open_in(c, k->plain, O_RDWR);
            if (*fd < 0)
                st = cannot(c, "open", k->plain);
        }
    fail:
        pthread_mutex_unlock(&c->unpacking);
        fbp_free(data);
        FBP_TRY(st);
    }
    if (!create_it)
        return FBP_OK;
    if (*fd < 0)
        FBP_TRY(create(c, k->plain, fd));
    if (fstat(*fd, &is) < 0)
        return cannot(c, "examine", k->plain);
    /* Enlarge the file to a whole chunk: samples beyond the end of the volume are 0. */
    return (size_t)is.st_size >= c->chunk_bytes || ftruncate(*fd, (off_t)c->chunk_bytes) == 0
               ? FBP_OK
               : cannot(c, "enlarge", k->plain);
}

/* Fail with FBP_ERR_IO if the file of a chunk, compressed or not, is missing or has an impossible
 * size. */
static fbp_status check_chunk(const struct chunks *c, const struct chunk *k)
{
    const char *const names[] = {k->plain, k->packed};
    const size_t most = compressBound(c->chunk_bytes);
    bool there = false, fits = false;
    struct stat is;

    for (size_t i = 0; i < (c->compression ? 2 : 1) && !there; i++) {
        there = fstatat(c->out.fd, names[i], &is, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there && errno != ENOENT && errno != ENOTDIR)
            return cannot(c, "examine", names[i]);
        fits = there && (i == 0 ? (uint64_t)is.st_size == c->chunk_bytes
                                : is.st_size > 0 && (uint64_t)is.st_size <= most);
    }
    if (fits)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s/%s: %s, because another program changed it while the output was written; "
                    "restore it and continue, or remove %s* and start again",
                    c->out.part, k->packed, there ? "has another size" : "is missing",
                    c->out.part);
}

static fbp_status read_chunk(const struct chunks *c, const struct chunk *k, void *out)
{
    FBP_TRY(check_chunk(c, k));
    const int fd = open_in(c, k->plain, O_RDONLY);
    if (fd < 0 && errno == ENOENT && c->compression)
        return read_packed(c, k, out);
    if (fd < 0)
        return cannot(c, "open", k->plain);
    const fbp_status st = fbp_read_at(fd, c->out.part, 0, out, c->chunk_bytes);
    close(fd);
    return st;
}

/* --- Boxes of samples of level 0 --- */

/* A box of samples of the full-resolution volume (level 0): index of its first sample, and its
 * samples in memory, contiguous in the order [z][y][x]. */
struct box {
    size_t first[3], n[3];
    char *data;
    bool write;
};

/* Copy the samples that a box and a chunk have in common between memory and the chunk's file.
 * piece: buffer of the size of a chunk. */
static fbp_status copy_common(struct chunks *c, const struct box *b, const struct chunk *chunk,
                              char *piece)
{
    const struct fbp_levels *l = &c->levels;
    const size_t *edge = l->chunk, size = fbp_type_size(c->out.sink.info.type);
    /* at: first common sample, relative to the chunk; n: number of common samples, per axis */
    size_t at[3], n[3];
    size_t from[3];   /* first common sample, relative to the box */
    size_t inside[3]; /* number of samples of the chunk inside the volume, per axis */
    fbp_status st;
    int fd = -1;

    for (int i = 0; i < 3; i++) {
        const size_t first = chunk->k[i] * edge[i], end = first + edge[i];
        const size_t last = end < l->level[0].n[i] ? end : l->level[0].n[i];
        const size_t lo = first > b->first[i] ? first : b->first[i];
        const size_t hi = last < b->first[i] + b->n[i] ? last : b->first[i] + b->n[i];
        at[i] = lo - first;
        n[i] = hi - lo;
        from[i] = lo - b->first[i];
        inside[i] = last - first;
    }
    FBP_TRY_GOTO(open_plain(c, chunk, b->write, &fd));
    if (fd < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s/%s: is missing, because another program changed it while the output "
                        "was written; restore it and continue, or remove %s* and start again",
                        c->out.part, chunk->plain, c->out.part);

    /* One read or write copies a slice of the chunk if the box has all its columns, and all slices
     * if the box has all its rows, too. */
    const bool whole = n[0] == inside[0];
    const size_t run_nz = whole && n[1] == inside[1] ? n[2] : 1, run_ny = whole ? n[1] : 1;
    const size_t rows = run_nz > 1 ? edge[1] : run_ny, x = whole ? 0 : at[0];
    const size_t bytes = whole ? run_nz * rows * edge[0] * size : n[0] * size;
    for (size_t z = 0; z < n[2]; z += run_nz)
        for (size_t y = 0; y < n[1]; y += run_ny) {
            const size_t to = (((at[2] + z) * edge[1] + at[1] + y) * edge[0] + x) * size;

            if (!b->write)
                FBP_TRY_GOTO(fbp_read_at(fd, c->out.part, to, piece, bytes));
            else
                memset(piece, 0, bytes);
            for (size_t j = 0; j < run_nz; j++)
                for (size_t i = 0; i < run_ny; i++) {
                    char *in_piece = piece + (j * rows + i) * edge[0] * size;
                    char *in_box =
                        b->data +
                        (((from[2] + z + j) * b->n[1] + from[1] + y + i) * b->n[0] + from[0]) *
                            size;
                    memcpy(b->write ? in_piece : in_box, b->write ? in_box : in_piece, n[0] * size);
                }
            if (b->write)
                FBP_TRY_GOTO(fbp_write_at(fd, c->out.part, to, piece, bytes));
        }
fail:
    return fd < 0 ? st : close_written(c, fd, chunk->plain, st);
}

/* Copy n bytes between memory and byte `at` of the full-resolution volume, in boxes as large as
 * possible: a part of a row, whole rows of a slice, or whole slices. */
static fbp_status copy(struct chunks *c, uint64_t at, char *data, size_t n, bool write)
{
    const size_t size = fbp_type_size(c->out.sink.info.type), nx = c->out.sink.info.n[0],
                 ny = c->out.sink.info.n[1];
    const size_t *edge = c->levels.chunk, row = c->levels.level[0].chunks[0];
    fbp_status st = FBP_OK;
    void *piece = NULL;

    FBP_TRY(fbp_alloc(&piece, c->chunk_bytes, "a chunk"));
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
        for (k[2] = z / edge[2]; k[2] * edge[2] < z + b.n[2] && st == FBP_OK; k[2]++)
            for (k[1] = y / edge[1]; k[1] * edge[1] < y + b.n[1] && st == FBP_OK; k[1]++)
                for (k[0] = x / edge[0]; k[0] * edge[0] < x + b.n[0] && st == FBP_OK; k[0]++) {
                    const struct chunk chunk = chunk_of(c, 0, k[2], k[1] * row + k[0]);

                    st = copy_common(c, &b, &chunk, piece);
                }
        done += b.n[0] * b.n[1] * b.n[2] * size;
    }
    fbp_free(piece);
    return st;
}

static fbp_status put(void *output, uint64_t at, const void *data, size_t n)
{
    return copy(output, at, (char *)(uintptr_t)data, n, true); /* data is only read */
}

static fbp_status get(struct fbp_output *o, uint64_t at, void *out, size_t n)
{
    return copy((struct chunks *)o, at, out, n, false);
}

/* --- Layers --- */

/* A layer whose means several threads compute, or which they compress. A work item is one chunk: of
 * the next level for means, of this layer for compression. */
struct work {
    struct chunks *chunks;
    size_t level, layer;
    void *buffers[MOST_THREADS];
};

/* Number of voxels of chunk k along an axis of n voxels; `chunk`: voxels of a whole chunk. */
static size_t voxels_in(size_t n, size_t chunk, size_t k)
{
    const size_t left = n - k * chunk;

    return left < chunk ? left : chunk;
}

/* Compute half a chunk of the next resolution level: the means of up to 2 x 2 chunks of this layer.
 * Callback of a thread pool. */
static fbp_status reduce_column(void *user, size_t item, int worker)
{
    const struct work *w = user;
    struct chunks *c = w->chunks;
    const enum fbp_type type = c->out.sink.info.type;
    const struct fbp_level *below = &c->levels.level[w->level];
    const struct chunk up = chunk_of(c, w->level + 1, w->layer / 2, item);
    const size_t *edge = c->levels.chunk, size = fbp_type_size(type);
    const size_t slice = c->chunk_bytes / edge[2];
    const size_t nz = (voxels_in(below->n[2], edge[2], w->layer) + 1) / 2;
    char *data = w->buffers[worker], *half = data + c->chunk_bytes;
    fbp_status st;
    int fd = -1;

    memset(half, 0, nz * slice);
    for (size_t j = 0; j < 4; j++) {
        const size_t x = 2 * up.k[0] + j % 2, y = 2 * up.k[1] + j / 2;
        const size_t row = j / 2 * (edge[1] / 2), column = j % 2 * (edge[0] / 2);
        struct fbp_level_box in = {.data = data, .step = {edge[0], edge[0] * edge[1]}};
        struct fbp_level_box out = {.data = half + (row * edge[0] + column) * size,
                                    .step = {edge[0], edge[0] * edge[1]}};

        if (x >= below->chunks[0] || y >= below->chunks[1])
            continue;
        const struct chunk k = chunk_of(c, w->level, w->layer, y * below->chunks[0] + x);
        for (int i = 0; i < 3; i++) {
            in.n[i] = voxels_in(below->n[i], edge[i], k.k[i]);
            out.n[i] = (in.n[i] + 1) / 2;
        }
        FBP_TRY(read_chunk(c, &k, data));
        fbp_levels_mean(type, &in, &out);
    }
    FBP_TRY_GOTO(open_plain(c, &up, true, &fd));
    st = fbp_write_at(fd, c->out.part, w->layer % 2 * (edge[2] / 2) * slice, half, nz * slice);
fail:
    return fd < 0 ? st : close_written(c, fd, up.plain, st);
}

/* Compress the file of a chunk into another file beside it. Callback of a thread pool. */
static fbp_status pack_column(void *user, size_t item, int worker)
{
    const struct work *w = user;
    const struct chunks *c = w->chunks;
    const struct chunk k = chunk_of(c, w->level, w->layer, item);
    Bytef *plain = w->buffers[worker], *packed = plain + c->chunk_bytes;
    uLongf n = compressBound(c->chunk_bytes);

    FBP_TRY(read_chunk(c, &k, plain));
    if (compress2(packed, &n, plain, c->chunk_bytes, c->compression) != Z_OK)
        return fbp_fail_nomem(1 << 18, "zlib");
    return replace(c, k.packed, packed, n);
}

/* Compute the means of a layer for the next level (what: REDUCED), or compress the layer (PACKED),
 * and record that this step is complete. */
static fbp_status do_layer(struct chunks *c, size_t level, size_t layer, unsigned char what)
{
    const bool reduce = what == REDUCED;
    struct work w = {.chunks = c, .level = level, .layer = layer};
    const size_t items = chunks_in(c, reduce ? level + 1 : level);
    const size_t second = reduce ? c->chunk_bytes : compressBound(c->chunk_bytes);
    const size_t cores = (size_t)fbp_core_count();
    const size_t most = cores < c->threads ? cores : c->threads;
    const size_t threads = items < most ? items : most;
    fbp_pool *pool = NULL;
    char line[80];
    fbp_status st;

    for (size_t i = 0; i < threads; i++)
        FBP_TRY_GOTO(fbp_alloc(&w.buffers[i], c->chunk_bytes + second, "chunks"));
    if (threads > 1)
        FBP_TRY_GOTO(fbp_pool_create(&pool, (int)threads));
    st = fbp_pool_try(pool, items, reduce ? reduce_column : pack_column, &w);
fail:
    fbp_pool_destroy(&pool);
    for (size_t i = 0; i < threads; i++)
        fbp_free(w.buffers[i]);
    FBP_TRY(st);

    /* Uncompressed files are removed only after all chunks are compressed: after a kill, each chunk
     * exists in at least one of the two forms. */
    for (size_t i = 0; !reduce && i < items; i++)
        unlinkat(c->out.fd, chunk_of(c, level, layer, i).plain, 0);
    pthread_mutex_lock(&c->out.sink.lock);
    c->done[level][layer] |= what;
    pthread_mutex_unlock(&c->out.sink.lock);
    if (!c->out.shared)
        return FBP_OK;
    /* The journal line is valid for other processes when a line "synced" follows. */
    snprintf(line, sizeof line, "layer %zu %zu %d\n", level, layer, what);
    return fbp_append(c->out.log_fd, c->out.log, line);
}

/* Number of slices of the full-resolution volume from which a layer of a level is computed; *z0:
 * the first of these slices. */
static size_t slices_of(const struct chunks *c, size_t level, size_t layer, size_t *z0)
{
    const size_t deep = c->levels.chunk[2] * c->levels.level[level].step[2];

    *z0 = layer * deep;
    return voxels_in(c->out.sink.info.n[2], deep, layer);
}

/* Whether this process writes all slices from which a layer is computed. */
static bool is_own(const struct chunks *c, size_t level, size_t layer)
{
    const unsigned char *mine = c->out.sink.mine;
    size_t z0;
    const size_t n = slices_of(c, level, layer, &z0);

    return !mine || !memchr(mine + z0, 0, n);
}

static bool has_next_level(const struct chunks *c, size_t level)
{
    return level + 1 < c->levels.n_levels;
}

/* Count slices as written. If a layer is then complete, and this process writes all its slices,
 * compute its means for the next level, and compress it. */
static fbp_status count(struct fbp_output *o, size_t z0, size_t nz)
{
    struct chunks *c = (struct chunks *)o;

    for (size_t z = z0, first; z < z0 + nz; z++) {
        size_t layer = z / c->levels.chunk[2];
        fbp_status st = FBP_OK;

        pthread_mutex_lock(&o->sink.lock);
        bool complete = ++c->put[layer] == slices_of(c, 0, layer, &first);
        pthread_mutex_unlock(&o->sink.lock);
        if (!complete || !is_own(c, 0, layer))
            continue;

        /* Reduce and compress the layer, then layers of coarser levels that this completes. */
        pthread_mutex_lock(&c->turn);
        for (size_t level = 0; complete && st == FBP_OK; level++, layer /= 2) {
            complete = false;
            if (has_next_level(c, level) && is_own(c, level + 1, layer / 2)) {
                const size_t n = c->levels.level[level].chunks[2];
                const unsigned char halves = layer / 2 * 2 + 1 < n ? 2 : 1;

                st = do_layer(c, level, layer, REDUCED);
                if (st == FBP_OK)
                    complete = ++c->halves[level + 1][layer / 2] == halves;
            }
            if (st == FBP_OK && c->compression)
                st = do_layer(c, level, layer, PACKED);
        }
        pthread_mutex_unlock(&c->turn);
        FBP_TRY(st);
    }
    return FBP_OK;
}

static fbp_status write_chunks(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    for (size_t i = 0, n; i < nz; i += n) {
        const bool there = fbp_sink_has(s, z0 + i, 1);

        for (n = 1; i + n < nz && fbp_sink_has(s, z0 + i + n, 1) == there;)
            n++;
        if (there) /* these slices are stored and counted already, by this run or an earlier one */
            continue;
        FBP_TRY(fbp_output_write(s, z0 + i, n, (const char *)data + i * fbp_sink_given_bytes(s)));
        FBP_TRY(count(s->files, z0 + i, n));
    }
    return FBP_OK;
}

/* --- The folder --- */

static int remove_one(const char *path, const struct stat *is, int kind, struct FTW *at)
{
    (void)is;
    (void)kind;
    (void)at;
    return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

/* Remove a folder with its contents; links are not followed. */
static fbp_status remove_tree(const char *path)
{
    enum { DEPTH = 8 };

    return nftw(path, remove_one, DEPTH, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT
               ? FBP_OK
               : fbp_part_cannot("remove", path);
}

/* Check that the output's name is free, or names a folder that is empty or contains an OME-Zarr
 * image and no other files. */
static fbp_status check_folder(const char *path)
{
    static const char *const others[] = {".", "..", ".zattrs", ".zgroup", ".zmetadata"};
    bool numbers = false, image = false;
    const struct dirent *e;
    fbp_status st = FBP_OK;
    struct stat is;

    if (stat(path, &is) < 0)
        return errno == ENOENT ? FBP_OK : fbp_part_cannot("examine", path);
    if (!S_ISDIR(is.st_mode))
        return FBP_INVALID("%s: exists and is not a folder, which OME-Zarr needs; remove it, or "
                           "choose another name",
                           path);
    DIR *dir = opendir(path);
    if (!dir)
        return fbp_part_cannot("list", path);
    while (st == FBP_OK && (errno = 0, e = readdir(dir))) {
        bool known = e->d_name[strspn(e->d_name, "0123456789")] == '\0'; /* a folder of a level */

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= strcmp(e->d_name, others[i]) == 0;
        if (!known)
            st = FBP_INVALID("%s: is a folder with other files than an image (%s), which would be "
                             "lost; move it away, or choose another name",
                             path, e->d_name);
        numbers |= e->d_name[0] != '.';
        image |= strcmp(e->d_name, ".zattrs") == 0;
    }
    if (st == FBP_OK && errno)
        st = fbp_part_cannot("list", path);
    if (st == FBP_OK && numbers && !image) /* other programs also use numeric names */
        st = FBP_INVALID(
            "%s: is a folder, but not an OME-Zarr image (no .zattrs), and would be lost; "
            "move it away, or choose another name",
            path);
    closedir(dir);
    return st;
}

/* Complete the interrupted replacement of an older image, which was renamed: remove it if the new
 * image exists, else give it its name back. */
static fbp_status settle(struct fbp_output *o)
{
    const struct fbp_file_name old = fbp_file_name("%s.old", o->part);

    if (access(old.text, F_OK) != 0)
        return FBP_OK;
    return access(o->path, F_OK) == 0 ? remove_tree(old.text) : fbp_part_rename(old.text, o->path);
}

static fbp_status clear(struct fbp_output *o, bool ours)
{
    const uid_t me = geteuid();
    struct stat st;

    if (lstat(o->part, &st) == 0) {
        FBP_TRY(fbp_part_spare(o, o->part));
        if (!S_ISDIR(st.st_mode))
            return fbp_part_refuse(o->part, "it is not a folder");
        if (rmdir(o->part) < 0) {
            if (!ours)
                return fbp_part_refuse(o->part, "it has no journal");
            if (st.st_uid != me && me != 0)
                return fbp_part_refuse(o->part, "it belongs to another user");
            FBP_TRY(remove_tree(o->part));
        }
    } else if (errno != ENOENT) {
        return fbp_part_cannot("examine", o->part);
    }
    return ours ? settle(o) : FBP_OK;
}

static bool remove_part(struct fbp_output *o)
{
    (void)!remove_tree(o->part);
    return access(o->part, F_OK) < 0;
}

static fbp_status open_folder(struct fbp_output *o, bool create)
{
    const uid_t me = geteuid();
    struct stat is;

    if (create && mkdir(o->part, 0777) < 0)
        return fbp_part_cannot("create", o->part);
    o->fd = open(o->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (o->fd < 0 && create)
        return fbp_part_cannot("open", o->part);
    if (o->fd < 0)
        return errno == ENOENT ? FBP_OK : fbp_part_refuse(o->part, strerror(errno));
    return fstat(o->fd, &is) == 0 && (is.st_uid == me || me == 0)
               ? FBP_OK
               : fbp_part_refuse(o->part, "it belongs to another user");
}

/* Check that the disk has space for all chunks, in addition to the space that existing chunks
 * occupy. Nothing is checked if chunks are compressed, because their sizes are unknown. */
static fbp_status check_room(struct fbp_output *o)
{
    const struct chunks *c = (const struct chunks *)o;
    const uint64_t left = fbp_disk_free(o->fd), most = c->chunk_bytes;
    uint64_t need = 0;

    for (size_t l = 0; l < c->levels.n_levels && !o->compress; l++) {
        const size_t layers = c->levels.level[l].chunks[2], items = chunks_in(c, l);
        char name[24];

        need += layers * items * most;
        snprintf(name, sizeof name, "%zu", l);
        if (faccessat(o->fd, name, F_OK, 0) < 0)
            continue;
        for (size_t i = 0; i < layers * items; i++) {
            struct stat is;

            if (fstatat(o->fd, chunk_of(c, l, i / items, i % items).plain, &is,
                        AT_SYMLINK_NOFOLLOW) < 0)
                continue;
            const uint64_t taken = (uint64_t)is.st_blocks * 512;
            need -= taken < most ? taken : most;
        }
    }
    return need <= left ? FBP_OK : fbp_fail_disk_full(o->path, need, left);
}

static fbp_status sync_chunks(struct fbp_output *o)
{
    /* One call syncs the files of all chunks, although it also syncs data of other programs. */
    return syncfs(o->fd) < 0 ? fbp_fail_write(o->path, errno, 0) : FBP_OK;
}

/* Reduce and compress all layers that no process has completed, and check that all chunks exist. */
static fbp_status complete(struct chunks *c)
{
    const struct fbp_levels *l = &c->levels;
    struct fbp_peers w = {.output = &c->out, .own = true};
    fbp_status st = FBP_OK;

    while (c->out.shared && fbp_peers_next(&w, &st))
        for (const char *at = w.peer.lines; at < w.peer.synced; at = strchr(at, '\n') + 1) {
            size_t level, layer;
            unsigned what;

            /* NOLINTNEXTLINE(cert-err34-c): the next lines refuse numbers that are too large */
            if (sscanf(at, "layer %zu %zu %u", &level, &layer, &what) == 3 && level < l->n_levels &&
                layer < l->level[level].chunks[2])
                c->done[level][layer] |= (unsigned char)what;
        }
    FBP_TRY(st);
    for (size_t level = 0; level < l->n_levels; level++)
        for (size_t k = 0; k < l->level[level].chunks[2]; k++) {
            if (has_next_level(c, level) && !(c->done[level][k] & REDUCED))
                FBP_TRY(do_layer(c, level, k, REDUCED));
            if (c->compression && !(c->done[level][k] & PACKED))
                FBP_TRY(do_layer(c, level, k, PACKED));
        }
    for (size_t level = 0; level < l->n_levels; level++)
        for (size_t k = 0; k < l->level[level].chunks[2]; k++)
            for (size_t i = 0; i < chunks_in(c, level); i++) {
                const struct chunk chunk = chunk_of(c, level, k, i);
                FBP_TRY(check_chunk(c, &chunk));
            }
    return FBP_OK;
}

/* Complete the output: compute all levels, write the text files, sync, and rename the folder. */
static fbp_status publish(struct fbp_output *o)
{
    /* image that is being replaced */
    const struct fbp_file_name old = fbp_file_name("%s.old", o->part);
    struct chunks *c = (struct chunks *)o;
    fbp_status st = FBP_OK;
    bool more = true;
    struct stat is;

    FBP_TRY(complete(c));
    FBP_TRY(check_folder(o->path));
    for (size_t k = 0; more; k++) {
        char *name = NULL, *text = NULL;

        st = o->format->chunks->text(&o->sink.info, &c->levels, c->compression, k, &name, &text);
        more = name != NULL;
        if (st == FBP_OK && more) {
            const int fd =
                openat(o->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);

            if (fd >= 0)
                st = fbp_write_at(fd, o->part, 0, text, strlen(text));
            if ((fd < 0 || close(fd) < 0) && st == FBP_OK)
                st = fbp_fail_write(o->path, errno, 0);
        }
        free(name);
        free(text);
        FBP_TRY(st);
    }
    FBP_TRY(sync_chunks(o));

    /* Not all systems can replace a folder with files atomically. Therefore an older image is
     * renamed first, and removed when the new one has its final name. */
    if (lstat(o->path, &is) == 0) {
        FBP_TRY(remove_tree(old.text));
        FBP_TRY(fbp_part_rename(o->path, old.text));
    }
    st = fbp_part_rename(o->part, o->path);
    if (st != FBP_OK) {
        (void)!rename(old.text, o->path);
        return st;
    }
    o->published = true;
    fbp_sync_folder(o->path);
    return remove_tree(old.text);
}

static void close_chunks(struct fbp_output *o)
{
    struct chunks *c = (struct chunks *)o;

    for (size_t l = 0; l < c->levels.n_levels; l++) {
        free(c->done[l]);
        free(c->halves[l]);
    }
    pthread_mutex_destroy(&c->turn);
    pthread_mutex_destroy(&c->unpacking);
    free(c->put);
}

static fbp_status open_chunks(struct fbp_sink *s, const struct fbp_sink_request *rq)
{
    enum { FASTEST = 1 }; /* fastest level of zlib: slower levels compress noise hardly better */
    static const struct fbp_store store = {
        .put = put,
        .get = get,
        .write = write_chunks,
        .count = count,
        .has = fbp_output_has,
        .open = open_folder,
        .clear = clear,
        .remove = remove_part,
        .reserve = check_room,
        .sync = sync_chunks,
        .publish = publish,
        .settle = settle,
        .close = close_chunks,
    };
    const uint64_t memory = rq->params->level_bytes ? rq->params->level_bytes : UINT64_MAX;
    struct chunks *c = (struct chunks *)s;
    struct fbp_output *o = &c->out;

    fbp_output_begin(o, &store, rq);
    pthread_mutex_init(&c->turn, NULL);
    pthread_mutex_init(&c->unpacking, NULL);
    FBP_TRY(fbp_output_name_file(o, rq, check_folder));
    c->compression = o->compress ? FASTEST : 0;
    const struct memory m = size_up(s->info.n, s->info.type, o->compress, &c->levels);
    c->chunk_bytes = (size_t)m.chunk;
    c->threads = threads_in(&m, memory);
    o->block = c->levels.chunk[2] * (uint64_t)s->slice_bytes;
    if (s->fingerprint) { /* a run with another chunk size or compression cannot be resumed */
        s->fingerprint = fbp_hash(s->fingerprint, c->levels.chunk, sizeof c->levels.chunk);
        s->fingerprint = fbp_hash(s->fingerprint, &c->compression, sizeof c->compression);
    }
    FBP_TRY(fbp_calloc((void **)&c->put, c->levels.level[0].chunks[2], sizeof *c->put,
                       "a table of layers"));
    for (size_t l = 0; l < c->levels.n_levels; l++) {
        const size_t n = c->levels.level[l].chunks[2];

        FBP_TRY(fbp_calloc((void **)&c->done[l], n, 1, "a table of layers"));
        FBP_TRY(fbp_calloc((void **)&c->halves[l], n, 1, "a table of layers"));
    }
    return fbp_output_open(o, rq);
}

const struct fbp_sink_calls fbp_sink_chunks = {
    .bytes = sizeof(struct chunks),
    .needs = needs,
    .open = open_chunks,
    .finish = fbp_output_finish,
    .kept = fbp_output_kept,
    .close = fbp_output_close,
};
