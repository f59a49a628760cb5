/** @file rectified.h  Views of an upright detector, resampled as they are read, as a source
 *  (internal). */
#ifndef FBP_SRC_RUN_RECTIFIED_H
#define FBP_SRC_RUN_RECTIFIED_H

#include "array/file/format.h"
#include "plan/rectify.h"

/**
 * The views of rectify->scan.  Each view depends on one below, so that a scan may be followed.
 *
 * below:  the measured views; it outlives *out
 * owned:  it is closed with *out, also if this fails
 * mended: counts what was repaired in measured rows, each once; NULL: not counted
 */
fbp_status fbp_source_rectified(fbp_source **out, const struct fbp_rectify *rectify,
                                fbp_source *below, bool owned, struct fbp_prep_counts *mended);

#endif /* FBP_SRC_RUN_RECTIFIED_H */
