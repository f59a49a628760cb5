/* The band-limited ramp, its windows, and a window along columns.  Everything is even, so that a
 * cosine transform of half the circle says all. */
#include "base/mem.h"
#include "base/vec.h"
#include "fft/fft.h"
#include "filter/filter.h"

#include <string.h>

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
