#include "filter/deconvolve.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"
#include "filter/band.h"
#include "filter/from_kernel.h"

#include <stdlib.h>

/* Points of Gauss and Legendre in a part of the band, for frequencies above 0. */
enum { N_GAUSS = 8 };
static const double at_gauss[N_GAUSS] = {
    -.96028985649753623168, -.79666647741362673959, -.52553240991632898582, -.18343464249564980494,
    .18343464249564980494,  .52553240991632898582,  .79666647741362673959,  .96028985649753623168};
static const double gauss[N_GAUSS] = {
    .10122853629037625915, .22238103445337447054, .31370664587788728734, .36268378337836198297,
    .36268378337836198297, .31370664587788728734, .22238103445337447054, .10122853629037625915};

/* Parts of the band between two frequencies, so short that the longest kernel and spectrum turn by
 * less than a third in each. */
static size_t parts_of(const struct fbp_reference *r, double longest, double from, double to)
{
    const double turns = (to - from) * (longest + (double)r->n + fabs(r->centre));

    return to > from ? (size_t)ceil(3 * turns) + 4 : 0;
}

static void put_parts(double from, double to, size_t parts, struct fbp_band *b)
{
    const double width = (to - from) / (double)parts;

    for (size_t i = 0; i < parts * N_GAUSS; i++, b->n++) {
        const size_t part = i / N_GAUSS;
        const double middle = (double)part + .5;
        b->f[b->n] = from + width * (middle + at_gauss[i % N_GAUSS] / 2);
        b->w[b->n] = width * gauss[i % N_GAUSS] / 2;
    }
}

/* Where piece i of the band ends: the response has a corner there. */
static double end_of(const struct fbp_spectral_filter *s, size_t i)
{
    const struct fbp_response *r = &s->response;

    return (i < r->n ? fmin(s->cutoff, r->table[2 * i]) : s->cutoff) / 2;
}

static fbp_status make_band(const struct fbp_spectral_filter *s, double longest, struct fbp_band *b)
{
    double from = 0;
    size_t n = 0;

    for (size_t i = 0; i <= s->response.n; from = end_of(s, i++))
        n += parts_of(&s->reference, longest, from, end_of(s, i));
    FBP_TRY(fbp_band_alloc(b, n * N_GAUSS));
    b->n = 0;
    from = 0;
    for (size_t i = 0; i <= s->response.n; from = end_of(s, i++)) {
        const double to = end_of(s, i);
        put_parts(from, to, parts_of(&s->reference, longest, from, to), b);
    }
    return fbp_band_divide(b, s);
}

/* kernel[+-n]: sum of h exp(+-2 pi i f x), x = n / oversampling, of which the real part is left. */
static void kernel_at(const struct fbp_band *b, double x, double *ahead, double *behind)
{
    double even = 0, odd = 0;

    for (size_t i = 0; i < b->n; i++) {
        const double a = 2 * FBP_PI * fmod(b->f[i] * x, 1);
        even += creal(b->h[i]) * cos(a);
        odd += cimag(b->h[i]) * sin(a);
    }
    *ahead = even - odd;
    *behind = even + odd;
}

/* The kernel of the design from the band. */
static fbp_status fill(struct fbp_filter_design *d, const struct fbp_band *b, size_t oversampling)
{
    double *ahead = NULL, *behind = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, d->n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, d->n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < d->n_columns; n++) {
        FBP_TRY_GOTO(fbp_go_on());
        kernel_at(b, (double)n / (double)oversampling, &ahead[n], &behind[n]);
    }
    st = fbp_filter_from_kernel(d, ahead, d->kernel_back ? behind : NULL);
fail:
    free(ahead);
    free(behind);
    return st;
}

fbp_status fbp_deconvolution_design(struct fbp_filter_design *out,
                                    const struct fbp_spectral_filter *s, size_t n_columns,
                                    size_t half_width, size_t oversampling)
{
    struct fbp_band band = {0};
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(fbp_spectral_check(s, n_columns));
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, s->reference.n > 0));
    FBP_TRY_GOTO(make_band(s, (double)n_columns / (double)oversampling, &band));
    FBP_TRY_GOTO(fill(out, &band, oversampling));
fail:
    fbp_band_clear(&band);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}
