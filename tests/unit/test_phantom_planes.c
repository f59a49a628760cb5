/* Checks plane integrals of phantoms: closed forms against integrals of lines, identities of the
 * Radon transform, soft and rotated ellipsoids, and phantoms by name. */
#include "phantom/shapes.h"

#include "base/base.h"
#include "base/math.h"

#include "test.h"
#include "unit/one_array.h"

static void near(double a, double b, double tol)
{
    if (!(fabs(a - b) <= tol)) {
        print_error("%.17g, not %.17g: %.3g apart, not within %.3g\n", a, b, fabs(a - b), tol);
        fail();
    }
}

static void random_direction(unsigned *seed, double n[3])
{
    do
        for (int i = 0; i < 3; i++)
            n[i] = 2 * random01(seed) - 1;
    while (fbp_norm(n) > 1 || fbp_norm(n) < .1);
    fbp_normalise(n);
}

/* Integral over [a, b] by Gauss-Lobatto of 7 points, of halves until both are the whole.  Its
 * points include the ends, so that a kink next to one is not missed. */
typedef double fn(void *user, double x);

static double lobatto(fn *f, void *user, double a, double b)
{
    static const double x[] = {0, .46884879347071421380, .83022389627856692987, 1};
    static const double w[] = {.48761904761904761905, .43174538120986262342, .27682604736156594801,
                               .047619047619047619048};
    double sum = w[0] * f(user, (a + b) / 2);

    for (int i = 1; i < 4; i++)
        sum += w[i] * (f(user, (a + b) / 2 - x[i] * (b - a) / 2) +
                       f(user, (a + b) / 2 + x[i] * (b - a) / 2));
    return sum * (b - a) / 2;
}

enum { DEPTH = 36 }; /* the first two are taken in any case */

static double halves(fn *f, void *user, double a, double b, double whole, double tol, int depth)
{
    const double mid = (a + b) / 2, l = lobatto(f, user, a, mid), r = lobatto(f, user, mid, b);

    if (depth == 0 || (depth < DEPTH - 2 && fabs(l + r - whole) <= tol))
        return l + r;
    return halves(f, user, a, mid, l, tol, depth - 1) + halves(f, user, mid, b, r, tol, depth - 1);
}

static double integral(fn *f, void *user, double a, double b, double tol)
{
    double sum = 0;

    for (int i = 0; i < 16; i++) { /* so that nothing small is missed */
        const double from = a + (b - a) * i / 16, to = a + (b - a) * (i + 1) / 16;
        sum += halves(f, user, from, to, lobatto(f, user, from, to), tol, DEPTH);
    }
    return sum;
}

struct plane {
    const struct fbp_phantom *p;
    double n[3], e[2][3], t;
};

static double line_in_plane(void *user, double s)
{
    const struct plane *q = user;
    double at[3] = {0};

    fbp_axpy(at, q->t, q->n, at);
    fbp_axpy(at, s, q->e[0], at);
    return fbp_phantom_line(q->p, at, q->e[1]);
}

static void plane_of(const struct fbp_phantom *p, const double n[3], double t, struct plane *q)
{
    unsigned seed = 77;
    double side[3];

    *q = (struct plane){.p = p, .n = {n[0], n[1], n[2]}, .t = t};
    random_direction(&seed, side);
    fbp_cross(n, side, q->e[0]);
    fbp_normalise(q->e[0]);
    fbp_cross(n, q->e[0], q->e[1]);
}

/* From 0 to 1 the line wanders from one end of the section to the other, and slowly at its ends,
 * where the length of lines has a root. */
struct section {
    struct plane plane;
    double from, to;
};

static double wandering_line(void *user, double x)
{
    struct section *s = user;
    return 6 * x * (1 - x) * (s->to - s->from) *
           line_in_plane(&s->plane, s->from + (s->to - s->from) * x * x * (3 - 2 * x));
}

/* Where lines begin to meet the body, between `without` and `with`. */
static double end_of(struct plane *q, double without, double with)
{
    for (int i = 0; i < 60; i++) {
        const double mid = (without + with) / 2;
        *(line_in_plane(q, mid) > 0 ? &with : &without) = mid;
    }
    return with;
}

/* Of a convex body. */
static double by_lines(const struct fbp_phantom *p, const double n[3], double t, double reach)
{
    struct section s;
    double best = 0, longest = 0;

    plane_of(p, n, t, &s.plane);
    for (int i = -2000; i <= 2000; i++) {
        const double length = line_in_plane(&s.plane, reach * i / 2000);
        best = length > longest ? reach * i / 2000 : best;
        longest = fmax(longest, length);
    }
    if (!(longest > 0))
        return 0;
    s.from = end_of(&s.plane, -reach, best);
    s.to = end_of(&s.plane, reach, best);
    return integral(wandering_line, &s, 0, 1, 1e-13);
}

static double plane_at(void *user, double t)
{
    const struct plane *q = user;
    return fbp_phantom_plane(q->p, q->n, t);
}

/* Integral of all planes across n. */
static double all_planes(const struct fbp_phantom *p, const double n[3], double reach)
{
    struct plane q;

    plane_of(p, n, 0, &q);
    return integral(plane_at, &q, -reach, reach, 1e-11);
}

/* One of each shape, about the origin and no larger than 2: half axes, density and turn are random;
 * with `cuts` planes through the inside. */
static struct fbp_shape some_shape(enum fbp_shape_kind kind, int cuts, unsigned *seed)
{
    struct fbp_shape s = {.kind = kind, .density = .5 + random01(seed), .range = {-1, 1}};
    const double turns[3] = {6 * random01(seed), 3 * random01(seed), 6 * random01(seed)};

    fbp_euler_axes(turns, s.axes);
    for (int i = 0; i < 3; i++) {
        s.centre_mm[i] = .4 * random01(seed) - .2;
        s.half_mm[i] = .3 + .7 * random01(seed);
    }
    if (kind == FBP_SHAPE_CONE) {
        s.range[0] = random01(seed) < .5 ? 0 : .3;
        s.range[1] = 1;
    }
    if (kind == FBP_SHAPE_SOFT)
        s.range[0] = floor(4 * random01(seed));
    for (int k = 0; k < cuts; k++) {
        struct fbp_half_space *h = &s.planes[s.n_planes++];
        random_direction(seed, h->normal);
        h->at_mm = fbp_dot(h->normal, s.centre_mm) + .2 * random01(seed);
    }
    return s;
}

static struct fbp_phantom alone(struct fbp_shape *s)
{
    return (struct fbp_phantom){.n_shapes = 1, .shapes = s};
}

/* Directions: any, and along and across the shape's own axes, where sections are degenerate. */
static void direction(const struct fbp_shape *s, int i, unsigned *seed, double n[3])
{
    double at_random[3];

    random_direction(seed, at_random);
    if (i % 5 == 0) /* along an axis */
        memcpy(n, s->axes[i / 5 % 3], 3 * sizeof *n);
    else if (i % 5 == 1) /* across one */
        fbp_cross(s->axes[i / 5 % 3], at_random, n);
    else if (i % 5 == 2) /* as good as along one */
        fbp_axpy(s->axes[i / 5 % 3], 1e-7, at_random, n);
    else
        memcpy(n, at_random, 3 * sizeof *n);
    fbp_normalise(n);
}

TEST(sections_are_integrals_of_lines)
{
    unsigned seed = 1;

    for (int kind = FBP_SHAPE_ELLIPSOID; kind <= FBP_SHAPE_SOFT; kind++)
        for (int cuts = 0; cuts <= (kind == FBP_SHAPE_SOFT ? 0 : 3); cuts++)
            for (int i = 0; i < 15; i++) {
                struct fbp_shape s = some_shape((enum fbp_shape_kind)kind, cuts, &seed);
                const struct fbp_phantom p = alone(&s);
                double n[3];
                direction(&s, i, &seed, n);
                const double t = 1.6 * random01(&seed) - .8;
                near(fbp_phantom_plane(&p, n, t), by_lines(&p, n, t, 2.5), 2e-10);
            }
}

/* Sections of a cone: an ellipse, a parabola, both sides of it, a hyperbola, and straight lines
 * through the tip. */
TEST(sections_of_a_cone)
{
    struct fbp_shape s = {.kind = FBP_SHAPE_CONE,
                          .half_mm = {1, 1, 1},
                          .range = {0, 1},
                          .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                          .density = 1};
    const struct fbp_phantom p = alone(&s);

    for (int i = 0; i <= 20; i++) {
        const double a = FBP_PI * (i < 20 ? i / 19. : .25); /* .25: parallel to its surface */
        const double n[3] = {sin(a), 0, cos(a)};
        for (double t = -.5; t < .9; t += .1)
            near(fbp_phantom_plane(&p, n, t), by_lines(&p, n, t, 2), 2e-10);
        const double steps[] = {1e-3, 1e-6, 1e-9, 1e-12};
        for (int k = 0; k < 4; k++) { /* nearly a parabola */
            const double b = a + steps[k], m[3] = {sin(b), 0, cos(b)};
            near(fbp_phantom_plane(&p, m, .3), by_lines(&p, m, .3, 2), 2e-10);
        }
    }
    const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
    near(fbp_phantom_plane(&p, x, 0), 1, 1e-12);           /* a triangle */
    near(fbp_phantom_plane(&p, z, .5), FBP_PI / 4, 1e-12); /* a disk */
}

static double mass_of(const struct fbp_shape *s)
{
    const double product = s->density * s->half_mm[0] * s->half_mm[1] * s->half_mm[2];
    double soft = 1. / 3; /* integral of r^2 (1 - r^2)^m from 0 to 1 */

    for (unsigned m = 1; s->kind == FBP_SHAPE_SOFT && m <= (unsigned)s->range[0]; m++)
        soft *= 2. * m / (2 * m + 3);
    return product * (s->kind == FBP_SHAPE_BOX        ? 8
                      : s->kind == FBP_SHAPE_CYLINDER ? FBP_PI * (s->range[1] - s->range[0])
                      : s->kind == FBP_SHAPE_CONE
                          ? FBP_PI / 3 * (pow(s->range[1], 3) - pow(s->range[0], 3))
                          : 4 * FBP_PI * soft);
}

/* All planes across any direction hold the whole mass. */
TEST(planes_add_up_to_the_mass)
{
    unsigned seed = 2;

    for (int kind = FBP_SHAPE_ELLIPSOID; kind <= FBP_SHAPE_SOFT; kind++)
        for (int i = 0; i < 20; i++) {
            struct fbp_shape s = some_shape((enum fbp_shape_kind)kind, 0, &seed);
            const struct fbp_phantom p = alone(&s);
            double n[3];
            direction(&s, i % 5 == 1 ? i : 3, &seed, n); /* not along an axis: that jumps */
            near(all_planes(&p, n, 2.5), mass_of(&s), 1e-9);
        }
    for (int i = 0; i < 10; i++) { /* of cut ones, whatever it is */
        struct fbp_shape s = some_shape((enum fbp_shape_kind)(i % 4), 2, &seed);
        const struct fbp_phantom p = alone(&s);
        double n[3], m[3];
        random_direction(&seed, n);
        random_direction(&seed, m);
        near(all_planes(&p, n, 2.5), all_planes(&p, m, 2.5), 1e-9);
    }
}

/* p(t, n) = p(-t, -n) */
TEST(both_sides_see_the_same)
{
    unsigned seed = 3;

    for (int kind = FBP_SHAPE_ELLIPSOID; kind <= FBP_SHAPE_SOFT; kind++)
        for (int i = 0; i < 200; i++) {
            struct fbp_shape s =
                some_shape((enum fbp_shape_kind)kind, kind == FBP_SHAPE_SOFT ? 0 : i % 4, &seed);
            const struct fbp_phantom p = alone(&s);
            double n[3];
            direction(&s, i, &seed, n);
            const double t = 2 * random01(&seed) - 1, back[3] = {-n[0], -n[1], -n[2]};
            near(fbp_phantom_plane(&p, n, t), fbp_phantom_plane(&p, back, -t), 1e-12);
        }
}

static double mean_at(void *user, double t)
{
    const struct plane *q = user;
    return fbp_phantom_plane(q->p, q->n, t);
}

/* Means over a sample's width: exact for ellipsoids; samples hold the mass. */
TEST(means_over_samples)
{
    unsigned seed = 4;

    for (int i = 0; i < 60; i++) {
        struct fbp_shape s = some_shape(i % 2 ? FBP_SHAPE_SOFT : FBP_SHAPE_ELLIPSOID, 0, &seed);
        const struct fbp_phantom p = alone(&s);
        const double width = .3 * random01(&seed) + .01;
        struct fbp_body body;
        struct plane q;
        double n[3], sum = 0;
        fbp_body_of(&s, &body);
        random_direction(&seed, n);
        plane_of(&p, n, 0, &q);
        for (double t = -1.5; t < 1.5; t += .25)
            near(fbp_body_plane_mean(&body, n, t, width),
                 integral(mean_at, &q, t - width / 2, t + width / 2, 1e-13) / width, 1e-11);
        for (int k = -400; k <= 400; k++)
            sum += width * fbp_body_plane_mean(&body, n, k * width, width);
        near(sum, mass_of(&s), 1e-12);
    }
}

/* Of other shapes over 8 planes: the error is that of 8 steps. */
TEST(means_of_other_shapes)
{
    unsigned seed = 9;

    for (int i = 0; i < 20; i++) {
        struct fbp_shape s = some_shape(i % 2 ? FBP_SHAPE_CYLINDER : FBP_SHAPE_BOX, 0, &seed);
        struct fbp_body body;
        double n[3], sum = 0;
        fbp_body_of(&s, &body);
        random_direction(&seed, n);
        for (int k = -100; k <= 100; k++)
            sum += .03 * fbp_body_plane_mean(&body, n, k * .03, .03);
        near(sum, mass_of(&s), 1e-3 * mass_of(&s));
    }
}

/* A turned ellipsoid is the same one seen by turned rays. */
TEST(turned_rays)
{
    unsigned seed = 5;

    for (int i = 0; i < 300; i++) {
        struct fbp_shape s = some_shape(FBP_SHAPE_SOFT, 0, &seed), upright = s;
        const struct fbp_phantom p = alone(&s), q = alone(&upright);
        double at[3], dir[3], at_upright[3], dir_upright[3];
        memset(upright.axes, 0, sizeof upright.axes);
        for (int k = 0; k < 3; k++)
            upright.axes[k][k] = 1;
        random_direction(&seed, dir);
        random_direction(&seed, at);
        for (int k = 0; k < 3; k++) {
            dir_upright[k] = fbp_dot(s.axes[k], dir);
            at_upright[k] = s.centre_mm[k] + .5 * fbp_dot(s.axes[k], at);
            upright.centre_mm[k] = s.centre_mm[k];
        }
        fbp_axpy(s.centre_mm, .5, at, at);
        near(fbp_phantom_line(&p, at, dir), fbp_phantom_line(&q, at_upright, dir_upright), 1e-13);
    }
}

struct ray {
    const struct fbp_phantom *p;
    double at[3], dir[3];
};

static double density_at(void *user, double t)
{
    const struct ray *r = user;
    double x[3];

    fbp_axpy(r->at, t, r->dir, x);
    return fbp_phantom_at(r->p, x);
}

TEST(lines_of_soft_ellipsoids)
{
    unsigned seed = 6;

    for (int i = 0; i < 100; i++) {
        struct fbp_shape s = some_shape(FBP_SHAPE_SOFT, i % 3, &seed);
        const struct fbp_phantom p = alone(&s);
        struct ray r = {.p = &p};
        s.range[0] = 1 + i % 4;
        random_direction(&seed, r.at);
        random_direction(&seed, r.dir);
        fbp_axpy(s.centre_mm, .4, r.at, r.at);
        near(fbp_phantom_line(&p, r.at, r.dir), integral(density_at, &r, -3, 3, 1e-13), 1e-10);
    }
    /* through the middle of a ball: 2 r 2^(2m) m!^2 / (2m+1)! */
    struct fbp_shape ball = {.kind = FBP_SHAPE_SOFT,
                             .half_mm = {.6, .6, .6},
                             .range = {2},
                             .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                             .density = 3};
    const struct fbp_phantom p = alone(&ball);
    near(fbp_phantom_line(&p, (double[]){0, 0, 9}, (double[]){0, 0, -1}), 3 * 1.2 * 8 / 15, 1e-14);
}

/* Means over voxels: they hold the mass, and inside they are what lines along x of a voxel say. */
TEST(voxels_of_soft_ellipsoids)
{
    enum { N = 24 };
    unsigned seed = 7;
    static float out[N * N * N];
    const struct fbp_grid grid = {{N, N, N}, {.1, .1, .1}, {0, 0, 0}};

    for (int i = 0; i < 6; i++) {
        struct fbp_shape s = some_shape(FBP_SHAPE_SOFT, 0, &seed);
        const struct fbp_phantom p = alone(&s);
        double sum = 0, worst = 0;
        s.range[0] = i;
        OK(fbp_phantom_voxels(&p, &grid, 0, N, out));
        for (size_t k = 0; k < N * N * N; k++) {
            const double at[3] = {((double)(k % N) - 11.5) * .1, ((double)(k / N % N) - 11.5) * .1,
                                  ((double)(k / N / N) - 11.5) * .1};
            sum += (double)out[k] * .001;
            worst = fmax(worst, fabs((double)out[k] - fbp_phantom_at(&p, at)));
        }
        near(sum, mass_of(&s), 2e-4 * mass_of(&s));
        if (i >= 2)
            assert_true(worst < .08 * s.density);
    }
}

/* Shapes that have no plane integrals, or none that are known. */
TEST(refusals)
{
    const double n[3] = {0, 0, 1};
    struct fbp_shape s[2];
    unsigned seed = 8;

    s[0] = s[1] = some_shape(FBP_SHAPE_CYLINDER, 0, &seed);
    struct fbp_phantom p = {.n_shapes = 2, .shapes = s, .replace = true};
    assert_true(isnan(fbp_phantom_plane(&p, n, 0)));
    assert_says("replace each other");
    p.replace = false;
    assert_true(isfinite(fbp_phantom_plane(&p, n, 0)));
    s[1].range[1] = INFINITY;
    assert_true(isnan(fbp_phantom_plane(&p, n, 0)));
    assert_says("shape 2 is infinitely long");
    s[1] = some_shape(FBP_SHAPE_SOFT, 1, &seed);
    s[1].range[0] = 1;
    assert_true(isnan(fbp_phantom_plane(&p, n, 0)));
    assert_says("cutting planes");
}

static fbp_status load(struct fbp_phantom *p, const char *text)
{
    static const char path[] = "phantom_planes_lines.txt";
    FILE *f = not_null(fopen(path, "w"));

    fputs(text, f);
    fclose(f);
    const fbp_status st = fbp_phantom_create(p, path, 1, 2);
    remove(path);
    return st;
}

/* Lines of 8 numbers are what they were; 10 have three turns; one more is m. */
TEST(lines_of_files)
{
    struct fbp_phantom p;
    const double deg = 180 / FBP_PI;
    char line[200];

    snprintf(line, sizeof line,
             "1 2 3 4 5 6 30 .5 # old\n1 2 3 4 5 6 30 .5 2 # m\n"
             "0 0 0 .7 .45 .58 %.17g %.17g %.17g 1\n"
             "0 0 0 .7 .45 .58 10 20 30 1 3\n",
             .4 * deg, .9 * deg, .2 * deg);
    OK(load(&p, line));
    assert_int_equal(p.n, 1);
    assert_int_equal(p.n_shapes, 3);
    near(p.items[0].turn_deg, 30, 0);
    near(p.items[0].density, 1, 0);
    assert_int_equal(p.shapes[0].kind, FBP_SHAPE_SOFT);
    near(p.shapes[0].range[0], 2, 0);
    near(p.shapes[0].axes[0][0], cos(FBP_PI / 6), 1e-15);
    near(p.shapes[0].axes[0][1], .5, 1e-15);
    assert_int_equal(p.shapes[1].kind, FBP_SHAPE_ELLIPSOID);
    near(p.shapes[1].axes[2][0], sin(.4) * sin(.9), 1e-14); /* Rz(.4) Rx(.9) Rz(.2) e_z */
    near(p.shapes[1].axes[2][1], -cos(.4) * sin(.9), 1e-14);
    near(p.shapes[1].axes[0][2], sin(.9) * sin(.2), 1e-14);
    assert_int_equal(p.shapes[2].kind, FBP_SHAPE_SOFT);
    near(p.shapes[2].range[0], 3, 0);
    near(p.shapes[2].density, 2, 0);
    fbp_phantom_clear(&p);

    const char *const wrong[][2] = {{"1 2 3 4 5 6 30\n", "7 numbers"},
                                    {"1 2 3 4 5 6 7 8 9 10 11 12\n", "12 numbers"},
                                    {"1 2 3 4 5 6 7 8 -1\n", "whole number from 0 to 100"},
                                    {"1 2 3 4 5 6 7 8 1.5\n", "whole number from 0 to 100"},
                                    {"1 2 3 4 0 6 7 8 9 1 2\n", "must be positive"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fbp_message_clear();
        assert_fails(load(&p, wrong[i][0]), FBP_ERR_INVALID, wrong[i][1]);
        assert_says(":1: ");
    }
}

/* The phantoms whose errors docs/epr.md tells, and those with other shapes: of unit scale, inside
 * the cube, and, of the bottle and the tubes, in no place twice. */
TEST(by_name)
{
    static const struct {
        const char *name;
        size_t n;
        double most;
        double mass; /* 0: not told */
    } known[] = {
        {"ball", 1, 1, 4. / 3 * FBP_PI * .55 * .55 * .55},
        {"soft-ball", 1, 1, 4 * FBP_PI * 8. / 105 * .216},
        {"ellipsoid", 1, 1, 4. / 3 * FBP_PI * .7 * .45 * .58},
        {"ellipsoids", 3, 1.8, 0},
        {"bottle", 4, 1, 0},
        {"tubes", 5, 2, 0},
    };
    unsigned seed = 11;

    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const double n[3] = {.6, 0, .8}, m[3] = {0, 1, 0};
        CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom(known[k].name, 10, 1);
        assert_int_equal(p.n_shapes, known[k].n);
        for (int i = 0; i < 20000; i++) {
            const double x[3] = {30 * random01(&seed) - 15, 30 * random01(&seed) - 15,
                                 30 * random01(&seed) - 15};
            const double f = fbp_phantom_at(&p, x);
            assert_true(f >= 0 && f <= known[k].most);
            assert_true(f == 0 || fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2]))) < 10);
        }
        const double mass = all_planes(&p, n, 20);
        near(all_planes(&p, m, 20), mass, 1e-7 * mass);
        if (known[k].mass > 0)
            near(mass, 1000 * known[k].mass, 1e-9 * mass);
    }
}

enum { VIEWS = 7, SAMPLES = 33 };
static const char scan_path[] = "phantom_planes_scan.mha";

static void simulate(const struct fbp_phantom *p, const struct fbp_scan *scan,
                     const struct fbp_simulate_params *params, float *out)
{
    struct fbp_array_info info = {.struct_size = sizeof info};

    OK(fbp_phantom_simulate(p, scan, scan_path, params));
    assert_true(array_read(scan_path, &info, out));
    remove(scan_path);
}

TEST(whole_scans)
{
    static float centres[VIEWS][SAMPLES], means[VIEWS][SAMPLES], noise[VIEWS][SAMPLES],
        again[VIEWS][SAMPLES];
    struct fbp_view views[VIEWS];
    const struct fbp_scan scan = {.struct_size = sizeof scan,
                                  .kind = FBP_PLANES,
                                  .n_views = VIEWS,
                                  .panel = {SAMPLES, 1},
                                  .views = views};
    double sum = 0;

    /* Views of some directions, steps and places of the first sample. */
    unsigned seed = 21;
    memset(views, 0, VIEWS * sizeof *views);
    for (int k = 0; k < VIEWS; k++) {
        double n[3];
        random_direction(&seed, n);
        for (int i = 0; i < 3; i++) {
            views[k].u[i] = (.05 + .01 * k) * n[i];
            views[k].d[i] = (.1 * k - .2) * n[i];
        }
    }
    CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom("soft-ball", 1, 3);
    simulate(&p, &scan, fbp_simulate_params(.at_centres = true), &centres[0][0]);
    simulate(&p, &scan, fbp_simulate_params(.n_threads = 1), &means[0][0]);
    simulate(&p, &scan, fbp_simulate_params(.noise_sd = .1, .seed = 5), &noise[0][0]);
    simulate(&p, &scan, fbp_simulate_params(.noise_sd = .1, .seed = 5, .n_threads = 3),
             &again[0][0]);
    for (int k = 0; k < VIEWS; k++)
        for (int c = 0; c < SAMPLES; c++) {
            double n[3] = {views[k].u[0], views[k].u[1], views[k].u[2]};
            const double tau = fbp_normalise(n), t = .1 * k - .2 + (c - 16) * tau;
            struct fbp_body body;
            fbp_body_of(&p.shapes[0], &body);
            near((double)centres[k][c], fbp_phantom_plane(&p, n, t), 1e-6);
            near((double)means[k][c], fbp_body_plane_mean(&body, n, t, tau), 1e-6);
            sum += pow(((double)noise[k][c] - (double)means[k][c]) / .1, 2);
        }
    assert_memory_equal(noise, again, sizeof noise);
    near(sum / (VIEWS * SAMPLES), 1, 5 * sqrt(2. / (VIEWS * SAMPLES)));
    fbp_message_clear();
    assert_fails(fbp_phantom_simulate(&p, &scan, scan_path, fbp_simulate_params(.noise_i0 = 1000)),
                 FBP_ERR_UNSUPPORTED, "no photon counts");
    p.shapes[0].range[0] = 1;
    p.shapes[0].n_planes = 1;
    fbp_message_clear();
    assert_fails(fbp_phantom_simulate(&p, &scan, scan_path, fbp_simulate_params(.seed = 1)),
                 FBP_ERR_UNSUPPORTED, "cutting planes");
}

TEST_MAIN(NULL, NULL)
