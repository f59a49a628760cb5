#include "filter/from_kernel.h"

#include "base/mem.h"
#include "fft/fft.h"

#include <string.h>

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
