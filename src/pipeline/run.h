/** @file run.h  The sentence: load, prep, weight, filter, backproject, store (internal). */
#ifndef FBP_SRC_RUN_H
#define FBP_SRC_RUN_H

#include "pipeline/work.h"

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
    size_t first_worker; /**< of work->n_workers; devices[i] is worker first_worker + i */
    bool no_overlap;     /**< one stage at a time, as fbp_recon_params says */
    int (*progress)(void *user, const struct fbp_progress *p);
    void *user;
};

/** Compute all slabs of these workers that the sink does not have.  The sink is not finished. */
fbp_status fbp_run(const struct fbp_run_request *rq, struct fbp_report *report);

#endif /* FBP_SRC_RUN_H */
