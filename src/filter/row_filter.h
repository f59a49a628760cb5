/** @file row_filter.h  Rows through a filter in double, one by one (internal). */
#ifndef FBP_SRC_ROW_FILTER_H
#define FBP_SRC_ROW_FILTER_H

#include "base/status.h"
#include "filter/filter.h"

#include <complex.h>

/** Read only while it is applied, by any number of threads. */
struct fbp_row_filter {
    const struct fbp_filter_design *design;
    bool spatial; /**< term by term instead of by FFT */
    struct fbp_fft *fft;
};

/** What a thread needs. */
struct fbp_row_work {
    double *line; /**< n_fft samples, in and out */
    double complex *spectrum;
    double *scratch; /**< of transforms */
};

/** Doubles that fbp_row_work_alloc() takes. */
size_t fbp_row_work_doubles(const struct fbp_filter_design *f);
fbp_status fbp_row_work_alloc(struct fbp_row_work *out, const struct fbp_filter_design *f);
void fbp_row_work_free(struct fbp_row_work *work);

/** design must outlive it. */
fbp_status fbp_row_filter_open(struct fbp_row_filter *out, const struct fbp_filter_design *design,
                               bool spatial);
void fbp_row_filter_close(struct fbp_row_filter *filter);

/**
 * y(c) = sum_c' h(c - c') x(c'), in all passes of the design.
 *
 * work  its line holds x, zeros behind it; overwritten
 * out   n_columns samples
 */
void fbp_row_filter(const struct fbp_row_filter *filter, const struct fbp_row_work *work,
                    double *out);

#endif /* FBP_SRC_ROW_FILTER_H */
