/* Checks that planes through one axis are found from the directions alone, for any order, sign
 * and axis. */
#include "recon/planes_util.h"

#include "geometry/directions.h"

static size_t grid_of(size_t n_theta, size_t n_phi, enum fbp_pole pole, double (**out)[3])
{
    const struct fbp_directions d = {
        .struct_size = sizeof d, .set = FBP_SET_LINEAR_ANGLE, .pole = pole, .n = {n_theta, n_phi}};
    size_t count;

    OK(fbp_directions_make(&d, NULL, &count));
    *out = calloc(count, sizeof **out);
    OK(fbp_directions_make(&d, *out, NULL));
    return count;
}

/* In another order, some of them on the other side. */
static void shuffle(double (*direction)[3], size_t n)
{
    unsigned seed = 7;

    for (size_t i = n; i-- > 1;) {
        double was[3];
        seed = seed * 1664525u + 1013904223u;
        const size_t j = (seed >> 8) % (i + 1);
        memcpy(was, direction[i], sizeof was);
        memcpy(direction[i], direction[j], sizeof was);
        for (int a = 0; a < 3; a++)
            direction[j][a] = i % 3 ? -was[a] : was[a];
    }
}

static void turn_all(const double R[9], double (*direction)[3], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double was[3] = {direction[k][0], direction[k][1], direction[k][2]};
        turned(R, was, direction[k]);
    }
}

static void expect(double (*direction)[3], size_t n, const double axis[3], size_t planes,
                   size_t most)
{
    struct fbp_meridian_planes m;

    OK(fbp_meridians_of((const double(*)[3])direction, n, &m));
    if (m.n != planes || m.most != most || fabs(fabs(dot3(m.axis, axis)) - 1) > 1e-9)
        fail_msg("%zu planes of up to %zu about (%g, %g, %g), expected %zu of %zu about (%g, %g, "
                 "%g)",
                 m.n, m.most, m.axis[0], m.axis[1], m.axis[2], planes, most, axis[0], axis[1],
                 axis[2]);
    fbp_meridians_clear(&m);
}

TEST(poles_are_found)
{
    static const double axes[3][3] = {
        [FBP_POLE_Z] = {0, 0, 1}, [FBP_POLE_X] = {1, 0, 0}, [FBP_POLE_Y] = {0, 1, 0}};

    for (int pole = 0; pole < 3; pole++) {
        double(*direction)[3];
        const size_t n = grid_of(18, 12, (enum fbp_pole)pole, &direction);
        shuffle(direction, n);
        expect(direction, n, axes[pole], 12, 18);
        free(direction);
    }
}

TEST(any_axis_is_found)
{
    for (int i = 0; i < 5; i++) {
        double(*direction)[3], R[9];
        const double z[3] = {0, 0, 1};
        double axis[3];
        const size_t n = grid_of(8 + 2 * (size_t)i, 18, FBP_POLE_Z, &direction);
        turn_of(.3 + i, .7 - .2 * i, -.2 * i, R);
        turned(R, z, axis);
        turn_all(R, direction, n);
        shuffle(direction, n);
        expect(direction, n, axis, 18, n / 18);
        free(direction);
    }
}

/* An odd number of rings has one at the pole, whose directions lie in every plane. */
TEST(the_pole_belongs_to_any_plane)
{
    const double z[3] = {0, 0, 1};
    struct fbp_meridian_planes m;
    double(*direction)[3];
    const size_t n = grid_of(9, 10, FBP_POLE_Z, &direction);

    OK(fbp_meridians_of((const double(*)[3])direction, n, &m));
    assert_int_equal(m.n, 10);
    assert_true(m.most >= 9 && m.axis[2] == z[2]);
    fbp_meridians_clear(&m);
    free(direction);
}

/* Numbers with four digits, as tables of gradients have them. */
TEST(few_digits_serve)
{
    const double z[3] = {0, 0, 1};
    double(*direction)[3];
    const size_t n = grid_of(18, 18, FBP_POLE_Z, &direction);

    for (size_t i = 0; i < 3 * n; i++)
        direction[i / 3][i % 3] = round(1e4 * direction[i / 3][i % 3]) / 1e4;
    expect(direction, n, z, 18, 18);
    free(direction);
}

TEST(planes_are_sorted)
{
    struct fbp_meridian_planes p;
    double(*direction)[3];
    const size_t n = grid_of(6, 7, FBP_POLE_Z, &direction);

    shuffle(direction, n);
    OK(fbp_meridians_of((const double(*)[3])direction, n, &p));
    for (size_t k = 0; k < p.n; k++)
        assert_true(fabs(p.angle[k] - (double)k * PI / 7) < 1e-12);
    for (size_t i = 0; i < n; i++) {
        const double a = p.angle[p.plane[i]];
        assert_true(fabs(direction[i][0] * sin(a) - direction[i][1] * cos(a)) < 1e-12);
    }
    fbp_meridians_clear(&p);
    free(direction);
}

TEST(other_sets_are_refused)
{
    static const enum fbp_direction_set sets[] = {FBP_SET_SOLID_ANGLE, FBP_SET_FIBONACCI};

    for (size_t i = 0; i < 2; i++) {
        struct fbp_meridian_planes m;
        double(*direction)[3];
        const size_t n = directions_of(sets[i], i ? 300 : 18, &direction);
        assert_fails(fbp_meridians_of((const double(*)[3])direction, n, &m), FBP_ERR_UNSUPPORTED,
                     "two stages need directions in planes");
        free(direction);
    }
}

TEST_MAIN(NULL, NULL)
