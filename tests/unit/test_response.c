/* Checks filters of plane integrals with the user's frequency response, and periodic rows,
 * against closed forms and sums in long double. */
#include "unit/filter_util.h"

#include "base/base.h"
#include "filter/parabola.h"
#include "test.h"

enum { N = 60 };

static struct fbp_filter_design make(const struct fbp_spectral_filter *s, size_t n,
                                     size_t oversampling)
{
    struct fbp_filter_design d;

    fbp_message_clear();
    OK(fbp_deconvolution_design(&d, s, n, 0, oversampling));
    return d;
}

static struct fbp_spectral_filter with(enum fbp_filter filter, double cutoff, const double *table,
                                       size_t n)
{
    return (struct fbp_spectral_filter){filter, cutoff, {.n = 0}, {n, table}};
}

/* A factor of 1 leaves every filter as its closed form has it; one of 3 triples it. */
TEST(constants_leave_the_filter)
{
    static const double one[] = {0, 1, .3, 1, 1, 1}, three[] = {.5, 3};

    for (int f = 0; f <= FBP_FILTER_5_POINT_DERIVATIVE; f++)
        for (size_t o = 1; o <= 2; o++) {
            const struct fbp_spectral_filter a = with((enum fbp_filter)f, .7, one, 3),
                                             b = with((enum fbp_filter)f, .7, three, 1);
            struct fbp_filter_design p, d = make(&a, N, o), e = make(&b, N, o);
            OK(fbp_parabola_design(&p, (enum fbp_filter)f, .7, N, 0, o));
            assert_null(d.kernel_back);
            for (size_t n = 0; n < N; n++) {
                check_near(d.kernel[n], p.kernel[n], 1e-15);
                check_near(e.kernel[n], 3 * p.kernel[n], 1e-15);
            }
            fbp_filter_design_clear(&p);
            fbp_filter_design_clear(&d);
            fbp_filter_design_clear(&e);
        }
}

/* f^2 times a roof with its corners beside the points of any regular sum, cut off within it:
 * Simpson's rule is exact for a cubic times a cosine of short steps, piece by piece. */
TEST(corners_are_kept)
{
    static const double table[] = {.13, .2, .37, 1, .81, .1};
    const long double pi = 3.14159265358979323846264338327950288L;
    const double ends[] = {0, .13, .37, .7};
    const struct fbp_spectral_filter s = with(FBP_FILTER_RAM_LAK, .7, table, 3);
    CLEANUP(fbp_filter_design_clear) struct fbp_filter_design d = make(&s, N, 1);

    for (int n = 0; n < N; n += 7) {
        long double sum = 0;
        for (int piece = 0; piece < 3; piece++)
            for (int i = 0; i <= 20000; i++) {
                const long double x = ends[piece] + (ends[piece + 1] - ends[piece]) * i / 20000.L;
                const long double factor = x <= .13L   ? .2L
                                           : x <= .37L ? .2L + .8L * (x - .13L) / .24L
                                                       : 1 - .9L * (x - .37L) / .44L;
                const long double w = i == 0 || i == 20000 ? 1 : i % 2 ? 4 : 2;
                sum += w / 3 * (ends[piece + 1] - ends[piece]) / 20000 * factor * x * x / 4 *
                       cosl(pi * x * n);
            }
        check_near(d.kernel[n], (double)sum, 1e-14);
    }
}

static void refused(const double *table, size_t n, const char *says)
{
    const struct fbp_spectral_filter s = with(FBP_FILTER_RAM_LAK, 1, table, n);
    struct fbp_filter_design d;

    fbp_message_clear();
    assert_int_equal(fbp_deconvolution_design(&d, &s, N, 0, 1), FBP_ERR_INVALID);
    assert_int_equal(fbp_periodic_design(&d, &s, N), FBP_ERR_INVALID);
    assert_null(d.response);
    assert_says(says);
}

TEST(nonsense_is_refused)
{
    static const double back[] = {0, 1, .5, 1, .5, 0}, beyond[] = {0, 1, 1.5, 0};
    static const double below[] = {-.1, 1}, no_number[] = {0, 1, 1, NAN}, nowhere[] = {NAN, 1};

    refused(back, 3, "row 2 of the response begins with 0.5");
    refused(beyond, 2, "row 1 of the response begins with 1.5");
    refused(below, 1, "row 0");
    refused(nowhere, 1, "row 0");
    refused(no_number, 2, "factor in row 1");
}

/* A wave that closes around the row becomes f^2 of itself, wherever the row is cut. */
TEST(waves_go_round)
{
    for (size_t n = 59; n <= 60; n++) {
        const struct fbp_spectral_filter s = with(FBP_FILTER_RAM_LAK, .5, NULL, 0);
        struct fbp_filter_design d;
        double row[N], out[N];
        OK(fbp_periodic_design(&d, &s, n));
        assert_true(d.periodic && d.n_fft == n && d.n_columns == n && d.passes == 1);
        for (size_t k = 0; k <= n / 2; k++) {
            const double f = (double)k / (double)n, gain = f <= .25 ? f * f : 0;
            for (size_t i = 0; i < n; i++)
                row[i] = cos(2 * FBP_PI * f * (double)i + .3);
            by_response(&d, row, out);
            for (size_t i = 0; i < n; i++)
                check_near(out[i], gain * row[i], 1e-14);
        }
        fbp_filter_design_clear(&d);
    }
}

/* Rows convolved with a line around the same circle come out as if they had not been. */
TEST(lines_go_round)
{
    const double line[N] = {.1, -.4, 0, 2, 1, -.7, .2};
    const struct fbp_spectral_filter plain = with(FBP_FILTER_HANN, .6, NULL, 0);
    struct fbp_spectral_filter divided = plain;
    struct fbp_filter_design a, b;
    double row[N], spectrum[N] = {0}, wanted[N], out[N];

    divided.reference = (struct fbp_reference){.h = line, .n = N, .centre = 3};
    OK(fbp_periodic_design(&a, &plain, N));
    OK(fbp_periodic_design(&b, &divided, N));
    for (int i = 0; i < N; i++)
        row[i] = (i * 29) % 17;
    for (int i = 0; i < N; i++)
        for (int m = 0; m < N; m++)
            spectrum[i] += row[(i - m + 3 + N) % N] * line[m];
    by_response(&a, row, wanted);
    by_response(&b, spectrum, out);
    for (int i = 0; i < N; i++)
        check_near(out[i], wanted[i], 1e-13);
    fbp_filter_design_clear(&a);
    fbp_filter_design_clear(&b);
}

TEST_MAIN(NULL, NULL)
