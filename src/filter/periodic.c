/* Filters around a circle as long as a row. */
#include "base/mem.h"
#include "fft/fft.h"
#include "filter/band.h"
#include "filter/from_kernel.h"

#include <math.h>

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

static fbp_status alloc(struct fbp_filter_design *d)
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
    FBP_TRY_GOTO(alloc(out));
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
