/** @file look.h  A look at some samples of the views as they pass (internal).
 *
 * Says what no filter would notice: an object that is wider than the panel, views without anything
 * measured in them.  Looked at are a few rows, the same ones of every view however the work is
 * divided, on the host: by the thread that has just read the view (run/load.h), or, of views
 * in the caller's memory, by the threads that would read, when all views are on their way to the
 * device; of views that lie on a device these rows are copied.  About 100 samples a row, so that it
 * takes a few us a view; needs nothing of a backend and does not depend on one.
 *
 * A row is cut off where the median of its outermost samples stays above a part of the row's
 * greatest value (of pairs of neighbours, the lesser: no hot pixel), three standard deviations of
 * the noise and the offset of air allowed for; a view, where two of its rows are.  The axis side of
 * an offset panel always is.
 *
 * A view is dead where none of its samples is a number, all are clipped, or all are the same.  One
 * that looks so in the rows that were read is read once more, whole, before that is said.
 */
#ifndef FBP_SRC_LOOK_H
#define FBP_SRC_LOOK_H

#include "backend/backend.h"

typedef struct fbp_look fbp_look;

/** job must outlive the look. */
fbp_status fbp_look_create(fbp_look **out, const struct fbp_job *job);
void fbp_look_destroy(fbp_look **look);

/** Bytes of a look. */
size_t fbp_look_bytes(const struct fbp_job *job);

/** Bytes of what a look at a job has seen, for another process that looks at the same job; put them
 *  there, and take those of another. */
size_t fbp_look_packed(const struct fbp_job *job);
void fbp_look_pack(const fbp_look *look, void *out);
void fbp_look_join(fbp_look *look, const void *other);

/**
 * Look at view k of a batch as it was read: raw [n_views][load_rows][n_columns], counts or floats
 * as job->raw says; `whole`: it is the scan instead, [view][row][column].  A second call with the
 * same view changes nothing.  Thread-safe.  Nothing of raw is kept.
 */
void fbp_look_at(fbp_look *look, const struct fbp_batch *batch, size_t k, const void *raw,
                 bool whole);

/**
 * Look at all views of a source whose samples a device has (array/far.h), by copies of the rows
 * that are looked at, of many views each.
 */
fbp_status fbp_look_at_far(fbp_look *look, const fbp_source *source);

/**
 * What all looks have seen, into `report`; views that look dead are read once more.
 *
 * @param name  of the projections, for the message
 * @return FBP_ERR_INVALID if all views are dead, of which nothing should be published.
 */
fbp_status fbp_look_sum_up(fbp_look *look, fbp_source *source, bool top_down, const char *name,
                           struct fbp_report *report);

/** Messages about truncated views, those of another exposure, transmissions in place of line
 * integrals, and dead views, or "".
 * padded: rows are extrapolated. */
void fbp_look_truncated(const struct fbp_report *report, size_t n_views, bool padded, char *line,
                        size_t n);
void fbp_look_exposure(const struct fbp_report *report, size_t n_views, char *line, size_t n);
void fbp_look_air(const fbp_look *look, char *line, size_t n);
void fbp_look_dead(const fbp_look *look, const struct fbp_report *report, char *line, size_t n);

#endif /* FBP_SRC_LOOK_H */
