/** @file resampled.h  Views of even rings, resampled over their angles, as a source (internal). */
#ifndef FBP_SRC_RUN_RESAMPLED_H
#define FBP_SRC_RUN_RESAMPLED_H

#include "array/file/format.h"
#include "plan/angles.h"
#include "prep/prep.h"

/**
 * The views of angles->scan, all of them held in memory from the first that is read on.  Samples
 * that are not finite are bridged in their rows first.
 *
 * below:  the scan's views; it outlives *out
 * owned:  it is closed with *out, also if this fails
 * mended: counts what was bridged; NULL: nobody asks
 */
fbp_status fbp_source_resampled(fbp_source **out, const struct fbp_angles *angles,
                                fbp_source *below, bool owned, struct fbp_prep_counts *mended);

#endif /* FBP_SRC_RUN_RESAMPLED_H */
