/** @file corrections.h  Memory of ring removal and phase retrieval, as a plan divides it
 * (internal).
 *
 * Rings need all angles of a detector row, phases need whole views.  Line integrals of the rows
 * that the volume needs are computed before the run, one band of rows after another, and are kept
 * in memory or in a scratch file.  Phases alone may be retrieved as views are read instead.  Values
 * do not depend on where rows are kept, nor on bands.
 */
#ifndef FBP_PIPELINE_CORRECTIONS_H
#define FBP_PIPELINE_CORRECTIONS_H

#include "pipeline/view_step.h"

#include "prep/phase.h"
#include "prep/prep.h"

struct fbp_corrections_step {
    struct fbp_view_step step;
    struct fbp_measured measured; /**< views below; beam hardening is left to the job */
    struct fbp_stripes stripes;   /**< ring removal; method NONE: none */
    bool retrieves;               /**< phases are retrieved, after ring removal */
    struct fbp_retrieval phase;
    double wave;         /**< of phases: delta / beta * lambda / 4 pi [mm] */
    double distance_mm;  /**< of phases in parallel beams: from object to detector */
    size_t row0, n_rows; /**< detector rows that are kept: the first, and how many */
    /* Choices of the plan: */
    bool as_read;       /**< phases are retrieved as views are read; nothing is kept */
    const char *folder; /**< of the scratch file; NULL: rows are kept in memory */
    int n_threads;
    size_t band_rows; /**< rows whose rings are removed at once; 0: no rings are removed */
};

/** May phases be retrieved as views are read?  Not after ring removal. */
bool fbp_corrections_may_wait(const struct fbp_corrections_step *c);

/** Keep the rows that an arranged job needs. */
void fbp_corrections_choose_rows(struct fbp_corrections_step *c, const struct fbp_job *job);

/**
 * Choose threads and bands of rows.
 *
 * room:   bytes of memory for this and for the run
 * folder: of the scratch file; NULL: in memory
 */
void fbp_corrections_divide(struct fbp_corrections_step *c, uint64_t room, const char *folder,
                            int n_threads);

/** Bytes of the rows that are kept. */
uint64_t fbp_corrections_kept_bytes(const struct fbp_corrections_step *c);
/** Bytes of memory, with the rows if these are kept there. */
uint64_t fbp_corrections_memory_bytes(const struct fbp_corrections_step *c);
/** Number of bands of rows. */
size_t fbp_corrections_bands(const struct fbp_corrections_step *c);

#endif /* FBP_PIPELINE_CORRECTIONS_H */
