/** @file writers.h  Slices in the host's memory to the sink, by several threads (internal).
 *
 * The stage that fetches puts pieces; threads take parts of them, in any order, and give a piece
 * back when its last part is written.  A device that shares the host's cores has no such threads:
 * what is put is written at once.
 */
#ifndef FBP_SRC_WRITERS_H
#define FBP_SRC_WRITERS_H

#include "run/worker.h"

/** Values of a slice as it is written. */
size_t fbp_written_values(const struct worker *w);
/** Bytes of it on its way to the sink. */
size_t fbp_written_bytes(const struct worker *w);

/** The slice of the output that slice z of the volume becomes. */
size_t fbp_written_slice(const struct fbp_job *job, size_t frame, size_t z);

/** What is left to do with slices from `z` of a frame of the volume on (fbp_run_finishes()), and a
 *  look at their voxels. */
fbp_status fbp_finish_slices(struct worker *w, size_t frame, size_t z, size_t n, void *x);

/** Once in a run: the slices of the box that are not computed, as the job's region wants nothing of
 *  them. */
fbp_status fbp_writers_blank(struct worker *w);

/** As many threads as the plan has pieces for and the system grants. */
void fbp_writers_start(struct worker *w);
/** No more pieces come: what is put is written, and the threads end. */
void fbp_writers_join(struct worker *w);

/** Slices that are fetched, to be written. */
fbp_status fbp_writers_put(struct worker *w, size_t piece);
/** Until all that was put is written. */
fbp_status fbp_writers_settle(struct worker *w);

#endif /* FBP_SRC_WRITERS_H */
