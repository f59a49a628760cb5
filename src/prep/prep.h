/** @file prep.h  Intensities to line integrals: dark, flat, -log, bad pixels (internal). */
#ifndef FBP_SRC_PREP_H
#define FBP_SRC_PREP_H

#include "fbp/scan.h"

#include "prep/harden.h"

/** One bad pixel and the good ones it is interpolated from; weights add up to 1. */
struct fbp_bridge {
    size_t pixel; /**< row * n_columns + column */
    size_t from[4];
    float weight[4]; /**< unused ones 0, their `from` equal to a used one */
};

/** Tables for p = -log((I - dark) / (flat - dark)), in canonical row order (bottom-up), and what
 *  is done with p. */
struct fbp_prep {
    struct fbp_panel panel;
    bool intensity; /**< false: samples are line integrals already */
    float *dark;    /**< [row][column]; NULL = 0 */
    float *gain;    /**< 1 / (flat - dark), or 1 / (i0 - dark); 0 = bad pixel; NULL = 1/i0 */
    float inverse_i0;
    struct fbp_hardening hardening;
    struct fbp_bridge *bridges;
    size_t n_bridges;
    size_t margin_rows; /**< how far above or below a bad pixel its sources lie, at most */
    /** Of a scan whose pixels are joined (scan/reduce.h): the stored ones that are bad; NULL: none.
     */
    unsigned char *left_out;
    size_t n_stored, n_left_out; /**< all of them, and those that are bad */
    /** What lacks in the files of dark, flat and bad pixels (fbp_array_info.missing); NULL:
     * nothing. */
    char *missing[3];
};

/** All that line integrals depend on but intensity and inverse_i0. */
uint64_t fbp_prep_hash(uint64_t h, const struct fbp_prep *prep);

/** Counters of what was mended, one set a thread. */
struct fbp_prep_counts {
    size_t not_finite, clipped;
};

/** Does the scan ask for a logarithm, or name bad pixels? */
bool fbp_prep_is_asked_for(const struct fbp_scan *scan);

/** Read darks, flats (averaged) and mask of a scan; top_down: stored pictures start at the top.
 *  Pixels whose flat is not above their dark count as bad. */
fbp_status fbp_prep_create(struct fbp_prep *out, const struct fbp_scan *scan, bool top_down);
void fbp_prep_clear(struct fbp_prep *prep);

/** Is anything done with a sample that is finite? */
static inline bool fbp_prep_changes(const struct fbp_prep *prep)
{
    return prep->intensity || prep->hardening.n > 0;
}

/** One row in place.  Transmissions below 1e-6 are clipped to it and counted; values that are not
 *  finite are bridged linearly along the row and counted. */
void fbp_prep_row(const struct fbp_prep *prep, size_t row, float *samples,
                  struct fbp_prep_counts *counts);

/** The same of doubles, which are no intensities: see fbp_job.precision. */
void fbp_prep_row_double(const struct fbp_prep *prep, double *samples,
                         struct fbp_prep_counts *counts);

/** One row of intensities in place, as transmissions: their logarithms are what fbp_prep_row()
 * gives before beam hardening. */
void fbp_prep_transmissions(const struct fbp_prep *prep, size_t row, float *samples,
                            struct fbp_prep_counts *counts);

/** Bad pixels of rows [r0, r1) of a view whose stored rows start at `first_row`; the samples of
 *  margin_rows around must have been through fbp_prep_row(). */
void fbp_prep_bridge(const struct fbp_prep *prep, size_t first_row, size_t r0, size_t r1,
                     float *samples);

/** The same of a whole view of transmissions. */
void fbp_prep_bridge_transmissions(const struct fbp_prep *prep, float *samples);

#endif /* FBP_SRC_PREP_H */
