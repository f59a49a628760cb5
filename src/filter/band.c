#include "filter/band.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"
#include "filter/parabola.h"

#include <stdlib.h>

enum { A_WHILE = 8 }; /* frequencies, between two looks whether to go on */

/* Where h^ has less than this of its greatest value, beyond the frequency of that, nothing but
 * noise is left to be divided by. */
static const double LEAST = 1e-5;

fbp_status fbp_band_alloc(struct fbp_band *b, size_t n)
{
    const size_t room = n ? n : 1;

    b->n = n;
    FBP_TRY(fbp_calloc((void **)&b->f, room, sizeof *b->f, "the filter"));
    FBP_TRY(fbp_calloc((void **)&b->w, room, sizeof *b->w, "the filter"));
    return fbp_calloc((void **)&b->h, room, sizeof *b->h, "the filter");
}

void fbp_band_clear(struct fbp_band *b)
{
    free(b->f);
    free(b->w);
    free(b->h);
    *b = (struct fbp_band){0};
}

/* The factor at f, in cycles a sample. */
static double factor_at(const struct fbp_response *r, double f)
{
    const double *at = r->table, x = 2 * f;
    size_t i = 0;

    if (r->n == 0)
        return 1;
    while (i < r->n && at[2 * i] < x)
        i++;
    if (i == 0 || i == r->n)
        return at[i == 0 ? 1 : 2 * i - 1];
    at += 2 * i;
    return at[-1] + (x - at[-2]) / (at[0] - at[-2]) * (at[1] - at[-1]);
}

/* Sum of h[m] exp(-2 pi i f (m - centre)); 1 where there is none. */
static double complex spectrum_at(const struct fbp_reference *r, double f)
{
    const double complex step = cexp(-2 * FBP_PI * I * f);
    double complex sum = r->n ? 0 : 1, turn = 1;

    for (size_t m = 0; m < r->n; m++) {
        if (m % 64 == 0) /* afresh, so that roundings do not add up */
            turn = cexp(-2 * FBP_PI * I * fmod(f * ((double)m - r->centre), 1));
        sum += r->h[m] * turn;
        turn *= step;
    }
    return sum;
}

/* From h^ to R / h^, times the weights of both halves of the band. */
static fbp_status divide(struct fbp_band *b, const struct fbp_spectral_filter *s)
{
    const struct fbp_reference *r = &s->reference;
    double most = 0;
    size_t top = 0;

    for (size_t i = 0; i < b->n; i++)
        if (cabs(b->h[i]) > most) {
            most = cabs(b->h[i]);
            top = i;
        }
    for (size_t i = 0; i < b->n; i++) {
        const double size = cabs(b->h[i]), factor = factor_at(&s->response, b->f[i]);
        const double response = factor * fbp_parabola_response(s->filter, s->cutoff, b->f[i]);
        if (!(r->wiener > 0) && i > top && !(size > LEAST * most))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: the reference spectrum has nothing left above %.3g of the "
                            "Nyquist frequency: lower the cut-off to that, or give Wiener's term",
                            2 * b->f[i]);
        const double power = size * size + r->wiener * most * most;
        b->h[i] = power > 0 ? 2 * b->w[i] * response * conj(b->h[i]) / power : 0;
    }
    return FBP_OK;
}

fbp_status fbp_band_divide(struct fbp_band *b, const struct fbp_spectral_filter *s)
{
    for (size_t i = 0; i < b->n; i++) {
        if (i % A_WHILE == 0)
            FBP_TRY(fbp_go_on());
        b->h[i] = spectrum_at(&s->reference, b->f[i]);
    }
    return divide(b, s);
}

static fbp_status check_reference(const struct fbp_reference *r)
{
    bool any = r->n == 0;

    if (!(r->wiener >= 0 && isfinite(r->wiener)) || !isfinite(r->centre))
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: Wiener's term %g, middle of the reference spectrum %g: the term "
                        "must be 0 or more, and both finite",
                        r->wiener, r->centre);
    for (size_t m = 0; m < r->n; m++) {
        if (!isfinite(r->h[m]))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: sample %zu of the reference spectrum is no finite number", m);
        any = any || r->h[m] != 0;
    }
    if (!any)
        return fbp_fail(FBP_ERR_INVALID, "filter: the reference spectrum is 0 everywhere");
    return FBP_OK;
}

fbp_status fbp_response_check(const struct fbp_response *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const double at = r->table[2 * i], factor = r->table[2 * i + 1];
        if (!(at >= 0 && at <= 1) || (i > 0 && !(at > r->table[2 * i - 2])))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: row %zu of the response begins with %g: fractions of the "
                            "Nyquist frequency, from 0 to 1, have to grow from row to row",
                            i, at);
        if (!isfinite(factor))
            return fbp_fail(FBP_ERR_INVALID,
                            "filter: the factor in row %zu of the response is no finite number", i);
    }
    return FBP_OK;
}

fbp_status fbp_spectral_check(const struct fbp_spectral_filter *s, size_t n_columns)
{
    const char *what = s->reference.n  ? "deconvolution"
                       : s->response.n ? "response that could be multiplied"
                                       : "periodic form";

    FBP_TRY(fbp_filter_check(s->filter, s->cutoff, n_columns));
    if (s->filter == FBP_FILTER_TWO_RAMPS || s->filter == FBP_FILTER_TWO_RAMPS_UNPADDED)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "filter: %s has no %s: use ram-lak, a window or a difference",
                        fbp_filter_name(s->filter), what);
    FBP_TRY(check_reference(&s->reference));
    return fbp_response_check(&s->response);
}
