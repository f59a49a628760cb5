/* Measures the parts of writing a volume: fresh pages, copies, hashes, files, outputs. Called by
 * write_command.c. */
#include "bench/common/measure.h"

#include "array/array.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/threads.h"
#include "bench/common/views.h"
#include "pipeline/division.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE, which older headers lack */
enum { PIECE = 1 << 20, PAGE = 4096, MOST_SOURCE = 256 << 20, MOST_REGION = 1 << 30 };

/* Data of all measurements: some slices, which are written repeatedly. */
struct write_bench {
    size_t n, n_slices; /* of the volume's side; of those in memory */
    size_t slice_bytes, region_bytes;
    float *slices;
    char *region;
    int fd; /* of the file whose pages are filled */
    atomic_int file_error;
    int n_threads;
    fbp_pool *pools[2]; /* of one thread, and of all */
};

/* Fill slices with random numbers in [0, 1), which no file system can compress. */
static void fill_slice(void *user, size_t item, int worker)
{
    struct write_bench *b = user;
    float *x = b->slices + item * b->n * b->n;
    uint32_t state = 0x9e3779b9U * (uint32_t)(item + 1);

    (void)worker;
    for (size_t i = 0; i < b->n * b->n; i++)
        x[i] = (float)(fbp_bench_next(&state) >> 8) * 0x1p-24F;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* As many as a reconstruction has. */
static int writers(void)
{
    const int n = fbp_core_count();

    return n < FBP_MOST_IO_THREADS ? n : FBP_MOST_IO_THREADS;
}

static fbp_status open_bench(struct write_bench *b, const struct fbp_write_options *o)
{
    FBP_TRY(fbp_check_range(&fbp_range_side, "options.size", (double)o->size));
    FBP_TRY(fbp_check_optional(&fbp_range_threads, "options.n_threads", (double)o->n_threads));
    *b = (struct write_bench){.n = o->size,
                              .slice_bytes = o->size * o->size * sizeof(float),
                              .n_threads = o->n_threads > 0 ? o->n_threads : writers()};
    b->n_slices = least(b->n, MOST_SOURCE / b->slice_bytes);
    b->n_slices += b->n_slices == 0;
    b->region_bytes = least(b->n * b->slice_bytes, MOST_REGION);
    FBP_TRY(fbp_alloc((void **)&b->slices, b->n_slices * b->slice_bytes, "slices to write"));
    FBP_TRY(fbp_pool_create(&b->pools[0], 1));
    FBP_TRY(fbp_pool_create(&b->pools[1], b->n_threads));
    fbp_pool_for(b->pools[1], b->n_slices, fill_slice, b);
    return fbp_check_cancelled();
}

static void close_bench(struct write_bench *b)
{
    fbp_pool_destroy(&b->pools[0]);
    fbp_pool_destroy(&b->pools[1]);
    fbp_free(b->slices);
    fbp_free(b->region);
}

/* Where a piece of the region begins; only those come here who have one. */
static char *place_of(const struct write_bench *b, size_t item)
{
    return b->region + item * PIECE;
}

/* Bytes of a piece of the region, and where as many of the slices begin. */
static size_t piece(const struct write_bench *b, size_t item, const char **from)
{
    const size_t at = item * PIECE, left = b->region_bytes - at;
    const size_t pieces = b->n_slices * b->slice_bytes / PIECE;

    *from = (const char *)b->slices + (pieces ? item % pieces * PIECE : 0);
    return least(least(left, PIECE), b->n_slices * b->slice_bytes);
}

static void touch_piece(void *user, size_t item, int worker)
{
    const char *from;
    const size_t n = piece(user, item, &from);
    volatile char *to = place_of(user, item);

    (void)worker;
    for (size_t at = 0; at < n; at += PAGE)
        to[at] = 1;
}

static void copy_piece(void *user, size_t item, int worker)
{
    const char *from;
    const size_t n = piece(user, item, &from);

    (void)worker;
    memcpy(place_of(user, item), from, n);
}

static void hash_piece(void *user, size_t item, int worker)
{
    static atomic_uint_fast64_t taken; /* so that no compiler leaves it out */
    const char *from;
    const size_t n = piece(user, item, &from);

    (void)worker;
    atomic_fetch_xor(&taken, fbp_hash(0, from, n));
}

static void write_piece(void *user, size_t item, int worker)
{
    struct write_bench *b = user;
    const char *from;
    const size_t n = piece(b, item, &from);

    (void)worker;
    if (atomic_load(&b->file_error) == 0 &&
        pwrite(b->fd, from, n, (off_t)(item * PIECE)) != (ssize_t)n)
        atomic_store(&b->file_error, errno ? errno : ENOSPC);
}

/* Reserve the pages of the file: touching a page without space on the disk would end the program.
 */
static void map_piece(void *user, size_t item, int worker)
{
    struct write_bench *b = user;
    const char *from;
    const size_t n = piece(b, item, &from);
    char *to = place_of(b, item);

    (void)worker;
    if (atomic_load(&b->file_error) == 0 && madvise(to, n, POPULATE_WRITE) != 0)
        atomic_store(&b->file_error, errno);
    if (atomic_load(&b->file_error) != 0)
        return;
    memcpy(to, from, n);
    (void)madvise(to, n, MADV_DONTNEED);
}

/* Bytes a second. */
static fbp_status rate_of(struct write_bench *b, int who, fbp_pool_fn *fn, double *out)
{
    const double start = fbp_seconds();

    fbp_pool_for(b->pools[who], (b->region_bytes + PIECE - 1) / PIECE, fn, b);
    *out = (double)b->region_bytes / (fbp_seconds() - start);
    return fbp_check_cancelled();
}

static fbp_status open_pages(struct write_bench *b, const char *path)
{
    b->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (b->fd < 0 || ftruncate(b->fd, (off_t)b->region_bytes) < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: cannot write: %s: check the free space and the permissions", path,
                        strerror(errno));
    return FBP_OK;
}

static void close_pages(struct write_bench *b, const char *path)
{
    if (b->fd < 0)
        return;
    close(b->fd);
    unlink(path);
}

static fbp_status rate_of_writing(struct write_bench *b, int who, const char *path, double *out)
{
    fbp_status st;

    atomic_store(&b->file_error, 0);
    FBP_TRY_GOTO(open_pages(b, path));
    FBP_TRY_GOTO(rate_of(b, who, write_piece, out));
    const int error = atomic_load(&b->file_error);
    if (error != 0)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot write: %s: check the free space and the permissions",
                      path, strerror(error));
fail:
    close_pages(b, path);
    return st;
}

/* Rate of filling a file through a mapping; 0 if the system does not support that. */
static fbp_status rate_of_mapping(struct write_bench *b, int who, const char *path, double *out)
{
    fbp_status st;

    atomic_store(&b->file_error, 0);
    FBP_TRY_GOTO(open_pages(b, path));
    void *at = mmap(NULL, b->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    if (at == MAP_FAILED)
        goto fail;
    b->region = at;
    st = rate_of(b, who, map_piece, out);
    *out = atomic_load(&b->file_error) == 0 ? *out : 0;
    (void)munmap(at, b->region_bytes);
    b->region = NULL;
fail:
    close_pages(b, path);
    return st;
}

fbp_status fbp_bench_memory(const struct fbp_write_options *options, struct fbp_memory_rates *out)
{
    struct write_bench b = {0};
    fbp_status st;

    fbp_message_clear();
    *out = (struct fbp_memory_rates){0};
    FBP_TRY_GOTO(open_bench(&b, options));
    for (int who = 0; who < 2; who++) {
        FBP_TRY_GOTO(fbp_alloc((void **)&b.region, b.region_bytes, "fresh pages"));
        FBP_TRY_GOTO(rate_of(&b, who, touch_piece, &out->fresh[who]));
        FBP_TRY_GOTO(rate_of(&b, who, copy_piece, &out->copy[who]));
        FBP_TRY_GOTO(rate_of(&b, who, hash_piece, &out->hash[who]));
        fbp_free(b.region);
        b.region = NULL;
        if (!options->output)
            continue;
        FBP_TRY_GOTO(rate_of_writing(&b, who, options->output, &out->file[who]));
        FBP_TRY_GOTO(rate_of_mapping(&b, who, options->output, &out->mapped[who]));
    }
    out->n_threads = b.n_threads;
    out->bytes = b.region_bytes;
fail:
    close_bench(&b);
    return st;
}

/* Slices to an output. */
struct putting {
    const struct write_bench *bench;
    fbp_sink *sink;
};

static fbp_status put_slice(void *user, size_t z, int worker)
{
    const struct putting *p = user;
    const struct write_bench *b = p->bench;

    (void)worker;
    return fbp_sink_write(p->sink, z, 1, FBP_F32, b->slices + z % b->n_slices * b->n * b->n);
}

static fbp_status put_all(const struct write_bench *b, int who, fbp_sink *sink)
{
    struct putting p = {.bench = b, .sink = sink};

    return fbp_pool_try(b->pools[who], b->n, put_slice, &p);
}

/* Seconds since *at, which becomes now. */
static double lap(double *at)
{
    const double before = *at;

    *at = fbp_seconds();
    return *at - before;
}

static fbp_status put_volume(const struct write_bench *b, const struct fbp_write_options *o,
                             int who, struct fbp_output_time *out)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .type = FBP_F32, .n = {b->n, b->n, b->n}};
    const bool bare = strcmp(o->output, "null:") == 0 || strcmp(o->output, "hash:") == 0;
    const struct fbp_sink_params params = {.struct_size = sizeof params,
                                           .fingerprint = 1, /* as what can be resumed */
                                           .type = bare ? FBP_F32 : o->type,
                                           .range = {0, 1}};
    fbp_sink *sink = NULL;
    fbp_status st;
    double at = fbp_seconds();

    FBP_TRY(fbp_sink_open(&sink, o->output, &info, &params));
    out->open[who] = lap(&at);
    FBP_TRY_GOTO(put_all(b, who, sink));
    out->write[who] = lap(&at);
    FBP_TRY_GOTO(fbp_sink_finish(sink));
    out->finish[who] = lap(&at);
fail:
    if (st != FBP_OK)
        fbp_sink_forget(sink); /* nothing is left to be resumed */
    fbp_sink_close(&sink);
    return st;
}

fbp_status fbp_bench_write(const struct fbp_write_options *options, struct fbp_output_time *out)
{
    struct write_bench b = {0};
    fbp_status st;

    fbp_message_clear();
    *out = (struct fbp_output_time){0};
    FBP_TRY_GOTO(open_bench(&b, options));
    out->bytes = (double)b.n * (double)b.slice_bytes;
    out->n_threads = b.n_threads;
    for (int who = 0; who < (b.n_threads > 1 ? 2 : 1); who++)
        FBP_TRY_GOTO(put_volume(&b, options, who, out));
fail:
    close_bench(&b);
    return st;
}
