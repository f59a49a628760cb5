#include "filter/cyclic.h"

#include "base/vec.h"
#include "filter/spline.h"

#include <string.h>

/* What the Fourier series through the samples has of one of them, x samples from it: a sum of
 * cosines; of an even number the highest counts half. */
static double dirichlet(size_t n, double x)
{
    const double a = FBP_PI * x, b = a / (double)n;
    const double below = (double)n * (n % 2 ? sin(b) : tan(b));

    return fabs(sin(b)) < 1e-12 ? 1 : sin(a) / below;
}

/* Kernel that makes coefficients of periodic splines: the inverse of (1, 4, 1) / 6 on a circle. */
void fbp_cyclic_prepare(enum fbp_ring_interpolation how, size_t n, double *scratch)
{
    const double turn = 2 * FBP_PI / (double)n;

    for (size_t i = 0; how == FBP_RINGS_SPLINE && i < n; i++) {
        scratch[i] = 0;
        for (size_t f = 0; f < n; f++)
            scratch[i] += cos(turn * (double)(f * i % n)) / (4 + 2 * cos(turn * (double)f));
        scratch[i] *= 6 / (double)n;
    }
}

/* Of coefficient k every sample has a part. */
static void add_coefficient(const double *kernel, size_t n, size_t k, double times, double *weights)
{
    for (size_t i = 0; i < n; i++)
        weights[i] += times * kernel[(k + n - i) % n];
}

/* i modulo n, also of one that is negative. */
static size_t around(double i, size_t n)
{
    const double m = fmod(i, (double)n);

    return (size_t)(m < 0 ? m + (double)n : m);
}

void fbp_cyclic_weights(enum fbp_ring_interpolation how, size_t n, double x, const double *scratch,
                        double *weights)
{
    const double first = floor(x), part = x - first;
    double w[4];

    memset(weights, 0, n * sizeof *weights);
    switch (how) {
    case FBP_RINGS_LINEAR:
        weights[around(first, n)] += 1 - part;
        weights[around(first + 1, n)] += part;
        return;
    case FBP_RINGS_SPLINE:
        fbp_spline_weights(part, w);
        for (int i = 0; i < 4; i++)
            add_coefficient(scratch, n, around(first + i - 1, n), w[i], weights);
        return;
    default:
        for (size_t i = 0; i < n; i++)
            weights[i] = dirichlet(n, x - (double)i);
        return;
    }
}
