/** @file retrieved.h  Views whose phases are retrieved as they are read, as a source (internal). */
#ifndef FBP_SRC_RUN_RETRIEVED_H
#define FBP_SRC_RUN_RETRIEVED_H

#include "array/file/format.h"
#include "plan/ahead.h"

/**
 * The views of ahead->scan, in the order of rows of those below.  Whoever reads rows of a view has
 * all of it retrieved; as many views as ahead->n_threads are kept for those who read others of its
 * rows soon.  Any number of threads may read at once.
 *
 * below:  the scan's views; it outlives *out, as `ahead` and `mended` do
 * owned:  it is closed with *out, also if this fails
 * mended: of every view once
 */
fbp_status fbp_source_retrieved(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_prep_counts *mended);

#endif /* FBP_SRC_RUN_RETRIEVED_H */
