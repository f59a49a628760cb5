#include "backend/cpu/convolve.h"

#include "base/base.h"
#include "fft/fft.h"
#include "filter/parabola.h"

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

/* Rows a and b of each lane, and their scales before and after the filter. */
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

/* Up to c->lanes->lanes pairs of rows. */
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
    const size_t step = c->spatial ? c->dsp->lanes : 2 * c->lanes->lanes;

    for (size_t i = 0; i < n; i += step)
        if (c->spatial)
            convolve_lanes(c, work, lines + i, n - i < step ? n - i : step);
        else
            convolve_pairs(c, work, lines + i, n - i < step ? n - i : step);
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

/* Points of a transform: rows fill at most half of it, periodic ones included. */
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
    return 4 * lane_points(job->filter);
}

size_t cpu_convolve_work(const struct fbp_job *job)
{
    const struct fbp_filter_design *f = job->filter;

    if (job->filtered)
        return 0;
    if (job->spatial_filter)
        return (size_t)2 * FBP_MAX_LANES * f->n_columns;
    return (size_t)2 * FBP_MAX_LANES * lane_points(f) + f->n_columns;
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

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp)
{
    *out =
        (struct cpu_convolution){.filter = job->filter, .dsp = dsp, .spatial = job->spatial_filter};
    if (job->filtered)
        return FBP_OK;
    if (out->spatial)
        return open_spatial(out);
    out->lanes = fbp_lanes_table(dsp->lanes);
    return open_lanes(out);
}

void cpu_convolution_close(struct cpu_convolution *c)
{
    fbp_lanes_plan_close(&c->plan);
    fbp_free(c->taps);
}
