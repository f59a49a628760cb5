/** @file correction.h  Corrections of measured views in addition to dark, flat and -log: zingers,
 * rings, phase retrieval, beam hardening. fbp_corrections_rings() parses a method of ring removal.
 * Used by scan.h, programs, bindings, cli and src. */
#ifndef FBP_CORRECTION_H
#define FBP_CORRECTION_H

#include "fbp/types.h"

FBP_BEGIN

/** Greatest number of coefficients of fbp_corrections.beam_hardening. */
enum { FBP_HARDENING_TERMS = 8 };

/** Method of ring removal.  Rings of a slice are stripes along the angles of a sinogram. */
enum fbp_ring_removal {
    FBP_RINGS_NONE = 0,
    /** Sorting the values of each sinogram column, and a median of equal ranks over neighbouring
     * columns: Vo et al., Opt. Express 26, 28396 (2018), algorithm 3. */
    FBP_RINGS_SORTING,
    /** Damping of stripes in wavelet bands: Muench et al., Opt. Express 17, 8567 (2009). */
    FBP_RINGS_WAVELET,
    /** One offset per column of each sinogram, from medians over all angles: after Titarenko,
     * Withers and Yagola, Appl. Math. Lett. 23, 1489 (2010). */
    FBP_RINGS_OFFSETS,
    /** As FBP_RINGS_OFFSETS, after columns that fluctuate or do not change are interpolated: Vo et
     * al. 2018, algorithm 6. */
    FBP_RINGS_FLUCTUATING,
};

/**
 * Corrections of line integrals (kinds cone and parallel), applied in this order.  All 0: none.
 *
 * - zingers: bright outliers of single views, found by comparison with the same pixel in the views
 *   before and after and with neighbouring pixels, before the logarithm
 *   (docs/corrections.md#zingers)
 * - rings: in the sinogram of each detector row
 * - phase retrieval of one material (Paganin et al., J. Microsc. 206, 33, 2002): transmissions are
 *   divided, at angular frequencies k in the object's plane, by 1 + z delta / mu |k|^2, mu = 4 pi
 *   beta / lambda.  Cone beams: z is (sdd - sod) sod / sdd, and lengths on the detector are
 *   multiplied by sod / sdd, per view.  Parallel beams: z is paganin_mm.
 * - beam hardening: each line integral p becomes p' = a1 p + a2 p^2 + a3 p^3 ..., a1 > 0; with
 *   a1 = 1 thin objects keep their values
 */
struct fbp_corrections {
    size_t struct_size;
    /** Coefficients a1, a2 … of the beam-hardening polynomial, followed by zeros; all 0: no
     * correction. */
    double beam_hardening[FBP_HARDENING_TERMS];
    enum fbp_ring_removal rings;
    /** Ring removal by wavelets: N of Daubechies' wavelet dbN, up to 20; 0: 9. */
    unsigned ring_wavelet;
    /** Ring removal by sorting: width of the median filter [columns]; 0: 21.  By offsets: width of
     * the widest ring [columns]; 0: 9.  On a narrower detector 0 means the greatest odd number of
     * columns that fits. */
    size_t ring_size;
    size_t ring_levels; /**< ring removal by wavelets: greatest number of levels; 0: 5 */
    /** Ring removal by wavelets: width (sigma) of the range of low frequencies along the angles
     * that is damped, in periods over all angles; 0: 1. */
    double ring_sigma;
    double paganin_delta_beta; /**< ratio delta / beta of the material for phase retrieval; 0: no
                                  phase retrieval */
    double paganin_kev;        /**< photon energy [keV] */
    /** Phase retrieval in parallel beams: distance from object to detector [mm]; cone beams: 0. */
    double paganin_mm;
    /** Least brightness of a zinger, in standard deviations of the noise; 0: zingers remain. */
    double zingers;
};

/** Set the members for ring removal from text: "none", "sorting", "sorting:31" (ring_size),
 * "offsets", "offsets:15" (ring_size), "fluctuating", "fluctuating:15" (ring_size), "wavelet",
 * "wavelet:5", "wavelet:5,2", "wavelet:5,2,db9" (ring_levels, ring_sigma, ring_wavelet).
 * @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_corrections_rings(struct fbp_corrections *out,
                                                        const char *text);

FBP_END

#endif /* FBP_CORRECTION_H */
