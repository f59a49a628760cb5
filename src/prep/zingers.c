/* Removal of zingers, which are bright outliers of single views (cosmic rays, direct hits of the
 * sensor): fbp_source_zingers() opens a source that wraps the stored views and replaces them.
 * Used by: analysis/sinogram.c, pipeline/plan.c. */
#include "prep/prep.h"

#include "array/array.h"
#include "array/file/format.h"
#include "scan/file/scan.h"

#include <math.h>
#include <string.h>

/* REACH: half width of the window [pixels]; blobs of up to REACH pixels are fewer than half of a
 * line of the window.  LONG_REACH: half width of the window on detectors of few rows. */
enum { REACH = 3, LONG_REACH = 12, MOST_WINDOW = (2 * REACH + 1) * (2 * LONG_REACH + 1) };

/* Least excess: part of the intensity, or difference of line integrals. */
static const float LEAST = 0.05F;

struct zingers {
    float sigmas;
    bool intensity;
    size_t rows, columns; /* half sizes of the window [pixels] */
};

/* First index of a window of 2 half + 1 of n samples, with `at` in its middle if possible. */
static size_t begin(size_t at, size_t half, size_t n)
{
    const size_t last = n - 2 * half - 1, low = at > half ? at - half : 0;

    return low < last ? low : last;
}

/* Median of n differences, `step` floats apart. */
static float line_median(const float *d, size_t n, size_t step)
{
    float x[2 * LONG_REACH + 1];

    for (size_t i = 0; i < n; i++)
        x[i] = d[i * step];
    return fbp_median(x, n);
}

/* Whether the difference d[at] is an outlier of its window: Hampel's identifier, in the window's
 * rows from `top` on.  *base: the greater one of the medians of its row and of its column. */
static bool is_zinger(const struct zingers *z, const float *d, size_t nc, size_t top, size_t at,
                      float least, float *base)
{
    const size_t height = 2 * z->rows + 1, width = 2 * z->columns + 1, c = at % nc;
    const size_t left = begin(c, z->columns, nc);
    float x[MOST_WINDOW];
    size_t n = 0;

    *base = line_median(d + at - c + left, width, 1);
    if (z->rows == REACH)
        *base = fmaxf(*base, line_median(d + top * nc + c, height, nc));
    if (!(d[at] - *base > least))
        return false;
    for (size_t r = 0; r < height; r++, n += width)
        memcpy(x + n, d + (top + r) * nc + left, width * sizeof *x);
    const float middle = fbp_median(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = fabsf(x[i] - middle);
    return d[at] - *base > z->sigmas * 1.4826F * fbp_median(x, n);
}

/* Read rows of a view as brightness, which is the intensity, or the negative line integral. */
static fbp_status read_bright(const fbp_source *src, size_t view, size_t row, size_t n, float *out)
{
    const struct zingers *z = src->state;

    FBP_TRY(fbp_source_read(src->below, view, 1, row, n, FBP_F32, out));
    for (size_t i = 0; !z->intensity && i < n * src->info.n[0]; i++)
        out[i] = -out[i];
    return FBP_OK;
}

static fbp_status read_cleaned(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                               size_t n_rows, bool as_float, void *out)
{
    const struct zingers *z = src->state;
    const size_t nc = src->info.n[0], nr = src->info.n[1], last = src->info.n[2] - 1;
    const size_t first = begin(row0, z->rows, nr);
    const size_t end = begin(row0 + n_rows - 1, z->rows, nr) + 2 * z->rows + 1;
    const size_t rows = end - first, n = rows * nc;
    float *memory, *view[3], *to = out; /* views before, now and after */
    fbp_status st = FBP_OK;

    (void)as_float; /* the samples are floats */
    FBP_TRY(fbp_alloc((void **)&memory, 4 * n * sizeof *memory, "neighbouring views"));
    for (size_t i = 0; i < 3; i++)
        view[i] = memory + (i + 1) * n;
    for (size_t k = slice0; k < slice0 + n_slices; k++, to += n_rows * nc) {
        float *const d = memory, *const now = view[1];
        if (k == slice0 && k > 0)
            FBP_TRY_GOTO(read_bright(src, k - 1, first, rows, view[0]));
        if (k == slice0)
            FBP_TRY_GOTO(read_bright(src, k, first, rows, now));
        if (k < last)
            FBP_TRY_GOTO(read_bright(src, k + 1, first, rows, view[2]));
        const float *before = k > 0 ? view[0] : view[2], *after = k < last ? view[2] : view[0];
        for (size_t i = 0; i < n; i++) {
            const float x = now[i] - fmaxf(before[i], after[i]);
            d[i] = isfinite(x) ? x : 0;
        }
        for (size_t r = row0; r < row0 + n_rows; r++) {
            const size_t top = begin(r, z->rows, nr) - first;
            float *row = to + (r - row0) * nc;
            for (size_t c = 0, at = (r - first) * nc; c < nc; c++, at++) {
                const float usual = now[at] - d[at];
                const float least = z->intensity ? LEAST * fabsf(usual) : LEAST;
                float base, x = now[at];
                if (d[at] > least && is_zinger(z, d, nc, top, at, least, &base))
                    x = usual + base;
                row[c] = z->intensity ? x : -x;
            }
        }
        view[1] = view[2];
        view[2] = view[0];
        view[0] = now;
    }
fail:
    fbp_free(memory);
    return st;
}

/* Set up a source of views without zingers; what: a struct zingers, which is copied. */
static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    struct zingers *z;

    FBP_TRY(fbp_calloc((void **)&z, 1, sizeof *z, "a source"));
    *z = *(const struct zingers *)what;
    src->state = z;
    src->close = fbp_source_free_state;
    src->read_block = read_cleaned;
    fbp_source_like(src, below);
    src->unpacks = true;
    src->held_bytes = below->held_bytes;
    src->reader_bytes =
        below->reader_bytes + 4 * below->info.n[0] * below->info.n[1] * sizeof(float);
    const size_t rows = (below->info.n[1] - 1) / 2, columns = (below->info.n[0] - 1) / 2;
    z->rows = rows < REACH ? rows : REACH;
    z->columns = z->rows < REACH ? LONG_REACH : REACH;
    z->columns = columns < z->columns ? columns : z->columns;
    return fbp_source_wrap_set_up(src, below);
}

fbp_status fbp_source_zingers(fbp_source **views, const struct fbp_scan *scan, bool owned)
{
    struct fbp_corrections c;

    FBP_TRY(fbp_corrections_of(scan, &c));
    if (!(c.zingers > 0))
        return FBP_OK;
    if (fbp_source_grows(*views)) {
        const fbp_status st = FBP_UNSUPPORTED("%s: zingers are found by comparison with the next "
                                              "view; omit zingers, or --follow",
                                              (*views)->path);
        if (owned)
            fbp_source_close(views);
        return st;
    }
    if (fbp_source_in_order(*views)) {
        FBP_TRY(fbp_source_hold(views, *views, owned));
        owned = true;
    }
    const struct zingers z = {.sigmas = (float)c.zingers, .intensity = fbp_scan_is_intensity(scan)};
    return fbp_source_wrap(views, set_up, &z, *views, owned);
}
