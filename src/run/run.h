/** @file run.h  The sentence: load, prep, weight, filter, backproject, store (internal). */
#ifndef FBP_SRC_RUN_H
#define FBP_SRC_RUN_H

#include "plan/work.h"
#include "run/look.h"
#include "run/mask.h"
#include "run/sum.h"
#include "run/timeline.h"

#include <stdatomic.h>

struct worker;

/** Opened devices with their buffers, for one run after another. */
struct fbp_workers {
    struct worker *list;
    size_t n;
};

/** All at once.  A device that fails is left out, and named by the next run; if all do, so does
 *  this. */
fbp_status fbp_workers_open(struct fbp_workers *out, const struct fbp_backend *backend,
                            const struct fbp_job *job, const struct fbp_work *work,
                            const int *devices, size_t n_devices);
void fbp_workers_close(struct fbp_workers *workers);

/** Memory of the host that all of them copy from and to. */
fbp_status fbp_workers_alloc(const struct fbp_workers *workers, size_t bytes, void **out);
void fbp_workers_release(const struct fbp_workers *workers, void *memory);

/** What runs: tables, a division of the work, where views come from and slices go to. */
struct fbp_run_request {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    const struct fbp_work *work;
    fbp_source *source;
    bool top_down; /**< stored pictures start with the top row */
    fbp_sink *sink;
    const int *devices; /**< n_devices indices of the backend's devices */
    size_t n_devices;
    const struct fbp_workers *workers; /**< of these devices; NULL: opened for this run */
    size_t first_worker;       /**< of work->n_workers; devices[i] is worker first_worker + i */
    fbp_timeline *timeline;    /**< NULL: not wanted */
    const fbp_mask *mask;      /**< of what is written; NULL: none */
    const struct fbp_sum *sum; /**< this is a part of it; NULL: the whole */
    fbp_look *look;            /**< at the views as they pass; NULL: none */
    uint64_t *n_found;         /**< voxels that the report's min, max and mean are of; NULL: none */
    bool no_overlap;           /**< one stage at a time, as fbp_recon_params says */
    const atomic_bool *stop;   /**< set: the run is to end; NULL: nobody does */
    int (*progress)(void *user, const struct fbp_progress *p);
    fbp_log_fn *log; /**< or NULL */
    void *user;
};

/** Are slices finished after they were fetched, so that only then voxels are what they will be? */
static inline bool fbp_run_finishes(const struct fbp_run_request *rq)
{
    return rq->mask || rq->sum;
}

/** Compute all slabs of these workers that the sink does not have.  The sink is not finished.  A
 *  device that fails is named and left out, and the others do its part.  No slice is written to the
 *  sink twice. */
fbp_status fbp_run(const struct fbp_run_request *rq, struct fbp_report *report);

#endif /* FBP_SRC_RUN_H */
