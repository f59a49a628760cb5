/* Checks that every pixel of a simulated scan is the line integral of its ray, for any number of
 * threads. */
#include "base/math.h"

#include "phantom/shapes.h"
#include "test.h"
#include "unit/one_array.h"

#define PATH FBP_TEST_DIR "/phantom_scan.mha"

enum { NC = 41, NR = 29, NK = 7, N = NC * NR * NK };

static void circle_views(enum fbp_kind kind, double sod, struct fbp_view views[NK])
{
    for (int k = 0; k < NK; k++) {
        const double t = .3 + k, c = cos(t), s = sin(t), m = kind == FBP_CONE ? sod : 1;
        views[k] = (struct fbp_view){{m * c, m * s, kind == FBP_CONE ? -3. : 0},
                                     {-450 * c - 4 * s, -450 * s + 4 * c, 7},
                                     {-6 * s, 6 * c, .1},
                                     {.2, -.1, 7}};
    }
}

static void check_every_ray(enum fbp_kind kind, double sod, const char *name, double half)
{
    static float data[N];
    struct fbp_view views[NK];
    struct fbp_scan scan = {
        .struct_size = sizeof scan, .kind = kind, .n_views = NK, .panel = {NC, NR}, .views = views};
    struct fbp_array_info info = {.struct_size = sizeof info};

    circle_views(kind, sod, views);
    CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom(name, half, 1);
    OK(fbp_phantom_simulate(&p, &scan, PATH, fbp_simulate_params(.n_threads = 2)));
    assert_true(array_read(PATH, &info, data));
    int hits = 0;
    for (size_t i = 0; i < N; i++) {
        double at[3], dir[3];
        const struct fbp_view *v = &scan.views[(i / NC / NR)];
        fbp_axpy(v->d, (double)(i % NC) - (NC - 1) / 2., v->u, at);
        fbp_axpy(at, (double)(i / NC % NR) - (NR - 1) / 2., v->v, at);
        if (scan.kind == FBP_CONE)
            fbp_axpy(at, -1, v->s, dir);
        else
            fbp_axpy((double[]){0, 0, 0}, -1, v->s, dir);
        fbp_normalise(dir);
        const double line = fbp_phantom_line(&p, at, dir);
        hits += line != 0;
        assert_true(fabs((double)data[i] - line) < 1e-5 + 1e-7 * fabs(line));
    }
    assert_true(hits > N / 8);
}

TEST(cone)
{
    check_every_ray(FBP_CONE, 750, "shepp-logan", 90);
    check_every_ray(FBP_CONE, 750, "defrise", 90);
}

TEST(parallel)
{
    check_every_ray(FBP_PARALLEL, 0, "shepp-logan-original", 120);
}

/* The shadow of an ellipsoid around the source is not bounded by an ellipse. */
TEST(source_inside)
{
    check_every_ray(FBP_CONE, 60, "shepp-logan", 150);
}

TEST(noise_does_not_depend_on_threads)
{
    static float one[N], five[N], other[N];
    struct fbp_view views[NK];
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_CONE,
                            .n_views = NK,
                            .panel = {NC, NR},
                            .views = views};
    struct fbp_array_info info = {.struct_size = sizeof info};

    circle_views(FBP_CONE, 750, views);
    struct fbp_phantom p = create_phantom("shepp-logan", 90, .02);
    OK(fbp_phantom_simulate(&p, &scan, PATH,
                            fbp_simulate_params(.noise_i0 = 1000, .seed = 9, .n_threads = 1)));
    assert_true(array_read(PATH, &info, one));
    OK(fbp_phantom_simulate(&p, &scan, PATH,
                            fbp_simulate_params(.noise_i0 = 1000, .seed = 9, .n_threads = 5)));
    assert_true(array_read(PATH, &info, five));
    OK(fbp_phantom_simulate(&p, &scan, PATH,
                            fbp_simulate_params(.noise_i0 = 1000, .seed = 10, .n_threads = 2)));
    assert_true(array_read(PATH, &info, other));
    assert_memory_equal(one, five, sizeof one);
    assert_true(memcmp(one, other, sizeof one) != 0);
    memset(five, 0, sizeof five); /* into memory the same */
    OK(fbp_phantom_simulate(&p, &scan, NULL,
                            fbp_simulate_params(.noise_i0 = 1000, .seed = 9, .samples = five)));
    assert_memory_equal(one, five, sizeof one);
    fbp_phantom_clear(&p);
}

TEST(header_of_projections)
{
    static float data[N];
    struct fbp_view views[NK];
    struct fbp_phantom p = {0};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_CONE,
                            .n_views = NK,
                            .panel = {NC, NR},
                            .views = views};
    struct fbp_array_info info = {.struct_size = sizeof info};

    circle_views(FBP_CONE, 750, views);
    OK(fbp_phantom_simulate(&p, &scan, PATH, fbp_simulate_params(.n_threads = 0)));
    assert_true(array_read(PATH, &info, data));
    assert_int_equal(info.n[2], NK);
    assert_true(fabs(info.spacing_mm[0] - sqrt(36.01)) < 1e-12);
    assert_true(fabs(info.origin_mm[0] + 20 * sqrt(36.01)) < 1e-12);
    for (int i = 0; i < N; i++)
        assert_true(data[i] == 0);
}

TEST(what_cannot_be_simulated)
{
    struct fbp_view view = {.u = {1, 0, 0}, .v = {0, 0, 1}};
    struct fbp_phantom p = {0};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_PLANES,
                            .n_views = 1,
                            .panel = {1, 1},
                            .views = &view};

    assert_int_equal(fbp_phantom_simulate(&p, &scan, PATH, fbp_simulate_params(.n_threads = 1)),
                     FBP_ERR_INVALID);
    scan.kind = FBP_CONE;
    assert_int_equal(
        fbp_phantom_simulate(&p, &scan, PATH, fbp_simulate_params(.noise_i0 = -1, .n_threads = 1)),
        FBP_ERR_INVALID);
    scan.n_views = 0;
    assert_int_equal(fbp_phantom_simulate(&p, &scan, PATH, fbp_simulate_params(.n_threads = 1)),
                     FBP_ERR_INVALID);
    assert_int_equal(
        fbp_phantom_volume(&p, &(struct fbp_grid){.n = {1, 1, 1}}, FBP_CONE, FBP_UNIT_MM, PATH, 1),
        FBP_ERR_INVALID);
}

TEST(volume_is_the_voxels)
{
    const struct fbp_grid g = {{12, 10, 14}, {1, 2, 1.5}, {0, 1, 0}};
    static float data[12 * 10 * 14], direct[12 * 10 * 14];
    struct fbp_array_info info = {.struct_size = sizeof info};

    CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom("shepp-logan", 8, 1);
    OK(fbp_phantom_volume(&p, &g, FBP_CONE, FBP_UNIT_MM, PATH, 3));
    assert_true(array_read(PATH, &info, data));
    OK(fbp_phantom_voxels(&p, &g, 0, 14, direct));
    assert_memory_equal(data, direct, sizeof data);
    assert_contains("1/mm", info.unit); /* not every format keeps it */
    assert_true(fabs(info.origin_mm[1] + 8) < 1e-12);
}

/* The wobble is what its comment promises, and smooth. */
TEST(c_arm)
{
    enum { K = 496 };
    static struct fbp_view views[K];
    static double angles[K];
    const double sod = 820, sdd = 1244;
    const struct fbp_panel panel = {1248, 960};
    const struct fbp_circle circle =
        circle_of(K, angles, sod, sdd, .kind = FBP_CONE, .pitch_mm = {.32, .32});
    double turned = 0, moved_u = 0;

    for (int k = 0; k < K; k++)
        angles[k] = 200 * FBP_PI / 180 * k / K;
    OK(fbp_c_arm_views(&circle, &panel, views));
    for (int k = 0; k < K; k++) {
        const struct fbp_view *v = &views[k];
        double n[3], to_panel[3];
        fbp_cross(v->u, v->v, n);
        fbp_normalise(n);
        fbp_axpy(v->d, -1, v->s, to_panel);
        const double pu = fbp_dot(to_panel, v->u) / .32 / .32;
        const double pv = fbp_dot(to_panel, v->v) / .32 / .32;
        assert_true(fabs(hypot(v->s[0], v->s[1]) - sod) < 1.51);
        assert_true(fabs(v->s[2] + 4.1) < 1.51);
        assert_true(fabs(fbp_dot(n, to_panel) + sdd) < sdd * 7.01 / 3890);
        assert_true(fabs(pu) < 33.01 && fabs(pv) < 10.01);
        assert_true(fabs(fbp_norm(v->u) - .32) < 1e-12 && fabs(fbp_dot(v->u, v->v)) < 1e-12);
        const double turn = acos(n[0] * cos(angles[k]) + n[1] * sin(angles[k]));
        assert_true(turn < .6 * FBP_PI / 180);
        turned = fmax(turned, turn);
        moved_u = fmax(moved_u, fabs(pu));
        for (int i = 0; k > 0 && i < 3; i++)
            assert_true(fabs(v->s[i] - views[k - 1].s[i]) < 820 * .0075);
    }
    assert_true(turned > .1 * FBP_PI / 180 && moved_u > 15);
    assert_int_equal(fbp_c_arm_views(&(struct fbp_circle){.kind = FBP_PARALLEL}, &panel, views),
                     FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
