/* Checks that the rotation axis is found to a tenth of a column, and that an unreliable result is
 * reported as such. */
#include "geometry/view.h"
#include "recon/fixture.h"

#define TOOTH FBP_SHARED_DATA "/tooth_parallel_aps/tooth.h5"

enum { COLUMNS = 161, ROWS = 9 };

/* A head about the axis or beside it, some balls, one, or one about the axis; all in mm. */
enum object { HEAD, HEAD_BESIDE, BALLS, ONE_BALL, ROUND };

static const struct scan_case {
    const char *name;
    enum fbp_kind kind;
    size_t views;
    double arc_deg;
    double offset; /* of the panel, in columns */
    enum object object;
    double photons; /* a pixel; 0: no noise */
    double rings;   /* greatest error of a column, in line integrals */
    size_t rows;
    size_t finer; /* samples a column, of which each is the mean */
} cases[] = {
    {"cone, full", FBP_CONE, 180, 360, 3.3, HEAD, 2e4, .02, ROWS, 1},
    {"cone, full, beside the axis", FBP_CONE, 181, -360, -7.8, HEAD_BESIDE, 2e4, .02, ROWS, 1},
    {"cone, full, balls", FBP_CONE, 240, 360, 0.4, BALLS, 1e4, .05, ROWS, 1},
    {"cone, full, 60 views", FBP_CONE, 60, 360, 5.1, HEAD, 2e4, .02, ROWS, 1},
    {"cone, full, 45 views, one ball", FBP_CONE, 45, 360, 12.7, ONE_BALL, 2e4, .02, ROWS, 1},
    {"cone, short", FBP_CONE, 200, 210, 2.6, HEAD, 2e4, 0, ROWS, 1},
    {"cone, short, beside, rings", FBP_CONE, 200, 215, -4.2, HEAD_BESIDE, 2e4, .02, ROWS, 1},
    {"cone, short, balls", FBP_CONE, 150, -220, 1.9, BALLS, 2e4, .01, ROWS, 1},
    {"cone, 270 degrees", FBP_CONE, 180, 270, -3.3, HEAD, 2e4, .02, ROWS, 1},
    {"fan, full", FBP_CONE, 360, 360, -2.35, HEAD, 2e4, .02, 1, 1},
    {"fan, short", FBP_CONE, 300, 230, 4.45, BALLS, 2e4, .01, 1, 1},
    {"parallel, half turn", FBP_PARALLEL, 180, 180, 6.2, HEAD, 0, 0, ROWS, 1},
    {"parallel, half turn, noise", FBP_PARALLEL, 180, 180, 3.65, HEAD, 2e4, .01, ROWS, 1},
    {"parallel, half turn, beside", FBP_PARALLEL, 240, 180, -5.3, HEAD_BESIDE, 2e4, .01, ROWS, 1},
    {"parallel, half turn, balls", FBP_PARALLEL, 180, -180, 9.9, BALLS, 2e4, .01, ROWS, 1},
    {"parallel, 90 views", FBP_PARALLEL, 90, 180, -1.15, BALLS, 2e4, 0, ROWS, 1},
    {"parallel, full turn", FBP_PARALLEL, 240, 360, 3.65, HEAD, 2e4, .05, ROWS, 1},
    {"parallel, full turn, one row", FBP_PARALLEL, 361, 360, -8.1, BALLS, 1e4, .02, 1, 1},
    {"half turn, strong rings", FBP_PARALLEL, 240, 180, -5.3, HEAD_BESIDE, 0, .1, ROWS, 8},
    {"half turn, strong rings, few photons", FBP_PARALLEL, 360, 180, .25, BALLS, 1000, .1, ROWS, 4},
    {"half turn, 300 photons", FBP_PARALLEL, 720, 180, 7.7, BALLS, 300, .05, ROWS, 4},
    {"half turn, inclusive", FBP_PARALLEL, 181, 181, 2.65, HEAD, 0, .05, 1, 8},
    {"half turn, off by a quarter", FBP_PARALLEL, 240, -180, .25, HEAD_BESIDE, 0, 0, ROWS, 8},
    {"offset panel", FBP_CONE, 360, 360, 30.7, HEAD, 2e4, .02, ROWS, 1},
    {"offset panel, the other way", FBP_CONE, 360, -360, -41.2, BALLS, 2e4, .02, ROWS, 1},
    {"offset panel, parallel", FBP_PARALLEL, 360, 360, 47.6, HEAD_BESIDE, 2e4, .02, ROWS, 1},
};

static void add_ball(struct fbp_phantom *p, double x, double y, double z, double r, double density)
{
    p->items[p->n++] = (struct fbp_ellipsoid){{x, y, z}, {r, r, r}, 0, density};
}

static void make_object(struct fbp_phantom *p, enum object object)
{
    *p = (struct fbp_phantom){0};
    if (object == HEAD || object == HEAD_BESIDE) {
        OK(fbp_phantom_create(p, "shepp-logan", object == HEAD ? 90 : 70, 0.02));
        for (size_t i = 0; object == HEAD_BESIDE && i < p->n; i++) {
            p->items[i].centre_mm[0] += 18;
            p->items[i].centre_mm[1] -= 11;
        }
        return;
    }
    p->items = calloc(6, sizeof *p->items);
    assert_non_null(p->items);
    if (object == ROUND)
        add_ball(p, 0, 0, 0, 60, .02);
    else
        add_ball(p, 31, 12, 3, 24, .02);
    if (object != BALLS)
        return;
    add_ball(p, -45, -20, -4, 17, .03);
    add_ball(p, 5, -52, 1, 9, .04);
    add_ball(p, 40, 6, 2, 6, .02);
    add_ball(p, -12, 47, -2, 12, .01);
}

static double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

/* Each detector pixel has its own error. */
static void add_rings(struct fbp_scan *scan, double most)
{
    const size_t n = scan->panel.n_columns * scan->panel.n_rows;
    AUTO_FREE float *p = read_array(scan->projections);
    unsigned state = 5;

    for (size_t i = 0; i < n; i++) {
        const float error = (float)(most * uniform(&state));
        for (size_t k = 0; k < scan->n_views; k++)
            p[k * n + i] += error;
    }
    replace_samples(scan, p);
}

static void turn_views(struct fbp_scan *scan, const struct scan_case *c, double offset_mm,
                       double pitch_u, double pitch)
{
    AUTO_FREE double *angles = even_angles(c->views, 17, c->arc_deg / (double)c->views);
    const struct fbp_circle circle =
        circle_of(c->views, angles, 500, 800, .kind = c->kind, .pitch_mm = {pitch_u, pitch},
                  .offset_mm = {offset_mm, 0});

    if (!scan->views)
        scan->views = calloc(c->views, sizeof *scan->views);
    assert_non_null(scan->views);
    OK(fbp_circle_views(&circle, scan->views));
}

/* A column is as wide as `finer` of those that were simulated. */
static void join_columns(struct fbp_scan *scan, size_t finer)
{
    const size_t n = COLUMNS * scan->panel.n_rows * scan->n_views;
    AUTO_FREE float *p = read_array(scan->projections);

    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < finer; k++)
            sum += (double)p[i * finer + k];
        p[i] = (float)(sum / (double)finer);
    }
    scan->panel.n_columns = COLUMNS;
    replace_samples(scan, p);
}

/* Taken with the panel off the middle, and described as if it was not. */
static struct fbp_scan make_scan(const struct scan_case *c)
{
    const double pitch = c->kind == FBP_CONE ? 2.4 : 1.5;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = c->kind,
                            .n_views = c->views,
                            .panel = {COLUMNS * c->finer, c->rows}};
    struct fbp_phantom object;

    turn_views(&scan, c, c->offset * pitch, pitch / (double)c->finer, pitch);
    scan.projections = temporary("axis.mha");
    make_object(&object, c->object);
    OK(fbp_phantom_simulate(
        &object, &scan, scan.projections,
        fbp_simulate_params(.noise_i0 = c->photons / (double)c->finer, .seed = 3, .n_threads = 2)));
    fbp_phantom_clear(&object);
    if (c->finer > 1)
        join_columns(&scan, c->finer);
    if (c->rings > 0)
        add_rings(&scan, c->rings);
    turn_views(&scan, c, 0, pitch, pitch);
    return scan;
}

TEST(it_is_found)
{
    bool all = true;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct scan_case *c = &cases[i];
        AUTO_DROP struct fbp_scan scan = make_scan(c);
        struct fbp_centre found = {.struct_size = sizeof found};
        const double right = (COLUMNS - 1) / 2.0 - c->offset;
        OK(fbp_centre_find(&scan, fbp_recon_params(.device = "cpu", .n_threads = 2), &found));
        const bool good = fabs(found.column - right) <= 0.1 && found.sure;
        all &= good;
        print_message("%s%s: %+.3f +- %.3f (turn %+.3f, rays %+.3f, slices %+.3f, spread %.3f, "
                      "misfit %.3f) %s\n",
                      good ? "" : "WRONG: ", c->name, found.column - right, found.uncertainty,
                      found.by_turn - right, found.by_rays - right, found.by_slice - right,
                      found.spread, found.misfit, found.why);
    }
    assert_true(all);
}

/* A real scan: the sharpest slices of sweeps are those for 295.93 and 295.97. */
TEST(that_of_the_tooth_is_found)
{
    struct fbp_centre found = {.struct_size = sizeof found};

    if (access(TOOTH, R_OK) != 0)
        skip();
    AUTO_CLEAR struct fbp_scan scan = open_scan(TOOTH);
    OK(fbp_centre_find(&scan, fbp_recon_params(.device = "cpu", .n_threads = 2), &found));
    print_message("tooth: %.4f (rays %.4f, slices %.4f) %s\n", found.column, found.by_rays,
                  found.by_slice, found.why);
    assert_true(fabs(found.column - 295.93) <= 0.1);
    assert_true(found.sure);
}

/* Views that have nothing to do with each other, and views of nothing but noise. */
TEST(what_is_not_sure_is_said)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += 5) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        const size_t n = scan.panel.n_columns * scan.panel.n_rows;
        AUTO_FREE float *p = read_array(scan.projections);
        struct fbp_centre found = {.struct_size = sizeof found};
        unsigned seed = 9;
        for (size_t k = scan.n_views - 1; i % 2 == 0 && k > 0; k--) { /* in no order */
            const size_t other = (size_t)((uniform(&seed) + 1) / 2 * (double)k);
            for (size_t x = 0; x < n; x++) {
                const float t = p[k * n + x];
                p[k * n + x] = p[other * n + x];
                p[other * n + x] = t;
            }
        }
        for (size_t x = 0; i % 2 == 1 && x < n * scan.n_views; x++)
            p[x] = (float)(0.01 * uniform(&seed));
        replace_samples(&scan, p);
        OK(fbp_centre_find(&scan, fbp_recon_params(.device = "cpu", .n_threads = 2), &found));
        print_message("%s, %s: %s\n", cases[i].name, i % 2 ? "noise" : "shuffled", found.why);
        assert_false(found.sure);
        assert_true(found.why[0]);
    }
}

/* All views of a ball about the axis are alike, so that no column is likelier than another: the
 * search ends on the panel all the same, and is not sure. */
TEST(a_round_object_does_not_tell)
{
    static const struct scan_case round[] = {
        {"cone, full", FBP_CONE, 180, 360, 3.3, ROUND, 0, 0, ROWS, 1},
        {"cone, short", FBP_CONE, 210, 210, -2.3, ROUND, 0, 0, ROWS, 1},
        {"cone, full, 24 views", FBP_CONE, 24, 360, -6.9, ROUND, 0, 0, ROWS, 1},
        {"fan, full", FBP_CONE, 90, 360, 4.2, ROUND, 0, 0, 1, 1},
        {"parallel, full", FBP_PARALLEL, 100, 360, 3.8, ROUND, 0, 0, ROWS, 1},
    };

    for (size_t i = 0; i < sizeof round / sizeof *round; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&round[i]);
        struct fbp_centre found = {.struct_size = sizeof found};
        OK(fbp_centre_find(&scan, fbp_recon_params(.device = "cpu", .n_threads = 2), &found));
        print_message("%s: %.4f: %s\n", round[i].name, found.column, found.why);
        assert_false(found.sure);
        assert_true(fabs(found.column - (COLUMNS - 1) / 2.0) < 1e-6); /* the scan's own */
        assert_contains(found.why, "column of the scan file is used");
    }
}

/* Half turns in much noise: where parts of the scan disagree slices may not be what is believed. */
TEST(parts_that_differ_are_not_sure)
{
    struct scan_case c = {"half turn", FBP_PARALLEL, 0, 180, 4.3, BALLS, 60, .05, ROWS, 1};
    size_t apart = 0;

    for (c.views = 40; c.views < 53; c.views += 3) {
        AUTO_DROP struct fbp_scan scan = make_scan(&c);
        struct fbp_centre found = {.struct_size = sizeof found};
        OK(fbp_centre_find(&scan, fbp_recon_params(.device = "cpu", .n_threads = 2), &found));
        print_message("%zu views: %+.3f, spread %.3f, %s\n", c.views,
                      found.column - (COLUMNS - 1) / 2.0 + c.offset, found.spread,
                      found.sure ? "sure" : found.why);
        apart += found.spread > 0.3;
        assert_false(found.sure && found.spread > 0.3);
    }
    assert_true(apart > 0);
}

/* Of half turns with strong rings or few photons what is called sure is right, and the uncertainty
 * of the others is about what they are off by. */
TEST(uncertainty_is_honest)
{
    static const struct scan_case hard[] = {
        {"few photons", FBP_PARALLEL, 180, 180, 6.2, HEAD, 300, .05, ROWS, 4},
        {"strong rings", FBP_PARALLEL, 180, 180, -6.2, HEAD, 1000, .1, ROWS, 4},
        {"few photons, beside", FBP_PARALLEL, 180, 180, -6.2, HEAD_BESIDE, 300, .1, ROWS, 4},
        {"balls", FBP_PARALLEL, 180, 180, -6.2, BALLS, 300, .1, ROWS, 4},
        {"balls, one row", FBP_PARALLEL, 180, 180, -6.2, BALLS, 300, .1, 1, 4},
        {"one row, beside", FBP_PARALLEL, 181, 181, 3.3, HEAD_BESIDE, 300, .1, 1, 4},
        {"one ball, one row", FBP_PARALLEL, 180, 180, 4.3, ONE_BALL, 300, .1, 1, 4},
        {"60 views", FBP_PARALLEL, 60, 180, -4.7, HEAD, 1000, .1, ROWS, 4},
        {"60 views, balls", FBP_PARALLEL, 60, -180, -4.7, BALLS, 1000, .1, ROWS, 4},
    };
    size_t n_sure = 0;
    double squares = 0;

    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&hard[i]);
        struct fbp_centre found = {.struct_size = sizeof found};
        OK(fbp_centre_find(&scan, fbp_recon_params(.device = "cpu", .n_threads = 2), &found));
        const double off = found.column - (COLUMNS - 1) / 2.0 + hard[i].offset;
        print_message("%s: %+.3f +- %.3f (turn %+.3f, rays %+.3f, slices %+.3f) %s\n", hard[i].name,
                      off, found.uncertainty, found.by_turn - found.column + off,
                      found.by_rays - found.column + off, found.by_slice - found.column + off,
                      found.sure ? "sure" : found.why);
        n_sure += found.sure;
        squares += isfinite(found.uncertainty) ? pow(off / found.uncertainty, 2) : 0;
        assert_true(fabs(off) <= 4 * found.uncertainty);
        assert_true(fabs(off) <= 0.1 || !found.sure);
        assert_true(found.sure || found.why[0]);
    }
    print_message("%zu are sure; off by %.2f standard deviations (rms)\n", n_sure,
                  sqrt(squares / (double)(sizeof hard / sizeof *hard)));
    assert_true(n_sure > 0);
}

TEST(what_cannot_be_found_is_refused)
{
    struct scan_case c = cases[0];
    struct fbp_centre found = {.struct_size = sizeof found};

    c.arc_deg = 120;
    AUTO_DROP struct fbp_scan scan = make_scan(&c);
    assert_fails(fbp_centre_find(&scan, NULL, &found), FBP_ERR_UNSUPPORTED,
                 "too few rays from both sides");
    scan.filtered = true;
    assert_int_equal(fbp_centre_find(&scan, NULL, &found), FBP_ERR_UNSUPPORTED);
}

TEST_MAIN(NULL, NULL)
