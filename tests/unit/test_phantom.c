/* Checks ellipsoids of phantoms: line integrals, point values, voxel means, the built-in tables,
 * and phantom files. */
#include "base/math.h"

#include "test.h"
#include "unit/one_array.h"

#define NEAR(a, b, tol) assert_true(fabs((a) - (b)) < (tol))

static double ellipsoid_volume(const struct fbp_ellipsoid *e)
{
    return 4. / 3 * FBP_PI * e->axes_mm[0] * e->axes_mm[1] * e->axes_mm[2];
}

TEST(ball_chord)
{
    struct fbp_ellipsoid ball = {{30, -4, 7}, {40, 40, 40}, 33, .02};
    const struct fbp_phantom p = {.n = 1, .items = &ball};
    unsigned seed = 1;

    for (int i = 0; i < 1000; i++) {
        double dir[3], side[3], at[3];
        for (int k = 0; k < 3; k++) {
            dir[k] = random01(&seed) - .5;
            side[k] = random01(&seed) - .5;
        }
        fbp_normalise(dir);
        fbp_cross(dir, side, side);
        fbp_normalise(side);
        const double b = 50 * random01(&seed);
        fbp_axpy(ball.centre_mm, b, side, at);
        fbp_axpy(at, 1000 * (random01(&seed) - .5), dir, at);
        NEAR(fbp_phantom_line(&p, at, dir), b < 40 ? .04 * sqrt(1600 - b * b) : 0, 1e-9);
    }
}

/* The density along a line, located to 1e-9 by bisection of every sign change of a fine walk. */
static double walk(const struct fbp_phantom *p, const double at[3], const double dir[3])
{
    const double step = .05, half = 60;
    double sum = 0, x[3];

    for (double t = -half; t < half; t += step) {
        double lo = t, hi = t + step;
        fbp_axpy(at, lo, dir, x);
        const double f0 = fbp_phantom_at(p, x);
        fbp_axpy(at, hi, dir, x);
        const double f1 = fbp_phantom_at(p, x);
        for (int i = 0; f0 != f1 && i < 40; i++) {
            const double mid = (lo + hi) / 2;
            fbp_axpy(at, mid, dir, x);
            if (fbp_phantom_at(p, x) == f0)
                lo = mid;
            else
                hi = mid;
        }
        sum += f0 == f1 ? f0 * step : f0 * (lo - t) + f1 * (t + step - lo);
    }
    return sum;
}

TEST(turned_ellipsoid_by_quadrature)
{
    struct fbp_ellipsoid e = {{5, -8, 3}, {20, 7, 11}, 35, .5};
    const struct fbp_phantom p = {.n = 1, .items = &e};
    unsigned seed = 7;
    int hits = 0;

    for (int i = 0; i < 100; i++) {
        double dir[3], at[3];
        for (int k = 0; k < 3; k++) {
            dir[k] = random01(&seed) - .5;
            at[k] = e.centre_mm[k] + 12 * (random01(&seed) - .5);
        }
        fbp_normalise(dir);
        const double line = fbp_phantom_line(&p, at, dir);
        hits += line > 0;
        NEAR(line, walk(&p, at, dir), 1e-6);
    }
    assert_true(hits > 80);
}

/* The long axis of an ellipsoid turned by +30 degrees lies along (cos 30, sin 30). */
TEST(turn_is_right_handed)
{
    struct fbp_ellipsoid e = {{0, 0, 0}, {10, 1, 1}, 30, 1};
    const struct fbp_phantom p = {.n = 1, .items = &e};
    const double c = cos(FBP_PI / 6), s = sin(FBP_PI / 6);

    assert_true(fbp_phantom_at(&p, (double[]){9.9 * c, 9.9 * s, 0}) == 1);
    assert_true(fbp_phantom_at(&p, (double[]){9.9 * c, -9.9 * s, 0}) == 0);
}

static double brute_mean(const struct fbp_phantom *p, const struct fbp_grid *g, const size_t i[3],
                         int n)
{
    double sum = 0;
    for (int k = 0; k < n * n * n; k++) {
        const int sub[3] = {k % n, k / n % n, k / n / n};
        double x[3];
        for (int a = 0; a < 3; a++)
            x[a] = g->centre_mm[a] +
                   ((double)i[a] - ((double)g->n[a] - 1) / 2 + (sub[a] + .5) / n - .5) *
                       g->voxel_mm[a];
        sum += fbp_phantom_at(p, x);
    }
    return sum / (n * n * n);
}

TEST(voxels_by_brute_force)
{
    struct fbp_ellipsoid e[] = {
        {{2, -3, 1}, {12, 6, 5}, 25, 1},
        {{-4, 5, 2}, {3, 3, 3}, 0, -.25},
        {{9, 9, -7}, {40, 3, 4}, -60, .5},
    };
    const struct fbp_phantom p = {.n = 3, .items = e};
    const struct fbp_grid g = {{17, 19, 9}, {1.5, 1.25, 2.5}, {1, -1, .5}};
    AUTO_FREE float *v = not_null(malloc(17 * 19 * 9 * sizeof *v));

    OK(fbp_phantom_voxels(&p, &g, 0, 9, v));
    double squares = 0;
    for (size_t i = 0; i < 17 * 19 * 9; i++) {
        const double mean = brute_mean(&p, &g, (size_t[]){i % 17, i / 17 % 19, i / 17 / 19}, 24);
        NEAR((double)v[i], mean, .03);
        squares += ((double)v[i] - mean) * ((double)v[i] - mean);
    }
    NEAR(sqrt(squares / (17 * 19 * 9)), 0, 2e-3);
}

/* A part of a volume is the same bits as the whole. */
TEST(slabs_are_the_same_bits)
{
    const struct fbp_grid g = {{32, 32, 32}, {1, 1, 1}, {0, 0, 0}};
    const size_t n = 32 * 32;
    AUTO_FREE float *whole = malloc(32 * n * sizeof *whole), *part = malloc(3 * n * sizeof *part);

    assert_true(whole && part);
    CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom("shepp-logan", 16, 1);
    OK(fbp_phantom_voxels(&p, &g, 0, 32, whole));
    OK(fbp_phantom_voxels(&p, &g, 14, 17, part));
    assert_memory_equal(part, whole + 14 * n, 3 * n * sizeof *part);
    assert_true(whole[16 * n + 16 * 32 + 1] == 0); /* outside is exactly nothing */
}

TEST(total_mass)
{
    static const char *const names[] = {"shepp-logan", "shepp-logan-original", "defrise"};
    const struct fbp_grid g = {{64, 64, 64}, {2, 2, 2}, {0, 0, 0}};
    const size_t n = 64 * 64 * 64;
    AUTO_FREE float *v = not_null(malloc(n * sizeof *v));

    for (int k = 0; k < 3; k++) {
        double mass = 0, exact = 0;
        CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom(names[k], 64, .5);
        OK(fbp_phantom_voxels(&p, &g, 0, 64, v));
        for (size_t i = 0; i < n; i++)
            mass += 8 * (double)v[i];
        for (size_t i = 0; i < p.n; i++)
            exact += p.items[i].density * ellipsoid_volume(&p.items[i]);
        NEAR(mass / exact, 1, 1e-3);
    }
}

TEST(table_values)
{
    struct fbp_phantom p = create_phantom("shepp-logan", 128, 2);
    assert_int_equal(p.n, 10);
    NEAR(fbp_phantom_at(&p, (double[]){0, 0.9 * 128, 0}), 2, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){0, .35 * 128, 0}), .6, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){-.22 * 128, 0, 0}), 0, 1e-12);
    fbp_phantom_clear(&p);
    OK(fbp_phantom_create(&p, "shepp-logan-original", 1, 1));
    NEAR(fbp_phantom_at(&p, (double[]){0, .35, -.25}), 1.04, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){0, .1, .625}), 1, 1e-12);
    fbp_phantom_clear(&p);
    OK(fbp_phantom_create(&p, "defrise", 1, 1));
    assert_int_equal(p.n, 7);
    fbp_phantom_clear(&p);
}

/* Key "NAME=" of a line of the peers' phantom file. */
static double value_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

/* The same table as others keep it: their (x, z, y) is our (x, y, z), for a half side of 128. */
TEST(table_agrees_with_the_peers)
{
    FILE *f = fopen(FBP_SHARED_DATA "/rtk_phantoms/SheppLogan.txt", "r");
    char line[512];
    size_t i = 0;

    if (!f)
        skip();
    CLEANUP(fbp_phantom_clear)
    struct fbp_phantom p = create_phantom("shepp-logan-original", 128, 1);
    while (fgets(line, sizeof line, f)) {
        if (!strstr(line, "[Ellipsoid]"))
            continue;
        assert_true(i < p.n);
        const struct fbp_ellipsoid *e = &p.items[i++];
        NEAR(e->axes_mm[0], value_of(line, "A="), 1e-9);
        NEAR(e->axes_mm[2], value_of(line, "B="), 1e-9);
        NEAR(e->axes_mm[1], value_of(line, "C="), 1e-9);
        NEAR(e->centre_mm[0], value_of(line, "x="), 1e-9);
        NEAR(e->centre_mm[2], value_of(line, "y="), 1e-9);
        NEAR(e->centre_mm[1], value_of(line, "z="), 1e-9);
        NEAR(e->turn_deg, value_of(line, "beta="), 1e-9);
        NEAR(e->density, value_of(line, "gray="), 1e-9);
    }
    assert_int_equal(i, p.n);
    fclose(f);
}

static fbp_status load_text(struct fbp_phantom *p, const char *text)
{
    put_file(FBP_TEST_DIR "/phantom.txt", text, strlen(text));
    return fbp_phantom_create(p, FBP_TEST_DIR "/phantom.txt", 1, 10);
}

TEST(phantom_files)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"# nothing\n", "no ellipsoids"},
        {"0 0 0 1 1 1 0 1\n0 0 0 1 1 1 0\n", "phantom.txt:2: 7"},
        {"0 0 0 1 1 1 0 1 9 1 1 1\n", "phantom.txt:1: 12"},
        {"\n\n0 0 0 1 -1 1 0 1\n", "phantom.txt:3: half axes"},
        {"0 0 0 1 1 1 0 x\n", "phantom.txt:1: not a number"},
        {"0 0 0 1 nan 1 0 1\n", "phantom.txt:1: not a number"},
    };
    struct fbp_phantom p;

    OK(load_text(&p, "# a ball\n1 2 3 4 5 6 7 8 # eight\n\n 0 0 0 1 1 1 0 1e-1"));
    assert_int_equal(p.n, 2);
    NEAR(p.items[0].centre_mm[2], 3, 1e-12);
    NEAR(p.items[0].axes_mm[0], 4, 1e-12);
    NEAR(p.items[0].turn_deg, 7, 1e-12);
    NEAR(p.items[0].density, 80, 1e-12);
    NEAR(p.items[1].density, 1, 1e-12);
    fbp_phantom_clear(&p);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_fails(load_text(&p, bad[i].text), FBP_ERR_INVALID, bad[i].message);
        assert_null(p.items);
    }
    assert_fails(fbp_phantom_create(&p, "shep-logan", 1, 1), FBP_ERR_INVALID, "neither");
    assert_int_equal(fbp_phantom_create(&p, FBP_TEST_DIR, 1, 1), FBP_ERR_IO);
    assert_int_equal(fbp_phantom_create(&p, "defrise", -1, 1), FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
