/* Kernel "hierarchical" of the CPU device, in precision fast, and of CUDA devices, in precision
 * half: when it is chosen, its values beside those of kernel "column" and beside the phantom, on
 * every instruction set, and the same bits for every division of the work. */
#include "recon/fixture.h"

enum { VIEWS = 420, COLUMNS = 150, ROWS = 130, VOXELS = 96 };

static const double HEAD_MM = 80;

/* INTERLEAVED: views 0, 2, 4 …, 1, 3, 5 …; UNEVEN: the last tenth of the views has larger steps;
 * INCLINED: beams by 20 degrees to the slices. */
enum order { EVEN = 0, INTERLEAVED, UNEVEN, INCLINED };

/* A head; arc of the views [deg]; shift of the panel along its rows [pixels]; rows and voxels per
 * side: 0: ROWS, VOXELS. */
struct geometry {
    const char *name;
    enum fbp_kind kind;
    size_t n_views;
    double arc, shift, tilt_deg;
    enum order order;
    size_t rows, voxels;
};

static struct fbp_scan make_scan(const struct geometry *g)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = g->kind,
                            .n_views = g->n_views,
                            .panel = {COLUMNS, g->rows ? g->rows : ROWS},
                            .volume = {{VOXELS, VOXELS, VOXELS}, {2, 2, 2}, {0, 0, 0}}};
    const double pitch = g->kind == FBP_CONE ? 2 * 1200 / 750.0 : 2;
    double *angles = even_angles(g->n_views, 0, g->arc / (double)g->n_views);

    for (int i = 0; i < 3 && g->voxels; i++)
        scan.volume.n[i] = g->voxels;
    for (size_t k = 0; k < g->n_views; k++) {
        const double n = (double)g->n_views, turn = g->arc * PI / 180, x = (double)k;
        if (g->order == INTERLEAVED)
            angles[k] = turn / n * (double)(2 * k % g->n_views + (2 * k >= g->n_views));
        if (g->order == UNEVEN)
            angles[k] = turn * (x < 0.9 * n ? x / n / 2 : 0.45 + 5.5 * (x / n - 0.9));
    }
    const struct fbp_circle circle =
        circle_of(g->n_views, angles, 750, 1200, .kind = g->kind, .pitch_mm = {pitch, pitch},
                  .offset_mm = {g->shift * pitch, 0}, .tilt_rad = {g->tilt_deg * PI / 180, 0, 0});
    scan.views = not_null(calloc(g->n_views, sizeof *scan.views));
    OK(fbp_circle_views(&circle, scan.views));
    free(angles);
    for (size_t k = 0; k < g->n_views && g->order == INCLINED; k++) {
        double *v = scan.views[k].s;
        v[2] += hypot(v[0], v[1]) * tan(20 * PI / 180);
    }
    simulate_head(&scan, HEAD_MM);
    return scan;
}

#define PARAMS(name, ...)                                                           \
    fbp_recon_params(.device = "cpu", .precision = FBP_PRECISION_FAST, __VA_ARGS__, \
                     .tuning.kernel = (name))

static void check_kernel(const struct geometry *g, enum fbp_precision precision,
                         enum fbp_refine refine, const char *expected)
{
    AUTO_DROP struct fbp_scan scan = make_scan(g);
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;

    OK(fbp_plan_create(
        &plan, &scan,
        fbp_recon_params(.device = "cpu", .precision = precision, .filtering.refine = refine)));
    print_message("%s: kernel %s\n", g->name, fbp_plan_info(plan)->kernel);
    assert_string_equal(fbp_plan_info(plan)->kernel, expected);
}

TEST(chosen_where_it_pays)
{
    const struct geometry full = {"full turn", FBP_CONE, VIEWS, .arc = 360};
    const struct geometry uneven = {"no quarter-turn symmetry", FBP_CONE, VIEWS + 1, .arc = 360};
    const struct geometry few = {"few views", FBP_CONE, 91, .arc = 360};
    const struct geometry tilted = {"tilted", FBP_CONE, VIEWS + 1, .arc = 360, .tilt_deg = 2};
    const struct geometry uneven_steps = {"uneven steps", FBP_CONE, 1400, .arc = 360,
                                          .order = UNEVEN};
    const struct geometry inclined = {"inclined beams", FBP_PARALLEL, VIEWS, .arc = 180,
                                      .order = INCLINED};
    const struct geometry order = {"every other view first", FBP_CONE, VIEWS + 1, .arc = 360,
                                   .order = INTERLEAVED};

    check_kernel(&full, FBP_PRECISION_FAST, FBP_REFINE_1, "hierarchical");
    check_kernel(&uneven, FBP_PRECISION_FAST, FBP_REFINE_1, "hierarchical");
    check_kernel(&uneven, FBP_PRECISION_FAST, FBP_REFINE_4, "column");
    check_kernel(&uneven, FBP_PRECISION_DEFAULT, FBP_REFINE_1, "column");
    check_kernel(&uneven, FBP_PRECISION_EXACT, FBP_REFINE_1, "column");
    check_kernel(&few, FBP_PRECISION_FAST, FBP_REFINE_1, "column");
    check_kernel(&tilted, FBP_PRECISION_FAST, FBP_REFINE_1, "tilted");
    check_kernel(&order, FBP_PRECISION_FAST, FBP_REFINE_1, "column");
    check_kernel(&uneven_steps, FBP_PRECISION_FAST, FBP_REFINE_1, "column");
    check_kernel(&inclined, FBP_PRECISION_FAST, FBP_REFINE_1, "column");
}

TEST(is_of_precision_fast)
{
    static const struct geometry full = {"full turn", FBP_CONE, VIEWS, .arc = 360};
    AUTO_DROP struct fbp_scan scan = make_scan(&full);

    for (int i = FBP_PRECISION_DEFAULT; i <= FBP_PRECISION_HALF; i++) {
        CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
        const struct fbp_recon_params *p =
            fbp_recon_params(.device = "cpu", .precision = (enum fbp_precision)i,
                             .tuning.kernel = "hierarchical");
        if (i == FBP_PRECISION_FAST)
            OK(fbp_plan_create(&plan, &scan, p));
        else
            assert_fails(fbp_plan_create(&plan, &scan, p), FBP_ERR_UNSUPPORTED, "omit the kernel");
    }
}

/* Rms difference, in HU, of voxels within 75 mm of the axis and 60 mm of the source's plane, which
 * all views contain. */
static double hu_between(const float *a, const float *b, size_t side)
{
    double sum = 0, n = 0;

    for (size_t z = side / 2 - 30; z < side / 2 + 30; z++)
        for (size_t y = 0; y < side; y++)
            for (size_t x = 0; x < side; x++) {
                const double px = 2 * ((double)x - (double)(side - 1) / 2.0),
                             py = 2 * ((double)y - (double)(side - 1) / 2.0);
                const size_t i = (z * side + y) * side + x;
                if (hypot(px, py) > 75)
                    continue;
                sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
                n++;
            }
    return sqrt(sum / n) * 1000 / 0.02;
}

/* The phantom of the scans of make_scan(), as means over voxels. */
static float *make_truth(const struct fbp_scan *scan)
{
    CLEANUP(fbp_phantom_clear)
    struct fbp_phantom phantom = create_phantom("shepp-logan", HEAD_MM, 0.02);
    float *truth = not_null(malloc(grid_size(&scan->volume) * sizeof *truth));

    OK(fbp_phantom_voxels(&phantom, &scan->volume, 0, scan->volume.n[2], truth));
    return truth;
}

/* Compares a volume of `side` voxels per side with that of kernel "column" and with the phantom.
 * most: greatest permitted error, relative to that of "column". */
static void check_error(const char *name, int refine, const char *level, double most,
                        const float *got, const float *column, const float *truth, size_t side)
{
    const double differs = hu_between(got, column, side), own = hu_between(got, truth, side),
                 error = hu_between(column, truth, side);

    print_message("%s, refine %d, %s: %.2f HU from column; error %.2f HU, of column %.2f HU\n",
                  name, refine + 1, level, differs, own, error);
    assert_true(own < most * error);
    assert_true(differs < (refine ? 20 : 40));
}

/* Voxels of a region have the values of the whole volume. */
static void check_region(const struct geometry *g, struct fbp_recon_params p)
{
    AUTO_DROP struct fbp_scan scan = make_scan(g);
    AUTO_FREE float *whole = reconstruct(&scan, &p);
    size_t seen = 0;

    p.region.shape = "ball:10,0,5,30";
    AUTO_FREE float *ball = reconstruct(&scan, &p);
    for (size_t i = 0; i < grid_size(&scan.volume); i++)
        if (ball[i] < 0 || ball[i] > 0) {
            assert_memory_equal(&ball[i], &whole[i], sizeof *ball);
            seen++;
        }
    assert_true(seen > 10000);
}

/* With refined rows, both kernels are equally far from the phantom; without, "hierarchical" blurs
 * edges more.  Their difference contains the errors of both from linear interpolation. */
TEST(values_and_errors)
{
    static const struct geometry cases[] = {
        {"full turn", FBP_CONE, VIEWS, .arc = 360},
        {"clockwise", FBP_CONE, VIEWS - 3, .arc = -360},
        {"short scan", FBP_CONE, 300, .arc = 220},
        {"offset panel", FBP_CONE, VIEWS + 1, .arc = 360, .shift = 40},
        {"parallel beam", FBP_PARALLEL, 300, .arc = 180},
        {"blocks of few voxel columns", FBP_CONE, VIEWS, .arc = 360, .voxels = 67},
        {"last group of one view", FBP_CONE, 6 * 64 + 1, .arc = 360}};
    static const char *const levels[] = {"c", "avx2", "avx512"};
    const char *saved = getenv("FBP_CPU");
    AUTO_FREE char *keep = saved ? strdup(saved) : NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        AUTO_FREE float *truth = make_truth(&scan);
        const size_t side = scan.volume.n[0];
        for (int refine = FBP_REFINE_1; refine <= FBP_REFINE_2; refine++) {
            AUTO_FREE float *column =
                reconstruct(&scan, fbp_recon_params(.device = "cpu", .tuning.kernel = "column",
                                                    .filtering.refine = (enum fbp_refine)refine));
            AUTO_FREE float *first = NULL;
            for (int level = i == 0 ? 0 : 2; level < 3; level++) {
                setenv("FBP_CPU", levels[level], 1);
                float *got = reconstruct(
                    &scan, PARAMS("hierarchical", .filtering.refine = (enum fbp_refine)refine));
                check_error(cases[i].name, refine, levels[level], refine ? 1.1 : 1.4, got, column,
                            truth, side);
                if (first)
                    assert_true(hu_between(got, first, side) < 0.02);
                free(first);
                first = got;
            }
        }
    }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
}

TEST(splits_change_nothing)
{
    static const struct geometry geometries[] = {
        {"full turn", FBP_CONE, VIEWS, .arc = 360},
        {"volume taller than the field of view", FBP_CONE, VIEWS, .arc = 360, .rows = 40}};
    static const struct fbp_recon_params cases[] = {
        {.n_threads = 3, .tuning.batch_views = 64, .tuning.slab_slices = 7},
        {.n_threads = 1, .tuning.batch_views = 128, .tuning.slab_slices = 33},
        {.n_threads = 2, .tuning.batch_views = 192, .tuning.slab_slices = 1},
        {.n_threads = 2, .tuning.slab_slices = 16},
    };

    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&geometries[g]);
        print_message("%s\n", geometries[g].name);
        check_divisions(&scan, PARAMS("hierarchical", .n_threads = 2), cases,
                        sizeof cases / sizeof *cases);
    }
}

TEST(regions_and_boxes)
{
    static const struct geometry full = {"full turn", FBP_CONE, VIEWS, .arc = 360};

    check_region(&full, *PARAMS("hierarchical", .n_threads = 2));
}

/* Views are so many that groups of 64 quarter-turn symmetric views need few nodes. */
enum { CUDA_VIEWS = 1440 };

#define CUDA_PARAMS(...)                                                             \
    fbp_recon_params(.device = "cuda", .precision = FBP_PRECISION_HALF, __VA_ARGS__, \
                     .tuning.kernel = "hierarchical")

TEST(cuda_values_and_errors)
{
    static const struct geometry cases[] = {
        {"full turn", FBP_CONE, CUDA_VIEWS, .arc = 360},
        {"no quarter-turn symmetry", FBP_CONE, CUDA_VIEWS + 1, .arc = 360},
        {"clockwise", FBP_CONE, CUDA_VIEWS, .arc = -360},
        {"short scan", FBP_CONE, 900, .arc = 220},
        {"offset panel", FBP_CONE, CUDA_VIEWS, .arc = 360, .shift = 40},
        {"blocks of few voxel columns", FBP_CONE, CUDA_VIEWS, .arc = 360, .voxels = 67},
        {"last group of one view", FBP_CONE, 20 * 64 + 1, .arc = 360}};

    if (!usable("cuda"))
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        AUTO_FREE float *truth = make_truth(&scan);
        const size_t side = scan.volume.n[0];
        for (int refine = FBP_REFINE_1; refine <= FBP_REFINE_2; refine++) {
            AUTO_FREE float *column =
                reconstruct(&scan, fbp_recon_params(.device = "cuda", .tuning.kernel = "column",
                                                    .precision = FBP_PRECISION_EXACT,
                                                    .filtering.refine = (enum fbp_refine)refine));
            AUTO_FREE float *got =
                reconstruct(&scan, CUDA_PARAMS(.filtering.refine = (enum fbp_refine)refine));
            check_error(cases[i].name, refine, "cuda", refine ? 1.15 : 1.4, got, column, truth,
                        side);
        }
    }
}

TEST(cuda_splits_change_nothing)
{
    static const struct geometry geometries[] = {
        {"full turn", FBP_CONE, CUDA_VIEWS, .arc = 360},
        {"no quarter-turn symmetry", FBP_CONE, CUDA_VIEWS + 1, .arc = 360},
        {"volume taller than the field of view", FBP_CONE, CUDA_VIEWS, .arc = 360, .rows = 40}};
    static const struct fbp_recon_params cases[] = {
        {.tuning.batch_views = 256, .tuning.slab_slices = 7},
        {.tuning.batch_views = 512, .tuning.slab_slices = 33},
        {.tuning.slab_slices = 16},
    };

    if (!usable("cuda"))
        skip();
    for (size_t g = 0; g < sizeof geometries / sizeof *geometries; g++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&geometries[g]);
        print_message("%s\n", geometries[g].name);
        check_divisions(&scan, CUDA_PARAMS(.n_threads = 2), cases, sizeof cases / sizeof *cases);
    }
}

TEST(cuda_regions_and_boxes)
{
    if (!usable("cuda"))
        skip();
    for (size_t i = 0; i < 2; i++) {
        const struct geometry full = {"full turn", FBP_CONE, CUDA_VIEWS + i, .arc = 360};
        check_region(&full, *CUDA_PARAMS(.n_threads = 2));
    }
}

TEST_MAIN(NULL, NULL)
