/** @file columns.h  Detector columns with the filter along them (internal). */
#ifndef FBP_SRC_CPU_COLUMNS_H
#define FBP_SRC_CPU_COLUMNS_H

#include "backend/backend.h"
#include "backend/cpu/line.h"

/** Neighbouring columns that are filtered as one piece of work. */
enum { CPU_COLUMNS = FBP_MAX_LANES };

/** Taps of the filter between FBP_CONVOLVE_COLUMNS zeros on either side; *out NULL where the job
 *  has none.  fbp_free() it. */
fbp_status cpu_columns_open(float **out, const struct fbp_job *job);

/** Floats of the taps, and of the scratch that one thread needs; 0 where the job has none. */
size_t cpu_columns_floats(const struct fbp_job *job);
size_t cpu_columns_work(const struct fbp_job *job);

/**
 * Columns [c0, c0 + CPU_COLUMNS), or to the last, of a stored view of n_rows rows, in place.  Rows
 * nearer than S to either end come out right only where that is the detector's own end.  A sample
 * is a sum of the same terms in the same order whatever rows are stored.
 */
void cpu_filter_columns(const struct fbp_job *job, const struct fbp_line_dsp *dsp,
                        const float *taps, float *work, float *view, size_t n_rows, size_t c0);

#endif /* FBP_SRC_CPU_COLUMNS_H */
