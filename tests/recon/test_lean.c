/* Offset panels turned in their own plane: by how much values inside a ball near the axis deviate,
 * against what the facts of the geometry foretell. */
#include "recon/fixture.h"

enum { COLUMNS = 96, ROWS = 72, VIEWS = 180, N = 33 };
static const struct fbp_ellipsoid BALL = {{30, 0, 0}, {40, 40, 40}, 0, 0.02};

static struct fbp_scan make_scan(enum fbp_kind kind, double offset, double roll_deg)
{
    const double sod = 750, sdd = 1200, pitch = kind == FBP_CONE ? 4.2 : 2.6;
    double *angles = even_angles(VIEWS, 0, 360.0 / VIEWS);
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .kind = kind,
                                      .n_views = VIEWS,
                                      .angles_rad = angles,
                                      .sod_mm = &sod,
                                      .sdd_mm = &sdd,
                                      .n_sod = 1,
                                      .n_sdd = 1,
                                      .pitch_mm = {pitch, pitch},
                                      .offset_mm = {offset * COLUMNS * pitch, 0},
                                      .tilt_rad = {0, 0, roll_deg * PI / 180}};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = kind,
                            .n_views = VIEWS,
                            .panel = {COLUMNS, ROWS},
                            .views = calloc(VIEWS, sizeof *scan.views)};

    assert_non_null(scan.views);
    OK(fbp_circle_views(&circle, scan.views));
    free(angles);
    return scan;
}

/* Mean and standard deviation within 0.8 radii, as parts of the ball's value. */
static void look(struct fbp_scan *scan, double *mean, double *deviation)
{
    struct fbp_ellipsoid ball = BALL;
    const struct fbp_phantom phantom = {.n = 1, .items = &ball};
    const double side = 1.6 * 40 / N;
    double sum = 0, squares = 0, n = 0;
    size_t at = 0;

    simulate(scan, &phantom);
    scan->volume = (struct fbp_grid){
        .n = {N, N, N}, .voxel_mm = {side, side, side}, .centre_mm = {ball.centre_mm[0], 0, 0}};
    float *v = reconstruct(scan, fbp_recon_params(.device = "cpu"));
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++, at++) {
                const int d[3] = {x - N / 2, y - N / 2, z - N / 2};
                const double value = (double)v[at] / ball.density;
                if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > N * N / 4)
                    continue;
                sum += value;
                squares += value * value;
                n++;
            }
    *mean = sum / n;
    *deviation = sqrt(squares / n - sum / n * (sum / n));
    free(v);
}

static struct fbp_geometry_facts facts_of(const struct fbp_scan *scan)
{
    struct fbp_geometry_facts f = {.struct_size = sizeof f};

    OK(fbp_views_facts(fbp_scan_views(scan), NULL, &f));
    return f;
}

static void deviation_is_foretold(void **state)
{
    (void)state;
    static const double offsets[] = {0, 0.1, 0.25, 0.4}, rolls[] = {0, 0.5, 2, 4};
    char text[300];

    for (int kind = FBP_CONE; kind <= FBP_PARALLEL; kind++)
        for (int o = 0; o < 4; o++) {
            double upright[2] = {0};
            for (int r = 0; r < 4; r++) {
                struct fbp_scan scan = make_scan(kind, offsets[o], rolls[r]);
                const struct fbp_geometry_facts f = facts_of(&scan);
                double mean, deviation;
                look(&scan, &mean, &deviation);
                if (r == 0)
                    upright[0] = mean, upright[1] = deviation;
                const double more = sqrt(fmax(deviation * deviation - upright[1] * upright[1], 0));
                print_message("%s, offset %.2f of the width, roll %3g: %.3f %%, foretold %.3f %%\n",
                              kind ? "parallel" : "cone", offsets[o], rolls[r], 100 * more,
                              100 * f.lean_error);
                assert_true(fabs(mean / upright[0] - 1) < 1e-3);
                assert_true(fabs(f.lean_rad * 180 / PI - rolls[r]) < 1e-9);
                assert_true(fbp_geometry_remark(&f, 0, text, sizeof text) == (o > 0 && r > 0));
                if (o == 0)
                    assert_true(more < 1e-3);
                else if (r > 1)
                    assert_true(more > 0.6 * f.lean_error && more < 1.4 * f.lean_error);
                drop_scan(&scan);
            }
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviation_is_foretold),
    };
    return run_chosen_tests(tests, argc, argv);
}
