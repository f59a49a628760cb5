/* The band-limited ramp, its windows, and a window along columns.  Everything is even, so that a
 * cosine transform of half the circle says all. */
#include "base/mem.h"
#include "base/vec.h"
#include "filter/fft.h"
#include "filter/filter.h"

#include <string.h>

static const char *const names[] = {
    [FBP_FILTER_RAM_LAK] = "ram-lak", [FBP_FILTER_SHEPP_LOGAN] = "shepp-logan",
    [FBP_FILTER_COSINE] = "cosine",   [FBP_FILTER_HAMMING] = "hamming",
    [FBP_FILTER_HANN] = "hann",
};

const char *fbp_filter_name(enum fbp_filter filter)
{
    const size_t i = (size_t)filter;
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

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
    }
    return 0;
}

/* The least even 2^a 3^b 5^c >= n; 0 if there is none. */
static size_t fft_length(size_t n)
{
    for (size_t length = n + (n & 1); length && length <= SIZE_MAX / 16; length += 2) {
        size_t rest = length;
        for (size_t p = 2; p <= 5; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1)
            return length;
    }
    return 0;
}

/* Ramp kernel of unit pitch at n. */
static double ramp(size_t n)
{
    const double x = FBP_PI * (double)n;
    if (n == 0)
        return 0.25;
    return n & 1 ? -1 / (x * x) : 0;
}

/* An even sequence of period 2 (n - 1), given by n values. */
struct even {
    double *values;
    size_t n;
    bool done;
};

static void transform(void *arg)
{
    struct even *e = arg;
    const fftw_plan plan =
        fftw_plan_r2r_1d((int)e->n, e->values, e->values, FFTW_REDFT00, FFTW_ESTIMATE);

    if (!plan)
        return;
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    e->done = true;
}

/* Fourier transform, in place. */
static fbp_status even_transform(double *values, size_t n)
{
    struct even e = {values, n, false};

    FBP_TRY(fbp_fft_plan(2 * (n - 1), transform, &e));
    return e.done ? FBP_OK
                  : fbp_fail(FBP_ERR_NOMEM, "filter: cannot plan a transform of %zu points", n);
}

/* response[n_fft/2 + 1], and the whole period of the kernel in `even` of the same length. */
static fbp_status design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                         double *even)
{
    const size_t n = out->n_fft / 2 + 1;

    for (size_t i = 0; i < n; i++)
        out->response[i] = ramp(i);
    FBP_TRY(even_transform(out->response, n));
    for (size_t i = 0; i < n; i++) {
        const double nyquist = 2 * (double)i / (double)out->n_fft;
        out->response[i] *= fbp_filter_window(filter, nyquist / cutoff) / (double)out->n_fft;
    }
    memcpy(even, out->response, n * sizeof *even);
    return even_transform(even, n);
}

static fbp_status check(enum fbp_filter filter, double cutoff, size_t n_columns)
{
    if (!fbp_filter_name(filter))
        return fbp_fail(FBP_ERR_INVALID, "filter: number %d is unknown: %s … %s are 0 … %d",
                        (int)filter, names[FBP_FILTER_RAM_LAK], names[FBP_FILTER_HANN],
                        (int)FBP_FILTER_HANN);
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

fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width)
{
    double *even = NULL;
    void *mem = NULL;
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns};
    FBP_TRY(check(filter, cutoff, n_columns));
    const bool whole = half_width == 0 || half_width > n_columns - 1;
    out->half_width = whole ? n_columns - 1 : half_width;
    out->n_fft = fft_length(2 * n_columns);
    FBP_TRY_GOTO(fbp_calloc(&mem, out->n_fft / 2 + 1, sizeof(double), "the filter"));
    out->response = mem;
    FBP_TRY_GOTO(fbp_calloc(&mem, out->n_fft / 2 + 1, sizeof(double), "the filter"));
    even = mem;
    FBP_TRY_GOTO(fbp_calloc(&mem, out->half_width + 1, sizeof(double), "the filter"));
    out->kernel = mem;
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
    const size_t n_fft = fft_length(2 * n_rows), n = n_fft / 2 + 1;
    FBP_TRY_GOTO(fbp_calloc(&mem, n, sizeof(double), "the filter along columns"));
    g = mem;
    for (size_t i = 0; i < n; i++)
        g[i] = fbp_filter_window(FBP_FILTER_HANN, 2 * (double)i / (double)n_fft / cutoff) /
               (double)n_fft;
    FBP_TRY_GOTO(even_transform(g, n));
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
