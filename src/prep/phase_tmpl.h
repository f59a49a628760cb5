/*
 * Template of phase retrieval (phase.h), with the parameters of fft/abreast_tmpl.h; TABLE is the
 * name of its function.  Every version has the same bits.
 *
 * Columns go first, as neighbours lie side by side already: ABREAST of them as real and as many as
 * imaginary parts.  Their spectra are symmetric, so that half of the frequencies are kept, as rows;
 * those go through the filter and back, and then the columns come back.
 */
#include "prep/phase_parts.h"

typedef double V __attribute__((vector_size(8 * LANES)));
typedef float F __attribute__((vector_size(4 * LANES)));
typedef unsigned long long U __attribute__((vector_size(8 * LANES)));

#define ABREAST 8

#include "fft/abreast_tmpl.h"

enum { PAIR = 2 * ABREAST };

/* Adding it leaves a whole number in the last bits. */
static const double WHOLE = 0x1.8p52;

INLINE V larger(V a, double least)
{
    const U is = (U)(a > least);

    return (V)(((U)a & is) | ((U)VSET1(least) & ~is));
}

INLINE V smaller(V a, double most)
{
    return -larger(-a, -most);
}

/* exp(x), to 1e-14 of itself: x = n log 2 + r, and a series for r. */
INLINE V exponential(V x)
{
    static const double series[] = {1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
                                    1. / 5040,     1. / 720,     1. / 120,    1. / 24,
                                    1. / 6,        1. / 2,       1,           1};
    const V shifted = smaller(larger(x, -700), 700) * 1.44269504088896340736 + WHOLE;
    const V n = shifted - WHOLE, r = x - n * 0.69314718055994530942;
    V sum = VSET1(series[0]);

    UNROLL
    for (size_t i = 1; i < sizeof series / sizeof *series; i++)
        sum = sum * r + series[i];
    return sum * (V)(((U)shifted << 52) + (1023ull << 52));
}

/* log(x) of a positive, normal x: x = 2^n m, m around 1, and log m = 2 artanh((m - 1) / (m + 1)).
 */
INLINE V logarithm(V x)
{
    const U half = (U)VSET1(0.70710678118654752440), one = (U)VSET1(1);
    const U bits = (U)x + (one - half);
    const V n = (V)((bits >> 52) + ((U)VSET1(WHOLE) - 1023)) - WHOLE;
    const V m = (V)((bits & ((1ull << 52) - 1)) + half), s = (m - 1) / (m + 1), s2 = s * s;
    V sum = VSET1(1. / 19);

    UNROLL
    for (int i = 17; i > 0; i -= 2)
        sum = sum * s2 + 1. / i;
    return n * 0.69314718055994530942 + 2 * s * sum;
}

/* Columns [c, c + PAIR) of a row: exp(-p) to a point; those that are not there are zeros. */
INLINE void put_point(const float *row, size_t n, double *to)
{
    float some[PAIR] = {0};

    if (n < PAIR)
        row = memcpy(some, row, n * sizeof *row);
    UNROLL
    for (size_t l = 0; l < PAIR; l += LANES) {
        F p;
        memcpy(&p, row + l, sizeof p);
        store(to + l, exponential(-__builtin_convertvector(p, V)));
    }
}

/* The way back of it. */
INLINE void take_point(const double *from, size_t n, float *row)
{
    float some[PAIR];
    float *to = n < PAIR ? some : row;

    UNROLL
    for (size_t l = 0; l < PAIR; l += LANES) {
        const V t = larger(load(from + (l + ABREAST) % PAIR), FBP_LEAST_TRANSMISSION);
        const F p = __builtin_convertvector(-logarithm(t), F);
        memcpy(to + l, &p, sizeof p);
    }
    if (n < PAIR)
        memcpy(row, some, n * sizeof *row);
}

/* Points [0, pad) as the one behind them, and those behind [pad, pad + n) as the last. */
INLINE void put_frame(double *x, size_t pad, size_t n, size_t all)
{
    for (size_t i = 0; i < pad; i++)
        memcpy(x + i * POINT, x + pad * POINT, POINT * sizeof *x);
    for (size_t i = pad + n; i < all; i++)
        memcpy(x + i * POINT, x + (pad + n - 1) * POINT, POINT * sizeof *x);
}

/* Spectra, times 2, of columns [c, c + PAIR): what is symmetric is of the real parts' columns. */
static void columns_there(const struct fbp_retrieval *f, const float *view, size_t c,
                          const struct phase_room *r)
{
    const size_t n = f->n[1], left = f->n_columns - c;

    for (size_t i = 0; i < f->n_rows; i++)
        put_point(view + i * f->n_columns + c, left, r->x + (f->pad[1] + i) * POINT);
    put_frame(r->x, f->pad[1], f->n_rows, n);
    const double *z = transform_abreast(&f->across, r->x, r->work);
    for (size_t j = 0; j <= n / 2; j++) {
        const double *a = z + j * POINT, *b = z + (n - j) % n * POINT;
        double *re = r->spectrum + j * 2 * r->stride + c, *im = re + r->stride;
        UNROLL
        for (size_t l = 0; l < ABREAST; l += LANES) {
            const V ar = load(a + l), ai = load(a + ABREAST + l);
            const V br = load(b + l), bi = load(b + ABREAST + l);
            store(re + l, ar + br);
            store(im + l, ai - bi);
            store(re + ABREAST + l, ai + bi);
            store(im + ABREAST + l, br - ar);
        }
    }
}

static void columns_back(const struct fbp_retrieval *f, float *view, size_t c,
                         const struct phase_room *r)
{
    const size_t n = f->n[1], left = f->n_columns - c;

    for (size_t j = 0; j <= n / 2; j++) {
        double *a = r->x + j * POINT, *b = r->x + (n - j) % n * POINT;
        const double *re = r->spectrum + j * 2 * r->stride + c, *im = re + r->stride;
        UNROLL
        for (size_t l = 0; l < ABREAST; l += LANES) {
            const V ar = load(re + l), ai = load(im + l);
            const V br = load(re + ABREAST + l), bi = load(im + ABREAST + l);
            store(b + l, br - ai);
            store(b + ABREAST + l, ar + bi);
            store(a + l, ai + br);
            store(a + ABREAST + l, ar - bi);
        }
    }
    const double *z = transform_abreast(&f->across, r->x, r->work);
    for (size_t i = 0; i < f->n_rows; i++)
        take_point(z + (f->pad[1] + i) * POINT, left, view + i * f->n_columns + c);
}

/* 1 / (1 + a |k|^2) of a row's frequencies, divided by the number of points and by 2; parts change
 * places for the way back. */
INLINE void respond(const struct fbp_retrieval *f, double u_step, const double *v2, double *x)
{
    const double scale = 1 / (2 * (double)f->n[0] * (double)f->n[1]);

    for (size_t i = 0; i < f->n[0]; i++, x += POINT) {
        const double u = u_step * (double)(i <= f->n[0] / 2 ? i : f->n[0] - i);
        UNROLL
        for (size_t l = 0; l < ABREAST; l += LANES) {
            const V factor = scale / (1 + u * u + load(v2 + l));
            const V re = load(x + l) * factor, im = load(x + ABREAST + l) * factor;
            store(x + l, im);
            store(x + ABREAST + l, re);
        }
    }
}

/* Rows [j, j + ABREAST) of the spectrum, as far as they are there, filtered. */
static void filter_rows(const struct fbp_retrieval *f, const double reach[2], size_t j,
                        const struct phase_room *r)
{
    const double step[2] = {2 * FBP_PI * reach[0] / (double)f->n[0],
                            2 * FBP_PI * reach[1] / (double)f->n[1]};
    const size_t left = f->n[1] / 2 + 1 - j, n = left < ABREAST ? left : ABREAST;
    double *rows[ABREAST], v2[ABREAST];

    for (size_t l = 0; l < ABREAST; l++) { /* those that are not there as the last */
        const size_t at = j + (l < n ? l : n - 1);
        rows[l] = r->spectrum + at * 2 * r->stride;
        v2[l] = step[1] * (double)at * step[1] * (double)at;
    }
    for (size_t c = 0; c < f->n_columns; c++)
        for (size_t l = 0; l < ABREAST; l++) {
            r->x[(f->pad[0] + c) * POINT + l] = rows[l][c];
            r->x[(f->pad[0] + c) * POINT + ABREAST + l] = rows[l][r->stride + c];
        }
    put_frame(r->x, f->pad[0], f->n_columns, f->n[0]);
    double *z = transform_abreast(&f->along, r->x, r->work);
    respond(f, step[0], v2, z);
    z = transform_abreast(&f->along, z, z == r->x ? r->work : r->x) + f->pad[0] * POINT;
    for (size_t c = 0; c < f->n_columns; c++, z += POINT)
        for (size_t l = 0; l < n; l++) {
            rows[l][c] = z[ABREAST + l];
            rows[l][r->stride + c] = z[l];
        }
}

void TABLE(const struct fbp_retrieval *f, const double reach[2], float *view,
           const struct phase_room *r)
{
    for (size_t c = 0; c < f->n_columns; c += PAIR)
        columns_there(f, view, c, r);
    for (size_t j = 0; j <= f->n[1] / 2; j += ABREAST)
        filter_rows(f, reach, j, r);
    for (size_t c = 0; c < f->n_columns; c += PAIR)
        columns_back(f, view, c, r);
}
