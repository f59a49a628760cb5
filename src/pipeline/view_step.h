/** @file view_step.h  Everything special about input: steps that wrap the views of a scan
 * (internal).
 *
 * A view step turns a scan into another scan, and wraps the source of its views: ring removal and
 * phase retrieval (corrections.c), an upright detector in place of a rolled one (rectify.c), EPR
 * directions resampled along rings (epr_rings.c), and sinogram images of EPR in two stages
 * (epr_stages.c).  A plan holds a list of steps, in the order in which views pass them, and uses
 * them through this interface alone.  The backends and the run see the last scan and the last
 * source.
 */
#ifndef FBP_PIPELINE_VIEW_STEP_H
#define FBP_PIPELINE_VIEW_STEP_H

#include "array/file/format.h"
#include "pipeline/data_check.h"
#include "pipeline/job.h"

/** What a step is made from. */
struct fbp_view_step_request {
    const struct fbp_scan *scan;           /**< scan of the views below; outlives the step */
    const struct fbp_recon_params *params; /**< of the plan; outlive the step */
    const struct fbp_backend *backend;     /**< of the plan */
    bool top_down;                         /**< rows of the views below start with the top row */
    bool measured;                         /**< the views below are the measured ones */
    char warning[300];                     /**< out: what the step cannot correct; "": nothing */
};

/** How often a run reads views. */
struct fbp_view_readings {
    size_t slabs;  /**< number of slabs that read all views */
    double rows;   /**< rows read / rows of the scan */
    int n_threads; /**< of the run */
};

/** A step.  Implementations embed it as their first member; functions may be NULL unless stated. */
struct fbp_view_step {
    struct fbp_scan scan;        /**< of the views that the step yields */
    const struct fbp_prep *prep; /**< how the step makes integrals of measured samples; NULL: it
                                    reads what the step below yields */
    const struct fbp_job_tables *measured; /**< tables of the views below, if the step filters them
                                              itself; NULL: it does not */
    struct fbp_corrections_step *corrections; /**< this step, if it keeps views (corrections.h);
                                                 NULL: it does not */
    /* Results of the last run: */
    struct fbp_prep_counts mended; /**< repaired samples */
    bool mended_once;              /**< every process that reads the views counts all of them */
    double seconds;                /**< time before the first view was there; 0: none */
    const char *note;              /**< remark; NULL: none */

    /** Wrap *source, the views below; `owned`: it is closed with the new source, also on failure.
     *  Resets the results of the last run.  Never NULL. */
    fbp_status (*wrap)(struct fbp_view_step *step, fbp_source **source, bool owned);
    /** Release everything, the step included.  Never NULL. */
    void (*destroy)(struct fbp_view_step *step);
    /** Add what the step does to the texts and numbers of a plan's summary.  Never NULL. */
    void (*describe)(const struct fbp_view_step *step, struct fbp_plan_summary *info);
    /** Continue a hash with everything that values depend on.  Never NULL. */
    uint64_t (*hash)(const struct fbp_view_step *step, uint64_t h);
    /** Predicted time in seconds, from a sample of the work.  Never NULL. */
    fbp_status (*estimate)(const struct fbp_view_step *step, const struct fbp_view_readings *reads,
                           double *seconds);
    /** Tables of the job that backprojects these views.  NULL: fbp_job_create() of `scan`. */
    fbp_status (*make_job)(const struct fbp_view_step *step, const struct fbp_recon_params *params,
                           struct fbp_job_tables *out);
    /** Acquire devices and memory for runs, if they are not there yet. */
    fbp_status (*open)(struct fbp_view_step *step);
    /** Check the measured views as they pass, from now on; NULL: stop that. */
    void (*check)(struct fbp_view_step *step, fbp_data_check *check);
    /** Complete `mended` after a run. */
    fbp_status (*count)(struct fbp_view_step *step);
};

/** A function that makes a step; *out becomes NULL if the scan and the parameters need none. */
typedef fbp_status fbp_view_step_create(struct fbp_view_step **out,
                                        struct fbp_view_step_request *request);

/** Ring removal and phase retrieval, with the scan's `corrections`. */
fbp_view_step_create fbp_corrections_step_create;
/** Plane integrals resampled to the same angles in each ring: params->angles.
 *  @return FBP_ERR_UNSUPPORTED if there are no even rings, or if samples of one lie elsewhere. */
fbp_view_step_create fbp_rings_step_create;
/** Views of a rolled detector, resampled onto an upright one. */
fbp_view_step_create fbp_rectify_step_create;
/** Sinogram images of meridian planes: params->stages.
 *  @return FBP_ERR_UNSUPPORTED if the directions do not lie in meridian planes. */
fbp_view_step_create fbp_two_stages_step_create;

/** How a step reads integrals: the measured scan and what is done to its samples. */
struct fbp_measured {
    struct fbp_scan scan; /**< owns nothing */
    struct fbp_prep prep; /**< owned */
    bool top_down;        /**< stored images start with the top row */
};

/** Scan of line integrals: `scan` without darks, flats and bad pixels. */
struct fbp_scan fbp_scan_of_integrals(const struct fbp_scan *scan);

/** Facts of a source of line integrals, made of those of `below`. */
void fbp_integrals_facts(fbp_source *src, const fbp_source *below);

/** Reverse the order of rows of n columns. */
void fbp_turn_rows(float *rows, size_t n_rows, size_t n);

/** Floats that fbp_integrals_read() needs to read n rows: with those that bad pixels need. */
size_t fbp_integrals_floats(const struct fbp_measured *m, size_t n_rows);

/** Read detector rows [row0, row0 + n) of a view as line integrals, lowest row first, with bad
 *  pixels bridged.
 *  work: fbp_integrals_floats(m, n) floats, if these are more than n rows */
fbp_status fbp_integrals_read(const struct fbp_measured *m, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts);

/** Angles of half a turn that suit the rings of a scan of plane integrals: those of its largest
 *  ring; 0: it has no rings. */
size_t fbp_rings_usual_angles(const struct fbp_scan *scan);

#endif /* FBP_PIPELINE_VIEW_STEP_H */
