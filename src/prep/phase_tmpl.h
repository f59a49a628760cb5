/* Template of phase retrieval (phase.h): defines the function TABLE.  Parameters: LANES, doubles
 * per vector; FMA(a, b, c), a b + c of doubles; FNMA(a, b, c), c - a b; FMAF and FNMAF, the same
 * for floats; MAXF(a, b), the maximum of floats, b if a is NaN.  All versions with fused
 * multiply-add produce the same bits.
 *
 * Columns are transformed first, because neighbouring columns are adjacent in memory: ABREAST
 * columns as real parts and ABREAST columns as imaginary parts. Spectra of real columns are
 * symmetric; therefore only half of the frequencies are processed, per block of columns. Then the
 * rows of these spectra are transformed, filtered and transformed back, and then the columns.
 * Transforms are in double, exponentials and logarithms in float.
 * Used by: phase.c, phase_avx2.c, phase_avx512.c.
 */
#include "base/math.h"
#include "prep/phase.h"

#define ABREAST 8

#include "fft/abreast_tmpl.h"

enum { PAIR = 2 * ABREAST, FLOATS = 2 * LANES };

typedef float F __attribute__((vector_size(4 * FLOATS)));
typedef double D __attribute__((vector_size(8 * FLOATS))); /* two vectors V */
typedef unsigned U __attribute__((vector_size(4 * FLOATS)));
typedef int W __attribute__((vector_size(4 * FLOATS)));
typedef float H __attribute__((vector_size(4 * LANES))); /* half an F */

#if LANES == 8
#    define ZIP_LO 0, 8, 1, 9, 2, 10, 3, 11
#    define ZIP_HI 4, 12, 5, 13, 6, 14, 7, 15
#elif LANES == 4
#    define ZIP_LO 0, 4, 1, 5
#    define ZIP_HI 2, 6, 3, 7
#else
#    define ZIP_LO 0, 2
#    define ZIP_HI 1, 3
#endif

/* GCC has __builtin_shufflevector(), a builtin of Clang, only since version 12. */
#ifdef __clang__
#    define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef long long M __attribute__((vector_size(8 * LANES)));
#    define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (M){__VA_ARGS__})
#endif

#define ALL(a) ((float)(a) - (F){0}) /* a in all lanes */

/* The lowest bits of the sum of this number and a float are the float, rounded to an integer. */
static const float WHOLE = 0x1.8p23f;

/* log 2 as a sum: a float with few bits, and the remainder. */
static const float LOG2 = 0.693359375f, LOG2_REST = -2.12194440e-4f;

/* Compute exp(x) with a relative error of 1e-7: x = n log 2 + r, and 1 + r + r^2 times a minimax
 * polynomial (relative error 3e-9). */
INLINE F exponential(F x)
{
    static const float series[] = {0.001381432050782487f, 0.008368851070792136f,
                                   0.04166840108502132f, 0.1666651952404483f, 0.4999999337308011f};
    x = -MAXF(-MAXF(x, ALL(-87)), ALL(-88));
    const F shifted = FMAF(x, ALL(1.44269504088896341), ALL(WHOLE)), n = shifted - ALL(WHOLE);
    const F r = FNMAF(n, ALL(LOG2_REST), FNMAF(n, ALL(LOG2), x));
    F sum = ALL(series[0]);

    UNROLL
    for (size_t i = 1; i < sizeof series / sizeof *series; i++)
        sum = FMAF(sum, r, ALL(series[i]));
    return (ALL(1) + FMAF(sum, r * r, r)) * (F)(((U)shifted << 23) + (127u << 23));
}

/* Compute log(x) of a positive, normal x: x = 2^n (1 + f), f around 0, and log(1 + f) = f - f^2 / 2
 * + f^3 times a minimax polynomial (relative error 6e-9). */
INLINE F logarithm(F x)
{
    static const float series[] = {
        -0.07634497433900833f, 0.1276157796382904f, -0.1316018253564835f, 0.1420175731182098f,
        -0.1662335693836212f,  0.2000122666358948f, -0.2500081956386566f, 0.3333333134651184f};
    const U half = (U)ALL(0.70710678f), one = (U)ALL(1);
    const U bits = (U)x + (one - half);
    const F n = __builtin_convertvector((W)(bits >> 23) - 127, F);
    const F f = (F)((bits & 0x7fffff) + half) - ALL(1), f2 = f * f;
    F sum = ALL(series[0]);

    UNROLL
    for (size_t i = 1; i < sizeof series / sizeof *series; i++)
        sum = FMAF(sum, f, ALL(series[i]));
    const F rest = FMAF(f2 * f, sum, n * ALL(LOG2_REST));
    return FMAF(n, ALL(LOG2), f + FNMAF(ALL(0.5), f2, rest));
}

/* Fill the padding at both ends of rows or columns of n points: points [0, pad) get the first value
 * (point pad), points from pad + n on the last value (point pad + n - 1). */
INLINE void put_frame(double *x, size_t pad, size_t n, size_t all)
{
    for (size_t q = 0; q < POINT; q += LANES) {
        const V first = load(x + pad * POINT + q), last = load(x + (pad + n - 1) * POINT + q);
        for (size_t i = 0; i < pad; i++)
            store(x + i * POINT + q, first);
        for (size_t i = pad + n; i < all; i++)
            store(x + i * POINT + q, last);
    }
}

/* Returns the memory for columns [c, c + PAIR): first their points, later their frequencies. */
INLINE double *block_of(const struct fbp_retrieval *f, size_t c, const struct phase_room *r)
{
    return r->spectrum + c * f->n[1];
}

/* Transform the transmissions of columns [c, c + PAIR).  Samples beyond the view count as 0. */
INLINE void columns_there(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                          const float *view, size_t c, const struct phase_room *r)
{
    const size_t n = f->n_columns - c;
    double *x = block_of(f, c, r);

    for (size_t i = 0; i < f->n_rows; i++) {
        const float *row = view + i * f->n_columns + c;
        double *to = x + (f->pad[1] + i) * POINT;
        float some[PAIR] = {0};
        if (n < PAIR)
            row = memcpy(some, row, n * sizeof *row);
        UNROLL
        for (size_t l = 0; l < PAIR; l += FLOATS) {
            F t;
            memcpy(&t, row + l, sizeof t);
            if (from == FBP_FROM_INTEGRALS)
                t = exponential(-t);
            const D d = __builtin_convertvector(t, D);
            memcpy(to + l, &d, sizeof d);
        }
    }
    put_frame(x, f->pad[1], f->n_rows, f->n[1]);
    transform(THERE, &f->across, 0, f->across.n, 1, f->across.turns, x);
}

/* Transform columns [c, c + PAIR) back, and store their line integrals in the view. */
static void columns_back(const struct fbp_retrieval *f, float *view, size_t c,
                         const struct phase_room *r)
{
    const float least = 1e-6f; /* same limit as in fbp_transmission() */
    const size_t n = f->n_columns - c;
    double *x = block_of(f, c, r);

    transform(BACK, &f->across, 0, f->across.n, 1, f->across.turns, x);
    for (size_t i = 0; i < f->n_rows; i++) {
        const double *from = x + (f->pad[1] + i) * POINT;
        float *row = view + i * f->n_columns + c, some[PAIR];
        float *to = n < PAIR ? some : row;
        UNROLL
        for (size_t l = 0; l < PAIR; l += FLOATS) {
            D d;
            memcpy(&d, from + l, sizeof d);
            const F p = -logarithm(MAXF(__builtin_convertvector(d, F), ALL(least)));
            memcpy(to + l, &p, sizeof p);
        }
        if (n < PAIR)
            memcpy(row, some, n * sizeof *row);
    }
}

/* Transpose a square of LANES x LANES: interleaving the first half of the vectors with the second
 * half rotates the bits of an element's index by one; log2(LANES) rotations exchange rows and
 * columns. */
INLINE void transpose(V a[LANES])
{
    UNROLL
    for (size_t step = 1; step < LANES; step *= 2) {
        V b[LANES];
        UNROLL
        for (size_t i = 0; i < LANES / 2; i++) {
            b[2 * i] = SHUFFLE(a[i], a[i + LANES / 2], ZIP_LO);
            b[2 * i + 1] = SHUFFLE(a[i], a[i + LANES / 2], ZIP_HI);
        }
        UNROLL
        for (size_t i = 0; i < LANES; i++)
            a[i] = b[i];
    }
}

INLINE void put_square(V a[LANES], double *x)
{
    transpose(a);
    UNROLL
    for (size_t l = 0; l < LANES; l++)
        store(x + l * POINT, a[l]);
}

INLINE void take_square(const double *x, V a[LANES])
{
    UNROLL
    for (size_t l = 0; l < LANES; l++)
        a[l] = load(x + l * POINT);
    transpose(a);
}

/* Factor by which all steps together multiply the values: n[0] n[1] by the transforms forward and
 * back, 2 by put_rows(). */
INLINE double divisor(const struct fbp_retrieval *f)
{
    return 2 * (double)f->n[0] * (double)f->n[1];
}

/* For ABREAST frequencies k along columns, one per lane: positions of k and of -k in a block of
 * columns, and a k^2 times divisor().  Lanes beyond the last frequency repeat it. */
struct row_pairs {
    size_t ahead[ABREAST], back[ABREAST];
    double v2[ABREAST];
};

/* Number of squares of LANES x LANES values in the real parts of LANES rows; the imaginary parts
 * consist of as many squares. */
INLINE size_t squares(const struct fbp_retrieval *f)
{
    return (f->n_columns + PAIR - 1) / PAIR * (ABREAST / LANES);
}

INLINE size_t column_of(size_t square)
{
    return square / (ABREAST / LANES) * PAIR + square % (ABREAST / LANES) * LANES;
}

/* Copy ABREAST rows of the columns' spectra, times 2, to x, the points of a transform of rows.
 * Columns c and c + ABREAST were transformed as real and imaginary part of one column: the
 * conjugate-symmetric part of its spectrum belongs to column c. */
static void put_rows(const struct fbp_retrieval *f, const struct row_pairs *p,
                     const struct phase_room *r, double *x)
{
    for (size_t i = 0; i < squares(f); i++)
        for (size_t q = 0; q < ABREAST; q += LANES) {
            const size_t c = column_of(i);
            const double *from = block_of(f, c - c % PAIR, r) + c % PAIR;
            V re[LANES], im[LANES], re2[LANES], im2[LANES];
            UNROLL
            for (size_t l = 0; l < LANES; l++) {
                const double *a = from + p->ahead[q + l], *b = from + p->back[q + l];
                const V ar = load(a), ai = load(a + ABREAST), br = load(b), bi = load(b + ABREAST);
                re[l] = ar + br;
                im[l] = ai - bi;
                re2[l] = ai + bi;
                im2[l] = br - ar;
            }
            put_square(re, x + c * POINT + q);
            put_square(im, x + c * POINT + ABREAST + q);
            put_square(re2, x + (c + ABREAST) * POINT + q);
            put_square(im2, x + (c + ABREAST) * POINT + ABREAST + q);
        }
}

/* The inverse of put_rows(). */
static void take_rows(const struct fbp_retrieval *f, const struct row_pairs *p,
                      const struct phase_room *r, const double *x)
{
    for (size_t i = 0; i < squares(f); i++)
        for (size_t q = 0; q < ABREAST; q += LANES) {
            const size_t c = column_of(i);
            double *to = block_of(f, c - c % PAIR, r) + c % PAIR;
            V re[LANES], im[LANES], re2[LANES], im2[LANES];
            take_square(x + c * POINT + q, re);
            take_square(x + c * POINT + ABREAST + q, im);
            take_square(x + (c + ABREAST) * POINT + q, re2);
            take_square(x + (c + ABREAST) * POINT + ABREAST + q, im2);
            UNROLL
            for (size_t l = 0; l < LANES; l++) {
                double *a = to + p->ahead[q + l], *b = to + p->back[q + l];
                store(b, re[l] + im2[l]);
                store(b + ABREAST, re2[l] - im[l]);
                store(a, re[l] - im2[l]);
                store(a + ABREAST, im[l] + re2[l]);
            }
        }
}

/* Compute 1 / d: in float, then one step of Newton's method, which squares the relative error. */
INLINE V reciprocal(V d)
{
    const V near = __builtin_convertvector((H){0} + 1 / __builtin_convertvector(d, H), V);

    return FMA(near, FNMA(d, near, VSET1(1)), near);
}

/* Last level of the transform of rows: transform blocks, divide frequency k by u2 + v2, which is
 * divisor() times 1 + a |k|^2, and transform the blocks back. */
INLINE void leaves(size_t radix, size_t blocks, const double *u2, const double *v2, double *x)
{
    for (size_t b = 0; b < blocks; b++, x += radix * POINT, u2 += radix)
        for (size_t q = 0; q < ABREAST; q += LANES) {
            V re[MOST], im[MOST];
            load_points(x + q, 1, radix, THERE, re, im);
            dft(radix, re, im);
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                const V factor = reciprocal(u2[k] + load(v2 + q));
                re[k] = re[k] * factor;
                im[k] = im[k] * factor;
            }
            dft(radix, im, re);
            store_points(x + q, 1, radix, THERE, re, im);
        }
}

/* Transform blocks of n points by the levels from `level` on, divide frequencies as in leaves(),
 * and transform the blocks back; w: twiddle factors of `level`.  If all blocks fit the cache, they
 * are processed level by level, else one block after another. */
static void divide(const struct fbp_mixed *f, unsigned level, size_t n, size_t blocks,
                   const double *w, const double *u2, const double *v2, double *x)
{
    if (level + 1 >= f->n_levels) {
        if (n == 5)
            leaves(5, blocks, u2, v2, x);
        else if (n == 4)
            leaves(4, blocks, u2, v2, x);
        else if (n == 3)
            leaves(3, blocks, u2, v2, x);
        else if (n == 2)
            leaves(2, blocks, u2, v2, x);
        else
            leaves(1, blocks, u2, v2, x);
        return;
    }
    const size_t radix = f->radix[level], m = n / radix;
    const bool fits = fits_cache(n * blocks);
    cut(radix, m, blocks, w, x);
    for (size_t k = 0; k < (fits ? 1 : radix * blocks); k++)
        divide(f, level + 1, m, fits ? radix * blocks : 1, w + 2 * (radix - 1) * m, u2 + k * m, v2,
               x + k * m * POINT);
    join(radix, m, blocks, w, x);
}

void TABLE(const struct fbp_retrieval *f, enum fbp_retrieved_from from, const double reach[2],
           float *view, const struct phase_room *r)
{
    const size_t n = f->n[1];
    const double u_step = 2 * FBP_PI * reach[0] / (double)f->n[0];
    const double v_step = 2 * FBP_PI * reach[1] / (double)n;

    for (size_t i = 0; i < f->n[0]; i++) {
        const size_t k = f->frequency[i];
        const double u = u_step * (double)(k <= f->n[0] / 2 ? k : f->n[0] - k);
        r->u2[i] = divisor(f) * (1 + u * u);
    }
    for (size_t c = 0; c < f->n_columns; c += PAIR)
        if (from == FBP_FROM_INTEGRALS)
            columns_there(f, FBP_FROM_INTEGRALS, view, c, r);
        else
            columns_there(f, FBP_FROM_TRANSMISSIONS, view, c, r);
    for (size_t j = 0; j <= n / 2; j += ABREAST) { /* rows [j, j + ABREAST) of the spectra */
        struct row_pairs pairs;
        for (size_t l = 0; l < ABREAST; l++) {
            const size_t k = j + l <= n / 2 ? j + l : n / 2;
            pairs.ahead[l] = f->place[k] * POINT;
            pairs.back[l] = f->place[(n - k) % n] * POINT;
            pairs.v2[l] = divisor(f) * (v_step * (double)k * v_step * (double)k);
        }
        put_rows(f, &pairs, r, r->x + f->pad[0] * POINT);
        put_frame(r->x, f->pad[0], f->n_columns, f->n[0]);
        divide(&f->along, 0, f->n[0], 1, f->along.turns, r->u2, pairs.v2, r->x);
        take_rows(f, &pairs, r, r->x + f->pad[0] * POINT);
    }
    for (size_t c = 0; c < f->n_columns; c += PAIR)
        columns_back(f, view, c, r);
}
