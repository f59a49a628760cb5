#include "backend/cpu/convolve.h"

#include "base/mem.h"
#include "filter/deconvolve.h"

#include <math.h>
#include <string.h>

/* The power of two that brings a line's greatest sample into [1/2, 1), and its inverse; 0 for a
 * line of zeros, which then stays one.  Multiplying by either is exact. */
static float scale_of(float peak, float *back)
{
    int e;

    *back = 0;
    if (!(peak > 0))
        return 0;
    frexpf(peak, &e);
    e = e < -125 ? -125 : e > 125 ? 125 : e;
    *back = ldexpf(1, e);
    return ldexpf(1, -e);
}

/* z[i] *= k[i], both complex; n floats. */
static void multiply_complex(float *z, const float *k, size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        const float re = z[i] * k[i] - z[i + 1] * k[i + 1];
        z[i + 1] = z[i] * k[i + 1] + z[i + 1] * k[i];
        z[i] = re;
    }
}

/* Two real rows as one complex: the kernel is real, so nothing needs to be taken apart. */
static void convolve_pair(const struct cpu_convolution *c, float *work, float *a, float *b)
{
    const struct fbp_line_dsp *dsp = c->dsp;
    const size_t nc = c->filter->n_columns, n = 2 * c->filter->n_fft;
    float *line = work, *spectrum = work + n, back_a, back_b;
    const float ka = scale_of(dsp->peak(a, nc), &back_a);
    const float kb = scale_of(dsp->peak(b, nc), &back_b);

    dsp->pack(a, b, ka, kb, nc, line);
    memset(line + 2 * nc, 0, (n - 2 * nc) * sizeof *line);
    fbp_fftf_complex(c->fft, line, spectrum);
    if (c->filter->imaginary)
        multiply_complex(spectrum, c->response, n);
    else
        dsp->multiply(spectrum, c->response, n);
    fbp_fftf_complex_back(c->fft, spectrum, line);
    dsp->unpack(line, back_a, back_b, nc, a, b);
}

/* What lanes hold: rows a and b of each, and their scales there and back. */
struct lane_rows {
    float *a[FBP_MAX_LANES], *b[FBP_MAX_LANES];
    float there_a[FBP_MAX_LANES], there_b[FBP_MAX_LANES];
    float back_a[FBP_MAX_LANES], back_b[FBP_MAX_LANES];
};

/* n lines; lanes that are left have `nothing`, a row of zeros that may be written to. */
static void share_out(const struct cpu_convolution *c, float *const *lines, size_t n,
                      float *nothing, struct lane_rows *out)
{
    const size_t nc = c->filter->n_columns;

    if (n < 2 * c->lanes->lanes)
        memset(nothing, 0, nc * sizeof *nothing);
    for (size_t l = 0; l < c->lanes->lanes; l++) {
        const bool is_there = 2 * l < n;
        out->a[l] = is_there ? lines[2 * l] : nothing;
        out->b[l] = is_there ? lines[2 * l + 1] : nothing;
        out->there_a[l] = scale_of(c->dsp->peak(out->a[l], nc), &out->back_a[l]);
        out->there_b[l] = scale_of(c->dsp->peak(out->b[l], nc), &out->back_b[l]);
    }
}

/* Pairs of rows side by side. */
static void convolve_pairs(const struct cpu_convolution *c, float *work, float *const *lines,
                           size_t n)
{
    const size_t nc = c->filter->n_columns, lanes = c->lanes->lanes, points = c->plan.n;
    struct lane_rows rows;

    share_out(c, lines, n, work + 2 * lanes * points, &rows);
    c->lanes->gather((const float *const *)rows.a, (const float *const *)rows.b, rows.there_a,
                     rows.there_b, nc, work);
    memset(work + 2 * lanes * nc, 0, 2 * lanes * (points / 2 - nc) * sizeof *work);
    c->lanes->filter(&c->plan, work);
    c->lanes->scatter(work, rows.back_a, rows.back_b, nc, rows.a, rows.b);
}

/* Up to dsp->lanes lines side by side; lanes without a line are zeros. */
static void convolve_lanes(const struct cpu_convolution *c, float *work, float *const *lines,
                           size_t n)
{
    const size_t nc = c->filter->n_columns, lanes = c->dsp->lanes;
    float *out = work + lanes * nc;

    for (size_t l = 0; l < lanes; l++)
        for (size_t i = 0; i < nc; i++)
            work[i * lanes + l] = l < n ? lines[l][i] : 0;
    c->dsp->convolve(work, c->taps + FBP_CONVOLVE_COLUMNS + c->filter->half_width,
                     c->filter->half_width, nc, out);
    for (size_t l = 0; l < n; l++)
        for (size_t i = 0; i < nc; i++)
            lines[l][i] = out[i * lanes + l];
}

static void pass(const struct cpu_convolution *c, float *work, float *const *lines, size_t n)
{
    const size_t step = c->spatial ? c->dsp->lanes : c->lanes ? 2 * c->lanes->lanes : 2;

    for (size_t i = 0; i < n; i += step)
        if (c->spatial)
            convolve_lanes(c, work, lines + i, n - i < step ? n - i : step);
        else if (c->lanes)
            convolve_pairs(c, work, lines + i, n - i < step ? n - i : step);
        else
            convolve_pair(c, work, lines[i], lines[i + 1]);
}

void cpu_convolve(const struct cpu_convolution *c, float *work, float *const *lines, size_t n)
{
    pass(c, work, lines, n);
    for (unsigned i = 1; i < c->filter->passes; i++)
        pass(c, work, lines, n);
}

static size_t n_taps(const struct fbp_filter_design *f)
{
    return 2 * (f->half_width + FBP_CONVOLVE_COLUMNS) + 1;
}

/* Of one transform of lanes: rows fill half of it at most, also those that go round. */
static size_t lane_points(const struct fbp_filter_design *f)
{
    return f->periodic ? fbp_fft_length(2 * f->n_columns) : f->n_fft;
}

size_t cpu_convolution_floats(const struct fbp_job *job)
{
    if (job->filtered)
        return 0;
    if (job->spatial_filter)
        return n_taps(job->filter);
    return fbp_fft_lanes(0) ? 4 * lane_points(job->filter) : 2 * job->filter->n_fft;
}

size_t cpu_convolve_work(const struct fbp_job *job)
{
    const struct fbp_filter_design *f = job->filter;

    if (job->filtered)
        return 0;
    if (job->spatial_filter)
        return (size_t)2 * FBP_MAX_LANES * f->n_columns;
    return fbp_fft_lanes(0) ? (size_t)2 * FBP_MAX_LANES * lane_points(f) + f->n_columns
                            : 4 * f->n_fft;
}

static fbp_status open_spatial(struct cpu_convolution *c)
{
    const size_t S = c->filter->half_width, n = n_taps(c->filter);
    float *centre;

    FBP_TRY(fbp_alloc((void **)&c->taps, n * sizeof(float), "filter kernel"));
    memset(c->taps, 0, n * sizeof(float));
    centre = c->taps + FBP_CONVOLVE_COLUMNS + S;
    const double *back = c->filter->kernel_back ? c->filter->kernel_back : c->filter->kernel;
    for (size_t i = 0; i <= S; i++) {
        centre[i] = (float)c->filter->kernel[i];
        centre[-(ptrdiff_t)i] = (float)back[i];
    }
    return FBP_OK;
}

static fbp_status open_lanes(struct cpu_convolution *c)
{
    const struct fbp_filter_design *f = c->filter;
    struct fbp_filter_design straight;

    if (!f->periodic)
        return fbp_lanes_plan_open(&c->plan, f->n_fft, f->response, f->imaginary);
    FBP_TRY(fbp_periodic_unroll(&straight, f));
    const fbp_status st =
        fbp_lanes_plan_open(&c->plan, straight.n_fft, straight.response, straight.imaginary);
    fbp_filter_design_clear(&straight);
    return st;
}

/* Complex rows one by one: FFTW's quickest here of those that it finds without timing. */
static fbp_status open_fft(struct cpu_convolution *c)
{
    const size_t n = c->filter->n_fft;

    FBP_TRY(fbp_alloc((void **)&c->response, 2 * n * sizeof(float), "filter response"));
    for (size_t i = 0; i < 2 * n; i++) {
        const size_t k = i / 2, at = k <= n / 2 ? k : n - k;
        const double *imaginary = i % 2 ? c->filter->imaginary : NULL;
        c->response[i] =
            (float)(imaginary ? (k == at ? 1 : -1) * imaginary[at] : c->filter->response[at]);
    }
    return fbp_fftf_open(&c->fft, n);
}

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp)
{
    *out =
        (struct cpu_convolution){.filter = job->filter, .dsp = dsp, .spatial = job->spatial_filter};
    if (job->filtered)
        return FBP_OK;
    if (out->spatial)
        return open_spatial(out);
    out->lanes = fbp_fft_lanes(dsp->lanes);
    return out->lanes ? open_lanes(out) : open_fft(out);
}

void cpu_convolution_close(struct cpu_convolution *c)
{
    fbp_fftf_close(&c->fft);
    fbp_lanes_plan_close(&c->plan);
    fbp_free(c->response);
    fbp_free(c->taps);
}
