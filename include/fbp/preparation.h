/** @file preparation.h  Steps from spectra of a spectrometer to plane integrals (EPR imaging). */
#ifndef FBP_PREPARATION_H
#define FBP_PREPARATION_H

#include "fbp/types.h"

FBP_BEGIN

/** Zero-order phase, which is removed from complex samples. */
enum fbp_phase {
    FBP_PHASE_NONE = 0, /**< none: the real parts are used */
    FBP_PHASE_GIVEN,    /**< phase_deg */
    FBP_PHASE_ALL,      /**< one for the whole scan, determined from its samples */
    FBP_PHASE_VIEW,     /**< one for each view */
};

/**
 * Steps from the stored rows of a scan to its plane integrals, in this order.  All 0: none.
 *
 * - baseline: a polynomial, fitted to the samples of baseline_samples, is subtracted
 * - resample: from positions with unequal steps to as many with equal steps, by cubic polynomials
 *   through four neighbours
 * - fft: rows are time traces; spectra of `fft` samples (zeros are appended), S(nu) = sum over j of
 *   s(j) exp(-2 pi i nu (j - zero_sample) dwell_us), sample fft/2 at nu = 0; scaled to make the
 *   integral of a view equal to its trace at zero_sample
 * - phase; then the real parts are used
 * - profile: samples are divided by the resonator's profile, one number per sample; 0 if that is
 *   less than profile_threshold of its greatest number
 */
struct fbp_preparation {
    size_t struct_size;
    size_t baseline_terms;         /**< 0: none; 1: a constant; 2: a straight line */
    size_t baseline_samples[2][2]; /**< two ranges [first, end), the second may be empty; all 0:
                                      an eighth of a row at both ends */
    int resample; /**< 1: resample to equal steps, if the file holds positions with other steps */
    size_t fft;   /**< length of the transform; 0: none */
    double zero_sample; /**< index of time 0, from 0; may lie between two samples */
    double dwell_us;    /**< time between samples [us]; 0: that of the file */
    enum fbp_phase phase;
    double phase_deg;
    char *profile;            /**< file; NULL: none */
    double profile_threshold; /**< 0: 0.1 */
    /* fbp_scan_load() sets the following members. */
    size_t n_samples; /**< number of samples of a stored row */
    double *places;   /**< [n_samples] positions [mm], or times [us] before an FFT; or NULL */
};

/**
 * Parse steps as of fbp recon --prepare: "baseline=1,phase=all" (docs/epr.md).
 *
 * @param[out] out  out->profile must be freed with free()
 * @return FBP_ERR_INVALID (the message names the step and what is expected), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_preparation_parse(const char *text,
                                                        struct fbp_preparation *out);

FBP_END

#endif /* FBP_PREPARATION_H */
