/* Scores of a reconstructed slice (sharpness, negativity; fbp_slice_score()), the peak of a list
 * of scores (fbp_score_peak()), and a second peak of nearly the same height (fbp_score_rival()).
 * The search for the rotation axis and `fbp recon --sweep` choose the geometry with the best
 * score.
 * Used by: cli/sweep.c, centre.c. */
#include "analysis/score.h"

#include "base/base.h"

#include <math.h>

/* Smooth n values, `step` apart in memory, by (1 2 1) / 4 in place; the end values are repeated. */
static void smooth_line(float *v, size_t n, size_t step)
{
    float before = v[0];

    for (size_t i = 0; i < n; i++) {
        const float here = v[i * step], after = i + 1 < n ? v[(i + 1) * step] : here;
        v[i * step] = 0.25F * (before + 2 * here + after);
        before = here;
    }
}

double fbp_slice_score(enum fbp_score score, float *values, size_t nx, size_t ny, double cx,
                       double cy, double radius)
{
    enum { SMOOTHING = 4, FEWEST = 16 };
    FBP_REQUIRE_ELSE(NAN, values);
    double sum = 0, squares = 0, negative = 0;
    size_t n = 0;
#define INSIDE(x, y) \
    (hypot((double)(x)-cx, (double)(y)-cy) <= radius && isfinite(values[(y)*nx + (x)]))

    for (size_t y = 0; y < ny; y++)
        for (size_t x = 0; x < nx; x++)
            n += INSIDE(x, y);
    if (n < FEWEST)
        return NAN;

    /* A wrong geometry causes bright and dark traces beside objects (Donath et al., J. Opt. Soc.
     * Am. A 23 (2006) 1048: "integral of negativity"). */
    if (score == FBP_SCORE_NEGATIVITY) {
        for (size_t y = 0; y < ny; y++)
            for (size_t x = 0; x < nx; x++)
                if (INSIDE(x, y)) {
                    negative += fmax(0, -(double)values[y * nx + x]);
                    sum += fabs((double)values[y * nx + x]);
                }
        return -negative / sum;
    }

    /* Smooth the slice by four passes of a binomial filter of variance 1/2: otherwise noise, which
     * interpolation changes differently at whole and half pixels, outweighs edges. */
    for (int pass = 0; pass < SMOOTHING; pass++) {
        for (size_t y = 0; y < ny; y++)
            smooth_line(values + y * nx, nx, 1);
        for (size_t x = 0; x < nx; x++)
            smooth_line(values + x, ny, nx);
    }

    /* With the right geometry edges are few and steep: the score is the root mean square of the
     * gradient over its mean, which does not depend on the contrast of the object. */
    double count = 0;
    for (size_t y = 0; y + 1 < ny; y++)
        for (size_t x = 0; x + 1 < nx; x++) {
            if (!INSIDE(x, y) || !INSIDE(x + 1, y) || !INSIDE(x, y + 1))
                continue;
            const double v = (double)values[y * nx + x];
            const double g =
                hypot((double)values[y * nx + x + 1] - v, (double)values[(y + 1) * nx + x] - v);
            sum += g;
            squares += g * g;
            count++;
        }
#undef INSIDE
    return sqrt(squares * count) / sum;
}

static size_t greatest(const double *y, size_t n)
{
    size_t best = n;

    for (size_t i = 0; i < n; i++)
        if (isfinite(y[i]) && (best == n || y[i] > y[best]))
            best = i;
    return best;
}

size_t fbp_score_rival(const double *y, size_t n)
{
    FBP_REQUIRE_ELSE(n, y);
    const size_t best = greatest(y, n);
    size_t rival = n;
    double least = INFINITY;

    for (size_t i = 0; i < n; i++)
        least = fmin(least, y[i]);
    for (int direction = -1; best < n && direction <= 1; direction += 2) {
        double valley = y[best];
        /* below 0, i wraps around to a large number, which also ends the loop */
        for (size_t i = best; i < n; i += (size_t)direction) {
            valley = fmin(valley, y[i]);
            if (y[i] - valley >= 0.1 * (y[best] - least) &&
                y[best] - y[i] <= 0.01 * fabs(y[best]) && y[i] > valley &&
                (rival == n || y[i] > y[rival]))
                rival = i;
        }
    }
    return rival;
}

double fbp_score_peak(const double *y, size_t n, bool *at_end)
{
    FBP_REQUIRE_ELSE(NAN, y, at_end);
    const size_t best = greatest(y, n);

    *at_end = true;
    if (best == n)
        return NAN;
    if (best == 0 || best + 1 == n || !isfinite(y[best - 1]) || !isfinite(y[best + 1]))
        return (double)best;
    *at_end = false;
    const double bend = y[best - 1] - 2 * y[best] + y[best + 1];
    return bend < 0 ? (double)best + (y[best - 1] - y[best + 1]) / (2 * bend) : (double)best;
}
