/** @file division.h Division of the work of a reconstruction into slabs of slices, batches of views
 * and tasks, and its predicted time (internal).
 *
 * A plan divides the work between devices and between processes, and chooses the division with the
 * shortest predicted time; the workers of a run process its tasks. Also here: rates of the links
 * between devices, and bitmaps of detector rows.
 * Used by: bench/common/, bench/kernels/, bench/pipeline/, bench/predict/, pipeline/.
 */
#ifndef FBP_SRC_PIPELINE_DIVISION_H
#define FBP_SRC_PIPELINE_DIVISION_H

#include "backend/backend.h"
#include "base/base.h"

#include <stddef.h>

/* tasks.c: cutting a volume into slabs, or into parts for several processes, that take about the
 * same time
 *
 * A view adds to a voxel only if its ray meets the panel.  Outer slices of a cone beam are seen in
 * fewer views than middle ones, so they cost less. */

enum { FBP_CUT_PARTS = 64 };

/** Computing cost of slices; 1: all voxels of the slice are requested, and seen by all views. */
struct fbp_cut {
    /** before[i]: cost of the first i/FBP_CUT_PARTS of the slices, relative to all slices. */
    double before[FBP_CUT_PARTS + 1];
    double mean; /**< mean cost of a slice; 0: not known */
};

/** Estimate the cost of the slices of a job from FBP_CUT_PARTS slices and some voxels and views. */
void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out);

/** Mean cost of slices [z0, z1) of the n computed slices, counted from the first; 1: not known. */
double fbp_cut_cost(const struct fbp_cut *cut, size_t n, size_t z0, size_t z1);

/** Part number `part`, from 1, of n_parts parts of a volume, one per process (`--part`). */
struct fbp_part_of {
    size_t part, n_parts;
};

/**
 * Slices of a part, for job->part.slices.  Parts are contiguous slices that take about the same
 * time.  A cut is moved to a border of the output's files (job->part.slices_per_file) if that
 * changes the parts on both sides by at most an eighth.  The result depends only on scan, volume,
 * kernel and output, so processes that do not communicate compute the same cuts.
 *
 * job: its kernel is chosen (fbp_job_arrange()); job->part is ignored
 * @return FBP_ERR_INVALID if there are more parts than slices.
 */
fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2]);

/** The smaller of two rates; a rate <= 0 is unknown and ignored. */
static inline double fbp_least_rate(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* predict.c: rates that the devices of a machine share
 *
 * The backend states the rates of one device alone (struct fbp_rates).  Several devices share
 * files, and the links to the host's memory. */

/** Rates of the links and files that the devices of a machine share [bytes/s]; 0: no limit. */
struct fbp_machine {
    double up, down; /**< rates from host to device (up) and back (down) of one device, while other
                        devices copy nothing; 0: given by fbp_rates.upload and .fetch */
    double up_all, down_all; /**< rates up and down of all devices, which copy at the same time */
    double both;     /**< rate per direction of one device that copies in both directions at once */
    double both_all; /**< rate per direction of all devices together, which copy in both */
    double peer;     /**< rate from one device to another; 0: given by fbp_rates.share */
    /** Rates of reading files of views and of writing the volume, each for all devices together; 0:
     * no time is needed, because devices access the data in memory. */
    double read, write;
    double begin; /**< time before the first command of a run [s] */
    /** Number of processes that share views and add a part of every block of slices; 0 means 1. */
    size_t sharers;
    double sum; /**< rate of receiving partial volumes while sending as much; 0: takes no time */
    /** Number of cores, shared by as many computing threads and one thread that adds partial
     * volumes; 0: adding does not slow the computation down. */
    int sum_cores;
};

/* division.c, tasks.c: division of the work into slabs, batches and tasks within memory limits */

/** Input of fbp_work_divide(). */
struct fbp_work_request {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    size_t n_workers; /**< number of devices; each has a worker */
    /** [n_workers] index of each worker's device; NULL: all workers use device 0. */
    const int *devices;
    size_t slabs_each;     /**< least number of slabs per worker; 0 means 1 */
    uint64_t base_bytes;   /**< host memory that is used in addition to slabs and batches [bytes] */
    uint64_t writer_bytes; /**< memory of each thread that converts slices for the output [bytes] */
    int n_cores;           /**< greatest number of threads that convert slices; 0 means 1 */
    uint64_t memory_limit; /**< bytes of host memory of this process */
    /** Part of memory_limit that params.memory_bytes and messages do not count [bytes]. */
    uint64_t uncounted_bytes;
    uint64_t device_limit; /**< limit of the own memory of a device [bytes]; 0: no limit */
    size_t batch_views; /**< requested number of views per batch; 0: fbp_work_divide() chooses it */
    size_t slab_slices; /**< greatest number of slices per slab; 0: fbp_work_divide() chooses it */
    bool follow; /**< the scan is still being measured: batches have the least number of views, and
                  the run joins batches if it falls behind (stage_read.c) */
    bool one_slab;  /**< true: a worker begins a slab only after its previous slab is written */
    size_t sharers; /**< number of processes that share the views of a slab; 0 means 1 */
    /** True: each device has the least possible number of buffers for blocks of slices. */
    bool few_blocks;
    bool plain; /**< true: use the fewest slabs that fit, even if that is slower */
    /** Stages do not overlap: batches have one size, and slabs are written when complete. */
    bool even;
    bool on_device; /**< true: the views are already in the memory of the device */
    /** Speeds of a device; if `update` is 0, those that the backend states are used. */
    struct fbp_rates rates;
    /** Rates of links and files that devices share; NULL: not known. */
    const struct fbp_machine *machine;
};

/**
 * A division.  Slabs are contiguous slices; a free worker takes the next slab.  They have about the
 * same cost if `weighed` is set, else slab_slices slices each, and the last one fewer.  Each slab
 * passes over all batches once.  With its last batch it is finished, and written block by block.
 *
 * With `kept`, filtered views stay on the device: they are read and filtered once.  The first
 * `streamed` slices of a worker's first slab are updated batch by batch.  All other slices are then
 * updated with all views, block by block, and each block is written while the next is computed.
 */
struct fbp_work {
    size_t n_workers;
    size_t group_views; /**< every batch except the last has a multiple of this number of views */
    bool even;          /**< true: a slab is complete before any of its slices is written */
    bool level; /**< true: batches have about the same size; false: the first ones are smaller */
    /** Number of slabs per volume; number of slices of the thickest slab. */
    size_t n_slabs, slab_slices;
    bool weighed; /**< slabs have about the same cost, by `cut` */
    struct fbp_cut cut;
    size_t n_batches, batch_views; /**< number of batches; number of views of the largest batch */
    bool follow; /**< batches have group_views views; the run may join them up to batch_views */
    size_t block_slices; /**< slices, with all channels, per block that is written */
    /** Number of slices that a slab's last batch updates at a time, while others are written. */
    size_t finish_slices;
    bool kept; /**< filtered views are kept on the device */
    /** Batch of all views (fbp_work_all()); used only if filtered views are kept on the device. */
    struct fbp_batch all;
    /** True: each batch is filtered by one worker, and the other workers copy the filtered views
     * from its device; only if filtered views are kept on the devices. */
    bool shared;
    /** Number of slices of a worker's first slab that are updated batch by batch, if `kept`. */
    size_t streamed;
    size_t load_rows, filter_rows; /**< greatest numbers of rows that a batch reads, and filters */
    size_t n_raw, n_filtered, n_volumes, n_blocks;               /**< buffers per worker */
    size_t raw_bytes, filtered_bytes, volume_bytes, block_bytes; /**< bytes per buffer */
    uint64_t memory_bytes;                                       /**< predicted peak resident set */
    uint64_t device_bytes;   /**< memory per device [bytes]; 0: the device uses host memory */
    size_t raw_device_bytes; /**< bytes per device buffer of raw views, with converted floats */
    double view_reads;       /**< detector rows that a run reads, divided by all rows of the scan */
    double seconds;          /**< predicted time [s]; 0: not predicted */
    double update; /**< time of backprojection on a device, per voxel and view [s]; 0: not known */
};

/** A task of a worker: backproject one batch of views into slices of a slab. */
struct fbp_task {
    struct fbp_slab slab;
    struct fbp_batch batch;
    size_t z0, z1;    /**< slices [z0, z1) of the volume that the task updates */
    size_t step;      /**< slices that are backprojected at a time */
    bool loads;       /**< the batch must be read and filtered */
    bool first, last; /**< first: first task of the slab; last: last task */
    bool final;       /**< true: the task completes slices [z0, z1), one block after another */
};

/** Get slices [*z0, *z1) of block i of a task, at most task->step slices; false: there is no such
 * block. If the task uses filtered views that were kept on the device (`loads` is not set), block 0
 * has the last slices, and the following blocks descend. */
bool fbp_task_block(const struct fbp_task *task, size_t i, size_t *z0, size_t *z1);

enum { FBP_MOST_IO_THREADS = 8, FBP_MOST_PIECES = FBP_MOST_IO_THREADS + 2 };

/** Threads per worker that read or write: job->n_threads, at most FBP_MOST_IO_THREADS, if the
 * device has memory of its own or samples must be decoded; else 1.  Several threads write only if
 * the device has memory of its own. */
int fbp_work_io_threads(const struct fbp_backend *backend, const struct fbp_job *job);

/** Threads per worker that read: fbp_work_io_threads(), or job->n_threads if the views are sinogram
 * images of a first stage, computed when they are read; at most job->input.most_readers. */
int fbp_work_readers(const struct fbp_backend *backend, const struct fbp_job *job);

/** Slices per block that is written at once; `sharers` processes share the views of the slab. */
size_t fbp_work_block(const struct fbp_job *job, size_t slab_slices, size_t sharers);

/** Speeds of a device by the request, else by the backend; `update` is 0 if they are not known. */
struct fbp_rates fbp_work_rates(const struct fbp_work_request *rq);

/**
 * Divide the work: the fewest slabs that fit, then the largest batches.  If the rates of the device
 * are known, that division is compared with divisions with kept filtered views and with two slabs
 * per worker, and the quickest is taken.
 * @return FBP_ERR_NOMEM if one slice and the smallest batch do not fit; the message has the limit
 * that would suffice.  FBP_ERR_UNSUPPORTED if a device cannot have buffers of this size, whatever
 * memory is free.
 */
fbp_status fbp_work_divide(const struct fbp_work_request *request, struct fbp_work *out);

/** Host memory of the buffers and threads of all workers [bytes], a part of w->memory_bytes. */
uint64_t fbp_work_open_bytes(const struct fbp_work *w, const struct fbp_work_request *rq);

/** Divide the filtering of all views into a scratch file (scratch_rows.c): batches with all rows
 *  that the volume needs, and their buffers.  filtered_bytes is the size of plain rows of floats.
 *  @return FBP_ERR_NOMEM if the smallest batch does not fit; FBP_ERR_UNSUPPORTED if the device
 * cannot allocate buffers of this size. */
fbp_status fbp_work_rows(const struct fbp_work_request *rq, struct fbp_work *out);

/** First view and number of views of batch b (struct fbp_batch). Unless work->level is set, the
 * first batch has group_views views, and sizes double up to batch_views, to begin early. */
void fbp_work_views(const struct fbp_work *work, const struct fbp_job *job, size_t b, size_t *view0,
                    size_t *n);

/** Number of views that this process backprojects: all, or those of job->part.view_groups. */
size_t fbp_work_own_views(const struct fbp_job *job, size_t group_views);

/** Number of batches of a division, each of at most work->batch_views views. */
size_t fbp_work_batches(const struct fbp_work *work, const struct fbp_job *job);

/** Number of times that a run reads the views: one per slab; if filtered views stay on the devices
 * (kept), one per worker; if workers also copy filtered views from one another (shared), 1. */
size_t fbp_work_readings(const struct fbp_work *work);

/** Number of slabs of the volumes of all time points, beginning with the first time point. */
static inline size_t fbp_work_slabs(const struct fbp_work *work, const struct fbp_job *job)
{
    return work->n_slabs * fbp_time_points(job);
}

/** Get slab i of the fbp_work_slabs() slabs of the volumes of all time points. */
struct fbp_slab fbp_work_slab(const struct fbp_work *work, const struct fbp_job *job, size_t i);

/** List the tasks of a slab, in the order in which a worker processes them.
 *  first: true for the first slab of a worker
 *  out: gets the tasks; NULL: they are only counted
 *  @return number of tasks. */
size_t fbp_work_tasks(const struct fbp_work *work, const struct fbp_job *job,
                      const struct fbp_slab *slab, bool first, struct fbp_task *out);

/** Number of views per backprojection command into `voxels` voxels: a command should take at most
 * about 0.03 s, because a queued command cannot be stopped. */
size_t fbp_work_views_at_once(const struct fbp_work *work, double voxels);

/** Make a batch of n_views views from view0 on, with the detector rows that a slab needs. */
struct fbp_batch fbp_work_batch_of(const struct fbp_job *job, const struct fbp_slab *slab,
                                   size_t view0, size_t n_views);

/** Make a batch of all views, with the detector rows that all computed slices need. */
struct fbp_batch fbp_work_all(const struct fbp_job *job);

/** Make batch b of a division, with the detector rows that the slab needs or, if filtered views
 * stay on the device, with the rows that all computed slices need. */
struct fbp_batch fbp_work_batch(const struct fbp_work *work, const struct fbp_job *job,
                                const struct fbp_slab *slab, size_t b);

/* predict.c: predicted time of a division
 *
 * fbp_work_divide() uses it to choose between divisions, and bench/predict for other machines.  It
 * simulates every batch and block of every device in all stages, with the buffers that they wait
 * for.  Work that runs at the same time shares links, files, and the processors of a device.
 */

/**
 * Predict the times of division w of a job; w->cut is the cost of its slices.
 *
 * machine: rates that devices share; NULL: none
 * rates: rates of one device
 * out: busy time of each stage on the device that needs most, and the total [s]; gups is 0
 * sums: gets the time in which a process that shares views (machine->sharers) receives partial
 *       volumes [s]; may be NULL
 */
fbp_status fbp_predict(const struct fbp_machine *machine, const struct fbp_rates *rates,
                       const struct fbp_job *job, const struct fbp_work *w,
                       struct fbp_predicted *out, double *sums);

/* predict.c: time of a run, estimated by timing a small part of the work */

/** Filter and backproject the smallest batch of views into slices in the middle of the volume, and
 * scale the times up.  Reading and writing are assumed to overlap with these stages, and not
 * counted.
 *
 * filtered_times: mean number of times that a row is filtered
 * seconds: 0 if the slices need no row of these views */
fbp_status fbp_estimate(const struct fbp_job *job, const struct fbp_backend *backend, int device,
                        const struct fbp_work *work, double filtered_times, double *seconds);

/* ranks.c: division of a volume between the processes of a team
 *
 * The processes form a grid of n_slabs x n_parts.  Each column has a slab of contiguous slices, and
 * its n_parts processes share the views: their partial volumes are added.  More slabs cost only the
 * rows that two of them need.  Views are shared if there are too few slices, or if each slab needs
 * most rows anyway.
 */

struct fbp_ranks {
    size_t n_slabs, n_parts; /**< size of the grid */
    size_t slab, part;       /**< position of this process, from 0 */
    bool idle;               /**< true: the grid has no position for this process */
    double cost; /**< predicted time of the slowest process of the grid [s]; 0: not known */
    /** Size of the second fastest grid; 0: there is no other grid. */
    size_t other_slabs, other_parts;
    double other_cost; /**< predicted time of the slowest process of the second fastest grid [s] */
};

/**
 * Check whether n_parts of `size` processes can share views.
 *
 * @return FBP_ERR_INVALID for more parts than processes, or than groups of group_views views;
 * FBP_ERR_UNSUPPORTED for n_parts > 1 and a volume in double.
 */
fbp_status fbp_ranks_check(const struct fbp_job *job, size_t group_views, size_t size,
                           size_t n_parts);

/** Set the position of process `rank` in the grid; processes that share views are consecutive. */
void fbp_ranks_place(struct fbp_ranks *ranks, size_t rank);

/** Return the part (process, 0 to n_parts - 1) that gets the sum of slice z of the box, if n_parts
 * processes share the views of the slab job->part.slices. Each part owns a segment of about block /
 * n_parts slices of each block. Slices outside the slab belong to part 0. */
size_t fbp_ranks_owner(const struct fbp_job *job, size_t n_parts, size_t block, size_t z);

/** Number of slices of the thickest of the n_parts segments of a block (fbp_ranks_owner()). */
size_t fbp_ranks_segment(size_t n_parts, size_t block);

/** Set job->part.slices and job->part.view_groups to those of the position of a process in the
 * grid, and job->part.counts_once to true. An idle process gets the slices of slab 0. */
fbp_status fbp_ranks_share(const struct fbp_ranks *ranks, size_t group_views, struct fbp_job *job);

/* ranks.c: predicted time of a job that several ranks share
 *
 * The time of the slowest rank of a grid is predicted by fbp_predict().  Each rank gets a
 * part of the rates that the ranks of its node share, of the network, and of the file system that
 * all ranks share.  A run (team_plan.c) and bench/predict choose a grid by these times.
 */

/** Nodes of a cluster on which the ranks of a team run, and shared rates [bytes/s]; 0: no limit. */
struct fbp_nodes {
    size_t ranks;               /**< ranks per node */
    double net;                 /**< network of a node, per direction */
    double disk;                /**< rate of the file system that all nodes share, per direction */
    struct fbp_machine machine; /**< rates of one node */
    bool on_host;  /**< true: ranks compute on CPU cores, which also add partial volumes */
    int n_threads; /**< threads per rank */
};

struct fbp_cluster_time {
    struct fbp_predicted rank; /**< times of the slowest rank */
    double sum;                /**< time in which the slowest rank receives partial volumes [s] */
    struct fbp_work work;      /**< division of the slowest rank's work */
};

/** Rates at which a rank receives partial volumes while it sends as much, apart from limits of the
 * network [bytes/s] (docs/cluster.md). LOCAL: ranks with a GPU, measured with sockets between two
 * cores of a node. CORE: ranks on CPU cores, of which one also sends, receives and adds. */
#define FBP_CLUSTER_LOCAL 1.8e9
#define FBP_CLUSTER_CORE  0.27e9

/** Share of one rank of a grid in the rates of its node, the network and the file system. */
struct fbp_machine fbp_cluster_rank(const struct fbp_nodes *nodes, const struct fbp_ranks *grid);

/**
 * Choose the grid of `size` ranks for which fbp_cluster_predict() predicts the shortest time. Views
 * are shared only if that takes less than 0.7 of the time of slabs alone. *out has no position yet;
 * see fbp_ranks_place().
 *
 * request: work of one rank, whose kernel is chosen; the slices and views of request->job->part are
 * ignored
 * n_parts: number of ranks that share views; 0: chosen here
 * @return errors of fbp_ranks_check()
 */
fbp_status fbp_cluster_choose(const struct fbp_nodes *nodes, const struct fbp_work_request *request,
                              size_t size, size_t n_parts, struct fbp_ranks *out);

/** Predict the time of the slowest rank of a grid: of the rank with the first or middle slab. */
fbp_status fbp_cluster_predict(const struct fbp_nodes *nodes,
                               const struct fbp_work_request *request, const struct fbp_ranks *grid,
                               struct fbp_cluster_time *out);

/* slabs.c: bitmaps of detector rows with repaired samples that are not counted yet */

/** Create a bitmap of the detector rows of each view that the slices of this process need, with
 * neighbours for a filter along columns. With job->part.counts_once, rows that processes with
 * earlier slices need are left out. It does not depend on the division into batches. */
fbp_status fbp_row_bitmap_create(struct fbp_row_bitmap *out, const struct fbp_job *job);
void fbp_row_bitmap_clear(struct fbp_row_bitmap *ledger);

/** Create an empty bitmap of detector rows; remove all rows from a bitmap. */
fbp_status fbp_row_bitmap_empty(struct fbp_row_bitmap *out, const struct fbp_job *job);
void fbp_row_bitmap_zero(struct fbp_row_bitmap *ledger);

/** Move the detector rows of tasks from the bitmap `rest` to the bitmap *out, cleared first. */
void fbp_row_bitmap_share(struct fbp_row_bitmap *rest, const struct fbp_job *job,
                          const struct fbp_task *tasks, size_t n_tasks, struct fbp_row_bitmap *out);

/** Add the detector rows of one bitmap to another one, *to. */
void fbp_row_bitmap_add(struct fbp_row_bitmap *to, const struct fbp_row_bitmap *rows);

/** Bytes of a bitmap of the detector rows of a job. */
size_t fbp_row_bitmap_bytes(const struct fbp_job *job);

/* links.c: rates of copies between the memories of host and devices, measured once and cached */

/**
 * Get the rates of the links of n devices from the cache: members up to `peer` of *out, of the
 * slowest device or pair of devices, or of all devices together; 0: not known. If they are not
 * there and `may_measure` is set, measure and cache them, which takes about 50 ms per device.
 *
 * devices: [n] indices of the backend's devices; a device may occur more than once
 * @return false, with *out unchanged and no message, if they are not known: the backend has no
 * links, n > FBP_MOST_LINKED, FBP_TUNE=0, they were not measured, or the measurement failed.
 */
bool fbp_links_get(const struct fbp_backend *backend, const int *devices, size_t n,
                   bool may_measure, struct fbp_machine *out);

#endif /* FBP_SRC_PIPELINE_DIVISION_H */
