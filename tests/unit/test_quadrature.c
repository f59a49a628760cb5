/* Checks the weights of directions: their sums, the formulas of rings, cells of known solids, and
 * exactness for polynomials. */
#include "geometry/directions.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

typedef double vector[3];

static vector *make(enum fbp_direction_set set, size_t a, size_t b, enum fbp_pole pole,
                    size_t *count)
{
    const struct fbp_directions s = {
        .struct_size = sizeof s, .set = set, .pole = pole, .n = {a, b}};

    OK(fbp_directions_make(&s, NULL, count));
    vector *out = calloc(*count, sizeof *out);
    OK(fbp_directions_make(&s, out, NULL));
    return out;
}

static double *weights_of(vector *n, size_t count, enum fbp_quadrature q, const char *words)
{
    double *w = calloc(count, sizeof *w), sum = 0;
    char said[200];

    OK(fbp_quadrature_weights((const vector *)n, count, q, w, said, sizeof said));
    if (words && !strstr(said, words))
        fail_msg("\"%s\" has no \"%s\"", said, words);
    assert_contains(said, "sum 2 pi (");
    for (size_t i = 0; i < count; i++) {
        assert_true(w[i] >= 0);
        sum += w[i];
    }
    assert_true(fabs(sum / (2 * PI) - 1) < 1e-12);
    return w;
}

/* An even permutation with a long stride, and the other side of the sphere for some. */
static void shuffle(vector *n, size_t count)
{
    AUTO_FREE vector *was = malloc(count * sizeof *was);
    size_t stride = count * 5 / 8;

    while (count > 1 && (stride % 2 == 0 || count % stride == 0 || stride % 3 == 0))
        stride++; /* crude, checked below */
    memcpy(was, n, count * sizeof *n);
    AUTO_FREE bool *used = calloc(count, sizeof *used);
    for (size_t i = 0, at = 0; i < count; i++) {
        at = (at + stride) % count;
        while (used[at])
            at = (at + 1) % count;
        used[at] = true;
        for (int k = 0; k < 3; k++)
            n[i][k] = at % 3 == 1 ? -was[at][k] : was[at][k];
    }
}

/* Sums 2 pi to 1e-12, of every set, even and odd, of every quadrature. */
TEST(all_sums_are_2_pi)
{
    static const size_t rings[] = {2, 3, 5, 18, 24, 39};
    static const enum fbp_quadrature all[] = {FBP_QUADRATURE_AUTO, FBP_QUADRATURE_BANDS,
                                              FBP_QUADRATURE_VORONOI, FBP_QUADRATURE_HARMONICS};
    size_t count;

    for (size_t r = 0; r < sizeof rings / sizeof *rings; r++)
        for (int set = FBP_SET_SOLID_ANGLE; set <= FBP_SET_LINEAR_ANGLE; set++)
            for (size_t q = rings[r] < 5 ? 2 : 0; q < 4; q++) {
                if (set == FBP_SET_SOLID_ANGLE && rings[r] < 5)
                    continue; /* all in one plane */
                AUTO_FREE vector *n =
                    make((enum fbp_direction_set)set, rings[r], 0, FBP_POLE_Z, &count);
                if (!(set == FBP_SET_LINEAR_ANGLE && rings[r] == 39 && q == 3)) /* takes long */
                    free(weights_of(n, count, all[q], NULL));
            }
    AUTO_FREE vector *n = make(FBP_SET_FIBONACCI, 208, 0, FBP_POLE_Z, &count);
    free(weights_of(n, count, FBP_QUADRATURE_AUTO, "areas of Voronoi cells"));
}

/* Rings: 2 pi |sin theta| sin(delta/2) / m; a single direction at the pole: 2 pi (1 -
 * cos(delta/2)). However they are listed, and about which axis. */
TEST(bands_are_those_of_the_formula)
{
    static const size_t rings[] = {18, 39};

    for (size_t r = 0; r < 2; r++)
        for (int pole = FBP_POLE_Z; pole <= FBP_POLE_Y; pole++) {
            size_t count;
            const double delta = PI / (double)rings[r];
            AUTO_FREE vector *n =
                make(FBP_SET_SOLID_ANGLE, rings[r], 0, (enum fbp_pole)pole, &count);
            shuffle(n, count);
            AUTO_FREE double *w = weights_of(n, count, FBP_QUADRATURE_AUTO, "exact bands of");
            for (size_t i = 0; i < count; i++) {
                const double up = fabs(n[i][pole == FBP_POLE_Z ? 2 : pole == FBP_POLE_X ? 0 : 1]);
                const double sine = sqrt(fmax(0, 1 - up * up));
                const double m = fmax(1, floor((double)rings[r] * sine + .5));
                const double expected = up > 1 - 1e-12 ? 2 * PI * (1 - cos(delta / 2))
                                                       : 2 * PI * sine * sin(delta / 2) / m;
                assert_true(fabs(w[i] - expected) < 1e-13);
            }
        }
}

/* Linear angles: 2 sin(delta/2) |sin theta| delta_phi; at the pole all directions are one. */
TEST(grids_of_angles_have_bands)
{
    size_t count;
    const double step = PI / 15;

    AUTO_FREE vector *n = make(FBP_SET_LINEAR_ANGLE, 15, 14, FBP_POLE_Z, &count);
    shuffle(n, count);
    AUTO_FREE double *w =
        weights_of(n, count, FBP_QUADRATURE_BANDS, "exact bands of 8 rings about z");
    for (size_t i = 0; i < count; i++) {
        const double sine = hypot(n[i][0], n[i][1]);
        const double expected =
            sine < 1e-9 ? 2 * PI * (1 - cos(step / 2)) / 14 : 2 * sin(step / 2) * sine * PI / 14;
        assert_true(fabs(w[i] - expected) < 1e-13);
    }
}

/* The vertices of an icosahedron, of which 6 lie on one half: each has a sixth; the three axes: a
 * third; all eight corners of a cube: an eighth. */
TEST(cells_of_regular_solids)
{
    const double g = (1 + sqrt(5)) / 2, s = sqrt(1 + g * g), c = 1 / sqrt(3);
    vector solid[6] = {{0, 1 / s, g / s},  {0, 1 / s, -g / s}, {1 / s, g / s, 0},
                       {1 / s, -g / s, 0}, {g / s, 0, 1 / s},  {-g / s, 0, 1 / s}};
    vector axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}, cube[8];

    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            cube[i][k] = i >> k & 1 ? c : -c;
    double *w = weights_of(solid, 6, FBP_QUADRATURE_VORONOI, "Voronoi");
    for (size_t i = 0; i < 6; i++)
        assert_true(fabs(w[i] - PI / 3) < 1e-14);
    free(w);
    w = weights_of(axes, 3, FBP_QUADRATURE_VORONOI, "Voronoi");
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(w[i] - 2 * PI / 3) < 1e-14);
    free(w);
    w = weights_of(cube, 8, FBP_QUADRATURE_VORONOI, "Voronoi");
    for (size_t i = 0; i < 8; i++)
        assert_true(fabs(w[i] - PI / 4) < 1e-14);
    free(w);
}

/* Directions that are given three times, once as antipodes. */
TEST(equal_directions_share_a_cell)
{
    size_t count;

    AUTO_FREE vector *n = make(FBP_SET_FIBONACCI, 60, 0, FBP_POLE_Z, &count);
    AUTO_FREE vector *twice = malloc(3 * count * sizeof *twice);
    for (size_t i = 0; i < 3 * count; i++)
        for (int k = 0; k < 3; k++)
            twice[i][k] = i / count == 1 ? -n[i % count][k] : n[i % count][k];
    AUTO_FREE double *once = weights_of(n, count, FBP_QUADRATURE_VORONOI, NULL);
    AUTO_FREE double *w = weights_of(twice, 3 * count, FBP_QUADRATURE_VORONOI, NULL);
    for (size_t i = 0; i < 3 * count; i++)
        assert_true(fabs(3 * w[i] - once[i % count]) < 1e-13);
}

/* x^2, and even products of higher degree, over the half sphere: 2 pi / (a + b + c + 1) times the
 * double factorials. */
static double moment(vector *n, const double *w, size_t count, int a, int b, int c)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += w[i] * pow(n[i][0], a) * pow(n[i][1], b) * pow(n[i][2], c);
    return sum;
}

TEST(harmonics_are_exact)
{
    size_t count;

    AUTO_FREE vector *n = make(FBP_SET_SOLID_ANGLE, 18, 0, FBP_POLE_Z, &count);
    shuffle(n, count);
    double *w = weights_of(n, count, FBP_QUADRATURE_HARMONICS, "up to degree 16");
    assert_true(fabs(moment(n, w, count, 2, 0, 0) - 2 * PI / 3) < 1e-12);
    assert_true(fabs(moment(n, w, count, 0, 4, 0) - 2 * PI / 5) < 1e-12);
    assert_true(fabs(moment(n, w, count, 2, 2, 0) - 2 * PI / 15) < 1e-12);
    assert_true(fabs(moment(n, w, count, 1, 3, 0)) < 1e-12);
    assert_true(fabs(moment(n, w, count, 0, 0, 16) - 2 * PI / 17) < 1e-12);
    assert_true(fabs(moment(n, w, count, 8, 0, 8) - 2 * PI * 105. * 105 / 34459425) < 1e-12);
    free(w);
    w = weights_of(n, count, FBP_QUADRATURE_VORONOI, NULL);
    assert_true(fabs(moment(n, w, count, 0, 0, 16) - 2 * PI / 17) > 1e-6);
    free(w);
}

static void refused(vector *n, size_t count, enum fbp_quadrature q, double *w, const char *says)
{
    assert_fails(fbp_quadrature_weights((const vector *)n, count, q, w, NULL, 0), FBP_ERR_INVALID,
                 says);
}

TEST(what_cannot_be_weighted_is_refused)
{
    vector flat[4], some[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double w[4] = {1, 2, NAN, 1};

    for (int i = 0; i < 4; i++) {
        flat[i][0] = cos(i);
        flat[i][1] = .6 * sin(i);
        flat[i][2] = .8 * sin(i);
    }
    refused(flat, 4, FBP_QUADRATURE_AUTO, w, "all 4 lie in one plane");
    refused(some, 3, FBP_QUADRATURE_GIVEN, (double[]){1, 2, NAN}, "number 2 is nan");
    refused(some, 3, FBP_QUADRATURE_GIVEN, (double[]){1, -2, 1}, "number 1 is -2");
    refused(some, 3, FBP_QUADRATURE_GIVEN, (double[]){0, 0, 0}, "all 3 weights are 0");
    some[1][0] = 1;
    refused(some, 3, FBP_QUADRATURE_AUTO, w, "number 1 is (1, 1, 0), of length 1.41421");
    some[1][0] = NAN;
    refused(some, 3, FBP_QUADRATURE_AUTO, w, "give unit vectors");
    size_t count;
    AUTO_FREE vector *n = make(FBP_SET_FIBONACCI, 40, 0, FBP_POLE_Z, &count);
    AUTO_FREE double *room = calloc(count, sizeof *room);
    refused(n, count, FBP_QUADRATURE_BANDS, room, "these 40 directions form none; use auto");
}

TEST(given_weights_stay)
{
    vector n[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double w[3] = {1, 2, 3};
    char words[200];

    OK(fbp_quadrature_weights((const vector *)n, 3, FBP_QUADRATURE_GIVEN, w, words, sizeof words));
    assert_true(w[0] == 1 && w[1] == 2 && w[2] == 3);
    assert_string_equal(words, "as given, sum 0.95493 of 2 pi");
    assert_string_equal(fbp_quadrature_name(FBP_QUADRATURE_HARMONICS), "harmonics");
    assert_null(fbp_quadrature_name(5));
}

TEST_MAIN(NULL, NULL)
