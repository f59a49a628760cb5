#include "filter/deconvolve.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/vec.h"
#include "filter/from_kernel.h"
#include "filter/parabola.h"

#include <complex.h>
#include <string.h>

/* Where h^ has less than this of its greatest value, beyond the frequency of that, nothing but
 * noise is left to be divided by. */
static const double LEAST = 1e-5;

/* Points of Gauss and Legendre in a part of the band, for frequencies above 0. */
enum { N_GAUSS = 8 };
static const double at_gauss[N_GAUSS] = {
    -.96028985649753623168, -.79666647741362673959, -.52553240991632898582, -.18343464249564980494,
    .18343464249564980494,  .52553240991632898582,  .79666647741362673959,  .96028985649753623168};
static const double gauss[N_GAUSS] = {
    .10122853629037625915, .22238103445337447054, .31370664587788728734, .36268378337836198297,
    .36268378337836198297, .31370664587788728734, .22238103445337447054, .10122853629037625915};

struct band {
    size_t n;          /* points */
    double *f, *w;     /* frequency; weight of the integral */
    double complex *h; /* h^, then what rows are multiplied by */
};

/* Sum of h[m] exp(-2 pi i f (m - centre)). */
static double complex spectrum_at(const struct fbp_reference *r, double f)
{
    const double complex step = cexp(-2 * FBP_PI * I * f);
    double complex sum = 0, turn = 1;

    for (size_t m = 0; m < r->n; m++) {
        if (m % 64 == 0) /* afresh, so that roundings do not add up */
            turn = cexp(-2 * FBP_PI * I * fmod(f * ((double)m - r->centre), 1));
        sum += r->h[m] * turn;
        turn *= step;
    }
    return sum;
}

/* Parts so short that the longest kernel and spectrum turn by less than a third in each. */
static fbp_status make_band(const struct fbp_reference *r, double cutoff, double longest,
                            struct band *b)
{
    const double turns = cutoff / 2 * (longest + (double)r->n + fabs(r->centre));
    const size_t parts = (size_t)ceil(3 * turns) + 4;
    const double width = cutoff / 2 / (double)parts;

    b->n = parts * N_GAUSS;
    FBP_TRY(fbp_calloc((void **)&b->f, b->n, sizeof *b->f, "the filter"));
    FBP_TRY(fbp_calloc((void **)&b->w, b->n, sizeof *b->w, "the filter"));
    FBP_TRY(fbp_calloc((void **)&b->h, b->n, sizeof *b->h, "the filter"));
    for (size_t i = 0; i < b->n; i++) {
        if (i % N_GAUSS == 0)
            FBP_TRY(fbp_go_on());
        b->f[i] = width * ((double)(i / N_GAUSS) + .5 + at_gauss[i % N_GAUSS] / 2);
        b->w[i] = width * gauss[i % N_GAUSS] / 2;
        b->h[i] = spectrum_at(r, b->f[i]);
    }
    return FBP_OK;
}

static void clear_band(struct band *b)
{
    free(b->f);
    free(b->w);
    free(b->h);
}

/* From h^ to R / h^, times the weights of both halves of the band. */
static fbp_status divide(const struct fbp_reference *r, enum fbp_filter filter, double cutoff,
                         struct band *b)
{
    double most = 0;
    size_t top = 0;

    for (size_t i = 0; i < b->n; i++)
        if (cabs(b->h[i]) > most) {
            most = cabs(b->h[i]);
            top = i;
        }
    for (size_t i = 0; i < b->n; i++) {
        const double size = cabs(b->h[i]),
                     response = fbp_parabola_response(filter, cutoff, b->f[i]);
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

/* kernel[+-n]: sum of h exp(+-2 pi i f x), x = n / oversampling, of which the real part is left. */
static void kernel_at(const struct band *b, double x, double *ahead, double *behind)
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
static fbp_status fill(struct fbp_filter_design *d, const struct band *b, size_t oversampling)
{
    double *ahead = NULL, *behind = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, d->n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, d->n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < d->n_columns; n++) {
        FBP_TRY_GOTO(fbp_go_on());
        kernel_at(b, (double)n / (double)oversampling, &ahead[n], &behind[n]);
    }
    st = fbp_filter_from_kernel(d, ahead, behind);
fail:
    free(ahead);
    free(behind);
    return st;
}

static fbp_status check(const struct fbp_reference *r, enum fbp_filter filter, double cutoff,
                        size_t n_columns)
{
    bool any = false;

    FBP_TRY(fbp_filter_check(filter, cutoff, n_columns));
    if (filter == FBP_FILTER_TWO_RAMPS || filter == FBP_FILTER_TWO_RAMPS_UNPADDED)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "filter: %s has no deconvolution: use ram-lak, a window or a difference",
                        fbp_filter_name(filter));
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

fbp_status fbp_deconvolution_design(struct fbp_filter_design *out, const struct fbp_reference *r,
                                    enum fbp_filter filter, double cutoff, size_t n_columns,
                                    size_t half_width, size_t oversampling)
{
    struct band band = {0};
    fbp_status st;

    *out = (struct fbp_filter_design){.n_columns = n_columns, .half_width = half_width};
    FBP_TRY(check(r, filter, cutoff, n_columns));
    FBP_TRY_GOTO(fbp_filter_design_alloc(out, true));
    FBP_TRY_GOTO(make_band(r, cutoff, (double)n_columns / (double)oversampling, &band));
    FBP_TRY_GOTO(divide(r, filter, cutoff, &band));
    FBP_TRY_GOTO(fill(out, &band, oversampling));
fail:
    clear_band(&band);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}
