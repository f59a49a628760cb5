/* Checks that several channels (delays) of plane integrals at once have the bits of single ones,
 * in one stage and in two, on every device and for every division of the work. */
#include "recon/planes_util.h"

enum { FRAMES = 3, SIDE = 40 };

/* Balls that fade away at different speeds beside an ellipsoid that stays: [view][frame][S]. */
static float *series_of(const struct fbp_scan *scan)
{
    const size_t S = scan->panel.n_columns, n = scan->n_views;
    const struct solid ball = ball_of_planes(2), ellipsoid = ellipsoid_of_planes();
    AUTO_FREE float *a = plane_samples(scan, &ball, 1), *b = plane_samples(scan, &ellipsoid, 1);
    float *out = calloc(n * FRAMES * S, sizeof *out);

    for (size_t k = 0; k < n; k++)
        for (size_t f = 0; f < FRAMES; f++)
            for (size_t c = 0; c < S; c++)
                out[(k * FRAMES + f) * S + c] =
                    (float)exp(-.7 * (double)f) * a[k * S + c] + b[k * S + c];
    return out;
}

static float *frame_of(const struct fbp_scan *scan, const float *series, size_t f)
{
    const size_t S = scan->panel.n_columns;
    float *out = calloc(scan->n_views * S, sizeof *out);

    for (size_t k = 0; k < scan->n_views; k++)
        memcpy(out + k * S, series + (k * FRAMES + f) * S, S * sizeof *out);
    return out;
}

/* A grid whose sides are no multiple of a kernel's blocks. */
static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = rings_scan(10);

    scan.volume = (struct fbp_grid){.n = {SIDE + 1, SIDE - 1, SIDE - 2},
                                    .voxel_mm = {.041, .043, .039},
                                    .centre_mm = {.03, -.02, .01}};
    return scan;
}

struct way {
    const char *name, *device;
    struct fbp_recon_params p;
};

static size_t voxels_of(const struct way *w, const struct fbp_scan *scan)
{
    size_t n = 1;

    for (int i = 0; i < 3; i++)
        n *= w->p.box[i][1] ? w->p.box[i][1] - w->p.box[i][0] : scan->volume.n[i];
    return n;
}

static float *volume_of(const struct way *w, const struct fbp_scan *scan, const float *views,
                        struct fbp_report *report)
{
    struct fbp_recon_params p = w->p;
    float *out = calloc(scan->panel.n_rows * voxels_of(w, scan), sizeof *out);

    p.struct_size = sizeof p;
    p.device = w->device;
    p.n_threads = 2;
    *report = (struct fbp_report){.struct_size = sizeof *report};
    if (fbp_reconstruct(scan, &p, FBP_F32, views, out, report) != FBP_OK)
        fail_msg("%s: %s", w->name, fbp_message());
    return out;
}

static void check_way(const struct way *w, struct fbp_scan *scan, const float *series)
{
    const size_t n = voxels_of(w, scan);
    struct fbp_report all, one[FRAMES];

    scan->panel.n_rows = FRAMES;
    AUTO_FREE float *together = volume_of(w, scan, series, &all);
    scan->panel.n_rows = 1;
    for (size_t f = 0; f < FRAMES; f++) {
        AUTO_FREE float *views = frame_of(scan, series, f);
        AUTO_FREE float *alone = volume_of(w, scan, views, &one[f]);
        if (memcmp(alone, together + f * n, n * sizeof *alone) != 0)
            fail_msg("%s: frame %zu differs from the same one alone by %g of the peak", w->name, f,
                     difference(alone, together + f * n, n));
    }
    /* Least, most and mean of all frames are those of single ones. */
    double least = INFINITY, most = -INFINITY, mean = 0;
    for (size_t f = 0; f < FRAMES; f++) {
        least = fmin(least, one[f].min);
        most = fmax(most, one[f].max);
        mean += one[f].mean / FRAMES;
    }
    if (fabs(all.min - least) > 0 || fabs(all.max - most) > 0 ||
        !(fabs(all.mean - mean) <= 1e-6 * most))
        fail_msg("%s: least %g, most %g, mean %g of all frames, expected %g, %g, %g", w->name,
                 all.min, all.max, all.mean, least, most, mean);
}

/* Rings of make_scan() at the same angles. */
#define STAGES .epr.stages = 2, .epr.angles = 10

static const struct way ways[] = {
    {"ref", "ref", {.box = {{10, 18}, {12, 20}, {9, 14}}}},
    {"planes", "cpu", {0}},
    {"matrix", "cpu", {.tuning.kernel = "matrix"}},
    {"oversampled", "cpu", {.epr.oversampling = 2}},
    {"in space", "cpu", {.filtering.spatial = true, .filtering.half_width = 20}},
    {"two ramps", "cpu", {.filter = FBP_FILTER_TWO_RAMPS}},
    {"in slabs and batches", "cpu", {.tuning.slab_slices = 5, .tuning.batch_views = 16}},
    {"nearest", "cpu", {.epr.interpolation = FBP_INTERPOLATION_NEAREST}},
    {"splines", "cpu", {.epr.interpolation = FBP_INTERPOLATION_CUBIC}},
    {"splines along rows",
     "cpu",
     {.tuning.kernel = "matrix", .epr.interpolation = FBP_INTERPOLATION_CUBIC}},
    {"double", "cpu", {.precision = FBP_PRECISION_DOUBLE}},
    {"double along rows", "cpu", {.precision = FBP_PRECISION_DOUBLE, .tuning.kernel = "matrix"}},
    {"double by ref",
     "ref",
     {.precision = FBP_PRECISION_DOUBLE, .box = {{10, 18}, {12, 20}, {9, 14}}}},
    {"masked", "cpu", {.output.fill = true, .output.fill_value = -7}},
    {"a box", "cpu", {.box = {{3, 30}, {5, 21}, {7, 18}}}},
    {"a region", "cpu", {.region.shape = "ball:0.1,0,0,0.5"}},
    {"a region in slabs",
     "cpu",
     {.region.shape = "ball:0.1,0,0,0.3", .tuning.slab_slices = 4, .output.fill = true}},
    {"gl", "gl", {0}},
    {"gl, oversampled",
     "gl",
     {.epr.oversampling = 2, .tuning.slab_slices = 9, .tuning.batch_views = 16}},
    {"gl, splines of a box",
     "gl",
     {.epr.interpolation = FBP_INTERPOLATION_CUBIC, .box = {{3, 30}, {5, 21}, {7, 18}}}},
    {"gl, a region",
     "gl",
     {.region.shape = "ball:0.1,0,0,0.3", .tuning.slab_slices = 4, .output.fill = true}},
    {"cuda", "cuda", {0}},
    {"cuda, two ramps", "cuda", {.filter = FBP_FILTER_TWO_RAMPS_UNPADDED, .tuning.slab_slices = 9}},
    {"cuda, oversampled",
     "cuda",
     {.epr.oversampling = 2, .tuning.slab_slices = 9, .tuning.batch_views = 16}},
    {"cuda, splines of a box",
     "cuda",
     {.epr.interpolation = FBP_INTERPOLATION_CUBIC, .box = {{3, 30}, {5, 21}, {7, 18}}}},
    {"cuda, nearest", "cuda", {.epr.interpolation = FBP_INTERPOLATION_NEAREST}},
    {"cuda, a region",
     "cuda",
     {.region.shape = "ball:0.1,0,0,0.3", .tuning.slab_slices = 4, .output.fill = true}},
    {"mock", "mock", {.tuning.slab_slices = 7}},
    {"two of them", "mock:0,1", {.tuning.slab_slices = 3, .output.fill = true}},
    {"two stages", "cpu", {STAGES}},
    {"two stages in slabs and batches",
     "cpu",
     {STAGES, .tuning.slab_slices = 5, .tuning.batch_views = 8}},
    {"two stages, one thing at a time", "cpu", {STAGES, .tuning.no_overlap = true}},
    {"two stages along rows", "cpu", {STAGES, .tuning.kernel = "matrix", .tuning.slab_slices = 9}},
    {"two stages by ref", "ref", {STAGES, .box = {{10, 18}, {12, 20}, {9, 14}}}},
    {"two stages, masked", "cpu", {STAGES, .output.fill = true, .output.fill_value = -7}},
    {"two stages, a box", "cpu", {STAGES, .box = {{3, 30}, {5, 21}, {7, 18}}}},
    {"two stages, a region in slabs",
     "cpu",
     {STAGES, .region.shape = "ball:0.1,0,0,0.3", .tuning.slab_slices = 4, .output.fill = true}},
    {"two stages, splines", "cpu", {STAGES, .epr.interpolation = FBP_INTERPOLATION_CUBIC}},
    {"two stages in double", "cpu", {STAGES, .precision = FBP_PRECISION_DOUBLE}},
    {"two stages in double by ref",
     "ref",
     {STAGES, .precision = FBP_PRECISION_DOUBLE, .box = {{10, 18}, {12, 20}, {9, 14}}}},
    {"two stages, the second on gl", "gl", {STAGES, .tuning.slab_slices = 9}},
    {"two stages, the second on cuda", "cuda", {STAGES}},
    {"two stages, the second on cuda in slabs", "cuda", {STAGES, .tuning.slab_slices = 9}},
    {"two stages, the second on mock", "mock", {STAGES, .tuning.slab_slices = 7}},
    {"two stages, the second on two of them",
     "mock:0,1",
     {STAGES, .tuning.slab_slices = 3, .output.fill = true}},
};

TEST(together_is_one_by_one)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan();
    AUTO_FREE float *series = series_of(&scan);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strchr(ways[i].device, ':') || usable(ways[i].device))
            check_way(&ways[i], &scan, series);
}

static int stop(void *user, const struct fbp_progress *p)
{
    return p->slabs_done >= 3;
}

/* A scan whose series is in a file. */
static struct fbp_scan scan_of_file(float **series)
{
    struct fbp_scan scan = make_scan();

    *series = series_of(&scan);
    scan.panel.n_rows = FRAMES;
    scan.projections =
        write_array("series.mha", scan.panel.n_columns, FRAMES, scan.n_views, *series);
    return scan;
}

static void check_file(const char *path, const struct fbp_grid *g, const float *wanted)
{
    fbp_source *source = open_source(path, NULL);
    const struct fbp_array_info *info = fbp_source_info(source);
    if (info->time_points != FRAMES || info->n[0] != g->n[0] || info->n[1] != g->n[1] ||
        info->n[2] != FRAMES * g->n[2])
        fail_msg("%s: %zu frames, %zu x %zu x %zu", path, info->time_points, info->n[0], info->n[1],
                 info->n[2]);
    for (int i = 0; info->has_spacing && i < 3; i++)
        assert_true(fabs(info->spacing_mm[i] - g->voxel_mm[i]) < 1e-6 &&
                    fabs(info->origin_mm[i] - fbp_grid_coordinate(g, i, 0)) < 1e-6);
    fbp_source_close(&source);
    AUTO_FREE float *got = read_array(path);
    if (memcmp(got, wanted, FRAMES * grid_size(g) * sizeof *got) != 0)
        fail_msg("%s: other values than in memory", path);
}

/* Each format says how many volumes there are, and of what size; those without a place for it are
 * refused. */
TEST(files_are_series)
{
    static const char *const names[] = {"f.mha", "f.mhd", "f.nrrd", "f.nhdr", "f.nii", "f.nii.gz",
                                        "f.npy", "f.h5",  "f.mat",  "f.raw",  "f.tif", "f%03d.png"};
    struct fbp_report report = {.struct_size = sizeof report};
    const struct way plain = {"memory", "cpu", {0}};
    float *series;
    AUTO_DROP struct fbp_scan scan = scan_of_file(&series);
    AUTO_FREE float *wanted = volume_of(&plain, &scan, series, &report);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu", .n_threads = 2};
        const bool has_no_place = strstr(names[i], ".tif") || strstr(names[i], ".png");
        AUTO_REMOVE char *path = temporary(names[i]);
        if (strstr(names[i], ".png")) {
            p.output.type = FBP_U8;
            p.output.range[1] = 1;
        }
        const fbp_status st = reconstruct_to(&scan, &p, path, &report);
        if (!has_no_place && st != FBP_OK)
            fail_msg("%s: %s", path, fbp_message());
        if (has_no_place &&
            (st != FBP_ERR_UNSUPPORTED || !strstr(fbp_message(), "store a series of 3 frames")))
            fail_msg("%s: %d, \"%s\"", path, st, fbp_message());
        if (!has_no_place)
            check_file(path, &scan.volume, wanted);
    }
    free(series);
}

/* Where a run was stopped between slabs, the missing ones are computed of all frames, and no
 * others. */
static void check_resumed(struct fbp_recon_params p)
{
    struct fbp_report report = {.struct_size = sizeof report};
    const struct way plain = {"memory", "cpu", p};
    float *series;
    AUTO_DROP struct fbp_scan scan = scan_of_file(&series);
    AUTO_FREE float *wanted = volume_of(&plain, &scan, series, &report);
    AUTO_REMOVE char *path = temporary("resumed.mha");

    p.device = "cpu";
    p.n_threads = 2;
    p.tuning.slab_slices = 6;
    p.callbacks.progress = stop;
    assert_int_equal(reconstruct_to(&scan, &p, path, &report), FBP_ERR_CANCELLED);
    p.callbacks.progress = NULL;
    p.output.resume = true;
    OK(reconstruct_to(&scan, &p, path, &report));
    assert_true(report.slabs_resumed >= 3);
    check_file(path, &scan.volume, wanted);
    free(series);
}

TEST(a_series_is_resumed)
{
    check_resumed((struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params)});
    check_resumed(
        (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params), STAGES});
}

/* Frames count in memory: what the volumes alone take is too little, and cuts slabs. */
TEST(memory_counts_frames)
{
    struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu", .n_threads = 1};
    float *series;
    AUTO_DROP struct fbp_scan scan = scan_of_file(&series);

    scan.volume = (struct fbp_grid){.n = {128, 128, 128}, .voxel_mm = {.016, .016, .016}};
    fbp_plan *plan = create_plan(&scan, &p);
    const struct fbp_plan_summary free_plan = *fbp_plan_info(plan);
    const uint64_t volume = grid_size(&scan.volume) * sizeof(float);
    fbp_plan_destroy(&plan);
    assert_int_equal(free_plan.time_points, FRAMES);
    assert_int_equal(free_plan.n_slabs, 1);
    assert_int_equal(free_plan.output_bytes, FRAMES * volume);
    assert_int_equal(free_plan.updates, FRAMES * grid_size(&scan.volume) * scan.n_views);
    p.memory_bytes = FRAMES * volume;
    OK(fbp_plan_create(&plan, &scan, &p));
    assert_true(fbp_plan_info(plan)->n_slabs > 1);
    assert_true(fbp_plan_info(plan)->memory_bytes <= fbp_plan_info(plan)->memory_limit);
    fbp_plan_destroy(&plan);
    free(series);
}

/* In two stages volumes are made one after another: each is divided for itself, with the bits that
 * it has in one piece. */
TEST(stages_keep_to_memory)
{
    struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu", .n_threads = 1, STAGES};
    struct fbp_report report = {.struct_size = sizeof report};
    uint64_t hash[2];
    float *series;
    AUTO_DROP struct fbp_scan scan = scan_of_file(&series);
    fbp_plan *plan = NULL;

    scan.volume = (struct fbp_grid){.n = {160, 160, 160}, .voxel_mm = {.013, .013, .013}};
    for (int little = 0; little < 2; little++) {
        p.memory_bytes = little ? (size_t)28 << 20 : 0;
        OK(fbp_plan_create(&plan, &scan, &p));
        const struct fbp_plan_summary info = *fbp_plan_info(plan);
        assert_int_equal(info.time_points, FRAMES);
        assert_int_equal(info.n_pictures, 10 * FRAMES);
        assert_int_equal(info.picture_updates, FRAMES * 100 * info.picture[0] * info.picture[1]);
        assert_int_equal(info.updates, FRAMES * grid_size(&scan.volume) * 10);
        assert_int_equal(info.n_slabs % FRAMES, 0);
        assert_true((info.n_slabs > 2 * FRAMES) == little);
        assert_true(!little || info.memory_bytes <= info.memory_limit);
        OK(fbp_plan_run(plan, "hash:", &report));
        hash[little] = report.hash;
        fbp_plan_destroy(&plan);
    }
    assert_true(hash[0] == hash[1]);
    free(series);
}

TEST_MAIN(NULL, NULL)
