/** @file preparation.h  Steps that convert the spectra of a spectrometer to plane integrals (EPR
 * imaging).  Used by scan.h, src/scan, src/prep, src/pipeline, cli, bindings and programs. */
#ifndef FBP_PREPARATION_H
#define FBP_PREPARATION_H

#include "fbp/types.h"

FBP_BEGIN

/** Zero-order phase that is removed from complex samples. */
enum fbp_phase {
    FBP_PHASE_NONE = 0, /**< no phase is removed; the real parts are used */
    FBP_PHASE_GIVEN,    /**< the phase fbp_preparation.phase_deg */
    FBP_PHASE_ALL,      /**< one phase for the whole scan, determined from its samples */
    FBP_PHASE_VIEW,     /**< one phase per view, determined from the samples of the view */
};

/**
 * Steps from the stored rows of a scan to its plane integrals, in this order.  All 0: none.
 *
 * - baseline: subtract a polynomial that is fitted to the samples of baseline_samples
 * - resample: interpolate from unequal steps to the same number of equal steps, with cubic
 *   polynomials through four neighbours
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
    /** Ranges [first, end) of samples to which the baseline is fitted; the second may be empty. All
     * 0: an eighth of a row at each end. */
    size_t baseline_samples[2][2];
    /** True: resample rows to equal steps, if the file contains positions with unequal steps. */
    bool resample;
    /** Number of samples of a spectrum, at least the number of samples of a row; 0: no FFT. */
    size_t fft;
    double zero_sample; /**< index of time 0 in a trace, from 0; may be fractional */
    double dwell_us;    /**< time between two samples of a trace [us]; 0: from the file */
    enum fbp_phase phase;
    double phase_deg;
    char *profile; /**< path of a file with the resonator's profile, owned; NULL: none */
    /** Least usable value of the resonator's profile, a fraction of its greatest value; 0: 0.1. */
    double profile_threshold;
    /* fbp_scan_load() sets the following members. */
    size_t n_samples; /**< number of samples of a stored row */
    /** [n_samples] positions of the samples of a row [mm], or times [us] if an FFT follows; NULL:
     * equally spaced. */
    double *places;
};

FBP_END

#endif /* FBP_PREPARATION_H */
