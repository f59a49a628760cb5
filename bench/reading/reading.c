/*
 * How fast arrays are read: batch after batch of views, as they are and as float.  Threads take one
 * view each, as in the reading stage.  In turns with this, in several rounds, two others are timed:
 * `cat`, which is read() of the same files into one small buffer; and a simple loop of pread() and
 * a conversion to floats into the same batch.
 */
#include "array/file/format.h"
#include "array/names.h"
#include "make.h"

#include "array/file/bytes.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"

#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 32, PIECE = 1 << 21, AT_ONCE = 1 << 17, MOST_THREADS = 8, MOST_ROUNDS = 99 };

enum what { CAT, FILL, LOOP, AS_IS, AS_FLOAT };

static const char *const names[] = {[CAT] = "cat",
                                    [FILL] = "memset of as many floats",
                                    [LOOP] = "loop of pread, to float",
                                    [AS_IS] = "as it is",
                                    [AS_FLOAT] = "as float"};

/* What is measured, and what it took in each round. */
struct row {
    enum what what;
    int n_threads;
    fbp_pool *pool;
    double seconds[MOST_ROUNDS], cpu[MOST_ROUNDS];
};

/* A piece of a file, for the loop. */
struct piece {
    size_t file;
    off_t at;
};

struct bench {
    fbp_source *source;
    char **files;
    size_t n_files;
    struct piece *pieces;
    size_t n_pieces;
    double bytes, file_bytes; /* of samples; of files */
    char *batch;              /* BATCH views as float */
    size_t view, size;        /* samples of a view, bytes of a sample */
    size_t first;             /* view or piece of the batch */
    _Atomic int failed;
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void cat(struct bench *b)
{
    static char buffer[AT_ONCE];

    for (size_t k = 0; k < b->n_files; k++) {
        const int fd = open(b->files[k], O_RDONLY | O_CLOEXEC);
        ssize_t n;
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
            ;
        if (fd < 0 || n < 0)
            b->failed = 1;
        if (fd >= 0)
            close(fd);
    }
}

static void fill(const struct bench *b)
{
    const size_t views = fbp_source_info(b->source)->n[2];

    for (size_t k = 0; k < views; k += BATCH)
        memset(b->batch, (int)(k / BATCH & 1),
               (views - k < BATCH ? views - k : BATCH) * b->view * sizeof(float));
}

/* Samples of the size that this array has, whatever they are. */
static void convert(const char *in, size_t n, size_t size, float *out)
{
    const uint16_t *wide = (const uint16_t *)(const void *)in;
    const uint8_t *narrow = (const uint8_t *)in;

    if (size == 2)
        for (size_t i = 0; i < n; i++)
            out[i] = wide[i];
    else if (size == 1)
        for (size_t i = 0; i < n; i++)
            out[i] = narrow[i];
    else
        memcpy(out, in, n * size);
}

static void loop_piece(void *user, size_t item, int worker)
{
    struct bench *b = user;
    const struct piece *p = &b->pieces[b->first + item];
    const int fd = open(b->files[p->file], O_RDONLY | O_CLOEXEC);
    float *out = (float *)(void *)b->batch + item * (PIECE / b->size);
    static _Thread_local _Alignas(64) char in[AT_ONCE];
    ssize_t n = 1;

    (void)worker;
    for (off_t at = 0; at < PIECE && n > 0; at += n) {
        n = pread(fd, in, sizeof in, p->at + at);
        if (n > 0)
            convert(in, (size_t)n / b->size, b->size, out + (size_t)at / b->size);
    }
    if (fd < 0 || n < 0)
        b->failed = 1;
    if (fd >= 0)
        close(fd);
}

static void loop(struct bench *b, fbp_pool *pool)
{
    const size_t at_once = BATCH * b->view * b->size / PIECE;

    for (b->first = 0; b->first < b->n_pieces; b->first += at_once) {
        const size_t left = b->n_pieces - b->first;
        fbp_pool_for(pool, left < at_once ? left : at_once, loop_piece, b);
    }
}

static void read_view(struct bench *b, size_t item, bool as_is)
{
    const size_t rows = fbp_source_info(b->source)->n[1];
    void *to = b->batch + item * b->view * (as_is ? b->size : sizeof(float));
    const fbp_status st =
        as_is ? fbp_source_read_as_is(b->source, b->first + item, 1, 0, rows, to)
              : fbp_source_read(b->source, b->first + item, 1, 0, rows, FBP_F32, to);

    if (st != FBP_OK && !atomic_exchange(&b->failed, 1))
        fprintf(stderr, "reading: %s\n", fbp_message());
}

static void view_as_is(void *user, size_t item, int worker)
{
    (void)worker;
    read_view(user, item, true);
}

static void view_as_float(void *user, size_t item, int worker)
{
    (void)worker;
    read_view(user, item, false);
}

static void read_all(struct bench *b, bool as_is, fbp_pool *pool)
{
    const size_t n = fbp_source_info(b->source)->n[2];

    for (b->first = 0; b->first < n; b->first += BATCH)
        fbp_pool_for(pool, n - b->first < BATCH ? n - b->first : BATCH,
                     as_is ? view_as_is : view_as_float, b);
}

static void measure(struct bench *b, struct row *row, int round)
{
    const double start = fbp_seconds(), cpu = cpu_seconds();

    if (row->what == CAT)
        cat(b);
    else if (row->what == FILL)
        fill(b);
    else if (row->what == LOOP)
        loop(b, row->pool);
    else
        read_all(b, row->what == AS_IS, row->pool);
    row->seconds[round] = fbp_seconds() - start;
    row->cpu[round] = cpu_seconds() - cpu;
}

/* The files that `cat` is given, and pieces of them. */
static int list_files(struct bench *b)
{
    struct fbp_file_names stack = {.n = 0};
    const bool one = b->source->file != NULL;
    size_t room = 0;

    if (!one && fbp_names_open(&stack, b->source->path, false) != FBP_OK)
        return 1;
    b->n_files = one ? 1 : stack.n;
    b->files = calloc(b->n_files, sizeof *b->files);
    for (size_t k = 0; b->files && k < b->n_files; k++) {
        b->files[k] = one ? strdup(b->source->file) : fbp_names_get(&stack, k);
        const int fd = b->files[k] ? open(b->files[k], O_RDONLY | O_CLOEXEC) : -1;
        const off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
        if (fd >= 0)
            close(fd);
        if (bytes < 0)
            return 1;
        b->file_bytes += (double)bytes;
        for (off_t at = 0; at < bytes; at += PIECE) {
            if (b->n_pieces == room) {
                room = 2 * room + 64;
                b->pieces = realloc(b->pieces, room * sizeof *b->pieces);
                if (!b->pieces)
                    return 1;
            }
            b->pieces[b->n_pieces++] = (struct piece){k, at};
        }
    }
    fbp_names_close(&stack);
    return b->files == NULL;
}

static int open_array(struct bench *b, const char *path)
{
    const double start = fbp_seconds();

    if (fbp_source_open(&b->source, path, NULL) != FBP_OK) {
        fprintf(stderr, "reading: %s\n", fbp_message());
        return 1;
    }
    const double seconds = fbp_seconds() - start;
    const struct fbp_array_info *info = fbp_source_info(b->source);
    b->view = info->n[0] * info->n[1];
    b->size = fbp_type_size(info->type);
    b->bytes = (double)b->view * (double)info->n[2] * (double)b->size;
    if (list_files(b) != 0 || fbp_alloc((void **)&b->batch, BATCH * b->view * (b->size > 4 ? 8 : 4),
                                        "a batch") != FBP_OK) {
        fprintf(stderr, "reading: %s: not enough memory, or files that cannot be opened\n", path);
        return 1;
    }
    memset(b->batch, 1, BATCH * b->view * (b->size > 4 ? 8 : 4));
    printf("%s: %zu x %zu x %zu %s (%s), %.3f GB of samples in %.3f GB, opened in %.1f ms\n", path,
           info->n[0], info->n[1], info->n[2], fbp_type_name(info->type), info->format,
           1e-9 * b->bytes, 1e-9 * b->file_bytes, 1e3 * seconds);
    return 0;
}

static void close_array(struct bench *b)
{
    for (size_t k = 0; b->files && k < b->n_files; k++)
        free(b->files[k]);
    free(b->files);
    free(b->pieces);
    fbp_free(b->batch);
    fbp_source_close(&b->source);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Least and median. */
static void sum_up(const double *x, int n, double out[2])
{
    double sorted[MOST_ROUNDS];

    memcpy(sorted, x, (size_t)n * sizeof *x);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    out[0] = sorted[0];
    out[1] = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/* `cat` of a round stands for how busy the machine was then. */
static void print(const struct bench *b, const struct row *row, const struct row *cat, int rounds)
{
    double seconds[2], cpu[2], of_cat[2], cat_cpu[2], ratios[MOST_ROUNDS];

    for (int r = 0; r < rounds; r++)
        ratios[r] = 100 * cat->seconds[r] / row->seconds[r];
    sum_up(row->seconds, rounds, seconds);
    sum_up(row->cpu, rounds, cpu);
    sum_up(cat->cpu, rounds, cat_cpu);
    sum_up(ratios, rounds, of_cat);
    printf("%-25s %3d %8.3f %8.3f %7.2f %7.2f %7.0f%% %8.3f %8.3f %7.0f%%\n", names[row->what],
           row->n_threads, seconds[0], seconds[1], 1e-9 * b->bytes / seconds[0],
           1e-9 * b->bytes / seconds[1], of_cat[1], cpu[0], cpu[1], 100 * cat_cpu[0] / cpu[0]);
}

static void print_all(const struct bench *b, const struct row *rows, int n_rows, int rounds)
{
    printf("%-25s %3s %8s %8s %7s %7s %8s %8s %8s %8s\n", "", "", "seconds", "", "GB/s", "",
           "of cat", "CPU-s", "", "of cat");
    printf("%-25s %3s %8s %8s %7s %7s %8s %8s %8s %8s\n", "", "thr", "best", "median", "best",
           "median", "median", "best", "median", "best");
    for (int i = 0; i < n_rows; i++)
        print(b, &rows[i], &rows[0], rounds);
}

static int run(const char *path, const int *threads, int n_threads, int rounds)
{
    static struct row rows[2 + 3 * MOST_THREADS];
    static const enum what three[] = {LOOP, AS_IS, AS_FLOAT};
    struct bench b = {.source = NULL};
    fbp_pool *pools[MOST_THREADS] = {NULL};
    int n = 2, rc = open_array(&b, path);

    rows[0] = (struct row){.what = CAT, .n_threads = 1};
    rows[1] = (struct row){.what = FILL, .n_threads = 1};
    for (int t = 0; t < n_threads && rc == 0; t++) {
        rc = fbp_pool_create(&pools[t], threads[t]) != FBP_OK;
        for (int i = 0; i < 3; i++)
            /* A compressed file's bytes are no samples; views may be smaller than pieces. */
            if (three[i] != LOOP ||
                (b.size <= 4 && b.file_bytes >= b.bytes && BATCH * b.view * b.size >= PIECE))
                rows[n++] =
                    (struct row){.what = three[i], .n_threads = threads[t], .pool = pools[t]};
    }
    if (rc == 0)
        cat(&b); /* what is not in the page cache comes there */
    for (int r = 0; r < rounds && rc == 0; r++)
        for (int i = 0; i < n && rc == 0; i++) {
            measure(&b, &rows[i], r);
            rc = b.failed;
        }
    if (rc == 0)
        print_all(&b, rows, n, rounds);
    for (int t = 0; t < n_threads; t++)
        fbp_pool_destroy(&pools[t]);
    close_array(&b);
    return rc;
}

static int usage(void)
{
    char kinds[300];

    make_kinds(kinds, sizeof kinds);
    fprintf(stderr,
            "usage: reading [--threads N,N,…] [--rounds N] ARRAY…\n"
            "       reading --make KIND PATH [MIB]   a scan to read, of 2048 MiB\n"
            "KIND: %s\n",
            kinds);
    return 2;
}

/* A whole number at the start of the text, above 0; else 0. */
static int number(const char *text, char **end)
{
    const long value = strtol(text, end, 10);

    return *end != text && value > 0 && value <= 1 << 24 ? (int)value : 0;
}

/* "1,2,16"; how many numbers, or 0. */
static int take_threads(const char *text, int *out)
{
    char *end;

    for (int n = 0; n < MOST_THREADS; text = end + 1) {
        out[n] = number(text, &end);
        if (out[n++] == 0)
            return 0;
        if (*end != ',')
            return *end ? 0 : n;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int threads[MOST_THREADS] = {1, fbp_core_count()}, n_threads = threads[1] > 1 ? 2 : 1;
    int rounds = 5, rc = 0, i = 1;
    char *end;

    if (argc >= 4 && argc <= 5 && strcmp(argv[1], "--make") == 0)
        return make_data(argv[2], argv[3], argc == 5 ? (size_t)number(argv[4], &end) : 2048);
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        if (strcmp(argv[i], "--threads") == 0)
            n_threads = take_threads(argv[i + 1], threads);
        else
            rounds = strcmp(argv[i], "--rounds") == 0 ? number(argv[i + 1], &end) : 0;
    if (i >= argc || n_threads < 1 || rounds < 1 || rounds > MOST_ROUNDS)
        return usage();
    for (; i < argc && rc == 0; i++)
        rc = run(argv[i], threads, n_threads, rounds);
    return rc;
}
