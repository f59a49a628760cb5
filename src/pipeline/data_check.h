/** @file data_check.h  Checks of some samples of the views as they pass (internal).
 *
 * They find what no filter would notice: an object that is wider than the panel, views of another
 * exposure, transmissions in place of line integrals, and views without measured values.  The same
 * few rows of every view are checked, however the work is divided, on the host: by the thread that
 * has just read the view (stage_read.c); views in the caller's memory when all are on their way to
 * the device; of views in the memory of a device the rows are copied.  About 100 samples per row
 * take a few microseconds per view.  The result does not depend on the backend.
 */
#ifndef FBP_PIPELINE_DATA_CHECK_H
#define FBP_PIPELINE_DATA_CHECK_H

#include "backend/backend.h"

typedef struct fbp_data_check fbp_data_check;

/** job must outlive the check. */
fbp_status fbp_data_check_create(fbp_data_check **out, const struct fbp_job *job);
void fbp_data_check_destroy(fbp_data_check **check);

/** Bytes of a check. */
size_t fbp_data_check_bytes(const struct fbp_job *job);

/** Results as bytes, for another process that checks the same job: their number; store them; join
 *  those of another process. */
size_t fbp_data_check_packed(const struct fbp_job *job);
void fbp_data_check_pack(const fbp_data_check *check, void *out);
void fbp_data_check_join(fbp_data_check *check, const void *other);

/**
 * Check view k of a batch as it was read: raw [n_views][load_rows][n_columns], counts or floats as
 * job->raw states; `whole`: raw is the scan instead, [view][row][column].  A second call with the
 * same view changes nothing.  Thread-safe.
 */
void fbp_data_check_view(fbp_data_check *check, const struct fbp_batch *batch, size_t k,
                         const void *raw, bool whole);

/** Check all views of a source in the memory of a device (array/device_memory.h), by copies of the rows. */
fbp_status fbp_data_check_device_memory(fbp_data_check *check, const fbp_source *source);

/**
 * Store the results in `report`.  Views that seem dead are read once more.
 *
 * @param name  of the projections, for the message
 * @return FBP_ERR_INVALID if all views are dead: nothing should be published.
 */
fbp_status fbp_data_check_finish(fbp_data_check *check, fbp_source *source, bool top_down,
                                 const char *name, struct fbp_report *report);

/** Messages about truncated views (padded: rows are extrapolated), views of another exposure,
 *  transmissions in place of line integrals, and dead views; "": nothing was found. */
void fbp_data_check_truncated(const struct fbp_report *report, size_t n_views, bool padded,
                              char *line, size_t n);
void fbp_data_check_exposure(const struct fbp_report *report, size_t n_views, char *line, size_t n);
void fbp_data_check_air(const fbp_data_check *check, char *line, size_t n);
void fbp_data_check_dead(const fbp_data_check *check, const struct fbp_report *report, char *line,
                         size_t n);

#endif /* FBP_PIPELINE_DATA_CHECK_H */
