/** @file corrected.h  Line integrals that a pass ahead has corrected, as a source (internal). */
#ifndef FBP_SRC_RUN_CORRECTED_H
#define FBP_SRC_RUN_CORRECTED_H

#include "array/file/format.h"
#include "plan/ahead.h"

/** What the last pass did. */
struct fbp_ahead_done {
    struct fbp_prep_counts mended;
    double seconds;
    bool no_rings; /**< none was found in any row; the rows are as they were */
};

/**
 * The views of ahead->scan, in the order of rows of those below.  The pass is done by whoever reads
 * first, on its own threads, and the others wait for it.  Rows that are not kept are line integrals
 * without corrections: nobody reads them but to look at them.
 *
 * below: the scan's views; it outlives *out, as `ahead` and `done` do
 * owned: it is closed with *out, also if this fails
 */
fbp_status fbp_source_corrected(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_ahead_done *done);

#endif /* FBP_SRC_RUN_CORRECTED_H */
