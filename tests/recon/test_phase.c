/*
 * Phase retrieval of one material against waves: a ball in a coherent beam is propagated to the
 * detector by Fresnel's integral, in double and with a finer grid than the detector's; what is
 * retrieved is the ball's own thickness.  In a cone beam the picture is that of a plane wave at the
 * distance z / M, M times as large (Fresnel's scaling theorem).
 */
#include "recon/fixture.h"

#include "base/base.h"
#include "prep/phase.h"

#include "fft/fft.h"
#include "geometry/view.h"

#include <complex.h>
#include <stdatomic.h>

enum { VIEWS = 90, N = 64, ROWS = 48, FINE = 4, SIDE = 512 }; /* of the waves' square grid */

static const double RATIO = 150, KEV = 20, RADIUS = 0.018, MU = 2.5; /* mm, 1/mm */

static double wavelength(void)
{
    return 1.23984198e-6 / KEV;
}

/* All rows of a square, forwards; the other way by conjugates. */
static void transform_rows(struct fbp_fft *fft, double complex *w, double *work)
{
    for (size_t i = 0; i < SIDE; i++)
        fbp_fft_complex(fft, w + i * SIDE, work);
}

static void turn(double complex *w)
{
    for (size_t i = 0; i < SIDE; i++)
        for (size_t k = 0; k < i; k++) {
            const double complex x = w[i * SIDE + k];
            w[i * SIDE + k] = w[k * SIDE + i];
            w[k * SIDE + i] = x;
        }
}

static void conjugate(double complex *w)
{
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        w[i] = conj(w[i]);
}

/* Thickness of the ball at a place of the object's plane. */
static double thickness(double x, double y)
{
    const double h = RADIUS * RADIUS - x * x - y * y;

    return h > 0 ? 2 * sqrt(h) : 0;
}

/* Transmission of the ball in pixels of `pitch` in the object's plane, z behind it, [ROWS][N]: the
 * mean of FINE x FINE points each. */
static void measure(double pitch, double z, double *out)
{
    const double step = pitch / FINE, k = 2 * PI / wavelength();
    const double delta = RATIO * MU / (2 * k);
    double complex *w;

    OK(fbp_alloc((void **)&w, (size_t)SIDE * SIDE * sizeof *w, "a wave"));
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const double y = ((double)(i / SIDE) - (SIDE - 1) / 2.0) * step;
        const double x = ((double)(i % SIDE) - (SIDE - 1) / 2.0) * step;
        w[i] = cexp((-MU / 2 - I * k * delta) * thickness(x, y));
    }
    /* A wave over z: its spectrum times exp(-i pi lambda z f^2), in a grid of `step`. */
    struct fbp_fft *fft;
    double *work;
    OK(fbp_fft_open_complex(&fft, SIDE));
    OK(fbp_alloc((void **)&work, fbp_fft_work(SIDE) * sizeof *work, "work"));
    transform_rows(fft, w, work);
    turn(w);
    transform_rows(fft, w, work);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const size_t a = i / SIDE, b = i % SIDE;
        const double u = (double)(a < SIDE / 2 ? a : SIDE - a) / (SIDE * step);
        const double v = (double)(b < SIDE / 2 ? b : SIDE - b) / (SIDE * step);
        w[i] *= cexp(-I * PI * wavelength() * z * (u * u + v * v)) / ((double)SIDE * SIDE);
    }
    conjugate(w);
    transform_rows(fft, w, work);
    turn(w);
    transform_rows(fft, w, work);
    conjugate(w);
    fbp_free(work);
    fbp_fft_close(&fft);
    for (size_t p = 0; p < (size_t)N * ROWS; p++) {
        double sum = 0;
        for (size_t i = 0; i < FINE * FINE; i++) {
            const size_t row = SIDE / 2 - ROWS * FINE / 2 + p / N * FINE + i / FINE;
            const size_t column = SIDE / 2 - N * FINE / 2 + p % N * FINE + i % FINE;
            sum += pow(cabs(w[row * SIDE + column]), 2);
        }
        out[p] = sum / (FINE * FINE);
    }
    fbp_free(w);
}

/* The ball about the axis looks the same from everywhere. */
static struct fbp_scan ball_scan(bool cone, double sod, double sdd, double pitch, double z)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = cone ? FBP_CONE : FBP_PARALLEL,
                            .n_views = VIEWS,
                            .panel = {N, ROWS},
                            .i0 = 1,
                            .volume = {{N, N, ROWS}, {pitch, pitch, pitch}, {0, 0, 0}}};
    const double M = cone ? sdd / sod : 1;
    AUTO_FREE double *view = malloc((size_t)N * ROWS * sizeof *view);
    AUTO_FREE float *all = malloc((size_t)VIEWS * N * ROWS * sizeof *all);

    assert_true(view && all);
    add_views(&scan, &(struct orbit){.step_deg = cone ? 360.0 / VIEWS : 180.0 / VIEWS,
                                     .sod_mm = sod,
                                     .sdd_mm = sdd,
                                     .pitch_mm = {pitch * M, pitch * M}});
    measure(pitch, z, view);
    for (size_t i = 0; i < (size_t)VIEWS * N * ROWS; i++)
        all[i] = (float)view[i % ((size_t)N * ROWS)];
    scan.projections = write_array("waves.mha", N, ROWS, VIEWS, all);
    return scan;
}

static void retrieve(struct fbp_scan *scan, double distance)
{
    const struct fbp_corrections c = {.struct_size = sizeof c,
                                      .paganin_delta_beta = RATIO,
                                      .paganin_kev = KEV,
                                      .paganin_mm = distance};

    OK(fbp_scan_correct(scan, &c));
}

/* Of the two middle slices. */
struct seen {
    double mean;        /* within 0.6 of the radius */
    double in, out;     /* means of the rings from 0.8 to 0.9 of it, and from 1.1 to 1.2 */
    double least, most; /* within 1.3 of it */
};

static void check(bool cone)
{
    const double pitch = 0.001, sod = 40, sdd = 100, M = cone ? sdd / sod : 1;
    const double z = cone ? (sdd - sod) / M : 24;
    AUTO_DROP struct fbp_scan scan = ball_scan(cone, sod, sdd, pitch, z);
    struct seen s[2];

    for (int retrieved = 0; retrieved < 2; retrieved++) {
        if (retrieved)
            retrieve(&scan, cone ? 0 : z);
        AUTO_FREE float *volume = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
        struct seen *now = &s[retrieved];
        double n[3] = {0, 0, 0}, sum[3] = {0, 0, 0};
        *now = (struct seen){.least = INFINITY, .most = -INFINITY};
        for (size_t i = (size_t)(ROWS / 2 - 1) * N * N; i < (size_t)(ROWS / 2 + 1) * N * N; i++) {
            const double x = ((double)(i % N) - (N - 1) / 2.0) * pitch;
            const double y = ((double)(i / N % N) - (N - 1) / 2.0) * pitch;
            const double r = hypot(x, y) / RADIUS, value = (double)volume[i];
            const int ring = r < 0.6 ? 0 : r > 0.8 && r < 0.9 ? 1 : r > 1.1 && r < 1.2 ? 2 : -1;
            if (ring >= 0) {
                sum[ring] += value;
                n[ring]++;
            }
            now->least = r < 1.3 ? fmin(now->least, value) : now->least;
            now->most = r < 1.3 ? fmax(now->most, value) : now->most;
        }
        now->mean = sum[0] / n[0];
        now->in = sum[1] / n[1];
        now->out = sum[2] / n[2];
        print_message("%s %s: middle %.4f /mm, in the rim %.3f, outside %.3f; from %.2f to %.2f\n",
                      cone ? "cone" : "parallel", retrieved ? "retrieved" : "measured", now->mean,
                      now->in, now->out, now->least, now->most);
    }
    assert_true(s[0].most - s[0].least > 20 * MU); /* bright and dark fringes */
    assert_true(fabs(s[1].mean / MU - 1) < 0.003);
    assert_true(fabs(s[1].in / MU - 1) < 0.06 && fabs(s[1].out) < 0.02 * MU);
    assert_true(s[1].least > -0.05 * MU && s[1].most < 1.02 * MU);
}

TEST(parallel_waves)
{
    check(false);
}

TEST(spherical_waves)
{
    check(true);
}

/* A plane wave in frequency: exp(-p) of cos along columns or rows is damped by 1 / (1 + a k^2). */
TEST(frequencies_are_damped)
{
    enum { NC = 160, NR = 96, PERIOD = 16 };
    struct fbp_retrieval f;
    const double reach[2] = {2.5, 1.25};
    AUTO_FREE float *view = not_null(malloc((size_t)NC * NR * sizeof *view));
    void *work;

    OK(fbp_retrieval_open(&f, NC, NR, reach));
    OK(fbp_alloc(&work, fbp_retrieval_bytes(&f), "work"));
    for (int along = 0; along < 2; along++) {
        const double k = 2 * PI / PERIOD * reach[along], left = 1 / (1 + k * k);
        for (size_t i = 0; i < (size_t)NC * NR; i++) {
            const double t = 2 * PI / PERIOD * (double)(along ? i / NC : i % NC);
            view[i] = (float)-log(0.5 + 0.1 * cos(t));
        }
        fbp_retrieve(&f, FBP_FROM_INTEGRALS, reach, view, work);
        for (size_t i = 0; i < (size_t)NC * NR; i++) {
            const double t = 2 * PI / PERIOD * (double)(along ? i / NC : i % NC);
            if (i % NC < 40 || i % NC >= NC - 40 || i / NC < 40 || i / NC >= NR - 40)
                continue; /* the frame goes on otherwise than the wave */
            assert_true(fabs(exp(-(double)view[i]) - 0.5 - 0.1 * left * cos(t)) < 1e-6);
        }
    }
    for (size_t i = 0; i < (size_t)NC * NR; i++)
        view[i] = 0.7f;
    fbp_retrieve(&f, FBP_FROM_INTEGRALS, reach, view, work);
    for (size_t i = 0; i < (size_t)NC * NR; i++)
        assert_true(fabsf(view[i] - 0.7f) < 1e-6f);
    fbp_free(work);
    fbp_retrieval_close(&f);
}

/* The same by the sums that transforms are, on the padded grid. */
static void retrieve_by_sums(const struct fbp_retrieval *f, const double reach[2],
                             const float *view, double *out)
{
    const size_t n = f->n[0], m = f->n[1];
    AUTO_FREE double complex *half = calloc(n * m, sizeof *half), *all = calloc(n * m, sizeof *all);

    assert_true(half && all);
    for (int way = -1; way <= 1; way += 2) { /* there: into all; back: in place */
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k < n; k++) {
                half[j * n + k] = 0;
                for (size_t i = 0; i < n; i++) {
                    const size_t r = j < f->pad[1] ? 0 : j - f->pad[1];
                    const size_t c = i < f->pad[0] ? 0 : i - f->pad[0];
                    const double t = exp(-view[(r < f->n_rows ? r : f->n_rows - 1) * f->n_columns +
                                               (c < f->n_columns ? c : f->n_columns - 1)]);
                    half[j * n + k] += (way < 0 ? t : all[j * n + i]) *
                                       cexp(way * 2 * PI * I * (double)(i * k % n) / (double)n);
                }
            }
        for (size_t l = 0; l < m; l++)
            for (size_t k = 0; k < n; k++) {
                const double u = 2 * PI * reach[0] * (double)(k <= n / 2 ? k : n - k) / (double)n;
                const double v = 2 * PI * reach[1] * (double)(l <= m / 2 ? l : m - l) / (double)m;
                double complex sum = 0;
                for (size_t j = 0; j < m; j++)
                    sum +=
                        half[j * n + k] * cexp(way * 2 * PI * I * (double)(j * l % m) / (double)m);
                all[l * n + k] = way < 0 ? sum / (1 + u * u + v * v) / (double)(n * m) : sum;
            }
    }
    for (size_t r = 0; r < f->n_rows; r++)
        for (size_t c = 0; c < f->n_columns; c++)
            out[r * f->n_columns + c] =
                -log(fmax(creal(all[(r + f->pad[1]) * n + c + f->pad[0]]), 1e-6));
}

/* ... by every instruction set, got[0] by C: the others have the same bits, and all come near the
 * sums in double. */
static void retrieve_by_all(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                            const double reach[2], const float *view, const double *want,
                            void *work)
{
    static const char *const sets[] = {"c", "avx2", "avx512"}; /* the best there is, else */
    const size_t n = f->n_columns * f->n_rows;
    float got[3][40 * 32];

    for (size_t s = 0; s < 3; s++) {
        memcpy(got[s], view, n * sizeof *view);
        setenv("FBP_CPU", sets[s], 1);
        fbp_retrieve(f, from, reach, got[s], work);
        unsetenv("FBP_CPU");
        /* The largest error of n line integrals, of themselves where they are above 1. */
        double error = 0;
        for (size_t i = 0; i < n; i++)
            error = fmax(error, fabs((double)got[s][i] - want[i]) / fmax(1, fabs(want[i])));
        print_message("%zu x %zu by %s: error %.1e\n", f->n_columns, f->n_rows, sets[s], error);
        assert_true(error < 2.5e-7);
    }
    assert_memory_equal(got[2], got[1], n * sizeof *view);
}

/* Views whose sides fill no vector. */
TEST(as_the_formula_by_every_instruction_set)
{
    static const struct {
        size_t nc, nr;
        double reach[2];
    } of[] = {{21, 13, {0.7, 0.4}},
              {16, 1, {0.5, 0.5}},
              {1, 19, {1, 1}},
              {40, 32, {0, 0}},
              {5, 2, {2, 1}}};
    float view[40 * 32];
    double want[40 * 32];
    void *work;

    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const size_t n = of[k].nc * of[k].nr;
        struct fbp_retrieval f;
        OK(fbp_retrieval_open(&f, of[k].nc, of[k].nr, of[k].reach));
        OK(fbp_alloc(&work, fbp_retrieval_bytes(&f), "work"));
        for (size_t i = 0; i < n; i++) /* to where it is clipped */
            view[i] = i % 7 == 3 ? 20 : (float)(i * 2654435761u % 1000) * 0.004f - 0.3f;
        retrieve_by_sums(&f, of[k].reach, view, want);
        retrieve_by_all(&f, FBP_FROM_INTEGRALS, of[k].reach, view, want, work);
        for (size_t i = 0; i < n; i++) /* from exp(-p), as floats */
            view[i] = expf(-view[i]);
        retrieve_by_all(&f, FBP_FROM_TRANSMISSIONS, of[k].reach, view, want, work);
        fbp_free(work);
        fbp_retrieval_close(&f);
    }
}

/* Some samples are no numbers, and some too dark; both are counted once. */
static uint64_t run_once(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                         struct fbp_plan_summary *info)
{
    struct fbp_report report = {.struct_size = sizeof report};

    fbp_plan *plan = create_plan(scan, params);
    *info = *fbp_plan_info(plan);
    OK(fbp_plan_run(plan, "hash:", &report));
    fbp_plan_destroy(&plan);
    assert_true(report.not_finite == 2 * VIEWS && report.clipped == VIEWS);
    assert_true((report.ahead > 0) == (info->ahead_rows > 0));
    return report.hash;
}

static void spoil(const struct fbp_scan *scan)
{
    AUTO_FREE float *p = read_array(scan->projections);

    for (size_t k = 0; k < VIEWS; k++) {
        p[(k * ROWS + k % ROWS) * N + 9] = p[(k * ROWS + 20) * N + 40] = NAN;
        p[(k * ROWS + 21) * N + 50] = 1e-9f;
    }
    remove(scan->projections);
    free((void *)scan->projections);
    ((struct fbp_scan *)scan)->projections = write_array("spoilt.mha", N, ROWS, VIEWS, p);
}

/* If memory does not hold the views beside the volume, phases are retrieved for each slab. */
static void try_little_memory(const struct fbp_scan *scan)
{
    struct fbp_scan large = *scan;
    struct fbp_plan_summary info;
    size_t slabs = 0;

    large.volume = (struct fbp_grid){{256, 256, ROWS}, {0.00025, 0.00025, 0.001}, {0, 0, 0}};
    const uint64_t whole = run_once(&large, fbp_recon_params(.device = "cpu"), &info);
    for (uint64_t kb = 8192; slabs == 0 && kb <= 20480; kb += 256) { /* beside what there is */
        const struct fbp_recon_params *p =
            fbp_recon_params(.device = "cpu", .n_threads = 2, .memory_bytes = kb << 10);
        fbp_plan *plan;
        if (fbp_plan_create(&plan, &large, p) != FBP_OK)
            continue;
        info = *fbp_plan_info(plan);
        fbp_plan_destroy(&plan);
        if (info.ahead_rows > 0 || info.n_slabs == 1)
            continue;
        slabs = info.n_slabs;
        assert_true(info.input_bytes == slabs * VIEWS * N * ROWS * sizeof(float));
        assert_true(run_once(&large, p, &info) == whole);
    }
    print_message("phases retrieved for each of %zu slabs\n", slabs);
    assert_true(slabs > 1);
}

/* Alone, as views are read or ahead of that, and behind the removal of rings: threads, slabs, and a
 * file. */
TEST(bits_do_not_depend_on_where)
{
    AUTO_DROP struct fbp_scan scan = ball_scan(true, 40, 100, 0.001, 24);
    AUTO_FREE char *folder = temporary("x");
    struct fbp_plan_summary info;

    *strrchr(folder, '/') = '\0';
    spoil(&scan);
    for (int rings = 0; rings < 2; rings++) {
        retrieve(&scan, 0);
        if (rings)
            OK(fbp_corrections_rings(scan.corrections, "sorting:5"));
        const uint64_t whole = run_once(&scan, fbp_recon_params(.device = "cpu"), &info);
        assert_true(info.ahead_rows == (rings ? ROWS : 0) && !info.ahead_in_file);
        assert_true(run_once(&scan, fbp_recon_params(.device = "cpu", .n_threads = 1), &info) ==
                    whole);
        assert_true(run_once(&scan, fbp_recon_params(.device = "cpu", .tuning.slab_slices = 10),
                             &info) == whole);
        assert_true(info.n_slabs > 1 && info.ahead_rows == ROWS);
        if (!rings)
            try_little_memory(&scan);
        assert_true(run_once(&scan,
                             fbp_recon_params(.device = "cpu", .tuning.slab_slices = 10,
                                              .tuning.scratch = folder),
                             &info) == whole);
        assert_true(info.ahead_in_file);
        const struct fbp_recon_params part = {.struct_size = sizeof part,
                                              .device = "cpu",
                                              .tuning.kernel = "matrix",
                                              .box = {{0, 0}, {0, 0}, {20, 24}}};
        const struct fbp_recon_params all = {
            .struct_size = sizeof all, .device = "cpu", .tuning.kernel = "matrix"};
        AUTO_FREE float *a = reconstruct(&scan, &part), *b = reconstruct(&scan, &all);
        assert_memory_equal(a, b + (size_t)20 * N * N, (size_t)4 * N * N * sizeof *a);
    }
}

enum { WIDE = 512, HIGH = 256, FEW = 12 };

/* user: how many views were asked for. */
static int give_views(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                      void *out, char *why, size_t n_why)
{
    float *to = out;

    (void)slice0, (void)row0, (void)why, (void)n_why;
    atomic_fetch_add((atomic_size_t *)user, n_slices);
    for (size_t i = 0; i < n_slices * n_rows * WIDE; i++)
        to[i] = 0.5f + (float)(i * 2654435761u % 1000) * 1e-4f;
    return 0;
}

/* A plan of eight threads in the least memory that holds the volume in one slab. */
static fbp_plan *plan_of_least_memory(const struct fbp_scan *scan, fbp_source *source)
{
    for (uint64_t kb = 8192; kb <= 1 << 20; kb += 512) {
        fbp_plan *plan;
        if (fbp_plan_create(&plan, scan,
                            fbp_recon_params(.device = "cpu", .n_threads = 8,
                                             .input.source = source, .memory_bytes = kb << 10)) !=
            FBP_OK)
            continue;
        if (fbp_plan_info(plan)->n_slabs == 1 && fbp_plan_info(plan)->ahead_rows == 0)
            return plan;
        fbp_plan_destroy(&plan);
    }
    fail_msg("%s", fbp_message());
    return NULL;
}

/* ... where memory holds fewer views than there are threads, rows run downwards, and two halves of
 * a view are read. */
TEST(phases_are_retrieved_once)
{
    AUTO_CLEAR struct fbp_scan scan = {.struct_size = sizeof scan,
                                       .kind = FBP_CONE,
                                       .n_views = FEW,
                                       .panel = {WIDE, HIGH},
                                       .i0 = 1,
                                       .volume = {{16, 16, 160}, {0.02, 0.02, 0.02}, {0, 0, 0}}};
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {WIDE, HIGH, FEW},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_TOP_DOWN};
    atomic_size_t asked = 0;
    const struct fbp_source_functions functions = {
        .struct_size = sizeof functions, .read = give_views, .user = &asked, .concurrent = 1};
    CLEANUP(fbp_source_close) fbp_source *source = NULL;

    add_views(&scan, &(struct orbit){.sod_mm = 100, .sdd_mm = 150, .pitch_mm = {0.03, 0.03}});
    retrieve(&scan, 0);
    OK(fbp_source_callback(&source, &functions, &info));
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = plan_of_least_memory(&scan, source);
    asked = 0;
    OK(fbp_plan_run(plan, "hash:", NULL));
    print_message("%zu views were read for %d\n", (size_t)asked, FEW);
    assert_int_equal(asked, FEW);
}

static void refused(struct fbp_scan *scan, double ratio, double kev, double mm, const char *word)
{
    const struct fbp_corrections c = {
        .struct_size = sizeof c, .paganin_delta_beta = ratio, .paganin_kev = kev, .paganin_mm = mm};

    if (fbp_scan_correct(scan, &c) != FBP_ERR_INVALID || !strstr(fbp_message(), word))
        fail_msg("%g, %g, %g: %s", ratio, kev, mm, fbp_message());
}

TEST(nonsense_is_refused)
{
    AUTO_CLEAR struct fbp_scan cone = ball_scan(true, 40, 100, 0.001, 24);
    AUTO_DROP struct fbp_scan parallel = ball_scan(false, 0, 0, 0.001, 24);
    fbp_plan *plan;

    refused(&cone, 0, 20, 0, "delta / beta is 0");
    refused(&cone, -3, 20, 0, "delta / beta is -3");
    refused(&cone, 100, 0, 0, "energy is 0 keV");
    refused(&cone, 100, NAN, 0, "keV");
    refused(&cone, 100, 20, 50, "for cone beams, the distance follows");
    refused(&parallel, 100, 20, 0, "the distance from object to detector is 0 mm");
    refused(&parallel, 100, 20, INFINITY, "distance");
    retrieve(&parallel, 2e5); /* as if micrometres were millimetres */
    assert_fails(fbp_plan_create(&plan, &parallel, fbp_recon_params(.device = "cpu")),
                 FBP_ERR_INVALID, "the phase retrieval blurs over");
    remove(cone.projections);
}

TEST_MAIN(NULL, NULL)
