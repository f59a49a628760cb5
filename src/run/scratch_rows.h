/** @file scratch_rows.h  Views that are filtered once, into a scratch file, and read from there
 * (internal).
 *
 * Where a volume is computed in many slabs, most rows would be read and filtered again for several
 * of them.  The file holds all rows that the volume needs as floats, [view][row][column of `wide`],
 * upwards: a source of the job's rows (fbp_job_of_rows()).
 */
#ifndef FBP_SRC_SCRATCH_ROWS_H
#define FBP_SRC_SCRATCH_ROWS_H

#include "array/file/scratch.h"
#include "run/run.h"

struct fbp_rows_file {
    struct fbp_scratch file;
    size_t n_rows, row_bytes; /**< of a view */
};

/** Bytes of the file. */
uint64_t fbp_rows_bytes(const struct fbp_job *job);

/** A file with room for the rows of a job, in a folder. */
fbp_status fbp_rows_open(struct fbp_rows_file *out, const struct fbp_job *job, const char *folder);
void fbp_rows_close(struct fbp_rows_file *rows);

/**
 * Filter all views of a request, whose `job` is the one of unfiltered views and whose `work` is
 * made by fbp_work_rows(), into the file.  Looks at them as they pass.  Of several devices the
 * first one that can be opened is used.
 *
 * report: gets the seconds of reading and filtering, and what was mended
 */
fbp_status fbp_rows_filter(const struct fbp_run_request *rq, const struct fbp_rows_file *to,
                           struct fbp_report *report);

/** What is in the file, which must outlive the source. */
fbp_status fbp_rows_source(const struct fbp_job *job, struct fbp_rows_file *rows, fbp_source **out);

#endif /* FBP_SRC_SCRATCH_ROWS_H */
