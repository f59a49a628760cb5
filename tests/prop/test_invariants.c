/* What must hold whatever the numbers are: linearity, symmetry, both forms of the filter. */
#include "filter/filter.h"
#include "recon/fixture.h"

enum { N = 40, VIEWS = 64 };

static const char *const devices[] = {"ref", "cpu", "cuda"};

enum { N_DEVICES = sizeof devices / sizeof *devices };

static struct fbp_scan make_scan(const struct fbp_ellipsoid *items, size_t n)
{
    struct fbp_scan scan = circle_scan(VIEWS, N, 0);
    struct fbp_ellipsoid copy[4];
    const struct fbp_phantom phantom = {.n = n, .items = copy};

    memcpy(copy, items, n * sizeof *items);
    scan.volume = (struct fbp_grid){{N, N, N}, {5, 5, 5}, {0, 0, 0}};
    simulate(&scan, &phantom);
    return scan;
}

static float *volume_of(const struct fbp_ellipsoid *items, size_t n, const char *device)
{
    AUTO_DROP struct fbp_scan scan = make_scan(items, n);
    return reconstruct(&scan, fbp_recon_params(.device = device, .precision = FBP_PRECISION_EXACT));
}

static double largest(const float *v)
{
    double m = 0;
    for (size_t i = 0; i < N * N * N; i++)
        m = fmax(m, fabs((double)v[i]));
    return m;
}

static const struct fbp_ellipsoid A = {{20, -10, 15}, {40, 25, 30}, 25, 0.02};
static const struct fbp_ellipsoid B = {{-35, 30, -20}, {15, 30, 25}, -40, 0.03};

TEST(linear)
{
    const struct fbp_ellipsoid both[2] = {A, B};
    struct fbp_ellipsoid tripled = A;
    tripled.density *= 3;

    for (int d = 0; d < N_DEVICES; d++) {
        if (!usable(devices[d]))
            continue;
        AUTO_FREE float *a = volume_of(&A, 1, devices[d]), *b = volume_of(&B, 1, devices[d]);
        AUTO_FREE float *ab = volume_of(both, 2, devices[d]),
                        *a3 = volume_of(&tripled, 1, devices[d]);
        const double peak = largest(ab);
        assert_true(peak > 0.02);
        for (size_t i = 0; i < N * N * N; i++) {
            assert_true(fabs((double)(a[i] + b[i] - ab[i])) < 3e-6 * peak);
            assert_true(fabs((double)(3 * a[i] - a3[i])) < 3e-6 * peak);
        }
    }
}

static size_t at(size_t x, size_t y, size_t z)
{
    return (z * N + y) * N + x;
}

/* A quarter turn and a mirror of the object are the same of the volume, to rounding. */
TEST(turns_and_mirrors_with_the_object)
{
    struct fbp_ellipsoid turned = A, mirrored = A;

    turned.centre_mm[0] = -A.centre_mm[1];
    turned.centre_mm[1] = A.centre_mm[0];
    turned.turn_deg += 90;
    mirrored.centre_mm[2] = -A.centre_mm[2];
    for (int d = 0; d < N_DEVICES; d++) {
        if (!usable(devices[d]))
            continue;
        AUTO_FREE float *a = volume_of(&A, 1, devices[d]), *t = volume_of(&turned, 1, devices[d]);
        AUTO_FREE float *m = volume_of(&mirrored, 1, devices[d]);
        const double peak = largest(a);
        for (size_t z = 0; z < N; z++)
            for (size_t y = 0; y < N; y++)
                for (size_t x = 0; x < N; x++) {
                    const double v = (double)a[at(x, y, z)];
                    assert_true(fabs(v - (double)t[at(N - 1 - y, x, z)]) < 2e-5 * peak);
                    assert_true(fabs(v - (double)m[at(x, y, N - 1 - z)]) < 2e-5 * peak);
                }
    }
}

/* The spatial form over the whole row and the FFT form are one filter. */
TEST(filter_forms_agree)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&A, 1);

    for (int d = 0; d < N_DEVICES; d++)
        for (int f = FBP_FILTER_RAM_LAK; usable(devices[d]) && f <= FBP_FILTER_HANN; f++)
            for (int c = 0; c < 2; c++) {
                const double cutoff = c ? 0.7 : 1;
                AUTO_FREE float *fft = reconstruct(
                    &scan, fbp_recon_params(.device = devices[d], .precision = FBP_PRECISION_EXACT,
                                            .filter = (enum fbp_filter)f, .cutoff = cutoff));
                AUTO_FREE float *space = reconstruct(
                    &scan, fbp_recon_params(.device = devices[d], .filter = (enum fbp_filter)f,
                                            .precision = FBP_PRECISION_EXACT, .cutoff = cutoff,
                                            .filtering.spatial = true));
                const double peak = largest(fft);
                double worst = 0;
                for (size_t i = 0; i < N * N * N; i++)
                    worst = fmax(worst, fabs((double)fft[i] - (double)space[i]));
                if (!(worst < 1e-5 * peak))
                    fail_msg("%s, %s, cut-off %.1f: %.1e of the peak", devices[d],
                             fbp_filter_name((enum fbp_filter)f), cutoff, worst / peak);
            }
}

/* Counts with darks, flats and a dead column give what the line integrals give. */
TEST(counts_give_the_same_volume)
{
    enum { PIXELS = N * N, DEAD = 17 };
    AUTO_DROP struct fbp_scan scan = make_scan(&A, 1);
    float mask[PIXELS];

    AUTO_FREE float *wanted = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    AUTO_FREE float *p = read_array(scan.projections);
    for (size_t i = 0; i < PIXELS; i++)
        mask[i] = i % N == DEAD;
    count_photons(&scan, p, mask);
    replace_samples(&scan, p);
    assert_true(fbp_scan_is_intensity(&scan));
    for (int d = 0; d < N_DEVICES; d++) {
        if (!usable(devices[d]))
            continue;
        AUTO_FREE float *got = reconstruct(&scan, fbp_recon_params(.device = devices[d]));
        const double db = psnr_db(got, wanted, N * N * N);
        print_message("%s: counts with a dead column against line integrals: %.1f dB\n", devices[d],
                      db);
        assert_true(db > 30); /* the bridged column is an estimate */
    }
}

TEST_MAIN(NULL, NULL)
