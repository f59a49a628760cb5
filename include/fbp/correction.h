/** @file correction.h  What is done with measured views beside dark, flat and -log. */
#ifndef FBP_CORRECTION_H
#define FBP_CORRECTION_H

#include "fbp/types.h"

FBP_BEGIN

/** Most coefficients of fbp_corrections.beam_hardening. */
enum { FBP_HARDENING_TERMS = 8 };

/** How rings are removed: stripes along the angles of sinograms. */
enum fbp_ring_removal {
    FBP_RINGS_NONE = 0,
    FBP_RINGS_SORTING, /**< Vo et al., Opt. Express 26, 28396 (2018), algorithm 3 */
    FBP_RINGS_WAVELET, /**< Muench et al., Opt. Express 17, 8567 (2009) */
};

/**
 * Corrections of views that are line integrals (of kinds cone and parallel).  All 0: none.
 *
 * - beam hardening: of every sample p of the line integrals, p' = a1 p + a2 p^2 + a3 p^3 ...  a1 is
 *   above 0; with a1 = 1 thin objects keep their values.
 * - rings: of the sinogram of each detector row, in line integrals before all else
 * - phase retrieval of one material (Paganin et al., J. Microsc. 206, 33, 2002): transmissions are
 *   divided, in frequencies k of the object's plane, by 1 + z delta / mu |k|^2, mu = 4 pi beta /
 *   lambda.  Of cone beams z is (sdd - sod) sod / sdd and lengths are those on the detector times
 *   sod / sdd, view by view; of parallel beams it is paganin_mm.  Before beam hardening.
 */
struct fbp_corrections {
    size_t struct_size;
    double beam_hardening[FBP_HARDENING_TERMS]; /**< a1, a2 ...; what is behind the last one is 0 */
    enum fbp_ring_removal rings;
    unsigned ring_wavelet; /**< wavelet: N of Daubechies' wavelet dbN, up to 20; 0: 9 */
    size_t ring_size;      /**< sorting: columns of the median; 0: 21, of fewer columns fewer */
    size_t ring_levels;    /**< wavelet: levels, at most; 0: 5 */
    double ring_sigma;     /**< wavelet: width of the damping, in periods along all angles; 0: 1 */
    double paganin_delta_beta; /**< of the material: delta / beta; 0: no phase retrieval */
    double paganin_kev;        /**< energy of the photons [keV] */
    double paganin_mm;         /**< parallel beams: from the object to the detector [mm]; else 0 */
};

/** Set the last five by a text: "none", "sorting", "sorting:31", "wavelet", "wavelet:5",
 *  "wavelet:5,2", "wavelet:5,2,db9" (levels, sigma, wavelet). */
FBP_API FBP_MUST_CHECK fbp_status fbp_corrections_rings(struct fbp_corrections *out,
                                                        const char *text);

FBP_END

#endif /* FBP_CORRECTION_H */
