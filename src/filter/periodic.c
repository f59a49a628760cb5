/* Filters around a circle as long as a row. */
#include "base/mem.h"
#include "filter/band.h"

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
