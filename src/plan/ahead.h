/** @file ahead.h  Corrections that take all angles of a row, or whole views: a pass ahead of the
 * run (internal).
 *
 * Line integrals of the rows that the volume needs are made and corrected, band of rows after band,
 * and kept, in memory or in a file without a name.  What follows is the job of a scan of line
 * integrals.  Phases may be retrieved as views are read instead, without that pass.  Bits do not
 * depend on where they are kept, if they are, nor on bands.
 */
#ifndef FBP_SRC_AHEAD_H
#define FBP_SRC_AHEAD_H

#include "prep/phase.h"
#include "prep/prep.h"
#include "prep/stripes.h"

#include "backend/backend.h"

struct fbp_ahead {
    bool used;
    bool top_down;              /**< pictures below start with the top row */
    struct fbp_scan scan;       /**< of what is kept: of line integrals; owns nothing */
    struct fbp_prep prep;       /**< of what is below, but for beam hardening */
    struct fbp_stripes stripes; /**< method NONE: none are removed */
    bool retrieves;             /**< phases, behind that */
    struct fbp_retrieval phase;
    double wave;         /**< the same: delta / beta times lambda / 4 pi [mm] */
    double distance_mm;  /**< of parallel beams */
    size_t row0, n_rows; /**< first detector row that is kept, and number of rows that are */
    bool as_read;        /**< no pass ahead: phases are retrieved as views are read (retrieved.h) */
    /* From fbp_ahead_divide() on: */
    int n_threads;
    size_t band_rows;   /**< whose rings are removed at once; 0: none are */
    const char *folder; /**< of the file; NULL: in memory */
};

/** `scan` outlives *a.  Reads darks, flats and masks.  Not `used` where nothing is done ahead. */
fbp_status fbp_ahead_create(struct fbp_ahead *a, const struct fbp_scan *scan, bool top_down);
void fbp_ahead_clear(struct fbp_ahead *ahead);

/** May phases be retrieved as views are read?  Not behind the removal of rings. */
bool fbp_ahead_may_wait(const struct fbp_ahead *ahead);

/** The rows that an arranged job needs are those that are kept. */
void fbp_ahead_choose_rows(struct fbp_ahead *ahead, const struct fbp_job *job);

/**
 * Where they are kept, and how many rows are worked on at once.
 *
 * room:   bytes of memory that there are for this and for the run
 * folder: of the file; NULL: in memory
 */
void fbp_ahead_divide(struct fbp_ahead *ahead, uint64_t room, const char *folder, int n_threads);

/** Bytes of what is kept; bytes of memory of the pass, with that if it is kept there; bands.  Where
 *  phases are retrieved as views are read nothing is kept but a view a thread. */
uint64_t fbp_ahead_kept_bytes(const struct fbp_ahead *ahead);
uint64_t fbp_ahead_memory_bytes(const struct fbp_ahead *ahead);
size_t fbp_ahead_bands(const struct fbp_ahead *ahead);

/** Floats of n rows of a view while they are read: with those that bad pixels take. */
size_t fbp_ahead_read_floats(const struct fbp_ahead *ahead, size_t n_rows);
/** Bytes that a thread works in: sinograms, or a view of floats and what retrieving takes. */
size_t fbp_ahead_thread_bytes(const struct fbp_ahead *ahead);
/** Floats of that view, with what aligns the rest. */
size_t fbp_ahead_view_floats(const struct fbp_ahead *ahead);

/** What phases are retrieved from: transmissions, where there are intensities and nothing wants
 *  line integrals before. */
enum fbp_retrieved_from fbp_ahead_from(const struct fbp_ahead *ahead);

/** Of view k: by how many columns and rows of the detector phases are seen to reach. */
void fbp_ahead_reach(const struct fbp_ahead *ahead, size_t k, double reach[2]);

/** What is done, before what is said in the line already: "rings by sorting, ...; ". */
void fbp_ahead_describe(const struct fbp_ahead *ahead, char *line, size_t n);

/** About how long it takes, from a sample of it, without reading; times: that views are read. */
fbp_status fbp_ahead_estimate(const struct fbp_ahead *ahead, size_t times, double *seconds);

/** All that values depend on. */
uint64_t fbp_ahead_hash(uint64_t h, const struct fbp_ahead *ahead);

#endif /* FBP_SRC_AHEAD_H */
