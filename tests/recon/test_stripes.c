/*
 * Rings: pixels that answer otherwise than their neighbours, which darks and flats do not know of.
 * They go, and the object stays; and where the corrected views are kept, in which bands, and what
 * of the volume is asked for, is not seen in any bit.
 */
#include "recon/fixture.h"

enum { VIEWS = 192, N = 64, ROWS = 24, MORE_VIEWS = 400, MORE_ROWS = 72 };

static double noise(size_t i)
{
    const uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    return (double)((h ^ h >> 15) * 2246822519u >> 8) / (double)(1u << 24) - 0.5;
}

/* Pixels answer otherwise than their neighbours, the same in all views. */
static void vary_gains(struct fbp_scan *scan, double gain)
{
    const size_t pixels = scan->panel.n_columns * scan->panel.n_rows;
    AUTO_FREE float *p = read_array(scan->projections);

    for (size_t i = 0; i < scan->n_views * pixels; i++)
        p[i] += (float)(gain * noise(i % pixels));
    replace_samples(scan, p);
}

/* A head, and pixels that are wrong by up to so much of an intensity. */
static struct fbp_scan spoilt_scan(size_t views, size_t rows, double gain)
{
    struct fbp_scan scan =
        head_scan(views, N, rows, &(struct orbit){.pitch_mm = {409.6 / N, 409.6 / N}},
                  (struct fbp_grid){{60, 60, 18}, {4, 4, 4}, {0, 0, 0}}, 90);

    vary_gains(&scan, gain);
    return scan;
}

static void remove_rings(struct fbp_scan *scan, const char *text)
{
    struct fbp_corrections c = {.struct_size = sizeof c};

    OK(fbp_corrections_rings(&c, text));
    OK(fbp_scan_correct(scan, &c));
}

enum { FAN_VIEWS = 360, FAN = 256, PICTURE = 200 };

/* A fan through the same head. */
static struct fbp_scan fan_scan(double gain)
{
    struct fbp_scan scan =
        head_scan(FAN_VIEWS, FAN, 1, &(struct orbit){.pitch_mm = {1.6, 1.6}},
                  (struct fbp_grid){{PICTURE, PICTURE, 1}, {1, 1, 1}, {0, 0, 0}}, 90);

    vary_gains(&scan, gain);
    return scan;
}

/* Root of the mean square of a - b within 60 mm of the axis. */
static double difference(const float *a, const float *b)
{
    double sum = 0, n = 0;

    for (size_t i = 0; i < (size_t)PICTURE * PICTURE; i++) {
        const double middle = (PICTURE - 1) / 2.0;
        if (hypot((double)(i % PICTURE) - middle, (double)(i / PICTURE) - middle) > 60)
            continue;
        sum += pow((double)a[i] - (double)b[i], 2);
        n++;
    }
    return sqrt(sum / n);
}

static const char *const texts[] = {"sorting:21", "wavelet:3,1,db9", "offsets:9", "fluctuating:9"};

enum { N_TEXTS = sizeof texts / sizeof *texts };

/* The volume without removal, then with each. */
static void reconstruct_all(double gain, float *out[N_TEXTS + 1])
{
    AUTO_DROP struct fbp_scan scan = fan_scan(gain);

    for (size_t i = 0; i <= N_TEXTS; i++) {
        if (i > 0)
            remove_rings(&scan, texts[i - 1]);
        out[i] = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    }
}

TEST(rings_go)
{
    float *clean[N_TEXTS + 1], *spoilt[N_TEXTS + 1];

    reconstruct_all(0, clean);
    reconstruct_all(0.12, spoilt);
    const double before = difference(spoilt[0], clean[0]);
    for (size_t i = 1; i <= N_TEXTS; i++) {
        const double rest = difference(spoilt[i], clean[i]), harm = difference(clean[i], clean[0]);
        print_message("%s: rings of %.5f /mm become %.5f; without rings it changes %.5f\n",
                      texts[i - 1], before, rest, harm);
        assert_true(rest < 0.5 * before);
        assert_true(harm == 0); /* none are found */
    }
    for (size_t i = 0; i <= N_TEXTS; i++) {
        free(clean[i]);
        free(spoilt[i]);
    }
}

/* Intensities with darks, flats, dead pixels, and samples that are no numbers. */
static struct fbp_scan counted(size_t views, size_t rows)
{
    struct fbp_scan scan = spoilt_scan(views, rows, 0.04);
    AUTO_FREE float *p = read_array(scan.projections),
                    *mask = not_null(calloc(N * rows, sizeof *mask));

    for (size_t i = 0; i < N * rows; i++)
        mask[i] = i % 97 == 0 || (i / N == 11 && i % N > 10 && i % N < 40);
    count_photons(&scan, p, mask);
    for (size_t i = 0; i < views * N * rows; i++)
        if (i % 1009 == 0)
            p[i] = i % 2 ? NAN : -3;
    replace_samples(&scan, p);
    return scan;
}

static struct fbp_scan counted_scan(void)
{
    return counted(VIEWS, ROWS);
}

static uint64_t run_once(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                         struct fbp_report *report, struct fbp_plan_summary *info)
{
    *report = (struct fbp_report){.struct_size = sizeof *report};
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, params);
    *info = *fbp_plan_info(plan);
    OK(fbp_plan_run(plan, "hash:", report));
    return report->hash;
}

TEST(bits_do_not_depend_on_where)
{
    AUTO_DROP struct fbp_scan scan = counted(MORE_VIEWS, MORE_ROWS);
    AUTO_FREE char *folder = temporary("x");
    struct fbp_report report, other;
    struct fbp_plan_summary info;

    *strrchr(folder, '/') = '\0';
    scan.volume.n[2] = 66;
    for (size_t i = 0; i < N_TEXTS; i++) {
        remove_rings(&scan, texts[i]);
        const uint64_t whole = run_once(&scan, fbp_recon_params(.device = "cpu"), &report, &info);
        assert_true(info.ahead_bands == 1 && !info.ahead_in_file && report.ahead > 0);
        assert_true(info.ahead_bytes == (uint64_t)info.ahead_rows * MORE_VIEWS * N * 4);
        assert_true(report.not_finite > 0 && report.clipped > 0);
        assert_true(run_once(&scan, fbp_recon_params(.device = "cpu", .n_threads = 1), &other,
                             &info) == whole);
        assert_true(other.not_finite == report.not_finite && other.clipped == report.clipped);
        assert_true(run_once(&scan,
                             fbp_recon_params(.device = "cpu", .tuning.slab_slices = 4,
                                              .tuning.batch_views = 16),
                             &other, &info) == whole);
        assert_true(other.not_finite == report.not_finite && other.clipped == report.clipped);
        size_t bands = 0;
        for (uint64_t kb = 4096; kb <= 20480; kb += 2048) { /* beside what the test has already */
            const struct fbp_recon_params *p =
                fbp_recon_params(.device = "cpu", .n_threads = 2, .memory_bytes = kb << 10,
                                 .tuning.scratch = folder);
            fbp_plan *plan;
            if (fbp_plan_create(&plan, &scan, p) != FBP_OK) {
                assert_says("raise --memory");
                continue;
            }
            fbp_plan_destroy(&plan);
            assert_true(run_once(&scan, p, &other, &info) == whole);
            assert_true(other.not_finite == report.not_finite && other.clipped == report.clipped);
            bands = info.ahead_in_file && info.ahead_bands > bands ? info.ahead_bands : bands;
        }
        print_message("%s: up to %zu bands in a file\n", texts[i], bands);
        assert_true(bands > 1);
    }
}

/* A part of the volume takes the rows that it needs, and they are those of the whole. */
TEST(parts_are_of_the_whole)
{
    static const char *const kernels[] = {"matrix", "column"};
    AUTO_DROP struct fbp_scan scan = counted_scan();
    struct fbp_report report;
    struct fbp_plan_summary info;

    remove_rings(&scan, "sorting:9");
    for (size_t i = 0; i < 2; i++) {
        struct fbp_recon_params p = *fbp_recon_params(.device = "cpu", .tuning.kernel = kernels[i]);
        AUTO_FREE float *whole = reconstruct(&scan, &p);
        run_once(&scan, &p, &report, &info);
        const size_t rows = info.ahead_rows;
        p.box[2][0] = 2;
        p.box[2][1] = 5;
        AUTO_FREE float *part = reconstruct(&scan, &p);
        run_once(&scan, &p, &report, &info);
        assert_true(info.ahead_rows < rows);
        assert_memory_equal(part, whole + 2 * 60 * 60, 3 * 60 * 60 * sizeof *part);
    }
}

/* Pictures from the top are those from the bottom, the other way round. */
TEST(rows_may_run_down)
{
    AUTO_DROP struct fbp_scan scan = counted_scan();
    struct fbp_report report;
    struct fbp_plan_summary info;
    AUTO_FREE float *p = read_array(scan.projections),
                    *turned = not_null(malloc(VIEWS * N * ROWS * sizeof *turned));

    remove_rings(&scan, "wavelet:2,1,db3");
    const uint64_t up = run_once(&scan, fbp_recon_params(.device = "cpu"), &report, &info);
    for (size_t i = 0; i < (size_t)VIEWS * ROWS; i++)
        memcpy(turned + (i / ROWS * ROWS + ROWS - 1 - i % ROWS) * N, p + i * N, N * sizeof *p);
    replace_samples(&scan, turned);
    char *const images[] = {scan.dark, scan.flat, scan.bad_pixels};
    for (size_t k = 0; k < 3; k++) {
        AUTO_FREE float *image = read_array(images[k]);
        for (size_t r = 0; r < ROWS; r++)
            memcpy(turned + (ROWS - 1 - r) * N, image + r * N, N * sizeof *image);
        remove(images[k]);
        const struct fbp_array_info one = {.struct_size = sizeof one, .n = {N, ROWS, 1}};
        save_array(images[k], &one, NULL, turned);
    }
    scan.row_order = FBP_ROWS_TOP_DOWN;
    assert_true(run_once(&scan, fbp_recon_params(.device = "cpu"), &report, &info) == up);
}

/* Line integrals that were corrected elsewhere give the same; so do other devices, nearly. */
TEST(devices_agree)
{
    static const char *const devices[] = {"mock", "mock:0,1", "ref", "gl", "cuda"};
    AUTO_DROP struct fbp_scan scan = counted_scan();

    remove_rings(&scan, "sorting:9");
    AUTO_FREE float *cpu = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (!usable(devices[i]))
            continue;
        AUTO_FREE float *own = reconstruct(&scan, fbp_recon_params(.device = devices[i]));
        print_message("%-8s against cpu %.1f dB\n", devices[i], psnr_db(own, cpu, 60 * 60 * 18));
        assert_true(psnr_db(own, cpu, 60 * 60 * 18) > 100);
    }
}

/* Binned, with every other view: what is joined first is corrected. */
TEST(reduced_scans_too)
{
    AUTO_DROP struct fbp_scan scan = counted_scan();
    struct fbp_report report;
    struct fbp_plan_summary info;

    OK(fbp_scan_reduce(&scan, 2, 2));
    const uint64_t plain = run_once(&scan, fbp_recon_params(.device = "cpu"), &report, &info);
    remove_rings(&scan, "sorting");
    const uint64_t one = run_once(&scan, fbp_recon_params(.device = "cpu"), &report, &info);
    assert_true(one != plain && report.hash == one);
    assert_true(run_once(&scan, fbp_recon_params(.device = "cpu", .tuning.slab_slices = 3), &report,
                         &info) == one);
}

static int stop(void *user, const struct fbp_progress *p)
{
    return p->slabs_done > 0 || p->views_read > 0;
}

static void refused(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                    fbp_status status, const char *word)
{
    fbp_plan *plan = NULL;
    const fbp_status st = fbp_plan_create(&plan, scan, params);

    if (st != status || !strstr(fbp_message(), word))
        fail_msg("status %d: %s", (int)st, fbp_message());
}

TEST(what_cannot_be_is_said)
{
    AUTO_DROP struct fbp_scan scan = spoilt_scan(VIEWS, ROWS, 0.04);
    struct fbp_corrections c = {.struct_size = sizeof c, .rings = FBP_RINGS_SORTING};

    c.ring_size = N + 1;
    assert_int_equal(fbp_scan_correct(&scan, &c), FBP_ERR_INVALID);
    c.ring_size = 0;
    c.ring_sigma = 1;
    assert_int_equal(fbp_scan_correct(&scan, &c), FBP_ERR_INVALID);
    c.ring_sigma = 0;
    c.rings = (enum fbp_ring_removal)9;
    assert_int_equal(fbp_scan_correct(&scan, &c), FBP_ERR_INVALID);
    remove_rings(&scan, "sorting");
    refused(&scan, fbp_recon_params(.device = "cpu", .input.follow = true), FBP_ERR_UNSUPPORTED,
            "rings");
    refused(&scan, fbp_recon_params(.device = "cpu", .memory_bytes = 1 << 20), FBP_ERR_NOMEM,
            "--scratch");
    assert_int_equal(reconstruct_to(&scan,
                                    fbp_recon_params(.device = "cpu", .callbacks.progress = stop),
                                    "hash:", NULL),
                     FBP_ERR_CANCELLED);
    OK(fbp_scan_reduce(&scan, 16, 1)); /* twelve views are left */
    refused(&scan, fbp_recon_params(.device = "cpu"), FBP_ERR_UNSUPPORTED, "too small");
}

TEST_MAIN(NULL, NULL)
