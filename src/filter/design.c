/* Filters of detector rows: names of all filters, design of the band-limited ramp with a window
 * (fbp_filter_design(); Kak & Slaney 1988), filtering of a row in double (fbp_row_filter()); also
 * a window along detector columns, names of interpolation methods, and weights of interpolation
 * around a circle.
 * Used by: bench/, cli/, backend/, filter/, pipeline/. */
#include "filter/filter.h"

#include "fft/fft.h"
#include "filter/parabola.h"

#include "base/math.h"
#include "base/text.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* All filters, with the cosine terms of their windows.  Entries without cosines: shepp-logan, whose
 * window is a sinc, and the filters of plane integrals (parabola.c). */
static const struct {
    const char *name;
    struct fbp_window_term terms[FBP_WINDOW_TERMS];
} filters[] = {
    [FBP_FILTER_RAM_LAK] = {"ram-lak", {{1, 0}}},
    [FBP_FILTER_SHEPP_LOGAN] = {"shepp-logan", {{0, 0}}},
    [FBP_FILTER_COSINE] = {"cosine", {{1, 0.5}}},
    [FBP_FILTER_HAMMING] = {"hamming", {{0.54, 0}, {0.46, 1}}},
    [FBP_FILTER_HANN] = {"hann", {{0.5, 0}, {0.5, 1}}},
    [FBP_FILTER_SECOND_DIFFERENCE] = {"second-difference", {{0, 0}}},
    [FBP_FILTER_3_POINT_DERIVATIVE] = {"3-point-derivative", {{0, 0}}},
    [FBP_FILTER_5_POINT_DERIVATIVE] = {"5-point-derivative", {{0, 0}}},
    [FBP_FILTER_TWO_RAMPS] = {"two-ramps", {{0, 0}}},
    [FBP_FILTER_TWO_RAMPS_UNPADDED] = {"two-ramps-unpadded", {{0, 0}}},
};

enum { N_FILTERS = sizeof filters / sizeof *filters };
_Static_assert(N_FILTERS == FBP_FILTER_LAST + 1, "a filter has no name");

const char *fbp_filter_name(size_t i)
{
    return i < N_FILTERS ? filters[i].name : NULL;
}

const struct fbp_window_term *fbp_filter_terms(enum fbp_filter filter)
{
    return (size_t)filter < N_FILTERS && filters[filter].terms[0].amplitude > 0
               ? filters[filter].terms
               : NULL;
}

FBP_NAMES(fbp_interpolation_name, [FBP_INTERPOLATION_LINEAR] = "linear",
          [FBP_INTERPOLATION_NEAREST] = "nearest", [FBP_INTERPOLATION_CUBIC] = "cubic")

FBP_NAMES(fbp_refine_name, [FBP_REFINE_1] = "1", [FBP_REFINE_2] = "2", [FBP_REFINE_4] = "4",
          [FBP_REFINE_AUTO] = "auto")

FBP_NAMES(fbp_ring_interpolation_name, [FBP_RINGS_FFT] = "fft", [FBP_RINGS_SPLINE] = "spline",
          [FBP_RINGS_LINEAR] = "linear")

bool fbp_filter_is_window(enum fbp_filter filter)
{
    return filter == FBP_FILTER_SHEPP_LOGAN || fbp_filter_terms(filter);
}

double fbp_filter_window(enum fbp_filter filter, double x)
{
    const struct fbp_window_term *terms = fbp_filter_terms(filter);
    const double half = FBP_PI * x / 2;
    double sum = 0;

    if (!(x >= 0 && x <= 1))
        return 0;
    if (filter == FBP_FILTER_SHEPP_LOGAN)
        return half > 0 ? sin(half) / half : 1;
    for (size_t i = 0; terms && i < FBP_WINDOW_TERMS; i++)
        sum += terms[i].amplitude * cos(FBP_PI * terms[i].frequency * x);
    return sum;
}

/* Write the names of all windows, "ram-lak, shepp-logan … or hann", to buf[n]. */
static const char *list_windows(char *buf, size_t n)
{
    size_t left = 0, used = 0;

    for (size_t i = 0; i < N_FILTERS; i++)
        left += fbp_filter_is_window((enum fbp_filter)i);
    buf[0] = '\0';
    for (size_t i = 0; i < N_FILTERS; i++) {
        if (!fbp_filter_is_window((enum fbp_filter)i) || used >= n)
            continue;
        left--;
        used += (size_t)snprintf(buf + used, n - used, "%s%s", filters[i].name,
                                 left > 1    ? ", "
                                 : left == 1 ? " or "
                                             : "");
    }
    return buf;
}

double fbp_ramp_kernel(size_t n)
{
    const double x = FBP_PI * (double)n;
    if (n == 0)
        return 0.25;
    return n & 1 ? -1 / (x * x) : 0;
}

fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns)
{
    if (!fbp_filter_name(filter))
        return FBP_INVALID(
            "filter: number %d is unknown; the filters %s … %s have the numbers 0 … %d",
            (int)filter, filters[0].name, filters[FBP_FILTER_LAST].name, (int)FBP_FILTER_LAST);
    if (!(cutoff > 0 && cutoff <= 1))
        return FBP_INVALID("filter: found cutoff %g, expected a fraction of the Nyquist frequency, "
                           "above 0 and at most 1",
                           cutoff);
    if (n_columns == 0 || n_columns > INT32_MAX / 4)
        return FBP_INVALID("filter: found rows of %zu samples, expected 1 to %d", n_columns,
                           INT32_MAX / 4);
    return FBP_OK;
}

fbp_status fbp_filter_design_alloc(struct fbp_filter_design *d, bool asymmetric)
{
    const bool whole = d->half_width == 0 || d->half_width > d->n_columns - 1;

    d->half_width = whole ? d->n_columns - 1 : d->half_width;
    d->n_fft = d->n_fft > 0 ? d->n_fft : fbp_fft_length(2 * d->n_columns);
    d->passes = 1;
    const size_t n = d->n_fft / 2 + 1, taps = d->half_width + 1;
    FBP_TRY(fbp_calloc((void **)&d->response, n, sizeof *d->response, "the filter"));
    FBP_TRY(fbp_calloc((void **)&d->kernel, taps, sizeof *d->kernel, "the filter"));
    if (!asymmetric)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&d->imaginary, n, sizeof *d->imaginary, "the filter"));
    return fbp_calloc((void **)&d->kernel_back, taps, sizeof *d->kernel_back, "the filter");
}

/* Returns the factor at a frequency, a fraction of the Nyquist frequency in [0, 1]. */
static double factor_at(const struct fbp_filter_factors *f, double nyquist)
{
    const double x = nyquist * (double)(f->n - 1);
    const size_t i = x < (double)(f->n - 1) ? (size_t)x : f->n - 2;
    const double part = x - (double)i;

    return (1 - part) * f->values[i] + part * f->values[i + 1];
}

fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width)
{
    return fbp_filter_design_times(out, filter, cutoff, n_columns, half_width, 1,
                                   (struct fbp_filter_factors){0});
}

fbp_status fbp_filter_design_times(struct fbp_filter_design *out, enum fbp_filter filter,
                                   double cutoff, size_t n_columns, size_t half_width,
                                   size_t refined, struct fbp_filter_factors factors)
{
    double *even = NULL;
    char windows[160];
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(fbp_filter_check(filter, cutoff, n_columns));
    if (!fbp_filter_is_window(filter))
        return FBP_UNSUPPORTED(
            "filter: %s is for plane integrals (EPR imaging); for line integrals use %s",
            fbp_filter_name(filter), list_windows(windows, sizeof windows));
    const size_t measured = (n_columns + refined - 1) / refined;
    /* length of the transform of the measured samples, and index of their Nyquist frequency */
    const size_t circle = fbp_fft_length(2 * measured), last = circle / 2;
    out->n_fft = refined * circle;
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, false));
    const size_t n = out->n_fft / 2 + 1;
    FBP_TRY_GOTO(fbp_calloc((void **)&even, n, sizeof *even, "the filter"));
    /* The ramp's kernel is even: a cosine transform of its samples n >= 0 is sufficient. */
    for (size_t i = 0; i <= last; i++)
        out->response[i] = fbp_ramp_kernel(i);
    FBP_TRY_GOTO(fbp_fft_even(out->response, last + 1));
    for (size_t i = 0; i <= last; i++) {
        const double nyquist = 2 * (double)i / (double)circle;
        out->response[i] *= fbp_filter_window(filter, nyquist / cutoff) / (double)circle;
        if (factors.n > 0)
            out->response[i] *= factor_at(&factors, nyquist);
    }
    /* in the extended spectrum, the last frequency occurs as f and as -f: half of its value each */
    if (refined > 1)
        out->response[last] /= 2;
    memcpy(even, out->response, n * sizeof *even);
    FBP_TRY_GOTO(fbp_fft_even(even, n));
    memcpy(out->kernel, even, (out->half_width + 1) * sizeof *even);
fail:
    free(even);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

void fbp_filter_design_clear(struct fbp_filter_design *d)
{
    free(d->response);
    free(d->kernel);
    free(d->imaginary);
    free(d->kernel_back);
    *d = (struct fbp_filter_design){0};
}

fbp_status fbp_filter_from_kernel(struct fbp_filter_design *d, const double *ahead,
                                  const double *behind)
{
    const double *back = behind ? behind : ahead;
    struct fbp_row_filter filter = {.fft = NULL};
    struct fbp_row_work w = {.line = NULL};
    fbp_status st;

    FBP_TRY_GOTO(fbp_row_work_alloc(&w, d));
    FBP_TRY_GOTO(fbp_row_filter_open(&filter, d, false));
    memset(w.line, 0, d->n_fft * sizeof *w.line);
    memcpy(w.line, ahead, d->n_columns * sizeof *ahead);
    for (size_t n = 1; n < d->n_columns; n++)
        w.line[d->n_fft - n] = back[n];
    memcpy(d->kernel, ahead, (d->half_width + 1) * sizeof *ahead);
    if (d->kernel_back)
        memcpy(d->kernel_back, back, (d->half_width + 1) * sizeof *back);
    fbp_fft_real(filter.fft, w.line, w.spectrum, w.scratch);
    for (size_t i = 0; i <= d->n_fft / 2; i++) {
        d->response[i] = creal(w.spectrum[i]) / (double)d->n_fft;
        if (d->imaginary)
            d->imaginary[i] = cimag(w.spectrum[i]) / (double)d->n_fft;
    }
fail:
    fbp_row_filter_close(&filter);
    fbp_row_work_free(&w);
    return st;
}

fbp_status fbp_column_filter_design(struct fbp_column_filter *out, double cutoff, size_t n_rows)
{
    static const char what[] = "the filter along columns";
    double *g = NULL;
    fbp_status st;

    *out = (struct fbp_column_filter){0};
    if (!(cutoff > 0 && cutoff <= 1))
        return FBP_INVALID(
            "filter: found cutoff %g along columns, expected a fraction of the Nyquist "
            "frequency, above 0 and at most 1",
            cutoff);
    if (n_rows < 2 || n_rows > INT32_MAX / 4)
        return FBP_INVALID(
            "filter: columns have %zu rows, but a filter along columns needs 2 to %d; "
            "omit --cutoff-v",
            n_rows, INT32_MAX / 4);
    const size_t n_fft = fbp_fft_length(2 * n_rows), n = n_fft / 2 + 1;
    FBP_TRY_GOTO(fbp_calloc((void **)&g, n, sizeof *g, what));
    for (size_t i = 0; i < n; i++)
        g[i] = fbp_filter_window(FBP_FILTER_HANN, 2 * (double)i / (double)n_fft / cutoff) /
               (double)n_fft;
    FBP_TRY_GOTO(fbp_fft_even(g, n));
    /* half-width: the least s for which |g[n]| of |n| > s add up to less than FBP_COLUMN_ERROR */
    size_t s = n_rows - 1;
    for (double left = 2 * fabs(g[s]); s > 0 && left < FBP_COLUMN_ERROR; left += 2 * fabs(g[s]))
        s--;
    out->half_width = s;
    FBP_TRY_GOTO(fbp_calloc((void **)&out->kernel, s + 1, sizeof *out->kernel, what));
    memcpy(out->kernel, g, (s + 1) * sizeof *g);
fail:
    free(g);
    if (st != FBP_OK)
        fbp_column_filter_clear(out);
    return st;
}

void fbp_column_filter_clear(struct fbp_column_filter *f)
{
    free(f->kernel);
    *f = (struct fbp_column_filter){0};
}

/* Prepare interpolation by periodic cubic splines: scratch[n] receives the kernel that converts
 * samples to spline coefficients, the inverse of (1, 4, 1) / 6 on a circle.  Other methods need no
 * preparation. */
void fbp_cyclic_prepare(enum fbp_ring_interpolation how, size_t n, double *scratch)
{
    const double turn = 2 * FBP_PI / (double)n;

    for (size_t i = 0; how == FBP_RINGS_SPLINE && i < n; i++) {
        scratch[i] = 0;
        for (size_t f = 0; f < n; f++)
            scratch[i] += cos(turn * (double)(f * i % n)) / (4 + 2 * cos(turn * (double)f));
        scratch[i] *= 6 / (double)n;
    }
}

/* Returns the whole number i modulo n, also for negative i. */
static size_t around(double i, size_t n)
{
    const double m = fmod(i, (double)n);

    return (size_t)(m < 0 ? m + (double)n : m);
}

void fbp_cyclic_weights(enum fbp_ring_interpolation how, size_t n, double x, const double *scratch,
                        double *weights)
{
    const double first = floor(x), part = x - first;
    double w[4];

    memset(weights, 0, n * sizeof *weights);
    switch (how) {
    case FBP_RINGS_LINEAR:
        weights[around(first, n)] += 1 - part;
        weights[around(first + 1, n)] += part;
        return;
    case FBP_RINGS_SPLINE:
        fbp_spline_weights(part, w);
        for (int i = 0; i < 4; i++) { /* every sample contributes to every spline coefficient */
            const size_t k = around(first + i - 1, n);
            for (size_t j = 0; j < n; j++)
                weights[j] += w[i] * scratch[(k + n - j) % n];
        }
        return;
    default: /* FBP_RINGS_FFT: Fourier series; for an even number of samples, the term of the
                highest frequency has half weight */
        for (size_t i = 0; i < n; i++) {
            const double a = FBP_PI * (x - (double)i), b = a / (double)n;
            const double below = (double)n * (n % 2 ? sin(b) : tan(b));
            weights[i] = fabs(sin(b)) < 1e-12 ? 1 : sin(a) / below;
        }
        return;
    }
}

size_t fbp_row_work_doubles(const struct fbp_filter_design *f)
{
    return 2 * f->n_fft + 2 + fbp_fft_work(f->n_fft);
}

fbp_status fbp_row_work_alloc(struct fbp_row_work *out, const struct fbp_filter_design *f)
{
    *out = (struct fbp_row_work){0};
    FBP_TRY(fbp_alloc((void **)&out->line, f->n_fft * sizeof *out->line, "filter row"));
    FBP_TRY(fbp_alloc((void **)&out->spectrum, (f->n_fft / 2 + 1) * sizeof *out->spectrum,
                      "filter spectrum"));
    return fbp_alloc((void **)&out->scratch, fbp_fft_work(f->n_fft) * sizeof *out->scratch,
                     "filter scratch");
}

void fbp_row_work_free(struct fbp_row_work *work)
{
    fbp_free(work->line);
    fbp_free(work->spectrum);
    fbp_free(work->scratch);
    *work = (struct fbp_row_work){0};
}

fbp_status fbp_row_filter_open(struct fbp_row_filter *out, const struct fbp_filter_design *design,
                               bool spatial)
{
    *out = (struct fbp_row_filter){.design = design, .spatial = spatial};
    return fbp_fft_open_real(&out->fft, design->n_fft);
}

void fbp_row_filter_close(struct fbp_row_filter *filter)
{
    fbp_fft_close(&filter->fft);
}

void fbp_row_filter(const struct fbp_row_filter *filter, const struct fbp_row_work *w, double *out)
{
    const struct fbp_filter_design *f = filter->design;
    const double *back = f->kernel_back ? f->kernel_back : f->kernel;
    const size_t n = f->n_columns;

    for (unsigned pass = 0; pass == 0 || pass < f->passes; pass++) {
        if (pass > 0) {
            memset(w->line, 0, f->n_fft * sizeof *w->line);
            memcpy(w->line, out, n * sizeof *out);
        }
        if (filter->spatial) { /* sum of 2 half_width + 1 terms per column */
            for (size_t c = 0; c < n; c++) {
                const size_t lo = c > f->half_width ? c - f->half_width : 0;
                const size_t hi = c + f->half_width < n ? c + f->half_width : n - 1;
                double sum = 0;
                for (size_t i = lo; i <= hi; i++)
                    sum += (i > c ? back[i - c] : f->kernel[c - i]) * w->line[i];
                out[c] = sum;
            }
            continue;
        }
        fbp_fft_real(filter->fft, w->line, w->spectrum, w->scratch);
        double *s = (double *)w->spectrum; /* pairs of real and imaginary part */
        for (size_t i = 0; i <= f->n_fft / 2; i++, s += 2) {
            const double re = s[0], im = s[1];
            s[0] = re * f->response[i];
            s[1] = im * f->response[i];
            if (!f->imaginary)
                continue;
            s[0] -= im * f->imaginary[i];
            s[1] += re * f->imaginary[i];
        }
        fbp_fft_real_back(filter->fft, w->spectrum, w->line, w->scratch);
        memcpy(out, w->line, n * sizeof *out);
    }
}
