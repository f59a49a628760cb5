/* Checks the unit of values: 1/mm is 10/cm, of plane integrals 1000/cm^3, on every device, and in
 * volumes of phantoms. */
#include "geometry/view.h"
#include "recon/planes_util.h"

static const struct way {
    const char *name;
    struct fbp_recon_params p;
} ways[] = {
    {"cpu", {.device = "cpu"}},
    {"rows", {.device = "cpu", .tuning.kernel = "matrix"}},
    {"ref", {.device = "ref"}},
    {"slabs", {.device = "cpu", .tuning.slab_slices = 5, .tuning.batch_views = 16}},
    {"two stages", {.device = "cpu", .epr.stages = 2}},
    {"mock", {.device = "mock"}},
    {"gl", {.device = "gl"}},
    {"cuda", {.device = "cuda"}},
};

static float *volume_in(enum fbp_unit unit, const struct way *w, const struct fbp_scan *scan,
                        const float *views, bool one_by_one)
{
    struct fbp_recon_params p = w->p;
    float *out = calloc(grid_size(&scan->volume), sizeof *out);
    CLEANUP(fbp_accumulator_destroy) fbp_accumulator *accumulator = NULL;

    p.struct_size = sizeof p;
    p.output.unit = unit;
    p.n_threads = 2;
    if (!one_by_one) {
        OK(fbp_reconstruct(scan, &p, FBP_F32, views, out, NULL));
        return out;
    }
    OK(fbp_accumulator_create(&accumulator, scan, &p));
    for (size_t k = 0; k < scan->n_views; k++)
        OK(fbp_accumulator_add(accumulator, k, views + k * scan->panel.n_columns));
    OK(fbp_accumulator_volume(accumulator, out));
    return out;
}

static void expect_factor(const struct way *w, const struct fbp_scan *scan, const float *views,
                          float factor, bool one_by_one)
{
    AUTO_FREE float *mm = volume_in(FBP_UNIT_MM, w, scan, views, one_by_one);
    AUTO_FREE float *cm = volume_in(FBP_UNIT_CM, w, scan, views, one_by_one);

    /* Floats of the same sum, which ref rounds once. */
    for (size_t i = 0; i < grid_size(&scan->volume); i++)
        if (!(fabs((double)cm[i] - (double)factor * (double)mm[i]) <= 1.3e-7 * fabs((double)cm[i])))
            fail_msg("%s: voxel %zu is %.9g for 1/cm, expected %g x %.9g", w->name, i, cm[i],
                     factor, mm[i]);
}

TEST(planes_by_a_thousand)
{
    const struct solid solid = ellipsoid_of_planes();
    const struct fbp_directions grid = {
        .struct_size = sizeof grid, .set = FBP_SET_LINEAR_ANGLE, .n = {8, 8}};
    double direction[64][3];

    OK(fbp_directions_make(&grid, direction, NULL));
    AUTO_CLEAR struct fbp_scan scan = planes_scan(direction, 64);
    scan.volume = (struct fbp_grid){{20, 17, 22}, {.1, .1, .1}, {0, 0, 0}};
    AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (usable(ways[i].p.device))
            expect_factor(&ways[i], &scan, views, 1000, false);
    expect_factor(&ways[0], &scan, views, 1000, true);
}

TEST(lines_by_ten)
{
    double angles[12];

    for (int k = 0; k < 12; k++)
        angles[k] = 2 * PI * k / 12;
    const struct fbp_circle circle =
        circle_of(12, angles, 200, 300, .kind = FBP_CONE, .pitch_mm = {3, 3});
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .kind = FBP_CONE,
                                      .n_views = 12,
                                      .panel = {32, 24},
                                      .views = calloc(12, sizeof *scan.views),
                                      .row_order = FBP_ROWS_BOTTOM_UP,
                                      .volume = {{20, 18, 14}, {2, 2, 2}, {0, 0, 0}}};
    OK(fbp_circle_views(&circle, scan.views));
    simulate_head(&scan, 20);
    AUTO_FREE float *views = read_array(scan.projections);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].p.epr.stages == 0 && usable(ways[i].p.device))
            expect_factor(&ways[i], &scan, views, 10, false);
}

/* What a file of this phantom's volume says, and its greatest value. */
static void expect_truth(const struct fbp_phantom *phantom, enum fbp_kind kind, enum fbp_unit unit,
                         const char *says, double most)
{
    const struct fbp_scan scan = {
        .struct_size = sizeof scan, .kind = kind, .volume = {{9, 9, 9}, {1, 1, 1}, {0, 0, 0}}};
    AUTO_REMOVE char *path = temporary("truth.mha");

    OK(fbp_phantom_volume(phantom, &scan.volume, scan.kind, unit, path, 2));
    fbp_source *source = open_source(path, NULL);
    assert_string_equal(fbp_source_info(source)->unit, says);
    fbp_source_close(&source);
    float *v = read_array(path), found = 0;
    for (int i = 0; i < 9 * 9 * 9; i++)
        found = v[i] > found ? v[i] : found;
    assert_true(fabs((double)found - most) <= 1e-6 * most);
    free(v);
}

TEST(truth_has_the_unit_of_its_scan)
{
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = create_phantom("ball", 5, 0.25);
    expect_truth(&phantom, FBP_CONE, FBP_UNIT_MM, "1/mm", 0.25);
    expect_truth(&phantom, FBP_PARALLEL, FBP_UNIT_CM, "1/cm", 2.5);
    expect_truth(&phantom, FBP_PLANES, FBP_UNIT_MM, "1/mm^3", 0.25);
    expect_truth(&phantom, FBP_PLANES, FBP_UNIT_CM, "1/cm^3", 250);
    const struct fbp_scan none = {.struct_size = sizeof none,
                                  .volume = {{1, 1, 1}, {1, 1, 1}, {0}}};
    assert_int_equal(
        fbp_phantom_volume(&phantom, &none.volume, none.kind, (enum fbp_unit)2, "null:", 1),
        FBP_ERR_INVALID);
}

/* Hounsfield units hold no length. */
TEST(not_of_hounsfield_units)
{
    double direction[1][3] = {{0, 0, 1}};
    AUTO_CLEAR struct fbp_scan scan = planes_scan(direction, 1);
    float views[PLANES_S] = {0}, out[1];

    scan.volume = (struct fbp_grid){{1, 1, 1}, {.1, .1, .1}, {0, 0, 0}};
    assert_fails(fbp_reconstruct(&scan,
                                 fbp_recon_params(.output.unit = FBP_UNIT_CM, .mu_water = .02),
                                 FBP_F32, views, out, NULL),
                 FBP_ERR_INVALID, "Hounsfield units have no length");
    assert_int_equal(fbp_reconstruct(&scan, fbp_recon_params(.output.unit = (enum fbp_unit)7),
                                     FBP_F32, views, out, NULL),
                     FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
