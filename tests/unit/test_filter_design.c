/* Checks that the ramp filter and its windows equal their closed forms, and that the FFT form and
 * the spatial form are one filter. */
#include "unit/filter_util.h"

#include "filter/filter.h"
#include "test.h"

static const enum fbp_filter all[] = {FBP_FILTER_RAM_LAK, FBP_FILTER_SHEPP_LOGAN, FBP_FILTER_COSINE,
                                      FBP_FILTER_HAMMING, FBP_FILTER_HANN};
enum { N_FILTERS = 5 };

static struct fbp_filter_design make(enum fbp_filter filter, double cutoff, size_t n, size_t half)
{
    struct fbp_filter_design d;
    OK(fbp_filter_design(&d, filter, cutoff, n, half));
    return d;
}

TEST(ram_lak_is_kak_and_slaney_3_61)
{
    struct fbp_filter_design d = make(FBP_FILTER_RAM_LAK, 1, 401, 0);

    assert_int_equal(d.n_fft, 810);
    assert_int_equal(d.half_width, 400);
    for (size_t i = 0; i <= 400; i++) {
        const double x = FBP_PI * (double)i;
        check_near(d.kernel[i], i == 0 ? 0.25 : i % 2 ? -1 / (x * x) : 0, 1e-15);
    }
    fbp_filter_design_clear(&d);
    assert_null(d.kernel);
}

/* Shepp & Logan 1974: h(n) = -2 / (pi^2 (4 n^2 - 1)).  It is the transform of |sin(pi f)|/pi, ours
 * that of the sampled ramp, so they meet as the period grows. */
TEST(shepp_logan_meets_its_closed_form)
{
    CLEANUP(fbp_filter_design_clear)
    struct fbp_filter_design d = make(FBP_FILTER_SHEPP_LOGAN, 1, 8192, 0);

    for (size_t i = 0; i < 50; i++) {
        const double n = (double)i;
        check_near(d.kernel[i], -2 / (FBP_PI * FBP_PI * (4 * n * n - 1)), 1e-7);
    }
}

TEST(windows_are_their_formulas)
{
    for (double x = 0; x <= 1; x += 1.0 / 64) {
        const double half = FBP_PI * x / 2;
        check_near(fbp_filter_window(FBP_FILTER_RAM_LAK, x), 1, 0);
        check_near(fbp_filter_window(FBP_FILTER_SHEPP_LOGAN, x), x > 0 ? sin(half) / half : 1,
                   1e-15);
        check_near(fbp_filter_window(FBP_FILTER_COSINE, x), cos(half), 1e-15);
        check_near(fbp_filter_window(FBP_FILTER_HAMMING, x), .54 + .46 * cos(FBP_PI * x), 1e-15);
        check_near(fbp_filter_window(FBP_FILTER_HANN, x), cos(half) * cos(half), 1e-15);
    }
    for (int i = 0; i < N_FILTERS; i++) {
        check_near(fbp_filter_window(all[i], 1.001), 0, 0);
        check_near(fbp_filter_window(all[i], NAN), 0, 0);
    }
}

/* By a direct sum, which owes nothing to any FFT. */
TEST(response_is_window_times_transformed_kernel)
{
    const double cutoff = 0.7;
    CLEANUP(fbp_filter_design_clear)
    struct fbp_filter_design d = make(FBP_FILTER_HAMMING, cutoff, 60, 0);
    const size_t n = d.n_fft;

    for (size_t k = 0; k <= n / 2; k++) {
        double sum = 0.25;
        for (size_t i = 1; i < n; i++) {
            const double x = FBP_PI * (double)(i <= n / 2 ? i : n - i);
            const size_t lag = i <= n / 2 ? i : n - i;
            if (lag % 2)
                sum -= cos(2 * FBP_PI * (double)(i * k % n) / (double)n) / (x * x);
        }
        const double f = 2 * (double)k / (double)n;
        check_near(d.response[k] * (double)n,
                   sum * fbp_filter_window(FBP_FILTER_HAMMING, f / cutoff), 1e-14);
        if (f > cutoff)
            check_near(d.response[k], 0, 0);
        check_near(sum, f / 2, 2.0 / (double)n); /* the ramp, |f| of unit pitch, but for its foot */
    }
    assert_true(d.response[0] > 0);
}

TEST(both_forms_are_one_filter)
{
    enum { N = 75 };
    double row[N], want[N], got[N];

    for (int f = 0; f < N_FILTERS; f++) {
        CLEANUP(fbp_filter_design_clear)
        struct fbp_filter_design d = make(all[f], f % 2 ? 0.6 : 1, N, 0);
        for (int i = 0; i < N; i++)
            row[i] = uniform(-1, 1);
        by_response(&d, row, want);
        by_kernel(&d, row, got);
        for (int i = 0; i < N; i++)
            check_near(got[i], want[i], 1e-12);
    }
}

TEST(lengths_are_small_products)
{
    const size_t n_columns[] = {1, 2, 3, 7, 256, 257, 487, 1024};
    const size_t n_fft[] = {2, 4, 6, 16, 512, 540, 1000, 2048};

    for (size_t i = 0; i < sizeof n_columns / sizeof *n_columns; i++) {
        CLEANUP(fbp_filter_design_clear)
        struct fbp_filter_design d = make(FBP_FILTER_HANN, 1, n_columns[i], 0);
        assert_int_equal(d.n_fft, n_fft[i]);
        assert_int_equal(d.half_width, n_columns[i] - 1);
    }
    struct fbp_filter_design d = make(FBP_FILTER_HANN, 1, 100, 12);
    assert_int_equal(d.half_width, 12);
    fbp_filter_design_clear(&d);
    d = make(FBP_FILTER_HANN, 1, 100, 1000);
    assert_int_equal(d.half_width, 99);
    fbp_filter_design_clear(&d);
}

/* Of the taps, by a direct sum; f in parts of Nyquist. */
static double column_response(const struct fbp_column_filter *d, double f)
{
    double sum = d->kernel[0];

    for (size_t i = 1; i <= d->half_width; i++)
        sum += 2 * d->kernel[i] * cos(FBP_PI * f * (double)i);
    return sum;
}

/* What is cut off changes the response nowhere by as much as is said. */
TEST(columns_have_a_hann_window)
{
    static const double cutoffs[] = {0.05, 0.1, 0.3, 0.5, 0.8, 0.97, 1};
    struct fbp_column_filter d;

    for (size_t i = 0; i < sizeof cutoffs / sizeof *cutoffs; i++) {
        double worst = 0;
        OK(fbp_column_filter_design(&d, cutoffs[i], 2048));
        for (int k = 0; k <= 2048; k++) { /* where the window was sampled */
            const double f = k / 2048.0;
            const double w = fbp_filter_window(FBP_FILTER_HANN, f / cutoffs[i]);
            worst = fmax(worst, fabs(column_response(&d, f) - w));
        }
        print_message("cut-off %.2f: %zu taps a side, response to %.1e\n", cutoffs[i], d.half_width,
                      worst);
        assert_true(worst < FBP_COLUMN_ERROR);
        assert_true(d.half_width < 2047);
        fbp_column_filter_clear(&d);
    }
    OK(fbp_column_filter_design(&d, 1, 2));
    assert_int_equal(d.half_width, 1);
    check_near(d.kernel[0], 0.5, 1e-15);
    check_near(d.kernel[1], 0.25, 1e-15);
    fbp_column_filter_clear(&d);
    OK(fbp_column_filter_design(&d, 0.1, 64)); /* no room to fall off */
    assert_int_equal(d.half_width, 63);
    fbp_column_filter_clear(&d);
}

/* With zeros between the samples, the filter gives the same values at the samples, and interpolates
 * between them: a cosine below the Nyquist frequency is one there, too. */
TEST(refined_rows)
{
    enum { N = 64, R = 4, LENGTH = R * (N - 1) + 1 };
    struct fbp_filter_design plain = make(FBP_FILTER_HANN, 1, N, 0), fine;
    struct fbp_row_filter filter;
    struct fbp_row_work work;
    double out[LENGTH];

    OK(fbp_filter_design_times(&fine, FBP_FILTER_HANN, 1, LENGTH, 0, R,
                               (struct fbp_filter_factors){0}));
    assert_int_equal(fine.n_fft, R * plain.n_fft);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs(fine.kernel[R * i] - plain.kernel[i]) <= 1e-15);
    OK(fbp_row_filter_open(&filter, &fine, false));
    OK(fbp_row_work_alloc(&work, &fine));
    memset(work.line, 0, fine.n_fft * sizeof *work.line);
    const double f =
        2 * FBP_PI * 11 / (double)plain.n_fft; /* of the circle of plain.n_fft samples */
    for (size_t i = 0; i < plain.n_fft; i++)
        work.line[R * i] = cos(f * (double)i);
    fbp_row_filter(&filter, &work, out);
    const double factor = plain.response[11] * (double)plain.n_fft;
    for (size_t i = 0; i < LENGTH; i++)
        assert_true(fabs(out[i] - factor * cos(f * (double)i / R)) <= 1e-13);
    fbp_row_work_free(&work);
    fbp_row_filter_close(&filter);
    fbp_filter_design_clear(&fine);
    fbp_filter_design_clear(&plain);
}

TEST(factors_of_the_response)
{
    enum { N = 60, M = 4097, ENDS = 2 };
    static double hann[M];
    const double straight[ENDS] = {1, 0.5};
    struct fbp_filter_design plain = make(FBP_FILTER_RAM_LAK, 1, N, 0), d;
    struct fbp_filter_design want = make(FBP_FILTER_HANN, 1, N, 0);

    for (size_t i = 0; i < M; i++)
        hann[i] = fbp_filter_window(FBP_FILTER_HANN, (double)i / (M - 1));
    OK(fbp_filter_design_times(&d, FBP_FILTER_RAM_LAK, 1, N, 0, 1,
                               (struct fbp_filter_factors){M, hann}));
    for (size_t i = 0; i <= d.n_fft / 2; i++)
        assert_true(fabs(d.response[i] - want.response[i]) <= 1e-7 * plain.response[d.n_fft / 2]);
    for (size_t i = 0; i <= d.half_width; i++)
        assert_true(fabs(d.kernel[i] - want.kernel[i]) <= 1e-7);
    fbp_filter_design_clear(&d);
    OK(fbp_filter_design_times(&d, FBP_FILTER_RAM_LAK, 0.5, N, 0, 1,
                               (struct fbp_filter_factors){ENDS, straight}));
    for (size_t i = 0; i <= d.n_fft / 2; i++) {
        const double x = 2 * (double)i / (double)d.n_fft;
        const double half = x <= 0.5 ? (1 - x / 2) * plain.response[i] : 0;
        assert_true(fabs(d.response[i] - half) <= 1e-15);
    }
    fbp_filter_design_clear(&d);
    fbp_filter_design_clear(&plain);
    fbp_filter_design_clear(&want);
}

TEST(nonsense_is_refused)
{
    const double bad[] = {0, -0.5, 1.0001, NAN, INFINITY};
    struct fbp_filter_design d;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(fbp_filter_design(&d, FBP_FILTER_HANN, bad[i], 100, 0), FBP_ERR_INVALID);
        assert_null(d.response);
    }
    struct fbp_column_filter columns;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(fbp_column_filter_design(&columns, bad[i], 100), FBP_ERR_INVALID);
    assert_int_equal(fbp_column_filter_design(&columns, 1, 1), FBP_ERR_INVALID);
    assert_int_equal(fbp_column_filter_design(&columns, 1, SIZE_MAX), FBP_ERR_INVALID);
    assert_null(columns.kernel);
    assert_int_equal(fbp_filter_design(&d, (enum fbp_filter)17, 1, 100, 0), FBP_ERR_INVALID);
    assert_int_equal(fbp_filter_design(&d, FBP_FILTER_HANN, 1, 0, 0), FBP_ERR_INVALID);
    assert_int_equal(fbp_filter_design(&d, FBP_FILTER_HANN, 1, SIZE_MAX, 0), FBP_ERR_INVALID);
    assert_null(fbp_filter_name((enum fbp_filter)(FBP_FILTER_LAST + 1)));
    assert_null(fbp_filter_name((enum fbp_filter) - 1));
    assert_string_equal(fbp_filter_name(FBP_FILTER_SHEPP_LOGAN), "shepp-logan");
}

TEST_MAIN(NULL, NULL)
