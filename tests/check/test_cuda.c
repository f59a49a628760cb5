/*
 * Every kernel of a GPU in every precision, whole and in slabs and batches, at sizes that leave
 * threads, rows and passes over at every edge.  Small and without the CPU's own work beside it, so
 * that compute-sanitizer can look at all of it (scripts/cuda-check).
 */
#include "recon/fixture.h"

/* The device under test: FBP_TEST_DEVICE. */
static const char *tested = "cuda";

enum { COLUMNS = 45, ROWS = 38, SLICES = 19 };

/* 2.1 pixels a voxel; and 1, where textures have two texels a column, of a volume that the edge of
 * the detector runs through. */
static const struct size {
    size_t side;
    double voxel_mm, pitch_mm;
} coarse = {23, 8, 6}, fine = {53, 1, 1.6};

static const char *const kernels[] = {"parallel", "matrix", "column", "rot180", "rot90"};
static const char *const precisions[] = {"exact", "fast", "half"};

enum { N_KERNELS = sizeof kernels / sizeof *kernels, N_PRECISIONS = 3 };

static struct fbp_scan make_scan(size_t n_views, const struct size *size)
{
    const double a = size->voxel_mm, pitch = size->pitch_mm;

    return head_scan(n_views, COLUMNS, ROWS,
                     &(struct orbit){.start_deg = 11, .pitch_mm = {pitch, pitch}},
                     (struct fbp_grid){{size->side, size->side, SLICES}, {a, a, a}, {0, 0, 0}}, 90);
}

/* Is there a kernel of this name and this very precision for the scan? */
static bool is_there(const struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
    bool yes = false;

    if (fbp_plan_create(&plan, scan, p) == FBP_OK) {
        const char *isa = fbp_plan_info(plan)->isa, *is = precisions[p->precision - 1];
        yes = strlen(isa) > strlen(is) && strcmp(isa + strlen(isa) - strlen(is), is) == 0;
    }
    return yes;
}

/* The values of the specification, and the same bits however views and slices are divided. */
static void check(const struct fbp_scan *scan, const struct fbp_recon_params *p, const float *ref)
{
    const size_t n = grid_size(&scan->volume);
    struct fbp_recon_params parts = *p;
    AUTO_FREE float *whole = reconstruct(scan, p);
    const double db = psnr_db(whole, ref, n);

    print_message("%zu views: %s %s %s: %.1f dB\n", scan->n_views, tested, p->tuning.kernel,
                  precisions[p->precision - 1], db);
    if (!(db >= (p->precision == FBP_PRECISION_EXACT ? 105 : 55)))
        fail_msg("%s %s: %.1f dB", p->tuning.kernel, precisions[p->precision - 1], db);
    parts.tuning.slab_slices = 7;
    parts.tuning.batch_views = 8;
    AUTO_FREE float *divided = reconstruct(scan, &parts);
    assert_memory_equal(whole, divided, n * sizeof *whole);
}

/* 44 views: a pass of 32 and a rest; 11 groups of 4. */
static void check_kernels(const struct size *size)
{
    AUTO_DROP struct fbp_scan scan = make_scan(44, size);
    AUTO_FREE float *ref = reconstruct(&scan, fbp_recon_params(.device = "ref"));
    size_t done[N_PRECISIONS] = {0};

    for (size_t k = 0; k < N_KERNELS; k++)
        for (int i = 0; i < N_PRECISIONS; i++) {
            const struct fbp_recon_params p = {.struct_size = sizeof p,
                                               .device = tested,
                                               .n_threads = 2,
                                               .tuning.kernel = kernels[k],
                                               .precision = (enum fbp_precision)(i + 1)};
            if (is_there(&scan, &p)) {
                check(&scan, &p, ref);
                done[i]++;
            }
        }
    /* matrix, column and rot90 exact, matrix and rot180 fast, matrix and rot90 half, at least */
    assert_true(done[0] >= 3 && done[1] >= 2 && done[2] >= 2);
}

TEST(every_kernel_coarse)
{
    check_kernels(&coarse);
}

TEST(every_kernel_fine)
{
    check_kernels(&fine);
}

/* Half a turn of a parallel beam: slices that lie on detector rows and between them, more and fewer
 * slices than rows, an axis beside the middle, and volumes that the detector's edge runs through.
 * Rows of 70 slices take two blocks. */
TEST(parallel_beams)
{
    static const struct {
        size_t side, slices, n_views;
        double voxel_mm, depth_mm, offset_mm;
    } cases[] = {{45, 38, 44, 6, 6, 0},
                 {45, 37, 45, 6, 6, 0},
                 {53, 70, 44, 5, 3.3, 17},
                 {37, 12, 301, 8, 13, 0},
                 {45, 230, 44, 6, 6, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double a = cases[i].voxel_mm;
        AUTO_DROP struct fbp_scan scan = {
            .struct_size = sizeof scan,
            .kind = FBP_PARALLEL,
            .n_views = cases[i].n_views,
            .panel = {COLUMNS, ROWS},
            .volume = {{cases[i].side, cases[i].side, cases[i].slices},
                       {a, a, cases[i].depth_mm},
                       {0, 0, 0}}};
        add_views(&scan, &(struct orbit){.start_deg = 11,
                                         .step_deg = 180.0 / (double)scan.n_views,
                                         .pitch_mm = {6, 6},
                                         .offset_mm = cases[i].offset_mm});
        simulate_head(&scan, 90);
        AUTO_FREE float *ref = reconstruct(&scan, fbp_recon_params(.device = "ref"));
        size_t done = 0;
        for (int k = 0; k < N_PRECISIONS; k += 2) {
            const struct fbp_recon_params p = {.struct_size = sizeof p,
                                               .device = tested,
                                               .n_threads = 2,
                                               .tuning.kernel = "parallel",
                                               .precision = (enum fbp_precision)(k + 1)};
            if (is_there(&scan, &p)) {
                check(&scan, &p, ref);
                done++;
            }
        }
        if (done < 2 && strcmp(tested, "cuda") == 0)
            fail_msg("case %zu: %zu kernels \"parallel\"", i, done);
    }
}

/* All shapes of a kernel give the same bits; of more than it has the rest is the likeliest. */
static void check_shapes(const struct fbp_scan *scan, const char *kernel,
                         enum fbp_precision precision, int n_shapes)
{
    uint64_t first = 0;

    for (int shape = 0; shape < n_shapes; shape++) {
        AUTO_FREE char *text = printed("%d", shape);
        setenv("FBP_SHAPE", text, 1);
        const uint64_t hash = reconstruct_hash(
            scan, fbp_recon_params(.device = tested, .n_threads = 2, .tuning.kernel = kernel,
                                   .precision = precision));
        first = shape == 0 ? hash : first;
        if (hash != first)
            fail_msg("%s %s: shape %d has other values than shape 0", kernel,
                     precisions[precision - 1], shape);
    }
    unsetenv("FBP_SHAPE");
}

/* Windows of views that are too small, and large enough; the detector's edge lies in the volume. */
static void every_shape_of(const struct size *size)
{
    enum { WINDOWED = 9, OTHERS = 5 };
    AUTO_DROP struct fbp_scan any = make_scan(37, size), symmetric = make_scan(44, size);

    check_shapes(&any, "matrix", FBP_PRECISION_EXACT, WINDOWED);
    check_shapes(&any, "column", FBP_PRECISION_EXACT, WINDOWED);
    check_shapes(&any, "matrix", FBP_PRECISION_FAST, OTHERS);
    check_shapes(&any, "matrix", FBP_PRECISION_HALF, OTHERS);
    check_shapes(&symmetric, "rot180", FBP_PRECISION_FAST, OTHERS);
    check_shapes(&symmetric, "rot90", FBP_PRECISION_HALF, OTHERS);
    if (strcmp(tested, "gl") == 0) { /* CUDA's have one shape */
        check_shapes(&symmetric, "rot180", FBP_PRECISION_EXACT, OTHERS);
        check_shapes(&symmetric, "rot90", FBP_PRECISION_EXACT, OTHERS);
    }
}

TEST(every_shape_coarse)
{
    every_shape_of(&coarse);
}

TEST(every_shape_fine)
{
    every_shape_of(&fine);
}

/* Arguments: a filter for the tests (scripts/cuda-check). */
int main(int argc, char **argv)
{
    if (getenv("FBP_TEST_DEVICE"))
        tested = getenv("FBP_TEST_DEVICE");
    if (!usable(tested))
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
