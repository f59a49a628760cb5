/** @file worker.h  One device at work: its buffers, queues and four stages (internal). */
#ifndef FBP_SRC_WORKER_H
#define FBP_SRC_WORKER_H

#include "base/queue.h"
#include "run/slabs.h"
#include "run/state.h"

/** A task on its way through the stages. */
struct place {
    struct fbp_drawn *drawn; /**< of this slab */
    const struct fbp_task *task;
};

struct raw_slot {
    void *host;
    void *device; /**< the same memory as host where the backend has none of its own */
    struct place at;
    struct fbp_mark uploaded, consumed;
};

struct filtered_slot {
    void *memory; /**< the same one in all of them where filtered views are kept */
    struct place at;
    struct fbp_mark ready, consumed;
};

struct volume_slot {
    void *memory;
    struct fbp_mark fetched;
};

/** Slices on their way to a sink. */
struct piece_slot {
    void *host;
    size_t frame, z0, nz; /**< frame: of a series, or the first of all */
    struct fbp_mark fetched;
    struct fbp_span span;  /**< from when they are there to when they are written */
    atomic_size_t n_parts; /**< that are not written */
};

struct block_slot {
    size_t volume;
    struct fbp_drawn *drawn;
    size_t z0, z1;
    bool last;
    struct fbp_mark ready;
};

enum { MAX_SLOTS = 4, N_BLOCKS = 16, N_AHEAD = 2 };
enum { MOST_PARTS = 64 }; /* of a piece, each written by one thread */

struct worker {
    const struct fbp_backend *backend;
    const struct fbp_work *work;
    fbp_device *dev;
    fbp_pool *io_threads;    /**< that read, or NULL */
    struct run_state *run;   /**< from here on: of a run */
    struct fbp_drawn *drawn; /**< its slabs, in their order */
    struct fbp_drawn **last; /**< where the next one goes; of the stage that draws */
    const void *views;       /**< the caller's, uploaded from where they lie; NULL: through raw[] */
    void *volume;            /**< the caller's, fetched to where it lies; NULL: through pieces[] */
    struct fbp_prep_counts counted; /**< by earlier runs */
    struct fbp_ledger ledger;       /**< of rows that this one counts */
    struct fbp_ledger claimed;      /**< the same, until their counts are collected */
    const struct fbp_drawn *counts; /**< the slab whose rows those are */
    const struct fbp_drawn *looked; /**< the last slab whose views were looked at */
    struct raw_slot raw[MAX_SLOTS];
    struct filtered_slot filtered[MAX_SLOTS];
    struct volume_slot volumes[MAX_SLOTS];
    struct block_slot blocks[N_BLOCKS];
    struct piece_slot pieces[FBP_MOST_PIECES];
    pthread_t writers[FBP_MOST_IO_THREADS]; /**< that write pieces (writers.h), n_writers */
    size_t n_writers;
    struct fbp_mark commands[N_AHEAD]; /**< the last ones that backproject, in turns */
    size_t n_commands;
    fbp_queue *raw_free, *raw_full, *filtered_free, *filtered_full, *volume_free, *block_free,
        *block_full, *piece_free,
        *parts_full;             /**< a part: its number in its piece, and that one's */
    struct fbp_statistics found; /**< in slabs that are not done, as is: */
    size_t n_found;              /**< voxels, or those that are not masked; both by run's lock */
    double busy[4], waited[4];   /**< read, filter, backproject, write */
    double upload, fetch;        /**< of these, copying to and from the device; with no_overlap */
    double computed_at;          /**< when the last batch was backprojected */
    double fetched_at;           /**< when the last voxel was in the host's memory */
    atomic_int n_stages;         /**< that have not left */
    atomic_bool gone;            /**< its device failed: it does nothing any more, in no run */
    atomic_bool has_all;         /**< shared views: it has, or needs, no more of them */
    pthread_mutex_t reads_views; /**< held while commands that read them are queued */
    bool expects;                /**< ... and its device counts what is mended in them */
    bool said;                   /**< the user knows */
    fbp_status status;           /**< what failed, as are: */
    char why[1000];
};

/** Open a device with its buffers; a half-built worker can be closed. */
fbp_status fbp_worker_open(struct worker *w, const struct fbp_backend *backend,
                           const struct fbp_job *job, const struct fbp_work *work, int device);
void fbp_worker_close(struct worker *w);

/** Buffers of the host, where views or volume are not copied from and to the caller's memory: made
 *  by the stages that read and write, while others work already; they stay from run to run. */
fbp_status fbp_worker_raw_host(struct worker *w, struct raw_slot *slot);
fbp_status fbp_worker_piece_host(struct worker *w, struct piece_slot *slot);

/** Its device failed, as this thread's message says: others do what it had to do. */
void fbp_worker_drop(struct worker *w, fbp_status status);
/** The last stage of a worker that was dropped has left: its slabs go back to the list. */
void fbp_worker_return(struct worker *w);
/** A slab is written: what was found in its voxels, and counted in its views, is the run's. */
fbp_status fbp_worker_slab_done(struct worker *w, const struct fbp_drawn *drawn);
/** The rows that a slab will be the first to count, from the next filter() on. */
fbp_status fbp_worker_claim(struct worker *w, const struct fbp_drawn *drawn);

/** Of shared views: what is mended in the next batch counts, unless it has been `counted`. */
fbp_status fbp_worker_expect(struct worker *w, bool counted);
/** All that it has filtered so far is filtered: what was mended there is the run's. */
fbp_status fbp_worker_collect(struct worker *w);

/** Its number among the run's. */
size_t fbp_worker_index(const struct worker *w);

/** What a run needs: a first slab, if there is one left, and queues.  A half-begun run can be
 *  ended. */
fbp_status fbp_worker_begin(struct worker *w, struct run_state *run);
/** Draw a further slab.  *out NULL: there is none now. */
fbp_status fbp_worker_draw(struct worker *w, struct fbp_drawn **out);
void fbp_worker_end(struct worker *w);

/** Has it nothing more to do: the run stops, or its device failed? */
static inline bool fbp_worker_is_over(const struct worker *w)
{
    return atomic_load(&w->run->stop) || atomic_load(&w->gone);
}

/** Wake everybody up to leave. */
void fbp_worker_abort(struct worker *w);

/** The stages, each in a thread of its own until its queue is closed or the run stops. */
void fbp_stage_read(struct worker *w);
void fbp_stage_filter(struct worker *w);
void fbp_stage_backproject(struct worker *w);
void fbp_stage_write(struct worker *w);

#endif /* FBP_SRC_WORKER_H */
