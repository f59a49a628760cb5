/* Checks line integrals of shapes (boxes, cylinders, cones, clipped and hidden ones) against
 * closed forms and quadrature, and their voxel means. */
#include "base/math.h"

#include "test.h"
#include "unit/one_array.h"

#define NEAR(a, b, tol) assert_true(fabs((a) - (b)) < (tol))

/* Axes turned about z by `a`, then tilted about the new x by `b` [rad]. */
static struct fbp_shape turned(enum fbp_shape_kind kind, double a, double b)
{
    const double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b);
    return (struct fbp_shape){
        .kind = kind,
        .axes = {{ca, sa, 0}, {-sa * cb, ca * cb, sb}, {sa * sb, -ca * sb, cb}},
        .half_mm = {1, 1, 1},
        .range = {-1, 1},
        .density = 1,
    };
}

/* x = centre + sum of y_i along the shape's axes */
static void to_world(const struct fbp_shape *s, const double y[3], double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = s->centre_mm[k] + y[0] * s->axes[0][k] + y[1] * s->axes[1][k] + y[2] * s->axes[2][k];
}

/* Integral along the line from y in direction w, both in the shape's axes, w of any length. */
static double line(const struct fbp_shape *s, const double y[3], const double w[3])
{
    const struct fbp_phantom p = {.n_shapes = 1, .shapes = (struct fbp_shape *)s};
    struct fbp_shape bare = *s;
    double at[3], dir[3];

    to_world(s, y, at);
    memset(bare.centre_mm, 0, sizeof bare.centre_mm);
    to_world(&bare, w, dir);
    fbp_normalise(dir);
    fbp_axpy(at, -1000, dir, at); /* from afar, as from a source */
    return fbp_phantom_line(&p, at, dir);
}

#define LINE(s, y0, y1, y2, w0, w1, w2) line(s, (double[]){y0, y1, y2}, (double[]){w0, w1, w2})

TEST(balls)
{
    struct fbp_shape s = turned(FBP_SHAPE_ELLIPSOID, .4, .7);
    memcpy(s.half_mm, (double[]){40, 40, 40}, sizeof s.half_mm);
    memcpy(s.centre_mm, (double[]){30, -4, 7}, sizeof s.centre_mm);
    s.density = .02;
    for (double b = 0; b < 50; b += 3.7)
        NEAR(LINE(&s, b, 0, 5, 0, 1, 0), b * b + 25 < 1600 ? .04 * sqrt(1600 - 25 - b * b) : 0,
             1e-10);
}

TEST(boxes)
{
    struct fbp_shape s = turned(FBP_SHAPE_BOX, -1.1, .3);
    memcpy(s.half_mm, (double[]){10, 20, 30}, sizeof s.half_mm);
    memcpy(s.centre_mm, (double[]){3, 5, -7}, sizeof s.centre_mm);
    NEAR(LINE(&s, 0, 0, 0, 1, 0, 0), 20, 1e-10);
    NEAR(LINE(&s, 9.9, 3, 7, 0, 1, 0), 40, 1e-10);
    NEAR(LINE(&s, 1, 2, 0, 0, 0, -1), 60, 1e-10);
    NEAR(LINE(&s, 10.001, 3, 7, 0, 1, 0), 0, 1e-10);
    NEAR(LINE(&s, 0, 0, 0, 1, 1, 1), 20 * sqrt(3), 1e-10);
    NEAR(LINE(&s, 10, 15, 0, -1, 1, 0), 5 * sqrt(2), 1e-10);
}

TEST(cylinders)
{
    struct fbp_shape s = turned(FBP_SHAPE_CYLINDER, .2, 1.2);
    memcpy(s.half_mm, (double[]){10, 4, 25}, sizeof s.half_mm);
    NEAR(LINE(&s, 3, 1, 0, 0, 0, 1), 50, 1e-10);
    NEAR(LINE(&s, 9.99, 0, 0, 0, 0, -1), 50, 1e-10);
    NEAR(LINE(&s, 9, 2.5, 0, 0, 0, 1), 0, 1e-10);
    NEAR(LINE(&s, 0, 2, 11, 1, 0, 0), 20 * sqrt(.75), 1e-10);
    NEAR(LINE(&s, 6, 0, -24, 0, 1, 0), 8 * .8, 1e-10);
    NEAR(LINE(&s, 0, 0, 25.01, 1, 0, 0), 0, 1e-10);
    /* from the side into an end: z = t, x = t from the middle of that end */
    NEAR(LINE(&s, 0, 0, 25, 1, 0, 1), 10 * sqrt(2), 1e-10);
    s.range[0] = -INFINITY;
    s.range[1] = INFINITY;
    NEAR(LINE(&s, 0, 0, 1e3, 1, 0, 1), 20 * sqrt(2), 1e-9);
    assert_true(isinf(LINE(&s, 1, 1, 0, 0, 0, 1)));
    NEAR(LINE(&s, 11, 1, 0, 0, 0, 1), 0, 1e-10);
}

/* y0^2 / 9 + y1^2 / 4 <= (y2 / 5)^2 */
TEST(cones)
{
    struct fbp_shape s = turned(FBP_SHAPE_CONE, 2.2, -.4);
    memcpy(s.half_mm, (double[]){3, 2, 5}, sizeof s.half_mm);
    s.range[0] = 0;
    s.range[1] = 4; /* to y2 = 20 */
    NEAR(LINE(&s, 0, 0, 10, 1, 0, 0), 12, 1e-10);
    NEAR(LINE(&s, 0, 1, 10, 1, 0, 0), 12 * sqrt(1 - 1. / 16), 1e-10);
    NEAR(LINE(&s, 0, 0, -10, 1, 0, 0), 0, 1e-10); /* the other nappe is none of it */
    NEAR(LINE(&s, 0, 0, 0, 0, 0, 1), 20, 1e-10);  /* the axis, then a line beside it */
    NEAR(LINE(&s, 3, 0, 0, 0, 0, 1), 15, 1e-10);
    NEAR(LINE(&s, 3, 0, 0, 0, 0, -1), 15, 1e-10);
    /* parallel to a generator, 1 beside it in y0: inside from where 3 y2 / 5 = 1 - 3 y2 / 5 */
    NEAR(LINE(&s, 1, 0, 0, -3, 0, 5), (20 - 5. / 6) * sqrt(34) / 5, 1e-7);
    s.range[0] = 2;
    NEAR(LINE(&s, 0, 0, 0, 0, 0, 1), 10, 1e-10);
    NEAR(LINE(&s, 0, 0, 9.9, 1, 0, 0), 0, 1e-10);
    s.range[1] = INFINITY;
    assert_true(isinf(LINE(&s, 0, 0, 0, 0, 0, 1)));
    NEAR(LINE(&s, 0, 0, 1000, 1, 0, 0), 1200, 1e-8);
}

TEST(clips)
{
    struct fbp_shape s = turned(FBP_SHAPE_ELLIPSOID, .5, .5);
    memcpy(s.half_mm, (double[]){10, 20, 30}, sizeof s.half_mm);
    memcpy(s.centre_mm, (double[]){5, 6, 7}, sizeof s.centre_mm);
    const double whole = LINE(&s, 1, 2, 3, 1, .4, .2);
    struct fbp_shape lower = s, upper = s;
    lower.n_planes = upper.n_planes = 1;
    lower.planes[0] = (struct fbp_half_space){{1, 0, 0}, 6};
    upper.planes[0] = (struct fbp_half_space){{-1, 0, 0}, -6};
    NEAR(LINE(&lower, 1, 2, 3, 1, .4, .2) + LINE(&upper, 1, 2, 3, 1, .4, .2), whole, 1e-10);
    assert_true(LINE(&lower, 1, 2, 3, 1, .4, .2) > 1 && LINE(&upper, 1, 2, 3, 1, .4, .2) > 1);
    /* through the centre half is half */
    lower.planes[0].at_mm = 5;
    NEAR(LINE(&lower, 0, 0, 0, 1, .4, .2), LINE(&s, 0, 0, 0, 1, .4, .2) / 2, 1e-10);
}

/* Every kind with a clip, so that everything that bounds a shape bounds one here. */
static void some_shapes(struct fbp_shape s[4], double volume[4])
{
    for (int i = 0; i < 4; i++) {
        s[i] = turned((enum fbp_shape_kind)i, .3 + i, .5 * i - .7);
        memcpy(s[i].half_mm, (double[]){8, 11, 14}, sizeof s[i].half_mm);
        memcpy(s[i].centre_mm, (double[]){2 - i, i, 1}, sizeof s[i].centre_mm);
    }
    memcpy(s[FBP_SHAPE_CONE].range, (double[]){.2, 1}, sizeof s[0].range);
    const double abc = 8. * 11 * 14, third = 1. / 3;
    volume[FBP_SHAPE_ELLIPSOID] = 4 * third * FBP_PI * abc;
    volume[FBP_SHAPE_BOX] = 8 * abc;
    volume[FBP_SHAPE_CYLINDER] = 2 * FBP_PI * abc;
    volume[FBP_SHAPE_CONE] = third * FBP_PI * abc * (1 - .008);
    /* half of what is symmetric about its centre */
    for (int i = 0; i < 3; i++) {
        s[i].n_planes = 1;
        s[i].planes[0] = (struct fbp_half_space){{0, .6, .8}, .6 * i + .8};
        volume[i] /= 2;
    }
}

/* The parallel lines of any direction add up to the volume. */
TEST(lines_add_up_to_volumes)
{
    struct fbp_shape s[4];
    double volume[4];
    const double step = .2, reach = 30;
    const double dirs[2][3] = {{1, 0, 0}, {.48, .6, .64}};

    some_shapes(s, volume);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            const struct fbp_phantom p = {.n_shapes = 1, .shapes = &s[i]};
            double e1[3], e2[3], sum = 0;
            fbp_cross(dirs[k], (double[]){.36, -.8, .48}, e1);
            fbp_normalise(e1);
            fbp_cross(dirs[k], e1, e2);
            for (double a = -reach; a < reach; a += step)
                for (double b = -reach; b < reach; b += step) {
                    double at[3];
                    fbp_axpy(s[i].centre_mm, a, e1, at);
                    fbp_axpy(at, b, e2, at);
                    sum += fbp_phantom_line(&p, at, dirs[k]) * step * step;
                }
            NEAR(sum / volume[i], 1, 1e-3);
        }
}

/* Where the point test says a line is inside, by fine steps. */
TEST(lines_agree_with_points)
{
    struct fbp_shape s[4];
    double volume[4];
    unsigned seed = 5;

    some_shapes(s, volume);
    for (int i = 0; i < 150; i++) {
        const struct fbp_phantom p = {.n_shapes = 4, .shapes = s, .replace = i % 2};
        double at[3], dir[3], sum = 0;
        const double step = .02;
        for (int k = 0; k < 4; k++)
            s[k].density = random01(&seed);
        for (int k = 0; k < 3; k++) {
            at[k] = 30 * random01(&seed) - 15;
            dir[k] = random01(&seed) - .5;
        }
        fbp_normalise(dir);
        for (int j = -2500; j < 2500; j++) {
            double x[3];
            fbp_axpy(at, (j + .5) * step, dir, x);
            sum += fbp_phantom_at(&p, x) * step;
        }
        NEAR(fbp_phantom_line(&p, at, dir), sum, 8 * step);
    }
}

TEST(the_first_hides_the_others)
{
    struct fbp_shape s[3] = {turned(FBP_SHAPE_ELLIPSOID, 0, 0), turned(FBP_SHAPE_BOX, 0, 0),
                             turned(FBP_SHAPE_ELLIPSOID, 0, 0)};
    const double half[3] = {2, 5, 10}, density[3] = {7, 0, 1};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            s[i].half_mm[k] = half[i];
        s[i].density = density[i];
    }
    struct fbp_phantom p = {.n_shapes = 3, .shapes = s, .replace = true};
    const double at[3] = {0, 0, 0}, dir[3] = {0, 0, 1};
    NEAR(fbp_phantom_line(&p, at, dir), 4 * 7 + 10 * 1, 1e-12);
    NEAR(fbp_phantom_at(&p, at), 7, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){4, 4, 4}), 0, 1e-12);
    p.replace = false;
    NEAR(fbp_phantom_line(&p, at, dir), 4 * 7 + 20 * 1, 1e-12);
    NEAR(fbp_phantom_at(&p, at), 8, 1e-12);
}

static double brute_mean(const struct fbp_phantom *p, const struct fbp_grid *g, const size_t i[3])
{
    enum { N = 16 };
    double sum = 0;

    for (int k = 0; k < N * N * N; k++) {
        const int sub[3] = {k % N, k / N % N, k / (N * N)};
        double x[3];
        for (int a = 0; a < 3; a++)
            x[a] = fbp_grid_coordinate(g, a, (double)i[a] + (sub[a] + .5) / N - .5);
        sum += fbp_phantom_at(p, x);
    }
    return sum / (N * N * N);
}

TEST(voxels_by_brute_force)
{
    struct fbp_shape s[4];
    double volume[4], worst = 0;
    const struct fbp_grid g = {.n = {13, 12, 11}, .voxel_mm = {3, 4, 5}, .centre_mm = {1, 2, 3}};
    static float v[11][12][13];

    some_shapes(s, volume);
    for (int i = 0; i < 4; i++)
        s[i].density = i + 1;
    for (int replace = 0; replace < 2; replace++) {
        const struct fbp_phantom p = {.n_shapes = 4, .shapes = s, .replace = replace};
        OK(fbp_phantom_voxels(&p, &g, 0, 11, v[0][0]));
        for (size_t z = 0; z < 11; z++)
            for (size_t y = 0; y < 12; y++)
                for (size_t x = 0; x < 13; x++)
                    worst = fmax(
                        worst, fabs((double)v[z][y][x] - brute_mean(&p, &g, (size_t[]){x, y, z})));
    }
    print_message("voxel means against 16^3 points: %.4f of densities up to 10\n", worst);
    assert_true(worst < .2);
}

TEST(voxels_add_up_to_volumes)
{
    struct fbp_shape s[4];
    double volume[4];
    const struct fbp_grid g = {.n = {64, 64, 64}, .voxel_mm = {1, 1, 1}, .centre_mm = {0, 1, 2}};
    AUTO_FREE float *v = not_null(malloc(64 * 64 * 64 * sizeof *v));

    some_shapes(s, volume);
    for (int i = 0; i < 4; i++) {
        const struct fbp_phantom p = {.n_shapes = 1, .shapes = &s[i]};
        double sum = 0;
        OK(fbp_phantom_voxels(&p, &g, 0, 64, v));
        for (size_t k = 0; k < 64 * 64 * 64; k++) {
            assert_true(v[k] >= 0 && v[k] <= 1);
            sum += (double)v[k];
        }
        NEAR(sum / volume[i], 1, 2e-4);
    }
}

/* Whole views leave out bodies that a row of pixels cannot see; line by line nothing is left out.
 */
TEST(views_are_their_lines)
{
    enum { COLUMNS = 21, ROWS = 17 };
    struct fbp_shape s[4];
    double volume[4];
    struct fbp_view views[2] = {
        {.s = {400, 30, -20}, .d = {-200, 10, 5}, .u = {.2, 4, .1}, .v = {.1, -.2, 5}},
        {.s = {1, .2, .1}, .d = {2, 1, 3}, .u = {-.3, 2.5, .1}, .v = {.1, -.2, 3}}};
    static float got[ROWS * COLUMNS];
    const char *path = FBP_TEST_DIR "/shapes-view.npy";

    some_shapes(s, volume);
    fbp_normalise(views[1].s); /* a parallel beam's direction */
    for (int k = 0; k < 4; k++) {
        const struct fbp_phantom p = {.n_shapes = 4, .shapes = s, .replace = k / 2};
        const bool cone = k % 2 == 0;
        const struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .kind = cone ? FBP_CONE : FBP_PARALLEL,
                                      .n_views = 1,
                                      .views = &views[cone ? 0 : 1],
                                      .panel = {COLUMNS, ROWS}};
        OK(fbp_phantom_simulate(&p, &scan, path, fbp_simulate_params(.n_threads = 1)));
        struct fbp_array_info info = {.struct_size = sizeof info};
        assert_true(array_read(path, &info, got));
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++) {
                double x[3], dir[3];
                fbp_axpy(scan.views->d, c - (COLUMNS - 1) / 2., scan.views->u, x);
                fbp_axpy(x, r - (ROWS - 1) / 2., scan.views->v, x);
                for (int i = 0; i < 3; i++)
                    dir[i] = cone ? x[i] - scan.views->s[i] : -scan.views->s[i];
                fbp_normalise(dir);
                const double want = fbp_phantom_line(&p, x, dir);
                NEAR((double)got[r * COLUMNS + c], want, 1e-5);
            }
    }
}

TEST(endless_shapes_are_refused_where_it_matters)
{
    struct fbp_shape s = turned(FBP_SHAPE_CYLINDER, 0, 0);
    struct fbp_view view = {.s = {1, 0, 0}, .u = {0, 1, 0}, .v = {0, 0, 1}};
    const struct fbp_phantom p = {.n_shapes = 1, .shapes = &s};
    const struct fbp_scan scan = {.struct_size = sizeof scan,
                                  .kind = FBP_PARALLEL,
                                  .n_views = 1,
                                  .views = &view,
                                  .panel = {3, 3}};
    const char *path = FBP_TEST_DIR "/endless.npy";

    s.range[0] = -INFINITY;
    s.range[1] = INFINITY;
    OK(fbp_phantom_simulate(&p, &scan, path, fbp_simulate_params(.n_threads = 1)));
    memcpy(view.s, (double[]){0, 0, 1}, sizeof view.s);
    memcpy(view.v, (double[]){1, 0, 0}, sizeof view.v);
    remove(path);
    assert_fails(fbp_phantom_simulate(&p, &scan, path, fbp_simulate_params(.n_threads = 1)),
                 FBP_ERR_INVALID, "infinitely long along the ray of column");
    assert_null(fopen(path, "r"));
}

TEST_MAIN(NULL, NULL)
