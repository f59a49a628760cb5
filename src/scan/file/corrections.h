/** @file corrections.h  The corrections of a scan's views: whole, checked, in words (internal). */
#ifndef FBP_SRC_CORRECTIONS_H
#define FBP_SRC_CORRECTIONS_H

#include "fbp/scan.h"

#include "base/base.h"

/** Those of a scan, whole; of one that has none all is 0. */
fbp_status fbp_corrections_of(const struct fbp_scan *scan, struct fbp_corrections *out);

/** Are its numbers fit for this scan?  Errors begin with `file`. */
fbp_status fbp_corrections_check(const char *file, const struct fbp_corrections *c,
                                 const struct fbp_scan *scan);

/** Sinograms that rings can be told from the object in; levels and wavelets that there are. */
enum {
    FBP_RING_VIEWS_LEAST = 16,
    FBP_RING_COLUMNS_LEAST = 8,
    FBP_RING_WAVELET_LEAST = 28, /* that can be halved, with its frame, to 16 */
    FBP_RING_LEVELS_MOST = 24,
    FBP_RING_WAVELETS = 20
};

/** Does it ask for what takes whole sinograms, and so a pass ahead? */
bool fbp_corrections_ahead(const struct fbp_corrections *c);

/** Does it ask for nothing? */
bool fbp_corrections_none(const struct fbp_corrections *c);

/** Coefficients up to the last that is not 0. */
size_t fbp_corrections_terms(const struct fbp_corrections *c);

/** "beam hardening 1 p + 0.05 p^2"; buf is "" where it is not corrected. */
void fbp_corrections_describe(const struct fbp_corrections *c, char *buf, size_t n);

/** Line integral in [0, most] from which on thicker objects would count as thinner; 0: none. */
double fbp_corrections_turn(const struct fbp_corrections *c, double most);

#endif /* FBP_SRC_CORRECTIONS_H */
