/** @file traces.h  Preparation of spectra: baseline, resampling, FFT, phase, profile (internal;
 * double). */
#ifndef FBP_SRC_TRACES_H
#define FBP_SRC_TRACES_H

#include "fbp/scan.h"

#include "array/file/format.h"

#include "base/status.h"

#include <complex.h>
#include <stddef.h>

/* Samples at uneven places to even ones (internal; double, pure). */

/** Value at an even place: of the cubic polynomial through samples first … first + 3. */
struct fbp_taps {
    size_t first;
    double weight[4];
};

/** Taps of n >= 4 even places from places[0] to places[n - 1], which rise or fall throughout. */
void fbp_resample_taps(const double *places, size_t n, struct fbp_taps *out);

/** out[i] = sum of weights times samples; not in place. */
void fbp_resample(const struct fbp_taps *taps, size_t n, const double complex *in,
                  double complex *out);

/* What is done with one row of a spectrometer: tables and steps (internal; double).
 */

/** Tables of a preparation, for rows of n_in samples that become n_out. */
struct fbp_steps {
    const struct fbp_preparation *p;
    size_t n_in, n_out;
    size_t ranges[2][2];   /**< of the baseline */
    struct fbp_taps *taps; /**< NULL: not resampled */
    struct fbp_fft *fft;   /**< NULL: no FFT */
    double complex *turn;  /**< [n_out] of an FFT: zero time */
    double *gain;          /**< [n_out] 1 / profile, 0 below its threshold; NULL: none */
};

fbp_status fbp_steps_create(struct fbp_steps *s, const struct fbp_preparation *p);
void fbp_steps_clear(struct fbp_steps *s);

/** Room for one row: two of n_in and one of n_out complex numbers, and `work`. */
size_t fbp_steps_bytes(const struct fbp_steps *s);

/** Doubles of scratch for fbp_steps_begin(). */
size_t fbp_steps_work(const struct fbp_steps *s);

/** All steps before the phase.  in: [n_in], is changed; all in memory of fbp_alloc(). */
void fbp_steps_begin(const struct fbp_steps *s, double complex *in, double complex *spare,
                     double complex *out, double *work);

/** Turned back by `phase` (rad), divided by the profile, times scale: the real parts. */
void fbp_steps_end(const struct fbp_steps *s, const double complex *row, double phase, double scale,
                   double *out);

/** What phases are found from: the sum of the row with the largest one, and sums over all rows. */
struct fbp_phase_sums {
    double complex sum; /**< of samples */
    double complex squares;
    double size; /**< of |samples| of that row */
};

void fbp_phase_add(struct fbp_phase_sums *s, const double complex *row, size_t n);

/**
 * The phase of rows that are real but for it.  By their sum (the integral of the object), or where
 * that is next to nothing (derivatives of lines) by the sum of squares, which leaves half a turn
 * open: then the one nearest to `near` is taken.
 */
double fbp_phase_of(const struct fbp_phase_sums *s, double near);

/* Rows that a spectrometer has measured, as plane integrals. */

/**
 * A source of the rows that scan->preparation makes of stored ones: [view][row][column] of the
 * scan's (stored) panel, float64 where the file has that, else float32.  A phase of all views is
 * found here: they are read once.
 *
 * below: the scan's projections, opened, which *out owns, and closes also on failure
 */
fbp_status fbp_traces_open(fbp_source **out, fbp_source *below, const struct fbp_scan *scan);

#endif /* FBP_SRC_TRACES_H */
