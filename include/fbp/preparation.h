/** @file preparation.h  From what a spectrometer has measured to plane integrals (EPR imaging). */
#ifndef FBP_PREPARATION_H
#define FBP_PREPARATION_H

#include "fbp/types.h"

FBP_BEGIN

/** Zero-order phase: the angle by which complex samples are turned back. */
enum fbp_phase {
    FBP_PHASE_NONE = 0, /**< none: real parts are taken as they are */
    FBP_PHASE_GIVEN,    /**< phase_deg */
    FBP_PHASE_ALL,      /**< one for the whole scan, found from its samples */
    FBP_PHASE_VIEW,     /**< one for each view */
};

/**
 * Steps between the stored rows of a scan and its plane integrals, in this order.  All 0: none.
 *
 * - baseline: a polynomial, fitted to the samples of baseline_samples, is subtracted
 * - resample: from the places of the samples, which have unequal steps, to as many of equal steps,
 *   by cubic polynomials through four neighbours
 * - fft: rows are time traces; spectra of `fft` samples (zeros are appended), S(nu) = sum over j of
 *   s(j) exp(-2 pi i nu (j - zero_sample) dwell_us), sample fft/2 at nu = 0; their scale is such
 *   that the integral of a view is its trace at zero_sample
 * - phase; then the real parts are taken
 * - profile: divided by the resonator's profile, as many numbers as a row has by now; 0 where that
 *   is less than profile_threshold of its greatest number
 */
struct fbp_preparation {
    size_t struct_size;
    size_t baseline_terms;         /**< 0: none; 1: a constant; 2: a straight line */
    size_t baseline_samples[2][2]; /**< [first, end) twice; all 0: an eighth of a row at both ends;
                                      the second may be empty */
    int resample; /**< of files that hold the places: take equal steps where theirs are not */
    size_t fft;
    double zero_sample; /**< index, from 0, of the sample at time 0; may lie between two */
    double dwell_us;    /**< time between samples; 0: the file's */
    enum fbp_phase phase;
    double phase_deg;
    char *profile;            /**< file; NULL: none */
    double profile_threshold; /**< 0: 0.1 */
    /* The rest is set when a scan is loaded. */
    size_t n_samples; /**< of a stored row */
    double *places;   /**< [n_samples], if they are resampled: mm, or us before an FFT; else NULL */
};

/**
 * The steps as words, as fbp recon --prepare takes them: "baseline=1,phase=all" (docs/epr.md).
 *
 * @param[out] out  its profile, if there is one: free()
 * @return FBP_ERR_INVALID (the message names the step and what is expected), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_preparation_parse(const char *text,
                                                        struct fbp_preparation *out);

FBP_END

#endif /* FBP_PREPARATION_H */
