/* Checks fbp_array_compare() against numbers calculated by hand. */
#include "unit/io_util.h"

#define A FBP_TEST_DIR "/io_compare_a"
#define B FBP_TEST_DIR "/io_compare_b"

static void put(const char *path, size_t nx, size_t ny, size_t nz, double mm, const float *v)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {nx, ny, nz}, .spacing_mm = {mm, 2 * mm, mm}};
    save_array(path, &info, NULL, v);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12 * (1 + fabs(b));
}

static struct fbp_comparison compared(const char *a, const char *b)
{
    struct fbp_comparison c = {.struct_size = sizeof c};

    OK(fbp_array_compare(a, b, 0, &c));
    return c;
}

TEST(known_answer)
{
    const float a[4] = {1, 2, 3, 5}, b[4] = {1, 0, 3, -4};
    put(A ".mha", 2, 1, 2, 1, a);
    put(B ".npy", 2, 1, 2, 1, b);
    const struct fbp_comparison c = compared(A ".mha", B ".npy");
    assert_int_equal(c.count, 4);
    assert_true(near(c.rmse, sqrt(85. / 4)));
    assert_true(near(c.nrmse, sqrt(85. / 26)));
    assert_true(near(c.max, 9));
    assert_true(near(c.psnr_db, 20 * log10(4 / sqrt(85. / 4))));
    assert_true(near(c.mean_a, 11. / 4) && near(c.mean_b, 0));
}

TEST(equal)
{
    const float a[4] = {1, 2, 3, 5}, zero[4] = {0};
    for (int i = 0; i < 2; i++) {
        put(A ".mha", 2, 2, 1, 1, i ? zero : a);
        const struct fbp_comparison c = compared(A ".mha", A ".mha");
        assert_true(c.rmse == 0 && c.nrmse == 0 && c.max == 0 && c.psnr_db == 999);
    }
}

TEST(nan_is_seen)
{
    const float good[4] = {1, 2, 3, 4};
    put(B ".mha", 2, 2, 1, 1, good);
    for (size_t i = 0; i < 4; i++) {
        float bad[4] = {5, 6, 7, 8};
        bad[i] = NAN;
        put(A ".mha", 2, 2, 1, 1, bad);
        for (int turned = 0; turned < 2; turned++) {
            const struct fbp_comparison c =
                compared(turned ? B ".mha" : A ".mha", turned ? A ".mha" : B ".mha");
            assert_true(isnan(c.rmse) && isnan(c.nrmse) && isnan(c.max) && isnan(c.psnr_db));
        }
        const struct fbp_comparison c = compared(A ".mha", A ".mha");
        assert_true(c.count == 3 && c.rmse == 0 && c.psnr_db == 999); /* masked in both */
    }
}

/* What is no finite number is equal where it is the same in both. */
TEST(infinities_are_equal)
{
    const float a[4] = {1, INFINITY, -INFINITY, NAN}, b[4] = {1, INFINITY, INFINITY, NAN};
    const float none[4] = {NAN, INFINITY, -INFINITY, NAN};
    put(A ".mha", 2, 2, 1, 1, a);
    put(B ".mha", 2, 2, 1, 1, b);
    struct fbp_comparison c = compared(A ".mha", A ".mha");
    assert_true(c.count == 1 && c.not_finite == 3 && c.rmse == 0 && c.psnr_db == 999);
    assert_true(c.mean_a == 1 && c.mean_b == 1);
    c = compared(A ".mha", B ".mha");
    assert_true(c.count == 2 && c.not_finite == 2 && isinf(c.rmse) && isinf(c.max));
    put(A ".mha", 2, 2, 1, 1, none);
    c = compared(A ".mha", A ".mha");
    assert_true(c.count == 0 && c.not_finite == 4 && c.rmse == 0 && c.psnr_db == 999);
    assert_true(isnan(c.mean_a) && isnan(c.mean_b));
}

/* 5 x 3 elements of 1 x 2 mm: those at most 2 mm from the axis are the middle row and the middle
 * of both others; the rest differs wildly. */
TEST(inside_a_radius)
{
    float a[15], b[15];
    struct fbp_comparison c = {.struct_size = sizeof c};
    for (int i = 0; i < 15; i++) {
        const bool in = i / 5 == 1 || i % 5 == 2;
        a[i] = in ? 3 : 1e6f;
        b[i] = in ? 1 : NAN;
    }
    put(A ".mha", 5, 3, 1, 1, a);
    put(B ".npy", 5, 3, 1, 1, b); /* spacing is known from the other one */
    OK(fbp_array_compare(A ".mha", B ".npy", 2, &c));
    assert_int_equal(c.count, 7);
    assert_true(near(c.rmse, 2) && near(c.mean_a, 3) && near(c.mean_b, 1));
    OK(fbp_array_compare(B ".npy", A ".mha", 1.99, &c));
    assert_int_equal(c.count, 3);
    OK(fbp_array_compare(A ".mha", A ".mha", 1e9, &c));
    assert_int_equal(c.count, 15);
    assert_fails(fbp_array_compare(B ".npy", B ".npy", 2, &c), FBP_ERR_INVALID,
                 "neither file contains");

    const float four[4] = {0};
    put(A ".mha", 2, 2, 1, 1, four); /* nothing is nearer than sqrt(0.25 + 1) */
    assert_fails(fbp_array_compare(A ".mha", A ".mha", 0.1, &c), FBP_ERR_INVALID, "no voxel lies");
}

TEST(sizes_differ)
{
    const float v[4] = {0};
    struct fbp_comparison c = {.struct_size = sizeof c};
    put(A ".mha", 2, 2, 1, 1, v);
    put(B ".mha", 2, 1, 2, 1, v);
    assert_fails(fbp_array_compare(A ".mha", B ".mha", 0, &c), FBP_ERR_INVALID,
                 A ".mha and " B ".mha");
    assert_says("2x2x1 and 2x1x2");
    assert_fails(fbp_array_compare(A ".mha", B "_missing.mha", 0, &c), FBP_ERR_IO,
                 B "_missing.mha");
}

TEST_MAIN(NULL, NULL)
