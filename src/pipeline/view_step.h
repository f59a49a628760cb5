/** @file view_step.h  The interface of view steps: corrections of views that need several rows or
 * several views at once (internal).
 *
 * A view step turns a scan into another scan, and wraps the source of its views: ring removal and
 * phase retrieval (corrections.c), an upright detector in place of a rolled one (rectify.c), EPR
 * directions resampled along rings (epr_rings.c), and sinogram images of EPR in two stages
 * (epr_two_stages.c).  A plan (plan.c) holds a list of steps in the order of the data.  The job
 * (job.c) is made from the last scan, and a run (run.c) reads the last source.
 * Used by: cli/serve/, analysis/, pipeline/.
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
    /** Scan that describes the views which the step reads; must outlive the step. */
    const struct fbp_scan *scan;
    const struct fbp_recon_params *params; /**< parameters of the plan; must outlive the step */
    const struct fbp_backend *backend;
    bool top_down;     /**< whether the views that the step reads start with the top row */
    bool measured;     /**< whether the step is the first one, and thus reads the measured views */
    char warning[300]; /**< output: warning about what the step cannot correct; "": none */
};

/** How often a run reads the views that the last view step (correction of the views) returns. */
struct fbp_view_readings {
    size_t slabs;  /**< number of times that the views are read (fbp_work_readings()) */
    double rows;   /**< rows that are read in all, divided by those of all views */
    int n_threads; /**< number of threads of the run */
};

/** A view step: a correction that turns a scan and its source into others. Implementations embed
 * this struct as first member. Functions may be NULL unless their comments state otherwise. */
struct fbp_view_step {
    struct fbp_scan scan; /**< scan of the views that the step yields */
    /** Converts measured samples to line integrals; NULL: the step reads none. */
    const struct fbp_prep *prep;
    /** Tables of geometry, filter and weights if the step filters measured views; else NULL. */
    const struct fbp_job_tables *measured;
    /** This step, if it removes rings or retrieves phases (corrections.c); else NULL. */
    struct fbp_corrections_step *corrections;
    bool checks; /**< whether the step can check measured views for bad data when it reads them */
    fbp_data_check *check; /**< check of the measured views by this step; NULL: not checked */
    /* Results of the last run: */
    struct fbp_prep_counts repaired; /**< numbers of repaired samples */
    bool repaired_once; /**< each process counts the repairs of all views: counts are not added */
    double seconds;     /**< time before the step returned its first view [s]; 0: none */
    const char *note;   /**< remark for the log; NULL: none */

    /** Set up `src` as the source of corrected views, which reads `below` (fbp_source_wrap()).
     * step: a struct fbp_view_step **, whose results of the last run were reset. Never NULL. */
    fbp_source_set_up *set_up;
    /** Free the step and everything that it owns.  Never NULL. */
    void (*destroy)(struct fbp_view_step *step);
    /** Describe the correction in the texts and numbers of a plan's summary.  Never NULL. */
    void (*describe)(const struct fbp_view_step *step, struct fbp_plan_summary *info);
    /** Return the hash h extended by all parameters of the corrected values. Never NULL. */
    uint64_t (*hash)(const struct fbp_view_step *step, uint64_t h);
    /** Predict the seconds of the correction in a run. NULL: the time is negligible. */
    fbp_status (*estimate)(const struct fbp_view_step *step, const struct fbp_view_readings *reads,
                           double *seconds);
    /** Make the tables of the job for the views of this step. NULL: fbp_job_create() of `scan`. */
    fbp_status (*make_job)(const struct fbp_view_step *step, const struct fbp_recon_params *params,
                           struct fbp_job_tables *out);
    /** Acquire the devices and memory that runs need, unless the step already has them. */
    fbp_status (*open)(struct fbp_view_step *step);

    /** Store in `repaired` how many samples the last run repaired, if a device counts them. */
    fbp_status (*count)(struct fbp_view_step *step);
};

/** Makes a view step; *out becomes NULL if scan and parameters do not need it. */
typedef fbp_status fbp_view_step_create(struct fbp_view_step **out,
                                        struct fbp_view_step_request *request);

/** Make the view step of ring removal and phase retrieval (corrections.c). */
fbp_view_step_create fbp_corrections_step_create;
/** Make the view step that resamples plane integrals (EPR) so that all rings of directions have the
 * same angles (params->epr.angles).
 *  @return FBP_ERR_UNSUPPORTED, for example if the views of a ring have samples at different
 * positions. */
fbp_view_step_create fbp_rings_step_create;
/** Make the view step that resamples views onto an upright detector (rectify.c). */
fbp_view_step_create fbp_rectify_step_create;
/** Make the view step of EPR reconstruction in two stages (params->epr.stages), whose views are
 * sinogram images of meridian planes.
 *  @return FBP_ERR_UNSUPPORTED, for example if the directions do not lie in meridian planes. */
fbp_view_step_create fbp_two_stages_step_create;

/* corrections.c: reading measured rows as line integrals, for all corrections of views */

/** A copy of the measured scan, which shares its arrays, and tables for its line integrals. */
struct fbp_measured {
    struct fbp_scan scan;
    struct fbp_prep prep;
    bool top_down; /**< stored images start with the top row */
};

/** Return a copy of a scan for views of line integrals: without darks, flats, i0, bad pixels. */
struct fbp_scan fbp_scan_of_integrals(const struct fbp_scan *scan);

/** Reverse the order of n_rows detector rows of n columns. */
void fbp_turn_rows(float *rows, size_t n_rows, size_t n);

/** Number of floats of working memory that fbp_integrals_read() needs for n_rows detector rows,
 * including neighbouring rows from which bad pixels are interpolated. */
size_t fbp_integrals_floats(const struct fbp_measured *m, size_t n_rows);

/** Read detector rows [row0, row0 + n) of a view as line integrals, lowest row first; bad pixels
 * are interpolated.
 *
 * work: memory of fbp_integrals_floats(m, n) floats
 * counts: the numbers of repaired samples of the rows are added to *counts */
fbp_status fbp_integrals_read(const struct fbp_measured *m, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts);

/** Return the default number of angles per half turn to which EPR views are resampled: half the
 * number of directions of the largest ring, rounded up; 0: the scan has no rings (epr_rings.c). */
size_t fbp_rings_usual_angles(const struct fbp_scan *scan);

/* corrections.c: the view step of ring removal and phase retrieval, and its memory
 *
 * Ring removal needs a detector row of all views, phase retrieval needs whole views.  Before the
 * run, the step computes line integrals of the detector rows that the volume needs, one block of
 * rows after another, and keeps them in memory or in a scratch file.  Without ring removal, phases
 * may be retrieved while views are read instead.  Values depend neither on that choice nor on the
 * blocks.  plan_memory.c chooses by these functions. */

struct fbp_corrections_step {
    struct fbp_view_step step;
    /** measured scan and its conversion; the job corrects beam hardening */
    struct fbp_measured measured;
    struct fbp_stripes stripes; /**< ring removal; method NONE: none */
    bool retrieves;             /**< whether phases are retrieved (after rings are removed) */
    struct fbp_retrieval phase;
    double wave;        /**< constant of phase retrieval: delta / beta * lambda / 4 pi [mm] */
    double distance_mm; /**< distance from object to detector in a parallel beam [mm] */
    /** Detector rows [row0, row0 + n_rows) whose corrected samples are kept. */
    size_t row0, n_rows;
    /* Choices of the plan: */
    bool as_read; /**< phases are retrieved in every reading; no views are kept */
    /** Folder of the scratch file for corrected rows; NULL: rows are kept in memory. */
    const char *folder;
    int n_threads;
    size_t band_rows; /**< detector rows from which rings are removed at once; 0: none */
};

/** Choose the detector rows whose corrected samples are kept: those that the job needs, or all if
 * phases are retrieved after ring removal, or if it needs none. The job must have a kernel. */
void fbp_corrections_choose_rows(struct fbp_corrections_step *c, const struct fbp_job *job);

/**
 * Choose the number of threads, at most n_threads, and the number of detector rows from which rings
 * are removed at once.
 *
 * room:   bytes of memory for the step and for the run
 * folder: folder of the scratch file for corrected rows; NULL: the rows are kept in memory
 */
void fbp_corrections_divide(struct fbp_corrections_step *c, uint64_t room, const char *folder,
                            int n_threads);

/** Bytes of the corrected rows that are kept; 0: none are kept. */
uint64_t fbp_corrections_kept_bytes(const struct fbp_corrections_step *c);
/** Memory of ring removal and phase retrieval [bytes]: work memory of the threads, and the
 * corrected rows that are kept; with a scratch file, only those that are corrected at once. */
uint64_t fbp_corrections_memory_bytes(const struct fbp_corrections_step *c);

#endif /* FBP_PIPELINE_VIEW_STEP_H */
