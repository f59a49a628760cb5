#include "backend/cpu/convolve.h"

#include "base/mem.h"

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
    const size_t step = c->spatial ? c->dsp->lanes : 2;

    for (size_t i = 0; i < n; i += step)
        if (c->spatial)
            convolve_lanes(c, work, lines + i, n - i < step ? n - i : step);
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

size_t cpu_convolution_floats(const struct fbp_job *job)
{
    if (job->filtered)
        return 0;
    return job->spatial_filter ? n_taps(job->filter) : 2 * job->filter->n_fft;
}

size_t cpu_convolve_work(const struct fbp_job *job)
{
    if (job->filtered)
        return 0;
    return job->spatial_filter ? (size_t)2 * FBP_MAX_LANES * job->filter->n_columns
                               : 4 * job->filter->n_fft;
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
    return out->spatial ? open_spatial(out) : open_fft(out);
}

void cpu_convolution_close(struct cpu_convolution *c)
{
    fbp_fftf_close(&c->fft);
    fbp_free(c->response);
    fbp_free(c->taps);
}
