/* Checks RabbitCT's files (reading, writing, damage) and its error measure against values
 * calculated by hand. */
#include "unit/io_util.h"

#include "bench/rabbitct/rabbitct.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { NX = 20, NY = 6, K = 3, SIDE = 128, VIEW = 96 + 4 * NX * NY };

#define STEM FBP_TEST_DIR "/rabbitct"
#define V1   STEM ".rct"
#define V2   STEM ".rctd"

static const size_t n_reference = (size_t)SIDE * SIDE * SIDE;

static unsigned char *put(unsigned char *at, const void *data, size_t n)
{
    memcpy(at, data, n);
    return at + n;
}

static float sample(size_t k, size_t r, size_t c)
{
    return (float)k * 100 + (float)r * 10 + (float)c * 0.25f - 7;
}

/* A[3 c + r] of view k: column by column; P is its transpose's order. */
static double entry(size_t k, size_t r, size_t c)
{
    return r == 2 && c == 3 ? 1 + 0.01 * (double)k
                            : (double)(100 * k + 10 * r + c) + (r == c ? 1000 : 0);
}

static uint16_t grey(size_t i)
{
    return (uint16_t)(i * 7919 % 4096);
}

/* A whole data set as bytes, by the description of the format; malloc'ed. */
static unsigned char *make(int version, bool reference, size_t *n)
{
    const uint32_t head[4] = {2, NX, NY, K};
    const float hu[2] = {50000, 12.5f};
    unsigned char *out = malloc(24 + K * VIEW + 2 * n_reference), *at = out;

    assert_non_null(out);
    at = version == 2 ? put(at, head, 16) : put(at, head + 1, 12);
    at = put(at, hu, 8);
    for (size_t k = 0; k < K; k++) {
        for (size_t i = 0; i < 12; i++) {
            const double a = entry(k, i % 3, i / 3);
            at = put(at, &a, 8);
        }
        for (size_t i = 0; i < NX * NY; i++) {
            const float s = sample(k, i / NX, i % NX);
            at = put(at, &s, 4);
        }
    }
    for (size_t i = 0; reference && i < n_reference; i++) {
        const uint16_t g = grey(i);
        at = put(at, &g, 2);
    }
    *n = (size_t)(at - out);
    return out;
}

static void assert_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = not_null(fopen(path, "rb"));
    AUTO_FREE unsigned char *found = malloc(n + 1);

    assert_non_null(found);
    assert_int_equal(fread(found, 1, n + 1, f), n);
    assert_memory_equal(found, bytes, n);
    fclose(f);
}

static void check_reading(const char *path, int version)
{
    struct fbp_rabbitct_info info;
    AUTO_FREE uint16_t *reference = malloc(n_reference * sizeof *reference);
    float rows[2 * NX];
    double *P;
    size_t n;

    OK(fbp_rabbitct_probe(path, &info));
    assert_true(info.version == version && info.n_columns == NX && info.n_rows == NY);
    assert_true(info.n_views == K && info.n_references == 1 && !info.matrices_only);
    assert_true(info.hu[0] == 50000 && info.hu[1] == 12.5f);
    OK(fbp_rabbitct_matrices(path, &P, &n));
    assert_int_equal(n, K);
    for (size_t i = 0; i < 12 * n; i++)
        assert_true(P[i] == entry(i / 12, i % 12 / 4, i % 4));
    free(P);
    fbp_source *source = open_source(path, NULL);
    assert_int_equal(fbp_source_info(source)->n[2], K);
    OK(fbp_source_read(source, 1, 2, 3, 1, FBP_F32, rows));
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_true(rows[i] == sample(1 + i / NX, 3, i % NX));
    fbp_source_close(&source);
    OK(fbp_rabbitct_reference(path, SIDE, reference));
    for (size_t i = 0; i < n_reference; i++)
        assert_int_equal(reference[i], grey(i));
    assert_int_equal(fbp_rabbitct_reference(path, 256, reference), FBP_ERR_INVALID);
}

/* Both versions are read, and each becomes the other byte for byte. */
TEST(test_versions)
{
    size_t n1, n2;
    AUTO_FREE unsigned char *one = make(1, true, &n1), *two = make(2, true, &n2);

    put_file(V1, one, n1);
    put_file(V2, two, n2);
    check_reading(V1, 1);
    check_reading(V2, 2);
    OK(fbp_rabbitct_convert(V1, STEM "-b.rctd", 2));
    assert_file(STEM "-b.rctd", two, n2);
    OK(fbp_rabbitct_convert(V2, STEM "-b.rct", 1));
    assert_file(STEM "-b.rct", one, n1);
    OK(fbp_rabbitct_convert(V2, V2, 1)); /* whole, over what was read */
    assert_file(V2, one, n1);
}

TEST(test_split)
{
    size_t n1, n_views;
    AUTO_FREE unsigned char *one = make(1, false, &n1);
    AUTO_FREE uint16_t *reference = not_null(malloc(n_reference * sizeof *reference));
    struct fbp_rabbitct_info info;
    fbp_source *source;
    double *P;

    OK(fbp_rabbitct_split(V2, STEM "-parts"));
    assert_file(STEM "-parts/RabbitInput.rct", one, n1);
    OK(fbp_rabbitct_reference(STEM "-parts/Reference128.vol", SIDE, reference));
    for (size_t i = 0; i < n_reference; i++)
        assert_int_equal(reference[i], grey(i));
    OK(fbp_rabbitct_probe(STEM "-parts/RabbitGeometry.rct", &info));
    assert_true(info.matrices_only && info.n_views == K && info.n_columns == NX);
    OK(fbp_rabbitct_matrices(STEM "-parts/RabbitGeometry.rct", &P, &n_views));
    assert_int_equal(n_views, K);
    assert_true(P[12 + 2 * 4 + 1] == entry(1, 2, 1));
    free(P);
    assert_fails(fbp_source_open(&source, STEM "-parts/RabbitGeometry.rct", NULL), FBP_ERR_INVALID,
                 "no images");
    remove(STEM "-parts/RabbitInput.rct");
    remove(STEM "-parts/RabbitGeometry.rct");
    remove(STEM "-parts/Reference128.vol");
    assert_int_equal(rmdir(STEM "-parts"), 0); /* there was nothing else */
}

/* Every length but the right ones, and every field of the header spoilt. */
TEST(test_damaged)
{
    static const struct {
        size_t at;
        uint32_t value;
    } spoilt[] = {{0, 3},          {4, 0},      {4, 0x10000},     {8, 0},
                  {8, 0xffffffff}, {12, 0},     {12, 0x7fffffff}, {4, NX + 1},
                  {12, K + 1},     {12, K - 1}, {16, 0x7f800000}, {20, 0x7fc00000}};
    struct fbp_rabbitct_info info;
    const double nan_entry = NAN;
    struct fbp_scan scan = {.struct_size = sizeof scan};
    double *P;
    size_t n, n_views;
    AUTO_FREE unsigned char *whole = make(2, true, &n), *bytes = not_null(malloc(n + 1));

    const size_t lengths[] = {
        0, 1, 23, 24, 119, 24 + VIEW, 24 + K * VIEW - 1, 24 + K * VIEW + 1, n - 1, n + 1};
    memcpy(bytes, whole, n);
    for (size_t i = 0; i < N_OF(lengths); i++) {
        put_file(V2, bytes, lengths[i]);
        if (fbp_rabbitct_probe(V2, &info) != FBP_ERR_INVALID)
            fail_msg("%zu bytes were taken for a data set", lengths[i]);
        assert_says(V2);
        assert_int_not_equal(fbp_scan_load(&scan, V2, NULL), FBP_OK);
    }
    for (size_t i = 0; i < N_OF(spoilt); i++) {
        memcpy(bytes, whole, n);
        memcpy(bytes + spoilt[i].at, &spoilt[i].value, 4);
        put_file(V2, bytes, n);
        if (fbp_rabbitct_probe(V2, &info) == FBP_OK)
            fail_msg("field at %zu = %u was accepted", spoilt[i].at, (unsigned)spoilt[i].value);
        assert_says(V2);
    }
    memcpy(bytes, whole, n);
    memcpy(bytes + 24 + VIEW + 40, &nan_entry, 8);
    put_file(V2, bytes, n);
    assert_fails(fbp_rabbitct_matrices(V2, &P, &n_views), FBP_ERR_INVALID, "view 1");
    memset(bytes + 24 + VIEW, 0, 96);
    put_file(V2, bytes, n);
    assert_fails(fbp_scan_load(&scan, V2, NULL), FBP_ERR_INVALID, "view 1");
    put_file(STEM ".vol", bytes, 100);
    assert_fails(fbp_rabbitct_reference(STEM ".vol", SIDE, (uint16_t *)(void *)bytes),
                 FBP_ERR_INVALID, "100 bytes");
}

/* f, reference, and what follows: grey value floor(2 f + 1.5) of f > 0, 0 otherwise. */
TEST(test_error)
{
    static const float hu[2] = {2, 1}, f[8] = {-5, 0, 0.25f, 0.2f, 10, 3000, 5.25f, 1e-30f};
    static const float g[8] = {0, 0, 2, 1, 21, 4095, 12, 1};
    static const uint16_t reference[8] = {0, 3, 2, 1, 11, 4095, 2, 0};
    static const uint32_t bins[FBP_RABBITCT_BINS] = {4, 1, 0, 1, 0, 0, 0, 0, 0, 0, 2};
    const float nan_voxel = NAN;
    struct fbp_rabbitct_error e;

    for (int i = 0; i < 8; i++)
        assert_true(fbp_rabbitct_hu(hu, f[i]) == g[i]);
    fbp_rabbitct_compare(f, reference, 8, hu, &e);
    /* differences 0, -3, 0, 0, 10, 0, 10, 1: squares 210 */
    assert_true(fabs(e.mse - 210.0 / 8) < 1e-12 && fabs(e.rmse - sqrt(26.25)) < 1e-12);
    assert_true(e.max == 10);
    assert_true(fabs(e.psnr_db - 10 * log10(4095.0 * 4095 / 26.25)) < 1e-9);
    assert_memory_equal(e.histogram, bins, sizeof bins);
    fbp_rabbitct_compare(g, reference, 8, NULL, &e);
    assert_true(fabs(e.mse - 26.25) < 1e-12);
    fbp_rabbitct_compare(g, reference, 1, NULL, &e);
    assert_true(e.mse == 0 && isinf(e.psnr_db) && e.histogram[0] == 1);
    fbp_rabbitct_compare(&nan_voxel, reference, 1, NULL, &e);
    assert_true(isnan(e.rmse) && isnan(e.psnr_db) && e.histogram[FBP_RABBITCT_BINS - 1] == 1);
}

static void check_result(int version, int32_t magic, int32_t end)
{
    enum { L = 4, N = 5 };
    uint64_t us[N] = {1, 22, 333, 4444, (uint64_t)1 << 40};
    float slice[L * L];
    struct fbp_rabbitct_result back;
    struct fbp_rabbitct_result r = {.version = version,
                                    .size = L,
                                    .n_views = N,
                                    .us = us,
                                    .slice = slice,
                                    .error = {.mse = 0.25, .max = 3}};
    const size_t head = version == 2 ? 16 : 12, tail = head + 8 * N + 4 * L * L;
    unsigned char bytes[256];
    int32_t found;

    for (int i = 0; i < L * L; i++)
        slice[i] = (float)i;
    for (uint32_t i = 0; i < FBP_RABBITCT_BINS; i++)
        r.error.histogram[i] = 1000 + i;
    OK(fbp_rabbitct_result_write(V2, &r));
    FILE *f = not_null(fopen(V2, "rb"));
    assert_int_equal(fread(bytes, 1, sizeof bytes, f), tail + 16 + 44 + 4);
    fclose(f);
    memcpy(&found, bytes, 4);
    assert_int_equal(found, magic);
    memcpy(&found, bytes + head - 8, 4);
    assert_int_equal(found, L);
    memcpy(&found, bytes + tail + 60, 4);
    assert_int_equal(found, end);
    OK(fbp_rabbitct_result_read(V2, &back));
    assert_true(back.version == version && back.size == L && back.n_views == N);
    assert_memory_equal(back.us, us, sizeof us);
    assert_memory_equal(back.slice, slice, sizeof slice);
    assert_true(back.error.mse == 0.25 && back.error.rmse == 0.5 && back.error.max == 3);
    assert_memory_equal(back.error.histogram, r.error.histogram, sizeof r.error.histogram);
    fbp_rabbitct_result_clear(&back);
    for (size_t n = 0; n < tail + 64; n++) {
        put_file(V2, bytes, n);
        assert_int_equal(fbp_rabbitct_result_read(V2, &back), FBP_ERR_INVALID);
    }
    bytes[tail + 60] ^= 1;
    put_file(V2, bytes, tail + 64);
    assert_fails(fbp_rabbitct_result_read(V2, &back), FBP_ERR_INVALID, "damaged");
}

TEST(test_result)
{
    check_result(1, 591984, 489195);
    check_result(2, 531982, 289135);
}

TEST_MAIN(NULL, NULL)
