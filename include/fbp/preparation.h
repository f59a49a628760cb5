/** @file preparation.h  Parameters of the steps that convert the stored rows of a spectrometer
 * (spectra or time traces) to plane integrals (EPR imaging); a member of struct fbp_scan. */
#ifndef FBP_PREPARATION_H
#define FBP_PREPARATION_H

#include "fbp/types.h"

FBP_BEGIN

/** Zero-order phase that is removed from complex samples: none, given, or determined from the
 * samples. */
enum fbp_phase {
    FBP_PHASE_NONE = 0, /**< no phase is removed; the real parts are used */
    FBP_PHASE_GIVEN,    /**< the phase fbp_preparation.phase_deg */
    FBP_PHASE_ALL,      /**< one phase for the whole scan, determined from its samples */
    FBP_PHASE_VIEW,     /**< one phase per view, determined from the samples of the view */
};

/**
 * Steps from the stored rows of a scan (spectra or time traces) to its plane integrals, in this
 * order. All 0: none.
 *
 * - baseline: subtract a polynomial that is fitted to the samples of baseline_samples
 * - resample: interpolate from samples at unequal steps to as many samples at equal steps, with
 *   cubic polynomials through four neighbours
 * - fft: rows are time traces; compute spectra of `fft` samples (zeros are appended), S(nu) = sum
 *   over j of s(j) exp(-2 pi i nu (j - zero_sample) dwell_us), sample fft/2 at nu = 0; scaled to
 *   make the integral of a view equal to its trace at zero_sample
 * - phase: remove the phase, then use the real parts
 * - profile: divide samples by the resonator's profile, one number per sample; the result is 0 if
 *   that number is less than profile_threshold times the greatest number of the profile
 */
struct fbp_preparation {
    size_t struct_size;
    /** Number of terms of the baseline polynomial: 0: no baseline; 1: a constant; 2: a straight
     * line. */
    size_t baseline_terms;
    /** Two ranges of samples to which the baseline is fitted, each {first, end} with the end
     * excluded; the second may be empty. All 0: an eighth of a row at each end. */
    size_t baseline_samples[2][2];
    /** True: resample rows to equal steps, if the file contains positions with unequal steps. */
    bool resample;
    /** Number of samples of the spectra that an FFT computes from time traces, at least that of a
     * trace; 0: no FFT, the rows are spectra. */
    size_t fft;
    double zero_sample; /**< index of the sample at time 0 in a trace, counted from 0; may be
                           fractional */
    double dwell_us;    /**< time between two samples of a trace [us]; 0: read from the file */
    enum fbp_phase phase;
    double phase_deg;
    char *profile; /**< path of a file with the resonator's profile, owned by the struct; NULL: none
                    */
    /** Least usable value of the resonator's profile, a fraction of its greatest value; 0: 0.1. */
    double profile_threshold;
    /* Functions that load a scan set the following members. */
    size_t n_samples; /**< number of samples of a stored row */
    /** [n_samples] positions of the samples of a stored row [mm], or times [us] if an FFT follows;
     * NULL: equal steps. */
    double *places;
};

FBP_END

#endif /* FBP_PREPARATION_H */
