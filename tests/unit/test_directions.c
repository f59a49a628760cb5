/* Checks that fbp_directions_make() returns each set of directions with the right number, order
 * and pole. */
#include "geometry/directions.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

typedef double vector[3];

static struct fbp_directions set_of(enum fbp_direction_set set, size_t n)
{
    return (struct fbp_directions){
        .struct_size = sizeof(struct fbp_directions), .set = set, .n = {n}};
}

static size_t count_of(const struct fbp_directions *set)
{
    size_t count = 0;

    OK(fbp_directions_make(set, NULL, &count));
    return count;
}

static vector *make(const struct fbp_directions *set, size_t *count)
{
    *count = count_of(set);
    vector *out = calloc(*count, sizeof *out);
    OK(fbp_directions_make(set, out, NULL));
    for (size_t i = 0; i < *count; i++)
        assert_true(fabs(out[i][0] * out[i][0] + out[i][1] * out[i][1] + out[i][2] * out[i][2] -
                         1) < 1e-14);
    return out;
}

/* The counts of the sets that laboratories use (Ahn and Halpern's rings). */
TEST(rings_have_the_known_counts)
{
    static const size_t known[][2] = {{10, 66},  {14, 126},  {18, 208},  {24, 372}, {30, 576},
                                      {36, 828}, {40, 1020}, {72, 3304}, {39, 963}, {1, 1}};
    static const size_t rings[18] = {18, 17, 16, 15, 13, 10, 8,  5,  2,
                                     2,  5,  8,  10, 13, 15, 16, 17, 18};
    size_t count, at = 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, known[i][0]);
        assert_int_equal(count_of(&set), known[i][1]);
    }
    const struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, 18);
    AUTO_FREE vector *n = make(&set, &count);
    for (size_t i = 0; i < 18; at += rings[i++]) /* directions of a ring share their height */
        for (size_t j = 0; j < rings[i]; j++)
            assert_true(fabs(n[at + j][2] - cos((9.5 - (double)(i + 1)) * PI / 18)) < 1e-15);
    assert_int_equal(at, count);
}

TEST(linear_angles_are_a_grid)
{
    struct fbp_directions set = set_of(FBP_SET_LINEAR_ANGLE, 18);
    size_t count;

    assert_int_equal(count_of(&set), 324);
    set.n[0] = 3;
    set.n[1] = 4;
    AUTO_FREE vector *n = make(&set, &count);
    assert_int_equal(count, 12);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) { /* phi runs fastest */
            const double theta = PI / 3 - PI / 3 * (double)i;
            const double phi = PI / 2 - PI / 8 - PI / 4 * (double)j;
            assert_true(fabs(n[4 * i + j][0] - sin(theta) * cos(phi)) < 1e-15);
            assert_true(fabs(n[4 * i + j][1] - sin(theta) * sin(phi)) < 1e-15);
        }
}

/* FLIP: every second ring backwards, the others as they are. */
TEST(flipped_rings_run_back)
{
    struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, 18);
    size_t count;

    AUTO_FREE vector *plain = make(&set, &count);
    set.order = FBP_ORDER_FLIP;
    AUTO_FREE vector *flip = make(&set, &count);
    assert_memory_equal(plain, flip, 18 * sizeof *plain);
    for (size_t j = 0; j < 17; j++)
        assert_memory_equal(plain[18 + j], flip[34 - j], sizeof *plain);
    assert_memory_equal(plain + 35, flip + 35, 16 * sizeof *plain);
    assert_memory_equal(plain[190], flip[207], sizeof *plain); /* ring 18 of 18 is flipped, too */
}

static double field_of(vector *chosen, size_t n, const double *at)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        const double *a = chosen[k];
        sum += 1 / hypot(hypot(a[0] - at[0], a[1] - at[1]), a[2] - at[2]) +
               1 / hypot(hypot(a[0] + at[0], a[1] + at[1]), a[2] + at[2]);
    }
    return sum;
}

static size_t index_of(vector *n, size_t count, const double *x)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(n[i], x, sizeof *n) == 0)
            return i;
    return count;
}

/* MSPS: all of FLIP's directions, once each, from its first on; each the one of the least
 * potential, of equal ones the first of FLIP. */
TEST(the_spaced_order_is_greedy)
{
    struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, 18);
    bool used[208] = {false};
    size_t count;

    set.order = FBP_ORDER_FLIP;
    AUTO_FREE vector *flip = make(&set, &count);
    set.order = FBP_ORDER_MSPS;
    AUTO_FREE vector *msps = make(&set, &count);
    assert_memory_equal(flip, msps, sizeof *flip);
    for (size_t k = 0; k < count; k++) {
        const size_t i = index_of(flip, count, msps[k]);
        assert_true(i < count && !used[i]);
        const double taken = field_of(msps, k, msps[k]);
        for (size_t other = 0; k > 0 && other < count; other++)
            if (!used[other]) {
                const double field = field_of(msps, k, flip[other]);
                assert_true(taken <= field * (1 + 1e-11));
                assert_true(other >= i || field > taken * (1 + 1e-13));
            }
        used[i] = true;
    }
}

/* 828 and 3304 directions: a permutation, and the second is far from the first. */
TEST(large_orders_are_complete)
{
    static const size_t rings[] = {36, 72};

    for (size_t r = 0; r < 2; r++) {
        struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, rings[r]);
        size_t count;
        AUTO_FREE vector *plain = make(&set, &count);
        set.order = FBP_ORDER_MSPS;
        AUTO_FREE vector *msps = make(&set, &count);
        AUTO_FREE bool *used = calloc(count, sizeof *used);
        for (size_t k = 0; k < count; k++) {
            const size_t i = index_of(plain, count, msps[k]);
            assert_true(i < count && !used[i]);
            used[i] = true;
        }
        const double *a = msps[0], *b = msps[1];
        assert_true(fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) < 0.05);
    }
}

TEST(poles_change_places)
{
    struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, 10);
    size_t count;

    AUTO_FREE vector *z = make(&set, &count);
    set.pole = FBP_POLE_X;
    AUTO_FREE vector *x = make(&set, &count);
    set.pole = FBP_POLE_Y;
    AUTO_FREE vector *y = make(&set, &count);
    for (size_t i = 0; i < count; i++) {
        assert_true(x[i][0] == z[i][2] && x[i][1] == z[i][1] && x[i][2] == z[i][0]);
        assert_true(y[i][0] == z[i][0] && y[i][1] == z[i][2] && y[i][2] == z[i][1]);
    }
}

TEST(a_spiral_has_any_number)
{
    const struct fbp_directions set = set_of(FBP_SET_FIBONACCI, 209);
    size_t count;

    AUTO_FREE vector *n = make(&set, &count);
    assert_int_equal(count, 209);
    for (size_t i = 0; i < count; i++) {
        const double phi = 2 * PI * (double)i / ((1 + sqrt(5)) / 2), z = ((double)i + .5) / 209;
        assert_true(fabs(n[i][2] - z) < 1e-15);
        assert_true(fabs(n[i][0] - sqrt(1 - z * z) * cos(phi)) < 1e-12);
        assert_true(fabs(n[i][1] - sqrt(1 - z * z) * sin(phi)) < 1e-12);
    }
}

TEST(what_is_no_set_is_refused)
{
    struct fbp_directions set = set_of(FBP_SET_SOLID_ANGLE, 0);
    size_t count;

    assert_fails(fbp_directions_make(&set, NULL, &count), FBP_ERR_INVALID,
                 "directions.n[0]: found 0");
    set = set_of(FBP_SET_SOLID_ANGLE, 18);
    set.n[1] = 18;
    assert_fails(fbp_directions_make(&set, NULL, &count), FBP_ERR_INVALID, "only linear-angle");
    set = set_of(FBP_SET_FIBONACCI, 208);
    set.order = FBP_ORDER_FLIP;
    assert_fails(fbp_directions_make(&set, NULL, &count), FBP_ERR_INVALID, "a spiral has no rings");
    set = set_of(FBP_SET_LINEAR_ANGLE, 100000);
    assert_int_equal(fbp_directions_make(&set, NULL, &count), FBP_ERR_INVALID);
    set = set_of(FBP_SET_FIBONACCI, 1000000);
    set.order = FBP_ORDER_MSPS;
    assert_fails(fbp_directions_make(&set, NULL, &count), FBP_ERR_INVALID, "would take too long");
    assert_null(fbp_direction_set_name(3));
    assert_null(fbp_direction_order_name(3));
    assert_string_equal(fbp_pole_name(FBP_POLE_Y), "y");
}

TEST_MAIN(NULL, NULL)
