/** @file plan.h  The plan of a reconstruction, and functions of the files that make and run it
 * (internal).
 *
 * fbp_plan_create() makes a plan from a scan and parameters (plan.c, plan_memory.c, team_plan.c),
 * fbp_plan_run() runs it (plan_run.c, plan_output.c, team_run.c).  Included by plan*.c, team_*.c,
 * devices.c, cli (cmd_plan.c, cmd_recon.c, report.c) and benchmarks.
 * Used by: bench/host/, bench/predict/, cli/, pipeline/.
 */
#ifndef FBP_SRC_PIPELINE_PLAN_H
#define FBP_SRC_PIPELINE_PLAN_H

#include "array/array.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/run.h"
#include "pipeline/view_step.h"
#include "scan/file/scan.h"

#include "fbp/recon.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/** Plan of a run that filters all views once into a scratch file, and backprojects the filtered
 * rows from this file (--scratch; scratch_rows.c). */
struct fbp_plan_rows {
    bool used;            /**< the plan uses a scratch file */
    struct fbp_prep prep; /**< preparation of the samples of `job`: none, because the scratch file
                             contains filtered rows */
    struct fbp_job job;   /**< job that backprojects the filtered rows of the scratch file */
    /** Division of the work of filtering all views into the scratch file. */
    struct fbp_work filtering;
    struct fbp_work work; /**< division of the work of backprojecting the scratch file */
    /** Division of the filtering into the scratch file in an open plan, whose buffers for
     * backprojection are allocated at the same time. */
    struct fbp_work beside;
    bool may_open; /**< whether the division `beside` fits into the limit of memory */
};

/** Needs and limit of a division of the work that does not fit into memory: of this process, or in
 * a team of the process that needs most. */
struct fbp_plan_lack {
    uint64_t needs, limit; /**< needed memory (0: the division fits) and its limit [bytes] */
    char who[110]; /**< prefix of the message that names the process, such as "rank 2 on node3: ";
                      "": all processes have the same message, or there is a single process */
};

struct fbp_sink_share;

/** Greatest number of view steps (corrections that wrap the source of the views, view_step.h) of a
 * plan. */
enum { FBP_MOST_STEPS = 8 };

/** Another machine for which a plan is made, to predict times (bench/predict); the plan cannot be
 * run. */
struct fbp_plan_target {
    const struct fbp_backend *backend; /**< completed backend (backend/device.h) */
    size_t n_devices;
    uint64_t device_bytes; /**< memory per device */
    uint64_t host_bytes;   /**< limit of host memory; 0: none */
    struct fbp_machine machine;
    /** Nodes of a cluster, whose ranks divide the volume into slabs; the plan describes the rank
     * that computes the middle slab.  NULL: a single machine. */
    const struct fbp_nodes *nodes;
    size_t n_ranks; /**< ranks of all nodes */
    /** Function that sets *out to the speeds of one device for a job whose kernel is chosen. */
    void (*rates)(const struct fbp_plan_target *target, const struct fbp_job *job,
                  struct fbp_rates *out);
};

struct fbp_plan {
    const struct fbp_scan *scan; /**< copy of the caller's scan, &whole_scan */
    struct fbp_scan whole_scan;
    struct fbp_images *images; /**< mask of the bad pixels that the plan found; NULL: none */
    struct fbp_recon_params params;
    struct fbp_job_tables tables;
    /** View steps (view_step.h); the first reads the stored views. */
    struct fbp_view_step *steps[FBP_MOST_STEPS];
    size_t n_steps;
    struct fbp_reduction reduction; /**< binning of pixels and selection of views that turn the
                                       stored views into the views of the scan */
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n_devices;
    bool devices_differ; /**< the devices are of different models */
    /** Machine for which the plan is made; NULL: this machine. */
    const struct fbp_plan_target *target;
    /** measured rates of the devices' links, if `has_machine` is set */
    struct fbp_machine machine;
    bool has_machine;
    bool top_down;            /**< rows of the projections start with the top row */
    bool in_order;            /**< views must be read in order, because their file is compressed */
    bool follow;              /**< the file of the projections is still growing */
    bool unpacks;             /**< several threads decompress views at the same time */
    uint64_t contained_bytes; /**< memory of the child processes that open the files of the scan
                                 [bytes] */
    uint64_t held_bytes;   /**< host memory of the source of views, with its view steps [bytes] */
    uint64_t reader_bytes; /**< additional host memory of the source of views per thread that reads
                              [bytes] */
    bool hold; /**< whether compressed views, which must be read in order, are kept in memory
                  decompressed */
    uint64_t hold_bytes; /**< memory that `hold` takes */
    /** Name of the kernel for decompressed views in memory, if views are compressed and this kernel
     * cannot read them in order; else NULL. */
    const char *kernel_unpacked;
    uint64_t unpacked_needs;   /**< memory of a run that keeps decompressed views in memory, if it
                                  exceeds the limit [bytes]; else 0 */
    struct fbp_plan_lack lack; /**< needs and limit of the last tried division of the work */
    enum fbp_type type;        /**< type of the samples that the run reads */
    /** Memory per thread that writes slices, and number of slices per layer of chunk files, in the
     * format of the output. */
    struct fbp_output_needs needs;
    uint64_t device_limit; /**< limit of a device's own memory, in bytes */
    size_t n_on_card;      /**< number of processes that share this process's device; 0 means 1 */
    /** Position of this process in the grid of processes of params.cluster.team. */
    struct fbp_ranks ranks;
    /** Greatest number of slices per slab that fits into memory in all processes that share this
     * slab; 0: params.tuning.slab_slices. */
    size_t slab_slices;
    struct fbp_work work;
    struct fbp_plan_rows rows;
    struct fbp_plan_summary info;
    struct fbp_workers workers; /**< opened devices, while the plan is open (fbp_plan_open()) */
    const char *timeline;   /**< path of the SVG timeline that is drawn after a run; NULL: none */
    unsigned char *missing; /**< [slice of the output] 1: the slice is missing after a run of one
                               part (--part); NULL: no part was run */
    /** Sum of partial volumes over the processes of a team that share views. */
    struct fbp_sum team_sum;
    struct fbp_plan_sums *sums; /**< buffers of the member team_sum; NULL: no views are shared */
    /** Sum of partial volumes that completes slices; NULL: this process has all views. */
    const struct fbp_sum *sum;
    pid_t process;        /**< process that made the plan */
    atomic_bool stop;     /**< request to end the current run of the plan, or the next one */
    pthread_mutex_t lock; /**< protects n_runs */
    pthread_cond_t idle;  /**< signalled when n_runs becomes 0 */
    size_t n_runs;        /**< number of running calls of fbp_plan_run() and fbp_plan_run_to() */
};

/* plan.c: functions that make a plan, its view steps (view_step.h) and its sources of views */

/** Create a plan for the machine `target`, which must outlive the plan; NULL: for this machine, as
 * fbp_plan_create() does. */
fbp_status fbp_plan_create_for(fbp_plan **out, const struct fbp_scan *scan,
                               const struct fbp_recon_params *params,
                               const struct fbp_plan_target *target);

/** Tables of the job that filters the measured views: for EPR in two stages, of the first stage. */
const struct fbp_job_tables *fbp_plan_measured(const fbp_plan *p);
/** Preparation of the measured samples. */
const struct fbp_prep *fbp_plan_prep(const fbp_plan *p);
/** The view step of ring removal and phase retrieval (corrections.c); NULL: neither is needed. */
struct fbp_corrections_step *fbp_plan_corrections(const fbp_plan *p);
/** Pass a line to the caller's log, if there is one and the line is not empty; control characters
 * are replaced. */
void fbp_plan_note(const fbp_plan *p, enum fbp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Number of views in the file of projections, before selection and binning. */
size_t fbp_stored_views(const struct fbp_scan *scan);
/** Name of the views for messages: the file, or "views" for a source in memory. */
const char *fbp_plan_source_name(const fbp_plan *p);

/** Set *out to the number of samples that view steps (view_step.h) repaired in this process.
 * Processes of one slab add these numbers; processes of other slabs count the same samples. */
fbp_status fbp_plan_count_steps(const fbp_plan *p, struct fbp_prep_counts *out);
/** Add to the report of a run the time of its view steps (view_step.h) and the samples they
 * repaired. */
fbp_status fbp_plan_report_steps(const fbp_plan *p, struct fbp_report *report);
/** Acquire the devices and memory that view steps (view_step.h) need, unless they have them
 * already. */
fbp_status fbp_plan_open_steps(const fbp_plan *p);
/** Attach a check of the data to the view step (view_step.h) that reads whole views; NULL: detach
 * it.
 *  @return false if no step reads whole views: the run must check the views. */
bool fbp_plan_check_in_steps(const fbp_plan *p, fbp_data_check *check);

/* plan_memory.c: kernel, division of the work, and scratch file within the limits of memory */

/** Choose where corrected views are kept, the kernel, and the division of the work. */
fbp_status fbp_plan_arrange_steps(fbp_plan *p);
/** Number of times that a run reads all views and retrieves their phases; 1 if it keeps corrected
 * views or retrieves no phases. */
size_t fbp_plan_retrievals(const fbp_plan *p);

/** Fill in the request by which fbp_work_divide() divides the work of a job of this plan. */
void fbp_plan_work_request(const fbp_plan *p, const struct fbp_job *job,
                           struct fbp_work_request *out);

/** Use a scratch file for filtered views if --scratch is given and the file saves time.  Otherwise,
 * log why --scratch is not used or, if it is not given, that it would save time. */
fbp_status fbp_plan_consider_rows(fbp_plan *p);
/** Before the plan is opened: divide the filtering into the scratch file within the memory that the
 * buffers of the open devices leave.
 *  @return FBP_ERR_NOMEM if that memory is too small. */
fbp_status fbp_plan_open_rows(fbp_plan *p);

/* plan.c: sources */

/** Open the stored views: the caller's source, or the scan's projections. */
fbp_status fbp_plan_source_open(const fbp_plan *p, fbp_source **source);
void fbp_plan_source_close(const fbp_plan *p, fbp_source **source);

/** Wrap the source of stored views into the source that the run reads: add selection and binning,
 * corrections (view steps, view_step.h), and a copy in memory (`hold`), if the plan needs them;
 * *out is `stored` if it needs none.  Close *out by fbp_plan_source_drop(), before `stored`. */
fbp_status fbp_plan_source_reduce(fbp_plan *p, fbp_source *stored, fbp_source **out);
void fbp_plan_source_drop(fbp_source *stored, fbp_source **out);

/** Check that a source has the size, row order and type that the plan was made for.
 *  @return FBP_ERR_INVALID if not. */
fbp_status fbp_plan_check_source(const fbp_plan *p, const fbp_source *source);

/** Wait until the caller's work on views in device memory is done, and until all views of a growing
 * file are stored, unless the run reads views as they are stored (--follow). */
fbp_status fbp_plan_source_await(const fbp_plan *p, fbp_source *stored);

/* plan_output.c: the output and its fingerprint */

/** Fingerprint of the plan's job; the same whether devices or the host scale the values. */
uint64_t fbp_plan_job_fingerprint(const fbp_plan *p);
/** Fingerprint of everything that the values depend on, with sizes and times of all input files and
 *  how they are read; 0 if the views are not in files, or in files that still grow. */
fbp_status fbp_plan_fingerprint(const fbp_plan *p, const fbp_source *source, uint64_t *out);
/** Number of slices of the output that this plan writes, alone or as one of several parts. */
size_t fbp_plan_own_slices(const fbp_plan *p);
/** Open the output.
 *  range: values of the least and greatest integer; NULL: the range is found later, and the sink is
 *         a temporary file of floats
 *  joint: share of this process if several processes start together; its member `mine` is ignored.
 * NULL: one process writes the output, or one part of it (--part) */
fbp_status fbp_plan_sink_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              const double *range, const struct fbp_sink_share *joint,
                              fbp_sink **sink);
/* team_plan.c: the plan of one of several processes */

/** Choose the threads of this process, and one device of its host. */
void fbp_plan_take_cores(fbp_plan *p);
fbp_status fbp_plan_take_card(fbp_plan *p);
/** Choose the grid of a team's processes, and set the slices and views of this process.  The kernel
 *  must be chosen before.
 *  request: work of one process */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request);
/** Choose the grid of the ranks of another cluster (p->target), and set the slices and views of the
 * rank that has the middle slab. */
fbp_status fbp_plan_take_rank(fbp_plan *p, const struct fbp_work_request *request);
/** Prepare the sum of partial volumes in a team whose processes share views (team_run.c).
 * fbp_plan_forget_sums() frees its buffers. */
fbp_status fbp_plan_share_views(fbp_plan *p);
void fbp_plan_forget_sums(fbp_plan *p);
/** Return whether this process gets the sum of all processes' partial volumes in slice z of its
 * slab; true if no views are shared (team_run.c). */
bool fbp_plan_has_sum(const fbp_plan *p, size_t z);
/** Log the grid of the team's processes, and the time that the second fastest grid would take. */
void fbp_plan_note_team(const fbp_plan *p);
/** Agree in a team whether the division of the work fits into the memory of every process.  status:
 * status of this process's division.
 *  @return FBP_ERR_NOMEM in all processes if one division does not fit; p->lack and the message are
 *  those of the process with the largest needs. */
fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status);
/** Set *value to its maximum over all processes of the team. */
fbp_status fbp_plan_agree_most(const fbp_plan *p, double *value);
/** Make processes that share the views of a slab divide it in the same way: if their divisions
 * differ, call `divide` again with the fewest slices per slab of these divisions. */
fbp_status fbp_plan_agree_division(fbp_plan *p,
                                   fbp_status (*divide)(fbp_plan *, struct fbp_work *));
/** Barrier after planning: all processes return the same status, that of the first failure.
 *  @return FBP_ERR_INVALID if the plans differ. */
fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status);

/* team_run.c: the run of one of several processes */

/** State of a run that only a team of processes needs. */
struct fbp_plan_run_team;

/** Memory of struct fbp_plan_run_team, in rank 0 (`first`) or in another rank [bytes]; 0 without a
 * team. */
uint64_t fbp_plan_team_bytes(const fbp_plan *p, bool first);

/** Bytes of slices that another rank sends to rank 0 in one message. */
enum { FBP_TEAM_SENT_BYTES = 4 << 20 };

/** Check that all processes read the same files, by name, size and time, and name the same output.
 *  @return FBP_ERR_INVALID if not. */
fbp_status fbp_plan_team_compare(const fbp_plan *p, const fbp_source *source, const char *output);

/** Open the output, in a single process or in each process of a team.
 *  *apart: each process writes its own slices; false: rank 0 writes all slices */
fbp_status fbp_plan_team_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              fbp_sink **sink, bool *apart);
/** Make a sink that sends slices to rank 0. */
fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out);

/** Begin the run of a team: all processes exchange which slices the output already has.
 *  sink: the sink to which this process writes; *out stays NULL without a team */
fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, bool apart,
                               struct fbp_plan_run_team **out);
/** Progress callback of a team's run, in place of the caller's: sums the progress of all ranks
 * (user: struct fbp_plan_run_team). */
int fbp_plan_team_progress(void *user, const struct fbp_progress *now);
/** Wait for all processes after computing, or after a failure.  Rank 0 joins the results of all
 *  ranks into its report and its check of the data.
 *  status: status of this process.  ahead: samples that its view steps repaired
 *  @return the same status in all processes */
fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status,
                                  fbp_data_check *check, uint64_t n_found,
                                  const struct fbp_prep_counts *ahead, struct fbp_report *report);
/** If each process writes its own slices: all wait for rank 0's status after its checks of the
 * views, then the other ranks finish their sinks, and rank 0 may publish the output.  If rank 0
 * writes all slices, or t is NULL: return `status`. */
fbp_status fbp_plan_team_written(struct fbp_plan_run_team *t, fbp_status status);
void fbp_plan_team_end(struct fbp_plan_run_team **run);

/* devices.c: memory of devices, for benchmarks and tests */

/** Allocate memory on the first device that `device` names ("name", "name:0").
 *  @return FBP_ERR_UNSUPPORTED if callers cannot allocate memory on this device. */
fbp_status fbp_device_memory_alloc(const char *device, size_t bytes, void **out);
void fbp_device_memory_release(const char *device, void *memory);

/** Copy between host and device memory; returns when the copy is done. */
fbp_status fbp_device_memory_copy(const char *device, void *to, const void *from, size_t bytes);

/** One of several parts of the output. */
struct fbp_part {
    size_t struct_size;
    size_t slices[2]; /**< slices of the output, in each frame: [first, end) */
    uint64_t updates; /**< voxels x views */
    size_t missing;   /**< number of the part's slices that are missing after a run */
};

/**
 * Set *out to the slices, updates and missing slices of part number `part` of the output, from 1 to
 * params.cluster.n_parts.
 * @return FBP_ERR_INVALID if the plan has no such part.
 */
fbp_status fbp_plan_part(const fbp_plan *plan, size_t part, struct fbp_part *out);

/**
 * Draw an SVG file after each run that shows when each stage worked: upload, filter, backprojection
 * and fetch by the device's clock, reading and writing by the host's clock.
 *
 * path  file to draw; the string must outlive the plan.  NULL: stop drawing
 */
void fbp_plan_timeline(fbp_plan *plan, const char *path);

#endif /* FBP_SRC_PIPELINE_PLAN_H */
