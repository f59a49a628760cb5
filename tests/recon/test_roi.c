/* A box of the volume has the bits that it has in the whole volume, takes the memory and the reads
 * of its slices, and lies where it lies. */
#include "recon/fixture.h"

#include "backend/mock/mock.h"

/* Every kernel, on grids and detectors of odd and even sizes. */
static const struct scan_case {
    const char *device, *kernel; /* kernel: the one asked for */
    size_t views, columns, rows;
    struct fbp_grid grid;
} cases[] = {
    {"cpu", "rot90+mirror", 52, 48, 40, {{40, 40, 36}, {4, 4, 4}, {0, 0, 0}}},
    {"cpu", "rot90+mirror", 36, 51, 41, {{41, 41, 37}, {4, 4, 4}, {0, 0, 0}}},
    {"cpu", "rot180+mirror", 52, 47, 40, {{36, 41, 35}, {4, 4, 4}, {0, 0, 0}}},
    {"cpu", "rot90", 52, 48, 40, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
    {"cpu", "rot180", 52, 48, 40, {{41, 40, 35}, {4, 4, 4}, {0, 0, 1}}},
    {"cpu", "mirror", 53, 48, 40, {{37, 41, 36}, {4, 4, 4}, {2, -3, 0}}},
    {"cpu", "column", 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cpu", "matrix", 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"ref", "matrix", 24, 32, 32, {{21, 17, 25}, {8, 8, 8}, {3, -2, 5}}},
    {"mock:0,1", "rot90+mirror", 36, 51, 41, {{41, 41, 37}, {4, 4, 4}, {0, 0, 0}}},
    {"mock", "column", 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda", "rot90", 52, 48, 40, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
    {"cuda", "rot180+mirror", 52, 47, 40, {{36, 41, 35}, {4, 4, 4}, {0, 0, 0}}},
    {"cuda", "mirror", 53, 48, 40, {{37, 41, 36}, {4, 4, 4}, {2, -3, 0}}},
    {"cuda", "column", 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda:0,0", "matrix", 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
};

enum { N_CASES = sizeof cases / sizeof *cases, N_BOXES = 12 };

static bool can_compute(const struct scan_case *c)
{
    return strncmp(c->device, "cuda", 4) != 0 || usable("cuda");
}

static struct fbp_scan make_scan(const struct scan_case *c)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = c->views,
                            .panel = {c->columns, c->rows},
                            .volume = c->grid};

    add_views(&scan, &(struct orbit){.start_deg = 11, .pitch_mm = {8, 300. / (double)c->rows}});
    simulate_head(&scan, 90);
    return scan;
}

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Any box; now and then up to an edge, which is said by 0, or of one voxel. */
static void draw_box(unsigned *state, const size_t n[3], size_t roi[3][2])
{
    for (int i = 0; i < 3; i++) {
        const size_t a = draw(state) % n[i], b = a + 1 + draw(state) % (n[i] - a);
        const unsigned sort = draw(state) % 4;
        roi[i][0] = a;
        roi[i][1] = sort == 0 ? 0 : sort == 1 ? a + 1 : b;
    }
}

static void assert_box(const char *what, const float *box, const float *whole, const size_t n[3],
                       const struct fbp_plan_summary *info)
{
    const size_t(*r)[2] = info->roi;
    size_t i = 0;

    for (size_t z = r[2][0]; z < r[2][1]; z++)
        for (size_t y = r[1][0]; y < r[1][1]; y++, i += r[0][1] - r[0][0])
            if (memcmp(box + i, whole + (z * n[1] + y) * n[0] + r[0][0],
                       (r[0][1] - r[0][0]) * sizeof *box) != 0)
                fail_msg("%s: %zu:%zu,%zu:%zu,%zu:%zu: row y = %zu, z = %zu is not the volume's",
                         what, r[0][0], r[0][1], r[1][0], r[1][1], r[2][0], r[2][1], y, z);
}

static void assert_report(const struct fbp_report *r, const float *x, size_t n)
{
    double least = INFINITY, most = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, (double)x[i]);
        most = fmax(most, (double)x[i]);
        sum += (double)x[i];
    }
    assert_true(r->min == least && r->max == most);
    assert_true(fabs(r->mean - sum / (double)n) <= 1e-6 * fabs(most));
}

/* Into a file, or into the caller's memory. */
static float *reconstruct_box(fbp_plan *plan, bool memory, struct fbp_report *report)
{
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    const size_t n = grid_size(&info->volume);
    char *path = temporary("box.mha");
    float *out;

    if (memory) {
        fbp_sink *sink;
        out = malloc(n * sizeof *out);
        assert_non_null(out);
        memset(out, 0xff, n * sizeof *out);
        OK(fbp_sink_memory(&sink, out, info->volume.n));
        OK(fbp_plan_run_to(plan, NULL, sink, report));
        fbp_sink_close(&sink);
    } else {
        OK(fbp_plan_run(plan, path, report));
        out = read_array(path);
        remove(path);
    }
    free(path);
    return out;
}

static void boxes_have_the_volumes_bits(void **state)
{
    unsigned seed = 7;

    (void)state;
    fbp_mock_plant = (struct fbp_mock_plant){.delay_us = 20};
    for (size_t i = 0; i < N_CASES; i++) {
        const struct scan_case *c = &cases[i];
        if (!can_compute(c))
            continue;
        struct fbp_scan scan = make_scan(c);
        struct fbp_recon_params p = {
            .struct_size = sizeof p, .n_threads = 2, .precision = FBP_PRECISION_EXACT};
        p.device = c->device;
        p.kernel = c->kernel;
        float *whole = reconstruct(&scan, &p);
        for (int b = 0; b < N_BOXES; b++) {
            struct fbp_report report = {.struct_size = sizeof report};
            fbp_plan *plan;
            draw_box(&seed, c->grid.n, p.roi);
            p.slab_slices = draw(&seed) % 3 ? 0 : 1 + draw(&seed) % 9;
            p.batch_views = draw(&seed) % 2 ? 0 : 8 * (1 + draw(&seed) % 3);
            OK(fbp_plan_create(&plan, &scan, &p));
            const struct fbp_plan_summary *info = fbp_plan_info(plan);
            assert_string_equal(info->kernel, c->kernel);
            float *box = reconstruct_box(plan, b % 2, &report);
            assert_box(c->kernel, box, whole, c->grid.n, info);
            assert_report(&report, box, grid_size(&info->volume));
            free(box);
            fbp_plan_destroy(&plan);
        }
        free(whole);
        drop_scan(&scan);
    }
    fbp_mock_plant = (struct fbp_mock_plant){0};
}

/* The kernel that the volume gets, not the one that so few slices would. */
static void the_volume_chooses_the_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fbp_scan scan = make_scan(&cases[i]);
        fbp_plan *plan;
        OK(fbp_plan_create(&plan, &scan,
                           fbp_recon_params(.device = "cpu", .roi = {{0, 0}, {0, 0}, {3, 4}})));
        assert_string_equal(fbp_plan_info(plan)->kernel, "rot90+mirror");
        fbp_plan_destroy(&plan);
        drop_scan(&scan);
    }
}

/* Size, place and counts of a box; the file says where it lies. */
static void a_box_lies_where_it_lies(void **state)
{
    struct fbp_scan scan = make_scan(&cases[7]);
    const struct fbp_grid *g = &scan.volume;
    const size_t first[] = {5, 30, 44};
    char *path = temporary("place.mha");
    fbp_source *source;
    fbp_plan *plan;

    (void)state;
    OK(fbp_plan_create(
        &plan, &scan,
        fbp_recon_params(.device = "cpu", .kernel = "matrix", .roi = {{5, 9}, {30, 0}, {44, 45}})));
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    assert_memory_equal(info->whole.n, g->n, sizeof g->n);
    assert_int_equal(info->output_bytes, 4 * 7 * 1 * sizeof(float));
    assert_int_equal(info->updates, g->n[0] * g->n[1] * scan.n_views);
    OK(fbp_plan_run(plan, path, NULL));
    OK(fbp_source_open(&source, path, NULL));
    const struct fbp_array_info *file = fbp_source_info(source);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(file->n[i], ((const size_t[]){4, 7, 1})[i]);
        assert_true(fabs(file->origin_mm[i] - fbp_grid_coordinate(g, i, (double)first[i])) < 1e-9);
        assert_true(fabs(fbp_grid_coordinate(&info->volume, i, 0) - file->origin_mm[i]) < 1e-9);
        assert_true(fabs(file->spacing_mm[i] - g->voxel_mm[i]) < 1e-9);
    }
    fbp_source_close(&source);
    fbp_plan_destroy(&plan);
    remove(path);
    free(path);
    drop_scan(&scan);
}

/* A tenth of the slices of a large volume: so much less is held, read and computed. */
static void a_small_box_is_cheap(void **state)
{
    struct fbp_scan scan = circle_scan(90, 256, 0);
    struct fbp_plan_summary all, box;
    fbp_plan *plan;

    (void)state;
    scan.volume = (struct fbp_grid){{512, 512, 512}, {.5, .5, .5}, {0, 0, 0}};
    scan.projections = temporary("sparse.raw");
    scan.raw = (struct fbp_raw){.type = FBP_F32, .n = {256, 256, 90}};
    FILE *f = fopen(scan.projections, "wb");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), 90L * 256 * 256 * (long)sizeof(float)), 0);
    fclose(f);
    OK(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu", .n_threads = 2)));
    all = *fbp_plan_info(plan);
    fbp_plan_destroy(&plan);
    OK(fbp_plan_create(&plan, &scan,
                       fbp_recon_params(.device = "cpu", .n_threads = 2,
                                        .roi = {{100, 110}, {0, 0}, {231, 281}})));
    box = *fbp_plan_info(plan);
    fbp_plan_destroy(&plan);
    assert_int_equal(box.updates, all.updates / 512 * 50);
    assert_true(box.view_reads < 0.2 * all.view_reads);
    assert_true(box.input_bytes < all.input_bytes / 5);
    assert_true(all.memory_bytes - box.memory_bytes > (uint64_t)400 * 512 * 512 * sizeof(float));
    drop_scan(&scan);
}

static void boxes_that_are_not_are_refused(void **state)
{
    static const size_t wrong[][2] = {{5, 5},  {9, 3},        {0, 46},
                                      {45, 0}, {SIZE_MAX, 0}, {0, SIZE_MAX}};
    struct fbp_scan scan = make_scan(&cases[7]);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fbp_recon_params p = {.struct_size = sizeof p, .device = "cpu"};
        fbp_plan *plan;
        memcpy(p.roi[2], wrong[i], sizeof wrong[i]);
        assert_int_equal(fbp_plan_create(&plan, &scan, &p), FBP_ERR_INVALID);
        assert_non_null(strstr(fbp_message(), "along z: the volume has 0:45"));
    }
    drop_scan(&scan);
}

/* Integers stand for the same values, and the range clips the same ones. */
static void integers_are_the_volumes(void **state)
{
    struct fbp_scan scan = make_scan(&cases[0]);
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .output_type = FBP_U16,
                                 .output_range = {0.001, 0.02}};
    fbp_plan *plan;

    (void)state;
    float *whole = reconstruct(&scan, &p);
    const size_t roi[3][2] = {{3, 40}, {0, 17}, {16, 29}};
    memcpy(p.roi, roi, sizeof roi);
    OK(fbp_plan_create(&plan, &scan, &p));
    float *box = reconstruct_box(plan, false, NULL);
    assert_box("uint16", box, whole, scan.volume.n, fbp_plan_info(plan));
    fbp_plan_destroy(&plan);
    free(box);
    free(whole);
    drop_scan(&scan);
}

/* Stop after the first slab. */
static int stop(void *user, const struct fbp_progress *p)
{
    (void)user;
    return p->slabs_done > 0;
}

/* A box that was interrupted goes on where it stopped, and not in the file of another box. */
static void a_box_is_resumed(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        if (!can_compute(&cases[i]))
            continue;
        struct fbp_scan scan = make_scan(&cases[i]);
        char *path = temporary("resumed.mha");
        struct fbp_recon_params p = {.struct_size = sizeof p,
                                     .device = cases[i].device,
                                     .kernel = cases[i].kernel,
                                     .precision = FBP_PRECISION_EXACT,
                                     .slab_slices = 4,
                                     .roi = {{3, 15}, {2, 0}, {7, 23}},
                                     .progress = stop};
        struct fbp_report report = {.struct_size = sizeof report};
        fbp_plan *plan;
        OK(fbp_plan_create(&plan, &scan, &p));
        assert_int_equal(fbp_plan_run(plan, path, NULL), FBP_ERR_CANCELLED);
        fbp_plan_destroy(&plan);
        p.progress = NULL;
        p.resume = 1;
        p.roi[0][0] = 4;
        OK(fbp_plan_create(&plan, &scan, &p));
        assert_int_not_equal(fbp_plan_run(plan, path, NULL), FBP_OK);
        fbp_plan_destroy(&plan);
        p.roi[0][0] = 3;
        OK(fbp_plan_create(&plan, &scan, &p));
        OK(fbp_plan_run(plan, path, &report));
        assert_true(report.slabs_resumed > 0);
        float *resumed = read_array(path);
        p.resume = 0;
        float *right = reconstruct(&scan, &p);
        assert_memory_equal(resumed, right,
                            grid_size(&fbp_plan_info(plan)->volume) * sizeof *right);
        fbp_plan_destroy(&plan);
        remove(path);
        free(path);
        free(resumed);
        free(right);
        drop_scan(&scan);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_the_volumes_bits),
        cmocka_unit_test(the_volume_chooses_the_kernel),
        cmocka_unit_test(a_box_lies_where_it_lies),
        cmocka_unit_test(a_small_box_is_cheap),
        cmocka_unit_test(boxes_that_are_not_are_refused),
        cmocka_unit_test(integers_are_the_volumes),
        cmocka_unit_test(a_box_is_resumed),
    };

    return run_chosen_tests(tests, argc, argv);
}
