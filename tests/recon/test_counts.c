/* Checks that the counts of non-finite and clipped samples count each sample once, whatever the
 * kernel, slabs, batches, devices and memory. */
#include "geometry/kind.h"
#include "recon/fixture.h"
#include "scan/file/scan.h"

enum { VIEWS = 48, N = 40 };

static uint32_t hash_of(size_t i)
{
    uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    return h ^ h >> 13;
}

struct counts {
    size_t not_finite, clipped;
};

/* Intensities; one sample in 97 is no number, one in 89 is not above 0. */
static struct fbp_scan scan_spoilt(size_t n_rows, bool wobbles)
{
    struct fbp_scan scan = {.struct_size = sizeof scan, .n_views = VIEWS, .panel = {N, n_rows}};

    add_views(&scan, &(struct orbit){.pitch_mm = {10, 10}, .c_arm = wobbles});
    simulate_head(&scan, 90);
    scan.i0 = 1000;
    AUTO_FREE float *p = read_array(scan.projections);
    for (size_t i = 0; i < (size_t)VIEWS * N * n_rows; i++)
        p[i] = hash_of(i) % 97 == 0 ? NAN : hash_of(i) % 89 == 0 ? -2 : 1000 * expf(-p[i]);
    replace_samples(&scan, p);
    return scan;
}

/* Those of the rows that a view needs by itself, and `reach` more on either side. */
static struct counts expected(const struct fbp_scan *scan, size_t reach)
{
    struct counts out = {0, 0};
    AUTO_FREE float *p = read_array(scan->projections);

    for (size_t k = 0; k < VIEWS; k++) {
        size_t r0, r1;
        OK(fbp_geometry_rows(fbp_scan_views(scan), k, k + 1, &scan->volume, 0, scan->volume.n[2],
                             &r0, &r1));
        r0 = r0 > reach ? r0 - reach : 0;
        r1 = r1 + reach < scan->panel.n_rows ? r1 + reach : scan->panel.n_rows;
        for (size_t i = (k * scan->panel.n_rows + r0) * N; i < (k * scan->panel.n_rows + r1) * N;
             i++) {
            out.not_finite += isfinite(p[i]) ? 0 : 1;
            out.clipped += p[i] <= 0 ? 1 : 0;
        }
    }
    return out;
}

static const struct fbp_recon_params cases[] = {
    {.device = "cpu"},
    {.device = "cpu", .tuning.kernel = "matrix"},
    {.device = "cpu", .tuning.kernel = "column"},
    {.device = "cpu", .tuning.slab_slices = 1},
    {.device = "cpu", .tuning.slab_slices = 5, .tuning.batch_views = 8},
    {.device = "cpu", .tuning.kernel = "matrix", .tuning.slab_slices = 3},
    {.device = "ref", .tuning.slab_slices = 7},
    {.device = "mock"},
    {.device = "mock", .tuning.slab_slices = 4},
    {.device = "mock:0,1", .tuning.slab_slices = 3, .tuning.batch_views = 16},
    {.device = "cuda"},
    {.device = "cuda", .tuning.slab_slices = 3},
    {.device = "cuda",
     .tuning.kernel = "matrix",
     .tuning.slab_slices = 5,
     .tuning.batch_views = 32},
    {.device = "cuda:0,0", .tuning.slab_slices = 4},
    {.device = "gl"},
    {.device = "gl:0,0",
     .tuning.kernel = "matrix",
     .tuning.slab_slices = 5,
     .tuning.batch_views = 16},
};

static void check(const struct fbp_scan *scan, const char *what, double cutoff_v, size_t reach)
{
    const struct counts right = expected(scan, reach);

    assert_true(right.not_finite > 50 && right.clipped > 50);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fbp_recon_params p = cases[i];
        struct fbp_report r[2] = {{.struct_size = sizeof *r}, {.struct_size = sizeof *r}};
        if (!usable(p.device))
            continue;
        p.struct_size = sizeof p;
        p.filtering.cutoff_v = cutoff_v;
        if (p.tuning.kernel && strcmp(p.tuning.kernel, "column") == 0 &&
            strcmp(what, "wobbling") == 0)
            p.tuning.kernel = NULL;
        fbp_plan *plan = create_plan(scan, &p);
        OK(fbp_plan_open(plan));
        for (int run = 0; run < 2; run++) /* of one plan: the second like the first */
            OK(fbp_plan_run(plan, "null:", &r[run]));
        fbp_plan_destroy(&plan);
        for (int run = 0; run < 2; run++)
            if (r[run].not_finite != right.not_finite || r[run].clipped != right.clipped)
                fail_msg("%s, %s, case %zu, run %d: %zu and %zu, expected %zu and %zu", what,
                         p.device, i, run, r[run].not_finite, r[run].clipped, right.not_finite,
                         right.clipped);
    }
}

/* More rows than are needed, an odd and an even number; slices finer and far coarser than rows. */
TEST(each_sample_counts_once)
{
    static const struct fbp_grid grids[] = {{{32, 32, 17}, {6, 6, 6}, {0, 0, 0}},
                                            {{32, 32, 16}, {6, 6, 6}, {0, 0, 0}},
                                            {{20, 24, 23}, {8, 8, 3}, {2, 3, 11}},
                                            {{10, 10, 5}, {20, 20, 29}, {0, 0, 0}}};

    for (size_t rows = 30; rows <= 31; rows++) {
        AUTO_DROP struct fbp_scan scan = scan_spoilt(rows, false);
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            scan.volume = grids[g];
            check(&scan, "a circle", 0, 0);
        }
        scan.volume = grids[0];
        scan.volume.n[2] = 5;
        check(&scan, "a filter along columns", 1, 1);
    }
    AUTO_DROP struct fbp_scan scan = scan_spoilt(30, true);
    scan.volume = grids[2];
    check(&scan, "wobbling", 0, 0);
}

/* Bad pixels are bridged from rows that nothing else needs. */
TEST(bad_pixels_change_no_count)
{
    AUTO_DROP struct fbp_scan scan = scan_spoilt(30, false);
    float mask[30 * N] = {0};

    for (size_t c = 10; c < 20; c++) /* too wide to be bridged along the row */
        mask[14 * N + c] = mask[15 * N + c] = 1;
    scan.bad_pixels = write_array("mask.mha", N, 30, 1, mask);
    AUTO_FREE float *p = read_array(scan.projections);
    for (size_t i = 0; i < (size_t)VIEWS * 30 * N; i++)
        p[i] = mask[i % (30 * N)] > 0 ? 500 : p[i]; /* what they say does not count */
    replace_samples(&scan, p);
    scan.volume = (struct fbp_grid){{32, 32, 6}, {6, 6, 6}, {0, 0, 0}};
    check(&scan, "bad pixels", 0, 0);
}

TEST_MAIN(NULL, NULL)
