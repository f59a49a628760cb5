/* Checks the filters of plane integrals: closed forms against quadrature in long double,
 * published values, and that rows become their second derivative. */
#include "unit/filter_util.h"

#include "filter/parabola.h"

#include "base/base.h"
#include "filter/filter.h"
#include "test.h"

static const long double pi_l = 3.14159265358979323846264338327950288L;

static long double sinc_l(long double x)
{
    return x == 0 ? 1 : sinl(pi_l * x) / (pi_l * x);
}

/* f^2 W of each filter as the papers write it; f in [0, cutoff / 2]. */
static long double response(enum fbp_filter filter, long double cutoff, long double f)
{
    const long double x = f / cutoff, s = sinl(2 * pi_l * f) / (2 * pi_l);

    switch (filter) {
    case FBP_FILTER_RAM_LAK:
        return f * f;
    case FBP_FILTER_SHEPP_LOGAN:
        return f * f * sinc_l(x);
    case FBP_FILTER_COSINE:
        return f * f * cosl(pi_l * x);
    case FBP_FILTER_HAMMING:
        return f * f * (.54L + .46L * cosl(2 * pi_l * x));
    case FBP_FILTER_HANN:
        return f * f * (.5L + .5L * cosl(2 * pi_l * x));
    case FBP_FILTER_SECOND_DIFFERENCE:
        return f * f * sinc_l(f) * sinc_l(f);
    case FBP_FILTER_3_POINT_DERIVATIVE:
        return s * s;
    case FBP_FILTER_5_POINT_DERIVATIVE: { /* (8 sin a - sin 2a) / 6 is a derivative's */
        const long double a = 2 * pi_l * f, d = (8 * sinl(a) - sinl(2 * a)) / 6;
        return d * d / (4 * pi_l * pi_l);
    }
    default: /* a window that no paper above has */
        return fbp_filter_is_window(filter) ? f * f * fbp_filter_window(filter, (double)(2 * x))
                                            : 0;
    }
}

/* Integral of R(f) cos(2 pi f x) over |f| <= cutoff / 2: Gauss-Legendre, five points in parts of
 * less than a tenth of a turn. */
static double by_quadrature(enum fbp_filter filter, double cutoff, double x)
{
    const long double u[] = {0, .538469310105683091036314420700208805L,
                             .906179845938663992797626878299392965L};
    const long double w[] = {.568888888888888888888888888888888889L,
                             .478628670499366468041291514835638193L,
                             .236926885056189087514264040719917363L};
    const int parts = 100 + (int)(10 * fabs(x));
    const long double h = (long double)cutoff / 2 / parts;
    long double sum = 0;

    for (int i = 0; i < parts; i++)
        for (int k = -2; k <= 2; k++) {
            const long double f = h * (i + .5L + (k < 0 ? -u[-k] : u[k]) / 2);
            sum += w[abs(k)] * response(filter, (long double)cutoff, f) *
                   cosl(2 * pi_l * f * (long double)x);
        }
    return (double)(sum * h);
}

static const double cutoffs[] = {1, .75, .6, .5, .1};

static const enum fbp_filter closed[] = {FBP_FILTER_RAM_LAK,
                                         FBP_FILTER_SHEPP_LOGAN,
                                         FBP_FILTER_COSINE,
                                         FBP_FILTER_HAMMING,
                                         FBP_FILTER_HANN,
                                         FBP_FILTER_SECOND_DIFFERENCE,
                                         FBP_FILTER_3_POINT_DERIVATIVE,
                                         FBP_FILTER_5_POINT_DERIVATIVE};
enum { N_CLOSED = 8 };

/* To 1e-12 of the kernel's middle, also around 0 and where the closed forms change to series. */
TEST(closed_forms_are_integrals)
{
    const double places[] = {0,     1e-9, 1e-6, 1e-4,  9.9e-4, 1.1e-3, .01,  .1,  .25,
                             .4999, .5,   .51,  .7499, .7501,  1,      1.5,  2,   2.5,
                             3,     4.25, 7,    7.5,   19.5,   20,     99.5, 411, 1000.5};

    for (size_t f = 0; f < N_CLOSED; f++)
        for (size_t c = 0; c < 5; c++)
            for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                const double peak = by_quadrature(closed[f], cutoffs[c], 0);
                const double want = by_quadrature(closed[f], cutoffs[c], places[i]);
                check_near(fbp_parabola_kernel(closed[f], cutoffs[c], places[i]), want,
                           1e-12 * peak);
                check_near(fbp_parabola_kernel(closed[f], cutoffs[c], -places[i]), want,
                           1e-12 * peak);
            }
}

TEST(every_window_has_a_closed_form)
{
    for (int f = 0; f <= FBP_FILTER_LAST; f++)
        for (int i = 0; fbp_filter_is_window((enum fbp_filter)f) && i < 12; i++) {
            const double x = 0.37 * i, want = by_quadrature((enum fbp_filter)f, 0.75, x);
            check_near(fbp_parabola_kernel((enum fbp_filter)f, 0.75, x), want, 1e-14);
        }
}

TEST(responses_are_their_formulas)
{
    for (size_t k = 0; k < N_CLOSED; k++)
        for (size_t c = 0; c < 5; c++)
            for (int i = 0; i <= 50; i++) {
                const double f = cutoffs[c] / 2 * i / 50;
                check_near(fbp_parabola_response(closed[k], cutoffs[c], f),
                           (double)response(closed[k], (long double)cutoffs[c], (long double)f),
                           1e-16);
            }
}

TEST(published_values)
{
    const double four = 4 * FBP_PI * FBP_PI;
    const double by_5[] = {130. / 144, -16. / 144, -64. / 144, 16. / 144, -1. / 144, 0};

    check_near(fbp_parabola_kernel(FBP_FILTER_RAM_LAK, 1, 0), 1. / 12, 1e-17);
    for (int n = 1; n < 300; n++) {
        const double want = (n % 2 ? -1 : 1) / (2 * FBP_PI * FBP_PI * n * n);
        check_near(fbp_parabola_kernel(FBP_FILTER_RAM_LAK, 1, n), want, 1e-15 * fabs(want));
    }
    for (int n = 0; n < 6; n++) {
        check_near(four * fbp_parabola_kernel(FBP_FILTER_SECOND_DIFFERENCE, 1, n),
                   n == 0   ? 2
                   : n == 1 ? -1
                            : 0,
                   1e-15);
        check_near(four * fbp_parabola_kernel(FBP_FILTER_3_POINT_DERIVATIVE, 1, n),
                   n == 0   ? .5
                   : n == 2 ? -.25
                            : 0,
                   1e-15);
        check_near(four * fbp_parabola_kernel(FBP_FILTER_5_POINT_DERIVATIVE, 1, n), by_5[n], 1e-15);
    }
}

static double root_of_squares(enum fbp_filter filter, double cutoff)
{
    double sum = 0;

    for (int n = -4000; n <= 4000; n++)
        sum += pow(fbp_parabola_kernel(filter, cutoff, n), 2);
    return sqrt(sum);
}

/* What white noise becomes, against the whole band: three digits. */
TEST(noise_gains)
{
    const double whole = root_of_squares(FBP_FILTER_RAM_LAK, 1);
    const double want[N_CLOSED] = {1, .737, .321, .219, .177, .555, .139, .254};
    const double of_hann[][2] = {{.75, .086}, {.5, .031}, {.25, .0055}};

    for (size_t f = 0; f < N_CLOSED; f++)
        check_near(root_of_squares(closed[f], 1) / whole, want[f], 6e-4);
    for (size_t i = 0; i < 3; i++)
        check_near(root_of_squares(FBP_FILTER_HANN, of_hann[i][0]) / whole, of_hann[i][1], 6e-4);
}

/* A constant has no second derivative: the kernel's sum is 0, but for the tail of what ends at a
 * step in the spectrum, 1 / n. */
TEST(kernels_add_up_to_nothing)
{
    for (size_t f = 0; f < N_CLOSED; f++)
        for (size_t c = 0; c < 5; c++) {
            double sum = 0;
            for (int n = -20000; n <= 20000; n++)
                sum += fbp_parabola_kernel(closed[f], cutoffs[c], n);
            check_near(sum, 0, 3e-6);
        }
}

static struct fbp_filter_design make(enum fbp_filter filter, double cutoff, size_t n,
                                     size_t oversampling)
{
    struct fbp_filter_design d;
    OK(fbp_parabola_design(&d, filter, cutoff, n, 0, oversampling));
    return d;
}

TEST(both_forms_are_one_filter)
{
    enum { N = 61 };
    const size_t lengths[] = {N, 1, 2, 7};
    double row[N], a[N], b[N];
    unsigned seed = 3;

    for (int f = FBP_FILTER_RAM_LAK; f <= FBP_FILTER_TWO_RAMPS; f++)
        for (size_t o = 1; o <= 2; o++)
            for (size_t l = 0; l < 4; l++) {
                CLEANUP(fbp_filter_design_clear)
                struct fbp_filter_design d = make((enum fbp_filter)f, .8, lengths[l], o);
                assert_int_equal(d.passes, 1);
                assert_true(d.n_fft >= 2 * lengths[l] && !d.imaginary && !d.kernel_back);
                for (size_t i = 0; i < lengths[l]; i++)
                    row[i] = random01(&seed) - .5;
                by_response(&d, row, a);
                by_kernel(&d, row, b);
                for (size_t i = 0; i < lengths[l]; i++)
                    check_near(a[i], b[i], 1e-15);
            }
    struct fbp_filter_design d;
    OK(fbp_parabola_design(&d, FBP_FILTER_3_POINT_DERIVATIVE, 1, 100, 2, 1));
    assert_int_equal(d.half_width, 2);
    fbp_filter_design_clear(&d);
}

/* Samples between measured ones change nothing at these, and lie on the same curve. */
TEST(samples_between)
{
    enum { N = 40 };
    double row[N], wide[2 * N - 1] = {0}, a[N], b[2 * N - 1];
    unsigned seed = 5;

    for (size_t i = 0; i < N; i++)
        row[i] = wide[2 * i] = random01(&seed);
    for (int f = FBP_FILTER_RAM_LAK; f <= FBP_FILTER_TWO_RAMPS; f++) {
        CLEANUP(fbp_filter_design_clear)
        struct fbp_filter_design one = make((enum fbp_filter)f, .9, N, 1);
        CLEANUP(fbp_filter_design_clear)
        struct fbp_filter_design two = make((enum fbp_filter)f, .9, 2 * N - 1, 2);
        by_kernel(&one, row, a);
        by_kernel(&two, wide, b);
        for (size_t i = 0; i < N; i++)
            check_near(b[2 * i], a[i], 1e-15);
    }
}

/* -p'' / 4 pi^2 of a Gaussian, which no sample of the spectrum cuts off; sign and factor are those
 * of the equation. */
TEST(a_gaussian_becomes_its_second_derivative)
{
    enum { N = 101 };
    const double s = 4, middle = 47.3;

    for (size_t o = 1; o <= 2; o++) {
        double row[2 * N] = {0}, out[2 * N];
        CLEANUP(fbp_filter_design_clear)
        struct fbp_filter_design d = make(FBP_FILTER_RAM_LAK, 1, o * (N - 1) + 1, o);
        for (size_t i = 0; i < N; i++)
            row[o * i] = exp(-pow((double)i - middle, 2) / (2 * s * s));
        by_kernel(&d, row, out);
        for (size_t i = 0; i < d.n_columns; i++) {
            const double x = (double)i / (double)o - middle, g = exp(-x * x / (2 * s * s));
            check_near(out[i], g * (1 - x * x / (s * s)) / (s * s) / (4 * FBP_PI * FBP_PI), 1e-12);
        }
    }
}

/* Relative error of a filter on the projection of a ball against the whole parabola, and at its
 * middle. */
static void of_a_ball(enum fbp_filter filter, double *error, double *at_middle)
{
    enum { N = 64 };
    double row[N], want[N], out[N], sum = 0, all = 0;
    CLEANUP(fbp_filter_design_clear)
    struct fbp_filter_design exact = make(FBP_FILTER_RAM_LAK, 1, N, 1), d = make(filter, 1, N, 1);

    for (int i = 0; i < N; i++)
        row[i] = fmax(0, .6 * .6 - pow((i - 31.5) / 32, 2));
    by_kernel(&exact, row, want);
    by_response(&d, row, out);
    for (unsigned i = 1; i < d.passes; i++) {
        memcpy(row, out, sizeof row);
        by_response(&d, row, out);
    }
    for (int i = 0; i < N; i++) {
        sum += pow(out[i] - want[i], 2);
        all += pow(want[i], 2);
    }
    *error = sqrt(sum / all);
    *at_middle = out[N / 2] / want[N / 2] - 1;
}

/* Two ramps are the parabola where the first one's tail is kept, and far from it where it is cut
 * off: 7.7 % of a ball, and 1.1 % too little in its middle. */
TEST(two_ramps_need_their_padding)
{
    double error, at_middle;

    of_a_ball(FBP_FILTER_TWO_RAMPS, &error, &at_middle);
    assert_true(error > 1e-5 && error < 1.5e-4);
    assert_true(fabs(at_middle) < 1e-3);
    of_a_ball(FBP_FILTER_TWO_RAMPS_UNPADDED, &error, &at_middle);
    check_near(error, .077, .008);
    check_near(at_middle, -.011, .004);
}

TEST(nonsense_is_refused)
{
    const double bad[] = {0, -0.5, 1.0001, NAN, INFINITY};
    struct fbp_filter_design d;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(fbp_parabola_design(&d, FBP_FILTER_HANN, bad[i], 100, 0, 1),
                         FBP_ERR_INVALID);
    assert_int_equal(fbp_parabola_design(&d, (enum fbp_filter)99, 1, 100, 0, 1), FBP_ERR_INVALID);
    assert_int_equal(fbp_parabola_design(&d, FBP_FILTER_HANN, 1, 0, 0, 1), FBP_ERR_INVALID);
    assert_int_equal(fbp_parabola_design(&d, FBP_FILTER_TWO_RAMPS_UNPADDED, 1, 100, 0, 2),
                     FBP_ERR_UNSUPPORTED);
    assert_null(d.response);
}

/* Line integrals have windows of the ramp alone. */
TEST(lines_refuse_the_others)
{
    struct fbp_filter_design d;

    for (int f = 0; f <= FBP_FILTER_LAST; f++) {
        const bool window = fbp_filter_is_window((enum fbp_filter)f);
        fbp_message_clear();
        assert_non_null(fbp_filter_name((enum fbp_filter)f));
        assert_int_equal(fbp_filter_design(&d, (enum fbp_filter)f, 1, 10, 0),
                         window ? FBP_OK : FBP_ERR_UNSUPPORTED);
        if (!window)
            assert_says("plane integrals");
        fbp_filter_design_clear(&d);
    }
}

TEST_MAIN(NULL, NULL)
