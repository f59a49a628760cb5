/* Checks two stages in double precision: near to one stage and within 1e-6 of float, kernels
 * against ref, the same bits for every division of the work, files of float64, and refusals with
 * a reason. */
#include "recon/planes_util.h"

#include "backend/backend.h"
#include "filter/filter.h"
#include "geometry/view.h"
#include "pipeline/job.h"

/* Views of the soft ball, [view][S]. */
static double *samples_of(const struct fbp_scan *scan)
{
    const struct solid solid = ball_of_planes(2);

    return exact_samples(scan, &solid, 1);
}

#define STAGES(n, on, ...)                                                             \
    (struct fbp_recon_params)                                                          \
    {                                                                                  \
        .struct_size = sizeof(struct fbp_recon_params), .epr.stages = n, .device = on, \
        .n_threads = 2, .filter = FBP_FILTER_HANN, .cutoff = .5, __VA_ARGS__           \
    }

/* A volume in double. */
static double *volume_of(const struct fbp_scan *scan, const double *views,
                         struct fbp_recon_params p)
{
    return planes_volume(scan, FBP_F64, views, &p);
}

/* A volume that is computed in float, of the same views. */
static double *in_float(const struct fbp_scan *scan, const double *views, struct fbp_recon_params p)
{
    const size_t n = grid_size(&scan->volume), n_samples = scan->n_views * scan->panel.n_columns;
    AUTO_FREE float *samples = calloc(n_samples, sizeof *samples);
    double *out = calloc(n, sizeof *out);

    for (size_t i = 0; i < n_samples; i++)
        samples[i] = (float)views[i];
    AUTO_FREE float *volume = planes_volume(scan, FBP_F32, samples, &p);
    for (size_t i = 0; i < n; i++)
        out[i] = (double)volume[i];
    return out;
}

/* One column of a picture a voxel, and two: from one stage in double; then from the same in float.
 */
static void check_axis(struct fbp_scan *scan, const char *what, const double most[2])
{
    const size_t n = grid_size(&scan->volume);
    AUTO_FREE double *views = samples_of(scan);
    AUTO_FREE double *one = volume_of(scan, views, STAGES(1, "cpu", .epr.image_oversampling = 0));

    for (size_t columns = 1; columns <= 2; columns++) {
        const struct fbp_recon_params p = STAGES(2, "cpu", .epr.image_oversampling = columns);
        AUTO_FREE double *two = volume_of(scan, views, p), *single = in_float(scan, views, p);
        const double error = distance(FBP_F64, one, two, n).rms;
        const double rounding = difference_double(two, single, n);
        if (!(error <= most[columns - 1] && rounding <= 1e-6 && rounding > 1e-9))
            fail_msg("%s, %zu columns a voxel: %.5f from one stage, %.2g from float", what, columns,
                     error, rounding);
    }
}

TEST(two_stages_are_as_one)
{
    static const char *const names[] = {"z", "x", "y"};
    static const double usual[2] = {.003, .001}, turned_most[2] = {.0045, .0013};

    for (int pole = 0; pole < 3; pole++) {
        AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, (enum fbp_pole)pole);
        check_axis(&scan, names[pole], usual);
    }
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    turn_scan(&scan);
    check_axis(&scan, "a turned axis", turned_most);
}

/* 162 directions, 50 samples, a volume of no cubes whose sides are no multiples of a vector. */
static struct fbp_scan small_scan(int pole, double **views)
{
    struct fbp_scan scan = grid_scan(18, 9, pole < 3 ? (enum fbp_pole)pole : FBP_POLE_Z);

    if (pole == 3)
        turn_scan(&scan);
    scan.panel.n_columns = 50;
    for (size_t k = 0; k < scan.n_views; k++) {
        resample_view(&scan, k, 1, 2.2 * PLANES_STEP, -25.3 * 2.2 * PLANES_STEP);
    }
    scan.volume = (struct fbp_grid){
        .n = {23, 18, 37}, .voxel_mm = {.07, .09, .05}, .centre_mm = {.03, -.05, .08}};
    *views = samples_of(&scan);
    return scan;
}

static const char *const kernels[] = {"column", "matrix"};

TEST(kernels_agree_with_the_reference)
{
    static const struct fbp_recon_params ways[] = {
        {.filter = FBP_FILTER_RAM_LAK},
        {.epr.oversampling = 2, .epr.image_oversampling = 3},
        {.filter = FBP_FILTER_TWO_RAMPS_UNPADDED},
        {.epr.interpolation = FBP_INTERPOLATION_NEAREST},
        {.epr.interpolation = FBP_INTERPOLATION_CUBIC},
        {.epr.periodic = true},
        {.epr.interpolation = FBP_INTERPOLATION_NEAREST, .volume = {.voxel_mm = {.6, .6, .6}}},
        {.volume = {.voxel_mm = {.6, .6, .6}}},
        {.epr.interpolation = FBP_INTERPOLATION_CUBIC, .volume = {.voxel_mm = {1.2, 1.2, 1.2}}}};

    for (int pole = 0; pole < 4; pole++) {
        double *views;
        AUTO_CLEAR struct fbp_scan scan = small_scan(pole, &views);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct fbp_recon_params p = ways[i];
            p.struct_size = sizeof p;
            p.epr.stages = 2;
            if (p.volume.voxel_mm[0] > 0) /* no window holds a block: one by one */
                memcpy(p.volume.n, (const size_t[3]){5, 4, 6}, sizeof p.volume.n);
            const size_t n = p.volume.n[0] ? 5 * 4 * 6 : grid_size(&scan.volume);
            p.device = "ref";
            AUTO_FREE double *wanted = volume_of(&scan, views, p);
            for (size_t k = pole > 0; k < 2; k++) {
                p.device = "cpu";
                p.tuning.kernel = kernels[k];
                AUTO_FREE double *got = volume_of(&scan, views, p);
                const double error = difference_double(wanted, got, n);
                if (!(error <= 1e-12))
                    fail_msg("pole %d, way %zu, %s: %g of the peak", pole, i, p.tuning.kernel,
                             error);
            }
        }
        free(views);
    }
}

/* Of a box, or of what a region leaves. */
static void check_part(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                       const double *whole, const double *got, const char *what)
{
    const size_t *n = scan->volume.n;
    size_t first[3], end[3];

    for (int i = 0; i < 3; i++) {
        first[i] = p->box[i][0];
        end[i] = p->box[i][1] ? p->box[i][1] : n[i];
    }
    for (size_t z = first[2]; z < end[2]; z++)
        for (size_t y = first[1]; y < end[1]; y++)
            for (size_t x = first[0]; x < end[0]; x++, got++) {
                const double *at = whole + (z * n[1] + y) * n[0] + x;
                if (!(p->region.shape && *got == 0) && memcmp(got, at, sizeof *got) != 0)
                    fail_msg("%s: voxel %zu %zu %zu: %g, not %g", what, x, y, z, *got, *at);
            }
}

TEST(no_division_changes_a_bit)
{
    static const struct fbp_recon_params ways[] = {
        {.n_threads = 1},
        {.n_threads = 3},
        {.tuning.batch_views = 8},
        {.tuning.slab_slices = 3},
        {.tuning.slab_slices = 5, .tuning.batch_views = 4},
        {.tuning.no_overlap = true},
        {.box = {{3, 19}, {5, 9}, {2, 31}}, .tuning.slab_slices = 7},
        {.region.shape = "cylinder:0.5", .tuning.slab_slices = 16},
    };
    char what[80];

    for (int pole = 0; pole < 4; pole++) {
        double *views;
        AUTO_CLEAR struct fbp_scan scan = small_scan(pole, &views);
        for (size_t k = pole > 0; k < 3; k++) {
            const char *device = k < 2 ? "cpu" : "ref", *kernel = k < 2 ? kernels[k] : NULL;
            AUTO_FREE double *whole =
                volume_of(&scan, views, STAGES(2, device, .tuning.kernel = kernel));
            for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                struct fbp_recon_params p = STAGES(2, device, .tuning.kernel = kernel);
                p.n_threads = ways[i].n_threads;
                p.tuning.batch_views = ways[i].tuning.batch_views;
                p.tuning.slab_slices = ways[i].tuning.slab_slices;
                p.tuning.no_overlap = ways[i].tuning.no_overlap;
                p.region.shape = ways[i].region.shape;
                memcpy(p.box, ways[i].box, sizeof p.box);
                AUTO_FREE double *got = volume_of(&scan, views, p);
                snprintf(what, sizeof what, "pole %d, %s %s, way %zu", pole, device,
                         kernel ? kernel : "", i);
                check_part(&scan, &p, whole, got, what);
            }
        }
        free(views);
    }
}

/* Two frames, of which one fades, are those that they are alone. */
static void check_frames(struct fbp_scan *scan, const double *views, const char *kernel)
{
    const size_t S = scan->panel.n_columns, n = grid_size(&scan->volume);
    AUTO_FREE double *both = calloc(scan->n_views * 2 * S, sizeof *both),
                     *out = calloc(2 * n, sizeof *out);
    AUTO_FREE double *faded = calloc(scan->n_views * S, sizeof *faded);
    struct fbp_recon_params p = STAGES(2, "cpu", .tuning.kernel = kernel, .tuning.slab_slices = 9);

    for (size_t i = 0; i < scan->n_views * S; i++) {
        faded[i] = .7 * views[i];
        both[(i / S * 2) * S + i % S] = views[i];
        both[(i / S * 2 + 1) * S + i % S] = faded[i];
    }
    scan->panel.n_rows = 2;
    OK(fbp_reconstruct(scan, &p, FBP_F64, both, out, NULL));
    scan->panel.n_rows = 1;
    p.tuning.slab_slices = 0;
    for (size_t f = 0; f < 2; f++) {
        AUTO_FREE double *alone = volume_of(scan, f ? faded : views, p);
        assert_memory_equal(out + f * n, alone, n * sizeof *alone);
    }
}

TEST(frames_are_as_alone)
{
    for (int pole = 0; pole < 4; pole++) {
        double *views;
        AUTO_CLEAR struct fbp_scan scan = small_scan(pole, &views);
        for (size_t k = pole > 0; k < 2; k++)
            check_frames(&scan, views, kernels[k]);
        free(views);
    }
}

/* Rings are resampled in double: what comes in so is not rounded on its way. */
TEST(rings_go_through_in_double)
{
    static const enum fbp_ring_interpolation ways[] = {FBP_RINGS_FFT, FBP_RINGS_SPLINE,
                                                       FBP_RINGS_LINEAR};
    AUTO_CLEAR struct fbp_scan scan = rings_scan(18);
    const size_t n = grid_size(&scan.volume);
    AUTO_FREE double *views = samples_of(&scan);

    for (size_t i = 0; i < 3; i++) {
        const struct fbp_recon_params p =
            STAGES(2, "cpu", .epr.angles = 18, .epr.ring_interpolation = ways[i]);
        struct fbp_recon_params q = p;
        q.device = "ref";
        AUTO_FREE double *two = volume_of(&scan, views, p), *ref = volume_of(&scan, views, q);
        AUTO_FREE double *single = in_float(&scan, views, p);
        q = p;
        q.epr.stages = 1;
        AUTO_FREE double *one = volume_of(&scan, views, q);
        const double rounding = difference_double(two, single, n);
        if (!(distance(FBP_F64, one, two, n).rms <= .001 &&
              difference_double(ref, two, n) <= 1e-12 && rounding <= 1e-6 && rounding > 1e-9))
            fail_msg("%s: %.5f from one stage, %.2g from ref, %.2g from float",
                     fbp_ring_interpolation_name(ways[i]), distance(FBP_F64, one, two, n).rms,
                     difference_double(ref, two, n), rounding);
    }
}

/* From file to file; little memory makes many slabs, of the same bits. */
TEST(files_hold_doubles)
{
    AUTO_DROP struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    AUTO_FREE double *views = samples_of(&scan);
    AUTO_REMOVE char *path = temporary("stages-double.npy");
    const struct fbp_recon_params small = STAGES(2, "auto", .precision = FBP_PRECISION_DOUBLE);
    uint64_t hash[2];

    scan.projections = temporary("stages-views.npy");
    write_planes(scan.projections, FBP_F64, &scan, views);
    AUTO_FREE double *wanted = volume_of(&scan, views, STAGES(2, "cpu", .tuning.kernel = NULL));
    fbp_plan *plan = create_plan(&scan, &small);
    assert_string_equal(fbp_plan_info(plan)->backend, "cpu");
    assert_string_equal(fbp_plan_info(plan)->kernel, "column");
    double seconds;
    OK(fbp_plan_estimate(plan, &seconds));
    assert_true(seconds > 0);
    OK(fbp_plan_run(plan, path, NULL));
    fbp_plan_destroy(&plan);
    AUTO_FREE double *got = read_planes(path, FBP_F64);
    assert_memory_equal(got, wanted, grid_size(&scan.volume) * sizeof *got);
    for (int little = 0; little < 2; little++) {
        struct fbp_report report = {.struct_size = sizeof report};
        struct fbp_recon_params p = small;
        p.volume = (struct fbp_grid){.n = {128, 128, 128}};
        p.memory_bytes = little ? (size_t)28 << 20 : 0;
        OK(fbp_plan_create(&plan, &scan, &p));
        const struct fbp_plan_summary *info = fbp_plan_info(plan);
        assert_true((info->n_slabs > 2) == little);
        assert_true(!little || info->memory_bytes <= info->memory_limit);
        OK(fbp_plan_run(plan, "hash:", &report));
        hash[little] = report.hash;
        fbp_plan_destroy(&plan);
    }
    assert_true(hash[0] == hash[1]);
}

static void refused(const struct fbp_scan *scan, const double *views,
                    const struct fbp_recon_params *p, const char *says)
{
    double out;

    assert_int_equal(fbp_reconstruct(scan, p, FBP_F64, views, &out, NULL), FBP_ERR_UNSUPPORTED);
    assert_string_equal(fbp_message(), says);
}

/* A device may compute in double, and have no stage for pictures: those of CUDA do. */
TEST(who_lacks_it_says_so)
{
    AUTO_CLEAR struct fbp_scan scan = grid_scan(18, 18, FBP_POLE_Z);
    struct fbp_backend other = *fbp_backend_find("ref");
    struct fbp_job job = {
        .kind = FBP_PARALLEL, .epr.second_stage = true, .precision = FBP_PRECISION_DOUBLE};
    AUTO_FREE double *views = samples_of(&scan);

    other.name = "other";
    other.can.meridian_images = false;
    assert_int_equal(fbp_job_arrange(&job, &other), FBP_ERR_UNSUPPORTED);
    assert_string_equal(fbp_message(),
                        "stages: device other has no second stage in double precision; omit stages "
                        "or double, or use device cpu");
    refused(&scan, views, &STAGES(2, "mock", .precision = FBP_PRECISION_DOUBLE),
            "precision: device mock computes in float32 only; omit double, or use device cpu");
    if (usable("gl"))
        refused(&scan, views, &STAGES(2, "gl", .precision = FBP_PRECISION_DOUBLE),
                "precision: device gl computes in float32 only; omit double, or use device cpu");
    refused(
        &scan, views, &STAGES(2, "cpu", .tuning.kernel = "planes"),
        "kernel: device cpu has no \"planes\" for this scan, volume and options; omit the kernel");
}

TEST_MAIN(NULL, NULL)
