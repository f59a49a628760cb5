/** @file growing.h  Waiting for the views of a source that is still being written (internal). */
#ifndef FBP_SRC_GROWING_H
#define FBP_SRC_GROWING_H

#include "array/file/format.h"

/** Is it still being written, so that reading may have to wait? */
bool fbp_source_grows(const fbp_source *src);

/** Called every few hundredths of a second while a view is awaited; nonzero: wait no longer. */
typedef int fbp_idle_fn(void *user, size_t n_there);

/**
 * Wait until views [0, n_views) are complete.  Returns at once where nothing grows.
 *
 * idle     may be NULL
 * n_there  views that are complete by then, from the first on; may be NULL
 * @return FBP_OK, FBP_ERR_IO (the file shrank, was replaced or removed, or nothing came for too
 *         long), FBP_ERR_INVALID (it cannot be what was described), FBP_ERR_CANCELLED by `idle`.
 */
fbp_status fbp_source_await(fbp_source *src, size_t n_views, fbp_idle_fn *idle, void *user,
                            size_t *n_there);

/** When the last view was complete, on the clock of fbp_seconds(); 0: it is not, or nothing grows.
 */
double fbp_source_complete_at(const fbp_source *src);

/** Begin to follow src, which is opened as growing; *out may be left half made. */
fbp_status fbp_follow_create(struct fbp_follow **out, const fbp_source *src, double timeout_s);

/** End the waiting; *follow may be NULL. */
void fbp_follow_destroy(struct fbp_follow **follow);

#endif /* FBP_SRC_GROWING_H */
