/* Checks the removal of zingers, bright outliers of single views: noisy scans with planted zingers
 * of 1 x 1 to 3 x 3 pixels give nearly the volume of the same scan without them, scans without
 * zingers hardly change, and no bit depends on slabs, threads or the order of rows. */
#include "prep/prep.h"
#include "recon/fixture.h"
#include "scan/file/scan.h"

enum { VIEWS = 180, NC = 96, NR = 48, FAN_VIEWS = 360, FAN = 256 };

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed)
{
    const double r = sqrt(-2 * log(uniform(seed)));

    return r * cos(2 * PI * uniform(seed));
}

static struct fbp_scan cone_scan(void)
{
    return head_scan(VIEWS, NC, NR, &(struct orbit){.pitch_mm = {3, 3}},
                     (struct fbp_grid){{64, 64, 24}, {2.5, 2.5, 2.5}, {0, 0, 0}}, 80);
}

static struct fbp_scan fan_scan(void)
{
    return head_scan(FAN_VIEWS, FAN, 1, &(struct orbit){.pitch_mm = {1.2, 1.2}},
                     (struct fbp_grid){{160, 160, 1}, {1, 1, 1}, {0, 0, 0}}, 80);
}

/* Counts with the noise of `photons` photons per pixel; a flat with pixels of unequal gain. */
static void count(struct fbp_scan *scan, double photons, float *p)
{
    const size_t n = scan->panel.n_columns * scan->panel.n_rows;
    uint64_t seed = 7;

    count_photons(scan, p, NULL);
    for (size_t i = 0; i < scan->n_views * n; i++) {
        const double gain = 50000 / photons;
        p[i] += (float)(normal(&seed) * sqrt((double)p[i] * gain));
    }
}

/* Add noise of this standard deviation to line integrals. */
static void add_noise(double sigma, size_t n, float *p)
{
    uint64_t seed = 5;

    for (size_t i = 0; i < n; i++)
        p[i] += (float)(sigma * normal(&seed));
}

/* Plant `many` zingers of 1 x 1, 2 x 2, 3 x 3 and other sizes; the brightness is that of air or
 * up to five times as much.  Line integrals become as much lower.  Returns the number of samples.
 */
static size_t plant(const struct fbp_scan *scan, bool counts, size_t many, float *p)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;
    uint64_t seed = 3;
    size_t n = 0;

    for (size_t i = 0; i < many; i++) {
        const size_t view = (size_t)(uniform(&seed) * (double)scan->n_views);
        const size_t row = (size_t)(uniform(&seed) * (double)nr);
        const size_t column = (size_t)(uniform(&seed) * (double)nc);
        const size_t height = 1 + i % 3, width = 1 + i / 3 % 3;
        const double bright = 50000 * (1 + 4 * uniform(&seed));
        for (size_t r = row; r < row + height && r < nr; r++)
            for (size_t c = column; c < column + width && c < nc; c++, n++) {
                float *x = p + (view * nr + r) * nc + c;
                *x = counts ? *x + (float)bright : *x - 1;
            }
    }
    return n;
}

static void remove_zingers(struct fbp_scan *scan, double sigmas)
{
    const struct fbp_corrections c = {.struct_size = sizeof c, .zingers = sigmas};

    OK(fbp_scan_correct(scan, &c));
}

/* Volumes of a scan without and with zingers, each without and with removal; prints errors. */
static void check(struct fbp_scan *scan, bool counts, const char *name, double most_left,
                  double most_harm)
{
    const size_t n = scan->n_views * scan->panel.n_columns * scan->panel.n_rows;
    const size_t voxels = grid_size(&scan->volume), many = n / 4000;
    AUTO_FREE float *p = read_array(scan->projections);
    float *v[4];

    if (counts)
        count(scan, 20000, p);
    else
        add_noise(0.01, n, p);
    size_t planted = 0;
    for (int i = 0; i < 4; i++) {
        if (i == 2)
            planted = plant(scan, counts, many, p);
        if (i % 2 == 0)
            replace_samples(scan, p);
        remove_zingers(scan, i % 2 ? 8 : 0);
        v[i] = reconstruct(scan, fbp_recon_params(.device = "cpu"));
    }
    const double before = rms_between(v[2], v[0], voxels), left = rms_between(v[3], v[0], voxels);
    const double harm = rms_between(v[1], v[0], voxels);
    double noise = 0;
    for (size_t i = 0; i < voxels; i++)
        noise += (double)v[0][i] * (double)v[0][i];
    print_message("%s: %zu of %zu samples are zingers: error %.3g/mm, %.3g/mm after removal "
                  "(%.3f); without zingers %.3g/mm; rms of the volume %.3g/mm\n",
                  name, planted, n, before, left, left / before, harm,
                  sqrt(noise / (double)voxels));
    assert_true(left < most_left * before);
    assert_true(harm < most_harm * before);
    for (int i = 0; i < 4; i++)
        free(v[i]);
}

TEST(zingers_of_counts)
{
    AUTO_DROP struct fbp_scan scan = cone_scan();

    check(&scan, true, "cone beam, counts", 0.1, 0.01);
}

TEST(zingers_of_line_integrals)
{
    AUTO_DROP struct fbp_scan scan = cone_scan();

    check(&scan, false, "cone beam, line integrals", 0.1, 0.01);
}

TEST(zingers_of_one_row)
{
    AUTO_DROP struct fbp_scan scan = fan_scan();

    check(&scan, true, "fan beam, counts", 0.2, 0.01);
}

/* Views without noise, in which edges are sharp, change by less than 2e-3 of the volume's rms. */
TEST(views_without_noise)
{
    for (int fan = 0; fan < 2; fan++) {
        AUTO_DROP struct fbp_scan scan = fan ? fan_scan() : cone_scan();
        const size_t n = grid_size(&scan.volume);
        AUTO_FREE float *zero = not_null(calloc(n, sizeof *zero));
        AUTO_FREE float *before = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
        for (int sigmas = 4; sigmas <= 8; sigmas += 4) {
            remove_zingers(&scan, sigmas);
            AUTO_FREE float *after = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
            const double change = rms_between(after, before, n) / rms_between(zero, before, n);
            print_message("%s, no noise, %d sigma: the volume changes by %.2g of its rms\n",
                          fan ? "fan beam" : "cone beam", sigmas, change);
            assert_true(change < 2e-3);
        }
    }
}

/* Plain samples: a zinger gets the value of its neighbours, and a bright column, which may be a gap
 * of the object, stays; so does a pixel that is bright in all views. */
TEST(samples)
{
    enum { N = 11, SIZE = 4 * N * N, N_OF_ZINGERS = 7 };
    float p[SIZE], right[SIZE], got[SIZE];
    uint64_t seed = 1;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = 4,
                            .panel = {N, N},
                            .i0 = 1000,
                            .corrections = &(struct fbp_corrections){
                                .struct_size = sizeof(struct fbp_corrections), .zingers = 6}};

    for (size_t i = 0; i < SIZE; i++)
        right[i] = p[i] = (float)(1000 + 5 * normal(&seed) + (i % (N * N) == 62 ? 500 : 0));
    for (size_t r = 0; r < N; r++)
        right[2 * N * N + r * N + 5] = p[2 * N * N + r * N + 5] += 400;
    static const size_t zingers[N_OF_ZINGERS] = {
        0, 1, N, N + 1, 3 * N * N + 62, 4 * N * N - 1, 2 * N * N - 1};
    for (size_t i = 0; i < N_OF_ZINGERS; i++)
        p[zingers[i]] += 300;

    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {N, N, 4}, .type = FBP_F32};
    CLEANUP(fbp_source_close) fbp_source *source = NULL;
    OK(fbp_source_memory(&source, p, &info));
    fbp_source *clean = source;
    OK(fbp_source_zingers(&clean, &scan, false));
    OK(fbp_source_read(clean, 0, 4, 0, N, FBP_F32, got));
    for (size_t i = 0; i < SIZE; i++)
        if (fabsf(got[i] - right[i]) > 25)
            fail_msg("sample %zu is %g, expected %g", i, (double)got[i], (double)right[i]);
    for (size_t i = 0, z = 0; i < SIZE; i++) { /* other samples have the same bits */
        for (z = 0; z < N_OF_ZINGERS && zingers[z] != i; z++)
            continue;
        assert_true(z < N_OF_ZINGERS || got[i] == right[i]);
    }
    float row[N];
    OK(fbp_source_read(clean, 3, 1, 5, 1, FBP_F32, row));
    assert_memory_equal(row, got + 3 * N * N + 5 * N, sizeof row);
    fbp_source_close(&clean);
}

/* A noisy scan of counts with zingers, to be removed. */
static struct fbp_scan spoilt_scan(bool compress)
{
    struct fbp_scan scan = cone_scan();
    AUTO_FREE float *p = read_array(scan.projections);
    const struct fbp_sink_params packed = {.struct_size = sizeof packed, .compress = compress};
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NC, NR, VIEWS}};

    count(&scan, 20000, p);
    plant(&scan, true, (size_t)VIEWS * NC * NR / 4000, p);
    remove(scan.projections);
    save_array(scan.projections, &info, &packed, p);
    remove_zingers(&scan, 8);
    return scan;
}

TEST(bits_do_not_depend_on_slabs)
{
    AUTO_DROP struct fbp_scan scan = spoilt_scan(false), packed = spoilt_scan(true);
    const uint64_t hash = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    assert_true(reconstruct_hash(&packed, fbp_recon_params(.device = "cpu")) == hash);
    for (int reduced = 0; reduced < 2; reduced++) {
        if (reduced)
            OK(fbp_scan_reduce(&scan, 3, 2)); /* the neighbours are stored views */
        const uint64_t whole = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
        assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .n_threads = 3,
                                                             .tuning.slab_slices = 5)) == whole);
    }
    scan.row_order = FBP_ROWS_TOP_DOWN;
    const uint64_t top_down = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    assert_true(top_down != hash);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "cpu", .n_threads = 3,
                                                         .tuning.slab_slices = 5)) == top_down);
}

TEST(wrong_values_are_refused)
{
    AUTO_DROP struct fbp_scan scan = cone_scan();
    struct fbp_corrections c = {.struct_size = sizeof c, .zingers = -1};

    assert_fails(fbp_scan_correct(&scan, &c), FBP_ERR_INVALID, "zingers: found -1");
    c.zingers = NAN;
    assert_fails(fbp_scan_correct(&scan, &c), FBP_ERR_INVALID, "zingers: found nan");
    c.zingers = 8;
    scan.n_views = 1;
    assert_fails(fbp_scan_correct(&scan, &c), FBP_ERR_UNSUPPORTED, "one view");
    scan.n_views = VIEWS;
}

TEST_MAIN(NULL, NULL)
