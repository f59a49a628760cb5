#include "filter/parabola.h"

#include "base/mem.h"
#include "base/vec.h"
#include "fft/fft.h"

#include <string.h>

/* Differences as taps 0 … 4 of an even kernel, times 4 pi^2. */
enum { N_TAPS = 5 };

static const double *taps_of(enum fbp_filter filter)
{
    static const double second[N_TAPS] = {2, -1};
    static const double by_3[N_TAPS] = {.5, 0, -.25}; /* autocorrelation of (-1, 0, 1) / 2 */
    static const double by_5[N_TAPS] = {130. / 144, -16. / 144, -64. / 144, 16. / 144, -1. / 144};

    return filter == FBP_FILTER_SECOND_DIFFERENCE    ? second
           : filter == FBP_FILTER_3_POINT_DERIVATIVE ? by_3
           : filter == FBP_FILTER_5_POINT_DERIVATIVE ? by_5
                                                     : NULL;
}

/* sin(pi x) and cos(pi x), without a rounding of pi x that grows with x. */
static double sin_pi(double x)
{
    const double r = remainder(x, 2);

    return fabs(r) == 1 ? 0 : sin(FBP_PI * r);
}

static double cos_pi(double x)
{
    return sin_pi(remainder(x, 2) + .5);
}

/* Integral of v^k (-1)^i (a v)^j / j! over [0, 1/2], summed over i; j = 2 i + odd: what is left of
 * sums whose terms cancel where a is small. */
static double series(double a, int k, int odd)
{
    double term = odd ? a : 1, half = ldexp(1, -(k + odd + 1)), sum = 0;

    for (int j = odd; j < 40; j += 2) {
        sum += term * half / (j + k + 1);
        term *= -a * a / ((j + 1) * (j + 2));
        half /= 4;
    }
    return sum;
}

/* Integral of f^2 cos(2 pi x f) over |f| <= 1/2. */
static double whole(double x)
{
    const double a = FBP_PI * x;

    if (fabs(x) < .75)
        return 2 * series(2 * a, 2, 0);
    return (sin_pi(x) + (2 * cos_pi(x) - 2 * sin_pi(x) / a) / a) / (4 * a);
}

/* Integral of v sin(pi y v) over [0, 1/2]. */
static double sine_half(double y)
{
    const double a = FBP_PI * y;

    if (fabs(y) < 1)
        return series(a, 1, 1);
    return (sin_pi(y / 2) / a - cos_pi(y / 2) / 2) / a;
}

/* Integral of cos(2 pi x f) over |f| <= cutoff / 2. */
static double band(double cutoff, double x)
{
    return x == 0 ? cutoff : sin_pi(cutoff * x) / (FBP_PI * x);
}

/* Up to the cut-off at 1/2. */
static double windowed(enum fbp_filter filter, double x)
{
    switch (filter) {
    case FBP_FILTER_RAM_LAK:
        return whole(x);
    case FBP_FILTER_SHEPP_LOGAN: /* f^2 sinc(f) = f sin(pi f) / pi */
        return (sine_half(1 + 2 * x) + sine_half(1 - 2 * x)) / FBP_PI;
    case FBP_FILTER_COSINE:
        return (whole(x + .5) + whole(x - .5)) / 2;
    case FBP_FILTER_HAMMING:
        return .54 * whole(x) + .23 * (whole(x + 1) + whole(x - 1));
    case FBP_FILTER_HANN:
        return .5 * whole(x) + .25 * (whole(x + 1) + whole(x - 1));
    default: /* a difference, or ramps */
        return 0;
    }
}

double fbp_parabola_kernel(enum fbp_filter filter, double cutoff, double x)
{
    const double *taps = taps_of(filter);
    double sum = 0;

    if (!taps)
        return cutoff * cutoff * cutoff * windowed(filter, cutoff * x);
    for (int i = 1 - N_TAPS; i < N_TAPS; i++)
        sum += taps[abs(i)] * band(cutoff, x - i);
    return sum / (4 * FBP_PI * FBP_PI);
}

double fbp_parabola_response(enum fbp_filter filter, double cutoff, double f)
{
    const double *taps = taps_of(filter);
    double sum = 0;

    if (!taps)
        return f * f *
               (fbp_filter_is_window(filter) ? fbp_filter_window(filter, 2 * f / cutoff) : 1);
    for (int i = 1; i < N_TAPS; i++) {
        const double s = sin_pi(i * f); /* the taps' sum is 0: nothing cancels */
        sum -= 4 * taps[i] * s * s;
    }
    return sum / (4 * FBP_PI * FBP_PI);
}

/* even[n] = the kernel at 0, 1/oversampling, … */
static void sample(enum fbp_filter filter, double cutoff, size_t oversampling, size_t n,
                   double *even)
{
    for (size_t i = 0; i < n; i++)
        even[i] = fbp_parabola_kernel(filter, cutoff, (double)i / (double)oversampling);
}

/*
 * The same of two ramps, one behind the other, on a row with zeros to three times its length: one
 * sampled ramp's response squared on that circle, cut off, and transformed back.  Samples between
 * are zeros in the upper half of the spectrum.
 */
static fbp_status two_ramps(double cutoff, size_t n_columns, size_t oversampling, size_t n,
                            double *even)
{
    const size_t measured = (n_columns + oversampling - 1) / oversampling;
    const size_t circle = fbp_fft_length(3 * measured), last = circle / 2;
    const size_t room = oversampling * last + 1;
    double *ramp = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&ramp, room, sizeof *ramp, "the filter"));
    for (size_t i = 0; i <= last; i++)
        ramp[i] = fbp_ramp_kernel(i);
    FBP_TRY_GOTO(fbp_fft_even(ramp, last + 1));
    for (size_t i = 0; i <= last; i++)
        ramp[i] *= (double)i <= cutoff * (double)last ? ramp[i] / (double)circle : 0;
    if (oversampling > 1)
        ramp[last] /= 2; /* it is there twice now, at either side */
    FBP_TRY_GOTO(fbp_fft_even(ramp, room));
    for (size_t i = 0; i < n; i++)
        even[i] = i < n_columns ? ramp[i] : 0; /* more is never between two samples of a row */
fail:
    free(ramp);
    return st;
}

static fbp_status design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                         size_t oversampling, double *even)
{
    const size_t n = out->n_fft / 2 + 1;

    if (filter == FBP_FILTER_TWO_RAMPS)
        FBP_TRY(two_ramps(cutoff, out->n_columns, oversampling, n, even));
    else
        sample(filter, cutoff, oversampling, n, even);
    memcpy(out->kernel, even, (out->half_width + 1) * sizeof *even);
    FBP_TRY(fbp_fft_even(even, n));
    for (size_t i = 0; i < n; i++)
        out->response[i] = even[i] / (double)out->n_fft;
    return FBP_OK;
}

/* A row that is cut off between two filters is no convolution with one kernel. */
static fbp_status unpadded(struct fbp_filter_design *out, double cutoff, size_t n_columns,
                           size_t half_width, size_t oversampling)
{
    if (oversampling > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "filter: %s has no samples between those of a row: use two-ramps",
                        fbp_filter_name(FBP_FILTER_TWO_RAMPS_UNPADDED));
    FBP_TRY(fbp_filter_design(out, FBP_FILTER_RAM_LAK, cutoff, n_columns, half_width));
    out->passes = 2;
    return FBP_OK;
}

fbp_status fbp_parabola_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                               size_t n_columns, size_t half_width, size_t oversampling)
{
    double *even = NULL;
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(fbp_filter_check(filter, cutoff, n_columns));
    if (filter == FBP_FILTER_TWO_RAMPS_UNPADDED)
        return unpadded(out, cutoff, n_columns, half_width, oversampling);
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, false));
    FBP_TRY_GOTO(fbp_calloc((void **)&even, out->n_fft / 2 + 1, sizeof *even, "the filter"));
    FBP_TRY_GOTO(design(out, filter, cutoff, oversampling, even));
    free(even);
    return FBP_OK;
fail:
    free(even);
    fbp_filter_design_clear(out);
    return st;
}
