/* Checks that several threads write one file on a file system in memory (tmpfs): while two threads
 * write, others copy into the mapping of the file; the bytes are those of one thread, in each
 * format, and what cannot be copied is written. Uses /dev/shm. */
#include "unit/some_volume.h"

#include "array/file/bytes.h"
#include "array/sink.h"
#include "base/system.h"
#include "base/threads.h"
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { SIDE = 200, SLICES = 40, THREADS = 4, WRITERS = 2, SAMPLES = SIDE * SIDE * SLICES };

static float *samples;
static char folder[64];

static int begin(void **state)
{
    struct statfs is;

    samples = malloc(SAMPLES * sizeof *samples);
    for (size_t i = 0; i < SAMPLES; i++)
        samples[i] = sinf((float)i);
    snprintf(folder, sizeof folder, "/dev/shm/fbp-test-%ld", (long)getpid());
    if (statfs("/dev/shm", &is) < 0 || is.f_type != TMPFS_MAGIC)
        folder[0] = '\0';
    return fill(state) || (folder[0] && mkdir(folder, 0700));
}

static int end(void **state)
{
    free(samples);
    return folder[0] ? rmdir(folder) : 0;
}

/* Bytes that this process has passed to write(). */
static unsigned long long written(void)
{
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "rchar: %*u\nwchar: %llu", &n), 1);
    fclose(f);
    return n;
}

static fbp_status put_slice(void *user, size_t z, int worker)
{
    (void)worker;
    return fbp_sink_write(user, z, 1, FBP_F32, samples + z * SIDE * SIDE);
}

static fbp_sink *open_volume(const char *path, enum fbp_type type, uint64_t fingerprint)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {SIDE, SIDE, SLICES}};
    const struct fbp_sink_params params = {
        .struct_size = sizeof params, .type = type, .range = {-1, 1}, .fingerprint = fingerprint};
    fbp_sink *s = NULL;

    OK(fbp_sink_open(&s, path, &info, &params));
    return s;
}

/* Write the volume to `path` with `threads` threads. copied: true: as if WRITERS other threads
 * wrote, so that all samples are copied into the mapping. */
static void write_volume(const char *path, enum fbp_type type, int threads, bool copied)
{
    fbp_sink *s = open_volume(path, type, 1);
    fbp_pool *pool = NULL;

    OK(fbp_pool_create(&pool, threads));
    if (copied)
        atomic_store(&s->files->n_storing, WRITERS);
    const unsigned long long before = written();
    OK(fbp_pool_try(pool, SLICES, put_slice, s));
    const unsigned long long after = written();
    if (copied) {
        atomic_store(&s->files->n_storing, 0);
        assert_true(after - before < 100 * SLICES); /* lines of the journal */
    }
    fbp_pool_destroy(&pool);
    finish(&s);
}

static void assert_same_file(const char *a, const char *b)
{
    uint64_t n[2];
    int fd[2];

    OK(fbp_open_file(a, &fd[0], &n[0]));
    OK(fbp_open_file(b, &fd[1], &n[1]));
    assert_int_equal(n[0], n[1]);
    char *bytes[2] = {malloc(n[0]), malloc(n[1])};
    for (int i = 0; i < 2; i++) {
        OK(fbp_read_at(fd[i], i ? b : a, 0, bytes[i], n[i]));
        close(fd[i]);
    }
    assert_true(memcmp(bytes[0], bytes[1], n[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

TEST(several_threads_write_the_bytes_of_one)
{
    static const struct {
        const char *end;
        enum fbp_type type;
    } cases[] = {{"mha", FBP_F32}, {"mha", FBP_U16}, {"nrrd", FBP_F64}, {"nii", FBP_I16},
                 {"npy", FBP_F32}, {"raw", FBP_U8},  {"mat", FBP_F32}};

    if (!folder[0])
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int copied = 0; copied < 2; copied++) {
            char one[100], several[100], beside[120];
            /* some formats store the file's name, so both have the same one */
            snprintf(one, sizeof one, "%s/v.%s", folder, cases[i].end);
            snprintf(several, sizeof several, "%s/one.%s", folder, cases[i].end);
            write_volume(one, cases[i].type, 1, false);
            assert_int_equal(rename(one, several), 0);
            write_volume(one, cases[i].type, THREADS, copied);
            assert_same_file(one, several);
            assert_int_equal(unlink(one) | unlink(several), 0);
            snprintf(beside, sizeof beside, "%s.json", one);
            (void)unlink(beside);
        }
}

/* Copied slices are in the journal like written ones: a later run finds them. */
TEST(copied_slices_are_resumed)
{
    char path[100];

    if (!folder[0])
        skip();
    snprintf(path, sizeof path, "%s/v.mha", folder);
    fbp_sink *s = open_volume(path, FBP_F32, 7);
    atomic_store(&s->files->n_storing, WRITERS);
    OK(put_slice(s, 3, 0));
    atomic_store(&s->files->n_storing, 0);
    fbp_sink_close(&s);

    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {SIDE, SIDE, SLICES}};
    OK(fbp_sink_open(&s, path, &info,
                     &(struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params),
                                               .resume = true,
                                               .fingerprint = 7}));
    for (size_t z = 0; z < SLICES; z++)
        assert_int_equal(fbp_sink_has(s, z, 1), z == 3);
    fbp_sink_forget(s);
    fbp_sink_close(&s);
}

/* A page that cannot be filled (here: beyond the end of a file that was cut off) ends no process;
 * the slice is written instead. */
TEST(what_cannot_be_copied_is_written)
{
    const size_t bytes = SIDE * SIDE * sizeof(float);
    char path[100], part[120];

    if (!folder[0])
        skip();
    snprintf(path, sizeof path, "%s/v.raw", folder);
    snprintf(part, sizeof part, "%s.part", path);
    fbp_sink *s = open_volume(path, FBP_F32, 0);
    assert_int_equal(truncate(part, 0), 0);
    atomic_store(&s->files->n_storing, WRITERS);
    const unsigned long long before = written();
    for (size_t z = 0; z < SLICES; z++)
        OK(put_slice(s, SLICES - 1 - z, 0));
    assert_in_range(written() - before, bytes, 2 * bytes); /* the first enlarges the file again */
    atomic_store(&s->files->n_storing, 0);
    finish(&s);

    const struct fbp_raw raw = {FBP_F32, {SIDE, SIDE, SLICES}, false, 0};
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, &raw);
    float *out = malloc(SAMPLES * sizeof *out);
    OK(fbp_source_read(src, 0, SLICES, 0, SIDE, FBP_F32, out));
    assert_memory_equal(out, samples, SAMPLES * sizeof *out);
    free(out);
    assert_int_equal(unlink(path), 0);
}

TEST_MAIN(begin, end)
