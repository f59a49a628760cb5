/** @file data_check.h Checks of the views for bad data, by a few rows of every view, while a run
 * reads the views (internal).
 *
 * The checks find an object wider than the panel (truncation), views of another exposure,
 * intensities in place of line integrals, and views without measured values (dead views). The
 * checked rows do not depend on the division of the work or on the backend. The host checks about
 * 100 samples per row: in the thread that has read the view, or, for views in the caller's memory,
 * in a thread beside the run (plan_run.c).
 * Used by: data_check.c, run.h, view_step.h. */
#ifndef FBP_PIPELINE_DATA_CHECK_H
#define FBP_PIPELINE_DATA_CHECK_H

#include "backend/backend.h"

typedef struct fbp_data_check fbp_data_check;

/** Create a check of all views of a job, which must outlive the check. */
fbp_status fbp_data_check_create(fbp_data_check **out, const struct fbp_job *job);
void fbp_data_check_destroy(fbp_data_check **check);

/** Bytes of host memory of a check. */
size_t fbp_data_check_bytes(const struct fbp_job *job);

/** Convert the results of a check to bytes, to send them to another process that checks the same
 * job. fbp_data_check_packed(): number of bytes; fbp_data_check_pack(): store the results in out;
 * fbp_data_check_join(): add the results of another process to those of `check`. */
size_t fbp_data_check_packed(const struct fbp_job *job);
void fbp_data_check_pack(fbp_data_check *check, void *out);
void fbp_data_check_join(fbp_data_check *check, const void *other);

/**
 * Check view k of a batch; rows that were checked before are not checked again. Thread-safe.
 *
 * raw: [n_views][load_rows][n_columns] of type job->input.type
 */
void fbp_data_check_view(fbp_data_check *check, const struct fbp_batch *batch, size_t k,
                         const void *raw);

/** Check all views of a source in memory, with samples of type job->input.type and the lowest row
 * first. From device memory, the checked rows are copied to the host first. */
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

/** Write a warning into line[n]; "": no warning. fbp_data_check_truncated(): about an object wider
 * than the panel (padded: rows are extrapolated); _exposure(): views of another exposure; _air():
 * intensities in place of line integrals; _dead(): dead views. */
void fbp_data_check_truncated(const struct fbp_report *report, size_t n_views, bool padded,
                              char *line, size_t n);
void fbp_data_check_exposure(const struct fbp_report *report, size_t n_views, char *line, size_t n);
void fbp_data_check_air(const fbp_data_check *check, char *line, size_t n);
void fbp_data_check_dead(const fbp_data_check *check, const struct fbp_report *report, char *line,
                         size_t n);

#endif /* FBP_PIPELINE_DATA_CHECK_H */
