/* The variants of S3 in the pipeline, asked for by name: the reference's volume, the same bits
 * whatever batches, slabs, boxes and regions are, on circles of any arc. */
#include "geometry/view.h"
#include "phantom/shapes.h"
#include "recon/fixture.h"

static const char *const kernels[] = {"s3-a", "s3-b", "s3-c", "s3-d",
                                      "s3-e", "s3-f", "s3-g", "s3-m"};

enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* Odd sizes and a short scan: groups of views and slices have a last, partial one. */
static struct fbp_scan make_scan(double arc_deg)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = 39,
                            .panel = {43, 37},
                            .volume = {{29, 31, 23}, {5, 5, 5}, {3, -2, 4}}};

    add_views(&scan, &(struct orbit){.start_deg = 11,
                                     .step_deg = arc_deg / (arc_deg < 360 ? 38 : 39),
                                     .pitch_mm = {9, 9}});
    simulate_head(&scan, 75);
    return scan;
}

static float *run(const struct fbp_scan *scan, const char *kernel, struct fbp_recon_params p)
{
    p.struct_size = sizeof p;
    p.device = kernel ? "gl" : "ref";
    p.tuning.kernel = kernel;
    p.n_threads = 2;
    return reconstruct(scan, &p);
}

static void check_volume(const struct fbp_scan *scan, const char *kernel, const float *ref,
                         enum fbp_precision precision, double least_db)
{
    AUTO_FREE float *v = run(scan, kernel, (struct fbp_recon_params){.precision = precision});
    const double db = psnr_db(v, ref, grid_size(&scan->volume));

    print_message("%s, precision %d: %.1f dB\n", kernel, (int)precision, db);
    assert_true(db > least_db);
}

TEST(variants_give_the_volume)
{
    static const double arcs[] = {360, 220};

    for (size_t a = 0; a < 2; a++) {
        AUTO_DROP struct fbp_scan scan = make_scan(arcs[a]);
        AUTO_FREE float *ref = run(&scan, NULL, (struct fbp_recon_params){0});
        for (size_t i = 0; i < N_KERNELS; i++) {
            check_volume(&scan, kernels[i], ref, FBP_PRECISION_EXACT, 110);
            check_volume(&scan, kernels[i], ref, FBP_PRECISION_FAST, 50);
            check_volume(&scan, kernels[i], ref, FBP_PRECISION_HALF, 50);
        }
    }
}

/* Voxels of a box beside those of the whole; where `wanted` says so. */
static void same_bits(const char *what, const struct fbp_scan *scan, const float *whole,
                      const float *box, const size_t roi[3][2], double radius_mm)
{
    const struct fbp_grid *g = &scan->volume;
    size_t i = 0, inside = 0;

    for (size_t z = roi[2][0]; z < roi[2][1]; z++)
        for (size_t y = roi[1][0]; y < roi[1][1]; y++)
            for (size_t x = roi[0][0]; x < roi[0][1]; x++, i++) {
                const size_t at = (z * g->n[1] + y) * g->n[0] + x;
                if (hypot(fbp_grid_coordinate(g, 0, (double)x),
                          fbp_grid_coordinate(g, 1, (double)y)) > radius_mm - 1e-6)
                    continue;
                inside++;
                if (memcmp(&whole[at], &box[i], sizeof *box) != 0)
                    fail_msg("%s: voxel %zu %zu %zu: %.9g instead of %.9g", what, x, y, z,
                             (double)box[i], (double)whole[at]);
            }
    assert_true(inside > 100);
}

static void check_bits(const struct fbp_scan *scan, const char *kernel,
                       enum fbp_precision precision)
{
    const size_t *n = scan->volume.n;
    const size_t all[3][2] = {{0, n[0]}, {0, n[1]}, {0, n[2]}};
    const size_t part[3][2] = {{3, 22}, {5, 30}, {6, 17}};
    const struct {
        const char *what;
        struct fbp_recon_params p;
    } ways[] = {{"batches of 8", {.tuning.batch_views = 8}},
                {"slabs of 5", {.tuning.slab_slices = 5, .tuning.batch_views = 16}},
                {"a box", {.box = {{3, 22}, {5, 30}, {6, 17}}}},
                {"a region", {.region.shape = "cylinder:40"}},
                {"a box of a region in slabs",
                 {.box = {{3, 22}, {5, 30}, {6, 17}},
                  .region.shape = "cylinder:40",
                  .tuning.slab_slices = 3}}};
    AUTO_FREE float *whole = run(scan, kernel, (struct fbp_recon_params){.precision = precision});

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fbp_recon_params p = ways[i].p;
        p.precision = precision;
        AUTO_FREE char *what = printed("%s, %s", kernel, ways[i].what);
        AUTO_FREE float *v = run(scan, kernel, p);
        same_bits(what, scan, whole, v, p.box[0][1] ? part : all, p.region.shape ? 40 : INFINITY);
    }
}

TEST(batches_slabs_and_boxes_change_no_bit)
{
    AUTO_DROP struct fbp_scan scan = make_scan(360);

    for (size_t i = 0; i < N_KERNELS; i++)
        check_bits(&scan, kernels[i], i % 2 ? FBP_PRECISION_HALF : FBP_PRECISION_FAST);
    check_bits(&scan, "s3-m", FBP_PRECISION_FAST);
}

/* A C-arm that wobbles, or a circle whose panel is tilted about all its axes: columns and weights
 * depend on z, which only s3-m allows. */
static struct fbp_scan tilted_scan(bool c_arm)
{
    static const double deg = 3.14159265358979323846 / 180;
    struct fbp_scan scan = make_scan(360);
    double sod = 750, sdd = 1200, *angles = even_angles(scan.n_views, 20, 360. / 39);
    const struct fbp_circle circle = circle_of(scan.n_views, angles, sod, sdd, .pitch_mm = {9, 9},
                                               .tilt_rad = {4 * deg, 0, 0}); /* rows stay level */

    if (c_arm)
        OK(fbp_c_arm_views(&circle, &scan.panel, scan.views));
    else
        OK(fbp_circle_views(&circle, scan.views));
    free(angles);
    simulate_head(&scan, 75);
    return scan;
}

TEST(any_matrices_are_drawn)
{
    for (int c_arm = 0; c_arm < 2; c_arm++) {
        AUTO_DROP struct fbp_scan scan = tilted_scan(c_arm);
        AUTO_FREE float *ref = run(&scan, NULL, (struct fbp_recon_params){0});
        check_volume(&scan, "s3-m", ref, FBP_PRECISION_EXACT, 110);
        check_volume(&scan, "s3-m", ref, FBP_PRECISION_FAST, 50);
        check_volume(&scan, "s3-m", ref, FBP_PRECISION_HALF, 50);
        check_bits(&scan, "s3-m", c_arm ? FBP_PRECISION_HALF : FBP_PRECISION_EXACT);
    }
}

TEST(a_tilted_panel_needs_them)
{
    AUTO_DROP struct fbp_scan scan = tilted_scan(false);
    struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = "gl", .tuning.kernel = "s3-d", .n_threads = 1};
    fbp_plan *plan;

    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_UNSUPPORTED, "s3-d");
}

/* A fan: one row, one slice. */
TEST(a_fan_is_drawn_too)
{
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .n_views = 30,
                                      .panel = {41, 1},
                                      .volume = {{27, 25, 1}, {5, 5, 5}, {0}}};

    add_views(&scan, &(struct orbit){.pitch_mm = {9, 9}});
    simulate_head(&scan, 75);
    AUTO_FREE float *ref = run(&scan, NULL, (struct fbp_recon_params){0});
    check_volume(&scan, "s3-d", ref, FBP_PRECISION_EXACT, 110);
    check_volume(&scan, "s3-b", ref, FBP_PRECISION_EXACT, 110);
}

int main(int argc, char **argv)
{
    return usable("gl") ? run_file_tests(argc, argv, NULL, NULL) : 77;
}
