/* Removal of ring artefacts, which are stripes along the angles of sinograms (all views of one
 * detector row): by sorting (Vo et al. 2018), by wavelets (Muench et al. 2009), or by the methods
 * of offsets.c: fbp_stripes_remove(). Also a test whether a sinogram has stripes
 * (fbp_stripes_found()), and the median of an array.
 * Used by: pipeline/, prep/. */
#include "prep/prep.h"

#include "base/math.h"

#include <stdio.h>
#include <string.h>

/* Mirror an index beyond the ends of [0, n): the indices … -2 -1 0 … n-1 n n+1 … become … 1 0 0 …
 * n-1 n-1 n-2 …. */
static size_t mirrored(ptrdiff_t i, size_t n)
{
    const ptrdiff_t period = 2 * (ptrdiff_t)n;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a row has columns */
    const ptrdiff_t at = (i % period + period) % period;

    return (size_t)(at < (ptrdiff_t)n ? at : period - 1 - at);
}

/*
 * Sorting: N. T. Vo, R. C. Atwood and M. Drakopoulos, Opt. Express 26, 28396 (2018), algorithm 3.
 * The samples of every column are sorted, each rank is smoothed along the columns by a median, and
 * the samples return to their views.  Neighbouring columns have nearly the same values, so the k-th
 * largest of one is nearly the k-th largest of the next; a difference comes from the pixel.
 */

enum { COLUMNS = 16 }; /* sorted together: a cache line of floats */

struct entry {
    uint32_t key, view;
};

/* Scratch memory of one sinogram. */
struct sorting_room {
    float *ranks;        /* [rank][column] */
    uint32_t *views;     /* [column][rank]: view of a sorted sample */
    float *block;        /* [COLUMNS][view], later [COLUMNS][rank] */
    struct entry *a, *b; /* [view] */
    /* line: samples of one rank in all columns; window: sorted samples of the running median */
    float *line, *window;
};

/* Lay out the scratch memory of sorting; returns its size [bytes].  memory NULL: only the size. */
static size_t sorting_lay_out(const struct fbp_stripes *s, void *memory, struct sorting_room *r)
{
    const size_t n = s->n_views * s->n_columns;
    size_t used = 0;

    r->ranks = fbp_carve(memory, &used, n * sizeof *r->ranks);
    r->views = fbp_carve(memory, &used, n * sizeof *r->views);
    r->block = fbp_carve(memory, &used, COLUMNS * s->n_views * sizeof *r->block);
    r->a = fbp_carve(memory, &used, s->n_views * sizeof *r->a);
    r->b = fbp_carve(memory, &used, s->n_views * sizeof *r->b);
    r->line = fbp_carve(memory, &used, s->n_columns * sizeof *r->line);
    r->window = fbp_carve(memory, &used, s->size * sizeof *r->window);
    return used;
}

/* Stable sort by one byte of the keys. */
static void sort_by_byte(const struct entry *in, size_t n, unsigned shift, struct entry *out)
{
    size_t at[256] = {0}, sum = 0;

    for (size_t i = 0; i < n; i++)
        at[in[i].key >> shift & 255]++;
    for (size_t i = 0; i < 256; i++) {
        const size_t count = at[i];
        at[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        out[at[in[i].key >> shift & 255]++] = in[i];
}

/* Replace a row by its running median over s->size columns; samples of the window stay sorted. */
static void smooth(const struct fbp_stripes *s, const struct sorting_room *r, float *row)
{
    const size_t n = s->n_columns, m = s->size;
    const ptrdiff_t left = (ptrdiff_t)(m / 2), right = (ptrdiff_t)(m - 1 - m / 2);
    float *w = r->window;

    memcpy(r->line, row, n * sizeof *row);
    for (size_t i = 0; i < m; i++) {
        const float x = r->line[mirrored((ptrdiff_t)i - left, n)];
        size_t k = i;
        for (; k > 0 && w[k - 1] > x; k--)
            w[k] = w[k - 1];
        w[k] = x;
    }
    for (size_t c = 0;; c++) {
        row[c] = w[m / 2];
        if (c + 1 == n)
            return;
        const float old = r->line[mirrored((ptrdiff_t)c - left, n)];
        const float x = r->line[mirrored((ptrdiff_t)c + 1 + right, n)];
        size_t i = 0;
        while (i + 1 < m && w[i] != old)
            i++;
        for (; i + 1 < m && w[i + 1] < x; i++)
            w[i] = w[i + 1];
        for (; i > 0 && w[i - 1] > x; i--)
            w[i] = w[i - 1];
        w[i] = x;
    }
}

static void remove_by_sorting(const struct fbp_stripes *s, float *sinogram, size_t stride,
                              void *scratch)
{
    const size_t n = s->n_views, nc = s->n_columns;
    struct sorting_room r;

    sorting_lay_out(s, scratch, &r);
    for (size_t c = 0; c < nc; c += COLUMNS) {
        const size_t end = c + COLUMNS < nc ? c + COLUMNS : nc;
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                r.block[(i - c) * n + k] = sinogram[k * stride + i];
        for (size_t i = c; i < end; i++) { /* sort by keys in the order of floats */
            float *column = r.block + (i - c) * n;
            for (size_t k = 0; k < n; k++) {
                uint32_t bits;
                memcpy(&bits, &column[k], sizeof bits);
                const uint32_t key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
                r.a[k] = (struct entry){key, (uint32_t)k};
            }
            for (unsigned shift = 0; shift < 32; shift += 16) {
                sort_by_byte(r.a, n, shift, r.b);
                sort_by_byte(r.b, n, shift + 8, r.a);
            }
            for (size_t k = 0; k < n; k++) {
                const uint32_t key = r.a[k].key;
                const uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
                memcpy(&column[k], &bits, sizeof bits);
                r.views[i * n + k] = r.a[k].view;
            }
        }
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                r.ranks[k * nc + i] = r.block[(i - c) * n + k];
    }
    for (size_t k = 0; k < n; k++)
        smooth(s, &r, r.ranks + k * nc);
    for (size_t c = 0; c < nc; c += COLUMNS) {
        const size_t end = c + COLUMNS < nc ? c + COLUMNS : nc;
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                r.block[(i - c) * n + r.views[i * n + k]] = r.ranks[k * nc + i];
        for (size_t k = 0; k < n; k++)
            for (size_t i = c; i < end; i++)
                sinogram[k * stride + i] = r.block[(i - c) * n + k];
    }
}

/*
 * Wavelets: I. Daubechies, Comm. Pure Appl. Math. 41, 909 (1988).  The scaling filter H(z) is
 * ((1 + 1/z) / 2)^N sqrt(2) times the factor, with all roots inside the unit circle, of the
 * polynomial P(y) = sum_{k<N} C(N-1+k, k) y^k, y = (2 - z - 1/z) / 4.  The logarithm of the factor
 * is c_0 / 2 + sum_{n>0} c_n z^-n with the cepstrum c, the Fourier coefficients of log P on the
 * unit circle.  With N = 20, errors are below 2e-11; with N = 10, below 1e-14.
 */
void fbp_daubechies(unsigned N, double *taps)
{
    enum { POINTS = 256 }; /* roots to this power are below the rounding errors */
    double cepstrum[FBP_DAUBECHIES_MOST] = {0};

    for (size_t k = 0; k < POINTS; k++) {
        const double y = pow(sin(FBP_PI * (double)k / POINTS), 2);
        double term = 1, P = 1;
        for (unsigned i = 1; i < N; i++) {
            term *= (double)(N - 1 + i) / i * y;
            P += term;
        }
        for (size_t n = 0; n < N; n++)
            cepstrum[n] += log(P) * cos(2 * FBP_PI * (double)(n * k) / POINTS) / POINTS;
    }
    memset(taps, 0, (size_t)2 * N * sizeof *taps);
    taps[0] = sqrt(2) * exp(cepstrum[0] / 2);
    for (size_t n = 1; n < N; n++)
        for (size_t k = 1; k <= n; k++)
            taps[n] += (double)k / (double)n * cepstrum[k] * taps[n - k];
    for (unsigned power = 0; power < N; power++) {
        for (size_t i = (size_t)2 * N - 1; i > 0; i--)
            taps[i] = (taps[i] + taps[i - 1]) / 2;
        taps[0] /= 2;
    }
}

/*
 * Removal by wavelets: B. Muench, P. Trtik, F. Marone and M. Stampanoni, Opt. Express 17, 8567
 * (2009). Stripes along the angles are in the coefficients that are details along columns and
 * averages along angles.  In these, level by level, low frequencies f along the angles are damped
 * by 1 - exp(-f^2 / 2 sigma^2).
 *
 * The method is linear, and the transform is invertible.  Therefore only the damped part of these
 * coefficients is transformed back, and subtracted.  Ends are mirrored (x1 x0 | x0 x1 ...), outside
 * of a frame around the sinogram: means of the columns before the first and after the last angle,
 * the outermost sample beyond the ends of rows.
 */

enum { MOST_LEVELS = 24, LEAST_SIDE = 16, MOST_FRAME = 150, WAVELET_COLUMNS = 64 };

struct picture {
    size_t columns, rows;
    double *at; /* [row][column] */
};

/* Scratch memory of one sinogram. */
struct wavelet_room {
    size_t frame, taps;
    double low[2 * FBP_DAUBECHIES_MOST];    /* [taps] scaling filter */
    double high[2 * FBP_DAUBECHIES_MOST];   /* [taps] wavelet filter */
    struct picture level[MOST_LEVELS + 1];  /* [0]: framed sinogram; [i]: lowpass along both axes at
                                               wavelet level i */
    struct picture detail[MOST_LEVELS + 1]; /* from level 1 on: lowpass along angles, highpass along
                                               columns; later replaced by its damped part */
    double *half;                           /* lowpass along angles only */
    double *even, *odd;    /* even and odd samples of a row extended by mirror images */
    double *cosine, *sine; /* [row] wave of one frequency */
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

/* Lay out the scratch memory of wavelets; returns its size [bytes].  memory NULL: only the size. */
static size_t wavelet_lay_out(const struct fbp_stripes *s, void *memory, struct wavelet_room *r)
{
    const size_t taps = 2 * (size_t)s->wavelet;
    size_t used = 0;

    *r = (struct wavelet_room){.frame = frame_of(s), .taps = taps};
    if (memory)
        fbp_daubechies(s->wavelet, r->low);
    for (size_t i = 0; i < taps; i++)
        r->high[i] = (i % 2 ? -1 : 1) * r->low[taps - 1 - i];
    size_t columns = s->n_columns + 2 * r->frame, rows = s->n_views + 2 * r->frame;
    const size_t longest = ((columns > rows ? columns : rows) + 2 * taps) * sizeof(double);
    const size_t widest = columns > WAVELET_COLUMNS ? columns : WAVELET_COLUMNS;
    r->half = fbp_carve(memory, &used, widest * halved(rows, taps) * sizeof(double));
    for (size_t i = 0; i <= s->levels; i++) {
        const size_t bytes = columns * rows * sizeof(double);
        r->level[i] = (struct picture){columns, rows, fbp_carve(memory, &used, bytes)};
        if (i > 0)
            r->detail[i] = (struct picture){columns, rows, fbp_carve(memory, &used, bytes)};
        columns = halved(columns, taps);
        rows = halved(rows, taps);
    }
    r->even = fbp_carve(memory, &used, longest);
    r->odd = fbp_carve(memory, &used, longest);
    r->cosine = fbp_carve(memory, &used, longest);
    r->sine = fbp_carve(memory, &used, longest);
    return used;
}

static void add_times(const double *in, double times, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] += times * in[i];
}

/* Compute one level of the wavelet transform: halve `in` by a lowpass along angles, then split it
 * along columns into low (lowpass) and high (highpass). */
static void decompose(const struct wavelet_room *r, const struct picture *in,
                      const struct picture *low, const struct picture *high)
{
    const ptrdiff_t before = (ptrdiff_t)r->taps - 2;
    const size_t n = low->columns;

    memset(r->half, 0, low->rows * in->columns * sizeof *r->half);
    for (size_t k = 0; k < low->rows; k++)
        for (size_t i = 0; i < r->taps; i++) {
            const ptrdiff_t from = (ptrdiff_t)(2 * k + 2 + i) - (ptrdiff_t)r->taps;
            add_times(in->at + mirrored(from, in->rows) * in->columns, r->low[i], in->columns,
                      r->half + k * in->columns);
        }

    memset(low->at, 0, low->rows * n * sizeof *low->at);
    memset(high->at, 0, low->rows * n * sizeof *high->at);
    for (size_t row = 0; row < low->rows; row++) {
        const double *half = r->half + row * in->columns;
        for (size_t i = 0; i < n + r->taps / 2; i++) {
            r->even[i] = half[mirrored(2 * (ptrdiff_t)i - before, in->columns)];
            r->odd[i] = half[mirrored(2 * (ptrdiff_t)i + 1 - before, in->columns)];
        }
        for (size_t i = 0; i < r->taps; i++) {
            const double *samples = (i % 2 ? r->odd : r->even) + i / 2;
            add_times(samples, r->low[i], n, low->at + row * n);
            add_times(samples, r->high[i], n, high->at + row * n);
        }
    }
}

/* Replace wavelet coefficients by their part that damping removes; out: work memory
 * [rows][WAVELET_COLUMNS]. */
static void keep_low(const struct fbp_stripes *s, const struct wavelet_room *r,
                     const struct picture *p, double *out)
{
    /* Greatest distance of the Gaussian [standard deviations]: it is below 1e-17 there. */
    static const double REACH = 8.85;
    const size_t last = (size_t)fmin(floor(REACH * s->sigma), floor((double)p->rows / 2));
    double sums[2][WAVELET_COLUMNS];

    for (size_t first = 0; first < p->columns; first += WAVELET_COLUMNS) {
        const size_t n =
            p->columns - first < WAVELET_COLUMNS ? p->columns - first : WAVELET_COLUMNS;
        memset(out, 0, p->rows * WAVELET_COLUMNS * sizeof *out);
        for (size_t f = 0; f <= last; f++) {
            const double x = (double)f / s->sigma;
            const bool alone = f == 0 || 2 * f == p->rows; /* -f is the same frequency */
            const double weight = (alone ? 1 : 2) * exp(-x * x / 2);
            for (size_t k = 0; k < p->rows; k++) {
                const double angle = 2 * FBP_PI * (double)(f * k % p->rows) / (double)p->rows;
                r->cosine[k] = cos(angle);
                r->sine[k] = sin(angle);
            }
            for (int part = 0; part < 2; part++) {
                const double *wave = part ? r->sine : r->cosine;
                memset(sums[part], 0, n * sizeof *sums[part]);
                for (size_t row = 0; row < p->rows; row++)
                    add_times(p->at + row * p->columns + first,
                              weight / (double)p->rows * wave[row], n, sums[part]);
            }
            for (size_t row = 0; row < p->rows; row++) {
                add_times(sums[0], r->cosine[row], n, out + row * WAVELET_COLUMNS);
                add_times(sums[1], r->sine[row], n, out + row * WAVELET_COLUMNS);
            }
        }
        for (size_t row = 0; row < p->rows; row++)
            memcpy(p->at + row * p->columns + first, out + row * WAVELET_COLUMNS, n * sizeof *out);
    }
}

/* Compute one level of the inverse wavelet transform: combines low (if not NULL) and high. */
static void compose(const struct wavelet_room *r, const struct picture *low,
                    const struct picture *high, const struct picture *out)
{
    const size_t n = out->columns, shift = r->taps / 2 - 1, pairs = high->columns - shift;

    for (size_t row = 0; row < high->rows; row++) {
        memset(r->even, 0, pairs * sizeof *r->even);
        memset(r->odd, 0, pairs * sizeof *r->odd);
        for (size_t i = 0; i < r->taps; i++) {
            const size_t from = row * high->columns + shift - i / 2;
            double *to = i % 2 ? r->odd : r->even;
            if (low)
                add_times(low->at + from, r->low[i], pairs, to);
            add_times(high->at + from, r->high[i], pairs, to);
        }
        for (size_t i = 0; i < n; i++)
            r->half[row * n + i] = (i % 2 ? r->odd : r->even)[i / 2];
    }

    memset(out->at, 0, out->rows * n * sizeof *out->at);
    for (size_t row = 0; row < out->rows; row++)
        for (size_t i = row % 2; i < r->taps; i += 2)
            add_times(r->half + (row / 2 + shift - i / 2) * n, r->low[i], n, out->at + row * n);
}

static void remove_by_wavelets(const struct fbp_stripes *s, float *sinogram, size_t stride,
                               void *scratch)
{
    struct wavelet_room r;

    if (s->levels == 0)
        return;
    wavelet_lay_out(s, scratch, &r);

    /* Copy the sinogram, extended by a frame, to level 0 of the wavelet transform. */
    const size_t f = r.frame, nc = s->n_columns, width = r.level[0].columns;
    double *at = r.level[0].at, *mean = r.even;
    memset(mean, 0, nc * sizeof *mean);
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t c = 0; c < nc; c++)
            mean[c] += (double)sinogram[k * stride + c] / (double)s->n_views;
    for (size_t row = 0; row < r.level[0].rows; row++, at += width) {
        const bool inside = row >= f && row - f < s->n_views;
        for (size_t c = 0; c < nc; c++)
            at[f + c] = inside ? (double)sinogram[(row - f) * stride + c] : mean[c];
        for (size_t c = 0; c < f; c++) {
            at[c] = at[f];
            at[f + nc + c] = at[f + nc - 1];
        }
    }

    for (size_t l = 1; l <= s->levels; l++)
        decompose(&r, &r.level[l - 1], &r.level[l], &r.detail[l]);
    for (size_t l = 1; l <= s->levels; l++)
        keep_low(s, &r, &r.detail[l], r.half);
    for (size_t l = s->levels; l > 0; l--)
        compose(&r, l < s->levels ? &r.level[l] : NULL, &r.detail[l], &r.level[l - 1]);

    const double *damped = r.level[0].at + f * width + f;
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t c = 0; c < nc; c++)
            sinogram[k * stride + c] -= (float)damped[k * width + c];
}

void fbp_stripes_of(const struct fbp_corrections *c, size_t n_views, size_t n_columns,
                    struct fbp_stripes *out)
{
    const size_t odd = n_columns - (n_columns + 1) % 2;
    const size_t usual = c->rings == FBP_RINGS_SORTING ? 21 : 9;

    *out = (struct fbp_stripes){.method = c->rings,
                                .n_views = n_views,
                                .n_columns = n_columns,
                                .size = c->ring_size  ? c->ring_size
                                        : odd < usual ? odd
                                                      : usual,
                                .levels = c->ring_levels ? c->ring_levels : 5,
                                .sigma = c->ring_sigma > 0 ? c->ring_sigma : 1,
                                .wavelet = c->ring_wavelet ? c->ring_wavelet : 9};
    if (out->method == FBP_RINGS_WAVELET) {
        const size_t side = n_views < n_columns ? n_views : n_columns;
        size_t n = side + 2 * frame_of(out), levels = 0;
        for (; n >= (size_t)2 * LEAST_SIDE && levels < out->levels && levels < MOST_LEVELS; n /= 2)
            levels++;
        out->levels = levels;
    }
}

void fbp_stripes_describe(const struct fbp_stripes *s, char *buf, size_t n)
{
    if (s->method == FBP_RINGS_SORTING)
        snprintf(buf, n, "rings by sorting, median of %zu columns", s->size);
    else if (s->method != FBP_RINGS_WAVELET)
        snprintf(buf, n, "rings by offsets, up to %zu columns wide%s", s->size,
                 s->method == FBP_RINGS_FLUCTUATING ? ", and fluctuating pixels" : "");
    else
        snprintf(buf, n, "rings by wavelets db%u, %zu level%s, sigma %.4g", s->wavelet, s->levels,
                 s->levels == 1 ? "" : "s", s->sigma);
}

size_t fbp_stripes_bytes(const struct fbp_stripes *s)
{
    struct sorting_room sorting;
    struct wavelet_room wavelet;

    return s->method == FBP_RINGS_SORTING   ? sorting_lay_out(s, NULL, &sorting)
           : s->method == FBP_RINGS_WAVELET ? wavelet_lay_out(s, NULL, &wavelet)
                                            : fbp_offsets_bytes(s);
}

void fbp_stripes_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    if (s->method == FBP_RINGS_SORTING)
        remove_by_sorting(s, sinogram, stride, scratch);
    else if (s->method == FBP_RINGS_WAVELET)
        remove_by_wavelets(s, sinogram, stride, scratch);
    else
        fbp_offsets_remove(s, sinogram, stride, scratch);
}

/* Hoare's selection (1961). The caller has set all n values of x. */
float fbp_median(float *x, size_t n)
{
    const ptrdiff_t k = (ptrdiff_t)(n / 2);

    for (ptrdiff_t low = 0, high = (ptrdiff_t)n - 1; low < high;) {
        const float pivot = x[k];
        ptrdiff_t i = low, j = high;
        do {
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the caller sets x
            while (x[i] < pivot)
                i++;
            // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the caller sets x
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                const float other = x[i];
                x[i++] = x[j];
                x[j--] = other;
            }
        } while (i <= j);
        low = j < k ? i : low;
        high = k < i ? j : high;
    }
    return x[k];
}

/* Test for bad columns: the fourth difference along columns is the same at all angles if a pixel is
 * wrong; at the edge of an object it changes with the angle, and elsewhere it is small. */
bool fbp_stripes_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch)
{
    enum { MOST_VIEWS = 512 };
    static const float SIGMAS = 8, MEDIAN_SIGMA = 1.86F, PART = 1e-3F; /* 1.25 x 1.48 */
    const size_t step = (s->n_views + MOST_VIEWS - 1) / MOST_VIEWS;
    float *e = scratch;

    for (size_t c = 2; c + 2 < s->n_columns; c++) {
        float level = 0;
        size_t n = 0;
        for (size_t k = 0; k < s->n_views; k += step) {
            const float *x = sinogram + k * stride + c;
            e[n++] = x[0] - (4 * (x[-1] + x[1]) - (x[-2] + x[2])) / 6;
            level += fabsf(x[0]);
        }
        const float m = fbp_median(e, n);
        for (size_t i = 0; i < n; i++)
            e[i] = fabsf(e[i] - m);
        const float error = MEDIAN_SIGMA * fbp_median(e, n) / sqrtf((float)n);
        if (fabsf(m) > SIGMAS * error + PART * level / (float)n)
            return true;
    }
    return s->method == FBP_RINGS_FLUCTUATING && fbp_offsets_found(s, sinogram, stride, scratch);
}
