/* Detectors that are rolled in their own plane, and circles about any axis: values inside balls off
 * the axis and off the mid-plane, against an upright detector that turns about z.  Projections are
 * analytic. */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { COLUMNS = 160, ROWS = 128, N = 88, BALLS = 3, VIEWS = 180 };
static const double SOD = 500, SDD = 800;
/* centre, radius, value; the last one is small: 8 pixels */
static const double balls[BALLS][5] = {
    {32, 12, 22, 14, 0.02}, {-26, -24, -20, 12, 0.03}, {-8, 34, 4, 8, 0.025}};
static const double tolerance[BALLS] = {0.0005, 0.0005, 0.002};

struct log {
    size_t n;
    char text[1200];
};

/* Those about the detector's rows. */
static void keep_warnings(void *user, enum fbp_log_level level, const char *line)
{
    struct log *log = user;

    if (level != FBP_LOG_WARNING || !(strstr(line, "tilted") || strstr(line, "rolled")))
        return;
    log->n++;
    snprintf(log->text, sizeof log->text, "%s", line);
}

struct setup {
    enum fbp_kind kind;
    double arc_deg, offset_mm, roll_deg;
    double jitter_deg; /* of the roll, from view to view */
    bool short_rows;   /* a panel with pixels of 1 x 2 */
    double centre[3];  /* of the circle; scan and balls are moved, */
    double tilt_deg;   /* and turned about x before that */
    bool matrices;     /* views are those of 3x4 matrices, which have no sign */
};

/* A place or a direction (weight 0) of the moved world. */
static void move(const struct setup *s, double weight, double x[3])
{
    const double c = cos(s->tilt_deg * PI / 180), q = sin(s->tilt_deg * PI / 180);
    const double y = c * x[1] - q * x[2], z = q * x[1] + c * x[2];

    x[0] += weight * s->centre[0];
    x[1] = y + weight * s->centre[1];
    x[2] = z + weight * s->centre[2];
}

static struct fbp_scan make_scan(const struct setup *s)
{
    const double pitch = s->kind == FBP_CONE ? 1.6 : 1;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = s->kind,
                            .n_views = VIEWS,
                            .panel = {COLUMNS, s->short_rows ? ROWS / 2 : ROWS},
                            .views = calloc(VIEWS, sizeof *scan.views),
                            .volume = {.n = {N, N, N},
                                       .voxel_mm = {1.2, 1.2, 1.2},
                                       .centre_mm = {s->centre[0], s->centre[1], s->centre[2]}}};

    assert_non_null(scan.views);
    for (int k = 0; k < VIEWS; k++) {
        const double b = s->arc_deg * PI / 180 * k / VIEWS, c = cos(b), q = sin(b);
        const double roll = (s->roll_deg + s->jitter_deg * sin(1.7 * k)) * PI / 180;
        const double t[3] = {-q, c, 0}, z[3] = {0, 0, 1};
        const double far = s->kind == FBP_CONE ? SOD - SDD : 0;
        struct fbp_view *v = &scan.views[k];
        for (int i = 0; i < 3; i++) {
            const double n = i == 0 ? c : i == 1 ? q : 0;
            v->s[i] = s->kind == FBP_CONE ? SOD * n : n;
            v->u[i] = pitch * (cos(roll) * t[i] + sin(roll) * z[i]);
            v->v[i] = (s->short_rows ? 2 : 1) * pitch * (cos(roll) * z[i] - sin(roll) * t[i]);
            v->d[i] = far * n + s->offset_mm * t[i];
        }
        move(s, s->kind == FBP_CONE, v->s);
        move(s, 1, v->d);
        move(s, 0, v->u);
        move(s, 0, v->v);
        if (s->matrices) {
            double P[12];
            OK(fbp_view_to_matrix(v, s->kind, &scan.panel, P));
            OK(fbp_view_from_matrix(P, pitch, &scan.panel, v));
        }
    }
    return scan;
}

/* Length of the ray through x along e in a ball. */
static double chord(const double x[3], const double e[3], const double ball[5])
{
    double along = 0, square = 0;

    for (int i = 0; i < 3; i++)
        along += (ball[i] - x[i]) * e[i];
    for (int i = 0; i < 3; i++)
        square += (ball[i] - x[i] - along * e[i]) * (ball[i] - x[i] - along * e[i]);
    const double rest = ball[3] * ball[3] - square;
    return rest > 0 ? 2 * sqrt(rest) : 0;
}

static void move_balls(const struct setup *s, double out[BALLS][5])
{
    memcpy(out, balls, sizeof balls);
    for (int m = 0; m < BALLS; m++)
        move(s, 1, out[m]);
}

/* Means over 3 x 3 rays per pixel. */
static float *project(const struct fbp_scan *scan, const struct setup *setup)
{
    double moved[BALLS][5];
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    float *p = calloc(scan->n_views * nr * nc, sizeof *p), *out = p;

    assert_non_null(p);
    move_balls(setup, moved);
    for (size_t k = 0; k < scan->n_views; k++)
        for (size_t r = 0; r < nr; r++)
            for (size_t c = 0; c < nc; c++, out++)
                for (int i = 0; i < 9; i++) {
                    const struct fbp_view *v = &scan->views[k];
                    const double a = (double)c - ((double)nc - 1) / 2 + (i % 3 - 1) / 3.0;
                    const double b = (double)r - ((double)nr - 1) / 2 + (i / 3 - 1) / 3.0;
                    double x[3], e[3], size = 0;
                    for (int j = 0; j < 3; j++) {
                        x[j] = v->d[j] + a * v->u[j] + b * v->v[j];
                        e[j] = scan->kind == FBP_CONE ? x[j] - v->s[j] : v->s[j];
                        size += e[j] * e[j];
                    }
                    for (int j = 0; j < 3; j++)
                        e[j] /= sqrt(size);
                    for (int m = 0; m < BALLS; m++)
                        *out += (float)(balls[m][4] * chord(x, e, moved[m]) / 9);
                }
    return p;
}

/* Mean of each ball within 0.75 radii, and the rms error there, as parts of its value. */
static void look(const struct fbp_scan *scan, const struct setup *setup, const float *values,
                 double mean[BALLS], double *rms)
{
    double squares = 0, all = 0, moved[BALLS][5];

    move_balls(setup, moved);
    for (int m = 0; m < BALLS; m++) {
        double sum = 0, n = 0;
        for (size_t i = 0; i < (size_t)N * N * N; i++) {
            const size_t at[3] = {i % N, i / N % N, i / N / N};
            double square = 0;
            for (int j = 0; j < 3; j++) {
                const double x = scan->volume.centre_mm[j] +
                                 ((double)at[j] - (N - 1) / 2.0) * scan->volume.voxel_mm[j];
                square += (x - moved[m][j]) * (x - moved[m][j]);
            }
            if (square > 0.5625 * balls[m][3] * balls[m][3])
                continue;
            const double value = (double)values[i] / balls[m][4];
            sum += value;
            n++;
            squares += (value - 1) * (value - 1);
            all++;
        }
        mean[m] = sum / n;
    }
    *rms = sqrt(squares / all);
}

static void reconstruct_balls(const struct setup *s, double mean[BALLS], double *rms)
{
    AUTO_DROP struct fbp_scan scan = make_scan(s);
    AUTO_FREE float *p = project(&scan, s);

    scan.projections =
        write_array("roll.mha", scan.panel.n_columns, scan.panel.n_rows, scan.n_views, p);
    AUTO_FREE float *v = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    look(&scan, s, v, mean, rms);
}

/* The rms error, too, grows little: edges are sampled anew. */
TEST(values_are_those_of_an_upright_detector)
{
    static const struct {
        struct setup upright;
        double roll_deg[3], jitter_deg;
    } cases[] = {
        {{.kind = FBP_CONE, .arc_deg = 360}, {0.06, 3, -30}, 0},
        {{.kind = FBP_CONE, .arc_deg = 360, .offset_mm = 60}, {1, -4, 30}, 0},
        {{.kind = FBP_CONE, .arc_deg = 360, .offset_mm = -45}, {-2, 8}, 1},
        {{.kind = FBP_CONE, .arc_deg = 220}, {8}, 0.5},
        {{.kind = FBP_PARALLEL, .arc_deg = 180}, {12}, 0},
        {{.kind = FBP_PARALLEL, .arc_deg = 360, .offset_mm = 40}, {-5, 45 - 1e-3}, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double upright[BALLS], mean[BALLS], rms0, rms;
        reconstruct_balls(&cases[i].upright, upright, &rms0);
        for (int r = 0; r < 3 && cases[i].roll_deg[r] != 0; r++) {
            struct setup rolled = cases[i].upright;
            rolled.roll_deg = cases[i].roll_deg[r];
            rolled.jitter_deg = cases[i].jitter_deg;
            reconstruct_balls(&rolled, mean, &rms);
            print_message("%s %g deg, offset %g mm, roll %5g +- %g: means %+.3f %+.3f %+.3f %%, "
                          "rms %.2f %%, upright %.2f %%\n",
                          rolled.kind == FBP_CONE ? "cone" : "parallel", rolled.arc_deg,
                          rolled.offset_mm, rolled.roll_deg, rolled.jitter_deg,
                          100 * (mean[0] / upright[0] - 1), 100 * (mean[1] / upright[1] - 1),
                          100 * (mean[2] / upright[2] - 1), 100 * rms, 100 * rms0);
            for (int m = 0; m < BALLS; m++)
                assert_true(fabs(mean[m] / upright[m] - 1) < tolerance[m]);
            assert_true(rms < rms0 + 0.0015);
        }
    }
}

/* Wherever the circle is, and whatever its axis: as about z through the origin. */
TEST(circles_anywhere)
{
    static const struct setup setups[] = {
        {.kind = FBP_CONE,
         .arc_deg = 360,
         .centre = {20, 12, -30},
         .tilt_deg = 3,
         .matrices = true},
        {.kind = FBP_CONE, .arc_deg = 360, .centre = {40, -130, 225}, .matrices = true},
        {.kind = FBP_CONE, .arc_deg = 200, .centre = {40, 0, 0}, .tilt_deg = 30, .matrices = true},
        {.kind = FBP_CONE,
         .arc_deg = 360,
         .offset_mm = 60,
         .centre = {-15, 700, 5},
         .tilt_deg = 75,
         .matrices = true},
        {.kind = FBP_CONE, .arc_deg = 360, .offset_mm = -45, .roll_deg = 3, .centre = {900, 0, 12}},
        {.kind = FBP_PARALLEL, .arc_deg = 360, .offset_mm = 40, .centre = {30, 12, 50}},
    };

    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        struct setup about_z = setups[i];
        double mean[BALLS], plain[BALLS], rms, plain_rms, worst = 0;
        memset(about_z.centre, 0, sizeof about_z.centre);
        about_z.tilt_deg = 0;
        reconstruct_balls(&about_z, plain, &plain_rms);
        reconstruct_balls(&setups[i], mean, &rms);
        for (int m = 0; m < BALLS; m++)
            worst = fmax(worst, fabs(mean[m] / plain[m] - 1));
        print_message(
            "%s %g deg, offset %g mm, about (%g, %g, %g) mm, tilted by %g deg: %.4f %%, rms "
            "%.3f %%, about z %.3f %%\n",
            setups[i].kind == FBP_CONE ? "cone" : "parallel", setups[i].arc_deg,
            setups[i].offset_mm, setups[i].centre[0], setups[i].centre[1], setups[i].centre[2],
            setups[i].tilt_deg, 100 * worst, 100 * rms, 100 * plain_rms);
        assert_true(worst < 1e-4);
    }
}

static struct fbp_plan_summary prepared(const struct fbp_scan *scan, struct log *log)
{
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;

    OK(fbp_plan_create(
        &plan, scan,
        fbp_recon_params(.device = "cpu", .callbacks.log = keep_warnings, .callbacks.user = log)));
    return *fbp_plan_info(plan);
}

/* Views are left alone within 0.05 degrees, and if they are filtered; one row cannot be turned. */
TEST(scans_that_are_not_resampled)
{
    const struct setup setup = {.kind = FBP_CONE, .arc_deg = 360, .roll_deg = 0.04},
                       rolled = {.arc_deg = 360, .roll_deg = 2};
    AUTO_DROP struct fbp_scan scan = make_scan(&setup), one = make_scan(&rolled);
    struct log log = {.n = 0};
    AUTO_FREE float *p = project(&scan, &setup);

    scan.projections = write_array("p.mha", scan.panel.n_columns, scan.panel.n_rows, VIEWS, p);
    assert_string_equal(prepared(&scan, &log).prepared, "");
    assert_int_equal(log.n, 0);
    one.panel.n_rows = 1;
    one.projections = write_array("p.mha", one.panel.n_columns, 1, VIEWS, p);
    assert_string_equal(prepared(&one, &log).prepared, "");
    assert_int_equal(log.n, 1);
    assert_contains(log.text, "the detector's only row");
}

/* Sources that lie off a circle by as much as their centre lies beside the origin leave the origin
 * where it is; else a volume is placed at the centre that is found. */
TEST(the_origin_moves_only_if_it_must)
{
    const struct setup off = {.arc_deg = 220, .centre = {3, -2, 40}};
    AUTO_DROP struct fbp_scan scan = make_scan(&off);
    AUTO_FREE float *p = project(&scan, &off);
    struct log log = {.n = 0};

    scan.volume = (struct fbp_grid){.n = {0}};
    scan.projections = write_array("p.mha", scan.panel.n_columns, scan.panel.n_rows, VIEWS, p);
    struct fbp_plan_summary plan = prepared(&scan, &log);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(plan.volume.centre_mm[i] - off.centre[i]) < 1e-6);
    assert_contains(plan.weights, "axis through (3, -2, 40) mm");
    for (int k = 0; k < VIEWS; k++) {
        const double wobble = 2 * sin(7.3 * k + 0.4 * k * k);
        for (int i = 0; i < 2; i++)
            scan.views[k].s[i] += wobble * (scan.views[k].s[i] - off.centre[i]) / SOD;
    }
    plan = prepared(&scan, &log);
    assert_null(strstr(plan.weights, "axis through"));
    assert_int_equal(log.n, 0);
}

/* Bits depend neither on slabs, memory, threads, order of rows and devices, nor on whether a scan
 * is followed, or done in parts; darks, flats and bad pixels are those of measured pixels. */
TEST(bits_are_those_of_one_run)
{
    const struct setup setup = {.kind = FBP_CONE, .arc_deg = 360, .offset_mm = 50, .roll_deg = 3};
    AUTO_DROP struct fbp_scan scan = make_scan(&setup);
    const size_t nc = scan.panel.n_columns, nr = scan.panel.n_rows, n = nc * nr;
    AUTO_FREE float *p = project(&scan, &setup), *mask = calloc(n, sizeof *mask),
                    *turned = malloc(n * VIEWS * sizeof *p);
    double mean[BALLS], plain[BALLS], rms, plain_rms;

    assert_true(mask && turned);
    scan.projections = write_array("p.mha", nc, nr, VIEWS, p);
    float *values = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    look(&scan, &setup, values, plain, &plain_rms);
    free(values);
    for (size_t i = 0; i < 40; i++)
        mask[(i * 7919) % n] = 1;
    count_photons(&scan, p, mask);
    replace_samples(&scan, p);
    values = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    look(&scan, &setup, values, mean, &rms);
    for (int m = 0; m < BALLS; m++)
        assert_true(fabs(mean[m] / plain[m] - 1) < 1e-4);
    const uint64_t hash = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    const struct fbp_recon_params others[] = {
        {.struct_size = sizeof *others, .device = "cpu", .tuning.slab_slices = 7},
        {.struct_size = sizeof *others, .device = "cpu", .tuning.batch_views = 5, .n_threads = 3},
        {.struct_size = sizeof *others, .device = "cpu", .tuning.no_overlap = true},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (reconstruct_hash(&scan, &others[i]) != hash)
            fail_msg("run %zu has other bits", i);
    const uint64_t column =
        reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "column"));
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "column",
                                                         .input.follow = true)) == column);
    const uint64_t mock = reconstruct_hash(&scan, fbp_recon_params(.device = "mock"));
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "mock:0,1",
                                                         .tuning.slab_slices = 9)) == mock);

    AUTO_FREE char *path = temporary("parts.mha");
    for (size_t part = 1; part <= 2; part++) {
        OK(reconstruct_to(
            &scan, fbp_recon_params(.device = "cpu", .cluster.part = part, .cluster.n_parts = 2),
            path, NULL));
    }
    AUTO_FREE float *parts = read_array(path);
    assert_memory_equal(parts, values, (size_t)N * N * N * sizeof *parts);
    remove(path);

    for (size_t k = 0; k < VIEWS; k++)
        for (size_t r = 0; r < nr; r++)
            memcpy(turned + k * n + r * nc, p + k * n + (nr - 1 - r) * nc, nc * sizeof *p);
    replace_samples(&scan, turned);
    char *const images[] = {scan.dark, scan.flat, scan.bad_pixels};
    for (int i = 0; i < 3; i++) {
        AUTO_FREE float *image = read_array(images[i]);
        for (size_t r = 0; r < nr; r++)
            memcpy(turned + r * nc, image + (nr - 1 - r) * nc, nc * sizeof *image);
        remove(images[i]);
        AUTO_FREE char *again = write_array(i == 0   ? "dark.mha"
                                            : i == 1 ? "flat.mha"
                                                     : "mask.mha",
                                            nc, nr, 1, turned);
    }
    scan.row_order = FBP_ROWS_TOP_DOWN;
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "cpu")) == hash);
    free(values);
}

TEST_MAIN(NULL, NULL)
