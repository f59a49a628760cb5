/** @file predict.h  How long a division of the work will take (internal; pure).
 *
 * The plan uses it to choose between divisions (work.h), and fbp bench predict for other machines.
 * It follows every batch and block of every device through the stages, with the buffers that they
 * wait for.  Work that runs at the same time shares links, files, and a device's processors.
 */
#ifndef FBP_SRC_PREDICT_H
#define FBP_SRC_PREDICT_H

#include "plan/machine.h"
#include "plan/work.h"

/**
 * A division of a job, whose device has these rates.  What its slices cost, w->cut knows.
 *
 * machine: what devices share; NULL: nothing
 * out: all but `open` and `gups`
 */
fbp_status fbp_predict(const struct fbp_machine *machine, const struct fbp_rates *rates,
                       const struct fbp_job *job, const struct fbp_work *w,
                       struct fbp_predicted *out);

/** The same of a process that may share the views of its slab (machine->sharers); *sums: seconds in
 *  which it gets partial volumes of the others. */
fbp_status fbp_predict_sharer(const struct fbp_machine *machine, const struct fbp_rates *rates,
                              const struct fbp_job *job, const struct fbp_work *w,
                              struct fbp_predicted *out, double *sums);

#endif /* FBP_SRC_PREDICT_H */
