/* Checks that evenly spaced rings of directions are found, and the interpolation between the
 * angles of a ring. */
#include "recon/planes_util.h"

#include "filter/filter.h"
#include "geometry/directions.h"

static size_t set_of(enum fbp_direction_set set, size_t n, enum fbp_pole pole, double (**out)[3])
{
    const struct fbp_directions d = {.struct_size = sizeof d, .set = set, .pole = pole, .n = {n}};
    size_t count;

    OK(fbp_directions_make(&d, NULL, &count));
    *out = calloc(count, sizeof **out);
    OK(fbp_directions_make(&d, *out, NULL));
    return count;
}

/* Every direction is where its ring says, or its antipode. */
static void expect_members(const struct fbp_rings *rings, double (*direction)[3])
{
    for (size_t r = 0; r < rings->n; r++)
        for (size_t i = 0; i < rings->ring[r].n; i++) {
            const struct fbp_ring *ring = &rings->ring[r];
            const struct fbp_ring_member *m = &rings->member[ring->first + i];
            double n[3];
            fbp_ring_direction(rings, ring->theta, ring->phi + 2 * PI * (double)i / (double)ring->n,
                               n);
            assert_true(fabs(dot3(n, direction[m->view]) - (m->reversed ? -1 : 1)) < 1e-12);
        }
}

TEST(sets_are_rings)
{
    static const struct {
        enum fbp_direction_set set;
        enum fbp_pole pole;
        size_t n, rings, most;
    } wanted[] = {
        {FBP_SET_SOLID_ANGLE, FBP_POLE_Z, 18, 9, 36},
        {FBP_SET_SOLID_ANGLE, FBP_POLE_X, 36, 18, 72},
        {FBP_SET_SOLID_ANGLE, FBP_POLE_Y, 40, 20, 80},
        {FBP_SET_LINEAR_ANGLE, FBP_POLE_Z, 18, 9, 36},
        {FBP_SET_SOLID_ANGLE, FBP_POLE_Z, 39, 20, 78},
        {FBP_SET_LINEAR_ANGLE, FBP_POLE_X, 7, 4, 14},
    };

    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        struct fbp_rings rings;
        double(*direction)[3];
        const size_t n = set_of(wanted[k].set, wanted[k].n, wanted[k].pole, &direction);
        for (size_t i = 0; i < n; i++)
            for (int a = 0; i % 3 == 1 && a < 3; a++)
                direction[i][a] *= -1;
        OK(fbp_rings_of((const double(*)[3])direction, n, &rings));
        if (rings.n != wanted[k].rings || rings.most != wanted[k].most || rings.n_members != n)
            fail_msg("set %zu: %zu rings of up to %zu, %zu members of %zu", k, rings.n, rings.most,
                     rings.n_members, n);
        expect_members(&rings, direction);
        fbp_rings_clear(&rings);
        free(direction);
    }
}

/* Half a turn of the equator is the whole of it. */
TEST(the_equator_is_closed_by_antipodes)
{
    double direction[30][3];
    struct fbp_rings rings;

    for (size_t i = 0; i < 30; i++) {
        const double theta = i < 10 ? PI / 2 : 1,
                     phi = i < 10 ? PI * (double)i / 10 : .3 * (double)i;
        const double turn = i < 10 ? phi : 2 * PI * (double)i / 20;
        direction[i][0] = sin(theta) * cos(turn);
        direction[i][1] = sin(theta) * sin(turn);
        direction[i][2] = cos(theta);
    }
    OK(fbp_rings_of((const double(*)[3])direction, 30, &rings));
    assert_int_equal(rings.n, 2);
    assert_int_equal(rings.n_members, 40);
    assert_true(rings.ring[1].at_equator && rings.ring[1].n == 20);
    expect_members(&rings, direction);
    fbp_rings_clear(&rings);
}

TEST(others_are_none)
{
    struct fbp_rings rings;
    double(*direction)[3];
    size_t n = set_of(FBP_SET_FIBONACCI, 208, FBP_POLE_Z, &direction);

    assert_int_equal(fbp_rings_of((const double(*)[3])direction, n, &rings), FBP_ERR_UNSUPPORTED);
    free(direction);
    n = set_of(FBP_SET_SOLID_ANGLE, 18, FBP_POLE_Z, &direction);
    assert_int_equal(fbp_rings_of((const double(*)[3])direction, n - 1, &rings),
                     FBP_ERR_UNSUPPORTED); /* one is missing */
    free(direction);
}

/* The worst of the waves up to order `most` on a circle of n samples. */
static double worst(enum fbp_ring_interpolation how, size_t n, size_t most)
{
    double scratch[64], w[64], error = 0;

    fbp_cyclic_prepare(how, n, scratch);
    for (double x = -3.3; x < 2 * (double)n; x += .37) {
        double sum = 0;
        fbp_cyclic_weights(how, n, x, scratch, w);
        for (size_t i = 0; i < n; i++)
            sum += w[i];
        assert_true(fabs(sum - 1) < 1e-12);
        for (size_t f = 0; f <= most; f++) {
            double value = 0;
            for (size_t i = 0; i < n; i++)
                value += w[i] * cos(2 * PI * (double)(f * i) / (double)n + 1);
            error = fmax(error, fabs(value - cos(2 * PI * (double)f * x / (double)n + 1)));
        }
    }
    return error;
}

TEST(waves_are_interpolated)
{
    for (size_t n = 2; n <= 36; n++)
        assert_true(worst(FBP_RINGS_FFT, n, (n - 1) / 2) < 1e-11);
    assert_true(worst(FBP_RINGS_SPLINE, 36, 4) < 3e-3);
    assert_true(worst(FBP_RINGS_SPLINE, 36, 1) < 1e-5);
    assert_true(worst(FBP_RINGS_LINEAR, 36, 1) < 4e-3 && worst(FBP_RINGS_LINEAR, 36, 1) > 1e-3);
    for (size_t n = 1; n < 9; n++) /* samples stay what they are */
        for (int how = 0; how < 3; how++) {
            double scratch[9], w[9];
            fbp_cyclic_prepare((enum fbp_ring_interpolation)how, n, scratch);
            for (size_t k = 0; k < n; k++) {
                fbp_cyclic_weights((enum fbp_ring_interpolation)how, n, (double)(k + 3 * n),
                                   scratch, w);
                for (size_t i = 0; i < n; i++)
                    assert_true(fabs(w[i] - (i == k)) < 1e-12);
            }
        }
}

TEST_MAIN(NULL, NULL)
