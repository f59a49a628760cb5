/* Checks angular steps, redundancy weights and the geometry factor: sums, symmetry, known forms. */
#include "geometry_util.h"

#include "geometry/kind.h"
#include "geometry/view.h"
#include "test.h"
#include "weight/weight.h"

#define DEG (FBP_PI / 180)

static const struct scan usual = {
    .n = 360,
    .arc_deg = 360,
    .sod = 750,
    .sdd = 1200,
    .pitch = {1.6, 1.6},
    .panel = {128, 96},
};

struct setup {
    struct fbp_view *views;
    struct fbp_geometry_facts facts;
    fbp_weights *w;
};

static struct setup set_up(const struct scan *scan, const double *angles,
                           enum fbp_angular_weights angular)
{
    struct setup s = {.facts = {.struct_size = sizeof s.facts},
                      .views = angles ? scan_views_at(scan, angles) : scan_views(scan)};

    OK(fbp_views_facts(views_of(scan, s.views), NULL, &s.facts));
    OK(fbp_weights_create(&s.w, views_of(scan, s.views), &s.facts, angular));
    return s;
}

static void tear_down(struct setup *s)
{
    fbp_weights_destroy(&s->w);
    assert_null(s->w);
    free(s->views);
}

TEST(steps_add_up_to_the_arc)
{
    double angles[360];

    for (int i = 0; i < 30; i++) {
        struct scan scan = usual;
        scan.n = 50 + (size_t)uniform(0, 300);
        const double arc = i % 2 ? 360 : uniform(40, 300);
        for (size_t k = 0; k < scan.n; k++)
            angles[k] = (uniform(0, 1) + (double)(scan.n - 1 - k)) * arc / (double)scan.n * DEG;
        struct setup s = set_up(&scan, angles, FBP_ANGULAR_AUTO);
        double sum = 0;
        for (size_t k = 0; k < scan.n; k++) {
            sum += fbp_weights_step(s.w, k);
            assert_true(fbp_weights_step(s.w, k) > 0);
        }
        check_near(sum, s.facts.arc_rad, 1e-11);
        check_near(s.facts.arc_rad, i % 2 ? 2 * FBP_PI : arc * DEG, 15 * DEG);
        tear_down(&s);
    }
}

TEST(steps_reach_half_way_to_both_neighbours)
{
    struct scan scan = usual;
    const double full[8] = {0, 1, 3, 2, 4, 5, 5, 6}; /* of 7 on a circle */
    const double want[8] = {1, 1, 1, 1, 1, .5, .5, 1};
    double angles[8];

    scan.n = 8;
    for (int k = 0; k < 8; k++)
        angles[k] = full[k] * 2 * FBP_PI / 7;
    struct setup s = set_up(&scan, angles, FBP_ANGULAR_AUTO);
    for (size_t k = 0; k < 8; k++)
        check_near(fbp_weights_step(s.w, k), want[k] * 2 * FBP_PI / 7, 1e-12);
    tear_down(&s);

    const double uneven[8] = {0, 2, 3, 4, 6, 7, 8, 11};
    const double steps[8] = {2, 1.5, 1, 1.5, 1.5, 1, 2, 3};
    for (int k = 0; k < 8; k++)
        angles[k] = (350 - uneven[k]) * DEG;
    s = set_up(&scan, angles, FBP_ANGULAR_AUTO);
    for (size_t k = 0; k < 8; k++)
        check_near(fbp_weights_step(s.w, k), steps[k] * DEG, 1e-12);
    check_near(s.facts.arc_rad, 13.5 * DEG, 1e-12);
    tear_down(&s);
}

TEST(equal_steps_share_the_circle)
{
    struct scan scan = usual;

    scan.n = 721;
    scan.inclusive = true;
    struct setup s = set_up(&scan, NULL, FBP_ANGULAR_EQUAL);
    for (size_t k = 0; k < 721; k++)
        check_near(fbp_weights_step(s.w, k), 2 * FBP_PI / 721, 1e-15);
    tear_down(&s);
    s = set_up(&scan, NULL, FBP_ANGULAR_AUTO); /* the first and the last are one */
    check_near(fbp_weights_step(s.w, 0), FBP_PI / 720, 1e-12);
    check_near(fbp_weights_step(s.w, 720), FBP_PI / 720, 1e-12);
    check_near(fbp_weights_step(s.w, 1), 2 * FBP_PI / 720, 1e-12);
    tear_down(&s);
}

/* Where a line, seen along z, meets the circle of sources again: the view and column of the same
 * ray, found in space and not by the formula under test. */
static bool partner(const struct scan *scan, const struct fbp_view *view, const double pixel[3],
                    double *angle, double *column)
{
    double dir[3], other[3];

    fbp_axpy(pixel, -1, view->s, dir);
    dir[2] = 0;
    fbp_axpy(view->s, -2 * fbp_dot(view->s, dir) / fbp_dot(dir, dir), dir, other);
    *angle = atan2(other[1], other[0]);
    struct fbp_view there;
    struct scan one = *scan;
    one.n = 1;
    AUTO_FREE struct fbp_view *v = scan_views_at(&one, angle);
    there = *v;
    double P[12];
    OK(fbp_view_to_matrix(&there, FBP_CONE, &scan->panel, P));
    const double *x = view->s; /* the first source, seen from the second */
    *column = (fbp_dot(P, x) + P[3]) / (fbp_dot(P + 8, x) + P[11]);
    return *column > -0.5 && *column < (double)scan->panel.n_columns - 0.5;
}

/* m of a ray and of its partner, by the weights of one scan that has views at both angles. */
static void check_pairs(struct scan scan, double first_deg, double arc_deg, bool backwards)
{
    enum { N = 41 };
    double angles[N + 1], column, m, partner_m;
    size_t pairs = 0, singles = 0;

    scan.n = N + 1;
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < N; k++)
            angles[k] = (first_deg + arc_deg * (backwards ? N - 1 - k : k) / (N - 1)) * DEG;
        const size_t k = (size_t)uniform(0, N);
        const double c = uniform(0, (double)scan.panel.n_columns - 1);
        const double r = ((double)scan.panel.n_rows - 1) / 2;
        angles[N] = angles[k];
        AUTO_FREE struct fbp_view *views = scan_views_at(&scan, angles);
        double pixel[3];
        fbp_view_pixel(&views[k], &scan.panel, c, r, pixel);
        const bool seen = partner(&scan, &views[k], pixel, &angles[N], &column);
        const double along = remainder(angles[N] - (first_deg + arc_deg / 2) * DEG, 2 * FBP_PI);
        const double half_step = arc_deg / (N - 1) / 2;
        if (fabs(along) > arc_deg / 2 * DEG) {
            if (fabs(along) < (arc_deg / 2 + half_step + 0.1) * DEG)
                continue; /* between the last view and the end of its step */
            angles[N] = angles[k];
        }
        struct setup s = set_up(&scan, angles, FBP_ANGULAR_AUTO);
        m = fbp_weights_redundancy(s.w, k, c, r);
        partner_m = fbp_weights_redundancy(s.w, N, column, r);
        if (angles[N] == angles[k]) {
            check_near(m, 2, 1e-12); /* measured once */
            singles++;
        } else if (seen) {
            check_near(m + partner_m, 2, 1e-12);
            pairs++;
        }
        assert_true(m >= 0 && m <= 2);
        tear_down(&s);
    }
    assert_true(pairs > 20);
    assert_true(singles > 20);
}

TEST(parker_pairs_add_up_to_two)
{
    for (int i = 0; i < 8; i++) {
        struct scan scan = usual;
        if (i & 2)
            memcpy(scan.tilt_deg, (double[3]){0, 8, 0}, sizeof scan.tilt_deg);
        if (i & 4)
            scan.panel.n_rows = 1;
        check_pairs(scan, i & 4 ? 100 : 290, i & 2 ? 230 : 205, i & 1);
    }
}

/* Of a ray under gamma, in the frame of its view. */
static double parker(double beta, double gamma, double arc)
{
    const double delta = (arc - FBP_PI) / 2;
    const struct fbp_rays rays = {
        .cone = true, .redundancy = FBP_PARKER, .delta = {cos(delta), sin(delta)}};
    const struct fbp_ray_view view = {
        .q = {-cos(gamma), sin(gamma), 0.2},
        .u = {0, 1, 0},
        .end = {{beta, cos(beta / 2), sin(beta / 2)},
                {arc - beta, cos((arc - beta) / 2), sin((arc - beta) / 2)}}};
    struct fbp_ray_row row;

    fbp_ray_row_of(&rays, &view, 0, &row);
    return fbp_ray_redundancy(&rays, &view, &row, 0);
}

/* Any arc, any fan, by the formula alone: conjugate = (beta + pi - 2 gamma, -gamma). */
TEST(parker_holds_for_any_arc)
{
    for (int i = 0; i < 100000; i++) {
        const double arc = uniform(0.1, 2 * FBP_PI), gamma = uniform(-0.6, 0.6);
        const double beta = uniform(0, arc), m = parker(beta, gamma, arc);
        double other = beta + FBP_PI - 2 * gamma;
        if (other > arc)
            other = beta - FBP_PI - 2 * gamma;
        assert_true(m >= 0 && m <= 2);
        if (other >= 0 && other <= arc)
            check_near(m + parker(other, -gamma, arc), 2, 1e-12);
        else
            check_near(m, 2, 0);
    }
    check_near(parker(0, 0.1, 4), 0, 0);
    check_near(parker(4, 0.1, 4), 0, 0);
    for (double beta = 0; beta <= FBP_PI; beta += 0.01)
        check_near(parker(beta, 0, FBP_PI), 2, 0); /* parallel, 180 degrees */
}

TEST(parallel_half_turn_counts_twice)
{
    const struct scan scan = {
        .kind = FBP_PARALLEL, .n = 180, .arc_deg = 180, .pitch = {0.5, 0.5}, .panel = {32, 4}};
    struct setup s = set_up(&scan, NULL, FBP_ANGULAR_AUTO);
    double row[32];

    for (size_t k = 0; k < 180; k++) {
        fbp_weights_row(s.w, k, 2, row);
        for (int c = 0; c < 32; c++)
            check_near(row[c], DEG / 0.5, 1e-12);
    }
    tear_down(&s);
}

TEST(wang_pairs_add_up_to_two)
{
    for (int i = 0; i < 4; i++) {
        struct scan scan = usual;
        scan.kind = i & 2 ? FBP_PARALLEL : FBP_CONE;
        scan.offset[0] = (i & 1 ? -1 : 1) * 0.3 * 128 * 1.6;
        struct setup s = set_up(&scan, NULL, FBP_ANGULAR_AUTO);
        const double axis = 63.5 - scan.offset[0] / 1.6, r = 20;
        const bool high = scan.offset[0] > 0; /* the long side */
        for (double t = 0; t < 100; t++) {    /* columns at both sides of the axis */
            const double m = fbp_weights_redundancy(s.w, 7, axis + t, r) +
                             fbp_weights_redundancy(s.w, 200, axis - t, r);
            check_near(m, 2, 1e-12);
        }
        check_near(fbp_weights_redundancy(s.w, 3, high ? 0 : 127, r), 0, 1e-12);
        check_near(fbp_weights_redundancy(s.w, 3, high ? 127 : 0, r), 2, 1e-12);
        tear_down(&s);
    }
}

/* conventions, section 2: 1/2 dbeta (SOD/D) cos(gamma), and w(0)^2, for a panel turned about v. */
TEST(geometry_factor_of_known_panels)
{
    for (int i = 0; i < 3; i++) {
        struct scan scan = usual;
        scan.panel.n_rows = 1;
        scan.tilt_deg[1] = 5.0 * i;
        struct setup s = set_up(&scan, NULL, FBP_ANGULAR_AUTO);
        const struct fbp_view *v = &s.views[33];
        double row[128], P[12], n[3], q[3], p[3], e[3];
        OK(fbp_view_to_matrix(v, FBP_CONE, &scan.panel, P));
        fbp_weights_row(s.w, 33, 0, row);
        fbp_cross(v->u, v->v, n);
        fbp_normalise(n);
        fbp_axpy(v->d, -1, v->s, q);
        const double D = fabs(fbp_dot(n, q));
        for (int c = 0; c < 128; c++) {
            fbp_view_pixel(v, &scan.panel, c, 0, p);
            fbp_axpy(p, -1, v->s, q);
            fbp_axpy(v->s, 0, v->s, e);
            const double gamma_cos = -fbp_dot(e, q) / fbp_norm(e) / fbp_norm(q);
            const double want = DEG / 2 * 750 / D * gamma_cos / 1.6 / (P[11] * P[11]);
            check_near(row[c] / want, 1, 1e-12);
        }
        tear_down(&s);
    }
}

/* Feldkamp's cosine, every row, for the untilted panel; SOD/|q| for one tilted about u. */
TEST(geometry_factor_of_every_row)
{
    for (int i = 0; i < 2; i++) {
        struct scan scan = usual;
        scan.tilt_deg[0] = 10 * i;
        struct setup s = set_up(&scan, NULL, FBP_ANGULAR_AUTO);
        double row[128], p[3], q[3], P[12];
        OK(fbp_view_to_matrix(&s.views[5], FBP_CONE, &scan.panel, P));
        for (size_t r = 0; r < 96; r += 5) {
            fbp_weights_row(s.w, 5, r, row);
            for (int c = 0; c < 128; c++) {
                fbp_view_pixel(&s.views[5], &scan.panel, c, (double)r, p);
                fbp_axpy(p, -1, s.views[5].s, q);
                const double want = DEG / 2 * 750 / fbp_norm(q) / 1.6 / (P[11] * P[11]);
                check_near(row[c] / want, 1, 1e-12);
                const double cosine = 1200 / fbp_norm(q);
                if (i == 0) /* 1/2 dbeta SDD/SOD of section 2 */
                    check_near(row[c] / (DEG / 2 * 1200 / 750 * cosine / 1.6), 1, 1e-12);
            }
        }
        tear_down(&s);
    }
}

/* image x line = row wherever separable says so; and it says so exactly where it should. */
TEST(separable_weights_are_products)
{
    const struct {
        double arc, offset, tilt[3];
        bool separable;
    } cases[] = {
        {360, 0, {0, 0, 0}, true},   {360, 60, {0, 0, 0}, true}, {210, 0, {0, 0, 0}, true},
        {360, 0, {3, 4, 5}, true},   {210, 0, {0, 5, 0}, true},  {210, 0, {0, 0, 2}, false},
        {360, 60, {1, 0, 0}, false}, {360, 60, {0, 2, 0}, true},
    };
    double row[128], image[128], line[128];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scan scan = usual;
        scan.arc_deg = cases[i].arc;
        scan.offset[0] = cases[i].offset;
        memcpy(scan.tilt_deg, cases[i].tilt, sizeof scan.tilt_deg);
        struct setup s = set_up(&scan, NULL, FBP_ANGULAR_AUTO);
        assert_int_equal(fbp_weights_separable(s.w), cases[i].separable);
        for (size_t k = 0; k < scan.n && cases[i].separable; k += 29)
            for (size_t r = 0; r < 96; r += 19) {
                fbp_weights_row(s.w, k, r, row);
                fbp_weights_image(s.w, r, image);
                fbp_weights_line(s.w, k, line);
                for (int c = 0; c < 128; c++)
                    check_near(image[c] * line[c], row[c], 1e-11 * fabs(image[c]));
            }
        tear_down(&s);
    }
    struct scan scan = usual;
    struct setup s = set_up(&scan, NULL, FBP_ANGULAR_AUTO);
    fbp_weights *w;
    s.views[9].s[0] *= 1.001;
    OK(fbp_weights_create(&w, views_of(&scan, s.views), &s.facts, FBP_ANGULAR_AUTO));
    assert_false(fbp_weights_separable(w));
    fbp_weights_destroy(&w);
    tear_down(&s);
}

static void check_words(struct scan scan, enum fbp_angular_weights angular, const char *a,
                        const char *b)
{
    struct setup s = set_up(&scan, NULL, angular);
    char text[256];

    fbp_weights_describe(s.w, text, sizeof text);
    if (!strstr(text, a) || !strstr(text, b))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", text, a, b);
    tear_down(&s);
}

TEST(the_choice_is_announced)
{
    struct scan scan = usual;

    check_words(scan, FBP_ANGULAR_AUTO, "full scan of 360 views, 360.0 deg", "steps 1.000 deg");
    check_words(scan, FBP_ANGULAR_EQUAL, "no redundancy weights", "equal steps of 1 deg");
    scan.offset[0] = 60;
    check_words(scan, FBP_ANGULAR_AUTO, "offset panel, overlap 26.0 mm", "Wang");
    scan.offset[0] = 0;
    scan.arc_deg = 210;
    check_words(scan, FBP_ANGULAR_AUTO, "short scan of 360 views, 210.0 deg (needs 189.8)",
                "Parker");
    scan.arc_deg = 120;
    check_words(scan, FBP_ANGULAR_AUTO, "limited angle of 360 views, 120.0 deg", "needs 189.8");
    scan.kind = FBP_PARALLEL;
    check_words(scan, FBP_ANGULAR_AUTO, "limited angle of 360 views, 120.", "modulo 180");
    scan.arc_deg = 187;
    check_words(scan, FBP_ANGULAR_AUTO, "half turn of 360 views, 187.0 deg", "modulo 180");
}

TEST_MAIN(NULL, NULL)
