/*
 * B. Muench, P. Trtik, F. Marone and M. Stampanoni, Opt. Express 17, 8567 (2009): stripes along the
 * angles are in the wavelet coefficients that vary along columns and not along angles; of these,
 * level by level, low frequencies along the angles are damped by 1 - exp(-f^2 / 2 sigma^2).
 *
 * All of it is linear, and the transform can be undone: so what is damped away is put together by
 * itself, of those coefficients alone, and subtracted.  Only what leads to them is computed.
 * Ends are mirrored (x1 x0 | x0 x1 ...), behind a frame around the sinogram: means of the columns
 * beyond the first and last angle, the outermost sample beyond the ends of rows.
 */
#include "prep/stripes.h"

#include "base/mem.h"
#include "base/vec.h"
#include "prep/daubechies.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 24, LEAST_SIDE = 16, MOST_FRAME = 150, COLUMNS = 64 };

/* In standard deviations: a Gaussian is below 1e-17 there. */
static const double REACH = 8.85;

struct picture {
    size_t columns, rows;
    double *at; /* [row][column] */
};

/* All of a sinogram's scratch. */
struct room {
    size_t frame, taps;
    const double *low;                      /* [taps] */
    double high[2 * FBP_DAUBECHIES_MOST];   /* the same of details */
    struct picture level[MOST_LEVELS + 1];  /* the framed sinogram, then lowpass along both axes */
    struct picture detail[MOST_LEVELS + 1]; /* of [1] on: lowpass along angles, highpass along
                                               columns; then what is damped away of it */
    double *half;                           /* lowpass along angles alone */
    double *even, *odd;                     /* every other sample of a row with its mirrored ends */
    double *cosine, *sine;                  /* of a frequency */
};

static size_t halved(size_t n, size_t taps)
{
    return (n + taps - 1) / 2;
}

static size_t frame_of(const struct fbp_stripes *s)
{
    const size_t side = s->n_views < s->n_columns ? s->n_views : s->n_columns;

    return side / 10 < MOST_FRAME ? side / 10 : MOST_FRAME;
}

size_t fbp_stripes_wavelet_levels(const struct fbp_stripes *s)
{
    const size_t side = s->n_views < s->n_columns ? s->n_views : s->n_columns;
    size_t n = side + 2 * frame_of(s), levels = 0;

    for (; n >= (size_t)2 * LEAST_SIDE && levels < s->levels && levels < MOST_LEVELS; n /= 2)
        levels++;
    return levels;
}

/* n doubles behind those that are taken; memory NULL: they are only counted. */
static double *take(double *memory, size_t *used, size_t n)
{
    double *const out = memory ? memory + *used : NULL;

    *used += (n + 7) / 8 * 8;
    return out;
}

/* Returns how many doubles there are. */
static size_t lay_out(const struct fbp_stripes *s, double *memory, struct room *r)
{
    const size_t taps = 2 * (size_t)s->wavelet;
    size_t used = 0;

    *r = (struct room){.frame = frame_of(s), .taps = taps, .low = fbp_daubechies(s->wavelet)};
    for (size_t i = 0; i < taps; i++)
        r->high[i] = (i % 2 ? -1 : 1) * r->low[taps - 1 - i];
    size_t columns = s->n_columns + 2 * r->frame, rows = s->n_views + 2 * r->frame;
    const size_t longest = (columns > rows ? columns : rows) + 2 * taps;
    r->half = take(memory, &used, (columns > COLUMNS ? columns : COLUMNS) * halved(rows, taps));
    for (size_t i = 0; i <= s->levels; i++) {
        r->level[i] = (struct picture){columns, rows, take(memory, &used, columns * rows)};
        if (i > 0)
            r->detail[i] = (struct picture){columns, rows, take(memory, &used, columns * rows)};
        columns = halved(columns, taps);
        rows = halved(rows, taps);
    }
    r->even = take(memory, &used, longest);
    r->odd = take(memory, &used, longest);
    r->cosine = take(memory, &used, longest);
    r->sine = take(memory, &used, longest);
    return used;
}

size_t fbp_stripes_wavelet_bytes(const struct fbp_stripes *s)
{
    struct room r;

    return lay_out(s, NULL, &r) * sizeof(double);
}

/* Index i, counted beyond the ends by mirroring: 1 0 | 0 1 ... n-1 | n-1 n-2. */
static size_t mirrored(ptrdiff_t i, size_t n)
{
    const ptrdiff_t period = 2 * (ptrdiff_t)n, at = (i % period + period) % period;

    return (size_t)(at < (ptrdiff_t)n ? at : period - 1 - at);
}

static void add_times(const double *in, double times, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] += times * in[i];
}

/* The sinogram in its frame. */
static void put_in_frame(const struct fbp_stripes *s, const struct room *r, const float *sinogram,
                         size_t stride)
{
    const size_t f = r->frame, nc = s->n_columns, width = r->level[0].columns;
    double *at = r->level[0].at, *mean = r->even;

    memset(mean, 0, nc * sizeof *mean);
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t c = 0; c < nc; c++)
            mean[c] += (double)sinogram[k * stride + c] / (double)s->n_views;
    for (size_t row = 0; row < r->level[0].rows; row++, at += width) {
        const bool inside = row >= f && row - f < s->n_views;
        for (size_t c = 0; c < nc; c++)
            at[f + c] = inside ? (double)sinogram[(row - f) * stride + c] : mean[c];
        for (size_t c = 0; c < f; c++) {
            at[c] = at[f];
            at[f + nc + c] = at[f + nc - 1];
        }
    }
}

/* Lowpass along the angles, every other one. */
static void halve_rows(const struct room *r, const struct picture *in, size_t rows)
{
    memset(r->half, 0, rows * in->columns * sizeof *r->half);
    for (size_t k = 0; k < rows; k++)
        for (size_t i = 0; i < r->taps; i++) {
            const ptrdiff_t from = (ptrdiff_t)(2 * k + 2 + i) - (ptrdiff_t)r->taps;
            add_times(in->at + mirrored(from, in->rows) * in->columns, r->low[i], in->columns,
                      r->half + k * in->columns);
        }
}

/* A row's samples in turn to two, mirrored ends with them. */
static void take_apart(const struct room *r, const double *row, size_t n, size_t out_columns)
{
    const ptrdiff_t before = (ptrdiff_t)r->taps - 2;

    for (size_t i = 0; i < out_columns + r->taps / 2; i++) {
        r->even[i] = row[mirrored(2 * (ptrdiff_t)i - before, n)];
        r->odd[i] = row[mirrored(2 * (ptrdiff_t)i + 1 - before, n)];
    }
}

static void halve_columns(const struct room *r, size_t columns, const struct picture *low,
                          const struct picture *high)
{
    const size_t n = low->columns;

    memset(low->at, 0, low->rows * n * sizeof *low->at);
    memset(high->at, 0, low->rows * n * sizeof *high->at);
    for (size_t row = 0; row < low->rows; row++) {
        take_apart(r, r->half + row * columns, columns, n);
        for (size_t i = 0; i < r->taps; i++) {
            const double *in = (i % 2 ? r->odd : r->even) + i / 2;
            add_times(in, r->low[i], n, low->at + row * n);
            add_times(in, r->high[i], n, high->at + row * n);
        }
    }
}

/* Of columns [first, first + n): in *sums, times the frequency's part of them. */
static void project(const struct picture *p, size_t first, size_t n, const double *wave,
                    double times, double *sums)
{
    memset(sums, 0, n * sizeof *sums);
    for (size_t row = 0; row < p->rows; row++)
        add_times(p->at + row * p->columns + first, times * wave[row], n, sums);
}

/* Adds frequency f along the angles of columns [first, first + n), times its weight, to out. */
static void add_frequency(const struct room *r, const struct picture *p, size_t first, size_t n,
                          double weight, double *out)
{
    double sums[2][COLUMNS];

    project(p, first, n, r->cosine, weight / (double)p->rows, sums[0]);
    project(p, first, n, r->sine, weight / (double)p->rows, sums[1]);
    for (size_t row = 0; row < p->rows; row++) {
        add_times(sums[0], r->cosine[row], n, out + row * COLUMNS);
        add_times(sums[1], r->sine[row], n, out + row * COLUMNS);
    }
}

static void tabulate_frequency(const struct room *r, size_t f, size_t rows)
{
    for (size_t k = 0; k < rows; k++) {
        const double angle = 2 * FBP_PI * (double)(f * k % rows) / (double)rows;
        r->cosine[k] = cos(angle);
        r->sine[k] = sin(angle);
    }
}

/* What is damped away, in place of coefficients; out: [rows][COLUMNS]. */
static void keep_low(const struct fbp_stripes *s, const struct room *r, const struct picture *p,
                     double *out)
{
    const size_t last = (size_t)fmin(floor(REACH * s->sigma), floor((double)p->rows / 2));

    for (size_t first = 0; first < p->columns; first += COLUMNS) {
        const size_t n = p->columns - first < COLUMNS ? p->columns - first : COLUMNS;
        memset(out, 0, p->rows * COLUMNS * sizeof *out);
        for (size_t f = 0; f <= last; f++) {
            const double x = (double)f / s->sigma;
            const bool alone = f == 0 || 2 * f == p->rows; /* -f is the same */
            tabulate_frequency(r, f, p->rows);
            add_frequency(r, p, first, n, (alone ? 1 : 2) * exp(-x * x / 2), out);
        }
        for (size_t row = 0; row < p->rows; row++)
            memcpy(p->at + row * p->columns + first, out + row * COLUMNS, n * sizeof *out);
    }
}

/* A row of both kinds of coefficients back to n samples. */
static void double_row(const struct room *r, const double *low, const double *high, size_t half,
                       size_t n, double *out)
{
    const size_t shift = r->taps / 2 - 1, pairs = half - shift;

    memset(r->even, 0, pairs * sizeof *r->even);
    memset(r->odd, 0, pairs * sizeof *r->odd);
    for (size_t i = 0; i < r->taps; i++) {
        double *to = i % 2 ? r->odd : r->even;
        if (low)
            add_times(low + shift - i / 2, r->low[i], pairs, to);
        add_times(high + shift - i / 2, r->high[i], pairs, to);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (i % 2 ? r->odd : r->even)[i / 2];
}

/* Rows of lowpass coefficients back to those of `out`. */
static void double_rows(const struct room *r, const struct picture *out)
{
    const size_t n = out->columns, shift = r->taps / 2 - 1;

    memset(out->at, 0, out->rows * n * sizeof *out->at);
    for (size_t row = 0; row < out->rows; row++)
        for (size_t i = row % 2; i < r->taps; i += 2)
            add_times(r->half + (row / 2 + shift - i / 2) * n, r->low[i], n, out->at + row * n);
}

/* Of all levels what is damped away, together, in the place of the framed sinogram. */
static void put_together(const struct fbp_stripes *s, const struct room *r)
{
    for (size_t l = s->levels; l > 0; l--) {
        const struct picture *to = &r->level[l - 1], *low = &r->level[l], *high = &r->detail[l];
        for (size_t row = 0; row < low->rows; row++)
            double_row(r, l < s->levels ? low->at + row * low->columns : NULL,
                       high->at + row * low->columns, low->columns, to->columns,
                       r->half + row * to->columns);
        double_rows(r, to);
    }
}

void fbp_stripes_wavelet(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    struct room r;

    lay_out(s, scratch, &r);
    put_in_frame(s, &r, sinogram, stride);
    for (size_t l = 1; l <= s->levels; l++) {
        halve_rows(&r, &r.level[l - 1], r.level[l].rows);
        halve_columns(&r, r.level[l - 1].columns, &r.level[l], &r.detail[l]);
    }
    for (size_t l = 1; l <= s->levels; l++)
        keep_low(s, &r, &r.detail[l], r.half);
    if (s->levels > 0)
        put_together(s, &r);
    const double *away = r.level[0].at + r.frame * r.level[0].columns + r.frame;
    for (size_t k = 0; s->levels > 0 && k < s->n_views; k++)
        for (size_t c = 0; c < s->n_columns; c++)
            sinogram[k * stride + c] -= (float)away[k * r.level[0].columns + c];
}
