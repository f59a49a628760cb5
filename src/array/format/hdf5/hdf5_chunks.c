/* Chunks of a data set, several at once: read at their offsets, inflated, put in their places. */
#include "array/file/bytes.h"
#include "array/file/cache.h"
#include "array/file/inflate.h"
#include "array/file/values.h"
#include "array/format/hdf5/hdf5.h"
#include "array/format/hdf5/hdf5_lib.h"

#include "base/base.h"
#include "base/threads.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

static const size_t CACHE_BYTES = (size_t)64 << 20;    /* of decoded chunks, about */
static const size_t SCRATCH_BYTES = (size_t)256 << 20; /* of all threads, at most, or one */

struct hdf5 {
    struct fbp_hdf5_array a;
    uint64_t *map; /* slice of the file of each slice; NULL: the same */
    struct fbp_hdf5_chunk *chunks;
    size_t grid[3], chunk_bytes, stored_bytes; /* of the largest chunk in the file */
    fbp_pool *pool;
    int n_threads;
    unsigned char **scratch; /* a thread: as stored, then inflated but still shuffled */
    struct fbp_cache cache;
    pthread_mutex_t lock; /* of the status of a region */
};

/* What a call wants: rows of slices that follow each other in the file, too. */
struct region {
    fbp_source *src;
    size_t first[3], n[3]; /* columns, rows, slices, in the file */
    size_t chunk0[3], chunks[3];
    bool as_float;
    char *out; /* [n[2]][n[1]][n[0]] */
    fbp_status status;
    char message[1200];
};

/* Bytes of one significance together: back to samples. */
static void unshuffle(const unsigned char *in, size_t size, size_t n, unsigned char *out)
{
    if (size == 2) {
        for (size_t i = 0; i < n; i++) {
            out[2 * i] = in[i];
            out[2 * i + 1] = in[n + i];
        }
        return;
    }
    for (size_t b = 0; b < size; b++)
        for (size_t i = 0; i < n; i++)
            out[i * size + b] = in[b * n + i];
}

static fbp_status cannot_inflate(const fbp_source *src, size_t k)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: chunk %zu cannot be inflated to its size: the file is damaged, copy it "
                    "again",
                    src->path, k);
}

/* What is stored of a chunk, through its filters. */
static fbp_status decode(fbp_source *src, size_t k, unsigned char *scratch, unsigned char *out)
{
    const struct hdf5 *h = src->state;
    const struct fbp_hdf5_chunk *c = &h->chunks[k];
    const size_t size = fbp_type_size(h->a.info.type), n = h->chunk_bytes / size;
    /* Filters were applied from the first on: shuffle, deflate. */
    const bool shuffled = h->a.shuffle && !(c->left_out & 1);
    const bool deflated = h->a.deflate && !(c->left_out & (h->a.shuffle ? 2 : 1));
    unsigned char *inflated = shuffled && deflated ? scratch + h->stored_bytes : out;
    uLongf got = h->chunk_bytes;

    if (!deflated && c->bytes != h->chunk_bytes)
        return cannot_inflate(src, k);
    FBP_TRY(fbp_read_at(src->fd, src->path, c->at, deflated || shuffled ? scratch : out, c->bytes));
    const int code = deflated ? uncompress(inflated, &got, scratch, c->bytes) : Z_OK;
    if (code == Z_MEM_ERROR)
        return fbp_fail_nomem(h->chunk_bytes, "zlib");
    if (code != Z_OK || got != h->chunk_bytes)
        return cannot_inflate(src, k);
    if (shuffled)
        unshuffle(deflated ? inflated : scratch, size, n, out);
    return FBP_OK;
}

/* Samples that were never written. */
static void fill(const struct hdf5 *h, unsigned char *out)
{
    const size_t size = fbp_type_size(h->a.info.type);

    for (size_t at = 0; at < h->chunk_bytes; at += size)
        memcpy(out + at, h->a.fill, size);
}

/* First sample and samples inside the array of a chunk. */
static void extent(const struct hdf5 *h, const size_t p[3], size_t first[3], size_t n[3])
{
    for (int i = 0; i < 3; i++) {
        const size_t all = i == 2 ? h->a.n_slices : h->a.info.n[i];
        first[i] = p[i] * h->a.chunk[i];
        n[i] = all - first[i] < h->a.chunk[i] ? all - first[i] : h->a.chunk[i];
    }
}

/* A block that only the library can read: a child does, into memory that both see. */
static fbp_status ask_library(fbp_source *src, size_t k, unsigned char *out)
{
    const struct hdf5 *h = src->state;
    const size_t p[3] = {k % h->grid[0], k / h->grid[0] % h->grid[1], k / h->grid[0] / h->grid[1]};
    struct fbp_hdf5_block b = {.path = src->path, .array = &h->a};
    struct fbp_child_limits limits = fbp_hdf5_limits;
    struct fbp_blob none = {0};

    extent(h, p, b.first, b.n);
    memcpy(b.room, h->a.chunk, sizeof b.room);
    b.out = mmap(NULL, h->chunk_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b.out == MAP_FAILED)
        return fbp_fail_nomem(h->chunk_bytes, "a block of samples");
    limits.memory_bytes += 4 * (uint64_t)h->chunk_bytes;
    const fbp_status st = fbp_hdf5_contain(src->path, &limits, fbp_hdf5_read_block, &b, &none);
    if (st == FBP_OK)
        memcpy(out, b.out, h->chunk_bytes);
    munmap(b.out, h->chunk_bytes);
    return st;
}

/* Who loads a chunk, and with what. */
struct loader {
    fbp_source *src;
    unsigned char *scratch;
};

static fbp_status load(void *user, size_t k, void *out)
{
    const struct loader *l = user;
    struct hdf5 *h = l->src->state;

    if (h->a.how == FBP_HDF5_LIBRARY)
        return ask_library(l->src, k, out);
    if (h->chunks[k].bytes)
        FBP_TRY(decode(l->src, k, l->scratch, out));
    else
        fill(h, out);
    if (fbp_is_foreign(h->a.info.big_endian)) {
        const size_t size = fbp_type_size(h->a.info.type);
        fbp_swap_bytes(out, size, h->chunk_bytes / size);
    }
    return FBP_OK;
}

/* What region and chunk have in common, from the chunk to its place. */
static void put(const struct hdf5 *h, const struct region *r, const size_t p[3],
                const unsigned char *data)
{
    const size_t size = fbp_type_size(h->a.info.type), to_size = r->as_float ? sizeof(float) : size;
    size_t first[3], n[3], lo[3], hi[3];

    extent(h, p, first, n);
    for (int i = 0; i < 3; i++) {
        lo[i] = first[i] > r->first[i] ? first[i] : r->first[i];
        hi[i] = first[i] + n[i] < r->first[i] + r->n[i] ? first[i] + n[i] : r->first[i] + r->n[i];
    }
    const size_t width = hi[0] - lo[0];
    for (size_t z = lo[2]; z < hi[2]; z++)
        for (size_t y = lo[1]; y < hi[1]; y++) {
            const unsigned char *from =
                data + (((z - first[2]) * h->a.chunk[1] + (y - first[1])) * h->a.chunk[0] +
                        (lo[0] - first[0])) *
                           size;
            char *to = r->out + (((z - r->first[2]) * r->n[1] + (y - r->first[1])) * r->n[0] +
                                 (lo[0] - r->first[0])) *
                                    to_size;
            if (r->as_float)
                fbp_to_values(&h->a.info, from, width, false, (float *)(void *)to);
            else
                memcpy(to, from, width * size);
        }
}

static void one_chunk(void *user, size_t item, int worker)
{
    struct region *r = user;
    struct hdf5 *h = r->src->state;
    const size_t p[3] = {r->chunk0[0] + item % r->chunks[0],
                         r->chunk0[1] + item / r->chunks[0] % r->chunks[1],
                         r->chunk0[2] + item / r->chunks[0] / r->chunks[1]};
    struct loader loader = {r->src, h->scratch[worker]};
    struct fbp_cached *chunk;

    fbp_message_clear();
    const fbp_status st = fbp_cache_take(&h->cache, (p[2] * h->grid[1] + p[1]) * h->grid[0] + p[0],
                                         load, &loader, &chunk);
    if (st == FBP_OK) {
        put(h, r, p, fbp_cache_data(chunk));
        fbp_cache_give_back(&h->cache, chunk);
        return;
    }
    pthread_mutex_lock(&h->lock);
    if (r->status == FBP_OK) {
        r->status = st;
        strncpy(r->message, fbp_message(), sizeof r->message - 1);
    }
    pthread_mutex_unlock(&h->lock);
}

static fbp_status read_region(struct region *r)
{
    const struct hdf5 *h = r->src->state;
    size_t n = 1;

    for (int i = 0; i < 3; i++) {
        r->chunk0[i] = r->first[i] / h->a.chunk[i];
        r->chunks[i] = (r->first[i] + r->n[i] - 1) / h->a.chunk[i] - r->chunk0[i] + 1;
        n *= r->chunks[i];
    }
    fbp_pool_for(h->pool, n, one_chunk, r);
    if (r->status == FBP_OK)
        return fbp_go_on();
    fbp_message_adopt(r->message);
    return r->status;
}

static fbp_status read_block(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, bool as_float, void *out)
{
    const struct hdf5 *h = src->state;
    const size_t size = as_float ? sizeof(float) : fbp_type_size(h->a.info.type);
    size_t n;

    for (size_t k = 0; k < n_slices; k += n) {
        const size_t first = h->map ? h->map[slice0 + k] : slice0 + k;
        n = h->map ? 1 : n_slices;
        while (k + n < n_slices && h->map[slice0 + k + n] == first + n)
            n++;
        struct region r = {.src = src,
                           .first = {0, row0, first},
                           .n = {h->a.info.n[0], n_rows, n},
                           .as_float = as_float,
                           .out = (char *)out + k * n_rows * h->a.info.n[0] * size};
        FBP_TRY(read_region(&r));
    }
    return FBP_OK;
}

static void close_chunks(fbp_source *src)
{
    struct hdf5 *h = src->state;

    fbp_pool_destroy(&h->pool);
    for (int i = 0; h->scratch && i < h->n_threads; i++)
        fbp_free(h->scratch[i]);
    fbp_cache_close(&h->cache);
    pthread_mutex_destroy(&h->lock);
    free(h->scratch);
    free(h->map);
    free(h->chunks);
    free(h);
}

/* Sizes that the file tells are believed as far as what is stored of them allows: deflate makes
 * only so much of a byte. */
static fbp_status check_sizes(const fbp_source *src, struct hdf5 *h)
{
    const struct fbp_hdf5_array *a = &h->a;
    const size_t size = fbp_type_size(a->info.type);

    if (__builtin_mul_overflow(a->chunk[0], a->chunk[1], &h->chunk_bytes) ||
        __builtin_mul_overflow(h->chunk_bytes, a->chunk[2], &h->chunk_bytes) ||
        __builtin_mul_overflow(h->chunk_bytes, size, &h->chunk_bytes) || h->chunk_bytes == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: its chunks are too large", src->path);
    for (size_t k = 0; h->chunks && k < a->n_chunks; k++)
        if (h->chunks[k].bytes > h->stored_bytes)
            h->stored_bytes = h->chunks[k].bytes;
    if (h->chunks && h->chunk_bytes / FBP_DEFLATE_AT_MOST > h->stored_bytes)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: chunks of %zu bytes cannot be in the %zu bytes that are stored: the "
                        "file is damaged, copy it again",
                        src->path, h->chunk_bytes, h->stored_bytes);
    return FBP_OK;
}

static fbp_status make_threads(fbp_source *src, struct hdf5 *h)
{
    const size_t each = h->a.how == FBP_HDF5_LIBRARY ? 0 : h->stored_bytes + h->chunk_bytes;
    const size_t fit = SCRATCH_BYTES / (each + h->chunk_bytes), n = (size_t)fbp_core_count();

    h->n_threads = (int)(fit < 1 ? 1 : fit < n ? fit : n);
    size_t n_slots = CACHE_BYTES / h->chunk_bytes;
    if (n_slots < (size_t)h->n_threads)
        n_slots = (size_t)h->n_threads;
    if (n_slots > FBP_CACHE_MOST)
        n_slots = FBP_CACHE_MOST;
    if (n_slots > h->a.n_chunks)
        n_slots = h->a.n_chunks;
    /* A child that reads a block has it stored, decoded, and in what both see. */
    const uint64_t child =
        h->a.how == FBP_HDF5_LIBRARY ? fbp_contained_bytes() + 3 * (uint64_t)h->chunk_bytes : 0;
    src->held_bytes = n_slots * (uint64_t)h->chunk_bytes + (uint64_t)h->n_threads * (each + child);
    FBP_TRY(fbp_cache_make(&h->cache, n_slots, h->chunk_bytes));
    FBP_TRY(fbp_calloc((void **)&h->scratch, (size_t)h->n_threads, sizeof *h->scratch, "scratch"));
    for (int i = 0; i < h->n_threads && each; i++)
        FBP_TRY(fbp_alloc((void **)&h->scratch[i], each, "a compressed chunk"));
    return fbp_pool_create(&h->pool, h->n_threads);
}

fbp_status fbp_hdf5_chunks_open(struct fbp_source *src, const struct fbp_hdf5_array *a,
                                uint64_t *map, struct fbp_hdf5_chunk *chunks)
{
    struct hdf5 *h = NULL;
    const fbp_status st = fbp_calloc((void **)&h, 1, sizeof *h, "a data set");

    if (st != FBP_OK) {
        free(map);
        free(chunks);
        return st;
    }
    h->a = *a;
    h->map = map;
    h->chunks = chunks;
    pthread_mutex_init(&h->lock, NULL);
    fbp_cache_open(&h->cache);
    src->state = h;
    src->close = close_chunks;
    src->read_block = read_block;
    src->info.big_endian = fbp_is_foreign(false); /* samples are delivered in native order */
    fbp_hdf5_grid(a, h->grid);
    FBP_TRY(check_sizes(src, h));
    return make_threads(src, h);
}
