/** @file worker.h  The slabs of a run: workers draw one after another (internal). */
#ifndef FBP_SRC_PIPELINE_WORKER_H
#define FBP_SRC_PIPELINE_WORKER_H

#include "backend/backend.h"
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/run.h"

#include <pthread.h>
#include <stdatomic.h>

/** A slab that a worker has drawn, with its tasks. */
struct fbp_work_item {
    struct fbp_slab slab;
    struct fbp_work_item *next; /**< of the same worker */
    bool done;                  /**< computed and written; of the stage that writes */
    uint64_t updates;           /**< so far; of the stage that backprojects */
    size_t n_tasks;
    const struct fbp_task *planned; /**< the same, never changed */
    struct fbp_task tasks[];        /**< of the stage that reads: it may join some */
};

/** A slab with its tasks, as fbp_work_tasks(); free() it. */
fbp_status fbp_work_item_create(struct fbp_work_item **out, const struct fbp_job *job,
                                const struct fbp_work *work, const struct fbp_slab *slab,
                                bool first);

/** What is left to be done.  Slabs are drawn in their order, by whoever is free; those of a device
 *  that fails come back. */
struct fbp_slabs {
    const struct fbp_job *job;
    const struct fbp_work *work;
    pthread_mutex_t lock; /**< all below, from the first draw on */
    pthread_cond_t changed;
    struct fbp_slab *list; /**< n of them; nz > 0 */
    size_t n, n_most, n_drawn, n_skipped;
    size_t n_open; /**< drawn, and neither done nor returned */
    bool aborted;
    struct fbp_row_bitmap uncounted; /**< rows that no worker counts yet */
};

/** An empty list, with room for all slabs of the division. */
fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work);
void fbp_slabs_destroy(struct fbp_slabs *s);

/** Add a slab at the end, before anybody draws. */
void fbp_slabs_add(struct fbp_slabs *s, struct fbp_slab slab);

/** Note a slab of which nothing is wanted: nobody draws it. */
void fbp_slabs_skip(struct fbp_slabs *s, struct fbp_slab slab);
/** Skipped slab i of s->n_skipped. */
const struct fbp_slab *fbp_slabs_skipped(const struct fbp_slabs *s, size_t i);

/** The next slab; *out NULL: there is none left.  first: of this worker, which has no views yet.
 *  Thread-safe, as are all below. */
fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_work_item **out);

/** Wait until there is a slab to draw, which somebody else may be the first to do.  False: there
 *  will be none: all are done, *gone, or nobody is to wait any more. */
bool fbp_slabs_await(struct fbp_slabs *s, const atomic_bool *gone);
/** Wake up who waits, after *gone was set. */
void fbp_slabs_wake(struct fbp_slabs *s);
/** Nobody waits from now on. */
void fbp_slabs_abort(struct fbp_slabs *s);

void fbp_slabs_done(struct fbp_slabs *s);
/** A drawn slab will not be done by who drew it: `missing`, nz 0 if nothing is, is left of it. */
void fbp_slabs_return(struct fbp_slabs *s, struct fbp_slab missing);

/** *mine becomes those rows of a drawn slab that nobody counts yet; of kept views, all. */
void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_work_item *drawn,
                     struct fbp_row_bitmap *mine);
/** *mine gets all rows that nobody counts yet; they stay uncounted. */
void fbp_slabs_uncounted(struct fbp_slabs *s, struct fbp_row_bitmap *mine);
/** Nobody counts these any more. */
void fbp_slabs_unclaim(struct fbp_slabs *s, const struct fbp_row_bitmap *mine);

/* Views that workers filter for one another (internal).
 *
 * Of views that are kept on the devices each batch is read and filtered by one worker, whoever is
 * free, and the others copy it from that device.  What a worker that fails had filtered is free
 * again: somebody else filters it for those who have not copied it.
 */

enum fbp_shared_state {
    FBP_SHARED_FREE = 0,
    FBP_SHARED_TAKEN,
    FBP_SHARED_READ,
    FBP_SHARED_QUEUED,  /**< its filter is in a queue, until `ready` */
    FBP_SHARED_COUNTED, /**< filtered, and what was mended in it counts */
};

struct fbp_shared_batch {
    enum fbp_shared_state state;
    size_t by; /**< the worker that took it */
    struct fbp_event ready;
    bool again;   /**< a worker that had it has failed, and others may have copied it */
    bool counted; /**< by that worker, too */
};

struct fbp_shared {
    pthread_mutex_t lock; /**< all below */
    pthread_cond_t changed;
    size_t n;
    struct fbp_shared_batch *list; /**< NULL: nothing is shared */
    struct fbp_work_item *views;   /**< a task for each batch: never backprojected */
    bool aborted;
};

/** For the batches of `work`; of one that shares nothing, empty. */
fbp_status fbp_shared_create(struct fbp_shared *s, const struct fbp_job *job,
                             const struct fbp_work *work);
void fbp_shared_destroy(struct fbp_shared *s);

/** What the stage of a worker that reads does next. */
enum fbp_shared_next { FBP_SHARED_TAKE, FBP_SHARED_COLLECT, FBP_SHARED_END };

/** Batch *b is this worker's to read and filter; or what was mended in those that it has is to be
 *  collected; or it has nothing more to read, as *has_all says, too, and all is counted.  Waits
 *  until one of them is so.  *over: it does nothing more. */
enum fbp_shared_next fbp_shared_next(struct fbp_shared *s, size_t worker,
                                     const atomic_bool *has_all, const atomic_bool *over,
                                     size_t *b);

/** Wait until all earlier batches are read, of a scan that can only be read in order. */
void fbp_shared_turn(struct fbp_shared *s, size_t b);
/** How batch b stands now. */
struct fbp_shared_batch fbp_shared_get(struct fbp_shared *s, size_t b);

/** A worker has read a batch, or has its filter in a queue, unless that was taken from it. */
void fbp_shared_read(struct fbp_shared *s, size_t b, size_t worker);
void fbp_shared_queued(struct fbp_shared *s, size_t b, size_t worker, struct fbp_event ready);
/** All that this worker has filtered. */
void fbp_shared_counted(struct fbp_shared *s, size_t worker);

/** Wait until batch b is in a queue; false: nobody is to wait any more. */
bool fbp_shared_await(struct fbp_shared *s, size_t b, const atomic_bool *over,
                      struct fbp_shared_batch *out);
/** A worker has failed: its batches are free. */
void fbp_shared_return(struct fbp_shared *s, size_t worker);

/** Somebody's *has_all or *over was set. */
void fbp_shared_wake(struct fbp_shared *s);
/** Nobody waits from now on. */
void fbp_shared_abort(struct fbp_shared *s);

/* How far a run is, and its first failure (internal). */

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
    atomic_bool checked_device; /**< a worker looks, or has looked, at views that a device holds */
    atomic_bool blank;          /**< a worker writes, or has written, what no device computes */
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
bool fbp_run_report_progress(struct run_state *s);

/** Account for updates; asks the user whether to go on. */
fbp_status fbp_run_progress(struct run_state *s, uint64_t updates, size_t slabs, size_t views_read);

/* One device at work: its buffers, queues and four stages (internal). */

/** A task on its way through the stages. */
struct place {
    struct fbp_work_item *drawn; /**< of this slab */
    const struct fbp_task *task;
};

struct raw_slot {
    void *host;
    void *device; /**< the same memory as host where the backend has none of its own */
    struct place at;
    struct fbp_event uploaded, consumed;
};

struct filtered_slot {
    void *memory; /**< the same one in all of them where filtered views are kept */
    struct place at;
    struct fbp_event ready, consumed;
};

struct volume_slot {
    void *memory;
    struct fbp_event fetched;
};

/** Slices on their way to a sink. */
struct piece_slot {
    void *host;
    size_t frame, z0, nz; /**< frame: of a series, or the first of all */
    struct fbp_event fetched;
    struct fbp_span span;  /**< from when they are there to when they are written */
    atomic_size_t n_parts; /**< that are not written */
};

struct block_slot {
    size_t volume;
    struct fbp_work_item *drawn;
    size_t z0, z1;
    bool last;
    struct fbp_event ready;
};

enum { MAX_SLOTS = 4, N_BLOCKS = 16, N_AHEAD = 2 };
enum { MOST_PARTS = 64 }; /* of a piece, each written by one thread */

struct worker {
    const struct fbp_backend *backend;
    const struct fbp_work *work;
    fbp_device *dev;
    fbp_pool *io_threads;        /**< that read, or NULL */
    struct run_state *run;       /**< from here on: of a run */
    struct fbp_work_item *drawn; /**< its slabs, in their order */
    struct fbp_work_item **last; /**< where the next one goes; of the stage that draws */
    const void *views; /**< the caller's, uploaded from where they lie; NULL: through raw[] */
    void *volume;      /**< the caller's, fetched to where it lies; NULL: through pieces[] */
    struct fbp_prep_counts counted;      /**< by earlier runs */
    struct fbp_row_bitmap ledger;        /**< of rows that this one counts */
    struct fbp_row_bitmap claimed;       /**< the same, until their counts are collected */
    const struct fbp_work_item *counts;  /**< the slab whose rows those are */
    const struct fbp_work_item *checked; /**< the last slab whose views were looked at */
    struct raw_slot raw[MAX_SLOTS];
    struct filtered_slot filtered[MAX_SLOTS];
    struct volume_slot volumes[MAX_SLOTS];
    struct block_slot blocks[N_BLOCKS];
    struct piece_slot pieces[FBP_MOST_PIECES];
    pthread_t writers[FBP_MOST_IO_THREADS]; /**< that write pieces (writers.h), n_writers */
    size_t n_writers;
    struct fbp_event commands[N_AHEAD]; /**< the last ones that backproject, in turns */
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
void fbp_worker_set_failed(struct worker *w, fbp_status status);
/** The last stage of a worker that was dropped has left: its slabs go back to the list. */
void fbp_worker_return(struct worker *w);
/** A slab is written: what was found in its voxels, and counted in its views, is the run's. */
fbp_status fbp_worker_slab_done(struct worker *w, const struct fbp_work_item *drawn);
/** The rows that a slab will be the first to count, from the next filter() on. */
fbp_status fbp_worker_claim(struct worker *w, const struct fbp_work_item *drawn);

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
fbp_status fbp_worker_draw(struct worker *w, struct fbp_work_item **out);
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

/* What the four stages of a worker share (internal).
 *
 * The body of each loop takes a slot from the stage before, works, and hands a slot to the stage
 * after; freed slots run back.  On a device with queues of its own the calls only enqueue, and
 * marks carry the order.  A stage of the host and the queue of the device that it fills have one
 * name.
 */

/** Order on the worker's device: as the slots `mark`, `after` and `wait` of backend.h. */
fbp_status fbp_stage_record(struct worker *w, enum fbp_stage stage, struct fbp_event *out);
fbp_status fbp_stage_wait_for(struct worker *w, enum fbp_stage stage, struct fbp_event m);
fbp_status fbp_stage_wait(struct worker *w, struct fbp_event m);

/** A stage begins to work: its seconds count from here. */
double fbp_stage_begin(struct worker *w);
/** With no_overlap, what the stage gave to its queue belongs to its turn. */
fbp_status fbp_stage_end(struct worker *w, int stage, double start, fbp_status st);
/** With no_overlap, the seconds that a copy begun at `start` takes. */
fbp_status fbp_stage_copied(struct worker *w, enum fbp_stage stage, double start, double *seconds);

/** Work of a stage of the device, for the timeline. */
fbp_status fbp_stage_span(struct worker *w, enum fbp_stage stage, struct fbp_span *out);
/** ... on views of a task ends. */
fbp_status fbp_stage_span_end(struct worker *w, struct fbp_span *span, enum fbp_lane lane,
                              const struct place *at);
/** Number of a task, among those of its slab. */
size_t fbp_place_number(const struct place *at);

/** The next slab, one that comes back from another worker; *out NULL: there will be none.  Of
 *  several workers that wait one gets it. */
fbp_status fbp_stage_await_slab(struct worker *w, struct fbp_work_item **out);

/** A stage has ended.  A queue that was closed early says that the run has stopped: its failure is
 *  known. */
void fbp_stage_ended(struct worker *w, fbp_status st);

/** Slice of the output that slice z of a frame of the volume becomes. */
size_t fbp_written_slice(const struct fbp_job *job, size_t frame, size_t z);

/** Seconds from when the last view was there until `at`; 0 where nothing was followed. */
double fbp_follow_latency(const fbp_source *source, double at);

#endif /* FBP_SRC_PIPELINE_WORKER_H */
