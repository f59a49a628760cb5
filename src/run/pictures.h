/** @file pictures.h  Stage one at work: pictures of meridian planes as a source of views
 * (internal).
 *
 * Views are read and filtered when the first picture is asked for, all of them, and their filtered
 * rows are kept; rows of pictures are computed from these as they are read, by whoever reads, so
 * that slabs hold no more of them than of views of a scan.
 */
#ifndef FBP_SRC_RUN_PICTURES_H
#define FBP_SRC_RUN_PICTURES_H

#include "array/file/format.h"
#include "plan/stages.h"
#include "run/look.h"

typedef struct fbp_pictures fbp_pictures;

/** The device of stage one and its memory, for one run after another.  stages must outlive it. */
fbp_status fbp_pictures_open(fbp_pictures **out, const struct fbp_stages *stages);
void fbp_pictures_close(fbp_pictures **pictures);

/** Bytes that it takes. */
uint64_t fbp_pictures_bytes(const struct fbp_stages *stages);

/** Look at the scan's views as they pass, from now on; NULL: do not. */
void fbp_pictures_look(fbp_pictures *pictures, fbp_look *look);

/**
 * [plane][frame][row][column], the rows of all frames as those of one picture.
 *
 * pictures: used by this source alone until it is closed; NULL: for its facts alone, not to be read
 * below:    the scan's views; both must outlive *out
 * owned:    `below` is closed with *out, also if this fails
 */
fbp_status fbp_source_pictures(fbp_source **out, fbp_pictures *pictures,
                               const struct fbp_stages *stages, fbp_source *below, bool owned);

/** How long filtering and drawing takes, from a sample of it. */
fbp_status fbp_pictures_estimate(const struct fbp_stages *stages, double *seconds);

/** Samples that were mended in the last run. */
fbp_status fbp_pictures_counts(const fbp_pictures *pictures, struct fbp_prep_counts *out);

#endif /* FBP_SRC_RUN_PICTURES_H */
