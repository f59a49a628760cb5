/* Checks phantom files of RTK and LEAP: their objects give the right integrals, and wrong lines
 * are refused by number. */
#include "base/math.h"

#include "test.h"

#define NEAR(a, b, tol) assert_true(fabs((a) - (b)) < (tol))

#define FORBILD FBP_SHARED_DATA "/leap_forbild/FORBILD_head.pd"

static const double WATER = 0.02;

static fbp_status load_text(struct fbp_phantom *p, const char *text)
{
    put_file(FBP_TEST_DIR "/other-phantom.txt", text, strlen(text));
    return fbp_phantom_create(p, FBP_TEST_DIR "/other-phantom.txt", 1, 10);
}

static void load(struct fbp_phantom *p, const char *text)
{
    OK(load_text(p, text));
}

/* Theirs is table 3.1 of Kak and Slaney with y reversed, once their axes are ours. */
TEST(rtk_shepp_logan)
{
    CLEANUP(fbp_phantom_clear) struct fbp_phantom ours, theirs;

    if (access(FBP_SHARED_DATA "/rtk_phantoms/SheppLogan.txt", R_OK) != 0)
        skip();
    OK(fbp_phantom_create(&ours, "shepp-logan-original", 128, 1));
    OK(fbp_phantom_create(&theirs, FBP_SHARED_DATA "/rtk_phantoms/SheppLogan.txt", 1, 1));
    assert_int_equal(theirs.n, ours.n);
    assert_int_equal(theirs.n_shapes, 0);
    for (size_t i = 0; i < ours.n; i++) {
        const struct fbp_ellipsoid *a = &ours.items[i], *b = &theirs.items[i];
        NEAR(b->centre_mm[0], a->centre_mm[0], 1e-9);
        NEAR(b->centre_mm[1], -a->centre_mm[1], 1e-9);
        NEAR(b->centre_mm[2], a->centre_mm[2], 1e-9);
        for (int k = 0; k < 3; k++)
            NEAR(b->axes_mm[k], a->axes_mm[k], 1e-9);
        NEAR(b->turn_deg, -a->turn_deg, 1e-9);
        NEAR(b->density, a->density, 1e-9);
    }
}

/* A cylinder of radius 100 without ends about their y, our z, with a double cone in it. */
TEST(rtk_geometries)
{
    if (access(FBP_SHARED_DATA "/rtk_phantoms/Geometries.txt", R_OK) != 0)
        skip();
    CLEANUP(fbp_phantom_clear)
    struct fbp_phantom p = create_phantom(FBP_SHARED_DATA "/rtk_phantoms/Geometries.txt", 1, 1);
    for (double z = -90; z < 90; z += 7) {
        const double at[3] = {-500, -2, 2 + z}, dir[3] = {1, 0, 0}, r = fabs(z) / 2;
        NEAR(fbp_phantom_line(&p, at, dir), 2 * 200 - .54 * 2 * r, 1e-9);
        const double inside[3] = {2, -2 + .99 * r, 2 + z}, outside[3] = {2, -2 - 1.01 * r, 2 + z};
        NEAR(fbp_phantom_at(&p, inside), 2 - .54, 1e-12);
        NEAR(fbp_phantom_at(&p, outside), 2, 1e-12);
    }
    assert_true(!isfinite(fbp_phantom_line(&p, (double[]){99, 0, 0}, (double[]){0, 0, 1})));
}

TEST(rtk_figures)
{
    struct fbp_phantom p;

    load(&p, "Phantom\n// a box\n\n[Box] A=1 B=2 C=3 x=4 y=5 z=6 gray=.5 # half sides\n"
             "[Ellipsoid] A=30. B=20 C=10 beta=30 gray = 1e-1");
    assert_int_equal(p.n, 1);
    assert_int_equal(p.n_shapes, 1);
    assert_false(p.replace);
    /* (4, 5, 6) is (4, -6, 5) */
    const double all[3] = {4.9, -6 + 2.9, 5 - 1.9}, none[3] = {5.1, -6, 5};
    const double far[3] = {4, -6, 5};
    p.n = 0;
    NEAR(fbp_phantom_at(&p, all), 5, 1e-12);
    NEAR(fbp_phantom_at(&p, none), 0, 1e-12);
    NEAR(fbp_phantom_line(&p, far, (double[]){1, 0, 0}), 2 * 5, 1e-12);
    NEAR(fbp_phantom_line(&p, far, (double[]){0, 1, 0}), 6 * 5, 1e-12);
    NEAR(fbp_phantom_line(&p, far, (double[]){0, 0, 1}), 4 * 5, 1e-12);
    p.n = 1;
    p.n_shapes = 0;
    /* their long axis points to (cos, 0, sin): ours to (cos, -sin, 0) */
    const double c = cos(FBP_PI / 6), s = sin(FBP_PI / 6);
    NEAR(fbp_phantom_at(&p, (double[]){29.9 * c, -29.9 * s, 0}), 1, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){29.9 * c, 29.9 * s, 0}), 0, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){0, 0, 19.9}), 1, 1e-12);
    NEAR(fbp_phantom_at(&p, (double[]){9.9 * s, 9.9 * c, 0}), 1, 1e-12);
    fbp_phantom_clear(&p);

    /* a turned cylinder about their x: an ellipse in the plane across (cos, -sin, 0) */
    load(&p, "[Cylinder] A=0 B=20 C=10 beta=30 gray=.1\n");
    NEAR(fbp_phantom_line(&p, (double[]){500 * c, -500 * s, 0}, (double[]){s, c, 0}), 20, 1e-9);
    NEAR(fbp_phantom_line(&p, (double[]){500 * c, -500 * s, 0}, (double[]){0, 0, 1}), 40, 1e-9);
    fbp_phantom_clear(&p);
}

/* Integral along +x, +y or +z through a point in mm, in units of water. */
static double through(const struct fbp_phantom *p, double x, double y, double z, int axis)
{
    const double at[3] = {x, y, z}, dir[3] = {axis == 0, axis == 1, axis == 2};
    return fbp_phantom_line(p, at, dir) / (10 * WATER); /* the scale of load_text() */
}

TEST(leap_objects)
{
    struct fbp_phantom p;

    /* centimetres, whole and half sizes, expressions in degrees, comments; the first counts */
    load(&p, "# a head\nunits=cm\n\n"
             "{type=ball; x=1; r=(1+1)/4; rhoe=2*0.554;} # inner\n"
             "{ type = box;\n  rx=2*cos(60); dy=sqrt(16); rz=-(-3); rhoe=0.554 }\n");
    assert_int_equal(p.n_shapes, 2);
    assert_true(p.replace);
    NEAR(through(&p, 0, 0, 0, 1), 40, 1e-9);
    NEAR(through(&p, 0, 0, 0, 2), 60, 1e-9);
    NEAR(through(&p, 0, 0, 0, 0), 15 + 2 * 10, 1e-9); /* half the ball is beside the box */
    NEAR(through(&p, 9, 0, 0, 1), 40 + 2 * sqrt(24), 1e-9);
    fbp_phantom_clear(&p);

    load(&p, "units=mm\n{type=cylinder; rx=3; ry=2; dz=10; az=(0,1,0); ax=(0,0,2); rhoe=.554;}");
    NEAR(through(&p, 0, 0, 0, 1), 10, 1e-9);
    NEAR(through(&p, 0, 0, 0, 2), 6, 1e-9);
    NEAR(through(&p, 0, 0, 0, 0), 4, 1e-9);
    fbp_phantom_clear(&p);

    /* radius 6 at y = -5, 2 at y = 5; then the other way round, then the same at both ends */
    load(&p, "units=mm\n{type=cone_y; rx=6; ry=5; rz=2; rhoe=.554;}");
    NEAR(through(&p, 0, -4.999999, 0, 0), 12, 1e-5);
    NEAR(through(&p, 0, 4.999999, 0, 2), 4, 1e-5);
    NEAR(through(&p, 0, 0, 0, 0), 8, 1e-9);
    NEAR(through(&p, 0, 0, 0, 1), 10, 1e-9);
    NEAR(through(&p, 0, 5.001, 0, 0), 0, 1e-9);
    fbp_phantom_clear(&p);
    load(&p, "units=mm\n{type=cone_x; rx=5; ry=0; rz=2; x=1; rhoe=.554;}");
    NEAR(through(&p, 6 - 1e-7, 0, 0, 1), 4, 1e-5);
    NEAR(through(&p, 1, 0, 0, 2), 2, 1e-9);
    NEAR(through(&p, 0, 0, 0, 0), 10, 1e-9);
    fbp_phantom_clear(&p);
    load(&p, "units=mm\n{type=cone_z; rx=3; ry=3.000001; rz=5; rhoe=.554;}");
    NEAR(through(&p, 0, 0, -5 + 1e-9, 0), 6, 1e-5);
    NEAR(through(&p, 0, 0, 5 - 1e-9, 0), 6.000002, 1e-5);
    NEAR(through(&p, 0, 0, 0, 2), 10, 1e-5);
    fbp_phantom_clear(&p);
    load(&p, "units=mm\n{type=cone_z; rx=3; ry=3; rz=5; rhoe=.554;}");
    NEAR(through(&p, 0, 0, 4.9, 0), 6, 1e-9);
    NEAR(through(&p, 2.9, 0, 0, 2), 10, 1e-9);
    fbp_phantom_clear(&p);

    load(&p, "units=cm\n{type=sphere; x=2; r=1; clipx<2.5; clipz>-.5; rhoe=.554;}");
    NEAR(through(&p, 20, 0, 0, 0), 15, 1e-9);
    NEAR(through(&p, 20, 0, 0, 2), 15, 1e-9);
    NEAR(through(&p, 26, 0, 0, 2), 0, 1e-9);
    fbp_phantom_clear(&p);
}

TEST(forbild_points)
{
    static const struct {
        double x, y, z, density; /* cm, of water */
    } at[] = {
        {0, 0, 12.2, 1.8},     {0, 0, 5, 1.05},       {4.7, 4.3, .9, 1.06},   {-4.7, 4.3, .9, 1.06},
        {0, -3.6, 3, 1.045},   {1.08, -9, 0, 1.0475}, {-1.08, -9, 0, 1.0525}, {0, 7, 1, 0},
        {6.4, -6.4, 1, 1.055}, {4.3, 6.8, .9, 1.8},   {4.3, 6.8, 1.1, 1.05},  {0, 3.6, 0, 1.8},
        {.3, -11.2, .2, 1.8},  {.3, -10.6, .2, 1.05}, {9.05, 0, 1.3, 1.8},    {8.8, 0, 0, 0},
        {9.3, 0, 0, 1.8},      {9.7, 0, 0, 0},
    };

    if (access(FORBILD, R_OK) != 0)
        skip();
    CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom(FORBILD, 1, 1);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const double x[3] = {10 * at[i].x, 10 * at[i].y, 10 * at[i].z};
        NEAR(fbp_phantom_at(&p, x), at[i].density * WATER, 1e-9);
    }
}

/* Lines by fine steps of the point test. */
TEST(forbild_lines)
{
    unsigned seed = 3;

    if (access(FORBILD, R_OK) != 0)
        skip();
    CLEANUP(fbp_phantom_clear) struct fbp_phantom p = create_phantom(FORBILD, 1, 1);
    for (int i = 0; i < 12; i++) {
        const double step = .1;
        double at[3] = {60 * random01(&seed), 20 * random01(&seed) - 10, 20 * random01(&seed) - 10};
        double dir[3] = {random01(&seed) - .5, random01(&seed) - .5, random01(&seed) - .5}, sum = 0;
        fbp_normalise(dir);
        for (int j = -3000; j < 3000; j++) {
            double x[3];
            fbp_axpy(at, (j + .5) * step, dir, x);
            sum += fbp_phantom_at(&p, x) * step;
        }
        NEAR(fbp_phantom_line(&p, at, dir) / sum, 1, 2e-3);
    }
}

/* Sum of the values of one parallel view, or of the voxels, times what each stands for. */
static double mass_by_lines(const struct fbp_phantom *p, double angle)
{
    enum { N = 260 };
    struct fbp_view view = {
        .s = {cos(angle), sin(angle), 0}, .u = {-sin(angle), cos(angle), 0}, .v = {0, 0, 1}};
    const struct fbp_scan scan = {.struct_size = sizeof scan,
                                  .kind = FBP_PARALLEL,
                                  .n_views = 1,
                                  .views = &view,
                                  .panel = {N, N}};
    AUTO_FREE float *values = not_null(malloc(sizeof(float) * N * N));
    double sum = 0;

    const char *path = FBP_TEST_DIR "/mass.npy";
    OK(fbp_phantom_simulate(p, &scan, path, fbp_simulate_params(.n_threads = 2)));
    fbp_source *source = open_source(path, NULL);
    OK(fbp_source_read(source, 0, 1, 0, N, FBP_F32, values));
    fbp_source_close(&source);
    for (int i = 0; i < N * N; i++)
        sum += (double)values[i];
    return sum;
}

static double mass_by_voxels(const struct fbp_phantom *p)
{
    enum { N = 104 };
    const struct fbp_grid g = {.n = {N, N, N}, .voxel_mm = {2.5, 2.5, 2.5}};
    AUTO_FREE float *slice = not_null(malloc(sizeof(float) * N * N));
    double sum = 0;

    for (size_t z = 0; z < N; z++) {
        OK(fbp_phantom_voxels(p, &g, z, z + 1, slice));
        for (int i = 0; i < N * N; i++)
            sum += (double)slice[i];
    }
    return sum * 2.5 * 2.5 * 2.5;
}

/* The head's mass by two views and by its voxels; without the ear's cells, all of bone, it is
 * heavier by what they would hold. */
TEST(forbild_mass)
{
    CLEANUP(fbp_phantom_clear) struct fbp_phantom p, no_ear;

    if (access(FORBILD, R_OK) != 0)
        skip();
    OK(fbp_phantom_create(&p, FORBILD, 1, 1));
    OK(fbp_phantom_create(&no_ear, FBP_SHARED_DATA "/leap_forbild/FORBILD_head_noEar.pd", 1, 1));
    const double front = mass_by_lines(&p, 0), slanted = mass_by_lines(&p, 1);
    const double voxels = mass_by_voxels(&p), solid = mass_by_voxels(&no_ear);
    const double cell = 4. / 3 * FBP_PI * 1.5 * 1.5 * 1.5 * 1.8 * WATER;
    const double cells = (double)(p.n_shapes - no_ear.n_shapes) * cell;
    print_message("FORBILD head: %zu objects, mass by lines %.4f %.4f, by voxels %.4f; %zu cells "
                  "%.4f, missing %.4f\n",
                  p.n_shapes, front, slanted, voxels, p.n_shapes - no_ear.n_shapes, cells,
                  solid - voxels);
    NEAR(front / voxels, 1, 1e-4);
    NEAR(slanted / voxels, 1, 1e-4);
    NEAR((solid - voxels) / cells, 1, 1e-2);
}

struct wrong {
    const char *text, *message;
};

static const struct wrong wrong_rtk[] = {
    {"[Sphere] A=1 gray=1", ":1: unknown figure [Sphere]"},
    {"\n[Box A=1", ":2: [Box is not closed"},
    {"[Box] A=1 B=1 C=1 grey=1", ":1: unknown name 'grey'"},
    {"[Box] A=1 B=1 C=1 gray", ":1: gray is not followed by '='"},
    {"[Box] A=1 B=1 C=1 A=2 gray=1", ":1: A is given twice"},
    {"[Box] A=1 B=1 C=x gray=1", ":1: not a number: 'x'"},
    {"[Box] A=1 B=1 C=1e999 gray=1", ":1: not a number: '1e999'"},
    {"[Box] A=1 B=1 C=1", ":1: gray= is missing"},
    {"[Box] B=1 C=1 gray=1", ":1: A= is missing"},
    {"[Box] A=1 B=1 C=1 gray=1 ;", ":1: expected NAME=VALUE, found ';'"},
    {"[Box] A=1 B=1 C=1 beta=3 gray=1", ":1: beta=3: RTK does not rotate boxes"},
    {"[Box] A=1 B=1 C=0 gray=1", ":1: [Box] with A=1 B=1 C=0: all three"},
    {"[Ellipsoid] A=1 B=1 C=-1 gray=1", ":1: [Ellipsoid] with A=1 B=1 C=-1: all three"},
    {"[Cylinder] A=1 B=1 C=1 gray=1", "one must be 0"},
    {"[Cylinder] A=0 B=1 C=0 gray=1", "one must be 0"},
    {"[Cone] A=1 B=1 C=1 gray=1", "one must be negative"},
    {"Phantom\n[Box] A=1 B=1 C=1 gray=1\nEllipsoid", ":3: expected a [Figure] or"},
};

static const struct wrong wrong_leap[] = {
    {"{type=ball; r=1; rhoe=1;}", ":1: the units are missing"},
    {"units=inch\n{type=ball; r=1; rhoe=1;}", ":1: unknown units 'inch'"},
    {"units=cm\n{type=ball; r=1; rhoe=1;}\nball", ":3: expected units=cm"},
    {"units=cm\n{type=bal; r=1; rhoe=1;}", ":2: unknown type 'bal'"},
    {"units=cm\n{type=ball; type=ball;}", ":2: type is given twice"},
    {"units=cm\n{r=1; rhoe=1;}", ":2: type= is missing"},
    {"units=cm\n\n{type=ball; r=1;\n}", ":3: rhoe= is missing"},
    {"units=cm\n{type=ball; rhoe=1;}", ":2: the size along x is missing"},
    {"units=cm\n{type=ball; r=0; rhoe=1;}", ":2: the size along x must be positive"},
    {"units=cm\n{type=box; rx=1; ry=1; rz=-1; rhoe=1;}", ":2: the size along z must be"},
    {"units=cm\n{type=box; rx=1; dx=2;}", ":2: dx is given twice, perhaps under"},
    {"units=cm\n{type=ball; r=1; r=1;}", ":2: r is given twice"},
    {"units=cm\n{type=ball; colour=1;}", ":2: unknown name 'colour'"},
    {"units=cm\n{type=ball; material=bone;}", ":2: material: fbp has no table"},
    {"units=cm\n{type ball;}", ":2: type is not followed by '='"},
    {"units=cm\n{[Sphere: r=1]}", ":2: expected NAME=VALUE"},
    {"units=cm\n{type=ball; r=1; rhoe=1; ", ":2: the object of line 2 is not closed"},
    {"units=cm\n{type=ball r=1;}", ":2: expected ';' or '}' before 'r=1'"},
    {"units=cm\n{x=1+;}", ":2: not a number: ''"},
    {"units=cm\n{x=(1;}", ":2: '(' is not closed"},
    {"units=cm\n{x=exp(1);}", ":2: 'exp' is not a function"},
    {"units=cm\n{x=sin 1;}", ":2: sin is not followed by '('"},
    {"units=cm\n{x=cos(1;}", ":2: cos( is not closed"},
    {"units=cm\n{x=1/0;}", ":2: an expression is not finite"},
    {"units=cm\n{x=sqrt(-1);}", ":2: an expression is not finite"},
    {"units=cm\n{x=((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))));}",
     ":2: more than 32 nested expressions"},
    {"units=cm\n{ax=1;}", ":2: ax: expected (X, Y, Z)"},
    {"units=cm\n{ax=(0,0,0);}", ":2: ax: the direction must not be 0"},
    {"units=cm\n{type=ball; r=1; rhoe=1; ax=(1,0,0);}", ":2: one of ax, ay, az"},
    {"units=cm\n{type=ball; r=1; rhoe=1; ax=(1,0,0); ay=(1,1,0);}", ":2: ax and ay must be at"},
    {"units=cm\n{clipx=1;}", ":2: clipx: expected < or >"},
    {"units=cm\n{clipx<1;clipx<1;clipx<1;clipx<1;clipx<1;clipx<1;clipx<1;clipx<1;clipx<1;}",
     ":2: more than 8 clips"},
    {"units=cm\n{type=cone_x; rx=1; ry=0; rz=0; rhoe=1;}", ":2: the cone has two radii of 0"},
};

static void refuse(const struct wrong *bad, size_t n)
{
    struct fbp_phantom p;

    for (size_t i = 0; i < n; i++) {
        if (load_text(&p, bad[i].text) != FBP_ERR_INVALID)
            fail_msg("accepted: %s", bad[i].text);
        if (!strstr(fbp_message(), bad[i].message) || !strstr(fbp_message(), "other-phantom.txt"))
            fail_msg("'%s' without '%s'", fbp_message(), bad[i].message);
        assert_null(p.items);
        assert_null(p.shapes);
    }
}

TEST(wrong_input)
{
    refuse(wrong_rtk, sizeof wrong_rtk / sizeof *wrong_rtk);
    refuse(wrong_leap, sizeof wrong_leap / sizeof *wrong_leap);
}

TEST(a_byte_of_0_is_refused)
{
    struct fbp_phantom p;

    put_file(FBP_TEST_DIR "/zero-phantom.txt", "1 2 3 4 5 6 7 8\n\0junk", 21);
    assert_fails(fbp_phantom_create(&p, FBP_TEST_DIR "/zero-phantom.txt", 1, 1), FBP_ERR_INVALID,
                 "zero-phantom.txt:2: a byte of value 0");
}

TEST_MAIN(NULL, NULL)
