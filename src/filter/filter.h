/** @file filter.h  Filters for detector rows (ramp with a window, and filters of plane integrals),
 * a window along detector columns, extrapolation of rows beyond the panel, and the application of
 * these filters in double (internal; pure functions).
 * Used by: bench/, cli/, backend/, filter/, pipeline/. */
#ifndef FBP_SRC_FILTER_H
#define FBP_SRC_FILTER_H

#include "fbp/recon.h"

#include "base/base.h"
#include "filter/pad.h"

/**
 * A filter for rows of n_columns samples of unit pitch.  For line integrals it is a ramp times a
 * window:
 *
 *     h(0) = 1/4,  h(n) = -1/(pi n)^2 for odd n, 0 for even n       (Kak & Slaney 1988, eq. 3.61)
 *
 * h is sampled on a circle of n_fft >= 2 n_columns points, Fourier transformed, and multiplied by
 * the window W(f / f_cut): the result is `response`. `kernel` is its inverse transform, up to
 * half_width: if that is n_columns - 1, both forms are the same filter.
 */
struct fbp_filter_design {
    size_t n_columns;
    size_t n_fft;      /**< length of the Fourier transforms: 2^a 3^b 5^c, at least 2 n_columns;
                          n_columns if `periodic` */
    double *response;  /**< [n_fft/2 + 1] factors of frequencies, including the 1/n_fft of the
                          inverse transform */
    size_t half_width; /**< number of kernel samples on either side of sample 0; at most n_columns -
                          1 */
    double *kernel; /**< [half_width + 1] kernel[n], n >= 0; symmetric unless kernel_back is set */
    /** For a real kernel that is not symmetric (fbp_deconvolution_design()): imaginary parts of the
     * response [n_fft/2 + 1], and kernel_back[n] = kernel[-n], n = 0 … half_width.  NULL: symmetric
     * kernel. */
    double *imaginary, *kernel_back;
    bool periodic; /**< true: rows are periodic, n_fft is n_columns, and kernel is NULL */
    /** Number of passes of a row through the filter, 1 or 2; before the second pass, the row is cut
     * to n_columns samples. */
    unsigned passes;
};

/**
 * Design a filter of line integrals, ramp times window.  cutoff: fraction of the Nyquist frequency;
 * half_width: number of kernel samples on either side of sample 0; 0: n_columns - 1.
 * @return as fbp_filter_check(); FBP_ERR_UNSUPPORTED for a filter of plane integrals; FBP_ERR_NOMEM
 */
fbp_status fbp_filter_design(struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
                             size_t n_columns, size_t half_width);

/** Factors of a filter's response at n >= 2 equally spaced frequencies from 0 to the Nyquist
 * frequency, linear between them; n 0: no factors. */
struct fbp_filter_factors {
    size_t n;
    const double *values; /**< [n] */
};

/** Design a filter as fbp_filter_design() does, times factors.  Rows have `refined` - 1 zeros
 * between measured samples; n_columns includes these zeros.  The filter replaces the zeros by
 * interpolated samples, because its response is 0 above the Nyquist frequency of the measured
 * samples. */
fbp_status fbp_filter_design_times(struct fbp_filter_design *out, enum fbp_filter filter,
                                   double cutoff, size_t n_columns, size_t half_width,
                                   size_t refined, struct fbp_filter_factors factors);

/** Name of a number of filtered samples per measured sample; NULL beyond the last. */
const char *fbp_refine_name(size_t i);
void fbp_filter_design_clear(struct fbp_filter_design *design);

/**
 * Check the filter, the cutoff and the row length of any design.
 * @return FBP_ERR_INVALID for an unknown filter, a cutoff outside (0, 1], and rows that are too
 *         long or empty
 */
fbp_status fbp_filter_check(enum fbp_filter filter, double cutoff, size_t n_columns);

/** Allocate the zeroed arrays of a design for its n_columns, half_width (0: n_columns - 1) and
 * n_fft (0: the least length for n_columns), and set passes to 1.  asymmetric: also imaginary and
 * kernel_back. */
fbp_status fbp_filter_design_alloc(struct fbp_filter_design *design, bool asymmetric);

/**
 * Fill an allocated design (fbp_filter_design_alloc()) from a kernel: `kernel` gets its samples up
 * to half_width, `response` the response of all its samples on a circle of n_fft points.
 *
 * ahead   kernel[n], n = 0 … n_columns - 1
 * behind  kernel[-n]; NULL: symmetric
 */
fbp_status fbp_filter_from_kernel(struct fbp_filter_design *design, const double *ahead,
                                  const double *behind);

/** Ramp kernel h(n) of unit pitch (struct fbp_filter_design). */
double fbp_ramp_kernel(size_t n);

/** True if the filter is the ramp times a window (ram-lak, shepp-logan, cosine, hamming, hann). */
bool fbp_filter_is_window(enum fbp_filter filter);

/** One term of a window W(x) = sum of amplitude * cos(pi frequency x), with x = f / f_cut. */
struct fbp_window_term {
    double amplitude, frequency;
};

/** Greatest number of terms of a window. */
enum { FBP_WINDOW_TERMS = 4 };

/** Get the cosine terms of a filter's window, [FBP_WINDOW_TERMS], with zeros after the last; NULL:
 * the window is not a sum of cosines. */
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
 * Interpolate a periodic function of n samples: get the weights of samples i = 0 … n - 1 in the
 * value at position x (in samples); their sum is 1.
 *
 * scratch  [n], written by fbp_cyclic_prepare(); read for splines only
 */
void fbp_cyclic_weights(enum fbp_ring_interpolation how, size_t n, double x, const double *scratch,
                        double *weights);
void fbp_cyclic_prepare(enum fbp_ring_interpolation how, size_t n, double *scratch);

/** A filter that is applied to one row per call, in double; threads may share it. */
struct fbp_row_filter {
    const struct fbp_filter_design *design;
    bool spatial; /**< convolution in space instead of by FFT */
    struct fbp_fft *fft;
};

/** Buffers that a thread needs to filter a row. */
struct fbp_row_work {
    double *line; /**< n_fft samples, input and output */
    double _Complex *spectrum;
    double *scratch; /**< scratch memory of the transforms */
};

/** Get the size [doubles] of the buffers that fbp_row_work_alloc() allocates. */
size_t fbp_row_work_doubles(const struct fbp_filter_design *f);
fbp_status fbp_row_work_alloc(struct fbp_row_work *out, const struct fbp_filter_design *f);
void fbp_row_work_free(struct fbp_row_work *work);

/** Prepare a row filter; `design` must outlive it.  spatial: convolution in space, without FFT. */
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

/** Tables of the filtered extrapolations of rows beyond the panel (pad.h); common to all rows. */
struct fbp_pad {
    struct fbp_pad_rule rule;
    size_t n_columns; /**< columns of filtered rows */
    float *tables;    /**< [end of the row][n_lengths][n_columns] filtered extrapolation phi(t /
                         length) of a row whose value at that end is 1 */
};

struct fbp_pad_request {
    enum fbp_pad_kind kind; /**< FBP_PAD_COSINE or FBP_PAD_ELLIPSE */
    enum fbp_filter filter;
    double cutoff;
    struct fbp_filter_factors factors;
    size_t half_width; /**< greatest distance of the kernel's samples from its centre; 0: the whole
                          row */
    size_t n_columns;  /**< columns of the panel */
    size_t before,
        after; /**< number of columns of filtered rows before and after those of the panel */
};

/**
 * Compute the tables of the filtered extrapolations of rows beyond the panel (pad.h).
 * @return FBP_ERR_INVALID for panels of fewer than 8 columns, or as fbp_filter_design()
 */
fbp_status fbp_pad_create(struct fbp_pad **out, const struct fbp_pad_request *rq);
void fbp_pad_destroy(struct fbp_pad **pad);

/** Get the filtered extrapolation [n_columns] of length number `at` of a row's end 0 or 1. */
static inline const float *fbp_pad_table(const struct fbp_pad *p, int end, size_t at)
{
    return p->tables + ((size_t)end * p->rule.n_lengths + at) * p->n_columns;
}

/** Size of all tables [floats]. */
size_t fbp_pad_floats(const struct fbp_pad *pad);

/** Compute how a row is extrapolated beyond both of its ends.  line: weighted samples of the panel;
 * weights: the weights of these samples. */
void fbp_pad_ends(const struct fbp_pad_rule *rule, const float *line, const float *weights,
                  struct fbp_pad_end out[2]);

/** Add to a filtered row the filtered extrapolations beyond both ends of the panel. */
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
