/* How sharp is a slice? */
#include "fbp/analysis.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMOOTHING = 4, FEWEST = 16 };

struct region {
    const float *values;
    size_t nx, ny;
    double cx, cy, radius;
};

static bool inside(const struct region *r, size_t x, size_t y)
{
    return hypot((double)x - r->cx, (double)y - r->cy) <= r->radius &&
           isfinite(r->values[y * r->nx + x]);
}

static double at(const struct region *r, size_t x, size_t y)
{
    return (double)r->values[y * r->nx + x];
}

/* Wrong geometry makes bright and dark traces beside what is there (Donath et al., J. Opt. Soc.
 * Am. A 23 (2006) 1048: "integral of negativity"). */
static double negativity(const struct region *r)
{
    double negative = 0, all = 0;

    for (size_t y = 0; y < r->ny; y++)
        for (size_t x = 0; x < r->nx; x++)
            if (inside(r, x, y)) {
                negative += fmax(0, -at(r, x, y));
                all += fabs(at(r, x, y));
            }
    return -negative / all;
}

/* (1 2 1) / 4 over n values that lie `step` apart; the outer ones repeat. */
static void smooth_line(float *v, size_t n, size_t step)
{
    float before = v[0];

    for (size_t i = 0; i < n; i++) {
        const float here = v[i * step], after = i + 1 < n ? v[(i + 1) * step] : here;
        v[i * step] = 0.25F * (before + 2 * here + after);
        before = here;
    }
}

/* A binomial filter of variance 1/2 a pass: noise, and what interpolation does to it at whole and
 * half pixels, must not outweigh edges. */
static void smooth(float *v, size_t nx, size_t ny, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < ny; y++)
            smooth_line(v + y * nx, nx, 1);
        for (size_t x = 0; x < nx; x++)
            smooth_line(v + x, ny, nx);
    }
}

/* Edges in their places are few and steep: root mean square of the gradient over its mean.  Neither
 * the contrast nor the amount of what is there matters. */
static double sharpness(const struct region *r)
{
    double sum = 0, squares = 0, n = 0;

    for (size_t y = 0; y + 1 < r->ny; y++)
        for (size_t x = 0; x + 1 < r->nx; x++) {
            if (!inside(r, x, y) || !inside(r, x + 1, y) || !inside(r, x, y + 1))
                continue;
            const double v = at(r, x, y), g = hypot(at(r, x + 1, y) - v, at(r, x, y + 1) - v);
            sum += g;
            squares += g * g;
            n++;
        }
    return sqrt(squares * n) / sum;
}

double fbp_slice_score(enum fbp_score score, float *values, size_t nx, size_t ny, double cx,
                       double cy, double radius)
{
    FBP_GIVEN_ELSE(NAN, values);
    const struct region r = {values, nx, ny, cx, cy, radius};
    size_t n = 0;

    for (size_t y = 0; y < ny; y++)
        for (size_t x = 0; x < nx; x++)
            n += inside(&r, x, y);
    if (n < FEWEST)
        return NAN;
    if (score == FBP_SCORE_NEGATIVITY)
        return negativity(&r);
    smooth(values, nx, ny, SMOOTHING);
    return sharpness(&r);
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
    FBP_GIVEN_ELSE(n, y);
    const size_t best = greatest(y, n);
    size_t rival = n;
    double least = INFINITY;

    for (size_t i = 0; i < n; i++)
        least = fmin(least, y[i]);
    for (int way = -1; best < n && way <= 1; way += 2) {
        double valley = y[best];
        /* ends when the index runs below 0, too */
        for (size_t i = best; i < n; i += (size_t)way) {
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
    FBP_GIVEN_ELSE(NAN, y, at_end);
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
