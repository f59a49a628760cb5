/* Checks that the transforms of src/fft equal direct sums, for every kind of length. */
#include "fft/fft.h"
#include "fft/lanes.h"

#include "base/base.h"
#include "base/math.h"
#include "base/system.h"
#include "recon/fixture.h"

#include <complex.h>

static double random_number(void)
{
    return 2 * (double)rand() / RAND_MAX - 1;
}

static void *room(size_t bytes)
{
    void *p;

    OK(fbp_alloc(&p, bytes + 1, "a row"));
    return p;
}

/* X(k) = sum_j x(j) exp(sign 2 pi i j k / n). */
static double complex sum_of(const double complex *x, size_t n, size_t k, int sign)
{
    long double re = 0, im = 0;

    for (size_t j = 0; j < n; j++) {
        const long double angle = 2 * acosl(-1) * (long double)(j * k % n) / (long double)n;
        const long double c = cosl(angle), s = sign * sinl(angle);
        re += creal(x[j]) * c - cimag(x[j]) * s;
        im += creal(x[j]) * s + cimag(x[j]) * c;
    }
    return (double)re + I * (double)im;
}

/* Of numbers below 1: errors grow as log n, sums as sqrt n. */
static double tolerance(size_t n)
{
    return 4e-16 * (2 + log2((double)n)) * (2 + sqrt((double)n));
}

/* All frequencies of short rows, some of long ones. */
static size_t step_of(size_t n)
{
    return n < 200 ? 1 : n / 29;
}

static void complex_rows(size_t n)
{
    double complex *x = room(n * sizeof *x), *row = room(n * sizeof *row);
    double *work = room(fbp_fft_work(n) * sizeof *work);
    struct fbp_fft *fft;

    for (size_t i = 0; i < n; i++)
        row[i] = x[i] = random_number() + I * random_number();
    OK(fbp_fft_open_complex(&fft, n));
    fbp_fft_complex(fft, row, work);
    for (size_t k = 0; k < n; k += step_of(n)) {
        const double error = cabs(row[k] - sum_of(x, n, k, -1));
        if (!(error < tolerance(n)))
            fail_msg("%zu points, frequency %zu: error %.1e", n, k, error);
    }
    fbp_fft_close(&fft);
    fbp_free(x);
    fbp_free(row);
    fbp_free(work);
}

static void real_rows(size_t n)
{
    double complex *x = room(n * sizeof *x), *spectrum = room((n / 2 + 1) * sizeof *spectrum);
    double *row = room(n * sizeof *row), *work = room(fbp_fft_work(n) * sizeof *work);
    struct fbp_fft *fft;

    for (size_t i = 0; i < n; i++)
        x[i] = row[i] = random_number();
    OK(fbp_fft_open_real(&fft, n));
    fbp_fft_real(fft, row, spectrum, work);
    for (size_t k = 0; k <= n / 2; k += step_of(n)) {
        const double error = cabs(spectrum[k] - sum_of(x, n, k, -1));
        if (!(error < tolerance(n)))
            fail_msg("%zu reals, frequency %zu: error %.1e", n, k, error);
    }
    fbp_fft_real_back(fft, spectrum, row, work);
    for (size_t i = 0; i < n; i++) {
        const double error = fabs(row[i] / (double)n - creal(x[i]));
        if (!(error < tolerance(n)))
            fail_msg("%zu reals and back, %zu: error %.1e", n, i, error);
    }
    fbp_fft_close(&fft);
    fbp_free(x);
    fbp_free(spectrum);
    fbp_free(row);
    fbp_free(work);
}

static void even_rows(size_t n)
{
    const size_t period = 2 * (n - 1);
    double complex *x = room(period * sizeof *x);
    double *values = room(n * sizeof *values);

    for (size_t i = 0; i < n; i++)
        x[i] = x[(period - i) % period] = values[i] = random_number();
    OK(fbp_fft_even(values, n));
    for (size_t k = 0; k < n; k += step_of(n)) {
        const double error = fabs(values[k] - creal(sum_of(x, period, k, -1)));
        if (!(error < 2 * tolerance(period)))
            fail_msg("%zu of an even row, %zu: error %.1e", n, k, error);
    }
    fbp_free(x);
    fbp_free(values);
}

static const size_t lengths[] = {125, 127,  128,  243,  360,  486,  500,  625,  720,   729,
                                 997, 1000, 1022, 1024, 1250, 2048, 2187, 2500, 10006, 16384};

TEST(transforms_are_sums)
{
    srand(1);
    for (size_t n = 1; n <= 70; n++) {
        complex_rows(n);
        real_rows(n);
        even_rows(n + 1);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        complex_rows(lengths[i]);
        real_rows(lengths[i]);
        even_rows(lengths[i] + 1);
    }
}

TEST(lengths_are_even_and_smooth)
{
    for (size_t n = 1; n < 5000; n++) {
        const size_t length = fbp_fft_length(n);
        size_t rest = length;
        assert_true(length >= n && length % 2 == 0 && (length == n || length < 2 * n + 2));
        for (size_t p = 2; p <= 5; p++)
            while (rest % p == 0)
                rest /= p;
        assert_int_equal(rest, 1);
        assert_int_equal(fbp_fft_length(length), length);
    }
}

static double value(const float *row, size_t n, ptrdiff_t i)
{
    return i < 0 || (size_t)i >= n ? 0 : (double)row[i];
}

/* Random rows of n/2 samples through shifts, in all lanes. */
static void lanes_shift(const struct fbp_lanes *lanes, size_t n, size_t by, bool has_phase)
{
    const size_t half = n / 2, L = lanes->lanes;
    double *response = room((half + 1) * sizeof(double));
    double *imaginary = room((half + 1) * sizeof(double));
    float *x = room(2 * L * n * sizeof *x), *rows = room(4 * L * half * sizeof *rows);
    const float *a[16], *b[16];
    float *to_a[16], *to_b[16], one[16], two[16];
    struct fbp_lanes_plan plan;

    for (size_t i = 0; i < 2 * L * half; i++)
        rows[i] = (float)random_number();
    for (size_t l = 0; l < L; l++) {
        a[l] = rows + l * half;
        b[l] = rows + (L + l) * half;
        to_a[l] = rows + (2 * L + l) * half;
        to_b[l] = rows + (3 * L + l) * half;
        one[l] = 1;
        two[l] = 2;
    }
    /* Factors of the frequencies that move rows by `by` samples; real: both ways at once. */
    for (size_t k = 0; k <= n / 2; k++) {
        const double angle = 2 * FBP_PI * (double)(k * by % n) / (double)n;
        response[k] = cos(angle) / (double)n;
        imaginary[k] = -sin(angle) / (double)n;
    }
    OK(fbp_lanes_plan_open(&plan, n, response, has_phase ? imaginary : NULL));
    memset(x, 0xff, 2 * L * n * sizeof *x); /* what is behind rows must not matter: NaN */
    lanes->gather(a, b, one, two, half, x);
    lanes->filter(&plan, x);
    lanes->scatter(x, two, one, half, to_a, to_b);
    for (size_t l = 0; l < 2 * L; l++)
        for (size_t i = 0; i < half; i++) {
            const float *row = rows + l * half;
            const ptrdiff_t at = (ptrdiff_t)i - (ptrdiff_t)by, other = (ptrdiff_t)(i + by);
            const double wanted = has_phase ? 2 * value(row, half, at)
                                            : value(row, half, at) + value(row, half, other);
            const double error = fabs((double)rows[(2 * L + l) * half + i] - wanted);
            if (!(error < 3e-6))
                fail_msg("%zu lanes, %zu points, by %zu: sample %zu of row %zu is off by %.1e", L,
                         n, by, i, l, error);
        }
    fbp_lanes_plan_close(&plan);
    fbp_free(response);
    fbp_free(imaginary);
    fbp_free(x);
    fbp_free(rows);
}

TEST(rows_move_in_all_lanes)
{
    const unsigned flags = fbp_cpu_flags();
    const struct fbp_lanes *all[3] = {&fbp_lanes_c};
    size_t n_all = 1;

#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX2)
        all[n_all++] = &fbp_lanes_avx2;
    if (flags & FBP_CPU_AVX512)
        all[n_all++] = &fbp_lanes_avx512;
#else
    (void)flags;
#endif
    srand(2);
    for (size_t v = 0; v < n_all; v++)
        for (size_t n = 2; n < 20000; n = fbp_fft_length(n < 400 ? n + 1 : n + n / 3)) {
            lanes_shift(all[v], n, n / 4, true);
            lanes_shift(all[v], n, n / 8 + 1, false);
        }
}

TEST_MAIN(NULL, NULL)
