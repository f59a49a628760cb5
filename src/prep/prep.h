/** @file prep.h  Intensities to line integrals: dark, flat, -log, bad pixels, beam hardening
 * (internal). */
#ifndef FBP_SRC_PREP_H
#define FBP_SRC_PREP_H

#include "fbp/correction.h"
#include "fbp/scan.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/* Beam hardening: a polynomial of the line integral (internal; pure). */

/** p' = a[0] p + a[1] p^2 + ... + a[n - 1] p^n; n 0: p' = p. */
struct fbp_hardening {
    float a[FBP_HARDENING_TERMS];
    unsigned n;
};

/** Of n > 0 coefficients, by Horner's rule. */
static inline float fbp_harden(const struct fbp_hardening *h, float p)
{
    float sum = h->a[h->n - 1];

    for (unsigned i = h->n - 1; i > 0; i--)
        sum = sum * p + h->a[i - 1];
    return sum * p;
}

/* What is left of the unattenuated intensity (internal; pure). */

/** Of a sample x, (x - dark) gain, at least 1e-6, to which less is clipped and counted; 1 for a bad
 *  pixel, of gain 0, which is bridged later. */
static inline float fbp_transmission(float x, float dark, float gain, bool has_gain,
                                     size_t *clipped)
{
    const float least = 1e-6f;
    float t = (x - dark) * gain;

    if (has_gain && gain == 0)
        t = 1;
    if (t < least && t >= -FLT_MAX) { /* not -inf, which is mended later */
        t = least;
        ++*clipped;
    }
    return t;
}

/* Intensities to line integrals: dark, flat, -log, bad pixels. */

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
