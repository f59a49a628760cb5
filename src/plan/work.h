/** @file work.h  Who computes which slab from which batch, in which memory (internal; pure). */
#ifndef FBP_SRC_WORK_H
#define FBP_SRC_WORK_H

#include "backend/backend.h"
#include "plan/cut.h"
#include "plan/machine.h"

/** What a division of the work is made from. */
struct fbp_work_request {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    size_t n_workers;      /**< devices, of all machines together */
    const int *devices;    /**< their indices, [n_workers]; NULL: all are the first */
    size_t slabs_each;     /**< slabs for each of them at least, to be drawn by who is free; 0: 1 */
    uint64_t base_bytes;   /**< resident already */
    uint64_t writer_bytes; /**< of each thread that converts slices for the output */
    int n_cores;           /**< that convert the slices of a block on the host (PNG); 0: 1 */
    uint64_t memory_limit; /**< of this process */
    uint64_t device_limit; /**< of a device with memory of its own */
    size_t batch_views;    /**< wanted; 0 = free */
    size_t slab_slices;    /**< at most; 0 = free */
    bool follow;           /**< batches of one group, to be joined while running (follow.h) */
    bool one_slab;         /**< no slab is begun before the last one is written */
    size_t sharers;        /**< processes that add up their partial slabs block by block; 0: 1 */
    bool few_blocks;       /**< no more blocks of a device than it cannot do without */
    bool plain;            /**< the fewest slabs that fit, as where no rates are known */
    bool even;             /**< nothing overlaps: batches of one size, slabs finished whole */
    bool on_device;        /**< views lie in the device's memory already */
    struct fbp_rates rates;            /**< of a device; update 0: those that its backend knows */
    const struct fbp_machine *machine; /**< what devices share; NULL: nothing is known of it */
};

/**
 * The division.  Slabs are runs of up to `slab_slices` slices, for workers to draw one after
 * another.  They have about the same cost if they are `weighed`, else the same number of slices,
 * the last one fewer.  Each slab passes over all batches once; in its last batch it is finished,
 * and written, block after block.
 *
 * Or filtered views are kept: they are read and filtered once, for the first `streamed` slices of a
 * worker's first slab, which get batch after batch; then all others get all views, block after
 * block, each written while the next is computed.
 */
struct fbp_work {
    size_t n_workers;
    size_t group_views;          /**< batches are multiples of, but for the last */
    bool even;                   /**< as requested */
    bool level;                  /**< the first batches are as large as the others */
    size_t n_slabs, slab_slices; /**< of each volume of a series */
    bool weighed;                /**< slabs have about the same cost, by `cut` */
    struct fbp_cut cut;
    size_t n_batches, batch_views; /**< views of the largest; the first ones are smaller */
    bool follow;                   /**< batches are one group each; joined, up to batch_views */
    size_t block_slices;           /**< written at once, of all frames */
    size_t finish_slices; /**< of a slab's last batch, computed before they are handed over */
    bool kept;            /**< filtered views are kept on the device */
    struct fbp_batch all; /**< all of them, fbp_work_all(); only if they are kept */
    bool shared;          /**< these are filtered once, by any worker, and copied by the others */
    size_t streamed;      /**< slices that get them batch after batch; the slab's if they do not */
    size_t load_rows, filter_rows;                 /**< most rows of any batch */
    size_t n_raw, n_filtered, n_volumes, n_blocks; /**< buffers of each sort, a worker */
    size_t raw_bytes, filtered_bytes, volume_bytes, block_bytes; /**< of one buffer */
    uint64_t memory_bytes;                                       /**< predicted peak resident set */
    uint64_t device_bytes;   /**< a device; 0 if it is host memory */
    size_t raw_device_bytes; /**< the same samples, with room for floats if they are counts */
    double view_reads;       /**< rows read / rows of the scan */
    double seconds;          /**< predicted, with the device's rates; 0: it has none */
    double update;           /**< of these, seconds of a voxel and view */
};

/** Views against slices: what is given to a device at once. */
struct fbp_task {
    struct fbp_slab slab;
    struct fbp_batch batch;
    size_t z0, z1;    /**< slices of the slab */
    size_t step;      /**< backprojected at a time */
    bool loads;       /**< the batch is to be read and filtered */
    bool first, last; /**< of the slab */
    bool final;       /**< its slices are finished, block after block */
};

/** Block i of a task, up to `step` slices [*z0, *z1); false if there is none.  Kept views
 * begin at the slab's end: outer slices are seen by few views, and what takes longest shall be
 * last, so that few slices are left to be fetched then. */
bool fbp_task_block(const struct fbp_task *task, size_t i, size_t *z0, size_t *z1);

enum { FBP_MOST_IO_THREADS = 8, FBP_MOST_PIECES = FBP_MOST_IO_THREADS + 2 };

/** Threads of a worker that read: several where the host does not compute, and where samples are to
 *  be decoded.  As many write where the device has memory of its own. */
int fbp_work_io_threads(const struct fbp_backend *backend, const struct fbp_job *job);

/** Those that read; all of the job where pictures of two stages are computed as they are read; no
 *  more than job->most_readers. */
int fbp_work_readers(const struct fbp_backend *backend, const struct fbp_job *job);

/** Slices that are written at once, of slabs of so many slices that so many processes add up. */
size_t fbp_work_block(const struct fbp_job *job, size_t slab_slices, size_t sharers);

/** Of a device: those of the request, or that its backend knows; update 0: nothing is known. */
struct fbp_rates fbp_work_rates(const struct fbp_work_request *rq);

/**
 * Divide the work: the fewest slabs that fit, then the largest batches.  Where the device's rates
 * are known the quickest of that, of filtered views that are kept, and of two slabs.
 * @return FBP_ERR_NOMEM if not even one slice and one group of views fits; says what would.
 * FBP_ERR_UNSUPPORTED if a device does not hold them, whatever memory it has.
 */
fbp_status fbp_work_divide(const struct fbp_work_request *rq, struct fbp_work *out);

/** Of these bytes of the host's memory, those that all workers hold while they are open. */
uint64_t fbp_work_open_bytes(const struct fbp_work *w, const struct fbp_work_request *rq);

/** Batches of all views with all rows that the volume needs, to be filtered into a file
 *  (run/scratch_rows.h), and their buffers: filtered_bytes are those of plain rows.
 *  @return FBP_ERR_NOMEM if not even one group of views fits. */
fbp_status fbp_work_rows(const struct fbp_work_request *rq, struct fbp_work *out);

/**
 * First view and number of views of batch b (struct fbp_batch).  Batches start with one group of
 * views and double, so that computing starts early; the last ones are the largest, so
 * that it goes on while finished slices are written.
 */
void fbp_work_views(const struct fbp_work *work, const struct fbp_job *job, size_t b, size_t *view0,
                    size_t *n);

/** Views that are backprojected here: all, or those of job->view_groups. */
size_t fbp_work_own_views(const struct fbp_job *job, size_t group_views);

/** How many batches of up to work->batch_views there are. */
size_t fbp_work_batches(const struct fbp_work *work, const struct fbp_job *job);

/** How many slabs of a volume read views: those of kept ones are read for each worker's first, or
 *  shared. */
size_t fbp_work_readings(const struct fbp_work *work);

/** How many slabs there are of all volumes of a series, the first one's first. */
static inline size_t fbp_work_slabs(const struct fbp_work *work, const struct fbp_job *job)
{
    return work->n_slabs * fbp_series(job);
}

/** Slab i of them. */
struct fbp_slab fbp_work_slab(const struct fbp_work *work, const struct fbp_job *job, size_t i);

/** The tasks of a slab in their order into out, if that is not NULL; returns how many they are.
 *  first: of this worker. */
size_t fbp_work_tasks(const struct fbp_work *work, const struct fbp_job *job,
                      const struct fbp_slab *slab, bool first, struct fbp_task *out);
/** How many views of a batch are given to the device at once, for so many voxels: a command that is
 *  queued cannot be stopped, so that it should take a small part of a second. */
size_t fbp_work_views_at_once(const struct fbp_work *work, double voxels);

/** Views [view0, view0 + n_views), and as many of each further part, as a slab needs them. */
struct fbp_batch fbp_work_batch_of(const struct fbp_job *job, const struct fbp_slab *slab,
                                   size_t view0, size_t n_views);

/** All views, as all slices need them: what is kept. */
struct fbp_batch fbp_work_all(const struct fbp_job *job);

/** Batch b as a slab needs it. */
struct fbp_batch fbp_work_batch(const struct fbp_work *work, const struct fbp_job *job,
                                const struct fbp_slab *slab, size_t b);

#endif /* FBP_SRC_WORK_H */
