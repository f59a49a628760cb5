/** @file convolve.h  Detector rows with the filter, by FFT or term by term (internal). */
#ifndef FBP_SRC_CPU_CONVOLVE_H
#define FBP_SRC_CPU_CONVOLVE_H

#include "backend/backend.h"
#include "backend/cpu/line.h"
#include "fft/lanes.h"

/** Tables and plan of one filter; several threads may apply it at the same time. */
struct cpu_convolution {
    const struct fbp_filter_design *filter;
    const struct fbp_line_dsp *dsp;
    bool spatial;
    const struct fbp_lanes *lanes;
    struct fbp_lanes_plan plan;
    float *taps; /**< 2 S + 1 between FBP_CONVOLVE_COLUMNS zeros on either side */
};

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp);
void cpu_convolution_close(struct cpu_convolution *c);

/** Number of floats of the tables, and of the scratch of one thread. */
size_t cpu_convolution_floats(const struct fbp_job *job);
size_t cpu_convolve_work(const struct fbp_job *job);

/**
 * Convolve lines[0 … n-1], each of filter->n_columns samples, in place.  work:
 * [cpu_convolve_work()], FBP_ALIGN-aligned.
 *
 * For the FFT n must be even: lines 2i and 2i + 1 are the real and imaginary part of one transform,
 * each scaled to the same size by a power of two.  Their rounding errors mix and are below 1e-6 of
 * a line's own greatest sample.  For the same bits every time, a line needs the same partner every
 * time.  A line of zeros stays zero and does not change its partner.
 */
void cpu_convolve(const struct cpu_convolution *c, float *work, float *const *lines, size_t n);

#endif /* FBP_SRC_CPU_CONVOLVE_H */
