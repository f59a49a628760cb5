/** @file plan.h  A plan, and the files that make it and run it (internal).
 *
 * The public reconstruction calls: they validate once, then call down.
 */
#ifndef FBP_SRC_PIPELINE_PLAN_H
#define FBP_SRC_PIPELINE_PLAN_H

#include "array/array.h"
#include "pipeline/corrections.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/run.h"
#include "scan/file/scan.h"

#include "fbp/recon.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/** Views that are filtered once, into a scratch file. */
struct fbp_plan_rows {
    bool used;
    struct fbp_prep prep;      /**< of `job`: none */
    struct fbp_job job;        /**< of what is in the file */
    struct fbp_work filtering; /**< into it */
    struct fbp_work work;      /**< from it */
    struct fbp_work beside;    /**< as filtering, beside the buffers of an open plan ... */
    bool may_open;             /**< ... if memory holds both */
};

/** What memory lacks for a way to divide the work: that of this process, or of the one of a team
 *  that needs most. */
struct fbp_plan_lack {
    uint64_t needs, limit; /**< bytes; needs 0: nothing is lacking */
    char who[110];         /**< "rank 2 on node3: " of a team, unless all say the same; else "" */
};

struct fbp_sink_share;

/** Greatest number of view steps of a plan. */
enum { FBP_MOST_STEPS = 4 };

/** A machine to plan for instead of this one.  Such a plan does not run. */
struct fbp_plan_target {
    const struct fbp_backend *backend; /**< complete (backend/device.h) */
    size_t n_devices;
    uint64_t device_bytes; /**< memory of a device */
    uint64_t host_bytes;   /**< limit of memory; 0: none */
    struct fbp_machine machine;
    /** Ranks of a cluster, of which the plan is one; NULL: it is one machine. */
    const struct fbp_nodes *nodes;
    size_t n_ranks; /**< of all nodes */
    /** What an arranged job takes on a device. */
    void (*rates)(const struct fbp_plan_target *target, const struct fbp_job *job,
                  struct fbp_rates *out);
};

struct fbp_plan {
    const struct fbp_scan *scan; /**< the caller's, completed */
    struct fbp_scan whole_scan;
    struct fbp_images *images; /**< mask of the bad pixels that were found; NULL: none */
    struct fbp_recon_params params;
    struct fbp_job_tables tables;
    struct fbp_view_step *steps[FBP_MOST_STEPS]; /**< that wrap the views, in their order */
    size_t n_steps;
    struct fbp_reduction reduction; /**< of stored views to the scan's */
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n_devices;
    bool devices_differ;                  /**< they are not of one sort */
    const struct fbp_plan_target *target; /**< machine to plan for; NULL: this one */
    struct fbp_machine machine;           /**< this one, if it `has_machine` */
    bool has_machine;
    bool top_down, in_order, follow, unpacks; /**< of the projections */
    uint64_t contained_bytes;                 /**< of children, while files were looked at */
    uint64_t held_bytes, reader_bytes;
    bool hold; /**< views that can only be read in order are kept once they are unpacked … */
    uint64_t hold_bytes;         /**< … in so much memory */
    const char *kernel_unpacked; /**< that would be taken if they were, with … */
    uint64_t unpacked_needs;     /**< … so much memory, if there is too little; else 0 */
    struct fbp_plan_lack lack;   /**< of the last way to divide the work that was tried */
    enum fbp_type type;
    struct fbp_output_needs needs; /**< of params.output */
    uint64_t device_limit;         /**< of a device's own memory */
    size_t n_on_card;              /**< processes of the team that have the same device; 0: 1 */
    struct fbp_ranks ranks;        /**< of params.team */
    size_t slab_slices;            /**< at most, of those that share a slab; 0: as in params */
    struct fbp_work work;
    struct fbp_plan_rows rows;
    struct fbp_plan_summary info;
    struct fbp_workers workers; /**< of n_devices once the plan is open */
    const char *timeline;       /**< file that is drawn after a run */
    unsigned char *missing;  /**< of a part that has run: slices that others still have to write */
    struct fbp_sum team_sum; /**< that of a team whose processes share views */
    struct fbp_plan_sums *sums; /**< of it: what other processes give */
    const struct fbp_sum *sum;  /**< of which this plan's views are a part; NULL: all of it */
    pid_t process;              /**< that made it */
    atomic_bool stop;           /**< the run that goes on, or the next one, is to end */
    pthread_mutex_t lock;       /**< for n_runs */
    pthread_cond_t idle;        /**< n_runs is 0 */
    size_t n_runs;              /**< calls of fbp_plan_run() and fbp_plan_run_to() */
};

/** fbp_plan_create() for another machine, which must outlive the plan; NULL: this one. */
fbp_status fbp_plan_create_for(fbp_plan **out, const struct fbp_scan *scan,
                               const struct fbp_recon_params *params,
                               const struct fbp_plan_target *target);

/** Tables of the views as they were measured: of EPR in two stages those of the first stage. */
const struct fbp_job_tables *fbp_plan_measured(const fbp_plan *p);
/** What is done to the measured samples first. */
const struct fbp_prep *fbp_plan_prep(const fbp_plan *p);
/** The step that keeps views (corrections.h); NULL: there is none. */
struct fbp_corrections_step *fbp_plan_corrections(const fbp_plan *p);
/** A line for the caller's log. */
void fbp_plan_note(const fbp_plan *p, enum fbp_log_level level, const char *line);
/** Views as they are stored, before any are left out or summed up. */
size_t fbp_stored_views(const struct fbp_scan *scan);
/** Name of the views in messages. */
const char *fbp_plan_source_name(const fbp_plan *p);

/** Number of repaired samples that this process found in the views below the steps.  Processes that
 *  share a slab add these numbers up; those of other slabs find the same. */
fbp_status fbp_plan_count_steps(const fbp_plan *p, struct fbp_prep_counts *out);
/** Add results of the steps to the report of a run. */
fbp_status fbp_plan_report_steps(const fbp_plan *p, struct fbp_report *report);
/** Acquire devices and memory of the steps, if they are not there yet. */
fbp_status fbp_plan_open_steps(const fbp_plan *p);
/** Let the step that reads whole measured views check them; NULL: stop that.  False: no step does.
 */
bool fbp_plan_check_in_steps(const fbp_plan *p, fbp_data_check *check);
/** Choose where corrected views are kept, choose the kernel, and divide the work within what memory
 *  is left (plan_memory.c). */
fbp_status fbp_plan_arrange_steps(fbp_plan *p);
/** How often views are read for phase retrieval; 1 without it. */
size_t fbp_plan_retrievals(const fbp_plan *p);
/** Choose the kernel and divide the work (plan_arrange.c). */
fbp_status fbp_plan_arrange(fbp_plan *p);
/** Of the resident set, which is `resident` now; UINT64_MAX: none. */
uint64_t fbp_plan_memory_limit(const fbp_plan *p, uint64_t resident);

/** Slabs that each device has at least, whatever memory holds. */
size_t fbp_plan_slabs_each(const fbp_plan *p);

/** What the work on a job of this plan is divided by. */
void fbp_plan_work_request(const fbp_plan *p, const struct fbp_job *job,
                           struct fbp_work_request *out);

/** Take a scratch file if one is wanted and pays; else say why not, or what it would help
 *  (plan_rows.c). */
fbp_status fbp_plan_consider_rows(fbp_plan *p);
/** The plan is to be opened: views are filtered beside what that takes. */
fbp_status fbp_plan_open_rows(fbp_plan *p);
/** The job that is divided and run: the scan's, or that of its filtered rows. */
const struct fbp_job *fbp_plan_run_job(const fbp_plan *p);
/** The caller's source, or the scan's projections: views as they are stored (plan_sources.c). */
fbp_status fbp_plan_source_open(const fbp_plan *p, fbp_source **source);
void fbp_plan_source_close(const fbp_plan *p, fbp_source **source);

/** Views as the scan has them, on top of stored ones if they are not those; *out is closed first,
 *  by fbp_plan_source_drop(). */
fbp_status fbp_plan_source_reduce(fbp_plan *p, fbp_source *stored, fbp_source **out);
void fbp_plan_source_drop(fbp_source *stored, fbp_source **out);

/** Is a source like the one that the plan was made for? */
fbp_status fbp_plan_check_source(const fbp_plan *p, const fbp_source *source);

/** Until the caller is done with views that lie on a device, and all are there that are still being
 *  measured, unless the plan follows them. */
fbp_status fbp_plan_source_await(const fbp_plan *p, fbp_source *stored);

/** All that has to be said of a plan (plan_remarks.c). */
void fbp_plan_log_remarks(const fbp_plan *p);
/** What the views showed as they passed: an error where there was nothing in any of them. */
fbp_status fbp_plan_report_data_check(const fbp_plan *p, fbp_data_check *check, fbp_source *source,
                                      struct fbp_report *report);

/** Of its job, whoever scales the values (plan_output.c). */
uint64_t fbp_plan_job_fingerprint(const fbp_plan *p);
/** What the values depend on: of the projections all files, by size and time, and how they are
 *  read; 0 if they are not in files, or in some that will have another size and time. */
fbp_status fbp_plan_fingerprint(const fbp_plan *p, const fbp_source *source, uint64_t *out);
/** How many slices of the output this plan writes, alone or as one of several parts (plan_part.c).
 */
size_t fbp_plan_own_slices(const fbp_plan *p);
/** A sink as fbp_plan_sink_open() opens it, for one of several processes: `mine` is filled in. */
fbp_status fbp_plan_joint_open(const fbp_plan *p, fbp_sink **sink, const char *output,
                               const struct fbp_array_info *info,
                               const struct fbp_sink_params *params,
                               const struct fbp_sink_share *joint);
/** A part is finished: which slices are missing, and a note on whose they are. */
fbp_status fbp_plan_part_done(fbp_plan *p, const fbp_sink *sink, struct fbp_report *report);

/** The output, whose integers stand for `range`; NULL: that is to be found, and the sink is one for
 *  the floats.  joint: of several processes that start together; NULL: this one alone, or a part.
 */
fbp_status fbp_plan_sink_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              const double *range, const struct fbp_sink_share *joint,
                              fbp_sink **sink);
fbp_status fbp_plan_check_sink(const fbp_plan *p, const fbp_sink *sink);
/** All floats are there: the output, by the range that they have. */
fbp_status fbp_plan_convert(fbp_plan *p, const fbp_source *source, const fbp_sink *values,
                            const char *output, const struct fbp_report *report, fbp_sink **out);
void fbp_plan_report_output(const fbp_sink *sink, struct fbp_report *report);
/** Of a run that was interrupted, as this thread's message. */
void fbp_plan_say_what_is_left(const fbp_plan *p, fbp_sink *sink, const char *output);

/* A plan of several processes (internal). */

/** Threads and card of one of several processes of this host. */
void fbp_plan_take_cores(fbp_plan *p);
fbp_status fbp_plan_take_card(fbp_plan *p);
/** Its slices, once the kernel is chosen; request: of the work of one process. */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request);
/** The place of the rank of a cluster that the plan is made for (p->target). */
fbp_status fbp_plan_take_rank(fbp_plan *p, const struct fbp_work_request *request);
/** A team that shares views adds up what its processes have (team_sum.c). */
fbp_status fbp_plan_share_views(fbp_plan *p);
void fbp_plan_forget_sums(fbp_plan *p);
/** Of those that share views: does this process get the sum of slice z of the output, which is one
 *  of its slab? */
bool fbp_plan_has_sum(const fbp_plan *p, size_t z);
/** Bytes of what it gets of the others. */
uint64_t fbp_plan_sum_bytes(const fbp_plan *p);
/** Who computes what. */
void fbp_plan_note_team(const fbp_plan *p);
/** Does what was divided fit into the memory of all, as `status` says of this one?  FBP_ERR_NOMEM
 *  if not: p->lack is what the process with the largest needs asks for, and the message names it.
 */
fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status);
/** The most that any process of the team says. */
fbp_status fbp_plan_agree_most(const fbp_plan *p, double *value);
/** Those that share views divide their slab in the same way. */
fbp_status fbp_plan_agree_division(fbp_plan *p,
                                   fbp_status (*divide)(fbp_plan *, struct fbp_work *));
/** All have planned, or one of them has not: all get the same status.  Plans must be the same. */
fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status);

/** What a run of several processes has beside its own (run_team.c). */
struct fbp_plan_run_team;

/** Bytes of it, of rank 0 or of another. */
uint64_t fbp_plan_team_bytes(const fbp_plan *p, bool first);

/* Where slices go (team_output.c). */

/** Of slices that go to rank 0 at once. */
enum { FBP_TEAM_SENT_BYTES = 4 << 20 };
size_t fbp_plan_slice_bytes(const fbp_plan *p);
size_t fbp_plan_team_at_once(const fbp_plan *p);

/** All read the same views, by names, sizes and times of their files, and name the same output. */
fbp_status fbp_plan_team_compare(const fbp_plan *p, const fbp_source *source, const char *output);

/** The output, of a process alone or of each of a team.  *apart: each writes its own slices; else
 *  rank 0 writes all. */
fbp_status fbp_plan_team_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              fbp_sink **sink, bool *apart);
/** Has this process a sink of the output? */
bool fbp_plan_team_writes(const fbp_plan *p, bool apart);
/** Where the slices of this process go, if that is not the output itself: to rank 0. */
fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out);

/** All know which slices of the output are there already.  sink: what this process writes to. */
fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, bool apart,
                               struct fbp_plan_run_team **out);
/** Who tells how far all are, in place of the caller's own function. */
int fbp_plan_team_progress(void *user, const struct fbp_progress *now);
/** And an fbp_log_fn for the same `user`. */
void fbp_plan_team_log(void *user, enum fbp_log_level level, const char *line);
/** This process has computed, or failed: all wait for all, and rank 0 gets what the others tell,
 *  into its report and its look.  ahead: fbp_plan_count_ahead() of this one. */
fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status,
                                  fbp_data_check *check, uint64_t n_found,
                                  const struct fbp_prep_counts *ahead, struct fbp_report *report);
/** May what all have computed become the output, says rank 0?  Then the others finish theirs, and
 *  rank 0 may publish it.  t NULL: it is the status that is given. */
fbp_status fbp_plan_team_written(struct fbp_plan_run_team *t, fbp_status status);
void fbp_plan_team_end(struct fbp_plan_run_team **run);

/* Memory of a plan's device, for benchmarks (internal). */

/** On the first device of `device` ("name", "name:0"); FBP_ERR_UNSUPPORTED if callers can have none
 *  there. */
fbp_status fbp_device_memory_alloc(const char *device, size_t bytes, void **out);
void fbp_device_memory_release(const char *device, void *memory);

/** To it from the host's memory, or back; returns when it is done. */
fbp_status fbp_device_memory_copy(const char *device, void *to, const void *from, size_t bytes);

#endif /* FBP_SRC_PIPELINE_PLAN_H */
