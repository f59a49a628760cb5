/** @file reduce.h  Views as fbp_scan_reduce() wants them, from those that are stored (internal). */
#ifndef FBP_SRC_REDUCE_H
#define FBP_SRC_REDUCE_H

#include "fbp/scan.h"

#include "base/base.h"

/** How stored views become a scan's: of each block of bin[0] x bin[1] pixels the mean. */
struct fbp_reduction {
    size_t every;
    size_t bin[2];   /**< columns, rows */
    size_t first[2]; /**< the first that are taken; rows count upwards */
    struct fbp_panel stored, panel;
};

/** That of a scan; *out of one that is not reduced takes everything as it is. */
void fbp_reduction_of(const struct fbp_scan *scan, struct fbp_reduction *out);

/** Does it take anything away? */
bool fbp_reduces(const struct fbp_reduction *r);
/** Are pixels joined? */
bool fbp_reduction_joins(const struct fbp_reduction *r);

/** One sentence: what is taken, and what is left out at the panel's edges. */
void fbp_reduction_describe(const struct fbp_reduction *r, size_t stored_views, char *buf,
                            size_t n);

/**
 * A source of the reduced views on top of one of the stored ones.
 *
 * bad:   [row][column] of the stored panel, rows upwards; what is not 0 is left out of means.
 *        NULL: nothing is.  Used until the source is closed.
 * below: the stored views, whose pictures start with the top row if top_down; it is not closed
 *        with *out, and must outlive it.
 */
fbp_status fbp_source_reduce(fbp_source **out, fbp_source *below, const struct fbp_reduction *r,
                             bool top_down, const unsigned char *bad);

/** An image of the stored panel, rows upwards, to one of the reduced panel, in place: means of what
 *  is not bad; 0 where all is. */
void fbp_reduce_image(const struct fbp_reduction *r, const unsigned char *bad, double *image);
/** A mask: bad where all is bad. */
void fbp_reduce_mask(const struct fbp_reduction *r, unsigned char *bad);

#endif /* FBP_SRC_REDUCE_H */
