/*
 * Template of in-place Fourier transforms in double of ABREAST complex rows at once, by the plans
 * of fft.h (struct fbp_mixed).  Layout of point i of row l:
 *
 *     x[(i 2 + part) ABREAST + l],   part 0 real, 1 imaginary, l < ABREAST
 *
 * Parameters: ABREAST; LANES, doubles per vector, which divides it; FMA(a, b, c), a b + c, and
 * FNMA(a, b, c), c - a b.  The forward transform cuts blocks by decimation in frequency, the
 * inverse joins them by decimation in time (Van Loan, Computational Frameworks for the FFT, 1992,
 * 1.4 and 1.9).  Frequencies are not sorted; fbp_mixed_order() returns their order.  A block that
 * fits a cache is completed before the next.
 * Used by: prep/phase_tmpl.h.
 */
#include "fft/fft.h"

#include <string.h>

typedef double V __attribute__((vector_size(8 * LANES)));

#define S              double
#define VSET1(a)       ((a) - (V){0}) /* a in all elements of a vector */
#define VFMA(a, b, c)  FMA(a, b, c)
#define VFNMA(a, b, c) FNMA(a, b, c)

#include "fft/small_tmpl.h"

enum { POINT = 2 * ABREAST, MOST = 5 };

/* Direction of a transform: THERE: forward; BACK: inverse, which is the forward transform with real
 * and imaginary parts exchanged.  The value is the offset of the parts that count as real. */
enum way { THERE = 0, BACK = ABREAST };

INLINE V load(const double *p)
{
    V v;

    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void store(double *p, V v)
{
    memcpy(p, &v, sizeof v);
}

INLINE void load_points(const double *x, size_t m, size_t n, enum way way, V *re, V *im)
{
    UNROLL
    for (size_t k = 0; k < n; k++) {
        re[k] = load(x + k * m * POINT + way);
        im[k] = load(x + k * m * POINT + ABREAST - way);
    }
}

INLINE void store_points(double *x, size_t m, size_t n, enum way way, const V *re, const V *im)
{
    UNROLL
    for (size_t k = 0; k < n; k++) {
        store(x + k * m * POINT + way, re[k]);
        store(x + k * m * POINT + ABREAST - way, im[k]);
    }
}

/* One level of a transform: cut each block of radix * m points into `radix` blocks (way THERE), or
 * join `radix` blocks to one (BACK).  Points are multiplied by twiddle factors after cutting or
 * before joining, except at the last level, m = 1. */
INLINE void do_blocks(enum way way, size_t radix, size_t m, size_t blocks, const double *turns,
                      double *x)
{
    for (size_t b = 0; b < blocks; b++, x += (radix - 1) * m * POINT) {
        const double *w = turns;
        for (size_t p = 0; p < m; p++, x += POINT, w += 2 * (radix - 1))
            for (size_t q = 0; q < ABREAST; q += LANES) {
                V re[MOST], im[MOST];
                load_points(x + q, m, radix, way, re, im);
                if (way == BACK && m > 1)
                    turn_all(radix, w, re, im);
                dft(radix, re, im);
                if (way == THERE && m > 1)
                    turn_all(radix, w, re, im);
                store_points(x + q, m, radix, way, re, im);
            }
    }
}

INLINE void any_radix(enum way way, size_t radix, size_t m, size_t blocks, const double *turns,
                      double *x)
{
    if (radix == 4)
        do_blocks(way, 4, m, blocks, turns, x);
    else if (radix == 2)
        do_blocks(way, 2, m, blocks, turns, x);
    else if (radix == 3)
        do_blocks(way, 3, m, blocks, turns, x);
    else
        do_blocks(way, 5, m, blocks, turns, x);
}

static void cut(size_t radix, size_t m, size_t blocks, const double *turns, double *x)
{
    any_radix(THERE, radix, m, blocks, turns, x);
}

static void join(size_t radix, size_t m, size_t blocks, const double *turns, double *x)
{
    any_radix(BACK, radix, m, blocks, turns, x);
}

/* True if `points` points (of all ABREAST rows) have at most 32 KiB, and thus fit a cache that also
 * holds other data.  Blocks are then transformed level by level, else one block after another. */
INLINE bool fits_cache(size_t points)
{
    return points * POINT <= 4096;
}

/* Transform `blocks` blocks of n points by all levels from `level` on; w: twiddle factors of
 * `level` and of the next levels. */
static void transform(enum way way, const struct fbp_mixed *f, unsigned level, size_t n,
                      size_t blocks, const double *w, double *x)
{
    if (level == f->n_levels)
        return;
    const size_t radix = f->radix[level], m = n / radix;
    const bool fits = fits_cache(n * blocks);
    if (way == THERE)
        cut(radix, m, blocks, w, x);
    for (size_t k = 0; k < (fits ? 1 : radix * blocks); k++)
        transform(way, f, level + 1, m, fits ? radix * blocks : 1, w + 2 * (radix - 1) * m,
                  x + k * m * POINT);
    if (way == BACK)
        join(radix, m, blocks, w, x);
}
