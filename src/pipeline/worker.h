/** @file worker.h  The parts of a run that several files share (internal): the work list of slabs,
 * the batches that workers filter for one another, the state of the run, and the workers. run.c
 * starts one worker per device; a worker has four stages, each a thread: read (stage_read.c),
 * filter and backproject (stages.c), and write (stage_write.c).
 *
 * Used by: pipeline/. */
#ifndef FBP_SRC_PIPELINE_WORKER_H
#define FBP_SRC_PIPELINE_WORKER_H

#include "backend/backend.h"
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/run.h"

#include <pthread.h>
#include <stdatomic.h>

/* slabs.c: the work list of a run, from which workers take slabs */

/** A slab that a worker has taken, with its tasks, each for a batch of views. */
struct fbp_work_item {
    struct fbp_slab slab;
    struct fbp_work_item *next; /**< next slab of the same worker */
    bool done;        /**< whether the slab is computed and written; set by the stage that writes */
    uint64_t updates; /**< updates (voxels x views) so far; set by the stage that backprojects */
    size_t n_tasks;
    const struct fbp_task *planned; /**< the tasks as planned; never changed */
    struct fbp_task tasks[]; /**< tasks; if the run follows a measurement, the reading stage may
                                join several to one */
};

/** The work list of a run: free workers take the next slab; a failed device's slabs return. */
struct fbp_slabs {
    const struct fbp_job *job;
    const struct fbp_work *work;
    /** Lock of all following members; needed after the first fbp_slabs_draw(). */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /** Queue of slabs: workers have taken [0, n_drawn), and [n_drawn, n) remain.  The array has
     * n_most elements; its last n_skipped elements are slabs outside the requested region, which no
     * worker takes.  Every slab has at least one slice. */
    struct fbp_slab *list;
    size_t n, n_most, n_drawn, n_skipped;
    /** Number of slabs that workers have taken, and neither finished nor returned. */
    size_t n_open;
    bool aborted;
    /** Bitmap of the detector rows whose repaired samples no worker counts yet. */
    struct fbp_row_bitmap uncounted;
};

/** Make an empty work list with space for all slabs of a division of the work. */
fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work);
void fbp_slabs_destroy(struct fbp_slabs *s);

/** Take the next slab from the work list; *out becomes NULL if none is left. first: the first slab
 * of its worker, without filtered views. All functions of the list are thread-safe. */
fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_work_item **out);

/** Record that a worker has finished a slab, or that its device has failed: `missing` (its slices
 * that are not computed; nz 0: none) returns to the work list. */
void fbp_slabs_return(struct fbp_slabs *s, struct fbp_slab missing);

/** Move the detector rows of a slab that are in s->uncounted (no worker counts their repaired
 * samples yet) to *mine.  If filtered views are kept on the devices, the rows also stay in
 * s->uncounted, because every worker counts all of them. */
void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_work_item *drawn,
                     struct fbp_row_bitmap *mine);
/** Put detector rows, whose repaired samples the worker has not counted, back into s->uncounted. */
void fbp_slabs_unclaim(struct fbp_slabs *s, const struct fbp_row_bitmap *mine);

/* slabs.c: batches that workers filter for one another
 *
 * If workers share filtered views (fbp_work.shared), each batch is read and filtered by one worker,
 * the first that is free, and the other workers copy it from that worker's device.  If one of the
 * devices fails, the run fails.
 */

struct fbp_shared_batch {
    size_t by;   /**< index of the worker that has taken the batch */
    bool queued; /**< whether the filter of the batch is enqueued on the worker's device */
    /** Event that the device records when the batch is filtered, if `queued` is set. */
    struct fbp_event ready;
};

struct fbp_shared {
    pthread_mutex_t lock; /**< protects all members below */
    pthread_cond_t changed;
    size_t n, n_taken; /**< number of batches; batches [0, n_taken) are taken */
    /** Table of the batches that workers filter for one another; NULL: none. */
    struct fbp_shared_batch *list;
    /** Work item of the first slab: its task k describes how batch k of `list` is read and
     * filtered. Nothing is backprojected into it. */
    struct fbp_work_item *views;
    bool aborted; /**< whether the run ends, so that no thread takes or awaits a batch any more */
};

/** Make the table of the batches that workers filter for one another; it may be empty. */
fbp_status fbp_shared_create(struct fbp_shared *s, const struct fbp_job *job,
                             const struct fbp_work *work);
void fbp_shared_destroy(struct fbp_shared *s);

/** Take the next batch for a worker to read and filter; *b: index of the batch.
 *  @return false if all batches are taken, or the run ends. */
bool fbp_shared_take(struct fbp_shared *s, size_t worker, size_t *b);
/** Record that the filter of batch b is enqueued; the device records `ready` at its end. */
void fbp_shared_set_queued(struct fbp_shared *s, size_t b, struct fbp_event ready);
/** Wait until a worker has enqueued the filter of batch b, and copy the batch's state to *out.
 *  @return false if the run ends. */
bool fbp_shared_await(struct fbp_shared *s, size_t b, struct fbp_shared_batch *out);
/** Wake up all threads that wait for slabs or for batches, because their worker's device has failed
 * or the run ends.  abort: the run ends, and all later waits return at once. */
void fbp_slabs_wake(struct fbp_slabs *s, struct fbp_shared *shared, bool abort);

/* run.c: progress of a run, and its first failure */

/** State that all workers of a run share. */
struct run_state {
    const struct fbp_run_request *rq;
    struct worker *workers;
    size_t n_workers;
    pthread_mutex_t lock; /**< protects members below that are not atomic and have no own lock */
    size_t n_working;     /**< number of workers whose device has not failed */
    fbp_status status;    /**< first failure of the run */
    char message[1200];   /**< its message */
    atomic_bool stop;     /**< whether the run ends, after a failure or because it is cancelled */
    /** Whether one worker (only one does so) has begun to write slices outside the region. */
    atomic_bool blank;
    /** Number of updates (voxels x views), done and in total. */
    uint64_t updates_done, updates_total;
    size_t slabs_done, n_slabs, views_read;
    size_t waiting_for; /**< number of the view that the reading stage waits for, from 1; 0: none */
    double started;     /**< start of the run, by fbp_seconds() */
    struct fbp_slabs slabs;   /**< work list */
    struct fbp_shared shared; /**< table of the batches that workers filter for one another */
    pthread_mutex_t turn;     /**< held by the only stage that works, if no_overlap */
    /** Held while a worker reads views of a slab or batch, if they must be read in order. */
    pthread_mutex_t pass;
    /** Least value, greatest value and sum of the voxels of finished slabs. */
    struct fbp_statistics found;
    size_t n_found; /**< number of voxels in `found`, without those that the mask replaces */
    /** Report of the run; its busy and waiting times are sums over all workers [s]. */
    struct fbp_report report;
};

/** Handle a failure of a worker's stage; the calling thread has the message.  If a device or an
 * allocation failed and other workers are left, the run continues without the worker, unless the
 * others need its filtered views; else the run fails. */
void fbp_run_stage_failed(struct run_state *s, struct worker *w, fbp_status status);

/** Add finished updates (voxels x views) and slabs to the progress of the run, set the number of
 * views read so far, and report the progress.
 *  @return FBP_ERR_CANCELLED if the run is cancelled. */
fbp_status fbp_run_progress(struct run_state *s, uint64_t updates, size_t slabs, size_t views_read);

/* run.c: a worker, which is one device with its buffers and queues
 *
 * Data pass from stage to stage in buffers; queues carry the indices of free and of full buffers.
 */

/** A task and the slab to which it belongs. */
struct place {
    struct fbp_work_item *drawn;
    const struct fbp_task *task;
};

/** Buffer of a batch of views as read. */
struct raw_slot {
    void *host;
    void *device; /**< device buffer; equal to `host` without own memory */
    struct place at;
    struct fbp_event uploaded, consumed;
};

/** Buffer of a batch of filtered views. */
struct filtered_slot {
    void *memory; /**< filtered views; one buffer for all slots if all views are kept */
    struct place at;
    struct fbp_event ready, consumed;
};

/** Buffer of a slab. */
struct volume_slot {
    void *memory;
    struct fbp_event fetched;
};

/** Host buffer of slices that are fetched from a device and then written. */
struct piece_slot {
    void *host;
    /** frame: time point of the series; z0, nz: first slice and number of slices */
    size_t frame, z0, nz;
    struct fbp_event fetched;
    struct fbp_span span;      /**< bar of the timeline, from fetched to written */
    atomic_size_t n_unwritten; /**< number of parts of the piece that are not written yet */
};

/** Block of finished slices [z0, z1) of a slab, to be fetched from the slab's buffer. */
struct block_slot {
    size_t volume; /**< index in worker.volumes */
    struct fbp_work_item *drawn;
    size_t z0, z1;
    bool last; /**< last block of the slab */
    struct fbp_event ready;
};

/** Greatest numbers of buffers of one kind (MAX_SLOTS), of blocks of slices that are computed and
 * not yet fetched (N_BLOCKS), and of enqueued backprojection commands (N_AHEAD). */
enum { MAX_SLOTS = 4, N_BLOCKS = 16, N_AHEAD = 2 };
/** Greatest number of parts of a piece (struct piece_slot); each part is written by one thread. */
enum { MOST_PARTS = 64 };

/** Queues of a worker: indices of free buffers, which a stage returns to the stage before it, and
 * of full buffers, which a stage passes to the stage after it. */
enum worker_queue {
    RAW_FREE,
    FILTERED_FREE,
    VOLUME_FREE,
    BLOCK_FREE,
    PIECE_FREE,
    N_OF_FREE, /**< number of the queues of free buffers, which are full when a run begins */
    RAW_FULL = N_OF_FREE,
    FILTERED_FULL,
    BLOCK_FULL,
    PARTS_FULL, /**< parts of pieces: index of the piece * MOST_PARTS + index of the part */
    N_QUEUES
};

struct worker {
    const struct fbp_backend *backend;
    const struct fbp_work *work;
    fbp_device *dev;
    /** Threads that read views; NULL: the thread of the reading stage reads. */
    fbp_pool *io_threads;
    /** The current run, to which most members of this struct belong; NULL: none. */
    struct run_state *run;
    struct fbp_work_item *drawn; /**< slabs that this worker has taken, in order */
    /** Address of the pointer at the end of the list `drawn`, where the next slab is appended. */
    struct fbp_work_item **last;
    const void *views; /**< the caller's views, if the device reaches them; NULL: read into raw[] */
    void *volume;      /**< the caller's volume, if slices are fetched to it; NULL: to pieces[] */
    struct fbp_prep_counts counted; /**< repaired samples that were added to the report so far */
    /** Bitmap of the detector rows whose repaired samples the device counts at present. */
    struct fbp_row_bitmap ledger;
    /** Bitmap of rows with repaired samples that the report does not include yet. */
    struct fbp_row_bitmap claimed;
    /** Slab for which the device last began to count repairs; NULL: all are in the report. */
    const struct fbp_work_item *counts;
    struct raw_slot raw[MAX_SLOTS];
    struct filtered_slot filtered[MAX_SLOTS];
    struct volume_slot volumes[MAX_SLOTS];
    struct block_slot blocks[N_BLOCKS];
    struct piece_slot pieces[FBP_MOST_PIECES];
    pthread_t writers[FBP_MOST_IO_THREADS]; /**< n_writers threads that write pieces */
    size_t n_writers;
    /** Ring buffer of the events of the last backprojections. */
    struct fbp_event commands[N_AHEAD];
    size_t n_commands;
    fbp_queue *queues[N_QUEUES]; /**< queues of buffer indices (enum worker_queue) */
    /** Statistics of the voxels of unfinished slabs; protected by run->lock. */
    struct fbp_statistics found;
    size_t n_found; /**< number of voxels in `found`, without those that the mask replaces */
    double busy[4], waited[4]; /**< work and wait times of the stages, from read to write [s] */
    double upload, fetch;      /**< waits for copies, a part of `busy` [s]; 0 without no_overlap */
    double computed_at;        /**< time when the last batch was backprojected, by fbp_seconds() */
    double fetched_at;         /**< time when the last voxel was in host memory, by fbp_seconds() */
    atomic_int n_stages;       /**< number of stages that have not ended */
    atomic_bool gone;  /**< whether the device has failed: no run uses this worker any more */
    bool said;         /**< whether the failure of the device is logged */
    fbp_status status; /**< failure of the device */
    char why[1000];    /**< its message */
};

/** Add the voxel statistics and the counts of repaired samples of a written slab to the run. */
fbp_status fbp_worker_slab_done(struct worker *w, const struct fbp_work_item *drawn);
/** Make the device count repairs, from its next filter() on, in rows no other worker counts. */
fbp_status fbp_worker_claim(struct worker *w, const struct fbp_work_item *drawn);

/** Wait until all enqueued batches are filtered, and report the counts of repaired samples. */
fbp_status fbp_worker_collect(struct worker *w);

/** Index of the worker in run_state.workers. */
size_t fbp_worker_index(const struct worker *w);

/** Take another slab for a worker; *out becomes NULL if none is left. */
fbp_status fbp_worker_draw(struct worker *w, struct fbp_work_item **out);

/** Return whether the run has stopped, or the worker's device has failed. */
static inline bool fbp_worker_is_over(const struct worker *w)
{
    return atomic_load(&w->run->stop) || atomic_load(&w->gone);
}

/** The four stages of a worker, one thread each, until work ends, the device fails or run stops. */
void fbp_stage_read(struct worker *w);
void fbp_stage_filter(struct worker *w);
void fbp_stage_backproject(struct worker *w);
void fbp_stage_write(struct worker *w);

/* stages.c: functions that the four stages of a worker share
 *
 * Each stage loops: take a buffer from the stage before, work, pass a buffer to the stage after;
 * freed buffers return.  On a device with its own queues the calls only enqueue, and events keep
 * the order.  A stage of the host has the name of the device queue that it fills.
 */

/** Events: record one in the queue of a stage on the worker's device; make the queue of a stage
 * wait for one; make the calling thread wait. */
fbp_status fbp_stage_record(struct worker *w, enum fbp_stage stage, struct fbp_event *out);
fbp_status fbp_stage_wait_for(struct worker *w, enum fbp_stage stage, struct fbp_event m);
fbp_status fbp_stage_wait(struct worker *w, struct fbp_event m);

/** Begin work of a stage; with the option no_overlap, wait until no other stage works.
 *  @return time of the beginning, by fbp_seconds() */
double fbp_stage_begin(struct worker *w);
/** End work of a stage that began at time `start`, and add its seconds to busy[stage]; with the
 * option no_overlap, first wait until the device has ended the work. */
fbp_status fbp_stage_end(struct worker *w, int stage, double start, fbp_status st);
/** With no_overlap, wait for a copy that began at time `start`; add its duration to *seconds. */
fbp_status fbp_stage_copied(struct worker *w, enum fbp_stage stage, double start, double *seconds);

/** Begin a bar of the timeline for work of a stage of the worker's device. */
fbp_status fbp_stage_span(struct worker *w, enum fbp_stage stage, struct fbp_span *out);
/** End a bar of the timeline, with the numbers of a task's views as its label. */
fbp_status fbp_stage_span_end(struct worker *w, struct fbp_span *span, enum fbp_lane lane,
                              const struct place *at);

/** Take the next slab of the work list. If none is left, wait for a slab that a failed device's
 * worker returns; *out becomes NULL if none can return. Only one waiting worker gets a slab. */
fbp_status fbp_stage_await_slab(struct worker *w, struct fbp_work_item **out);

/** Handle the status with which a stage has ended.  A failure is ignored if the run has stopped,
 * because the run's first failure is stored already. */
void fbp_stage_ended(struct worker *w, fbp_status st);

/** Number in the output of slice z of a time point or channel (`frame`) of the volume. */
size_t fbp_written_slice(const struct fbp_job *job, size_t frame, size_t z);

/** Seconds from the time the last view of a growing scan was stored until time `at`; 0 if the run
 * did not follow a measurement (stage_read.c). */
double fbp_follow_latency(const fbp_source *source, double at);

#endif /* FBP_SRC_PIPELINE_WORKER_H */
