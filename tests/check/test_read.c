/*
 * Reading from several threads at once gives what one gives; `--bench FILE [THREADS]` prints how
 * fast a file comes from the page cache, beside read() into one buffer, which is what cat does.
 */
#include "unit/hdf5_files.h"

#include "base/clock.h"
#include "base/pool.h"
#include "io/format.h"

#include <fcntl.h>
#include <math.h>

#define H5 FBP_TEST_DIR "/check_read.h5"

struct job {
    fbp_source *src;
    bool as_float;
    char *out; /* a view each, by worker */
    size_t view_bytes, failed;
};

static void read_view(void *user, size_t view, int worker)
{
    struct job *j = user;
    char *out = j->out + (size_t)worker * j->view_bytes;
    const size_t rows = fbp_source_info(j->src)->n[1];

    if ((j->as_float ? fbp_source_read(j->src, view, 1, 0, rows, (float *)(void *)out)
                     : fbp_source_read_as_is(j->src, view, 1, 0, rows, out)) != FBP_OK)
        __atomic_add_fetch(&j->failed, 1, __ATOMIC_RELAXED);
}

/* [GB/s] of the file's own samples, best of five. */
static double rate(fbp_source *src, int n_threads, bool as_float)
{
    const struct fbp_array_info *i = fbp_source_info(src);
    const size_t view = i->n[0] * i->n[1];
    struct job j = {.src = src, .as_float = as_float, .view_bytes = view * 8};
    fbp_pool *pool;
    double best = INFINITY;

    j.out = calloc((size_t)n_threads, j.view_bytes);
    assert_non_null(j.out);
    assert_int_equal(fbp_pool_create(&pool, n_threads), FBP_OK);
    for (int run = 0; run < 5; run++) {
        const double start = fbp_seconds();
        fbp_pool_for(pool, i->n[2], read_view, &j);
        best = fmin(best, fbp_seconds() - start);
    }
    assert_int_equal(j.failed, 0);
    fbp_pool_destroy(&pool);
    free(j.out);
    return 1e-9 * (double)view * (double)(i->n[2] * fbp_type_size(i->type)) / best;
}

/* What cat does with the file: 128 KiB at a time into the same buffer. */
static double rate_of_cat(const char *path)
{
    static char buffer[1 << 17];
    double best = INFINITY, bytes = 0;

    for (int run = 0; run < 5; run++) {
        const int fd = open(path, O_RDONLY);
        const double start = fbp_seconds();
        ssize_t n;
        bytes = 0;
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
            bytes += (double)n;
        best = fmin(best, fbp_seconds() - start);
        close(fd);
    }
    return 1e-9 * bytes / best;
}

static int bench(const char *path, int n_threads)
{
    const double start = fbp_seconds();
    fbp_source *src = open_source(path, NULL);
    const double opened = fbp_seconds() - start;

    printf("open %.1f ms; GB/s of the file's samples: as they are %.2f, %d threads %.2f; as float "
           "%.2f, %d threads %.2f; cat of the file %.2f\n",
           1e3 * opened, rate(src, 1, false), n_threads, rate(src, n_threads, false),
           rate(src, 1, true), n_threads, rate(src, n_threads, true), rate_of_cat(src->file));
    fbp_source_close(&src);
    return 0;
}

/* Chunks of three views, so that threads want the same ones at the same time. */
static void threads_agree(void **state)
{
    const hid_t file = new_file(H5), how = chunks(3, 2, NX);
    fbp_pool *pool;
    float *all = calloc(N, sizeof *all);

    (void)state;
    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    put_volume(file, "a", H5T_STD_I32BE, how);
    H5Fclose(file);
    assert_int_equal(fbp_pool_create(&pool, 4), FBP_OK);
    for (int turn = 0; turn < 20; turn++) {
        fbp_source *src = open_source(H5, NULL);
        struct job j = {
            .src = src, .as_float = true, .out = (char *)all, .view_bytes = NX * NY * 4};
        fbp_pool_for(pool, NZ, read_view, &j);
        assert_int_equal(j.failed, 0);
        assert_int_equal(fbp_source_read(src, 0, NZ, 0, NY, all), FBP_OK);
        for (size_t i = 0; i < N; i++)
            assert_true((double)all[i] == value(i));
        fbp_source_close(&src);
    }
    fbp_pool_destroy(&pool);
    free(all);
    remove(H5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_agree)};

    if (argc > 2 && strcmp(argv[1], "--bench") == 0)
        return bench(argv[2], argc > 3 ? atoi(argv[3]) : fbp_core_count());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
