/** @file state.h  How far a run is, and its first failure (internal). */
#ifndef FBP_SRC_STATE_H
#define FBP_SRC_STATE_H

#include "run/run.h"
#include "run/shared.h"
#include "run/slabs.h"

#include <pthread.h>
#include <stdatomic.h>

/** What all workers of a run share. */
struct run_state {
    const struct fbp_run_request *rq;
    struct worker *workers; /**< so that a failure of the run stops them all */
    size_t n_workers;
    pthread_mutex_t lock; /**< all below */
    size_t n_working;     /**< workers that are not gone */
    fbp_status status;    /**< the first failure, and its message */
    char message[1200];
    atomic_bool stop;
    atomic_bool looked_far; /**< a worker looks, or has looked, at views that a device holds */
    atomic_bool blank;      /**< a worker writes, or has written, what no device computes */
    uint64_t updates_done, updates_total;
    size_t slabs_done, n_slabs, views_read;
    size_t waiting_for; /**< view that is awaited, from 1; 0: none */
    double started;
    struct fbp_slabs slabs;      /**< for workers to draw from */
    struct fbp_shared shared;    /**< views that they filter for one another */
    pthread_mutex_t turn;        /**< held by the stage that works, with no_overlap */
    pthread_mutex_t pass;        /**< held by who reads a slab, of a scan that is read in order */
    struct fbp_statistics found; /**< in the slabs that are done, as is: */
    size_t n_found;              /**< voxels, or those that are not masked */
    struct fbp_report report;    /**< busy and waiting seconds, added up over workers */
};

/** Latch this thread's failure for the run and stop it. */
void fbp_run_failed(struct run_state *s, fbp_status status);
/** This thread's failure, of a stage of a worker: if its device is the cause, and there are others,
 *  the worker is dropped; else the run has failed. */
void fbp_run_stage_failed(struct run_state *s, struct worker *w, fbp_status status);

/** The user wants the run to end, and said so to whatever worker, one that was dropped perhaps. */
fbp_status fbp_run_cancelled(struct run_state *s, const char *how);

/** Tell how far it is, with s->lock held.  Is the run to be cancelled? */
bool fbp_run_tell(struct run_state *s);

/** Account for updates; asks the user whether to go on. */
fbp_status fbp_run_progress(struct run_state *s, uint64_t updates, size_t slabs, size_t views_read);

#endif /* FBP_SRC_STATE_H */
