/*
 * N. T. Vo, R. C. Atwood and M. Drakopoulos, Opt. Express 26, 28396 (2018), algorithm 3: the
 * samples of every column are sorted, each rank is smoothed along the columns by a median, and the
 * samples go back to where they came from.  Neighbouring columns see nearly the same values, so
 * that the k-th largest of one is nearly the k-th largest of the next: what differs is the pixel.
 */
#include "prep/stripes.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

enum { COLUMNS = 16 }; /* that are sorted together: a cache line of floats */

struct entry {
    uint32_t key, view;
};

/* All of a sinogram's scratch. */
struct room {
    float *ranks;     /* [rank][column] */
    uint32_t *places; /* the view that it is of, [column][rank] */
    float *block;     /* some columns, [column][view], later [column][rank] */
    struct entry *a, *b;
    float *line, *window; /* a rank, and the samples of a median in their order */
};

static size_t aligned(size_t bytes)
{
    return (bytes + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;
}

static size_t lay_out(const struct fbp_stripes *s, char *memory, struct room *out)
{
    const size_t n = s->n_views * s->n_columns;
    const size_t sizes[] = {n * sizeof *out->ranks,
                            n * sizeof *out->places,
                            COLUMNS * s->n_views * sizeof *out->block,
                            s->n_views * sizeof *out->a,
                            s->n_views * sizeof *out->b,
                            s->n_columns * sizeof *out->line,
                            s->size * sizeof *out->window};
    size_t at[8] = {0};

    for (int i = 0; i < 7; i++)
        at[i + 1] = at[i] + aligned(sizes[i]);
    if (memory) {
        out->ranks = (float *)(void *)memory;
        out->places = (uint32_t *)(void *)(memory + at[1]);
        out->block = (float *)(void *)(memory + at[2]);
        out->a = (struct entry *)(void *)(memory + at[3]);
        out->b = (struct entry *)(void *)(memory + at[4]);
        out->line = (float *)(void *)(memory + at[5]);
        out->window = (float *)(void *)(memory + at[6]);
    }
    return at[7];
}

size_t fbp_stripes_sorting_bytes(const struct fbp_stripes *s)
{
    return lay_out(s, NULL, NULL);
}

/* Keys grow with the floats that they stand for. */
static uint32_t key_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float value_of(uint32_t key)
{
    const uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* By one byte of the keys; equal ones stay in their order. */
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

/* Views to ranks; places: the view that each is of. */
static void sort_column(const struct room *r, size_t n, float *column, uint32_t *places)
{
    for (size_t k = 0; k < n; k++)
        r->a[k] = (struct entry){key_of(column[k]), (uint32_t)k};
    for (unsigned shift = 0; shift < 32; shift += 16) {
        sort_by_byte(r->a, n, shift, r->b);
        sort_by_byte(r->b, n, shift + 8, r->a);
    }
    for (size_t k = 0; k < n; k++) {
        column[k] = value_of(r->a[k].key);
        places[k] = r->a[k].view;
    }
}

/* Columns [c, end), which are read and stored side by side. */
static void sort_columns(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                         size_t c, size_t end, const struct room *r)
{
    const size_t n = s->n_views;

    for (size_t k = 0; k < n; k++)
        for (size_t i = c; i < end; i++)
            r->block[(i - c) * n + k] = sinogram[k * stride + i];
    for (size_t i = c; i < end; i++)
        sort_column(r, n, r->block + (i - c) * n, r->places + i * n);
    for (size_t k = 0; k < n; k++)
        for (size_t i = c; i < end; i++)
            r->ranks[k * s->n_columns + i] = r->block[(i - c) * n + k];
}

/* Column c, counted beyond the ends by mirroring: 1 0 | 0 1 ... n-1 | n-1 n-2. */
static size_t mirrored(ptrdiff_t c, size_t n)
{
    const ptrdiff_t period = 2 * (ptrdiff_t)n;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a row has columns */
    const ptrdiff_t at = (c % period + period) % period;

    return (size_t)(at < (ptrdiff_t)n ? at : period - 1 - at);
}

/* `old` leaves the sorted window, `x` enters it. */
static void exchange(float *window, size_t n, float old, float x)
{
    size_t i = 0;

    while (i + 1 < n && window[i] != old)
        i++;
    for (; i + 1 < n && window[i + 1] < x; i++)
        window[i] = window[i + 1];
    for (; i > 0 && window[i - 1] > x; i--)
        window[i] = window[i - 1];
    window[i] = x;
}

static void insert(float *window, size_t n, float x)
{
    for (; n > 0 && window[n - 1] > x; n--)
        window[n] = window[n - 1];
    window[n] = x;
}

/* A running median of s->size columns. */
static void smooth(const struct fbp_stripes *s, const struct room *r, float *row)
{
    const size_t n = s->n_columns, m = s->size;
    const ptrdiff_t left = (ptrdiff_t)(m / 2), right = (ptrdiff_t)(m - 1 - m / 2);

    memcpy(r->line, row, n * sizeof *row);
    for (size_t i = 0; i < m; i++)
        insert(r->window, i, r->line[mirrored((ptrdiff_t)i - left, n)]);
    for (size_t c = 0;; c++) {
        row[c] = r->window[m / 2];
        if (c + 1 == n)
            return;
        exchange(r->window, m, r->line[mirrored((ptrdiff_t)c - left, n)],
                 r->line[mirrored((ptrdiff_t)c + 1 + right, n)]);
    }
}

/* Columns [c, end) back to the order of their views. */
static void put_back(const struct fbp_stripes *s, const struct room *r, size_t c, size_t end,
                     float *sinogram, size_t stride)
{
    const size_t n = s->n_views;

    for (size_t k = 0; k < n; k++)
        for (size_t i = c; i < end; i++)
            r->block[(i - c) * n + r->places[i * n + k]] = r->ranks[k * s->n_columns + i];
    for (size_t k = 0; k < n; k++)
        for (size_t i = c; i < end; i++)
            sinogram[k * stride + i] = r->block[(i - c) * n + k];
}

static size_t end_of(const struct fbp_stripes *s, size_t c)
{
    return c + COLUMNS < s->n_columns ? c + COLUMNS : s->n_columns;
}

void fbp_stripes_sorting(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    struct room r;

    lay_out(s, scratch, &r);
    for (size_t c = 0; c < s->n_columns; c += COLUMNS)
        sort_columns(s, sinogram, stride, c, end_of(s, c), &r);
    for (size_t k = 0; k < s->n_views; k++)
        smooth(s, &r, r.ranks + k * s->n_columns);
    for (size_t c = 0; c < s->n_columns; c += COLUMNS)
        put_back(s, &r, c, end_of(s, c), sinogram, stride);
}
