/** @file convolve.h  Detector rows with the filter, by FFT or term by term (internal). */
#ifndef FBP_SRC_CPU_CONVOLVE_H
#define FBP_SRC_CPU_CONVOLVE_H

#include "backend/backend.h"
#include "backend/cpu/line.h"
#include "fft/fft.h"
#include "fft/lanes.h"

/** Tables and plans of one filter, read only while it is applied. */
struct cpu_convolution {
    const struct fbp_filter_design *filter;
    const struct fbp_line_dsp *dsp;
    bool spatial;
    const struct fbp_lanes *lanes; /**< NULL: pairs of rows one by one, by fft */
    struct fbp_lanes_plan plan;
    struct fbp_fftf *fft;
    /** n_fft factors, each twice: as many as a spectrum has floats; or complex ones, of a design
     *  that is not symmetric */
    float *response;
    float *taps; /**< 2 S + 1 between FBP_CONVOLVE_COLUMNS zeros on either side */
};

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp);
void cpu_convolution_close(struct cpu_convolution *c);

/** Floats of the tables, and of the scratch that one thread needs. */
size_t cpu_convolution_floats(const struct fbp_job *job);
size_t cpu_convolve_work(const struct fbp_job *job);

/**
 * Convolve lines[0 … n-1], each of filter->n_columns samples, in place.  work: of
 * cpu_convolve_work() floats, FBP_ALIGN-aligned.
 *
 * By FFT, lines 2i and 2i + 1, which both must be there, are the real and imaginary part of one
 * transform, each scaled to the same size by a power of two.  Their rounding mixes: errors are
 * below 1e-6 of a line's own greatest sample, but to give the same bits every time a line must have
 * the same partner every time. A line of zeros stays exactly that, and so does its partner as if it
 * were alone.
 */
void cpu_convolve(const struct cpu_convolution *c, float *work, float *const *lines, size_t n);

#endif /* FBP_SRC_CPU_CONVOLVE_H */
