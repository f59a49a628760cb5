#include "prep/resample.h"

/* Lagrange's polynomial of four nodes. */
static void weigh(const double *x, double at, double weight[4])
{
    for (int i = 0; i < 4; i++) {
        weight[i] = 1;
        for (int k = 0; k < 4; k++)
            if (k != i)
                weight[i] *= (at - x[k]) / (x[i] - x[k]);
    }
}

void fbp_resample_taps(const double *places, size_t n, struct fbp_taps *out)
{
    const double step = (places[n - 1] - places[0]) / (double)(n - 1);
    size_t right = 1; /* the first sample at or behind the place */

    for (size_t i = 0; i < n; i++) {
        const double at = i + 1 < n ? places[0] + (double)i * step : places[n - 1];
        while (right + 1 < n && (places[right] - at) * step < 0)
            right++;
        const size_t first = right < 2 ? 0 : right - 2;
        out[i].first = first + 4 > n ? n - 4 : first;
        weigh(places + out[i].first, at, out[i].weight);
    }
}

void fbp_resample(const struct fbp_taps *taps, size_t n, const double complex *in,
                  double complex *out)
{
    for (size_t i = 0; i < n; i++) {
        const double complex *from = in + taps[i].first;
        out[i] = 0;
        for (int k = 0; k < 4; k++)
            out[i] += taps[i].weight[k] * from[k];
    }
}
