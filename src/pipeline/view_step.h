/** @file view_step.h  The interface of view steps: corrections that need several rows or views
 * (internal).
 *
 * A view step turns a scan into another scan, and wraps the source of its views: ring removal and
 * phase retrieval (corrections.c), an upright detector in place of a rolled one (rectify.c), EPR
 * directions resampled along rings (epr_rings.c), and sinogram images of EPR in two stages
 * (epr_two_stages.c).  A plan (plan.c) holds a list of steps in the order of the data, and calls
 * them only through this interface.  The job (job.c) is made from the last scan, and a run (run.c)
 * reads the last source.
 */
#ifndef FBP_PIPELINE_VIEW_STEP_H
#define FBP_PIPELINE_VIEW_STEP_H

#include "array/array.h"
#include "array/file/format.h"
#include "pipeline/data_check.h"
#include "pipeline/job.h"
#include "prep/phase.h"
#include "prep/prep.h"

/** Arguments of a function that makes a view step (fbp_view_step_create). */
struct fbp_view_step_request {
    const struct fbp_scan *scan; /**< scan of the views that the step reads; outlives the step */
    const struct fbp_recon_params *params; /**< parameters of the plan; outlive the step */
    const struct fbp_backend *backend;     /**< backend of the plan */
    bool top_down;                         /**< rows of the input start with the top row */
    bool measured; /**< whether the step reads the measured views, because it is the first step */
    char warning[300]; /**< warning that the function writes, about what the step cannot correct;
                          "": none */
};

/** Number of times that a run reads the views of the last view step. */
struct fbp_view_readings {
    size_t slabs;  /**< number of slabs that read all views */
    double rows;   /**< rows read / rows of the scan */
    int n_threads; /**< threads of the run */
};

/** A view step.  Implementations embed the struct as their first member; functions may be NULL
 * unless stated otherwise. */
struct fbp_view_step {
    struct fbp_scan scan; /**< scan of the views that the step yields */
    /** Preparation by which the step makes line integrals of measured samples; NULL: the step does
     *  not read measured samples. */
    const struct fbp_prep *prep;
    /** Tables of the job of the measured views, if the step filters them; NULL: the step filters
     * nothing. */
    const struct fbp_job_tables *measured;
    /** The view step as a corrections step, if it keeps views; NULL: it keeps no views. */
    struct fbp_corrections_step *corrections;
    bool checks; /**< whether the step checks the measured views when it reads them, by `check` */
    fbp_data_check *check; /**< by this check; NULL: not at all */
    /* Results of the last run: */
    struct fbp_prep_counts repaired; /**< numbers of repaired samples */
    bool repaired_once; /**< whether every process that reads the views counts all repaired samples
                         */
    double seconds;     /**< time until the first view of the step was available [s]; 0: none */
    const char *note;   /**< remark for the log; NULL: none */

    /** Fill in the source of the step's views on `below`, its input (fbp_source_wrap()).  step: a
     *  struct fbp_view_step **, whose results of the last run are reset.  Never NULL. */
    fbp_source_set_up *set_up;
    /** Release the step and everything that it owns.  Never NULL. */
    void (*destroy)(struct fbp_view_step *step);
    /** Add the description of the step to the texts and numbers of a plan's summary.  Never NULL.
     */
    void (*describe)(const struct fbp_view_step *step, struct fbp_plan_summary *info);
    /** Continue hash h with everything that the step's output depends on.  Never NULL. */
    uint64_t (*hash)(const struct fbp_view_step *step, uint64_t h);
    /** Predict the time of the step in seconds, by timing a sample of the work.  NULL: negligible
     *  beside the backprojection. */
    fbp_status (*estimate)(const struct fbp_view_step *step, const struct fbp_view_readings *reads,
                           double *seconds);
    /** Make the tables of the job that backprojects the views of this step.  NULL: the tables are
     * made by fbp_job_create() from `scan`. */
    fbp_status (*make_job)(const struct fbp_view_step *step, const struct fbp_recon_params *params,
                           struct fbp_job_tables *out);
    /** Acquire devices and memory for runs, unless the step has them already. */
    fbp_status (*open)(struct fbp_view_step *step);

    /** Complete `repaired` after a run. */
    fbp_status (*count)(struct fbp_view_step *step);
};

/** Function that makes a view step; *out becomes NULL if the scan and the parameters do not need
 * the step. */
typedef fbp_status fbp_view_step_create(struct fbp_view_step **out,
                                        struct fbp_view_step_request *request);

/** Make the view step of ring removal and phase retrieval, as the scan's `corrections` request
 * (corrections.c). */
fbp_view_step_create fbp_corrections_step_create;
/** Plane integrals (EPR) resampled to the same angles in each ring of directions:
 * params->epr.angles.
 *  @return FBP_ERR_UNSUPPORTED if the directions form no rings of equal steps, or if the samples of
 *          a ring lie at other distances. */
fbp_view_step_create fbp_rings_step_create;
/** Make the view step that resamples views of a rolled detector onto an upright detector
 * (rectify.c). */
fbp_view_step_create fbp_rectify_step_create;
/** Sinogram images of meridian planes: params->epr.stages.
 *  @return FBP_ERR_UNSUPPORTED if the directions do not lie in meridian planes. */
fbp_view_step_create fbp_two_stages_step_create;

/* corrections.c: line integrals of measured rows, for all steps */

/** The measured scan, and the preparation of its samples. */
struct fbp_measured {
    struct fbp_scan scan; /**< borrowed pointers */
    struct fbp_prep prep; /**< owned */
    bool top_down;        /**< stored images start with the top row */
};

/** Return a copy of a scan for views that are line integrals: without darks, flats, i0 and bad
 * pixels. */
struct fbp_scan fbp_scan_of_integrals(const struct fbp_scan *scan);

/** Fill in src->info for a source of line integrals (floats) that is made from `below`. */
void fbp_integrals_facts(fbp_source *src, const fbp_source *below);

/** Reverse the order of n_rows rows of n columns. */
void fbp_turn_rows(float *rows, size_t n_rows, size_t n);

/** Number of floats that fbp_integrals_read() reads for n_rows rows, including neighbours of bad
 * pixels. */
size_t fbp_integrals_floats(const struct fbp_measured *m, size_t n_rows);

/** Read detector rows [row0, row0 + n) of a view as line integrals, lowest row first; bad pixels
 * are interpolated.
 *
 * work: memory of fbp_integrals_floats(m, n) floats
 * counts: the numbers of repaired samples of the rows are added to *counts */
fbp_status fbp_integrals_read(const struct fbp_measured *m, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts);

/** Default number of angles per half turn for fbp_rings_step_create(): that of the largest ring of
 *  the scan; 0: the scan has no rings (epr_rings.c). */
size_t fbp_rings_usual_angles(const struct fbp_scan *scan);

/* corrections.c: the view step of ring removal and phase retrieval, and its memory
 *
 * Ring removal needs a detector row of all views, phase retrieval needs whole views.  Before the
 * run, the step computes line integrals of the rows that the volume needs, band of rows by band of
 * rows, and keeps them in memory or in a scratch file.  Without ring removal, phases may be
 * retrieved while views are read instead.  Values depend neither on that choice nor on the bands.
 * plan_memory.c chooses by these functions.
 */

struct fbp_corrections_step {
    struct fbp_view_step step;
    struct fbp_measured measured; /**< measured scan and preparation of its samples, without beam
                                     hardening, which the job corrects */
    struct fbp_stripes stripes;   /**< ring removal; method NONE: none */
    bool retrieves;               /**< phases are retrieved, after ring removal */
    struct fbp_retrieval phase;
    double wave;        /**< constant of phase retrieval: delta / beta * lambda / 4 pi [mm] */
    double distance_mm; /**< distance from object to detector in a parallel beam, for phase
                           retrieval [mm] */
    size_t row0,
        n_rows; /**< detector rows [row0, row0 + n_rows) whose corrected samples are kept */
    /* Choices of the plan: */
    bool as_read; /**< whether phases are retrieved while views are read, and no views are kept */
    /** Folder of the scratch file for corrected rows; NULL: rows are kept in memory. */
    const char *folder;
    int n_threads;
    size_t band_rows; /**< number of rows per band of ring removal; 0: no rings are removed */
};

/** Choose to keep only the detector rows that a job needs, whose kernel is chosen. */
void fbp_corrections_choose_rows(struct fbp_corrections_step *c, const struct fbp_job *job);

/**
 * Choose the number of threads, at most n_threads, and the bands of rows.
 *
 * room:   bytes of memory for the step and for the run
 * folder: folder of the scratch file; NULL: rows are kept in memory
 */
void fbp_corrections_divide(struct fbp_corrections_step *c, uint64_t room, const char *folder,
                            int n_threads);

/** Bytes of the rows that are kept. */
uint64_t fbp_corrections_kept_bytes(const struct fbp_corrections_step *c);
/** Memory of the corrections step [bytes], including the kept rows unless they are in a scratch
 * file. */
uint64_t fbp_corrections_memory_bytes(const struct fbp_corrections_step *c);

#endif /* FBP_PIPELINE_VIEW_STEP_H */
