/* Checks scans whose beam changes: i0 and dose per view, flats before and after the scan.  The
 * volume is that of the same scan with a constant beam. */
#include "recon/fixture.h"
#include "scan/file/scan.h"

enum { VIEWS = 24, NC = 40, NR = 20, N = NC * NR };

static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = VIEWS,
                            .panel = {NC, NR},
                            .volume = {{24, 24, 9}, {3, 3, 3}, {0, 0, 0}}};

    add_views(&scan, &(struct orbit){.pitch_mm = {3, 3}});
    simulate_head(&scan, 30);
    return scan;
}

/* Greatest difference of two volumes, relative to the greatest value. */
static double difference(const float *a, const float *b, size_t n)
{
    double most = 0, value = 0;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        value = fmax(value, fabs((double)a[i]));
    }
    return most / value;
}

static void assert_same_volume(const struct fbp_scan *scan, const float *right, bool is_right)
{
    AUTO_FREE float *v = reconstruct(scan, fbp_recon_params(.device = "cpu"));
    const double d = difference(right, v, grid_size(&scan->volume));

    if ((d < 2e-5) != is_right)
        fail_msg("volumes differ by %g of the greatest value", d);
}

/* Beam of view k, relative to that of view 0. */
static double dose_of(size_t k)
{
    return 1 + 0.2 * sin((double)k) + 0.01 * (double)k;
}

TEST(i0_and_dose_per_view)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *p = read_array(scan.projections);
    AUTO_FREE float *right = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    double list[VIEWS];

    for (size_t i = 0; i < VIEWS * N; i++)
        p[i] = (float)(40000 * dose_of(i / N)) * expf(-p[i]);
    replace_samples(&scan, p);
    scan.i0 = 40000;
    assert_same_volume(&scan, right, false);
    for (size_t k = 0; k < VIEWS; k++)
        list[k] = 40000 * dose_of(k);
    scan.i0 = list[0];
    scan.i0s = list;
    assert_same_volume(&scan, right, true);
    const uint64_t hash = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "mock", .n_threads = 3,
                                                         .tuning.slab_slices = 2)) == hash);

    /* The list has the numbers of the stored views, also if views are left out. */
    OK(fbp_scan_select(&scan, NULL, "5,9"));
    AUTO_FREE float *some = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    for (size_t k = 0; k < VIEWS; k++)
        list[k] = dose_of(k);
    scan.i0s = NULL;
    scan.i0 = 40000;
    scan.doses = list;
    assert_same_volume(&scan, some, true);
    scan.doses = NULL;
}

TEST(flats_before_and_after)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *p = read_array(scan.projections);
    AUTO_FREE float *right = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    float after[N];
    double list[VIEWS];

    AUTO_FREE float *constant = not_null(malloc(VIEWS * N * sizeof *constant));
    memcpy(constant, p, VIEWS * N * sizeof *constant);
    count_photons(&scan, constant, NULL); /* dark and flat */
    AUTO_FREE float *dark = read_array(scan.dark), *flat = read_array(scan.flat);
    for (size_t i = 0; i < N; i++)
        after[i] = flat[i] * (0.7F + 0.001F * (float)(i % 50));
    AUTO_REMOVE char *path = write_array("after.mha", NC, NR, 1, after);
    for (size_t i = 0; i < VIEWS * N; i++) {
        const size_t k = i / N, j = i % N;
        const float white =
            flat[j] + (after[j] - flat[j]) * (float)k / (float)(VIEWS - 1) - dark[j];
        p[i] = dark[j] + white * (float)dose_of(k) * expf(-p[i]);
        list[k] = dose_of(k);
    }
    replace_samples(&scan, p);
    assert_same_volume(&scan, right, false);
    scan.doses = list;
    assert_same_volume(&scan, right, false);
    scan.flat_after = strdup(path);
    assert_same_volume(&scan, right, true);
    assert_true(fbp_scan_reads(&scan, path));
    OK(fbp_scan_reduce(&scan, 1, 2)); /* reading with larger pixels */
    reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    scan.doses = NULL;
}

TEST(wrong_beams_are_refused)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    double list[VIEWS];
    fbp_plan *plan = NULL;

    for (size_t k = 0; k < VIEWS; k++)
        list[k] = 1;
    scan.doses = list;
    assert_fails(fbp_plan_create(&plan, &scan, NULL), FBP_ERR_INVALID, "dose needs a flat or i0");
    scan.doses = NULL;
    scan.i0s = list;
    scan.i0 = 1;
    scan.flat = strdup("none.mha");
    assert_fails(fbp_plan_create(&plan, &scan, NULL), FBP_ERR_INVALID,
                 "i0 per view excludes a flat");
    scan.i0s = NULL;
}

TEST_MAIN(NULL, NULL)
