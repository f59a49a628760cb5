/* Redundancy of fan and parallel beams: means of two disks off the axis, projected analytically,
 * from scans with gaps, offset detectors and several offsets, against a full turn of a detector
 * that sees the whole object; and the warnings where rays are missing. */
#include "geometry/kind.h"
#include "geometry/view.h"
#include "recon/fixture.h"
#include "scan/file/scan.h"
#include "weight/weight.h"

enum { N = 128, MOST = 1200 };

static const double DEG = PI / 180, SOD = 200, SDD = 320;
/* The second is small enough to lie beside the axis of a detector that is offset by a third. */
static const struct {
    double x, y, radius, density;
} disks[] = {{22, 12, 14, 0.02}, {-20, -24, 9, 0.03}};

struct arc {
    double offset;            /* of the detector [mm at the axis] */
    double start, step;       /* [deg] */
    int n;                    /* views; 0: no further arc */
    int gap_first, gap_views; /* views left out */
    int every;                /* every so many views, as many are left out; 0: none */
};

struct scan_case {
    const char *name;
    enum fbp_kind kind;
    double width; /* of the detector [mm at the axis] */
    struct arc arcs[3];
    double limit;        /* greatest deviation of a mean [%] */
    const char *warning; /* part of the remark; NULL: there is none */
};

static const struct scan_case cases[] = {
    {"fan, full turn", FBP_CONE, 128, {{0, 0, 1, 360, 0, 0, 0}}, 0, NULL},
    {"fan, one view missing", FBP_CONE, 128, {{0, 0, 1, 360, 100, 1, 0}}, 0.01, NULL},
    {"fan, 9 views missing", FBP_CONE, 128, {{0, 0, 1, 360, 100, 9, 0}}, 0.03, NULL},
    {"fan, stops at 352", FBP_CONE, 128, {{0, 0, 1, 352, 0, 0, 0}}, 0.03, NULL},
    {"fan, two gaps",
     FBP_CONE,
     128,
     {{0, 0, 1, 100, 0, 0, 0}, {0, 115, 1, 230, 0, 0, 0}},
     0.04,
     NULL},
    {"fan, gaps opposite",
     FBP_CONE,
     128,
     {{0, 0, 1, 165, 0, 0, 0}, {0, 180, 1, 165, 0, 0, 0}},
     0.6,
     "missing views"},
    {"fan, bins", FBP_CONE, 128, {{0, 0, 0.5, 700, 0, 0, 10}}, 0.25, "missing views"},
    {"fan, limited", FBP_CONE, 128, {{0, 0, 1, 170, 0, 0, 0}}, 20, "limited angle"},
    {"offset fan, full turn", FBP_CONE, 84, {{20, 0, 1, 360, 0, 0, 0}}, 0.01, NULL},
    {"offset fan, 352", FBP_CONE, 84, {{20, 0, 1, 352, 0, 0, 0}}, 0.05, "the detector is offset"},
    {"offset fan, 350", FBP_CONE, 84, {{-20, 33, 1, 350, 0, 0, 0}}, 0.8, "the detector is offset"},
    {"offset fan, 345, clockwise",
     FBP_CONE,
     84,
     {{20, 0, -1, 345, 0, 0, 0}},
     0.3,
     "the detector is offset"},
    {"offset fan, 320", FBP_CONE, 84, {{20, 0, 1, 320, 0, 0, 0}}, 1.5, "the detector is offset"},
    {"offset fan, bins",
     FBP_CONE,
     84,
     {{20, 0, 0.5, 700, 0, 0, 20}},
     0.6,
     "the detector is offset"},
    {"fan, two offsets",
     FBP_CONE,
     84,
     {{20, 0, 1, 220, 0, 0, 0}, {-20, 0, 1, 220, 0, 0, 0}},
     0.03,
     NULL},
    {"fan, two starts",
     FBP_CONE,
     84,
     {{20, 0, 1, 360, 0, 0, 0}, {-20, 77.5, 1, 360, 0, 0, 0}},
     0.03,
     NULL},
    {"fan, two lengths",
     FBP_CONE,
     84,
     {{20, 0, 1, 215, 0, 0, 0}, {-20, 0, 1, 270, 0, 0, 0}},
     0.031,
     NULL},
    {"fan, two steps",
     FBP_CONE,
     84,
     {{20, 0, 1, 220, 0, 0, 0}, {-20, 0, 0.5, 440, 0, 0, 0}},
     0.03,
     NULL},
    {"fan, three offsets",
     FBP_CONE,
     56,
     {{36, 0, 1, 360, 0, 0, 0}, {0, 0, 1, 360, 0, 0, 0}, {-36, 0, 1, 360, 0, 0, 0}},
     0.05,
     NULL},
    {"fan, opposite offsets",
     FBP_CONE,
     84,
     {{20, 0, 1, 220, 0, 0, 0}, {-20, 180, 1, 220, 0, 0, 0}},
     99,
     "farther"},
    {"half turn", FBP_PARALLEL, 128, {{0, 0, 1, 180, 0, 0, 0}}, 0.01, NULL},
    {"half turn, 4 missing", FBP_PARALLEL, 128, {{0, 0, 1, 180, 80, 4, 0}}, 0.03, "missing views"},
    {"half turn, 10 missing",
     FBP_PARALLEL,
     128,
     {{0, 0, 1, 180, 80, 10, 0}},
     0.05,
     "missing views"},
    {"half turn, stops at 175",
     FBP_PARALLEL,
     128,
     {{0, 0, 1, 175, 0, 0, 0}},
     0.03,
     "limited angle"},
    {"half turn, golden", FBP_PARALLEL, 128, {{0, 0, 111.246118, 180, 0, 0, 0}}, 0.1, NULL},
    {"turn, 20 missing", FBP_PARALLEL, 128, {{0, 0, 1, 360, 80, 20, 0}}, 0.02, NULL},
    {"offset, 350", FBP_PARALLEL, 84, {{20, 0, 1, 350, 0, 0, 0}}, 0.06, "the detector is offset"},
    {"offset, 330", FBP_PARALLEL, 84, {{-20, 0, 1, 330, 0, 0, 0}}, 0.8, "the detector is offset"},
    {"two offsets",
     FBP_PARALLEL,
     84,
     {{20, 0, 1, 200, 0, 0, 0}, {-20, 0, 1, 200, 0, 0, 0}},
     0.03,
     NULL},
    {"two half turns",
     FBP_PARALLEL,
     84,
     {{20, 0, 1, 180, 0, 0, 0}, {-20, 180, 1, 180, 0, 0, 0}},
     99,
     "farther"},
};

/* Views and their readings, the mean over a pixel's width. */
static void make(const struct scan_case *of, struct fbp_scan *scan, float *data)
{
    enum { RAYS = 8 };
    const double m = of->kind == FBP_CONE ? SDD / SOD : 1, pitch = m;
    const int columns = (int)of->width;

    *scan = (struct fbp_scan){.struct_size = sizeof *scan,
                              .kind = of->kind,
                              .panel = {(size_t)columns, 1},
                              .views = calloc(MOST, sizeof *scan->views),
                              .volume = {.n = {N, N, 1}, .voxel_mm = {1, 1, 1}}};
    assert_non_null(scan->views);
    for (const struct arc *arc = of->arcs; arc < of->arcs + 3 && arc->n > 0; arc++)
        for (int k = 0; k < arc->n; k++) {
            if ((k >= arc->gap_first && k < arc->gap_first + arc->gap_views) ||
                (arc->every > 0 && k / arc->every % 2 == 1))
                continue;
            const double beta = (arc->start + k * arc->step) * DEG, c = cos(beta), s = sin(beta);
            const double back = of->kind == FBP_CONE ? SOD - SDD : 0;
            struct fbp_view *v = &scan->views[scan->n_views];
            *v = (struct fbp_view){
                .s = {c * (of->kind == FBP_CONE ? SOD : 1), s * (of->kind == FBP_CONE ? SOD : 1),
                      0},
                .d = {back * c - m * arc->offset * s, back * s + m * arc->offset * c, 0},
                .u = {-pitch * s, pitch * c, 0},
                .v = {0, 0, pitch}};
            for (int i = 0; i < columns; i++) {
                double sum = 0;
                for (int r = 0; r < RAYS; r++) {
                    const double at = i + (r + 0.5) / RAYS - columns / 2.0;
                    const double p[2] = {v->d[0] + at * v->u[0], v->d[1] + at * v->u[1]};
                    const double from = of->kind == FBP_CONE ? 1 : 0;
                    const double dx = p[0] * from - v->s[0], dy = p[1] * from - v->s[1];
                    for (size_t j = 0; j < sizeof disks / sizeof *disks; j++) {
                        const double across =
                            ((p[0] - disks[j].x) * dy - (p[1] - disks[j].y) * dx) / hypot(dx, dy);
                        sum += 2 * disks[j].density / RAYS *
                               sqrt(fmax(disks[j].radius * disks[j].radius - across * across, 0));
                    }
                }
                data[scan->n_views * (size_t)columns + (size_t)i] = (float)sum;
            }
            scan->n_views++;
        }
}

/* Means within 0.8 radii of the disks, as parts of their densities, and the rms error of the whole
 * slice within 50 mm of the axis, but for the edges of the disks. */
static void means(const float *volume, double out[2], double *rms)
{
    double squares = 0, points = 0;

    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double truth = 0;
            bool edge = hypot(x - (N - 1) / 2.0, y - (N - 1) / 2.0) > 50;
            for (size_t j = 0; j < 2; j++) {
                const double r =
                    hypot(x - (N - 1) / 2.0 - disks[j].x, y - (N - 1) / 2.0 - disks[j].y) -
                    disks[j].radius;
                truth += r < 0 ? disks[j].density : 0;
                edge = edge || fabs(r) < 3;
            }
            if (!edge) {
                squares += pow((double)volume[y * N + x] - truth, 2);
                points++;
            }
        }
    *rms = sqrt(squares / points);
    for (size_t j = 0; j < 2; j++) {
        double sum = 0, n = 0;
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                if (hypot(x - (N - 1) / 2.0 - disks[j].x, y - (N - 1) / 2.0 - disks[j].y) <
                    0.8 * disks[j].radius) {
                    sum += (double)volume[y * N + x];
                    n++;
                }
        out[j] = sum / n / disks[j].density;
    }
}

static void remarks_of(const struct fbp_scan *scan, char *text, size_t n)
{
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    char line[400];
    size_t used = 0;

    OK(fbp_views_facts(fbp_scan_views(scan), &scan->volume, &facts));
    for (size_t i = 0; fbp_geometry_remark(&facts, i, line, sizeof line); i++)
        used += (size_t)snprintf(text + used, n - used, "%s\n", line);
    text[used] = '\0';
}

TEST(means_are_right_or_a_warning_names_the_cause)
{
    static float data[MOST * 128], volume[N * N];
    double control[2][2] = {{0}}, noise[2] = {0}, got[2], rms;
    char remarks[2000];
    int failed = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct scan_case *c = &cases[i];
        struct fbp_scan scan;
        make(c, &scan, data);
        OK(fbp_reconstruct(&scan, fbp_recon_params(.device = "cpu"), FBP_F32, data, volume, NULL));
        means(volume, got, &rms);
        if (control[c->kind][0] == 0) {
            memcpy(control[c->kind], got, sizeof got);
            noise[c->kind] = rms;
        }
        const bool centred = c->arcs[0].offset == 0 && c->arcs[2].n == 0;
        double worst = 0;
        for (int j = 0; j < 2; j++)
            worst = fmax(worst, fabs(got[j] / control[c->kind][j] - 1) * 100);
        remarks_of(&scan, remarks, sizeof remarks);
        print_message("%-28s %7.3f %%, rms %6.3f %%  %s", c->name, worst, 100 * rms / 0.02,
                      remarks[0] ? remarks : "\n");
        if (!(worst <= c->limit) || (centred && !c->warning && !(rms < 1.2 * noise[c->kind])) ||
            (c->warning ? !strstr(remarks, c->warning) : remarks[0] != '\0')) {
            print_message("wrong: at most %.3f %%, remark %s\n", c->limit,
                          c->warning ? c->warning : "none");
            failed++;
        }
        free(scan.views);
    }
    assert_int_equal(failed, 0);
    assert_true(fabs(control[FBP_CONE][0] - 1) < 0.002 && fabs(control[FBP_CONE][1] - 1) < 0.002);
}

/* Weights per ray are a table, which every device reads. */
TEST(devices_agree)
{
    static const char *const devices[] = {"ref", "gl", "cuda"};
    static float data[MOST * 128], volume[N * N], other[N * N];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t d = 0; d < 3; d++) {
            struct fbp_scan scan;
            double most = 0;
            if (!cases[i].arcs[1].n || !usable(devices[d]))
                continue;
            make(&cases[i], &scan, data);
            OK(fbp_reconstruct(&scan, fbp_recon_params(.device = "cpu"), FBP_F32, data, volume,
                               NULL));
            OK(fbp_reconstruct(&scan, fbp_recon_params(.device = devices[d]), FBP_F32, data, other,
                               NULL));
            for (size_t k = 0; k < N * N; k++)
                most = fmax(most, fabs((double)(volume[k] - other[k])));
            print_message("%s, %s: %.1e\n", cases[i].name, devices[d], most / 0.03);
            assert_true(most < 3e-5 * 0.03);
            free(scan.views);
        }
}

/* Mean of a ball of 9 mm at `at`, less that at the same place in the plane of the source, as parts
 * of its density; and what the facts of a point there estimate. */
static void off_the_plane(struct fbp_scan *scan, const double at[3], double *measured,
                          double *estimated)
{
    enum { SIDE = 24 };
    const double voxel = 0.75, radius = 9;
    double mean[2];

    for (int lift = 0; lift < 2; lift++) {
        struct fbp_ellipsoid ball = {
            {at[0], at[1], lift ? at[2] : 0}, {radius, radius, radius}, 0, 0.02};
        const struct fbp_phantom phantom = {.n = 1, .items = &ball};
        double sum = 0, n = 0;
        scan->volume = (struct fbp_grid){.n = {SIDE, SIDE, SIDE},
                                         .voxel_mm = {voxel, voxel, voxel},
                                         .centre_mm = {at[0], at[1], lift ? at[2] : 0}};
        simulate(scan, &phantom);
        AUTO_FREE float *v = reconstruct(scan, fbp_recon_params(.device = "cpu"));
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
            const double x = i % SIDE - (SIDE - 1) / 2.0, y = i / SIDE % SIDE - (SIDE - 1) / 2.0;
            const double z = i / SIDE / SIDE - (SIDE - 1) / 2.0;
            if (x * x + y * y + z * z < 64) {
                sum += (double)v[i];
                n++;
            }
        }
        mean[lift] = sum / n / 0.02;
    }
    /* The estimate is the worst of eight places at the rim, 45 degrees apart. */
    const struct fbp_grid grid = {.n = {2, 2, 1},
                                  .voxel_mm = {2 * fabs(at[0] + at[1]), 2 * fabs(at[0] + at[1]), 1},
                                  .centre_mm = {0, 0, at[2]}};
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    OK(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    OK(fbp_geometry_errors(fbp_scan_views(scan), &grid, &facts));
    *measured = mean[1] - mean[0];
    *estimated = facts.method_error[2];
}

/* Above the plane of the source, on either side of a short scan. */
TEST(errors_off_the_plane_are_estimated)
{
    static const double places[4][3] = {{90, 0, 90}, {-90, 0, 90}, {0, 90, 90}, {0, -90, 90}};

    for (int arc = 240; arc <= 360; arc += 120) {
        double worst = 0, estimated = 0;
        AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan,
                                           .kind = FBP_CONE,
                                           .n_views = (size_t)arc,
                                           .panel = {160, 160}};
        add_views(&scan, &(struct orbit){
                             .step_deg = 1, .sod_mm = 500, .sdd_mm = 750, .pitch_mm = {4.5, 4.5}});
        for (int i = 0; i < 4; i++) {
            double measured;
            off_the_plane(&scan, places[i], &measured, &estimated);
            print_message("%d degrees, (%g, %g, %g): %.3f %%\n", arc, places[i][0], places[i][1],
                          places[i][2], 100 * measured);
            worst = fmin(worst, measured);
        }
        print_message("estimated: %.3f %%\n", 100 * estimated);
        assert_true(fabs(worst - estimated) < 0.001);
    }
}

TEST_MAIN(NULL, NULL)
