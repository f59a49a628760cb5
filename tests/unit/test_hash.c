/* Checks that the hash of a volume does not depend on the order in which slices are written, nor
 * on the thread that writes them. */
#include "array/sink.h"
#include "base/cache.h"
#include "test.h"

#include <pthread.h>

/* Journals and hashes that people noted stay true: values of the first release. */
TEST(values_stay)
{
    static const struct {
        size_t n;
        uint64_t hash;
    } known[] = {{0, 0x85927d2a79c753a0u},   {1, 0x5b5d52dba39f9b6du},  {7, 0x9c4a5c5fd226a045u},
                 {8, 0xae5c9b2eff5d30d3u},   {31, 0x653b573dd5a51e58u}, {32, 0xbf151f888fe05340u},
                 {33, 0xfbf979433fc4b73bu},  {63, 0x62362e0440fa9e2eu}, {64, 0x7e037ef31ffc7386u},
                 {100, 0x211d7152999f1871u}, {299, 0x646293ad373ccb6bu}};
    unsigned char bytes[300];

    for (size_t shift = 0; shift < 2; shift++) { /* aligned or not */
        for (size_t i = 0; i + shift < sizeof bytes; i++)
            bytes[i + shift] = (unsigned char)(i * 37 + 11);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            assert_true(fbp_hash(known[i].n * 3, bytes + shift, known[i].n) == known[i].hash);
    }
}

/* Slices whose bytes are no multiple of what a step of the hash takes. */
enum { NX = 13, NY = 11, NZ = 24, SLICE = NX * NY, N_THREADS = 6 };

static float volume[NZ][SLICE];

static int fill(void **state)
{
    for (size_t i = 0; i < (size_t)NZ * SLICE; i++)
        volume[i / SLICE][i % SLICE] = (float)i * 0.37F - 5;
    return 0;
}

static fbp_sink *open_hash(void)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NX, NY, NZ}};

    return create_sink("hash:", &info, NULL);
}

static uint64_t close_hash(fbp_sink *s)
{
    OK(fbp_sink_finish(s));
    const uint64_t h = fbp_sink_hash(s);
    fbp_sink_close(&s);
    return h;
}

/* Written `n` slices at a time, the last ones first. */
static uint64_t hash_by(size_t n)
{
    fbp_sink *s = open_hash();

    for (size_t z = (NZ + n - 1) / n * n; z > 0; z -= n) {
        const size_t left = NZ - (z - n);
        OK(fbp_sink_write(s, z - n, left < n ? left : n, FBP_F32, volume[z - n]));
    }
    return close_hash(s);
}

TEST_WITH(any_split_is_the_same, fill, NULL)
{
    for (size_t n = 2; n <= NZ; n++)
        assert_true(hash_by(n) == hash_by(1));
}

struct writer {
    fbp_sink *sink;
    pthread_barrier_t *start;
    size_t first;
    fbp_status status;
};

static void *write_some(void *user)
{
    struct writer *w = user;

    pthread_barrier_wait(w->start);
    for (size_t z = w->first; z < NZ && w->status == FBP_OK; z += N_THREADS)
        w->status = fbp_sink_write(w->sink, z, 1, FBP_F32, volume[z]);
    return NULL;
}

TEST_WITH(threads_at_once, fill, NULL)
{
    const uint64_t right = hash_by(NZ);
    pthread_barrier_t start;

    assert_int_equal(pthread_barrier_init(&start, NULL, N_THREADS), 0);
    for (int round = 0; round < 50; round++) {
        struct writer w[N_THREADS];
        pthread_t t[N_THREADS];
        fbp_sink *s = open_hash();
        for (size_t i = 0; i < N_THREADS; i++) {
            w[i] = (struct writer){s, &start, i, FBP_OK};
            assert_int_equal(pthread_create(&t[i], NULL, write_some, &w[i]), 0);
        }
        for (size_t i = 0; i < N_THREADS; i++) {
            pthread_join(t[i], NULL);
            OK(w[i].status);
        }
        assert_true(close_hash(s) == right);
    }
    pthread_barrier_destroy(&start);
}

TEST_WITH(any_bit_changes_it, fill, NULL)
{
    const uint64_t right = hash_by(NZ);

    for (size_t bit = 0; bit < sizeof volume * 8; bit += 97) {
        unsigned char *byte = (unsigned char *)volume + bit / 8;
        *byte ^= (unsigned char)(1U << bit % 8);
        assert_true(hash_by(NZ) != right);
        *byte ^= (unsigned char)(1U << bit % 8);
    }
    assert_true(hash_by(NZ) == right);
}

TEST_WITH(order_of_slices_changes_it, fill, NULL)
{
    const uint64_t right = hash_by(NZ);

    for (size_t z = 1; z < NZ; z++) {
        float keep[SLICE];
        memcpy(keep, volume[0], sizeof keep);
        memcpy(volume[0], volume[z], sizeof keep);
        memcpy(volume[z], keep, sizeof keep);
        assert_true(hash_by(NZ) != right);
        (void)fill(NULL);
    }
}

TEST_MAIN(NULL, NULL)
