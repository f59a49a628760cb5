/* Reading from several threads at once gives what one gives. */
#include "unit/hdf5_files.h"

#include "base/pool.h"
#include "io/format.h"

#define H5 FBP_TEST_DIR "/check_read.h5"

struct job {
    fbp_source *src;
    char *out; /* a view each, by worker */
    size_t view_bytes, failed;
};

static void read_view(void *user, size_t view, int worker)
{
    struct job *j = user;
    char *out = j->out + (size_t)worker * j->view_bytes;
    const size_t rows = fbp_source_info(j->src)->n[1];

    if (fbp_source_read(j->src, view, 1, 0, rows, (float *)(void *)out) != FBP_OK)
        __atomic_add_fetch(&j->failed, 1, __ATOMIC_RELAXED);
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
        struct job j = {.src = src, .out = (char *)all, .view_bytes = NX * NY * 4};
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
