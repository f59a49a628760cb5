/* Checks that voxels outside the field of view get one value: the same voxels on every device and
 * for every division of the work, and all that some view does not see. */
#include "geometry/kind.h"
#include "recon/fixture.h"
#include "scan/file/scan.h"

enum { N = 48, VIEWS = 36 };

static const double VALUE = -0.5;

/* Does every view see the point?  field: the radius about the axis. */
static bool is_seen(const struct fbp_scan *scan, double field, const double x[3])
{
    if (hypot(x[0], x[1]) > field)
        return false;
    for (size_t k = 0; k < scan->n_views; k++) {
        double P[12];
        OK(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        const double w = P[8] * x[0] + P[9] * x[1] + P[10] * x[2] + P[11];
        const double row = (P[4] * x[0] + P[5] * x[1] + P[6] * x[2] + P[7]) / w;
        if (row < -0.5 || row > (double)scan->panel.n_rows - 0.5)
            return false;
    }
    return true;
}

static struct fbp_scan scan_head(size_t n_rows, double step_deg)
{
    return head_scan(VIEWS, N, n_rows, &(struct orbit){.step_deg = step_deg, .pitch_mm = {8, 8}},
                     (struct fbp_grid){{50, 46, 40}, {5, 5.5, 5}, {4, -3, 2}}, 90);
}

static struct fbp_report run_into(const struct fbp_scan *scan, struct fbp_recon_params p, float *v)
{
    struct fbp_report report = {.struct_size = sizeof report};
    struct fbp_plan_summary info;
    fbp_sink *sink;

    p.struct_size = sizeof p;
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, &p);
    info = *fbp_plan_info(plan);
    OK(fbp_sink_memory(&sink, v, FBP_F32, info.volume.n));
    OK(fbp_plan_run_to(plan, NULL, sink, &report));
    fbp_sink_close(&sink);
    return report;
}

TEST(masked_is_what_is_not_seen)
{
    const double steps[] = {0, 6}; /* a full circle, and 216 degrees of one */

    for (size_t s = 0; s < 2; s++) {
        AUTO_DROP struct fbp_scan scan = scan_head(24, steps[s]);
        const struct fbp_grid *g = &scan.volume;
        const size_t n = grid_size(g);
        AUTO_FREE float *plain = malloc(n * sizeof *plain), *masked = malloc(n * sizeof *masked);
        struct fbp_geometry_facts f = {.struct_size = sizeof f};
        double sum = 0, least = INFINITY, most = -INFINITY;
        size_t inside = 0;
        assert_true(plain && masked);
        OK(fbp_views_facts(fbp_scan_views(&scan), g, &f));
        run_into(&scan, (struct fbp_recon_params){.device = "cpu"}, plain);
        const struct fbp_report r =
            run_into(&scan,
                     (struct fbp_recon_params){
                         .device = "cpu", .output.fill = true, .output.fill_value = VALUE},
                     masked);
        for (size_t i = 0; i < n; i++) {
            const size_t at[3] = {i % g->n[0], i / g->n[0] % g->n[1], i / g->n[0] / g->n[1]};
            double x[3];
            for (int axis = 0; axis < 3; axis++)
                x[axis] = fbp_grid_coordinate(g, axis, (double)at[axis]);
            const bool seen = is_seen(&scan, f.fov_radius_mm, x);
            if (masked[i] != (seen ? plain[i] : (float)VALUE))
                fail_msg("voxel %zu %zu %zu: %g, without a mask %g, %s", at[0], at[1], at[2],
                         (double)masked[i], (double)plain[i], seen ? "seen" : "not seen");
            inside += seen;
            sum += seen ? (double)plain[i] : 0;
            least = seen ? fmin(least, (double)plain[i]) : least;
            most = seen ? fmax(most, (double)plain[i]) : most;
        }
        assert_true(inside > n / 4 && inside < n * 3 / 4);
        assert_true(r.min == least && r.max == most);
        assert_true(fabs(r.mean - sum / (double)inside) < 1e-6);
    }
}

TEST(devices_mask_the_same)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "cpu", .tuning.slab_slices = 3},
        {.device = "cpu", .tuning.kernel = "matrix", .tuning.batch_views = 8},
        {.device = "ref", .tuning.slab_slices = 7},
        {.device = "mock"},
        {.device = "mock:0,1", .tuning.slab_slices = 5},
        {.device = "cuda"},
        {.device = "cuda", .tuning.slab_slices = 9},
        {.device = "gl", .tuning.slab_slices = 9},
        {.device = "cpu", .box = {{5, 40}, {9, 0}, {3, 30}}},
        {.device = "mock", .box = {{5, 40}, {9, 0}, {3, 30}}}};
    AUTO_DROP struct fbp_scan scan = scan_head(24, 0);
    const size_t *m = scan.volume.n, n = grid_size(&scan.volume);
    AUTO_FREE float *first = malloc(n * sizeof *first), *v = malloc(n * sizeof *v);

    assert_true(first && v);
    run_into(
        &scan,
        (struct fbp_recon_params){.device = "cpu", .output.fill = true, .output.fill_value = VALUE},
        first);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fbp_recon_params p = cases[i];
        size_t end[3], k = 0;
        if (!usable(p.device))
            continue;
        p.output.fill = true;
        p.output.fill_value = VALUE;
        run_into(&scan, p, v);
        for (int a = 0; a < 3; a++)
            end[a] = p.box[a][1] ? p.box[a][1] : m[a];
        for (size_t z = p.box[2][0]; z < end[2]; z++)
            for (size_t y = p.box[1][0]; y < end[1]; y++)
                for (size_t x = p.box[0][0]; x < end[0]; x++, k++) {
                    const float other = first[(z * m[1] + y) * m[0] + x];
                    if ((v[k] == (float)VALUE) != (other == (float)VALUE))
                        fail_msg("%s, case %zu: voxel %zu %zu %zu is %g, elsewhere %g", p.device, i,
                                 x, y, z, (double)v[k], (double)other);
                }
    }
}

TEST(files_and_integers_are_masked)
{
    AUTO_DROP struct fbp_scan scan = scan_head(24, 0);
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .output.fill = true,
                                 .output.type = FBP_U8,
                                 .output.range = {0, 0.05}};
    fbp_plan *plan;

    AUTO_FREE float *v = reconstruct(&scan, &p);
    assert_true(v[0] == 0);
    p.output.fill_value = -1;
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_INVALID,
                 "is not in the range 0 to 0.05");
    p.output.range[1] = 0;
    p.mu_water = 0.02;
    p.output.fill_value = -1001; /* -1000 to 3000 */
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_INVALID,
                 "is not in the range -1000 to 3000");
    p.output.fill_value = NAN;
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_INVALID, "uint8 cannot store NaN");
    p.mu_water = 0;
    p.output.auto_range = true;
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_INVALID, "uint8 cannot store NaN");
}

/* The others are what they are with any other value, and so is what the report says of them. */
TEST(nan_is_a_value_of_floats)
{
    AUTO_DROP struct fbp_scan scan = scan_head(24, 0);
    const size_t n = scan.volume.n[0] * scan.volume.n[1] * scan.volume.n[2];
    AUTO_FREE float *zero = malloc(n * sizeof *zero), *nan = malloc(n * sizeof *nan);
    size_t n_masked = 0;

    assert_true(zero && nan);
    const struct fbp_report with_zero =
        run_into(&scan, (struct fbp_recon_params){.device = "cpu", .output.fill = true}, zero);
    const struct fbp_report with_nan = run_into(
        &scan,
        (struct fbp_recon_params){.device = "cpu", .output.fill = true, .output.fill_value = NAN},
        nan);
    for (size_t i = 0; i < n; i++) {
        n_masked += isnan(nan[i]) != 0;
        assert_true(isnan(nan[i]) ? zero[i] == 0 : memcmp(nan + i, zero + i, sizeof *nan) == 0);
    }
    assert_true(n_masked > n / 10 && n_masked < n);
    assert_true(with_zero.min == with_nan.min && with_zero.max == with_nan.max &&
                with_zero.mean == with_nan.mean);
}

TEST_MAIN(NULL, NULL)
