/* Checks circles that drift along the axis: large drifts are refused; with small drifts the means
 * of balls are as near to those of the circle as stated. */
#include "recon/fixture.h"
#include "unit/geometry_util.h"

#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"
#include "unit/fdk_util.h"
#include "weight/weight.h"

enum { COLUMNS = 64, N_BALLS = 4 };

/* Way of source and panel along the axis, -0.5 … 0.5, at a part -0.5 … 0.5 of the scan. */
enum path { HELIX, WAVES, JUMP, JITTER, N_PATHS };
static const char *const names[] = {"helix", "waves", "jump", "jitter"};

struct layout {
    enum fbp_kind kind;
    size_t n_views;
    double arc_deg;
    double sod_mm, seen_mm; /* what a view sees of the axis; a column sees 2 mm */
};

static double way(enum path path, double part, size_t k)
{
    switch (path) {
    case HELIX:
        return part;
    case WAVES:
        return 0.5 * sin(6 * PI * part);
    case JUMP:
        return part > 0 ? 0.5 : -0.5;
    default:
        return (double)((k + 1) * 2654435761u % 65536) / 65536 - 0.5;
    }
}

static struct fbp_scan make_scan(const struct layout *l, enum path path, double travel_mm)
{
    const size_t n = l->n_views;
    const double mag = l->kind == FBP_CONE ? 1.5 : 1;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = l->kind,
                            .n_views = n,
                            .panel = {COLUMNS, (size_t)lround(l->seen_mm / 2)}};

    add_views(&scan, &(struct orbit){.start_deg = 20,
                                     .step_deg = l->arc_deg / (double)n,
                                     .sod_mm = l->sod_mm,
                                     .sdd_mm = 1.5 * l->sod_mm,
                                     .pitch_mm = {2 * mag, 2 * mag}});
    for (size_t k = 0; k < n; k++) {
        const double z = travel_mm * way(path, ((double)k + 0.5) / (double)n - 0.5, k);
        scan.views[k].s[2] += l->kind == FBP_CONE ? z : 0;
        scan.views[k].d[2] += z;
    }
    return scan;
}

/* In the middle half of what is seen, on the axis and off it. */
static struct fbp_ellipsoid ball_of(const struct layout *l, int i)
{
    const double h = l->seen_mm, r = h / 6, x = i < 2 ? 0 : 25, z = i % 2 ? h / 8 : 0;

    return (struct fbp_ellipsoid){{x, 0, i == 3 ? -z : z}, {r, r, r}, 0, 0.02};
}

/* Mean within 0.8 radii. */
static double ball_mean(struct fbp_scan *scan, struct fbp_ellipsoid ball)
{
    const struct fbp_phantom phantom = {.n = 1, .items = &ball};
    const double r = ball.axes_mm[0];
    enum { N = 21 };

    simulate(scan, &phantom);
    scan->volume = (struct fbp_grid){.n = {N, N, N},
                                     .voxel_mm = {1.6 * r / N, 1.6 * r / N, 1.6 * r / N},
                                     .centre_mm = {ball.centre_mm[0], 0, ball.centre_mm[2]}};
    AUTO_FREE float *v = reconstruct(scan, fbp_recon_params(.device = "cpu"));
    const double mean = mean_in_ball(&scan->volume, v, scan->volume.centre_mm, 0.8 * r);
    remove(scan->projections);
    free(scan->projections);
    scan->projections = NULL;
    return mean;
}

static struct fbp_geometry_facts facts_of(const struct fbp_scan *scan)
{
    struct fbp_geometry_facts f = {.struct_size = sizeof f};

    OK(fbp_views_facts(fbp_scan_views(scan), NULL, &f));
    return f;
}

/* Ever longer ways, until they are refused: until then no ball is off by more than 1 %; the
 * estimate is no less than what is found, and not far more than it. */
static void check_path(const struct layout *l, enum path path, const double circle[N_BALLS])
{
    double found = 0, taken = 0;

    for (double part = 0.1; part < 1; part *= 1.25) {
        struct fbp_scan scan = make_scan(l, path, part * l->seen_mm);
        const struct fbp_geometry_facts f = facts_of(&scan);
        const bool refused = fbp_geometry_circular(&f) != FBP_OK;
        if (!refused) {
            /* The ball that is farthest off, as a part of what a circle makes of it. */
            double worst = 0;
            for (int i = 0; i < N_BALLS; i++) {
                const double off = ball_mean(&scan, ball_of(l, i)) / circle[i] - 1;
                worst = fabs(off) > fabs(worst) ? off : worst;
            }
            found = worst;
            taken = part;
        }
        fbp_scan_clear(&scan);
        if (refused)
            break;
        assert_true(path == HELIX ? fabs(fabs(f.pitch_mm) * l->arc_deg / 360 - part * l->seen_mm) <
                                        1e-6 * l->seen_mm
                                  : f.pitch_mm == 0);
        if (!(fabs(found) < 0.01))
            fail_msg("%s of %.2f of what is seen: a ball is off by %.3f %%", names[path], part,
                     100 * found);
    }
    print_message("%s %s, %3.0f deg, source %3.0f mm, seen %3.0f mm: %-6s taken up to %.2f of what "
                  "is seen; there a ball is off by %+.3f %%\n",
                  l->kind == FBP_CONE ? "cone    " : "parallel", l->n_views > 200 ? "3 turns" : "",
                  l->arc_deg, l->sod_mm, l->seen_mm, names[path], taken, 100 * found);
    assert_true(taken >= 0.1 && taken < 0.8);
}

TEST(balls_are_right_until_it_is_refused)
{
    static const struct layout layouts[] = {
        {FBP_CONE, 120, 360, 300, 60},     {FBP_CONE, 120, 360, 150, 120},
        {FBP_CONE, 120, 215, 300, 60},     {FBP_CONE, 240, 1080, 300, 60},
        {FBP_PARALLEL, 120, 180, 300, 60}, {FBP_PARALLEL, 120, 360, 300, 60},
    };

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *l = &layouts[i];
        struct fbp_scan still = make_scan(l, HELIX, 0);
        double circle[N_BALLS];
        const struct fbp_geometry_facts f = facts_of(&still);
        assert_true(f.axial_drift_mm < 1e-9 && f.axial_drift_error < 1e-12);
        for (int b = 0; b < N_BALLS; b++)
            circle[b] = ball_mean(&still, ball_of(l, b));
        fbp_scan_clear(&still);
        for (enum path path = HELIX; path < N_PATHS; path++)
            check_path(l, path, circle);
    }
}

/* A helix a little steeper than is taken: refused with its pitch, and rightly so. */
TEST(what_is_refused_is_off)
{
    const struct layout l = {FBP_CONE, 120, 360, 300, 60};
    const struct ball ball = {.centre = {25, 0, -7.5}, .radius = 10, .mu = 0.02};
    const struct scan same = {.n = l.n_views, .panel = {COLUMNS, 30}};
    struct fbp_scan still = make_scan(&l, HELIX, 0), helix = make_scan(&l, HELIX, 36);
    const struct fbp_geometry_facts f = facts_of(&helix);
    double mean[2];

    assert_int_equal(fbp_geometry_circular(&f), FBP_ERR_UNSUPPORTED);
    print_message("%s\n", fbp_message());
    assert_says("36 mm per turn");
    assert_says("helical scans are not supported");
    for (int i = 0; i < 2; i++) {
        random_state = 1;
        mean[i] =
            fdk_mean(&same, i ? helix.views : still.views, FBP_ANGULAR_AUTO, &ball, false, 60);
    }
    print_message("estimate %.2f %%; a ball is off by %+.2f %%\n", 100 * f.axial_drift_error,
                  100 * (mean[1] / mean[0] - 1));
    assert_true(mean[1] / mean[0] < 0.99);

    const struct fbp_phantom phantom = {0};
    fbp_plan *plan;
    simulate(&helix, &phantom);
    assert_fails(fbp_plan_create(&plan, &helix, NULL), FBP_ERR_UNSUPPORTED, "36 mm per turn");
    drop_scan(&helix);
    fbp_scan_clear(&still);
}

static void turn_world(struct fbp_scan *scan, const double R[9])
{
    for (size_t k = 0; k < scan->n_views; k++) {
        struct fbp_view *v = &scan->views[k];
        double *const vectors[] = {v->s, v->d, v->u, v->v};
        for (int i = 0; i < 4; i++)
            fbp_turned(R, vectors[i], vectors[i]);
    }
}

/* Real wobble passes: the C-arm's, and with 12 mm along the axis besides; circles that lie high,
 * lean, or turn about another axis are not a drift. */
TEST(wobble_and_other_circles_pass)
{
    const double lean[9] = {1, 0, 0, 0, cos(0.2), -sin(0.2), 0, sin(0.2), cos(0.2)};
    const double along_x[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};

    for (int i = 0; i < 5; i++) {
        AUTO_CLEAR struct fbp_scan scan = {
            .struct_size = sizeof scan, .n_views = 124, .panel = {124, 96}};
        const double step = i < 2 || i == 4 ? 1.6 : 360.0 / 124;
        char text[300];
        add_views(&scan, &(struct orbit){.step_deg = step, .pitch_mm = {3.2, 3.2}, .c_arm = i < 2});
        for (size_t k = 0; k < scan.n_views && (i == 1 || i == 2); k++) {
            const double z = i == 1 ? 6 * sin(3 * (double)k * step * PI / 180) : 50;
            scan.views[k].s[2] += z;
            scan.views[k].d[2] += z;
        }
        if (i > 2)
            turn_world(&scan, i == 3 ? lean : along_x);
        const struct fbp_geometry_facts f = facts_of(&scan);
        print_message("%d: %.3f mm of %.1f mm, estimate %.5f %%\n", i, f.axial_drift_mm, f.seen_mm,
                      100 * f.axial_drift_error);
        OK(fbp_geometry_circular(&f));
        assert_false(fbp_geometry_remark(&f, 0, text, sizeof text));
        assert_true(f.axial_drift_error < (i < 2 ? 1e-3 : 1e-6));
    }
}

/* Sources that stand above the volume by an angle all the time, as in laminography: no drift,
 * but a part of a ball is lost, which is estimated correctly. */
TEST(loss_by_inclined_rays_is_estimated)
{
    static const double degrees[] = {7, 10, 20};
    static const struct layout layouts[] = {{FBP_CONE, 120, 360, 300, 60},
                                            {FBP_PARALLEL, 120, 360, 300, 60}};

    for (size_t i = 0; i < 6; i++) {
        const struct layout *l = &layouts[i % 2];
        const double rise = tan(degrees[i / 2] * PI / 180);
        AUTO_CLEAR struct fbp_scan scan = make_scan(l, HELIX, 0);
        const double level = ball_mean(&scan, ball_of(l, 0));
        const struct fbp_grid point = {
            .n = {1, 1, 1}, .voxel_mm = {1, 1, 1}, .centre_mm = {0, 0, 0}};
        char text[400] = "";
        for (size_t k = 0; k < scan.n_views; k++) {
            struct fbp_view *v = &scan.views[k];
            v->s[2] += rise * hypot(v->s[0], v->s[1]);
            v->d[2] -= rise * hypot(v->d[0], v->d[1]);
            for (int j = 0; l->kind == FBP_PARALLEL && j < 3; j++) /* of length 1, as before */
                v->s[j] /= sqrt(1 + rise * rise);
        }
        struct fbp_geometry_facts f = facts_of(&scan);
        OK(fbp_geometry_errors(fbp_scan_views(&scan), &point, &f));
        const double lost = 1 - ball_mean(&scan, ball_of(l, 0)) / level;
        const bool said = fbp_geometry_remark(&f, 0, text, sizeof text);
        print_message("%g degrees: %.2f %% of a ball are lost, estimate %.2f %%; %s\n",
                      degrees[i / 2], 100 * lost, 100 * f.cone_angle_error, text);
        OK(fbp_geometry_circular(&f));
        assert_true(fabs(f.cone_angle_error - lost) < 0.003);
        assert_true(fabs(-f.method_error[0] - lost) < 0.003);
        assert_true(said && strstr(text, "FDK is exact in the plane of the source only"));
    }
}

TEST_MAIN(NULL, NULL)
