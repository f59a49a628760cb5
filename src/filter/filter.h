/** @file filter.h  Design of the filters of rows (ramp, windows, column window, padding), and rows
 * through a filter in double (internal; double, pure).  Plans design filters, backends apply them.
 */
#ifndef FBP_SRC_FILTER_H
#define FBP_SRC_FILTER_H

#include "fbp/recon.h"

#include "base/base.h"
#include "filter/pad.h"

/**
 * A filter for rows of n_columns samples of unit pitch.
 *
 *     h(0) = 1/4,  h(n) = -1/(pi n)^2 for odd n, 0 for even n       (Kak & Slaney 1988, eq. 3.61)
 *
 * sampled around a circle of n_fft >= 2 n_columns points, transformed, and multiplied by the window
 * W(f / f_cut): `response`.  `kernel` is its inverse transform: both forms are one filter.
 */
struct fbp_filter_design {
    size_t n_columns;
    size_t n_fft;      /**< 2^a 3^b 5^c */
    double *response;  /**< [n_fft/2 + 1] factors, with the 1/n_fft of the inverse transform */
    size_t half_width; /**< S, at most n_columns - 1 */
    double *kernel;    /**< kernel[n], n = 0 … S; symmetric, or see kernel_back */
    /** Other halves of a real kernel that is not symmetric (fbp_deconvolution_design()): imaginary
     *  parts of the response, and kernel[-n], n = 0 … S.  NULL: the kernel is symmetric. */
    double *imaginary, *kernel_back;
    bool periodic; /**< n_fft is n_columns: rows are periodic, and there is no kernel */
    unsigned
        passes; /**< number of times that rows are filtered, cut to n_columns in between: 1, 2 */
};

/** half_width 0 = n_columns - 1.  @return FBP_ERR_INVALID for a cutoff outside (0, 1],
 *  FBP_ERR_UNSUPPORTED for a filter of plane integrals. */
fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width);
void fbp_filter_design_clear(struct fbp_filter_design *design);

/** Checks that all designs share.  @return FBP_ERR_INVALID for an unknown filter, a cutoff outside
 *  (0, 1], and rows that are too long, or have no samples. */
fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns);

/** Zeroed arrays of a design for its n_columns and half_width (0 = n_columns - 1); passes is 1.
 *  asymmetric: also the other halves. */
fbp_status fbp_filter_design_alloc(struct fbp_filter_design *design, bool asymmetric);

/**
 * Fill an allocated design: the kernel, cut off after the half-width, and the response of the whole
 * kernel around the circle.
 *
 * ahead   kernel[n], n = 0 … n_columns - 1
 * behind  kernel[-n]; NULL: it is symmetric
 */
fbp_status fbp_filter_from_kernel(struct fbp_filter_design *design, const double *ahead,
                                  const double *behind);

/** Ramp of unit pitch, h(n). */
double fbp_ramp_kernel(size_t n);

/** Is the filter a window, as line integrals have them? */
bool fbp_filter_is_window(enum fbp_filter filter);

/** W(x), x = f / f_cut in [0, 1]; 0 beyond. */
double fbp_filter_window(enum fbp_filter filter, double x);

/**
 * A Hann window along detector columns, as an even kernel of n_rows samples of unit pitch.
 *
 *     g(n) = 1/N sum_j  W(j / j_cut) cos(2 pi j n / N),   W(x) = .5 + .5 cos(pi x)
 *
 * around a circle of N >= 2 n_rows points, j_cut = cutoff N/2.  It falls as 1/n^3 and is cut off
 * where the rest changes the response by less than FBP_COLUMN_ERROR at any frequency; for cutoff 1
 * it is exactly 1/4, 1/2, 1/4.  Rows beyond the detector count as 0.
 */
struct fbp_column_filter {
    size_t half_width; /**< S, at most n_rows - 1 */
    double *kernel;    /**< g(n), n = 0 … S; symmetric */
};

static const double FBP_COLUMN_ERROR = 1e-4;

/** @return FBP_ERR_INVALID for a cutoff outside (0, 1], or a single row, whose only frequency is 0.
 */
fbp_status fbp_column_filter_design(struct fbp_column_filter *out, double cutoff, size_t n_rows);
void fbp_column_filter_clear(struct fbp_column_filter *filter);

/** Interpolation of a periodic function: weights of all samples i < n in the value at x, counted in
 *  samples; the sum is 1.
 *
 * scratch: [n], for splines: as fbp_cyclic_prepare() has written it */
void fbp_cyclic_weights(enum fbp_ring_interpolation how, size_t n, double x, const double *scratch,
                        double *weights);
void fbp_cyclic_prepare(enum fbp_ring_interpolation how, size_t n, double *scratch);

/** Rows through a filter in double, one by one; any number of threads may apply it. */
struct fbp_row_filter {
    const struct fbp_filter_design *design;
    bool spatial; /**< term by term instead of by FFT */
    struct fbp_fft *fft;
};

/** Buffers of one thread. */
struct fbp_row_work {
    double *line; /**< n_fft samples, in and out */
    double _Complex *spectrum;
    double *scratch; /**< of transforms */
};

/** Number of doubles of fbp_row_work_alloc(). */
size_t fbp_row_work_doubles(const struct fbp_filter_design *f);
fbp_status fbp_row_work_alloc(struct fbp_row_work *out, const struct fbp_filter_design *f);
void fbp_row_work_free(struct fbp_row_work *work);

/** design must outlive the filter. */
fbp_status fbp_row_filter_open(struct fbp_row_filter *out, const struct fbp_filter_design *design,
                               bool spatial);
void fbp_row_filter_close(struct fbp_row_filter *filter);

/**
 * y(c) = sum_c' h(c - c') x(c'), in all passes of the design.
 *
 * work  its line holds x, followed by zeros; overwritten
 * out   n_columns samples
 */
void fbp_row_filter(const struct fbp_row_filter *filter, const struct fbp_row_work *work,
                    double *out);

/** Padding of rows beyond the panel (pad.h), for all rows of a scan. */
struct fbp_pad {
    struct fbp_pad_rule rule;
    size_t n_columns; /**< of filtered rows */
    float *tables;    /**< [end][n_lengths][n_columns] */
};

struct fbp_pad_request {
    enum fbp_pad_kind kind; /**< COSINE or ELLIPSE */
    enum fbp_filter filter;
    double cutoff;
    size_t half_width;    /**< of a filter in space; 0: the whole row */
    size_t n_columns;     /**< of the panel */
    size_t before, after; /**< additional columns of filtered rows at both ends */
};

/** @return FBP_ERR_INVALID for rows of fewer than 8 columns. */
fbp_status fbp_pad_create(struct fbp_pad **out, const struct fbp_pad_request *rq);
void fbp_pad_destroy(struct fbp_pad **pad);

/** A table of an end. */
static inline const float *fbp_pad_table(const struct fbp_pad *p, int end, size_t at)
{
    return p->tables + ((size_t)end * p->rule.n_lengths + at) * p->n_columns;
}

/** Number of floats of all tables. */
size_t fbp_pad_floats(const struct fbp_pad *pad);

/** Find the continuation of a row at both ends from its weighted samples `line` (of the panel) and
 *  their weights. */
void fbp_pad_ends(const struct fbp_pad_rule *rule, const float *line, const float *weights,
                  struct fbp_pad_end out[2]);

/** Add the contribution of the columns beyond the ends to a filtered row. */
void fbp_pad_apply(const struct fbp_pad *pad, const struct fbp_pad_end ends[2], float *row);

#endif /* FBP_SRC_FILTER_H */
