/* A histogram whose range grows with the values, in one pass.  reduced.c fills it, viewer.c writes
 * it to a page. */
#include "page/histogram.h"

#include <math.h>
#include <string.h>

/* Double the range, upwards or downwards: each pair of bins is joined to one. */
static void grow(struct histogram *h, bool up)
{
    uint64_t pairs[HISTOGRAM_BINS / 2];

    for (size_t i = 0; i < HISTOGRAM_BINS / 2; i++)
        pairs[i] = h->counts[2 * i] + h->counts[2 * i + 1];
    memset(h->counts, 0, sizeof h->counts);
    memcpy(h->counts + (up ? 0 : HISTOGRAM_BINS / 2), pairs, sizeof pairs);
    if (!up)
        h->lo -= h->width * HISTOGRAM_BINS;
    h->width *= 2;
}

static double end_of(const struct histogram *h)
{
    return h->lo + h->width * HISTOGRAM_BINS;
}

static void cover(struct histogram *h, double least, double greatest)
{
    while (greatest >= end_of(h))
        grow(h, true);
    while (least < h->lo)
        grow(h, false);
}

/* Choose the first range when two different values are known: it contains both, and whole steps lie
 * at the centres of bins. */
static void begin(struct histogram *h, double least, double greatest)
{
    h->begun = true;
    h->width = h->step > 0 ? h->step : (greatest - least) * 2 / HISTOGRAM_BINS;
    h->lo = least - h->width / 2;
    cover(h, least, greatest);
}

static void put(struct histogram *h, double value, uint64_t n)
{
    const double place = (value - h->lo) / h->width;
    const size_t i = place > 0 ? (size_t)place : 0;

    h->counts[i < HISTOGRAM_BINS ? i : HISTOGRAM_BINS - 1] += n;
}

/* Least and greatest finite value; returns the number of finite values. */
static size_t range_of(const float *values, size_t n, double *least, double *greatest)
{
    float lo = INFINITY, hi = -INFINITY;
    size_t finite = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            lo = values[i] < lo ? values[i] : lo;
            hi = values[i] > hi ? values[i] : hi;
            finite++;
        }
    *least = (double)lo;
    *greatest = (double)hi;
    return finite;
}

/* Count n finite values and return true if all values so far are equal.  Otherwise choose the range
 * if there is none, move the earlier values into it, and return false: the n are not counted. */
static bool is_one_value(struct histogram *h, double least, double greatest, size_t n)
{
    if (h->begun)
        return false;
    if (h->n_only == 0)
        h->only = least;
    if (!(least < h->only) && !(greatest > h->only)) {
        h->n_only += n;
        return true;
    }
    begin(h, fmin(least, h->only), fmax(greatest, h->only));
    put(h, h->only, h->n_only);
    return false;
}

void histogram_add(struct histogram *h, const float *values, size_t n)
{
    double least, greatest;
    const size_t finite = range_of(values, n, &least, &greatest);

    if (finite == 0 || is_one_value(h, least, greatest, finite))
        return;
    cover(h, least, greatest);
    const double lo = h->lo, scale = 1 / h->width;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i])) {
            const double place = ((double)values[i] - lo) * scale;
            const size_t bin = place > 0 ? (size_t)place : 0;
            h->counts[bin < HISTOGRAM_BINS ? bin : HISTOGRAM_BINS - 1]++;
        }
}

static size_t tell_one(const struct histogram *h, double *lo, double *width, uint64_t *counts)
{
    *width = h->step > 0 ? h->step : fabs(h->only) > 0 ? fabs(h->only) * 1e-3 : 1;
    *lo = h->only - *width / 2;
    counts[0] = h->n_only;
    return h->n_only > 0;
}

size_t histogram_tell(const struct histogram *h, size_t most, double *lo, double *width,
                      uint64_t *counts)
{
    size_t first = 0, end = HISTOGRAM_BINS;

    if (!h->begun)
        return tell_one(h, lo, width, counts);
    while (h->counts[first] == 0)
        first++;
    while (h->counts[end - 1] == 0)
        end--;
    const size_t join = (end - first + most - 1) / most, n = (end - first + join - 1) / join;
    memset(counts, 0, n * sizeof *counts);
    for (size_t i = first; i < end; i++)
        counts[(i - first) / join] += h->counts[i];
    *lo = h->lo + (double)first * h->width;
    *width = h->width * (double)join;
    return n;
}
