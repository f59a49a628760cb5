/*
 * Template of transforms in double of ABREAST rows side by side, by the plans of mixed.h:
 *
 *     x[(i 2 + part) ABREAST + l],   part 0 real, 1 imaginary, l < ABREAST
 *
 * Parameters: ABREAST; LANES, doubles per vector, which divides it; V, a vector of them.  A row has
 * the same bits with any of them, as multiplication and addition stay apart.  The way back is the
 * way there of numbers whose parts are exchanged, and that leave it so.
 *
 * Stockham's transform: every level writes what it cut to where it will be wanted, so that the last
 * leaves frequencies in their order (Van Loan, Computational Frameworks for the FFT, 1992, 1.7).
 */
#include "fft/mixed.h"

#include <string.h>

#define S              double
#define VSET1(a)       ((a) - (V){0}) /* a in all lanes */
#define VFMA(a, b, c)  ((a) * (b) + (c))
#define VFNMA(a, b, c) ((c) - (a) * (b))

#include "fft/small_tmpl.h"

enum { POINT = 2 * ABREAST, MOST = 5 };

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

/* Blocks of radix * m points, `side` of them interleaved. */
INLINE void level(size_t radix, size_t m, size_t side, const double *w, const double *x,
                  double *out)
{
    for (size_t p = 0; p < m; p++, w += 2 * (radix - 1))
        for (size_t q = 0; q < side * ABREAST; q += LANES) {
            const double *from = x + POINT * (side * p + q / ABREAST) + q % ABREAST;
            double *to = out + POINT * (side * radix * p + q / ABREAST) + q % ABREAST;
            V re[MOST], im[MOST];
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                re[k] = load(from + POINT * side * m * k);
                im[k] = load(from + POINT * side * m * k + ABREAST);
            }
            dft(radix, re, im);
            turn_all(radix, w, re, im);
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                store(to + POINT * side * k, re[k]);
                store(to + POINT * side * k + ABREAST, im[k]);
            }
        }
}

static void run_level(size_t radix, size_t m, size_t side, const double *w, const double *x,
                      double *out)
{
    if (radix == 4)
        level(4, m, side, w, x, out);
    else if (radix == 2)
        level(2, m, side, w, x, out);
    else if (radix == 3)
        level(3, m, side, w, x, out);
    else
        level(5, m, side, w, x, out);
}

/* x and work: [f->n * POINT].  Returns the one that has the result. */
static double *transform_abreast(const struct fbp_mixed *f, double *x, double *work)
{
    const double *w = f->turns;
    size_t side = 1;

    for (unsigned i = 0; i < f->n_levels; i++) {
        const size_t radix = f->radix[i], m = f->n / side / radix;
        run_level(radix, m, side, w, x, work);
        w += 2 * (radix - 1) * m;
        side *= radix;
        double *swap = x;
        x = work;
        work = swap;
    }
    return x;
}
