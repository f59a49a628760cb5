/** @file filter.h  Design of filters for detector rows (ramp, windows, window along columns,
 * padding), and their application in double (internal; pure functions). Used by job.c, epr_rings.c
 * and names.c of src/pipeline, backend.h, the backends "ref" and "cpu", cli/recon.h and
 * bench/fft.
 * Used by: bench/, cli/, backend/, filter/, pipeline/. */
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
 * h is sampled on a circle of n_fft >= 2 n_columns points, Fourier transformed, and multiplied by
 * the window W(f / f_cut): the result is `response`. `kernel` is its inverse transform: both forms
 * are the same filter.
 */
struct fbp_filter_design {
    size_t n_columns;
    size_t n_fft;      /**< 2^a 3^b 5^c */
    double *response;  /**< [n_fft/2 + 1] factors of frequencies, including the 1/n_fft of the
                          inverse transform */
    size_t half_width; /**< number of kernel samples on either side of sample 0; at most n_columns -
                          1 */
    double *kernel; /**< [half_width + 1] kernel[n], n >= 0; symmetric unless kernel_back is set */
    /** For a real kernel that is not symmetric (fbp_deconvolution_design()): imaginary parts of the
     * response, and kernel_back[n] = kernel[-n], n = 0 … half_width.  NULL: symmetric kernel. */
    double *imaginary, *kernel_back;
    bool periodic; /**< true: rows are periodic, n_fft is n_columns, and kernel is NULL */
    /** Number of passes of a row through the filter, 1 or 2; before the second pass, the row is cut
     * to n_columns samples. */
    unsigned passes;
};

/**
 * Design a filter of line integrals, ramp times window. half_width: number of kernel samples on
 * either side of sample 0; 0: n_columns - 1.
 * @return FBP_ERR_INVALID for a cutoff outside (0, 1], FBP_ERR_UNSUPPORTED for a filter of plane
 *         integrals
 */
fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width);
void fbp_filter_design_clear(struct fbp_filter_design *design);

/**
 * Check the filter, the cutoff and the row length of any design.
 * @return FBP_ERR_INVALID for an unknown filter, a cutoff outside (0, 1], and rows that are too
 *         long or empty
 */
fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns);

/** Allocate the zeroed arrays of a design for its n_columns and half_width (0: n_columns - 1), and
 * set passes to 1.  asymmetric: also imaginary and kernel_back. */
fbp_status fbp_filter_design_alloc(struct fbp_filter_design *design, bool asymmetric);

/**
 * Fill an allocated design from a kernel: `kernel` gets its samples up to half_width, `response`
 * that of all its samples on a circle of n_fft points.
 *
 * ahead   kernel[n], n = 0 … n_columns - 1
 * behind  kernel[-n]; NULL: symmetric
 */
fbp_status fbp_filter_from_kernel(struct fbp_filter_design *design, const double *ahead,
                                  const double *behind);

/** Ramp kernel h(n) of unit pitch. */
double fbp_ramp_kernel(size_t n);

/** True if the filter is the ramp times a window (ram-lak, shepp-logan, cosine, hamming, hann). */
bool fbp_filter_is_window(enum fbp_filter filter);

/** One cosine of a window W(x) = sum of amplitude cos(pi frequency x), x = f / f_cut. */
struct fbp_window_term {
    double amplitude, frequency;
};

/** Greatest number of terms of a window. */
enum { FBP_WINDOW_TERMS = 4 };

/** Get the cosines of a filter's window, [FBP_WINDOW_TERMS], with zeros after the last; NULL: the
 * window is not a sum of cosines. */
const struct fbp_window_term *fbp_filter_terms(enum fbp_filter filter);

/** Compute the window W(x) of a filter at x = f / f_cut; 0 outside [0, 1]. */
double fbp_filter_window(enum fbp_filter filter, double x);

/**
 * A Hann window along detector columns, as an even kernel of n_rows samples of unit pitch.
 *
 *     g(n) = 1/N sum_j  W(j / j_cut) cos(2 pi j n / N),   W(x) = .5 + .5 cos(pi x)
 *
 * on a circle of N >= 2 n_rows points, with j_cut = cutoff N/2. g falls as 1/n^3 and is truncated
 * where the remainder changes the response by less than FBP_COLUMN_ERROR at any frequency; for
 * cutoff 1 it is exactly 1/4, 1/2, 1/4. Rows beyond the detector count as 0.
 */
struct fbp_column_filter {
    size_t half_width; /**< S, the greatest |n|; at most n_rows - 1 */
    double *kernel;    /**< [S + 1] g(n), n = 0 … S; symmetric */
};

static const double FBP_COLUMN_ERROR = 1e-4;

/**
 * Design a Hann window along detector columns.
 * @return FBP_ERR_INVALID for a cutoff outside (0, 1], or a single row, whose only frequency is 0
 */
fbp_status fbp_column_filter_design(struct fbp_column_filter *out, double cutoff, size_t n_rows);
void fbp_column_filter_clear(struct fbp_column_filter *filter);

/**
 * Interpolate a periodic function: get the weights of samples i = 0 … n - 1 in the value at x
 * (in samples); their sum is 1.
 *
 * scratch  [n], written by fbp_cyclic_prepare(); read for splines only
 */
void fbp_cyclic_weights(enum fbp_ring_interpolation how, size_t n, double x, const double *scratch,
                        double *weights);
void fbp_cyclic_prepare(enum fbp_ring_interpolation how, size_t n, double *scratch);

/** A filter that is applied to one row per call, in double; any number of threads may use it. */
struct fbp_row_filter {
    const struct fbp_filter_design *design;
    bool spatial; /**< convolution in space instead of by FFT */
    struct fbp_fft *fft;
};

/** Buffers of one thread. */
struct fbp_row_work {
    double *line; /**< n_fft samples, input and output */
    double _Complex *spectrum;
    double *scratch; /**< scratch memory of the transforms */
};

/** Get the size of the buffers that fbp_row_work_alloc() allocates [doubles]. */
size_t fbp_row_work_doubles(const struct fbp_filter_design *f);
fbp_status fbp_row_work_alloc(struct fbp_row_work *out, const struct fbp_filter_design *f);
void fbp_row_work_free(struct fbp_row_work *work);

/** Prepare a row filter; `design` must outlive it. spatial: convolution in space instead of by FFT.
 * */
fbp_status fbp_row_filter_open(struct fbp_row_filter *out, const struct fbp_filter_design *design,
                               bool spatial);
void fbp_row_filter_close(struct fbp_row_filter *filter);

/**
 * Filter one row: y(c) = sum_c' h(c - c') x(c'), in all passes of the design.
 *
 * work  buffers of this thread; work->line contains x, then zeros up to n_fft; overwritten
 * out   n_columns samples
 */
void fbp_row_filter(const struct fbp_row_filter *filter, const struct fbp_row_work *work,
                    double *out);

/** Tables that continue rows beyond the panel (pad.h); the same for all rows of a scan. */
struct fbp_pad {
    struct fbp_pad_rule rule;
    size_t n_columns; /**< columns of filtered rows */
    float *tables;    /**< [end][n_lengths][n_columns] */
};

struct fbp_pad_request {
    enum fbp_pad_kind kind; /**< COSINE or ELLIPSE */
    enum fbp_filter filter;
    double cutoff;
    size_t half_width; /**< greatest distance of the kernel's samples from its centre; 0: the whole
                          row */
    size_t n_columns;  /**< columns of the panel */
    size_t before,
        after; /**< numbers of columns of filtered rows before and after those of the panel */
};

/**
 * Compute the tables that continue rows beyond the panel.
 * @return FBP_ERR_INVALID for rows of fewer than 8 columns
 */
fbp_status fbp_pad_create(struct fbp_pad **out, const struct fbp_pad_request *rq);
void fbp_pad_destroy(struct fbp_pad **pad);

/** Get filtered continuation number `at` [n_columns] of a row's first end (0) or last end (1). */
static inline const float *fbp_pad_table(const struct fbp_pad *p, int end, size_t at)
{
    return p->tables + ((size_t)end * p->rule.n_lengths + at) * p->n_columns;
}

/** Size of all tables [floats]. */
size_t fbp_pad_floats(const struct fbp_pad *pad);

/** Compute how a row continues beyond both of its ends. line: weighted samples of the panel;
 * weights: the weights of these samples. */
void fbp_pad_ends(const struct fbp_pad_rule *rule, const float *line, const float *weights,
                  struct fbp_pad_end out[2]);

/** Add to a filtered row the contribution of the columns beyond the panel's ends. */
void fbp_pad_apply(const struct fbp_pad *pad, const struct fbp_pad_end ends[2], float *row);

/** Name of a filter: "ram-lak", "shepp-logan", "cosine", "hamming", "hann", "second-difference",
 *  "3-point-derivative", "5-point-derivative", "two-ramps", "two-ramps-unpadded"; NULL for a number
 *  greater than FBP_FILTER_LAST. */
const char *fbp_filter_name(size_t i);

/** Name of an interpolation: "linear", "nearest", "cubic"; NULL for any other number. */
const char *fbp_interpolation_name(size_t i);

/** Name of a ring interpolation: "fft", "spline", "linear"; NULL for any other number. */
const char *fbp_ring_interpolation_name(size_t i);

#endif /* FBP_SRC_FILTER_H */
