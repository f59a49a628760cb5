/* An output that is a folder of chunks (OME-Zarr, see chunked.h): its memory, its folder,
 * downsampling ("raising") and compression ("packing") of complete layers, its publication. sink.c,
 * sink_files.c and shared_output.c call it; the plan calls fbp_output_needs(). */
#include "array/chunked.h"

#include "array/shared_output.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/text.h"
#include "base/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- Memory --- */

enum {
    MOST_THREADS = 8,
    MOST_EDGE = 512,     /* voxels per edge: 1 GiB of float64; other readers stop at 2 GiB */
    MEMORY_SHARE = 16,   /* fraction of the memory (1/16) for levels */
    ZLIB_BYTES = 1 << 19 /* tables of zlib, per thread */
};

/* Longest side of a chunk: FBP_CHUNK, rounded to an even number, because pairs of samples must lie
 * in one chunk. */
static size_t chunk_edge(void)
{
    const char *given = fbp_environment(FBP_ENV_CHUNK);
    const unsigned long edge = given ? strtoul(given, NULL, 10) : 0;

    return edge >= 2 && edge <= MOST_EDGE ? (size_t)edge / 2 * 2 : FBP_CHUNK_EDGE;
}

static size_t plain_bytes(const struct fbp_levels *l, enum fbp_type type)
{
    return l->chunk[0] * l->chunk[1] * l->chunk[2] * fbp_type_size(type);
}

/* Memory of a thread that raises a layer (a chunk, the means of four chunks, and a packed chunk
 * that is read) or packs it (a chunk, plain and packed) [bytes]. */
static uint64_t thread_bytes(size_t chunk_bytes, bool compressed)
{
    return compressed ? 2 * (uint64_t)chunk_bytes + compressBound(chunk_bytes) + ZLIB_BYTES
                      : 2 * (uint64_t)chunk_bytes;
}

/* Memory for the decompression of one packed chunk, some of whose slices are written again
 * [bytes]. */
static uint64_t unpacking_bytes(size_t chunk_bytes, bool compressed)
{
    return compressed ? chunk_bytes + compressBound(chunk_bytes) + ZLIB_BYTES : 0;
}

/* Number of threads that can raise or pack a layer within `bytes` of memory. */
static size_t threads_in(size_t chunk_bytes, bool compressed, uint64_t bytes)
{
    const uint64_t one = unpacking_bytes(chunk_bytes, compressed);
    const uint64_t n = bytes > one ? (bytes - one) / thread_bytes(chunk_bytes, compressed) : 0;

    return n < 1 ? 1 : n < MOST_THREADS ? (size_t)n : MOST_THREADS;
}

void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out)
{
    const size_t cores = (size_t)fbp_core_count();
    const struct fbp_sink_format *format;
    struct fbp_levels levels;
    size_t length;

    *out = (struct fbp_output_needs){0};
    format = path ? fbp_format_to_write(path, &length) : NULL;
    if (!format || !format->chunks)
        return;
    fbp_levels_make(n, chunk_edge(), &levels);
    const size_t chunk = plain_bytes(&levels, type);
    const size_t fit = threads_in(chunk, compress, limit / MEMORY_SHARE);
    out->layer = levels.chunk[2];
    out->writer_bytes = chunk;
    out->level_bytes = unpacking_bytes(chunk, compress) +
                       (fit < cores ? fit : cores) * thread_bytes(chunk, compress);
}

fbp_status fbp_chunked_create(struct fbp_sink *s, const struct fbp_chunk_format *format,
                              uint64_t level_bytes)
{
    enum { FASTEST = 1 }; /* zlib level; noise compresses little at any level */
    struct fbp_chunked *c;

    FBP_TRY(fbp_calloc((void **)&s->chunked, 1, sizeof *s->chunked, "chunks"));
    c = s->chunked;
    pthread_mutex_init(&c->turn, NULL);
    pthread_mutex_init(&c->unpacking, NULL);
    c->format = format;
    c->compression = s->compress ? FASTEST : 0;
    fbp_levels_make(s->info.n, chunk_edge(), &c->levels);
    c->chunk_bytes = plain_bytes(&c->levels, s->info.type);
    c->threads = threads_in(c->chunk_bytes, s->compress, level_bytes ? level_bytes : UINT64_MAX);
    if (s->fingerprint) { /* a different chunk size or compression is a different output */
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
    return FBP_OK;
}

void fbp_chunked_destroy(struct fbp_chunked **chunked)
{
    struct fbp_chunked *c = *chunked;

    if (!c)
        return;
    for (size_t l = 0; l < c->levels.n_levels; l++) {
        free(c->done[l]);
        free(c->halves[l]);
    }
    pthread_mutex_destroy(&c->turn);
    pthread_mutex_destroy(&c->unpacking);
    free(c->put);
    free(c);
    *chunked = NULL;
}

/* --- The folder --- */

static const char old_end[] = ".part.old"; /* suffix of an image that is being replaced */

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

fbp_status fbp_chunked_check(const char *path)
{
    static const char *const others[] = {".", "..", ".zattrs", ".zgroup", ".zmetadata"};
    bool numbers = false, image = false;
    const struct dirent *e;
    fbp_status st = FBP_OK;
    struct stat is;

    if (stat(path, &is) < 0)
        return errno == ENOENT ? FBP_OK : fbp_part_cannot("look at", path);
    if (!S_ISDIR(is.st_mode))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is there and not a folder, as OME-Zarr is: remove it, or choose "
                        "another name",
                        path);
    DIR *dir = opendir(path);
    if (!dir)
        return fbp_part_cannot("list", path);
    while (st == FBP_OK && (errno = 0, e = readdir(dir))) {
        bool known = e->d_name[strspn(e->d_name, "0123456789")] == '\0'; /* a folder of a level */

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= strcmp(e->d_name, others[i]) == 0;
        if (!known)
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s: is a folder that holds more than an image (%s), which would be "
                          "lost: move it away, or choose another name",
                          path, e->d_name);
        numbers |= e->d_name[0] != '.';
        image |= strcmp(e->d_name, ".zattrs") == 0;
    }
    if (st == FBP_OK && errno)
        st = fbp_part_cannot("list", path);
    if (st == FBP_OK && numbers && !image) /* other programs also use numeric names */
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: is a folder, but no image (it has no .zattrs), and "
                      "would be lost: move it away, or choose another name",
                      path);
    closedir(dir);
    return st;
}

fbp_status fbp_chunked_settle_old(const struct fbp_sink *s)
{
    fbp_status st = FBP_OK;
    char *old;

    FBP_TRY(fbp_part_name(&old, "%s%s", s->path, old_end));
    if (access(old, F_OK) == 0)
        st = access(s->path, F_OK) == 0 ? remove_tree(old) : fbp_part_rename(old, s->path);
    free(old);
    return st;
}

fbp_status fbp_chunked_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             bool ours)
{
    const uid_t me = geteuid();
    struct stat st;

    if (lstat(s->part, &st) == 0) {
        FBP_TRY(fbp_part_spare(inputs, s->part));
        if (!S_ISDIR(st.st_mode))
            return fbp_part_refuse(s->part, "it is no folder");
        if (rmdir(s->part) < 0) {
            if (!ours)
                return fbp_part_refuse(s->part, "there is no journal of it");
            if (st.st_uid != me && me != 0)
                return fbp_part_refuse(s->part, "it belongs to another user");
            FBP_TRY(remove_tree(s->part));
        }
    } else if (errno != ENOENT) {
        return fbp_part_cannot("look at", s->part);
    }
    return ours ? fbp_chunked_settle_old(s) : FBP_OK;
}

void fbp_chunked_remove(const struct fbp_sink *s)
{
    (void)!remove_tree(s->part);
}

fbp_status fbp_chunked_reopen(struct fbp_sink *s)
{
    const uid_t me = geteuid();
    struct stat is;

    s->fd = open(s->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->fd < 0)
        return errno == ENOENT ? FBP_OK : fbp_part_refuse(s->part, strerror(errno));
    if (fstat(s->fd, &is) == 0 && (is.st_uid == me || me == 0))
        return FBP_OK;
    close(s->fd);
    s->fd = -1;
    return fbp_part_refuse(s->part, "it belongs to another user");
}

fbp_status fbp_chunked_begin(struct fbp_sink *s)
{
    if (mkdir(s->part, 0777) < 0)
        return fbp_part_cannot("create", s->part);
    s->fd = open(s->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return s->fd < 0 ? fbp_part_cannot("open", s->part) : FBP_OK;
}

fbp_status fbp_chunked_room(const struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;
    const uint64_t left = fbp_disk_free(s->fd);
    uint64_t need = 0;

    for (size_t l = 0; l < c->levels.n_levels && !s->compress; l++) {
        const size_t *n = c->levels.level[l].chunks, most = c->chunk_bytes;
        char name[24];
        size_t k[3];

        need += (uint64_t)n[0] * n[1] * n[2] * most;
        snprintf(name, sizeof name, "%zu", l);
        if (faccessat(s->fd, name, F_OK, 0) < 0)
            continue;
        for (k[2] = 0; k[2] < n[2]; k[2]++)
            for (k[1] = 0; k[1] < n[1]; k[1]++)
                for (k[0] = 0; k[0] < n[0]; k[0]++) {
                    const uint64_t taken = fbp_chunk_taken(s, l, k);
                    need -= taken < most ? taken : most;
                }
    }
    return need <= left ? FBP_OK : fbp_fail_disk_full(s->path, need, left);
}

/* --- Layers --- */

/* A layer that several threads raise or pack. An item is a column of chunks of one layer; for
 * raising, of the next level's layer. */
struct work {
    const struct fbp_sink *sink;
    const struct fbp_level *at; /* the level with index `level` */
    size_t level, layer;
    void *buffers[MOST_THREADS];
};

/* Number of voxels of chunk k along an axis of n voxels. */
static size_t voxels_in(size_t n, size_t chunk, size_t k)
{
    const size_t left = n - k * chunk;

    return left < chunk ? left : chunk;
}

/* Write half a chunk of the next level: the means of up to 2 x 2 chunks of this layer. */
static fbp_status raise_column(void *user, size_t item, int worker)
{
    const struct work *w = user;
    const struct fbp_chunked *c = w->sink->chunked;
    const enum fbp_type type = w->sink->info.type;
    const struct fbp_level *below = w->at, *above = below + 1;
    const size_t *edge = c->levels.chunk, size = fbp_type_size(type);
    const size_t slice = c->chunk_bytes / edge[2];
    const size_t up[3] = {item % above->chunks[0], item / above->chunks[0], w->layer / 2};
    const size_t nz = (voxels_in(below->n[2], edge[2], w->layer) + 1) / 2;
    char *chunk = w->buffers[worker], *half = chunk + c->chunk_bytes;

    memset(half, 0, nz * slice);
    for (size_t j = 0; j < 4; j++) {
        const size_t k[3] = {2 * up[0] + j % 2, 2 * up[1] + j / 2, w->layer};
        const size_t row = k[1] % 2 * (edge[1] / 2), column = k[0] % 2 * (edge[0] / 2);
        struct fbp_level_box in = {.data = chunk, .step = {edge[0], edge[0] * edge[1]}};
        struct fbp_level_box out = {.data = half + (row * edge[0] + column) * size,
                                    .step = {edge[0], edge[0] * edge[1]}};

        if (k[0] >= below->chunks[0] || k[1] >= below->chunks[1])
            continue;
        for (int i = 0; i < 3; i++) {
            in.n[i] = voxels_in(below->n[i], edge[i], k[i]);
            out.n[i] = (in.n[i] + 1) / 2;
        }
        FBP_TRY(fbp_chunk_read(w->sink, w->level, k, chunk));
        fbp_levels_mean(type, &in, &out);
    }
    return fbp_chunk_put(w->sink, w->level + 1, up, w->layer % 2 * (edge[2] / 2) * slice, half,
                         nz * slice);
}

static fbp_status pack_column(void *user, size_t item, int worker)
{
    const struct work *w = user;
    const size_t nx = w->at->chunks[0], k[3] = {item % nx, item / nx, w->layer};
    char *chunk = w->buffers[worker];

    FBP_TRY(fbp_chunk_read(w->sink, w->level, k, chunk));
    return fbp_chunk_pack(w->sink, w->level, k, chunk, chunk + w->sink->chunked->chunk_bytes);
}

/* Raise or pack a layer (FBP_LAYER_RAISED, FBP_LAYER_PACKED), and record it. */
static fbp_status do_layer(struct fbp_sink *s, size_t level, size_t layer, unsigned char what)
{
    const struct fbp_chunked *c = s->chunked;
    const bool raise = what == FBP_LAYER_RAISED;
    struct work w = {.sink = s, .at = &c->levels.level[level], .level = level, .layer = layer};
    const size_t *n = (raise ? w.at + 1 : w.at)->chunks, items = n[0] * n[1];
    const size_t second = raise ? c->chunk_bytes : fbp_chunk_packed_bytes(c);
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
    st = fbp_pool_try(pool, items, raise ? raise_column : pack_column, &w);
fail:
    fbp_pool_destroy(&pool);
    for (size_t i = 0; i < threads; i++)
        fbp_free(w.buffers[i]);
    FBP_TRY(st);

    if (!raise) { /* only after all chunks are packed: after a kill, each chunk exists plain or
                     packed */
        size_t k[3] = {0, 0, layer};

        for (k[1] = 0; k[1] < n[1]; k[1]++)
            for (k[0] = 0; k[0] < n[0]; k[0]++)
                fbp_chunk_drop(s, level, k);
    }
    pthread_mutex_lock(&s->lock);
    s->chunked->done[level][layer] |= what;
    pthread_mutex_unlock(&s->lock);
    if (!s->shared)
        return FBP_OK;
    /* Line for other processes, after a line "synced". */
    snprintf(line, sizeof line, "layer %zu %zu %d\n", level, layer, what);
    return fbp_append(s->log_fd, s->log, line);
}

/* Get the slices [*z0, *z1) of level 0 from which a layer is computed. */
static void slices_of(const struct fbp_sink *s, size_t level, size_t layer, size_t *z0, size_t *z1)
{
    const struct fbp_levels *l = &s->chunked->levels;
    const size_t n = s->info.n[2], deep = l->chunk[2] * l->level[level].step[2];

    *z0 = layer * deep;
    *z1 = n - *z0 < deep ? n : *z0 + deep;
}

/* Whether this process writes all slices of a layer. */
static bool is_own(const struct fbp_sink *s, size_t level, size_t layer)
{
    size_t z0, z1;

    slices_of(s, level, layer, &z0, &z1);
    for (size_t z = z0; s->shared && z < z1; z++)
        if (!s->shared->mine[z])
            return false;
    return true;
}

static bool is_raised(const struct fbp_sink *s, size_t level)
{
    return level + 1 < s->chunked->levels.n_levels;
}

fbp_status fbp_chunked_count(struct fbp_sink *s, size_t z0, size_t nz)
{
    struct fbp_chunked *c = s->chunked;

    for (size_t z = z0; z < z0 + nz; z++) {
        size_t layer = z / c->levels.chunk[2], first, end;
        fbp_status st = FBP_OK;

        slices_of(s, 0, layer, &first, &end);
        pthread_mutex_lock(&s->lock);
        bool complete = ++c->put[layer] == end - first;
        pthread_mutex_unlock(&s->lock);
        if (!complete || !is_own(s, 0, layer))
            continue;

        /* Continue up to the first level whose layer is incomplete. */
        pthread_mutex_lock(&c->turn);
        for (size_t level = 0; complete && st == FBP_OK; level++, layer /= 2) {
            complete = false;
            if (is_raised(s, level) && is_own(s, level + 1, layer / 2)) {
                const size_t n = c->levels.level[level].chunks[2];
                const unsigned char halves = layer / 2 * 2 + 1 < n ? 2 : 1;

                st = do_layer(s, level, layer, FBP_LAYER_RAISED);
                if (st == FBP_OK)
                    complete = ++c->halves[level + 1][layer / 2] == halves;
            }
            if (st == FBP_OK && c->compression)
                st = do_layer(s, level, layer, FBP_LAYER_PACKED);
        }
        pthread_mutex_unlock(&c->turn);
        FBP_TRY(st);
    }
    return FBP_OK;
}

void fbp_chunked_take_line(const struct fbp_sink *s, const char *line)
{
    const struct fbp_levels *l = &s->chunked->levels;
    size_t level, layer;
    unsigned what;

    /* NOLINTNEXTLINE(cert-err34-c): a number that is too large fails the tests that follow */
    if (sscanf(line, "layer %zu %zu %u", &level, &layer, &what) == 3 && level < l->n_levels &&
        layer < l->level[level].chunks[2])
        s->chunked->done[level][layer] |= (unsigned char)what;
}

fbp_status fbp_chunked_check_layer(const struct fbp_sink *s, size_t level, size_t layer,
                                   const char *remedy)
{
    const size_t *n = s->chunked->levels.level[level].chunks;
    size_t k[3] = {0, 0, layer};

    for (k[1] = 0; k[1] < n[1]; k[1]++)
        for (k[0] = 0; k[0] < n[0]; k[0]++)
            FBP_TRY(fbp_chunk_check(s, level, k, remedy));
    return FBP_OK;
}

fbp_status fbp_chunked_complete(struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;

    for (size_t level = 0; level < c->levels.n_levels; level++)
        for (size_t k = 0; k < c->levels.level[level].chunks[2]; k++) {
            if (is_raised(s, level) && !(c->done[level][k] & FBP_LAYER_RAISED))
                FBP_TRY(do_layer(s, level, k, FBP_LAYER_RAISED));
            if (c->compression && !(c->done[level][k] & FBP_LAYER_PACKED))
                FBP_TRY(do_layer(s, level, k, FBP_LAYER_PACKED));
        }
    for (size_t level = 0; level < c->levels.n_levels; level++)
        for (size_t k = 0; k < c->levels.level[level].chunks[2]; k++)
            FBP_TRY(fbp_chunked_check_layer(s, level, k, NULL));
    return FBP_OK;
}

/* --- Publication --- */

fbp_status fbp_chunked_publish(struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;
    fbp_status st = FBP_OK;
    bool more = true;
    struct stat is;
    char *old;

    FBP_TRY(fbp_chunked_check(s->path));
    for (size_t k = 0; more; k++) {
        char *name = NULL, *text = NULL;

        st = c->format->text(&s->info, &c->levels, c->compression, k, &name, &text);
        more = name != NULL;
        if (st == FBP_OK && more) {
            const int fd =
                openat(s->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);

            if (fd >= 0)
                st = fbp_write_at(fd, s->part, 0, text, strlen(text));
            if ((fd < 0 || close(fd) < 0) && st == FBP_OK)
                st = fbp_fail_write(s->path, errno, 0);
        }
        free(name);
        free(text);
        FBP_TRY(st);
    }
    if (syncfs(s->fd) < 0)
        return fbp_fail_write(s->path, errno, 0);

    /* Folders that are not empty cannot be replaced atomically on all systems. Therefore an older
     * image is renamed first, and removed after the new one has its final name. */
    FBP_TRY(fbp_part_name(&old, "%s%s", s->path, old_end));
    if (lstat(s->path, &is) == 0) {
        FBP_TRY_GOTO(remove_tree(old));
        FBP_TRY_GOTO(fbp_part_rename(s->path, old));
    }
    st = fbp_part_rename(s->part, s->path);
    if (st != FBP_OK) {
        (void)!rename(old, s->path);
        goto fail;
    }
    s->published = true;
    fbp_sync_folder(s->path);
    st = remove_tree(old);
fail:
    free(old);
    return st;
}
