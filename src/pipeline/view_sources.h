/** @file view_sources.h  Corrections that take all angles of a row, or whole views: a pass ahead of
 * the run (internal).
 *
 * Line integrals of the rows that the volume needs are made and corrected, band of rows after band,
 * and kept, in memory or in a file without a name.  What follows is the job of a scan of line
 * integrals.  Phases may be retrieved as views are read instead, without that pass.  Bits do not
 * depend on where they are kept, if they are, nor on bands.
 */
#ifndef FBP_SRC_PIPELINE_VIEW_SOURCES_H
#define FBP_SRC_PIPELINE_VIEW_SOURCES_H

#include "array/file/format.h"
#include "backend/backend.h"
#include "geometry/meridians.h"
#include "pipeline/data_check.h"
#include "pipeline/job.h"
#include "prep/phase.h"
#include "prep/prep.h"
#include "prep/stripes.h"
#include "scan/reduce.h"

#include "fbp/recon.h"

#include <stdint.h>

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

/* Views of a detector that is rolled in its own plane, as those of an upright one
 *  (internal).
 *
 * The ramp filter runs along lines that lie, with the source, in planes parallel to the direction
 * in which the source moves.  Rows are such lines if the detector is perpendicular to the ray
 * through the axis and its columns are parallel to the axis.  Each view is resampled onto such a
 * detector at the same distance: a homography of the image, interpolated by cubic B-splines.
 *
 * Columns of the upright detector reach as far as the row at mid-height of the volume was measured.
 * If the panel is offset, the shorter side ends where all rows were measured and the longer one at
 * the last corner.  Rows reach as far as the panel sees the axis.  Pixels that were not measured
 * get the value of the nearest one that was.
 */

struct fbp_rectify {
    bool used;
    double roll_rad;           /**< angle of rows against the plane of rotation, mean of views */
    struct fbp_ahead measured; /**< scan, prep and row order of what is read; no pass ahead */
    struct fbp_scan scan;      /**< of upright views: line integrals; owns views alone */
    double (*matrix)[9];       /**< [view] (column, row, 1) upright -> measured, homogeneous */
    char warning[300];         /**< what cannot be corrected; "": nothing */
};

/**
 * Not `used` if rows are perpendicular to the axis within 0.05 degrees, or within what the sources
 * tell of the axis; within 0.5 degrees if a centred panel wobbles by more than it is rolled.  Nor
 * if views are filtered, or are integrals over planes.
 *
 * scan:   what the views are read as; outlives *r
 * wanted: size and voxel of the volume, as fbp_grid_resolve() takes them
 */
fbp_status fbp_rectify_create(struct fbp_rectify *r, const struct fbp_scan *scan,
                              const struct fbp_grid *wanted, bool top_down);
void fbp_rectify_clear(struct fbp_rectify *rectify);

/** Measured rows [*first, *first + *n) whose samples determine upright rows [row0, row0 + n_rows).
 */
void fbp_rectify_rows(const struct fbp_rectify *rectify, size_t view, size_t row0, size_t n_rows,
                      size_t *first, size_t *n);

/** Floats of `work` below, for any rows of a view. */
size_t fbp_rectify_floats(const struct fbp_rectify *rectify);

/** Upright rows [row0, row0 + n_rows) of a view.  Bits do not depend on the band of rows.
 *  in: the measured rows that fbp_rectify_rows() gives */
void fbp_rectify_view(const struct fbp_rectify *rectify, size_t view, size_t row0, size_t n_rows,
                      const float *in, float *work, float *out);

/** Seconds that one core takes for a view, about; 0 if it is not `used`. */
double fbp_rectify_seconds(const struct fbp_rectify *rectify);

/** Appended to the line that is there. */
void fbp_rectify_describe(const struct fbp_rectify *rectify, char *line, size_t n);

uint64_t fbp_rectify_hash(uint64_t h, const struct fbp_rectify *rectify);

/* Even rings of directions, resampled to the same angles in each (internal).
 *
 * Rings of equal solid angle have fewer directions near the pole.  Of every ring with the polar
 * angle theta, the samples at the same t are a periodic function of phi; from its even samples
 * follow those at the 2 n angles (i + 1/2) pi / n, which are the same for all rings: planes through
 * the axis.
 */

struct fbp_angles {
    bool used;
    enum fbp_ring_interpolation how;
    size_t n; /**< angles in half a turn */
    struct fbp_rings rings;
    ptrdiff_t *shift;     /**< [n_members] sample c of a ring is c + shift of a member's, which run
                               backwards if it is reversed */
    size_t *first;        /**< [rings + 1] views of a ring: from first[r] up to first[r + 1] */
    struct fbp_scan scan; /**< of the resampled views; owns views and plane_weights alone */
};

/** The resampled scan of plane integrals; `scan` outlives *out.
 *  @return FBP_ERR_UNSUPPORTED if there are no even rings, or if samples of one lie elsewhere. */
fbp_status fbp_angles_create(struct fbp_angles *out, const struct fbp_scan *scan, size_t n,
                             enum fbp_ring_interpolation how);
void fbp_angles_clear(struct fbp_angles *angles);

/** Weights of a ring's members in view `view` of the resampled scan: weights[ring->n].
 *  scratch: [ring->n] as fbp_cyclic_prepare() leaves it; what the pole does not need. */
void fbp_angles_weights(const struct fbp_angles *angles, size_t ring, size_t view,
                        const double *scratch, double *weights);

/** So many angles serve a scan's rings: those of the largest in half a turn; 0: it has none. */
size_t fbp_angles_usual(const struct fbp_scan *scan);

/* Plane integrals in two stages: the scan of pictures (internal).
 *
 * Stage one filters the views and adds up those of each meridian plane to a picture (s, z) of it
 * (backend/meridian.h).  With s across the axis, z along it, and f the picture's angle, stage two
 * is
 *
 *     volume(x) = sum over planes  picture(x . across(f), x . axis),
 *
 * the backprojection of parallel views that are weighted and filtered already.
 */

struct fbp_stages {
    bool used;
    struct fbp_job_tables first; /**< of stage one, arranged for `backend` */
    const struct fbp_backend *backend;
    struct fbp_meridian_planes planes;
    struct fbp_meridian_pictures pictures;
    size_t *order;        /**< [n_views] of the scan, by planes: what is k-th there */
    struct fbp_scan scan; /**< of the pictures; owns its views alone */
};

/**
 * The scan of the pictures, for the volume that the parameters ask for, and what makes them.
 *
 * scan, params: as of fbp_job_create(); scan outlives *out
 * wanted: the backend that computes stage two; stage one is done by it or, where it cannot, by cpu
 * @return FBP_ERR_UNSUPPORTED if the directions do not lie in meridian planes.
 */
fbp_status fbp_stages_create(struct fbp_stages *out, const struct fbp_scan *scan,
                             const struct fbp_recon_params *params,
                             const struct fbp_backend *wanted, bool top_down);
void fbp_stages_clear(struct fbp_stages *stages);

/** Updates of stage one: views x samples of a picture, in all frames. */
uint64_t fbp_stages_updates(const struct fbp_stages *stages);

/** For people: "; two stages: 18 planes through z". */
void fbp_stages_describe(const struct fbp_stages *stages, char *buf, size_t n);

/* Line integrals of stored rows, without what is corrected ahead (internal). */

/** src has line integrals of what `below` has. */
void fbp_integrals_facts(fbp_source *src, const fbp_source *below);

/** Rows of n columns in the opposite order. */
void fbp_turn_rows(float *rows, size_t n_rows, size_t n);

/**
 * Detector rows [row0, row0 + n) of a view, upwards: what is left of the intensity becomes a line
 * integral, and bad pixels are bridged.
 *
 * work: fbp_ahead_read_floats(ahead, n) floats, if those are more than n rows
 */
fbp_status fbp_integrals_read(const struct fbp_ahead *ahead, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts);

/** A whole view, upwards, as what phases are retrieved from.  work: as before. */
fbp_status fbp_integrals_read_view(const struct fbp_ahead *ahead, fbp_source *below, size_t view,
                                   float *work, float *out, struct fbp_prep_counts *counts);

/* Line integrals that a pass ahead has corrected, as a source (internal). */

/** What the last pass did. */
struct fbp_ahead_done {
    struct fbp_prep_counts mended;
    double seconds;
    bool no_rings; /**< none was found in any row; the rows are as they were */
};

/**
 * The views of ahead->scan, in the order of rows of those below.  The pass is done by whoever reads
 * first, on its own threads, and the others wait for it.  Rows that are not kept are line integrals
 * without corrections: nobody reads them but to look at them.
 *
 * below: the scan's views; it outlives *out, as `ahead` and `done` do
 * owned: it is closed with *out, also if this fails
 */
fbp_status fbp_source_corrected(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_ahead_done *done);

/* Views whose phases are retrieved as they are read, as a source (internal). */

/**
 * The views of ahead->scan, in the order of rows of those below.  Whoever reads rows of a view has
 * all of it retrieved; as many views as ahead->n_threads are kept for those who read others of its
 * rows soon.  Any number of threads may read at once.
 *
 * below:  the scan's views; it outlives *out, as `ahead` and `mended` do
 * owned:  it is closed with *out, also if this fails
 * mended: of every view once
 */
fbp_status fbp_source_retrieved(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_prep_counts *mended);

/* Views of an upright detector, resampled as they are read, as a source
 *  (internal). */

/**
 * The views of rectify->scan.  Each view depends on one below, so that a scan may be followed.
 *
 * below:  the measured views; it outlives *out
 * owned:  it is closed with *out, also if this fails
 * mended: counts what was repaired in measured rows, each once; NULL: not counted
 */
fbp_status fbp_source_rectified(fbp_source **out, const struct fbp_rectify *rectify,
                                fbp_source *below, bool owned, struct fbp_prep_counts *mended);

/* Views of even rings, resampled over their angles, as a source (internal). */

/**
 * The views of angles->scan, all of them held in memory from the first that is read on.  Samples
 * that are not finite are bridged in their rows first.
 *
 * below:  the scan's views; it outlives *out
 * owned:  it is closed with *out, also if this fails
 * mended: counts what was bridged; NULL: nobody asks
 */
fbp_status fbp_source_resampled(fbp_source **out, const struct fbp_angles *angles,
                                fbp_source *below, bool owned, struct fbp_prep_counts *mended);

/* Stage one at work: pictures of meridian planes as a source of views
 * (internal).
 *
 * Views are read and filtered when the first picture is asked for, all of them, and their filtered
 * rows are kept; rows of pictures are computed from these as they are read, by whoever reads, so
 * that slabs hold no more of them than of views of a scan.
 */

typedef struct fbp_pictures fbp_pictures;

/** The device of stage one and its memory, for one run after another.  stages must outlive it. */
fbp_status fbp_pictures_open(fbp_pictures **out, const struct fbp_stages *stages);
void fbp_pictures_close(fbp_pictures **pictures);

/** Bytes that it takes. */
uint64_t fbp_pictures_bytes(const struct fbp_stages *stages);

/** Look at the scan's views as they pass, from now on; NULL: do not. */
void fbp_pictures_look(fbp_pictures *pictures, fbp_look *look);

/**
 * [plane][frame][row][column], the rows of all frames as those of one picture.
 *
 * pictures: used by this source alone until it is closed; NULL: for its facts alone, not to be read
 * below:    the scan's views; both must outlive *out
 * owned:    `below` is closed with *out, also if this fails
 */
fbp_status fbp_source_pictures(fbp_source **out, fbp_pictures *pictures,
                               const struct fbp_stages *stages, fbp_source *below, bool owned);

/** How long filtering and drawing takes, from a sample of it. */
fbp_status fbp_pictures_estimate(const struct fbp_stages *stages, double *seconds);

/** Samples that were mended in the last run. */
fbp_status fbp_pictures_counts(const fbp_pictures *pictures, struct fbp_prep_counts *out);

#endif /* FBP_SRC_PIPELINE_VIEW_SOURCES_H */
