/** @file correction.h  What is done with measured views beside dark, flat and -log. */
#ifndef FBP_CORRECTION_H
#define FBP_CORRECTION_H

#include "fbp/types.h"

FBP_BEGIN

/** Most coefficients of fbp_corrections.beam_hardening. */
enum { FBP_HARDENING_TERMS = 8 };

/**
 * Corrections of views that are line integrals (of kinds cone and parallel).  All 0: none.
 *
 * - beam hardening: of every sample p of the line integrals, p' = a1 p + a2 p^2 + a3 p^3 ...  a1 is
 *   above 0; with a1 = 1 thin objects keep their values.
 */
struct fbp_corrections {
    size_t struct_size;
    double beam_hardening[FBP_HARDENING_TERMS]; /**< a1, a2 ...; what is behind the last one is 0 */
};

FBP_END

#endif /* FBP_CORRECTION_H */
