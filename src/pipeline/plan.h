/** @file plan.h The plan of a reconstruction (struct fbp_plan), and functions of the files that
 * make and run plans (internal).
 *
 * fbp_plan_create() makes a plan from a scan and parameters (plan.c, plan_memory.c, team_plan.c),
 * fbp_plan_run() runs it (plan_run.c, plan_output.c, team_run.c).
 * Used by: bench/host/, bench/predict/, cli/, pipeline/. */
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
    struct fbp_prep prep; /**< preparation of the filtered rows: none */
    struct fbp_job job;   /**< job that backprojects the filtered rows of the scratch file */
    /** Division of the work of filtering all views into the scratch file. */
    struct fbp_work filtering;
    struct fbp_work work; /**< division of the work of backprojecting the scratch file */
    /** Division of the work of filtering into the scratch file for an open plan (fbp_plan_open()),
     * whose buffers for backprojection are allocated at the same time. */
    struct fbp_work beside;
    bool may_open; /**< true: the division `beside` fits into the limit of memory */
};

/** Lack of memory for a division: need and limit of this process or, in a team, of the process that
 * needs most. */
struct fbp_plan_lack {
    uint64_t needs, limit; /**< needed memory (0: the division fits) and its limit [bytes] */
    char who[110]; /**< prefix of error messages that names the process, such as "rank 2 on node3:
                      "; "": all processes have the same message, or there is a single process */
};

struct fbp_sink_share;

/** Greatest number of view steps (view_step.h) of a plan. */
enum { FBP_MOST_STEPS = 8 };

/** Another machine for which a plan predicts times (bench/predict); the plan cannot be run. */
struct fbp_plan_target {
    const struct fbp_backend *backend; /**< completed backend (backend/device.h) */
    size_t n_devices;
    uint64_t device_bytes; /**< memory per device */
    uint64_t host_bytes;   /**< limit of host memory; 0: none */
    struct fbp_machine machine;
    /** Nodes of a cluster whose ranks (processes) divide the work; the plan is that of the rank
     * that computes the middle slab. NULL: a single machine. */
    const struct fbp_nodes *nodes;
    size_t n_ranks; /**< ranks of all nodes */
};

struct fbp_plan {
    const struct fbp_scan *scan; /**< copy of the caller's scan, &whole_scan */
    struct fbp_scan whole_scan;
    struct fbp_beam *beam;     /**< beam that changes during the scan; NULL: it is constant */
    double zingers;            /**< fbp_corrections.zingers of the scan */
    struct fbp_images *images; /**< mask of the bad pixels that the plan found; NULL: none */
    struct fbp_recon_params params;
    struct fbp_job_tables tables;
    /** View steps (view_step.h); the first reads the stored views. */
    struct fbp_view_step *steps[FBP_MOST_STEPS];
    size_t n_steps;
    struct fbp_reduction reduction; /**< binning of pixels and selection of stored views */
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n_devices;
    bool devices_differ; /**< the devices are of different models */
    /** Machine for which the plan is made; NULL: this machine. */
    const struct fbp_plan_target *target;
    /** Measured rates of the links of the devices, if `has_machine` is set. */
    struct fbp_machine machine;
    bool has_machine;
    bool top_down; /**< stored projections start with the top row */
    bool in_order; /**< views must be read in order, for example because their file is compressed */
    bool follow;   /**< the file of the projections is still growing */
    bool unpacks;  /**< several threads can decompress views at the same time */
    uint64_t contained_bytes; /**< memory of child processes that open files [bytes] */
    uint64_t held_bytes;   /**< host memory of the source of views, with its view steps [bytes] */
    uint64_t reader_bytes; /**< further host memory of the source per reading thread [bytes] */
    bool hold; /**< decompressed views of a file that must be read in order are kept in memory */
    uint64_t hold_bytes; /**< memory that `hold` takes */
    /** If the views are compressed: name of the kernel for uncompressed views, if it cannot use
     * views in the order of the file; else NULL. */
    const char *kernel_unpacked;
    /** memory with decompressed views, if above the limit [bytes]; else 0 */
    uint64_t unpacked_needs;
    /** Part of info.memory_limit that params.memory_bytes does not count: memory that the process
     * used before the plan [bytes]; 0: the limit is not params.memory_bytes. */
    uint64_t uncounted_bytes;
    struct fbp_plan_lack lack; /**< memory that the last tried division of the work lacks */
    enum fbp_type type;        /**< type of the samples that the run reads */
    /** Needs of the output format: memory per writing thread, slices per layer of chunk files. */
    struct fbp_output_needs needs;
    uint64_t device_limit; /**< limit of a device's own memory, in bytes */
    size_t n_on_card;      /**< number of processes that share this process's device; 0 means 1 */
    /** Position of this process in the grid of processes of params.cluster.team. */
    struct fbp_ranks ranks;
    /** Greatest number of slices per slab that fits into memory in all processes that share the
     * views of this process's slab; 0: params.tuning.slab_slices. */
    size_t slab_slices;
    struct fbp_work work;
    struct fbp_plan_rows rows;
    struct fbp_plan_summary info;
    struct fbp_workers workers; /**< open devices, after fbp_plan_open() */
    const char *timeline; /**< path of the SVG timeline that is drawn after a run; NULL: none */
    /** [slice of the output] 1: the slice is missing after the last run, which computed one part
     * (--part); NULL: none is missing, or no part was run. */
    unsigned char *missing;
    /** Functions that add the partial volumes of the processes of a team that share views. */
    struct fbp_sum team_sum;
    struct fbp_plan_sums *sums; /**< buffers of the member team_sum; NULL: no views are shared */
    /** Completes slices by adding partial volumes of other processes; NULL: not needed. */
    const struct fbp_sum *sum;
    pid_t process;        /**< process that made the plan */
    atomic_bool stop;     /**< request to end the current run of the plan, or the next one */
    pthread_mutex_t lock; /**< protects n_runs */
    pthread_cond_t idle;  /**< signalled when n_runs becomes 0 */
    size_t n_runs;        /**< number of running calls of fbp_plan_run() and fbp_plan_run_to() */
};

/* plan.c: functions that make a plan, its view steps (view_step.h) and its sources of views */

/** Create a plan for the machine `target`, which must outlive it; NULL: for this machine. */
fbp_status fbp_plan_create_for(fbp_plan **out, const struct fbp_scan *scan,
                               const struct fbp_recon_params *params,
                               const struct fbp_plan_target *target);

/** Tables of the job that filters measured views: of the plan, or of the first of two stages. */
const struct fbp_job_tables *fbp_plan_measured(const fbp_plan *p);
/** Preparation of the measured samples. */
const struct fbp_prep *fbp_plan_prep(const fbp_plan *p);
/** The view step of ring removal and phase retrieval (corrections.c); NULL: neither is needed. */
struct fbp_corrections_step *fbp_plan_corrections(const fbp_plan *p);
/** Pass a line, unless it is empty, to the caller's log; control characters are replaced. */
void fbp_plan_note(const fbp_plan *p, enum fbp_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Number of views in the file of projections, before views are selected. */
size_t fbp_stored_views(const struct fbp_scan *scan);
/** Name of the views for messages: the file, or "views" for a source in memory. */
const char *fbp_plan_source_name(const fbp_plan *p);

/** Set *out to the numbers of samples that view steps repaired in this process. In a team, only
 * those of processes that share a slab are to be added: other slabs count the same samples. */
fbp_status fbp_plan_count_steps(const fbp_plan *p, struct fbp_prep_counts *out);
/** Add to the report of a run the time of its view steps (view_step.h) and, without a team, the
 * numbers of samples that they repaired; log their remarks. */
fbp_status fbp_plan_report_steps(const fbp_plan *p, struct fbp_report *report);
/** Acquire the devices and memory that view steps need, unless they have them already. */
fbp_status fbp_plan_open_steps(const fbp_plan *p);
/** Attach a check of the views to the view steps that can check measured views
 * (fbp_view_step.checks); NULL: detach it.
 * @return false if there is no such step: the run must check the views. */
bool fbp_plan_check_in_steps(const fbp_plan *p, fbp_data_check *check);

/* plan_memory.c: kernel, division of the work, and scratch file within the limits of memory */

/** Choose where corrected views are kept, the kernel, and the division of the work. */
fbp_status fbp_plan_arrange_steps(fbp_plan *p);
/** Number of times that a run reads all views and retrieves their phases, at least 1. */
size_t fbp_plan_retrievals(const fbp_plan *p);

/** Fill in the input of fbp_work_divide() for a job of this plan. */
void fbp_plan_work_request(const fbp_plan *p, const struct fbp_job *job,
                           struct fbp_work_request *out);

/** Use a scratch file for filtered views if --scratch is given and the file saves time. If it is
 * given but not used, log the reason; if it is not given but would save time, log that. */
fbp_status fbp_plan_consider_rows(fbp_plan *p);
/** Before the plan is opened: use the division of the filtering into the scratch file (`beside`)
 * that leaves memory for the buffers of the open devices.
 * @return FBP_ERR_NOMEM if the limit of memory is too low for both. */
fbp_status fbp_plan_open_rows(fbp_plan *p);

/* plan.c: sources */

/** Open the stored views: the caller's source, or the scan's projections. */
fbp_status fbp_plan_source_open(const fbp_plan *p, fbp_source **source);
void fbp_plan_source_close(const fbp_plan *p, fbp_source **source);

/** Wrap the source of stored views into the source that the run reads: selection and binning, view
 * steps, and decompressed views in memory (`hold`), if needed; else *out is `stored`. Close *out by
 * fbp_plan_source_drop(), before `stored`. */
fbp_status fbp_plan_source_reduce(fbp_plan *p, fbp_source *stored, fbp_source **out);
void fbp_plan_source_drop(fbp_source *stored, fbp_source **out);

/** Check that a source has the size, row order and type that the plan was made for.
 *  @return FBP_ERR_INVALID if not. */
fbp_status fbp_plan_check_source(const fbp_plan *p, const fbp_source *source);

/** Wait until the caller's work on views in device memory is done, and until all views of a growing
 * file are stored, unless the run reads views as they are stored (--follow). */
fbp_status fbp_plan_source_await(const fbp_plan *p, fbp_source *stored);

/* plan_output.c: the output and its fingerprint */

/** Fingerprint (hash) of the plan's job, whether devices or the host scale the values. */
uint64_t fbp_plan_job_fingerprint(const fbp_plan *p);
/** Set *out to a hash of everything that determines the values, with sizes and times of all input
 * files; 0 if the views come from the caller's source, or from files that still grow. */
fbp_status fbp_plan_fingerprint(const fbp_plan *p, const fbp_source *source, uint64_t *out);
/** Number of slices of the output that a run of this plan writes: all, or those of --part. */
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

/** In a team: choose the number of threads of this process (fbp_plan_take_cores()) and, if several
 * processes run on its host, one device (fbp_plan_take_card()). */
void fbp_plan_take_cores(fbp_plan *p);
fbp_status fbp_plan_take_card(fbp_plan *p);
/** Choose the grid of a team's processes, and set the slices and views that this process computes.
 * The kernel must be chosen before.
 *  request: work of one process */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request);
/** Choose the grid of the ranks (processes) of the cluster p->target, for predictions, and set the
 * slices and views of the rank that has the middle slab. */
fbp_status fbp_plan_take_rank(fbp_plan *p, const struct fbp_work_request *request);
/** Prepare the sum of partial volumes in a team that shares views; free its buffers. */
fbp_status fbp_plan_share_views(fbp_plan *p);
void fbp_plan_forget_sums(fbp_plan *p);
/** Return whether this process gets the sum of all partial volumes in slice z of the output, if its
 * slab contains the slice; true if no views are shared (team_run.c). */
bool fbp_plan_has_sum(const fbp_plan *p, size_t z);
/** Log the grid of the team's processes, and the relative time of the second fastest grid. */
void fbp_plan_note_team(const fbp_plan *p);
/** Exchange in a team whether the division of the work fits into the memory of every process.
 * status: status of this process's division.
 *  @return FBP_ERR_NOMEM in all processes if one division does not fit; p->lack and the message are
 *  those of the process with the largest needs. */
fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status);
/** Set *value to its maximum over all processes of the team; without a team, it stays. */
fbp_status fbp_plan_agree_most(const fbp_plan *p, double *value);
/** Make the processes that share the views of a slab divide it in the same way: if their divisions
 * differ, they call `divide` again, with at most the least slab_slices of these divisions. */
fbp_status fbp_plan_agree_division(fbp_plan *p,
                                   fbp_status (*divide)(fbp_plan *, struct fbp_work *));
/** Barrier of a team after planning: all processes return the same status, that of the first
 * failure.
 *  @return FBP_ERR_INVALID if the plans differ. */
fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status);

/* team_run.c: the run of one of several processes */

/** State of a run that only a team of processes needs. */
struct fbp_plan_run_team;

/** Memory of struct fbp_plan_run_team, in rank 0 (`first`) or another [bytes]; 0: no team. */
uint64_t fbp_plan_team_bytes(const fbp_plan *p, bool first);

/** Bytes of slices that another rank sends to rank 0 in one message. */
enum { FBP_TEAM_SENT_BYTES = 4 << 20 };

/** Check that all processes of a team read the same files (by name, size and time), and write to
 * the same output.
 *  @return FBP_ERR_INVALID if not. */
fbp_status fbp_plan_team_compare(const fbp_plan *p, const fbp_source *source, const char *output);

/** Open the sink of this process, in a team or alone. *apart: each process of the team writes its
 * own slices; false: rank 0, or the single process, writes all slices. */
fbp_status fbp_plan_team_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              fbp_sink **sink, bool *apart);
/** Make a sink that sends slices to rank 0. */
fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out);

/** Begin the run of a team: the processes exchange which slices the output already has.
 *  sink: the sink to which this process writes; *out stays NULL without a team */
fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, bool apart,
                               struct fbp_plan_run_team **out);
/** Progress callback of a team's run, in place of the caller's, which it calls; in rank 0, with the
 * sums over all ranks. user: struct fbp_plan_run_team. */
int fbp_plan_team_progress(void *user, const struct fbp_progress *now);
/** Barrier of a team after computing, or after a failure. Rank 0 joins the results of all ranks
 * into its report and its check of the views.
 *  status: status of this process.  ahead: samples that its view steps repaired
 *  @return the same status in all processes */
fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status,
                                  fbp_data_check *check, uint64_t n_found,
                                  const struct fbp_prep_counts *ahead, struct fbp_report *report);
/** If each process writes its own slices: wait until rank 0 has checked the views and the other
 * ranks have finished their sinks; rank 0 may then publish the output. Returns the common status of
 * all processes. If rank 0 writes all slices, or t is NULL: return `status`. */
fbp_status fbp_plan_team_written(struct fbp_plan_run_team *t, fbp_status status);
void fbp_plan_team_end(struct fbp_plan_run_team **run);

/** One of several parts of the output. */
struct fbp_part {
    size_t struct_size;
    size_t slices[2]; /**< slices [first, end) of the output, at each time point */
    uint64_t updates; /**< voxels x views */
    size_t missing;   /**< number of slices of the part that are missing after a run */
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
