/* Filters of plane integrals: f^2 in place of the ramp, deconvolution of the line shape, splines.
 */
#include "filter/parabola.h"

#include "fft/fft.h"
#include "filter/filter.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
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

enum { A_WHILE = 8 }; /* frequencies, between two looks whether to go on */

/* Where h^ has less than this of its greatest value, beyond the frequency of that, nothing but
 * noise is left to be divided by. */
static const double LEAST = 1e-5;

fbp_status fbp_band_alloc(struct fbp_band *b, size_t n)
{
    const size_t room = n ? n : 1;

    b->n = n;
    FBP_TRY(fbp_calloc((void **)&b->f, room, sizeof *b->f, "the filter"));
    FBP_TRY(fbp_calloc((void **)&b->w, room, sizeof *b->w, "the filter"));
    return fbp_calloc((void **)&b->h, room, sizeof *b->h, "the filter");
}

void fbp_band_clear(struct fbp_band *b)
{
    free(b->f);
    free(b->w);
    free(b->h);
    *b = (struct fbp_band){0};
}

/* The factor at f, in cycles a sample. */
static double factor_at(const struct fbp_response *r, double f)
{
    const double *at = r->table, x = 2 * f;
    size_t i = 0;

    if (r->n == 0)
        return 1;
    while (i < r->n && at[2 * i] < x)
        i++;
    if (i == 0 || i == r->n)
        return at[i == 0 ? 1 : 2 * i - 1];
    at += 2 * i;
    return at[-1] + (x - at[-2]) / (at[0] - at[-2]) * (at[1] - at[-1]);
}

/* Sum of h[m] exp(-2 pi i f (m - centre)); 1 where there is none. */
static double complex spectrum_at(const struct fbp_reference *r, double f)
{
    const double complex step = cexp(-2 * FBP_PI * I * f);
    double complex sum = r->n ? 0 : 1, turn = 1;

    for (size_t m = 0; m < r->n; m++) {
        if (m % 64 == 0) /* afresh, so that roundings do not add up */
            turn = cexp(-2 * FBP_PI * I * fmod(f * ((double)m - r->centre), 1));
        sum += r->h[m] * turn;
        turn *= step;
    }
    return sum;
}

/* From h^ to R / h^, times the weights of both halves of the band. */
static fbp_status divide(struct fbp_band *b, const struct fbp_spectral_filter *s)
{
    const struct fbp_reference *r = &s->reference;
    double most = 0;
    size_t top = 0;

    for (size_t i = 0; i < b->n; i++)
        if (cabs(b->h[i]) > most) {
            most = cabs(b->h[i]);
            top = i;
        }
    for (size_t i = 0; i < b->n; i++) {
        const double size = cabs(b->h[i]), factor = factor_at(&s->response, b->f[i]);
        const double response = factor * fbp_parabola_response(s->filter, s->cutoff, b->f[i]);
        if (!(r->wiener > 0) && i > top && !(size > LEAST * most))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: the reference spectrum has nothing left above %.3g of the "
                            "Nyquist frequency: lower the cut-off to that, or give Wiener's term",
                            2 * b->f[i]);
        const double power = size * size + r->wiener * most * most;
        b->h[i] = power > 0 ? 2 * b->w[i] * response * conj(b->h[i]) / power : 0;
    }
    return FBP_OK;
}

fbp_status fbp_band_divide(struct fbp_band *b, const struct fbp_spectral_filter *s)
{
    for (size_t i = 0; i < b->n; i++) {
        if (i % A_WHILE == 0)
            FBP_TRY(fbp_go_on());
        b->h[i] = spectrum_at(&s->reference, b->f[i]);
    }
    return divide(b, s);
}

static fbp_status check_reference(const struct fbp_reference *r)
{
    bool any = r->n == 0;

    if (!(r->wiener >= 0 && isfinite(r->wiener)) || !isfinite(r->centre))
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: Wiener's term %g, middle of the reference spectrum %g: the term "
                        "must be 0 or more, and both finite",
                        r->wiener, r->centre);
    for (size_t m = 0; m < r->n; m++) {
        if (!isfinite(r->h[m]))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: sample %zu of the reference spectrum is no finite number", m);
        any = any || r->h[m] != 0;
    }
    if (!any)
        return fbp_fail(FBP_ERR_INVALID, "filter: the reference spectrum is 0 everywhere");
    return FBP_OK;
}

fbp_status fbp_response_check(const struct fbp_response *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const double at = r->table[2 * i], factor = r->table[2 * i + 1];
        if (!(at >= 0 && at <= 1) || (i > 0 && !(at > r->table[2 * i - 2])))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: row %zu of the response begins with %g: fractions of the "
                            "Nyquist frequency, from 0 to 1, have to grow from row to row",
                            i, at);
        if (!isfinite(factor))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: the factor in row %zu of the response is no finite number", i);
    }
    return FBP_OK;
}

fbp_status fbp_spectral_check(const struct fbp_spectral_filter *s, size_t n_columns)
{
    const char *what = s->reference.n  ? "deconvolution"
                       : s->response.n ? "response that could be multiplied"
                                       : "periodic form";

    FBP_TRY(fbp_filter_check(s->filter, s->cutoff, n_columns));
    if (s->filter == FBP_FILTER_TWO_RAMPS || s->filter == FBP_FILTER_TWO_RAMPS_UNPADDED)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "filter: %s has no %s: use ram-lak, a window or a difference",
                        fbp_filter_name(s->filter), what);
    FBP_TRY(check_reference(&s->reference));
    return fbp_response_check(&s->response);
}

/* Points of Gauss and Legendre in a part of the band, for frequencies above 0. */
enum { N_GAUSS = 8 };
static const double at_gauss[N_GAUSS] = {
    -.96028985649753623168, -.79666647741362673959, -.52553240991632898582, -.18343464249564980494,
    .18343464249564980494,  .52553240991632898582,  .79666647741362673959,  .96028985649753623168};
static const double gauss[N_GAUSS] = {
    .10122853629037625915, .22238103445337447054, .31370664587788728734, .36268378337836198297,
    .36268378337836198297, .31370664587788728734, .22238103445337447054, .10122853629037625915};

/* Parts of the band between two frequencies, so short that the longest kernel and spectrum turn by
 * less than a third in each. */
static size_t parts_of(const struct fbp_reference *r, double longest, double from, double to)
{
    const double turns = (to - from) * (longest + (double)r->n + fabs(r->centre));

    return to > from ? (size_t)ceil(3 * turns) + 4 : 0;
}

static void put_parts(double from, double to, size_t parts, struct fbp_band *b)
{
    const double width = (to - from) / (double)parts;

    for (size_t i = 0; i < parts * N_GAUSS; i++, b->n++) {
        const size_t part = i / N_GAUSS;
        const double middle = (double)part + .5;
        b->f[b->n] = from + width * (middle + at_gauss[i % N_GAUSS] / 2);
        b->w[b->n] = width * gauss[i % N_GAUSS] / 2;
    }
}

/* Where piece i of the band ends: the response has a corner there. */
static double end_of(const struct fbp_spectral_filter *s, size_t i)
{
    const struct fbp_response *r = &s->response;

    return (i < r->n ? fmin(s->cutoff, r->table[2 * i]) : s->cutoff) / 2;
}

static fbp_status make_band(const struct fbp_spectral_filter *s, double longest, struct fbp_band *b)
{
    double from = 0;
    size_t n = 0;

    for (size_t i = 0; i <= s->response.n; from = end_of(s, i++))
        n += parts_of(&s->reference, longest, from, end_of(s, i));
    FBP_TRY(fbp_band_alloc(b, n * N_GAUSS));
    b->n = 0;
    from = 0;
    for (size_t i = 0; i <= s->response.n; from = end_of(s, i++)) {
        const double to = end_of(s, i);
        put_parts(from, to, parts_of(&s->reference, longest, from, to), b);
    }
    return fbp_band_divide(b, s);
}

/* kernel[+-n]: sum of h exp(+-2 pi i f x), x = n / oversampling, of which the real part is left. */
static void kernel_at(const struct fbp_band *b, double x, double *ahead, double *behind)
{
    double even = 0, odd = 0;

    for (size_t i = 0; i < b->n; i++) {
        const double a = 2 * FBP_PI * fmod(b->f[i] * x, 1);
        even += creal(b->h[i]) * cos(a);
        odd += cimag(b->h[i]) * sin(a);
    }
    *ahead = even - odd;
    *behind = even + odd;
}

/* The kernel of the design from the band. */
static fbp_status fill(struct fbp_filter_design *d, const struct fbp_band *b, size_t oversampling)
{
    double *ahead = NULL, *behind = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, d->n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, d->n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < d->n_columns; n++) {
        FBP_TRY_GOTO(fbp_go_on());
        kernel_at(b, (double)n / (double)oversampling, &ahead[n], &behind[n]);
    }
    st = fbp_filter_from_kernel(d, ahead, d->kernel_back ? behind : NULL);
fail:
    free(ahead);
    free(behind);
    return st;
}

fbp_status fbp_deconvolution_design(struct fbp_filter_design *out,
                                    const struct fbp_spectral_filter *s, size_t n_columns,
                                    size_t half_width, size_t oversampling)
{
    struct fbp_band band = {0};
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(fbp_spectral_check(s, n_columns));
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, s->reference.n > 0));
    FBP_TRY_GOTO(make_band(s, (double)n_columns / (double)oversampling, &band));
    FBP_TRY_GOTO(fill(out, &band, oversampling));
fail:
    fbp_band_clear(&band);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

static double tap(const struct fbp_filter_design *d, ptrdiff_t n)
{
    return n < 0 && d->kernel_back ? d->kernel_back[-n] : d->kernel[n < 0 ? -n : n];
}

/* The kernel at n, convolved with that of the coefficients. */
static double coefficient(const struct fbp_filter_design *d, ptrdiff_t n)
{
    const double z = sqrt(3) - 2;
    double sum = tap(d, n), power = 1;

    for (ptrdiff_t m = 1; m <= FBP_SPLINE_REACH; m++) {
        power *= z;
        sum += power * (tap(d, n - m) + tap(d, n + m));
    }
    return sqrt(3) * sum;
}

static fbp_status merge(const struct fbp_filter_design *from, struct fbp_filter_design *to)
{
    const bool asymmetric = from->kernel_back != NULL;
    double *ahead = NULL, *behind = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_filter_design_alloc(to, asymmetric));
    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, to->n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, to->n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < to->n_columns; n++) {
        ahead[n] = coefficient(from, (ptrdiff_t)n);
        behind[n] = coefficient(from, -(ptrdiff_t)n);
    }
    st = fbp_filter_from_kernel(to, ahead, asymmetric ? behind : NULL);
fail:
    free(ahead);
    free(behind);
    return st;
}

fbp_status fbp_filter_spline(struct fbp_filter_design *d, size_t n_columns, size_t half_width)
{
    struct fbp_filter_design to = {.n_columns = n_columns, .half_width = half_width};
    fbp_status st;

    if (d->passes > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "filter: %s has no cubic interpolation: use two-ramps",
                        fbp_filter_name(FBP_FILTER_TWO_RAMPS_UNPADDED));
    st = merge(d, &to);
    fbp_filter_design_clear(st == FBP_OK ? d : &to);
    if (st == FBP_OK)
        *d = to;
    return st;
}
