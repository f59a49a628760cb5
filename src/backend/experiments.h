/** @file experiments.h  What a device brings for benchmarks alone (internal).
 *
 * A backend's slot experiment(name) hands out one of these structs, or NULL; nothing of the
 * pipeline knows of them.  ("links", which plans ask for, too, is in backend/link_meter.h.)
 */
#ifndef FBP_SRC_EXPERIMENTS_H
#define FBP_SRC_EXPERIMENTS_H

#include "fbp-lab/bench.h"
#include "fbp-lab/s1.h"

#include "backend/backend.h"

/** "limits": what the device does at best. */
struct fbp_limit_kernels {
    /** Measure the device of this index. */
    fbp_status (*measure)(int index, struct fbp_limits *out);
    /** Updates a second that the job's kernel could do if it did nothing but what it needs most of,
     *  and what that is. */
    double (*of_kernel)(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                        size_t n);
};

/** "s1": the kernels of S1 (fbp-lab/s1.h), for a job whose kernel is `matrix`, precision fast. */
struct fbp_s1_kernels {
    /** NULL beyond the last. */
    const struct fbp_s1_shape *(*shape)(size_t index);
    /** One run over a batch of all views into the whole volume; returns when it is done. */
    fbp_status (*run)(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                      void *volume, size_t index, enum fbp_s1_part part, struct fbp_s1_time *out);
};

#endif /* FBP_SRC_EXPERIMENTS_H */
