/* Design of the filters of rows: the band-limited ramp, its windows, and a window along columns. */
#include "fft/fft.h"
#include "filter/filter.h"
#include "filter/parabola.h"

#include "base/mem.h"
#include "base/status.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The band-limited ramp, its windows, and a window along columns.  Everything is even, so that a
 * cosine transform of half the circle says all. */

double fbp_filter_window(enum fbp_filter filter, double x)
{
    const double half = FBP_PI * x / 2;

    if (!(x >= 0 && x <= 1))
        return 0;
    switch (filter) {
    case FBP_FILTER_RAM_LAK:
        return 1;
    case FBP_FILTER_SHEPP_LOGAN:
        return half > 0 ? sin(half) / half : 1;
    case FBP_FILTER_COSINE:
        return cos(half);
    case FBP_FILTER_HAMMING:
        return 0.54 + 0.46 * cos(2 * half);
    case FBP_FILTER_HANN:
        return 0.5 + 0.5 * cos(2 * half);
    default: /* no window */
        return 0;
    }
}

double fbp_ramp_kernel(size_t n)
{
    const double x = FBP_PI * (double)n;
    if (n == 0)
        return 0.25;
    return n & 1 ? -1 / (x * x) : 0;
}

/* response[n_fft/2 + 1], and the whole period of the kernel in `even` of the same length. */
static fbp_status design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                         double *even)
{
    const size_t n = out->n_fft / 2 + 1;

    for (size_t i = 0; i < n; i++)
        out->response[i] = fbp_ramp_kernel(i);
    FBP_TRY(fbp_fft_even(out->response, n));
    for (size_t i = 0; i < n; i++) {
        const double nyquist = 2 * (double)i / (double)out->n_fft;
        out->response[i] *= fbp_filter_window(filter, nyquist / cutoff) / (double)out->n_fft;
    }
    memcpy(even, out->response, n * sizeof *even);
    return fbp_fft_even(even, n);
}

static fbp_status check(enum fbp_filter filter, double cutoff, size_t n_columns)
{
    FBP_TRY(fbp_filter_check(filter, cutoff, n_columns));
    if (fbp_filter_is_window(filter))
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "filter: %s is for plane integrals (EPR imaging): for line integrals use "
                    "ram-lak, shepp-logan, cosine, hamming or hann",
                    fbp_filter_name(filter));
}

static fbp_status alloc(double **out, size_t n)
{
    return fbp_calloc((void **)out, n, sizeof **out, "the filter");
}

fbp_status fbp_filter_design_alloc(struct fbp_filter_design *d, bool asymmetric)
{
    const bool whole = d->half_width == 0 || d->half_width > d->n_columns - 1;

    d->half_width = whole ? d->n_columns - 1 : d->half_width;
    d->n_fft = fbp_fft_length(2 * d->n_columns);
    d->passes = 1;
    FBP_TRY(alloc(&d->response, d->n_fft / 2 + 1));
    FBP_TRY(alloc(&d->kernel, d->half_width + 1));
    if (!asymmetric)
        return FBP_OK;
    FBP_TRY(alloc(&d->imaginary, d->n_fft / 2 + 1));
    return alloc(&d->kernel_back, d->half_width + 1);
}

fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width)
{
    double *even = NULL;
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(check(filter, cutoff, n_columns));
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, false));
    FBP_TRY_GOTO(alloc(&even, out->n_fft / 2 + 1));
    FBP_TRY_GOTO(design(out, filter, cutoff, even));
    memcpy(out->kernel, even, (out->half_width + 1) * sizeof *even);
    free(even);
    return FBP_OK;
fail:
    free(even);
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

/* The least S so that twice the sum of |g(n)| beyond it is small. */
static size_t column_half_width(const double *g, size_t n_rows)
{
    size_t s = n_rows - 1;

    for (double left = 2 * fabs(g[s]); s > 0 && left < FBP_COLUMN_ERROR; left += 2 * fabs(g[s]))
        s--;
    return s;
}

static fbp_status check_columns(double cutoff, size_t n_rows)
{
    if (!(cutoff > 0 && cutoff <= 1))
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: cutoff %g along columns: it is a fraction of the Nyquist "
                        "frequency, above 0 and at most 1",
                        cutoff);
    if (n_rows < 2 || n_rows > INT32_MAX / 4)
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: a window along columns of %zu rows: 2 to %d can be filtered; "
                        "leave it out (--cutoff-v)",
                        n_rows, INT32_MAX / 4);
    return FBP_OK;
}

fbp_status fbp_column_filter_design(struct fbp_column_filter *out, double cutoff, size_t n_rows)
{
    double *g = NULL;
    void *mem = NULL;
    fbp_status st;

    *out = (struct fbp_column_filter){0};
    FBP_TRY(check_columns(cutoff, n_rows));
    const size_t n_fft = fbp_fft_length(2 * n_rows), n = n_fft / 2 + 1;
    FBP_TRY_GOTO(fbp_calloc(&mem, n, sizeof(double), "the filter along columns"));
    g = mem;
    for (size_t i = 0; i < n; i++)
        g[i] = fbp_filter_window(FBP_FILTER_HANN, 2 * (double)i / (double)n_fft / cutoff) /
               (double)n_fft;
    FBP_TRY_GOTO(fbp_fft_even(g, n));
    out->half_width = column_half_width(g, n_rows);
    FBP_TRY_GOTO(fbp_calloc(&mem, out->half_width + 1, sizeof(double), "the filter along columns"));
    out->kernel = mem;
    memcpy(out->kernel, g, (out->half_width + 1) * sizeof *g);
    free(g);
    return FBP_OK;
fail:
    free(g);
    fbp_column_filter_clear(out);
    return st;
}

void fbp_column_filter_clear(struct fbp_column_filter *f)
{
    free(f->kernel);
    *f = (struct fbp_column_filter){0};
}

/* Which filters and interpolations there are, and what they are for. */

static const char *const names[] = {
    [FBP_FILTER_RAM_LAK] = "ram-lak",
    [FBP_FILTER_SHEPP_LOGAN] = "shepp-logan",
    [FBP_FILTER_COSINE] = "cosine",
    [FBP_FILTER_HAMMING] = "hamming",
    [FBP_FILTER_HANN] = "hann",
    [FBP_FILTER_SECOND_DIFFERENCE] = "second-difference",
    [FBP_FILTER_3_POINT_DERIVATIVE] = "3-point-derivative",
    [FBP_FILTER_5_POINT_DERIVATIVE] = "5-point-derivative",
    [FBP_FILTER_TWO_RAMPS] = "two-ramps",
    [FBP_FILTER_TWO_RAMPS_UNPADDED] = "two-ramps-unpadded",
};

const char *fbp_filter_name(enum fbp_filter filter)
{
    const size_t i = (size_t)filter;
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *fbp_interpolation_name(enum fbp_interpolation interpolation)
{
    static const char *const all[] = {[FBP_INTERPOLATION_LINEAR] = "linear",
                                      [FBP_INTERPOLATION_NEAREST] = "nearest",
                                      [FBP_INTERPOLATION_CUBIC] = "cubic"};
    const size_t i = (size_t)interpolation;
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

const char *fbp_ring_interpolation_name(enum fbp_ring_interpolation interpolation)
{
    static const char *const all[] = {
        [FBP_RINGS_FFT] = "fft", [FBP_RINGS_SPLINE] = "spline", [FBP_RINGS_LINEAR] = "linear"};
    const size_t i = (size_t)interpolation;
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

bool fbp_filter_is_window(enum fbp_filter filter)
{
    return filter <= FBP_FILTER_HANN;
}

fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns)
{
    if (!fbp_filter_name(filter))
        return fbp_fail(FBP_ERR_INVALID, "filter: number %d is unknown: %s … %s are 0 … %d",
                        (int)filter, names[0], names[FBP_FILTER_LAST], (int)FBP_FILTER_LAST);
    if (!(cutoff > 0 && cutoff <= 1))
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: cutoff %g: it is a fraction of the Nyquist frequency, above 0 and "
                        "at most 1",
                        cutoff);
    if (n_columns == 0 || n_columns > INT32_MAX / 4)
        return fbp_fail(FBP_ERR_INVALID, "filter: rows of %zu samples: 1 to %d can be filtered",
                        n_columns, INT32_MAX / 4);
    return FBP_OK;
}

/* The response, of the whole kernel around the circle. */
static fbp_status respond(struct fbp_filter_design *d, double *row, double complex *spectrum,
                          double *work)
{
    struct fbp_fft *fft;

    FBP_TRY(fbp_fft_open_real(&fft, d->n_fft));
    fbp_fft_real(fft, row, spectrum, work);
    fbp_fft_close(&fft);
    for (size_t i = 0; i <= d->n_fft / 2; i++) {
        d->response[i] = creal(spectrum[i]) / (double)d->n_fft;
        if (d->imaginary)
            d->imaginary[i] = cimag(spectrum[i]) / (double)d->n_fft;
    }
    return FBP_OK;
}

fbp_status fbp_filter_from_kernel(struct fbp_filter_design *d, const double *ahead,
                                  const double *behind)
{
    const double *back = behind ? behind : ahead;
    double complex *spectrum = NULL;
    double *row = NULL, *work = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_alloc((void **)&row, d->n_fft * sizeof *row, "the filter"));
    FBP_TRY_GOTO(
        fbp_alloc((void **)&spectrum, (d->n_fft / 2 + 1) * sizeof *spectrum, "the filter"));
    FBP_TRY_GOTO(fbp_alloc((void **)&work, fbp_fft_work(d->n_fft) * sizeof *work, "the filter"));
    memset(row, 0, d->n_fft * sizeof *row);
    memcpy(row, ahead, d->n_columns * sizeof *ahead);
    for (size_t n = 1; n < d->n_columns; n++)
        row[d->n_fft - n] = back[n];
    memcpy(d->kernel, ahead, (d->half_width + 1) * sizeof *ahead);
    if (d->kernel_back)
        memcpy(d->kernel_back, back, (d->half_width + 1) * sizeof *back);
    st = respond(d, row, spectrum, work);
fail:
    fbp_free(row);
    fbp_free(spectrum);
    fbp_free(work);
    return st;
}

/* What the Fourier series through the samples has of one of them, x samples from it: a sum of
 * cosines; of an even number the highest counts half. */
static double dirichlet(size_t n, double x)
{
    const double a = FBP_PI * x, b = a / (double)n;
    const double below = (double)n * (n % 2 ? sin(b) : tan(b));

    return fabs(sin(b)) < 1e-12 ? 1 : sin(a) / below;
}

/* Kernel that makes coefficients of periodic splines: the inverse of (1, 4, 1) / 6 on a circle. */
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

/* Of coefficient k every sample has a part. */
static void add_coefficient(const double *kernel, size_t n, size_t k, double times, double *weights)
{
    for (size_t i = 0; i < n; i++)
        weights[i] += times * kernel[(k + n - i) % n];
}

/* i modulo n, also of one that is negative. */
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
        for (int i = 0; i < 4; i++)
            add_coefficient(scratch, n, around(first + i - 1, n), w[i], weights);
        return;
    default:
        for (size_t i = 0; i < n; i++)
            weights[i] = dirichlet(n, x - (double)i);
        return;
    }
}

/* Filters around a circle as long as a row. */

/* Frequencies of the circle from the first on, up to the cut-off, with weights that leave their
 * response as it is. */
static fbp_status make_band(const struct fbp_spectral_filter *s, size_t n, struct fbp_band *b)
{
    const size_t last = (size_t)floor(s->cutoff * (double)n / 2 + 1e-9);

    FBP_TRY(fbp_band_alloc(b, last));
    for (size_t i = 0; i < last; i++) {
        b->f[i] = (double)(i + 1) / (double)n;
        b->w[i] = .5;
    }
    return fbp_band_divide(b, s);
}

static fbp_status periodic_alloc(struct fbp_filter_design *d)
{
    const size_t n = d->n_columns / 2 + 1;

    d->n_fft = d->n_columns;
    d->periodic = true;
    d->passes = 1;
    FBP_TRY(fbp_calloc((void **)&d->response, n, sizeof *d->response, "the filter"));
    return fbp_calloc((void **)&d->imaginary, n, sizeof *d->imaginary, "the filter");
}

fbp_status fbp_periodic_design(struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
                               size_t n_columns)
{
    struct fbp_band band = {0};
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns};
    FBP_TRY(fbp_spectral_check(s, n_columns));
    FBP_TRY_GOTO(periodic_alloc(out));
    FBP_TRY_GOTO(make_band(s, n_columns, &band));
    for (size_t i = 0; i < band.n; i++) { /* at the frequency 0 it stays 0 */
        const bool last =
            2 * (i + 1) == n_columns; /* rows are real, and so is this one of theirs */
        out->response[i + 1] = creal(band.h[i]) / (double)n_columns;
        out->imaginary[i + 1] = last ? 0 : cimag(band.h[i]) / (double)n_columns;
    }
fail:
    fbp_band_clear(&band);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

struct turned {
    double complex *spectrum;
    double *kernel, *behind, *work;
    struct fbp_fft *fft;
};

/* One turn of the kernel, and the same from its end on. */
static fbp_status find_kernel(const struct fbp_filter_design *f, struct turned *t)
{
    const size_t n = f->n_fft;

    FBP_TRY(fbp_alloc((void **)&t->spectrum, (n / 2 + 1) * sizeof *t->spectrum, "the filter"));
    FBP_TRY(fbp_alloc((void **)&t->kernel, n * sizeof *t->kernel, "the filter"));
    FBP_TRY(fbp_alloc((void **)&t->behind, n * sizeof *t->behind, "the filter"));
    FBP_TRY(fbp_alloc((void **)&t->work, fbp_fft_work(n) * sizeof *t->work, "the filter"));
    FBP_TRY(fbp_fft_open_real(&t->fft, n));
    for (size_t i = 0; i <= n / 2; i++)
        t->spectrum[i] = f->response[i] + I * f->imaginary[i];
    fbp_fft_real_back(t->fft, t->spectrum, t->kernel, t->work);
    for (size_t i = 0; i < n; i++)
        t->behind[i] = t->kernel[(n - i) % n];
    return FBP_OK;
}

fbp_status fbp_periodic_unroll(struct fbp_filter_design *straight,
                               const struct fbp_filter_design *f)
{
    struct turned t = {0};
    fbp_status st;

    *straight = (struct fbp_filter_design){.n_columns = f->n_columns};
    FBP_TRY_GOTO(find_kernel(f, &t));
    FBP_TRY_GOTO(fbp_filter_design_alloc(straight, true));
    FBP_TRY_GOTO(fbp_filter_from_kernel(straight, t.kernel, t.behind));
fail:
    fbp_fft_close(&t.fft);
    fbp_free(t.spectrum);
    fbp_free(t.kernel);
    fbp_free(t.behind);
    fbp_free(t.work);
    if (st != FBP_OK)
        fbp_filter_design_clear(straight);
    return st;
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

/* The line's spectrum times the response. */
static void row_respond(const struct fbp_filter_design *f, double complex *spectrum)
{
    double *s = (double *)spectrum; /* real and imaginary part in turn */

    for (size_t i = 0; i <= f->n_fft / 2; i++, s += 2) {
        const double re = s[0], im = s[1];
        s[0] = re * f->response[i];
        s[1] = im * f->response[i];
        if (!f->imaginary)
            continue;
        s[0] -= im * f->imaginary[i];
        s[1] += re * f->imaginary[i];
    }
}

/* Through one circle of n_fft >= 2 n_columns points. */
static void convolve_fft(const struct fbp_row_filter *f, const struct fbp_row_work *w, double *out)
{
    fbp_fft_real(f->fft, w->line, w->spectrum, w->scratch);
    row_respond(f->design, w->spectrum);
    fbp_fft_real_back(f->fft, w->spectrum, w->line, w->scratch);
    memcpy(out, w->line, f->design->n_columns * sizeof *out);
}

/* The same sum, term by term, with S taps on each side. */
static void convolve_spatial(const struct fbp_filter_design *f, const double *line, double *out)
{
    const double *back = f->kernel_back ? f->kernel_back : f->kernel;

    for (size_t c = 0; c < f->n_columns; c++) {
        const size_t lo = c > f->half_width ? c - f->half_width : 0;
        const size_t hi = c + f->half_width < f->n_columns ? c + f->half_width : f->n_columns - 1;
        double sum = 0;
        for (size_t i = lo; i <= hi; i++)
            sum += (i > c ? back[i - c] : f->kernel[c - i]) * line[i];
        out[c] = sum;
    }
}

static void pass(const struct fbp_row_filter *f, const struct fbp_row_work *w, double *out)
{
    if (f->spatial)
        convolve_spatial(f->design, w->line, out);
    else
        convolve_fft(f, w, out);
}

void fbp_row_filter(const struct fbp_row_filter *f, const struct fbp_row_work *w, double *out)
{
    pass(f, w, out);
    for (unsigned i = 1; i < f->design->passes; i++) {
        memset(w->line, 0, f->design->n_fft * sizeof *w->line);
        memcpy(w->line, out, f->design->n_columns * sizeof *out);
        pass(f, w, out);
    }
}
