/* Checks that reading from several threads at once gives what one thread reads, and that values
 * stored past the caches equal those stored normally. */
#include "unit/hdf5_files.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "base/threads.h"

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

    if (fbp_source_read(j->src, view, 1, 0, rows, FBP_F32, (float *)(void *)out) != FBP_OK)
        __atomic_add_fetch(&j->failed, 1, __ATOMIC_RELAXED);
}

/* Chunks of three views, so that threads want the same ones at the same time. */
TEST(threads_agree)
{
    const hid_t file = new_file(H5), how = chunks(3, 2, NX);
    fbp_pool *pool;
    AUTO_FREE float *all = calloc(N, sizeof *all);

    H5Pset_shuffle(how);
    H5Pset_deflate(how, 1);
    put_volume(file, "a", H5T_STD_I32BE, how);
    H5Fclose(file);
    OK(fbp_pool_create(&pool, 4));
    for (int turn = 0; turn < 20; turn++) {
        CLEANUP(fbp_source_close) fbp_source *src = open_source(H5, NULL);
        struct job j = {.src = src, .out = (char *)all, .view_bytes = NX * NY * 4};
        fbp_pool_for(pool, NZ, read_view, &j);
        assert_int_equal(j.failed, 0);
        OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F32, all));
        for (size_t i = 0; i < N; i++)
            assert_true((double)all[i] == value(i));
    }
    fbp_pool_destroy(&pool);
    remove(H5);
}

/* Every type and alignment, fewer than a cache line and more than a block; nothing beyond. */
TEST(past_caches)
{
    enum { MOST = 2500, ROOM = MOST + 64 };
    static const size_t counts[] = {0, 1, 15, 16, 17, 40, 1024, 1039, MOST};
    _Alignas(64) static float is[ROOM], wanted[ROOM];
    static unsigned char in[MOST * 8 + 1];
    uint32_t x = 1;

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
    for (enum fbp_type type = FBP_U8; type <= FBP_F64; type++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t at = 0; at < 18; at++)
                for (int scaled = 0; scaled < 2; scaled++) {
                    const struct fbp_array_info info = {.struct_size = sizeof info,
                                                        .type = type,
                                                        .scale = scaled ? 0.37 : 0,
                                                        .offset = -3};
                    memset(is, 0x5a, sizeof is);
                    memset(wanted, 0x5a, sizeof wanted);
                    fbp_to_values(&info, in + at % 2, counts[c], false, wanted + at);
                    fbp_to_values(&info, in + at % 2, counts[c], true, is + at);
                    assert_memory_equal(is, wanted, sizeof is);
                }
}

/* A view of more than a megabyte of floats, big-endian, row by row and as a whole. */
TEST(large_view)
{
    enum { SIDE = 601 };
    static const char path[] = FBP_TEST_DIR "/check_read.raw";
    const struct fbp_raw raw = {.type = FBP_I16, .n = {SIDE, SIDE, 1}, .big_endian = true};
    static unsigned char samples[SIDE * SIDE * 2];
    AUTO_FREE float *out = calloc(SIDE * SIDE, sizeof *out);

    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (unsigned char)(i * 2654435761u >> 13);
    put_file(path, samples, sizeof samples);
    assert_true(fbp_past_caches(1 << 20) == fbp_past_caches(SIDE * SIDE));
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, &raw);
    OK(fbp_source_read(src, 0, 1, 0, SIDE, FBP_F32, out));
    for (size_t i = 0; i < SIDE * SIDE; i++)
        assert_true(out[i] == (float)(int16_t)(samples[2 * i] << 8 | samples[2 * i + 1]));
    remove(path);
}

TEST_MAIN(NULL, NULL)
