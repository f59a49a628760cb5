/** @file data_check.h  Checks of a few rows of every view while a run reads the views (internal).
 *
 * The checks find errors of the data that the filter cannot detect: an object wider than the panel
 * (truncation), views of another exposure, transmissions in place of line integrals, and views
 * without measured values (dead views).  The checked rows do not depend on the division of the work
 * or on the backend.  The host checks: the thread that has read a view (stage_read.c) does so at
 * once; a thread beside the run (plan_run.c) checks views in the caller's memory; rows of views in
 * device memory are copied to the host first.  About 100 samples per row take a few microseconds
 * per view.  plan_run.c creates and finishes a check; epr_two_stages.c, team_run.c and
 * plan_memory.c call it, too.
 * Used by: data_check.c, run.h, view_step.h.
 */
#ifndef FBP_PIPELINE_DATA_CHECK_H
#define FBP_PIPELINE_DATA_CHECK_H

#include "backend/backend.h"

typedef struct fbp_data_check fbp_data_check;

/** Create a check of all views of a job, which must outlive the check. */
fbp_status fbp_data_check_create(fbp_data_check **out, const struct fbp_job *job);
void fbp_data_check_destroy(fbp_data_check **check);

/** Bytes of host memory of a check. */
size_t fbp_data_check_bytes(const struct fbp_job *job);

/** Convert the results of a check to bytes for another process that checks the same job.
 * fbp_data_check_packed(): number of bytes; fbp_data_check_pack(): store the results in out;
 * fbp_data_check_join(): add the results of another process to those of `check`. */
size_t fbp_data_check_packed(const struct fbp_job *job);
void fbp_data_check_pack(fbp_data_check *check, void *out);
void fbp_data_check_join(fbp_data_check *check, const void *other);

/**
 * Check view k of a batch.  A second call for the same view changes nothing.  Thread-safe.
 *
 * raw: [n_views][load_rows][n_columns] of type job->input.type
 */
void fbp_data_check_view(fbp_data_check *check, const struct fbp_batch *batch, size_t k,
                         const void *raw);

/** Check all views of a source in memory, whose samples have the type job->input.type and whose
 * rows start with the lowest.  Rows in device memory (array/device_memory.h) are copied first. */
fbp_status fbp_data_check_memory(fbp_data_check *check, const fbp_source *source);

/**
 * Store the results in `report`.  Views that seem dead are read once more, with all rows.
 *
 * @param source  the views; its images start with the top row if `top_down`
 * @param name    name of the projections, for the message
 * @return FBP_ERR_INVALID if all views are dead: the output must not be published.
 */
fbp_status fbp_data_check_finish(fbp_data_check *check, fbp_source *source, bool top_down,
                                 const char *name, struct fbp_report *report);

/** Write a warning about the views into line[n]; "": no warning.  padded: rows are extrapolated.
 * fbp_data_check_air() warns about transmissions in place of line integrals. */
void fbp_data_check_truncated(const struct fbp_report *report, size_t n_views, bool padded,
                              char *line, size_t n);
void fbp_data_check_exposure(const struct fbp_report *report, size_t n_views, char *line, size_t n);
void fbp_data_check_air(const fbp_data_check *check, char *line, size_t n);
void fbp_data_check_dead(const fbp_data_check *check, const struct fbp_report *report, char *line,
                         size_t n);

#endif /* FBP_PIPELINE_DATA_CHECK_H */
