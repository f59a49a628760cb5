/* Convolution of detector rows with the filter of a job, by FFT or in space, for the CPU device:
 * cpu_convolve().
 * Used by: bench/fft/fft.c, filter.c. */
#include "backend/cpu/cpu.h"

#include "base/base.h"
#include "fft/fft.h"
#include "filter/parabola.h"

#include <math.h>
#include <string.h>

/* Returns the power of two, from 2^-125 to 2^125, that scales a row of greatest magnitude `peak`
 * into [1/2, 1), and *back, its inverse; 0 for a row of zeros. Products with it are exact. */
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

/* Convolve n rows (an even number) by FFT, a pair per vector lane; other lanes are zero. */
static void convolve_pairs(const struct cpu_convolution *c, float *work, float *const *lines,
                           size_t n)
{
    const size_t nc = c->filter->n_columns, lanes = c->lanes->lanes, points = c->plan.n;
    float *zeros = work + 2 * lanes * points; /* may be written to */
    float *a[FBP_MAX_LANES], *b[FBP_MAX_LANES];
    float scale_a[FBP_MAX_LANES], scale_b[FBP_MAX_LANES];
    float back_a[FBP_MAX_LANES], back_b[FBP_MAX_LANES];

    if (n < 2 * lanes)
        memset(zeros, 0, nc * sizeof *zeros);
    for (size_t l = 0; l < lanes; l++) {
        a[l] = 2 * l < n ? lines[2 * l] : zeros;
        b[l] = 2 * l < n ? lines[2 * l + 1] : zeros;
        scale_a[l] = scale_of(c->dsp->peak(a[l], nc), &back_a[l]);
        scale_b[l] = scale_of(c->dsp->peak(b[l], nc), &back_b[l]);
    }
    c->lanes->gather((const float *const *)a, (const float *const *)b, scale_a, scale_b, nc, work);
    memset(work + 2 * lanes * nc, 0, 2 * lanes * (points / 2 - nc) * sizeof *work);
    c->lanes->filter(&c->plan, work);
    c->lanes->scatter(work, back_a, back_b, nc, a, b);
}

/* Convolve n rows in space, one row per vector lane; unused lanes compute with zeros. */
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

void cpu_convolve(const struct cpu_convolution *c, float *work, float *const *lines, size_t n)
{
    const size_t step = c->spatial ? c->dsp->lanes : 2 * c->lanes->lanes;
    unsigned pass = 0;

    do { /* at least once */
        for (size_t i = 0; i < n; i += step)
            (c->spatial ? convolve_lanes : convolve_pairs)(c, work, lines + i,
                                                           n - i < step ? n - i : step);
    } while (++pass < c->filter->passes);
}

static size_t n_taps(const struct fbp_filter_design *f)
{
    return 2 * (f->half_width + FBP_CONVOLVE_COLUMNS) + 1;
}

/* Returns the number of points of a row's Fourier transform, at least twice the number of samples
 * of the row, also if the filter is periodic. */
static size_t lane_points(const struct fbp_filter_design *f)
{
    return f->periodic ? fbp_fft_length(2 * f->n_columns) : f->n_fft;
}

size_t cpu_convolution_floats(const struct fbp_job *job)
{
    if (job->input.filtered)
        return 0;
    return job->filtering.spatial ? n_taps(job->filtering.design)
                                  : 4 * lane_points(job->filtering.design);
}

size_t cpu_convolve_work(const struct fbp_job *job)
{
    const struct fbp_filter_design *f = job->filtering.design;

    if (job->input.filtered)
        return 0;
    if (job->filtering.spatial)
        return (size_t)2 * FBP_MAX_LANES * f->n_columns;
    return (size_t)2 * FBP_MAX_LANES * lane_points(f) + f->n_columns;
}

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp)
{
    const struct fbp_filter_design *f = job->filtering.design;

    *out = (struct cpu_convolution){.filter = f, .dsp = dsp, .spatial = job->filtering.spatial};
    if (job->input.filtered)
        return FBP_OK;

    if (out->spatial) {
        const size_t S = f->half_width, bytes = n_taps(f) * sizeof(float);
        const double *back = f->kernel_back ? f->kernel_back : f->kernel;
        FBP_TRY(fbp_alloc((void **)&out->taps, bytes, "filter kernel"));
        memset(out->taps, 0, bytes);
        float *centre = out->taps + FBP_CONVOLVE_COLUMNS + S;
        for (size_t i = 0; i <= S; i++) {
            centre[i] = (float)f->kernel[i];
            centre[-(ptrdiff_t)i] = (float)back[i];
        }
        return FBP_OK;
    }

    out->lanes = fbp_lanes_table(dsp->lanes);
    if (!f->periodic)
        return fbp_lanes_plan_open(&out->plan, f->n_fft, f->response, f->imaginary);
    struct fbp_filter_design unrolled;
    FBP_TRY(fbp_periodic_unroll(&unrolled, f));
    const fbp_status st =
        fbp_lanes_plan_open(&out->plan, unrolled.n_fft, unrolled.response, unrolled.imaginary);
    fbp_filter_design_clear(&unrolled);
    return st;
}

void cpu_convolution_close(struct cpu_convolution *c)
{
    fbp_lanes_plan_close(&c->plan);
    fbp_free(c->taps);
}
