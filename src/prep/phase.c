#include "prep/phase.h"

#include "base/mem.h"
#include "base/vec.h"
#include "fft/fft.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 4 }; /* that are transformed side by side: a cache line of complex numbers */

/* The kernel falls as exp(-r / sqrt(a)), and the other side of a view is two frames away. */
static const double FRAMES = 8;

/* As fbp_transmission() has it. */
static const double LEAST = 1e-6;

/* A thread's. */
struct room {
    double complex *spectrum; /* [n[1]][n[0] / 2 + 1] */
    double complex *columns;  /* [COLUMNS][n[1]] */
    double *row, *work;
};

static size_t width(const struct fbp_retrieval *f)
{
    return f->n[0] / 2 + 1;
}

static size_t whole_lines(size_t doubles)
{
    return (doubles + 7) / 8 * 8;
}

/* From `memory` on, or NULL: only counted; returns doubles. */
static size_t lay_out(const struct fbp_retrieval *f, double *memory, struct room *out)
{
    const size_t longest = f->n[0] > f->n[1] ? f->n[0] : f->n[1];
    const size_t spectrum = whole_lines(2 * f->n[1] * width(f));
    const size_t columns = whole_lines(2 * f->n[1]) * COLUMNS;
    const size_t row = whole_lines(f->n[0]);

    if (memory)
        *out = (struct room){.spectrum = (double complex *)(void *)memory,
                             .columns = (double complex *)(void *)(memory + spectrum),
                             .row = memory + spectrum + columns,
                             .work = memory + spectrum + columns + row};
    return spectrum + columns + row + whole_lines(fbp_fft_work(longest));
}

size_t fbp_retrieval_bytes(const struct fbp_retrieval *f)
{
    return lay_out(f, NULL, NULL) * sizeof(double);
}

fbp_status fbp_retrieval_open(struct fbp_retrieval *f, size_t n_columns, size_t n_rows,
                              const double reach[2])
{
    *f = (struct fbp_retrieval){.n_columns = n_columns, .n_rows = n_rows};
    for (int i = 0; i < 2; i++) {
        const size_t n = i ? n_rows : n_columns;
        f->pad[i] = n > 1 ? (size_t)ceil(FRAMES * reach[i]) : 0; /* one row is all rows */
        f->n[i] = n > 1 ? fbp_fft_length(n + 2 * f->pad[i]) : 1;
    }
    FBP_TRY(fbp_fft_open_real(&f->along, f->n[0]));
    return f->n[1] > 1 ? fbp_fft_open_complex(&f->across, f->n[1]) : FBP_OK;
}

void fbp_retrieval_close(struct fbp_retrieval *f)
{
    fbp_fft_close(&f->along);
    fbp_fft_close(&f->across);
    *f = (struct fbp_retrieval){0};
}

/* Index of padded row or column i in the view.  What the transform is longer by than view and
 * frames continues the frame behind. */
static size_t inside(size_t i, size_t pad, size_t n)
{
    if (i < pad)
        return 0;
    return i - pad < n ? i - pad : n - 1;
}

/* Spectra of all rows; those of the frame are the outermost ones'. */
static void transform_rows(const struct fbp_retrieval *f, const float *view, const struct room *r)
{
    size_t last = SIZE_MAX;

    for (size_t i = 0; i < f->n[1]; i++) {
        double complex *to = r->spectrum + i * width(f);
        const size_t from = inside(i, f->pad[1], f->n_rows);
        if (from == last) {
            memcpy(to, to - width(f), width(f) * sizeof *to);
            continue;
        }
        for (size_t c = 0; c < f->n[0]; c++)
            r->row[c] =
                exp(-(double)view[from * f->n_columns + inside(c, f->pad[0], f->n_columns)]);
        fbp_fft_real(f->along, r->row, to, r->work);
        last = from;
    }
}

/* 1 / (1 + a |k|^2) at frequency i of columns and j of rows, divided by the number of points. */
static double response(const struct fbp_retrieval *f, const double reach[2], size_t i, size_t j)
{
    const size_t low = j <= f->n[1] / 2 ? j : f->n[1] - j;
    const double u = 2 * FBP_PI * reach[0] * (double)i / (double)f->n[0];
    const double v = 2 * FBP_PI * reach[1] * (double)low / (double)f->n[1];

    return 1 / ((1 + u * u + v * v) * (double)f->n[0] * (double)f->n[1]);
}

/* Columns [first, first + n) of the spectrum there, filtered and back: conj(F(conj(x))) is the way
 * back. */
static void filter_columns(const struct fbp_retrieval *f, const double reach[2], size_t first,
                           size_t n, const struct room *r)
{
    for (size_t j = 0; j < f->n[1]; j++)
        for (size_t c = 0; c < n; c++)
            r->columns[c * f->n[1] + j] = r->spectrum[j * width(f) + first + c];
    for (size_t c = 0; c < n; c++) {
        double complex *column = r->columns + c * f->n[1];
        if (f->across)
            fbp_fft_complex(f->across, column, r->work);
        for (size_t j = 0; j < f->n[1]; j++)
            column[j] = conj(column[j]) * response(f, reach, first + c, j);
        if (f->across)
            fbp_fft_complex(f->across, column, r->work);
    }
    for (size_t j = 0; j < f->n[1]; j++)
        for (size_t c = 0; c < n; c++)
            r->spectrum[j * width(f) + first + c] = conj(r->columns[c * f->n[1] + j]);
}

void fbp_retrieve(const struct fbp_retrieval *f, const double reach[2], float *view, void *work)
{
    struct room r = {0};

    lay_out(f, work, &r);
    transform_rows(f, view, &r);
    for (size_t c = 0; c < width(f); c += COLUMNS)
        filter_columns(f, reach, c, width(f) - c < COLUMNS ? width(f) - c : COLUMNS, &r);
    for (size_t i = 0; i < f->n_rows; i++) {
        fbp_fft_real_back(f->along, r.spectrum + (f->pad[1] + i) * width(f), r.row, r.work);
        for (size_t c = 0; c < f->n_columns; c++)
            view[i * f->n_columns + c] = (float)-log(fmax(r.row[f->pad[0] + c], LEAST));
    }
}
