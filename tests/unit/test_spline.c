/* Checks that spline coefficients made by the filter give back the filtered samples, also at the
 * ends of a row, and the weights of the spline. */
#include "unit/filter_util.h"

#include "base/base.h"
#include "filter/parabola.h"
#include "test.h"

enum { N = 47 };

static double tap(const struct fbp_filter_design *d, ptrdiff_t n)
{
    return n < 0 && d->kernel_back ? d->kernel_back[-n] : d->kernel[n < 0 ? -n : n];
}

/* Filtered sample c of a row that has `before` more columns of zeros on its left. */
static double filtered(const struct fbp_filter_design *d, const double *row, size_t n, ptrdiff_t c,
                       ptrdiff_t before)
{
    double sum = 0;

    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++)
        sum += tap(d, c - before - i) * row[i];
    return sum;
}

/* `plain` for rows of n, `longer` for such rows with more columns. */
static void check(const struct fbp_filter_design *plain, struct fbp_filter_design *longer, size_t n)
{
    double row[2 * N], peak = 0;
    unsigned seed = 11;

    OK(fbp_filter_spline(longer, n + 2, 0));
    assert_int_equal(longer->n_columns, n + 2);
    assert_true(longer->n_fft >= 2 * (n + 2));
    for (size_t i = 0; i < n; i++)
        row[i] = random01(&seed) - .3;
    for (size_t i = 0; i < n; i++)
        peak = fmax(peak, fabs(filtered(plain, row, n, (ptrdiff_t)i, 0)));
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
        const double c[3] = {filtered(longer, row, n, i, 1), filtered(longer, row, n, i + 1, 1),
                             filtered(longer, row, n, i + 2, 1)};
        check_near((c[0] + 4 * c[1] + c[2]) / 6, filtered(plain, row, n, i, 0), 1e-14 * peak);
    }
}

TEST(coefficients_give_back_the_samples)
{
    for (int f = 0; f <= FBP_FILTER_HANN; f++)
        for (size_t o = 1; o <= 2; o++) {
            const size_t n = o * (N - 1) + 1;
            struct fbp_filter_design a, b;
            OK(fbp_parabola_design(&a, (enum fbp_filter)f, .8, n, 0, o));
            OK(fbp_parabola_design(&b, (enum fbp_filter)f, .8, n + 2 + FBP_SPLINE_REACH, 0, o));
            check(&a, &b, n);
            assert_null(b.kernel_back);
            fbp_filter_design_clear(&a);
            fbp_filter_design_clear(&b);
        }
}

TEST(so_do_those_of_spectra)
{
    const double h[] = {.3, -.1, 2, .4, -.2};
    const struct fbp_spectral_filter s = {
        FBP_FILTER_HANN, .9, {.h = h, .n = 5, .centre = 2.3}, {0}};

    for (size_t o = 1; o <= 2; o++) {
        const size_t n = o * (N - 1) + 1;
        struct fbp_filter_design a, b;
        OK(fbp_deconvolution_design(&a, &s, n, 0, o));
        OK(fbp_deconvolution_design(&b, &s, n + 2 + FBP_SPLINE_REACH, 0, o));
        check(&a, &b, n);
        assert_non_null(b.kernel_back);
        fbp_filter_design_clear(&a);
        fbp_filter_design_clear(&b);
    }
}

/* The response is the kernel's around the circle. */
TEST(both_forms_are_one_filter)
{
    struct fbp_filter_design d;

    OK(fbp_parabola_design(&d, FBP_FILTER_COSINE, 1, N + FBP_SPLINE_REACH, 0, 1));
    OK(fbp_filter_spline(&d, N, 5));
    assert_int_equal(d.half_width, 5);
    for (size_t n = 0; n <= 5; n++) {
        double sum = 0;
        for (size_t k = 0; k <= d.n_fft / 2; k++)
            sum += d.response[k] * (k == 0 || 2 * k == d.n_fft ? 1 : 2) *
                   cos(2 * FBP_PI * (double)(k * n % d.n_fft) / (double)d.n_fft);
        check_near(sum, d.kernel[n], 1e-16);
    }
    fbp_filter_design_clear(&d);
}

/* They add up to 1, follow a parabola's coefficients, and are those of the B-spline at samples. */
TEST(weights_are_those_of_the_spline)
{
    double w[4];

    fbp_spline_weights(0, w);
    check_near(w[0], 1. / 6, 1e-16);
    check_near(w[1], 4. / 6, 1e-16);
    check_near(w[2], 1. / 6, 1e-16);
    check_near(w[3], 0, 1e-16);
    for (int i = 0; i <= 16; i++) { /* u^2 has the coefficients i^2 - 1/3 */
        const double t = i / 16.;
        fbp_spline_weights(t, w);
        check_near(w[0] + w[1] + w[2] + w[3], 1, 1e-15);
        check_near(w[0] * (1 - 1. / 3) - w[1] / 3 + w[2] * (1 - 1. / 3) + w[3] * (4 - 1. / 3),
                   t * t, 1e-15);
    }
}

TEST(rows_that_pass_twice_are_refused)
{
    struct fbp_filter_design d;

    OK(fbp_parabola_design(&d, FBP_FILTER_TWO_RAMPS_UNPADDED, 1, N + FBP_SPLINE_REACH, 0, 1));
    assert_fails(fbp_filter_spline(&d, N, 0), FBP_ERR_UNSUPPORTED, "use two-ramps");
    fbp_filter_design_clear(&d);
}

TEST_MAIN(NULL, NULL)
