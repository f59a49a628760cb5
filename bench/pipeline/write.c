/* Command `fbp bench write`: the parts of writing a volume (fresh pages, copies, hashes, files,
 * outputs), each timed alone.
 * Used by: bench/commands.c. */
#include "bench/common/bench.h"
#include "bench/common/views.h"
#include "say.h"

#include "array/array.h"
#include "array/file/outfile.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/division.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct write_args {
    const char *directory, *name;
    enum fbp_type type;
    size_t size;
    int threads;
    bool json;
};

#define W struct write_args
static const struct opt table[] = {
    OPT(W, name, .name = "name", .arg = "NAME", .fallback = "volume.mha",
        .help = "name of the output, which says its format, or slices such as %04d.tif"),
    OPT(W, directory, .name = "dir", .arg = "DIR", .fallback = "$TMPDIR or /tmp",
        .help = "where it is written, and removed: the disk that is timed"),
    OPT(W, type, .name = "output-type", .arg = "NAME", .list = choices_output_type,
        .fallback = "float32", .help = "type of the stored values"),
    OPT(W, size, .name = "size", .arg = "N", .min = 1, .max = FBP_SIDE_MAX, .fallback = "512",
        .help = "the volume is a cube with N voxels on each side"),
    OPT(W, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores, at most 8", .help = "number of threads"),
    OPT(W, json, .name = "json", .help = "print one JSON object"),
};
#undef W

/* Size and output of the measurements. */
struct fbp_write_options {
    size_t size;        /* the volume has size^3 voxels, float32 */
    int n_threads;      /* threads; 0: one per core, at most 8, as in a reconstruction */
    const char *output; /* output as for fbp_plan_run(); an existing file is replaced */
    enum fbp_type type; /* type of the stored values, which are in [0, 1]; FBP_TYPE_NONE: float32 */
};

/* Rates of the parts of writing [bytes/s]: [0] by one thread, [1] by all threads. */
struct fbp_memory_rates {
    int n_threads;
    size_t bytes;    /* size of the memory used: that of the volume, at most 1 GiB */
    double fresh[2]; /* first access to new memory, whose pages the system fills with zeros */
    double copy[2];  /* from memory to memory that is there */
    double hash[2];  /* hash of the written bytes, as for the output "hash:" and for journals */
    /* Pages of a new file, by write(), which lets one thread at a time into a file on most file
     *  systems, and through a mapping of it, as outputs on a tmpfs; 0: not measured. */
    double file[2], mapped[2];
};

/* Seconds to write a volume, slice by slice: [0] by one thread, [1] by all of them (0 if there is
 *  only one). */
struct fbp_output_time {
    int n_threads;
    double bytes;     /* of the volume as float32 */
    double open[2];   /* seconds to open the output and reserve its space */
    double write[2];  /* seconds to write all slices, with the journal that --resume needs */
    double finish[2]; /* seconds until all data are on the disk, and the file has its name */
};

enum { PIECE = 1 << 20, PAGE = 4096, MOST_SOURCE = 256 << 20, MOST_REGION = 1 << 30 };

/* Data of all measurements: some slices, which are written repeatedly. */
struct write_bench {
    size_t n, n_slices; /* voxels per side of the volume; slices in memory */
    size_t slice_bytes, region_bytes;
    float *slices;
    char *region;
    int fd; /* descriptor of the file whose pages are filled */
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

/* Number of threads that write in a reconstruction. */
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

/* Start of a piece of the region; the region must be allocated. */
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
    /* result of the hashes, stored so that the compiler does not remove them */
    static atomic_uint_fast64_t taken;
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

static void map_piece(void *user, size_t item, int worker)
{
    struct write_bench *b = user;
    const char *from;
    const size_t n = piece(b, item, &from);

    (void)worker;
    if (!fbp_map_copy(b->region, item * PIECE, from, n))
        atomic_store(&b->file_error, errno ? errno : ENOSPC);
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

/* Measure the rates that the memory of this machine, and the pages of a file, allow writers.  The
 * file options->output (NULL: none) is created and removed. */
static fbp_status measure_memory(const struct fbp_write_options *options,
                                 struct fbp_memory_rates *out)
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

/* Time an output: random slices are written repeatedly, as a reconstruction on a device with its
 * own memory writes them. */
static fbp_status measure_output(const struct fbp_write_options *options,
                                 struct fbp_output_time *out)
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

static void print_rate(const char *name, const double rate[2], bool several)
{
    printf("%-24s %9.2f", name, 1e-9 * rate[0]);
    if (several)
        printf(" %9.2f", 1e-9 * rate[1]);
    putchar('\n');
}

static void print_memory(const struct fbp_memory_rates *m)
{
    const bool several = m->n_threads > 1;
    char threads[24];

    snprintf(threads, sizeof threads, "%d threads", m->n_threads);
    printf("%-24s %9s %9s\n", "memory [GB/s]", "1 thread", several ? threads : "");
    print_rate("fresh pages", m->fresh, several);
    print_rate("copy", m->copy, several);
    print_rate("hash", m->hash, several);
    print_rate("new file, write()", m->file, several);
    print_rate("new file, mapped", m->mapped, several);
    printf("\n%-16s %7s %9s %9s %9s %10s %10s\n", "output", "threads", "open [s]", "write [s]",
           "finish [s]", "write GB/s", "all GB/s");
    fflush(stdout);
}

static void print_output(const char *name, const struct fbp_output_time *t)
{
    for (int i = 0; i < (t->n_threads > 1 ? 2 : 1); i++)
        printf("%-16s %7d %9.3f %9.3f %10.3f %10.2f %10.2f\n", name, i ? t->n_threads : 1,
               t->open[i], t->write[i], t->finish[i], 1e-9 * t->bytes / t->write[i],
               1e-9 * t->bytes / (t->open[i] + t->write[i] + t->finish[i]));
    fflush(stdout);
}

static void add_memory(cJSON *root, const struct fbp_memory_rates *m)
{
    const struct {
        const char *name;
        const double *rate;
    } rows[] = {{"fresh_pages", m->fresh},
                {"copy", m->copy},
                {"hash", m->hash},
                {"file_written", m->file},
                {"file_mapped", m->mapped}};
    cJSON *memory = cJSON_AddObjectToObject(root, "memory_bytes_per_second");

    cJSON_AddNumberToObject(root, "threads", m->n_threads);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cJSON_AddItemToObject(memory, rows[i].name, cJSON_CreateDoubleArray(rows[i].rate, 2));
    cJSON_AddArrayToObject(root, "outputs");
}

static void add_output(cJSON *root, const char *name, const struct fbp_output_time *t)
{
    for (int i = 0; i < (t->n_threads > 1 ? 2 : 1); i++) {
        const struct cli_number numbers[] = {
            {"threads", i ? t->n_threads : 1},
            {"bytes", t->bytes},
            {"open", t->open[i]},
            {"write", t->write[i]},
            {"finish", t->finish[i]},
        };
        cJSON *output = cJSON_CreateObject();
        cJSON_AddStringToObject(output, "output", name);
        bench_json_numbers(output, numbers, sizeof numbers / sizeof *numbers);
        cJSON_AddItemToArray(cJSON_GetObjectItem(root, "outputs"), output);
    }
}

/* Memory first, then what needs no disk, then the output itself. */
static int measure(const struct write_args *a, const struct workplace *w, cJSON *root)
{
    char path[sizeof w->dir + 200];
    const char *const names[] = {"null:", "hash:", a->name}, *const outputs[] = {
                                                                 "null:", "hash:", path};
    struct fbp_write_options o = {.size = a->size, .n_threads = a->threads, .type = a->type};
    struct fbp_memory_rates memory;
    struct fbp_output_time time;

    snprintf(path, sizeof path, "%s/pages.tmp", w->dir);
    o.output = path;
    if (measure_memory(&o, &memory) != FBP_OK)
        return cli_fail();
    if (root)
        add_memory(root, &memory);
    else
        print_memory(&memory);
    snprintf(path, sizeof path, "%s/%s", w->dir, a->name);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        o.output = outputs[i];
        if (measure_output(&o, &time) != FBP_OK)
            return cli_fail();
        if (root)
            add_output(root, names[i], &time);
        else
            print_output(names[i], &time);
    }
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct write_args a = {.name = "volume.mha", .size = 512};
    struct workplace w;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (strchr(a.name, '/') || strlen(a.name) > 150)
        return opt_usage(self,
                         "--name: expected a name without folders, got \"%s\"; --dir names "
                         "the folder",
                         a.name);
    if (workplace_make(&w, a.directory))
        return 1;
    cJSON *root = a.json ? cJSON_CreateObject() : NULL;
    if (root) {
        cJSON_AddStringToObject(root, "bench", "write");
        cJSON_AddNumberToObject(root, "size", (double)a.size);
    }
    rc = measure(&a, &w, root);
    workplace_remove(&w);
    if (root && rc == 0)
        return cli_json(root, true);
    cJSON_Delete(root);
    return rc;
}

const struct command cmd_bench_write = {
    .name = "bench write",
    .summary = "time writing: fresh pages, copies, hashes, the disk, each apart",
    .usage = "[options]",
    .about =
        "Tells what limits writing. Each row is measured by one thread, and by all.\n"
        "fresh pages: new memory, which the system fills with zeros. copy: memory to memory. "
        "hash: of what is written, for hash: and for the journal that --resume reads. new file: "
        "pages of a file in memory, by write(), for which most file systems let one thread at "
        "a time into a file, and through a mapping.\n"
        "Then a volume of random values is written, slice by slice, as by a device with its "
        "own memory. open reserves the room, finish waits for the disk and gives the file its "
        "name. null: writes nothing.\n"
        "GB/s are of float32 values, whatever is stored.",
    .examples = "  fbp bench write --dir /dev/shm --size 1024\n"
                "  fbp bench write --dir /data --name '%04d.tif' --output-type uint16 --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
