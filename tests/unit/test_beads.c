/* Checks that fbp_calibrate_beads() finds planted errors of the geometry within its intervals, to a
 * fiftieth of a pixel, from views whose pixels average the transmission of 16 rays, as a detector
 * does. */
#include "base/math.h"
#include "geometry/view.h"

#include "test.h"

enum { PIXELS = 128, RAYS = 4, FINE = PIXELS * RAYS, VIEWS = 90 };

static const double PITCH = 3, SOD = 500, SDD = 850, DEGREE = FBP_PI / 180;

/* Errors that the scan does not describe, and the number of beads. */
struct planted {
    const char *name;
    int n_beads;
    double arc_deg, offset_mm[2]; /* of the panel: known */
    double column, row;           /* shift of the panel [pixels] */
    double yaw_deg, roll_deg, sdd_mm;
};

static void make_views(const struct planted *t, double shift, double pitch, struct fbp_view *views)
{
    double angles[VIEWS];
    const double sod = SOD, sdd = SDD + shift * t->sdd_mm;
    struct fbp_circle circle = {
        .struct_size = sizeof circle,
        .kind = FBP_CONE,
        .n_views = VIEWS,
        .angles_rad = angles,
        .sod_mm = &sod,
        .sdd_mm = &sdd,
        .n_sod = 1,
        .n_sdd = 1,
        .pitch_mm = {pitch, pitch},
        .offset_mm = {t->offset_mm[0] + shift * t->column * PITCH,
                      t->offset_mm[1] + shift * t->row * PITCH},
        .tilt_rad = {0, shift * t->yaw_deg * DEGREE, shift * t->roll_deg * DEGREE}};

    for (int k = 0; k < VIEWS; k++)
        angles[k] = 0.1 + k * t->arc_deg / VIEWS * DEGREE;
    OK(fbp_circle_views(&circle, views));
}

/* Simulate beads on a cylinder; the last beads of a full set leave a panel that is off centre in
 * all views. */
static void simulate(const struct planted *t, const struct fbp_view *views, float *out)
{
    struct fbp_ellipsoid items[17] = {{.axes_mm = {48, 48, 400}, .density = 0.003}};
    const struct fbp_phantom phantom = {.n = (size_t)t->n_beads + 1, .items = items};
    struct fbp_scan scan = {
        .struct_size = sizeof scan, .kind = FBP_CONE, .n_views = 1, .panel = {FINE, FINE}};
    float *fine = malloc((size_t)FINE * FINE * sizeof *fine);

    assert_non_null(fine);
    for (int i = 0; i < t->n_beads; i++) {
        const double r = 44.5 - 7 * (i % 3), a = 2.4 * i, z = -70 + 140 * (i + 0.5) / t->n_beads;
        items[i + 1] =
            (struct fbp_ellipsoid){{r * cos(a), r * sin(a), z}, {3.5, 3.5, 3.5}, 0, 0.15};
    }
    for (size_t k = 0; k < VIEWS; k++) {
        struct fbp_view view = views[k];
        scan.views = &view;
        OK(fbp_phantom_simulate(&phantom, &scan, NULL,
                                fbp_simulate_params(.samples = fine, .n_threads = 2,
                                                    .noise_i0 = 1e4, .seed = (unsigned)k + 1)));
        for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++) {
            const float *from = fine + i / PIXELS * RAYS * FINE + i % PIXELS * RAYS;
            double sum = 0;
            for (size_t j = 0; j < (size_t)RAYS * RAYS; j++)
                sum += exp(-(double)from[j / RAYS * FINE + j % RAYS]);
            out[k * PIXELS * PIXELS + i] = (float)-log(sum / (RAYS * RAYS));
        }
    }
    free(fine);
}

/* A value is found to `most`, and inside its interval. */
static void check(const struct planted *t, const struct fbp_calibration *c,
                  enum fbp_calibrated which, double truth, double most)
{
    const struct fbp_estimate *v = &c->values[which];

    if (!v->observable || fabs(v->value - truth) > fmin(most, v->uncertainty))
        fail_msg("%s: found %s %.4f +- %.4f, expected %.4f within %.3g", t->name,
                 fbp_calibrated_name(which), v->value, v->uncertainty, truth, most);
}

static void check_planted(const struct planted *t)
{
    static float samples[(size_t)VIEWS * PIXELS * PIXELS];
    struct fbp_view truth[VIEWS], fine[VIEWS], views[VIEWS];
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_CONE,
                            .n_views = VIEWS,
                            .panel = {PIXELS, PIXELS},
                            .views = views};
    struct fbp_scan found = {.struct_size = sizeof found};
    struct fbp_calibration c = {.struct_size = sizeof c};
    fbp_source *source;
    double P[12], Q[12];

    make_views(t, 1, PITCH, truth);
    make_views(t, 1, PITCH / RAYS, fine);
    make_views(t, 0, PITCH, views);
    simulate(t, fine, samples);
    OK(fbp_source_memory(&source, samples,
                         &(struct fbp_array_info){.struct_size = sizeof(struct fbp_array_info),
                                                  .n = {PIXELS, PIXELS, VIEWS},
                                                  .type = FBP_F32}));
    OK(fbp_calibrate_beads(&scan, fbp_recon_params(.input.source = source), &c, &found));
    OK(fbp_view_to_matrix(&truth[0], FBP_CONE, &scan.panel, P));
    assert_true(c.reliable && c.sense_known && !c.reversed && c.misfit < c.misfit_before);
    assert_false(c.values[FBP_CALIBRATED_PITCH].observable);
    check(t, &c, FBP_CALIBRATED_COLUMN, P[3] / P[11], 0.02);
    check(t, &c, FBP_CALIBRATED_ROW, P[7] / P[11], 0.02);
    check(t, &c, FBP_CALIBRATED_ROLL, t->roll_deg, 0.005);
    check(t, &c, FBP_CALIBRATED_YAW, t->yaw_deg, 0.05);
    check(t, &c, FBP_CALIBRATED_SDD, SOD / P[11], 1.5);
    for (size_t k = 0; k < VIEWS; k++) { /* the corrected scan projects points as the true one */
        const double x[4] = {20, -30, 40, 1};
        double at[2][3] = {{0}};
        OK(fbp_view_to_matrix(&truth[k], FBP_CONE, &scan.panel, P));
        OK(fbp_view_to_matrix(&found.views[k], FBP_CONE, &scan.panel, Q));
        for (size_t i = 0; i < 12; i++) {
            at[0][i / 4] += P[i] * x[i % 4];
            at[1][i / 4] += Q[i] * x[i % 4];
        }
        assert_true(fabs(at[0][0] / at[0][2] - at[1][0] / at[1][2]) < 0.05);
        assert_true(fabs(at[0][1] / at[0][2] - at[1][1] / at[1][2]) < 0.1);
    }
    fbp_scan_clear(&found);
    fbp_source_close(&source);
}

TEST(full_turn)
{
    check_planted(&(struct planted){"full turn", 8, 360, {0, 0}, 3.3, -2.1, 0.5, 0.8, 6});
    check_planted(&(struct planted){"sixteen beads", 16, -360, {0, 0}, -5.6, 1.4, -0.4, -1.1, 0});
}

TEST(short_arc)
{
    check_planted(&(struct planted){"short arc", 8, -220, {0, 0}, -4.7, 1.3, 0.7, -0.6, 0});
}

TEST(off_centre)
{
    check_planted(&(struct planted){"off centre", 12, 360, {90, 30}, 2.2, 0.7, 0.4, 0.3, -5});
}

TEST(four_beads)
{
    check_planted(&(struct planted){"four beads", 4, 360, {0, 0}, 1.4, 2.6, -0.6, 1.2, 0});
}

TEST_MAIN(NULL, NULL)
