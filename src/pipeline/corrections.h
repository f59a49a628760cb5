/** @file corrections.h  The view step of ring removal and phase retrieval, and its memory
 * (internal).
 *
 * Ring removal needs a detector row of all views, phase retrieval needs whole views.  Before the
 * run, the step computes line integrals of the rows that the volume needs, band of rows by band of
 * rows, and keeps them in memory or in a scratch file.  Without ring removal, phases may be
 * retrieved while views are read instead.  Values depend neither on that choice nor on the bands.
 * plan_memory.c chooses by these functions; corrections.c implements them.
 */
#ifndef FBP_PIPELINE_CORRECTIONS_H
#define FBP_PIPELINE_CORRECTIONS_H

#include "pipeline/view_step.h"

#include "prep/phase.h"
#include "prep/prep.h"

struct fbp_corrections_step {
    struct fbp_view_step step;
    struct fbp_measured measured; /**< measured views; the job corrects beam hardening */
    struct fbp_stripes stripes;   /**< ring removal; method NONE: none */
    bool retrieves;               /**< phases are retrieved, after ring removal */
    struct fbp_retrieval phase;
    double wave;         /**< phase retrieval: delta / beta * lambda / 4 pi, in mm */
    double distance_mm;  /**< phase retrieval, parallel beam: object to detector */
    size_t row0, n_rows; /**< detector rows that are kept: [row0, row0 + n_rows) */
    /* Choices of the plan: */
    bool as_read;       /**< phases are retrieved while views are read; no views are kept */
    const char *folder; /**< folder of the scratch file; NULL: rows are kept in memory */
    int n_threads;
    size_t band_rows; /**< rows per band of ring removal; 0: no rings are removed */
};

/** Keep only the rows that a job needs, whose kernel is chosen. */
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
/** Bytes of memory of the step, with the kept rows unless they are in a scratch file. */
uint64_t fbp_corrections_memory_bytes(const struct fbp_corrections_step *c);

#endif /* FBP_PIPELINE_CORRECTIONS_H */
