/** @file integrals.h  Line integrals of stored rows, without what is corrected ahead (internal). */
#ifndef FBP_SRC_RUN_INTEGRALS_H
#define FBP_SRC_RUN_INTEGRALS_H

#include "array/file/format.h"
#include "plan/ahead.h"

/** src has line integrals of what `below` has. */
void fbp_integrals_facts(fbp_source *src, const fbp_source *below);

/** Rows of n columns in the opposite order. */
void fbp_turn_rows(float *rows, size_t n_rows, size_t n);

/**
 * Detector rows [row0, row0 + n) of a view, upwards: what is left of the intensity becomes a line
 * integral, and bad pixels are bridged.
 *
 * work: fbp_ahead_read_floats(ahead, n) floats, if those are more than n rows
 */
fbp_status fbp_integrals_read(const struct fbp_ahead *ahead, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts);

/** A whole view, upwards, as what phases are retrieved from.  work: as before. */
fbp_status fbp_integrals_read_view(const struct fbp_ahead *ahead, fbp_source *below, size_t view,
                                   float *work, float *out, struct fbp_prep_counts *counts);

#endif /* FBP_SRC_RUN_INTEGRALS_H */
