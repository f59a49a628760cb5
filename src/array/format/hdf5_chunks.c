/* Reads the samples of HDF5 data sets that are not contiguous in the file: fbp_hdf5_chunks_open().
 * Plain, deflated and shuffled chunks are read directly from the file, by several threads. The
 * HDF5 library reads all others in blocks, in child processes if the program has enabled them
 * (base/sandbox.h).
 * Used by: hdf5.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/format/hdf5.h"
#include "base/threads.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

/* ---- blocks of samples, in the process that calls the HDF5 library */

/* Read slices [z, z + nz) of a block. If a virtual data set takes them from too many files, the two
 * halves are read one after another, because the HDF5 library keeps files open until the data set
 * is closed. */
static fbp_status read_slices(hid_t file, const struct fbp_hdf5_block *b, size_t z, size_t nz)
{
    enum { FILES_AT_ONCE = 256 };
    const struct fbp_hdf5_array *a = b->array;
    const size_t slice = b->room[0] * b->room[1] * fbp_type_size(a->info.type);
    const size_t frame = fbp_frame_slices(&a->info), z0 = b->first[2] + z;
    const hsize_t zero[FBP_HDF5_RANK] = {0};
    hsize_t first[FBP_HDF5_RANK], n[FBP_HDF5_RANK], room[FBP_HDF5_RANK];
    const hid_t data = H5Dopen2(file, a->data_set, fbp_hdf5_access());
    bool fits = false;
    char why[200];

    if (data < 0)
        return FBP_INVALID(
            "%s: cannot be opened again%s; the file may be damaged or have changed, copy it again",
            b->path, fbp_hdf5_reason(why, sizeof why));
    for (int i = 0; i < a->rank; i++) { /* dimensions of the data set */
        const int axis = fbp_hdf5_axis(a, i);
        first[i] = axis < 2 ? b->first[axis] : axis == 2 ? z0 : z0 / frame;
        n[i] = axis < 2 ? b->n[axis] : axis == 2 ? nz : 1;
        room[i] = axis < 2 ? b->room[axis] : axis == 2 ? b->room[2] - z : 1;
        if (a->rank == FBP_HDF5_RANK && axis == 2)
            first[i] = z0 % frame;
    }
    fbp_status st =
        fbp_hdf5_check_block(data, b->path, first, n, nz > 1 ? FILES_AT_ONCE : SIZE_MAX, &fits);
    if (st == FBP_OK && fits) {
        const hid_t from = H5Dget_space(data);
        const hid_t to = H5Screate_simple(a->rank, room, NULL);
        H5Sselect_hyperslab(from, H5S_SELECT_SET, first, NULL, n, NULL);
        H5Sselect_hyperslab(to, H5S_SELECT_SET, zero, NULL, n, NULL);
        const bool done = H5Dread(data, fbp_hdf5_type(a->info.type), to, from, H5P_DEFAULT,
                                  (char *)b->out + z * slice) >= 0;
        H5Sclose(to);
        H5Sclose(from);
        if (!done)
            st = FBP_INVALID("%s: slices from %zu on cannot be read%s; the file may be damaged, so "
                             "copy it again, or install the HDF5 filter that it needs",
                             b->path, b->first[2], fbp_hdf5_reason(why, sizeof why));
    }
    H5Dclose(data);
    if (st != FBP_OK || fits)
        return st;
    if (nz == 1)
        return fbp_fail(FBP_ERR_IO,
                        "%s: slice %zu is stored in more files than this process may open; raise "
                        "the limit of open files (ulimit -n)",
                        b->path, b->first[2] + z);
    FBP_TRY(read_slices(file, b, z, nz / 2));
    return read_slices(file, b, z + nz / 2, nz - nz / 2);
}

fbp_status fbp_hdf5_read_block(void *arg, struct fbp_blob *reply)
{
    const struct fbp_hdf5_block *b = arg;
    const bool series = b->array->rank == FBP_HDF5_RANK;
    const size_t frame = fbp_frame_slices(&b->array->info);
    fbp_status st = FBP_OK;
    hid_t file;

    (void)reply;
    FBP_TRY(fbp_hdf5_open(b->array->file, b->path, &file));
    for (size_t z = 0, nz; z < b->n[2] && st == FBP_OK; z += nz) { /* each read is in one frame */
        const size_t left = frame - (b->first[2] + z) % frame;
        nz = series && left < b->n[2] - z ? left : b->n[2] - z;
        st = read_slices(file, b, z, nz);
    }
    H5Fclose(file);
    return st;
}

/* ---- chunks and blocks in this process */

/* approximate size of the cache of decoded chunks */
static const size_t CACHE_BYTES = (size_t)64 << 20;
/* greatest total size of the threads' buffers, unless one thread already needs more */
static const size_t SCRATCH_BYTES = (size_t)256 << 20;

struct hdf5 {
    struct fbp_hdf5_array a;
    uint64_t *map; /* index in the file of each slice of the source; NULL: all slices are used */
    struct fbp_hdf5_chunk *chunks;
    /* stored_bytes: size of the largest chunk in the file */
    size_t grid[3], chunk_bytes, stored_bytes;
    fbp_pool *pool;
    int n_threads;
    unsigned char **scratch; /* [n_threads] room for a stored chunk and an inflated one */
    struct fbp_cache cache;
    pthread_mutex_t lock; /* guards `status` and `message` of a region */
};

/* The samples that one call of read_block() requests: rows of slices consecutive in the file. */
struct region {
    fbp_source *src;
    size_t first[3], n[3]; /* columns, rows, slices, in the file */
    size_t chunk0[3], chunks[3];
    bool as_float;
    char *out; /* [n[2]][n[1]][n[0]] */
    fbp_status status;
    char message[1200];
};

/* Undo the shuffle filter, which stores byte 0 of all samples, then byte 1, and so on. */
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

/* Get the first sample of chunk p along each axis, and the number of samples inside the array. */
static void extent(const struct hdf5 *h, const size_t p[3], size_t first[3], size_t n[3])
{
    for (int i = 0; i < 3; i++) {
        const size_t all = i == 2 ? h->a.n_slices : h->a.info.n[i];
        first[i] = p[i] * h->a.chunk[i];
        n[i] = all - first[i] < h->a.chunk[i] ? all - first[i] : h->a.chunk[i];
    }
}

/* Read block k through the HDF5 library, into memory shared with a child process. */
static fbp_status read_by_library(fbp_source *src, size_t k, unsigned char *out)
{
    const struct hdf5 *h = src->state;
    const size_t p[3] = {k % h->grid[0], k / h->grid[0] % h->grid[1], k / h->grid[0] / h->grid[1]};
    struct fbp_hdf5_block b = {.path = src->path, .array = &h->a};
    struct fbp_sandbox_limits limits = fbp_hdf5_limits;
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

struct loader {
    fbp_source *src;
    unsigned char *scratch;
};

/* Read chunk k and undo its filters, or read block k through the HDF5 library; callback of
 * fbp_cache_take() for chunks that are not in the cache. */
static fbp_status load(void *user, size_t k, void *out)
{
    const struct loader *l = user;
    fbp_source *src = l->src;
    const struct hdf5 *h = src->state;
    const size_t size = fbp_type_size(h->a.info.type), n = h->chunk_bytes / size;

    if (h->a.how == FBP_HDF5_LIBRARY)
        return read_by_library(src, k, out);
    const struct fbp_hdf5_chunk *c = &h->chunks[k];
    if (c->bytes) {
        /* The program that wrote the file applied the shuffle filter first, then deflate. */
        const bool shuffled = h->a.shuffle && !(c->left_out & 1);
        const bool deflated = h->a.deflate && !(c->left_out & (h->a.shuffle ? 2 : 1));
        unsigned char *stored = deflated || shuffled ? l->scratch : out;
        unsigned char *inflated = !deflated  ? stored
                                  : shuffled ? l->scratch + h->stored_bytes
                                             : out;
        uLongf got = deflated ? h->chunk_bytes : c->bytes;
        int code = Z_OK;

        if (deflated || c->bytes == h->chunk_bytes)
            FBP_TRY(fbp_read_at(src->fd, src->path, c->at, stored, c->bytes));
        if (deflated)
            code = uncompress(inflated, &got, stored, c->bytes);
        if (code == Z_MEM_ERROR)
            return fbp_fail_nomem(h->chunk_bytes, "zlib");
        if (code != Z_OK || got != h->chunk_bytes)
            return FBP_INVALID("%s: chunk %zu does not have its full size, or cannot be "
                               "decompressed; the file is damaged, copy it again",
                               src->path, k);
        if (shuffled)
            unshuffle(inflated, size, n, out);
    } else { /* a chunk that was never written */
        for (size_t at = 0; at < h->chunk_bytes; at += size)
            memcpy((char *)out + at, h->a.fill, size);
    }
    if (fbp_is_foreign(h->a.info.big_endian))
        fbp_swap_bytes(out, size, n);
    return FBP_OK;
}

/* Copy the samples of chunk p that r requests to their position in the caller's memory. */
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
            const size_t row = (z - first[2]) * h->a.chunk[1] + (y - first[1]);
            const size_t to_row = (z - r->first[2]) * r->n[1] + (y - r->first[1]);
            const unsigned char *from = data + (row * h->a.chunk[0] + (lo[0] - first[0])) * size;
            char *to = r->out + (to_row * r->n[0] + (lo[0] - r->first[0])) * to_size;
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

static fbp_status read_block(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, bool as_float, void *out)
{
    const struct hdf5 *h = src->state;
    const size_t size = as_float ? sizeof(float) : fbp_type_size(h->a.info.type);
    size_t n;

    for (size_t k = 0; k < n_slices; k += n) { /* runs of slices consecutive in the file */
        const size_t first = h->map ? h->map[slice0 + k] : slice0 + k;
        size_t n_chunks = 1;
        n = h->map ? 1 : n_slices;
        while (k + n < n_slices && h->map[slice0 + k + n] == first + n)
            n++;
        struct region r = {.src = src,
                           .first = {0, row0, first},
                           .n = {h->a.info.n[0], n_rows, n},
                           .as_float = as_float,
                           .out = (char *)out + k * n_rows * h->a.info.n[0] * size};
        for (int i = 0; i < 3; i++) {
            r.chunk0[i] = r.first[i] / h->a.chunk[i];
            r.chunks[i] = (r.first[i] + r.n[i] - 1) / h->a.chunk[i] - r.chunk0[i] + 1;
            n_chunks *= r.chunks[i];
        }
        fbp_pool_for(h->pool, n_chunks, one_chunk, &r);
        if (r.status != FBP_OK) {
            fbp_message_adopt(r.message);
            return r.status;
        }
        FBP_TRY(fbp_check_cancelled());
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

fbp_status fbp_hdf5_chunks_open(struct fbp_source *src, const struct fbp_hdf5_array *a,
                                uint64_t *map, struct fbp_hdf5_chunk *chunks)
{
    const bool by_library = a->how == FBP_HDF5_LIBRARY;
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

    /* Check that the stored bytes of the largest chunk can inflate to the size of a chunk: deflate
     * expands a byte to at most FBP_DEFLATE_AT_MOST bytes. */
    if (__builtin_mul_overflow(a->chunk[0], a->chunk[1], &h->chunk_bytes) ||
        __builtin_mul_overflow(h->chunk_bytes, a->chunk[2], &h->chunk_bytes) ||
        __builtin_mul_overflow(h->chunk_bytes, fbp_type_size(a->info.type), &h->chunk_bytes) ||
        h->chunk_bytes == 0)
        return FBP_INVALID(
            "%s: its chunks are too large; rewrite it with smaller chunks (h5repack -l CHUNK=...)",
            src->path);
    for (size_t k = 0; chunks && k < a->n_chunks; k++)
        if (chunks[k].bytes > h->stored_bytes)
            h->stored_bytes = chunks[k].bytes;
    if (chunks && h->chunk_bytes / FBP_DEFLATE_AT_MOST > h->stored_bytes)
        return FBP_INVALID("%s: the %zu bytes of a chunk do not fit into the %zu stored bytes; the "
                           "file is damaged, copy it again",
                           src->path, h->chunk_bytes, h->stored_bytes);

    const size_t each = by_library ? 0 : h->stored_bytes + h->chunk_bytes;
    const size_t fit = SCRATCH_BYTES / (each + h->chunk_bytes), n = (size_t)fbp_core_count();
    h->n_threads = (int)(fit < 1 ? 1 : fit < n ? fit : n);
    size_t n_slots = CACHE_BYTES / h->chunk_bytes;
    if (n_slots < (size_t)h->n_threads)
        n_slots = (size_t)h->n_threads;
    if (n_slots > FBP_CACHE_MOST)
        n_slots = FBP_CACHE_MOST;
    if (n_slots > a->n_chunks)
        n_slots = a->n_chunks;
    /* A block read through the HDF5 library has three copies: stored, decoded, in shared memory. */
    const uint64_t child = by_library ? fbp_sandbox_bytes() + 3 * (uint64_t)h->chunk_bytes : 0;
    src->held_bytes = n_slots * (uint64_t)h->chunk_bytes + (uint64_t)h->n_threads * (each + child);
    FBP_TRY(fbp_cache_make(&h->cache, n_slots, h->chunk_bytes));
    FBP_TRY(fbp_calloc((void **)&h->scratch, (size_t)h->n_threads, sizeof *h->scratch, "scratch"));
    for (int i = 0; i < h->n_threads && each; i++)
        FBP_TRY(fbp_alloc((void **)&h->scratch[i], each, "a compressed chunk"));
    return fbp_pool_create(&h->pool, h->n_threads);
}
