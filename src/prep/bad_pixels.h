/** @file bad_pixels.h  Bad pixels: search, and interpolation from good pixels (internal). */
#ifndef FBP_SRC_BAD_PIXELS_H
#define FBP_SRC_BAD_PIXELS_H

#include "prep/prep.h"

/* Search for pixels and samples that no map lists as bad.
 *
 * A few views, spread over the scan, are read.  A pixel is bad if
 * - its sample is the same in all of them (dead, stuck, saturated), and its line integrals lie
 *   outside those of the nearest good pixels on both sides, in half of the views or more; or
 * - it differs from its four neighbours in one direction in all of them, by a line
 *   integral of 0.1 or more, and by more than twice what these differ, in three of four views
 *   (hot).
 * Bad rows, columns and clusters are found up to a width of 15 pixels.  Air is constant, too, where
 * there is no noise; its pixels agree with their neighbours.
 */

/** Views that are read. */
enum { FBP_CHECK_VIEWS = 8 };

/** Detector rows to be checked, and what was found in them. */
struct fbp_sample_check {
    const struct fbp_prep *prep; /**< of the source's pixels; its bad pixels are left out */
    fbp_source *source;
    bool top_down;       /**< views of the source start with the top row */
    size_t row0, n_rows; /**< counted upwards */
    /** Result, to be freed with free(): [row][column] as stored, not 0 where a pixel is listed or
     *  found; and number of those that were found. */
    unsigned char *bad;
    size_t n_bad;
    /** Intensities: the greatest sample, if one sample in a hundred has it and it lies 2 % or more
     *  below the unattenuated intensity; samples that have it, and samples that were read. */
    double flat_top;
    size_t n_flat, n_samples;
};

fbp_status fbp_check_samples(struct fbp_sample_check *check);

/**
 * If scan->find_bad_pixels is set: search all pixels, and make a mask of the listed and the found
 * ones.  *scan is a shallow copy, which then has the mask in scan->images.
 *
 * @param source  stored views
 * @param[out] images  owns the mask: fbp_images_free(); NULL: nothing was found
 */
fbp_status fbp_bad_pixels_find(struct fbp_scan *scan, fbp_source *source, bool top_down,
                               struct fbp_images **images);

/* From which good pixels a bad one is interpolated. */

/** Fill in bridges and margin_rows.  bad: [row][column], non-zero = bad. */
fbp_status fbp_bridges_find(struct fbp_prep *prep, const unsigned char *bad);

#endif /* FBP_SRC_BAD_PIXELS_H */
