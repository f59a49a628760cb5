/*
 * Beam hardening: a disc of one material in light of several energies, whose line integrals are
 * known; the polynomial that undoes them is fitted to path lengths, as laboratories do with a step
 * wedge.  Before, the disc is cupped; after, it is flat, and has the attenuation that was asked
 * for.
 */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { VIEWS = 180, N = 128, TERMS = 5 };

static const double RADIUS = 40, MU = 0.03; /* of the first term: all energies, thin objects */

/* A tube's spectrum and the attenuation of one material [1/mm], roughly. */
static const struct {
    double part, mu;
} lines[] = {{0.25, 0.055}, {0.35, 0.029}, {0.25, 0.0175}, {0.15, 0.0118}};

enum { N_LINES = sizeof lines / sizeof *lines };

static double measured(double length)
{
    double t = 0;

    for (size_t i = 0; i < N_LINES; i++)
        t += lines[i].part * exp(-lines[i].mu * length);
    return -log(t);
}

/* Normal equations of MU length = sum a_k p^k over path lengths, by Gauss with pivots. */
static void fit(double a[FBP_HARDENING_TERMS])
{
    double m[TERMS][TERMS + 1] = {{0}};

    for (int i = 1; i <= 200; i++) {
        const double length = 2 * RADIUS * i / 200, p = measured(length);
        for (int r = 0; r < TERMS; r++) {
            for (int c = 0; c < TERMS; c++)
                m[r][c] += pow(p, r + c + 2);
            m[r][TERMS] += pow(p, r + 1) * MU * length;
        }
    }
    for (int k = 0; k < TERMS; k++) {
        int best = k;
        for (int r = k; r < TERMS; r++)
            best = fabs(m[r][k]) > fabs(m[best][k]) ? r : best;
        for (int c = 0; c <= TERMS; c++) {
            const double swap = m[k][c];
            m[k][c] = m[best][c];
            m[best][c] = swap;
        }
        for (int r = 0; r < TERMS; r++) {
            const double times = r == k ? 0 : m[r][k] / m[k][k];
            for (int c = 0; c <= TERMS; c++)
                m[r][c] -= times * m[k][c];
        }
    }
    for (int k = 0; k < TERMS; k++)
        a[k] = m[k][TERMS] / m[k][k];
}

/* Half a turn of parallel rays through the disc about the axis. */
static struct fbp_scan disc(void)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = FBP_PARALLEL,
                            .n_views = VIEWS,
                            .panel = {N, 1},
                            .volume = {{N, N, 1}, {1, 1, 1}, {0, 0, 0}}};
    AUTO_FREE float *p = malloc(VIEWS * N * sizeof *p);

    assert_non_null(p);
    add_views(&scan, &(struct orbit){.step_deg = 180.0 / VIEWS, .pitch_mm = {1, 1}});
    for (size_t i = 0; i < (size_t)VIEWS * N; i++) {
        const double t = (double)(i % N) - (N - 1) / 2.0, h = RADIUS * RADIUS - t * t;
        p[i] = (float)measured(h > 0 ? 2 * sqrt(h) : 0);
    }
    scan.projections = write_array("disc.mha", N, 1, VIEWS, p);
    return scan;
}

static const char *const devices[] = {"ref", "cpu", "mock", "gl", "cuda"};

enum { N_DEVICES = sizeof devices / sizeof *devices };

TEST(cupping_goes)
{
    struct fbp_corrections c = {.struct_size = sizeof c};
    AUTO_DROP struct fbp_scan scan = disc();
    double middle, rim;

    fit(c.beam_hardening);
    for (int corrected = 0; corrected < 2; corrected++) {
        if (corrected)
            OK(fbp_scan_correct(&scan, &c));
        for (size_t d = 0; d < N_DEVICES; d++) {
            if (!usable(devices[d]))
                continue;
            AUTO_FREE float *slice = reconstruct(&scan, fbp_recon_params(.device = devices[d]));
            /* Means within 8 mm of the axis, and from 30 to 35 mm. */
            double sums[2] = {0, 0}, counts[2] = {0, 0};
            for (size_t i = 0; i < (size_t)N * N; i++) {
                const double r =
                    hypot((double)(i % N) - (N - 1) / 2.0, (double)(i / N) - (N - 1) / 2.0);
                const int which = r < 8 ? 0 : r > 30 && r < 35 ? 1 : -1;
                if (which >= 0) {
                    sums[which] += (double)slice[i];
                    counts[which]++;
                }
            }
            middle = sums[0] / counts[0];
            rim = sums[1] / counts[1];
            print_message("%-4s %s: middle %.5f, rim %.5f /mm\n", devices[d],
                          corrected ? "corrected" : "measured", middle, rim);
            if (corrected)
                assert_true(fabs(middle / MU - 1) < 0.004 && fabs(rim / MU - 1) < 0.004);
            else
                assert_true(middle / rim < 0.93);
        }
    }
}

/* What the scan file says, the library does with every sample; and nothing where p' = p. */
TEST(samples_are_the_polynomials)
{
    const struct fbp_corrections same = {.struct_size = sizeof same, .beam_hardening = {1}};
    const struct fbp_corrections c = {.struct_size = sizeof c,
                                      .beam_hardening = {0.9, 0.2, 0, -0.03, 0.002}};
    AUTO_DROP struct fbp_scan scan = disc();
    const struct fbp_recon_params *params = fbp_recon_params(.device = "cpu");
    const uint64_t plain = reconstruct_hash(&scan, params);

    OK(fbp_scan_correct(&scan, &same));
    assert_true(reconstruct_hash(&scan, params) == plain);
    OK(fbp_scan_correct(&scan, &c));
    const uint64_t here = reconstruct_hash(&scan, params);
    assert_true(here != plain);
    OK(fbp_scan_correct(&scan, NULL));
    assert_null(scan.corrections);
    AUTO_FREE float *p = read_array(scan.projections);
    for (size_t i = 0; i < (size_t)VIEWS * N; i++) { /* by Horner's rule in float */
        float sum = 0.002f;
        for (int k = 3; k >= 0; k--)
            sum = sum * p[i] + (float)c.beam_hardening[k];
        p[i] *= sum;
    }
    replace_samples(&scan, p);
    assert_true(reconstruct_hash(&scan, params) == here);
}

static void refused(struct fbp_scan *scan, const struct fbp_corrections *c, fbp_status status,
                    const char *word)
{
    assert_fails(fbp_scan_correct(scan, c), status, word);
    assert_null(scan->corrections);
}

TEST(nonsense_is_refused)
{
    struct fbp_corrections c = {.struct_size = sizeof c, .beam_hardening = {0, 1}};
    AUTO_DROP struct fbp_scan scan = disc();

    refused(&scan, &c, FBP_ERR_INVALID, "expected a number above 0");
    c.beam_hardening[0] = NAN;
    refused(&scan, &c, FBP_ERR_INVALID, "coefficient 1");
    c.beam_hardening[0] = 1;
    c.beam_hardening[7] = INFINITY;
    refused(&scan, &c, FBP_ERR_INVALID, "coefficient 8");
    c.beam_hardening[7] = 0;
    scan.filtered = true;
    refused(&scan, &c, FBP_ERR_UNSUPPORTED, "already weighted and filtered");
    scan.filtered = false;
    scan.kind = FBP_PLANES;
    refused(&scan, &c, FBP_ERR_UNSUPPORTED, "kind planes");
    scan.kind = FBP_PARALLEL;
}

/* A caller's own struct is looked at when a plan is made. */
TEST(plans_check_them)
{
    struct fbp_corrections c = {.struct_size = sizeof c, .beam_hardening = {-1}};
    AUTO_DROP struct fbp_scan scan = disc();
    fbp_plan *plan;

    scan.corrections = &c;
    assert_fails(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "cpu")), FBP_ERR_INVALID,
                 "beam_hardening");
    scan.corrections = NULL;
}

/* All corrections through a scan file, and in a copy. */
TEST(files_say_the_same)
{
    static const char *const rings[] = {"none", "sorting", "sorting:9", "wavelet:2,1.5,db3"};
    AUTO_DROP struct fbp_scan scan = disc();
    AUTO_REMOVE char *path = temporary("saved.json");

    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        struct fbp_corrections c = {.struct_size = sizeof c,
                                    .beam_hardening = {1, 0.1, -1e-3},
                                    .paganin_delta_beta = 1.0 / 3 * (double)i,
                                    .paganin_kev = i ? 17.3 : 0,
                                    .paganin_mm = i ? 0.1 : 0};
        OK(fbp_corrections_rings(&c, rings[i]));
        OK(fbp_scan_correct(&scan, &c));
        assert_memory_equal(scan.corrections, &c, sizeof c);
        OK(fbp_scan_save(&scan, path, NULL));
        struct fbp_scan again = open_scan(path);
        assert_memory_equal(again.corrections, &c, sizeof c);
        fbp_scan_clear(&again);
        again.struct_size = sizeof again;
        OK(fbp_scan_copy(&again, &scan));
        assert_memory_equal(again.corrections, &c, sizeof c);
        fbp_scan_clear(&again);
    }
}

TEST_MAIN(NULL, NULL)
