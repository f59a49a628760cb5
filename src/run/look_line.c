/*
 * What a row shows.  It has to cost little: a view is looked at by whoever has read it.  So values
 * are compared as they grow with line integrals, of intensities as minus the transmission, and only
 * what is told of a row becomes a logarithm.
 */
#include "run/look_parts.h"

#include "backend/rows.h"
#include "prep/prep.h"

void look_choose_columns(struct look_columns *out, size_t n_columns)
{
    const size_t wanted = n_columns / 32, most = n_columns < 4 ? n_columns : 4;
    size_t n = LOOK_ENDS;

    for (size_t i = 0; i < LOOK_PLACES; i++) {
        const size_t c = (2 * i + 1) * n_columns / LOOK_ENDS;
        out->at[i] = c;
        out->at[LOOK_PLACES + i] = c + 1 < n_columns ? c + 1 : c;
    }
    out->ends = wanted < 4 ? most : wanted < LOOK_COLUMNS ? wanted : LOOK_COLUMNS;
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < out->ends; i++)
            out->at[n++] = end ? n_columns - 1 - i : i;
    out->n = n;
}

void look_ahead(const struct look_line *line, const struct look_columns *columns)
{
    const size_t size = fbp_raw_size(line->job);
    const char *samples = line->samples;

    for (size_t i = 0; i < LOOK_PLACES; i++)
        __builtin_prefetch(samples + columns->at[i] * size);
    for (size_t end = 0; end < 2; end++)
        __builtin_prefetch(samples + columns->at[LOOK_ENDS + end * columns->ends] * size);
}

static inline float sample(const struct look_line *line, size_t c)
{
    return line->job->raw == FBP_U16   ? (float)((const uint16_t *)line->samples)[c]
           : line->job->raw == FBP_F64 ? (float)((const double *)line->samples)[c]
                                       : ((const float *)line->samples)[c];
}

/* What grows with the line integral, NaN for a bad pixel; *clipped counts. */
static inline float value(const struct fbp_prep *p, size_t pixel, float x, size_t *clipped)
{
    const float gain = p->gain ? p->gain[pixel] : p->inverse_i0;

    if (!p->intensity)
        return x;
    if (p->gain && gain == 0)
        return NAN;
    return -fbp_transmission(x, p->dark ? p->dark[pixel] : 0, gain, p->gain, clipped);
}

static float line_integral(const struct fbp_prep *p, float value)
{
    return p->intensity ? -logf(-value) : value;
}

/* The lower one, of few: what just touches an end is not cut off.  Without branches: the greatest
 * of those that no more than half are below. */
static float median(const float *x, size_t n)
{
    float all[LOOK_COLUMNS], found = -INFINITY;
    int below[LOOK_COLUMNS] = {0};

    for (size_t i = 0; i < LOOK_COLUMNS; i++)
        all[i] = i < n ? x[i] : INFINITY;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < LOOK_COLUMNS; i++)
            below[i] += all[k] < all[i];
    for (size_t i = 0; i < n; i++)
        found = below[i] <= (int)(n - 1) / 2 && all[i] > found ? all[i] : found;
    return n ? found : NAN;
}

/* Median of n columns at an end, and the standard deviation that noise gives it. */
static void look_at_end(const struct fbp_prep *p, const float *values, size_t n, float *end,
                        float *noise, float *slope)
{
    float halves[2] = {0, 0};

    for (size_t i = 0; i < n / 2; i++) {
        halves[0] += values[i];
        halves[1] += values[n - 1 - i];
    }
    *slope = n > 1 ? (halves[1] - halves[0]) / (float)(n / 2) : 0;
    float x[LOOK_COLUMNS], d[LOOK_COLUMNS];
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        const float v = values[i];
        if (!isfinite(v))
            continue;
        if (m > 0) { /* logarithms differ by that of the quotient */
            const float lo = look_least(v, x[m - 1]), hi = look_most(v, x[m - 1]);
            d[m - 1] = p->intensity ? lo / hi : hi - lo;
        }
        x[m++] = v;
    }
    /* median |difference| = 0.954 sigma; that of a median of m: 1.25 sigma / sqrt(m) */
    const float typical = m > 1 ? median(d, m - 1) : 0;
    const float sigma = m > 1 ? 1.05f * (p->intensity ? logf(typical) : typical) : 0;
    *end = m ? line_integral(p, median(x, m)) : NAN;
    *noise = m ? 1.25f * sigma / sqrtf((float)m) : 0;
}

void look_at_line(const struct look_line *line, const struct look_columns *columns,
                  struct look_row *out)
{
    const struct fbp_prep *prep = line->job->prep;
    const size_t first = line->r * prep->panel.n_columns;
    float v[sizeof columns->at / sizeof *columns->at], peak = -INFINITY, low = INFINITY;
    size_t clipped = 0;

    for (size_t i = 0; i < columns->n; i++)
        v[i] = sample(line, columns->at[i]);
    for (size_t i = 0; prep->intensity && i < columns->n; i++)
        v[i] = value(prep, first + columns->at[i], v[i], &clipped);
    for (size_t i = 0; i < LOOK_PLACES; i++) { /* the lesser of two neighbours is no hot pixel */
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): columns are at least these */
        const float a = v[i], b = v[LOOK_PLACES + i];
        peak = isfinite(a) && isfinite(b) ? look_most(peak, look_least(a, b)) : peak;
        low = isfinite(a) && isfinite(b) ? look_least(low, look_most(a, b)) : low;
    }
    out->low = low;
    out->peak = isfinite(peak) ? line_integral(prep, peak) : peak;
    for (size_t end = 0; end < 2; end++)
        look_at_end(prep, v + LOOK_ENDS + end * columns->ends, columns->ends, &out->end[end],
                    &out->noise[end], &out->slope[end]);
    out->seen = isfinite(out->peak) && isfinite(out->end[0]) && isfinite(out->end[1]);
}

void look_for_life(const struct look_line *line, size_t step, struct look_view *v)
{
    const size_t nc = line->job->panel.n_columns;

    for (size_t c = 0; c < nc && !look_is_live(v); c += step) {
        const float x = sample(line, c);
        size_t clipped = 0;
        if (!isfinite(x) || isnan(value(line->job->prep, line->r * nc + c, x, &clipped)))
            continue;
        v->lo = look_least(v->lo, x);
        v->hi = look_most(v->hi, x);
        v->unclipped |= clipped == 0;
    }
}
