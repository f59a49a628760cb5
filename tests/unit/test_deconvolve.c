/* Checks the filter of plane integrals that divides by a reference spectrum (EPR) against closed
 * forms of Gaussian lines and sums in long double; its FFT and spatial forms are one filter. */
#include "unit/filter_util.h"

#include "base/base.h"
#include "filter/parabola.h"
#include "test.h"

enum { N = 121, M = 101 };

static double out[2 * N], h[M], row[2 * N];

/* First derivative of a Gaussian line, and some of the line itself, as a wrong phase leaves it. */
static struct fbp_reference a_line(double width, double centre, double absorption)
{
    for (int m = 0; m < M; m++) {
        const double x = m - centre, g = exp(-x * x / (2 * width * width));
        h[m] = -x / (width * width) * g + absorption * g;
    }
    return (struct fbp_reference){.h = h, .n = M, .centre = centre};
}

static struct fbp_filter_design make(const struct fbp_reference *r, enum fbp_filter filter,
                                     double cutoff, size_t n, size_t oversampling)
{
    struct fbp_filter_design d;
    const struct fbp_spectral_filter s = {filter, cutoff, *r, {0}};

    fbp_message_clear();
    OK(fbp_deconvolution_design(&d, &s, n, 0, oversampling));
    assert_true(d.imaginary && d.kernel_back && d.passes == 1);
    return d;
}

/* A line of one sample is no line: what is left is the parabola. */
TEST(a_needle_leaves_the_parabola)
{
    const double needle[] = {0, 2};
    const struct fbp_reference r = {.h = needle, .n = 2, .centre = 1};

    for (int f = 0; f <= FBP_FILTER_5_POINT_DERIVATIVE; f++)
        for (size_t o = 1; o <= 2; o++)
            for (int c = 0; c < 2; c++) {
                struct fbp_filter_design d = make(&r, (enum fbp_filter)f, c ? .4 : 1, N, o), p;
                OK(fbp_parabola_design(&p, (enum fbp_filter)f, c ? .4 : 1, N, 0, o));
                for (size_t n = 0; n < N; n++) {
                    check_near(2 * d.kernel[n], p.kernel[n], 1e-14);
                    check_near(2 * d.kernel_back[n], p.kernel[n], 1e-14);
                }
                fbp_filter_design_clear(&d);
                fbp_filter_design_clear(&p);
            }
}

/* P(B) = integral of p(s) h(B + s) ds of Gaussians is one, and comes out as -p'' / 4 pi^2 at s =
 * -B: factor, sign and place, for middles between samples, and for lines of a wrong phase, too. */
TEST(gaussian_lines_are_taken_out)
{
    const double a = 6, s0 = 7.3, middle = 60;
    static const double widths[] = {2, 3, 3, 3}, centres[] = {50, 50, 47.6, 50.25},
                        phases[] = {0, 0, 0, .5};

    for (int i = 0; i < 4; i++)
        for (size_t o = 1; o <= 2; o++) {
            const double b = widths[i], both = a * a + b * b, k = sqrt(2 * FBP_PI / both) * a * b;
            const struct fbp_reference r = a_line(b, centres[i], phases[i]);
            CLEANUP(fbp_filter_design_clear)
            struct fbp_filter_design d = make(&r, FBP_FILTER_RAM_LAK, .45, o * (N - 1) + 1, o);
            memset(row, 0, sizeof row);
            for (size_t c = 0; c < N; c++) {
                const double x = (double)c - middle + s0, g = k * exp(-x * x / (2 * both));
                row[o * c] = -x / both * g + phases[i] * g;
            }
            by_kernel(&d, row, out);
            for (size_t c = 20 * o; c < d.n_columns - 20 * o; c++) {
                const double x = (double)c / (double)o - middle + s0, y = x * x / (a * a);
                check_near(out[c], (1 - y) * exp(-y / 2) / (a * a) / (4 * FBP_PI * FBP_PI), 1e-9);
            }
        }
}

/* Any spectrum, with Wiener's term: kernel values by sums in small steps, in long double. */
TEST(kernels_are_integrals)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    const double noise[] = {.3, -.2, 1, .4, -1.1, .1, -.35};
    const struct fbp_reference r = {.h = noise, .n = 7, .centre = 2.3, .wiener = .05};
    CLEANUP(fbp_filter_design_clear)
    struct fbp_filter_design d = make(&r, FBP_FILTER_HANN, .9, 40, 1);
    enum { STEPS = 40000 };
    static complex double ratio[STEPS];
    double most = 0;

    for (int i = 0; i < STEPS; i++) {
        const long double f = .45L * (i + .5L) / STEPS;
        long double re = 0, im = 0;
        for (int m = 0; m < 7; m++) {
            re += (long double)noise[m] * cosl(2 * pi * f * (m - 2.3L));
            im -= (long double)noise[m] * sinl(2 * pi * f * (m - 2.3L));
        }
        ratio[i] = (double)re + I * (double)im;
        most = fmax(most, cabs(ratio[i]));
    }
    for (int n = -39; n < 40; n += 3) {
        double sum = 0;
        for (int i = 0; i < STEPS; i++) {
            const double f = .45 * (i + .5) / STEPS, w = .5 + .5 * cos(FBP_PI * f / .45);
            const double power = pow(cabs(ratio[i]), 2) + .05 * most * most;
            sum += 2 * .45 / STEPS * f * f * w *
                   creal(conj(ratio[i]) * cexp(2 * FBP_PI * I * f * n) / power);
        }
        check_near(n < 0 ? d.kernel_back[-n] : d.kernel[n], sum, 2e-8);
    }
}

/* The row through the circle of n_fft points is the convolution. */
TEST(both_forms_are_one_filter)
{
    enum { SHORT = 23 };
    struct fbp_reference r = a_line(2, 50.5, .3);
    r.wiener = 1e-3;
    CLEANUP(fbp_filter_design_clear)
    struct fbp_filter_design d = make(&r, FBP_FILTER_SHEPP_LOGAN, .7, SHORT, 1);
    double through[SHORT];

    for (size_t i = 0; i < SHORT; i++)
        row[i] = cos((double)(i * i)) - .2;
    by_kernel(&d, row, out);
    by_response(&d, row, through);
    for (size_t c = 0; c < SHORT; c++)
        check_near(through[c], out[c], 1e-13);
}

static void refused(const struct fbp_reference *r, enum fbp_filter filter, double cutoff,
                    fbp_status status, const char *says)
{
    struct fbp_filter_design d;

    fbp_message_clear();
    assert_fails(fbp_deconvolution_design(
                     &d, &(struct fbp_spectral_filter){filter, cutoff, *r, {0}}, N, 0, 1),
                 status, says);
    assert_null(d.kernel);
}

TEST(nonsense_is_refused)
{
    const double zeros[5] = {0}, broken[3] = {1, NAN, 2};
    struct fbp_reference r = a_line(6, 50, 0);
    const struct fbp_reference nothing = {.h = zeros, .n = 5}, no_number = {.h = broken, .n = 3};

    refused(&nothing, FBP_FILTER_HANN, 1, FBP_ERR_INVALID, "0 everywhere");
    refused(&no_number, FBP_FILTER_HANN, 1, FBP_ERR_INVALID, "sample 1 of the reference");
    refused(&r, FBP_FILTER_HANN, 0, FBP_ERR_INVALID, "cutoff");
    refused(&r, FBP_FILTER_TWO_RAMPS, .1, FBP_ERR_UNSUPPORTED, "two-ramps");
    /* exp(-2 pi^2 36 f^2) times 2 pi f: 1e-5 of its greatest value is left at f = .14 */
    refused(&r, FBP_FILTER_HANN, 1, FBP_ERR_INVALID, "is nearly 0 at 0.27");
    r.wiener = 1e-4;
    struct fbp_filter_design d = make(&r, FBP_FILTER_HANN, 1, N, 1);
    fbp_filter_design_clear(&d);
    r.wiener = -1;
    refused(&r, FBP_FILTER_HANN, .1, FBP_ERR_INVALID, "Wiener");
}

TEST_MAIN(NULL, NULL)
