#include "filter/from_kernel.h"

#include "base/mem.h"
#include "filter/fft.h"

#include <stdlib.h>
#include <string.h>

struct circle {
    size_t n_fft;
    double *row;
    fftw_complex *spectrum;
    bool done;
};

static void transform(void *arg)
{
    struct circle *c = arg;
    const fftw_plan plan = fftw_plan_dft_r2c_1d((int)c->n_fft, c->row, c->spectrum, FFTW_ESTIMATE);

    if (!plan)
        return;
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    c->done = true;
}

/* The response, of the whole kernel around the circle. */
static fbp_status respond(struct fbp_filter_design *d, struct circle *c)
{
    FBP_TRY(fbp_fft_plan(d->n_fft, transform, c));
    if (!c->done)
        return fbp_fail(FBP_ERR_NOMEM, "filter: cannot plan a transform of %zu points", d->n_fft);
    for (size_t i = 0; i <= d->n_fft / 2; i++) {
        d->response[i] = c->spectrum[i][0] / (double)d->n_fft;
        if (d->imaginary)
            d->imaginary[i] = c->spectrum[i][1] / (double)d->n_fft;
    }
    return FBP_OK;
}

fbp_status fbp_filter_from_kernel(struct fbp_filter_design *d, const double *ahead,
                                  const double *behind)
{
    const double *back = behind ? behind : ahead;
    struct circle c = {.n_fft = d->n_fft};
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&c.row, d->n_fft, sizeof *c.row, "the filter"));
    FBP_TRY_GOTO(
        fbp_calloc((void **)&c.spectrum, d->n_fft / 2 + 1, sizeof *c.spectrum, "the filter"));
    memcpy(c.row, ahead, d->n_columns * sizeof *ahead);
    for (size_t n = 1; n < d->n_columns; n++)
        c.row[d->n_fft - n] = back[n];
    memcpy(d->kernel, ahead, (d->half_width + 1) * sizeof *ahead);
    if (d->kernel_back)
        memcpy(d->kernel_back, back, (d->half_width + 1) * sizeof *back);
    st = respond(d, &c);
fail:
    free(c.row);
    free(c.spectrum);
    return st;
}
