#include "fft/mixed.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* One row at a time. */
typedef double V;

#define ABREAST 1
#define LANES   1

#include "fft/abreast_tmpl.h"

void fbp_mixed_run(const struct fbp_mixed *f, double *x, double *work)
{
    const double *result = transform_abreast(f, x, work);

    if (result != x)
        memcpy(x, result, 2 * f->n * sizeof *x);
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
