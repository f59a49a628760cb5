/* Checks that float64 values are read without rounding from every type, stored in every format of
 * floats, and rounded only if the output is float32 or integer. */
#include "unit/some_volume.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/sink.h"

#define STEM  FBP_TEST_DIR "/io_double"
#define STACK STEM "_stack"

static double values[N];

/* No float has any of them. */
static int fill_doubles(void **state)
{
    for (size_t i = 0; i < N; i++)
        values[i] = sin((double)i) * 1e-2;
    return fill(state);
}

static fbp_sink *sink(const char *path, enum fbp_type type, uint64_t print, bool resume)
{
    const struct fbp_array_info info = some_info();
    const struct fbp_sink_params p = {
        .struct_size = sizeof p, .resume = resume, .fingerprint = print, .type = type};

    return create_sink(path, &info, &p);
}

static void put_doubles(fbp_sink *s, size_t z0, size_t nz)
{
    OK(fbp_sink_write(s, z0, nz, FBP_F64, values + z0 * SLICE));
}

static void assert_holds(const char *path, enum fbp_type type, const double *wanted)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    double out[N];

    assert_int_equal(fbp_source_info(src)->type, type);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F64, out));
    for (size_t i = 0; i < N; i++)
        if (memcmp(&out[i], &wanted[i], sizeof out[i]) != 0)
            fail_msg("%s: %zu: %.17g instead of %.17g", path, i, out[i], wanted[i]);
    OK(fbp_source_read(src, 2, 3, 1, 2, FBP_F64, out));
    for (size_t z = 0; z < 3; z++)
        assert_memory_equal(out + z * 2 * NX, wanted + (z + 2) * SLICE + NX, 2 * NX * sizeof *out);
}

TEST(every_format_stores_doubles)
{
    static const struct {
        const char *path, *read;
    } cases[] = {{STEM ".mha", STEM ".mha"},       {STEM ".mhd", STEM ".mhd"},
                 {STEM ".npy", STEM ".npy"},       {STEM ".nrrd", STEM ".nrrd"},
                 {STEM ".nhdr", STEM ".nhdr"},     {STEM ".tif", STEM ".tif"},
                 {STEM ".h5", STEM ".h5"},         {STEM ".nii", STEM ".nii"},
                 {STEM ".nii.gz", STEM ".nii.gz"}, {STEM ".mat", STEM ".mat"},
                 {STACK "/s_%03d.tif", STACK}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t print = 0; print < 2; print++) {
            fbp_sink *s = sink(cases[i].path, FBP_F64, print, false);
            put_doubles(s, 4, 2);
            put_doubles(s, 0, 4);
            finish(&s);
            assert_holds(cases[i].read, FBP_F64, values);
        }
    const struct fbp_raw raw = {.type = FBP_F64, .n = {NX, NY, NZ}};
    fbp_sink *s = sink(STEM ".raw", FBP_F64, 0, false);
    fbp_source *src;
    double out[N];
    put_doubles(s, 0, NZ);
    finish(&s);
    src = open_source(STEM ".raw", &raw);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F64, out));
    assert_memory_equal(out, values, sizeof out);
    fbp_source_close(&src);
}

TEST(sinks_take_both)
{
    double rounded[N], widened[N];
    fbp_sink *s = sink(STEM ".npy", FBP_F32, 0, false);

    for (size_t i = 0; i < N; i++) {
        rounded[i] = (double)(float)values[i];
        widened[i] = (double)volume[i];
    }
    put_doubles(s, 0, NZ);
    finish(&s);
    assert_holds(STEM ".npy", FBP_F32, rounded);
    s = sink(STEM ".npy", FBP_F64, 0, false);
    OK(fbp_sink_write(s, 0, NZ, FBP_F32, volume));
    finish(&s);
    assert_holds(STEM ".npy", FBP_F64, widened);
}

TEST(a_stopped_run_goes_on)
{
    fbp_sink *s = sink(STEM "_half.mha", FBP_F64, 7, false);

    put_doubles(s, 0, 3);
    fbp_sink_close(&s);
    s = sink(STEM "_half.mha", FBP_F64, 7, true);
    assert_true(fbp_sink_has(s, 0, 3));
    assert_false(fbp_sink_has(s, 3, 1));
    put_doubles(s, 3, 3);
    finish(&s);
    assert_holds(STEM "_half.mha", FBP_F64, values);
}

static uint64_t hash_of(const double *x)
{
    fbp_sink *s = sink("hash:", FBP_F64, 0, false);

    for (size_t z = 0; z < NZ; z++)
        OK(fbp_sink_write(s, z, 1, FBP_F64, x + z * SLICE));
    OK(fbp_sink_finish(s));
    const uint64_t h = fbp_sink_hash(s);
    fbp_sink_close(&s);
    return h;
}

TEST(a_hash_sees_the_last_bit)
{
    double other[N];

    memcpy(other, values, sizeof other);
    assert_true(hash_of(values) == hash_of(other));
    other[N - 1] = nextafter(other[N - 1], 1);
    assert_true(hash_of(values) != hash_of(other));
}

TEST(memory_of_doubles)
{
    const size_t n[3] = {NX, NY, NZ};
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {NX, NY, NZ}, .type = FBP_F64};
    double out[N] = {0}, again[N];
    fbp_sink *s = NULL;

    OK(fbp_sink_memory(&s, out, FBP_F64, n));
    put_doubles(s, 0, NZ);
    finish(&s);
    assert_memory_equal(out, values, sizeof out);
    CLEANUP(fbp_source_close) fbp_source *src = memory_source(out, &info);
    OK(fbp_source_read(src, 0, NZ, 0, NY, FBP_F64, again));
    assert_memory_equal(again, values, sizeof again);
}

static int take(void *user, size_t z0, size_t nz, const double *slices, char *why, size_t n_why)
{
    (void)why, (void)n_why;
    memcpy((double *)user + z0 * SLICE, slices, nz * SLICE * sizeof *slices);
    return 0;
}

static int take_floats(void *user, size_t z0, size_t nz, const float *slices, char *why,
                       size_t n_why)
{
    (void)user, (void)z0, (void)nz, (void)slices, (void)why, (void)n_why;
    return 0;
}

TEST(a_function_takes_doubles)
{
    const size_t n[3] = {NX, NY, NZ};
    double out[N] = {0};
    struct fbp_sink_functions f = {
        .struct_size = sizeof f, .write_double = take, .user = out, .at_once = 4};
    fbp_sink *s = NULL;

    OK(fbp_sink_callback(&s, &f, n));
    put_doubles(s, 0, NZ);
    finish(&s);
    assert_memory_equal(out, values, sizeof out);
    f.write = take_floats;
    assert_fails(fbp_sink_callback(&s, &f, n), FBP_ERR_INVALID,
                 "write: found two, expected one function");
}

/* The samples lie where the doubles will be. */
TEST(numbers_become_doubles_in_place)
{
    const int32_t numbers[5] = {INT32_MIN, -1, 0, 16777217, INT32_MAX};
    double out[5];
    char *end = (char *)out + sizeof out - sizeof numbers;

    memcpy(end, numbers, sizeof numbers);
    fbp_to_double(FBP_I32, 0, 0, end, 5, out);
    for (size_t i = 0; i < 5; i++)
        assert_true(out[i] == (double)numbers[i]);
    memcpy(end, numbers, sizeof numbers);
    fbp_to_double(FBP_I32, 0.1, 3, end, 5, out);
    for (size_t i = 0; i < 5; i++)
        assert_true(out[i] == 0.1 * (double)numbers[i] + 3);
    for (size_t i = 0; i < 5; i++)
        out[i] = (double)i;
    fbp_to_double(FBP_F64, 2, 1, out, 5, out);
    for (size_t i = 0; i < 5; i++)
        assert_true(out[i] == 2 * (double)i + 1);
}

TEST(volumes_are_compared_in_double)
{
    struct fbp_comparison c = {.struct_size = sizeof c};
    fbp_sink *s = sink(STEM "_a.npy", FBP_F64, 0, false);

    put_doubles(s, 0, NZ);
    finish(&s);
    const double was = values[40];
    values[40] += 1e-14;
    s = sink(STEM "_b.npy", FBP_F64, 0, false);
    put_doubles(s, 0, NZ);
    finish(&s);
    const double by = values[40] - was;
    values[40] = was;
    OK(fbp_array_compare(STEM "_a.npy", STEM "_b.npy", 0, &c));
    assert_true(c.max == by && by > 0);
}

TEST_MAIN(fill_doubles, NULL)
