/** @file corrections.h  The corrections of a scan's views: whole, checked, in words (internal). */
#ifndef FBP_SRC_CORRECTIONS_H
#define FBP_SRC_CORRECTIONS_H

#include "fbp/scan.h"

#include "base/status.h"

/** Those of a scan, whole; of one that has none all is 0. */
fbp_status fbp_corrections_of(const struct fbp_scan *scan, struct fbp_corrections *out);

/** Are its numbers fit for this scan?  Errors begin with `file`. */
fbp_status fbp_corrections_check(const char *file, const struct fbp_corrections *c,
                                 const struct fbp_scan *scan);

/** Does it ask for nothing? */
bool fbp_corrections_none(const struct fbp_corrections *c);

/** Coefficients up to the last that is not 0. */
size_t fbp_corrections_terms(const struct fbp_corrections *c);

/** "beam hardening p + 0.05 p^2"; buf is "" where nothing is corrected. */
void fbp_corrections_describe(const struct fbp_corrections *c, char *buf, size_t n);

/** Line integral in [0, most] from which on thicker objects would count as thinner; 0: none. */
double fbp_corrections_turn(const struct fbp_corrections *c, double most);

#endif /* FBP_SRC_CORRECTIONS_H */
