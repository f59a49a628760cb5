#include "fft/mixed.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* One row at a time. */
typedef double V;

#define S              double
#define VSET1(a)       (a)
#define VFMA(a, b, c)  ((a) * (b) + (c))
#define VFNMA(a, b, c) ((c) - (a) * (b))

#include "fft/small_tmpl.h"

enum { MOST = 5 };

/* Blocks of radix * m points, `side` of them interleaved.  Stockham's transform: every level writes
 * what it cut to where it will be wanted, so that the last leaves frequencies in their order (Van
 * Loan, Computational Frameworks for the FFT, 1992, 1.7). */
INLINE void level(size_t radix, size_t m, size_t side, const double *w, const double *x,
                  double *out)
{
    for (size_t p = 0; p < m; p++, w += 2 * (radix - 1))
        for (size_t q = 0; q < side; q++) {
            const double *from = x + 2 * (side * p + q);
            double *to = out + 2 * (side * radix * p + q);
            V re[MOST], im[MOST];
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                re[k] = from[2 * side * m * k];
                im[k] = from[2 * side * m * k + 1];
            }
            dft(radix, re, im);
            turn_all(radix, w, re, im);
            UNROLL
            for (size_t k = 0; k < radix; k++) {
                to[2 * side * k] = re[k];
                to[2 * side * k + 1] = im[k];
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

void fbp_mixed_run(const struct fbp_mixed *f, double *x, double *work)
{
    const double *w = f->turns, *from = x;
    double *to = work;
    size_t side = 1;

    for (unsigned i = 0; i < f->n_levels; i++) {
        const size_t radix = f->radix[i], m = f->n / side / radix;
        run_level(radix, m, side, w, from, to);
        w += 2 * (radix - 1) * m;
        side *= radix;
        from = to;
        to = to == work ? x : work;
    }
    if (from != x)
        memcpy(x, from, 2 * f->n * sizeof *x);
}

void fbp_mixed_order(const struct fbp_mixed *f, size_t *frequency)
{
    for (size_t i = 0; i < f->n; i++) { /* its digits in the other order */
        size_t m = f->n, times = 1, at = i;
        frequency[i] = 0;
        for (unsigned l = 0; l < f->n_levels; l++) {
            m /= f->radix[l];
            frequency[i] += times * (at / m);
            at %= m;
            times *= f->radix[l];
        }
    }
}

static fbp_status choose_levels(struct fbp_mixed *f)
{
    static const size_t radices[] = {4, 2, 5, 3};
    size_t left = f->n;

    for (unsigned i = 0; i < 4; i++)
        for (; left % radices[i] == 0; left /= radices[i])
            f->radix[f->n_levels++] = radices[i];
    return left == 1 ? FBP_OK : FBP_ERR_UNSUPPORTED;
}

/* exp(-2 pi i p k / n), of a level's blocks of n = radix m points; returns what is behind them. */
static double *fill_turns(size_t radix, size_t m, double *out)
{
    const size_t n = radix * m;

    for (size_t p = 0; p < m; p++)
        for (size_t k = 1; k < radix; k++) {
            const double angle = 2 * FBP_PI * (double)(p * k % n) / (double)n;
            *out++ = cos(angle);
            *out++ = -sin(angle);
        }
    return out;
}

fbp_status fbp_mixed_open(struct fbp_mixed *f, size_t n)
{
    size_t points = n;

    *f = (struct fbp_mixed){.n = n};
    FBP_TRY(choose_levels(f));
    /* radix - 1 numbers for every one of points / radix, and so on: n - 1 in all */
    FBP_TRY(fbp_alloc((void **)&f->turns, 2 * n * sizeof(double), "the plan of a transform"));
    double *at = f->turns;
    for (unsigned i = 0; i < f->n_levels; i++) {
        points /= f->radix[i];
        at = fill_turns(f->radix[i], points, at);
    }
    return FBP_OK;
}

void fbp_mixed_close(struct fbp_mixed *f)
{
    fbp_free(f->turns);
    f->turns = NULL;
}
