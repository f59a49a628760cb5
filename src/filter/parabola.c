/* Design of filters of plane integrals (EPR): f^2 in place of the ramp (fbp_parabola_design();
 * Natterer 1986), deconvolution of the line shape (fbp_deconvolution_design()), filters of
 * periodic rows (fbp_periodic_design()), cubic splines (fbp_filter_spline(); Unser 1993).
 * Used by: backend/cpu/convolve.c, pipeline/job.c. */
#include "filter/parabola.h"

#include "fft/fft.h"

#include "base/math.h"
#include "base/threads.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* Kernels that approximate minus the second derivative by differences of samples: values at 0 … 4
 * (the kernels are even).  Divided by 4 pi^2, they are filters whose response approximates f^2. */
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

/* Compute sin(pi x); cos_pi(): cos(pi x).  The rounding error does not increase with x. */
static double sin_pi(double x)
{
    const double r = remainder(x, 2);

    return fabs(r) == 1 ? 0 : sin(FBP_PI * r);
}

static double cos_pi(double x)
{
    return sin_pi(remainder(x, 2) + .5);
}

/* Compute the integral of v^k cos(a v), or of v^k sin(a v) if odd is 1, over [0, 1/2] by a power
 * series, for small a: there, the terms of the closed form cancel. */
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

/* Compute the integral of f^2 cos(2 pi x f) over |f| <= 1/2. */
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

double fbp_parabola_kernel(enum fbp_filter filter, double cutoff, double x)
{
    const struct fbp_window_term *terms = fbp_filter_terms(filter);
    const double *taps = taps_of(filter), cube = cutoff * cutoff * cutoff, y = cutoff * x;
    double sum = 0;

    for (int i = 1 - N_TAPS; taps && i < N_TAPS; i++) {
        /* tap i, times the integral of cos(2 pi d f) over |f| <= cutoff / 2 */
        const double d = x - i;
        sum += taps[abs(i)] * (d == 0 ? cutoff : sin_pi(cutoff * d) / (FBP_PI * d));
    }
    if (taps)
        return sum / (4 * FBP_PI * FBP_PI);
    if (filter == FBP_FILTER_SHEPP_LOGAN) /* f^2 sinc(f) = f sin(pi f) / pi */
        return cube * ((sine_half(1 + 2 * y) + sine_half(1 - 2 * y)) / FBP_PI);
    /* kernel of f^2 times a cosine: mean of two kernels of f^2, shifted by +shift and -shift */
    for (size_t i = 0; terms && i < FBP_WINDOW_TERMS; i++) {
        const double shift = terms[i].frequency;
        if (shift > 0)
            sum += terms[i].amplitude / 2 * (whole(y + shift) + whole(y - shift));
        else
            sum += terms[i].amplitude * whole(y);
    }
    return cube * sum;
}

double fbp_parabola_response(enum fbp_filter filter, double cutoff, double f)
{
    const double *taps = taps_of(filter);
    double sum = 0;

    if (!taps)
        return f * f *
               (fbp_filter_is_window(filter) ? fbp_filter_window(filter, 2 * f / cutoff) : 1);
    for (int i = 1; i < N_TAPS; i++) {
        const double s = sin_pi(i * f); /* because the taps add up to 0, the response is a sum of
                                           squared sines, in which nothing cancels */
        sum -= 4 * taps[i] * s * s;
    }
    return sum / (4 * FBP_PI * FBP_PI);
}

/*
 * even[n]: the kernel of the filter "two-ramps" for rows with zeros to three times their length:
 * the response of one sampled ramp on this circle, squared, set to 0 above the cutoff, and
 * transformed back. With oversampling 2, the upper half of the spectrum is 0.
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
    /* in the extended spectrum, the ramp's last frequency occurs as f and as -f: half of its value
     * for each */
    if (oversampling > 1)
        ramp[last] /= 2;
    FBP_TRY_GOTO(fbp_fft_even(ramp, room));
    for (size_t i = 0; i < n; i++)
        /* 0 from n_columns on: two samples of a row are never that far apart */
        even[i] = i < n_columns ? ramp[i] : 0;
fail:
    free(ramp);
    return st;
}

fbp_status fbp_parabola_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                               size_t n_columns, size_t half_width, size_t oversampling)
{
    double *even = NULL;
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(fbp_filter_check(filter, cutoff, n_columns));
    if (filter == FBP_FILTER_TWO_RAMPS_UNPADDED) { /* two passes: no single kernel */
        if (oversampling > 1)
            return FBP_UNSUPPORTED("filter: %s cannot oversample rows; use two-ramps",
                                   fbp_filter_name(filter));
        FBP_TRY(fbp_filter_design(out, FBP_FILTER_RAM_LAK, cutoff, n_columns, half_width));
        out->passes = 2;
        return FBP_OK;
    }
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, false));
    const size_t n = out->n_fft / 2 + 1;
    FBP_TRY_GOTO(fbp_calloc((void **)&even, n, sizeof *even, "the filter"));
    if (filter == FBP_FILTER_TWO_RAMPS)
        FBP_TRY_GOTO(two_ramps(cutoff, n_columns, oversampling, n, even));
    else
        for (size_t i = 0; i < n; i++)
            even[i] = fbp_parabola_kernel(filter, cutoff, (double)i / (double)oversampling);
    memcpy(out->kernel, even, (out->half_width + 1) * sizeof *even);
    FBP_TRY_GOTO(fbp_fft_even(even, n));
    for (size_t i = 0; i < n; i++)
        out->response[i] = even[i] / (double)out->n_fft;
fail:
    free(even);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

/* A point of the numerical integral over frequencies: frequency f [cycles per sample], weight w; h:
 * spectrum h^(f) of the reference, which divide() replaces by weight times filter response. */
struct point {
    double f, w;
    double complex h;
};

struct band {
    size_t n;
    struct point *at; /* [n] */
};

/* Number of frequencies after which the design checks whether the run is cancelled. */
enum { A_WHILE = 8 };

/* Without a Wiener term: least accepted |h^(f)| / max |h^|, at frequencies f above that of the
 * maximum, of the transform h^ of the reference spectrum.  Smaller values are noise, and the design
 * fails. */
static const double LEAST = 1e-5;

/* Compute the factor of a table of factors (struct fbp_response) at frequency f [cycles per
 * sample]; 1 without a table. */
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

/* Compute the Fourier transform h^(f) of the reference spectrum: the sum of h[m] exp(-2 pi i f (m -
 * centre)); 1 without a reference. */
static double complex spectrum_at(const struct fbp_reference *r, double f)
{
    const double complex step = cexp(-2 * FBP_PI * I * f);
    double complex sum = r->n ? 0 : 1, turn = 1;

    for (size_t m = 0; m < r->n; m++) {
        if (m % 64 == 0) /* recomputed from time to time, because rounding errors add up */
            turn = cexp(-2 * FBP_PI * I * fmod(f * ((double)m - r->centre), 1));
        sum += r->h[m] * turn;
        turn *= step;
    }
    return sum;
}

/* Replace h^ of each point by the filter's factor R / h^ (or its Wiener form), times twice the
 * point's weight, for f and for -f.  R: response without deconvolution. */
static fbp_status divide(struct band *b, const struct fbp_spectral_filter *s)
{
    const struct fbp_reference *r = &s->reference;
    double most = 0;
    size_t top = 0;

    for (size_t i = 0; i < b->n; i++) {
        struct point *p = &b->at[i];
        if (i % A_WHILE == 0)
            FBP_TRY(fbp_check_cancelled());
        p->h = spectrum_at(r, p->f);
        if (cabs(p->h) > most) {
            most = cabs(p->h);
            top = i;
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        struct point *p = &b->at[i];
        const double size = cabs(p->h), factor = factor_at(&s->response, p->f);
        const double response = factor * fbp_parabola_response(s->filter, s->cutoff, p->f);
        if (!(r->wiener > 0) && i > top && !(size > LEAST * most))
            return FBP_INVALID(
                "filter: the transform of the reference spectrum is nearly 0 at %.3g of the "
                "Nyquist frequency; lower the cut-off below this value, or give a Wiener term "
                "(--wiener)",
                2 * p->f);
        const double power = size * size + r->wiener * most * most;
        p->h = power > 0 ? 2 * p->w * response * conj(p->h) / power : 0;
    }
    return FBP_OK;
}

fbp_status fbp_response_check(const struct fbp_response *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const double at = r->table[2 * i], factor = r->table[2 * i + 1];
        if (!(at >= 0 && at <= 1) || (i > 0 && !(at > r->table[2 * i - 2])))
            return FBP_INVALID(
                "filter: row %zu of the response begins with %g, but the fractions of the Nyquist "
                "frequency, from 0 to 1, must increase from row to row; sort the rows",
                i, at);
        if (!isfinite(factor))
            return FBP_INVALID(
                "filter: the factor in row %zu of the response is not a finite number; correct it",
                i);
    }
    return FBP_OK;
}

static fbp_status check(const struct fbp_spectral_filter *s, size_t n_columns)
{
    const struct fbp_reference *r = &s->reference;
    bool any = r->n == 0;

    FBP_TRY(fbp_filter_check(s->filter, s->cutoff, n_columns));
    if (s->filter == FBP_FILTER_TWO_RAMPS || s->filter == FBP_FILTER_TWO_RAMPS_UNPADDED)
        return FBP_UNSUPPORTED("filter: %s has no %s; use ram-lak, a window or a difference filter",
                               fbp_filter_name(s->filter),
                               r->n            ? "deconvolution"
                               : s->response.n ? "frequency response that could be multiplied"
                                               : "periodic form");
    if (!(r->wiener >= 0 && isfinite(r->wiener)) || !isfinite(r->centre))
        return FBP_INVALID(
            "filter: found Wiener term %g and reference spectrum centre %g; both must "
            "be finite, and the term at least 0",
            r->wiener, r->centre);
    for (size_t m = 0; m < r->n; m++) {
        if (!isfinite(r->h[m]))
            return FBP_INVALID(
                "filter: sample %zu of the reference spectrum is not a finite number; correct it",
                m);
        any = any || r->h[m] != 0;
    }
    if (!any)
        return FBP_INVALID(
            "filter: the reference spectrum is 0 everywhere; check that it is the right file");
    return fbp_response_check(&s->response);
}

/* Number of points of the Gauss-Legendre rule in each interval of integration_band(). */
enum { N_GAUSS = 8 };
static const double at_gauss[N_GAUSS] = {
    -.96028985649753623168, -.79666647741362673959, -.52553240991632898582, -.18343464249564980494,
    .18343464249564980494,  .52553240991632898582,  .79666647741362673959,  .96028985649753623168};
static const double gauss[N_GAUSS] = {
    .10122853629037625915, .22238103445337447054, .31370664587788728734, .36268378337836198297,
    .36268378337836198297, .31370664587788728734, .22238103445337447054, .10122853629037625915};

/* Set the points of the integral over frequencies f from 0 to the cutoff.  Intervals end at the
 * entries of the table of factors, and are so short that in each of them the phase of exp(2 pi i f
 * x) for x <= longest, times the reference's transform, changes by less than a third of a turn. */
static fbp_status integration_band(const struct fbp_spectral_filter *s, double longest,
                                   struct band *b)
{
    const struct fbp_response *r = &s->response;
    const double length = longest + (double)s->reference.n + fabs(s->reference.centre);

    for (int pass = 0; pass < 2; pass++) { /* count the points, then set them */
        double from = 0;
        size_t n = 0;
        for (size_t i = 0; i <= r->n; i++) {
            const double to = (i < r->n ? fmin(s->cutoff, r->table[2 * i]) : s->cutoff) / 2;
            const double turns = (to - from) * length;
            const size_t parts = to > from ? (size_t)ceil(3 * turns) + 4 : 0;
            const double width = (to - from) / (double)parts;
            for (size_t k = 0; pass && k < parts * N_GAUSS; k++) {
                const double middle = (double)(k / N_GAUSS) + .5;
                b->at[n + k].f = from + width * (middle + at_gauss[k % N_GAUSS] / 2);
                b->at[n + k].w = width * gauss[k % N_GAUSS] / 2;
            }
            n += parts * N_GAUSS;
            from = to;
        }
        if (!pass)
            FBP_TRY(fbp_calloc((void **)&b->at, n, sizeof *b->at, "the filter"));
        b->n = n;
    }
    return divide(b, s);
}

fbp_status fbp_deconvolution_design(struct fbp_filter_design *out,
                                    const struct fbp_spectral_filter *s, size_t n_columns,
                                    size_t half_width, size_t oversampling)
{
    double *ahead = NULL, *behind = NULL;
    struct band b = {0};
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(check(s, n_columns));
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, s->reference.n > 0));
    FBP_TRY_GOTO(integration_band(s, (double)n_columns / (double)oversampling, &b));
    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < n_columns; n++) {
        /* kernel[n] and kernel[-n]: the real parts of the sums of h exp(2 pi i f x) and h exp(-2 pi
         * i f x) */
        const double x = (double)n / (double)oversampling;
        double even = 0, odd = 0;
        FBP_TRY_GOTO(fbp_check_cancelled());
        for (size_t i = 0; i < b.n; i++) {
            const double a = 2 * FBP_PI * fmod(b.at[i].f * x, 1);
            even += creal(b.at[i].h) * cos(a);
            odd += cimag(b.at[i].h) * sin(a);
        }
        ahead[n] = even - odd;
        behind[n] = even + odd;
    }
    FBP_TRY_GOTO(fbp_filter_from_kernel(out, ahead, out->kernel_back ? behind : NULL));
fail:
    free(ahead);
    free(behind);
    free(b.at);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

fbp_status fbp_periodic_design(struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
                               size_t n_columns)
{
    const size_t n = n_columns / 2 + 1;
    struct band b = {0};
    fbp_status st;

    *out = (struct fbp_filter_design){
        .n_columns = n_columns, .n_fft = n_columns, .periodic = true, .passes = 1};
    FBP_TRY(check(s, n_columns));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->response, n, sizeof *out->response, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->imaginary, n, sizeof *out->imaginary, "the filter"));
    b.n = (size_t)floor(s->cutoff * (double)n_columns / 2 + 1e-9);
    FBP_TRY_GOTO(fbp_calloc((void **)&b.at, b.n, sizeof *b.at, "the filter"));
    for (size_t i = 0; i < b.n; i++) { /* points at the frequencies above 0; the response at 0 stays
                                          0 */
        b.at[i].f = (double)(i + 1) / (double)n_columns;
        b.at[i].w = .5; /* divide() multiplies by 2, for f and -f */
    }
    FBP_TRY_GOTO(divide(&b, s));
    for (size_t i = 0; i < b.n; i++) {
        const bool last = 2 * (i + 1) == n_columns; /* the last frequency's factor is real, because
                                                       rows are real */
        out->response[i + 1] = creal(b.at[i].h) / (double)n_columns;
        out->imaginary[i + 1] = last ? 0 : cimag(b.at[i].h) / (double)n_columns;
    }
fail:
    free(b.at);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

fbp_status fbp_periodic_unroll(struct fbp_filter_design *straight,
                               const struct fbp_filter_design *f)
{
    const size_t n = f->n_fft;
    struct fbp_row_filter filter = {.fft = NULL};
    struct fbp_row_work work = {.line = NULL};
    double *behind = NULL;
    fbp_status st;

    *straight = (struct fbp_filter_design){.n_columns = f->n_columns};
    FBP_TRY_GOTO(fbp_row_work_alloc(&work, f));
    FBP_TRY_GOTO(fbp_row_filter_open(&filter, f, false));
    FBP_TRY_GOTO(fbp_alloc((void **)&behind, n * sizeof *behind, "the filter"));
    for (size_t i = 0; i <= n / 2; i++)
        work.spectrum[i] = f->response[i] + I * f->imaginary[i];
    fbp_fft_real_back(filter.fft, work.spectrum, work.line, work.scratch);
    /* kernel[-i], which is kernel[n - i], because the kernel has period n */
    for (size_t i = 0; i < n; i++)
        behind[i] = work.line[(n - i) % n];
    FBP_TRY_GOTO(fbp_filter_design_alloc(straight, true));
    FBP_TRY_GOTO(fbp_filter_from_kernel(straight, work.line, behind));
fail:
    fbp_row_filter_close(&filter);
    fbp_row_work_free(&work);
    fbp_free(behind);
    if (st != FBP_OK)
        fbp_filter_design_clear(straight);
    return st;
}

static double tap(const struct fbp_filter_design *d, ptrdiff_t n)
{
    return n < 0 && d->kernel_back ? d->kernel_back[-n] : d->kernel[n < 0 ? -n : n];
}

/* Compute value n of the filter's kernel, convolved with that of spline coefficients. */
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

fbp_status fbp_filter_spline(struct fbp_filter_design *d, size_t n_columns, size_t half_width)
{
    struct fbp_filter_design to = {.n_columns = n_columns, .half_width = half_width};
    const bool asymmetric = d->kernel_back != NULL;
    double *ahead = NULL, *behind = NULL;
    fbp_status st;

    if (d->passes > 1)
        return FBP_UNSUPPORTED("filter: %s has no cubic interpolation; use two-ramps",
                               fbp_filter_name(FBP_FILTER_TWO_RAMPS_UNPADDED));
    FBP_TRY_GOTO(fbp_filter_design_alloc(&to, asymmetric));
    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < n_columns; n++) {
        ahead[n] = coefficient(d, (ptrdiff_t)n);
        behind[n] = coefficient(d, -(ptrdiff_t)n);
    }
    FBP_TRY_GOTO(fbp_filter_from_kernel(&to, ahead, asymmetric ? behind : NULL));
fail:
    free(ahead);
    free(behind);
    fbp_filter_design_clear(st == FBP_OK ? d : &to);
    if (st == FBP_OK)
        *d = to;
    return st;
}
