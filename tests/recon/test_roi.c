/* Checks that a box of the volume (--roi) has the bits of the whole volume, needs the memory and
 * reads of its slices only, and has the right origin. */
#include "recon/boxes.h"

#include "devices/mock/mock.h"

enum { N_BOXES = 12 };

/* Devices that keep no filtered views, and those that do. */
static const struct fbp_rates none = {0}, card = {1e-12, 1e-10, 1e-12, 1e-10, .share = 1};

/* Least, most and mean of the box; of masked voxels none counts. */
static void assert_report(const struct fbp_report *r, const float *x, size_t n, bool masked)
{
    double least = INFINITY, most = -INFINITY, sum = 0, size = 0;
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        if (masked && x[i] == -7)
            continue;
        least = fmin(least, (double)x[i]);
        most = fmax(most, (double)x[i]);
        sum += (double)x[i];
        size = fmax(size, fabs((double)x[i]));
        m++;
    }
    if (m == 0)
        return;
    assert_true(r->min == least && r->max == most);
    assert_true(fabs(r->mean - sum / (double)m) <= 1e-6 * size);
}

static void check_box(const struct scan_case *c, const struct fbp_scan *scan,
                      struct fbp_recon_params p, const float *whole, bool memory, unsigned *seed)
{
    struct fbp_report report = {.struct_size = sizeof report};
    struct fbp_progress told = {0};

    p.callbacks.progress = watch;
    p.callbacks.user = &told;
    draw_box(seed, c->grid.n, p.box);
    draw_division(seed, &p);
    fbp_mock_faults.rates = draw(seed) % 2 ? card : none;
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, &p);
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    assert_string_equal(info->kernel, c->kernel);
    AUTO_FREE float *box = run_plan(plan, memory, &report);
    assert_box(c->kernel, sizeof *box, box, whole, c->grid.n, info->box);
    assert_report(&report, box, grid_size(&info->volume), p.output.fill);
    /* A kernel that computes boxes computes no voxel outside of the box; others compute whole
     * slices.
     */
    const size_t(*r)[2] = info->box, *n = c->boxes ? info->volume.n : info->whole.n;
    assert_int_equal(info->updates, (uint64_t)n[0] * n[1] * (r[2][1] - r[2][0]) * scan->n_views);
    assert_true(told.done == info->updates && told.total == info->updates);
}

static void check_boxes(const struct scan_case *c, const struct fbp_scan *scan,
                        struct fbp_recon_params p, const float *whole, unsigned *seed)
{
    for (int b = 0; b < N_BOXES; b++)
        check_box(c, scan, p, whole, b % 2, seed);
}

TEST(boxes_have_the_volumes_bits)
{
    compare_parts(check_boxes, true, 7);
}

/* The kernel that the volume gets, not the one that so few slices would. */
TEST(the_volume_chooses_the_kernel)
{
    for (size_t i = 0; i < 2; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan =
            create_plan(&scan, fbp_recon_params(.device = "cpu", .box = {{3, 5}, {7, 9}, {3, 4}}));
        assert_string_equal(fbp_plan_info(plan)->kernel, "rot90");
    }
}

static const struct scan_case odd_grid = {
    .views = 53, .columns = 48, .rows = 48, .grid = {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}};

/* Size, place and counts of a box; the file says where it lies. */
TEST(a_box_lies_where_it_lies)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&odd_grid);
    const struct fbp_grid *g = &scan.volume;
    const size_t first[] = {5, 30, 44};
    AUTO_REMOVE char *path = temporary("place.mha");

    CLEANUP(fbp_plan_destroy)
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "matrix",
                                                         .box = {{5, 9}, {30, 0}, {44, 45}}));
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    assert_memory_equal(info->whole.n, g->n, sizeof g->n);
    assert_int_equal(info->output_bytes, 4 * 7 * 1 * sizeof(float));
    assert_int_equal(info->updates, 4 * 7 * 1 * scan.n_views);
    OK(fbp_plan_run(plan, path, NULL));
    CLEANUP(fbp_source_close) fbp_source *source = open_source(path, NULL);
    const struct fbp_array_info *file = fbp_source_info(source);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(file->n[i], ((const size_t[]){4, 7, 1})[i]);
        assert_true(fabs(file->origin_mm[i] - fbp_grid_coordinate(g, i, (double)first[i])) < 1e-9);
        assert_true(fabs(fbp_grid_coordinate(&info->volume, i, 0) - file->origin_mm[i]) < 1e-9);
        assert_true(fabs(file->spacing_mm[i] - g->voxel_mm[i]) < 1e-9);
    }
}

static struct fbp_plan_summary plan_of(const struct fbp_scan *scan, const char *kernel,
                                       const size_t roi[3][2])
{
    struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = "cpu", .n_threads = 2, .tuning.kernel = kernel};
    struct fbp_plan_summary out;

    memcpy(p.box, roi, sizeof p.box);
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, &p);
    out = *fbp_plan_info(plan);
    return out;
}

/* A tenth of the slices of a large volume: so much less is held, read and computed; and where the
 * kernel computes boxes, little of each slice. */
TEST(a_small_box_is_cheap)
{
    static const size_t whole[3][2] = {0}, small[3][2] = {{100, 110}, {0, 0}, {231, 281}};
    const uint64_t slice = 512 * 512, line = 512 * 10, size = sizeof(float);
    AUTO_DROP struct fbp_scan scan = circle_scan(90, 256, 0);

    scan.volume = (struct fbp_grid){{512, 512, 512}, {.5, .5, .5}, {0, 0, 0}};
    scan.projections = temporary("sparse.raw");
    scan.raw = (struct fbp_raw){.type = FBP_F32, .n = {256, 256, 90}};
    FILE *f = not_null(fopen(scan.projections, "wb"));
    assert_int_equal(ftruncate(fileno(f), 90L * 256 * 256 * (long)sizeof(float)), 0);
    fclose(f);
    const struct fbp_plan_summary all = plan_of(&scan, "rot180", whole),
                                  cut = plan_of(&scan, "rot180", small),
                                  box = plan_of(&scan, "column", small);
    assert_int_equal(cut.updates, all.updates / 512 * 50);
    assert_int_equal(box.updates, line * 50 * 90);
    assert_true(cut.view_reads < 0.2 * all.view_reads && box.view_reads < 0.2 * all.view_reads);
    assert_true(cut.input_bytes < all.input_bytes / 5);
    assert_true(all.memory_bytes - cut.memory_bytes > 400 * slice * size);
    assert_true(cut.memory_bytes - box.memory_bytes > 50 * (slice - 4 * line) * size);
}

/* Slices that memory does not hold: it does hold boxes of them. */
TEST(a_slice_need_not_fit)
{
    AUTO_DROP struct fbp_scan scan = circle_scan(24, 64, 0);
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .tuning.kernel = "column",
                                 .n_threads = 2,
                                 .volume = {{8192, 8192, 16}, {.02, .02, 1}, {0, 0, 0}},
                                 .memory_bytes = 200 << 20,
                                 .box = {{4000, 4090}, {4000, 4080}, {0, 0}}};
    struct fbp_report report = {.struct_size = sizeof report};

    simulate_head(&scan, 90);
    fbp_plan *plan = create_plan(&scan, &p);
    OK(fbp_plan_run(plan, "hash:", &report));
    assert_true(report.max > 0);
    fbp_plan_destroy(&plan);
    p.tuning.kernel = NULL;
    assert_int_equal(fbp_plan_create(&plan, &scan, &p), FBP_ERR_NOMEM);
}

TEST(boxes_that_are_not_are_refused)
{
    static const size_t wrong[][2] = {{5, 5},  {9, 3},        {0, 46},
                                      {45, 0}, {SIZE_MAX, 0}, {0, SIZE_MAX}};
    AUTO_DROP struct fbp_scan scan = make_scan(&odd_grid);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu"};
        fbp_plan *plan;
        memcpy(p.box[2], wrong[i], sizeof wrong[i]);
        assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_INVALID,
                     "along z are no range of the volume, which has 0:45");
    }
}

/* Integers stand for the same values, and the range clips the same ones. */
TEST(integers_are_the_volumes)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&cases[0]);
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .output.type = FBP_U16,
                                 .output.range = {0.001, 0.02}};

    AUTO_FREE float *whole = reconstruct(&scan, &p);
    const size_t roi[3][2] = {{3, 40}, {0, 17}, {16, 29}};
    memcpy(p.box, roi, sizeof roi);
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &p);
    AUTO_FREE float *box = run_plan(plan, false, NULL);
    assert_box("uint16", sizeof *box, box, whole, scan.volume.n, fbp_plan_info(plan)->box);
}

/* Stop after the first slab. */
static int stop(void *user, const struct fbp_progress *p)
{
    return p->slabs_done > 0;
}

/* A box that was interrupted goes on where it stopped, and not in the file of another box. */
TEST(a_box_is_resumed)
{
    for (size_t i = 0; i < N_CASES; i++) {
        if (!can_compute(&cases[i]))
            continue;
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        AUTO_REMOVE char *path = temporary("resumed.mha");
        struct fbp_recon_params p = {.struct_size = sizeof p,
                                     .device = cases[i].device,
                                     .tuning.kernel = cases[i].kernel,
                                     .precision = cases[i].precision,
                                     .tuning.slab_slices = 4,
                                     .box = {{3, 15}, {2, 0}, {7, 23}},
                                     .callbacks.progress = stop};
        struct fbp_report report = {.struct_size = sizeof report};
        assert_int_equal(reconstruct_to(&scan, &p, path, NULL), FBP_ERR_CANCELLED);
        p.callbacks.progress = NULL;
        p.output.resume = true;
        p.box[0][0] = 4;
        assert_int_not_equal(reconstruct_to(&scan, &p, path, NULL), FBP_OK);
        p.box[0][0] = 3;
        fbp_plan *plan = create_plan(&scan, &p);
        OK(fbp_plan_run(plan, path, &report));
        assert_true(report.slabs_resumed > 0);
        AUTO_FREE float *resumed = read_array(path);
        p.output.resume = false;
        AUTO_FREE float *right = reconstruct(&scan, &p);
        assert_memory_equal(resumed, right,
                            grid_size(&fbp_plan_info(plan)->volume) * sizeof *right);
        fbp_plan_destroy(&plan);
    }
}

TEST_MAIN(NULL, NULL)
