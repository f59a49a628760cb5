/* Checks the window along detector columns: values against a kernel written in this file, every
 * backend against ref, and the same bits for every division of the work. */
#include "recon/fixture.h"

#include "devices/mock/mock.h"
#include "pipeline/job.h"

enum { VIEWS = 60, COLUMNS = 45, ROWS = 57 };

static const double SDD = 1200, PITCH = 8;

/* A full circle; the phantom reaches the first and last rows. */
static struct fbp_scan make_scan(size_t n_views)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .panel = {COLUMNS, ROWS},
                            .row_order = FBP_ROWS_BOTTOM_UP,
                            .volume = {{39, 39, 45}, {5, 5, 6}, {0, 0, 0}}};

    add_views(&scan, &(struct orbit){.start_deg = 11, .pitch_mm = {PITCH, PITCH}});
    simulate_head(&scan, 150);
    return scan;
}

/* cos of the angle between a ray and the central one. */
static double cosine(size_t c, size_t r)
{
    const double u = PITCH * ((double)c - (COLUMNS - 1) / 2.0);
    const double v = PITCH * ((double)r - (ROWS - 1) / 2.0);
    return SDD / sqrt(SDD * SDD + u * u + v * v);
}

static double weighted(const float *view, size_t c, size_t r)
{
    return r < ROWS ? (double)view[r * COLUMNS + c] * cosine(c, r) : 0;
}

/* A whole cut-off is the kernel 1/4, 1/2, 1/4 on weighted rows: views that have been through it
 * give the same volume without it. */
TEST(whole_cutoff_is_three_taps)
{
    static const char *const devices[] = {"ref", "cpu", "cuda"};
    AUTO_DROP struct fbp_scan scan = make_scan(VIEWS);
    AUTO_FREE float *views = read_array(scan.projections),
                    *smooth = not_null(malloc(sizeof(float[VIEWS][ROWS][COLUMNS])));

    for (size_t k = 0; k < VIEWS; k++)
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < COLUMNS; c++) {
                const float *v = views + k * ROWS * COLUMNS;
                const double sum =
                    weighted(v, c, r) / 2 + weighted(v, c, r - 1) / 4 + weighted(v, c, r + 1) / 4;
                smooth[(k * ROWS + r) * COLUMNS + c] = (float)(sum / cosine(c, r));
            }
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        if (!usable(devices[d]))
            continue;
        struct fbp_recon_params p = {
            .struct_size = sizeof p, .device = devices[d], .precision = FBP_PRECISION_EXACT};
        AUTO_FREE float *got = malloc(grid_size(&scan.volume) * sizeof *got);
        AUTO_FREE float *want = malloc(grid_size(&scan.volume) * sizeof *want);
        assert_true(got && want);
        OK(fbp_reconstruct(&scan, &p, FBP_F32, smooth, want, NULL));
        p.filtering.cutoff_v = 1;
        OK(fbp_reconstruct(&scan, &p, FBP_F32, views, got, NULL));
        const double db = psnr_db(got, want, grid_size(&scan.volume));
        print_message("%s: %.1f dB\n", devices[d], db);
        assert_true(db >= 120);
    }
}

/* Dead pixels in rows, columns and blocks, whose neighbours the window takes in, too. */
static void spoil(struct fbp_scan *scan)
{
    AUTO_FREE float *mask = not_null(calloc(ROWS * COLUMNS, sizeof *mask)),
                    *p = read_array(scan->projections);

    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        mask[i] = i % 37 == 0 || i % COLUMNS == 20 ||
                  (i / COLUMNS > 30 && i / COLUMNS < 34 && i % COLUMNS > 8 && i % COLUMNS < 18);
    count_photons(scan, p, mask);
    replace_samples(scan, p);
}

/* The kernels of a device; NULL: the plan's own choice. */
static const struct way {
    const char *device, *kernel;
    int in_space;
} ways[] = {
    {"ref", NULL, 0},  {"cpu", NULL, 0},      {"cpu", "matrix", 0},  {"cpu", "column", 1},
    {"cuda", NULL, 0}, {"cuda", "matrix", 0}, {"cuda", "column", 1},
};

enum { N_WAYS = sizeof ways / sizeof *ways };

static struct fbp_recon_params params_of(const struct way *w, double cutoff)
{
    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = w->device,
                                     .tuning.kernel = w->kernel,
                                     .filtering.spatial = w->in_space,
                                     .precision = FBP_PRECISION_EXACT,
                                     .n_threads = 2,
                                     .filtering.cutoff_v = cutoff};
}

TEST(values_are_the_references)
{
    for (int spoilt = 0; spoilt < 2; spoilt++)
        for (size_t n = VIEWS - 1; n <= VIEWS; n++) { /* 60: in groups of 4 */
            AUTO_DROP struct fbp_scan scan = make_scan(n);
            if (spoilt)
                spoil(&scan);
            float *want =
                reconstruct(&scan, fbp_recon_params(.device = "ref", .filtering.cutoff_v = 0.4));
            for (size_t i = 1; i < N_WAYS; i++) {
                struct fbp_recon_params p = params_of(&ways[i], 0.4);
                if (!usable(ways[i].device))
                    continue;
                AUTO_FREE float *got = reconstruct(&scan, &p);
                const double db = psnr_db(got, want, grid_size(&scan.volume));
                print_message("%zu views%s, %s %s: %.1f dB\n", n, spoilt ? ", bad pixels" : "",
                              ways[i].device, ways[i].kernel ? ways[i].kernel : "", db);
                assert_true(db >= (strcmp(ways[i].device, "cpu") == 0 ? 120 : 105));
            }
            free(want);
        }
}

static const struct fbp_recon_params splits[] = {
    {.tuning.slab_slices = 1, .tuning.batch_views = 8},
    {.tuning.slab_slices = 7, .tuning.batch_views = 24},
    {.tuning.slab_slices = 2, .n_threads = 3},
    {.tuning.slab_slices = 44, .n_threads = 1},
};

static void check_splits(const struct fbp_scan *scan, const struct way *w, double cutoff)
{
    struct fbp_recon_params p = params_of(w, cutoff);
    const uint64_t whole = reconstruct_hash(scan, &p);

    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        p.tuning.slab_slices = splits[i].tuning.slab_slices;
        p.tuning.batch_views = splits[i].tuning.batch_views;
        p.n_threads = splits[i].n_threads ? splits[i].n_threads : 2;
        if (reconstruct_hash(scan, &p) != whole)
            fail_msg("%s %s, cut-off %g: slabs of %zu, batches of %zu: other values", w->device,
                     w->kernel ? w->kernel : "", cutoff, p.tuning.slab_slices,
                     p.tuning.batch_views);
    }
}

/* Kernels of 3, 99 and all rows. */
TEST(splits_change_nothing)
{
    static const double cutoffs[] = {1, 0.8, 0.05};
    static const struct way mock = {"mock", NULL, 0};

    for (int spoilt = 0; spoilt < 2; spoilt++)
        for (size_t n = VIEWS - 1; n <= VIEWS; n++) {
            AUTO_DROP struct fbp_scan scan = make_scan(n);
            if (spoilt)
                spoil(&scan);
            for (size_t c = 0; c < 3; c++) {
                for (size_t i = 0; i < N_WAYS; i++)
                    if (usable(ways[i].device))
                        check_splits(&scan, &ways[i], cutoffs[c]);
                check_splits(&scan, &mock, cutoffs[c]);
            }
        }
}

/* A slab reads the rows that the window takes in, and not all of them. */
TEST(rows_are_read_as_needed)
{
    AUTO_DROP struct fbp_scan scan = make_scan(VIEWS - 1);
    double reads[2];

    for (int i = 0; i < 2; i++) {
        CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
        OK(fbp_plan_create(
            &plan, &scan,
            fbp_recon_params(.device = "cpu", .tuning.slab_slices = 5, .filtering.cutoff_v = i)));
        reads[i] = fbp_plan_info(plan)->view_reads;
        assert_true((strstr(fbp_plan_info(plan)->weights, "Hann along columns") != NULL) == i);
    }
    print_message("rows are read %.2f times, with the window %.2f\n", reads[0], reads[1]);
    assert_true(reads[1] > reads[0] && reads[1] < reads[0] + 2 * 9. / ROWS + 1e-9);
}

static uint64_t fingerprint(const struct fbp_scan *scan, double cutoff)
{
    CLEANUP(fbp_job_clear) struct fbp_job_tables t;

    OK(fbp_job_create(&t, scan, fbp_recon_params(.filtering.cutoff_v = cutoff), false));
    OK(fbp_job_arrange(&t.job, fbp_backend_find("cpu")));
    return fbp_job_fingerprint(&t, fbp_backend_find("cpu"));
}

/* What --resume compares. */
TEST(other_windows_are_other_runs)
{
    AUTO_DROP struct fbp_scan scan = make_scan(VIEWS);

    assert_true(fingerprint(&scan, 0.8) == fingerprint(&scan, 0.8));
    assert_true(fingerprint(&scan, 0.8) != fingerprint(&scan, 0.81));
    assert_true(fingerprint(&scan, 0.8) != fingerprint(&scan, 0));
}

TEST(nonsense_is_refused)
{
    static const double bad[] = {-0.1, 1.01, NAN, INFINITY};
    AUTO_DROP struct fbp_scan scan = make_scan(VIEWS), row = {.struct_size = sizeof row,
                                                              .n_views = 8,
                                                              .panel = {COLUMNS, 1}};
    fbp_plan *plan;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(
            fbp_plan_create(&plan, &scan,
                            fbp_recon_params(.device = "cpu", .filtering.cutoff_v = bad[i])),
            FBP_ERR_INVALID, "cutoff_v");
    }
    add_views(&row, &(struct orbit){.pitch_mm = {PITCH, PITCH}});
    simulate_head(&row, 90);
    assert_fails(
        fbp_plan_create(&plan, &row, fbp_recon_params(.device = "cpu", .filtering.cutoff_v = 0.5)),
        FBP_ERR_INVALID, "--cutoff-v");
}

TEST_MAIN(NULL, NULL)
