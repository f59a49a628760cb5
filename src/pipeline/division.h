/** @file division.h  Cutting a volume into slabs, or parts of processes, that take about the same
 * time (internal; pure).
 *
 * A view adds to a voxel only if its ray meets the panel.  Outer slices of a cone beam are seen in
 * fewer views than middle ones.
 */
#ifndef FBP_SRC_PIPELINE_DIVISION_H
#define FBP_SRC_PIPELINE_DIVISION_H

#include "backend/backend.h"
#include "backend/ledger.h"
#include "backend/link_meter.h"
#include "base/base.h"

#include <stddef.h>

enum { FBP_CUT_PARTS = 64 };

/** Cost of the slices that are computed, relative to slices that all views see. */
struct fbp_cut {
    double before[FBP_CUT_PARTS + 1]; /**< [i]: share of the cost of the first i/FBP_CUT_PARTS of
                                         the slices, 0 to 1 */
    double mean;                      /**< Mean cost of a slice; 0: not known. */
};

/** Estimate the cost from a sample of voxels and views. */
void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out);

/** The first slice, of n, of slab i of n_slabs.  A slab has at least one slice; i = n_slabs: n. */
size_t fbp_cut_slice(const struct fbp_cut *cut, size_t n, size_t n_slabs, size_t i);

/** Mean cost of slices [z0, z1) of the n slices; 1 if it is not known. */
double fbp_cut_cost(const struct fbp_cut *cut, size_t n, size_t z0, size_t z1);

/** One of several processes that compute a volume; parts count from 1. */
struct fbp_part_of {
    size_t part, n_parts;
};

/**
 * Slices of a part, for job->share.  Parts are runs of slices that take about the same time, cut at
 * borders of the output's files (job->same_files) if these are near.  The result depends on scan,
 * volume, kernel and output alone, so that processes that do not communicate agree.
 *
 * job: with its kernel; its own share is ignored.
 * @return FBP_ERR_INVALID if there are more parts than slices.
 */
fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2]);

/* What the devices of a machine share (internal; pure).
 *
 * What one device does by itself, its backend knows (struct fbp_rates).  Several of them share the
 * host's memory and its links, and files.
 */

/** Rates in bytes a second; 0: not known, that of the device alone, or no limit. */
struct fbp_machine {
    double up, down;         /**< host to device, device to host: of one device, alone */
    double up_all, down_all; /**< of all devices together */
    double both;             /**< each way, of one device that is used both ways at once */
    double both_all;         /**< each way, of all devices, while any are used the other way, too */
    double peer;             /**< from device to device; 0: there is no such link */
    double read, write; /**< of the views' and the volume's files, all devices together; 0: they
                           are in memory that devices reach */
    double begin;       /**< seconds before a run's first command */
    size_t sharers; /**< processes that share the views of a slab: each adds up and writes its part
                       of every block; 0: 1 */
    double sum;     /**< partial volumes that one of them gets of the others, as fast as it gives
                       them its own */
    int sum_cores;  /**< that compute, of which one is taken by that; 0: none is */
};

/* Who computes which slab from which batch, in which memory (internal; pure). */

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
 *  (pipeline/scratch_rows.c), and their buffers: filtered_bytes are those of plain rows.
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

/** Number of slices to be computed. */
size_t fbp_work_slices(const struct fbp_job *job);

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

/* How long a division of the work will take (internal; pure).
 *
 * The plan uses it to choose between divisions (work.h), and fbp bench predict for other machines.
 * It follows every batch and block of every device through the stages, with the buffers that they
 * wait for.  Work that runs at the same time shares links, files, and a device's processors.
 */

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

/* How long a run will take, from a few milliseconds of it (internal). */

/**
 * Filter and backproject a few views into the middle slice and scale up.  Reading and writing are
 * taken to overlap; not counted.
 *
 * filtered_times: how often a row is filtered, on average
 */
fbp_status fbp_estimate(const struct fbp_job *job, const struct fbp_backend *backend, int device,
                        const struct fbp_work *work, double filtered_times, double *seconds);

/* Which process of a team computes what (internal; pure).
 *
 * Processes form a grid.  Along one side each has a slab of the volume, a run of slices; those of
 * one slab share its views along the other, and their partial volumes are added up.  Slabs cost
 * nothing but the rows that two of them need.  Views are shared if there are too few slices, or if
 * each slab needs most rows anyway.
 */

struct fbp_ranks {
    size_t n_slabs, n_parts;
    size_t slab, part;               /**< of this process, from 0 */
    bool idle;                       /**< it has none: the grid has no more places */
    double cost;                     /**< seconds of the process with most to do; 0: not known */
    size_t other_slabs, other_parts; /**< of the grid that would be next best; 0: there is none */
    double other_cost;
};

/**
 * May n_parts of so many processes share views?
 *
 * @return FBP_ERR_INVALID for more parts than there are processes, or groups of views;
 *         FBP_ERR_UNSUPPORTED for parts of a volume in double.
 */
fbp_status fbp_ranks_check(const struct fbp_job *job, size_t group_views, size_t size,
                           size_t n_parts);

/** What a grid (n_slabs, n_parts) takes. */
struct fbp_ranks_cost {
    fbp_status (*seconds)(void *user, const struct fbp_ranks *grid, double *out);
    void *user;
};

/**
 * The quickest grid for so many processes, where views are shared only if that saves a good part of
 * the time; `out` has no place of a process yet.
 *
 * job: with its kernel.  group_views: of its backend.  n_parts: 0, or how many share views
 * @return as fbp_ranks_check()
 */
fbp_status fbp_ranks_choose(const struct fbp_job *job, size_t group_views, size_t size,
                            size_t n_parts, const struct fbp_ranks_cost *how,
                            struct fbp_ranks *out);
/** The place of a process in a grid; those that share views are neighbours. */
void fbp_ranks_place(struct fbp_ranks *ranks, size_t rank);

/**
 * Which of the processes that share the views of a slab gets the sum of slice z of the box: job's
 * share is that slab.  They own segments of its slices in turn, each about 1/n_parts of each
 * `block` of them and of all.  Slices of which nothing is wanted are the first one's.
 */
size_t fbp_ranks_owner(const struct fbp_job *job, size_t n_parts, size_t block, size_t z);
/** Slices of the thickest segment. */
size_t fbp_ranks_segment(size_t n_parts, size_t block);

/** job->share and job->view_groups of a place; of one that is idle those of another. */
fbp_status fbp_ranks_share(const struct fbp_ranks *ranks, size_t group_views, struct fbp_job *job);

/* How long several ranks take for a job that they share (internal; pure).
 *
 * Ranks form the grid that processes form (ranks.h).  The time of the rank with most to do is
 * predicted (predict.h), with its part of what the ranks of its node share, of the network, and of
 * the file system that all share.  A run chooses its grid by these times.
 */

/** Ranks, and what they share.  Rates in bytes per second; 0: no limit. */
struct fbp_nodes {
    size_t ranks;               /**< per node */
    double net;                 /**< network of a node, each way */
    double disk;                /**< file system that all nodes share, each way */
    struct fbp_machine machine; /**< one node */
    bool on_host;               /**< ranks compute on cores: one core is taken by sums */
    int n_threads;              /**< per rank */
    /** What an arranged job takes on a rank; NULL: the rates of the request. */
    void (*rates)(const struct fbp_nodes *nodes, const struct fbp_job *job, struct fbp_rates *out);
};

struct fbp_cluster_time {
    struct fbp_predicted rank; /**< of the rank with most to do */
    double sum;                /**< seconds in which it gets partial volumes of others */
    struct fbp_work work;      /**< of that rank */
};

/** Bytes a second of partial volumes that a rank gets of others, while it gives them as many
 *  (docs/cluster.md): of a card, what sockets carried between two cores of a node; of cores that
 *  compute beside that, what one of them sends, takes and adds. */
#define FBP_CLUSTER_LOCAL 1.8e9
#define FBP_CLUSTER_CORE  0.27e9

/** What a rank of a grid may use of its node, and of what all nodes share. */
struct fbp_machine fbp_cluster_rank(const struct fbp_nodes *nodes, const struct fbp_ranks *grid);

/**
 * The grid of `size` ranks: the quickest; views are shared only if that saves enough.
 *
 * request: of one rank; the share of its job plays no role
 * n_parts: 0, or how many ranks share views
 */
fbp_status fbp_cluster_choose(const struct fbp_nodes *nodes, const struct fbp_work_request *request,
                              size_t size, size_t n_parts, struct fbp_ranks *out);

/** What the ranks of a grid take. */
fbp_status fbp_cluster_predict(const struct fbp_nodes *nodes,
                               const struct fbp_work_request *request, const struct fbp_ranks *grid,
                               struct fbp_cluster_time *out);

/* Who counts what is mended in which rows (internal). */

/** All rows that line integrals are needed of, for what is asked of the volume: those of each view
 *  by itself, so that they depend on scan and volume alone. */
fbp_status fbp_row_bitmap_create(struct fbp_row_bitmap *out, const struct fbp_job *job);
void fbp_row_bitmap_clear(struct fbp_row_bitmap *ledger);

/** One without rows. */
fbp_status fbp_row_bitmap_empty(struct fbp_row_bitmap *out, const struct fbp_job *job);
void fbp_row_bitmap_zero(struct fbp_row_bitmap *ledger);

/** *out becomes those of the rest that these tasks read, which leaves the rest without them. */
void fbp_row_bitmap_share(struct fbp_row_bitmap *rest, const struct fbp_job *job,
                          const struct fbp_task *tasks, size_t n_tasks, struct fbp_row_bitmap *out);

/** *to gets these, too. */
void fbp_row_bitmap_add(struct fbp_row_bitmap *to, const struct fbp_row_bitmap *rows);

/** Bytes of a ledger. */
size_t fbp_row_bitmap_bytes(const struct fbp_job *job);

/* What the machine gives between memories: measured once, and kept (internal). */

/** Bytes a second between the host's memory and devices. */
struct fbp_link {
    double up;   /**< from the host to devices */
    double down; /**< from devices to the host */
    double both; /**< each way, if both are used at once */
};

/** Rates of the links of n devices, in bytes a second; 0: not known.  The host's memory is pinned,
 *  and was touched before.  Devices are numbered in the order in which they were given. */
struct fbp_links {
    size_t n;
    struct fbp_link alone[FBP_MOST_LINKED]; /**< of one device, while the others rest */
    struct fbp_link together;               /**< of all devices at once, their sum */
    /** From memory of device i to that of device j, by copies that do not pass the host's memory;
     *  0: there are none.  i = j, or the same device twice: within its memory. */
    double peer[FBP_MOST_LINKED][FBP_MOST_LINKED];
    /** The same, each way, if i copies to j and j to i at once; 0 where i = j. */
    double peer_both[FBP_MOST_LINKED][FBP_MOST_LINKED];
    /** All at once, each to the next of the list and the last to the first: their sum; 0 if one of
     *  these pairs has no such copies, or there is only one device. */
    double ring;
};

/** Memory that a measurement takes while it runs, of the host and of each device; 0: this backend
 *  has no links to measure. */
void fbp_links_bytes(const struct fbp_backend *backend, size_t n_devices, size_t *host,
                     size_t *device);

/**
 * The rates of these devices' links: those that are kept; or else, if `may_measure`, measured now,
 * which takes some 50 ms a device, and kept.
 *
 * devices  indices of the backend, [n]; a device may be there more than once
 * @return true; or false, with all rates 0, if they are not known: the backend has no links, there
 *         are more than FBP_MOST_LINKED devices, FBP_TUNE=0, or they cannot be measured, which is
 * no error and leaves no message.
 */
bool fbp_links_get(const struct fbp_backend *backend, const int *devices, size_t n,
                   bool may_measure, struct fbp_links *out);

/** Measure now, and keep it; each device once.  Fails with a message. */
fbp_status fbp_links_measure(const struct fbp_backend *backend, const int *devices, size_t n,
                             struct fbp_links *out);

/* Facts of a machine as words: "net=25GB/s,disk=200GB/s" (internal). */

enum fbp_key_unit {
    FBP_KEY_COUNT,  /**< size_t */
    FBP_KEY_INT,    /**< a whole number as int */
    FBP_KEY_NUMBER, /**< double without a unit */
    FBP_KEY_BYTES,  /**< uint64_t: G and GiB are 2^30, GB is 10^9 */
    FBP_KEY_RATE,   /**< double: bytes per second, "GB/s" is 10^9 */
    FBP_KEY_WORD,   /**< char[FBP_KEY_WORD_ROOM] */
};

enum { FBP_KEY_WORD_ROOM = 41 };

struct fbp_key {
    const char *name;
    enum fbp_key_unit unit;
    double least, most;
    const char *expected; /**< for messages; NULL for words */
    size_t offset;        /**< of the field in the struct that is filled */
};

/** A rate in a field of type double. */
#define FBP_RATE_KEY(NAME, OFFSET)                                                              \
    {                                                                                           \
        NAME, FBP_KEY_RATE, 1e6, 100e12, "a rate from 1MB/s to 100TB/s, such as 55GB/s", OFFSET \
    }

/**
 * Fill the fields of `out` that the text names; the others keep their values.
 *
 * who   begins messages
 * text  "KEY=VALUE,KEY=VALUE…"
 * @return FBP_ERR_INVALID for an unknown key, one that is given twice, or a wrong value.
 */
fbp_status fbp_key_values_read(const char *who, const char *text, const struct fbp_key *keys,
                               size_t n_keys, void *out);

#endif /* FBP_SRC_PIPELINE_DIVISION_H */
