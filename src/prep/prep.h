/** @file prep.h  Preparation of views: intensities to line integrals (prep.c), search for bad
 * pixels (bad_pixels.c), removal of zingers (zingers.c) and of ring artefacts (stripes.c,
 * offsets.c), and spectra of EPR to plane integrals (traces.c) (internal).
 * Used by: analysis/, backend/, backend/cuda/, pipeline/, prep/. */
#ifndef FBP_SRC_PREP_PREP_H
#define FBP_SRC_PREP_PREP_H

#include "fbp/correction.h"
#include "fbp/scan.h"

#include "base/base.h"

#include <float.h>

/* prep.c: single samples */

/** Beam-hardening correction of a line integral p: p' = a[0] p + a[1] p^2 + ... + a[n - 1] p^n; n =
 * 0: p' = p. */
struct fbp_hardening {
    float a[FBP_HARDENING_TERMS];
    unsigned n;
};

/** Apply the beam-hardening correction, n > 0 coefficients, to line integral p by Horner's rule. */
static inline float fbp_harden(const struct fbp_hardening *h, float p)
{
    float sum = h->a[h->n - 1];

    for (unsigned i = h->n - 1; i > 0; i--)
        sum = sum * p + h->a[i - 1];
    return sum * p;
}

/** Transmission of a sample x: (x - dark) * gain.  Values below 1e-6 are clipped to 1e-6 and
 * counted.  The transmission of a bad pixel (gain 0) is 1, until it is interpolated. */
static inline float fbp_transmission(float x, float dark, float gain, bool has_gain,
                                     size_t *clipped)
{
    const float least = 1e-6f;
    float t = (x - dark) * gain;

    if (has_gain && gain == 0)
        t = 1;
    if (t < least && t >= -FLT_MAX) { /* -inf is kept and interpolated later */
        t = least;
        ++*clipped;
    }
    return t;
}

/* prep.c: rows of views */

/** A bad pixel, and the good pixels from which it is interpolated; the weights add up to 1. */
struct fbp_bridge {
    size_t pixel; /**< row * n_columns + column */
    size_t from[4];
    float weight[4]; /**< weights; an unused entry has weight 0, and `from` is the index of a used
                        pixel */
};

/** Tables for p = -log((I - dark) / (flat - dark)) and for the corrections of p; row 0: bottom. */
struct fbp_prep {
    struct fbp_panel panel;
    bool intensity; /**< true: samples are intensities; false: line integrals */
    float *dark;    /**< [row][column]; NULL: 0 */
    float *gain;    /**< factor of (sample - dark): 1 / (flat - dark), or 1 / (i0 - dark); 0: bad
                       pixel; NULL: inverse_i0 for all pixels */
    float inverse_i0;
    struct fbp_hardening hardening;
    struct fbp_bridge *bridges;
    size_t n_bridges;
    size_t margin_rows; /**< greatest distance [rows] from a bad pixel to a good pixel from which it
                           is interpolated */
    /** Mask of bad pixels of the stored views if the scan joins stored pixels to larger ones
     * (scan/file/reduce.c), else NULL. */
    unsigned char *left_out;
    /** Numbers of stored pixels and of bad ones, which are left out of joined pixels. */
    size_t n_stored, n_left_out;
    /** Descriptions of missing parts (fbp_array_info.missing) of three files: [0] dark, [1] flat,
     * [2] bad pixels.  NULL: the file is complete. */
    char *missing[3];
};

/** Number of samples that were not finite, and number of samples clipped at transmission 1e-6. */
struct fbp_prep_counts {
    size_t not_finite, clipped;
};

static inline void fbp_prep_counts_add(struct fbp_prep_counts *to,
                                       const struct fbp_prep_counts *more)
{
    to->not_finite += more->not_finite;
    to->clipped += more->clipped;
}

/** Return whether rows of the scan need the tables of fbp_prep_create(): samples are intensities,
 * the scan has a mask of bad pixels, or bad pixels are to be searched. */
bool fbp_prep_is_needed(const struct fbp_scan *scan);

/** Make the tables of a scan from its dark images, flat images (their means) and mask of bad
 * pixels.  top_down: stored images begin with the top row.  A pixel whose flat is not greater than
 * its dark becomes bad. */
fbp_status fbp_prep_create(struct fbp_prep *out, const struct fbp_scan *scan, bool top_down);
void fbp_prep_clear(struct fbp_prep *prep);

/** Extend hash h by the tables and coefficients of *prep, but not by intensity and inverse_i0. */
uint64_t fbp_prep_hash(uint64_t h, const struct fbp_prep *prep);

/** Convert one row to line integrals, in place, and correct beam hardening. Values that are not
 * finite are interpolated along the row and counted. */
void fbp_prep_row(const struct fbp_prep *prep, size_t row, float *samples,
                  struct fbp_prep_counts *counts);

/** Interpolate values of a row that are not finite, and count them, like fbp_prep_row(), for rows
 * of doubles, which are never intensities. */
void fbp_prep_row_double(const struct fbp_prep *prep, double *samples,
                         struct fbp_prep_counts *counts);

/** Convert one row of intensities to transmissions, in place. Their negative logarithms are the
 *  results of fbp_prep_row() before beam hardening. */
void fbp_prep_transmissions(const struct fbp_prep *prep, size_t row, float *samples,
                            struct fbp_prep_counts *counts);

/** Interpolate bad pixels in rows [r0, r1) of a view; first_row: row of samples[0].  fbp_prep_row()
 * must have been called for these rows and for margin_rows rows on both sides. */
void fbp_prep_bridge(const struct fbp_prep *prep, size_t first_row, size_t r0, size_t r1,
                     float *samples);

/** Interpolate bad pixels of a whole view of transmissions. */
void fbp_prep_bridge_transmissions(const struct fbp_prep *prep, float *samples);

/** Find the good pixels from which each bad pixel is interpolated (prep->bridges,
 * prep->margin_rows).  bad: [row][column]; nonzero: bad. */
fbp_status fbp_bridges_find(struct fbp_prep *prep, const unsigned char *bad);

/** Read the dark image, the flat image or the mask of bad pixels of a scan, from memory or from a
 * file (the mean of its images), rows bottom-up; top_down: stored images begin with the top row.
 * *out stays NULL if the scan has no such image; *missing: fbp_array_info.missing, or NULL. */
fbp_status fbp_prep_image(double **out, const struct fbp_scan *scan, enum fbp_image which,
                          const struct fbp_panel *panel, bool top_down, char **missing);

/* beam.c: beam that changes during the scan (scan->i0s, doses, flat_after) */

struct fbp_beam;

/** Make the tables of the scan's beam, which refer to the scan; *out is NULL if the beam is
 * constant. *missing: what the flat after the scan lacks, freed by the caller, or NULL. */
fbp_status fbp_beam_create(struct fbp_beam **out, const struct fbp_scan *scan, char **missing);
void fbp_beam_free(struct fbp_beam *beam);
/** Extend hash h by the changes of the beam; NULL: h. */
uint64_t fbp_beam_hash(uint64_t h, const struct fbp_beam *beam);

/** Open a source of views as a constant beam would yield them, that of the scan's flat or i0, so
 * that the tables of fbp_prep_create() apply.  below: stored views; neither is closed by *out. */
fbp_status fbp_source_steady(fbp_source **out, fbp_source *below, const struct fbp_beam *beam);

/* zingers.c: bright outliers of single views */

/**
 * Replace *views by a source of the same views without zingers; without the correction `zingers`,
 * *views is unchanged.
 *
 * The brightness of a sample is its intensity, or its negative line integral.  d is the brightness
 * minus the greater brightness of the same pixel in the views before and after, so that a pixel's
 * own gain cancels.  A sample is a zinger if d exceeds the medians of d over its row and over its
 * column of a window of 7 x 7 pixels (25 pixels of a row on detectors of less than 7 rows), by the
 * number of standard deviations that the correction gives, and by 5 % of the intensity or 0.05 of
 * the line integral.  The standard deviation is 1.4826 times the median absolute deviation of d in
 * the window: Hampel's identifier (Davies and Gather, J. Am. Stat. Assoc. 88, 782, 1993).  A zinger
 * gets the value at which d is the greater one of both medians.
 *
 * views  stored views; a source whose views can only be read in order is held in memory
 * owned  closing the new source, or a failure, also closes the old one
 * @return FBP_ERR_UNSUPPORTED if files are still being written; FBP_ERR_NOMEM
 */
fbp_status fbp_source_zingers(fbp_source **views, const struct fbp_scan *scan, bool owned);

/* bad_pixels.c: search for bad pixels that no mask lists
 *
 * A few views, spread over the scan, are read.  A pixel is bad if
 * - its sample is equal in all of these views (dead, stuck, saturated), and its line integrals lie
 *   outside the range of the nearest good pixels on both sides, in at least half of the views; or
 * - it is above its four neighbours in all of these views, or below them, and in three of four
 *   views by more than 0.1 as line integral, and more than twice the neighbours' range (hot).
 * Bad rows, columns and clusters are found up to a width of 15 pixels.  Air without noise is
 * constant, too, but its pixels agree with their neighbours. */

/** Number of views that are read. */
enum { FBP_CHECK_VIEWS = 8 };

/** Parameters and result of the search for bad pixels in some detector rows. */
struct fbp_sample_check {
    /** preparation tables for the stored pixels; pixels that are bad in them are not checked */
    const struct fbp_prep *prep;
    fbp_source *source;
    bool top_down;       /**< true: stored views begin with the top row */
    size_t row0, n_rows; /**< rows to check, counted from the bottom */
    /** Result, freed by the caller: [row][column] in the order of the file; nonzero: bad in the
     * tables `prep`, or found as bad. */
    unsigned char *bad;
    size_t n_bad; /**< number of bad pixels found */
    /** Intensities only: greatest sample.  It shows saturation if at least 1 % of the samples are
     * equal to it and it is at least 2 % below the unattenuated intensity. */
    double flat_top;
    /** Number of samples equal to flat_top, 0 if they show no saturation; and number of all samples
     * that were checked. */
    size_t n_flat, n_samples;
};

fbp_status fbp_check_samples(struct fbp_sample_check *check);

/** If scan->find_bad_pixels is set: search all pixels, and make a mask of the bad pixels that the
 * scan lists and those found.  *scan is a shallow copy, whose images then contain the mask.
 *
 * @param source  stored views
 * @param[out] images  owner of the mask, for fbp_images_free(); NULL: no bad pixel was found */
fbp_status fbp_bad_pixels_find(struct fbp_scan *scan, fbp_source *source, bool top_down,
                               struct fbp_images **images);

/* stripes.c: ring artefacts, which are stripes along the angles of a sinogram (all views of one
 * detector row), caused by pixels whose response differs from that of their neighbours */

/** Method of ring removal and its parameters for sinograms of one size. */
struct fbp_stripes {
    enum fbp_ring_removal method;
    size_t n_views, n_columns;
    size_t size;      /**< sorting: width of the median [columns]; offsets and fluctuating: width of
                         the widest ring [columns] */
    size_t levels;    /**< wavelet: number of levels */
    double sigma;     /**< wavelets: width of the damped band of low frequencies along the angles
                         [frequency steps] */
    unsigned wavelet; /**< N of Daubechies' wavelet with 2 N taps */
};

/** Get method and parameters of ring removal from the corrections.  Missing parameters get
 * defaults; the number of wavelet levels is limited by the size of the sinogram. */
void fbp_stripes_of(const struct fbp_corrections *c, size_t n_views, size_t n_columns,
                    struct fbp_stripes *out);

/** Write a description of ring removal, such as "rings by sorting, median of 21 columns". */
void fbp_stripes_describe(const struct fbp_stripes *s, char *buf, size_t n);

/** Size of the scratch memory of a sinogram [bytes], which the caller allocates by fbp_alloc(). */
size_t fbp_stripes_bytes(const struct fbp_stripes *s);

/** Return whether a column of the sinogram has an error that is equal at all angles, and greater
 * than 8 standard errors plus 1e-3 of the column's mean magnitude; or, for the method fluctuating,
 * whether a column fluctuates or does not change. */
bool fbp_stripes_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch);

/** Remove stripes (ring artefacts) from a sinogram, in place.  View k, column c is sinogram[k *
 * stride + c]; all samples are finite.  scratch: memory of this thread, fbp_stripes_bytes(). */
void fbp_stripes_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch);

/* offsets.c: methods offsets and fluctuating, for stripes.c
 *
 * Column c has the offset g[c], which minimizes the sum of (g[c - 1] - 2 g[c] + g[c + 1] - m[c])^2
 * plus (pi / size)^4 times that of g[c]^2.  m[c] is the median over all angles of the second
 * difference of the samples along columns, which the object, whose edges move, hardly changes. With
 * first differences and means instead it is the method of Titarenko, Withers and Yagola, Appl.
 * Math. Lett. 23, 1489 (2010). */
size_t fbp_offsets_bytes(const struct fbp_stripes *s);
bool fbp_offsets_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch);
void fbp_offsets_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch);

/** Median of x[n], n > 0; reorders x. */
float fbp_median(float *x, size_t n);

/** Greatest N for which fbp_daubechies() has a filter. */
enum { FBP_DAUBECHIES_MOST = 20 };

/** Compute the scaling filter of Daubechies' wavelet with N vanishing moments: taps[2 N] of minimal
 * phase, whose sum is sqrt(2), with errors of about 1e-15. */
void fbp_daubechies(unsigned N, double *taps);

/* traces.c: spectra (EPR) */

/**
 * Open a source of rows of plane integrals, computed from measured spectra according to
 * scan->preparation: [view][row][column] of the scan's (stored) panel; float64 if the file has
 * float64, else float32. If the samples determine the phase, of all views or of each view, this
 * function reads all views once.
 *
 * below: opened source of the scan's projections; owned by *out, and closed also on failure
 */
fbp_status fbp_spectra_open(fbp_source **out, fbp_source *below, const struct fbp_scan *scan);

#endif /* FBP_SRC_PREP_PREP_H */
